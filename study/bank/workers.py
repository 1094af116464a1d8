"""Shares work out among processes: what comes back is in order, however many there are."""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, TypeVar

from study.base.errors import NotNow
from study.base.processes import can_split_off, split_off
from study.base.translation import t

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class _Worker(NamedTuple):
    pid: int
    line: Connection


def most_workers() -> int:
    """Return how many processes keep all processors busy; 0 where none can be split off.

    One more than there are processors: one of them waits for its result to be taken.
    """
    if not can_split_off():
        return 0
    here = hasattr(os, "sched_getaffinity")
    return 1 + (len(os.sched_getaffinity(0)) if here else os.cpu_count() or 1)


def in_order(
    do: Callable[[_Task], _Result], tasks: Iterable[_Task], n_workers: int
) -> Generator[_Result, None, None]:
    """Yield what `do` makes of each task, in their order.

    Each worker has one task at a time, so that no more than so many are ever held. They are gone
    when this ends, however it ends; where this process is killed, they find their line cut.

    Parameters
    ----------
    do
        What it changes is changed in the worker alone.
    n_workers
        0 does everything here.

    Raises
    ------
    NotNow
        A worker was killed, as when memory is short.
    """
    if not n_workers:
        yield from map(do, tasks)
        return
    with _started(do, n_workers) as workers:
        busy = deque[_Worker]()
        free = deque(workers)
        for task in tasks:
            found = None
            if not free:
                found = _result(busy[0])
                free.append(busy.popleft())
            _send(free[0], task)
            busy.append(free.popleft())
            if found is not None:
                yield found[0]
        while busy:
            yield _result(busy.popleft())[0]


@contextmanager
def begun(
    do: Callable[[_Task], _Result], tasks: Sequence[_Task], n_workers: int
) -> Iterator[Iterator[_Result]]:
    """Begin few tasks, each in a worker of its own, while other things are done here.

    What it gives waits for each result, and fails as `in_order` does. With no workers all is
    done before.
    """
    if not n_workers:
        yield iter([do(task) for task in tasks])
        return
    with _started(do, len(tasks)) as workers:
        for worker, task in zip(workers, tasks, strict=True):
            _send(worker, task)
        yield (_result(worker)[0] for worker in workers)


def _send(worker: _Worker, task: Any) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # it is told when the result is asked for
        worker.line.send(task)


def _result(worker: _Worker) -> tuple[Any]:
    try:
        found, error = worker.line.recv()
    except (EOFError, ConnectionResetError):
        raise NotNow(
            t(
                "The import stopped before it was done; the server may be short of memory. "
                "Nothing was imported. Import the bank again: images already checked are not "
                "checked again."
            )
        ) from None
    if error is not None:
        raise error
    return (found,)


@contextmanager
def _started(do: Callable[[Any], Any], n: int) -> Iterator[list[_Worker]]:
    workers: list[_Worker] = []
    try:
        for _ in range(n):
            workers.append(_split_off(do, workers))
        yield workers
    finally:
        for worker in workers:
            worker.line.close()
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)


def _split_off(do: Callable[[Any], Any], others: Iterable[_Worker]) -> _Worker:
    here, there = Pipe()

    def work() -> int:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this ends it
        for line in (here, *(other.line for other in others)):  # else its end goes unnoticed
            line.close()
        _work(do, there)
        return 0

    pid = split_off(work)
    there.close()
    return _Worker(pid, here)


def _work(do: Callable[[Any], Any], line: Connection) -> None:
    gc.freeze()  # what was there before need not be looked through again, nor copied for that
    with suppress(EOFError, OSError):
        while True:
            task = line.recv()
            found, failed = None, None
            try:
                found = do(task)
            except Exception as error:  # told where the result is asked for
                failed = error
            line.send((found, failed))
