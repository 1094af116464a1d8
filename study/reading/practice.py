"""Practice: cases from outside the sample, read first, with feedback, and never in the bundle.

They have tables of their own, so that no count or export of the study can take them for its cases.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from study.base.canonical import canonical_json
from study.base.translation import said, t
from study.people.signing_in import Person
from study.protocol.protocol import Protocol
from study.reading.accepting import answer_columns, answer_refusal
from study.reading.outcomes import HANDED_OUT, NOT_YET, SIMULATED, Taken
from study.reading.records import CaseRecord, Presentation, Reading
from study.reading.steps import is_prepared
from study.store import Transaction, practice
from study.store.events import EventKind, vouch


def take(
    change: Transaction,
    protocol: Protocol,
    person: Person,
    assignment: Mapping[str, Any],
    record: CaseRecord,
    *,
    now: datetime,
) -> Taken:
    """Store a record of a practice case within the caller's transaction, or say why not.

    A presentation is acknowledged and not stored: the study's presentations are of its cases.
    """
    refused = _refusal(change, protocol, person.reader or 0, assignment, record)
    if isinstance(record, Reading) and not refused and not practice.reading(change, record.id):
        _store(change, person, assignment, record, now)
    return Taken(id=record.id, case="" if refused else record.case, refused=refused, practice=True)


def _refusal(
    look: Transaction,
    protocol: Protocol,
    reader: int,
    assignment: Mapping[str, Any],
    record: CaseRecord,
) -> str:
    if assignment["simulated"]:
        return SIMULATED
    if not is_prepared(look, protocol, reader):
        return said(NOT_YET)
    if isinstance(record, Presentation):
        return ""
    known = practice.reading(look, record.id)
    if known is not None:
        same = known["assignment"] == record.case
        return "" if same else t("Another reading already has this ID.")
    if record.supersedes is not None:
        return t("Answers to practice cases cannot be changed.")
    if practice.is_read(look, record.case):
        return t("This case has already been read; the first answer was recorded.")
    if record.case not in [row["id"] for row in practice.unread(look, reader, HANDED_OUT)]:
        return said(NOT_YET)
    return answer_refusal(protocol, assignment, record)


def _store(
    change: Transaction,
    person: Person,
    assignment: Mapping[str, Any],
    record: Reading,
    now: datetime,
) -> None:
    practice.add_reading(
        change,
        **answer_columns(record, assignment["shown_order"], now),
        reason=record.reason,
        flags=canonical_json(sorted(set(record.flags))),
    )
    stored = practice.reading(change, record.id)
    detail = {"reading": record.id, "position": assignment["position"]}
    vouch(change, person.study_name, person.by, now, EventKind.PRACTICE_CASE_READ, stored, detail)
