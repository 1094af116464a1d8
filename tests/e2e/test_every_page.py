"""Every page: accessible in light and dark and each language, by keyboard, never too wide."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, TimeoutError, expect

from study.base.translation import ENGLISH, spoken
from study.people.roles import Role
from tests.e2e.conftest import Profile
from tests.e2e.prepared import GRADUATE, STAFF, pages_for, prepare, rest, sign_in, still, walk
from tests.e2e.server import Server, begin
from ui.app.menu import SIGN_IN, every_page

pytestmark = pytest.mark.browser
WIDTHS = (1280, 1920, 3840)
LOW = 300
"""How high a window is whose width matters: every pixel costs, without a card."""

SCORE_CARD = "score-card"
COVERED = ("preview", "preview-draft", "teach", "review")
"""The reading component lies over the menu and keeps Tab; its own tests go through it by key."""

Look = Callable[..., Page]

BEYOND = """() => [
  document.documentElement, document.querySelector('.stMain'),
  ...document.querySelectorAll('[data-testid=stButtonGroup] [data-orientation]'),
  ...document.querySelectorAll('label div'),
  ...document.querySelectorAll('.js-plotly-plot'),
].map((one) => one ? one.scrollWidth - one.clientWidth : 0)"""
LOOK = (("light", 1280, "de"), ("dark", 1920, "zh-Hans"))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a deployment with something on every page."""
    folder: Path = tmp_path_factory.mktemp("prepared")
    server = prepare(folder, entropy=secrets.token_bytes, now=datetime.now(UTC))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def look(profile: Profile) -> Look:
    """Return a function that opens a page in a colour scheme, a width and a language."""

    def make(scheme: str, width: int, language: str = ENGLISH) -> Page:
        size = {"width": width, "height": 800}
        return profile(viewport=size, color_scheme=scheme, locale=language).new_page()

    return make


@pytest.fixture
def page(look: Look) -> Page:
    """Return a page of 1280 x 800, light, in a profile of its own."""
    return look("light", 1280)


def _axe(page: Page) -> Axe:
    """Return axe; half a megabyte of script goes to each page once."""
    return Axe("void 0" if page.evaluate("Boolean(window.axe)") else AXE_SCRIPT)


def faults(page: Page) -> list[str]:
    """Return axe's serious and critical findings, each with where and why."""
    return [
        f"{found['id']}: {node['target']} {node['failureSummary']}"
        for found in _axe(page).run(page).response["violations"]
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]


def test_every_page_of_the_menu_is_for_a_role() -> None:
    """A page that no role below opens would not be looked at by any of these tests."""
    opened = {one.path for role in (*STAFF, Role.READER) for one in pages_for(role)}
    assert opened | {SIGN_IN.path} == {one.path for one in every_page()}


def test_a_statisticians_pages_have_no_serious_fault_in_the_dark(
    deployment: Server, look: Look
) -> None:
    """Each page and each part of it, through axe-core, in Chinese."""
    page = look("dark", 1280, "zh-Hans")
    found = {}
    with spoken("zh-Hans"):
        for where in walk(page, deployment, Role.STATISTICIAN):
            assert page.evaluate("document.documentElement.lang") == "zh-Hans"
            found[where] = faults(page), page.evaluate(BEYOND)
    assert not {where: told for where, told in found.items() if told[0] or any(told[1])}


@pytest.mark.parametrize(("scheme", "width", "language"), LOOK)
def test_the_sign_in_page_has_no_serious_fault(
    deployment: Server, look: Look, scheme: str, width: int, language: str
) -> None:
    """Also after a wrong code."""
    page = look(scheme, width, language)
    for address in ("", "/?refused=unknown"):
        page.goto(f"{deployment.url}{address}")
        page.locator("[name=access_code]").wait_for()
        rest(page)
        assert not faults(page)


def test_the_reading_page_and_its_sheets_have_no_serious_fault(
    deployment: Server, page: Page
) -> None:
    """The beginning, reading, keys, settings, the pause and the light panel."""
    sign_in(page, deployment, Role.READER)
    page.wait_for_selector("[data-step='begin']")
    assert not faults(page)
    begin(page)
    page.wait_for_selector("[data-state='ready']")
    assert not faults(page)
    for key in "?s":
        page.keyboard.press(key)
        page.locator(".rr-sheet").wait_for()
        assert not faults(page), key
        page.keyboard.press("Escape")
    page.keyboard.press("p")
    page.wait_for_selector("[data-state='paused']")
    # Tools that are not to be used grow faint a moment later.
    expect(page.locator("[data-command=preset]")).to_have_css("opacity", "0.4")
    assert not faults(page)
    page.keyboard.press("p")
    page.wait_for_selector("[data-state='ready']")
    page.keyboard.press("l")
    page.wait_for_selector("[data-theme='light']")
    assert not faults(page)


def test_the_score_card_has_no_serious_fault(deployment: Server, look: Look) -> None:
    """A case with its films, in light and dark; the width holds it."""
    page = look("light", 1280, "zh-Hans")
    sign_in(page, deployment, GRADUATE)
    page.locator(".scored img").first.wait_for()
    rest(page)
    assert page.url.endswith(f"/{SCORE_CARD}")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert not faults(page), scheme
    assert beyond(page) == {}
    assert unreached(page) == ([], [])


def test_the_steps_before_the_cases_have_no_serious_fault(deployment: Server, look: Look) -> None:
    """Consent, instructions, questions and the check of the screen."""
    page = look("light", 1280, "de")
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


def beyond(page: Page) -> dict[int, list[int]]:
    """Return, for each width, by how much a page, a choice or a label is wider than its room."""
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": LOW})
        # Figures are laid out anew a moment after the window; waiting is for those.
        with suppress(TimeoutError):
            page.wait_for_function(f"() => ({BEYOND})().every((one) => one === 0)")
        over = page.evaluate(BEYOND)
        if any(over):
            found[width] = over
    page.set_viewport_size({"width": WIDTHS[0], "height": 800})
    return found


CONTROLS = """() => {
  // By its words, for a rerun of the page may put a new element in the place of one.
  // Of buttons to choose one among, one is reached by Tab, the others by arrows: they are one.
  const group = (one) => one.closest('[data-testid=stButtonGroup]');
  window.rrName = (one) => group(one) ? `choice ${group(one).textContent}`
    : [one.tagName, one.ariaLabel, one.name, one.textContent.trim()]
      .filter(Boolean).join(' ').slice(0, 120);
  const found = new Set();
  const look = (root) => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) look(one.shadowRoot);
      const usable = one.matches('a[href], button, input, select, textarea, summary')
        && !one.disabled && one.tabIndex >= 0 && one.type !== 'hidden'
        && one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        && !one.closest('[inert], [aria-hidden=true]');
      const other = one.type === 'radio' && !one.checked;
      if (usable && !other && one.getBoundingClientRect().width > 0) found.add(window.rrName(one));
    }
  };
  look(document);
  window.rrLeft = found;
  window.rrUnseen = [];
  return found.size;
}"""
STEPS = """() => {
  // At each release of Tab, by the page itself: asked from outside, each step is two errands more.
  const seen = (one) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  };
  const step = () => {
    let here = document.activeElement;
    while (here?.shadowRoot?.activeElement) here = here.shadowRoot.activeElement;
    let shown = false;
    for (let one = here, up = 0; one && up < 5; one = one.parentElement, up += 1) {
      shown ||= seen(one);
    }
    const own = window.rrLeft.delete(window.rrName(here));
    if (own && !shown) window.rrUnseen.push(window.rrName(here));
  };
  step();  // where the walk clicked last the focus is already
  window.rrUnseen = [];
  window.rrSteps?.abort();
  window.rrSteps = new AbortController();
  window.addEventListener('keyup', step, { capture: true, signal: window.rrSteps.signal });
}"""
AT_ONCE = 10


def unreached(page: Page) -> tuple[list[str], list[str]]:
    """Press Tab through a page; return what was never reached, and what does not show its focus."""
    number = page.evaluate(CONTROLS)
    page.evaluate(STEPS)
    for press in range(3 * number + 30):
        page.keyboard.press("Tab")
        if press % AT_ONCE == AT_ONCE - 1 and not page.evaluate("window.rrLeft.size"):
            break
    left, unseen = page.evaluate("[[...window.rrLeft], window.rrUnseen]")
    page.evaluate("document.activeElement.blur()")  # a link that shows on focus would cover others
    return left, unseen


def test_staff_pages_are_used_by_keyboard_at_every_width_in_light_and_dark(
    deployment: Server, look: Look
) -> None:
    """Axe finds nothing, nothing needs a mouse or hides its focus, nothing is too wide.

    In German, whose words are longer than the English ones.
    """
    page, found = look("light", 1280, "de"), {}
    with spoken("de"):
        for where in walk(page, deployment, Role.ADMINISTRATOR):
            assert page.evaluate("document.documentElement.lang") == "de"
            tabbed = [] if where in COVERED else unreached(page)
            dark = faults_in_the_dark(page, still if where in COVERED else rest)
            told = (faults(page), beyond(page), *tabbed, dark)
            if any(told):
                found[where] = told
    assert not found


def faults_in_the_dark(page: Page, settled: Callable[[Page], None]) -> list[str]:
    """Return what axe finds once somebody's system turns dark while they look at a page."""
    scheme = "getComputedStyle(document.querySelector('.stApp')).colorScheme"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => {scheme} === 'dark'")
    settled(page)
    found = faults(page)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => {scheme} !== 'dark'")
    settled(page)
    return found


def test_the_sign_in_page_is_used_by_keyboard(deployment: Server, page: Page) -> None:
    """Field, button and menu are reached by Tab."""
    page.goto(deployment.url)
    page.locator("[name=access_code]").wait_for()
    rest(page)
    assert unreached(page) == ([], [])
