"""What the scripts share that use a published package of AAEP: its installation, the command, and ports."""

import contextlib
import pathlib
import socket
import subprocess
import sys
import tempfile
import venv

# The producer, as the scripts that drive it and record it install it.
PRODUCER = "aaep-minimal-producer==1.0.0"


def command(argument=None):
    """The countersign binary that is named, or that which a release build leaves; raises OSError where there is none."""
    binary = pathlib.Path(argument or "target/release/countersign").resolve()
    if not binary.is_file():
        raise OSError(f"there is no {binary}: build it with `cargo build --release`, or name it")
    return binary


@contextlib.contextmanager
def installed(package):
    """Installs a package from PyPI, and yields a folder that is thrown away and the folder of the package's programs."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        venv.create(folder / "venv", with_pip=True)
        binaries = folder / "venv" / "bin"
        subprocess.run([binaries / "pip", "install", "--quiet", package], check=True)
        yield folder, binaries


def free_ports(count):
    """Ports that nothing listens at. All of them are taken at once, so that no two are the same."""
    with contextlib.ExitStack() as taken:
        sockets = [taken.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def run(main):
    """Runs a script and ends with the status that it returns; with 2 and the reason, where it could not do what it is for."""
    try:
        sys.exit(main())
    except (OSError, subprocess.SubprocessError, LookupError, ValueError) as error:
        print(f"{pathlib.Path(sys.argv[0]).name} could not be run: {error}", file=sys.stderr)
        sys.exit(2)
