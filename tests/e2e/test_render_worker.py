"""The worker that draws the films, in a real browser: lost, missing, and begun again."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Route

from tests.e2e.conftest import Reader, in_the_render_worker
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]
WORKER = "**/render-worker.js"
LOSE = """
self.loseCard = () => canvas.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();
"""


def test_a_lost_graphics_card_brings_the_same_case_back_and_charges_nothing(
    serve: Serve, reader: Reader
) -> None:
    """The film returns, the choice stays, the gap counts as hidden and the reading is flagged."""
    server = serve()
    in_the_render_worker(reader.page, LOSE)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.keyboard.press("b")
    worker = next(one for one in reader.page.workers if "render-worker" in one.url)
    if reader.page.locator(".rr-canvas-note").inner_text():
        pytest.skip("this browser has no WebGL2 that could be lost")
    reader.page.evaluate(
        """() => {
          const root = document.querySelector("[data-state]");
          window.left = new Promise((done) => {
            new MutationObserver(() => root.dataset.state === "loading" && done())
              .observe(root, { attributes: true });
          });
        }"""
    )
    worker.evaluate("self.loseCard()")
    reader.page.evaluate("window.left")
    reader.wait("ready", 1)
    assert reader.brightness() > 0.1
    reader.page.keyboard.press("Enter")
    reader.wait("ready", 2)
    assert reader.brightness() > 0.1
    reader.wait_saved()
    (row,) = server.readings()
    assert row["answer"] == "B"
    assert "display_lost" in row["flags"]
    assert row["hidden_ms"] > 0


def test_a_render_worker_that_does_not_load_is_opened_again(serve: Serve, reader: Reader) -> None:
    """A line cut at the wrong moment costs half a second, not the session."""
    refused: list[str] = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.abort()

    server = serve()
    reader.page.route(WORKER, refuse_once)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    assert refused
    assert reader.brightness() > 0.1
