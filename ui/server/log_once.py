"""The same trouble stands in the log once a minute, with its count: a log must not fill the disk.

Whoever knocks a thousand times a second would otherwise have a thousand lines written, on the disk
that holds the store.
"""

import logging
import time
from collections.abc import Callable

EVERY_S = 60.0
_MOST_KINDS = 500


class OnceAMinute(logging.Filter):
    """Lets a warning or an error through once a minute; the next one tells how many there were."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._told: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written."""
        if record.levelno < logging.WARNING:
            return True
        words = str(record.msg).partition("\n")[0][:80]
        kind = (record.name, record.pathname, record.lineno, words, record.exc_info and 1)
        now = self._clock()
        since, unsaid = self._told.get(kind, (float("-inf"), 0))
        if now - since < EVERY_S:
            self._told[kind] = (since, unsaid + 1)
            return False
        if len(self._told) >= _MOST_KINDS:
            self._told.clear()
        self._told[kind] = (now, 0)
        if unsaid:
            record.msg = f"{record.getMessage()} ({unsaid} more of the kind since the last line)"
            record.args = ()
        return True


def quieten() -> None:
    """Have everything that writes to the log write the same once a minute."""
    root, once = logging.getLogger(), OnceAMinute()
    for known in map(logging.getLogger, list(root.manager.loggerDict)):
        known.addFilter(once)
    written = logging.StreamHandler()  # of those that have no other, and come later
    written.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    written.addFilter(OnceAMinute())
    root.addHandler(written)
