"""The document every page of Streamlit's begins as: under which address, and in which language.

Streamlit serves one file that says English for everybody. What it says decides how a screen
reader speaks, how lines break, and from which side a page is laid out.

The page somebody begins at has no address but the bare one; asked for by its name Streamlit shows
it under a dialogue that says it is not there. Whoever types that name, or kept it from a study they
had another role in, is led to the bare address.
"""

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from study.base.errors import StudyError
from study.base.translation import language, region
from ui.app.menu import REVIEWS, every_page, home_of
from ui.server.access import asking

_PATHS = frozenset({"", *(one.path for one in every_page())})
_NAMES = frozenset(one.path for one in every_page() if not one.hidden or one is REVIEWS)
_AS_SERVED = b'<html lang="en">'
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
        elif name in _NAMES and await run_in_threadpool(_is_home, name, Request(scope)):
            query = scope["query_string"].decode("latin-1")
            to, headers = f"/?{query}" if query else "/", {"Cache-Control": "no-store"}
            await RedirectResponse(to, status_code=302, headers=headers)(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._app(scope, receive, send)
        else:
            await self._translated(scope, receive, send)

    async def _translated(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write the language in use and its direction into the document."""
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
            said = f'<html lang="{language()}" dir="{region().text_direction}">'.encode()
            body = body.replace(_AS_SERVED, said, 1)
            headers = MutableHeaders(raw=started["headers"])
            headers["content-length"] = str(len(body))
            del headers["etag"], headers["last-modified"]
            await send(started)
            await send({"type": "http.response.body", "body": body})

        whole = [pair for pair in scope["headers"] if pair[0] not in _WHOLE]
        await self._app({**scope, "headers": whole}, receive, write)


def _is_home(name: str, request: Request) -> bool:
    try:
        return home_of(asking(request)).path == name
    except StudyError:  # the page says it
        return False


DOCUMENT = Middleware(Document)
