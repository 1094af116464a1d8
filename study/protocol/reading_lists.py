"""Writes a reader's lists: every case they will read or practise on, before they read any."""

import hmac
from dataclasses import asdict
from datetime import datetime

from study.base.actor import By
from study.base.canonical import sha256_of
from study.protocol.assignment import assign, assign_practice
from study.protocol.protocol import stored_protocol
from study.store import Transaction, deployment, events, studies
from study.store.case_sets import PRACTICE, STUDY, CaseSet
from study.store.events import EventKind
from study.store.people import ReaderRow
from study.store.studies import StudyRow


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
    key = bytes.fromhex(deployment.secret(change))
    counts = {}
    for case_set, assigning in ((STUDY, assign), (PRACTICE, assign_practice)):
        cases = {row.item_id: row for row in studies.cases(change, study.id, case_set)}
        options = [(item_id, row.options) for item_id, row in cases.items()]
        entries = assigning(options, protocol, reader_id=name, reader_index=index)
        studies.add_assignments(
            change,
            case_set,
            (
                {
                    **asdict(entry),
                    "id": _opaque(key, f"{case_set.purpose}/{reader.id}/{entry.position}"),
                    "reader": reader.id,
                    "case": cases[entry.item_id].id,
                }
                for entry in entries
            ),
        )
        counts[case_set] = len(entries)
    n_practice = counts[PRACTICE]
    about = {"n_practice": n_practice, "practice_sha256": list_hash(change, reader.id, PRACTICE)}
    events.record(
        change,
        study.name,
        now,
        kind=EventKind.READER_ASSIGNED,
        detail={
            "reader_id": name,
            "n_assigned": counts[STUDY],
            "assignments_sha256": list_hash(change, reader.id),
            **(about if n_practice else {}),
        },
        by=by,
    )


def list_hash(look: Transaction, reader: int, case_set: CaseSet = STUDY) -> str:
    """Return the hash that covers a reader's list, ids included; one of practice may be empty."""
    return sha256_of(studies.assignments(look, reader, case_set))


def _opaque(key: bytes, what: str) -> str:
    return hmac.digest(key, what.encode(), "sha256").hex()[:24]
