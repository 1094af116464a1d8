"""What goes wrong around a reader: refused films, lost sessions, loading, clocks, absence."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.conftest import write_bank
from tests.e2e.conftest import Profile, Reader, in_the_render_worker
from tests.e2e.server import Server, begin

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]

SMALL_CARD = """
const get = WebGL2RenderingContext.prototype.getParameter;
WebGL2RenderingContext.prototype.getParameter = function (name) {
  return name === this.MAX_TEXTURE_SIZE ? 64 : get.call(this, name);
};
"""
CLOCK_SET = """
if (sessionStorage.getItem("days")) {
  const [now, days] = [Date.now, Number(sessionStorage.getItem("days"))];
  Date.now = () => now() + days * 24 * 3600 * 1000;
}
"""


def _sheet(page: Page) -> None:
    page.wait_for_selector(".rr-sheet:not([hidden])")


def _question_seen(page: Page) -> bool:
    return any(page.locator(part).first.is_visible() for part in (".rr-question", ".rr-option"))


def _shot(reader: Reader) -> npt.NDArray[np.float64]:
    shot = reader.page.locator(".rr-films").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("L")).astype(float)


def test_signed_out_in_another_tab_hides_film_and_question_until_signed_in_again(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """Behind the sheet nothing is to be read; the time counts as hidden; it goes by itself."""
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
    context.add_cookies(cookies)  # type: ignore[arg-type]
    reader.page.evaluate("window.dispatchEvent(new Event('focus'))")
    reader.page.wait_for_selector(".rr-sheet", state="hidden")
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


def test_a_sheet_over_a_paused_case_leaves_it_paused(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """When the sheet goes, the pause curtain is still there."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.wait_for_load_state("networkidle")
    cookies = context.cookies()
    context.set_offline(True)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.page.keyboard.press("p")
    reader.wait("paused", 2)
    context.clear_cookies()
    context.set_offline(False)
    _sheet(reader.page)
    assert reader.page.locator(".rr-curtain").is_hidden()
    context.add_cookies(cookies)  # type: ignore[arg-type]
    reader.page.evaluate("window.dispatchEvent(new Event('focus'))")
    reader.page.wait_for_selector(".rr-sheet", state="hidden")
    assert reader.page.locator(".rr-curtain").is_visible()
    assert reader.state("state") == "paused"
    assert not _question_seen(reader.page)


def test_a_film_the_server_refuses_is_explained_in_its_own_words(
    serve: Serve, reader: Reader, tmp_path: Path
) -> None:
    """A changed film says so instead of blaming the connection; trying again works."""
    path = write_bank(tmp_path / "bank")
    server = serve(bank=path)
    films = {film: film.read_bytes() for film in (tmp_path / "bank" / "films").iterdir()}
    for film, data in films.items():
        film.write_bytes(data + b"changed")
    reader.enter(server.url, server.codes["R1"])
    begin(reader.page)
    curtain = reader.page.locator(".rr-curtain")
    expect(curtain).to_contain_text("changed after its import")
    expect(curtain).to_contain_text("coordinator")
    assert "connection" not in curtain.inner_text()
    for film, data in films.items():
        film.write_bytes(data)
    reader.page.get_by_role("button", name="Try again").click()
    reader.wait("ready", 1)
    assert reader.brightness() > 0.1


def test_modules_that_could_not_be_loaded_are_asked_for_again(serve: Serve, reader: Reader) -> None:
    """A module lost on the way, also a nested one, costs a plain line and a moment."""
    server = serve()
    lost = {"start.js": 1, "room.js": 1, "storage.js": 1}

    def lose(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[1]
        if lost.get(name, 0):
            lost[name] -= 1
            route.abort()
        else:
            route.continue_()

    reader.page.route("**/viewer/**/*.js", lose)
    reader.page.add_init_script(
        "new MutationObserver(() => { const line = document.querySelector('.rr-unloaded');"
        " if (line) window.said = line.textContent; })"
        ".observe(document, {childList: true, subtree: true});"
    )
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    assert lost == {"start.js": 0, "room.js": 0, "storage.js": 0}
    said = reader.page.evaluate("window.said")
    assert said == "The reading page could not be loaded. Trying again…"
    assert reader.page.locator(".rr-unloaded").count() == 0
    reader.answer("a")
    reader.wait("ready", 2)


def test_why_the_desk_is_closed_is_said_in_the_servers_words(
    serve: Serve, profile: Profile
) -> None:
    """The page shows the reason, keeps asking, and opens when the desk does."""
    server = serve()
    why = "The study is not open for reading at the moment. Ask your coordinator."

    def refusing(status: int) -> Callable[[Route], None]:
        return lambda route: route.fulfill(status=status, json={"why": why})

    for status in (403, 404, 409, 503):
        reader = Reader(profile().new_page())
        reader.page.route("**/desk", refusing(status))
        reader.enter(server.url, server.codes["R1"])
        expect(reader.page.locator(".rr-loading")).to_have_text(why)
        assert reader.page.locator(".rr-sheet").is_hidden()
        reader.page.unroute("**/desk")
        reader.wait("ready", 1)
        reader.page.close()


def test_a_film_larger_than_the_card_takes_looks_the_same(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """The processor makes its sheet: same place, same greys as from the card."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.keyboard.press("z")
    reader.wait_picture()
    on_the_card = _shot(reader)
    in_the_render_worker(reader.page, SMALL_CARD)
    reader.page.reload()
    reader.wait("ready", 1)
    reader.page.keyboard.press("z")
    reader.wait_picture()
    assert np.abs(_shot(reader) - on_the_card).max() <= 1
    assert on_the_card.max() > 200


def test_a_clock_set_in_mid_case_leaves_no_absurd_times(serve: Serve, reader: Reader) -> None:
    """What the gap would have told is null and flagged; the visible time is kept."""
    server = serve()
    reader.page.add_init_script(CLOCK_SET)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    for position, days in ((1, -400), (2, 4000)):
        reader.wait("ready", position)
        reader.page.evaluate("days => sessionStorage.setItem('days', days)", days)
        reader.page.reload()
        reader.wait("ready", position)
        reader.answer("a")
        reader.wait("ready", position + 1)
        reader.wait_saved()
    for row in server.readings():
        assert row["elapsed_ms"] is None
        assert row["hidden_ms"] is None
        assert 0 < row["response_ms"] < 60_000
        assert "clock_implausible" in row["flags"]


def test_long_options_stay_in_the_panel_and_the_chosen_one_in_sight(
    serve: Serve, reader: Reader
) -> None:
    """Eight long answers: unbroken words wrap, and choosing brings the answer into view."""
    server = serve()

    def lengthen(route: Route) -> None:
        answer = route.fetch()
        desk = answer.json()
        for case in desk["cases"]:
            case["question"] = "q" * 300
            case["options"] = [{"option": o, "text": o * 60 + " word" * 68} for o in "ABCDEFGH"]
        route.fulfill(response=answer, json=desk)

    reader.page.route("**/desk", lengthen)
    reader.page.set_viewport_size({"width": 1024, "height": 700})
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    inside = "([outer, inner]) => { const box = name => document.querySelector(name)" + (
        ".getBoundingClientRect(); const [o, i] = [box(outer), box(inner)];"
        " return i.top >= o.top - 1 && i.bottom <= o.bottom + 1 && i.right <= o.right + 1; }"
    )
    reader.page.keyboard.press("h")
    assert reader.page.evaluate(inside, [".rr-scroll", "[data-option=H]"])
    reader.page.keyboard.press("a")
    assert reader.page.evaluate(inside, [".rr-scroll", "[data-option=A]"])
    wide = "document.querySelector('.rr-scroll').scrollWidth"
    assert reader.page.evaluate(f"{wide} <= document.querySelector('.rr-scroll').clientWidth")
    top = "document.querySelector('.rr-scroll').scrollTop"
    before = reader.page.evaluate(top)
    reader.page.keyboard.press("PageDown")
    reader.page.wait_for_function(f"{top} > {before}")
