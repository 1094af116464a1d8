"""Distributes tasks among worker processes and returns the results in order."""

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
from study.base.processes import can_fork, run_forked
from study.base.translation import t

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class _Worker(NamedTuple):
    pid: int
    line: Connection


def most_workers() -> int:
    """Return the number of processes that keep all processors busy; 0 if none can be forked.

    One more than the number of processors, because one worker waits until its result is read.
    """
    if not can_fork():
        return 0
    has_affinity = hasattr(os, "sched_getaffinity")
    return 1 + (len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1)


def in_order(
    do: Callable[[_Task], _Result], tasks: Iterable[_Task], n_workers: int
) -> Generator[_Result, None, None]:
    """Yield the result of `do` for each task, in order.

    Each worker has one task at a time, which limits the memory used. The workers end with this
    generator; if this process is killed, they end when their pipe is closed.

    Parameters
    ----------
    do
        Its side effects stay in the worker process.
    n_workers
        With 0, all tasks are done in this process.

    Raises
    ------
    NotNow
        A worker was killed, for example because memory is short.
    """
    if not n_workers:
        yield from map(do, tasks)
        return
    with _workers(do, n_workers) as workers:
        busy = deque[_Worker]()
        free = deque(workers)
        for task in tasks:
            result = None
            if not free:
                result = _result(busy[0])
                free.append(busy.popleft())
            _send(free[0], task)
            busy.append(free.popleft())
            if result is not None:
                yield result[0]
        while busy:
            yield _result(busy.popleft())[0]


@contextmanager
def started(
    do: Callable[[_Task], _Result], tasks: Sequence[_Task], n_workers: int
) -> Iterator[Iterator[_Result]]:
    """Start a few tasks, each in its own worker, and return an iterator of the results.

    The iterator waits for each result and raises the same errors as `in_order`. Without workers,
    the tasks are done before this returns.
    """
    if not n_workers:
        yield iter([do(task) for task in tasks])
        return
    with _workers(do, len(tasks)) as workers:
        for worker, task in zip(workers, tasks, strict=True):
            _send(worker, task)
        yield (_result(worker)[0] for worker in workers)


def _send(worker: _Worker, task: Any) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # reported by `_result`
        worker.line.send(task)


def _result(worker: _Worker) -> tuple[Any]:
    try:
        result, error = worker.line.recv()
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
    return (result,)


@contextmanager
def _workers(do: Callable[[Any], Any], n: int) -> Iterator[list[_Worker]]:
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
    own_end, worker_end = Pipe()

    def work() -> int:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # ended by the parent process
        for line in (
            own_end,
            *(other.line for other in others),
        ):  # closes when the parent process ends
            line.close()
        _work(do, worker_end)
        return 0

    pid = run_forked(work)
    worker_end.close()
    return _Worker(pid, own_end)


def _work(do: Callable[[Any], Any], line: Connection) -> None:
    gc.disable()  # tasks make no cycles; a scan would copy the memory shared with the parent
    with suppress(EOFError, OSError):
        while True:
            task = line.recv()
            result, error = None, None
            try:
                result = do(task)
            except Exception as failure:  # raised by `_result` in the parent process
                error = failure
            line.send((result, error))
