"""Formats stored values and protocol texts for pages, and parses numbers in addresses.

External text is shown literally, or as Markdown without HTML and images that links only to web
pages and mailboxes.
"""

import re
from collections.abc import Sequence
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from study.bank.measures import in_suitable_unit
from study.base import translation
from study.base.translation import current_locale, t, tn

_NUMBER = re.compile(r"[0-9]{1,18}")
_SPACE_BEFORE_PERCENT = re.compile(r"(?<=[0-9]) %")
_MARKDOWN_CHARACTERS = re.compile(r"([\\`*_{}\[\]()#+.!|~$:<>-])")
_ALLOWED_LINK = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)


def plain(text: str) -> str:
    r"""Return text escaped for Streamlit's Markdown.

    >>> print(plain("A *b* [c]"))
    A \*b\* \[c\]
    """
    return unbroken(_MARKDOWN_CHARACTERS.sub(r"\\\1", " ".join(text.split())))


def unbroken(text: str) -> str:
    """Return text with a no-break space between a number and its per cent sign.

    >>> unbroken("52 %") == "52\N{NO-BREAK SPACE}%"
    True
    """
    return _SPACE_BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}%", text)


def minute(at_utc: str | None) -> str:
    """Return a stored time, to the minute and with its zone UTC; empty for None.

    >>> minute("2025-06-04T12:00:59.999Z"), minute(None)
    ('4 Jun 2025, 12:00 UTC', '')
    """
    return translation.date_and_time(at_utc) if at_utc else ""


def browser_zone() -> tzinfo:
    """Return the time zone the browser of this session reports; UTC if it reports none."""
    try:
        return ZoneInfo(str(st.context.timezone or "UTC"))
    except (ValueError, OSError, KeyError):
        return UTC


def date_field_format() -> str:
    """Return the format of a date field, in the order and with the separators of the language.

    >>> date_field_format()
    'DD/MM/YYYY'
    """
    short = current_locale().date_formats["short"].pattern
    separator = next((character for character in short if character in "./-"), "-")
    order = {"d": "DD MM YYYY", "M": "MM DD YYYY"}.get(short[:1], "YYYY MM DD")
    return order.replace(" ", separator)


def table_time(at_utc: str | None, *, to: str = "min") -> Any:
    """Return a stored time for a table, which sorts it and shows it in the page's language.

    >>> table_time("2025-06-04T12:00:59.999Z"), table_time("2025-06-04T12:00:59.999Z", to="s")
    (Timestamp('2025-06-04 12:00:00'), Timestamp('2025-06-04 12:00:59'))
    """
    return pd.Timestamp(at_utc).tz_localize(None).floor(to) if at_utc else pd.NaT


def study_state(state: str) -> str:
    """Return the label of a study's state."""
    return {"drawn": t("drawn"), "open": t("open"), "closed": t("closed")}.get(state, state)


def time_left(seconds: float) -> str:
    """Return an approximate duration in words."""
    if seconds < 60:
        return t("less than a minute left")
    minutes = round(seconds / 60)
    if minutes < 90:
        return tn("about {n} minute left", "about {n} minutes left", minutes)
    return tn("about {n} hour left", "about {n} hours left", round(minutes / 60))


def prior_in_words(days: int | None) -> str:
    """Return the heading of a film of an earlier examination.

    >>> prior_in_words(91), prior_in_words(1), prior_in_words(0), prior_in_words(None)
    ('Prior, 3 months earlier', 'Prior, 1 day earlier', 'Prior, same day', 'Prior')
    """
    if days is None:
        return t("Prior")
    n, unit = in_suitable_unit(days)
    if not n:
        return t("Prior, same day")
    if unit == "day":
        return tn("Prior, {n} day earlier", "Prior, {n} days earlier", n)
    if unit == "week":
        return tn("Prior, {n} week earlier", "Prior, {n} weeks earlier", n)
    if unit == "month":
        return tn("Prior, {n} month earlier", "Prior, {n} months earlier", n)
    return tn("Prior, {n} year earlier", "Prior, {n} years earlier", n)


def film_name(label: str, prior: object, days: int | None) -> str:
    """Return the name of a film in a list of an item's films.

    >>> film_name("PA", 0, None), film_name("PA", 1, 91), film_name("", 1, None)
    ('PA', 'PA, Prior, 3 months earlier', 'Prior')
    """
    parts = [label, prior_in_words(days) if prior else ""]
    return ", ".join(part for part in parts if part)


def number(text: str) -> int:
    """Return the number in a part of an address; -1 if it is not a number or out of range.

    >>> number("12"), number("-1"), number("9" * 5000)
    (12, -1, -1)
    """
    return int(text) if _NUMBER.fullmatch(text) else -1


@lru_cache(maxsize=64)
def html(markdown: str) -> str:
    r"""Return Markdown as safe HTML.

    HTML is shown as text, an image as a link to it, and a link to anything but a web page or a
    mailbox as plain text.

    >>> html("**Read** <b>this</b>")
    '<p><strong>Read</strong> &lt;b&gt;this&lt;/b&gt;</p>\n'
    """
    return str(_parser().render(markdown))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = lambda url: bool(_ALLOWED_LINK.match(url.strip()))  # type: ignore[method-assign]
    parser.add_render_rule("link_open", _link_open)
    return parser


def _link_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, index, options, env)
