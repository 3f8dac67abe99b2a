"""Asks a person something and waits for the answer:

    export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
    python3 docs/examples/python/call.py "Which of the two logos?"
    python3 docs/examples/python/call.py --approve "make deploy" --risk high "Deploy to production?"

With --patience it stops waiting before the person answers. Nothing is lost by that: the next run begins with what was
answered meanwhile. The exit code is 0 for an answer or a yes, 1 for a no, 2 for a time-out, 3 for an error, 4 where
patience ran out.
"""

import argparse
import sys
import time

from deskbell import OVER, Deskbell, Problem

SESSION = "example-call"  # marks the rings of this example among all that the agent's key has made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question")
    parser.add_argument("--approve", metavar="ACTION", help="ask for a yes or no to exactly this command")
    parser.add_argument("--risk", default="medium", choices=["low", "medium", "high", "critical"])
    parser.add_argument("--timeout", type=float, default=3600, help="seconds until no operator will answer any more")
    parser.add_argument("--patience", type=float, default=3600, help="seconds that this program waits")
    args = parser.parse_args()
    bell = Deskbell.from_env()
    late(bell)

    ring = {"session_id": SESSION, "timeout": args.timeout, "on_timeout": "cancel"}
    if args.approve:
        op = bell.ring("approve", args.question, details={"action": args.approve, "risk_level": args.risk}, **ring)
    else:
        op = bell.ring("feedback", args.question, **ring)
    print("rang:", op["operation_id"], flush=True)
    end = time.monotonic() + args.patience
    while op["state"] not in OVER:
        left = end - time.monotonic()
        if left <= 0:
            print("no answer yet; the next run begins with it")
            return 4
        op = bell.changed(op, wait=min(25, left))
    return report(bell, op)


def late(bell):
    """Prints what people answered while no program of this agent waited. An approval that comes late is told, too, and
    nothing is done with it: whoever asked has gone."""
    for op in bell.call("GET", "/api/human/operations?state=closed&limit=100")["operations"]:
        if op.get("session_id") == SESSION and not op.get("delivered_at"):
            print("meanwhile:", op["description"])
            report(bell, bell.get(op["operation_id"]))


def report(bell, op):
    """Prints how an operation ended, and returns the exit code. Only a completed one may be taken for a yes, and of an
    approval only the decision "approve"."""
    if op["state"] != "completed":
        print(f"{op['state']}: {op['ended'].get('reason', '')}")
        return 1 if op["state"] == "declined" else 2
    result = op["result"]
    if "decision" in result:
        print("decision:", result["decision"])
    if "human_input" in result:
        print(f"{result['by']['name']} says: {result['human_input']}")
    if "summary" in result:
        print("summary:", result["summary"])
    for name, value in result.get("fields", {}).items():
        print(f"field: {name} = {value}")
    for finding in result.get("key_findings", []):
        print("finding:", finding)
    if result.get("key_findings"):
        # What the findings rest on, in words; a picture of a moment can be had one by one.
        for e in bell.call("GET", f"/api/human/operations/{op['operation_id']}/evidence?max_tokens=2000")["evidence"]:
            print(f"evidence: {e['label']}, {e['kind']}: {e.get('text', '').strip()}")
    return 1 if result.get("decision") == "deny" else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, OSError) as err:
        print("call:", err, file=sys.stderr)
        sys.exit(3)
