"""``python -m study``: the coordinator's command line."""

import os
import signal
import sys


def _stop(*_: object) -> None:
    """End the process during the imports, before the command has started."""
    os.write(2, b"\nStopped. Nothing was changed.\n")
    os._exit(130)


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    from study.cli import main

    status = main(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command has ended
    if status == 130:
        os._exit(status)  # after an interrupted `exec`, Python would exit with the signal instead
    sys.exit(status)
