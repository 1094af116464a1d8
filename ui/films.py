"""The route that serves films, each address signed for one reader and one hour.

Films leave as samples or as plain grey PNG without any text; their paths and file names never do.
"""

import hashlib
import hmac
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study import access
from study.access import Person
from study.errors import StudyError
from study.films import Payload, payload
from study.store import Store, banks
from ui.access import signed_in
from ui.deployment import store

LIFE_S = 3600
_STEP_S = 600
_KEPT = 48
"""Prepared films kept in memory: at 10 MB a film no more than half a gigabyte."""


def address(secret: str, person: Person, film: int, *, now_s: float) -> str:
    """Return a film's address for one reader: the same for ten minutes, so it can be cached."""
    expires = int(now_s // _STEP_S) * _STEP_S + _STEP_S + LIFE_S
    signature = _signature(secret, person.reader, film, expires)
    return f"films/{person.reader}/{film}/{expires}/{signature}"


def routes() -> list[Route]:
    """Return the film route."""
    path = "/films/{reader:int}/{film:int}/{expires:int}/{signature}"
    return [Route(path, _film, methods=["GET"])]


async def _film(request: Request) -> Response:
    try:
        return await run_in_threadpool(_answer, request)
    except StudyError as error:
        return PlainTextResponse(str(error), status_code=503)


def _answer(request: Request) -> Response:
    reader, film = request.path_params["reader"], request.path_params["film"]
    expires, signature = request.path_params["expires"], request.path_params["signature"]
    person = signed_in(request.cookies)
    if person is None or person.reader != reader:
        return PlainTextResponse("Sign in first.", status_code=401)
    kept = store()
    with kept.look() as look:
        expected = _signature(access.secret(look), reader, film, expires)
    now_s = datetime.now(UTC).timestamp()
    if not hmac.compare_digest(expected.encode(), signature.encode()) or expires < now_s:
        return PlainTextResponse("This address is no longer good.", status_code=403)
    prepared = _prepared(kept, film)
    headers = {"Cache-Control": f"private, max-age={LIFE_S}, immutable"}
    if prepared.content_encoding:
        headers["Content-Encoding"] = prepared.content_encoding
    return Response(prepared.body, media_type=prepared.media_type, headers=headers)


def _prepared(kept: Store, film: int) -> Payload:
    with kept.look() as look:
        row = banks.film(look, film)
    if row is None:
        raise StudyError("This film is not there any more. Ask your coordinator.")
    return _payload(Path(row["images_root"]) / row["path"], row["sha256"])


@lru_cache(maxsize=_KEPT)
def _payload(path: Path, sha256: str) -> Payload:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StudyError("This film cannot be read at present. Ask your coordinator.") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StudyError("This film was changed after its import. Ask your coordinator.")
    return payload(data)


def _signature(secret: str, reader: int | None, film: int, expires: int) -> str:
    text = f"film/{reader}/{film}/{expires}"
    return hmac.digest(bytes.fromhex(secret), text.encode(), "sha256").hex()[:32]
