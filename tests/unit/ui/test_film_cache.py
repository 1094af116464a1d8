"""The cache of films: each film is prepared once, in advance, within limits of memory."""

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from ui.reading.films import FilmCache


def test_simultaneous_requests_prepare_a_film_once() -> None:
    """The other requests wait for the result."""
    cache, gate, made = FilmCache(max_films=4, max_jobs=4), threading.Event(), []

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
    cache = FilmCache(max_films=4, max_jobs=4)

    def fail() -> bytes:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        cache.get("a", fail)
    assert cache.get("a", lambda: b"film") == b"film"


def test_the_least_recently_used_film_is_removed() -> None:
    """Requesting a film keeps it in the cache."""
    cache = FilmCache(max_films=2, max_jobs=4)
    for key in ("a", "b", "a", "c"):
        cache.get(key, partial(str.encode, key))
    assert cache.get("a", lambda: b"again") == b"a"
    assert cache.get("b", lambda: b"again") == b"again"


def test_a_failed_film_does_not_stop_the_background_thread() -> None:
    """A request for that film gets the error; the next film and the next job are prepared."""
    cache = FilmCache(max_films=4, max_jobs=4)
    done: list[int] = []

    def fail() -> None:
        raise RuntimeError

    def broken() -> Iterator[Callable[[], object]]:
        yield fail
        raise RuntimeError

    cache.prepare_in_background("one", broken)
    cache.prepare_in_background("two", lambda: [fail, lambda: done.append(2)])
    cache.wait_until_idle()
    assert done == [2]


def test_the_number_of_waiting_jobs_is_limited() -> None:
    """Each reader has at most one waiting job, and the queue has a limit."""
    cache, started, gate = FilmCache(max_films=4, max_jobs=2), threading.Event(), threading.Event()
    done: list[str] = []

    def block() -> None:
        started.set()
        gate.wait(10)

    cache.prepare_in_background("first", lambda: [block])
    assert started.wait(10)
    for name in ("a", "a", "b", "c", "b"):
        cache.prepare_in_background(name, partial(list, [partial(done.append, name)]))
    gate.set()
    cache.wait_until_idle()
    assert done == ["a", "b"]
