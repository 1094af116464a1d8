"""Every word people see comes from the catalogues, and pages can be written from right to left.

In a made-up language, longer by a third, no English is left and nothing is wider than its room.
"""

import re
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po
from playwright.sync_api import Page

from study import demo
from study.base import translation
from study.base.translation import FILE, VARIABLE
from study.people.roles import Role
from tests.e2e.conftest import Profile
from tests.e2e.prepared import (
    CLOSED,
    DRAFT,
    EXPERT,
    GRADUATE,
    REVIEW,
    TEACHING,
    prepare,
    rest,
    sign_in,
    walk,
)
from tests.e2e.server import Server, begin
from ui import catalogue

pytestmark = pytest.mark.browser
LANGUAGE = "ar"  # a name that browsers ask for; what it says is no Arabic
FILLER = "אבגדה וזחט יכלמנ סעפצקר "
"""Letters written from right to left, which every message begins with."""

BEYOND = """() => [document.documentElement, document.querySelector('.stMain'),
  ...document.querySelectorAll('.rr-panel, .rr-sheet, .rr-prelude-sheet, .rr-scroll, .rr-tools'),
  ...document.querySelectorAll('.rr-tools button, .rr-decide button, .stButton button'),
].filter((one) => one && one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.className || one.tagName}: ${one.textContent.slice(0, 40)}`)"""

DATA = (
    re.escape(demo.NEWCOMERS_STUDY),
    re.escape(demo.STUDY),
    re.escape(CLOSED),
    re.escape(DRAFT),
    re.escape(TEACHING),
    re.escape(REVIEW),
    f"^{EXPERT}$",
    demo.ADMINISTRATOR,
    "demo coordinator",
    "statistician",
    r"(?:simulated|sim)-(?:model|reader)-\w+",
    demo.READER,
    demo.NEWCOMER,
    "PA|LATERAL|AP",
    "^(?:you|simulated)$",
    r"\d, unaided, \d",
    "[0-9a-f]{12,}",
    "XXXX-XXXX-XXXX-XXXX",
    r"^\w+ · \d+ of \d+ · [0-9A-Z-]{14}$",
    "^reading-room head: .*",
)
"""Names of the demo: studies, people, levels, models, views, an item; hashes; how a code looks.

And lines that `verify` reads, the same in every language: a receipt, and the head of a chain."""

STREAMLITS = (
    # The link for the keyboard, past the menu.
    "[data-testid=stSkipToContent]",
    # How large a file may be and of which kinds: it has a setting for neither word.
    "[data-testid=stFileUploaderDropzone] span",
    # The parts of a date that is not there yet, and the calendar's own words.
    "[data-testid=stDateInputField]",
    "[data-testid=stDateInput] [contenteditable], [data-testid=stDateInput] [role=spinbutton]",
)
"""What Streamlit says and cannot be told otherwise, by element."""

NOT_OURS = {
    "results": [
        # The analysis's tables, which are as their files; charts keep their own direction.
        ".js-plotly-plot",
        ".stDataFrame",
    ],
    # Names of the bank's tasks.
    "leaderboard": ["th bdi"],
    "score-card": ["bdi"],
    "reading": [
        # What the study asks and shows: the case's question, options and clinical context.
        ".rr-question, .rr-options, .rr-context",
        # Names of keys.
        "kbd",
    ],
    "steps": [
        # The study's own consent, instructions and questions.
        ".rr-words, .rr-form legend, .rr-form label",
        "kbd",
    ],
}
"""Parts of a page that are the study's own or the analysis's, by why they stay as they are."""

WORDS = """(without) => {
  const found = [];
  const look = (root) => {
    for (const node of root.childNodes) {
      if (node.nodeType === Node.TEXT_NODE && node.data.trim()) found.push(node.data.trim());
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      if (/^(STYLE|SCRIPT|CANVAS)$/.test(node.tagName) || !node.checkVisibility()) continue;
      if (node.matches('[data-testid=stIconMaterial], [translate=no]')) continue;
      if (without.some((one) => node.matches(one))) continue;
      for (const name of ['aria-label', 'placeholder', 'title', 'alt']) {
        const said = node.getAttribute(name);
        if (said && node.closest('form, .reading-room')) found.push(said);
      }
      if (node.shadowRoot) look(node.shadowRoot);
      look(node);
    }
  };
  look(document.querySelector('.stApp'));
  return found;
}"""


def pseudo(folder: Path) -> None:
    """Write a catalogue in which every message is longer and stands between brackets."""
    made = Catalog(locale=LANGUAGE)
    for message in catalogue.template():
        if isinstance(message.id, str):
            if message.id:
                made.add(message.id, _longer(message.id))
        else:
            one, many = map(_longer, message.id)
            made.add(message.id, (one, *[many] * (made.num_plurals - 1)))
    (folder / LANGUAGE).mkdir(parents=True)
    with (folder / LANGUAGE / FILE).open("wb") as file:
        write_po(file, made)


def _longer(message: str) -> str:
    letters = -(-len(message) // 3)
    return f"⟦{(FILLER * (letters // len(FILLER) + 1))[:letters].strip()} {message}⟧"


def from_right_to_left(page: Page) -> list[str]:
    """Return what is wider than its room on a page that is written from right to left."""
    assert page.evaluate("document.documentElement.dir") == "rtl"
    where = page.locator(".reading-room, .stMain").first
    assert where.evaluate("one => getComputedStyle(one).direction") == "rtl"
    return [str(one) for one in page.evaluate(BEYOND)]


def english(page: Page, without: list[str]) -> list[str]:
    """Return what stands on a page in letters outside the brackets, and is no data."""
    # Bold words within a message are elements of their own: brackets are matched over all of it.
    outside = "\n".join(page.evaluate(WORDS, [*STREAMLITS, *without]))
    while (less := re.sub("⟦[^⟦⟧]*⟧", "", outside)) != outside:
        outside = less
    left = re.sub("|".join(DATA), "", outside, flags=re.MULTILINE).splitlines()
    return [text.strip() for text in left if re.search(r"[^\W\d_]{2,}", text)]


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a deployment that has the made-up language."""
    folder = tmp_path_factory.mktemp("words")
    pseudo(folder / "locale")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "locale"))
        server = prepare(folder, entropy=secrets.token_bytes, now=datetime.now(UTC))
        server.start()
    translation.folder.cache_clear()  # the other tests of this process speak the real languages
    yield server
    server.kill()


@pytest.fixture
def page(profile: Profile) -> Page:
    """Return a page of somebody who wants the made-up language."""
    return profile(locale=f"{LANGUAGE}-EG").new_page()


def test_the_sign_in_page_is_all_from_the_catalogue(deployment: Server, page: Page) -> None:
    """Also what is said to somebody refused."""
    page.goto(f"{deployment.url}/?refused=later")
    page.locator("[name=access_code]").wait_for()
    rest(page)
    assert page.get_by_text(re.compile("^⟦.* Sign in⟧$")).count()
    assert from_right_to_left(page) == []
    assert english(page, []) == []


def test_staff_pages_are_all_from_the_catalogue(deployment: Server, page: Page) -> None:
    """Each page and each part of it, the menu included."""
    found = {}
    for where in walk(page, deployment, Role.ADMINISTRATOR):
        said = english(page, NOT_OURS.get(where.partition(",")[0], []))
        found[where] = said + from_right_to_left(page)
    assert not {where: what for where, what in found.items() if what}


def test_the_score_card_is_all_from_the_catalogue(deployment: Server, page: Page) -> None:
    """All but the case's own question, options and explanation."""
    sign_in(page, deployment, GRADUATE)
    page.locator(".scored img").first.wait_for()
    rest(page)
    assert english(page, NOT_OURS["score-card"]) == []
    assert from_right_to_left(page) == []


def test_the_reading_page_is_all_from_the_catalogue(deployment: Server, page: Page) -> None:
    """The beginning, the case, the keys, the settings and the pause."""
    sign_in(page, deployment, Role.READER)
    page.wait_for_selector("[data-step='begin']")
    assert english(page, NOT_OURS["reading"]) == []
    begin(page)
    page.wait_for_selector("[data-state='ready']")
    assert english(page, NOT_OURS["reading"]) == []
    assert from_right_to_left(page) == []
    assert page.locator(".rr-films").evaluate("one => getComputedStyle(one).direction") == "ltr"
    for key in "?s":
        page.keyboard.press(key)
        page.locator(".rr-sheet").wait_for()
        assert english(page, NOT_OURS["reading"]) == [], key
        page.keyboard.press("Escape")
    page.keyboard.press("p")
    page.wait_for_selector("[data-state='paused']")
    assert english(page, NOT_OURS["reading"]) == []


def test_the_steps_before_the_cases_are_all_from_the_catalogue(
    deployment: Server, page: Page
) -> None:
    """Consent, instructions, questions, the check of the screen: all but the study's own words."""
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
