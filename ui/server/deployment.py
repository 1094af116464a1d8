"""The store that this process serves, and limits on concurrent long operations.

While another program holds the store's lock, every write waits, and checking a code keeps a
processor busy. Such requests could occupy all threads of the pool, and requests that only read
would wait with them. Long operations are therefore limited to a few threads.

A disk that hangs blocks such an operation for minutes. Its request is refused after `LONGEST_S`,
and the operation keeps its place until it ends, so that the number of blocked threads is limited.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from enum import Enum, unique
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from anyio import CancelScope, CapacityLimiter, fail_after, move_on_after
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


def store_with_wait_limit() -> Store:
    """Return the store for a request, which fails instead of waiting for longer than `PATIENCE_S`.

    Raises
    ------
    NotFound
        There is no store yet.
    """
    return store().with_wait_limit(PATIENCE_S)


@lru_cache
def _opened(address: str | Path) -> Store:
    return Store(address)


SIGN_IN_PATIENCE_S = 20.0

LONGEST_S = 8.0
"""How long a request waits for the result of an operation, which may be blocked by a disk."""


@unique  # equal numbers would be one kind
class Lane(Enum):
    """Number of operations of each kind that run at the same time."""

    READS = 40
    WRITES = 8
    SIGN_INS = 4
    SUSPECTS = 1
    """Sign-ins from addresses with many wrong codes, kept separate from other sign-ins."""

    IMAGES = 16
    """Requests for images, which are blocked if the folder of a bank is on a disk that hangs."""

    CHECKS = 6
    """Checks of the server's health, which must be answered while all other requests wait."""


READ_PATIENCE_S = 20.0
"""How long a read waits for its turn, for example after all readers have reloaded their pages."""

IMAGE_PATIENCE_S = 20.0
"""How long a request for an image waits for its turn, while many images are prepared; and then for
the image."""

CHECK_PATIENCE_S = 16.0
"""How long a check of the server's health waits for its turn, and then for its result: longer than
the checks take, see `health.LONGEST_S`."""

_PAGES = threading.Semaphore(16)
"""The checks of staff pages that run at the same time."""

_lanes: RunVar[dict[Lane, "_Turns"]] = RunVar("lanes")
_Result = TypeVar("_Result")


class _Turns:
    """The turns of one kind of operation; `overdue` are those whose requests were refused."""

    def __init__(self, n_turns: int) -> None:
        self._limiter = CapacityLimiter(n_turns)
        self._overdue: set[object] = set()
        self._waiting: set[CancelScope] = set()

    async def take(self, turn: object, patience_s: float) -> None:
        """Wait for a turn; raise TimeoutError at once if no running operation may end soon."""
        with fail_after(0 if self.is_stuck() else patience_s) as scope:
            self._waiting.add(scope)
            try:
                await self._limiter.acquire_on_behalf_of(turn)
            finally:
                self._waiting.discard(scope)

    def refuse(self, turn: object) -> None:
        """Record that the request of a turn was refused while its operation still runs."""
        self._overdue.add(turn)
        if self.is_stuck():
            for scope in self._waiting:
                scope.deadline = 0.0

    def end(self, turn: object) -> None:
        """Return the turn of an operation that has ended."""
        self._overdue.discard(turn)
        self._limiter.release_on_behalf_of(turn)

    def is_stuck(self) -> bool:
        """Return whether the requests of all running operations were refused."""
        return len(self._overdue) >= self._limiter.total_tokens


async def in_turn(
    work: Callable[[], _Result],
    queue: Lane = Lane.WRITES,
    patience_s: float | None = None,
) -> _Result:
    """Run a function in a thread, limited to the number of concurrent operations of its kind.

    These threads are in addition to those of other requests, which may all be waiting. If the
    function takes longer than the limit of its kind, it continues, and its result is lost.

    Raises
    ------
    Busy
        The waiting time or the duration was exceeded.
    """
    turns, turn = _lane(queue), object()
    try:
        await turns.take(turn, _patience_s(queue) if patience_s is None else patience_s)
    except TimeoutError as error:
        raise Busy(_no_answer(queue) if turns.is_stuck() else _overdue(queue)) from error
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def end() -> None:
        turns.end(turn)
        ended.set()

    def end_in_loop() -> None:
        with suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(end)

    result = _begun(work, end_in_loop)
    with move_on_after(_longest_s(queue)):
        await ended.wait()
    if not result.done():
        turns.refuse(turn)
        raise Busy(_no_answer(queue))
    return result.result()


def in_time(work: Callable[[], _Result]) -> _Result:
    """Run a short function for a staff page in a thread, and wait no longer than `LONGEST_S`.

    Raises
    ------
    Busy
        The duration was exceeded, or all earlier calls are still running.
    """
    if not _PAGES.acquire(timeout=PATIENCE_S):
        raise Busy(_no_answer(Lane.READS))
    result = _begun(work, _PAGES.release)
    wait([result], LONGEST_S)
    if not result.done():
        raise Busy(_no_answer(Lane.READS))
    return result.result()


def _begun(work: Callable[[], _Result], end: Callable[[], None]) -> Future[_Result]:
    """Run a function, and then `end`, in a thread that does not keep the server from stopping."""
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)
        finally:
            end()

    try:
        threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    except RuntimeError:  # the system allows no more threads
        end()
        raise
    return future


def _patience_s(queue: Lane) -> float:
    limits = {
        Lane.READS: READ_PATIENCE_S,
        Lane.IMAGES: IMAGE_PATIENCE_S,
        Lane.CHECKS: CHECK_PATIENCE_S,
    }
    return limits.get(queue, PATIENCE_S)


def _longest_s(queue: Lane) -> float:
    limits = {Lane.IMAGES: IMAGE_PATIENCE_S, Lane.CHECKS: CHECK_PATIENCE_S}
    return limits.get(queue, LONGEST_S)


def _overdue(queue: Lane) -> str:
    if queue is Lane.IMAGES:
        return t("The images cannot be read at the moment. Try again in a moment.")
    return t("The database is busy. Try again in a moment.")


def _no_answer(queue: Lane) -> str:
    if queue is Lane.IMAGES:
        return _overdue(queue)
    return t("The database cannot be reached. Try again in a moment.")


def _lane(queue: Lane) -> _Turns:
    lanes = _lanes.get(None)
    if lanes is None:
        _lanes.set(lanes := {queue: _Turns(queue.value) for queue in Lane})
    return lanes[queue]
