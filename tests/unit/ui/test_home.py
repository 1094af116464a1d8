"""The address of a person's first page redirects to the bare address."""

from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.unit.ui.two_studies import Deployment
from ui.app.menu import every_page
from ui.app.middleware import DOCUMENT
from ui.server.access import COOKIE

BEGINS_AT = {
    "nobody": "sign-in-page",
    "reader of amber": "read",
    "coordinator of amber": "overview",
    "statistician of amber": "results",
    "deployment administrator": "studies",
}


async def _page(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.url.path)


@pytest.mark.parametrize("who", BEGINS_AT)
def test_only_the_persons_first_page_redirects_to_the_bare_address(
    enter: Callable[[str], Deployment], who: str
) -> None:
    """The query is kept, and all other pages are answered at their own address."""
    application = Starlette(routes=[Route("/{rest:path}", _page)], middleware=[DOCUMENT])
    client = TestClient(application, follow_redirects=False)
    tokens = enter("open").tokens
    if who in tokens:
        client.cookies.set(COOKIE, tokens[who])
    led = {}
    for page in every_page():
        answer = client.get(f"/{page.path}?a=b")
        led[page.path] = answer.headers.get("location") if answer.is_redirect else answer.text
    own = BEGINS_AT[who]
    assert led == {page.path: f"/{page.path}" for page in every_page()} | {own: "./?a=b"}
    assert client.get(f"/{own}/").headers["location"] == "../"


def test_post_requests_are_not_redirected(enter: Callable[[str], Deployment]) -> None:
    """Only pages opened by a browser are redirected."""
    enter("open")
    routes = [Route("/{rest:path}", _page, methods=["POST"])]
    client = TestClient(Starlette(routes=routes, middleware=[DOCUMENT]), follow_redirects=False)
    assert client.post("/sign-in-page").text == "/sign-in-page"
