"""Checks who sends a request: origin, sign-in and sign-out, and the guard of the pages.

The cookie contains only a random token. The store is queried on every request for the owner of the
token, so signing out or a new access code takes effect everywhere at once.

The page that sends a request must have the server's scheme, host and port. A proxy must forward
``Host`` and set ``X-Forwarded-Proto`` (``docs/proxy.md``); otherwise the log states what to set.

The response to a wrong access code is delayed by the number of recent wrong codes. A correct code
is accepted at once, even if others are guessing from the same address or at the same code.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import urlsplit

import streamlit as st
from babel.core import get_global
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from study.base.actor import Acting
from study.base.errors import Busy, NotAllowed, NotFound, NotNow, StudyError
from study.base.translation import ENGLISH, languages, set_language, t
from study.people import codes, second_factor, signing_in, single_sign_on
from study.people.roles import Act
from study.people.signing_in import Person
from ui.parts.unavailable import stop_on_error
from ui.server.deployment import SIGN_IN_MAX_WAIT_S, Lane, in_time, in_turn, store_with_wait_limit
from ui.server.sign_in_memory import forget

UNDELAYED_PER_CODE = 5
UNDELAYED_PER_ADDRESS = 30
"""Number of wrong codes answered without delay; all of a hospital may share a proxy's address."""

MIN_DELAY_S, MAX_DELAY_S = 0.25, 15.0
"""Minimum and maximum delay of the response to a wrong code, whether the code is known or not."""

MIN_RECORDED = 100
"""Number of wrong codes from an address that the trail records, and then each tenfold number."""

COUNT_PERIOD = timedelta(minutes=10)
_MAX_KEYS = 20_000


class WrongCodes:
    """Counts wrong codes by address and by the public part of the code."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, datetime]] = {}  # the most recent is last

    def count_wrong(self, address: str, lookup: str, now: datetime) -> float:
        """Count a wrong code and return the delay of its response in seconds."""
        n_tries = self._count(f"code {lookup}", now), self._count(f"address {address}", now)
        excess = max(n_tries[0] - UNDELAYED_PER_CODE, n_tries[1] - UNDELAYED_PER_ADDRESS)
        return min(MIN_DELAY_S * 2.0 ** min(max(excess, 0), 60), MAX_DELAY_S)

    def forget_code(self, lookup: str) -> None:
        """Forget the wrong attempts at a code, because its owner has signed in."""
        self._counts.pop(f"code {lookup}", None)

    def n_from_address(self, address: str, now: datetime) -> int:
        """Return the number of recent wrong codes from an address."""
        self._forget(now)
        return self._counts.get(f"address {address}", (0, now))[0]

    def _count(self, key: str, now: datetime) -> int:
        self._forget(now)
        n_tries = self._counts.pop(key, (0, now))[0] + 1
        self._counts[key] = (n_tries, now)
        return n_tries

    def _forget(self, now: datetime) -> None:
        while self._counts:
            key, (_, last) = next(iter(self._counts.items()))
            if now - last <= COUNT_PERIOD and len(self._counts) <= _MAX_KEYS:
                return
            del self._counts[key]


def is_recorded(n_tries: int) -> bool:
    """Return whether the trail records a count.

    >>> [n for n in range(20_000) if is_recorded(n)]
    [100, 1000, 10000]
    """
    while n_tries > MIN_RECORDED and n_tries % 10 == 0:
        n_tries //= 10
    return n_tries == MIN_RECORDED


_PORTS = {"http": 80, "https": 443}

_log = logging.getLogger("reading_room.origin")


def same_origin(scope: Scope) -> bool:
    """Return whether a request or websocket comes from this server's pages or from no browser.

    A browser sends the page's origin whenever it opens a websocket or posts; a program that sends
    no origin has only its own cookies.
    """
    headers = Headers(scope=scope)
    origins = set(headers.getlist("origin"))
    if not origins:
        return headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    own_origin = f"{scheme}://{headers.get('host', '')}"
    if (
        len(origins) == 1
        and (origin := _origin(origins.pop())) is not None
        and origin == _origin(own_origin)
    ):
        return True
    _log.warning(
        "Refused a page of %.200r: requests reach this server as %.200r. If that page is this "
        "program's own, have the proxy pass Host on and set X-Forwarded-Proto, and name a proxy on "
        "another computer in FORWARDED_ALLOW_IPS (docs/proxy.md).",
        headers["origin"],
        own_origin,
    )
    return False


def origin_refusal() -> str:
    """Return why a websocket was refused, for the administrator of the proxy."""
    return t(
        "This request did not come from a page on this server. Behind a proxy, the proxy must "
        "pass on Host and set X-Forwarded-Proto."
    )


def _origin(text: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port.

    >>> _origin("https://Reading.example")
    ('https', 'reading.example', 443)
    >>> _origin("null"), _origin("http://a:b"), _origin("http://")
    (None, None, None)
    """
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if port is None or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port


COOKIE = "reading_room"
SECURE_COOKIE = f"__Host-{COOKIE}"
"""The cookie's name behind TLS: browsers refuse such a cookie from another host of the domain."""

PENDING_COOKIE = f"{COOKIE}_pending"
"""The cookie of a sign-in that waits for the second factor."""

_PLAIN_COOKIE = f"{COOKIE}=".encode()

STREAMLIT_COOKIE = "_streamlit_user"
"""The cookie in which Streamlit keeps the account of a person who used single sign-on."""

STUDY_SHOWN_KEY = "study-shown"
"""The session key under which a window keeps its study from its first page onwards."""


def signed_in(cookies: Mapping[str, str], place: str = "") -> Person | None:
    """Return the person whom a request's cookies identify, with the store's current data."""
    token = token_of(cookies)
    return (
        signing_in.signed_in_person(
            store_with_wait_limit(), token, now=datetime.now(UTC), place=place
        )
        if token
        else None
    )


def token_of(cookies: Mapping[str, str]) -> str:
    """Return the token in a browser's cookie, or an empty string."""
    token = cookies.get(SECURE_COOKIE) or cookies.get(COOKIE)
    return token if isinstance(token, str) else ""  # Streamlit's test runner provides a substitute


def without_planted_cookies(scope: Scope) -> Scope:
    """Return a request without cookies that may have been planted by another host.

    Behind TLS the sign-in cookie has a name that no other host can set. A cookie with the plain
    name could come from an attacker who wants someone else to read under the attacker's name.
    """
    if scope["scheme"] not in ("https", "wss"):
        return scope
    headers = [
        (name, b";".join(o for o in value.split(b";") if not o.strip().startswith(_PLAIN_COOKIE)))
        if name == b"cookie"
        else (name, value)
        for name, value in scope["headers"]
    ]
    return {**scope, "headers": headers}


def guard(act: Act) -> Person:
    """Return the person signed in to this Streamlit session if they may do this, or stop the page.

    This is the first line of every page and fragment, so that a page refuses access even if it is
    called without the router. It also sets the language of the request. If the person has switched
    to another study in another window, a click in this window was meant for the study it still
    shows, and is not carried out.
    """
    set_language(wanted_language(st.context.headers))
    cookies, address = st.context.cookies, st.context.ip_address or ""
    with stop_on_error():
        person = in_time(lambda: signed_in(cookies, place_of(address)))
    if person is None:
        st.error(t("Sign in to see this page."))
        st.stop()
    if not person.may(act):
        st.error(t("Your role here does not give you access to this page."))
        st.stop()
    if st.session_state.setdefault(STUDY_SHOWN_KEY, person.study) != person.study:
        st.error(t("You switched to another study in another window. Reload this page."))
        st.stop()
    return person


def acting(person: Person) -> Acting:
    """Return the person with the current time, as the domain's functions expect."""
    return Acting(by=person.by, now=datetime.now(UTC))


def allowed(request: Request, act: Act) -> Person | None:
    """Return the person who sends a request if they may do this, or None; guards every route."""
    person = sender_of(request)
    return person if person is not None and person.may(act) else None


def status_of(error: StudyError) -> int:
    """Return the HTTP status for an error."""
    return {NotAllowed: 403, NotFound: 404, NotNow: 409}.get(type(error), 503)


async def answer(
    request: Request,
    act: Act,
    make: Callable[[Person], Response],
    refused: str,
    status: Callable[[StudyError], int] = lambda _: 409,
    queue: Lane | None = None,
) -> Response:
    """Answer a request with the result of `make`, or with the reason if permission is missing.

    Without a `queue`, `make` may take long, for example to write a file for staff.
    """
    try:
        person = await in_turn(lambda: allowed(request, act), Lane.READS)
        if person is None:
            return PlainTextResponse(refused, status_code=401)
        work = partial(make, person)
        return await (in_turn(work, queue) if queue else run_in_threadpool(work))
    except StudyError as error:
        is_busy = isinstance(error, Busy)
        return PlainTextResponse(str(error), status_code=503 if is_busy else status(error))


def sender_of(request: Request) -> Person | None:
    """Return the signed-in person who sends a request, or None."""
    return signed_in(request.cookies, place_of(_address(request)))


def place_of(address: str) -> str:
    """Return the keyed hash of an address for the trail; empty without an address."""
    if not address:
        return ""
    with store_with_wait_limit().look() as look:
        return signing_in.place_mark(look, address)


def wanted_language(headers: Mapping[str, str]) -> str:
    """Return the first of the browser's preferred languages that has a catalogue.

    A catalogue by script, ``zh-Hans``, also serves requests that name the country: ``zh-CN``.

    >>> wanted_language({"Accept-Language": "xx;q=0.9, en-GB"})
    'en'
    """
    languages_offered = languages()
    for preference in str(headers.get("Accept-Language") or "").split(","):
        name = preference.partition(";")[0].strip()
        language, _, rest = name.partition("-")
        likely = get_global("likely_subtags")
        script = (likely.get(f"{language}_{rest}") or likely.get(language, "")).split("_")[1:2]
        for known in (name, "-".join((language, *script)), language):
            if known in languages_offered:
                return known
    return ENGLISH


def routes() -> list[Route]:
    """Return the routes for signing in and out and choosing a study; they count wrong codes."""
    wrong_codes = WrongCodes()

    async def sign_in(request: Request) -> Response:
        return await _sign_in(request, wrong_codes)

    return [
        Route("/sign-in", sign_in, methods=["POST"]),
        Route("/sign-out", _sign_out, methods=["POST"]),
        Route("/choose", _choose, methods=["POST"]),
        Route("/here", _time_left, methods=["GET"]),
        Route("/here", _extend_sign_in, methods=["POST"]),
    ]


async def _sign_in(request: Request, wrong_codes: WrongCodes) -> Response:
    now, began_s = datetime.now(UTC), time.monotonic()
    if not same_origin(request.scope):
        return PlainTextResponse(t("Sign in from the sign-in page."), status_code=403)
    form = await request.form(max_files=0, max_fields=5)
    code, ticket, second_code = (
        str(form.get(name, ""))[:200] for name in ("access_code", "ticket", "second_code")
    )
    credentials = _SignInForm(code, ticket, second_code, request.cookies.get(PENDING_COOKIE, ""))
    address = _address(request)
    is_suspect = wrong_codes.n_from_address(address, now) > UNDELAYED_PER_ADDRESS
    try:
        queue = Lane.SUSPECTS if is_suspect else Lane.SIGN_INS
        enter = partial(_sign_in_with_form, request, credentials, now)
        entered = await in_turn(enter, queue, SIGN_IN_MAX_WAIT_S)
        wrong_codes.forget_code(credentials.lookup)
    except signing_in.SecondFactorDue as due:
        return _with_pending_cookie(request, due.token)
    except signing_in.SignInRefused as refused:
        if refused.why in ("unknown", "ticket", "factor", "factor-wait"):
            wait_s = wrong_codes.count_wrong(address, credentials.lookup, now)
            if is_recorded(n_tries := wrong_codes.n_from_address(address, now)):
                with suppress(StudyError):
                    await in_turn(partial(_note_guessing, address, n_tries, now))
            # The same delay for known and unknown codes; no thread waits.
            await asyncio.sleep(began_s + wait_s - time.monotonic())
        return _to_home_page(refused.why)
    except Busy:
        return _to_home_page("later")
    except StudyError as error:
        return PlainTextResponse(str(error), status_code=503)
    return _with_cookie(request, entered.token)


@dataclass(frozen=True, slots=True)
class _SignInForm:
    """The content of a sign-in form; `pending` is the token that the second code completes."""

    code: str
    ticket: str
    second_code: str
    pending: str

    @property
    def lookup(self) -> str:
        """Return the key under which wrong attempts are counted."""
        if self.code:
            return codes.public_part(self.code)
        return f"pending {self.pending[:6]}" if self.second_code else f"ticket {self.ticket[:6]}"

    def check(self) -> Callable[..., signing_in.SignedIn]:
        """Return the function that signs in with this content."""
        if self.ticket:
            return partial(single_sign_on.redeem_ticket, text=self.ticket)
        if self.second_code:
            return partial(
                signing_in.confirm_second_factor, token=self.pending, code=self.second_code
            )
        return partial(signing_in.sign_in, code=self.code)


def _sign_in_with_form(request: Request, form: _SignInForm, now: datetime) -> signing_in.SignedIn:
    """Sign a person in by single sign-on ticket, second factor or access code."""
    current_store, address = store_with_wait_limit(), _address(request)
    place = place_of(address)
    browser = signing_in.Browser(place=place, current=signed_in(request.cookies, place))
    entered = form.check()(current_store, entropy=secrets.token_bytes, now=now, browser=browser)
    agent = request.headers.get("user-agent", "")
    signing_in.remember_place(current_store, address, agent=agent, now=now)
    return entered


def _note_guessing(address: str, n_tries: int, now: datetime) -> None:
    current_store = store_with_wait_limit()
    place = signing_in.remember_place(current_store, address, agent="", now=now)
    signing_in.record_guessing(current_store, n_tries, now=now, place=place)


def _with_pending_cookie(request: Request, token: str) -> Response:
    """Ask for the second factor; the cookie identifies the pending sign-in."""
    response = _to_home_page("second-factor")
    response.set_cookie(
        PENDING_COOKIE,
        token,
        max_age=int(second_factor.ENTRY_TIME.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


def _with_cookie(request: Request, token: str) -> Response:
    response = _to_home_page("")
    secure = request.url.scheme == "https"
    response.set_cookie(
        SECURE_COOKIE if secure else COOKIE,
        token,
        max_age=int(signing_in.MAX_DURATION.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=secure,
    )
    if PENDING_COOKIE in request.cookies:
        response.delete_cookie(PENDING_COOKIE, httponly=True, samesite="strict")
    return response


async def _choose(request: Request) -> Response:
    if not same_origin(request.scope):
        return PlainTextResponse(t("Make your choice on a Reading Room page."), status_code=403)
    form = await request.form(max_files=0, max_fields=5)
    grant, study = (_row_number(form.get(name)) for name in ("grant", "study"))
    address = _address(request)

    def choose() -> None:
        signing_in.select_role(
            store_with_wait_limit(),
            token_of(request.cookies),
            grant=grant or 0,
            study=study,
            now=datetime.now(UTC),
            place=place_of(address),
        )

    try:
        await in_turn(choose)
    except NotAllowed:
        return _to_home_page("choice")
    except StudyError as error:
        return PlainTextResponse(str(error), status_code=503)
    return _to_home_page("")


async def _time_left(request: Request) -> Response:
    """Return how long the sign-in lasts without activity; this request is not activity."""
    token, now = token_of(request.cookies), datetime.now(UTC)
    try:
        left = await in_turn(
            lambda: signing_in.time_left(store_with_wait_limit(), token, now=now), Lane.READS
        )
    except StudyError as error:
        return PlainTextResponse(str(error), status_code=503)
    if left is None:
        return PlainTextResponse(t("Sign in first."), status_code=401)
    content = {"left_s": round(left.total_seconds())}
    return JSONResponse(content, headers={"Cache-Control": "no-store"})


async def _extend_sign_in(request: Request) -> Response:
    """Record that the user is active; a page reports this once a minute."""
    if not same_origin(request.scope):
        return PlainTextResponse(t("Sign in from a Reading Room page."), status_code=403)
    token, now = token_of(request.cookies), datetime.now(UTC)
    try:
        await in_turn(lambda: signing_in.record_activity(store_with_wait_limit(), token, now=now))
    except StudyError as error:
        return PlainTextResponse(str(error), status_code=503)
    return await _time_left(request)


def _address(request: Request) -> str:
    """Return the address of a request; empty if it is unknown."""
    return request.client.host if request.client else ""


def _row_number(text: object) -> int | None:
    """Return the row number that a form sends, or None."""
    return int(text) if isinstance(text, str) and text.isdecimal() and len(text) < 10 else None


async def _sign_out(request: Request) -> Response:
    if not same_origin(request.scope):
        return PlainTextResponse(t("Sign out from a Reading Room page."), status_code=403)
    token = token_of(request.cookies)
    if token:
        address = _address(request)
        now = datetime.now(UTC)

        def leave() -> None:
            current_store = store_with_wait_limit()
            signing_in.sign_out(current_store, token, now=now, place=place_of(address))

        try:
            await in_turn(leave)
        except StudyError as error:
            return PlainTextResponse(str(error), status_code=503)
        forget(token)
    at_provider = STREAMLIT_COOKIE in request.cookies
    # The page signs out at the provider, because a form must not lead to another origin.
    response = RedirectResponse("./?signed-out=1" if at_provider else "./", status_code=303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    if request.url.scheme == "https":
        response.delete_cookie(SECURE_COOKIE, httponly=True, samesite="strict", secure=True)
    # Browsers cache films for an hour, and the page for the Back button. "storage" is not cleared,
    # because it contains answers that are not sent yet. Browsers obey this header only over HTTPS.
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def _to_home_page(refused: str) -> Response:
    return RedirectResponse(f"./?refused={refused}" if refused else "./", status_code=303)


def refusal_text(reason: str) -> str:
    """Return the sign-in page's message for a refusal; empty for an unknown reason.

    >>> refusal_text("expired")
    'This access code has expired. Ask your coordinator for a new one.'
    """
    sentences = {
        "unknown": t("This access code is not recognised. Check it, or ask your coordinator."),
        "later": t("Too many people are signing in at the moment. Try again shortly."),
        "expired": t("This access code has expired. Ask your coordinator for a new one."),
        "no-part": t("You no longer have a role in any study here. Ask your coordinator."),
        "runs-it": t(
            "This browser is signed in as someone with another role in that study. Sign out "
            "first; anyone who runs a study cannot read in it."
        ),
        "ticket": t("That took too long. Sign in again."),
        "factor": t(
            "This code is not correct or was already used. Enter the code that the app shows now."
        ),
        "factor-wait": t(
            "There were too many incorrect codes. Wait a few minutes, then enter a new code."
        ),
        "stale": t("You signed in with your institution too long ago. Sign in again."),
        "no-account": t(
            "The account you signed in with is not registered here. Ask your coordinator to "
            "register its email address, or sign in with an access code."
        ),
        "other-account": t(
            "The person with this email address signs in with another account. Use that account "
            "or an access code, or ask an administrator of this server to release the account."
        ),
        "too-many-groups": t(
            "Your institution did not send your groups, because you belong to too many. Its "
            "administrator must send only the groups of this application."
        ),
        "settings": t(
            "The settings of single sign-on on this server are invalid. Tell its administrator; "
            "the log names the setting. You can sign in with an access code."
        ),
        "provider": t(
            "Single sign-on is not available at the moment. Try again later, or sign in with an "
            "access code."
        ),
        "choice": t("You no longer have a role in this study. Ask its coordinator."),
    }
    return sentences.get(reason, "")
