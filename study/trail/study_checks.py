"""Compares a study's rows with what its trail vouches for, one check for each kind of row.

`study.trail.verification` walks the trail first, and calls each of these with it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from study.base.canonical import sha256_of
from study.lifecycle.scoring import answers_hash, scores_hash
from study.lifecycle.studies import cases_hash, practice_cases_hash, reader_facts
from study.models.models import predictions_hash
from study.models.withdrawals import key_of
from study.monitoring import interventions
from study.protocol.assignment import list_hash
from study.store import Transaction, models, people, preparations, readings, scorings, studies
from study.store.case_sets import PRACTICE, STUDY
from study.store.events import EventKind, EventRow
from study.store.models import ModelRow
from study.store.studies import StudyRow
from study.trail import study_trails
from study.trail.role_checks import roles_of_study

_Row = Mapping[str, Any]
_Trail = Sequence[EventRow]


def events_named(trail: _Trail, kind: str, key: str) -> dict[str, EventRow]:
    """Return a trail's events of a kind by what they are about, which can be once only."""
    found: dict[str, EventRow] = {}
    for event in trail:
        if event.kind == kind:
            name = event.detail[key]
            if name in found:
                raise ValueError(f"two events say {kind!r} of {name}")
            found[name] = event
    return found


def differing(row: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Return the names of what a row says otherwise than its event, or an empty text."""
    return ", ".join(key for key in row if row[key] != told[key])


def hash_of(value: Any) -> str:
    """Return a value's hash, or an empty text where it has none (infinity, too deep)."""
    try:
        return sha256_of(value)
    except (ValueError, RecursionError):
        return ""


def _protocol(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    name, drawn = row.name, [event for event in trail if event.kind == EventKind.STUDY_DRAWN]
    if len(drawn) != 1:
        yield f"study {name}: {len(drawn)} events tell of its draw."
        return
    told = drawn[0].detail
    text = hashlib.sha256(row.protocol.encode()).hexdigest()
    if {told["protocol_sha256"], text} != {row.protocol_sha256}:
        yield f"study {name}: the protocol was altered after it was drawn."
    if told["bank"] != row.bank_name:
        yield f"study {name}: its bank was exchanged."
    if told["cases_sha256"] != cases_hash(look, row.id):
        yield f"study {name}: the cases or their strata are not those that were drawn."
    if told.get("practice_sha256", _NOTHING) != practice_cases_hash(look, row.id):
        yield f"study {name}: the practice cases are not those that were drawn."


_NOTHING = sha256_of([])
"""The hash of no practice cases, where the draw does not tell of any."""

_STATES: Mapping[str, str] = {
    EventKind.STUDY_DRAWN: "drawn",
    EventKind.STUDY_OPENED: "open",
    EventKind.STUDY_CLOSED: "closed",
}


def _state(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    passed = {event.kind: event.at_utc for event in trail if event.kind in _STATES}
    now = {
        "state": _STATES[list(passed)[-1]] if passed else None,
        "drawn_at_utc": passed.get(EventKind.STUDY_DRAWN),
        "opened_at_utc": passed.get(EventKind.STUDY_OPENED),
        "closed_at_utc": passed.get(EventKind.STUDY_CLOSED),
        "discarded_at_utc": next(
            (event.at_utc for event in trail if event.kind == EventKind.STUDY_DISCARDED), None
        ),
    }
    altered = differing({key: getattr(row, key) for key in now}, now)
    if altered:
        yield f"study {row.name}: {altered} altered."


def _amendments(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    told = [event for event in trail if event.kind == EventKind.PROTOCOL_AMENDED]
    stored = studies.amendments(look, row.id)
    if [one.number for one in stored] != list(range(1, len(told) + 1)):
        yield f"study {row.name}: {len(told)} amendment(s) were made, {len(stored)} are there."
        return
    for one, event in zip(stored, told, strict=True):
        made = {**event.detail, "actor": event.actor, "at_utc": event.at_utc}
        altered = differing(one._asdict(), made)
        if altered:
            yield f"study {row.name}: amendment {one.number}: {altered} altered."


def _readers(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    invited = events_named(trail, EventKind.READER_INVITED, "reader_id")
    simulated = events_named(trail, EventKind.READER_SIMULATED, "reader_id")
    for reader in people.readers(look, row.id):
        name = reader.reader_id
        event = invited.pop(name, None)
        if event is None:
            yield f"study {row.name}: the reader {name} was slipped in."
            continue
        told = {
            **event.detail,
            "invited_at_utc": event.at_utc,
            "simulated": int(name in simulated),
        }
        now = {"invited_at_utc": reader.invited_at_utc, "simulated": reader.simulated}
        altered = differing({**reader_facts(reader), **now}, told)
        if altered:
            yield f"study {row.name}: the reader {name}: {altered} altered."
    for gone in invited:
        yield f"study {row.name}: the reader {gone} is missing."


def _assignments(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    assigned = events_named(trail, EventKind.READER_ASSIGNED, "reader_id")
    for reader in people.readers(look, row.id):
        name = reader.reader_id
        told = assigned[name].detail if name in assigned else {"assignments_sha256": _NOTHING}
        if list_hash(look, reader.id) != told["assignments_sha256"]:
            yield f"study {row.name}: the assignments of {name} were altered."
        if list_hash(look, reader.id, PRACTICE) != told.get("practice_sha256", _NOTHING):
            yield f"study {row.name}: the practice list of {name} was altered."


def _models(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    added = _of_models(trail, EventKind.MODEL_ADDED)
    withdrawn = _of_models(trail, EventKind.MODEL_WITHDRAWN)
    for model in models.ever_of_study(look, row.id):
        where = f"study {row.name}: the model {model.model_id}"
        event = added.pop(model.key, None)
        if event is None:
            yield f"{where} was slipped in."
            continue
        told = {**event.detail, "added_at_utc": event.at_utc}
        altered = differing({**models.facts(model), "added_at_utc": model.added_at_utc}, told)
        if altered:
            yield f"{where}: {altered} altered."
        if told["predictions_sha256"] != predictions_hash(look, model.id):
            yield f"study {row.name}: the predictions of {model.model_id} were altered."
        yield from _withdrawal(where, model, withdrawn.pop(model.key, None))
    for gone, _ in added.keys() | withdrawn.keys():
        yield f"study {row.name}: the model {gone} is missing."


def _of_models(trail: _Trail, kind: str) -> dict[tuple[str, int], EventRow]:
    found: dict[tuple[str, int], EventRow] = {}
    for event in trail:
        if event.kind == kind and found.setdefault(key_of(event.detail), event) != event:
            raise ValueError(f"two events say {kind!r} of {event.detail['model_id']}")
    return found


def _withdrawal(where: str, model: ModelRow, event: EventRow | None) -> Iterator[str]:
    stored = (model.withdrawn_at_utc, model.withdrawn_by, model.reason)
    told = (event.at_utc, event.actor, event.detail["reason"]) if event else (None,) * 3
    if event is None and stored != told:
        yield f"{where} is marked as withdrawn, and no event tells of it."
    elif stored != told:
        yield f"{where}: its withdrawal was {'altered' if stored[0] else 'taken back'}."


def _presentations(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    stored = readings.presentations_of_study(look, row.id)
    return _records(
        row, "presentation", events_named(trail, EventKind.CASE_PRESENTED, "presentation"), stored
    )


def _readings(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    read = events_named(trail, STUDY.read, "reading")
    told = {name: event.detail.get("reason", "") for name, event in read.items()}
    reasons = readings.reasons_of_study(look, row.id)
    for name in sorted(told.keys() | reasons.keys()):
        if told.get(name, "") != reasons.get(name, ""):
            yield f"study {row.name}: the reason of reading {name} was altered."
    yield from _records(row, "reading", read, readings.all_of_study(look, row.id))


def _preparations(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    stored = preparations.of_study(look, row.id)
    return _records(
        row, "preparation", events_named(trail, EventKind.PREPARATION_DONE, "preparation"), stored
    )


def _practice(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    stored = readings.all_of_study(look, row.id, PRACTICE)
    return _records(row, "practice reading", events_named(trail, PRACTICE.read, "reading"), stored)


def _records(
    row: StudyRow, what: str, recorded: dict[str, EventRow], stored: Iterable[_Row]
) -> Iterator[str]:
    for one in stored:
        event = recorded.pop(one["id"], None)
        if event is None or event.detail["sha256"] != hash_of(dict(one)):
            yield f"study {row.name}: {what} {one['id']} was altered or slipped in."
    for gone in recorded:
        yield f"study {row.name}: {what} {gone} is missing."


def _scorings(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    """Compare scorings with their events; one that goes on stays where it was opened."""
    opened, closed = (
        {event.detail["of"]: event for event in trail if event.kind == kind}
        for kind in (EventKind.SCORING_OPENED, EventKind.SCORING_CLOSED)
    )
    for one in scorings.of_study(look, row.id):
        where = f"study {row.name}: the scoring of each {one.kind}"
        begun, over = opened.pop(one.kind, None), closed.pop(one.kind, None)
        if begun is None or begun.at_utc != one.opened_at_utc:
            yield f"{where} was slipped in or altered."
        elif begun.detail["answers_sha256"] != answers_hash(look, one.id):
            yield f"{where}: the answers under it were altered."
        if bool(over) != bool(one.ended_at_utc):
            yield f"{where}: whether it is closed was altered."
        elif over and over.detail["scores_sha256"] != scores_hash(look, one.id):
            yield f"{where}: its scores were altered."
    for kind in closed if row.restored_from else opened:
        yield f"study {row.name}: the scoring of each {kind} is missing."


CHECKS: Mapping[str, Callable[[Transaction, StudyRow, _Trail], Iterator[str]]] = {
    "the protocol": _protocol,
    "the state": _state,
    "the amendments": _amendments,
    "the readers": _readers,
    "the assignments": _assignments,
    "the models": _models,
    "the preparations": _preparations,
    "the practice": _practice,
    "the presentations": _presentations,
    "the readings": _readings,
    "the interventions": interventions.intervention_breaches,
    "the roles": roles_of_study,
    "the exclusions": interventions.exclusion_breaches,
    "the scorings": _scorings,
    "the sites": study_trails.site_breaches,
}

NOT_COPIED = frozenset({"the roles"})
"""What a study's copy has nothing of: no people."""

BY_OWN_CHAIN = frozenset(
    {"the protocol", "the state", "the amendments", "the roles", "the scorings", "the sites"}
)
"""What the sites of a merged study have in common: their chains tell of it once more."""
