"""Takes one record into the store, or says why not: the rules a reading has to keep."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from study.assignment import LETTERS, canonical
from study.canonical import canonical_json, sha256_of
from study.moments import stamp
from study.protocol import Protocol
from study.records import Presentation, Reading, Record
from study.store import Transaction, events, readings
from study.suspicions import suspicions

HANDED_OUT = 3
"""How many unread cases a reader's page holds: the current one and the next two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a record: stored, unless `refused` says why not."""

    id: str
    case: str
    refused: str = ""


def take(
    change: Transaction,
    study: str,
    protocol: Protocol,
    reader: int,
    actor: str,
    record: Record,
    *,
    now: datetime,
    timing_source: str = "browser",
) -> Taken:
    """Store one record of a reader within the caller's transaction."""
    assignment = readings.assignment(change, record.case)
    if assignment is None or assignment["reader"] != reader:
        return Taken(id=record.id, case="", refused="This case is not on your list.")
    refused = _source_refusal(timing_source, bool(assignment["simulated"]))
    if refused:
        return Taken(id=record.id, case="", refused=refused)
    if isinstance(record, Presentation):
        refused = _present(change, study, actor, record, now)
        return Taken(id=record.id, case="" if refused else record.case, refused=refused)
    known = readings.by_id(change, record.id)
    if known is not None:
        same = known["assignment"] == record.case
        refused = "" if same else "Another reading has this id."
        return Taken(id=record.id, case=record.case if same else "", refused=refused)
    refused = _refusal(change, protocol, reader, assignment, record)
    if refused:
        return Taken(id=record.id, case="", refused=refused)
    _store(change, study, protocol, actor, assignment, record, now, timing_source)
    return Taken(id=record.id, case=record.case)


def _source_refusal(timing_source: str, simulated: bool) -> str:
    if simulated and timing_source != "simulated":
        return "This reader is a simulated one; nobody else can read for them."
    if timing_source == "simulated" and not simulated:
        return "This reader is a person; a simulation cannot read for them."
    return ""


def _present(
    change: Transaction, study: str, actor: str, record: Presentation, now: datetime
) -> str:
    """Write a presentation the first time a case is shown; later showings change nothing."""
    if readings.presentation(change, record.case):
        return ""
    if readings.has_presentation_id(change, record.id):
        return "Another presentation has this id."
    columns = {
        "id": record.id,
        "assignment": record.case,
        "shown_at_utc": stamp(record.shown_at or now),
        "received_at_utc": stamp(now),
        "circumstances": canonical_json(dict(record.circumstances)),
    }
    readings.add_presentation(change, **columns)
    stored = readings.presentation(change, record.case)
    _record(change, study, actor, now, "case presented", stored, {"presentation": record.id})
    return ""


def _refusal(
    change: Transaction,
    protocol: Protocol,
    reader: int,
    assignment: Mapping[str, Any],
    record: Reading,
) -> str:
    n_options = len(json.loads(assignment["options"]))
    if record.option is not None and record.option not in LETTERS[:n_options]:
        return "The case has no such option."
    if record.status == "timed_out" and not protocol.time_limit_s:
        return "This study has no time limit."
    if (record.confidence is not None) > bool(protocol.confidence):
        return "This study asks for no confidence."
    if protocol.confidence and record.status == "answered":
        if record.confidence is None or record.confidence > protocol.confidence:
            return f"An answer needs a confidence from 1 to {protocol.confidence}."
    if record.comment and not protocol.comments:
        return "This study takes no comments."
    return _order_refusal(change, protocol, reader, record)


def _order_refusal(
    change: Transaction,
    protocol: Protocol,
    reader: int,
    record: Reading,
) -> str:
    current = readings.current(change, record.case)
    if record.supersedes is None:
        if current is not None:
            return "This case was already read; the first answer stands."
        waiting = [row["id"] for row in readings.unread(change, reader, HANDED_OUT)]
        return "" if record.case in waiting else "This case was not handed out yet."
    if not protocol.back_navigation:
        return "In this study an answer cannot be changed."
    if current is None or current["id"] != record.supersedes:
        return "The answer was changed elsewhere in the meantime."
    return ""


def _store(
    change: Transaction,
    study: str,
    protocol: Protocol,
    actor: str,
    assignment: Mapping[str, Any],
    record: Reading,
    now: datetime,
    timing_source: str,
) -> None:
    presented = readings.presentation(change, record.case)
    if presented is None:
        lost = Presentation(
            id=f"lost:{record.case}",  # no page's id has a colon, so it is free
            case=record.case,
            shown_at=record.presented_at,
            circumstances={},
        )
        _present(change, study, actor, lost, now)
    columns = _columns(record, assignment["shown_order"], now, timing_source)
    found = suspicions(record, presented, protocol, now) if timing_source == "browser" else []
    flags = sorted({*record.flags, *found})
    columns["flags"] = canonical_json(flags)
    readings.add(change, **columns)
    detail = {"reading": record.id, "position": assignment["position"], "flags": flags}
    if record.supersedes:
        detail["supersedes"] = record.supersedes
    stored = readings.by_id(change, record.id)
    _record(change, study, actor, now, "case read", stored, detail)


def _columns(record: Reading, order: str, now: datetime, timing_source: str) -> dict[str, Any]:
    times = record.times
    return {
        "id": record.id,
        "assignment": record.case,
        "supersedes": record.supersedes,
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
        "timing_source": timing_source,
    }


def _record(
    change: Transaction,
    study: str,
    actor: str,
    now: datetime,
    kind: str,
    stored: Mapping[str, Any] | None,
    detail: Mapping[str, Any],
) -> None:
    """Append an event with the hash of a row as it was read back, which is what is verified."""
    events.record(
        change,
        study,
        now,
        actor=actor,
        kind=kind,
        detail={**detail, "sha256": sha256_of(stored)},
    )
