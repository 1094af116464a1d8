"""Problems around a reading: refused films, lost sessions, modules that do not load, long texts."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.conftest import write_bank
from tests.e2e.conftest import Reader, in_the_render_worker
from tests.e2e.server import Server, begin

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]

SMALL_CARD = """
const get = WebGL2RenderingContext.prototype.getParameter;
WebGL2RenderingContext.prototype.getParameter = function (name) {
  return name === this.MAX_TEXTURE_SIZE ? 64 : get.call(this, name);
};
"""
LOSE = """
self.loseCard = () => canvas.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();
"""


def _sheet(page: Page) -> None:
    page.wait_for_selector(".rr-sheet:not([hidden])")


def _question_seen(page: Page) -> bool:
    return any(page.locator(part).first.is_visible() for part in (".rr-question", ".rr-option"))


def _shot(reader: Reader) -> npt.NDArray[np.float64]:
    shot = reader.page.locator(".rr-films").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("L")).astype(float)


@pytest.mark.thorough
def test_a_sign_out_in_another_tab_hides_film_and_question(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """The time counts as hidden. After a sign-in, the case is shown again, paused if it was."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.wait_saved()
    assert reader.brightness() > 0.1
    cookies = context.cookies()
    context.clear_cookies()
    reader.answer("a")
    _sheet(reader.page)
    assert reader.page.get_by_text("You have been signed out").is_visible()
    assert _shot(reader)[:40, :-10].max() == 0
    assert reader.page.locator(".rr-canvas").is_hidden()
    assert not _question_seen(reader.page)
    reader.page.wait_for_timeout(300)
    _sign_in_again(reader, context, cookies)
    reader.wait("ready", 2)
    assert reader.brightness() > 0.1
    assert _question_seen(reader.page)
    reader.wait_saved()
    reader.answer("b")
    reader.wait("ready", 3)
    reader.wait_saved()
    rows = server.readings()
    assert [row["answer"] for row in rows] == ["A", "B"]
    assert rows[1]["hidden_ms"] >= 300
    reader.page.wait_for_load_state("networkidle")
    context.set_offline(True)
    reader.answer("a")
    reader.wait("ready", 4)
    reader.page.keyboard.press("p")
    reader.wait("paused", 4)
    context.clear_cookies()
    context.set_offline(False)
    _sheet(reader.page)
    assert reader.page.locator(".rr-curtain").is_hidden()
    _sign_in_again(reader, context, cookies)
    assert reader.page.locator(".rr-curtain").is_visible()
    assert reader.state("state") == "paused"
    assert not _question_seen(reader.page)


def _sign_in_again(reader: Reader, context: BrowserContext, cookies: list[Any]) -> None:
    context.add_cookies(cookies)
    reader.page.evaluate("window.dispatchEvent(new Event('focus'))")
    reader.page.wait_for_selector(".rr-sheet", state="hidden")


def test_obstacles_to_the_first_case_are_explained_and_overcome(
    serve: Serve, reader: Reader, tmp_path: Path
) -> None:
    """Modules are requested again, and the server's message is shown until it changes.

    Then the graphics card is lost, and a film is too large for it: the picture is the same in both
    cases.
    """
    path = write_bank(tmp_path / "bank")
    server = serve(bank=path)
    in_the_render_worker(reader.page, LOSE)
    lost = _lose_modules(reader.page)
    films = {film: film.read_bytes() for film in (tmp_path / "bank" / "films").iterdir()}
    for film, data in films.items():
        film.write_bytes(data + b"changed")
    reason = "The study is not open for reading at the moment. Ask your coordinator."
    reader.page.route("**/desk", lambda route: route.fulfill(status=409, json={"why": reason}))
    reader.enter(server.url, server.codes["R1"])
    expect(reader.page.locator(".rr-loading")).to_have_text(reason)
    message = reader.page.evaluate("window.message")
    assert message == "The reading page could not be loaded. Trying again…"
    assert reader.page.locator(".rr-sheet").is_hidden()
    reader.page.unroute("**/desk")
    begin(reader.page)
    curtain = reader.page.locator(".rr-curtain")
    expect(curtain).to_contain_text("changed after its import")
    expect(curtain).to_contain_text("coordinator")
    assert "connection" not in curtain.inner_text()
    for film, data in films.items():
        film.write_bytes(data)
    reader.page.get_by_role("button", name="Try again").click()
    reader.wait("ready", 1)
    assert set(lost.values()) == {0}
    assert reader.page.locator(".rr-unloaded").count() == 0
    assert reader.brightness() > 0.1
    _lose_the_graphics_card(server, reader)
    _have_the_processor_draw(reader)


def _lose_modules(page: Page) -> dict[str, int]:
    """Let the first requests of four modules fail; return the remaining failures of each.

    They include a nested module and that of the worker. The message about it is kept.
    """
    lost = dict.fromkeys(("start.js", "room.js", "storage.js", "render-worker.js"), 1)

    def lose(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[1]
        if lost.get(name, 0):
            lost[name] -= 1
            route.abort()
        else:
            route.fallback()

    page.route("**/viewer/**/*.js", lose)
    page.add_init_script(
        "new MutationObserver(() => { const line = document.querySelector('.rr-unloaded');"
        " if (line) window.message = line.textContent; })"
        ".observe(document, {childList: true, subtree: true});"
    )
    return lost


def _lose_the_graphics_card(server: Server, reader: Reader) -> None:
    """Check that the choice is kept, the gap counts as hidden, and the reading is flagged."""
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


def _have_the_processor_draw(reader: Reader) -> None:
    """Check that it draws a film at the same position with the same grey levels."""
    reader.page.keyboard.press("z")
    reader.wait_picture()
    on_the_card = _shot(reader)
    in_the_render_worker(reader.page, SMALL_CARD)
    reader.page.reload()
    reader.wait("ready", 2)
    reader.page.keyboard.press("z")
    reader.wait_picture()
    assert np.abs(_shot(reader) - on_the_card).max() <= 1
    assert on_the_card.max() > 200


@pytest.mark.thorough
def test_long_texts_stay_in_the_panel_and_cover_nothing(serve: Serve, reader: Reader) -> None:
    """Words wrap, and the chosen option is scrolled into view.

    The state of the answers stays visible in every window and at every density of the text.
    """
    server = serve(confidence=5, comments=True, back_navigation=True)

    def lengthen(route: Route) -> None:
        answer = route.fetch()
        desk = answer.json()
        for case in desk["cases"]:
            case["question"] = "q" * 300
            case["options"] = [{"option": o, "text": o * 60 + " word" * 68} for o in "ABCDEFGH"]
        route.fulfill(response=answer, json=desk)

    page = reader.page
    page.route("**/desk", lengthen)
    page.set_viewport_size({"width": 1024, "height": 700})
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    inside = "([outer, inner]) => { const box = name => document.querySelector(name)" + (
        ".getBoundingClientRect(); const [o, i] = [box(outer), box(inner)];"
        " return i.top >= o.top - 1 && i.bottom <= o.bottom + 1 && i.right <= o.right + 1; }"
    )
    page.keyboard.press("h")
    assert page.evaluate(inside, [".rr-scroll", "[data-option=H]"])
    page.keyboard.press("a")
    assert page.evaluate(inside, [".rr-scroll", "[data-option=A]"])
    wide = "document.querySelector('.rr-scroll').scrollWidth"
    assert page.evaluate(f"{wide} <= document.querySelector('.rr-scroll').clientWidth")
    top = "document.querySelector('.rr-scroll').scrollTop"
    before = page.evaluate(top)
    page.keyboard.press("PageDown")
    page.wait_for_function(f"{top} > {before}")
    for key in ("Enter", "3", "Enter"):
        page.keyboard.press(key)
    reader.wait("ready", 2)
    reader.wait_saved()
    _check_state_of_answers(reader)


UNSEEN = """() => [...Array(7).keys()].filter((density) => {
  document.querySelector('[data-state]').dataset.density = density;
  const { x, y, bottom } = document.querySelector('.rr-outbox').getBoundingClientRect();
  const inside = y >= 0 && bottom <= innerHeight;
  return !inside || !document.elementFromPoint(x + 20, (y + bottom) / 2)?.closest('.rr-outbox');
})"""
"""The densities of the text at which the state of the answers is outside the window or covered."""


def _check_state_of_answers(reader: Reader) -> None:
    """Check that the state of the answers is visible in every window and at every density."""
    expect(reader.page.locator(".rr-outbox")).to_have_text("Saved")
    for width, height in ((1440, 900), (1024, 700), (1080, 1920), (800, 600)):
        reader.page.set_viewport_size({"width": width, "height": height})
        reader.wait_picture()  # the page has chosen a density for this size
        assert reader.page.evaluate(UNSEEN) == []
