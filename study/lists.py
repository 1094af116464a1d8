"""Writes a reader's list: every assignment they will read, before they read any."""

import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from study import access
from study.assignment import Assigned, assign
from study.canonical import sha256_of
from study.protocol import Protocol
from study.store import Transaction, events, studies


def assign_reader(
    change: Transaction,
    study: Mapping[str, Any],
    reader: Mapping[str, Any],
    index: int,
    now: datetime,
) -> None:
    """Store a reader's whole list, and its hash in the study's chain.

    Parameters
    ----------
    index
        Counts the study's readers from 0, in the order of their invitation.
    """
    cases = {row["item_id"]: row for row in studies.cases(change, study["id"])}
    assigned = assign(
        [(row["item_id"], row["options"]) for row in cases.values()],
        stored_protocol(study),
        reader_id=reader["reader_id"],
        reader_index=index,
    )
    key = bytes.fromhex(access.secret(change))
    studies.add_assignments(
        change,
        (_row(entry, reader["id"], cases[entry.item_id]["id"], key) for entry in assigned),
    )
    events.record(
        change,
        study["name"],
        now,
        kind="reader assigned",
        detail={
            "reader_id": reader["reader_id"],
            "n_assigned": len(assigned),
            "assignments_sha256": assignment_hash(change, reader["id"]),
        },
    )


def assignment_hash(look: Transaction, reader: int) -> str:
    """Return the hash that covers every assignment of a reader, their ids included."""
    return sha256_of(studies.assignments(look, reader))


def stored_protocol(study: Mapping[str, Any]) -> Protocol:
    """Return the protocol of a study's row."""
    return Protocol.from_json(json.loads(study["protocol"])["protocol"])


def _row(entry: Assigned, reader: int, case: int, key: bytes) -> tuple[Any, ...]:
    opaque = hmac.digest(key, f"assignment/{reader}/{entry.position}".encode(), "sha256")
    return (
        opaque.hex()[:24],
        reader,
        case,
        entry.condition,
        entry.session,
        entry.repeat,
        entry.position,
        entry.shown_order,
    )
