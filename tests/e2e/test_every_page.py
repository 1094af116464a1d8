"""Every page: accessible in light and dark and each language, by keyboard, never too wide."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, TimeoutError

from study.base.translation import ENGLISH, spoken
from study.people.roles import Role
from tests.e2e.conftest import Profile
from tests.e2e.prepared import GRADUATE, pages_for, prepare, rest, sign_in, still, walk
from tests.e2e.server import Server
from ui.app.menu import SIGN_IN, every_page

pytestmark = pytest.mark.browser
WIDTHS = (1280, 1920, 3840)
LOW = 300
"""Height of the window for checks of the width. A small one saves processor time."""

SCORE_CARD = "score-card"
COVERED = ("preview", "preview-draft", "teach", "review")
"""Pages on which the reading page covers the menu and handles Tab itself."""

Look = Callable[..., Page]

BEYOND = """() => [
  document.documentElement, document.querySelector('.stMain'),
  ...document.querySelectorAll('[data-testid=stButtonGroup] [data-orientation]'),
  ...document.querySelectorAll('label div'),
  ...document.querySelectorAll('.js-plotly-plot'),
].map((element) => element ? element.scrollWidth - element.clientWidth : 0)"""
LOOK = (("light", 1280, "de"), ("dark", 1920, "zh-Hans"))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a deployment with content on every page."""
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


def _axe(page: Page) -> Axe:
    """Return axe. Its large script is sent to each page once."""
    return Axe("void 0" if page.evaluate("Boolean(window.axe)") else AXE_SCRIPT)


def faults(page: Page, **options: object) -> list[str]:
    """Return the serious and critical findings of axe with element and reason."""
    results = _axe(page).run(page, options={"resultTypes": ["violations"], **options})
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in results.response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def test_every_page_of_the_menu_is_checked_for_a_role() -> None:
    """These tests would skip a page that no role opens."""
    opened = {entry.path for role in (Role.ADMINISTRATOR, Role.READER) for entry in pages_for(role)}
    assert opened | {SIGN_IN.path} == {entry.path for entry in every_page()}


def test_the_sign_in_page_has_no_serious_fault(deployment: Server, look: Look) -> None:
    """It is checked also after a wrong code, and field, button and menu are reached by Tab."""
    for scheme, width, language in LOOK:
        page = look(scheme, width, language)
        for address in ("", "/?refused=unknown"):
            page.goto(f"{deployment.url}{address}")
            page.locator("[name=access_code]").wait_for()
            rest(page)
            assert not faults(page)
    page = look("light", 1280)
    page.goto(deployment.url)
    page.locator("[name=access_code]").wait_for()
    rest(page)
    assert unreached(page) == ([], [])


def test_the_score_card_has_no_serious_fault(deployment: Server, look: Look) -> None:
    """A case with its films is checked in light and dark, and nothing is too wide."""
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


def beyond(page: Page) -> dict[int, list[int]]:
    """Return, for each width, how much a page, choice or label exceeds its container."""
    exceeding = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": LOW})
        # Figures are laid out shortly after the window is resized.
        with suppress(TimeoutError):
            page.wait_for_function(f"() => ({BEYOND})().every((excess) => excess === 0)")
        over = page.evaluate(BEYOND)
        if any(over):
            exceeding[width] = over
    page.set_viewport_size({"width": WIDTHS[0], "height": 800})
    return exceeding


CONTROLS = """() => {
  // Elements are identified by text, because a rerun of the page may replace them.
  // Tab reaches one button of a choice, arrows reach the others: they count as one control.
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
  // The page itself checks at each release of Tab, which saves two messages per step.
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
  step();  // the last click may have set the focus
  window.rrUnseen = [];
  window.rrSteps?.abort();
  window.rrSteps = new AbortController();
  window.addEventListener('keyup', step, { capture: true, signal: window.rrSteps.signal });
}"""
AT_ONCE = 10


def unreached(page: Page) -> tuple[list[str], list[str]]:
    """Press Tab through a page; return controls that are not reached, and those without focus."""
    number = page.evaluate(CONTROLS)
    page.evaluate(STEPS)
    for press in range(3 * number + 30):
        page.keyboard.press("Tab")
        if press % AT_ONCE == AT_ONCE - 1 and not page.evaluate("window.rrLeft.size"):
            break
    left, unseen = page.evaluate("[[...window.rrLeft], window.rrUnseen]")
    page.evaluate(
        "document.activeElement.blur()"
    )  # a link that is visible on focus would cover others
    return left, unseen


def test_staff_pages_are_used_by_keyboard_at_every_width_in_light_and_dark(
    deployment: Server, look: Look
) -> None:
    """Axe reports nothing, every control works by keyboard, and nothing is too wide.

    The language is German, because its words are longer than English ones.
    """
    page, results = look("light", 1280, "de"), {}
    with spoken("de"):
        for where in walk(page, deployment, Role.ADMINISTRATOR):
            assert page.evaluate("document.documentElement.lang") == "de"
            tabbed = [] if where in COVERED else unreached(page)
            dark = too_faint_in_the_dark(page, still if where in COVERED else rest)
            result = (faults(page), beyond(page), *tabbed, dark)
            if any(result):
                results[where] = result
    assert not results


def too_faint_in_the_dark(page: Page, settled: Callable[[Page], None]) -> list[str]:
    """Return the texts with too little contrast after the system changes to the dark scheme.

    No other rule of axe depends on the colours.
    """
    scheme = "getComputedStyle(document.querySelector('.stApp')).colorScheme"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => {scheme} === 'dark'")
    settled(page)
    results = faults(page, runOnly=["color-contrast"])
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => {scheme} !== 'dark'")
    settled(page)
    return results
