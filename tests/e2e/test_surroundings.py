"""What surrounds a reading is told by its flags, in a real browser."""

import json
from collections.abc import Callable

import pytest

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
