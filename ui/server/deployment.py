"""The store that this process serves, and limits on concurrent long operations.

While another program holds the store's lock, every write waits, and checking a code keeps a
processor busy. Such requests could occupy all threads of the pool, and requests that only read
would wait with them. Long operations are therefore limited to a few threads.
"""

import os
from collections.abc import Callable
from enum import Enum, unique
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, fail_after, to_thread
from anyio.lowlevel import RunVar

from study.base.errors import Busy
from study.base.translation import t
from study.store import Store

VARIABLE = "READING_ROOM_DB"
DEFAULT = Path(__file__).parents[2] / "instance" / "reading-room.db"

PATIENCE_S = 3.0
"""How long a write waits for its turn, and then for the store's lock, in seconds."""


def store() -> Store:
    """Return the store named by ``READING_ROOM_DB``, or the one in ``instance/``.

    Raises
    ------
    NotFound
        There is no store yet.
    """
    return _opened(os.environ.get(VARIABLE) or DEFAULT)


def hurried_store() -> Store:
    """Return the store for a request, which fails instead of waiting for longer than `PATIENCE_S`.

    Raises
    ------
    NotFound
        There is no store yet.
    """
    return store().hurried(PATIENCE_S)


@lru_cache
def _opened(address: str | Path) -> Store:
    return Store(address)


SIGN_IN_PATIENCE_S = 20.0


@unique  # equal numbers would be one kind
class Lane(Enum):
    """Number of operations of each kind that run at the same time."""

    WRITES = 8
    SIGN_INS = 4
    SUSPECTS = 1
    """Sign-ins from addresses with many wrong codes, kept separate from other sign-ins."""

    IMAGES = 16
    """Requests for images, which wait forever if the folder of a bank is on a disk that hangs."""

    CHECKS = 6
    """Checks of the server's health, which must be answered while all other requests wait."""


IMAGE_PATIENCE_S = 20.0
"""How long a request for an image waits for its turn, while many images are prepared."""

_lanes: RunVar[dict[Lane, CapacityLimiter]] = RunVar("lanes")
_Result = TypeVar("_Result")


async def in_turn(
    work: Callable[[], _Result], queue: Lane = Lane.WRITES, patience_s: float | None = None
) -> _Result:
    """Run a function in a thread, limited to the number of concurrent operations of its kind.

    These threads are in addition to those of other requests, which may all be waiting.

    Raises
    ------
    Busy
        The waiting time was exceeded.
    """
    turns = _lane(queue)
    turn = object()
    if patience_s is None:
        patience_s = IMAGE_PATIENCE_S if queue is Lane.IMAGES else PATIENCE_S
    try:
        with fail_after(patience_s):
            await turns.acquire_on_behalf_of(turn)
    except TimeoutError as error:
        raise Busy(_overdue(queue)) from error
    try:
        return await to_thread.run_sync(work, limiter=CapacityLimiter(1))
    finally:
        turns.release_on_behalf_of(turn)


def _overdue(queue: Lane) -> str:
    if queue is Lane.IMAGES:
        return t("The images cannot be read at the moment. Try again in a moment.")
    return t("The database is busy. Try again in a moment.")


def _lane(queue: Lane) -> CapacityLimiter:
    lanes = _lanes.get(None)
    if lanes is None:
        _lanes.set(lanes := {queue: CapacityLimiter(queue.value) for queue in Lane})
    return lanes[queue]
