"""The cache of films: each film is prepared once, in advance, within limits of memory."""

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from ui.reading.films import FilmCache


def test_simultaneous_requests_prepare_a_film_once() -> None:
    """The other requests wait for the result."""
    cache, gate, made = FilmCache(most=4, queued=4), threading.Event(), []

    def make() -> bytes:
        gate.wait(10)
        made.append(1)
        return b"film"

    returned: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: returned.append(cache.get("a", make))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(10)
    assert (returned, made) == ([b"film"] * 6, [1])


def test_a_failed_film_is_tried_again() -> None:
    """The error is raised, and the next request reads the file again."""
    cache = FilmCache(most=4, queued=4)

    def fail() -> bytes:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        cache.get("a", fail)
    assert cache.get("a", lambda: b"film") == b"film"


def test_the_least_recently_used_film_is_removed() -> None:
    """Requesting a film keeps it in the cache."""
    cache = FilmCache(most=2, queued=4)
    for key in ("a", "b", "a", "c"):
        cache.get(key, partial(str.encode, key))
    assert cache.get("a", lambda: b"again") == b"a"
    assert cache.get("b", lambda: b"again") == b"again"


def test_a_failed_film_does_not_stop_the_background_thread() -> None:
    """A request for that film gets the error; the next film and the next job are prepared."""
    cache = FilmCache(most=4, queued=4)
    done: list[int] = []

    def fail() -> None:
        raise RuntimeError

    def broken() -> Iterator[Callable[[], object]]:
        yield fail
        raise RuntimeError

    cache.ahead("one", broken)
    cache.ahead("two", lambda: [fail, lambda: done.append(2)])
    cache.settled()
    assert done == [2]


def test_the_number_of_waiting_jobs_is_limited() -> None:
    """Each reader has at most one waiting job, and the queue has a limit."""
    cache, started, gate = FilmCache(most=4, queued=2), threading.Event(), threading.Event()
    done: list[str] = []

    def block() -> None:
        started.set()
        gate.wait(10)

    cache.ahead("first", lambda: [block])
    assert started.wait(10)
    for name in ("a", "a", "b", "c", "b"):
        cache.ahead(name, partial(list, [partial(done.append, name)]))
    gate.set()
    cache.settled()
    assert done == ["a", "b"]
