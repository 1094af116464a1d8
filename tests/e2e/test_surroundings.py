"""What surrounds a reading is told by its flags, in a real browser."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.conftest import write_bank
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


def _flags(server: Server) -> list[set[str]]:
    return [set(json.loads(row["flags"])) for row in server.readings()]


def test_doubtful_surroundings_are_flagged_one_by_one(serve: Serve, reader: Reader) -> None:
    """A cover, a zoomed page, a small window, a clock that is set: each has a name."""
    server = serve(cases=6)
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    cover = (
        "(() => { const over = document.createElement('div'); over.id = 'over'; over.popover ="
        " 'manual'; over.style = 'position: fixed; inset: 0; width: 100%; height: 100%'; "
        "document.body.append(over); over.showPopover(); })()"
    )
    outer = (
        "Object.defineProperty(window, 'outerWidth', {get: () => innerWidth * %s,"
        " configurable: true})"
    )
    for position, (before, after) in enumerate(
        [
            ("", ""),
            (cover, "document.getElementById('over').remove()"),
            (outer % 1.25, outer % 1),
            ("Date.now = (now => () => now() + 400)(Date.now)", ""),
        ],
        start=1,
    ):
        reader.wait("ready", position)
        page.wait_for_timeout(150)  # the first look has been taken
        if before:
            page.evaluate(before)
        page.wait_for_timeout(700)
        if after:
            page.evaluate(after)
        reader.answer("a")
    reader.wait("ready", 5)
    page.set_viewport_size({"width": 900, "height": 600})
    page.wait_for_timeout(700)
    reader.answer("a")
    reader.wait("ready", 6)
    reader.wait_saved()
    names = {"page_covered", "page_zoom", "clock_set", "window_too_small", "film_not_whole"}
    assert [flags & names for flags in _flags(server)] == [
        set(),
        {"page_covered"},
        {"page_zoom"},
        {"clock_set"},
        {"window_too_small"},
    ]


def test_a_computer_that_slept_is_not_charged(serve: Serve, reader: Reader) -> None:
    """Where the clock ran on in its sleep, that time is hidden time, and flagged."""
    server = serve()
    reader.page.add_init_script(
        "const now = performance.now.bind(performance); window.slept = 0;"
        " performance.now = () => now() + window.slept;"
    )
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.wait_for_timeout(300)
    reader.page.evaluate("window.slept = 60_000")
    reader.page.wait_for_timeout(300)
    reader.page.keyboard.press("a")
    reader.page.keyboard.press("p")
    reader.wait("paused")
    kept = reader.page.evaluate(
        "JSON.parse(Object.entries(localStorage).find(([key]) => key.endsWith(':running'))[1])"
    )
    assert "asleep" in kept["flags"]
    assert kept["clock"]["hidden_ms"] == pytest.approx(60_000, abs=2_000)
    assert kept["clock"]["response_ms"] < 30_000


TRANSLATIONS = {
    "untouched": "",
    "Google's class": "document.documentElement.classList.add('translated-ltr')",
    "from right to left": "document.documentElement.classList.add('translated-rtl')",
    "font elements": "QUESTION.innerHTML = `<font><font>${QUESTION.textContent}</font></font>`",
    "Edge's marks": "QUESTION.setAttribute('_msttexthash', '1')",
    "the question's words": "QUESTION.textContent = 'Welcher Befund?'",
    "an option's words": "OPTION.firstChild.data = 'Pneumonie'",
    "the context's words": "CONTEXT.firstChild.data = 'Alter'",
}


def test_a_translated_page_is_flagged_and_the_reader_is_told(
    serve: Serve, reader: Reader, tmp_path: Path
) -> None:
    """Whichever way translators change a page; the next case has the study's own words again."""
    server = serve(cases=len(TRANSLATIONS), bank=write_bank(tmp_path / "bank", 5))
    page, warning = reader.page, reader.page.locator(".rr-warning")
    reader.enter(server.url, server.codes["R1"])
    for position, change in enumerate(TRANSLATIONS.values(), start=1):
        reader.wait("ready", position)
        expect(warning).to_be_empty()
        page.evaluate(
            "const QUESTION = document.querySelector('.rr-question');"
            "const OPTION = document.querySelector('[data-option=B] span');"
            f"const CONTEXT = document.querySelector('.rr-context dt');{change}"
        )
        if change:
            expect(warning).to_contain_text("Turn translation off")
        reader.answer("a")
        page.evaluate(
            "document.documentElement.classList.remove('translated-ltr', 'translated-rtl');"
            "document.querySelector('.rr-question').removeAttribute('_msttexthash')"
        )
    reader.wait("finished")
    flagged = ["page_translated" in flags for flags in _flags(server)]
    assert flagged == [bool(change) for change in TRANSLATIONS.values()]


def test_nothing_on_the_page_is_offered_for_translation(serve: Serve, reader: Reader) -> None:
    """The document asks browsers to leave it, and every element of the room is marked."""
    server = serve(comments=True)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    asked = "document.querySelector('meta[name=google]')?.content"
    assert reader.page.evaluate(asked) == "notranslate"
    marked = "[...document.querySelectorAll('.reading-room, .reading-room *')]"
    assert reader.page.evaluate(f"{marked}.filter((each) => each.translate === true).length") == 0
