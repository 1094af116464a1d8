"""Start a copy of this process that does one thing and ends."""

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress


def can_split_off() -> bool:
    """Return whether this system can copy a process."""
    return hasattr(os, "fork")


def split_off(work: Callable[[], int]) -> int:
    """Do work in a copy of this process, which ends with the status it returns; return its pid.

    Nothing that is registered to run at the end of this process runs in the copy.
    """
    _flush()
    with warnings.catch_warnings():
        # Newer versions warn of forks next to threads: the work needs none of their locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        status = work()
    finally:
        _flush()
        os._exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed
            stream.flush()
