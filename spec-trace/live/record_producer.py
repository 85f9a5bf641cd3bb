#!/usr/bin/env python3
"""Record the published minimal producer of AAEP, one recording a scenario.

    python3 spec-trace/live/record_producer.py COMMAND FOLDER

COMMAND is the countersign binary, FOLDER where the recordings go: it must not hold them yet. The package is installed from PyPI into an
environment that is thrown away, and started afresh for each scenario, with its stock configuration but for a port that is free, and
`countersign record` in front of it. Its questions wait 300 seconds, which nothing configures: the scenarios run side by side, and all of
them take somewhat more than that. Exit status: 0, if every scenario was played, or is said below to be impossible; 2 otherwise.
"""

import concurrent.futures
import contextlib
import datetime
import json
import pathlib
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import published

# The word `transfer` makes its agent call `transfer_funds`: irreversible, of high risk, rejected by default.
PROMPT = "Please transfer the money to my savings"

# The producer opens no subscriptions, but a reply has to name one.
SUBSCRIPTION = "sub_1"

# What cannot be brought about, and why.
IMPOSSIBLE = {
    "cancelled": "not recorded: nothing cancels a session over HTTP; `stopped` is what is seen when the process is told to end",
    "failing-tool": "not recorded: none of the tools that it comes with fails, whatever it is asked, and it can be given no others",
}

QUESTION = "awaiting.confirmation"
TOOL_DONE = "tool.completed"
SESSION_OVER = ("session.completed", "session.errored", "session.cancelled")


# -- The scenarios: each has a subscriber, and the producer's process; what it returns is said of it in the end. --


def accept(subscriber, _):
    return subscriber.decide(reply(subscriber.question()))


def reject(subscriber, _):
    return subscriber.decide(reply(subscriber.question(), decision="reject"))


def decided_late(subscriber, _):
    """Accepts at once, and says that the user decided a second after the time was over."""
    question = subscriber.question()
    asked = datetime.datetime.fromisoformat(question["timestamp"].replace("Z", "+00:00"))
    too_late = asked + datetime.timedelta(seconds=question["timeout_seconds"] + 1)
    return subscriber.decide(reply(question, timestamp=written(too_late)))


def late(subscriber, _):
    """Accepts as soon as the default has been applied."""
    question = subscriber.question()
    subscriber.wait_for(TOOL_DONE)
    return subscriber.decide(reply(question))


def malformed(subscriber, _):
    """Accepts four times, and never as the schema has it."""
    question = subscriber.question()
    whole = reply(question)
    without_token = {name: value for name, value in whole.items() if name != "reply_token"}
    without_time_and_subscription = {name: whole[name] for name in ("type", "reply_token", "decision")}
    cut_off = json.dumps(whole)[:-1]
    return subscriber.decide(cut_off, without_token, reply(question, decision="Accept"), without_time_and_subscription)


def wrong_kind(subscriber, _):
    """Says `accept` as one answers a clarification."""
    whole = reply(subscriber.question(), type="clarification.reply", response="accept")
    del whole["decision"]
    return subscriber.decide(whole)


def modified_action(subscriber, _):
    change = {"field": "amount", "original_value": 500, "modified_value": 300}
    return subscriber.decide(reply(subscriber.question(), modified_action=change))


def no_reply(subscriber, _):
    subscriber.question()
    return subscriber.decide()


def stopped(subscriber, producer):
    """The process is told to end while it asks: it gives what is open a minute or two."""
    subscriber.question()
    producer.terminate()
    return subscriber.outcome()


SCENARIOS = [accept, reject, decided_late, late, malformed, wrong_kind, modified_action, no_reply, stopped]


def reply(question, **fields):
    """A reply that accepts and keeps to the schema, but for what is said otherwise."""
    now = written(datetime.datetime.now(datetime.timezone.utc))
    whole = {"type": "confirmation.reply", "reply_token": question["reply_token"], "decision": "accept"}
    return whole | {"subscription_id": SUBSCRIPTION, "timestamp": now} | fields


def written(moment):
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# -- The subscriber --


class Subscriber:
    """Follows the events at an address, and posts what it is told to."""

    # Longer than any question waits, and than the producer takes to end.
    PATIENCE = 330

    def __init__(self, address):
        self.address = address
        self.events = queue.Queue()
        self.seen = []
        self.statuses = []
        stream = urllib.request.urlopen(f"{address}/events", timeout=60)
        stream.readline()  # a comment: from here on it is told everything
        threading.Thread(target=self.follow, args=(stream,), daemon=True).start()

    def follow(self, stream):
        with contextlib.suppress(OSError), stream:
            for line in stream:
                if line.startswith(b"data: "):
                    self.events.put(json.loads(line.removeprefix(b"data: ")))
        self.events.put(None)

    def post(self, path, body):
        """The status that a body is answered with: it is sent as it is where it is a text already."""
        body = body if isinstance(body, str) else json.dumps(body)
        request = urllib.request.Request(self.address + path, body.encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code

    def wait_for(self, *types):
        """The next event of one of these types; None, if the stream ends before. Raises TimeoutError, where no event comes at all."""
        while (event := self.next_event()) is not None:
            self.seen.append(event)
            if event["type"].removeprefix("aaep:agent.") in types:
                return event
        return None

    def next_event(self):
        try:
            return self.events.get(timeout=self.PATIENCE)
        except queue.Empty:
            raise TimeoutError(f"no event for {self.PATIENCE} s") from None

    def question(self):
        """Starts a session, and waits half a second longer than it takes to ask."""
        self.post("/sessions", {"user_message": PROMPT})
        question = self.wait_for(QUESTION)
        if question is None:
            raise ValueError("it has asked nothing")
        time.sleep(0.5)
        return question

    def decide(self, *replies):
        """Sends replies, half a second apart, and says what has come of them."""
        for each in replies:
            self.statuses.append(self.post("/messages", each))
            time.sleep(0.5)
        return self.outcome()

    def outcome(self):
        """Waits for the end of the session, and a second longer for what may come behind it."""
        ended = self.wait_for(*SESSION_OVER)
        time.sleep(1)
        tools = [event["status"] for event in self.seen if event["type"].endswith(TOOL_DONE)]
        answers = f"answered {', '.join(map(str, self.statuses))}; " if self.statuses else ""
        end = ended["type"].removeprefix("aaep:agent.") if ended else "the stream ends without an end of the session"
        return f"{answers}the tool has ended with {', '.join(tools) or 'nothing'}; {end}"


# -- The producer, and the recorder in front of it --


def play(scenario, port, executable, command, recording):
    """Plays a scenario against a producer of its own, and says what has come of it."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ended(subprocess.Popen([executable, "--port", str(port)], **quiet)) as producer:
        wait_until_it_listens(port)
        record = [command, "record", "--listen", "127.0.0.1:0", "--to", f"http://127.0.0.1:{port}", "--out", recording]
        with ended(subprocess.Popen(record, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)) as recorder:
            address = recorder.stderr.readline().split()[-1]
            outcome = scenario(Subscriber(address), producer)
            recorder.send_signal(signal.SIGINT)
            if recorder.wait(timeout=30) != 0:
                raise ValueError(f"{recording} is not whole: {recorder.stderr.read().strip()}")
    return outcome


@contextlib.contextmanager
def ended(process):
    """A process that is not left behind. The producer would take a minute to end if it was asked."""
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until_it_listens(port):
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise OSError(f"nothing listens at port {port}")


def main():
    if len(sys.argv) != 3:
        raise ValueError("it takes two arguments, COMMAND and FOLDER")
    command, kept = published.command(sys.argv[1]), pathlib.Path(sys.argv[2])
    kept.mkdir(parents=True, exist_ok=True)
    recordings = {scenario: kept / f"{scenario.__name__.replace('_', '-')}.jsonl" for scenario in SCENARIOS}
    if there := [str(recording) for recording in recordings.values() if recording.exists()]:
        raise OSError(f"recorded already: {', '.join(there)}")
    side_by_side = concurrent.futures.ThreadPoolExecutor(len(SCENARIOS))
    with published.installed(published.PRODUCER) as (_, binaries), side_by_side:
        played = [
            (recording, side_by_side.submit(play, scenario, port, binaries / "aaep-minimal-producer", command, recording))
            for (scenario, recording), port in zip(recordings.items(), published.free_ports(len(SCENARIOS)))
        ]
        for recording, outcome in played:
            print(f"{recording.stem}: {outcome.result()}", flush=True)
    for name, reason in IMPOSSIBLE.items():
        print(f"{name}: {reason}")


if __name__ == "__main__":
    published.run(main)
