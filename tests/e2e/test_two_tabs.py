"""One reader, several windows of one browser: reading goes on in one of them at a time."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from study.trail.verification import verify
from tests.e2e.conftest import Profile, Reader
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


@pytest.fixture
def context(profile: Profile) -> BrowserContext:
    """Return a browser profile of its own, which scripts may be added to."""
    return profile()


def _told(reader: Reader, words: str) -> None:
    """Wait for the sheet that says so, with no case behind it."""
    expect(reader.page.locator(".rr-sheet")).to_contain_text(words)
    assert reader.state("state") == "loading"
    assert reader.brightness() < 0.05
    assert not reader.page.locator(".rr-question").is_visible()


def _go_on_here(reader: Reader) -> None:
    """Press the sheet's button, later than a key held down since the window opened."""
    reader.page.wait_for_timeout(700)
    reader.page.get_by_role("button", name="Continue here").click()


def _second(context: BrowserContext, server: Server) -> Reader:
    other = Reader(context.new_page())
    other.page.goto(server.url)
    return other


def test_a_second_tab_waits_until_told_and_the_case_goes_on_with_its_time(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """Nothing doubled, nothing lost: choice and time move over, and back again."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.page.keyboard.press("c")
    reader.page.wait_for_timeout(1200)
    other = _second(context, server)
    _told(other, "Reading is open in another window")
    assert reader.state("state") == "ready"
    for key in ("Escape", "d", "p"):
        other.page.keyboard.press(key)
    _told(other, "Reading is open in another window")
    _go_on_here(other)
    other.wait("ready", 2)
    assert other.page.locator("[data-option=C]").get_attribute("aria-pressed") == "true"
    _told(reader, "Reading has continued in another window")
    reader.page.keyboard.press("d")
    other.page.keyboard.press("Enter")
    other.wait("ready", 3)
    other.answer("b")
    other.wait("ready", 4)
    other.wait_saved()
    _told(reader, "Reading has continued in another window")
    _go_on_here(reader)
    reader.wait("ready", 4)
    _told(other, "Reading has continued in another window")
    for position in (4, 5, 6):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("finished")
    rows = server.readings()
    assert [row["answer"] for row in rows] == ["A", "C", "B", "A", "A", "A"]
    assert [("resumed" in row["flags"]) for row in rows] == [False, True, False, True, False, False]
    moved = rows[1]
    assert moved["response_ms"] >= 1200
    assert moved["hidden_ms"] > 0
    assert moved["elapsed_ms"] == pytest.approx(
        moved["response_ms"] + moved["hidden_ms"] + moved["paused_ms"], abs=1
    )
    assert verify(server.store) == []


def test_what_was_not_sent_yet_moves_over_too(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """A line cut for one window only: the other sends its answers and does not ask them again."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.wait_saved()
    reader.page.wait_for_load_state("networkidle")
    reader.page.route("**/desk/records", lambda route: route.abort())
    for position, key in ((1, "b"), (2, "c")):
        reader.wait("ready", position)
        reader.answer(key)
    reader.wait("ready", 3)
    other = _second(context, server)
    _told(other, "Reading is open in another window")
    _go_on_here(other)
    other.wait("ready", 3)
    other.answer("d")
    other.wait_saved()
    reader.page.unroute("**/desk/records")
    reader.page.evaluate("window.dispatchEvent(new Event('online'))")
    reader.wait_saved()
    assert [row["answer"] for row in server.readings()] == ["B", "C", "D"]


def test_a_closed_or_reloaded_window_leaves_no_sheet_behind(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """Not even for a moment; the heartbeat goes with the page."""
    server = serve()
    context.add_init_script(SHEETS_SEEN)
    reader.enter(server.url, server.codes["R1"])
    for _ in range(3):
        reader.wait("ready", 1)
        reader.page.reload()
    reader.wait("ready", 1)
    reader.page.goto("about:blank")
    reader.page.go_back()
    reader.wait("ready", 1)
    reader.page.close(run_before_unload=True)
    other = _second(context, server)
    other.wait("ready", 1)
    assert other.page.evaluate("localStorage.getItem('sheet-seen')") is None


def test_without_channels_the_first_answer_stands(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """A browser without BroadcastChannel: the other tab is told and goes on where the reader is."""
    server = serve()
    context.add_init_script(NO_CHANNEL)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    other = _second(context, server)
    other.wait("ready", 1)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    other.answer("d")
    other.wait("ready", 2)
    other.wait_saved()
    assert [(row["position"], row["answer"]) for row in server.readings()] == [(1, "A")]


def test_a_page_that_comes_back_from_the_browsers_memory_goes_on(
    serve: Serve, reader: Reader
) -> None:
    """It hides its film when it goes, asks where the reader is when it returns, and flags it."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
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
