"""Has a plan confirmed, and then runs it task by task, obeying what an operator orders meanwhile:

    export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
    python3 docs/examples/python/plan.py docs/examples/plan.json

In the console an operator confirms the plan, changes its tasks, or cancels it; and while it runs they pause it, let it go on,
skip a task, change those that have not begun, or stop it. Where the setting plan.confirm_by_human is off, the plan is
confirmed at once and nobody is asked. The exit code is 0 where the plan was run to its end, 1 where a person or a task that
failed kept it from that, 2 where nobody answered in time, 3 for an error.
"""

import json
import subprocess
import sys
import uuid

from deskbell import Deskbell, Problem

KNOWN = "I am a small example: all that I know is in the plan."


def do(task):
    """Does one task, just as it stands: an operator may have changed it. Returns whether it worked, and what came of it."""
    args = task.get("args") or {}
    if task.get("tool_name") == "say":
        print("says:", args["text"], flush=True)
        return True, "said"
    if task.get("tool_name") == "run":
        ran = subprocess.run(args["command"], capture_output=True, text=True)
        return ran.returncode == 0, (ran.stdout + ran.stderr).strip()[-500:]
    return False, f"there is no tool {task.get('tool_name')!r}"


def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    bell = Deskbell.from_env()
    session = "plan-" + uuid.uuid4().hex
    status = bell.call("POST", "/api/plans?wait=25", {**plan, "session_id": session, "idempotency_key": session})
    print("plan:", status.get("operation_id", "needs no answer"), flush=True)
    while status["status"] == "pending":
        if status.get("question"):  # an operator asks before they decide
            bell.reply(status, KNOWN)
        status = bell.call("GET", f"/api/plans/{session}?wait=25")
    said = status.get("user_response", {}).get("user_message", "")
    print(f"{status['status']}: {said}", flush=True)
    if status["status"] == "timeout":
        return 2
    if not status["tasks"]:
        return 1  # cancelled; or `said` is what to change, and an agent with a model would hand in a new plan
    if status.get("auto") == "off":  # nobody follows the run, so there is nobody to tell
        return 0 if all(tell(task, *do(task)) for task in status["tasks"]) else 1
    return run(bell, session, status["run"])


def run(bell, session, now):
    """Runs the tasks that wait, in the order that they have now."""
    while True:
        task = next((t for t in now["tasks"] if t["state"] == "waiting"), None)
        if task is None:
            print(now["state"])
            return 0
        begun = progress(bell, session, task["id"], "running")
        now = begun["run"]
        if not begun["go"]:
            print(f"{begun['why']}: {begun['message']}", flush=True)
            if begun.get("question"):  # an operator asks before they decide about this task
                bell.reply({"operation_id": begun["asking"]}, KNOWN)
            if begun["why"] in ("paused", "asking", "skipped", "changed", "begun"):
                continue  # with what the run is now: it waits up to 25 seconds while it is paused or a person is asked
            return 1  # stopped, or no such task
        worked, note = do(begun["task"])
        tell(begun["task"], worked, note)
        now = progress(bell, session, task["id"], "done" if worked else "failed", note)["run"]
        if not worked:
            for rest in [t for t in now["tasks"] if t["state"] == "waiting"]:
                progress(bell, session, rest["id"], "skipped", "a task before it failed")
            return 1


def progress(bell, session, task_id, state, note=""):
    """Says that a task begins, which an operator may keep it from, or how it ended."""
    body = {"task_id": task_id, "state": state, "note": note}
    try:
        begun = bell.call("POST", f"/api/plans/{session}/progress?wait=25", body)
    except Problem as err:
        if err.kind != "conflict":
            raise
        begun = {"go": False, "run": bell.call("GET", f"/api/plans/{session}")["run"]}
        if not stands(begun, task_id, state):
            raise
    if state == "running" and not begun["go"] and stands(begun, task_id, state):
        # The call arrived and its answer did not: the task is ours to do, for no other process runs this plan.
        begun["go"], begun["task"] = True, next(t for t in begun["run"]["tasks"] if t["id"] == task_id)
    return begun


def stands(begun, task_id, state):
    return any(t["id"] == task_id and t["state"] == state for t in begun["run"]["tasks"])


def tell(task, worked, note):
    print(f"{'done' if worked else 'failed'}: {task['id']}: {note}", flush=True)
    return worked


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, OSError) as err:
        print("plan:", err, file=sys.stderr)
        sys.exit(3)
