"""The way back to an earlier case, on a cut line and after a change elsewhere."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext

from tests.e2e.conftest import Profile, Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


def test_going_back_needs_no_line(serve: Serve, reader: Reader, context: BrowserContext) -> None:
    """The case before is still at hand with its answer; a change made there arrives later."""
    server = serve(back_navigation=True)
    reader.enter(server.url, server.codes["R1"])
    for position, key in ((1, "a"), (2, "b")):
        reader.wait("ready", position)
        reader.answer(key)
    reader.wait("ready", 3)
    reader.wait_saved()
    context.set_offline(True)
    reader.page.keyboard.press("Backspace")
    reader.wait("ready", 2)
    assert reader.brightness() > 0.1
    assert reader.page.locator("[data-option=B]").get_attribute("aria-pressed") == "true"
    reader.answer("c")
    reader.wait("ready", 3)
    context.set_offline(False)
    reader.wait_saved()
    answers = [(row["position"], row["answer"]) for row in server.readings()]
    assert answers == [(1, "A"), (2, "B"), (2, "C")]


def test_an_answer_changed_elsewhere_comes_up_when_going_back(
    serve: Serve, reader: Reader, profile: Profile
) -> None:
    """The page shows what it remembers at once, and what the server knows as soon as it says so."""
    server = serve(back_navigation=True)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    other = Reader(profile().new_page())
    other.enter(server.url, server.codes["R1"])
    other.wait("ready", 2)
    other.page.keyboard.press("Backspace")
    other.wait("ready", 1)
    other.answer("d")
    other.wait("ready", 2)
    other.wait_saved()
    reader.page.keyboard.press("Backspace")
    reader.page.wait_for_selector("[data-option=D][aria-pressed=true]")
    assert reader.state("position") == "1"
