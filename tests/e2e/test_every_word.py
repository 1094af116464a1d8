"""All text of the pages comes from the catalogues, and pages support right-to-left languages.

In an artificial language with longer messages, no English is left and nothing is too wide.
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
LANGUAGE = "ar"  # browsers request this language code; the catalogue does not contain Arabic
FILLER = "אבגדה וזחט יכלמנ סעפצקר "
"""Letters written from right to left, with which every message begins."""

BEYOND = """() => [document.documentElement, document.querySelector('.stMain'),
  ...document.querySelectorAll('.rr-panel, .rr-sheet, .rr-prelude-sheet, .rr-scroll, .rr-tools'),
  ...document.querySelectorAll('.rr-tools button, .rr-decide button, .stButton button'),
].filter((element) => element && element.scrollWidth > element.clientWidth + 1)
  .map(({ className, tagName, textContent }) =>
    `${className || tagName}: ${textContent.slice(0, 40)}`)"""

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
"""Data of the demo (studies, people, levels, models, views, an item), hashes and access codes.

Receipts and heads of a chain have the same text in every language, because `verify` reads them."""

STREAMLITS = (
    # The link that lets keyboard users skip the menu.
    "[data-testid=stSkipToContent]",
    # Maximum size and types of a file: Streamlit has no setting for these texts.
    "[data-testid=stFileUploaderDropzone] span",
    # The parts of an empty date, and the words of the calendar.
    "[data-testid=stDateInputField]",
    "[data-testid=stDateInput] [contenteditable], [data-testid=stDateInput] [role=spinbutton]",
)
"""Elements with texts of Streamlit that cannot be translated."""

NOT_OURS = {
    "results": [
        # Tables of the analysis equal their files; charts have their own direction.
        ".js-plotly-plot",
        ".stDataFrame",
    ],
    # The key of a new second factor.
    "second-factor": ["[data-testid=stCode]"],
    # Names of the bank's tasks.
    "leaderboard": ["th bdi"],
    "score-card": ["bdi"],
    "reading": [
        # Texts of the study: the question, options and clinical context of the case.
        ".rr-question, .rr-options, .rr-context",
        # Names of keys.
        "kbd",
    ],
    "steps": [
        # Consent, instructions and questions of the study.
        ".rr-words, .rr-form legend, .rr-form label",
        "kbd",
    ],
}
"""Parts of a page with texts of the study or the analysis, which are not translated."""

WORDS = """(without) => {
  const found = [];
  const look = (root) => {
    for (const node of root.childNodes) {
      if (node.nodeType === Node.TEXT_NODE && node.data.trim()) found.push(node.data.trim());
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      if (/^(STYLE|SCRIPT|CANVAS)$/.test(node.tagName) || !node.checkVisibility()) continue;
      if (node.matches('[data-testid=stIconMaterial], [translate=no]')) continue;
      if (without.some((selector) => node.matches(selector))) continue;
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
    """Write a catalogue in which every message is longer and enclosed in brackets."""
    made = Catalog(locale=LANGUAGE)
    for message in catalogue.template():
        if isinstance(message.id, str):
            if message.id:
                made.add(message.id, _longer(message.id))
        else:
            singular, plural = map(_longer, message.id)
            made.add(message.id, (singular, *[plural] * (made.num_plurals - 1)))
    (folder / LANGUAGE).mkdir(parents=True)
    with (folder / LANGUAGE / FILE).open("wb") as file:
        write_po(file, made)


def _longer(message: str) -> str:
    letters = -(-len(message) // 3)
    return f"⟦{(FILLER * (letters // len(FILLER) + 1))[:letters].strip()} {message}⟧"


def from_right_to_left(page: Page) -> list[str]:
    """Return the elements that exceed their container on a right-to-left page."""
    assert page.evaluate("document.documentElement.dir") == "rtl"
    where = page.locator(".reading-room, .stMain").first
    assert where.evaluate("element => getComputedStyle(element).direction") == "rtl"
    return [str(element) for element in page.evaluate(BEYOND)]


def english(page: Page, without: list[str]) -> list[str]:
    """Return the text of a page that is outside of brackets and is not data."""
    # Bold words of a message are separate elements, so brackets are matched over all texts.
    outside = "\n".join(page.evaluate(WORDS, [*STREAMLITS, *without]))
    while (less := re.sub("⟦[^⟦⟧]*⟧", "", outside)) != outside:
        outside = less
    left = re.sub("|".join(DATA), "", outside, flags=re.MULTILINE).splitlines()
    return [text.strip() for text in left if re.search(r"[^\W\d_]{2,}", text)]


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a deployment with the artificial language."""
    folder = tmp_path_factory.mktemp("words")
    pseudo(folder / "locale")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "locale"))
        server = prepare(folder, entropy=secrets.token_bytes, now=datetime.now(UTC))
        server.start()
    translation.folder.cache_clear()  # other tests of this process use the real languages
    yield server
    server.kill()


@pytest.fixture
def page(profile: Profile) -> Page:
    """Return a page of a user whose browser requests the artificial language."""
    return profile(locale=f"{LANGUAGE}-EG").new_page()


def test_sign_in_page_and_score_card_are_translated(deployment: Server, page: Page) -> None:
    """The message after a refusal is translated; question, options and explanation are not."""
    page.goto(f"{deployment.url}/?refused=later")
    page.locator("[name=access_code]").wait_for()
    rest(page)
    assert page.get_by_text(re.compile("^⟦.* Sign in⟧$")).count()
    assert from_right_to_left(page) == []
    assert english(page, []) == []
    sign_in(page, deployment, GRADUATE)
    page.locator(".scored img").first.wait_for()
    rest(page)
    assert english(page, NOT_OURS["score-card"]) == []
    assert from_right_to_left(page) == []


def test_staff_pages_are_translated(deployment: Server, page: Page) -> None:
    """Each page with its parts and the menu is checked."""
    results = {}
    for where in walk(page, deployment, Role.ADMINISTRATOR):
        texts = english(page, NOT_OURS.get(where.partition(",")[0], []))
        results[where] = texts + from_right_to_left(page)
    assert not {where: texts for where, texts in results.items() if texts}


def test_the_reading_page_is_translated(deployment: Server, page: Page) -> None:
    """From the consent to the first cases, with keys, settings and the pause."""
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
