"""Every page: accessible in light and dark, by keyboard alone, without scrolling sideways."""

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

from study.roles import Role
from tests.e2e.prepared import STAFF, choose, pages_for, prepare, rest, sign_in, turn_to
from tests.e2e.server import Server
from ui.menu import SIGN_IN, every_page

pytestmark = pytest.mark.browser
WIDTHS = (1280, 1440, 1920, 3840)
PARTS = {"results": ("Accuracy", "Agreement", "Cases", "Tables")}
"""Parts of a page that are chosen on it, by the page's address."""

LOOK = (("light", 1280), ("dark", 1920))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a deployment with something on every page."""
    folder: Path = tmp_path_factory.mktemp("prepared")
    server = prepare(folder, entropy=secrets.token_bytes, now=datetime.now(UTC))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return a page of 1280 x 800 in a profile of its own."""
    made = _context(browser, "light", 1280)
    yield made.new_page()
    made.close()


def _context(browser: Browser, scheme: str, width: int) -> BrowserContext:
    made = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    made.set_default_timeout(60_000)
    return made


def faults(page: Page) -> list[str]:
    """Return axe's serious and critical findings, each with where and why."""
    return [
        f"{found['id']}: {node['target']} {node['failureSummary']}"
        for found in Axe().run(page).response["violations"]
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]


def test_every_page_of_the_menu_is_for_a_role() -> None:
    """A page that no role below opens would not be looked at by any of these tests."""
    opened = {one.path for role in (*STAFF, Role.READER) for one in pages_for(role)}
    assert opened | {SIGN_IN.path} == {one.path for one in every_page()}


@pytest.mark.parametrize(("scheme", "width"), LOOK)
@pytest.mark.parametrize("role", STAFF)
def test_staff_pages_have_no_serious_fault(
    deployment: Server, browser: Browser, role: Role, scheme: str, width: int
) -> None:
    """Each page of each role, and each part of it that is chosen, through axe-core."""
    context = _context(browser, scheme, width)
    page = context.new_page()
    sign_in(page, deployment, role)
    found = {}
    for entry in pages_for(role):
        turn_to(page, entry)
        found[entry.path] = faults(page)
        for part in PARTS.get(entry.path, ()):
            choose(page, part)
            found[f"{entry.path}, {part}"] = faults(page)
    context.close()
    assert not {where: what for where, what in found.items() if what}


@pytest.mark.parametrize(("scheme", "width"), LOOK)
def test_the_sign_in_page_has_no_serious_fault(
    deployment: Server, browser: Browser, scheme: str, width: int
) -> None:
    """Also after a wrong code."""
    context = _context(browser, scheme, width)
    page = context.new_page()
    for address in ("", "/?refused=unknown"):
        page.goto(f"{deployment.url}{address}")
        page.locator("[name=access_code]").wait_for()
        rest(page)
        assert not faults(page)
    context.close()


def test_the_reading_page_and_its_sheets_have_no_serious_fault(
    deployment: Server, page: Page
) -> None:
    """Reading, keys, settings, the pause and the light panel."""
    sign_in(page, deployment, Role.READER)
    page.wait_for_selector("[data-state='ready']")
    assert not faults(page)
    for key in "?s":
        page.keyboard.press(key)
        page.locator(".rr-sheet").wait_for()
        assert not faults(page), key
        page.keyboard.press("Escape")
    page.keyboard.press("p")
    page.wait_for_selector("[data-state='paused']")
    assert not faults(page)
    page.keyboard.press("p")
    page.wait_for_selector("[data-state='ready']")
    page.keyboard.press("l")
    page.wait_for_selector("[data-theme='light']")
    assert not faults(page)


def test_the_steps_before_the_cases_have_no_serious_fault(deployment: Server, page: Page) -> None:
    """Consent, instructions, questions and the check of the screen."""
    sign_in(page, deployment, "newcomer")
    steps = {
        "consent": ("1", "Enter"),
        "instructions": ("Enter",),
        "questionnaire": ("1", "Enter", "Enter"),
        "display": (),
    }
    for step, keys in steps.items():
        page.wait_for_selector(f"[data-step={step}]")
        assert not faults(page), step
        for key in keys:
            page.keyboard.press(key)


@pytest.mark.parametrize("role", STAFF)
def test_no_page_scrolls_sideways(deployment: Server, page: Page, role: Role) -> None:
    """From a small laptop to a wall of 3840; there the content takes most of the width."""
    sign_in(page, deployment, role)
    for entry in pages_for(role):
        turn_to(page, entry)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            rest(page)
            beyond = page.evaluate(
                """() => [document.documentElement, document.querySelector('.stMain')]
                  .map((one) => one.scrollWidth - one.clientWidth)"""
            )
            assert beyond == [0, 0], (entry.path, width)
        room = page.locator(".stMainBlockContainer").bounding_box()
        assert room is not None
        assert room["width"] > 0.85 * WIDTHS[-1]
        page.set_viewport_size({"width": 1280, "height": 800})


CONTROLS = """() => {
  // By its words, for a rerun of the page may put a new element in the place of one.
  window.rrName = (one) => [one.tagName, one.ariaLabel, one.name, one.textContent.trim()]
    .filter(Boolean).join(' ').slice(0, 120);
  const found = new Set();
  const look = (root) => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) look(one.shadowRoot);
      const usable = one.matches('a[href], button, input, select, textarea, summary')
        && !one.disabled && one.tabIndex >= 0 && one.type !== 'hidden'
        && one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        && !one.closest('[inert], [aria-hidden=true]');
      // Of the members of a group of radios one is reached by Tab, the others by arrows.
      const other = one.type === 'radio' ? !one.checked : one.ariaChecked === 'false';
      if (usable && !other && one.getBoundingClientRect().width > 0) found.add(window.rrName(one));
    }
  };
  look(document);
  window.rrLeft = found;
  return found.size;
}"""
STEP = """() => {
  let here = document.activeElement;
  while (here?.shadowRoot?.activeElement) here = here.shadowRoot.activeElement;
  const seen = (one) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  };
  let shown = false;
  for (let one = here, up = 0; one && up < 5; one = one.parentElement, up += 1) shown ||= seen(one);
  const own = window.rrLeft.delete(window.rrName(here));
  return { left: [...window.rrLeft], unseen: own && !shown ? window.rrName(here) : '' };
}"""


def unreached(page: Page) -> tuple[list[str], list[str]]:
    """Press Tab through a page; return what was never reached, and what does not show its focus."""
    number = page.evaluate(CONTROLS)
    left: list[str] = []
    unseen: list[str] = []
    for _ in range(3 * number + 30):
        page.keyboard.press("Tab")
        told = page.evaluate(STEP)
        left = told["left"]
        unseen += [told["unseen"]] if told["unseen"] else []
        if not left:
            break
    return left, unseen


@pytest.mark.parametrize("role", STAFF)
def test_every_control_is_reached_by_tab(deployment: Server, page: Page, role: Role) -> None:
    """Nothing needs a mouse, and what has the focus shows it."""
    sign_in(page, deployment, role)
    for entry in pages_for(role):
        turn_to(page, entry)
        left, unseen = unreached(page)
        assert not left, entry.path
        assert not unseen, entry.path


def test_the_sign_in_page_is_used_by_keyboard(deployment: Server, page: Page) -> None:
    """Field, button and menu are reached by Tab."""
    page.goto(deployment.url)
    page.locator("[name=access_code]").wait_for()
    rest(page)
    assert unreached(page) == ([], [])
