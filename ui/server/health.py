"""Health checks for a proxy, a service manager or a monitoring system.

``/healthz`` answers as long as the process serves requests, and does not use the store.
``/readyz`` checks what readers need; it does not name studies, files or people.
"""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from study.base.errors import Busy, StudyError, Upgraded
from study.exchange.backups import free_bytes
from study.films.shelf import Shelf
from study.store import Store, deployment, readings
from ui.server.deployment import Lane, in_turn, store_with_wait_limit

MIN_FREE_BYTES = 200_000_000
"""Free disk space below which the server is not ready; an answer needs about 2 kB."""

RESULT_LIFE_S = 5.0
"""How long a result is reused, so that frequent requests do not repeat the checks."""

MAX_DURATION_S = 8.0
"""How long the checks may take; longer than a database may take to answer, see `MAX_WAIT_S`."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; `reason` is empty if it passed."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """The results of all checks, with what they measured.

    `n_images` counts the images of open studies, `n_prepared` those that are prepared.
    """

    checks: tuple[Check, ...]
    free_bytes: int = 0
    n_images: int = 0
    n_prepared: int = 0

    @property
    def is_ready(self) -> bool:
        """Return whether all checks passed."""
        return not any(check.reason for check in self.checks)

    @property
    def has_store(self) -> bool:
        """Return whether the store could be opened and changed."""
        return not any(check.reason for check in self.checks if check.name == "store")


_NO_RESULT = Readiness(
    (Check("store", "The store or the images cannot be read: the disk does not answer."),)
)
"""The readiness reported if the checks do not end in time."""


def readiness(open_store: Callable[[], Store]) -> Readiness:
    """Check the store, its disk, and the images of open studies."""
    try:
        current_store = open_store()
        with current_store.look(
            sealed=True
        ) as look:  # as for readers, who may have their own account
            deployment.secret(look)
        with current_store.look() as look:
            films = readings.films_to_read(look)
        writable = current_store.is_writable()
        free = free_bytes(current_store)
    except Upgraded as error:
        return Readiness((Check("store", str(error)),))
    except (StudyError, OSError):
        return Readiness((Check("store", "The store cannot be opened. See the server's log."),))
    missing = sum(not row.file.is_file() for row in films)
    shelf = Shelf(current_store.companion_path("films"))
    disk = f"{free // 1_000_000} MB are free; {MIN_FREE_BYTES // 1_000_000} MB are needed."
    return Readiness(
        checks=(
            Check("store", "" if writable else "The store or its folder is read-only."),
            Check("disk", disk if free < MIN_FREE_BYTES else ""),
            Check("images", f"Images of open studies are missing: {missing}." if missing else ""),
        ),
        free_bytes=free,
        n_images=len(films),
        n_prepared=sum(shelf.has(row.sha256) for row in films),
    )


class CachedReadiness:
    """The last readiness, which is renewed when it is older than `RESULT_LIFE_S`.

    One thread renews it, and callers wait for `MAX_DURATION_S` at most. Otherwise a file system
    that hangs would occupy a thread for each request.
    """

    def __init__(self, open_store: Callable[[], Store], clock: Clock = time.monotonic) -> None:
        self._open_store = open_store
        self._clock = clock
        self._lock = threading.Lock()
        self._last: Future[Readiness] | None = None
        self._began_s = 0.0

    def get(self) -> Readiness:
        """Return the current readiness."""
        with self._lock:
            age_s = self._clock() - self._began_s
            if self._last is None or (self._last.done() and age_s > RESULT_LIFE_S):
                self._last, self._began_s, age_s = Future(), self._clock(), 0.0
                threading.Thread(target=self._renew, args=(self._last,), daemon=True).start()
            last = self._last
        try:
            return last.result(max(0.0, MAX_DURATION_S - age_s))
        except TimeoutError:
            return _NO_RESULT

    def _renew(self, last: "Future[Readiness]") -> None:
        try:
            last.set_result(readiness(self._open_store))
        except BaseException as error:
            last.set_exception(error)


CACHED_READINESS = CachedReadiness(store_with_wait_limit)


def last_backup_age_s(now: datetime) -> float | None:
    """Return the age in seconds of the newest backup, or None if there is none."""
    with store_with_wait_limit().look() as look:
        rows = deployment.every_backup(look)
    if not rows:
        return None
    return (now - datetime.fromisoformat(rows[-1].made_at_utc)).total_seconds()


def routes() -> list[Route]:
    """Return the routes of the health checks, which need no sign-in."""
    return [
        Route("/healthz", _alive, methods=["GET"]),
        Route("/readyz", _ready, methods=["GET"]),
    ]


async def _alive(_: Request) -> Response:
    return _answer({"status": "ok"})


async def _ready(_: Request) -> Response:
    try:
        ready = await in_turn(CACHED_READINESS.get, Lane.CHECKS)
    except Busy:  # all places are taken by earlier checks
        ready = _NO_RESULT
    content = {
        "status": "ok" if ready.is_ready else "not ready",
        "checks": {check.name: check.reason or "ok" for check in ready.checks},
        "time_utc": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return _answer(content, 200 if ready.is_ready else 503)


def _answer(content: Mapping[str, object], status: int = 200) -> Response:
    return JSONResponse(content, status, headers={"Cache-Control": "no-store"})
