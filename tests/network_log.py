"""Run a program and log its network access: ``python -m tests.network_log LOG LIMIT PROGRAM ...``.

The file LOG receives a line for every address a socket connects to and every name looked up.
LIMIT is the number of files the program may have open (0: no limit).
"""

import resource
import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run the program in this process."""
    log_path, n_files = Path(sys.argv[1]), int(sys.argv[2])
    if n_files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, n_files))
    log_file = log_path.open("a", buffering=1)

    def log_event(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            log_file.write(f"{arguments[1]}\n")
        elif event.startswith("socket.get") and event != "socket.gethostname":
            log_file.write(f"{arguments[0]!r}\n")

    sys.addaudithook(log_event)
    sys.argv = sys.argv[3:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
