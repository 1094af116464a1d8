"""Around every request: its language, headers on the answer, a limit on what is sent.

The content security policy keeps the browser from fetching anything from elsewhere: a reading
session reaches this server and nothing else.
"""

import re

from starlette.datastructures import Headers as Fields
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from study.words import speak, t
from ui.access import wanted_language

CLOSED = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
"""What Streamlit would tell anybody about the server and its pages."""

MAX_BODY = {
    "/sign-in": 10_000,
    "/sign-out": 10_000,
    "/choose": 10_000,
    "/desk/records": 2_000_000,
}
"""Bytes that may be posted to a route of ours, known before any is read."""

_PREVIEW = re.compile(r"/preview/[^/]+/(?:desk/records|again)")

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
)


class Headers:
    """ASGI middleware: adds our headers, closes Streamlit's inspection routes, limits bodies.

    It also turns to the language of whoever asks: every request is a task of its own, and what
    runs in the thread pool for it speaks that language as well.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        speak(wanted_language(Fields(scope=scope)))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message.get("headers", [])}
                added = [pair for pair in _ADDED if pair[0] not in there]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        answer = _refusal(scope) or self._app
        await answer(scope, receive, send_with_headers)


def _refusal(scope: Scope) -> PlainTextResponse | None:
    path = scope["path"]
    if path.startswith(CLOSED):
        return PlainTextResponse(t("Not here."), status_code=404)
    limit = MAX_BODY["/desk/records"] if _PREVIEW.fullmatch(path) else MAX_BODY.get(path)
    if limit is None or scope["method"] != "POST":
        return None
    length = Fields(scope=scope).get("content-length", "")
    if not length.isdecimal():
        return PlainTextResponse(t("Say how long the message is."), status_code=411)
    if int(length) > limit:
        return PlainTextResponse(t("Too much at once."), status_code=413)
    return None


def attachment(name: str) -> dict[str, str]:
    """Return the headers of a file handed out to be saved: no cache keeps it."""
    return {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{name}"',
    }


HEADERS = Middleware(Headers)
