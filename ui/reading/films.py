"""Prepares films and serves them at addresses signed for one reader and one hour.

Only compressed samples are sent, never paths, file names or row numbers. A film's name consists of
the reader's case and the position of the view, so it reveals neither the film's position in
the bank nor whether it was shown before. Films are prepared once, kept in memory and on a shelf
next to the store, and prepared in advance for a reader who requests the desk.
"""

import hmac
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache, partial

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.errors import StudyError
from study.base.translation import t
from study.films import CONTENT_ENCODING, MEDIA_TYPE, VERSION
from study.films.shelf import Shelf, prepared_film
from study.people.signing_in import Person
from study.reading import desk
from study.store import Store, deployment, readings
from study.store.banks import FilmRow
from ui.parts.text import number
from ui.server.access import signed_in
from ui.server.deployment import Lane, in_turn, store_with_wait_limit

Key = Hashable
Make = Callable[[], bytes]
Steps = Callable[[], Iterable[Callable[[], object]]]


class FilmCache:
    """Prepares each film once, even if several requests need it at the same time.

    Parameters
    ----------
    max_films : int
        Maximum number of prepared films in memory.
    max_jobs : int
        Maximum number of waiting background jobs; further jobs are dropped, and their films are
        prepared on request.
    """

    def __init__(self, *, max_films: int, max_jobs: int) -> None:
        self._max_films = max_films
        self._films: OrderedDict[Key, Future[bytes]] = OrderedDict()
        self._lock = threading.Lock()
        self._jobs: queue.Queue[tuple[Key, Steps]] = queue.Queue(max_jobs)
        self._waiting: set[Key] = set()
        self._worker: threading.Thread | None = None

    def get(self, key: Key, make: Make) -> bytes:
        """Return the film of a key; if it is missing, one of the callers prepares it.

        If `make` fails, all waiting callers receive the error; the next caller tries again.
        """
        with self._lock:
            film = self._films.get(key)
            is_owner = film is None
            if film is None:
                film = self._films[key] = Future()
            self._films.move_to_end(key)
            while len(self._films) > self._max_films:
                self._films.popitem(last=False)
        if is_owner:
            self._make(key, film, make)
        return film.result()

    def _make(self, key: Key, future: "Future[bytes]", make: Make) -> None:
        try:
            future.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._films.get(key) is future:
                    del self._films[key]
            future.set_exception(error)

    def prepare_in_background(self, name: Key, steps: Steps) -> None:
        """Run the steps of a job in the background, unless a job with that name is waiting."""
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

    def wait_until_idle(self) -> None:
        """Wait until all background jobs are done."""
        self._jobs.join()

    def _work(self) -> None:
        while True:
            name, steps = self._jobs.get()
            with self._lock:
                self._waiting.discard(name)
            # Errors in a film are reported when it is requested.
            with suppress(Exception):
                for step in steps():
                    with suppress(Exception):
                        step()
            self._jobs.task_done()


ADDRESS_LIFE_S = 3600
_ADDRESS_STEP_S = 600
_MAX_FILMS = 48
"""Number of prepared films in memory; at 10 MB per film, they use at most half a gigabyte."""
_N_CASES_PREPARED = 5
"""Number of cases whose films are prepared: those on the page and two more."""
_MAX_JOBS = 64


def address(secret: str, person: Person, film: str, *, now_s: float) -> str:
    """Return a film's address for one reader; it is the same for ten minutes, for caching."""
    expires = int(now_s // _ADDRESS_STEP_S) * _ADDRESS_STEP_S + _ADDRESS_STEP_S + ADDRESS_LIFE_S
    return f"films/{film}/{expires}/{_signature(secret, person.reader, film, expires)}"


def prepare_ahead(read: Store, person: Person, *, home: Store) -> None:
    """Prepare a reader's next films in the background, one after another.

    Parameters
    ----------
    read
        The store in use: `home`, or the copy of a preview.
    home
        The deployment's store, next to which prepared films are kept.
    """

    def steps() -> Iterator[Callable[[], object]]:
        with read.look(sealed=True) as look:
            upcoming = readings.upcoming_films(look, person.reader, _N_CASES_PREPARED)
        for film in upcoming:
            yield partial(_prepared_film, home, film)

    _cache().prepare_in_background((read.path, person.reader), steps)


def film_response(current_store: Store, row: FilmRow) -> Response:
    """Return a film in the reading page's format."""
    headers = {
        "Cache-Control": f"private, max-age={ADDRESS_LIFE_S}, immutable",
        "Content-Encoding": CONTENT_ENCODING,
    }
    return Response(_prepared_film(current_store, row), media_type=MEDIA_TYPE, headers=headers)


def routes() -> list[Route]:
    """Return the film route."""
    return [Route("/films/{case}/{view}/{expires}/{signature}", _film, methods=["GET"])]


async def _film(request: Request) -> Response:
    try:
        return await in_turn(partial(_signed_film_response, request), Lane.IMAGES)
    except StudyError as error:
        return PlainTextResponse(str(error), status_code=503)


def _signed_film_response(request: Request) -> Response:
    case, signature = (str(request.path_params[key]) for key in ("case", "signature"))
    view, expires = (number(request.path_params[key]) for key in ("view", "expires"))
    person = signed_in(request.cookies)
    if person is None or person.reader is None:
        return PlainTextResponse(t("Sign in first."), status_code=401)
    current_store = store_with_wait_limit()
    with current_store.look() as look:
        expected = _signature(deployment.secret(look), person.reader, f"{case}/{view}", expires)
    now_s = datetime.now(UTC).timestamp()
    if not hmac.compare_digest(expected.encode(), signature.encode()) or expires < now_s:
        return PlainTextResponse(t("This link is no longer valid."), status_code=403)
    row = desk.film(current_store, person, case, view)
    if row is None:
        return PlainTextResponse(t("This image is not assigned to you."), status_code=404)
    return film_response(current_store, row)


def _prepared_film(current_store: Store, row: FilmRow) -> bytes:
    return _cache().get(
        (row.images_root, row.path, row.sha256),
        lambda: prepared_film(row.file, row.sha256, Shelf(current_store.companion_path("films"))),
    )


@lru_cache
def _cache() -> FilmCache:
    return FilmCache(max_films=_MAX_FILMS, max_jobs=_MAX_JOBS)


def _signature(secret: str, reader: int | None, film: str, expires: int) -> str:
    # The version is signed too, so that no browser reuses bytes of an older encoding.
    text = f"film/{VERSION}/{reader}/{film}/{expires}"
    return hmac.digest(bytes.fromhex(secret), text.encode(), "sha256").hex()[:32]
