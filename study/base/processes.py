"""Forks a process that runs a function and exits."""

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress


def can_fork() -> bool:
    """Return whether this system can fork processes."""
    return hasattr(os, "fork")


def run_forked(work: Callable[[], int]) -> int:
    """Run a function in a forked process, and return the PID of that process.

    The process exits with the status that the function returns, without running exit handlers.
    """
    _flush()
    with warnings.catch_warnings():
        # Newer versions of Python warn about forking a process with threads, but `work` uses none
        # of their locks.
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
