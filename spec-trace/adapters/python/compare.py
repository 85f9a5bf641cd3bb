"""Asks an adapter and the reference the same random requests, and shows where their answers differ.

    python3 compare.py pending-action --countersign target/release/countersign --runs 400

The one thing to know: what either side makes up (ids, tokens) is given a name by where it first comes up, so that the answers can be
compared word for word; reasons are in words of one's own and are not compared. A difference is no fault by itself: the text decides.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

from driver import format_time, parse_time

START = parse_time("2026-05-24T14:22:20Z")
OWN_WORDS = {"audit": ["reason", "failure_reason", "text", "reply_token", "action", "tool_call_id"], "emit": ["producer", "summary_normal", "extensions"], "progress": ["description"],
             "refused": ["clause", "reason"], "error": ["message"],
             "details": ["reasons", "confirmation_message", "problem"]}  # an implementation's own, by kind of output


class Side:
    """One of the two, and the names of what it has made up."""

    def __init__(self, command, protocol, opaque):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.opaque = opaque
        self.names, self.made = {}, {}
        self.greeting = self.say({"id": 0, "op": "hello", "driver": 1, "protocol": protocol})

    def say(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else sys.exit(f"no answer to {request}")

    def ask(self, request):
        if request["op"] == "reset":
            self.names, self.made = {}, {}
        return self.named(self.say(self.filled(request)))

    def filled(self, value):
        """The request, with what this side has made up in the place of `{"made": [field, n]}`."""
        if isinstance(value, dict):
            if "made" in value:
                field, n, *form = value["made"]
                made = self.made.get(field, [])
                made = made[n % len(made)] if made else "none"
                return form[0].replace("@", made) if form else made
            return {key: self.filled(item) for key, item in value.items()}
        return [self.filled(item) for item in value] if isinstance(value, list) else value

    def named(self, value, field=None):
        if isinstance(value, dict):
            return {key: self.named(item, key) for key, item in value.items() if key not in OWN_WORDS.get(field, [])}
        if isinstance(value, list):
            return [self.named(item, field) for item in value]
        kind = self.opaque.get(field)
        if kind is None or not isinstance(value, str):
            return value
        made = self.made.setdefault(kind, [])
        if value not in self.names:
            self.names[value] = f"{kind}{len(made)}"
            made.append(value)
        return self.names[value]


def either(*choices):
    return random.choice(choices)


def maybe(chance, **members):
    return members if random.random() < chance else {}


def later(clock, most):
    clock[0] += either(0, 0, 1, 999, 1000, random.randrange(most))
    return clock[0] - either(0, 0, 0, 0, 0, 1, 1500)


class PendingAction:
    PROGRAM = "pending_action.py"
    OPAQUE = {"action_id": "action", "tool_call_id": "action", "nonce": "nonce", "message_id": "message", "event_id": "event", "snapshot": "snapshot"}

    ARGUMENTS = ['{"id":1}', '{"id": 1}', '{"id":2}', "[1,2.50]", "[1.0,2.5]", "1e400", "null", '"a"', '"\\u0061"', "9007199254740993", "{", '{"a":1,"a":1}']

    def request(self, clock):
        action = {"made": ["action", random.randrange(6)]} if random.random() < 0.96 else "pa_unknown"
        session = either("s1", "s1", "s2")
        op = random.choices(
            ["propose", "decide", "say", "finish_tool", "cancel", "end_session", "snapshot", "rollback", "tick", "restart"],
            [8, 12, 1, 5, 1, 0.5, 1, 1, 4, 2])[0]
        now = format_time(later(clock, 4000))
        arguments = either(*self.ARGUMENTS[:4 if random.random() < 0.8 else None])
        fields = {
            "propose": lambda: {
                "agent_id": "agent" if random.random() < 0.97 else "", "session_id": session, "run_id": "r", "tool": either("delete", "send"),
                "arguments": arguments, "effect": either("read", "write", "destructive", "external", "external", *(["odd"] if random.random() < 0.1 else [])),
                "summary": "Delete it?" if random.random() < 0.97 else "\u200b", "label": "Yes" if random.random() < 0.97 else "Yes\n",
                **maybe(0.5, expires_at=format_time(clock[0] + either(1, 1000, 3000, 5000, 9000, 9000, 0))),
                **maybe(0.3, deciders=either(["ana"], ["ana", "bob"], ["agent"], *([[], ["ana", "ana"]] if random.random() < 0.1 else []))), **maybe(0.2, idempotent=either(True, False))},
            "decide": lambda: {
                "action_id": action, "decision": either("allow", "allow", "deny"), "by": either("ana", "ana", "bob", "agent", " "),
                **maybe(0.3, nonce={"made": ["nonce", random.randrange(6)]}), **maybe(0.25, arguments=arguments)},
            "say": lambda: {"by": either("ana", ""), "text": either("yes", "")},
            "finish_tool": lambda: {"action_id": action, "status": either("success", "error", "not_run"), **maybe(0.7, result=either("ok", None, 3, {"a": [1]}, "[1]"))},
            "cancel": lambda: {"action_id": action},
            "end_session": lambda: {"session_id": either(session, session, " ")},
            "rollback": lambda: {"snapshot": {"made": ["snapshot", random.randrange(3)]}},
            "restart": lambda: maybe(0.7, lost=random.randrange(5)),
        }.get(op, dict)()
        return {"op": op, "now": now, **fields}


class McpAql:
    PROGRAM = "mcp_aql.py"
    OPAQUE = {"confirmation_token": "token", "token": "token", "token_id": "id"}

    PARAMS = ['{"id":1}', '{"id": 1.0}', '{"id":2,"at":3}', '{"id":2,"at":4}', "[1]", '{"id":"x"}', "1e400", "1e22", "9007199254740993.0", '{"a":1,"a":1}', '"\\ud800"', "{"]

    called = START

    def request(self, clock):
        op = random.choices(["call", "introspect", "configure", "event", "end_session", "tick", "restart"], [20, 4, 1.5, 0.6, 0.6, 2, 0.7])[0]
        if random.random() < 0.08:  # about when a token of the last call expires
            clock[0] = max(clock[0], self.called + either(1, 5, 120, 300, 300) * 1000 + either(0, 30, 30, 60, 60, 300, 930, 960) * 1000 + either(-1, 0, 1))
        now = format_time(later(clock, random.choice([4000, 4000, 200_000])))
        self.called = clock[0] if op == "call" else self.called
        session = either("s1", "s2")
        token = {"made": ["token", -1 - int(random.expovariate(0.7))]} if random.random() < 0.93 else either("conf_unknown", "conf_x", "", "Conf_abcdefgh", "conf_" + 65 * "a")
        params = either(*self.PARAMS[:4 if random.random() < 0.85 else None])
        fields = {
            "call": lambda: {
                "operation": "delete" if random.random() < 0.85 else either("send", ""), "params": either("{\"id\":1}", params),
                "danger_level": either("safe", "reversible", "destructive", "destructive", 2, "dangerous", "forbidden", *([7] if random.random() < 0.1 else [])),
                **maybe(0.5, confirmation_token=token), **maybe(0.2, adapter=either("default", "B")), **maybe(0.5, session_id=session),
                **maybe(0.15, session_scope=either(True, False)), **maybe(0.15, max_uses=either(1, 2, 2, 3, 0)),
                **maybe(0.15, ttl_seconds=either(1, 5, 120, 300, 301, 600, 900, 901, 0)), **maybe(0.25, purpose=either("confirmation", "quota_continue", "quota_continue")),
                **maybe(0.1, reasons=["because"], confirmation_message="Really?")},
            "introspect": lambda: {"query": either("revoke_token", "token_status", "token_status"), "token": token, **maybe(0.2, adapter=either("default", "B"))},
            "configure": lambda: {
                "adapter": either("default", "default", "B"), **maybe(0.5, clock_skew_tolerance_seconds=either(0, 0, 30, 60, 61, 300, 301)),
                **maybe(0.4, oracle=either("codes", "codes", "uniform")), **maybe(0.4, critical=either({"delete": ["id"]}, {"delete": ["id"]}, {}, {"send": []}, {"delete": ["id", "at", "id"]}))},
            "event": lambda: {"kind": either("logout", "logout", "security", "configuration"), **maybe(0.6, session_id=session)},
            "end_session": lambda: {"session_id": session},
            "restart": lambda: maybe(0.5, lost=random.randrange(3)),
        }.get(op, dict)()
        return {"op": op, "now": now, **fields}


class Aaep:
    PROGRAM = "aaep.py"
    OPAQUE = {"reply_token": "token", "event_id": "event", "tool_call_id": "call"}
    asked = START

    def request(self, clock):
        first = {START: "start_session", START + 1: "subscribe"}.get(clock[0])
        if first is not None and random.random() < 0.9:
            clock[0] += 1
            fields = {"session_id": "sess_1"} if first == "start_session" else {"subscription_id": "sub_1", "capabilities": {"supports_confirmation_reply": True}}
            return {"op": first, "now": format_time(clock[0]), **fields}
        op = random.choices(
            ["start_session", "subscribe", "unsubscribe", "confirm", "clarify", "deliver", "cancel", "extend", "finish_tool", "end_session", "tick", "restart"],
            [1, 1.5, 0.3, 7, 3, 14, 1, 1, 3, 0.4, 5, 1.5])[0]
        if random.random() < 0.1:  # about when a question falls due, or its time left is told
            clock[0] = max(clock[0], self.asked + either(500, 900, 1000, 1000) * either(5, 60, 61, 100) + either(-1, 0, 1))
        now = format_time(later(clock, random.choice([4000, 4000, 40_000])))
        self.asked = clock[0] if op in ("confirm", "clarify") else self.asked
        session, token = either("sess_1", "sess_1", "sess_2", "sess_3" if random.random() < 0.2 else "sess_1"), {"made": ["token", -1 - int(random.expovariate(0.7))]}
        subscription = either("sub_1", "sub_1", "sub_2", "sub_3" if random.random() < 0.2 else "sub_1")
        timeout = either(5, 60, 61, 100) if random.random() < 0.95 else either(0, 86_401)
        fields = {
            "start_session": lambda: {"session_id": either("sess_1", "sess_2", "sess_3", *(["sess_"] if random.random() < 0.05 else []))},
            "subscribe": lambda: {"subscription_id": subscription, **maybe(0.8, capabilities={"supports_confirmation_reply": random.random() < 0.8, "other": 1})},
            "unsubscribe": lambda: {"subscription_id": subscription},
            "confirm": lambda: {
                "session_id": session, "timeout_seconds": timeout, "default_decision": either("accept", "reject", "reject"),
                "action": {"id": either("a1", "a2", "a3"), "tool": "send", "description": "Send it" if random.random() < 0.97 else " ", "consequence": "It is sent",
                           "risk_level": either("low", "low", "medium", "high"), "irreversible": either(True, False)},
                **maybe(0.2, allowed_replies=either(["accept"], ["reject"], ["accept", "reject", "later"], [], ["accept", "accept"]))},
            "clarify": lambda: {
                "session_id": session, "question": either("Which?", "How many?"), "timeout_seconds": timeout,
                **maybe(0.6, accepted_response_kinds=either(["freetext"], ["yes_no", "numeric"], ["multiple_choice"], [])),
                **maybe(0.4, choices=[{"value": "a", "label": "A"}, {"value": either("b", "b", "b", "a"), "label": "B"}]), **maybe(0.5, default_response="a")},
            "deliver": lambda: {"sender": {"authenticated": random.random() < 0.93, **maybe(0.95, subscription_id=subscription)}, "message": self.message(clock, token, subscription)},
            "cancel": lambda: {"reply_token": token}, "extend": lambda: {"reply_token": token, "timeout_seconds": either(61, 100, 200)},
            "finish_tool": lambda: {"session_id": session, "action": either("a1", "a2", "a3"), "status": either("success", "error", "timeout")},
            "end_session": lambda: {"session_id": session, "outcome": either("completed", "errored", "cancelled")},
            "restart": lambda: maybe(0.7, lost=random.randrange(6)),
        }.get(op, dict)()
        return {"op": op, "now": now, **fields}

    @staticmethod
    def message(clock, token, subscription):
        is_confirmation = random.random() < 0.7
        reply = {
            "type": "confirmation.reply" if is_confirmation else "clarification.reply", "reply_token": "@", "subscription_id": subscription,
            "timestamp": format_time(clock[0] + either(0, 0, 0, 0, -5000, 5000, 60_000, 100_000)),
            **({"decision": either("accept", "accept", "reject")} if is_confirmation else {"response": either("a", "c", True, 7, 7.5, None)}),
            **maybe(0.05, modified_action={"amount": 1}), **maybe(0.05, decided_by=either("user:ana", "")), **maybe(0.03, confidence=either(0, 1, 1.5, True)),
            **maybe(0.02, session_id="sess_1"), **maybe(0.05, correlation_id="x"), **maybe(0.03, timestamp="2026-05-24")}
        text = json.dumps(reply)
        text = text if random.random() < 0.97 else either(text[:-1], text + " ", text.replace("{", '{"decision":"accept",', 1), "[]", "")
        return {"made": ["token", token["made"][1], text]}


def kinds_of(answer):
    """What came out, in a word or two each, to see that a comparison has compared something."""
    for output in answer.get("outputs", [answer]):
        kind, body = next(iter(output.items()))
        yield f"{kind} {body['type']}" if isinstance(body, dict) and "type" in body else kind


PROTOCOLS = {"aaep": Aaep, "mcp-aql": McpAql, "pending-action": PendingAction}


def main():
    parser = argparse.ArgumentParser(description="Compares an adapter with the reference.")
    parser.add_argument("protocol", choices=PROTOCOLS)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--countersign", default="countersign")
    parser.add_argument("--adapter", nargs="*", default=[], metavar="ARGUMENT", help="to the adapter, without the two dashes: fault NAME")
    parser.add_argument("--settings", default="{}", help="of the reference")
    parser.add_argument("--verbose", action="store_true", help="show every step of a run that differs")
    arguments = parser.parse_args()
    generator = PROTOCOLS[arguments.protocol]
    adapter = [sys.executable, str(Path(__file__).with_name(generator.PROGRAM))] 
    adapter += [f"--{arguments.adapter[0]}", *arguments.adapter[1:]] if arguments.adapter else []
    reference = [arguments.countersign, "serve", arguments.protocol, "--stdio", "--settings", arguments.settings]
    sides = [Side(command, arguments.protocol, generator.OPAQUE) for command in (adapter, reference)]
    steps = differing = 0
    kinds = {}
    for run in range(arguments.seed, arguments.seed + arguments.runs):
        random.seed(run)
        clock, told = [START], []
        generator = PROTOCOLS[arguments.protocol]()
        requests = [{"op": "reset", "now": format_time(START)}] + [None] * arguments.steps
        for number, request in enumerate(requests, 1):
            request = {"id": number, **(request or generator.request(clock))}
            answers = [{**answer, "error": "…"} if "error" in answer else answer for answer in (side.ask(request) for side in sides)]
            steps += 1
            for kind in kinds_of(answers[0]):
                kinds[kind] = kinds.get(kind, 0) + 1
            told.append((request, answers))
            if answers[0] != answers[1]:
                differing += 1
                print(f"run {run} differs at step {number}")
                for asked, (ours, theirs) in told if arguments.verbose else told[-1:]:
                    print("  →", json.dumps(asked, ensure_ascii=False))
                    print("    adapter  ", json.dumps(ours, ensure_ascii=False))
                    print("    reference", "the same" if ours == theirs else json.dumps(theirs, ensure_ascii=False))
                break
    print(f"{arguments.protocol}: {arguments.runs} runs, {steps} steps, {differing} runs differ; of the adapter came out", json.dumps(kinds))
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
