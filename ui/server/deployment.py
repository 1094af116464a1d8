"""The store that this process serves, and limits on concurrent long operations.

While another program holds the store's lock, every write waits, and checking a code keeps a
processor busy. Such requests could occupy all threads of the pool, so that even requests that only
read would have to wait. Long operations are therefore limited to a few threads.

A disk that hangs blocks such an operation for minutes. Its request is refused after
`MAX_DURATION_S`, and the operation keeps its turn until it ends, so that the number of blocked
threads is limited.
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

MAX_WAIT_S = 3.0
"""How long a write waits for its turn, and then for the store's lock, in seconds."""


def store() -> Store:
    """Return the store named by ``READING_ROOM_DB``, or the one in ``instance/``.

    Raises
    ------
    NotFound
        There is no store yet.
    """
    return _opened_store(os.environ.get(VARIABLE) or DEFAULT)


def store_with_wait_limit() -> Store:
    """Return the store for a request, which fails instead of waiting longer than `MAX_WAIT_S`.

    Raises
    ------
    NotFound
        There is no store yet.
    """
    return store().with_wait_limit(MAX_WAIT_S)


@lru_cache
def _opened_store(address: str | Path) -> Store:
    return Store(address)


SIGN_IN_MAX_WAIT_S = 20.0

MAX_DURATION_S = 8.0
"""How long a request waits for the result of an operation, which may be blocked by a disk."""


@unique  # members with equal numbers would be aliases
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


READ_MAX_WAIT_S = 20.0
"""How long a read waits for its turn, for example after all readers have reloaded their pages."""

IMAGE_MAX_WAIT_S = 20.0
"""How long a request for an image waits for its turn, while many images are prepared; and then for
the image."""

CHECK_MAX_WAIT_S = 16.0
"""How long a check of the server's health waits for its turn, and then for its result: longer than
the checks take, see `health.MAX_DURATION_S`."""

_PAGES = threading.Semaphore(16)
"""The checks of staff pages that run at the same time."""

_lanes: RunVar[dict[Lane, "_Turns"]] = RunVar("lanes")
_Result = TypeVar("_Result")


class _Turns:
    """The turns of one kind of operation; overdue turns are those whose requests were refused."""

    def __init__(self, n_turns: int) -> None:
        self._limiter = CapacityLimiter(n_turns)
        self._overdue: set[object] = set()
        self._waiting: set[CancelScope] = set()

    async def take(self, turn: object, max_wait_s: float) -> None:
        """Wait for a turn; raise TimeoutError at once if no running operation is likely to end."""
        with fail_after(0 if self.is_stuck() else max_wait_s) as scope:
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
    max_wait_s: float | None = None,
) -> _Result:
    """Run a function in a thread, limited to the number of concurrent operations of its kind.

    These threads are separate from those of other requests, which may all be waiting. If the
    function takes longer than the limit of its kind, it continues, but its result is lost.

    Raises
    ------
    Busy
        The waiting time or the duration was exceeded.
    """
    turns, turn = _lane(queue), object()
    try:
        await turns.take(turn, _max_wait_s(queue) if max_wait_s is None else max_wait_s)
    except TimeoutError as error:
        raise Busy(_unreachable_text(queue) if turns.is_stuck() else _busy_text(queue)) from error
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def end() -> None:
        turns.end(turn)
        ended.set()

    def end_in_loop() -> None:
        with suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(end)

    result = _start_thread(work, end_in_loop)
    with move_on_after(_max_duration_s(queue)):
        await ended.wait()
    if not result.done():
        turns.refuse(turn)
        raise Busy(_unreachable_text(queue))
    return result.result()


def in_time(work: Callable[[], _Result]) -> _Result:
    """Run a short function for a staff page in a thread; wait no longer than `MAX_DURATION_S`.

    Raises
    ------
    Busy
        The duration was exceeded, or all earlier calls are still running.
    """
    if not _PAGES.acquire(timeout=MAX_WAIT_S):
        raise Busy(_unreachable_text(Lane.READS))
    result = _start_thread(work, _PAGES.release)
    wait([result], MAX_DURATION_S)
    if not result.done():
        raise Busy(_unreachable_text(Lane.READS))
    return result.result()


def _start_thread(work: Callable[[], _Result], end: Callable[[], None]) -> Future[_Result]:
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


def _max_wait_s(queue: Lane) -> float:
    limits = {
        Lane.READS: READ_MAX_WAIT_S,
        Lane.IMAGES: IMAGE_MAX_WAIT_S,
        Lane.CHECKS: CHECK_MAX_WAIT_S,
    }
    return limits.get(queue, MAX_WAIT_S)


def _max_duration_s(queue: Lane) -> float:
    limits = {Lane.IMAGES: IMAGE_MAX_WAIT_S, Lane.CHECKS: CHECK_MAX_WAIT_S}
    return limits.get(queue, MAX_DURATION_S)


def _busy_text(queue: Lane) -> str:
    if queue is Lane.IMAGES:
        return t("The images cannot be read at the moment. Try again in a moment.")
    return t("The database is busy. Try again in a moment.")


def _unreachable_text(queue: Lane) -> str:
    if queue is Lane.IMAGES:
        return _busy_text(queue)
    return t("The database cannot be reached. Try again in a moment.")


def _lane(queue: Lane) -> _Turns:
    lanes = _lanes.get(None)
    if lanes is None:
        _lanes.set(lanes := {queue: _Turns(queue.value) for queue in Lane})
    return lanes[queue]
