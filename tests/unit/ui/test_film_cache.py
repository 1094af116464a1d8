"""The cache of films: each film once for all requests; ahead of time, and within bounds."""

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from ui.reading.films import FilmCache


def test_of_many_who_ask_at_once_one_prepares() -> None:
    """The others wait for it and get the same."""
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


def test_a_failure_is_raised_and_the_film_is_tried_again() -> None:
    """A film that cannot be read now may be there later."""
    cache = FilmCache(most=4, queued=4)

    def fail() -> bytes:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        cache.get("a", fail)
    assert cache.get("a", lambda: b"film") == b"film"


def test_the_longest_unused_is_forgotten() -> None:
    """Memory is bounded; asking again keeps a film."""
    cache = FilmCache(most=2, queued=4)
    for key in ("a", "b", "a", "c"):
        cache.get(key, partial(str.encode, key))
    assert cache.get("a", lambda: b"again") == b"a"
    assert cache.get("b", lambda: b"again") == b"again"


def test_a_step_that_fails_does_not_end_the_background() -> None:
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


def test_jobs_do_not_pile_up() -> None:
    """One waiting job a reader, and no more jobs than the queue holds."""
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
