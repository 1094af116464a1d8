"""Sets readings aside, and brings them back: each time with a reason, and nothing is taken away.

An exclusion is a row of its own and its event; the reading stays as it is. Whether the primary
analysis counts it is said by the protocol's key `exclusions`, before anybody reads; the other way
stands beside it. An answer changed after its exclusion is another reading, which counts.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of, stamp
from study.base.errors import NotFound, NotNow
from study.base.text import checked_reason
from study.base.translation import t
from study.protocol.protocol import stored_protocol
from study.store import Store, Transaction, exclusions
from study.store.events import EventKind, EventRow, vouch
from study.store.exclusions import DecidedRow, ExclusionRow
from study.store.studies import StudyRow, study_row

AFTER_CLOSING = "decided after closing"


def exclude(
    store: Store, *, study: str, reading: str, reason: str, by: By = COMMAND_LINE, now: datetime
) -> None:
    """Set a reading aside.

    Raises
    ------
    NotFound
        The study has no such reading.
    NotNow
        The answer was changed since, or the reading is excluded already.
    BadInput
        The reason is none or too long.
    """
    _decide(store, study, reading, reason, excluded=True, by=by, now=now)


def reinstate(
    store: Store, *, study: str, reading: str, reason: str, by: By = COMMAND_LINE, now: datetime
) -> None:
    """Bring an excluded reading back; raises as `exclude` does."""
    _decide(store, study, reading, reason, excluded=False, by=by, now=now)


def history(store: Store, study: str) -> list[ExclusionRow]:
    """Return everything that was decided about a study's readings, oldest first."""
    with store.look(sealed=True) as look:
        return exclusions.of_study(look, study_row(look, study).id)


def what_it_does(store: Store, study: str) -> str:
    """Return what excluding a reading does in a study: its protocol decided that beforehand."""
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
    """Return the reason of every reading that is excluded at present, as exports carry it.

    Whoever decides after closing may have seen the results; the reason then says when it was.
    """
    found: dict[str, str] = {}
    closed = study.closed_at_utc
    for row in exclusions.of_study(look, study.id):
        late = closed is not None and row.at_utc >= closed
        reason = f"{row.reason} ({AFTER_CLOSING})" if late else row.reason
        found[row.reading] = reason if row.excluded else ""
    return {reading: reason for reading, reason in found.items() if reason}


def breaches(look: Transaction, row: StudyRow, trail: Sequence[EventRow]) -> Iterator[str]:
    """Yield what does not agree between a study's exclusions and its trail."""
    told = {
        event.detail["exclusion"]: event.detail["sha256"]
        for event in trail
        if event.kind in (EventKind.READING_EXCLUDED, EventKind.READING_REINSTATED)
    }
    for one in exclusions.of_study(look, row.id):
        if told.pop(one.id, None) != sha256_of(one.stored()):
            yield f"study {row.name}: exclusion {one.id} was altered or slipped in."
    for gone in told:
        yield f"study {row.name}: exclusion {gone} is missing."


def _decide(
    store: Store, study: str, reading: str, words: str, *, excluded: bool, by: By, now: datetime
) -> None:
    reason = checked_reason(words)
    with store.change() as change:
        of = study_row(change, study)
        row = _reading(change, of, reading)
        was = reading in excluded_readings(change, of)
        if was == excluded:
            raise NotNow(_already(excluded, row))
        number = exclusions.add(
            change,
            reading=reading,
            excluded=int(excluded),
            reason=reason,
            actor=by.name,
            at_utc=stamp(now),
        )
        detail = {
            "exclusion": number,
            "reading": reading,
            "reader_id": row.reader_id,
            "position": row.position,
            "old": "excluded" if was else "counts",
            "new": "excluded" if excluded else "counts",
            "reason": reason,
        }
        kind = EventKind.READING_EXCLUDED if excluded else EventKind.READING_REINSTATED
        stored = exclusions.of_study(change, of.id)[-1].stored()
        vouch(change, study, by, now, kind, stored, detail)


def _reading(look: Transaction, study: StudyRow, reading: str) -> DecidedRow:
    row = exclusions.reading(look, study.id, reading)
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


def _already(excluded: bool, row: DecidedRow) -> str:
    where = {"reader": row.reader_id, "position": row.position}
    if excluded:
        return t("The reading by {reader} at position {position} is already excluded.", **where)
    return t("The reading by {reader} at position {position} is not excluded.", **where)
