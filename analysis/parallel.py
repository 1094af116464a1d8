"""Run tasks in two processes, the second of which is forked."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import current_process, get_context
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_work: Callable[[], Any] | None = None


@contextmanager
def in_second_process(work: Callable[[], _Result]) -> Iterator[Future[_Result]]:
    """Run `work` in a forked process while the body of the `with` statement runs.

    The process inherits everything that `work` refers to, so that only its result is pickled. An
    exception in `work` is raised at the end of the body. Where a fork is not safe (if there are
    other threads, or the system is not Linux), `work` runs after the body.

    Yields
    ------
    concurrent.futures.Future
        The result of `work`, to be read after the body.
    """
    global _work
    if not _can_fork():
        deferred: Future[_Result] = Future()
        yield deferred
        deferred.set_result(work())
        return
    _work = work
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            result = pool.submit(_run_work)
            yield result
            result.result()
    finally:
        _work = None


@contextmanager
def in_two_processes(tasks: Sequence[Callable[[], _Result]]) -> Iterator[list[_Result]]:
    """Run tasks in a second process and, after the body of the `with` statement, in both.

    A process that has finished a task takes the next one, so that both end at about the same time.
    Long tasks should come first.

    Yields
    ------
    list
        Empty until the body has ended, then the results in the order of the tasks.
    """
    results: list[_Result] = []
    if not _can_fork():
        yield results
        results += [task() for task in tasks]
        return
    counter = get_context("fork").Value("i", 0)

    def work() -> dict[int, _Result]:
        result = {}
        while (i := _next_index(counter)) < len(tasks):
            result[i] = tasks[i]()
        return result

    with in_second_process(work) as second:
        yield results
        own_result = work()
    results += [part for _, part in sorted((own_result | second.result()).items())]


def _next_index(counter: Any) -> int:
    with counter.get_lock():
        counter.value += 1
        return int(counter.value) - 1


def _can_fork() -> bool:
    is_single = threading.active_count() == 1 and not current_process().daemon
    return sys.platform == "linux" and is_single and (os.cpu_count() or 1) > 1


def _run_work() -> Any:
    assert _work is not None
    return _work()
