"""As much of Deskbell's REST API as these examples use, on the standard library alone (Python 3.9 or newer).

Copy it into an agent of your own.
"""

import http.client
import json
import os
import time
import urllib.error
import urllib.request
import uuid

OVER = ("completed", "cancelled", "declined")


class Problem(Exception):
    """What Deskbell answers where it refuses; its text says why, and what to do."""

    def __init__(self, status, kind, detail):
        super().__init__(detail)
        self.status = status
        self.kind = kind  # invalid, unauthorized, denied, not_found, conflict, exhausted, unavailable, internal


class Deskbell:
    """Where an agent rings. Safe for use by several threads."""

    def __init__(self, url, key):
        self.url, self.key = url.rstrip("/"), key

    @classmethod
    def from_env(cls):
        """Takes the address and the agent's key from DESKBELL_URL and DESKBELL_KEY."""
        key = os.environ.get("DESKBELL_KEY")
        if not key:
            raise SystemExit("DESKBELL_KEY is not set; `deskbell keys add my-agent` makes a key")
        return cls(os.environ.get("DESKBELL_URL") or "http://127.0.0.1:7717", key)

    def call(self, method, path, body=None):
        """Calls Deskbell. Where it cannot be reached it tries again for half a minute: a restart loses nothing, so an
        agent need not notice one. So what is sent may arrive twice: a ring has a key, and the rest does no harm the
        second time.
        """
        for tries in range(30, -1, -1):
            try:
                return self._once(method, path, body)
            except urllib.error.HTTPError as err:
                raise problem(err) from None
            except (OSError, http.client.HTTPException):  # nobody listens, or the connection broke
                if tries == 0:
                    raise
                time.sleep(1)

    def _once(self, method, path, body):
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self.key, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=90) as answer:
            return json.load(answer)

    def ring(self, action_type, description, **more):
        """Rings. With an idempotency_key, the same ring again is the same operation, so a lost connection rings nobody
        twice."""
        more.setdefault("idempotency_key", uuid.uuid4().hex)
        return self.call("POST", "/api/human/invoke", {"action_type": action_type, "description": description, **more})

    def get(self, operation_id):
        """Reads an operation."""
        return self._read("/api/human/operations/" + operation_id)

    def _read(self, path):
        """Reads an operation, and of its end tells Deskbell that it has arrived: who answered sees that, and it is not
        told again. Deskbell notes it by itself as well, but not where the agent ends the moment it has read."""
        op = self.call("GET", path)
        if op["state"] in OVER:
            return self.call("POST", "/api/human/delivered", {"operation_id": op["operation_id"]})
        return op

    def changed(self, op, wait=25):
        """Waits, up to so many seconds (60 at most), until there is more to an operation than op says, and returns it."""
        return self._read(f"/api/human/operations/{op['operation_id']}?wait={wait}&after_version={op['version']}")

    def reply(self, op, text):
        """Answers what a person asked back, and returns the operation as it then is. Where it has ended meanwhile, the
        reply came too late, and that is no error."""
        try:
            return self.call("POST", "/api/human/reply", {"operation_id": op["operation_id"], "text": text})
        except Problem as err:
            if err.kind != "conflict":
                raise
            return self.get(op["operation_id"])

    def cancel(self, op, reason):
        """Withdraws a ring."""
        return self.call("POST", "/api/human/cancel", {"operation_id": op["operation_id"], "reason": reason})

    def heard(self, op, wait=25):
        """The next version of an operation, for an agent that does not answer questions: who asks back is told so."""
        if op["state"] == "waiting_input":
            return self.reply(op, "I cannot answer questions. Please decide with what you see, or deny.")
        return self.changed(op, wait)

    def approve(self, name, args, key, session=None, description=None, risk="medium", timeout=600, note=None):
        """Asks for a yes to exactly this call of a tool. All but a clear yes is a no: denied, declined, withdrawn, nobody
        there in time. Returns (yes, what the person wrote or why nobody did).

        key names this very call: an id that the framework gave it. Asking with it again, before the answer was read, joins
        the ring that exists. risk is low, medium, high or critical; timeout in seconds.
        """
        details = {"action": f"{name}({json.dumps(args, ensure_ascii=False)})", "risk_level": risk, "tool": name, "args": args}
        ring = {"details": {**details, "note": note} if note else details, "timeout": timeout, "on_timeout": "cancel"}
        if session:
            ring["session_id"] = session
        op = self.ring("approve", description or f"Run {name}?", idempotency_key=key, **ring)
        n = 2
        while op["state"] in OVER and op.get("delivered_at"):
            # A yes is for one call: where an answer under this key was taken before, this is another call.
            op = self.ring("approve", description or f"Run {name}?", idempotency_key=f"{key}#{n}", **ring)
            n += 1
        if op["state"] in OVER:
            op = self.get(op["operation_id"])
        while op["state"] not in OVER:
            op = self.heard(op)
        if op["state"] != "completed":
            return False, op["ended"].get("reason", "")
        return op["result"].get("decision") == "approve", op["result"].get("human_input", "")


def problem(err):
    """The problem document (RFC 9457) of a refused call."""
    try:
        said = json.load(err)
    except ValueError:  # a proxy on the way may answer with a page
        said = {}
    return Problem(err.code, said.get("kind", "internal"), said.get("detail", str(err)))
