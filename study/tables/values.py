"""Converts the values of records to text and lists, and recognises missing values."""

import json
import math
import re
from collections.abc import Sequence

from study.base.text import id_key, visible

# An entry of a list that Python or NumPy wrote as text. Possessive quantifiers keep the match fast
# for any text.
_QUOTED_STRING = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\""""
_WRITTEN_LIST = re.compile(rf"\[\s*+(?>(?:(?:{_QUOTED_STRING})\s*+,?\s*+)*)\]", re.DOTALL)
_ENTRY = re.compile(_QUOTED_STRING, re.DOTALL)


def quoted_value(value: object, limit: int = 60) -> str:
    """Return a value in the form in which messages quote it, with at most `limit` characters."""
    text = value if isinstance(value, str) else repr(value)
    text = text[: limit + 1].encode("utf-8", "backslashreplace").decode("utf-8")
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return f"“{visible(text)}”" if isinstance(value, str) else text


def is_missing(value: object) -> bool:
    """Return whether a value is empty: null, NaN, invisible text, or an empty list or object."""
    if isinstance(value, str):
        return not value.strip() or not (value.isascii() or id_key(value))
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, list | dict) and not value)


def as_text(value: object) -> str | None:
    """Return a value as trimmed text; None if it is not text that can be stored.

    Integers count as text, because many files write IDs without quotation marks. Lone surrogates
    and NUL characters are valid in JSON but cannot be stored.
    """
    if isinstance(value, str) and value.isascii() and "\0" not in value:
        return value.strip()
    if is_missing(value):
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or "\0" in value:
        return None
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return value.strip()


def as_texts(values: Sequence[object]) -> list[str | None]:
    """Return each value as text (see `as_text`); faster if all are ordinary strings."""
    try:
        joined = "".join(values)  # type: ignore[arg-type]  # values of other types raise
    except TypeError:
        return list(map(as_text, values))
    if joined.isascii() and "\0" not in joined:
        return [*map(str.strip, values)]  # type: ignore[arg-type]  # all are strings
    return list(map(as_text, values))


def as_list(value: object) -> list[object] | None:
    """Return a value that is a list, or text that represents a list, as a list; otherwise None.

    The text may be `["a", "b"]`, `['a', 'b']` or NumPy's `['a' 'b']`.
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, str) or not value.strip().startswith("["):
        return None
    text = value.strip()
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        if not _WRITTEN_LIST.fullmatch(text):
            return None
        return [_unescape(single or double) for single, double in _ENTRY.findall(text)]
    return entries if isinstance(entries, list) else None


def _unescape(text: str) -> str:
    return re.sub(r"\\(['\"\\])", r"\1", text)
