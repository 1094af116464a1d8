"""Checks the records sent by the reading page: preparation, presentations and readings.

A record comes from a browser and is not trusted, but an answer is not discarded because of other
invalid fields: an implausible time becomes null, an invalid comment is cut, and a flag is set.
Times are in milliseconds on the browser's monotonic clock; a value that was not measured is null,
never 0. The response lists each record by its ID, as stored or as refused with a reason.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from study.base.bank_model import LETTERS
from study.base.canonical import from_epoch_ms, without_surrogates
from study.base.translation import later

MAX_LENGTH = 4000
MAX_DEPTH = 8

_YEAR_2000_MS = 946_684_800_000.0
_YEAR_2100_MS = 4_102_444_800_000.0
_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")


class MalformedRecord(ValueError):
    """A record that the page would never send."""


def record_id(value: Any) -> str:
    """Return a raw record's ID if it is valid, otherwise an empty string."""
    identifier = value.get("id") if isinstance(value, Mapping) else None
    return identifier if isinstance(identifier, str) and _ID.fullmatch(identifier) else ""


def read_id(value: Mapping[str, Any], key: str) -> str:
    """Return the value of a field that contains the ID of a record or a case."""
    content = value.get(key)
    if not isinstance(content, str) or not _ID.fullmatch(content):
        raise MalformedRecord(f"{key} must be 8 to 64 letters, digits or dashes")
    return content


def read_number(value: Any, name: str) -> float:
    """Return a number as a float; infinity if it is out of range."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedRecord(f"{name} must be a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def read_epoch_ms(value: Mapping[str, Any], key: str) -> datetime | None:
    """Return a time on the browser's clock; None if it is not between 2000 and 2100."""
    amount = read_number(value.get(key), key)
    return from_epoch_ms(amount) if _YEAR_2000_MS <= amount < _YEAR_2100_MS else None


def clean_object(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object from the browser in a form that can be stored; refuse long ones."""
    cleaned: dict[str, Any] = _clean(value, name, MAX_DEPTH)
    if len(json.dumps(cleaned)) > MAX_LENGTH:
        raise MalformedRecord(f"{name} are too long")
    return cleaned


def _clean(value: Any, name: str, depth: int) -> Any:
    """Return JSON without lone surrogates, NaN and infinity, which cannot be stored."""
    if depth == 0:
        raise MalformedRecord(f"{name} are nested too deeply")
    if isinstance(value, Mapping):
        return {
            without_surrogates(str(key)): _clean(entry, name, depth - 1)
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [_clean(entry, name, depth - 1) for entry in value]
    if isinstance(value, str):
        return without_surrogates(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


MAX_COMMENT = 4000
MAX_REASON = 500
MAX_WORDS = 2000
MAX_ENTRIES = 200

CLOCK_IMPLAUSIBLE = "clock_implausible"
"""The browser's clock had an impossible value, which null or the server's time replaced."""

COMMENT_CUT = "comment_cut"
"""The comment was too long or contained unprintable characters and was corrected."""

REASON_CUT = "reason_cut"
"""The reason for not answering was too long or contained unprintable characters."""

WORDS_CUT = "words_cut"
"""The open-ended answer was too long or contained unprintable characters."""

FAULTY = "question_faulty"
"""The reader marked the question as faulty."""

SENT_AGAIN = "sent_again"
"""The record was lost when an older store was restored, and the page sent it again."""

_LONGEST_MS = 365 * 24 * 3600 * 1000.0
_NAME = re.compile(r"[0-9A-Za-z_ .:-]{1,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """The first display of a case; `shown_at` is None if the browser's clock was impossible."""

    id: str
    case: str
    shown_at: datetime | None
    circumstances: Mapping[str, Any]
    sent_at: datetime | None = None
    """When the page sent the record, by the same clock as `shown_at`; None if unknown."""


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
    """A committed answer. `option` and `selections` contain letters as shown to this reader.

    An open-ended case has `words`, as the reader typed them, and no option; other cases have no
    words. `presented_at` and `committed_at` are None if the browser's clock was impossible.
    """

    id: str
    case: str
    option: str | None
    status: Literal["answered", "skipped", "timed_out"]
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
    """When the page sent the record, by the same clock as `committed_at`; None if unknown."""
    reason: str = ""
    words: str = ""
    aid_shown_ms: float | None = None
    """Time from the first frame of the case to the first frame with the aid; None if not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AidRequest:
    """A request for the aid of a case; `requested_at` is None if the clock was impossible."""

    id: str
    case: str
    requested_at: datetime | None
    sent_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """A completed step before the first case.

    `done_at` is None if the browser's clock was impossible. The required content of `detail`
    depends on the step and the protocol; see `study.reading.course`.
    """

    id: str
    step: str
    detail: Mapping[str, Any]
    done_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The reader's confirmation that the answers are final; see `study.reading.course`."""

    id: str


CaseRecord = Presentation | Reading | AidRequest
Record = CaseRecord | Preparation | Finish


def parse_record(value: Any) -> Record:
    """Check a record parsed from JSON.

    Raises
    ------
    MalformedRecord
        The record does not follow `docs/reading-page.md`.
    """
    if not isinstance(value, Mapping):
        raise MalformedRecord("a record is an object")
    kind = value.get("kind")
    if kind == "presentation":
        return _presentation(value)
    if kind == "reading":
        return _reading(value)
    if kind == "preparation":
        return _preparation(value)
    if kind == "aid request":
        return AidRequest(
            id=read_id(value, "id"),
            case=read_id(value, "case"),
            requested_at=read_epoch_ms(value, "epoch_ms"),
            sent_at=_sent_at(value),
        )
    if kind == "finish":
        return Finish(id=read_id(value, "id"))
    raise MalformedRecord("kind must be preparation, presentation, aid request, reading or finish")


def _preparation(value: Mapping[str, Any]) -> Preparation:
    step, detail = value.get("step"), value.get("detail") or {}
    if not isinstance(step, str):
        raise MalformedRecord("step is a word")
    if not isinstance(detail, Mapping):
        raise MalformedRecord("detail is an object")
    return Preparation(
        id=read_id(value, "id"), step=step, detail=detail, done_at=read_epoch_ms(value, "epoch_ms")
    )


def _presentation(value: Mapping[str, Any]) -> Presentation:
    circumstances = value.get("circumstances") or {}
    if not isinstance(circumstances, Mapping):
        raise MalformedRecord("circumstances is an object")
    checked = clean_object(circumstances, "circumstances")
    shown_at = read_epoch_ms(value, "shown_epoch_ms")
    return Presentation(
        id=read_id(value, "id"),
        case=read_id(value, "case"),
        shown_at=shown_at,
        circumstances=checked if shown_at else {**checked, CLOCK_IMPLAUSIBLE: True},
        sent_at=_sent_at(value),
    )


def _reading(value: Mapping[str, Any]) -> Reading:
    status = value.get("status")
    option = value.get("option")
    if status not in ("answered", "skipped", "timed_out"):
        raise MalformedRecord("status must be answered, skipped or timed_out")
    supersedes = value.get("supersedes")
    doubts = _FieldReader()
    words = doubts.words(value.get("words"))
    if [option is not None, bool(words)].count(True) != (status == "answered"):
        raise MalformedRecord("an answered reading has an option or words, another has neither")
    reason = doubts.reason(value.get("reason"))
    times = _times(value.get("times"), doubts)
    aid_shown_ms = doubts.duration(value["times"].get("aid_shown_ms"), "aid_shown_ms")
    if (status == "skipped") != bool(reason):
        raise MalformedRecord("a skipped reading has a reason, another has none")
    return Reading(
        id=read_id(value, "id"),
        case=read_id(value, "case"),
        option=None if option is None else _letter(option),
        status=status,
        times=times,
        presented_at=doubts.moment(read_epoch_ms(value, "presented_epoch_ms")),
        committed_at=doubts.moment(read_epoch_ms(value, "committed_epoch_ms")),
        confidence=_confidence(value.get("confidence")),
        comment=doubts.comment(value.get("comment")),
        selections=_selections(value.get("selections"), doubts),
        behaviour=_behaviour(value.get("behaviour")),
        flags=(*_flags(value.get("flags")), *doubts.flags, *_resend_flags(value)),
        supersedes=None if supersedes is None else read_id(value, "supersedes"),
        sent_at=_sent_at(value),
        reason=reason,
        words=words,
        aid_shown_ms=aid_shown_ms,
    )


class _FieldReader:
    """Reads the optional fields of a reading, and flags fields that had to be cut or dropped."""

    def __init__(self) -> None:
        self.flags: set[str] = set()

    def moment(self, at: datetime | None) -> datetime | None:
        if at is None:
            self.flags.add(CLOCK_IMPLAUSIBLE)
        return at

    def duration(self, value: Any, name: str) -> float | None:
        amount = None if value is None else read_number(value, name)
        if amount is None or 0 <= amount <= _LONGEST_MS:
            return amount
        self.flags.add(CLOCK_IMPLAUSIBLE)
        return None

    def comment(self, value: Any) -> str:
        return self._fit(value, MAX_COMMENT, COMMENT_CUT)

    def reason(self, value: Any) -> str:
        return self._nonblank(value, MAX_REASON, REASON_CUT)

    def words(self, value: Any) -> str:
        return self._nonblank(value, MAX_WORDS, WORDS_CUT)

    def _nonblank(self, value: Any, longest: int, flag: str) -> str:
        fit = self._fit(value, longest, flag)
        return fit if fit.strip() else ""

    def _fit(self, value: Any, longest: int, flag: str) -> str:
        text = value if isinstance(value, str) else ""
        fit = without_surrogates(text).replace("\0", "")[:longest]
        if fit != (value or ""):
            self.flags.add(flag)
        return fit


def _letter(value: Any) -> str:
    if not isinstance(value, str) or len(value) != 1 or value not in LETTERS:
        raise MalformedRecord("an option is a letter from A to H")
    return value


def _sent_at(value: Mapping[str, Any]) -> datetime | None:
    try:
        return read_epoch_ms(value, "sent_epoch_ms")
    except MalformedRecord:
        return None  # an answer is not refused because of other invalid fields


def _resend_flags(value: Mapping[str, Any]) -> tuple[str, ...]:
    return (SENT_AGAIN,) if value.get("again") is True else ()


def _times(value: Any, doubts: _FieldReader) -> Times:
    if not isinstance(value, Mapping):
        raise MalformedRecord("times is an object")
    names = Times.__dataclass_fields__
    return Times(**{name: doubts.duration(value.get(name), name) for name in names})


def _confidence(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 9:
        raise MalformedRecord("confidence must be a step of the scale")
    return value


def _entries(value: Any, name: str) -> list[Any]:
    entries = value if value is not None else []
    if not isinstance(entries, list) or len(entries) > MAX_ENTRIES:
        raise MalformedRecord(f"{name} is a list of at most {MAX_ENTRIES}")
    return entries


def _selections(value: Any, doubts: _FieldReader) -> tuple[tuple[str, float | None], ...]:
    entries = _entries(value, "selections")
    if not all(isinstance(entry, Mapping) for entry in entries):
        raise MalformedRecord("a selection is an object")
    return tuple(
        (_letter(entry.get("option")), doubts.duration(entry.get("at_ms"), "at_ms"))
        for entry in entries
    )


def _behaviour(value: Any) -> dict[str, float]:
    counts = value if value is not None else {}
    if not isinstance(counts, Mapping) or len(counts) > MAX_ENTRIES:
        raise MalformedRecord("behaviour is an object of counts and times")
    for name in counts:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise MalformedRecord("behaviour has an invalid name")
    numbers = {name: read_number(value, name) for name, value in counts.items()}
    if not all(math.isfinite(amount) for amount in numbers.values()):
        raise MalformedRecord("behaviour has a value that is not a number")
    return numbers


def _flags(value: Any) -> tuple[str, ...]:
    flags = _entries(value, "flags")
    if not all(isinstance(flag, str) and _NAME.fullmatch(flag) for flag in flags):
        raise MalformedRecord("a flag is a short name")
    return tuple(flags)


N_CASES_SENT = 3
"""Number of unread cases that a reader's page receives: the current case and the next two."""

NOT_YET = later("This case is not available yet.")
SIMULATED = "This reader is a simulated one; nobody else can read for them."


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOutcome:
    """The outcome of a record: stored, unless `refused` states a reason."""

    id: str
    case: str
    refused: str = ""
    practice: bool = False
    stage: int = 0


def canonical_letter(letter: str, shown_order: str) -> str:
    """Return the canonical letter of the option shown at a letter.

    >>> canonical_letter("A", "CAB")
    'C'
    """
    return shown_order[LETTERS.index(letter)]


def shown_letter(letter: str, shown_order: str) -> str:
    """Return the letter at which a canonical option is shown.

    >>> shown_letter("C", "CAB")
    'A'
    """
    return LETTERS[shown_order.index(letter)]
