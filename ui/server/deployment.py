"""The store this process serves, and the turns that are taken at what takes it long.

While another program holds the store's lock every write waits for it, and checking a code keeps a
processor busy. All threads of the pool would soon be at that, and a page that only wants to be read
would wait with them: so a few threads do what takes long, and a request that only reads never
waits.
"""

import os
from collections.abc import Callable
from enum import Enum
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


def store() -> Store:
    """Return the store named by ``READING_ROOM_DB``, or the one in ``instance/``.

    Raises
    ------
    NotFound
        There is no store yet.
    """
    return _opened(os.environ.get(VARIABLE) or DEFAULT)


@lru_cache
def _opened(path: str | Path) -> Store:
    return Store(Path(path))


PATIENCE_S = 3.0
"""How long a write waits for its turn, and then for the store's lock."""

SIGN_IN_PATIENCE_S = 20.0


class Lane(Enum):
    """What waits for what: how many go at once."""

    WRITES = 8
    SIGN_INS = 4
    SUSPECTS = 1
    """Sign-ins from an address that many wrong codes came from: the others do not wait for them."""


_lanes: RunVar[dict[Lane, CapacityLimiter]] = RunVar("lanes")
_Result = TypeVar("_Result")


async def in_turn(
    work: Callable[[], _Result], lane: Lane = Lane.WRITES, patience_s: float | None = None
) -> _Result:
    """Run something in a thread when it is its turn.

    Raises
    ------
    Busy
        Its turn did not come in time.
    """
    turns = _lane(lane)
    turn = object()
    try:
        with fail_after(PATIENCE_S if patience_s is None else patience_s):
            await turns.acquire_on_behalf_of(turn)
    except TimeoutError as error:
        raise Busy(t("The database is busy. Try again in a moment.")) from error
    try:
        return await to_thread.run_sync(work)
    finally:
        turns.release_on_behalf_of(turn)


def _lane(lane: Lane) -> CapacityLimiter:
    lanes = _lanes.get(None)
    if lanes is None:
        _lanes.set(lanes := {lane: CapacityLimiter(lane.value) for lane in Lane})
    return lanes[lane]
