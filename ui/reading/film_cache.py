"""Films made ready to be sent: each once, kept in memory, and those needed next ahead of time."""

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from contextlib import suppress

Key = Hashable
Make = Callable[[], bytes]
Steps = Callable[[], Iterable[Callable[[], object]]]


class FilmCache:
    """Prepares each film once, however many ask for it at the same time.

    Parameters
    ----------
    most : int
        How many prepared films are kept in memory.
    queued : int
        How many jobs of `ahead` may wait; beyond that they are forgotten, for whoever needs the
        film then asks for it.
    """

    def __init__(self, *, most: int, queued: int) -> None:
        self._most = most
        self._kept: OrderedDict[Key, Future[bytes]] = OrderedDict()
        self._lock = threading.Lock()
        self._jobs: queue.Queue[tuple[Key, Steps]] = queue.Queue(queued)
        self._waiting: set[Key] = set()
        self._worker: threading.Thread | None = None

    def get(self, key: Key, make: Make) -> bytes:
        """Return the film kept under a key, or make it; of several callers one makes it.

        What `make` raises is raised to all of them, and the next caller tries again.
        """
        with self._lock:
            found = self._kept.get(key)
            mine = found is None
            if found is None:
                found = self._kept[key] = Future()
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        if mine:
            self._make(key, found, make)
        return found.result()

    def _make(self, key: Key, future: "Future[bytes]", make: Make) -> None:
        try:
            future.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._kept.get(key) is future:
                    del self._kept[key]
            future.set_exception(error)

    def ahead(self, name: Key, steps: Steps) -> None:
        """Take the steps of a job in the background, unless a job of that name waits already."""
        with self._lock:
            if name in self._waiting:
                return
            try:
                self._jobs.put_nowait((name, steps))
            except queue.Full:
                return
            self._waiting.add(name)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, daemon=True)
                self._worker.start()

    def settled(self) -> None:
        """Wait until nothing is left to do in the background."""
        self._jobs.join()

    def _work(self) -> None:
        while True:
            name, steps = self._jobs.get()
            with self._lock:
                self._waiting.discard(name)
            # Whatever is wrong with a film is told to whoever asks for it.
            with suppress(Exception):
                for step in steps():
                    with suppress(Exception):
                        step()
            self._jobs.task_done()
