"""Asks a person, and answers what they ask back before they decide:

    export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
    python3 docs/examples/python/ask.py

In the card or the console choose "Ask back" and write, say, "how many rows?" or "is there a backup?". The exit code is 0
for a yes, 1 for a no, 2 where nobody decided, 3 for an error.
"""

import sys

from deskbell import OVER, Deskbell, Problem

# What the agent knows, by a word of the question. An agent with a model would ask the model.
KNOWS = {
    "rows": "48,210 rows, the oldest of 2019.",
    "backup": "There is a dump of last night, checked.",
}


def answer(question):
    for word, fact in KNOWS.items():
        if word in question.lower():
            return fact
    return "I do not know that. Please decide without it, or deny."


def main():
    bell = Deskbell.from_env()
    op = bell.ring(
        "approve",
        "Delete the table visits_old?",
        details={"action": "DROP TABLE visits_old", "risk_level": "high"},
        timeout=3600,
        on_timeout="cancel",
    )
    print("rang:", op["operation_id"], flush=True)
    try:
        while op["state"] not in OVER:
            if op["state"] != "waiting_input":
                op = bell.changed(op)
                continue
            question = op["messages"][-1]["text"]  # they ask; the operation goes on once they are answered
            print("asked:", question)
            op = bell.reply(op, answer(question))
            print("replied:", answer(question), flush=True)
    except KeyboardInterrupt:  # nobody needs to decide any more
        bell.cancel(op, "the agent was stopped")
        return 2
    if op["state"] == "completed":
        said = op["result"]
        yes = said.get("decision") == "approve"
        print("approved:" if yes else "denied:", said.get("human_input", ""))
        return 0 if yes else 1
    print(f"{op['state']}: {op['ended'].get('reason', '')}")
    return 1 if op["state"] == "declined" else 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, OSError) as err:
        print("ask:", err, file=sys.stderr)
        sys.exit(3)
