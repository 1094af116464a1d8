"""Sets readings aside, and brings them back: each time with a reason, and nothing is taken away.

An exclusion is a row of its own and its event; the reading stays as it is. Whether the primary
analysis counts it is said by the protocol's key `exclusions`, before anybody reads; the other way
stands beside it. An answer changed after its exclusion is another reading, which counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of
from study.base.errors import NotFound, NotNow
from study.base.text import checked_reason
from study.base.timestamps import stamp
from study.base.translation import t
from study.protocol.protocol import stored_protocol
from study.store import Store, Transaction, exclusions
from study.store.events import EventKind, EventRow, vouch
from study.store.studies import StudyRow, study_row

AFTER_CLOSING = "decided after closing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """What was decided about a reading, and whether that reading is still the one that counts."""

    reading: str
    reader_id: str
    position: int
    excluded: bool
    reason: str
    actor: str
    at_utc: str
    current: bool


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


def history(store: Store, study: str) -> list[Exclusion]:
    """Return everything that was decided about a study's readings, oldest first."""
    with store.look(sealed=True) as look:
        rows = exclusions.listed(look, study_row(look, study).id)
    return [
        Exclusion(
            **{key: row[key] for key in ("reading", "reader_id", "position", "reason")},
            excluded=bool(row["excluded"]),
            actor=row["actor"],
            at_utc=row["at_utc"],
            current=bool(row["current"]),
        )
        for row in rows
    ]


def what_it_does(store: Store, study: str) -> str:
    """Return what excluding a reading does in a study: its protocol decided that beforehand."""
    with store.look(sealed=True) as look:
        protocol = stored_protocol(study_row(look, study))
    if protocol.exclusions == "primary":
        return t(
            "As the protocol says, excluded readings are left out of the primary analysis; a "
            "sensitivity analysis counts them."
        )
    return t(
        "As the protocol says, excluded readings count in the primary analysis; a sensitivity "
        "analysis leaves them out."
    )


def excluded_readings(look: Transaction, study: StudyRow) -> dict[str, str]:
    """Return the reason of every reading that is excluded at present, as exports carry it.

    Whoever decides after closing may have seen the results; the reason then says when it was.
    """
    found: dict[str, str] = {}
    closed = study.closed_at_utc
    for row in exclusions.of_study(look, study.id):
        late = closed is not None and row["at_utc"] >= closed
        reason = f"{row['reason']} ({AFTER_CLOSING})" if late else row["reason"]
        found[row["reading"]] = reason if row["excluded"] else ""
    return {reading: reason for reading, reason in found.items() if reason}


def breaches(look: Transaction, row: StudyRow, trail: Sequence[EventRow]) -> Iterator[str]:
    """Yield what does not agree between a study's exclusions and its trail."""
    told = {
        event.detail["exclusion"]: event.detail["sha256"]
        for event in trail
        if event.kind in (EventKind.READING_EXCLUDED, EventKind.READING_REINSTATED)
    }
    for one in exclusions.of_study(look, row.id):
        if told.pop(one["id"], None) != sha256_of(one):
            yield f"study {row.name}: exclusion {one['id']} was altered or slipped in."
    for gone in told:
        yield f"study {row.name}: exclusion {gone} is missing."


def _decide(
    store: Store, study: str, reading: str, words: str, *, excluded: bool, by: By, now: datetime
) -> None:
    reason = checked_reason(words)
    with store.change() as change:
        row = _reading(change, study_row(change, study).id, study, reading)
        before = exclusions.last_of(change, reading)
        if bool(before and before["excluded"]) == excluded:
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
            "reader_id": row["reader_id"],
            "position": row["position"],
            "old": "excluded" if before and before["excluded"] else "counts",
            "new": "excluded" if excluded else "counts",
            "reason": reason,
        }
        kind = EventKind.READING_EXCLUDED if excluded else EventKind.READING_REINSTATED
        vouch(change, study, by, now, kind, exclusions.by_id(change, number), detail)


def _reading(look: Transaction, study: int, name: str, reading: str) -> dict[str, Any]:
    row = exclusions.reading(look, study, reading)
    if row is None:
        raise NotFound(t("{study} has no such reading.", study=name))
    if not row["current"]:
        raise NotNow(
            t(
                "{reader} changed the answer at position {position} since; look at it again.",
                reader=row["reader_id"],
                position=row["position"],
            )
        )
    return row


def _already(excluded: bool, row: Mapping[str, Any]) -> str:
    where = {"reader": row["reader_id"], "position": row["position"]}
    if excluded:
        return t("The reading of {reader} at position {position} is excluded already.", **where)
    return t("The reading of {reader} at position {position} is not excluded.", **where)
