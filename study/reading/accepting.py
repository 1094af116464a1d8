"""Accepts or refuses a record, and flags readings with doubtful times.

A flag states why a reading's times are doubtful; a flagged reading is still stored. The browser's
clock, which measures the times, is compared with the server's clock at the time of receipt. The
comparison is possible only if the presentation arrived immediately and in an earlier message than
the reading; after a network failure both arrive together. If the message states when it was sent,
the time that a record waited before it was sent is measured only by the browser's clock, because a
workstation's clock may be minutes off.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from study.base.actor import Acting
from study.base.bank_model import LETTERS
from study.base.canonical import canonical_json, moment, stamp
from study.base.translation import t, translated
from study.protocol.protocol import Aid, Condition, Protocol
from study.reading.course import Admission, ReaderContext, admit, is_prepared
from study.reading.records import (
    CLOCK_IMPLAUSIBLE,
    FAULTY,
    N_CASES_SENT,
    NOT_YET,
    SIMULATED,
    AidRequest,
    CaseRecord,
    Presentation,
    Reading,
    RecordOutcome,
    canonical_letter,
)
from study.store import Transaction, aids, readings
from study.store.events import EventKind, record_with_hash
from study.store.readings import AssignmentRow, PresentationRow
from study.store.studies import PRACTICE, STUDY, CaseSet


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrival:
    """The assignment that a record belongs to, and the circumstances of its receipt."""

    reader: ReaderContext
    timing_source: str
    case_set: CaseSet
    assigned: AssignmentRow

    @property
    def change(self) -> Transaction:
        return self.reader.look

    @property
    def protocol(self) -> Protocol:
        return self.reader.protocol

    @property
    def now(self) -> datetime:
        return self.reader.now


def accept_record(
    reader: ReaderContext, record: CaseRecord, *, timing_source: str = "browser"
) -> RecordOutcome:
    """Store a record within the caller's transaction, or return why it is refused."""
    case_set, assigned = STUDY, readings.assignment(reader.look, record.case)
    if assigned is None:
        case_set, assigned = PRACTICE, readings.assignment(reader.look, record.case, PRACTICE)
    if assigned is None or assigned.reader != reader.person.reader:
        refused = t("This case is not assigned to you.")
    else:
        at = _Arrival(
            reader=reader, timing_source=timing_source, case_set=case_set, assigned=assigned
        )
        refused = _source_refusal(at) or _preparation_refusal(at) or _accept(at, record)
    return RecordOutcome(
        id=record.id,
        case="" if refused else record.case,
        refused=refused,
        practice=case_set is PRACTICE,
        stage=0 if assigned is None else assigned.stage,
    )


def _source_refusal(at: _Arrival) -> str:
    if at.reader.is_simulated and at.timing_source != "simulated":
        return SIMULATED
    if at.timing_source == "simulated" and not at.reader.is_simulated:
        return t("This reader is a real person; a simulation cannot read for them.")
    return ""


def _preparation_refusal(at: _Arrival) -> str:
    """Refuse all cases during the preparation, and the study's cases during the practice."""
    may_begin = at.case_set is PRACTICE or not at.reader.practice_cases
    return "" if may_begin and is_prepared(at.reader) else translated(NOT_YET)


def _accept(at: _Arrival, record: CaseRecord) -> str:
    """Store a record, or return why it is refused.

    A presentation of a practice case is acknowledged but not stored, because only presentations of
    the study's cases are needed. Practice cases belong to no session.
    """
    if isinstance(record, Presentation):
        return "" if at.case_set is PRACTICE else _accept_presentation(at, record)
    if isinstance(record, AidRequest):
        return _accept_aid_request(at, record)
    known = readings.by_id(at.change, record.id, at.case_set)
    if known is not None:
        return "" if known.assignment == record.case else t("Another reading already has this ID.")
    session, presented, late, refused = None, None, "", ""
    if at.case_set is STUDY:
        presented = readings.presentation(at.change, record.case)
        admission = _admission(at, record, known=presented is not None)
        session, late, refused = at.reader.place.current.session, admission.flag, admission.refused
    refused = refused or _answer_refusal(at, record) or _order_refusal(at, session, record)
    if not refused:
        _store_reading(at, record, presented, late)
    return refused


def _accept_presentation(at: _Arrival, record: Presentation) -> str:
    """Store the first presentation of a case; later presentations are ignored."""
    if readings.presentation(at.change, record.case):
        return ""
    admission = _admission(at, record, known=False)
    session = at.reader.place.current.session
    return (
        admission.refused or _availability_refusal(at, session) or _store_presentation(at, record)
    )


def _accept_aid_request(at: _Arrival, record: AidRequest) -> str:
    """Store the request for the aid of the case on the screen; a second request is ignored."""
    if at.assigned.aid != Aid.ON_DEMAND:
        return t("The model's answer cannot be requested for this case.")
    known = aids.request(at.change, record.case)
    if known is not None:
        return ""
    if aids.has_request_id(at.change, record.id):
        return t("Another request already has this ID.")
    waiting = readings.unread(at.change, at.assigned.reader, 1, at.assigned.session)
    if at.assigned.id not in [row.id for row in waiting]:
        return translated(NOT_YET)
    if readings.presentation(at.change, record.case) is None:
        return translated(NOT_YET)
    refused = admit(
        at.reader.place, at.assigned.session, known=True, shown_at=None, correction=False
    ).refused
    if not refused:
        row = aids.AidRequest(
            id=record.id,
            assignment=record.case,
            requested_at_utc=stamp(record.requested_at) if record.requested_at else None,
            received_at_utc=stamp(at.now),
        )
        aids.add_request(at.change, row)
        _vouch(at, EventKind.AID_REQUESTED, row._asdict(), {"request": record.id})
    return refused


def _admission(at: _Arrival, record: Presentation | Reading, *, known: bool) -> Admission:
    """Return whether the case's session is open, or was open when the case was first shown.

    The browser's clock may be minutes off; the message's time of sending is used to correct it.
    """
    shown_at = record.presented_at if isinstance(record, Reading) else record.shown_at
    clock_lead = at.now - record.sent_at if record.sent_at else timedelta()
    return admit(
        at.reader.place,
        at.assigned.session,
        known=known,
        shown_at=shown_at + clock_lead if shown_at else None,
        correction=isinstance(record, Reading) and record.supersedes is not None,
    )


def _availability_refusal(at: _Arrival, session: int | None) -> str:
    """Refuse a case that the page has not received, or stage 2 before stage 1 is answered."""
    rows = readings.unread(at.change, at.assigned.reader, N_CASES_SENT, session, at.case_set)
    waiting = {row.id for row in rows}
    ready = {row.id for row in rows if row.first_stage not in waiting}
    return "" if at.assigned.id in ready else translated(NOT_YET)


def _store_presentation(at: _Arrival, record: Presentation) -> str:
    if readings.has_presentation_id(at.change, record.id):
        return t("Another presentation already has this ID.")
    row = PresentationRow(
        id=record.id,
        assignment=record.case,
        shown_at_utc=stamp(record.shown_at or at.now),
        received_at_utc=stamp(at.now),
        circumstances=canonical_json(dict(record.circumstances)),
    )
    readings.add_presentation(at.change, row)
    stored = readings.presentation(at.change, record.case)
    _vouch(at, EventKind.CASE_PRESENTED, stored and stored._asdict(), {"presentation": record.id})
    first_at_utc = at.reader.place.sessions[at.assigned.session - 1].first_at_utc
    if first_at_utc is None or row.received_at_utc < first_at_utc:
        at.reader.refresh()  # otherwise the presentation does not change the reader's position
    return ""


def _answer_refusal(at: _Arrival, record: Reading) -> str:
    """Return why an answer is not valid for this case in this study, or an empty string."""
    protocol, n_options = at.protocol, len(json.loads(at.assigned.options))
    open_ended = at.assigned.condition == Condition.OPEN_ENDED
    if record.words and not open_ended:
        return t("This case is answered with one of its options.")
    if record.option is not None and open_ended:
        return t("This case is answered in your own words.")
    if record.option is not None and record.option not in LETTERS[:n_options]:
        return t("The case does not have this option.")
    if record.status == "timed_out" and not protocol.time_limit_s:
        return t("This study has no time limit.")
    if record.status == "skipped" and not protocol.cannot_answer:
        return t("Every case must be answered in this study.")
    if (record.confidence is not None) > bool(protocol.confidence):
        return t("This study does not ask for a confidence rating.")
    if protocol.confidence and record.status == "answered":
        if record.confidence is None or record.confidence > protocol.confidence:
            return t(
                "An answer needs a confidence rating from 1 to {confidence}.",
                confidence=protocol.confidence,
            )
    if record.comment and not protocol.comments:
        return t("This study does not accept comments.")
    return ""


def _order_refusal(at: _Arrival, session: int | None, record: Reading) -> str:
    current = readings.current(at.change, record.case, at.case_set)
    if record.supersedes is None:
        if current is not None:
            return t("This case has already been read; the first answer was recorded.")
        return _availability_refusal(at, session)
    if at.case_set is PRACTICE:
        return t("Answers to practice cases cannot be changed.")
    if not at.protocol.back_navigation:
        return t("Answers cannot be changed in this study.")
    if at.reader.has_finished:
        return t("You have finished; your answers can no longer be changed.")
    if current is None or current.id != record.supersedes:
        return t("The answer was changed elsewhere in the meantime.")
    return ""


def _store_reading(
    at: _Arrival, record: Reading, presented: PresentationRow | None, late: str
) -> None:
    columns = _answer_columns(record, at.assigned.shown_order, at.now)
    detail: dict[str, Any] = {"reading": record.id, "position": at.assigned.position}
    page_flags = {flag for flag in record.flags if flag != FAULTY or at.protocol.fault_marks}
    if at.case_set is PRACTICE:
        columns["reason"] = record.reason
        flags = sorted(page_flags)
    else:
        columns |= {"supersedes": record.supersedes, "timing_source": at.timing_source}
        is_due = at.assigned.aid and aids.due(at.change, record.case) is not None
        columns["aid_shown_ms"] = record.aid_shown_ms if is_due else None
        flags = sorted({*page_flags, *_doubts(at, record, presented), *([late] if late else [])})
        optional_details = {"supersedes": record.supersedes, "reason": record.reason}
        detail |= {
            "flags": flags,
            **{key: value for key, value in optional_details.items() if value},
        }
    readings.add(at.change, at.case_set, **columns, flags=canonical_json(flags))
    if at.case_set is STUDY and record.reason:
        readings.add_reason(at.change, record.id, record.reason)
    stored = readings.stored_row(at.change, record.id, at.case_set)
    _vouch(at, at.case_set.read, stored, detail)
    at.reader.refresh()


def _doubts(at: _Arrival, record: Reading, presented: PresentationRow | None) -> list[str]:
    """Return the flags that the server sets; store the presentation if it was lost."""
    if presented is None:
        lost = Presentation(
            id=f"lost:{record.case}",  # unique, because IDs from pages contain no colon
            case=record.case,
            shown_at=record.presented_at,
            circumstances={},
        )
        _store_presentation(at, lost)
    measured = at.timing_source == "browser"
    return flags_of_reading(record, presented, at.protocol, at.now) if measured else []


def _vouch(
    at: _Arrival, kind: EventKind, stored: Mapping[str, Any] | None, detail: Mapping[str, Any]
) -> None:
    person = at.reader.person
    record_with_hash(
        at.change, person.study_name, Acting(by=person.by, now=at.now), kind, stored, detail
    )


def _answer_columns(record: Reading, order: str, now: datetime) -> dict[str, Any]:
    """Return the values that are stored for readings of both the study's and practice cases."""
    return {
        "id": record.id,
        "assignment": record.case,
        "answer": record.words or (record.option and canonical_letter(record.option, order)),
        "status": record.status,
        "confidence": record.confidence,
        "comment": record.comment,
        **asdict(record.times),
        "selections": canonical_json(
            [
                [canonical_letter(letter, order), at_ms]
                for letter, at_ms in record.selections
                if letter in LETTERS[: len(order)]
            ]
        ),
        "behaviour": canonical_json(dict(record.behaviour)),
        "committed_at_utc": stamp(record.committed_at or now),
        "received_at_utc": stamp(now),
    }


MAX_CLOCK_LEAD_MS = 2_000.0
"""How much the browser's elapsed time may exceed the interval measured by the server."""

LATE_MS = 30_000.0
"""Delay after which a record counts as received late."""

SAME_PRESENTATION_MS = 1_000.0
"""Maximum difference between two times of the same presentation of a case."""

TOO_FAST_MS = 300.0
"""A shorter time cannot suffice to look at a film and decide; a simple reaction takes 200 ms."""

MAX_CLOCK_DIFFERENCE = timedelta(hours=24)
"""A greater difference between the clocks means a wrong clock, or an answer delayed by a day."""

_SHOWN_TWICE = frozenset({"resumed", "resumed_elsewhere", "revisited"})


def flags_of_reading(
    record: Reading, presented: PresentationRow | None, protocol: Protocol, now: datetime
) -> list[str]:
    """Return the flags that the server sets for a reading.

    Parameters
    ----------
    presented
        The stored presentation of the case; None if none arrived before the reading.
    now
        When the server received the reading.
    """
    other_presentation = _is_other_presentation(record, presented)
    flags = [*_arrival_flags(record, None if other_presentation else presented, now)]
    if presented is None:
        flags.append("presentation_lost")
    if other_presentation:
        flags.append("presented_elsewhere")
    if record.committed_at and abs(now - record.committed_at) > MAX_CLOCK_DIFFERENCE:
        flags.append(CLOCK_IMPLAUSIBLE)
    return [*flags, *_pace_flags(record, protocol)]


def _pace_flags(record: Reading, protocol: Protocol) -> Iterator[str]:
    response = record.times.response_ms
    if response is None:
        return
    if response < TOO_FAST_MS and record.status == "answered" and not record.supersedes:
        yield "too_fast"
    if protocol.time_limit_s and response > protocol.time_limit_s * 1000 + MAX_CLOCK_LEAD_MS:
        yield "over_time_limit"


def _is_other_presentation(record: Reading, presented: PresentationRow | None) -> bool:
    """Return whether the stored presentation is from another browser that showed the case first."""
    if presented is None or record.presented_at is None or record.supersedes:
        return False
    if _SHOWN_TWICE & set(record.flags) or _has_absurd_clock(presented):
        return False
    shown_at = moment(presented.shown_at_utc)
    return abs(_ms(record.presented_at - shown_at)) > SAME_PRESENTATION_MS


def _has_absurd_clock(presented: PresentationRow) -> bool:
    return CLOCK_IMPLAUSIBLE in json.loads(presented.circumstances)


def _arrival_flags(
    record: Reading, presented: PresentationRow | None, now: datetime
) -> Iterator[str]:
    elapsed = record.times.elapsed_ms
    together = presented is not None and presented.received_at_utc >= stamp(now)
    clock_lead = timedelta() if record.sent_at is None else now - record.sent_at
    if (
        presented
        and elapsed is not None
        and not together
        and _matches_timer(record, presented, clock_lead)
    ):
        server_ms = _ms(now - moment(presented.received_at_utc))
        if server_ms < elapsed - MAX_CLOCK_LEAD_MS:
            yield "clock_disagreement"
        elif server_ms > elapsed + LATE_MS:
            yield "received_late"
        return
    sent_at = record.sent_at or now
    waited = record.committed_at is not None and _ms(sent_at - record.committed_at) > LATE_MS
    if waited or (together and elapsed is not None and elapsed > MAX_CLOCK_LEAD_MS):
        yield "received_late"


def _matches_timer(record: Reading, presented: PresentationRow, clock_lead: timedelta) -> bool:
    """Return whether a presentation arrived when this reading's timer started.

    `clock_lead` is the difference between the server's and the browser's clock, according to the
    message with the reading.
    """
    if record.supersedes or _has_absurd_clock(presented):
        return False
    late_ms = _ms(moment(presented.received_at_utc) - moment(presented.shown_at_utc) - clock_lead)
    return late_ms <= LATE_MS


def _ms(interval: timedelta) -> float:
    return interval.total_seconds() * 1000
