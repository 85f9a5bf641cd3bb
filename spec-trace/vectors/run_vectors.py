"""Runs test vectors of Countersign against an implementation of the driver protocol.

    python3 run_vectors.py DIR [--reading PLACE=CHOICE]... -- COMMAND...

DIR is what `countersign vectors PROTOCOL --out DIR` has written. Exit status: 0 where every file was run or is not supported
and nothing is wrong, 1 where something is, 2 where a file or an answer cannot be read. README.md in DIR says what is compared.
"""

import json
import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"\$\{([a-z_]+-[0-9]+)\}")
ABSENT = object()


class Unusable(Exception):
    """A file or an answer that cannot be read."""


class Implementation:
    """A process that speaks the driver protocol."""

    def __init__(self, command, protocol):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.id = 0
        greeting = self.ask({"op": "hello", "driver": 1, "protocol": protocol})
        self.shows = greeting.get("shows")

    def ask(self, request):
        self.id += 1
        self.process.stdin.write(json.dumps({"id": self.id, **request}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        try:
            response = json.loads(line)
        except ValueError:
            raise Unusable(f"no response to {request}: {line!r}") from None
        if response.get("id") != self.id or "error" in response:
            raise Unusable(f"no response to {request}: {line}")
        return response

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def kind(output):
    """What an output is: its one member beside `to`."""
    return next(member for member in output if member != "to")


def at(value, pointer):
    """What stands at a JSON pointer, or ABSENT."""
    for name in pointer.split("/")[1:]:
        name = name.replace("~1", "/").replace("~0", "~")
        if not isinstance(value, dict) or name not in value:
            return ABSENT
        value = value[name]
    return value


def filled(value, names):
    """The same with what the implementation has named; texts that are one name become what it stands for."""
    if isinstance(value, str):
        whole = NAME.fullmatch(value)
        if whole and whole[1] in names:
            return names[whole[1]]
        return NAME.sub(lambda found: str(names.get(found[1], found[0])), value)
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, dict):
        return {name: filled(item, names) for name, item in value.items()}
    return value


def same(wanted, came, names):
    """The names that are known once the two are the same, or None where they are not."""
    if isinstance(wanted, str):
        whole = NAME.fullmatch(wanted)
        if whole and whole[1] not in names:
            # No two things have one name; two texts may be the same.
            known = came is not ABSENT and (whole[1].startswith("text-") or came not in names.values())
            return {**names, whole[1]: came} if known else None
        wanted = filled(wanted, names)
    return names if wanted == came and isinstance(wanted, bool) == isinstance(came, bool) else None


def is_one(pattern, output, names):
    """The names that are known once this output is that of the file, or None where it is not."""
    wanted = pattern["output"]
    if kind(wanted) != kind(output):
        return None
    for pointer in pattern["members"]:
        names = same(at(wanted, pointer), at(output, pointer), names)
        if names is None:
            return None
    if any(at(output, pointer) is ABSENT for pointer in pattern.get("present", [])):
        return None
    # What does not matter may be named for later.
    return learned(wanted, output, names)


def learned(wanted, came, names):
    if isinstance(wanted, dict) and isinstance(came, dict):
        for name, item in wanted.items():
            if name in came:
                names = learned(item, came[name], names)
    elif isinstance(wanted, str):
        whole = NAME.fullmatch(wanted)
        if whole and whole[1] not in names:
            return {**names, whole[1]: came}
    return names


def wrong_in(vector, implementation):
    """What is wrong in a run, in words; the op that is not supported, where one is not."""
    names, wrong = {}, []
    for number, step in enumerate(vector["steps"]):
        response = implementation.ask(filled(step["request"], names))
        if "unsupported" in response:
            return [] if step.get("ending") else step["request"]["op"]
        free = list(response["outputs"])
        shown = lambda pattern: implementation.shows is None or kind(pattern["output"]) in implementation.shows
        for expected in filter(shown, step["expected"]):
            for output in free:
                known = is_one(expected, output, names)
                if known is not None:
                    free.remove(output)
                    names = known
                    break
            else:
                if expected["required"]:
                    text = json.dumps(filled(expected["output"], names))
                    wrong.append(f"step {number}: {', '.join(expected['required'])}: missing: {text}")
        for output in free:
            for forbidden in step["forbidden"]:
                if is_one(forbidden, output, names) is not None:
                    wrong.append(f"step {number}: {', '.join(forbidden['because'])}: {json.dumps(output)}")
                    break
        if wrong:
            break
    return wrong


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from None


def main(arguments):
    if "--" not in arguments[1:]:
        raise Unusable(__doc__)
    place = arguments.index("--")
    (folder, *options), command = arguments[:place], arguments[place + 1:]
    folder = pathlib.Path(folder)
    manifest = read(folder / "manifest.json")
    if manifest["version"] != 1:
        raise Unusable(f"version {manifest['version']} is not known")
    other = set()
    while options:
        option, value, *options = options
        reading, choice = value.split("=")
        if option != "--reading" or choice not in manifest["readings"].get(reading, {}):
            raise Unusable(f"there is no {option} {value}")
        other.update(manifest["readings"][reading][choice])
    implementation = Implementation(command, manifest["protocol"])
    counts = {"passed": 0, "failed": 0, "unsupported": 0, "read otherwise": 0}
    for file in manifest["files"]:
        vector = read(folder / file)
        if file in other:
            counts["read otherwise"] += 1
            continue
        wrong = wrong_in(vector, implementation)
        if isinstance(wrong, str):
            counts["unsupported"] += 1
            print(f"{file}: skipped: {wrong} is not supported")
        elif wrong:
            counts["failed"] += 1
            print(f"{file}: " + "\n  ".join(wrong))
        else:
            counts["passed"] += 1
    implementation.end()
    # Each file was read, or this does not hold.
    unread = len(manifest["files"]) - sum(counts.values())
    stray = {path.name for path in folder.glob("[0-9]*.json")} - set(manifest["files"])
    if unread or stray or not manifest["files"]:
        raise Unusable(f"{unread} files were not read; not in the manifest: {sorted(stray)}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Unusable as error:
        print(error, file=sys.stderr)
        sys.exit(2)
