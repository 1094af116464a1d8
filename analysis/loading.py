"""Prepares the process of ``python -m analysis`` for the import of thousands of modules.

``analysis/__init__.py`` imports this module first and ``analysis/__main__.py`` ends its effect.
"""

import gc
import os
import signal
import sys


def _stopped(*_: object) -> None:
    """End the process while modules are imported, before anything is written."""
    os.write(2, b"\nStopped.\n")
    os._exit(130)


def finished() -> None:
    """Let Ctrl-C be an exception again, so that a command can clean up, and collect garbage."""
    if signal.getsignal(signal.SIGINT) is _stopped:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()


if sys.argv[:1] == ["-m"]:  # Python is still looking for the module to run
    gc.disable()  # collecting while modules are loaded takes 0.2 s and frees nothing
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stopped)
