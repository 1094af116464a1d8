"""What the server does by itself: a thread that looks now and then whether a backup is due."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from study.backups import make_if_due
from study.errors import NotFound, StudyError
from study.store import Store

FIRST_LOOK_S = 300.0
"""A server that has just been started has readers waiting; a backup can."""

LOOK_EVERY_S = 60.0

LAST_LOOK_S = 10.0
"""How long a server that stops waits for a backup under way; one cut off leaves only scratch."""

_log = logging.getLogger("reading_room")


@contextmanager
def backups_on_schedule(
    store: Callable[[], Store], *, first_s: float = FIRST_LOOK_S, every_s: float = LOOK_EVERY_S
) -> Iterator[None]:
    """Make backups at their time while the block runs, whatever goes wrong with one of them."""
    stop = threading.Event()

    def work() -> None:
        wait_s = first_s
        while not stop.wait(wait_s):
            wait_s = every_s
            _look(store)

    thread = threading.Thread(target=work, name="backups", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(LAST_LOOK_S)


def _look(store: Callable[[], Store]) -> None:
    try:
        make_if_due(store(), now=datetime.now(UTC))
    except NotFound:
        return  # no store yet
    except StudyError as error:
        _log.warning("The backup was not made: %s", error)
    except Exception:  # the next one may work
        _log.exception("The backup was not made")
