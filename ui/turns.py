"""Takes turns at what writes: a few threads of all, so that whoever only looks never waits.

While another program holds the store's lock every write waits for it. All threads of the pool would
soon be waiting, and a page that only wants to be read with them.
"""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, fail_after, to_thread
from anyio.lowlevel import RunVar

from study.errors import Busy
from study.words import t

PATIENCE_S = 3.0
"""How long a write waits for its turn, and then for the store's lock."""

_MOST_AT_ONCE = 8

_turns: RunVar[CapacityLimiter] = RunVar("turns")
_Result = TypeVar("_Result")


async def in_turn(work: Callable[[], _Result]) -> _Result:
    """Run something that writes in a thread, when it is its turn.

    Raises
    ------
    Busy
        Its turn did not come in time.
    """
    turns = _turns.get(None)
    if turns is None:
        _turns.set(turns := CapacityLimiter(_MOST_AT_ONCE))
    turn = object()
    try:
        with fail_after(PATIENCE_S):
            await turns.acquire_on_behalf_of(turn)
    except TimeoutError as error:
        raise Busy(t("The store is busy. Try again in a moment.")) from error
    try:
        return await to_thread.run_sync(work)
    finally:
        turns.release_on_behalf_of(turn)
