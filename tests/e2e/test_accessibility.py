"""Every step of the reading page through axe-core, and what a screen reader is told."""

from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Profile, Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
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
WANTED = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.mark.parametrize("panel", ["dark", "light"])
def test_axe_finds_nothing_at_any_step(serve: Serve, profile: Profile, panel: str) -> None:
    """From the consent to the feedback, of any severity, in the dark and the light panel."""
    server = serve(**PROTOCOL)
    page = profile(viewport={"width": 1440, "height": 900}).new_page()
    reader = Reader(page)
    reader.enter(server.url, server.codes["R1"])
    page.wait_for_selector("[data-step='consent']")
    if panel == "light":
        page.keyboard.press("l")
    axe = Axe()
    found = {}
    for step in _steps(reader):
        answer = axe.run(page, context=".reading-room", options=WANTED).response
        found[step] = [
            (each["id"], node["target"]) for each in answer["violations"] for node in each["nodes"]
        ]
    assert len(found) == 14
    assert not {step: faults for step, faults in found.items() if faults}


def _steps(reader: Reader) -> Iterator[str]:
    """Go through a study, and stop at everything that looks otherwise."""
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
    for key in ("b", "3", "i"):
        press(key)
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
    yield "feedback"


def test_a_screen_reader_hears_what_changes(serve: Serve, reader: Reader) -> None:
    """The case, the choice, what is missing, what is saved, the feedback: each in a live region."""
    server = serve(confidence=5, feedback="after case")
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    assert _live(page) == "Case 1 of 6"
    page.wait_for_timeout(700)  # an Enter within 0.6 s is the second half of the last one
    page.keyboard.press("Enter")
    assert "Choose an answer first." in _live(page)
    page.evaluate(
        "window.heard = 0; new MutationObserver(() => { window.heard += 1; })"
        ".observe(document.querySelector('.rr-hint'), {childList: true})"
    )
    page.keyboard.press("Enter")
    page.wait_for_function("window.heard === 1")  # the same message once more is said once more
    page.keyboard.press("b")
    assert "B chosen" in _live(page)
    page.keyboard.press("4")
    assert "4 of 5" in _live(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-feedback='true']")
    expect(page.locator(".rr-outbox")).to_have_text("Saved")
    assert "reference answer" in _live(page)
    assert "Paused" not in _live(page)
    invert = page.get_by_role("button", name="Invert")
    expect(invert).to_have_attribute("aria-pressed", "false")
    invert.click()
    expect(invert).to_have_attribute("aria-pressed", "true")


def _live(page: Page) -> str:
    """Return what the live regions of the page say."""
    regions = page.locator(":is([role=status], [role=alert], [aria-live])")
    return " ".join(text for text in regions.all_inner_texts() if text).strip()
