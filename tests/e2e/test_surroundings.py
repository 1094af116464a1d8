"""Doubtful circumstances of a reading are flagged, in a browser."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.conftest import write_bank
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]


def _flags(server: Server) -> list[set[str]]:
    return [set(json.loads(row["flags"])) for row in server.readings()]


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


def test_each_doubtful_circumstance_is_flagged(
    serve: Serve, reader: Reader, tmp_path: Path
) -> None:
    """The page is translated, covered or zoomed, the window is small, or the clock is set."""
    n = len(TRANSLATIONS)
    bank = write_bank(tmp_path / "bank", 7)
    server = serve(cases=n + 6, bank=bank, comments=True)
    reader.enter(server.url, server.codes["R1"])
    _translate_each_case(reader)
    flagged = ["page_translated" in flags for flags in _flags(server)[:n]]
    assert flagged == [bool(change) for change in TRANSLATIONS.values()]
    page = reader.page
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
        start=n + 1,
    ):
        reader.wait("ready", position)
        page.wait_for_timeout(150)  # the first check has been made
        if before:
            page.evaluate(before)
        page.wait_for_timeout(700)
        if after:
            page.evaluate(after)
        reader.answer("a")
    reader.wait("ready", n + 5)
    page.set_viewport_size({"width": 900, "height": 600})
    page.wait_for_timeout(700)
    reader.answer("a")
    reader.wait("ready", n + 6)
    reader.wait_saved()
    names = {"page_covered", "page_zoom", "clock_set", "window_too_small", "film_not_whole"}
    assert [flags & names for flags in _flags(server)[n:]] == [
        set(),
        {"page_covered"},
        {"page_zoom"},
        {"clock_set"},
        {"window_too_small"},
    ]


def _translate_each_case(reader: Reader) -> None:
    """Check that each translation is reported. The next case has the original text again.

    The document asks browsers not to translate it, and marks every element of the room.
    """
    page, warning = reader.page, reader.page.locator(".rr-warning")
    reader.wait("ready", 1)
    assert page.evaluate("document.querySelector('meta[name=google]')?.content") == "notranslate"
    elements = "[...document.querySelectorAll('.reading-room, .reading-room *')]"
    assert page.evaluate(f"{elements}.filter((each) => each.translate === true).length") == 0
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
    reader.wait("ready", len(TRANSLATIONS) + 1)
    reader.wait_saved()
