"""Every page is translated, accessible in light and dark, usable by keyboard and never too wide.

An artificial language has longer messages than any other, in brackets and from right to left.
"""

import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, TimeoutError

from study.base import translation
from study.base.translation import ENGLISH, LOCALE_VARIABLE
from study.people.roles import Role
from tests.conftest import ROOT
from tests.e2e.artificial_language import (
    LANGUAGE,
    NOT_OURS,
    english,
    from_right_to_left,
    pseudo,
)
from tests.e2e.conftest import Profile
from tests.e2e.keyboard import unreached
from tests.e2e.prepared import GRADUATE, prepare, rest, sign_in, still, walk
from tests.e2e.server import Server, begin

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
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
].filter((element) => element && element.scrollWidth > element.clientWidth)
  .map((element) => `${element.scrollWidth - element.clientWidth} px: `
    + `${element.textContent.slice(0, 60) || element.outerHTML.slice(0, 60)}`)"""
REGION = f"{LANGUAGE}-EG"
LOOK = (("light", 1280, REGION), ("dark", 1920, "zh-Hans"))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a deployment with content on every page, also in the artificial language."""
    folder: Path = tmp_path_factory.mktemp("prepared")
    shutil.copytree(ROOT / "locale", folder / "locale")
    pseudo(folder / "locale")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LOCALE_VARIABLE, str(folder / "locale"))
        server = prepare(folder, entropy=secrets.token_bytes, now=datetime.now(UTC))
        server.start()
    translation.folder.cache_clear()  # other tests of this process use the real languages
    yield server
    server.kill()


@pytest.fixture
def look(new_profile: Profile) -> Look:
    """Return a function that opens a page in a colour scheme, a width and a language."""

    def make(scheme: str, width: int, language: str = ENGLISH) -> Page:
        size = {"width": width, "height": 800}
        return new_profile(viewport=size, color_scheme=scheme, locale=language).new_page()

    return make


def _axe(page: Page) -> Axe:
    """Return axe. The large script of axe is sent to each page once."""
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


def test_the_sign_in_page_and_score_card_are_translated_and_accessible(
    deployment: Server, look: Look
) -> None:
    """It is also checked after a refusal, and field, button and menu are reached by Tab."""
    for scheme, width, language in LOOK:
        page = look(scheme, width, language)
        page.goto(f"{deployment.url}/?refused=later")
        page.locator("[name=access_code]").wait_for()
        rest(page)
        assert not faults(page)
        if language != REGION:
            continue
        assert page.get_by_text(re.compile("^⟦.* Sign in⟧$")).count()
        assert from_right_to_left(page) == []
        assert english(page, []) == []
        page.goto(deployment.url)
        page.locator("[name=access_code]").wait_for()
        rest(page)
        assert not faults(page)
        assert unreached(page) == ([], [])
        _check_the_score_card(deployment, page)


def _check_the_score_card(deployment: Server, page: Page) -> None:
    """Check a case with its films in light and dark; nothing is too wide.

    Question, options and explanation are not translated.
    """
    sign_in(page, deployment, GRADUATE)
    page.locator(".scored img").first.wait_for()
    rest(page)
    assert page.url.endswith(f"/{SCORE_CARD}")
    assert english(page, NOT_OURS["score-card"]) == []
    assert from_right_to_left(page) == []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert not faults(page), scheme
    assert beyond(page) == {}
    assert unreached(page) == ([], [])


def beyond(page: Page) -> dict[int, list[str]]:
    """Return, for each width, how much a page, choice or label exceeds its container."""
    exceeding = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": LOW})
        # Figures are laid out shortly after the window is resized.
        with suppress(TimeoutError):
            page.wait_for_function(f"() => !({BEYOND})().length")
        if overflow := page.evaluate(BEYOND):
            exceeding[width] = overflow
    page.set_viewport_size({"width": WIDTHS[0], "height": 800})
    return exceeding


def test_staff_pages_work_by_keyboard_at_every_width_in_light_and_dark_mode(
    deployment: Server, look: Look
) -> None:
    """Every text is translated, axe reports nothing, every control works by keyboard.

    In the artificial language, whose words are longer than in German, nothing is too wide.
    """
    page, results = look("light", 1280, REGION), {}
    for place in walk(page, deployment, Role.ADMINISTRATOR):
        covered = place in COVERED
        texts = english(page, NOT_OURS.get(place.partition(",")[0], []))
        texts += from_right_to_left(page)
        result = [texts, faults(page), *([] if covered else unreached(page)), beyond(page)]
        result += [too_faint_in_the_other_scheme(page, still if covered else rest)]
        if any(result):
            results[place] = result
    assert not results


def too_faint_in_the_other_scheme(page: Page, settled: Callable[[Page], None]) -> list[str]:
    """Return the texts with too little contrast after a change between light and dark.

    The page remains in the other colour scheme. No other rule of axe depends on the colours.
    """
    shown = "getComputedStyle(document.querySelector('.stApp')).colorScheme"
    is_dark = page.evaluate(shown) == "dark"
    page.emulate_media(color_scheme="light" if is_dark else "dark")
    page.wait_for_function(f"() => ({shown} === 'dark') !== {str(is_dark).lower()}")
    settled(page)
    return faults(page, runOnly=["color-contrast"])


def test_the_reading_page_is_translated(deployment: Server, look: Look) -> None:
    """Texts from the consent to the first cases are checked, with keys, settings and the pause."""
    page = look("light", 1280, REGION)
    sign_in(page, deployment, "newcomer")
    steps = {
        "consent": ("1", "Enter"),
        "instructions": ("Enter",),
        "questionnaire": ("1", "Enter", "Enter"),
        "display": (),
    }
    for step, keys in steps.items():
        page.wait_for_selector(f"[data-step={step}]")
        assert english(page, NOT_OURS["steps"]) == [], step
        assert from_right_to_left(page) == [], step
        for key in keys:
            page.keyboard.press(key)
    page.context.clear_cookies()
    sign_in(page, deployment, Role.READER)
    page.wait_for_selector("[data-step='begin']")
    assert english(page, NOT_OURS["reading"]) == []
    begin(page)
    page.wait_for_selector("[data-state='ready']")
    assert english(page, NOT_OURS["reading"]) == []
    assert from_right_to_left(page) == []
    films = page.locator(".rr-films")
    assert films.evaluate("element => getComputedStyle(element).direction") == "ltr"
    for key in "?s":
        page.keyboard.press(key)
        page.locator(".rr-sheet").wait_for()
        assert english(page, NOT_OURS["reading"]) == [], key
        page.keyboard.press("Escape")
    page.keyboard.press("p")
    page.wait_for_selector("[data-state='paused']")
    assert english(page, NOT_OURS["reading"]) == []
