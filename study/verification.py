"""Verifies that a store holds what was written into it: the chain, and everything it vouches for.

Each finding names the first place that does not hold. What cannot be found out from the store alone
(somebody rewrote the whole file, heads included) is what the hashes in an export are for.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from study.canonical import sha256_of
from study.models import predictions_hash
from study.store import Store, Transaction, banks, events, models, people, readings, studies
from study.studies import assignment_hash


def verify(store: Store) -> list[str]:
    """Return every breach found, each as one sentence; an empty list means that all holds."""
    breaches: list[str] = []
    with store.look() as look:
        for chain in events.chains(look):
            breaches += _chain(look, chain)
        trail = list(events.walk(look, events.DEPLOYMENT))
        for name in banks.names(look):
            breaches += _bank(look, name, trail)
        for name in studies.names(look):
            breaches += _study(look, name)
    return breaches


def check_chain(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return the first breach in a chain of events as exported, or an empty text."""
    previous = events.FIRST_HASH
    for number, event in enumerate(lines, start=1):
        body = {key: event[key] for key in event if key != "hash"}
        if event["number"] != number:
            return f"event {number} is missing: {event['number']} follows {number - 1}"
        if event["previous_hash"] != previous:
            return f"event {number} does not follow from event {number - 1}"
        if sha256_of(body) != event["hash"]:
            return f"event {number} ({event['kind']}) was altered"
        previous = event["hash"]
    return ""


def _chain(look: Transaction, chain: str) -> Iterator[str]:
    lines = list(events.walk(look, chain))
    breach = check_chain(lines)
    if breach:
        yield f"{chain}: {breach}."
        return
    head = events.head(look, chain)
    last = lines[-1] if lines else None
    if (
        head is None
        or last is None
        or (head["number"], head["hash"])
        != (
            last["number"],
            last["hash"],
        )
    ):
        yield f"{chain}: the chain was cut off after event {len(lines)}."


def _bank(look: Transaction, name: str, trail: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    row = banks.find(look, name) or {}
    now = sha256_of(banks.content(look, row["id"]))
    recorded = [
        event["detail"]["content_sha256"]
        for event in trail
        if event["kind"] == "bank imported" and event["detail"]["bank"] == name
    ]
    if recorded != [now] or row["content_sha256"] != now:
        yield f"bank {name}: its items, options, films or reference standard were altered."


def _study(look: Transaction, name: str) -> Iterator[str]:
    row = studies.find(look, name) or {}
    trail = list(events.walk(look, events.study_chain(name)))
    yield from _protocol(look, row, trail)
    yield from _assignments(look, row, trail)
    yield from _predictions(look, row, trail)
    yield from _records(look, row, trail)
    yield from _films(look, row)


def _details(trail: Iterable[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [event["detail"] for event in trail if event["kind"] == kind]


def _protocol(
    look: Transaction, row: Mapping[str, Any], trail: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    locked = json.loads(row["protocol"])
    drawn = [detail["protocol_sha256"] for detail in _details(trail, "study drawn")]
    if drawn != [row["protocol_sha256"]] or sha256_of(locked) != row["protocol_sha256"]:
        yield f"study {row['name']}: the protocol was altered after it was drawn."
    cases = [case["item_id"] for case in studies.cases(look, row["id"])]
    if cases != locked["cases"]:
        yield f"study {row['name']}: the cases are not those of the protocol."


def _assignments(
    look: Transaction, row: Mapping[str, Any], trail: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    recorded = {
        detail["reader_id"]: detail["assignments_sha256"]
        for detail in _details(trail, "reader assigned")
    }
    for reader in people.readers(look, row["id"]):
        expected = recorded.pop(reader["reader_id"], None)
        has_any = bool(studies.assignments(look, reader["id"]))
        if (expected or has_any) and assignment_hash(look, reader["id"]) != expected:
            yield f"study {row['name']}: the assignments of {reader['reader_id']} were altered."
    for gone in recorded:
        yield f"study {row['name']}: the reader {gone} is missing."


def _predictions(
    look: Transaction, row: Mapping[str, Any], trail: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    recorded = {
        detail["model_id"]: detail["predictions_sha256"]
        for detail in _details(trail, "model added")
    }
    for model in models.of_study(look, row["id"]):
        if recorded.pop(model["model_id"], None) != predictions_hash(look, model["id"]):
            yield f"study {row['name']}: the predictions of {model['model_id']} were altered."
    for gone in recorded:
        yield f"study {row['name']}: the model {gone} is missing."


def _records(
    look: Transaction, row: Mapping[str, Any], trail: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    kinds = (
        ("case presented", "presentation", readings.presentations_of_study(look, row["id"])),
        ("case read", "reading", readings.all_of_study(look, row["id"])),
    )
    for kind, key, stored in kinds:
        recorded = {detail[key]: detail["sha256"] for detail in _details(trail, kind)}
        for one in stored:
            if recorded.pop(one["id"], None) != sha256_of(dict(one)):
                yield f"study {row['name']}: {key} {one['id']} was altered or slipped in."
        for gone in recorded:
            yield f"study {row['name']}: {key} {gone} is missing."


def _films(look: Transaction, row: Mapping[str, Any]) -> Iterator[str]:
    for film in studies.case_films(look, row["id"]):
        path = Path(film["images_root"]) / film["path"]
        try:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            yield f"study {row['name']}: the film {path} cannot be read."
            continue
        if found != film["sha256"]:
            yield f"study {row['name']}: the film {path} is not the one that was imported."
