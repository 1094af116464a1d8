"""What the reading page sends: presentations and readings, checked before anything is stored.

A record comes from a browser and is trusted in nothing, but an answer is not thrown away for what
stands around it: an implausible time becomes null and an unfit comment is cut, and flags say so.
Times are milliseconds on the browser's monotonic clock; what was not measured is null, never 0.
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
MAX_DEPTH = 8

CLOCK_IMPLAUSIBLE = "clock_implausible"
"""The browser's clock says what no clock would; such a value is null or the server's time."""

COMMENT_CUT = "comment_cut"
"""The comment was too long, or held signs that are no text, and was cut or cleaned."""

_LONGEST_MS = 365 * 24 * 3600 * 1000.0
_YEAR_2000_MS = 946_684_800_000.0
_YEAR_2100_MS = 4_102_444_800_000.0
_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")
_NAME = re.compile(r"[0-9A-Za-z_ .:-]{1,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """A case was painted for a reader; `shown_at` is None where the browser's clock is absurd."""

    id: str
    case: str
    shown_at: datetime | None
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
    """A committed answer. `option` and `selections` are letters as shown to this reader.

    `presented_at` and `committed_at` are None where the browser's clock is absurd.
    """

    id: str
    case: str
    option: str | None
    status: Literal["answered", "timed_out"]
    times: Times
    presented_at: datetime | None
    committed_at: datetime | None
    confidence: int | None = None
    comment: str = ""
    selections: tuple[tuple[str, float | None], ...] = ()
    behaviour: Mapping[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    supersedes: str | None = None
    sent_at: datetime | None = None
    """When the page sent it, by the clock that `committed_at` is of; None where it did not say."""


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
    cleaned = _cleaned(circumstances, MAX_DEPTH)
    if len(json.dumps(cleaned)) > MAX_CIRCUMSTANCES:
        raise MalformedRecord("circumstances are too long")
    shown_at = _moment(value, "shown_epoch_ms")
    return Presentation(
        id=_id(value, "id"),
        case=_id(value, "case"),
        shown_at=shown_at,
        circumstances=cleaned if shown_at else {**cleaned, CLOCK_IMPLAUSIBLE: True},
    )


def _reading(value: Mapping[str, Any]) -> Reading:
    status = value.get("status")
    option = value.get("option")
    if status not in ("answered", "timed_out"):
        raise MalformedRecord("status must be answered or timed_out")
    if (status == "answered") != (option is not None):
        raise MalformedRecord("an answered reading has an option, another has none")
    supersedes = value.get("supersedes")
    found = _Doubts()
    return Reading(
        id=_id(value, "id"),
        case=_id(value, "case"),
        option=None if option is None else _letter(option),
        status=status,
        times=_times(value.get("times"), found),
        presented_at=found.moment(_moment(value, "presented_epoch_ms")),
        committed_at=found.moment(_moment(value, "committed_epoch_ms")),
        confidence=_confidence(value.get("confidence")),
        comment=found.comment(value.get("comment")),
        selections=_selections(value.get("selections"), found),
        behaviour=_behaviour(value.get("behaviour")),
        flags=(*_flags(value.get("flags")), *found.flags),
        supersedes=None if supersedes is None else _id(value, "supersedes"),
        sent_at=_sent(value),
    )


class _Doubts:
    """Takes what a reading can do without, and remembers as flags what it had to leave out."""

    def __init__(self) -> None:
        self.flags: set[str] = set()

    def moment(self, found: datetime | None) -> datetime | None:
        if found is None:
            self.flags.add(CLOCK_IMPLAUSIBLE)
        return found

    def duration(self, value: Any, what: str) -> float | None:
        found = None if value is None else _number(value, what)
        if found is None or 0 <= found <= _LONGEST_MS:
            return found
        self.flags.add(CLOCK_IMPLAUSIBLE)
        return None

    def comment(self, value: Any) -> str:
        text = value if isinstance(value, str) else ""
        fit = _without_surrogates(text)[:MAX_COMMENT]
        if fit != (value or ""):
            self.flags.add(COMMENT_CUT)
        return fit


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cleaned(value: Any, depth: int) -> Any:
    """Return JSON that can be stored: no lone surrogate, no NaN or infinity."""
    if depth == 0:
        raise MalformedRecord("circumstances are nested too deeply")
    if isinstance(value, Mapping):
        return {
            _without_surrogates(str(key)): _cleaned(one, depth - 1) for key, one in value.items()
        }
    if isinstance(value, list):
        return [_cleaned(one, depth - 1) for one in value]
    if isinstance(value, str):
        return _without_surrogates(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
    """Return a number as a float, one beyond its range as infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedRecord(f"{what} must be a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _moment(value: Mapping[str, Any], key: str) -> datetime | None:
    found = _number(value.get(key), key)
    return from_epoch_ms(found) if _YEAR_2000_MS <= found < _YEAR_2100_MS else None


def _sent(value: Mapping[str, Any]) -> datetime | None:
    try:
        return _moment(value, "sent_epoch_ms")
    except MalformedRecord:
        return None  # an answer is not refused for what stands on its envelope


def _times(value: Any, found: _Doubts) -> Times:
    if not isinstance(value, Mapping):
        raise MalformedRecord("times is an object")
    names = Times.__dataclass_fields__
    return Times(**{name: found.duration(value.get(name), name) for name in names})


def _confidence(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 9:
        raise MalformedRecord("confidence must be a step of the scale")
    return value


def _entries(value: Any, what: str) -> list[Any]:
    found = value if value is not None else []
    if not isinstance(found, list) or len(found) > MAX_ENTRIES:
        raise MalformedRecord(f"{what} is a list of at most {MAX_ENTRIES}")
    return found


def _selections(value: Any, found: _Doubts) -> tuple[tuple[str, float | None], ...]:
    entries = _entries(value, "selections")
    if not all(isinstance(entry, Mapping) for entry in entries):
        raise MalformedRecord("a selection is an object")
    return tuple(
        (_letter(entry.get("option")), found.duration(entry.get("at_ms"), "at_ms"))
        for entry in entries
    )


def _behaviour(value: Any) -> dict[str, float]:
    found = value if value is not None else {}
    if not isinstance(found, Mapping) or len(found) > MAX_ENTRIES:
        raise MalformedRecord("behaviour is an object of counts and times")
    for name in found:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise MalformedRecord("behaviour has an odd name")
    numbers = {name: _number(number, name) for name, number in found.items()}
    if not all(math.isfinite(number) for number in numbers.values()):
        raise MalformedRecord("behaviour has a number that is none")
    return numbers


def _flags(value: Any) -> tuple[str, ...]:
    found = _entries(value, "flags")
    if not all(isinstance(flag, str) and _NAME.fullmatch(flag) for flag in found):
        raise MalformedRecord("a flag is a short name")
    return tuple(found)
