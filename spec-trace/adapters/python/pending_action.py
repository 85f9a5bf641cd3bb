"""Pending actions: a small ledger behind the driver protocol.

The one thing to know: `Ledger` is the contract, and takes and gives what the driver protocol writes; to have an implementation of your
own judged, put calls of it in the place of its methods, and leave `driver.py` as it is. All that has to outlive the process stands
in `stored`. The clause behind each rule stands beside it.
"""

import hashlib
import json
import re
import secrets

from driver import INVISIBLE, Json, Refused, Subject, Unsupported, Words, format_time, main, parse_time

LINE_BREAK = re.compile("[\n\x0b\x0c\r\x85\u2028\u2029]")


class Ledger(Subject):
    """One life of a ledger."""

    PROTOCOL = "pending-action"
    NAME = "python-pending-action 1.0"
    SUPPORTS = ["cancel", "restart", "snapshot", "say", "idempotent"]
    SHOWS = ["perform", "append", "event", "audit", "in_doubt", "snapshot", "refused"]
    OPS = {
        "propose": {
            "agent_id": str, "session_id": str, "run_id": str, "tool": str, "arguments": Json,
            "effect": Words("read", "write", "destructive", "external"), "summary": str, "label": str,
            "expires_at?": str, "deciders?": [str], "idempotent?": bool,
        },
        "decide": {"action_id": str, "nonce?": str, "decision": Words("allow", "deny"), "by": str, "arguments?": Json},
        "say": {"by": str, "text": str},
        "finish_tool": {"action_id": str, "status": Words("success", "error", "not_run"), "result?": Json},
        "cancel": {"action_id": str},
        "end_session": {"session_id": str},
        "snapshot": {},
        "rollback": {"snapshot": Json},
    }
    NEEDS = {"cancel": "cancel", "say": "say", "snapshot": "snapshot", "rollback": "snapshot"}

    def __init__(self, stored=None):
        super().__init__(stored or {"now": None, "actions": {}, "ended": [], "snapshots": []})

    @property
    def actions(self):
        """Every action by its id, in the order of proposing."""
        return self.stored["actions"]

    # What is asked.

    def propose(self, now, **proposal):
        """PA-1: the call waits, with all that is needed to run it later."""
        action = self.checked(proposal)
        action["action_id"], action["nonce"] = self.new_id("pa_"), self.new_id("nonce_")
        action["state"] = "pending"
        self.actions[action["action_id"]] = action
        # PA-9: the user sees the words alone.
        self.append(action["session_id"], type="confirmation_request", text=action["summary"], label=action["label"])
        told = {name: action[name] for name in (
            "nonce", "agent_id", "session_id", "run_id", "tool", "arguments", "effect", "summary", "label")}
        told["expires_at"] = None if action["expires_at"] is None else format_time(action["expires_at"])
        if action["deciders"] is not None:
            told["deciders"] = action["deciders"]
        self.event(action, "created", **told, idempotent=action["idempotent"])

    def decide(self, now, action_id, nonce, decision, by, arguments):
        """PA-2: a structured decision counts by itself, or not at all."""
        if len(by) > 256:
            raise Refused("`by` is longer than 256 characters", "PA-2")
        action = self.find(action_id)
        ignored = self.why_ignored(action, nonce, decision, by, arguments)
        if ignored is not None:
            clause, reason = ignored
            self.put_out("audit", {"clause": clause, "reason": reason, "action_id": action_id, "by": by, "at": self.time()})
        elif decision == "allow":
            self.allow(action, by)
        else:
            self.deny(action, by)

    def say(self, now, by, text):
        """PA-11: free text decides nothing."""
        self.append(None, type="user_message", by=by, text=text)

    def finish_tool(self, now, action_id, status, result):
        """PA-4: the result of a call that was allowed, once."""
        action = self.named(action_id)
        if action["state"] != "released":
            clause = {"pending": "PA-3", "denied": "PA-5", "cancelled": "PA-5", "expired": "PA-7", "finished": "PA-8"}[action["state"]]
            raise Refused(f"the action is {action['state']}: no tool runs for it", clause)
        action["state"] = "finished"
        text = "" if result is None else result.held()
        self.append(action["session_id"], type="tool_result", tool_call_id=action_id, tool=action["tool"], status=status, result=text)
        if status == "not_run":
            self.event(action, "not_run")
        else:
            self.event(action, "executed", status=status)

    def cancel(self, now, action_id):
        """PA-5: what is cancelled does not run."""
        action = self.named(action_id)
        if action["state"] != "pending":
            raise Refused(f"the action is {action['state']}", "PA-7" if action["state"] == "expired" else "PA-8")
        self.call_off(action, "requested")

    def end_session(self, now, session_id):
        """PA-5: what pends in the session is cancelled, and the operator is told of what was released and may not have begun."""
        self.check_name("session_id", session_id)
        if session_id in self.stored["ended"]:
            raise Refused("the session has ended", "PA-5")
        self.stored["ended"].append(session_id)
        of_session = [action for action in self.actions.values() if action["session_id"] == session_id]
        for action in self.in_turn(of_session):
            if action["state"] == "pending":
                self.call_off(action, "session_ended")
        for action in of_session:
            if action["state"] == "released":
                reason = "the session has ended: what has not begun is not to begin"
                self.put_out("audit", {"clause": "PA-5", "reason": reason, "action_id": action["action_id"], "at": self.time()})

    def snapshot(self, now):
        """All that is stored, as text, and remembered as put out."""
        text = json.dumps({**self.stored, "snapshots": []})
        self.stored["snapshots"].append(hashlib.sha256(text.encode()).hexdigest())
        self.put_out("snapshot", text)

    def rollback(self, now, snapshot):
        """PA-8: an older state takes nothing back, for what has happened since is known here: the host hands back what this ledger
        still has."""
        if hashlib.sha256(snapshot.held().encode("utf-8", "replace")).hexdigest() not in self.stored["snapshots"]:
            raise Refused("the snapshot was not put out here", "PA-8")

    # Time and restart.

    def advance(self, now):
        """PA-7: the greatest time so far counts; what has expired by then is settled, the earliest first."""
        self.stored["now"] = max(now, self.stored["now"] or now)
        due = [action for action in self.actions.values() if action["state"] == "pending" and self.is_due(action)]
        for action in sorted(self.in_turn(due), key=lambda action: action["expires_at"]):
            self.expire(action)

    @staticmethod
    def in_turn(actions):
        """The order in which what happens at one instant is told. The text leaves it open."""
        return actions

    def restart(self, now, lost):
        """PA-8, PA-10: what was not told is told again, and nothing runs again."""
        self.outputs += [output for output in lost if "append" in output or "event" in output]
        self.advance(now)
        for action in self.actions.values():
            if action["state"] == "released":
                self.put_out("in_doubt", {"action_id": action["action_id"]})

    # The rules.

    def check_supported(self, op, given):
        super().check_supported(op, given)
        if given.get("idempotent") is not None and "idempotent" not in self.SUPPORTS:
            raise Unsupported

    def checked(self, proposal):
        """PA-1: the record of the proposal, or `Refused`."""
        for name in ("agent_id", "session_id", "run_id", "tool"):
            self.check_name(name, proposal[name])
        self.check_name("summary", proposal["summary"], 4096)
        if LINE_BREAK.search(proposal["label"]):
            raise Refused("`label` has a line break", "PA-9")
        self.check_name("label", proposal["label"], 80, "PA-9")
        arguments = proposal["arguments"].held()
        check_arguments(arguments)
        deciders = proposal["deciders"]
        if deciders is not None:
            if not deciders or len(set(deciders)) < len(deciders):
                raise Refused("`deciders`: expected different names, one at least", "PA-2")
            for name in deciders:
                self.check_name("deciders", name, 256, "PA-2")
        if proposal["session_id"] in self.stored["ended"]:
            raise Refused("the session has ended", "PA-5")
        return {**proposal, "arguments": arguments, "expires_at": self.checked_expiry(proposal["expires_at"]), "idempotent": bool(proposal["idempotent"])}

    def checked_expiry(self, text):
        """PA-7: a time later than now; None is never."""
        if text is None:
            return None
        expires_at = parse_time(text)
        if expires_at is None:
            raise Refused("`expires_at` is no time of RFC 3339")
        if expires_at <= self.stored["now"]:
            raise Refused("`expires_at` is not later than now", "PA-7")
        return expires_at

    @staticmethod
    def check_name(field, text, longest=256, clause="PA-1"):
        if len(text) > longest or INVISIBLE.match(text):
            raise Refused(f"`{field}`: expected 1 to {longest} characters, and not blank", clause)

    def find(self, action_id):
        """The action of that id, or None."""
        return self.actions.get(action_id)

    def named(self, action_id):
        """The action that the host names. It knows which there are."""
        if action_id not in self.actions:
            raise Refused("the action is unknown", "PA-1")
        return self.actions[action_id]

    def is_due(self, action):
        """PA-7: at its expiry it is late."""
        return action["expires_at"] is not None and action["expires_at"] <= self.stored["now"]

    def is_entitled(self, action, by):
        """PA-2: who is named; where nobody is, anyone but the agent that has proposed it."""
        if INVISIBLE.match(by):
            return False
        return by != action["agent_id"] if action["deciders"] is None else by in action["deciders"]

    def is_nonce_of(self, action, nonce):
        return nonce is None or nonce == action["nonce"]

    def why_ignored(self, action, nonce, decision, by, arguments):
        """The clause and the reason by which a decision does not count; None where it does."""
        if action is None:
            return "PA-1", "the action is unknown"
        if not self.is_nonce_of(action, nonce):
            return "PA-1", "the nonce is another"
        if not self.is_entitled(action, by):
            return "PA-2", "whoever decided may not"
        settled = None if action["state"] == "pending" else self.why_settled(action)
        if settled is not None:
            return settled
        if decision == "allow" and arguments is not None and not mean_the_same(action["arguments"], arguments.held()):
            return "PA-3", "the approved arguments are not the proposed ones"
        return None

    def why_settled(self, action):
        """The same for an action that does not pend."""
        return ("PA-7" if action["state"] == "expired" else "PA-8"), f"the action is {action['state']}"

    def allow(self, action, by):
        """PA-3, PA-4: the call runs as it was proposed."""
        action["state"] = "released"
        self.event(action, "decided", decision="allow", by=by)
        self.release(action)

    def release(self, action):
        call = {"tool": action["tool"], "arguments": action["arguments"]}
        self.append(action["session_id"], type="tool_call", tool_call_id=action["action_id"], **call)
        self.put_out("perform", {"action_id": action["action_id"], **call})

    def deny(self, action, by):
        """PA-5, PA-6: the call does not run, and the model is told so."""
        action["state"] = "denied"
        self.event(action, "decided", decision="deny", by=by)
        self.append(action["session_id"], type="denied_result", tool_call_id=action["action_id"], tool=action["tool"], by=by)
        self.event(action, "denied", by=by)

    def call_off(self, action, reason):
        action["state"] = "cancelled"
        self.append(action["session_id"], type="cancelled_result", tool_call_id=action["action_id"], tool=action["tool"], reason=reason)
        self.event(action, "cancelled", reason=reason)

    def expire(self, action):
        action["state"] = "expired"
        self.append(action["session_id"], type="expired_result", tool_call_id=action["action_id"], tool=action["tool"])
        self.event(action, "expired")

    # What is put out.

    def append(self, session_id, **message):
        """A message of the transcript. PA-9: its id tells nothing of the action's."""
        session = {} if session_id is None else {"session_id": session_id}
        self.put_out("append", {**session, "message_id": self.new_id("msg_"), **message})

    def event(self, action, kind, **body):
        """PA-10: what has happened to an action, once of each kind."""
        name = action["action_id"]
        self.put_out("event", {"event_id": f"{kind}_{name}", "action_id": name, "at": self.time(), "type": kind, **body})

    def time(self):
        return format_time(self.stored["now"])

    def new_id(self, prefix):
        return prefix + secrets.token_hex(16)


def check_arguments(text):
    """PA-3: JSON of one meaning, of at most 1 MiB and 64 levels."""
    try:
        if len(text.encode()) > 1 << 20:
            raise ValueError("longer than 1 MiB")
        if deepest(text) > 64:
            raise ValueError("nested deeper than 64")
        meaning(text)
    except (ValueError, RecursionError) as problem:
        raise Refused(f"`arguments`: {problem}", "PA-3") from problem


def deepest(text):
    """How many arrays and objects stand in one another at most."""
    depth = most = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        most = max(most, depth)
    return most


def meaning(text):
    """JSON, so that two texts that mean the same are equal: whole numbers to the digit, others as doubles."""

    def distinct(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name stands in an object twice")
        return dict(pairs)

    def double(digits):
        value = float(digits)
        is_lost = value in (float("inf"), float("-inf")) or (value == 0 and re.search("[1-9]", re.split("[eE]", digits)[0]))
        return "number", float("nan") if is_lost else value  # what no double carries is equal to nothing

    def no_constant(name):
        raise ValueError(f"{name} is no JSON")

    def whole(digits):
        return "number", int(digits)

    value = json.loads(text, object_pairs_hook=distinct, parse_float=double, parse_int=whole, parse_constant=no_constant)
    json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is a ValueError here
    return value


def mean_the_same(text, other):
    """PA-3: whether the client approved what was proposed."""
    try:
        return text == other or meaning(text) == meaning(other)
    except (ValueError, RecursionError):
        return False


if __name__ == "__main__":
    import pending_action_changed

    main(pending_action_changed.Ledger)
