"""Verifies that a store holds what was written into it: the chain, and everything it vouches for.

Each finding names the first place that does not hold. A chain is walked before anything it says is
believed, and whatever makes a check fail is itself a finding: nothing this program wrote would.
What cannot be found out from the store alone (somebody rewrote the whole file, heads included) is
what the hashes in an export are for.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from study import amendments, exclusions, extracts, interventions, vouching
from study.amendments import AMENDED
from study.canonical import sha256_of
from study.lists import assignment_hash, practice_hash
from study.models import predictions_hash
from study.role_checks import roles_of_deployment, roles_of_study
from study.store import (
    Store,
    Transaction,
    banks,
    events,
    extract,
    models,
    people,
    practice,
    preparations,
    readings,
    studies,
)
from study.studies import cases_hash, practice_cases_hash, reader_facts

_Event = Mapping[str, Any]
_Row = Mapping[str, Any]
_Trail = Sequence[_Event]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of verifying one study: how many events were walked, and every breach found."""

    n_events: int
    breaches: tuple[str, ...]


def verify(store: Store, *, films: bool = True) -> list[str]:
    """Return every breach found, each as one sentence; an empty list means that all holds.

    Parameters
    ----------
    films
        Whether the films on disk are compared with their hashes too.
    """
    with store.look() as look:
        return list(_guarded("the store", partial(_store, look, films)))


def verify_study(store: Store, study: str) -> Verdict:
    """Verify one study with its bank and its chains, the films on disk left out."""
    with store.look() as look:
        return study_verdict(look, study)


def study_verdict(look: Transaction, study: str) -> Verdict:
    """Verify one study within the caller's transaction."""
    own = events.study_chain(study)
    chains = [own, *vouching.merged_chains(look, study), events.DEPLOYMENT]
    breaches = [one for chain in chains for one in _guarded(chain, partial(_chain, look, chain))]
    if not breaches:
        breaches = [
            *_bank_of(look, study),
            *_guarded(f"study {study}", partial(_study, look, study)),
        ]
    return Verdict(
        n_events=sum(events.length(look, chain) for chain in chains[:-1]),
        breaches=tuple(breaches),
    )


def is_extract(store: Store) -> bool:
    """Return whether a store is one study's copy: without films, and with its own items alone."""
    with store.look() as look:
        return bool(extract.mark(look))


def check_chain(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return the first broken link of a chain as exported, or an empty text.

    It is named by its number, and what is there in its place by its kind and time.
    """
    previous = events.FIRST_HASH
    for number, event in enumerate(lines, start=1):
        link = f"({event.get('kind')}, {event.get('at_utc')})"
        if event.get("number") != number:
            return f"event {number} is missing: {event.get('number')} {link} follows {number - 1}"
        if event.get("previous_hash") != previous:
            return f"event {number} {link} does not follow from event {number - 1}"
        if _hash({key: event[key] for key in event if key != "hash"}) != event.get("hash"):
            return f"event {number} {link} was altered"
        previous = event["hash"]
    return ""


def _hash(value: Any) -> str:
    """Return a value's hash, or an empty text where it has none (infinity, too deep)."""
    try:
        return sha256_of(value)
    except (ValueError, RecursionError):
        return ""


def _guarded(where: str, check: Callable[[], Iterable[str]]) -> Iterator[str]:
    """Run one check; what makes it fail is a breach like any other."""
    try:
        yield from check()
    except Exception as error:  # any at all: the file may hold whatever somebody wrote into it
        yield f"{where}: cannot be checked as it stands ({type(error).__name__}: {error})."


def _store(look: Transaction, films: bool) -> Iterator[str]:
    chains, broken = events.chains(look), set()
    for chain in chains:
        for breach in _guarded(chain, partial(_chain, look, chain)):
            broken.add(chain)
            yield breach
    copied = bool(extract.mark(look))
    if events.DEPLOYMENT not in broken and not copied:
        yield from _guarded("the banks", partial(_banks, look))
        yield from _guarded("the deployment: its roles", partial(roles_of_deployment, look))
    known = set()
    for name in studies.names(look):
        own = {events.study_chain(name)}
        if not own & broken:
            own |= vouching.merged_chains(look, name).keys()
        if not own & broken:
            yield from _guarded(f"study {name}", partial(_study, look, name))
            if copied:
                yield from _guarded(f"study {name}: its copy", partial(_copy, look, name))
        if films and not copied:
            yield from _guarded(f"study {name}: its films", partial(_films, look, name))
        known |= own
    for chain in chains:
        if chain.startswith(events.study_chain("")) and chain not in known:
            yield f"{chain}: its events are there, the study is missing."


def _chain(look: Transaction, chain: str) -> Iterator[str]:
    lines = list(events.walk(look, chain))
    breach = check_chain(lines)
    if breach:
        yield f"{chain}: {breach}."
        return
    head = events.head(look, chain)
    end = (lines[-1]["number"], lines[-1]["hash"]) if lines else None
    if head is None or (head["number"], head["hash"]) != end:
        yield f"{chain}: the chain was cut off after event {len(lines)}."


def _named(trail: _Trail, kind: str, key: str) -> dict[str, _Event]:
    """Return a trail's events of a kind by what they are about, which can be once only."""
    found: dict[str, _Event] = {}
    for event in trail:
        if event["kind"] == kind:
            name = event["detail"][key]
            if name in found:
                raise ValueError(f"two events say {kind!r} of {name}")
            found[name] = event
    return found


def _altered(row: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Return the names of what a row says otherwise than its event, or an empty text."""
    return ", ".join(key for key in row if row[key] != told[key])


def _banks(look: Transaction) -> Iterator[str]:
    trail = list(events.walk(look, events.DEPLOYMENT))
    imported = _imports(trail)
    for name in banks.names(look):
        event = imported.pop(name, None)
        yield from _guarded(f"bank {name}", partial(_bank, look, name, event))
    for gone in imported:
        yield f"bank {gone}: it was imported, and is missing."


def _imports(trail: _Trail) -> dict[str, _Event]:
    """Return the events that vouch for a bank, from its file or from a bundle, by its name."""
    return {
        **_named(trail, "bank imported", "bank"),
        **_named(trail, "bank restored", "bank"),
    }


def _bank_of(look: Transaction, study: str) -> list[str]:
    row = studies.find(look, study)
    if row is None:
        return []
    if extract.mark(look):
        return list(_guarded(f"study {study}: its copy", partial(_copy, look, study)))
    name = row["bank_name"]
    event = _imports(list(events.walk(look, events.DEPLOYMENT))).get(name)
    return list(_guarded(f"bank {name}", partial(_bank, look, name, event)))


def _bank(look: Transaction, name: str, event: _Event | None) -> Iterator[str]:
    if event is None:
        yield f"bank {name}: it was slipped in; no event tells of its import."
        return
    row = banks.find(look, name) or {}
    told = {**event["detail"], "imported_at_utc": event["at_utc"]}
    altered = _altered({**banks.facts(row), "imported_at_utc": row["imported_at_utc"]}, told)
    if altered:
        yield f"bank {name}: {altered} altered since the import."
    if sha256_of(banks.content(look, row["id"])) != told["content_sha256"]:
        yield f"bank {name}: its items, options, films, reports or reference standard were altered."


def _copy(look: Transaction, name: str) -> Iterator[str]:
    """Check a copy's own items: the bank's hash, which covers more than it has, cannot vouch."""
    row = studies.find(look, name) or {}
    trail = events.walk(look, events.study_chain(name))
    told = [one["detail"]["material_sha256"] for one in trail if one["kind"] == extracts.KIND]
    if not told:
        yield f"study {name}: the store says it is a copy, and no event tells of one."
    elif told[-1] != sha256_of(extract.material(look, row["id"])):
        yield f"study {name}: its items, films or reference standard were altered."


def _study(look: Transaction, name: str) -> Iterator[str]:
    row = studies.find(look, name)
    if row is None:
        yield f"study {name}: its bank is missing."
        return
    own = vouching.own_trail(look, name)
    trails = {True: own, False: [*own, *vouching.sites_trail(look, name)]}
    copied = bool(extract.mark(look))
    for what, check in _CHECKS.items():
        if copied and what in _NOT_COPIED:
            continue
        trail = trails[what in _BY_OWN_CHAIN]
        yield from _guarded(f"study {name}: {what}", partial(check, look, row, trail))


def _protocol(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    name, drawn = row["name"], [event for event in trail if event["kind"] == "study drawn"]
    if len(drawn) != 1:
        yield f"study {name}: {len(drawn)} events tell of its draw."
        return
    told = drawn[0]["detail"]
    text = hashlib.sha256(row["protocol"].encode()).hexdigest()
    if {told["protocol_sha256"], text} != {row["protocol_sha256"]}:
        yield f"study {name}: the protocol was altered after it was drawn."
    if told["bank"] != row["bank_name"]:
        yield f"study {name}: its bank was exchanged."
    if told["cases_sha256"] != cases_hash(look, row["id"]):
        yield f"study {name}: the cases or their strata are not those that were drawn."
    if told.get("practice_sha256", _NOTHING) != practice_cases_hash(look, row["id"]):
        yield f"study {name}: the practice cases are not those that were drawn."


_NOTHING = sha256_of([])
"""The hash of no practice cases and of no list; stores of the first release have no other."""

_STATES = {"study drawn": "drawn", "study opened": "open", "study closed": "closed"}


def _state(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    passed = {event["kind"]: event["at_utc"] for event in trail if event["kind"] in _STATES}
    now = {
        "state": _STATES[list(passed)[-1]] if passed else None,
        "drawn_at_utc": passed.get("study drawn"),
        "opened_at_utc": passed.get("study opened"),
        "closed_at_utc": passed.get("study closed"),
        "discarded_at_utc": next(
            (event["at_utc"] for event in trail if event["kind"] == "study discarded"), None
        ),
    }
    altered = _altered({key: row[key] for key in now}, now)
    if altered:
        yield f"study {row['name']}: {altered} altered."


def _amendments(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    told = [event for event in trail if event["kind"] == AMENDED]
    stored = amendments.of_study(look, row["id"])
    if [one.number for one in stored] != list(range(1, len(told) + 1)):
        yield f"study {row['name']}: {len(told)} amendment(s) were made, {len(stored)} are there."
        return
    for one, event in zip(stored, told, strict=True):
        made = {**event["detail"], "actor": event["actor"], "at_utc": event["at_utc"]}
        altered = _altered(asdict(one), made)
        if altered:
            yield f"study {row['name']}: amendment {one.number}: {altered} altered."


def _readers(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    invited = _named(trail, "reader invited", "reader_id")
    simulated = _named(trail, "reader simulated", "reader_id")
    for reader in people.readers(look, row["id"]):
        name = reader["reader_id"]
        event = invited.pop(name, None)
        if event is None:
            yield f"study {row['name']}: the reader {name} was slipped in."
            continue
        told = {
            **event["detail"],
            "invited_at_utc": event["at_utc"],
            "simulated": int(name in simulated),
        }
        now = {key: reader[key] for key in ("invited_at_utc", "simulated")}
        altered = _altered({**reader_facts(reader), **now}, told)
        if altered:
            yield f"study {row['name']}: the reader {name}: {altered} altered."
    for gone in invited:
        yield f"study {row['name']}: the reader {gone} is missing."


def _assignments(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    assigned = _named(trail, "reader assigned", "reader_id")
    for reader in people.readers(look, row["id"]):
        name = reader["reader_id"]
        told = assigned[name]["detail"] if name in assigned else {"assignments_sha256": _NOTHING}
        if assignment_hash(look, reader["id"]) != told["assignments_sha256"]:
            yield f"study {row['name']}: the assignments of {name} were altered."
        if practice_hash(look, reader["id"]) != told.get("practice_sha256", _NOTHING):
            yield f"study {row['name']}: the practice list of {name} was altered."


def _models(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    added = _named(trail, "model added", "model_id")
    for model in models.of_study(look, row["id"]):
        name = model["model_id"]
        event = added.pop(name, None)
        if event is None:
            yield f"study {row['name']}: the model {name} was slipped in."
            continue
        told = {**event["detail"], "added_at_utc": event["at_utc"]}
        altered = _altered({**models.facts(model), "added_at_utc": model["added_at_utc"]}, told)
        if altered:
            yield f"study {row['name']}: the model {name}: {altered} altered."
        if told["predictions_sha256"] != predictions_hash(look, model["id"]):
            yield f"study {row['name']}: the predictions of {name} were altered."
    for gone in added:
        yield f"study {row['name']}: the model {gone} is missing."


def _presentations(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    stored = readings.presentations_of_study(look, row["id"])
    return _records(row, "presentation", _named(trail, "case presented", "presentation"), stored)


def _readings(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    stored = readings.all_of_study(look, row["id"])
    read = _named(trail, "case read", "reading")
    told = {name: event["detail"].get("reason", "") for name, event in read.items()}
    reasons = readings.reasons_of_study(look, row["id"])
    for name in sorted(told.keys() | reasons.keys()):
        if told.get(name, "") != reasons.get(name, ""):
            yield f"study {row['name']}: the reason of reading {name} was altered."
    yield from _records(row, "reading", read, stored)


def _preparations(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    stored = preparations.of_study(look, row["id"])
    return _records(row, "preparation", _named(trail, "preparation done", "preparation"), stored)


def _practice(look: Transaction, row: _Row, trail: _Trail) -> Iterator[str]:
    stored = practice.of_study(look, row["id"])
    return _records(row, "practice reading", _named(trail, "practice case read", "reading"), stored)


def _records(
    row: _Row, what: str, recorded: dict[str, _Event], stored: Iterable[_Row]
) -> Iterator[str]:
    for one in stored:
        event = recorded.pop(one["id"], None)
        if event is None or event["detail"]["sha256"] != _hash(dict(one)):
            yield f"study {row['name']}: {what} {one['id']} was altered or slipped in."
    for gone in recorded:
        yield f"study {row['name']}: {what} {gone} is missing."


_CHECKS: Mapping[str, Callable[[Transaction, _Row, _Trail], Iterator[str]]] = {
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
    "the interventions": interventions.breaches,
    "the roles": roles_of_study,
    "the exclusions": exclusions.breaches,
    "the sites": vouching.site_breaches,
}

_NOT_COPIED = frozenset({"the roles"})
"""What a study's copy has nothing of: no people."""

_BY_OWN_CHAIN = frozenset({"the protocol", "the state", "the amendments", "the roles", "the sites"})
"""What the sites of a merged study have in common: their chains tell of it once more."""


def _films(look: Transaction, name: str) -> Iterator[str]:
    row = studies.find(look, name)
    for film in studies.case_films(look, row["id"]) if row else ():
        path = Path(film["images_root"]) / film["path"]
        try:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            yield f"study {name}: the film {path} cannot be read."
            continue
        if found != film["sha256"]:
            yield f"study {name}: the film {path} is not the one that was imported."
