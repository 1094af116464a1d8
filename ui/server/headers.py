"""Around every request: where it comes from, its language, its limits, headers on the answer.

The content security policy keeps the browser from fetching anything from elsewhere: a reading
session reaches this server and nothing else.
"""

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers as Fields
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from study.base.errors import StudyError
from study.base.translation import speak, t
from ui.server.access import signed_in, wanted_language, without_planted_cookies
from ui.server.intake import Intake, NotTaken
from ui.server.origin import same_origin, what_to_set

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
    of whoever asks: every request is a task of its own, and what runs in the thread pool for it
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
        except ClientDisconnect:  # whoever asked has gone in the middle of their message
            return

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a websocket: of a page of ours; of strangers so many that others find room."""
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


def attachment(name: str) -> dict[str, str]:
    """Return the headers of a file handed out to be saved: no cache keeps it."""
    return {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{name}"',
    }


HEADERS = Middleware(Headers)
