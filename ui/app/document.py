"""The document every page of Streamlit's begins as: in which language, and written which way.

Streamlit serves one file that says English for everybody. What it says decides how a screen
reader speaks, how lines break, and from which side a page is laid out.
"""

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from study.base.translation import language, region
from ui.app.menu import every_page

_PATHS = frozenset({"", *(one.path for one in every_page())})
_AS_SERVED = b'<html lang="en">'
_WHOLE = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""What is asked for with these might be packed, a part, or nothing: it could not be changed."""


class Document:
    """ASGI middleware: writes the language in use and its direction into Streamlit's document."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or scope["path"].strip("/") not in _PATHS
        ):
            await self._app(scope, receive, send)
            return
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


DOCUMENT = Middleware(Document)
