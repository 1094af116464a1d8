"""The address of the page somebody begins at: Streamlit serves it without a name of its own.

A default page of Streamlit has no address but the bare one; asked for by its name it is shown
under a dialogue that says it is not there. Whoever types that name, or kept it from a study they
had another role in, is led to the bare address.
"""

from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from study.base.errors import StudyError
from ui.app.menu import REVIEWS, every_page, home_of
from ui.server.access import asking

_NAMES = frozenset(one.path for one in every_page() if not one.hidden or one is REVIEWS)


class Home:
    """ASGI middleware: redirects the name of somebody's first page to the bare address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self._app
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            name = scope["path"].strip("/")
            if name in _NAMES and await run_in_threadpool(_is_home, name, Request(scope)):
                query = scope["query_string"].decode("latin-1")
                answer = RedirectResponse(
                    f"/?{query}" if query else "/",
                    status_code=302,
                    headers={"Cache-Control": "no-store"},
                )
        await answer(scope, receive, send)


def _is_home(name: str, request: Request) -> bool:
    try:
        return home_of(asking(request)).path == name
    except StudyError:  # the page says it
        return False


HOME = Middleware(Home)
