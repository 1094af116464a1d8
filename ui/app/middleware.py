"""Around every request: its language, its limits, headers on the answer, and a page's document.

The content security policy keeps the browser from fetching anything from elsewhere: a reading
session reaches this server and nothing else.

What is sent is counted as it comes, and limited by whom, how much and how slowly: a limit that
believed ``Content-Length`` would be none, for a chunked body has another length.

Streamlit serves one document that says English for everybody. What it says decides how a screen
reader speaks, how lines break, and from which side a page is laid out. The page a person begins at
has no address but the bare one; asked for by its name Streamlit shows it under a dialogue that says
it does not exist. A person who types that name, or kept it from a study with another role, is led
to the bare address.
"""

import asyncio
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers as Fields
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from study.base.errors import StudyError
from study.base.translation import language, region, speak, t
from study.people.roles import Act
from study.people.signing_in import Person
from ui.app.menu import REVIEWS, every_page, home_of
from ui.server.access import (
    asking,
    same_origin,
    signed_in,
    wanted_language,
    what_to_set,
    without_planted_cookies,
)

UPLOADS = "/_stcore/upload_file/"
"""Where Streamlit accepts files, from anyone: it knows nothing of sign-ins."""

MAY_UPLOAD = (Act.MAKE_STUDY, Act.MODELS, Act.PEOPLE, Act.CLOSE, Act.DEPLOYMENT)

MAX_UPLOADED = 2_000_000_000
"""Bytes a sign-in may upload in an hour; Streamlit holds them in memory until the page is left."""

MAX_BODY = 10_000
MAX_RECORDS = 2_000_000
"""Bytes that may be posted with a form, and by the reading page."""

SLOWEST_S = 30.0
"""How long the next piece of a body is waited for."""

_RECORDS = re.compile(r"(/(preview|teaching|expert|scoring)(/[^/]+)+)?/desk/records")
_HOUR_S = 3600.0


class NotTaken(Exception):
    """A body that is not taken, with its status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Intake:
    """Takes bodies, and keeps count of what each sign-in has uploaded in the last hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._uploaded: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)

    async def admit(self, scope: Scope, receive: Receive) -> Receive:
        """Return what a request's body is read from, within its limits.

        Raises
        ------
        Refused
            At once, or later by the returned function: the body is too long or slow, or not from
            a person who may send it.
        """
        if UPLOADS in scope["path"] and scope["method"] != "OPTIONS":
            who = await run_in_threadpool(_may_upload, Request(scope))
            if who is None:
                raise NotTaken(403, t("Sign in with an account that can upload files."))
            most, sign_in = MAX_UPLOADED - self._recent(who.sign_in), who.sign_in
            too_much = t("Too much data was uploaded within an hour. Try again later.")
        else:
            most = MAX_RECORDS if _RECORDS.fullmatch(scope["path"]) else MAX_BODY
            sign_in, too_much = "", t("Too much data at once.")
        length = Fields(scope=scope).get("content-length", "0")
        if not length.isdecimal() or len(length) > 15 or int(length) > most:
            raise NotTaken(413, too_much)
        return self._counted(receive, most, too_much, sign_in)

    def _counted(self, receive: Receive, most: int, too_much: str, sign_in: str) -> Receive:
        taken, is_complete = 0, False

        async def counted() -> Message:
            nonlocal taken, is_complete
            if is_complete:  # what comes now is that the line was closed, however late
                return await receive()
            try:
                async with asyncio.timeout(SLOWEST_S):
                    message = await receive()
            except TimeoutError as error:
                raise NotTaken(408, t("The data arrived too slowly.")) from error
            is_complete = not message.get("more_body", False)
            n_bytes = len(message.get("body", b""))
            taken += n_bytes
            if sign_in and n_bytes:
                self._uploaded[sign_in].append((self._clock(), n_bytes))
            if taken > most:
                raise NotTaken(413, too_much)
            return message

        return counted

    def _recent(self, sign_in: str) -> int:
        """Return how many bytes a sign-in uploaded in the last hour; what is older is forgotten."""
        for known in list(self._uploaded):
            pieces = self._uploaded[known]
            while pieces and self._clock() - pieces[0][0] > _HOUR_S:
                pieces.popleft()
            if not pieces:
                del self._uploaded[known]
        return sum(n_bytes for _, n_bytes in self._uploaded.get(sign_in, ()))


def _may_upload(request: Request) -> Person | None:
    who = asking(request)
    return who if who is not None and any(who.may(act) for act in MAY_UPLOAD) else None


CLOSED = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
"""What Streamlit would tell anybody about the server and its pages."""

_POLICY = "; ".join(
    (
        "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
        "connect-src 'self' blob: data:",
        "frame-ancestors 'none'",
        "form-action 'self'",
        "base-uri 'self'",
        "object-src 'none'",
    )
)
_ADDED = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (
        b"permissions-policy",
        b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
)
_ADDED_BEHIND_TLS = (
    (b"strict-transport-security", b"max-age=31536000"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


MAX_STRANGERS = 1000
"""Websockets of people who are not signed in: the sign-in page has one as well."""


class Headers:
    """ASGI middleware: adds our headers, closes Streamlit's inspection routes, limits bodies.

    A page of another origin opens no websocket: Streamlit would first look its own address up in
    the internet, and make everybody wait for the answer. The middleware also turns to the language
    of the request: every request is a task of its own, and what runs in the thread pool for it
    speaks that language as well.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._intake = Intake()
        self._strangers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        speak(wanted_language(Fields(scope=scope)))
        scope = without_planted_cookies(scope)
        if scope["type"] == "websocket":
            await self._open(scope, receive, send)
            return

        secure, started = scope["scheme"] == "https", False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                there = {name.lower() for name, _ in message.get("headers", [])}
                ours = (*_ADDED, *_ADDED_BEHIND_TLS) if secure else _ADDED
                added = [pair for pair in ours if pair[0] not in there]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        try:
            await self._answer(scope, receive, send_with_headers)
        except NotTaken as refused:
            if started:
                raise
            why = PlainTextResponse(str(refused), refused.status)
            await why(scope, receive, send_with_headers)
        except ClientDisconnect:  # the connection was closed in the middle of the message
            return

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a websocket of one of this server's pages; limit those without a sign-in."""
        if not same_origin(scope):
            await PlainTextResponse(what_to_set(), 403)(scope, receive, send)
            return
        stranger = await run_in_threadpool(_is_stranger, HTTPConnection(scope))
        if stranger and self._strangers >= MAX_STRANGERS:
            why = PlainTextResponse(
                t("Too many people are signing in at the moment. Try again shortly."), 503
            )
            await why(scope, receive, send)
            return
        self._strangers += stranger
        try:
            await self._app(scope, receive, send)
        finally:
            self._strangers -= stranger

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(CLOSED):
            raise NotTaken(404, t("Page not found."))
        await self._app(scope, await self._intake.admit(scope, receive), send)


def _is_stranger(connection: HTTPConnection) -> bool:
    try:
        return signed_in(connection.cookies) is None
    except StudyError:  # the page says it
        return True


HEADERS = Middleware(Headers)


_PATHS = frozenset({"", *(page.path for page in every_page())})
_NAMES = frozenset(page.path for page in every_page() if not page.hidden or page is REVIEWS)
_READING = frozenset(page.path for page in every_page() if page.bare)
_AS_SERVED = b'<html lang="en">'
_HEAD = b"<head>"
_NOT_TRANSLATED = b'<meta name="google" content="notranslate">'
"""Keeps browsers from offering to translate a page whose words are a study's stimulus."""
_WHOLE = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""What is asked for with these might be packed, a part, or nothing: it could not be changed."""


class Document:
    """ASGI middleware: has a page's document served at its one address, in the language in use."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].strip("/") if scope["type"] == "http" else None
        if name not in _PATHS or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        home = None
        if not name or name in _NAMES:
            home = await run_in_threadpool(_home, Request(scope))
        if name and name == home:
            query = scope["query_string"].decode("latin-1")
            to, headers = f"/?{query}" if query else "/", {"Cache-Control": "no-store"}
            await RedirectResponse(to, status_code=302, headers=headers)(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._app(scope, receive, send)
        else:
            head = _HEAD + _NOT_TRANSLATED if (name or home) in _READING else _HEAD
            await self._rewritten(scope, receive, send, head)

    async def _rewritten(self, scope: Scope, receive: Receive, send: Send, head: bytes) -> None:
        """Write the language in use, its direction and the beginning of the head."""
        started: Message = {}
        body = b""

        async def write(message: Message) -> None:
            nonlocal body
            if message["type"] == "http.response.start":
                started.update(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            opening_tag = f'<html lang="{language()}" dir="{region().text_direction}">'.encode()
            body = body.replace(_AS_SERVED, opening_tag, 1).replace(_HEAD, head, 1)
            headers = MutableHeaders(raw=started["headers"])
            headers["content-length"] = str(len(body))
            del headers["etag"], headers["last-modified"]
            await send(started)
            await send({"type": "http.response.body", "body": body})

        unconditional = [pair for pair in scope["headers"] if pair[0] not in _WHOLE]
        await self._app({**scope, "headers": unconditional}, receive, write)


def _home(request: Request) -> str | None:
    """Return the first page of the person who asks, or None where that is not known."""
    try:
        return home_of(asking(request)).path
    except StudyError:  # the page says it
        return None


DOCUMENT = Middleware(Document)
