"""AAEP confirmations and clarifications: a small producer behind the driver protocol.

The one thing to know: `Producer` is chapter 6 with the events of appendix A, and takes and gives what the driver protocol writes; to have
an implementation of your own judged, put calls of it in the place of its methods, and leave `driver.py` as it is. All that has to outlive
the process stands in `stored`. The clause behind each rule stands beside it.
"""

import json
import re
import secrets

from driver import INVISIBLE, STRICT, NotUnderstood, Refused, Subject, Words, format_time, main, members_of, parse_time

CONTEXT = "https://aaep-protocol.org/context/v1"
KINDS = ("freetext", "yes_no", "multiple_choice", "numeric")
DECISIONS = Words("accept", "reject")
LATEST = 253_402_300_799_999  # the end of the year 9999


class Ignored(Exception):
    """A message that does nothing: the clause and the reason, for the operator."""


def capabilities(name, given):
    """A type of field: what a subscriber can do. It may say more than is asked."""
    if not isinstance(given.value, dict):
        raise NotUnderstood(f"`{name}`: expected an object")
    can_reply = given.value.get("supports_confirmation_reply", False)
    if not isinstance(can_reply, bool):
        raise NotUnderstood(f"`{name}.supports_confirmation_reply`: expected bool")
    return can_reply


def is_text(least=0, most=None, form=""):
    return lambda value: isinstance(value, str) and least <= len(value) <= (most or len(value)) and re.fullmatch(form or "(?s).*", value) is not None


# The schema of chapter 6 and of its clarifications: {type: {field: what it has to be}}; what has a `?` may be absent.
COMMON = {
    "type": is_text(),
    "reply_token": is_text(form="rpl_[A-Za-z0-9]{1,64}"),
    "subscription_id": is_text(form="sub_[A-Za-z0-9]{1,64}"),
    "timestamp": lambda value: isinstance(value, str) and parse_time(value) is not None,
    "decided_by?": is_text(1, 256),
    "correlation_id?": is_text(),
}
REPLIES = {
    "confirmation.reply": {
        **COMMON,
        "decision": lambda value: value in ("accept", "reject"),
        "decision_rationale?": is_text(1, 4096),
        "modified_action?": lambda value: isinstance(value, dict),
    },
    "clarification.reply": {
        **COMMON,
        "response": lambda value: isinstance(value, (str, bool, int, float)),
        "confidence?": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1,
    },
}


class Producer(Subject):
    """One life of a producer."""

    PROTOCOL = "aaep"
    NAME = "python-aaep 1.0"
    SUPPORTS = ["clarify", "cancel", "extend", "courtesy_notice", "progress", "restart"]
    SHOWS = ["emit", "notify", "perform", "respond", "answer", "audit", "in_doubt", "refused"]
    OPS = {
        "start_session": {"session_id?": str},
        "subscribe": {"subscription_id": str, "capabilities?": capabilities},
        "unsubscribe": {"subscription_id": str},
        "confirm": {
            "session_id": str, "timeout_seconds": int, "default_decision": DECISIONS, "allowed_replies?": [str],
            "action": {"id": str, "tool": str, "description": str, "consequence": str, "risk_level": Words("low", "medium", "high"), "irreversible": bool},
        },
        "clarify": {
            "session_id": str, "question": str, "timeout_seconds": int, "default_response?": str,
            "accepted_response_kinds?": [Words(*KINDS)], "choices?": [{"value": str, "label": str}],
        },
        "deliver": {"sender": {"subscription_id?": str, "authenticated": bool}, "message?": str, "message_base64?": str},
        "cancel": {"reply_token": str},
        "extend": {"reply_token": str, "timeout_seconds": int},
        "finish_tool": {"session_id": str, "action": str, "tool_call_id?": str, "status": Words("success", "error", "timeout")},
        "end_session": {"session_id": str, "outcome": Words("completed", "errored", "cancelled")},
        "tool": {
            "session_id": str, "tool_call_id?": str,
            "action": {"id": str, "tool": str, "args_summary?": str, "risk_level?": Words("low", "medium", "high"), "irreversible?": bool},
        },
        "output": {"session_id": str, "output_id": str, "chunk": str, "complete": bool},
        "handoff": {"session_id": str, "reason": str, "target_kind": Words("human", "specialist_agent", "escalation_queue"), "target_uri?": str},
    }
    REPLIES = REPLIES
    AWAY = "thinking"  # 6.1, 6.8: the state behind a question that nothing comes of
    NEEDS = {"clarify": "clarify", "cancel": "cancel", "extend": "extend", "tool": "work", "output": "work", "handoff": "work"}

    def __init__(self, stored=None):
        super().__init__(stored or {"now": None, "sessions": {}, "subscriptions": {}, "questions": {}, "calls": {}})

    @property
    def questions(self):
        """Every question by its token, in the order of asking. No token is ever used twice (6.2.2)."""
        return self.stored["questions"]

    @property
    def calls(self):
        """The tool calls in flight by their ids."""
        return self.stored["calls"]

    # What is asked.

    def start_session(self, now, session_id):
        session_id = self.new_id("sess_") if session_id is None else session_id
        check_form("session_id", "sess_", session_id)
        if session_id in self.stored["sessions"]:
            raise Refused("the session was started before", "AAEP-A.1-1")
        self.stored["sessions"][session_id] = {"state": "idle", "sequence": 0, "goes_on": True}
        self.emit(session_id, "session.started", summary_normal="The session has started.")

    def subscribe(self, now, subscription_id, capabilities):
        check_form("subscription_id", "sub_", subscription_id)
        if subscription_id in self.stored["subscriptions"]:
            raise Refused("the subscription id was used before", "AAEP-EV-2")
        self.stored["subscriptions"][subscription_id] = {"can_reply": bool(capabilities), "is_open": True}

    def unsubscribe(self, now, subscription_id):
        """EV-11: where the last one closes that could answer, the defaults apply as on timeout, but no accept: only time allows one (6.1)."""
        check_form("subscription_id", "sub_", subscription_id)
        if not self.is_open(subscription_id):
            raise Refused("the subscription is not open", "AAEP-REPLY-14")
        subscription = self.stored["subscriptions"][subscription_id]
        subscription["is_open"] = False
        others = [other for other in self.stored["subscriptions"].values() if other["is_open"] and other["can_reply"]]
        if subscription["can_reply"] and not others:
            for _, _, question in self.in_turn([(self.deadline(question), None, question) for question in self.pending()]):
                if self.applies_early(question):
                    self.apply_default(question)

    def confirm(self, now, session_id, action, timeout_seconds, default_decision, allowed_replies):
        """6.1: the action is blocked until the answer."""
        check_form("session_id", "sess_", session_id)
        check_text("action.id", action["id"], 256)
        for field in ("tool", "description", "consequence"):
            check_text(f"action.{field}", action[field])
        self.check_timeout(timeout_seconds, self.stored["now"])
        if allowed_replies is not None and (not 1 <= len(allowed_replies) <= 32 or len(set(allowed_replies)) < len(allowed_replies)):
            raise Refused("`allowed_replies`: expected 1 to 32 different strings", "AAEP-EV-5")
        for reply in allowed_replies or []:
            check_length("allowed_replies", reply)
        self.check_default(action, default_decision)
        self.check_goes_on(session_id)
        self.check_not_pending(session_id, action)
        question = {
            "kind": "confirmation", "session_id": session_id, "action": action, "default": default_decision,
            "allowed": allowed_replies or ["accept", "reject"], "call_id": self.new_id("call_"),
        }
        self.ask(question, timeout_seconds, "awaiting.confirmation", {
            "action": action["description"], "consequence": action["consequence"], "default_decision": default_decision,
            "risk_level": action["risk_level"], "irreversible": action["irreversible"], "allowed_replies": question["allowed"],
            "extra_context": {"tool_call_id": question["call_id"]}})

    def clarify(self, now, session_id, question, timeout_seconds, default_response, accepted_response_kinds, choices):
        """6.1: the same contract for a question in words."""
        check_form("session_id", "sess_", session_id)
        check_text("question", question)
        self.check_timeout(timeout_seconds, self.stored["now"])
        check_length("default_response", default_response or "")
        kinds = accepted_response_kinds
        if kinds is not None and (not kinds or len(set(kinds)) < len(kinds)):
            raise Refused("`accepted_response_kinds`: expected 1 to 4 different kinds", "AAEP-EV-5")
        self.check_choices(choices, kinds)
        self.check_goes_on(session_id)
        if any(other["session_id"] == session_id and other.get("question") == question for other in self.pending()):
            raise Refused("this question is pending", "AAEP-6.1-9")
        told = {"question": question, "accepted_response_kinds": kinds, "choices": choices, "default_response": default_response}
        about = {"kind": "clarification", "session_id": session_id, "question": question, "kinds": kinds, "choices": choices, "default": default_response}
        self.ask(about, timeout_seconds, "awaiting.clarification", {name: value for name, value in told.items() if value is not None})

    def deliver(self, now, sender, message, message_base64):
        """6.3.4: checked in the order of the text. Whatever comes of it, the sender gets to see the same."""
        if (message is None) == (message_base64 is None):
            raise NotUnderstood("expected one of `message` and `message_base64`")
        if sender["subscription_id"] is not None:
            check_form("sender.subscription_id", "sub_", sender["subscription_id"])
        self.respond()
        try:
            if message is None:
                raise Ignored("AAEP-6.3.4-1", "no UTF-8")
            reply = parse_reply(message, self.REPLIES)
            question = self.questioned(reply)
            self.check_unused(question, reply, sender)
            self.check_in_time(question, reply)
            self.check_sender(reply, sender)
            self.answer(question, reply)
        except Ignored as ignored:
            clause, reason = ignored.args
            self.put_out("audit", {"clause": clause, "text": reason})
            if clause == "AAEP-6.3.4-3" and "courtesy_notice" in self.SUPPORTS:
                self.notify_late(reply, sender)

    def respond(self):
        """6.3.4: the same to every sender."""
        self.put_out("respond", {"status": 204, "body": None})

    def cancel(self, now, reply_token):
        """6.8: a question is taken back; its token is dead."""
        question = self.named(reply_token, "AAEP-6.8-1")
        self.withdraw(question)

    def extend(self, now, reply_token, timeout_seconds):
        """6.4.2: more time, counted from when it was asked."""
        question = self.named(reply_token, "AAEP-6.4.2-3")
        self.check_timeout(timeout_seconds, question["asked_at"])
        if timeout_seconds <= question["timeout_seconds"]:
            raise Refused("`timeout_seconds` is no longer than before", "AAEP-6.4.2-3")
        question["timeout_seconds"] = timeout_seconds
        question["told"] = len(self.moments_passed(question))
        self.tell_time_left(question)

    def finish_tool(self, now, session_id, action, tool_call_id, status):
        """A.3: a call is completed once."""
        check_form("session_id", "sess_", session_id)
        check_text("action", action, 256)
        if tool_call_id is not None:
            check_text("tool_call_id", tool_call_id, 64)
        of_action = [call for call in self.in_flight() if call["session_id"] == session_id and call["action"] == action]
        meant = [call for call in of_action if tool_call_id in (None, call["tool_call_id"])]
        if not meant or not self.stored["sessions"][session_id]["goes_on"]:
            raise Refused("no such call is in flight", "AAEP-A.3-2")
        self.complete(meant[0], status)
        self.settle(session_id)

    def end_session(self, now, session_id, outcome):
        """6.8, A.1: what pends is taken back, by an event first, or by the cancellation itself; nothing comes after the end."""
        check_form("session_id", "sess_", session_id)
        self.check_goes_on(session_id, "AAEP-A.1-2")
        pending = [question for question in self.pending() if question["session_id"] == session_id]
        calls = [call for call in self.in_flight() if call["session_id"] == session_id]
        for question in pending:
            self.withdraw_at_end(question, outcome)
        for call in calls:
            self.put_out("audit", {"clause": "AAEP-6.8-2", "text": "the session has ended: what has not begun is not to begin", "action": call["action"]})
        for call in calls:
            if outcome == "cancelled":
                del self.calls[call["tool_call_id"]]
            else:
                self.complete(call, "error")
        how = {"completed": {}, "errored": {"error_category": "unknown"}, "cancelled": {"cancelled_by": "producer"}}[outcome]
        self.emit(session_id, f"session.{outcome}", **how, summary_normal=f"The session is {outcome}.")
        self.stored["sessions"][session_id]["goes_on"] = False

    # Time and restart.

    def advance(self, now):
        """6.4: what no valid reply came for in time gets its default, and 6.4.3: the time left is told where it is long. The greatest time so
        far counts."""
        self.stored["now"] = max(now, self.stored["now"] or now)
        for _, number, question in self.in_turn(self.due()):
            if number is None:
                self.apply_default(question)
            else:
                question["told"] = number
                self.tell_time_left(question)

    def due(self):
        """For each question that waits and has reached one of its moments the last of them: when that was, its number, and the question. The
        deadline has no number; others come when half and when a tenth of a time longer than a minute remains."""
        for question in self.pending():
            passed = self.moments_passed(question)
            if self.deadline(question) <= self.stored["now"]:
                yield self.deadline(question), None, question
            elif len(passed) > question["told"]:
                yield passed[-1], len(passed), question

    def moments_passed(self, question):
        """6.4.3: when half and when a tenth of a time longer than a minute remained."""
        is_told = question["timeout_seconds"] > 60 and "progress" in self.SUPPORTS
        moments = [question["asked_at"] + question["timeout_seconds"] * part for part in (500, 900) if is_told]
        return [moment for moment in moments if moment <= self.stored["now"]]

    def restart(self, now, lost):
        """What nobody got to see comes again, and a question anew: its time counts from now. What was released is in doubt and runs no
        second time (6.1)."""
        moment = max(now, self.stored["now"] or now)
        doubtful = self.in_flight()
        moved = set()
        for output in lost:
            event = output.get("emit")
            if event is not None and event["session_id"] in moved or event is not None and self.is_question(event):
                moved.add(event["session_id"])
                event = {**event, "timestamp": format_time(moment)}
                if self.is_question(event):
                    event["event_id"] = self.new_id("evt_")
                    self.questions[event["reply_token"]].update(asked_at=moment, told=0)
                self.put_out("emit", event)
            elif event is not None or "answer" in output:
                self.outputs.append(output)
        self.advance(now)
        for call in doubtful:
            self.put_out("in_doubt", call)

    # The rules.

    def ask(self, question, timeout_seconds, kind, told):
        """6.2, A.4: a question with a token of its own; the state is awaiting_input before it."""
        token = self.new_token(question)
        question.update(token=token, asked_at=self.stored["now"], timeout_seconds=timeout_seconds, status="pending", told=0)
        if len(json.dumps(told, ensure_ascii=False).encode()) > 65_000:
            raise Refused("the event would be larger than 64 KiB", "AAEP-EV-10")
        self.questions[token] = question
        self.change_state(question["session_id"], "awaiting_input", "Waiting for the user.")
        self.emit(question["session_id"], kind, **told, reply_token=token, timeout_seconds=timeout_seconds)

    def answer(self, question, reply):
        """6.1: the decision of the first valid reply (6.3.5)."""
        if question["kind"] == "clarification":
            check_response(question, reply["response"].value)
            self.resolve_clarification(question, "reply", reply["response"])
        elif "modified_action" in reply:
            self.reject(question)  # 6.3.2: not supported
        else:
            decision = reply["decision"].value
            self.check_allowed(question, decision)
            if decision == "accept":
                self.accept(question)
            else:
                self.reject(question)

    def accept(self, question):
        """6.7.2, A.4: the state, the call, and then the action."""
        question["status"] = "used"
        session_id, action = question["session_id"], question["action"]
        call = {
            "action": action["id"], "session_id": session_id, "tool": action["tool"], "tool_call_id": question["call_id"],
            "reply_token": question["token"],
        }
        self.calls[question["call_id"]] = call
        self.change_state(session_id, "calling_tool", "The action was accepted.")
        self.emit(session_id, "tool.invoked", tool=action["tool"], tool_call_id=question["call_id"], summary_normal=action["description"],
                  risk_level=action["risk_level"], irreversible=action["irreversible"])
        self.settle(session_id)
        self.perform(call)

    def perform(self, call):
        self.put_out("perform", call)

    def reject(self, question):
        """6.1: an event tells that the action is not done."""
        question["status"] = "used"
        self.change_state(question["session_id"], self.AWAY, "The action was rejected.")
        self.settle(question["session_id"])

    def resolve_clarification(self, question, by, response=None):
        question["status"] = "used"
        self.change_state(question["session_id"], "thinking", "The question was answered.")
        self.settle(question["session_id"])
        answered = {} if response is None else {"response": response}
        self.put_out("answer", {"session_id": question["session_id"], "reply_token": question["token"], **answered, "by": by})

    def apply_default(self, question):
        if question["kind"] == "clarification":
            default = question["default"]
            self.resolve_clarification(question, *(["nobody"] if default is None else ["default", default]))
        elif question["default"] == "accept":
            self.accept(question)
        else:
            self.reject(question)

    def applies_early(self, question):
        """EV-11, 6.1: an accept waits for its time."""
        return question["default"] != "accept" or question["kind"] == "clarification"

    def withdraw(self, question):
        question["status"] = "cancelled"
        self.change_state(question["session_id"], self.AWAY, "The question was taken back.")
        self.settle(question["session_id"])

    def withdraw_at_end(self, question, outcome):
        if outcome == "cancelled":
            question["status"] = "cancelled"  # 6.8: by the event that ends the session
        else:
            self.withdraw(question)

    def complete(self, call, status):
        del self.calls[call["tool_call_id"]]
        self.emit(call["session_id"], "tool.completed", tool=call["tool"], tool_call_id=call["tool_call_id"], status=status)

    def settle(self, session_id):
        """A.2, A.3: awaiting_input while a question is open, else calling_tool while a tool runs, else neither."""
        if any(question["session_id"] == session_id for question in self.pending()):
            self.change_state(session_id, "awaiting_input", "Waiting for the user.")
        elif any(call["session_id"] == session_id for call in self.calls.values()):
            self.change_state(session_id, "calling_tool", "A tool is running.")
        elif self.stored["sessions"][session_id]["state"] == "calling_tool":
            self.change_state(session_id, "thinking", "The tool has come back.")

    def pending(self):
        """The questions that wait, in the order of asking."""
        return [question for question in self.questions.values() if question["status"] == "pending"]

    def in_flight(self):
        """The calls that are not known to be done, in the order of asking."""
        return [self.calls[question["call_id"]] for question in self.questions.values() if question.get("call_id") in self.calls]

    def deadline(self, question):
        """6.4: from the timestamp of its event."""
        return question["asked_at"] + question["timeout_seconds"] * 1000

    def in_turn(self, due):
        """By the moment at which it fell due. The order of what falls due at one instant is left open by the text."""
        return sorted(due, key=lambda it: (it[0], it[1] is not None, it[2]["kind"] == "clarification"))

    def is_open(self, subscription_id):
        return self.stored["subscriptions"].get(subscription_id, {"is_open": False})["is_open"]

    @staticmethod
    def is_question(event):
        return "reply_token" in event

    # The checks of a reply.

    def questioned(self, reply):
        """6.3.4, check 2: a question of this producer, and of this kind."""
        question = self.questions.get(reply["reply_token"].value)
        if question is None or f"{question['kind']}.reply" != reply["type"].value:
            raise Ignored("AAEP-6.3.4-2", "no such question has this token")
        return question

    def check_unused(self, question, reply, sender):
        """6.3.4, check 3; 6.8: a token that was taken back is dead."""
        if question["status"] == "cancelled":
            raise Ignored("AAEP-6.8-4", "the question was taken back")
        if question["status"] == "used":
            raise Ignored("AAEP-6.3.4-3", "the question was answered before")

    def check_in_time(self, question, reply):
        """6.3.4, check 4: the claimed time lies before the deadline."""
        if parse_time(reply["timestamp"].value) >= self.deadline(question):
            raise Ignored("AAEP-6.3.4-4", "decided too late")

    def check_sender(self, reply, sender):
        """6.3.4, check 5: the transport knows the sender, whose own open subscription it is."""
        if not sender["authenticated"]:
            raise Ignored("AAEP-6.3.4-5", "the sender is not authenticated")
        if sender["subscription_id"] != reply["subscription_id"].value or not self.is_open(sender["subscription_id"]):
            raise Ignored("AAEP-6.3.4-5", "the subscription is not the sender's, or not open")

    def check_allowed(self, question, decision):
        """6.3.4, check 6: the question allows the decision."""
        if decision not in question["allowed"]:
            raise Ignored("AAEP-6.3.4-6", "the decision is not allowed")

    def notify_late(self, reply, sender):
        """6.3.5: a courtesy to the subscription of a late reply, if it is the sender's."""
        try:
            self.check_sender(reply, sender)
        except Ignored:
            return
        self.put_out("notify", {"subscription_id": sender["subscription_id"], "reply_token": reply["reply_token"].value})

    # The checks of the host's questions.

    def check_goes_on(self, session_id, clause="AAEP-A.1-3"):
        if not self.stored["sessions"].get(session_id, {"goes_on": False})["goes_on"]:
            raise Refused("the session is unknown or has ended", clause)

    def check_not_pending(self, session_id, action):
        """6.1: not asked about twice at once."""
        of_session = [other for other in self.pending() if other["session_id"] == session_id and other["kind"] == "confirmation"]
        if any(other["action"]["id"] == action["id"] for other in of_session):
            raise Refused("a confirmation of this action is pending", "AAEP-6.1-6")

    @staticmethod
    def check_timeout(seconds, asked_at):
        if not 1 <= seconds <= 86_400 or asked_at + seconds * 1000 > LATEST:
            raise Refused("`timeout_seconds`: expected 1 to 86400, and an end before the year 10000", "AAEP-EV-5")

    def check_default(self, action, default_decision):
        """6.4.1: silence runs nothing that is irreversible and of medium or high risk."""
        if action["irreversible"] and action["risk_level"] != "low" and default_decision == "accept":
            raise Refused("the default of this action has to be reject", "AAEP-6.4.1-1" if action["risk_level"] == "high" else "AAEP-6.4.1-2")

    @staticmethod
    def check_choices(choices, kinds):
        if choices is None:
            if "multiple_choice" in (kinds or []):
                raise Refused("`choices` are missing", "AAEP-EV-5")
            return
        values = [choice["value"] for choice in choices]
        if not 2 <= len(values) <= 32 or len(set(values)) < len(values):
            raise Refused("`choices`: expected 2 to 32 of different values", "AAEP-EV-5")
        for choice in choices:
            check_text("choices.value", choice["value"])
            check_text("choices.label", choice["label"])

    def named(self, reply_token, clause):
        check_form("reply_token", "rpl_", reply_token)
        question = self.questions.get(reply_token)
        if question is None or question["status"] != "pending":
            raise Refused("no question with this token is pending", clause)
        return question

    # What is put out.

    def emit(self, session_id, kind, **payload):
        """An event with its envelope; the sequence numbers of a session have no gap (EV-4)."""
        session = self.stored["sessions"][session_id]
        is_critical = kind in ("session.errored", "awaiting.confirmation", "awaiting.clarification")
        self.put_out("emit", {
            "@context": CONTEXT, "type": f"aaep:agent.{kind}", "event_id": self.new_id("evt_"), "session_id": session_id,
            "timestamp": format_time(self.stored["now"]), "producer": {"agent_id": "python-aaep"},
            "sequence_number": session["sequence"], "urgency": "critical" if is_critical else "normal", **payload})
        session["sequence"] += 1

    def change_state(self, session_id, state, summary):
        session = self.stored["sessions"][session_id]
        before, session["state"] = session["state"], state
        if before != state:
            self.emit(session_id, "state.changed", from_state=before, to_state=state, summary_normal=summary)

    def tell_time_left(self, question):
        left = self.deadline(question) - self.stored["now"]
        self.emit(question["session_id"], "progress.updated", progress={"description": f"Time left: {left // 1000} s."}, eta_ms=left)

    def new_token(self, question):
        return self.new_id("rpl_")

    def new_id(self, prefix):
        """6.2.1: 128 random bits as hexadecimal digits."""
        return prefix + secrets.token_hex(16)


def check_form(field, prefix, text):
    if re.fullmatch(f"{prefix}[0-9A-Za-z]{{1,64}}", text) is None:
        raise Refused(f"`{field}`: expected {prefix} and 1 to 64 ASCII letters or digits")


def check_length(field, text):
    if len(text.encode()) > 16_384:
        raise Refused(f"`{field}` is longer than 16 KiB", "AAEP-EV-10")


def check_text(field, text, longest=None):
    if INVISIBLE.match(text):
        raise Refused(f"`{field}` is blank", "AAEP-EV-5")
    if longest is not None and len(text) > longest:
        raise Refused(f"`{field}` is longer than {longest} characters", "AAEP-EV-5")
    check_length(field, text)


def parse_reply(message, replies):
    """6.3.4, check 1: JSON that fits the schema, as {field: Json}. What has a name twice in an object has no one meaning."""
    try:
        members = members_of(message.encode())
        STRICT.decode(message)
        kind = members["type"].value
        schema = replies[kind] if isinstance(kind, str) else {}
    except (ValueError, KeyError, RecursionError, NotUnderstood) as problem:
        raise Ignored("AAEP-6.3.4-1", f"malformed: {problem}") from problem
    known = {name.rstrip("?"): is_so for name, is_so in schema.items()}
    required = [name for name in schema if not name.endswith("?")]
    if not schema or not set(required) <= set(members) <= set(known):
        raise Ignored("AAEP-6.3.4-1", "malformed: not the members of a reply")
    for name, given in members.items():
        if not known[name](given.value):
            raise Ignored("AAEP-6.3.4-1", f"malformed: {name}")
    return members


def check_response(question, response):
    """6.5.5: of an accepted kind, and a choice where that is wanted."""
    kinds, choices = question["kinds"] or KINDS, [choice["value"] for choice in question["choices"] or []]
    fits = {
        "freetext": isinstance(response, str),
        "yes_no": isinstance(response, bool),
        "numeric": isinstance(response, (int, float)) and not isinstance(response, bool),
        "multiple_choice": isinstance(response, str) and response in choices,
    }
    if not any(fits[kind] for kind in kinds):
        is_choice = isinstance(response, str) and "multiple_choice" in kinds
        raise Ignored("AAEP-6.5.5-3" if is_choice else "AAEP-6.5.5-2", "the response is of no accepted kind")


if __name__ == "__main__":
    import aaep_changed

    main(aaep_changed.Producer)
