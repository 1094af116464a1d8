"""A reader with several windows of a browser can read in one of them at a time."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from study.trail.verification import verify
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]

SHEETS_SEEN = """
new MutationObserver(() => {
  const sheet = document.querySelector(".rr-sheet:not([hidden])");
  if (sheet) localStorage.setItem("sheet-seen", sheet.textContent);
}).observe(document, {childList: true, subtree: true, attributes: true});
"""
NO_CHANNEL = "delete window.BroadcastChannel;"


def _shows_sheet(reader: Reader, words: str) -> None:
    """Wait for a sheet with a text, behind which no case is shown."""
    expect(reader.page.locator(".rr-sheet")).to_contain_text(words)
    assert reader.state("state") == "loading"
    assert reader.brightness() < 0.05
    assert not reader.page.locator(".rr-question").is_visible()


def _continue_here(reader: Reader) -> None:
    """Press the button of the sheet after the time in which a held key is ignored."""
    reader.page.wait_for_timeout(700)
    reader.page.get_by_role("button", name="Continue here").click()


def _second(context: BrowserContext, server: Server) -> Reader:
    other = Reader(context.new_page())
    other.page.goto(server.url)
    return other


def _move_to_a_second_tab_and_back(server: Server, reader: Reader, context: BrowserContext) -> None:
    """Check that choice, time and unsent answers move. No answer is lost or stored twice.

    A case has already been read.
    """
    reader.page.wait_for_load_state("networkidle")
    reader.page.route("**/desk/records", lambda route: route.abort())
    reader.answer("a")
    reader.wait("ready", 3)
    reader.page.keyboard.press("c")
    reader.page.wait_for_timeout(1200)
    other = _second(context, server)
    _shows_sheet(other, "Reading is open in another window")
    assert reader.state("state") == "ready"
    for key in ("Escape", "d", "p"):
        other.page.keyboard.press(key)
    _shows_sheet(other, "Reading is open in another window")
    _continue_here(other)
    other.wait("ready", 3)
    assert other.page.locator("[data-option=C]").get_attribute("aria-pressed") == "true"
    _shows_sheet(reader, "Reading has continued in another window")
    reader.page.keyboard.press("d")
    other.page.keyboard.press("Enter")
    other.wait("ready", 4)
    other.answer("b")
    other.wait("ready", 5)
    other.wait_saved()
    reader.page.unroute("**/desk/records")
    reader.page.evaluate("window.dispatchEvent(new Event('online'))")
    reader.wait_saved()
    assert [row["answer"] for row in server.readings()[1:]] == ["A", "C", "B"]
    _shows_sheet(reader, "Reading has continued in another window")
    _continue_here(reader)
    reader.wait("ready", 5)
    _shows_sheet(other, "Reading has continued in another window")
    for position in (5, 6, 7):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("finished")
    rows = server.readings()[1:]
    assert [row["answer"] for row in rows] == ["A", "C", "B", "A", "A", "A"]
    assert [("resumed" in row["flags"]) for row in rows] == [True, True, False, True, False, False]
    moved = rows[1]
    assert moved["response_ms"] >= 1200
    assert moved["hidden_ms"] > 0
    assert moved["elapsed_ms"] == pytest.approx(
        moved["response_ms"] + moved["hidden_ms"] + moved["paused_ms"], abs=1
    )
    assert verify(server.store) == []


def test_reading_moves_between_tabs_and_survives_their_closing(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """A restored, closed or reloaded window does not show a sheet, not even briefly.

    Closing the page ends its heartbeat. In a second tab, reading continues on request.
    """
    server = serve(cases=7)
    reader.page.add_init_script(SHEETS_SEEN)
    reader.enter(server.url, server.codes["R1"])
    _restore_from_the_cache(server, reader)
    for _ in range(3):
        reader.wait("ready", 2)
        reader.page.reload()
    reader.wait("ready", 2)
    reader.page.goto("about:blank")
    reader.page.go_back()
    reader.wait("ready", 2)
    reader.page.close(run_before_unload=True)
    other = Reader(context.new_page())
    other.page.add_init_script(SHEETS_SEEN)
    other.page.goto(server.url)
    other.wait("ready", 2)
    assert other.page.evaluate("localStorage.getItem('sheet-seen')") is None
    _move_to_a_second_tab_and_back(server, other, context)


def _restore_from_the_cache(server: Server, reader: Reader) -> None:
    """Check that the film is hidden meanwhile, and that the pause is asked about and flagged."""
    reader.wait("ready", 1)
    reader.page.keyboard.press("b")
    event = "type => window.dispatchEvent(new PageTransitionEvent(type, {persisted: true}))"
    reader.page.evaluate(event, "pagehide")
    assert reader.state("state") == "loading"
    assert reader.brightness() < 0.05
    reader.page.evaluate(event, "pageshow")
    reader.wait("ready", 1)
    reader.page.keyboard.press("Enter")
    reader.wait("ready", 2)
    reader.wait_saved()
    (row,) = server.readings()
    assert row["answer"] == "B"
    assert "resumed" in row["flags"]
