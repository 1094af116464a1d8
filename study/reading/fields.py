"""Fields of a record that came from a browser, each checked before it is used."""

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from study.base.canonical import from_epoch_ms, without_surrogates

MAX_LENGTH = 4000
MAX_DEPTH = 8

_YEAR_2000_MS = 946_684_800_000.0
_YEAR_2100_MS = 4_102_444_800_000.0
_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")


class MalformedRecord(ValueError):
    """A record that the page would never send."""


def record_id(value: Any) -> str:
    """Return a raw record's id where it has a sound one, else an empty text."""
    found = value.get("id") if isinstance(value, Mapping) else None
    return found if isinstance(found, str) and _ID.fullmatch(found) else ""


def identity(value: Mapping[str, Any], key: str) -> str:
    """Return a field that names something: a record or a case."""
    found = value.get(key)
    if not isinstance(found, str) or not _ID.fullmatch(found):
        raise MalformedRecord(f"{key} must be 8 to 64 letters, digits or dashes")
    return found


def number(value: Any, what: str) -> float:
    """Return a number as a float, one beyond its range as infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedRecord(f"{what} must be a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def moment(value: Mapping[str, Any], key: str) -> datetime | None:
    """Return a moment of the browser's clock; None outside of 2000 to 2100."""
    found = number(value.get(key), key)
    return from_epoch_ms(found) if _YEAR_2000_MS <= found < _YEAR_2100_MS else None


def bounded(value: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return an object of the browser's as it can be stored: cleaned, and of bounded size."""
    found: dict[str, Any] = _cleaned(value, what, MAX_DEPTH)
    if len(json.dumps(found)) > MAX_LENGTH:
        raise MalformedRecord(f"{what} are too long")
    return found


def _cleaned(value: Any, what: str, depth: int) -> Any:
    """Return JSON that can be stored: no lone surrogate, no NaN or infinity."""
    if depth == 0:
        raise MalformedRecord(f"{what} are nested too deeply")
    if isinstance(value, Mapping):
        return {
            without_surrogates(str(key)): _cleaned(one, what, depth - 1)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_cleaned(one, what, depth - 1) for one in value]
    if isinstance(value, str):
        return without_surrogates(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
