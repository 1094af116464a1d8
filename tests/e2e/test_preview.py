"""The preview in a browser: the reading page from beginning to end, without records."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.conftest import SECRETS
from tests.e2e.conftest import Reader
from tests.e2e.server import Server
from tests.unit.study.lifecycle.test_previews import rows_by_table

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]

KEPT = "Object.keys(localStorage).filter(name => name.startsWith('reading-room')).sort()"
STUDY: dict[str, Any] = {
    "cases": 3,
    "consent": "# May we?\n\nYou read **films**.",
    "practice_cases": 1,
    "confidence": 3,
    "time_limit_s": 300,
    "break_every": 2,
    "feedback": "after study",
}


def _arrive(server: Server, reader: Reader) -> None:
    reader.enter(server.url, server.codes["coordinator"])
    reader.page.get_by_role("link", name="Results").wait_for()


def _open(server: Server, reader: Reader) -> Page:
    reader.page.goto(f"{server.url}/preview")
    reader.page.wait_for_selector("[data-step='consent']")
    return reader.page


def _answer(reader: Reader, *keys: str) -> None:
    for key in keys:
        reader.page.keyboard.press(key)


def test_a_complete_preview_records_nothing(serve: Serve, reader: Reader) -> None:
    """It starts again on request, survives a reload at each step, and does not change the store."""
    server = serve(**STUDY)
    _arrive(server, reader)
    before = rows_by_table(server.store)  # the sign-in is recorded, the preview is not
    page = _open(server, reader)
    banner = page.locator(".rr-banner")
    assert "Preview: nothing is recorded" in banner.inner_text()
    _answer(reader, "1", "Enter")
    reader.wait("ready", 0)
    page.get_by_role("button", name="Start again").focus()
    _answer(reader, "Enter")
    page.wait_for_selector("[data-step='consent']")
    _answer(reader, "1", "Enter")
    reader.wait("ready", 0)
    assert page.locator(".rr-position").inner_text() == "Practice 1 of 1"
    reader.wait_picture()
    assert reader.brightness() > 0.02
    _answer(reader, "a", "Enter", "2", "Enter")
    page.wait_for_selector("[data-feedback='true']")
    feedback = page.locator(".rr-feedback").inner_text()
    assert "This is not the real answer" in feedback
    assert SECRETS[2] not in feedback
    _answer(reader, "Enter")
    page.wait_for_selector("[data-halt='begin']")
    _answer(reader, "p")
    reader.wait("ready", 1)
    assert "left" in page.locator(".rr-countdown").inner_text()
    page.reload()
    reader.wait("ready", 1)
    assert banner.is_visible()
    for position in (1, 2):
        reader.wait("ready", position)
        _answer(reader, "b", "Enter", "1", "Enter")
    page.wait_for_selector("[data-halt='break']")
    _answer(reader, "p")
    reader.wait("ready", 3)
    _answer(reader, "b", "Enter", "1", "Enter")
    reader.wait("finished")
    assert "to see your answers beside" in page.locator(".rr-curtain").inner_text()
    assert page.evaluate(KEPT) == []
    assert rows_by_table(server.store) == before
    page.locator(".rr-curtain").get_by_role("button", name="End preview").click()
    page.get_by_role("link", name="Results").wait_for()


def test_a_preview_looks_like_the_reading_page_and_leaves_its_data_alone(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """Films, question and buttons have the same position. A reader's open case is kept."""
    server = serve(cases=3)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    places = """() => ['.rr-films', '.rr-panel', '.rr-options', '.rr-confirm', '.rr-tools'].map(
      (selector) => {
        const box = document.querySelector(selector).getBoundingClientRect();
        return [box.x, box.y, box.width, box.height];
      })"""
    of_reader = reader.page.evaluate(places)
    reader.page.keyboard.press("c")
    reader.page.goto("about:blank")
    context.clear_cookies()
    page = context.new_page()
    coordinator = Reader(page)
    coordinator.enter(server.url, server.codes["coordinator"])
    page.get_by_role("link", name="Results").wait_for()
    storage = page.evaluate(KEPT)
    assert storage
    page.goto(f"{server.url}/preview")
    coordinator.wait("ready", 1)
    assert page.evaluate(places) == of_reader
    coordinator.answer("a")
    coordinator.wait("ready", 2)
    assert page.evaluate(KEPT) == storage
    context.clear_cookies()
    page.goto("about:blank")
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    assert reader.page.locator("[data-option='C']").get_attribute("aria-pressed") == "true"
    assert server.readings() == []
