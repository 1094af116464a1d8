"""An artificial language with longer messages, and texts that are not in it."""

import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po
from playwright.sync_api import Page

from study import demo
from study.base.translation import CATALOGUE_FILE
from tests.e2e.prepared import CLOSED, DRAFT, EXPERT, REVIEW, TEACHING
from ui import catalogue

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
    re.escape(demo.DEMO_STUDY),
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
    pseudo_catalogue = Catalog(locale=LANGUAGE)
    for message in catalogue.template():
        if isinstance(message.id, str):
            if message.id:
                pseudo_catalogue.add(message.id, _longer(message.id))
        else:
            singular, plural = map(_longer, message.id)
            pseudo_catalogue.add(
                message.id, (singular, *[plural] * (pseudo_catalogue.num_plurals - 1))
            )
    (folder / LANGUAGE).mkdir(parents=True)
    with (folder / LANGUAGE / CATALOGUE_FILE).open("wb") as file:
        write_po(file, pseudo_catalogue)


def _longer(message: str) -> str:
    letters = -(-len(message) // 3)
    return f"⟦{(FILLER * (letters // len(FILLER) + 1))[:letters].strip()} {message}⟧"


def from_right_to_left(page: Page) -> list[str]:
    """Return the elements that exceed their container on a right-to-left page."""
    assert page.evaluate("document.documentElement.dir") == "rtl"
    locator = page.locator(".reading-room, .stMain").first
    assert locator.evaluate("element => getComputedStyle(element).direction") == "rtl"
    return [str(element) for element in page.evaluate(BEYOND)]


def english(page: Page, excluded: list[str]) -> list[str]:
    """Return the text of a page that is outside of brackets and is not data."""
    # Bold words of a message are separate elements, so brackets are matched over all texts.
    text_outside = "\n".join(page.evaluate(WORDS, [*STREAMLITS, *excluded]))
    while (less := re.sub("⟦[^⟦⟧]*⟧", "", text_outside)) != text_outside:
        text_outside = less
    left = re.sub("|".join(DATA), "", text_outside, flags=re.MULTILINE).splitlines()
    return [text.strip() for text in left if re.search(r"[^\W\d_]{2,}", text)]
