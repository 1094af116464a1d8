"""Interventions in an open study: pause, resume, extend, release, withdraw; exclude readings.

Each intervention is stored as a row with actor, time and reason, and as an event in the study's
chain. Readings are never changed: during a pause no new cases are sent, and earlier readings are
kept. The time of a wash-out or of a session continues during a pause.

The protocol's key `exclusions` states before reading starts whether the primary analysis includes
excluded readings; the other choice is reported as a sensitivity analysis. If an answer is changed
after its exclusion, the new reading is not excluded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from study.base.actor import Acting
from study.base.canonical import sha256_of, stamp
from study.base.errors import BadInput, NotFound, NotNow
from study.base.text import checked_reason
from study.base.translation import t
from study.people.persons import end_role
from study.protocol.protocol import stored_protocol
from study.reading.course import SessionState, is_withdrawn, paused_since, place_of
from study.store import Store, Transaction, events, people, progress
from study.store import readings as stored
from study.store.events import EventKind, EventRow, record_with_hash
from study.store.people import ReaderRow
from study.store.progress import DecidedRow, ExclusionRow
from study.store.readings import InterventionRow
from study.store.studies import StudyRow, study_row

MAX_EXTENSION_DAYS = 3650


class Intervention(StrEnum):
    """A kind of intervention in a study or for a reader."""

    PAUSE = "pause"
    RESUME = "resume"
    EXTEND = "extend"
    RELEASE = "release"
    WITHDRAW = "withdraw"


_EVENT_KINDS = {
    Intervention.PAUSE: EventKind.READING_PAUSED,
    Intervention.RESUME: EventKind.READING_RESUMED,
    Intervention.EXTEND: EventKind.SESSION_EXTENDED,
    Intervention.RELEASE: EventKind.SESSION_RELEASED,
    Intervention.WITHDRAW: EventKind.READER_WITHDRAWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """The subject of an intervention, a study or a reader; `steps` are earlier interventions."""

    study: StudyRow
    steps: Sequence[InterventionRow]
    reader: ReaderRow | None

    @property
    def reader_id(self) -> str | None:
        return self.reader.reader_id if self.reader else None

    @property
    def named(self) -> str:
        return str(self.reader_id or self.study.name)


def pause(store: Store, *, study: str, reader_id: str | None, reason: str, acting: Acting) -> None:
    """Pause reading for one reader or (None) for all, until it is resumed.

    Raises
    ------
    NotFound
        The study or reader does not exist.
    NotNow
        The study is not open, the reader has left it, or reading is already paused.
    BadInput
        The reason is empty.
    """
    with store.change() as change:
        subject = _find_subject(change, study, reader_id)
        if paused_since(subject.steps, reader_id):
            raise NotNow(t("{whom} is already paused.", whom=subject.named))
        _intervene(change, subject, Intervention.PAUSE, reason, acting, old="reading", new="paused")


def resume(store: Store, *, study: str, reader_id: str | None, reason: str, acting: Acting) -> None:
    """End the pause of a reader or (None) of the study; the two pauses are independent.

    Raises
    ------
    NotFound
        The study or reader does not exist.
    NotNow
        The study is not open, the reader has left it, or reading is not paused.
    BadInput
        The reason is empty.
    """
    with store.change() as change:
        subject = _find_subject(change, study, reader_id)
        if not paused_since(subject.steps, reader_id):
            raise NotNow(t("{whom} is not paused.", whom=subject.named))
        _intervene(
            change, subject, Intervention.RESUME, reason, acting, old="paused", new="reading"
        )


def extend(
    store: Store,
    *,
    study: str,
    reader_id: str,
    session: int,
    days: float,
    reason: str,
    acting: Acting,
) -> None:
    """Extend a reader's session by a number of days from its end, or from now if it has ended.

    Raises
    ------
    NotFound
        The study, reader or session does not exist.
    NotNow
        The study is not open, the reader has left it, or the session is done or has no deadline.
    BadInput
        `days` is out of range, or the reason is empty.
    """
    if not 0 < days <= MAX_EXTENSION_DAYS:
        raise BadInput(
            t("Enter a number of days above 0 and no more than {most}.", most=MAX_EXTENSION_DAYS)
        )
    with store.change() as change:
        subject = _find_subject(change, study, reader_id)
        _refuse_endless(change, subject, session, acting.now)
        _intervene(
            change, subject, Intervention.EXTEND, reason, acting, session=session, days=float(days)
        )


def release(
    store: Store, *, study: str, reader_id: str, session: int, reason: str, acting: Acting
) -> None:
    """Remove the deadline of a reader's session, so that it can continue even if it has lapsed.

    Raises
    ------
    NotFound
        The study, reader or session does not exist.
    NotNow
        The study is not open, the reader has left it, or the session is done or has no deadline.
    BadInput
        The reason is empty.
    """
    with store.change() as change:
        subject = _find_subject(change, study, reader_id)
        _refuse_endless(change, subject, session, acting.now)
        _intervene(change, subject, Intervention.RELEASE, reason, acting, session=session)


def withdraw(store: Store, *, study: str, reader_id: str, reason: str, acting: Acting) -> None:
    """Withdraw a reader permanently: the reader gets no more cases, and the readings are kept.

    The reader's role in this study ends, and with it their access; other roles are unchanged.

    Raises
    ------
    NotFound
        The study or reader does not exist.
    NotNow
        The study is not open, or the reader has already left it.
    BadInput
        The reason is empty.
    """
    with store.change() as change:
        subject = _find_subject(change, study, reader_id)
        _intervene(
            change, subject, Intervention.WITHDRAW, reason, acting, old="reader", new="withdrawn"
        )
        for row in people.grants_of_study(change, subject.study.id):
            if row.reader_id == reader_id and row.revoked_at_utc is None:
                end_role(change, study, row, checked_reason(reason), acting, sign_out=False)


def list_interventions(store: Store, study: str) -> list[InterventionRow]:
    """Return the interventions in a study, oldest first, as stored."""
    with store.look(sealed=True) as look:
        return stored.interventions(look, study_row(look, study).id)


def intervention_breaches(
    look: Transaction, row: StudyRow, trail: Sequence[EventRow]
) -> Iterator[str]:
    """Yield contradictions between a study's interventions and its trail."""
    recorded = [
        {
            "kind": event.kind,
            **{key: event.detail.get(key) for key in _COMPARED_KEYS},
            "actor": event.actor,
            "at_utc": event.at_utc,
        }
        for event in trail
        if event.kind in _EVENT_KINDS.values()
    ]
    stored_rows = [
        {
            "kind": _EVENT_KINDS[Intervention(intervention.kind)],
            **{key: getattr(intervention, key) for key in (*_COMPARED_KEYS, "actor", "at_utc")},
        }
        for intervention in stored.interventions(look, row.id)
    ]
    for number, (event_row, stored_row) in enumerate(zip_longest(recorded, stored_rows), start=1):
        if event_row is None:
            yield f"study {row.name}: intervention {number} was inserted."
        elif stored_row is None:
            yield f"study {row.name}: intervention {number} ({event_row['kind']}) is missing."
        elif event_row != stored_row:
            altered = ", ".join(key for key in event_row if event_row[key] != stored_row[key])
            yield f"study {row.name}: intervention {number}: {altered} altered."


_COMPARED_KEYS = ("reader_id", "session", "days", "reason")


def _find_subject(look: Transaction, study: str, reader_id: str | None) -> _Subject:
    study_row_found = study_row(look, study)
    if study_row_found.state != "open":
        raise NotNow(t("The study {study} is not open.", study=study))
    steps = stored.interventions(look, study_row_found.id)
    if reader_id is None:
        return _Subject(study=study_row_found, steps=steps, reader=None)
    reader = people.reader(look, study_row_found.id, reader_id)
    if reader is None:
        suggestion = people.reader_suggestion(look, study_row_found.id, reader_id)
        raise NotFound(
            t("There is no reader {reader} in this study.", reader=reader_id) + suggestion
        )
    if is_withdrawn(steps, reader_id):
        raise NotNow(t("{reader} has left the study.", reader=reader_id))
    return _Subject(study=study_row_found, steps=steps, reader=reader)


def _refuse_endless(look: Transaction, subject: _Subject, session: int, now: datetime) -> None:
    """Refuse to change a session that is done or has no deadline."""
    protocol = stored_protocol(subject.study)
    assert subject.reader is not None  # only readers have sessions
    place = place_of(look, protocol, subject.reader, subject.steps, now=now)
    if not 1 <= session <= len(place.sessions):
        raise NotFound(t("There is no session {n}.", n=session))
    if place.sessions[session - 1].state is SessionState.DONE:
        raise NotNow(t("Session {n} has already been completed.", n=session))
    interventions = {(step.kind, step.reader_id, step.session) for step in subject.steps}
    if not protocol.session_days or ("release", subject.reader_id, session) in interventions:
        raise NotNow(t("Session {n} has no deadline to change.", n=session))


def _intervene(
    change: Transaction,
    subject: _Subject,
    kind: Intervention,
    reason: str,
    acting: Acting,
    **facts: Any,
) -> None:
    """Store an intervention with its session and days, if any, and an event with all facts."""
    words = checked_reason(reason)
    stored.add_intervention(
        change,
        study=subject.study.id,
        reader=subject.reader.id if subject.reader else None,
        kind=kind,
        session=facts.get("session"),
        days=facts.get("days"),
        reason=words,
        actor=acting.by.name,
        at_utc=stamp(acting.now),
    )
    whose = {"reader_id": subject.reader_id} if subject.reader_id is not None else {}
    detail = {**whose, **facts, "reason": words}
    events.record(change, subject.study.name, acting, kind=_EVENT_KINDS[kind], detail=detail)


AFTER_CLOSING = "decided after closing"


def exclude(store: Store, *, study: str, reading: str, reason: str, acting: Acting) -> None:
    """Exclude a reading.

    Raises
    ------
    NotFound
        The study has no such reading.
    NotNow
        The answer has since been changed, or the reading is already excluded.
    BadInput
        The reason is empty or too long.
    """
    _decide(store, study, reading, reason, excluded=True, acting=acting)


def reinstate(store: Store, *, study: str, reading: str, reason: str, acting: Acting) -> None:
    """Reinstate an excluded reading; raises the same errors as `exclude`."""
    _decide(store, study, reading, reason, excluded=False, acting=acting)


def exclusion_history(store: Store, study: str) -> list[ExclusionRow]:
    """Return the exclusions and reinstatements of a study's readings, oldest first."""
    with store.look(sealed=True) as look:
        return progress.exclusions_of_study(look, study_row(look, study).id)


def exclusion_rule(store: Store, study: str) -> str:
    """Return the effect of excluding a reading in a study, as specified in its protocol."""
    with store.look(sealed=True) as look:
        protocol = stored_protocol(study_row(look, study))
    if protocol.exclusions == "primary":
        return t(
            "As specified in the protocol, excluded readings are left out of the primary "
            "analysis; a sensitivity analysis includes them."
        )
    return t(
        "As specified in the protocol, excluded readings are included in the primary analysis; a "
        "sensitivity analysis leaves them out."
    )


def excluded_readings(look: Transaction, study: StudyRow) -> dict[str, str]:
    """Return the reasons of all currently excluded readings, for exports.

    If a reading was excluded after closing, when results could be seen, the reason states this.
    """
    reasons: dict[str, str] = {}
    closed = study.closed_at_utc
    for row in progress.exclusions_of_study(look, study.id):
        is_late = closed is not None and row.at_utc >= closed
        reason = f"{row.reason} ({AFTER_CLOSING})" if is_late else row.reason
        reasons[row.reading] = reason if row.excluded else ""
    return {reading: reason for reading, reason in reasons.items() if reason}


def exclusion_breaches(
    look: Transaction, row: StudyRow, trail: Sequence[EventRow]
) -> Iterator[str]:
    """Yield contradictions between a study's exclusions and its trail."""
    recorded = {
        event.detail["exclusion"]: event.detail["sha256"]
        for event in trail
        if event.kind in (EventKind.READING_EXCLUDED, EventKind.READING_REINSTATED)
    }
    for exclusion in progress.exclusions_of_study(look, row.id):
        if recorded.pop(exclusion.id, None) != sha256_of(exclusion.stored()):
            yield f"study {row.name}: exclusion {exclusion.id} was altered or inserted."
    for missing in recorded:
        yield f"study {row.name}: exclusion {missing} is missing."


def _decide(
    store: Store, study: str, reading: str, words: str, *, excluded: bool, acting: Acting
) -> None:
    reason = checked_reason(words)
    with store.change() as change:
        study_found = study_row(change, study)
        row = _find_reading(change, study_found, reading)
        was_excluded = reading in excluded_readings(change, study_found)
        if was_excluded == excluded:
            raise NotNow(_unchanged_message(excluded, row))
        number = progress.add_exclusion(
            change,
            reading=reading,
            excluded=int(excluded),
            reason=reason,
            actor=acting.by.name,
            at_utc=stamp(acting.now),
        )
        detail = {
            "exclusion": number,
            "reading": reading,
            "reader_id": row.reader_id,
            "position": row.position,
            "old": "excluded" if was_excluded else "counts",
            "new": "excluded" if excluded else "counts",
            "reason": reason,
        }
        kind = EventKind.READING_EXCLUDED if excluded else EventKind.READING_REINSTATED
        stored = progress.exclusions_of_study(change, study_found.id)[-1].stored()
        record_with_hash(change, study, acting, kind, stored, detail)


def _find_reading(look: Transaction, study: StudyRow, reading: str) -> DecidedRow:
    row = progress.decided_reading(look, study.id, reading)
    if row is None:
        raise NotFound(t("{study} has no such reading.", study=study.name))
    if not row.current:
        raise NotNow(
            t(
                "{reader} has since changed the answer at position {position}; check it again.",
                reader=row.reader_id,
                position=row.position,
            )
        )
    return row


def _unchanged_message(excluded: bool, row: DecidedRow) -> str:
    key = {"reader": row.reader_id, "position": row.position}
    if excluded:
        return t("The reading by {reader} at position {position} is already excluded.", **key)
    return t("The reading by {reader} at position {position} is not excluded.", **key)
