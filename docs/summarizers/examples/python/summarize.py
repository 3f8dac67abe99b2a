"""The fields of an answer as a Markdown table, each with where it was picked from.

Reads one operation on standard input and writes a report to standard output; see docs/summarizers.
"""

import json
import sys

WORDS = {
    "en": {
        "line": "{n} of {all} fields filled in",
        "none": "No fields were filled in",
        "field": "Field",
        "value": "Value",
        "missing": "{name} was asked for and is not filled in",
        "ask": "Ask again for {name}, or do without it",
    },
    "zh-CN": {
        "line": "{all} 个字段中已填写 {n} 个",
        "none": "没有填写任何字段",
        "field": "字段",
        "value": "值",
        "missing": "要求的字段 {name} 没有填写",
        "ask": "再次询问字段 {name}，或者放弃它",
    },
}


def asked_for(operation):
    """The names in details.data_to_extract, which an agent may have sent as it liked."""
    details = operation.get("details")
    names = details.get("data_to_extract") if isinstance(details, dict) else None
    return [n for n in names if isinstance(n, str)] if isinstance(names, list) else []


def one_line(text):
    """Without line ends, and short enough that nothing is cut in the middle of a number."""
    text = " ".join(text.split())
    return text if len(text) <= 150 else ""


def cell(text):
    return one_line(text).replace("|", "\\|") or "…"


def report(given):
    words = WORDS[given["language"]]
    fields = given["answer"].get("fields") or {}
    sources = given["answer"].get("field_sources") or {}
    asked = asked_for(given["operation"])
    actions = {(r["recording_id"], a["action_id"]) for r in given["recordings"] or [] for a in r["actions"] or []}
    names = asked + sorted(n for n in fields if n not in asked)
    filled = [n for n in names if fields.get(n)]

    findings, suggestions = [], []
    for name in dict.fromkeys(filled):
        evidence = [{"kind": "field", "id": name}]
        source = sources.get(name)
        if source and (source["recording_id"], source["action_id"]) in actions:
            evidence.append({"kind": "action", "recording_id": source["recording_id"], "id": source["action_id"]})
        label, value = one_line(name), one_line(fields[name])
        if label:
            text = label + ": " + value if value else label
            findings.append({"kind": "value", "text": text, "evidence": evidence, "confidence": 1})
    for name in dict.fromkeys(n for n in asked if not fields.get(n)):
        if not one_line(name):
            continue
        evidence = [{"kind": "request", "id": "data_to_extract"}]
        findings.append({"kind": "undone", "text": words["missing"].format(name=one_line(name)), "evidence": evidence, "confidence": 1})
        suggestions.append({"kind": "undone", "text": words["ask"].format(name=one_line(name)), "evidence": evidence, "confidence": 0.8})

    rows = ["| {} | {} |".format(words["field"], words["value"]), "| --- | --- |"]
    rows += ["| {} | {} |".format(cell(n), cell(fields[n])) for n in dict.fromkeys(filled)]
    # Whole rows only: a text of more than 4,000 characters is cut.
    while len("\n".join(rows)) > 3500:
        rows.pop()
    line = words["line"].format(n=len(set(filled)), all=len(set(names))) if filled else words["none"]
    return {
        "line": line,
        "text": "\n".join(rows) if filled else line,
        "findings": findings[:40],
        "suggestions": suggestions[:40],
    }


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    json.dump(report(json.load(sys.stdin)), sys.stdout, ensure_ascii=False)
