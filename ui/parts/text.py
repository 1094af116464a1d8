"""How pages write what is stored, text from outside sign by sign; and read numbers of addresses."""

import re

from study.base.translation import t

_NUMBER = re.compile(r"[0-9]{1,18}")
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


def number(given: str) -> int:
    """Return a number of an address; -1, which nothing has, where it is none or beyond the store's.

    >>> number("12"), number("-1"), number("9" * 5000)
    (12, -1, -1)
    """
    return int(given) if _NUMBER.fullmatch(given) else -1
