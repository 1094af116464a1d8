"""What reading a file from elsewhere may take: one budget for every format, and the refusals.

Readers count what they unpack and refuse a file at the first byte, row, column or level beyond the
budget. Memory and processor time are limited by the operating system, for the process that reads:
a worker of the server, or a command.
"""

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from study.base.errors import BeyondBudget
from study.base.translation import t


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much of everything a file may have or need.

    Attributes
    ----------
    unpacked_bytes, member_bytes
        Of all files in an archive, and of one of them.
    members
        Files in an archive.
    record_characters
        Of one record of a text file.
    rows, columns
        Of a table; records of any other file count as rows.
    depth
        How deeply lists and objects are nested.
    cpu_seconds, wall_seconds
        Of the process that reads it; the second only in the server.
    memory_bytes
        That the process takes in addition to what it has when it begins to read.
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
        """Refuse a file with more rows or records."""
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
        """Refuse a table with more columns."""
        if n > self.columns:
            raise BeyondBudget(
                t(
                    "{name} has more than {most} columns. Delete those that are not needed.",
                    name=name,
                    most=f"{self.columns:,}",
                )
            )

    def check_unpacked(self, name: str | Path, n_bytes: int) -> None:
        """Refuse an archive or workbook that unpacks to more bytes."""
        if n_bytes > self.unpacked_bytes:
            raise BeyondBudget(
                t(
                    "{name} unpacks to more than {most} bytes. Leave out what is not needed, such "
                    "as images in a log, or split it into several files.",
                    name=name,
                    most=f"{self.unpacked_bytes:,}",
                )
            )

    def check_depth(self, name: str | Path, value: object) -> None:
        """Refuse a value whose lists and objects are nested more deeply."""
        level = [value]
        for _ in range(self.depth + 1):
            level = [inner for outer in level for inner in _children(outer)]
            if not level:
                return
        raise self.too_deep(name)

    def too_deep(self, name: str | Path) -> BeyondBudget:
        """Return the refusal of a file that is nested more deeply."""
        return BeyondBudget(
            t(
                "{name} is nested more than {most} levels deep. Write it again with simpler "
                "entries.",
                name=name,
                most=self.depth,
            )
        )

    def too_much_memory(self, name: str | Path) -> BeyondBudget:
        """Return the refusal of a file that takes more memory to read."""
        return BeyondBudget(
            t(
                "{name} takes more than {most} GB of memory to read. Leave out the columns that "
                "are not needed, or split it into several files.",
                name=name,
                most=f"{self.memory_bytes / 1e9:g}",
            )
        )

    def too_long(self, name: str | Path) -> BeyondBudget:
        """Return the refusal of a file that takes more time to read."""
        return BeyondBudget(
            t(
                "{name} takes more than {most} minutes to read. Leave out the columns that are "
                "not needed, or split it into several files.",
                name=name,
                most=f"{self.cpu_seconds / 60:g}",
            )
        )


BUDGET = Budget()
"""What any file may take that is uploaded or named in a command."""


class _TimeIsUp(BaseException):
    """The process has used its processor time; no `except Exception` on the way keeps it."""


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return [one for one in value.values() if isinstance(one, dict | list | tuple)]
    if isinstance(value, list | tuple):
        return [one for one in value if isinstance(one, dict | list | tuple)]
    return []


@contextmanager
def held_to(budget: Budget, name: str | Path) -> Iterator[None]:
    """Read a file within the budget's memory and processor time, in this process' main thread.

    Raises
    ------
    BeyondBudget
        The block needed more, or its nesting was too deep; `name` is what the file is called.
    """
    with _limited(budget):
        try:
            yield
        except MemoryError:
            raise budget.too_much_memory(name) from None
        except RecursionError:
            raise budget.too_deep(name) from None
        except _TimeIsUp:
            raise budget.too_long(name) from None


@contextmanager
def _limited(budget: Budget) -> Iterator[None]:
    """Set this process' soft limits for the block; what it has taken before does not count."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    limits = {resource.RLIMIT_CPU: int(usage.ru_utime + usage.ru_stime) + 1 + budget.cpu_seconds}
    if mapped := _mapped_bytes():
        limits[resource.RLIMIT_AS] = mapped + budget.memory_bytes
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can be told that the time is up
        return
    before = {limit: resource.getrlimit(limit) for limit in limits}
    handler = signal.signal(signal.SIGXCPU, _time_is_up)
    try:
        for limit, soft in limits.items():
            _set(limit, soft, before[limit][1])
        yield
    finally:
        for limit, (soft, hard) in before.items():
            _set(limit, soft, hard)
        signal.signal(signal.SIGXCPU, handler)


def _time_is_up(*_: object) -> None:
    raise _TimeIsUp


def _set(limit: int, soft: int, hard: int) -> None:
    if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft > hard):
        soft = hard
    with suppress(ValueError, OSError):  # the system does not have this limit
        resource.setrlimit(limit, (soft, hard))


def _mapped_bytes() -> int:
    """Return the size of this process' address space, or 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return 0
    return pages * resource.getpagesize()
