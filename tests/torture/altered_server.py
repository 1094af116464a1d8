"""Runs the app with a clock that can be set, and with a deliberate defect.

``python -m tests.torture.altered_server CLOCK DEFECT streamlit run app.py``: the file CLOCK has the
number of milliseconds by which the clock is ahead; DEFECT is a name in `tests.torture.defects`,
``none``, or ``newer`` for a later version of the program with another format of the store.
"""

import mmap
import runpy
import struct
import sys
import time
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from study.store import schema
from study.store.schema import Migration

NEWER = "newer"

_AHEAD = struct.Struct("d")


def set_clock(clock: Path, ahead_ms: float) -> None:
    """Set the lead of a server's clock, with immediate effect."""
    content = _AHEAD.pack(ahead_ms)
    if not clock.exists():
        clock.write_bytes(content)
    with clock.open("r+b") as file:
        file.write(content)


def follow(clock: Path) -> None:
    """Let the app's modules read the time from a clock."""
    with clock.open("rb") as file:
        content = mmap.mmap(file.fileno(), _AHEAD.size, access=mmap.ACCESS_READ)
    true_time = time.time

    def ahead_ms() -> float:
        return float(_AHEAD.unpack_from(content)[0])

    class Set(datetime):
        """`datetime` whose current time is that of the clock."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(milliseconds=ahead_ms())

    time.time = lambda: true_time() + ahead_ms() / 1000
    for name, module in list(sys.modules.items()):
        if name.startswith(("ui.", "study.")) and getattr(module, "datetime", None) is datetime:
            module.datetime = Set  # type: ignore[attr-defined]


def upgraded_migrations() -> tuple[Migration, ...]:
    """Return the migrations of a later version of the program."""
    return (*schema.MIGRATIONS, lambda connection: None)


def main() -> None:
    """Alter this process and run the app in it."""
    from tests.torture.defects import DEFECTS

    clock, defect, module = sys.argv[1:4]
    follow(Path(clock))
    if defect == NEWER:
        schema.MIGRATIONS = upgraded_migrations()
    elif defect != "none":
        DEFECTS[defect].plant()
    sys.argv = sys.argv[3:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
