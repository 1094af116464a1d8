"""Who is signed in: the signed cookie, the sign-in and sign-out routes, and the guard of the pages.

The cookie holds no secret and no name of a person, only which study code or coordinator it stands
for; it is signed with the deployment's secret, HttpOnly, and asked about in the store on every
request.
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import streamlit as st
from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from study import access
from study.access import Person
from study.errors import StudyError
from study.store import Store
from ui.deployment import store

COOKIE = "reading_room"
STAYS = timedelta(hours=14)
MAX_FAILURES = 20
FAILURE_WINDOW = timedelta(minutes=10)


def signed_in(cookies: Mapping[str, str]) -> Person | None:
    """Return the person a request's cookies stand for, as the store knows them now."""
    token = cookies.get(COOKIE)
    if not token:
        return None
    kept = store()
    with kept.look() as look:
        try:
            found = _signer(access.secret(look)).loads(token, max_age=int(STAYS.total_seconds()))
        except BadSignature:
            return None
        return access.find_person(look, **found)


def guard(role: str) -> Person:
    """Return the person signed in to this Streamlit session, or refuse and stop the page.

    The first line of every page: a page called past the router must refuse by itself.
    """
    try:
        person = signed_in(st.context.cookies)
    except StudyError as error:
        st.error(str(error))
        st.stop()
    if person is None or person.role != role:
        st.error(f"This page is for a {role} who is signed in.")
        st.stop()
    return person


def routes() -> list[Route]:
    """Return the sign-in and sign-out routes; failures are counted per process and address."""
    failures = _Failures()

    async def sign_in(request: Request) -> Response:
        return await _sign_in(request, failures)

    return [
        Route("/sign-in", sign_in, methods=["POST"]),
        Route("/sign-out", _sign_out, methods=["POST"]),
    ]


def same_origin(request: Request) -> bool:
    """Return whether a request comes from a page of ours, or from no browser at all."""
    origin = request.headers.get("origin")
    if origin is None:
        return request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    return urlsplit(origin).netloc == request.headers.get("host")


async def _sign_in(request: Request, failures: "_Failures") -> Response:
    now = datetime.now(UTC)
    address = request.client.host if request.client else ""
    if not same_origin(request):
        return PlainTextResponse("Sign in from the sign-in page.", status_code=403)
    if failures.too_many(address, now):
        return _home("later")
    form = await request.form(max_files=0, max_fields=5)
    code = str(form.get("access_code", ""))[:200]
    try:
        kept = store()
        person = await run_in_threadpool(access.sign_in, kept, code, now=now)
    except StudyError:
        failures.add(address, now)
        return _home("unknown")
    response = _home("")
    await run_in_threadpool(_give_cookie, response, kept, person, request.url.scheme == "https")
    return response


async def _sign_out(request: Request) -> Response:
    if not same_origin(request):
        return PlainTextResponse("Sign out from a page of ours.", status_code=403)
    response = _home("")
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _home(refused: str) -> Response:
    return RedirectResponse(f"./?refused={refused}" if refused else "./", status_code=303)


def _give_cookie(response: Response, kept: Store, person: Person, secure: bool) -> None:
    with kept.look() as look:
        signer = _signer(access.secret(look))
    token = signer.dumps(
        {
            "role": person.role,
            "study": person.study,
            "reader": person.reader,
            "name": person.name,
        }
    )
    response.set_cookie(
        COOKIE,
        str(token),
        max_age=int(STAYS.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=secure,
    )


def _signer(secret: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(secret, salt="sign-in-1")


class _Failures:
    """Counts failed sign-ins by address over the last minutes."""

    def __init__(self) -> None:
        self._at: defaultdict[str, deque[datetime]] = defaultdict(deque)

    def add(self, address: str, now: datetime) -> None:
        self._at[address].append(now)

    def too_many(self, address: str, now: datetime) -> bool:
        recent = self._at[address]
        while recent and now - recent[0] > FAILURE_WINDOW:
            recent.popleft()
        return len(recent) >= MAX_FAILURES
