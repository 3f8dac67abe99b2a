"""LangGraph's interrupt(), answered by a person: the same as langgraph.ts, in Python and without a dependency. In a program:

    from langgraph.types import Command

    state = graph.invoke(input, config)
    while state.get("__interrupt__"):
        answers = {i.id: answer(bell, thread, i.id, i.value) for i in state["__interrupt__"]}
        state = graph.invoke(Command(resume=answers), config)

Two shapes of what a graph asks are known, and what each wants back:

    {action_request: {action, args}, config: {allow_accept, allow_edit, allow_respond, allow_ignore}, description?}
      (HumanInterrupt, also in a list)  -> [{type: accept | edit | response | ignore, args}]
    {action_requests: [{name, args, description?}], review_configs: [{action_name, allowed_decisions}]}
      (HumanInTheLoopMiddleware)        -> {decisions: [{type: approve | edit | reject | respond, ...}]}

The second also in camelCase, and `arguments` for `args`. Any other value is a free question, and the person's words are what
interrupt() returns. Only a clear yes lets an action run. Where the graph allows edits, an approval whose words are a JSON
object changes those arguments. Copy this file and ../python/deskbell.py.

To see what a graph would be resumed with:

    export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
    python3 docs/examples/adapters/langgraph_interrupt.py '{"question": "Which of the two?"}'
"""

import hashlib
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from deskbell import OVER, Deskbell, Problem  # noqa: E402


class Unanswered(Exception):
    """No operator has answered a free question. The graph stays interrupted and the question stays open: invoke it again with
    None, and it goes on with what was answered meanwhile."""


def answer(bell, thread, interrupt_id, value, risk="medium", timeout=600):
    """Has a person answer one interrupt; returns what to resume it with.

    LangGraph runs an interrupted node again from its beginning, and after a crash the whole process may. An interrupt has
    the same id then, so it is the same operation, and rings nobody twice. Two interrupts of one node have the same id as
    well: they are told apart by what they ask, and an approval is good for one.
    """
    asked = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
    asking = _Asking(bell, thread, f"langgraph:{thread}:{interrupt_id}:{asked}", risk, timeout)
    requests = value if isinstance(value, list) else [value]
    if requests and all(isinstance(r, dict) and isinstance(r.get("action_request"), dict) for r in requests):
        return [asking.human_interrupt(r, i) for i, r in enumerate(requests)]
    camel = isinstance(value, dict) and "actionRequests" in value
    actions = isinstance(value, dict) and value.get("actionRequests" if camel else "action_requests")
    if isinstance(actions, list):
        allowed = {
            c["actionName" if camel else "action_name"]: c["allowedDecisions" if camel else "allowed_decisions"]
            for c in value.get("reviewConfigs" if camel else "review_configs", [])
        }
        return {"decisions": [asking.review(a, allowed.get(a["name"], []), camel, i) for i, a in enumerate(actions)]}
    return asking.question(value)


class _Asking:
    def __init__(self, bell, session, key, risk, timeout):
        self.bell, self.session, self.key, self.risk, self.timeout = bell, session, key, risk, timeout

    def human_interrupt(self, request, i):
        action, config = request["action_request"], request.get("config", {})
        if config.get("allow_respond") and not config.get("allow_accept") and not config.get("allow_edit"):
            try:
                words = self.words(request.get("description") or action["action"], i, action)
            except Unanswered:
                return {"type": "ignore", "args": None}
            return {"type": "response", "args": words}
        args = action.get("args", action.get("arguments", {}))
        yes, words, edited = self.approve(action["action"], args, request.get("description"), config.get("allow_edit"), i)
        if yes and edited is None and config.get("allow_accept"):
            return {"type": "accept", "args": None}
        if yes:
            return {"type": "edit", "args": {"action": action["action"], "args": args if edited is None else edited}}
        if words and config.get("allow_respond"):
            return {"type": "response", "args": words}
        return {"type": "ignore", "args": None}

    def review(self, action, allowed, camel, i):
        if "respond" in allowed and set(allowed) <= {"respond", "reject"}:
            try:
                return {"type": "respond", "message": self.words(action.get("description") or action["name"], i, action)}
            except Unanswered as err:
                return {"type": "reject", "message": str(err)}
        args = action.get("args", action.get("arguments", {}))
        yes, words, edited = self.approve(action["name"], args, action.get("description"), "edit" in allowed, i)
        if yes and edited is None and "approve" not in allowed:
            edited = args
        if yes and edited is not None:
            return {"type": "edit", "editedAction" if camel else "edited_action": {"name": action["name"], "args": edited}}
        if yes:
            return {"type": "approve"}
        # Even where the graph does not allow it: the middleware then fails, and nothing runs.
        return {"type": "reject", "message": words or "A person said no."}

    def question(self, value):
        """A free question."""
        text = value
        if isinstance(value, dict):
            text = value.get("question") or value.get("message") or value.get("description")
        return self.words(text if isinstance(text, str) and text else json.dumps(value), 0, value, late=True)

    def approve(self, name, args, description, editable, i):
        """Returns whether it may run, the person's words, and all arguments where they changed some."""
        note = "To change arguments, approve and write those that change as a JSON object." if editable else None
        more = {"description": _line(description)} if description else {}
        yes, words = self.bell.approve(
            name, args, f"{self.key}:{i}", session=self.session, risk=self.risk, timeout=self.timeout, note=note, **more
        )
        change = _object_in(words) if yes else None
        if change is None:
            return yes, words, None
        # They want another call than the one they saw. Where that cannot be had exactly, it is a no.
        if not editable:
            return False, f"changed to {words}, but the graph takes no changes", None
        unknown = [n for n in change if n not in args]
        if unknown:
            return False, f"{name} was not called with {unknown[0]}; asked for: {words}", None
        return True, words, {**args, **change}

    def words(self, description, i, details, late=False):
        """Has a free question answered. late: a late answer is still worth having."""
        op = self.bell.ring(
            "feedback",
            _line(description),
            details=details if isinstance(details, dict) else {},
            session_id=self.session,
            idempotency_key=f"{self.key}:{i}",
            timeout=self.timeout,
            on_timeout="mark" if late else "cancel",
        )
        end = time.monotonic() + self.timeout
        while op["state"] not in OVER:
            left = end - time.monotonic()
            if late and left <= 0:
                raise Unanswered(f"nobody has answered {op['operation_id']} yet")
            op = self.bell.heard(op, wait=max(0.1, min(25, left)) if late else 25)
        if op["state"] != "completed":
            raise Unanswered(f"{op['state']}: {op['ended'].get('reason', '')}")
        return op["result"].get("human_input", "")


def _line(text):
    """The first line; the whole is in the details."""
    return text.strip().split("\n", 1)[0][:300]


def _object_in(text):
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


if __name__ == "__main__":
    try:
        for asked in sys.argv[1:]:
            resumed = answer(Deskbell.from_env(), "by-hand", str(time.time_ns()), json.loads(asked))
            print("outcome:", resumed if isinstance(resumed, str) else json.dumps(resumed), flush=True)
    except (Problem, OSError, Unanswered) as err:
        print("langgraph_interrupt:", err, file=sys.stderr)
        sys.exit(3)
