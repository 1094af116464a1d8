"""Takes one record into the store, or says why not: the rules a reading has to keep."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from study.base.actor import By
from study.base.bank_model import LETTERS
from study.base.canonical import canonical_json
from study.base.timestamps import stamp
from study.base.translation import said, t
from study.protocol.assignment import canonical
from study.protocol.protocol import Protocol
from study.reading.finishing import has_finished
from study.reading.flags import suspicions
from study.reading.outcomes import HANDED_OUT, NOT_YET, SIMULATED, Taken
from study.reading.records import CaseRecord, Presentation, Reading
from study.reading.sessions import Admission, Place, admit, place_of
from study.reading.steps import is_prepared
from study.store import Transaction, readings
from study.store.events import EventKind, vouch
from study.store.parts import PRACTICE, STUDY, Part


def take(
    change: Transaction,
    study: str,
    protocol: Protocol,
    reader: int,
    by: By,
    record: CaseRecord,
    *,
    now: datetime,
    timing_source: str = "browser",
) -> Taken:
    """Store one record of a reader within the caller's transaction."""
    part, assignment = STUDY, readings.assignment(change, record.case)
    if assignment is None:
        part, assignment = PRACTICE, readings.assignment(change, record.case, PRACTICE)
    if assignment is None or assignment["reader"] != reader:
        refused = t("This case is not assigned to you.")
    else:
        refused = _store_unless_refused(
            change, study, protocol, by, part, assignment, record, now, timing_source
        )
    return Taken(
        id=record.id,
        case="" if refused else record.case,
        refused=refused,
        practice=part is PRACTICE,
    )


def _store_unless_refused(
    change: Transaction,
    study: str,
    protocol: Protocol,
    by: By,
    part: Part,
    assignment: Mapping[str, Any],
    record: CaseRecord,
    now: datetime,
    timing_source: str,
) -> str:
    """Store a record and return an empty text, or say why not.

    A presentation of a practice case is acknowledged and not stored, and practice knows no session.
    """
    refused = _source_refusal(timing_source, bool(assignment["simulated"])) or _gate(
        change, protocol, part, assignment
    )
    if refused:
        return refused
    if isinstance(record, Presentation):
        if part is PRACTICE:
            return ""
        return _first_showing(change, study, protocol, by, assignment, record, now)
    known = readings.by_id(change, record.id, part)
    if known is not None:
        same = known["assignment"] == record.case
        return "" if same else t("Another reading already has this ID.")
    session, late = None, ""
    if part is STUDY:
        place = place_of(change, protocol, assignment["reader"], now=now)
        admission = _admission(change, place, assignment, record, now)
        session, late, refused = place.current.session, admission.flag, admission.refused
    refused = (
        refused
        or _answer_refusal(protocol, assignment, record)
        or _order_refusal(change, study, protocol, by, part, assignment["reader"], session, record)
    )
    if not refused:
        _store(change, study, protocol, by, part, assignment, record, now, timing_source, late)
    return refused


def _source_refusal(timing_source: str, simulated: bool) -> str:
    if simulated and timing_source != "simulated":
        return SIMULATED
    if timing_source == "simulated" and not simulated:
        return t("This reader is a real person; a simulation cannot read for them.")
    return ""


def _gate(look: Transaction, protocol: Protocol, part: Part, assignment: Mapping[str, Any]) -> str:
    """Refuse every case while preparation is unfinished, the study's while practice is."""
    if assignment["simulated"]:
        return ""
    reader, before = assignment["reader"], part is STUDY and protocol.practice_cases
    practised = not before or not readings.unread(look, reader, 1, part=PRACTICE)
    return "" if practised and is_prepared(look, protocol, reader) else said(NOT_YET)


def _first_showing(
    change: Transaction,
    study: str,
    protocol: Protocol,
    by: By,
    assignment: Mapping[str, Any],
    record: Presentation,
    now: datetime,
) -> str:
    """Write a presentation the first time a case is shown; later showings change nothing."""
    if readings.presentation(change, record.case):
        return ""
    place = place_of(change, protocol, assignment["reader"], now=now)
    admission = _admission(change, place, assignment, record, now)
    refused = admission.refused or _not_yet(
        change, STUDY, assignment["reader"], place.current.session, record
    )
    return refused or _present(change, study, by, record, now)


def _admission(
    look: Transaction,
    place: Place,
    assignment: Mapping[str, Any],
    record: CaseRecord,
    now: datetime,
) -> Admission:
    """Ask whether the case's session is open, or was when the case was first shown.

    When that was is told by the browser's clock, which may be minutes off: it is set right by when
    the message says it was sent.
    """
    shown_at = record.presented_at if isinstance(record, Reading) else record.shown_at
    ahead = now - record.sent_at if record.sent_at else timedelta()
    return admit(
        place,
        assignment["session"],
        known=readings.presentation(look, record.case) is not None,
        shown_at=shown_at + ahead if shown_at else None,
        correction=isinstance(record, Reading) and record.supersedes is not None,
    )


def _not_yet(
    look: Transaction, part: Part, reader: int, session: int | None, record: CaseRecord
) -> str:
    """Refuse a case that is not among those a page of the reader's holds."""
    rows = readings.unread(look, reader, HANDED_OUT, session, part)
    return "" if record.case in [row["id"] for row in rows] else said(NOT_YET)


def _present(change: Transaction, study: str, by: By, record: Presentation, now: datetime) -> str:
    if readings.has_presentation_id(change, record.id):
        return t("Another presentation already has this ID.")
    columns = {
        "id": record.id,
        "assignment": record.case,
        "shown_at_utc": stamp(record.shown_at or now),
        "received_at_utc": stamp(now),
        "circumstances": canonical_json(dict(record.circumstances)),
    }
    readings.add_presentation(change, **columns)
    stored = readings.presentation(change, record.case)
    vouch(change, study, by, now, EventKind.CASE_PRESENTED, stored, {"presentation": record.id})
    return ""


def _answer_refusal(protocol: Protocol, assignment: Mapping[str, Any], record: Reading) -> str:
    """Return why an answer cannot be one to this case in this study, or an empty text."""
    n_options = len(json.loads(assignment["options"]))
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


def _order_refusal(
    change: Transaction,
    study: str,
    protocol: Protocol,
    by: By,
    part: Part,
    reader: int,
    session: int | None,
    record: Reading,
) -> str:
    current = readings.current(change, record.case, part)
    if record.supersedes is None:
        if current is not None:
            return t("This case has already been read; the first answer was recorded.")
        return _not_yet(change, part, reader, session, record)
    if part is PRACTICE:
        return t("Answers to practice cases cannot be changed.")
    if not protocol.back_navigation:
        return t("Answers cannot be changed in this study.")
    if has_finished(change, study, by.name):
        return t("You have finished; your answers can no longer be changed.")
    if current is None or current["id"] != record.supersedes:
        return t("The answer was changed elsewhere in the meantime.")
    return ""


def _store(
    change: Transaction,
    study: str,
    protocol: Protocol,
    by: By,
    part: Part,
    assignment: Mapping[str, Any],
    record: Reading,
    now: datetime,
    timing_source: str,
    late: str,
) -> None:
    columns = _answer_columns(record, assignment["shown_order"], now)
    detail: dict[str, Any] = {"reading": record.id, "position": assignment["position"]}
    if part is PRACTICE:
        flags = sorted(set(record.flags))
        readings.add(change, part, **columns, reason=record.reason, flags=canonical_json(flags))
    else:
        presented = readings.presentation(change, record.case)
        if presented is None:
            lost = Presentation(
                id=f"lost:{record.case}",  # no page's id has a colon, so it is free
                case=record.case,
                shown_at=record.presented_at,
                circumstances={},
            )
            _present(change, study, by, lost, now)
        measured = timing_source == "browser"
        found = suspicions(record, presented, protocol, now) if measured else []
        flags = sorted({*record.flags, *found, *([late] if late else [])})
        readings.add(
            change,
            part,
            **columns,
            supersedes=record.supersedes,
            flags=canonical_json(flags),
            timing_source=timing_source,
        )
        detail["flags"] = flags
        if record.supersedes:
            detail["supersedes"] = record.supersedes
        if record.reason:
            readings.add_reason(change, record.id, record.reason)
            detail["reason"] = record.reason
    stored = readings.by_id(change, record.id, part)
    vouch(change, study, by, now, part.read, stored, detail)


def _answer_columns(record: Reading, order: str, now: datetime) -> dict[str, Any]:
    """Return what a study's reading and a practice reading store alike."""
    times = record.times
    return {
        "id": record.id,
        "assignment": record.case,
        "answer": None if record.option is None else canonical(record.option, order),
        "status": record.status,
        "confidence": record.confidence,
        "comment": record.comment,
        "response_ms": times.response_ms,
        "elapsed_ms": times.elapsed_ms,
        "hidden_ms": times.hidden_ms,
        "paused_ms": times.paused_ms,
        "first_selection_ms": times.first_selection_ms,
        "selections": canonical_json(
            [
                [canonical(letter, order), at_ms]
                for letter, at_ms in record.selections
                if letter in LETTERS[: len(order)]
            ]
        ),
        "behaviour": canonical_json(dict(record.behaviour)),
        "committed_at_utc": stamp(record.committed_at or now),
        "received_at_utc": stamp(now),
    }
