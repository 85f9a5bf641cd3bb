"""The plumbing of an adapter: the driver protocol over standard input and output, and nothing of any one protocol.

The one thing to know: an adapter gives `main` a class. One object of it is one life of the implementation under test. It has

    PROTOCOL, NAME, SUPPORTS, SHOWS   what `hello` says
    OPS                               {op: {field: type}}, the ops of its own; a `?` behind a field's name: it may be absent; a type may
                                      be a function that reads the field
    __init__(self, stored=None)       a new life: with nothing, or with what the one before had stored
    stored                            what outlives the process: a dict that JSON can carry
    advance(self, now)                what is due by `now` happens
    <op>(self, now, **fields)         one method for each op; a field that is absent is None
    restart(self, now, lost)          behind a crash, in the new life: `lost` are the outputs that nobody got to see

Each method appends its outputs to `self.outputs`, as {kind: body}. A method raises `Refused` before it has changed anything.
Times are whole milliseconds since 1970. The protocol is told in spec-trace/docs/DRIVER.md.
"""

import argparse
import inspect
import json
import re
import secrets
import sys
import traceback

VERSION = 1

COMMON = {"hello": {"driver": int, "protocol": str}, "reset": {}, "tick": {}, "restart": {"lost?": int}}


class Refused(Exception):
    """The request is understood, and its value or the state does not allow it."""

    def __init__(self, reason, clause=None):
        super().__init__(reason)
        self.body = {"reason": reason} if clause is None else {"clause": clause, "reason": reason}


class NotUnderstood(Exception):
    """The request is not understood: nothing happens, and no time passes."""


class Unsupported(Exception):
    """The request needs something that `hello` has not declared: nothing happens."""


class Json:
    """A type of field: any JSON. `text` is how it was written, `value` what it means. In an output it comes out as it was written."""

    def __init__(self, text, value):
        self.text, self.value = text, value

    def held(self):
        """The text of the value; of a string, the text that it holds."""
        return self.value if isinstance(self.value, str) and not has_half_a_pair(self.value) else self.text


class Words:
    """A type of field: a string out of these."""

    def __init__(self, *words):
        self.words = words


# What nobody sees anything of: white space, control characters and characters without width.
INVISIBLE = re.compile("[\\s\\x00-\\x1f\\x7f-\\x9f\\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*\\Z")
HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def has_half_a_pair(text):
    """Whether the string has half of a surrogate pair, which no text can hold."""
    return HALF_A_PAIR.search(text) is not None


def distinct(pairs):
    """An object. A name that is in it twice has no one meaning."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name stands in an object twice")
    return members


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


LENIENT = json.JSONDecoder(parse_constant=no_constant)
STRICT = json.JSONDecoder(parse_constant=no_constant, object_pairs_hook=distinct)
BLANK = re.compile(r"[ \t\r\n]*")
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)  # JSON limits no number


def members_of(line):
    """The members of the object that the line holds: {name: Json}."""
    members = {}
    try:
        text = line.decode("utf-8")
        at = BLANK.match(text).end()
        if text[at:at + 1] != "{":
            raise ValueError("no object")
        at = BLANK.match(text, at + 1).end()
        while text[at] != "}" or members:
            name, at = LENIENT.raw_decode(text, at)
            colon = BLANK.match(text, at).end()
            if not isinstance(name, str) or name in members or text[colon] != ":":
                raise ValueError(f"no member at character {at}")
            start = BLANK.match(text, colon + 1).end()
            value, end = LENIENT.raw_decode(text, start)
            members[name] = Json(text[start:end], value)
            at = BLANK.match(text, end).end()
            if text[at] != ",":
                break
            at = BLANK.match(text, at + 1).end()
        if text[at] != "}" or text[at + 1:].strip(" \t\r\n"):
            raise ValueError("something behind the object")
    except (ValueError, IndexError, RecursionError) as problem:
        raise NotUnderstood(f"not one JSON object: {problem}") from problem
    return members


def read(name, wanted, given):
    """The value of one field. A word that is not among those wanted is given as a `Refused`, to be raised later."""
    value = given.value
    if wanted is Json:
        return given
    if inspect.isfunction(wanted):
        return wanted(name, given)
    if isinstance(wanted, Words):
        word = read(name, str, given)
        return word if word in wanted.words else Refused(f"`{name}` is {word!r}: expected one of {', '.join(wanted.words)}")
    if isinstance(wanted, list):
        if not isinstance(value, list):
            raise NotUnderstood(f"`{name}`: expected a list")
        parts = [read(name, wanted[0], Json(json.dumps(item), item)) for item in value]
        return next((part for part in parts if isinstance(part, Refused)), parts)
    if isinstance(wanted, dict):
        if not isinstance(value, dict):
            raise NotUnderstood(f"`{name}`: expected an object")
        try:
            value = STRICT.decode(given.text)
        except ValueError as problem:
            raise NotUnderstood(f"`{name}`: {problem}") from problem
        parts = fields(wanted, {key: Json(json.dumps(item), item) for key, item in value.items()}, f"{name}.")
        return next((part for part in parts.values() if isinstance(part, Refused)), parts)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise NotUnderstood(f"`{name}`: expected {wanted.__name__}")
    if wanted is int and not -(2**63) <= value < 2**64:
        raise NotUnderstood(f"`{name}`: expected a number of 64 bits")
    if wanted is str and has_half_a_pair(value):
        raise NotUnderstood(f"`{name}`: half a surrogate pair is no text")
    return value


def fields(wanted, given, prefix=""):
    """The fields of an op or of an object in it, by name. One that may be absent and is, is None."""
    known = {name.rstrip("?"): name.endswith("?") for name in wanted}
    unknown = [name for name in given if name not in known]
    missing = [name for name, may_be_absent in known.items() if name not in given and not may_be_absent]
    if unknown or missing:
        raise NotUnderstood("; ".join([f"`{prefix}{name}` is unknown" for name in unknown] + [f"`{prefix}{name}` is missing" for name in missing]))
    types = {name.rstrip("?"): kind for name, kind in wanted.items()}
    return {name: read(prefix + name, kind, given[name]) if name in given else None for name, kind in types.items()}


TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))\Z")
FIRST, LAST = -62_167_219_200_000, 253_402_300_799_999  # 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z


def days_before(year, month, day):
    """From 1970-01-01 to that day, in days."""
    year -= month <= 2
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + of_year - 719_468


def parse_time(text):
    """RFC 3339 to milliseconds, finer digits cut off; None where it is no time. A leap second is the end of a month of UTC."""
    match = TIME.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    offset_hour, offset_minute = int(match[9] or 0), int(match[10] or 0)
    leap_year = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 29 if leap_year else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if not (1 <= month <= 12 and 1 <= day <= lengths[month - 1] and hour < 24 and minute < 60 and second <= 60):
        return None
    if offset_hour > 23 or offset_minute > 59:
        return None
    minutes = hour * 60 + minute - (offset_hour * 60 + offset_minute) * (-1 if match[8] == "-" else 1)
    seconds = days_before(year, month, day) * 86_400 + minutes * 60 + second
    if second == 60 and format_time(seconds * 1000)[8:19] != "01T00:00:00":
        return None
    return min(max(seconds * 1000 + int((match[7] or "")[:3].ljust(3, "0")), FIRST), LAST)


def format_time(ms):
    """Milliseconds to RFC 3339, UTC, three digits behind the second."""
    days, ms_of_day = divmod(ms, 86_400_000)
    days += 719_468
    era, of_era = divmod(days, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    seconds, ms = divmod(ms_of_day, 1000)
    year = year_of_era + era * 400 + (month <= 2)
    return f"{year:04}-{month:02}-{day:02}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}Z"


class Conversation:
    """One driver and the lives of one implementation, one after the other."""

    def __init__(self, subject):
        self.subject = subject
        self.life = None
        self.greeted = False
        self.last = []  # the outputs of the last response that had any

    def answer(self, line):
        """The response to one line."""
        request_id = None
        try:
            members = members_of(line)
            request_id = self.id_of(members)
            return {"id": request_id, **self.carry_out(members)}
        except NotUnderstood as problem:
            return {"id": request_id, "error": str(problem)}
        except Unsupported:
            return {"id": request_id, "unsupported": True}
        except Exception as problem:  # a fault of the implementation: the driver is told, and whoever mends it
            traceback.print_exc()
            return {"id": request_id, "error": f"broken: {problem!r}"}

    @staticmethod
    def id_of(members):
        given = members.pop("id", None)
        if given is None or type(given.value) is not int or not 0 <= given.value < 2**64:
            raise NotUnderstood("`id`: expected a whole number")
        return given.value

    def carry_out(self, members):
        op = read("op", str, members.pop("op", Json("null", None)))
        known = {**COMMON, **self.subject.OPS}
        if op not in known:
            raise NotUnderstood(f"`op` is {op!r}: expected one of {', '.join(known)}")
        now = self.now_of(op, members)
        given = fields(known[op], members)
        if op == "hello":
            return self.greet(**given)
        if not self.greeted or (self.life is None and op != "reset"):
            raise NotUnderstood(f"`op` is {op!r}: expected `hello`, then `reset`")
        if op == "reset":
            self.life = self.subject()
        if op == "restart":
            self.restart(now, given)
        else:
            self.within(now, op, given)
        self.last, self.life.outputs = self.life.outputs, []
        return {"outputs": self.last}

    @staticmethod
    def now_of(op, members):
        if op == "hello" and "now" not in members:
            return None
        now = parse_time(read("now", str, members.pop("now", Json("null", None))))
        if now is None:
            raise NotUnderstood("`now`: expected a time of RFC 3339")
        return now

    def greet(self, driver, protocol):
        if driver != VERSION:
            raise NotUnderstood(f"`driver` is {driver}: expected {VERSION}")
        if protocol != self.subject.PROTOCOL:
            raise NotUnderstood(f"`protocol` is {protocol!r}: expected {self.subject.PROTOCOL!r}")
        self.greeted = True
        return {"name": self.subject.NAME, "supports": self.subject.SUPPORTS, "shows": self.subject.SHOWS}

    def within(self, now, op, given):
        """What is due, then the op or its refusal."""
        self.life.check_supported(op, given)
        self.life.advance(now)
        try:
            for value in given.values():
                if isinstance(value, Refused):
                    raise value
            if op != "reset":
                getattr(self.life, op)(now, **given)
        except Refused as refused:
            self.life.outputs.append({"refused": refused.body})

    def restart(self, now, given):
        """The process dies: what it had stored goes through JSON, as through a disk, and the rest is gone."""
        self.life.check_supported("restart", given)
        lost = given["lost"] or 0
        if not 0 <= lost <= len(self.last):
            self.life.advance(now)
            self.life.outputs.append({"refused": {"reason": f"`lost` is {lost}: expected at most {len(self.last)}"}})
            return
        self.life = self.subject(json.loads(json.dumps(self.life.stored)))
        self.life.restart(now, self.last[len(self.last) - lost:])


class Subject:
    """What every implementation under test has. One of its own need not derive from it."""

    PROTOCOL = NAME = ""
    SUPPORTS, SHOWS, OPS = [], [], {}
    NEEDS = {}  # {op: capability}
    CHANGED = {"fault": {}, "variant": {}}  # classes that differ from their parent in one thing, by name

    def __init_subclass__(cls, fault=None, variant=None, **about):
        for kind, name in (("fault", fault), ("variant", variant)):
            if name is not None:
                cls.CHANGED[kind][name] = cls
                cls.about = {"name": name, **about, "what": " ".join(inspect.getdoc(cls).split())}

    def __init__(self, stored=None):
        self.outputs = []
        self.stored = stored

    def put_out(self, kind, body, **beside):
        self.outputs.append({kind: body, **beside})

    def check_supported(self, op, given):
        """Raises `Unsupported` where the op needs what is not declared."""
        if {"restart": "restart", **self.NEEDS}.get(op) not in [None, *self.SUPPORTS]:
            raise Unsupported

    def tick(self, now):
        """Nothing but what is due."""


def written(answer):
    """The line of an answer."""
    texts = {}

    def place(given):
        texts[secrets.token_hex(16)] = given.text
        return list(texts)[-1]

    line = json.dumps(answer, default=place)
    for name, text in texts.items():
        line = line.replace(f'"{name}"', text)
    return line.encode() + b"\n"


def main(subject):
    """Serves the subject over standard input and output, or lists its faults or its variants."""
    parser = argparse.ArgumentParser(description=f"{subject.PROTOCOL} behind the driver protocol, for `countersign diff` to drive.")
    which = parser.add_mutually_exclusive_group()
    for kind, changed in subject.CHANGED.items():
        which.add_argument(f"--{kind}", choices=changed, metavar="NAME", help=f"with this {kind}")
        which.add_argument(f"--list-{kind}s", action="store_true", help=f"print the {kind}s as JSON and end")
    arguments = vars(parser.parse_args())
    for kind, changed in subject.CHANGED.items():
        if arguments[f"list_{kind}s"]:
            print(json.dumps([each.about for each in changed.values()], indent=2))
            return
        subject = changed.get(arguments[kind], subject)
    conversation = Conversation(subject)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(written(conversation.answer(line)))
        sys.stdout.buffer.flush()
