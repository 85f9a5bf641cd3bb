"""The ledger of pending actions, changed in one thing at a time: seeded faults, and variants that the text allows.

The one thing to know: each class overrides a method or two of `Ledger`, and its docstring says what is different. A fault names the
clause that it breaks; a variant names the clause that leaves the choice, and the reading of `countersign check --reading` where there is one.
"""

import json

from driver import INVISIBLE, Refused
from pending_action import Ledger

# Runs that nobody has allowed.


class RunsBeforeApproval(Ledger, fault="runs-before-approval", clause="PA-1"):
    """The tool is run as soon as it is proposed."""

    def propose(self, now, **proposal):
        super().propose(now, **proposal)
        self.release(list(self.actions.values())[-1])


class DenyIsAllow(Ledger, fault="deny-is-allow", clause="PA-5"):
    """A denial releases the call."""

    def deny(self, action, by):
        self.allow(action, by)


class ThirdDenialRuns(Ledger, fault="third-denial-runs", clause="PA-5"):
    """The third denial, and no other, runs the tool."""

    def deny(self, action, by):
        super().deny(action, by)
        self.stored["denials"] = self.stored.get("denials", 0) + 1
        if self.stored["denials"] == 3:
            self.release(action)


class ExpiryAllows(Ledger, fault="expiry-allows", clause="PA-7"):
    """A question that nobody answers in time is taken for allowed."""

    def expire(self, action):
        super().expire(action)
        self.release(action)


class WordsAllow(Ledger, fault="words-allow", clause="PA-1"):
    """Whatever somebody says allows the question that was asked last."""

    def say(self, now, by, text):
        super().say(now, by, text)
        pending = [action for action in self.actions.values() if action["state"] == "pending"]
        if pending:
            self.allow(pending[-1], by)


# Decisions that count and should not.


class ByPosition(Ledger, fault="by-position", clause="PA-1"):
    """A decision is about the question that has waited longest, whatever id it names."""

    def find(self, action_id):
        pending = [action for action in self.actions.values() if action["state"] == "pending"]
        return pending[0] if pending else super().find(action_id)


class AnyNonce(Ledger, fault="any-nonce", clause="PA-1"):
    """The nonce is not looked at."""

    def is_nonce_of(self, action, nonce):
        return True


class AnyDecider(Ledger, fault="any-decider", clause="PA-2"):
    """Whoever has a name may decide, named or not."""

    def is_entitled(self, action, by):
        return not INVISIBLE.match(by)


class StrangerDecides(Ledger, fault="stranger-decides", clause="PA-2"):
    """Whoever is not the agent may decide, named or not."""

    def is_entitled(self, action, by):
        return super().is_entitled(action, by) or (not INVISIBLE.match(by) and by != action["agent_id"])


class AgentDecides(Ledger, fault="agent-decides", clause="PA-2"):
    """The agent may decide what it has proposed where others are named."""

    def is_entitled(self, action, by):
        return super().is_entitled(action, by) or (action["deciders"] is not None and by == action["agent_id"])


class StrangerInsists(Ledger, fault="stranger-insists", clause="PA-2"):
    """Whoever may not decide does, the second time."""

    def is_entitled(self, action, by):
        return super().is_entitled(action, by) or by in action.setdefault("tried", []) or action["tried"].append(by)


class SecondStrangerDecides(Ledger, fault="second-stranger-decides", clause="PA-2"):
    """Behind one who may not decide, another who may not does."""

    def is_entitled(self, action, by):
        return super().is_entitled(action, by) or action.setdefault("stranger", by) != by


class StrangerSpends(Ledger, fault="stranger-spends", clause="PA-2"):
    """Behind one who may not decide, nobody else may."""

    def is_entitled(self, action, by):
        return action.setdefault("first", by) == by and super().is_entitled(action, by)


class LateDecision(Ledger, fault="late-decision", clause="PA-7"):
    """What has expired can still be allowed, for five seconds."""

    def why_settled(self, action):
        late = action["state"] == "expired" and self.stored["now"] < action["expires_at"] + 5000
        return None if late else super().why_settled(action)


class ExpiryWaitsForTimer(Ledger, fault="expiry-waits-for-timer", clause="PA-7"):
    """Only a tick lets questions expire, so that a decision that comes before it counts however late it is."""

    def advance(self, now):
        self.stored["now"] = max(now, self.stored["now"] or now)

    def tick(self, now):
        super().advance(now)


class ClockGoesBack(Ledger, fault="clock-goes-back", clause="PA-7"):
    """The time is what the clock says, also where it was later before."""

    def advance(self, now):
        self.stored["now"] = None
        super().advance(now)


class CancelKeepsTheButton(Ledger, fault="cancel-keeps-the-button", clause="PA-5"):
    """What was cancelled can still be allowed."""

    def why_settled(self, action):
        return None if action["state"] == "cancelled" else super().why_settled(action)


class SessionEndForgets(Ledger, fault="session-end-forgets", clause="PA-5"):
    """The end of a session cancels nothing that pends in it."""

    def end_session(self, now, session_id):
        self.check_name("session_id", session_id)
        if session_id in self.stored["ended"]:
            raise Refused("the session has ended", "PA-5")
        self.stored["ended"].append(session_id)


class RunsTwice(Ledger, fault="runs-twice", clause="PA-8"):
    """A second allow runs the tool a second time."""

    def why_settled(self, action):
        return None if action["state"] == "released" else super().why_settled(action)


class ThirdAllowedTwice(Ledger, fault="third-runs-twice", clause="PA-8"):
    """Only of the third action of a ledger does a second allow count."""

    def why_settled(self, action):
        is_third = list(self.actions).index(action["action_id"]) == 2
        return None if is_third and action["state"] == "released" else super().why_settled(action)


class AllowAfterDeny(Ledger, fault="allow-after-deny", clause="PA-5"):
    """Who has denied may think better of it."""

    def why_settled(self, action):
        return None if action["state"] == "denied" else super().why_settled(action)


# What runs is not what was proposed.


class ArgumentsSwapped(Ledger, fault="arguments-swapped", clause="PA-3"):
    """A call runs with the arguments of another that pends beside it."""

    def release(self, action):
        others = [other for other in self.actions.values() if other["state"] == "pending" and other is not action]
        super().release({**action, "arguments": others[0]["arguments"]} if others else action)


class EditedArguments(Ledger, fault="edited-arguments", clause="PA-3"):
    """What runs is what the client says it has approved."""

    def why_ignored(self, action, nonce, decision, by, arguments):
        if action is not None and action["state"] == "pending" and arguments is not None:
            action["arguments"] = arguments.held()
        return super().why_ignored(action, nonce, decision, by, arguments)


class OtherArgumentsApproved(Ledger, fault="other-arguments-approved", clause="PA-3"):
    """An allow counts although the client has approved other arguments than the proposed ones."""

    def why_ignored(self, action, nonce, decision, by, arguments):
        return super().why_ignored(action, nonce, decision, by, None)


class RewrittenArguments(Ledger, fault="rewritten-arguments", clause="PA-3"):
    """The arguments are parsed and written anew, and a large number comes out another."""

    def release(self, action):
        rewritten = json.dumps(json.loads(action["arguments"], parse_int=float))
        super().release({**action, "arguments": rewritten})


class SameMillisecond(Ledger, fault="same-millisecond", clause="PA-3"):
    """Of two actions that are proposed in the same millisecond the second takes the arguments of the first."""

    def propose(self, now, **proposal):
        super().propose(now, **proposal)
        *before, action = self.actions.values()
        action["proposed_at"] = self.stored["now"]
        if before and before[-1]["proposed_at"] == action["proposed_at"]:
            action["arguments"] = before[-1]["arguments"]


# What is told is not what has happened.


class AllowedSilently(Ledger, fault="allowed-silently", clause="PA-4"):
    """The call that runs is not appended to the transcript."""

    def release(self, action):
        self.put_out("perform", {"action_id": action["action_id"], "tool": action["tool"], "arguments": action["arguments"]})


class ResultDropped(Ledger, fault="result-dropped", clause="PA-4"):
    """What the tool has returned is not appended to the transcript."""

    def finish_tool(self, now, action_id, status, result):
        super().finish_tool(now, action_id, status, result)
        self.outputs.pop(-2)


class SilentDenial(Ledger, fault="silent-denial", clause="PA-6"):
    """The model is not told of a denial."""

    def deny(self, action, by):
        action["state"] = "denied"
        self.event(action, "decided", decision="deny", by=by)
        self.event(action, "denied", by=by)


class ShowsArguments(Ledger, fault="shows-arguments", clause="PA-9"):
    """The visible message has the arguments in it."""

    def append(self, session_id, **message):
        if message["type"] == "confirmation_request":
            message["text"] += " " + list(self.actions.values())[-1]["arguments"]
        super().append(session_id, **message)


class DecidedSilently(Ledger, fault="decided-silently", clause="PA-10"):
    """No event tells that somebody has decided."""

    def event(self, action, kind, **body):
        if kind != "decided":
            super().event(action, kind, **body)


class DeniedAsExecuted(Ledger, fault="denied-as-executed", clause="PA-10"):
    """The event behind a denial is that of a call that has run."""

    def event(self, action, kind, **body):
        kind, body = ("executed", {"status": "error"}) if kind == "denied" else (kind, body)
        super().event(action, kind, **body)


# What a restart does.


class RunsAgainAfterRestart(Ledger, fault="runs-again-after-restart", clause="PA-8"):
    """After a restart what was released and is not known to be done is run again."""

    def restart(self, now, lost):
        super().restart(now, lost)
        for action in self.actions.values():
            if action["state"] == "released":
                self.put_out("perform", {"action_id": action["action_id"], "tool": action["tool"], "arguments": action["arguments"]})


class ForgetsPending(Ledger, fault="forgets-after-restart", clause="PA-2"):
    """After a restart nobody knows of what was pending."""

    def restart(self, now, lost):
        super().restart(now, lost)
        self.stored["actions"] = {name: action for name, action in self.actions.items() if action["state"] != "pending"}


class ForgetsDecisions(Ledger, fault="forgets-decisions", clause="PA-5"):
    """After a restart what was denied pends again."""

    def restart(self, now, lost):
        super().restart(now, lost)
        for action in self.actions.values():
            action["state"] = "pending" if action["state"] == "denied" else action["state"]


class ForgetsDoubt(Ledger, fault="forgets-doubt", clause="PA-10"):
    """After a restart nobody is told of what may or may not have run."""

    def restart(self, now, lost):
        super().restart(now, lost)
        self.outputs = [output for output in self.outputs if "in_doubt" not in output]


class ForgetsUntold(Ledger, fault="forgets-untold", clause="PA-10"):
    """What a crash has swallowed is not told again."""

    def restart(self, now, lost):
        super().restart(now, [])


class AnyNonceAfterRestart(Ledger, fault="any-nonce-after-restart", clause="PA-1"):
    """After a restart, and only then, the nonce is not looked at."""

    def restart(self, now, lost):
        super().restart(now, lost)
        self.stored["restarted"] = True

    def is_nonce_of(self, action, nonce):
        return "restarted" in self.stored or super().is_nonce_of(action, nonce)


class SnapshotTurnsBack(Ledger, fault="snapshot-turns-back", clause="PA-8", host_must_guard=True):
    """An older snapshot is taken for the state, and what was resolved since pends again; only a host that hands back none can prevent it."""

    def rollback(self, now, snapshot):
        super().rollback(now, snapshot)
        self.stored = {**json.loads(snapshot.held()), "now": self.stored["now"], "snapshots": self.stored["snapshots"]}


# What the text allows.


class ReadsRun(Ledger, variant="reads-run", clause="PA-13", reading="read-effect=runs"):
    """A call that only reads is released at once, and nobody is asked."""

    def propose(self, now, **proposal):
        super().propose(now, **proposal)
        action = list(self.actions.values())[-1]
        if action["effect"] == "read":
            self.outputs = [output for output in self.outputs if output.get("append", {}).get("type") != "confirmation_request"]
            action["state"] = "released"
            self.event(action, "decided", decision="allow")
            self.release(action)


class ExpiryInTime(Ledger, variant="decision-at-expiry-counts", clause="PA-7", reading="expiry-boundary=after"):
    """A decision at the very time of the expiry is in time."""

    def is_due(self, action):
        return action["expires_at"] is not None and action["expires_at"] < self.stored["now"]


class AlwaysExpires(Ledger, variant="always-expires", clause="PA-7", reading="expiry-absent=after"):
    """Where the proposal names no expiry, the question closes after five seconds."""

    def checked_expiry(self, text):
        return self.stored["now"] + 5000 if text is None else super().checked_expiry(text)


class NobodyUnnamed(Ledger, variant="nobody-unnamed", clause="PA-2", reading="deciders-absent=nobody"):
    """Where the proposal names no deciders, nobody may decide."""

    def is_entitled(self, action, by):
        return action["deciders"] is not None and super().is_entitled(action, by)


class OwnArguments(Ledger, variant="arguments-as-json", clause="PA-3"):
    """Arguments come out as JSON where that is the same to the last digit, and not as a string that holds them."""

    def put_out(self, kind, body, **beside):
        if isinstance(body, dict) and "arguments" in body:
            text = body["arguments"]
            value = json.loads(text)
            if json.dumps(value, separators=(",", ":")) == text and not isinstance(value, str):
                body = {**body, "arguments": value}
        super().put_out(kind, body, **beside)


class NewestFirst(Ledger, variant="newest-first", clause="PA-10"):
    """What expires at one instant, or ends with its session, is told in another order: the newest first."""

    @staticmethod
    def in_turn(actions):
        return actions[::-1]


class RunsIdempotentAgain(Ledger, variant="idempotent-again", clause="PA-3"):
    """After a restart a call that is declared idempotent is run again and not in doubt, unless it is done or its session has ended."""

    def restart(self, now, lost):
        super().restart(now, lost)
        for place, output in enumerate(self.outputs):
            action = self.actions.get(output.get("in_doubt", {}).get("action_id"))
            if action is not None and action["idempotent"] and action["session_id"] not in self.stored["ended"]:
                self.outputs[place] = {"perform": {"action_id": action["action_id"], "tool": action["tool"], "arguments": action["arguments"]}}


class AnswersLittle(Ledger, variant="shows-little", clause="PA-12"):
    """It declares nothing that is optional, and shows the operator's audits to nobody."""

    SUPPORTS = []
    SHOWS = [kind for kind in Ledger.SHOWS if kind not in ("audit", "in_doubt", "snapshot")]

    def put_out(self, kind, body, **beside):
        if kind in self.SHOWS:
            super().put_out(kind, body, **beside)


class OtherNames(Ledger, variant="other-names", clause="PA-1"):
    """Ids and nonces are counted, and ids of messages and events look like nothing else."""

    def new_id(self, prefix):
        self.stored["made"] = self.stored.get("made", 0) + 1
        return f"{prefix.rstrip('_')}/{self.stored['made']}"
