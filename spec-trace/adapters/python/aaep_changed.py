"""The producer of AAEP, changed in one thing at a time: seeded faults, and variants that the text allows.

The one thing to know: each class overrides a method or two of `Producer`, and its docstring says what is different. A fault names the
clause that it breaks; a variant names the clause that leaves the choice, and the reading of `countersign check --reading` where there is one.
"""

import aaep
from aaep import Ignored, Producer
from driver import parse_time

# Runs that nobody has confirmed.


class RunsBeforeApproval(Producer, fault="runs-before-approval", clause="AAEP-6.1-1"):
    """The action is performed as soon as it is asked about."""

    def ask(self, question, *told):
        super().ask(question, *told)
        if question["kind"] == "confirmation":
            self.perform({"action": question["action"]["id"], "session_id": question["session_id"], "tool_call_id": question["call_id"]})


class DenyIsAllow(Producer, fault="deny-is-allow", clause="AAEP-A.4-4"):
    """A rejection is taken for an acceptance: 6.1-1 forbids every run without an acceptance, A.4-4 the one behind a rejection."""

    def reject(self, question):
        self.accept(question)


class ModifiedIsAccepted(Producer, fault="modified-is-accepted", clause="AAEP-6.3.2-4"):
    """A reply with a modified action, which is not supported, accepts what was asked."""

    def answer(self, question, reply):
        super().answer(question, {name: given for name, given in reply.items() if name != "modified_action"})


class WrongTimeoutDefault(Producer, fault="wrong-timeout-default", clause="AAEP-6.4-1"):
    """When the time is up the action is performed, whatever its default is."""

    def apply_default(self, question):
        super().apply_default({**question, "default": "accept"} if question["kind"] == "confirmation" else question)
        question["status"] = "used"


class DefaultsToAccept(Producer, fault="any-default", clause="AAEP-6.4.1-1"):
    """An irreversible action of high risk may default to accept."""

    def check_default(self, action, default_decision):
        super().check_default({**action, "risk_level": "low"} if action["risk_level"] == "high" else action, default_decision)


class EarlyAccept(Producer, fault="early-accept", clause="AAEP-6.1-1"):
    """Where the last subscription closes that could answer, a default accept applies before its time."""

    def applies_early(self, question):
        return True


# Replies that count and should not.


class RunsTwice(Producer, fault="runs-twice", clause="AAEP-6.3.4-3"):
    """A second reply with the token counts again: 6.3.5-1 says so of what follows, 6.3.4-3 is the check that is left out."""

    def check_unused(self, question, reply, sender):
        if question["status"] == "cancelled":
            super().check_unused(question, reply, sender)


class ThirdRunsTwice(Producer, fault="third-runs-twice", clause="AAEP-6.3.4-3"):
    """Only for the third question does a second reply count again."""

    def check_unused(self, question, reply, sender):
        if question["status"] == "cancelled" or list(self.questions.values()).index(question) != 2:
            super().check_unused(question, reply, sender)


class TokenSwapped(Producer, fault="token-swapped", clause="AAEP-6.1-1"):
    """A reply is about the question that has waited longest, whatever token it has."""

    def questioned(self, reply):
        question = super().questioned(reply)
        older = [other for other in self.pending() if other["kind"] == question["kind"]]
        return older[0] if older and question["status"] == "pending" else question


class SameMillisecond(Producer, fault="same-millisecond", clause="AAEP-6.1-1"):
    """Of two questions in the same millisecond the second is answered by the token of the first."""

    def questioned(self, reply):
        question = super().questioned(reply)
        twins = [other for other in self.pending() if other["asked_at"] == question["asked_at"] and other["kind"] == question["kind"]]
        return twins[-1] if question in twins else question


class LateReply(Producer, fault="late-reply", clause="AAEP-6.3.4-4"):
    """The time that a reply claims is not looked at."""

    def check_in_time(self, question, reply):
        pass


class AtTheDeadline(Producer, fault="at-the-deadline", clause="AAEP-6.3.4-4"):
    """A reply that claims the deadline itself is in time."""

    def check_in_time(self, question, reply):
        if parse_time(reply["timestamp"].value) > self.deadline(question):
            raise Ignored("AAEP-6.3.4-4", "decided too late")


class CancelKeepsTheToken(Producer, fault="cancel-does-not-revoke", clause="AAEP-6.8-4"):
    """A question that was taken back can still be answered."""

    def check_unused(self, question, reply, sender):
        if question["status"] != "cancelled":
            super().check_unused(question, reply, sender)


class SessionEndKeeps(Producer, fault="session-end-keeps", clause="AAEP-6.8-2"):
    """What pends in a session that is cancelled still waits for its answer or its time."""

    def withdraw_at_end(self, question, outcome):
        if outcome != "cancelled":
            super().withdraw_at_end(question, outcome)


class Unauthenticated(Producer, fault="unauthenticated", clause="AAEP-6.3.4-5"):
    """Who knows the token need not be authenticated."""

    def check_sender(self, reply, sender):
        super().check_sender(reply, {**sender, "authenticated": True})


class WrongSender(Producer, fault="wrong-sender", clause="AAEP-6.3.4-5"):
    """The reply may name any open subscription, whosever it is."""

    def check_sender(self, reply, sender):
        named = reply.get("subscription_id")
        has_both = named is not None and sender["subscription_id"] is not None
        super().check_sender(reply, {**sender, "subscription_id": named.value} if has_both else sender)


class UnauthenticatedAfterRestart(Producer, fault="unauthenticated-after-restart", clause="AAEP-6.3.4-5"):
    """After a restart, and only then, who knows the token need not be authenticated."""

    def restart(self, now, lost):
        super().restart(now, lost)
        self.stored["restarted"] = True

    def check_sender(self, reply, sender):
        super().check_sender(reply, {**sender, "authenticated": sender["authenticated"] or "restarted" in self.stored})


class AnyDecision(Producer, fault="any-decision", clause="AAEP-6.3.4-6"):
    """The decision need not be one that the question allows."""

    def check_allowed(self, question, decision):
        pass


class KindConfusion(Producer, fault="reply-kind-confusion", clause="AAEP-6.3.4-2"):
    """A clarification that is answered on the token of a confirmation accepts it."""

    def questioned(self, reply):
        question = self.questions.get(reply["reply_token"].value)
        is_confused = question is not None and question["kind"] == "confirmation" and reply["type"].value == "clarification.reply"
        return question if is_confused else super().questioned(reply)

    def answer(self, question, reply):
        is_confused = question["kind"] == "confirmation" and "decision" not in reply
        self.accept(question) if is_confused else super().answer(question, reply)


class ForeignMembers(Producer, fault="foreign-members", clause="AAEP-6.3.4-1"):
    """A reply may name its session, which the schema does not know."""

    REPLIES = {kind: {**schema, "session_id?": aaep.is_text()} for kind, schema in Producer.REPLIES.items()}


class AnyResponse(Producer, fault="any-response", clause="AAEP-6.5.5-2"):
    """A response of any type answers a clarification."""

    def answer(self, question, reply):
        if question["kind"] == "clarification":
            self.resolve_clarification(question, "reply", reply["response"])
        else:
            super().answer(question, reply)


class NoForwarding(Producer, fault="no-forwarding", clause="AAEP-6.6-4"):
    """Who has not said that it can reply is not heard."""

    def check_sender(self, reply, sender):
        super().check_sender(reply, sender)
        if not self.stored["subscriptions"][sender["subscription_id"]]["can_reply"]:
            raise Ignored("AAEP-6.3.4-5", "the subscription cannot reply")


# Time.


class NoTimeout(Producer, fault="no-timeout", clause="AAEP-6.4-1"):
    """A question waits for ever."""

    def due(self):
        return [due for due in super().due() if due[1] is not None]


class EarlyTimeout(Producer, fault="early-timeout", clause="AAEP-6.4-1"):
    """The default applies half a second before the time is up."""

    def deadline(self, question):
        return super().deadline(question) - 500


class ExtensionInName(Producer, fault="extension-in-name", clause="AAEP-6.4.2-3"):
    """More time is told, and not given."""

    def extend(self, now, reply_token, timeout_seconds):
        before = self.named(reply_token, "AAEP-6.4.2-3")["timeout_seconds"]
        super().extend(now, reply_token, timeout_seconds)
        self.questions[reply_token]["timeout_seconds"] = before


class WaitsForNobody(Producer, fault="waits-for-nobody", clause="AAEP-6.4-1"):
    """Where nobody is left who could answer, a default is never applied, not in its time either."""

    def applies_early(self, question):
        return False

    def apply_default(self, question):
        if any(self.is_open(name) for name in self.stored["subscriptions"]):
            super().apply_default(question)


# What is told is wrong.


class ErrorOracle(Producer, fault="error-oracle", clause="AAEP-6.3.4-9"):
    """Who sends a token that does not count is answered 404, and not 204."""

    def deliver(self, now, sender, message, message_base64):
        super().deliver(now, sender, message, message_base64)
        clauses = [output["audit"]["clause"] for output in self.outputs if "audit" in output]
        if "AAEP-6.3.4-2" in clauses:
            next(output for output in self.outputs if "respond" in output)["respond"]["status"] = 404


class SilentDenial(Producer, fault="silent-denial", clause="AAEP-6.1-3"):
    """No event tells that an action was rejected."""

    def reject(self, question):
        question["status"] = "used"


class AsksTwice(Producer, fault="asks-twice", clause="AAEP-6.1-6"):
    """The same action is asked about again while the first question pends."""

    def check_not_pending(self, session_id, action):
        pass


class ReusesToken(Producer, fault="reuses-token", clause="AAEP-6.2.2-3"):
    """An action that is asked about again has the token that it had before."""

    def new_token(self, question):
        same = [other["token"] for other in self.questions.values() if other.get("action") == question.get("action", "none")]
        return same[0] if same else super().new_token(question)


class RunsUntold(Producer, fault="runs-untold", clause="AAEP-A.4-3"):
    """No tool.invoked tells that the accepted action is performed."""

    def emit(self, session_id, kind, **payload):
        if kind != "tool.invoked":
            super().emit(session_id, kind, **payload)


class NeverCompletes(Producer, fault="never-completes", clause="AAEP-A.3-1"):
    """No tool.completed tells that a tool has come back."""

    def emit(self, session_id, kind, **payload):
        if kind != "tool.completed":
            super().emit(session_id, kind, **payload)


class NotUrgent(Producer, fault="not-urgent", clause="AAEP-EV-6"):
    """A question has the urgency of any other event."""

    def emit(self, session_id, kind, **payload):
        super().emit(session_id, kind, **payload)
        self.outputs[-1]["emit"]["urgency"] = "normal"


class SkipsNumbers(Producer, fault="skips-numbers", clause="AAEP-EV-4"):
    """Behind a question one sequence number is left out."""

    def emit(self, session_id, kind, **payload):
        super().emit(session_id, kind, **payload)
        if kind == "awaiting.confirmation":
            self.stored["sessions"][session_id]["sequence"] += 1


class TalksAfterEnd(Producer, fault="talks-after-end", clause="AAEP-A.1-3"):
    """A session tells its state once more when it has ended."""

    def end_session(self, now, session_id, outcome):
        super().end_session(now, session_id, outcome)
        self.emit(session_id, "state.changed", from_state=self.stored["sessions"][session_id]["state"], to_state="idle", summary_normal="Over.")


# What a restart does.


class RunsAgainAfterRestart(Producer, fault="runs-again-after-restart", clause="AAEP-6.9-2"):
    """After a restart what was released and is not known to be done is performed again."""

    def restart(self, now, lost):
        doubtful = self.in_flight()
        super().restart(now, lost)
        for call in doubtful:
            self.perform(call)


class ForgetsQuestions(Producer, fault="forgets-after-restart", clause="AAEP-6.4-1"):
    """After a restart nobody knows of the questions that were pending: neither a reply nor the time brings anything about."""

    def restart(self, now, lost):
        for question in self.pending():
            question["status"] = "cancelled"
        super().restart(now, lost)


class ForgetsUsed(Producer, fault="forgets-used", clause="AAEP-6.3.4-3"):
    """After a restart a token that was used pends again."""

    def restart(self, now, lost):
        super().restart(now, lost)
        for question in self.questions.values():
            if question["status"] == "used":
                question["status"] = "pending"


class ForgetsUntold(Producer, fault="forgets-untold", clause="AAEP-6.7-1"):
    """What a crash has swallowed is not told again, be it a question."""

    def restart(self, now, lost):
        super().restart(now, [])


# What the text allows.


class NoNotices(Producer, variant="no-notices", clause="AAEP-6.3.5-2"):
    """A late reply gets no courtesy notification."""

    SUPPORTS = [capability for capability in Producer.SUPPORTS if capability != "courtesy_notice"]


class NoCountdown(Producer, variant="no-countdown", clause="AAEP-6.4.3-1"):
    """The time left is not told."""

    SUPPORTS = [capability for capability in Producer.SUPPORTS if capability != "progress"]


class ConfirmationsOnly(Producer, variant="confirmations-only", clause="AAEP-6-1"):
    """It declares nothing that is optional, and shows nobody its audits."""

    SUPPORTS = []
    SHOWS = [kind for kind in Producer.SHOWS if kind not in ("audit", "notify", "answer", "in_doubt")]

    def put_out(self, kind, body, **beside):
        if kind in self.SHOWS:
            super().put_out(kind, body, **beside)


class NewestFirst(Producer, variant="newest-first", clause="AAEP-6.4-1"):
    """What falls due at one instant is served in another order: the newest first."""

    def in_turn(self, due):
        return sorted(super().in_turn(due)[::-1], key=lambda it: it[0])


class Deciding(Producer, variant="deciding", clause="AAEP-6.1-3"):
    """Behind a question that was rejected or taken back the state is `deciding`."""

    AWAY = "deciding"


class NeverEarly(Producer, variant="never-early", clause="AAEP-6.4-1", reading="early-default-on-close=never"):
    """A default waits for its time, also where nobody is left who could answer."""

    def applies_early(self, question):
        return False


class EndsByItself(Producer, variant="ends-by-itself", clause="AAEP-6.8-1", reading="session-end-tells=by-itself"):
    """The event that ends a session takes its questions back, however it ends."""

    def withdraw_at_end(self, question, outcome):
        super().withdraw_at_end(question, "cancelled")


class NoNumbers(Producer, variant="no-sequence-numbers", clause="AAEP-EV-4"):
    """No event has a sequence number."""

    def emit(self, session_id, kind, **payload):
        super().emit(session_id, kind, **payload)
        del self.outputs[-1]["emit"]["sequence_number"]


class OtherClockReadings(Producer, variant="microseconds", clause="AAEP-EV-3"):
    """The times of events have six digits and an offset."""

    def emit(self, session_id, kind, **payload):
        super().emit(session_id, kind, **payload)
        event = self.outputs[-1]["emit"]
        event["timestamp"] = event["timestamp"].replace("Z", "000+00:00")


class ContextInList(Producer, variant="context-in-list", clause="AAEP-EV-1"):
    """The context of an event is a list that begins with the one of the protocol."""

    def emit(self, session_id, kind, **payload):
        super().emit(session_id, kind, **payload)
        self.outputs[-1]["emit"]["@context"] = [aaep.CONTEXT, "https://example.org/context"]


class AnswersWithBody(Producer, variant="answers-with-body", clause="AAEP-6.3.4-9"):
    """Every sender is answered 202 and an empty object."""

    def respond(self):
        self.put_out("respond", {"status": 202, "body": {}})


class PerformsFirst(Producer, variant="performs-first", clause="AAEP-6.1-4"):
    """An accepted action is performed before the state is told that it leads to."""

    def perform(self, call):
        invoked = max(place for place, output in enumerate(self.outputs) if output.get("emit", {}).get("type") == "aaep:agent.tool.invoked")
        self.outputs.insert(invoked + 1, {"perform": call})
