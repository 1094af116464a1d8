"""Compares the rows of a study and of the deployment with their trails, kind by kind.

Every role that was granted or revoked is recorded in a chain, without names. Access codes may
change at any time and are not checked.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from study.base.canonical import sha256_of
from study.base.text import quoted
from study.lifecycle.aids import sealed_hashes
from study.lifecycle.judging import verdicts_hash
from study.lifecycle.scoring import answers_hash
from study.lifecycle.studies import cases_hash, item_hashes, practice_cases_hash, reader_facts
from study.models.models import key_of, predictions_hash
from study.monitoring import interventions
from study.people import signing_in, single_sign_on
from study.people.roles import Role
from study.protocol.assignment import list_hash
from study.store import (
    Transaction,
    aids,
    deployment,
    events,
    judgements,
    models,
    people,
    readings,
    studies,
)
from study.store.events import EventKind, EventRow
from study.store.models import ModelRow
from study.store.people import GrantRow
from study.store.studies import PRACTICE, STUDY, StudyRow
from study.trail import heads, trails

_Row = Mapping[str, Any]

_Trail = Sequence[EventRow]


def events_named(trail: _Trail, kind: str, key: str) -> dict[str, EventRow]:
    """Return a trail's events of a kind by subject; raise an error if a subject has two events."""
    by_name: dict[str, EventRow] = {}
    for event in trail:
        if event.kind == kind:
            name = event.detail[key]
            if name in by_name:
                raise ValueError(f"two events {quoted(kind)} of {name}")
            by_name[name] = event
    return by_name


def differing_columns(row: Mapping[str, Any], recorded: Mapping[str, Any]) -> str:
    """Return the names of the columns in which a row differs from its event, or an empty string."""
    return ", ".join(key for key in row if row[key] != recorded[key])


def hash_or_empty(value: Any) -> str:
    """Return a value's hash; empty if it has none (infinity, or nested too deeply)."""
    try:
        return sha256_of(value)
    except (ValueError, RecursionError):
        return ""


def _check_protocol(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    name, drawn = row.name, [event for event in trail if event.kind == EventKind.STUDY_DRAWN]
    if len(drawn) != 1:
        yield f"study {name}: {len(drawn)} events record its draw."
        return
    recorded = drawn[0].detail
    text = hashlib.sha256(row.protocol.encode()).hexdigest()
    if {recorded["protocol_sha256"], text} != {row.protocol_sha256}:
        yield f"study {name}: the protocol was altered after it was drawn."
    if recorded["bank"] != row.bank_name:
        yield f"study {name}: its bank was replaced."
    if recorded["cases_sha256"] != cases_hash(look, row.id):
        yield f"study {name}: the cases or their strata are not those that were drawn."
    if recorded.get("practice_sha256", _EMPTY_LIST_HASH) != practice_cases_hash(look, row.id):
        yield f"study {name}: the practice cases are not those that were drawn."


_EMPTY_LIST_HASH = sha256_of([])
"""The hash of an empty list."""


def _check_items(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    """Compare the items with their hash from the opening, which earlier versions did not record."""
    recorded = opening_hashes(trail)
    stored = item_hashes(look, row.id, row.items_salt)
    if recorded and recorded["items_sha256"] != stored["items_sha256"]:
        yield (
            f"study {row.name}: its items are not those it was opened with: a question, options, "
            "an id, a group or the context was altered."
        )
    if recorded and row.items_salt and recorded["truth_sha256"] != stored["truth_sha256"]:
        yield f"study {row.name}: the reference standard is not the one it was opened with."


def _check_aids(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    """Compare the aids and wrong images with the opening; a blinded copy contains neither."""
    opened = [event.detail for event in trail if event.kind == EventKind.STUDY_OPENED]
    if not opened or not row.items_salt:
        return
    stored = sealed_hashes(look, row.id, row.items_salt)
    for key, noun in (("aids_sha256", "aids"), ("wrong_images_sha256", "wrong images")):
        if stored.get(key) != opened[0].get(key):
            yield f"study {row.name}: the {noun} are not those it was opened with."


def opening_hashes(trail: _Trail) -> dict[str, str]:
    """Return the hashes of the items recorded when the study was opened, or an empty mapping."""
    opened = (event.detail for event in trail if event.kind == EventKind.STUDY_OPENED)
    detail = next(opened, {})
    return {key: detail[key] for key in ("items_sha256", "truth_sha256") if key in detail}


_STATE_AFTER: Mapping[str, str] = {
    EventKind.STUDY_DRAWN: "drawn",
    EventKind.STUDY_OPENED: "open",
    EventKind.STUDY_CLOSED: "closed",
}


_DISCARD_KINDS = (EventKind.STUDY_DISCARDED, EventKind.STUDY_RETURNED_TO_DRAFT)


def _check_state(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    passed = {event.kind: event.at_utc for event in trail if event.kind in _STATE_AFTER}
    now = {
        "state": _STATE_AFTER[list(passed)[-1]] if passed else None,
        "drawn_at_utc": passed.get(EventKind.STUDY_DRAWN),
        "opened_at_utc": passed.get(EventKind.STUDY_OPENED),
        "closed_at_utc": passed.get(EventKind.STUDY_CLOSED),
        "discarded_at_utc": next(
            (event.at_utc for event in trail if event.kind in _DISCARD_KINDS), None
        ),
    }
    altered = differing_columns({key: getattr(row, key) for key in now}, now)
    if altered:
        yield f"study {row.name}: {altered} altered."


def _check_amendments(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    recorded = [event for event in trail if event.kind == EventKind.PROTOCOL_AMENDED]
    stored = studies.amendments(look, row.id)
    if [amendment.number for amendment in stored] != list(range(1, len(recorded) + 1)):
        n_recorded, n_stored = len(recorded), len(stored)
        yield f"study {row.name}: amendments made: {n_recorded}, amendments stored: {n_stored}."
        return
    for amendment, event in zip(stored, recorded, strict=True):
        detail = {**event.detail, "actor": event.actor, "at_utc": event.at_utc}
        altered = differing_columns(amendment._asdict(), detail)
        if altered:
            yield f"study {row.name}: amendment {amendment.number}: {altered} altered."


def _check_readers(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    invited = events_named(trail, EventKind.READER_INVITED, "reader_id")
    simulated = events_named(trail, EventKind.READER_SIMULATED, "reader_id")
    for reader in people.readers(look, row.id):
        name = reader.reader_id
        event = invited.pop(name, None)
        if event is None:
            yield f"study {row.name}: the reader {name} was inserted."
            continue
        recorded = {
            **event.detail,
            "invited_at_utc": event.at_utc,
            "simulated": int(name in simulated),
        }
        now = {"invited_at_utc": reader.invited_at_utc, "simulated": reader.simulated}
        altered = differing_columns({**reader_facts(reader), **now}, recorded)
        if altered:
            yield f"study {row.name}: the reader {name}: {altered} altered."
    for gone in invited:
        yield f"study {row.name}: the reader {gone} is missing."


def _check_assignments(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    assigned = events_named(trail, EventKind.READER_ASSIGNED, "reader_id")
    for reader in people.readers(look, row.id):
        name = reader.reader_id
        recorded = (
            assigned[name].detail if name in assigned else {"assignments_sha256": _EMPTY_LIST_HASH}
        )
        if (reader.arm, reader.list) != (recorded.get("arm", ""), recorded.get("list")):
            yield f"study {row.name}: the arm or the list of {name} was altered."
        if list_hash(look, reader.id) != recorded["assignments_sha256"]:
            yield f"study {row.name}: the assignments of {name} were altered."
        if list_hash(look, reader.id, PRACTICE) != recorded.get(
            "practice_sha256", _EMPTY_LIST_HASH
        ):
            yield f"study {row.name}: the practice list of {name} was altered."


def _check_models(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    added = _model_events(trail, EventKind.MODEL_ADDED)
    withdrawn = _model_events(trail, EventKind.MODEL_WITHDRAWN)
    removed = _model_events(trail, EventKind.MODEL_DATA_REMOVED)
    for model in models.ever_of_study(look, row.id):
        place = f"study {row.name}: the model {model.model_id}"
        event = added.pop(model.key, None)
        if event is None:
            yield f"{place} was inserted."
            continue
        recorded = {**event.detail, "added_at_utc": event.at_utc}
        altered = differing_columns(
            {**models.facts(model), "added_at_utc": model.added_at_utc}, recorded
        )
        if altered:
            yield f"{place}: {altered} altered."
        expected = _EMPTY_LIST_HASH if model.key in removed else recorded["predictions_sha256"]
        if expected != predictions_hash(look, model.id):
            yield f"study {row.name}: the predictions of {model.model_id} were altered."
        yield from _check_withdrawal(place, model, withdrawn.pop(model.key, None))
    for gone, _ in added.keys() | withdrawn.keys():
        yield f"study {row.name}: the model {gone} is missing."


def _model_events(trail: _Trail, kind: str) -> dict[tuple[str, int], EventRow]:
    by_key: dict[tuple[str, int], EventRow] = {}
    for event in trail:
        if event.kind == kind and by_key.setdefault(key_of(event.detail), event) != event:
            raise ValueError(f"two events {quoted(kind)} of {event.detail['model_id']}")
    return by_key


def _check_withdrawal(place: str, model: ModelRow, event: EventRow | None) -> Iterator[str]:
    stored = (model.withdrawn_at_utc, model.withdrawn_by, model.reason)
    recorded = (event.at_utc, event.actor, event.detail["reason"]) if event else (None,) * 3
    if event is None and stored != recorded:
        yield f"{place} is marked as withdrawn, and no event records it."
    elif stored != recorded:
        yield f"{place}: its withdrawal was {'altered' if stored[0] else 'undone'}."


def _check_presentations(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    stored = readings.presentations_of_study(look, row.id)
    return _check_records(
        row, "presentation", events_named(trail, EventKind.CASE_PRESENTED, "presentation"), stored
    )


def _check_aid_requests(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    stored = aids.requests_of_study(look, row.id)
    return _check_records(
        row, "aid request", events_named(trail, EventKind.AID_REQUESTED, "request"), stored
    )


def _check_readings(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    read = events_named(trail, STUDY.read, "reading")
    recorded = {name: event.detail.get("reason", "") for name, event in read.items()}
    reasons = readings.reasons_of_study(look, row.id)
    for name in sorted(recorded.keys() | reasons.keys()):
        if recorded.get(name, "") != reasons.get(name, ""):
            yield f"study {row.name}: the reason of reading {name} was altered."
    yield from _check_records(row, "reading", read, readings.all_of_study(look, row.id))


def _check_preparations(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    stored = readings.preparations_of_study(look, row.id)
    return _check_records(
        row, "preparation", events_named(trail, EventKind.PREPARATION_DONE, "preparation"), stored
    )


def _check_practice(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    stored = readings.all_of_study(look, row.id, PRACTICE)
    return _check_records(
        row, "practice reading", events_named(trail, PRACTICE.read, "reading"), stored
    )


def _check_records(
    row: StudyRow, noun: str, recorded: dict[str, EventRow], stored: Iterable[_Row]
) -> Iterator[str]:
    for record in stored:
        event = recorded.pop(record["id"], None)
        if event is None or event.detail["sha256"] != hash_or_empty(dict(record)):
            yield f"study {row.name}: {noun} {record['id']} was altered or inserted."
    for gone in recorded:
        yield f"study {row.name}: {noun} {gone} is missing."


def _check_scorings(look: Transaction, row: StudyRow, trail: _Trail) -> Iterator[str]:
    """Compare scorings with their events; an open scoring remains in the store where it began."""
    opened, closed = (
        {event.detail["of"]: event for event in trail if event.kind == kind}
        for kind in (EventKind.SCORING_OPENED, EventKind.SCORING_CLOSED)
    )
    for scoring in judgements.scorings_of_study(look, row.id):
        place = f"study {row.name}: the scoring of each {scoring.kind}"
        opening, end = opened.pop(scoring.kind, None), closed.pop(scoring.kind, None)
        if opening is None or opening.at_utc != scoring.opened_at_utc:
            yield f"{place} was inserted or altered."
        elif opening.detail["answers_sha256"] != answers_hash(look, scoring.id):
            yield f"{place}: the answers under it were altered."
        if bool(end) != bool(scoring.ended_at_utc):
            yield f"{place}: its closing was altered."
        elif end and end.detail["scores_sha256"] != verdicts_hash(look, scoring):
            yield f"{place}: its scores were altered."
    for kind in closed if row.restored_from else opened:
        yield f"study {row.name}: the scoring of each {kind} is missing."


def check_study_roles(look: Transaction, row: StudyRow, trail: Sequence[EventRow]) -> Iterator[str]:
    """Yield a line for every role in a study that differs from its trail."""
    place = f"study {row.name}"
    has_people = not row.restored_from  # a study restored from another deployment has no people
    yield from _check_roles(
        place, people.grants_of_study(look, row.id), trail, has_people=has_people
    )


CHECKS: Mapping[str, Callable[[Transaction, StudyRow, _Trail], Iterator[str]]] = {
    "the protocol": _check_protocol,
    "the items": _check_items,
    "the aids": _check_aids,
    "the state": _check_state,
    "the amendments": _check_amendments,
    "the readers": _check_readers,
    "the assignments": _check_assignments,
    "the models": _check_models,
    "the preparations": _check_preparations,
    "the practice": _check_practice,
    "the presentations": _check_presentations,
    "the aid requests": _check_aid_requests,
    "the readings": _check_readings,
    "the interventions": interventions.intervention_breaches,
    "the roles": check_study_roles,
    "the exclusions": interventions.exclusion_breaches,
    "the scorings": _check_scorings,
    "the sites": trails.site_breaches,
}


NOT_COPIED = frozenset({"the roles", "the items"})
"""Checks that do not apply to a copy of a study: it has no people and another hash of its items."""


CHECKED_BY_OWN_CHAIN = frozenset(
    {
        "the protocol",
        "the items",
        "the aids",
        "the state",
        "the amendments",
        "the roles",
        "the scorings",
        "the sites",
    }
)
"""Checks of the data that the sites of a merged study have in common, which each chain records."""


def check_deployment(look: Transaction) -> Iterator[str]:
    """Yield a line if the deployment's ID or secret differs from the trail."""
    creations = events.of_kind(look, events.DEPLOYMENT, EventKind.DEPLOYMENT_MADE)
    if len(creations) != 1:
        yield f"the deployment: {len(creations)} events record its creation."
        return
    if creations[0]["deployment_id"] != deployment.value(look, "deployment_id"):
        yield "the deployment: its id was altered."
    secret = sha256_of(deployment.value(look, "secret"))
    if creations[0].get("secret_sha256", secret) != secret:
        yield "the deployment: its secret was replaced."
    yield from heads.deposit_breaches(look)


def check_sign_ins(look: Transaction) -> Iterator[str]:
    """Yield a line for every valid sign-in, bound account and address that no event records."""
    chains = [events.DEPLOYMENT, *(events.study_chain(name) for name in studies.names(look))]
    marks = {
        detail.get("sign_in")
        for chain in chains
        for detail in events.of_kind(look, chain, EventKind.SIGNED_IN)
    }
    for detail in events.of_kind(look, events.DEPLOYMENT, EventKind.STUDY_REMOVED):
        marks.update(detail["sign_ins"])
    for row in people.sign_ins(look):
        if signing_in.sign_in_mark(row.id, row.person) not in marks:
            yield f"the deployment: a sign-in of {row.handle} of {row.at_utc} was inserted."
    yield from single_sign_on.account_breaches(look)
    for mark, address in people.places(look).items():
        if len(address) < _MAX_ADDRESS_LENGTH and signing_in.place_mark(look, address) != mark:
            yield f"the deployment: the address of the place {mark} was altered."


_MAX_ADDRESS_LENGTH = 200
"""Longer addresses are cut when they are stored, and cannot be compared with their mark."""


def check_backups(look: Transaction) -> Iterator[str]:
    """Yield a line for every backup that the trail does not record in the same way."""
    columns = ("file", "n_bytes", "sha256", "finding")
    backup_events, removals = (
        events.of_kind(look, events.DEPLOYMENT, kind)
        for kind in (EventKind.BACKUP_MADE, EventKind.BACKUP_REMOVED)
    )
    recorded = [tuple(detail[column] for column in columns) for detail in backup_events]
    removed = {detail["file"] for detail in removals}
    for row in deployment.every_backup(look):
        if (row.file, row.n_bytes, row.sha256, row.finding) not in recorded:
            yield f"the backup {row.file}: it was inserted or altered."
        if bool(row.removed_at_utc) != (row.file in removed):
            yield f"the backup {row.file}: its removal was altered."


def check_reviews(look: Transaction) -> Iterator[str]:
    """Yield a line for every review that the trail does not record with the same verdicts."""
    opened = events.of_kind(look, events.DEPLOYMENT, EventKind.REVIEW_OPENED)
    closed = events.of_kind(look, events.DEPLOYMENT, EventKind.REVIEW_CLOSED)
    reported = {(detail["bank"], detail["review"], detail["verdicts_sha256"]) for detail in closed}
    reviews_opened = {(detail["bank"], detail["review"], detail["n"]) for detail in opened}
    for row in judgements.every_review(look):
        if (
            row.bank_name,
            row.name,
            len(judgements.review_items(look, row.id)),
        ) not in reviews_opened:
            yield f"the review {row.name} of bank {row.bank_name}: it was inserted or altered."
        sha256 = verdicts_hash(look, row)
        if row.ended_at_utc and (row.bank_name, row.name, sha256) not in reported:
            yield f"the review {row.name} of bank {row.bank_name}: its verdicts were altered."


_GrantKey = tuple[str, str, str]


_GRANTING_EVENTS: Mapping[str, tuple[str, Role]] = {
    EventKind.READER_INVITED: ("reader_id", Role.READER),
    EventKind.READER_GIVEN_NEW_CODE: ("reader_id", Role.READER),
    EventKind.COORDINATOR_GIVEN_ACCESS: ("name", Role.COORDINATOR),
    EventKind.ADMINISTRATOR_GIVEN_ACCESS: ("name", Role.ADMINISTRATOR),
}
"""Events that granted a role unless the person already had it, with the key of the person."""


def check_deployment_roles(look: Transaction) -> Iterator[str]:
    """Yield a line for every role in the deployment that differs from its trail."""
    trail = list(events.walk(look, events.DEPLOYMENT))
    grants = people.grants_of_deployment(look)
    yield from _check_roles("the deployment", grants, trail, has_people=True)


def _check_roles(
    place: str, grants: Iterable[GrantRow], trail: Sequence[EventRow], *, has_people: bool
) -> Iterator[str]:
    certain, possible, revoked = _recorded_grants(trail)
    stored = {(row.holder_name, row.role, row.given_at_utc) for row in grants}
    ended = {
        (row.holder_name, row.role, row.revoked_at_utc) for row in grants if row.revoked_at_utc
    }
    for person, role, _ in sorted(stored - certain - possible):
        yield f"{place}: the role {role} of {person} was inserted."
    pairs_held = {(person, role) for person, role, _ in stored}
    missing = {grant[:2] for grant in certain - stored}
    if has_people:
        missing |= {grant[:2] for grant in possible} - pairs_held
    for person, role in sorted(missing):
        yield f"{place}: the role {role} of {person} is missing."
    for person, role, _ in sorted(ended ^ revoked):
        yield f"{place}: the revocation of the role {role} of {person} was altered."


def _recorded_grants(
    trail: Sequence[EventRow],
) -> tuple[set[_GrantKey], set[_GrantKey], set[_GrantKey]]:
    certain, possible, revoked = set(), set(), set()
    for event in trail:
        kind, detail, at = event.kind, event.detail, event.at_utc
        if kind == EventKind.ROLE_GIVEN:
            certain.add((detail["whose"], detail["new"], at))
        elif kind == EventKind.ROLE_REVOKED:
            revoked.add((detail["whose"], detail["old"], at))
        elif kind in _GRANTING_EVENTS:
            key, role = _GRANTING_EVENTS[kind]
            possible.add((detail[key], str(role), at))
    return certain, possible, revoked
