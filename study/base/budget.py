"""Limits the resources for reading an uploaded file, with one budget for all formats.

The code that reads a file counts what it unpacks, and refuses the file at the first byte, row,
column or nesting level beyond the budget. The operating system limits the memory and processor time
of the process that reads it, which is a worker of the server or a command.
"""

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from study.base.errors import BeyondBudget
from study.base.translation import t


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The maximum size of a file, and the maximum resources for reading it.

    Attributes
    ----------
    unpacked_bytes, member_bytes
        Size of all files in an archive together, and of each of them.
    members
        Number of files in an archive.
    record_characters
        Number of characters in a record of a text file.
    rows, columns
        Size of a table; records of other files count as rows.
    depth
        Nesting depth of lists and objects.
    cpu_seconds, wall_seconds
        Time that the process may take; only the server limits the wall-clock time.
    memory_bytes
        Memory of the process in addition to what it used before it began to read.
    """

    unpacked_bytes: int = 4_000_000_000
    member_bytes: int = 500_000_000
    members: int = 200_000
    record_characters: int = 64 << 20
    rows: int = 1_000_000
    columns: int = 16_384
    depth: int = 100
    cpu_seconds: int = 600
    wall_seconds: int = 1_800
    memory_bytes: int = 3_000_000_000

    def check_rows(self, name: str | Path, n: int) -> None:
        """Refuse a file with too many rows or records."""
        if n > self.rows:
            raise BeyondBudget(
                t(
                    "{name} has more than {most} rows. Delete what does not belong to it, or "
                    "split it into several files.",
                    name=name,
                    most=f"{self.rows:,}",
                )
            )

    def check_columns(self, name: str | Path, n: int) -> None:
        """Refuse a table with too many columns."""
        if n > self.columns:
            raise BeyondBudget(
                t(
                    "{name} has more than {most} columns. Delete those that are not needed.",
                    name=name,
                    most=f"{self.columns:,}",
                )
            )

    def check_unpacked(self, name: str | Path, n_bytes: int) -> None:
        """Refuse an archive or workbook that unpacks to too many bytes."""
        if n_bytes > self.unpacked_bytes:
            raise BeyondBudget(
                t(
                    "{name} unpacks to more than {most} bytes. Leave out what is not needed, such "
                    "as images in a log, or split it into several files.",
                    name=name,
                    most=f"{self.unpacked_bytes:,}",
                )
            )

    def check_depth(self, name: str | Path, *values: object) -> None:
        """Refuse values with lists and objects that are nested too deeply."""
        level: list[Any] = [value for value in values if isinstance(value, _CONTAINER_TYPES)]
        for _ in range(self.depth + 1):
            inside = (outer.values() if isinstance(outer, dict) else outer for outer in level)
            level = [
                value
                for value in chain.from_iterable(inside)
                if type(value) not in _PLAIN_TYPES and isinstance(value, _CONTAINER_TYPES)
            ]
            if not level:
                return
        raise self.too_deep(name)

    def too_deep(self, name: str | Path) -> BeyondBudget:
        """Return the error for a file that is nested too deeply."""
        return BeyondBudget(
            t(
                "{name} is nested more than {most} levels deep. Write it again with simpler "
                "entries.",
                name=name,
                most=self.depth,
            )
        )

    def too_much_memory(self, name: str | Path) -> BeyondBudget:
        """Return the error for a file that needs too much memory."""
        return BeyondBudget(
            t(
                "{name} takes more than {most} GB of memory to read. Leave out the columns that "
                "are not needed, or split it into several files.",
                name=name,
                most=f"{self.memory_bytes / 1e9:g}",
            )
        )

    def too_long(self, name: str | Path) -> BeyondBudget:
        """Return the error for a file that needs too much time."""
        return BeyondBudget(
            t(
                "{name} takes more than {most} minutes to read. Leave out the columns that are "
                "not needed, or split it into several files.",
                name=name,
                most=f"{self.cpu_seconds / 60:g}",
            )
        )


BUDGET = Budget()
"""The budget of every file that is uploaded or named in a command."""


_CONTAINER_TYPES = (dict, list, tuple)
_PLAIN_TYPES = frozenset((str, int, float, bool, type(None)))
"""The most frequent types of values that cannot contain other values."""


class _TimeIsUp(BaseException):
    """The processor time is used up.

    A `BaseException`, so that ``except Exception`` does not catch it.
    """


@contextmanager
def limit_to(budget: Budget, name: str | Path) -> Iterator[None]:
    """Limit memory and processor time within the block, in the main thread of this process.

    Raises
    ------
    BeyondBudget
        The block exceeded a limit, or the file `name` is nested too deeply.
    """
    with _limit_resources(budget):
        try:
            yield
        except MemoryError:
            raise budget.too_much_memory(name) from None
        except RecursionError:
            raise budget.too_deep(name) from None
        except _TimeIsUp:
            raise budget.too_long(name) from None


@contextmanager
def _limit_resources(budget: Budget) -> Iterator[None]:
    """Set the soft limits of this process within the block; what it used before does not count."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    limits = {resource.RLIMIT_CPU: int(usage.ru_utime + usage.ru_stime) + 1 + budget.cpu_seconds}
    if mapped := _mapped_bytes():
        limits[resource.RLIMIT_AS] = mapped + budget.memory_bytes
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives the signal
        return
    before = {limit: resource.getrlimit(limit) for limit in limits}
    handler = signal.signal(signal.SIGXCPU, _raise_time_is_up)
    try:
        for limit, soft in limits.items():
            _set_limit(limit, soft, before[limit][1])
        yield
    finally:
        for limit, (soft, hard) in before.items():
            _set_limit(limit, soft, hard)
        signal.signal(signal.SIGXCPU, handler)


def _raise_time_is_up(*_: object) -> None:
    raise _TimeIsUp


def _set_limit(limit: int, soft: int, hard: int) -> None:
    if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft > hard):
        soft = hard
    with suppress(ValueError, OSError):  # the system does not have this limit
        resource.setrlimit(limit, (soft, hard))


def _mapped_bytes() -> int:
    """Return the size of this process's address space, or 0 if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return 0
    return pages * resource.getpagesize()
