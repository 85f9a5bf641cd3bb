"""The producer of `aaep.py` over HTTP, for `countersign diff aaep --http` to drive: a clock, a small scripted agent, and the standard library.

The one thing to know: nothing here knows the protocol. `Host` lets time pass and carries out what the producer puts out, one call at a
time; an agent asks what the words of a prompt name, and its tools do nothing, half a second each.

    POST /sessions {"user_message": "..."}   starts a session
    GET /events                              what comes from now on, by a subscription that ends with the connection and is named in the
                                             header aaep-subscription-id
    POST /messages                           a reply
"""

import argparse
import hmac
import http.server
import json
import pathlib
import queue
import re
import sys
import threading
import time

import aaep_changed
from driver import Refused

# What the agent asks, by a word of the prompt, and in this order: {word: (tool, risk, irreversible, default, allowed replies)}.
TASKS = {
    "change": ("change_setting", "medium", False, "reject", None),
    "transfer": ("transfer_funds", "high", True, "reject", None),
    "note": ("leave_note", "low", True, "accept", None),
    "announce": ("announce", "low", True, "accept", ["reject"]),
}
TICK = 0.02
TOOL_TAKES = 500  # milliseconds
SIGN_OF_LIFE = 1.0
LONGEST_BODY = 256 * 1024


def clock():
    return time.time_ns() // 1_000_000


class Host:
    """A producer, its agents and its subscribers."""

    def __init__(self, producer, timeout_seconds):
        self.producer, self.timeout_seconds = producer, timeout_seconds
        self.lock = threading.Lock()
        self.subscribers = {}  # {subscription id: the queue of its events}
        self.tasks = {}  # {session id: what its agent has still to do}
        self.running = []  # (when it comes back, the call)

    def call(self, op, **fields):
        """Lets time pass, then something happen. Yields the outputs, and carries them out; a refused call does nothing."""
        now = clock()
        self.producer.advance(now)
        try:
            getattr(self.producer, op)(now, **fields)
        except Refused:
            pass
        return self.carry_out(now)

    def carry_out(self, now):
        outputs, self.producer.outputs = self.producer.outputs, []
        for output in outputs:
            if "emit" in output:
                for events in self.subscribers.values():
                    events.put(output["emit"])
            if "perform" in output:
                self.running.append((now + TOOL_TAKES, output["perform"]))
        return outputs

    def keep_time(self):
        while True:
            time.sleep(TICK)
            with self.lock:
                self.call("tick")
                back = [call for moment, call in self.running if moment <= clock()]
                self.running = [it for it in self.running if it[1] not in back]
                for call in back:
                    self.call("finish_tool", session_id=call["session_id"], action=call["action"], tool_call_id=call.get("tool_call_id"), status="success")
                for session_id in list(self.tasks):
                    self.go_on(session_id)

    def start(self, prompt):
        words = set(re.split("[^a-z]+", prompt.lower()))
        with self.lock:
            outputs = self.call("start_session", session_id=None)
            session_id = outputs[0]["emit"]["session_id"]
            self.tasks[session_id] = [word for word in TASKS if word in words]
            return session_id

    def go_on(self, session_id):
        """What the agent does next, where it waits for nobody."""
        waits = any(question["session_id"] == session_id for question in self.producer.pending())
        if waits or any(call["session_id"] == session_id for _, call in self.running):
            return
        if not self.tasks[session_id]:
            del self.tasks[session_id]
            self.call("end_session", session_id=session_id, outcome="completed")
            return
        tool, risk_level, irreversible, default, allowed = TASKS[self.tasks[session_id].pop(0)]
        action = {
            "id": tool, "tool": tool, "description": f"Call {tool}.", "consequence": f"{tool} is called.", "risk_level": risk_level,
            "irreversible": irreversible,
        }
        # A hasty agent: it would rather have silence accept. Where the producer refuses that, it asks as it has to.
        for default_decision in ("accept", default):
            self.call("confirm", session_id=session_id, action=action, timeout_seconds=self.timeout_seconds, default_decision=default_decision, allowed_replies=allowed)

    def subscribe(self):
        with self.lock:
            subscription_id = self.producer.new_id("sub_")
            self.subscribers[subscription_id] = queue.Queue()
            self.call("subscribe", subscription_id=subscription_id, capabilities=True)
            return subscription_id

    def unsubscribe(self, subscription_id):
        with self.lock:
            del self.subscribers[subscription_id]
            self.call("unsubscribe", subscription_id=subscription_id)

    def deliver(self, message, authenticated):
        """The status and the body that the sender gets to see. The sender is the subscription that the message names."""
        try:
            named = json.loads(message)["subscription_id"]
        except (ValueError, TypeError, KeyError):
            named = None
        is_name = isinstance(named, str) and re.fullmatch("sub_[A-Za-z0-9]{1,64}", named) is not None
        sender = {"subscription_id": named if is_name else None, "authenticated": authenticated}
        with self.lock:
            outputs = self.call("deliver", sender=sender, message=message.decode("utf-8", "replace"), message_base64=None)
        respond = next(output["respond"] for output in outputs if "respond" in output)
        return respond["status"], respond["body"]


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    host, token = None, None  # set once, by `main`

    def log_message(self, *_):
        pass

    def is_authenticated(self):
        shown = self.headers.get("authorization", "")
        return self.token is None or hmac.compare_digest(shown.encode(), f"Bearer {self.token}".encode())

    def answer(self, status, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text if status != 204 else b"")

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LONGEST_BODY:
            self.close_connection = True
            self.answer(413, {"error": "expected a body of at most 256 KiB"})
            return
        body = self.rfile.read(int(length))
        if self.path == "/messages":
            self.answer(*self.host.deliver(body, self.is_authenticated()))
        elif self.path != "/sessions":
            self.answer(404, {"error": "no such path"})
        elif not self.is_authenticated():
            self.answer(401, {"error": "expected the bearer token"})
        else:
            self.start(body)

    def start(self, body):
        try:
            prompt = json.loads(body)["user_message"]
        except (ValueError, TypeError, KeyError):
            prompt = None
        if isinstance(prompt, str):
            self.answer(202, {"session_id": self.host.start(prompt)})
        else:
            self.answer(400, {"error": "expected an object with the string user_message"})

    def do_GET(self):
        if self.path != "/events":
            self.answer(404, {"error": "no such path"})
        elif not self.is_authenticated():
            self.answer(401, {"error": "expected the bearer token"})
        else:
            self.stream()

    def stream(self):
        subscription_id = self.host.subscribe()
        events = self.host.subscribers[subscription_id]
        self.close_connection = True
        try:
            self.send_response(200)
            for name, value in (("content-type", "text/event-stream"), ("aaep-subscription-id", subscription_id), ("connection", "close")):
                self.send_header(name, value)
            self.end_headers()
            while True:
                try:
                    event = events.get(timeout=SIGN_OF_LIFE)
                    line = f"id: {event['event_id']}\ndata: {json.dumps(event)}\n\n"
                except queue.Empty:
                    line = ":\n\n"
                self.wfile.write(line.encode())
                self.wfile.flush()
        except OSError:
            pass  # the reader has gone
        finally:
            self.host.unsubscribe(subscription_id)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


def main():
    parser = argparse.ArgumentParser(description="The AAEP producer in Python over HTTP, with a scripted agent.")
    faults = aaep_changed.Producer.CHANGED["fault"]
    parser.add_argument("--port", type=int, default=8080, help="the port on the loopback; 0 takes a free one")
    parser.add_argument("--fault", choices=faults, metavar="NAME", help="with this fault of aaep_changed.py")
    parser.add_argument("--timeout-seconds", type=int, default=30, help="how long questions wait")
    parser.add_argument("--bearer-token-file", type=pathlib.Path, help="let in only who shows the token in this file")
    given = parser.parse_args()
    producer = faults.get(given.fault, aaep_changed.Producer)()
    Handler.host = Host(producer, given.timeout_seconds)
    Handler.token = given.bearer_token_file and given.bearer_token_file.read_text().strip()
    threading.Thread(target=Handler.host.keep_time, daemon=True).start()
    with Server(("127.0.0.1", given.port), Handler) as server:
        print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
