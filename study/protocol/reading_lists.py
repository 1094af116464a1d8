"""Writes a reader's lists: every case they will read or practise on, before they read any."""

import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from study.base.actor import By
from study.base.canonical import sha256_of
from study.protocol.assignment import Assigned, assign, assign_practice
from study.protocol.protocol import stored_protocol
from study.store import Transaction, deployment, events, practice, studies
from study.store.events import EventKind
from study.store.people import ReaderRow
from study.store.studies import CaseRow, StudyRow


def assign_reader(
    change: Transaction,
    study: StudyRow,
    reader: ReaderRow,
    index: int,
    by: By,
    now: datetime,
) -> None:
    """Store a reader's whole list and practice list, and their hashes in the study's chain.

    Parameters
    ----------
    index
        Counts the study's readers from 0, in the order of their invitation.
    """
    protocol, name = stored_protocol(study), reader.reader_id
    cases = {row.item_id: row for row in studies.cases(change, study.id)}
    assigned = assign(_options(cases), protocol, reader_id=name, reader_index=index)
    practised = {row.item_id: row for row in practice.cases(change, study.id)}
    rehearsed = assign_practice(_options(practised), protocol, reader_id=name, reader_index=index)
    key = bytes.fromhex(deployment.secret(change))
    studies.add_assignments(
        change,
        (_row(entry, reader.id, cases[entry.item_id].id, key) for entry in assigned),
    )
    practice.add_assignments(
        change,
        (_practice_row(entry, reader.id, practised[entry.item_id].id, key) for entry in rehearsed),
    )
    about = {"n_practice": len(rehearsed), "practice_sha256": practice_hash(change, reader.id)}
    events.record(
        change,
        study.name,
        now,
        kind=EventKind.READER_ASSIGNED,
        detail={
            "reader_id": name,
            "n_assigned": len(assigned),
            "assignments_sha256": assignment_hash(change, reader.id),
            **(about if rehearsed else {}),
        },
        by=by,
    )


def assignment_hash(look: Transaction, reader: int) -> str:
    """Return the hash that covers every assignment of a reader, their ids included."""
    return sha256_of(studies.assignments(look, reader))


def practice_hash(look: Transaction, reader: int) -> str:
    """Return the hash that covers a reader's practice list, which may be empty."""
    return sha256_of(practice.assignments(look, reader))


def _options(cases: Mapping[str, CaseRow]) -> list[tuple[str, str]]:
    return [(item_id, row.options) for item_id, row in cases.items()]


def _row(entry: Assigned, reader: int, case: int, key: bytes) -> tuple[Any, ...]:
    return (
        _opaque(key, f"assignment/{reader}/{entry.position}"),
        reader,
        case,
        entry.condition,
        entry.session,
        entry.repeat,
        entry.position,
        entry.shown_order,
    )


def _practice_row(entry: Assigned, reader: int, case: int, key: bytes) -> tuple[Any, ...]:
    return (
        _opaque(key, f"practice/{reader}/{entry.position}"),
        reader,
        case,
        entry.condition,
        entry.position,
        entry.shown_order,
    )


def _opaque(key: bytes, what: str) -> str:
    return hmac.digest(key, what.encode(), "sha256").hex()[:24]
