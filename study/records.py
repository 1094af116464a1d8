"""What the reading page sends: presentations and readings, checked before anything is stored.

A record comes from a browser and is trusted in nothing. Times are milliseconds on the browser's
monotonic clock; what was not measured is null, never 0.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from study.assignment import LETTERS
from study.moments import from_epoch_ms

MAX_COMMENT = 4000
MAX_ENTRIES = 200
MAX_CIRCUMSTANCES = 4000
_LONGEST_MS = 365 * 24 * 3600 * 1000.0
_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")
_NAME = re.compile(r"[0-9A-Za-z_ .:-]{1,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """A case was painted for a reader."""

    id: str
    case: str
    shown_at: datetime
    circumstances: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The times of a reading in milliseconds; response + hidden + paused = elapsed."""

    response_ms: float | None = None
    elapsed_ms: float | None = None
    hidden_ms: float | None = None
    paused_ms: float | None = None
    first_selection_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A committed answer. `option` and `selections` are letters as shown to this reader."""

    id: str
    case: str
    option: str | None
    status: Literal["answered", "timed_out"]
    times: Times
    presented_at: datetime
    committed_at: datetime
    confidence: int | None = None
    comment: str = ""
    selections: tuple[tuple[str, float | None], ...] = ()
    behaviour: Mapping[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    supersedes: str | None = None


Record = Presentation | Reading


class MalformedRecord(ValueError):
    """A record that the page would never send."""


def record_id(value: Any) -> str:
    """Return a raw record's id where it has a sound one, else an empty text."""
    found = value.get("id") if isinstance(value, Mapping) else None
    return found if isinstance(found, str) and _ID.fullmatch(found) else ""


def parse(value: Any) -> Record:
    """Check one record as it came out of JSON.

    Raises
    ------
    MalformedRecord
        Anything is not as documented in `docs/reading-page.md`.
    """
    if not isinstance(value, Mapping):
        raise MalformedRecord("a record is an object")
    kind = value.get("kind")
    if kind == "presentation":
        return _presentation(value)
    if kind == "reading":
        return _reading(value)
    raise MalformedRecord("kind must be presentation or reading")


def _presentation(value: Mapping[str, Any]) -> Presentation:
    circumstances = value.get("circumstances") or {}
    if not isinstance(circumstances, Mapping):
        raise MalformedRecord("circumstances is an object")
    if len(json.dumps(circumstances)) > MAX_CIRCUMSTANCES:
        raise MalformedRecord("circumstances are too long")
    return Presentation(
        id=_id(value, "id"),
        case=_id(value, "case"),
        shown_at=_moment(value, "shown_epoch_ms"),
        circumstances=circumstances,
    )


def _reading(value: Mapping[str, Any]) -> Reading:
    status = value.get("status")
    option = value.get("option")
    if status not in ("answered", "timed_out"):
        raise MalformedRecord("status must be answered or timed_out")
    if (status == "answered") != (option is not None):
        raise MalformedRecord("an answered reading has an option, another has none")
    supersedes = value.get("supersedes")
    return Reading(
        id=_id(value, "id"),
        case=_id(value, "case"),
        option=None if option is None else _letter(option),
        status=status,
        times=_times(value.get("times")),
        presented_at=_moment(value, "presented_epoch_ms"),
        committed_at=_moment(value, "committed_epoch_ms"),
        confidence=_confidence(value.get("confidence")),
        comment=_comment(value.get("comment")),
        selections=_selections(value.get("selections")),
        behaviour=_behaviour(value.get("behaviour")),
        flags=_flags(value.get("flags")),
        supersedes=None if supersedes is None else _id(value, "supersedes"),
    )


def _id(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not _ID.fullmatch(found):
        raise MalformedRecord(f"{key} must be 8 to 64 letters, digits or dashes")
    return found


def _letter(value: Any) -> str:
    if not isinstance(value, str) or len(value) != 1 or value not in LETTERS:
        raise MalformedRecord("an option is a letter from A to H")
    return value


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise MalformedRecord(f"{what} must be a number")
    return float(value)


def _moment(value: Mapping[str, Any], key: str) -> datetime:
    try:
        return from_epoch_ms(_number(value.get(key), key))
    except ValueError as error:
        raise MalformedRecord(f"{key} is no moment") from error


def _duration(value: Any, what: str) -> float | None:
    if value is None:
        return None
    found = _number(value, what)
    if not 0 <= found <= _LONGEST_MS:
        raise MalformedRecord(f"{what} must not be negative, nor longer than a year")
    return found


def _times(value: Any) -> Times:
    if not isinstance(value, Mapping):
        raise MalformedRecord("times is an object")
    return Times(**{key: _duration(value.get(key), key) for key in Times.__dataclass_fields__})


def _confidence(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 9:
        raise MalformedRecord("confidence must be a step of the scale")
    return value


def _comment(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_COMMENT:
        raise MalformedRecord(f"a comment has at most {MAX_COMMENT} characters")
    return value


def _entries(value: Any, what: str) -> list[Any]:
    found = value if value is not None else []
    if not isinstance(found, list) or len(found) > MAX_ENTRIES:
        raise MalformedRecord(f"{what} is a list of at most {MAX_ENTRIES}")
    return found


def _selections(value: Any) -> tuple[tuple[str, float | None], ...]:
    found = _entries(value, "selections")
    if not all(isinstance(entry, Mapping) for entry in found):
        raise MalformedRecord("a selection is an object")
    return tuple(
        (_letter(entry.get("option")), _duration(entry.get("at_ms"), "at_ms")) for entry in found
    )


def _behaviour(value: Any) -> dict[str, float]:
    found = value if value is not None else {}
    if not isinstance(found, Mapping) or len(found) > MAX_ENTRIES:
        raise MalformedRecord("behaviour is an object of counts and times")
    for name in found:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise MalformedRecord("behaviour has an odd name")
    return {name: _number(number, name) for name, number in found.items()}


def _flags(value: Any) -> tuple[str, ...]:
    found = _entries(value, "flags")
    if not all(isinstance(flag, str) and _NAME.fullmatch(flag) for flag in found):
        raise MalformedRecord("a flag is a short name")
    return tuple(found)
