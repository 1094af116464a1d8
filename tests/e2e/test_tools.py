"""The tools of the film in a browser: arrangement, mirroring, measuring, and times of use."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]
SPACING_MM = 2.0  # of the test films, which are 80 x 96
SPACED = f"for (const view of views) view.spacing_mm = {SPACING_MM}"


def change_desk(page: Page, change: str) -> None:
    """Change every view of the desk by JavaScript when the page reads it."""
    page.add_init_script(
        """const read = Response.prototype.json;
        Response.prototype.json = async function () {
          const body = await read.call(this);
          for (const { views } of (body.desk ?? body).cases ?? []) { CHANGE; }
          return body;
        };""".replace("CHANGE", change)
    )


def _come(server: Server, reader: Reader, name: str = "R1") -> None:
    reader.enter(server.url, server.codes[name])
    reader.wait("ready")


def _names(page: Page) -> list[str]:
    """Return the labels of the visible films from left to right."""
    labels = [
        (box["x"], plate.locator(".rr-plate-name").inner_text())
        for plate in page.locator(".rr-plate:visible").all()
        if (box := plate.bounding_box()) is not None
    ]
    return [name for _, name in sorted(labels)]


def plate(page: Page, name: str) -> Locator:
    """Return the plate of a film, once the film is drawn."""
    Reader(page).wait_picture()
    return page.locator(".rr-plate", has=page.get_by_text(name, exact=True))


def _assert_text(page: Page, name: str, text: str) -> None:
    plate(page, name).get_by_text(text).filter(visible=True).first.wait_for()


def _state(page: Page, name: str) -> str:
    return plate(page, name).locator(".rr-plate-state").inner_text()


def _changed(page: Page, name: str, before: str) -> None:
    """Wait until a plate changes. A wheel takes effect some frames later."""
    changed = plate(page, name).locator(".rr-plate-state").filter(has_not_text=before)
    changed.wait_for()


def zoom(page: Page, name: str) -> int:
    """Return the zoom of a plate in percent."""
    match = re.search(r"(?<!–)\b(\d+) %", _state(page, name))
    assert match is not None
    return int(match.group(1))


def drag(page: Page, by: tuple[int, int], start: tuple[int, int] = (200, 400)) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + by[0], start[1] + by[1], steps=4)
    page.mouse.up()


def lengths(page: Page) -> list[float]:
    """Return the lengths of the measured lines in mm."""
    Reader(page).wait_picture()
    texts = page.locator(".rr-plate:visible .rr-marks text").all_text_contents()
    assert all(text.endswith(" mm at the detector") for text in texts)
    return [float(text.split()[0]) for text in texts]


def _set(page: Page, words: str) -> None:
    """Select a setting by its label."""
    page.keyboard.press("s")
    page.get_by_role("radio", name=words).check()
    page.keyboard.press("Escape")
    page.locator(".rr-sheet").wait_for(state="hidden")


def test_films_are_measured_arranged_and_linked(serve: Serve, reader: Reader) -> None:
    """The frontal film is on the left in any order of the item.

    The times of views and tools are part of the reading; lines belong to their case.
    """
    server = serve(cases=10)
    change_desk(reader.page, f"views.reverse(); {SPACED}")
    _come(server, reader)
    _use_views_and_tools(server, reader)
    _measure(reader, position=2)
    for check in (_swap_reset_and_magnify, _hide_the_question_mirror_and_link):
        reader.page.reload()  # the page forgets the position of the pointer
        reader.wait("ready", 5)
        check(server, reader)
    reader.answer("a")
    reader.wait("ready", 8)
    _draw_a_ratio_and_keep_a_window(reader)


def _swap_reset_and_magnify(_: Server, reader: Reader) -> None:
    """Press X to swap, V to show one film, R to reset.

    The magnifying glass starts in the middle, follows arrows and pointer, and closes with Esc.
    """
    page = reader.page
    assert _names(page) == ["PA", "LATERAL"]
    _use_the_glass(page)
    page.keyboard.press("x")
    _assert_text(page, "PA", "swapped")
    assert _names(page) == ["LATERAL", "PA"]
    page.keyboard.press("v")
    _assert_text(page, "LATERAL", "swapped")
    page.wait_for_function("document.querySelectorAll('.rr-plate:not([hidden])').length === 1")
    lone, films = (page.locator(name).bounding_box() for name in (".rr-plate:visible", ".rr-films"))
    assert lone == pytest.approx(films, abs=1)
    page.keyboard.press("y")
    _assert_text(page, "LATERAL", "MIRRORED")
    _rotate_from_the_menu(page)
    page.keyboard.press("r")
    page.wait_for_function("document.querySelectorAll('.rr-plate:not([hidden])').length === 2")
    page.wait_for_function(  # the plates move to their places in the next frame
        """() => {
          const [first, second] = document.querySelectorAll('.rr-plate:not([hidden])');
          return first.offsetLeft !== second.offsetLeft;
        }"""
    )
    assert _names(page) == ["PA", "LATERAL"]
    assert page.get_by_text("swapped").count() == 0
    assert page.locator(":is(.rr-mirrored, .rr-rotated):visible").count() == 0
    for views in (1, 2):
        page.mouse.dblclick(200, 400)
        page.wait_for_function(
            "n => document.querySelectorAll('.rr-plate:not([hidden])').length === n", arg=views
        )


def _rotate_from_the_menu(page: Page) -> None:
    """Open the menu of further tools, which stays open while it is used, and close it with Esc."""
    menu = page.locator(".rr-more")
    more = page.get_by_role("button", name="More")
    more.click()
    for _ in range(2):
        menu.get_by_role("button", name="Rotate").click()
    _assert_text(page, "LATERAL", "ROTATED 180°")
    expect(more).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    more.click()
    page.mouse.click(200, 400)
    expect(menu).to_be_hidden()


def _use_the_glass(page: Page) -> None:
    """Open the magnifying glass, move it with arrows and pointer, and close it."""
    glass = page.locator(".rr-glass")

    def middle() -> tuple[float, float]:
        page.wait_for_function("() => new Promise(requestAnimationFrame)")
        box = glass.bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    page.keyboard.press("m")
    glass.wait_for()
    pane = plate(page, "PA").bounding_box()
    assert pane is not None
    assert middle() == pytest.approx((pane["width"] / 2, pane["height"] / 2), abs=1)
    x, y = middle()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert middle() == pytest.approx((x + 24, y + 24), abs=1)
    page.mouse.move(640, 500)
    assert middle() == pytest.approx((640, 500), abs=1)
    page.keyboard.press("Escape")
    glass.wait_for(state="hidden")


def _hide_the_question_mirror_and_link(server: Server, reader: Reader) -> None:
    """Press Q to hide the question until an answer, Y to mirror until the next case, K to link.

    Enter does not confirm a hidden answer. Without a pointer, Y mirrors all films.
    """
    page = reader.page
    wide = page.locator(".rr-films").bounding_box()
    page.keyboard.press("b")
    page.keyboard.press("q")
    page.locator(".rr-question").wait_for(state="hidden")
    films_box = page.locator(".rr-films").bounding_box()
    assert wide is not None
    assert films_box is not None
    assert films_box["width"] > wide["width"] + 200
    assert page.get_by_text("Case 5 of 10").is_visible()
    page.keyboard.press("Enter")
    page.locator(".rr-question").wait_for()
    assert reader.state("position") == "5"
    page.keyboard.press("q")
    page.locator(".rr-question").wait_for(state="hidden")
    page.keyboard.press("c")
    page.locator("[data-option=C][aria-pressed=true]").wait_for()
    page.keyboard.press("Enter")
    reader.wait("ready", 6)
    reader.wait_saved()
    assert server.readings()[4]["answer"] == "C"

    page.keyboard.press("y")
    page.wait_for_function("document.querySelectorAll('.rr-mirrored:not([hidden])').length === 2")
    page.keyboard.press("y")
    expect(page.locator(".rr-mirrored:visible")).to_have_count(0)
    page.mouse.move(500, 400)
    page.keyboard.press("y")
    plate(page, "LATERAL").locator(".rr-mirrored").wait_for()
    assert not plate(page, "PA").locator(".rr-mirrored").is_visible()
    reader.answer("a")
    reader.wait("ready", 7)
    assert page.locator(".rr-mirrored:visible").count() == 0

    before = zoom(page, "LATERAL")
    page.mouse.move(200, 400)
    page.mouse.wheel(0, -300)
    _changed(page, "PA", f"{before} %")
    nearer = zoom(page, "PA")
    assert nearer > before
    assert zoom(page, "LATERAL") == before
    page.keyboard.press("k")
    _assert_text(page, "LATERAL", "linked")
    page.mouse.wheel(0, -200)
    _changed(page, "PA", f"{nearer} %")
    assert zoom(page, "LATERAL") / before == pytest.approx(zoom(page, "PA") / nearer, rel=0.01)
    windows = {name: _state(page, name).split("  ")[0] for name in ("PA", "LATERAL")}
    drag(page, (80, 0))
    for name, text in windows.items():
        _changed(page, name, text)


def _measure(reader: Reader, position: int) -> None:
    """Measure in three cases, starting at a position.

    A line keeps its length under zoom, pan, mirror, rotation and swap, and its ends can be moved. J
    and an arrow draw a line by keyboard, arrows and O move its ends, and four are the maximum.
    """
    page = reader.page
    per_px = SPACING_MM / (zoom(page, "PA") / 100)
    page.keyboard.press("j")
    _assert_text(page, "PA", "measuring")
    drag(page, (120, 90))
    assert lengths(page) == [pytest.approx(150 * per_px, rel=0.01)]
    length = lengths(page)
    for key in ("+", "y", "Shift+Y", "x", "k", "Shift+ArrowLeft", "0", "k", "j"):
        page.keyboard.press(key)
        assert lengths(page) == length
    page.keyboard.press("r")
    assert lengths(page) == []
    page.keyboard.press("j")
    drag(page, (120, 0))
    drag(page, (60, 0), start=(321, 401))
    assert lengths(page) == [pytest.approx(180 * per_px, rel=0.02)]
    page.mouse.move(380, 400)
    page.keyboard.press("y")
    _assert_text(page, "PA", "MIRRORED")
    pane = plate(page, "PA").bounding_box()
    assert pane is not None
    end = round(2 * pane["x"] + pane["width"]) - 200
    drag(page, (-60, 0), start=(end, 400))
    assert lengths(page) == [pytest.approx(120 * per_px, rel=0.02)]
    page.keyboard.press("Delete")
    assert lengths(page) == []
    reader.answer("a")
    reader.wait("ready", position + 1)
    assert page.get_by_text("measuring").count() == 0

    per_px = SPACING_MM / (zoom(page, "PA") / 100)
    page.keyboard.press("j")
    page.keyboard.press("ArrowRight")
    [first] = lengths(page)
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert lengths(page) == [pytest.approx(first + 20 * per_px, abs=0.2)]
    page.keyboard.press("o")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert lengths(page) == [pytest.approx(first, abs=0.2)]
    for _ in range(4):
        page.keyboard.press("u")
    assert len(lengths(page)) == 4
    page.get_by_text("Maximum 4 measurements").wait_for()
    page.keyboard.press("o")
    page.keyboard.press("Backspace")
    assert len(lengths(page)) == 3
    reader.answer("b")
    reader.wait("ready", position + 2)
    assert lengths(page) == []
    page.keyboard.press("u")
    assert len(lengths(page)) == 1
    page.keyboard.press("Escape")
    assert lengths(page) == []
    reader.answer("b")
    reader.wait("ready", position + 3)


def test_each_reader_has_separate_settings_for_wheel_and_button(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """They survive a reload, and the next reader has the defaults.

    A film without pixel spacing has no scale bar, and lengths are not measured.
    """
    server = serve(readers=("R1", "R2"))
    page = reader.page
    change_desk(page, "for (const view of views) delete view.spacing_mm")
    _come(server, reader)
    fitted = zoom(page, "PA")
    _set(page, "pans the image up and down")
    page.keyboard.press("s")
    page.get_by_role("radio", name="pans the image", exact=True).check()
    page.keyboard.press("s")
    page.keyboard.press("l")
    page.reload()
    reader.wait("ready")
    assert reader.state("theme") == "light"
    before = _state(page, "PA")
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 200)
    drag(page, (60, 30))
    page.wait_for_function("() => new Promise(requestAnimationFrame)")
    assert _state(page, "PA") == before
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -200)
    _changed(page, "PA", f"{fitted} %")
    page.keyboard.up("Shift")
    assert zoom(page, "PA") > fitted
    page.keyboard.press("0")
    _assert_text(page, "PA", f"{fitted} %")
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    behaviour = json.loads(server.readings()[0]["behaviour"])
    assert {name: behaviour[name] for name in ("pan", "zoom", "fit")} == {
        "pan": 2,
        "zoom": 1,
        "fit": 1,
    }
    context.clear_cookies()
    _come(server, reader, "R2")
    assert reader.state("theme") == "dark"
    page.mouse.move(200, 400)
    page.mouse.wheel(0, -200)
    _changed(page, "PA", f"{fitted} %")
    assert zoom(page, "PA") > fitted
    assert page.locator(".rr-scale:visible").count() == 0
    page.keyboard.press("j")
    page.get_by_text("lengths cannot be measured").wait_for()
    assert page.get_by_text("measuring", exact=True).count() == 0


def _use_views_and_tools(server: Server, reader: Reader) -> None:
    """Check that their time survives a reload, excludes pauses, and is within the response time."""
    page = reader.page
    page.keyboard.press("i")
    page.locator(".rr-plate-state:visible", has_text="inverted").first.wait_for()
    page.wait_for_timeout(300)
    page.keyboard.press("p")
    reader.wait("paused")
    page.wait_for_timeout(900)
    page.keyboard.press("p")
    reader.wait("ready")
    page.keyboard.press("i")
    page.keyboard.press("v")
    page.keyboard.press("m")
    page.keyboard.press("w")
    page.locator(".rr-plate-state:visible", has_text="soft").wait_for()
    _type_a_window(page)
    page.wait_for_timeout(300)
    page.reload()
    reader.wait("ready")
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    row = server.readings()[0]
    used = json.loads(row["behaviour"])
    counts = {name: used.pop(name) for name in ("invert", "view", "glass", "window")}
    assert counts == {"invert": 2, "view": 1, "glass": 1, "window": 2}
    assert set(used) == {
        f"{name}_ms" for name in ("view_1", "view_2", "alone", "windowed", "inverted", "glass")
    }
    assert all(value == round(value) for value in used.values())
    assert min(used["inverted_ms"], used["alone_ms"]) >= 300
    # They are used in sequence, so a pause that counted for either would exceed the total.
    assert used["inverted_ms"] + used["alone_ms"] <= row["response_ms"] + 5
    # The second view of the item is the frontal one on the left, which is shown alone first.
    assert used["view_2_ms"] == pytest.approx(row["response_ms"], abs=5)
    assert used["view_1_ms"] == pytest.approx(row["response_ms"] - used["alone_ms"], abs=5)
    assert used["glass_ms"] <= used["alone_ms"]


def _type_a_window(page: Page) -> None:
    """Type a window. A width that is not a number is refused; Esc keeps the window unchanged."""
    page.keyboard.press("Shift+W")
    width, level = page.get_by_label("Width (W)"), page.get_by_label("Level (L)")
    expect(width).to_be_focused()
    page.keyboard.type("wide")
    page.keyboard.press("Enter")
    expect(width).to_have_attribute("aria-invalid", "true")
    page.get_by_role("alert").filter(has_text="not a number").wait_for()
    page.keyboard.type("12000")
    level.fill("9000")
    page.keyboard.press("Enter")
    page.locator(".rr-plate-state:visible", has_text=re.compile(r"W 12000\s+L 9000")).wait_for()
    page.keyboard.press("Shift+W")
    page.keyboard.type("7")
    page.keyboard.press("Escape")
    page.locator(".rr-sheet").wait_for(state="hidden")
    page.locator(".rr-plate-state:visible", has_text=re.compile(r"W 12000\s+L 9000")).wait_for()


def _draw_a_ratio_and_keep_a_window(reader: Reader) -> None:
    """Press Shift + J for two spans, whose ends can be dragged. A window is kept on request."""
    page = reader.page
    page.keyboard.press("Shift+J")
    label = page.locator(".rr-marks text", has_text="CTR")
    expected = (0.65 - 0.35) / (0.85 - 0.15)
    assert float((label.text_content() or "").split()[1]) == pytest.approx(expected, abs=0.006)
    pane = plate(page, "PA").bounding_box()
    assert pane is not None
    end = (round(pane["x"] + 0.65 * pane["width"]), round(pane["y"] + 0.6 * pane["height"]))
    drag(page, (round(0.1 * pane["width"]), 40), start=end)
    label.filter(has_text="CTR 0.57").wait_for(state="attached")
    page.keyboard.press("F7")
    _assert_text(page, "PA", "lungs")
    reader.answer("a")
    reader.wait("ready", 9)
    assert label.count() == 0
    assert "lungs" not in _state(page, "PA")
    page.keyboard.press("F7")
    _set(page, "keep my window for each view")
    reader.answer("a")
    reader.wait("ready", 10)
    _assert_text(page, "PA", "lungs")
    page.keyboard.press("r")
    page.locator(".rr-plate-state", has_text="lungs").first.wait_for(state="hidden")
