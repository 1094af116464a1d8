"""Change signals and garbage collection while ``python -m analysis`` imports its modules.

``analysis/__init__.py`` imports this module first; ``analysis/__main__.py`` calls `finish`, which
restores the defaults.
"""

import gc
import os
import signal
import sys


def _exit_at_interrupt(*_: object) -> None:
    """End the process at Ctrl-C while modules are imported and nothing has been written."""
    os.write(2, b"\nStopped.\n")
    os._exit(130)


def finish() -> None:
    """Restore garbage collection, and the exception at Ctrl-C, at which commands clean up."""
    if signal.getsignal(signal.SIGINT) is _exit_at_interrupt:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()


if sys.argv[:1] == ["-m"]:  # Python is still looking for the module to run
    gc.disable()  # collecting while modules are loaded takes 0.2 s and frees nothing
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_at_interrupt)
