#!/usr/bin/env python3
"""Drive the published minimal producer of AAEP over HTTP.

    python3 spec-trace/live/minimal_producer.py [COMMAND] [FOLDER]

COMMAND is the countersign binary, target/release/countersign by default. The recordings of the runs that show something are kept in
FOLDER, where one is named. The package is installed from PyPI into an environment that is thrown away, and started with its stock
configuration, but for a port that is free. Exit status: 0, if just the divergences are found that docs/LIVE.md lists; 1, if others
are, or one of these is not; 2, if it could not be driven.
"""

import json
import subprocess
import sys

import published

# Each divergence, and the scripts that show it: docs/LIVE.md has the lines of the package.
DIVERGENCES = {"AAEP-A.8-4", "AAEP-6.3.4-9", "AAEP-6.3.4-4", "AAEP-6.3.4-1", "AAEP-6.3.2-4", "AAEP-A.8-5"}


def report(command, producer, folder):
    """What driving it has come to. It is started afresh for each run, as its agent calls a tool only once in a process's life."""
    [port] = map(str, published.free_ports(1))
    drive = [command, "diff", "aaep", "--format", "json", "--http", f"http://127.0.0.1:{port}", "--max-wait", "20"]
    drive += ["--save", folder, "--spawn", producer, "--port", port]
    driven = subprocess.run(drive, stdout=subprocess.PIPE, timeout=600)
    if driven.returncode not in (1, 3):
        raise ValueError(f"status {driven.returncode}")
    return json.loads(driven.stdout)


def main():
    command = published.command(*sys.argv[1:2])
    with published.installed(published.PRODUCER) as (folder, binaries):
        kept = sys.argv[2] if len(sys.argv) > 2 else folder / "kept"
        found = report(command, binaries / "aaep-minimal-producer", kept)
    print(f"{found['implementation']}: {found['runs']} runs, {found['verdict']}")
    seen = {it["clause"]: it for it in found["divergences"] if it["level"] in ("MUST", "MUST NOT", "")}
    for clause, it in seen.items():
        print(f"  {'as listed' if clause in DIVERGENCES else 'NOT LISTED'}: {clause}: {it['actual']}")
    for clause in sorted(DIVERGENCES - set(seen)):
        print(f"  NOT FOUND: {clause}")
    return 0 if set(seen) == DIVERGENCES else 1


if __name__ == "__main__":
    published.run(main)
