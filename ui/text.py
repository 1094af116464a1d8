"""How pages write what is stored: text from outside sign by sign, moments, sizes, states."""

import re

from study.words import t

_MARKS = re.compile(r"([\\`*_{}\[\]()#+.!|~$:<>-])")


def plain(text: str) -> str:
    r"""Return text that Streamlit's Markdown shows sign by sign.

    >>> print(plain("A *b* [c]"))
    A \*b\* \[c\]
    """
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def minute(at_utc: str | None) -> str:
    """Return a stored moment to the minute, in UTC; nothing for none.

    >>> minute("2025-06-04T12:00:59.999Z"), minute(None)
    ('2025-06-04 12:00', '')
    """
    return at_utc[:16].replace("T", " ") if at_utc else ""


def second(at_utc: str) -> str:
    """Return a stored moment to the second, in UTC.

    >>> second("2025-06-04T12:00:59.999Z")
    '2025-06-04 12:00:59'
    """
    return at_utc[:19].replace("T", " ")


def study_state(state: str) -> str:
    """Return what a study's state is called."""
    return {"drawn": t("drawn"), "open": t("open"), "closed": t("closed")}.get(state, state)
