"""The steps of the reading page in axe-core, and the messages for screen readers."""

from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]

QUESTIONS = [
    {"id": "level", "question": "What are you?", "kind": "choice", "options": ["Yes", "No"]},
    {"id": "years", "question": "How many years?", "kind": "number"},
]
PROTOCOL = {
    "consent": "# What happens here\n\nYou read **films**.",
    "instructions": "Read as you always do.",
    "questionnaire": QUESTIONS,
    "display_check": True,
    "confidence": 5,
    "comments": True,
    "cannot_answer": True,
    "fault_marks": True,
    "feedback": "after case",
}
WANTED = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}


def test_every_step_is_accessible_and_announces_what_changes(serve: Serve, reader: Reader) -> None:
    """Axe reports nothing from the consent to the feedback, in the dark and the light panel."""
    server = serve(**PROTOCOL)
    page = reader.page
    page.set_viewport_size({"width": 1440, "height": 900})
    reader.enter(server.url, server.codes["R1"])
    page.wait_for_selector("[data-step='consent']")
    axe = Axe()
    faults = {}
    for step in _steps(reader):
        for theme in ("light", "dark"):
            page.locator("[data-label=room]").evaluate(
                "(room, theme) => { room.dataset.theme = theme; }", theme
            )
            violations = axe.run(page, context=".reading-room", options=WANTED).response
            faults[step, theme] = [
                (violation["id"], node["target"])
                for violation in violations["violations"]
                for node in violation["nodes"]
            ]
        if step == "case":
            _check_names(page)
    assert len(faults) == 2 * 14
    assert not {step: nodes for step, nodes in faults.items() if nodes}


def _check_names(page: Page) -> None:
    """Check that the key of a control is a word of its name, and that the scale has its ends."""
    names = [("textbox", "Comment T"), ("checkbox", "This question is faulty ⇧T")]
    names += [("button", "Cannot answer N"), ("button", "Invert I")]
    for role, name in names:
        expect(page.get_by_role(role, name=name, exact=True)).to_be_visible()  # type: ignore[arg-type]
    scale = page.get_by_role("group", name="How confident are you?")
    expect(scale).to_have_accessible_description("not at all completely")


def _steps(reader: Reader) -> Iterator[str]:
    """Go through a study and yield at every step, each time with another appearance."""
    page, press = reader.page, reader.page.keyboard.press
    yield "consent"
    press("1")
    press("Enter")
    page.wait_for_selector("[data-step='instructions']")
    yield "instructions"
    press("Enter")
    page.wait_for_selector("[data-step='questionnaire']")
    yield "questionnaire"
    page.locator(".rr-primary").click()
    yield "questionnaire, answers missing"
    press("1")
    page.locator("[name=years]").fill("3")
    page.locator(".rr-primary").click()
    page.wait_for_selector("[data-step='display']")
    yield "display check"
    while not page.locator(".rr-advice").count():
        press("Space")
    yield "display check, result"
    press("Enter")
    page.wait_for_selector("[data-step='begin']")
    yield "begin"
    reader.wait("ready", 1)
    yield "case"
    _check_live_regions(reader)
    press("i")
    yield "case answered"
    press("n")
    yield "reasons"
    press("Escape")
    press("?")
    yield "shortcuts"
    press("?")
    press("s")
    yield "settings"
    press("s")
    press("p")
    reader.wait("paused")
    yield "pause"
    press("p")
    reader.wait("ready", 1)
    press("Enter")
    page.wait_for_selector("[data-feedback='true']")
    _check_live_regions_of_feedback(page)
    yield "feedback"


def _check_live_regions(reader: Reader) -> None:
    """Check that they announce the case, missing answers and the choice; leave 4 of 5 chosen."""
    page = reader.page
    assert _live(page) == "Case 1 of 6"
    page.wait_for_timeout(700)  # an Enter within 0.6 s counts as part of the last one
    page.keyboard.press("Enter")
    assert "Choose an answer first." in _live(page)
    page.evaluate(
        "window.heard = 0; new MutationObserver(() => { window.heard += 1; })"
        ".observe(document.querySelector('.rr-hint'), {childList: true})"
    )
    page.keyboard.press("Enter")
    page.wait_for_function("window.heard === 1")  # a repeated message is announced again
    page.keyboard.press("b")
    assert "B chosen" in _live(page)
    page.keyboard.press("4")
    assert "4 of 5" in _live(page)


def _check_live_regions_of_feedback(page: Page) -> None:
    """Check that saving and feedback are announced, and the state of a button is exposed."""
    expect(page.locator(".rr-outbox")).to_have_text("Saved")
    assert "reference answer" in _live(page)
    assert "Paused" not in _live(page)
    invert = page.get_by_role("button", name="Invert")
    expect(invert).to_have_attribute("aria-pressed", "true")
    invert.click()
    expect(invert).to_have_attribute("aria-pressed", "false")


def _live(page: Page) -> str:
    """Return the text of the live regions of the page."""
    regions = page.locator(":is([role=status], [role=alert], [aria-live])")
    return " ".join(text for text in regions.all_inner_texts() if text).strip()
