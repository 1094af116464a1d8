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
    pipe: Connection


def max_workers() -> int:
    """Return the number of workers that keep all processors busy; 0 if no process can be forked.

    It is one more than the number of processors, because one worker waits until its result is read.
    """
    if not can_fork():
        return 0
    has_affinity = hasattr(os, "sched_getaffinity")
    return 1 + (len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1)


def map_in_order(
    function: Callable[[_Task], _Result], tasks: Iterable[_Task], n_workers: int
) -> Generator[_Result, None, None]:
    """Yield the result of `function` for each task, in order.

    Each worker has one task at a time, which limits the memory used. The workers end with this
    generator; if this process is killed, they end when their pipe is closed.

    Parameters
    ----------
    function
        A function whose side effects are limited to the worker process.
    n_workers
        The number of worker processes; with 0, all tasks are done in this process.

    Raises
    ------
    NotNow
        A worker was killed, for example because memory is short.
    """
    if not n_workers:
        yield from map(function, tasks)
        return
    with _workers(function, n_workers) as workers:
        busy = deque[_Worker]()
        free = deque(workers)
        for task in tasks:
            result = None
            if not free:
                result = _receive_result(busy[0])
                free.append(busy.popleft())
            _send(free[0], task)
            busy.append(free.popleft())
            if result is not None:
                yield result[0]
        while busy:
            yield _receive_result(busy.popleft())[0]


@contextmanager
def start_tasks(
    function: Callable[[_Task], _Result], tasks: Sequence[_Task], n_workers: int
) -> Iterator[Iterator[_Result]]:
    """Start a few tasks, each in its own worker, and return an iterator of the results.

    The iterator waits for each result and raises the same errors as `map_in_order`. Without
    workers, the tasks are done before this function returns.
    """
    if not n_workers:
        yield iter([function(task) for task in tasks])
        return
    with _workers(function, len(tasks)) as workers:
        for worker, task in zip(workers, tasks, strict=True):
            _send(worker, task)
        yield (_receive_result(worker)[0] for worker in workers)


def _send(worker: _Worker, task: Any) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # reported by `_receive_result`
        worker.pipe.send(task)


def _receive_result(worker: _Worker) -> tuple[Any]:
    try:
        result, error = worker.pipe.recv()
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
def _workers(function: Callable[[Any], Any], n: int) -> Iterator[list[_Worker]]:
    workers: list[_Worker] = []
    try:
        for _ in range(n):
            workers.append(_start_worker(function, workers))
        yield workers
    finally:
        for worker in workers:
            worker.pipe.close()
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)


def _start_worker(function: Callable[[Any], Any], other_workers: Iterable[_Worker]) -> _Worker:
    own_end, worker_end = Pipe()

    def work() -> int:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # ended by the parent process
        # A worker's pipe must close when the parent process ends.
        for pipe in (own_end, *(other.pipe for other in other_workers)):
            pipe.close()
        _run_tasks(function, worker_end)
        return 0

    pid = run_forked(work)
    worker_end.close()
    return _Worker(pid, own_end)


def _run_tasks(function: Callable[[Any], Any], pipe: Connection) -> None:
    gc.disable()  # tasks create no cycles; a scan would copy memory shared with the parent
    with suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            result, error = None, None
            try:
                result = function(task)
            except Exception as failure:  # raised by `_receive_result` in the parent process
                error = failure
            pipe.send((result, error))
