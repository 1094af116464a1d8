"""Middleware for every request: language, limits, response headers, and the HTML document.

The content security policy keeps the browser from loading anything from other servers.

Request bodies are counted as they arrive and limited in size and duration, and only certain people
can upload; ``Content-Length`` is not trusted, because the length of a chunked body may differ.

Streamlit serves one document that declares English for everyone. The declared language determines
how a screen reader speaks, how lines break, and the direction of the layout. A person's first page
has only the root address; if it is requested by its name, Streamlit reports that the page does not
exist. Requests by that name are therefore redirected to the root address.
"""

import asyncio
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial

from starlette.datastructures import Headers as Fields
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from study.base.errors import StudyError
from study.base.translation import current_locale, language, set_language, t
from study.people.roles import Act
from study.people.signing_in import Person
from ui.app.menu import REVIEWS, every_page, home_of
from ui.server.access import (
    origin_refusal,
    same_origin,
    sender_of,
    signed_in,
    wanted_language,
    without_planted_cookies,
)
from ui.server.deployment import Lane, in_turn

UPLOAD_ROUTE = "/_stcore/upload_file/"
"""The route on which Streamlit accepts files; it does not check sign-ins itself."""

SIGN_ON_ROUTE = "/auth/login"
"""The route on which Streamlit starts a single sign-on; the log states why one failed."""

UPLOADING_ACTS = (Act.MAKE_STUDY, Act.MODELS, Act.PEOPLE, Act.CLOSE, Act.DEPLOYMENT)

MAX_UPLOADED_BYTES = 2_000_000_000
"""Maximum uploads per sign-in and hour; Streamlit keeps them in memory until the page is left."""

MAX_FORM_BYTES = 10_000
MAX_RECORDS_BYTES = 2_000_000
"""Maximum size of a form and of a message of the reading page, in bytes."""

MAX_PAUSE_S = 30.0
"""How long to wait for the next part of a body."""

_RECORDS_ROUTE = re.compile(r"(/(preview|teaching|expert|scoring)(/[^/]+)+)?/desk/records")
_HOUR_S = 3600.0


class BodyRefused(Exception):
    """A refused request body, with HTTP status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class BodyReceiver:
    """Receives bodies, and counts the bytes each sign-in has uploaded in the last hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._uploaded: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)

    async def admit(self, scope: Scope, receive: Receive) -> Receive:
        """Return a function that receives a request's body within its limits.

        Raises
        ------
        BodyRefused
            The body is too long, too slow, or from a person without permission; also raised by the
            returned function.
        """
        if UPLOAD_ROUTE in scope["path"] and scope["method"] != "OPTIONS":
            try:
                uploader = await in_turn(partial(_may_upload, Request(scope)), Lane.READS)
            except StudyError as error:
                raise BodyRefused(503, str(error)) from error
            if uploader is None:
                raise BodyRefused(403, t("Sign in with an account that can upload files."))
            max_bytes, sign_in = (
                MAX_UPLOADED_BYTES - self._recent_bytes(uploader.sign_in),
                uploader.sign_in,
            )
            too_much = t("Too much data was uploaded within an hour. Try again later.")
        else:
            max_bytes = (
                MAX_RECORDS_BYTES if _RECORDS_ROUTE.fullmatch(scope["path"]) else MAX_FORM_BYTES
            )
            sign_in, too_much = "", t("Too much data at once.")
        length = Fields(scope=scope).get("content-length", "0")
        if not length.isdecimal() or len(length) > 15 or int(length) > max_bytes:
            raise BodyRefused(413, too_much)
        return self._limited(receive, max_bytes, too_much, sign_in)

    def _limited(self, receive: Receive, max_bytes: int, too_much: str, sign_in: str) -> Receive:
        n_received, is_complete = 0, False

        async def receive_limited() -> Message:
            nonlocal n_received, is_complete
            if is_complete:  # the next message reports that the connection was closed
                return await receive()
            try:
                async with asyncio.timeout(MAX_PAUSE_S):
                    message = await receive()
            except TimeoutError as error:
                raise BodyRefused(408, t("The data arrived too slowly.")) from error
            is_complete = not message.get("more_body", False)
            n_bytes = len(message.get("body", b""))
            n_received += n_bytes
            if sign_in and n_bytes:
                self._uploaded[sign_in].append((self._clock(), n_bytes))
            if n_received > max_bytes:
                raise BodyRefused(413, too_much)
            return message

        return receive_limited

    def _recent_bytes(self, sign_in: str) -> int:
        """Return how many bytes a sign-in uploaded in the last hour, and forget older uploads."""
        for known in list(self._uploaded):
            pieces = self._uploaded[known]
            while pieces and self._clock() - pieces[0][0] > _HOUR_S:
                pieces.popleft()
            if not pieces:
                del self._uploaded[known]
        return sum(n_bytes for _, n_bytes in self._uploaded.get(sign_in, ()))


def _may_upload(request: Request) -> Person | None:
    person = sender_of(request)
    return person if person is not None and any(person.may(act) for act in UPLOADING_ACTS) else None


BLOCKED_ROUTES = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
"""Routes on which Streamlit would disclose information about the server and its pages."""

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
_RESPONSE_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (
        b"permissions-policy",
        b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
)
_TLS_RESPONSE_HEADERS = (
    (b"strict-transport-security", b"max-age=31536000"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


MAX_ANONYMOUS_WEBSOCKETS = 1000
"""Maximum number of websockets without a sign-in, such as that of the sign-in page."""


class Headers:
    """ASGI middleware: adds headers, disables Streamlit's inspection routes, limits bodies.

    Pages of another origin cannot open a websocket: Streamlit would first look up its own address
    on the internet and block all other requests. The middleware also sets the language of the
    request, for its task and for functions that the task runs in the thread pool.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._bodies = BodyReceiver()
        self._n_anonymous_websockets = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        set_language(wanted_language(Fields(scope=scope)))
        scope = without_planted_cookies(scope)
        if scope["type"] == "websocket":
            await self._open_websocket(scope, receive, send)
            return

        secure, started = scope["scheme"] == "https", False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                header_names = {name.lower() for name, _ in message.get("headers", [])}
                own_headers = (
                    (*_RESPONSE_HEADERS, *_TLS_RESPONSE_HEADERS) if secure else _RESPONSE_HEADERS
                )
                added = [pair for pair in own_headers if pair[0] not in header_names]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        try:
            await self._answer(scope, receive, send_with_headers)
        except BodyRefused as refused:
            if started:
                raise
            response = PlainTextResponse(str(refused), refused.status)
            await response(scope, receive, send_with_headers)
        except ClientDisconnect:  # the connection was closed during the message
            return

    async def _open_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a websocket from one of this server's pages; limit those without a sign-in."""
        if not same_origin(scope):
            await PlainTextResponse(origin_refusal(), 403)(scope, receive, send)
            return
        is_anonymous = await _is_anonymous(HTTPConnection(scope))
        if is_anonymous and self._n_anonymous_websockets >= MAX_ANONYMOUS_WEBSOCKETS:
            response = PlainTextResponse(
                t("Too many people are signing in at the moment. Try again shortly."), 503
            )
            await response(scope, receive, send)
            return
        self._n_anonymous_websockets += is_anonymous
        try:
            await self._app(scope, receive, send)
        finally:
            self._n_anonymous_websockets -= is_anonymous

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(BLOCKED_ROUTES):
            raise BodyRefused(404, t("Page not found."))
        if scope["path"] == SIGN_ON_ROUTE:
            send = _sign_in_page_on_error(scope, receive, send)
        await self._app(scope, await self._bodies.admit(scope, receive), send)


def _sign_in_page_on_error(scope: Scope, receive: Receive, send: Send) -> Send:
    """Show the sign-in page with a message instead of the error of a sign-on that cannot start."""
    failed = False

    async def write(message: Message) -> None:
        nonlocal failed
        if message["type"] == "http.response.start" and message["status"] >= 400:
            failed = True
            await RedirectResponse("../?refused=provider", status_code=303)(scope, receive, send)
        elif not failed:
            await send(message)

    return write


async def _is_anonymous(connection: HTTPConnection) -> bool:
    try:
        return await in_turn(partial(signed_in, connection.cookies), Lane.READS) is None
    except StudyError:  # the page shows the error
        return True


HEADERS = Middleware(Headers)


_PAGE_PATHS = frozenset({"", *(page.path for page in every_page())})
_POSSIBLE_HOME_PATHS = frozenset(
    page.path for page in every_page() if not page.hidden or page is REVIEWS
)
_BARE_PAGE_PATHS = frozenset(page.path for page in every_page() if page.is_bare)
_SERVED_HTML_TAG = b'<html lang="en">'
_HEAD_TAG = b"<head>"
_NO_TRANSLATION_TAG = b'<meta name="google" content="notranslate">'
"""Keeps browsers from offering to translate a page whose text is part of a study."""
_REMOVED_HEADERS = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""Request headers that could lead to a compressed or partial response, which cannot be edited."""


class Document:
    """ASGI middleware: serves each page's document at one address, in the current language."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].strip("/") if scope["type"] == "http" else None
        if name not in _PAGE_PATHS or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        home = None
        if not name or name in _POSSIBLE_HOME_PATHS:
            home = await _home_path(Request(scope))
        if name and name == home:
            query = scope["query_string"].decode("latin-1")
            root = "../" if scope["path"].endswith("/") else "./"  # a proxy may add a prefix
            to, headers = f"{root}?{query}" if query else root, {"Cache-Control": "no-store"}
            await RedirectResponse(to, status_code=302, headers=headers)(scope, receive, send)
        elif name and scope["path"].endswith("/"):  # Streamlit's redirect would omit the prefix
            await RedirectResponse(f"../{name}", status_code=301)(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._app(scope, receive, send)
        else:
            head = (
                _HEAD_TAG + _NO_TRANSLATION_TAG if (name or home) in _BARE_PAGE_PATHS else _HEAD_TAG
            )
            await self._serve_rewritten(scope, receive, send, head)

    async def _serve_rewritten(
        self, scope: Scope, receive: Receive, send: Send, head: bytes
    ) -> None:
        """Serve the document with the current language, its direction and the tags of the head."""
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
            opening_tag = (
                f'<html lang="{language()}" dir="{current_locale().text_direction}">'.encode()
            )
            body = body.replace(_SERVED_HTML_TAG, opening_tag, 1).replace(_HEAD_TAG, head, 1)
            headers = MutableHeaders(raw=started["headers"])
            headers["content-length"] = str(len(body))
            del headers["etag"], headers["last-modified"]
            await send(started)
            await send({"type": "http.response.body", "body": body})

        unconditional = [pair for pair in scope["headers"] if pair[0] not in _REMOVED_HEADERS]
        await self._app({**scope, "headers": unconditional}, receive, write)


async def _home_path(request: Request) -> str | None:
    """Return the first page of the person who sends the request, or None if unknown."""
    try:
        return home_of(await in_turn(partial(sender_of, request), Lane.READS)).path
    except StudyError:  # the page shows the error
        return None


DOCUMENT = Middleware(Document)
