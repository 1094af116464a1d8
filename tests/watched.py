"""Runs a program and writes down whom it calls. ``python -m tests.watched FILE FILES PROGRAM ...``.

Every address a socket is connected to and every name that is looked up stands in FILE, a line each;
FILES is how many files the program may have open (0: as many as it may).
"""

import resource
import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run the program in this process."""
    calls, n_files = Path(sys.argv[1]), int(sys.argv[2])
    if n_files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, n_files))
    written = calls.open("a", buffering=1)

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            written.write(f"{arguments[1]}\n")
        elif event.startswith("socket.get") and event != "socket.gethostname":
            written.write(f"{arguments[0]!r}\n")

    sys.addaudithook(note)
    sys.argv = sys.argv[3:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
