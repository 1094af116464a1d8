"""The worker that draws the films, in a browser: a lost graphics card."""

from collections.abc import Callable

import pytest

from tests.e2e.conftest import Reader, in_the_render_worker
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]
WORKER = "**/render-worker.js"
LOSE = """
self.loseCard = () => canvas.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();
"""


def test_after_the_loss_of_the_graphics_card_the_case_is_shown_again(
    serve: Serve, reader: Reader
) -> None:
    """The choice is kept, the gap counts as hidden, and the reading is flagged."""
    server = serve()
    in_the_render_worker(reader.page, LOSE)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.keyboard.press("b")
    worker = next(worker for worker in reader.page.workers if "render-worker" in worker.url)
    if reader.page.locator(".rr-canvas-note").inner_text():
        pytest.skip("this browser has no WebGL2")
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
