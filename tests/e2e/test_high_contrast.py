"""In Windows high contrast, every state of the reading page is visible."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page

from tests.conftest import write_bank_with_priors
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]

VISIBLE = 60
"""Number of pixels of an element that must change by a quarter of the range: a short line."""

STATES = [
    ("an option is chosen", "[data-option=B]", [], ["b"]),
    ("Confirm is ready", ".rr-confirm", [], ["b"]),
    ("confidence is asked for", ".rr-sure", [], ["b"]),
    ("confidence is given", "[data-step='3']", ["b"], ["3"]),
    ("a reason is chosen", "[data-reason='2']", ["n"], ["2"]),
    ("a reason is complete", ".rr-confirm", ["n"], ["2"]),
    ("inverted", "[data-command=invert]", [], ["i"]),
    ("magnified", "[data-command=glass]", [], ["m"]),
    ("mirrored", "[data-command=flip]", [], ["y"]),
    ("measuring", "[data-command=measure]", [], ["j"]),
    ("linked", "[data-command=link]", [], ["k"]),
    ("tools are idle", ".rr-tools [data-command=invert]", [], ["p"]),
    ("the question is faulty", ".rr-faulty", [], ["Shift+T"]),
    ("the comment has the focus", ".rr-comment", [], ["t"]),
    ("an option has the focus", ".rr-options", [], ["Tab"]),
    ("the chosen option has the focus", ".rr-options", ["a"], ["Tab"]),
    ("a chosen setting", ".rr-setting:nth-of-type(1)", ["s"], ["ArrowDown"]),
]
"""State, element, keys pressed before, and keys that cause the state."""

QUESTIONS = [
    {"id": "level", "question": "What are you?", "kind": "choice", "options": ["Yes", "No"]},
    {"id": "years", "question": "How many years?", "kind": "number"},
]

STEPS = [
    ("missing", "[data-question=level]", ["Enter"]),
    ("what is missing", ".rr-prelude-hint", ["1", "Backspace"]),
    ("chosen", ".rr-radios label:nth-of-type(2)", ["2"]),
    ("left", "[data-question=level]", ["Enter"]),
    ("number missing", "[data-question=years]", ["Enter"]),
    ("focus on the button", ".rr-primary", ["1", "Tab"]),
    ("display check", ".rr-prelude-sheet", ["Enter"]),
    ("focus on a place", "[data-place='1']", ["Tab"]),
]
"""State, element, and keys that cause the state, before the first case."""

FADED_MS = 450
"""The tools fade within 0.4 s."""

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)


def _outlined_box(page: Page, selector: str) -> dict[str, float]:
    """Return the rectangle of an element with its outline."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None, selector
    width, height = box["width"] + 12, box["height"] + 12
    return {"x": box["x"] - 6, "y": box["y"] - 6, "width": width, "height": height}


def _pixels(page: Page, place: dict[str, float]) -> np.ndarray[Any, Any]:
    shot = page.screenshot(clip=place, animations="disabled")  # type: ignore[arg-type]
    return np.asarray(Image.open(io.BytesIO(shot)).convert("L"), dtype=float)


def _by_theme(
    page: Page, place: dict[str, float], themes: tuple[Theme, ...] = THEMES
) -> dict[Theme, np.ndarray[Any, Any]]:
    """Return the pixels of an area in each theme. The page keeps the last theme."""
    pixels = {}
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        pixels[theme] = _pixels(page, place)
    return pixels


def _unchanged(page: Page, selector: str, change: Callable[[], object]) -> dict[Theme, int]:
    """Return the themes in which too few pixels of an element change, with their number."""
    place = _outlined_box(page, selector)
    before = _by_theme(page, place)
    change()
    page.wait_for_timeout(FADED_MS)
    after = _by_theme(page, place, THEMES[::-1])  # a change of the theme is expensive
    changed = {theme: int((np.abs(after[theme] - before[theme]) > 64).sum()) for theme in THEMES}
    return {theme: n for theme, n in changed.items() if n < VISIBLE}


def _press(page: Page, keys: list[str]) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_every_state_of_the_reading_page_is_visible(
    serve: Serve, reader: Reader, tmp_path: Path
) -> None:
    """Steps, options, buttons, tools, focus, confidence and feedback are checked in both themes."""
    server = serve(
        bank=_measurable(write_bank_with_priors(tmp_path / "bank", 16)),
        cases=len(STATES),
        questionnaire=QUESTIONS,
        display_check=True,
        practice_cases=1,
        confidence=5,
        comments=True,
        cannot_answer=True,
        fault_marks=True,
    )
    page = reader.page
    page.emulate_media(forced_colors="active")
    page.set_viewport_size({"width": 1600, "height": 1000})
    reader.enter(server.url, server.codes["R1"])
    unseen = {}

    def see(state: str, selector: str, change: Callable[[], object]) -> None:
        if unchanged := _unchanged(page, selector, change):
            unseen[state] = unchanged

    page.wait_for_selector("[data-step='questionnaire']")
    for state, selector, keys in STEPS:
        see(state, selector, lambda keys=keys: _press(page, keys))  # type: ignore[misc]
    _leave_the_display_check(page)
    reader.wait("ready", 0)
    _press(page, ["b", "3"])
    see("the reference answer", ".rr-options", lambda: _feedback(page))
    page.keyboard.press("Enter")
    for position, (state, selector, before, keys) in enumerate(STATES, start=1):
        reader.wait("ready", position)
        _press(page, before)
        page.wait_for_timeout(FADED_MS)
        see(state, selector, lambda keys=keys: _press(page, keys))  # type: ignore[misc]
        _press(page, ["Escape"])
        if reader.state("state") == "paused":
            page.keyboard.press("p")
        reader.wait("ready", position)
        page.evaluate("document.activeElement.blur()")
        _press(page, ["a", "1"])
        if position == 1:
            see("progress", ".rr-progress", lambda: _next(reader, 2))
        elif position < len(STATES):
            _next(reader, position + 1)
    assert unseen == {}


def _leave_the_display_check(page: Page) -> None:
    """Check that nothing bright is next to the test field, and complete the check."""
    for theme, pixels in _by_theme(page, _outlined_box(page, ".rr-field")).items():
        assert pixels[:6].max() < 30, f"nothing bright is next to the test field ({theme})"
    page.evaluate("document.activeElement.blur()")
    while not page.locator(".rr-advice").count():
        page.keyboard.press("Space")
    page.keyboard.press("Enter")


def _measurable(path: Path) -> Path:
    """Add the pixel spacing to the films of a bank, so that they can be measured."""
    records = json.loads(path.read_text())
    for record in records.values():
        record["pixel_spacing"] = 2.0
    path.write_text(json.dumps(records))
    return path


def _feedback(page: Page) -> None:
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-feedback='true']")


def _next(reader: Reader, position: int) -> None:
    reader.page.keyboard.press("Enter")
    reader.wait("ready", position)
