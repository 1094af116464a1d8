"""Verifies that a store is unaltered: its event chains, and all data whose hash they contain.

Each finding names the first invalid position. A chain is checked before its contents are used. An
exception in a check is also a finding, because data that this program wrote raise no exceptions. If
a store was rewritten completely, including its heads, only readers' receipts and deposited heads
reveal this; see `study.reading.desk` and `study.trail.heads`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial

from study.base.canonical import moment, sha256_of
from study.base.provenance import Provenance
from study.base.text import quoted
from study.store import Store, Transaction, banks, events, extract, shape, studies
from study.store.events import CLOCK_TOLERANCE, EventKind, EventRow
from study.store.studies import study_row
from study.trail import checks, losses, trails
from study.trail.checks import (
    CHECKED_BY_OWN_CHAIN,
    CHECKS,
    NOT_COPIED,
    check_deployment_roles,
    differing_columns,
    hash_or_empty,
)

_Trail = Sequence[EventRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of verifying a study: the number of events checked, and every breach."""

    n_events: int
    breaches: tuple[str, ...]


def verify(store: Store, *, films: bool = True) -> list[str]:
    """Return every breach as a sentence; an empty list means that the store is unaltered.

    Parameters
    ----------
    films
        Whether the films on disk are also compared with their hashes.
    """
    record = store.read_witness()  # before the snapshot is taken
    with store.look() as look:
        return [
            *_run_check("the store", partial(losses.breaches, look, record)),
            *_run_check("the store", partial(_store_breaches, look, films)),
            *_run_check("the store", lambda: losses.damage(look, store.read_witness())),
        ]


def remarks(store: Store) -> list[str]:
    """Return remarks that are not breaches.

    These are accepted losses, clocks that were set back, and studies without a hash of their items.
    """
    record = store.read_witness()
    with store.look() as look:
        if extract.source_deployment(look):
            return []
        return [
            *_run_check("the store", partial(losses.remarks, look, store, record)),
            *(
                remark
                for chain in events.chains(look)
                for remark in _run_check(
                    chain, partial(_apply_to_chain, look, chain, _clock_remarks)
                )
            ),
            *_run_check("the store", partial(_unprotected_studies, look)),
        ]


def _unprotected_studies(look: Transaction) -> Iterator[str]:
    """Yield a line for each opened study whose items were not hashed when it was opened."""
    for row in studies.listed(look):
        trail = events.of_kinds(look, events.study_chain(row.name), [EventKind.STUDY_OPENED])
        if trail and not checks.opening_hashes(trail):
            yield (
                f"study {row.name}: it was opened by an earlier version, which kept no hash of its "
                "items; an altered items.csv of its bundle cannot be detected."
            )


def verify_study(store: Store, study: str) -> Verification:
    """Verify a study with its bank and its chains, but not the films on disk."""
    record, chain = store.read_witness(), events.study_chain(study)
    with store.look() as look:
        lost = tuple(_run_check(chain, partial(losses.breaches, look, record, chain)))
        verdict = study_verdict(look, study)
        damage = _run_check(chain, lambda: losses.damage(look, store.read_witness()))
        breaches = (*lost, *verdict.breaches, *damage)
    return Verification(n_events=verdict.n_events, breaches=breaches)


def study_verdict(look: Transaction, study: str) -> Verification:
    """Verify a study within the caller's transaction."""
    own_chain = events.study_chain(study)
    chains = [own_chain, *trails.merged_chains(look, study), events.DEPLOYMENT]
    breaches = [
        breach
        for chain in chains
        for breach in _run_check(chain, partial(_chain_breaches, look, chain))
    ]
    if not breaches:
        breaches = [
            *_breaches_of_bank_used(look, study),
            *_run_check(f"study {study}", partial(_study_breaches, look, study)),
        ]
    return Verification(
        n_events=sum(events.length(look, chain) for chain in chains[:-1]),
        breaches=tuple(breaches),
    )


def is_extract(store: Store) -> bool:
    """Return whether a store is a copy of one study, with its own items and without films."""
    with store.look() as look:
        return bool(extract.source_deployment(look))


def check_chain(lines: Iterable[EventRow]) -> str:
    """Return the first broken link of an exported chain, or an empty string.

    The message contains the number of the link, and the kind and time of the event at its position.
    """
    previous = events.FIRST_HASH
    for number, event in enumerate(lines, start=1):
        link = f"({event.kind}, {event.at_utc})"
        if event.number != number:
            return f"event {number} is missing: {event.number} {link} follows {number - 1}"
        if event.previous_hash != previous:
            return f"event {number} {link} does not follow from event {number - 1}"
        if hash_or_empty(event.sealed()) != event.hash:
            return f"event {number} {link} was altered"
        previous = event.hash
    return ""


def _run_check(place: str, check: Callable[[], Iterable[str]]) -> Iterator[str]:
    """Run a check; an exception in it counts as a breach."""
    try:
        yield from check()
    except Exception as error:  # any error: the file may contain anything
        yield f"{place}: cannot be checked ({type(error).__name__}: {error})."


def _store_breaches(look: Transaction, films: bool) -> Iterator[str]:
    chains, broken = events.chains(look), set()
    for chain in chains:
        for breach in _run_check(chain, partial(_chain_breaches, look, chain)):
            broken.add(chain)
            yield breach
    copied = bool(extract.source_deployment(look))
    for chain in chains:
        if chain not in broken and "#" not in chain:
            yield from _run_check(chain, partial(_apply_to_chain, look, chain, _clock_breaches))
    if events.DEPLOYMENT not in broken and not copied:
        for check_name, check in _DEPLOYMENT_CHECKS.items():
            yield from _run_check(check_name, partial(check, look))
    known = set()
    for name in studies.names(look):
        own_chains = {events.study_chain(name)}
        if not own_chains & broken:
            own_chains |= trails.merged_chains(look, name).keys()
        if not own_chains & broken:
            yield from _run_check(f"study {name}", partial(_study_breaches, look, name))
            if copied:
                yield from _run_check(
                    f"study {name}: its copy", partial(_copy_breaches, look, name)
                )
        if films and not copied:
            yield from _run_check(f"study {name}: its films", partial(_film_breaches, look, name))
        known |= own_chains
    for chain in chains:
        if chain.startswith(events.study_chain("")) and chain not in known:
            yield f"{chain}: its events exist, but the study is missing."
    yield from _run_check("the store: its shape", partial(shape.breaches, look))
    yield from _run_check("the store: its file", partial(shape.damage, look))


def _apply_to_chain(
    look: Transaction, chain: str, check: Callable[[str, Iterable[EventRow]], Iterator[str]]
) -> Iterator[str]:
    yield from check(chain, events.walk(look, chain))


def _chain_breaches(look: Transaction, chain: str) -> Iterator[str]:
    lines = list(events.walk(look, chain))
    breach = check_chain(lines)
    if breach:
        yield f"{chain}: {breach}."
        return
    head = events.head(look, chain)
    if head != ((lines[-1].number, lines[-1].hash) if lines else None):
        yield f"{chain}: the chain was cut off after event {len(lines)}."


def _bank_breaches(look: Transaction) -> Iterator[str]:
    trail = list(events.walk(look, events.DEPLOYMENT))
    imported = _import_events(trail)
    for name in banks.names(look):
        event = imported.pop(name, None)
        yield from _run_check(f"bank {name}", partial(_breaches_of_bank, look, name, event))
    for bank in imported:
        yield f"bank {bank}: it was imported, and is missing."


_DEPLOYMENT_CHECKS: Mapping[str, Callable[[Transaction], Iterator[str]]] = {
    "the banks": _bank_breaches,
    "the deployment: its roles": check_deployment_roles,
    "the deployment": checks.check_deployment,
    "the deployment: its sign-ins": checks.check_sign_ins,
    "the backups": checks.check_backups,
    "the expert reviews": checks.check_reviews,
}


def _import_events(trail: _Trail) -> dict[str, EventRow]:
    """Return by bank the event that records its import from a file or a bundle.

    A removed bank has no such event, and its name may be reused.
    """
    by_bank: dict[str, EventRow] = {}
    for event in trail:
        if event.kind in (EventKind.BANK_IMPORTED, EventKind.BANK_RESTORED):
            if event.detail["bank"] in by_bank:
                raise ValueError(f"two events {quoted(event.kind)} of {event.detail['bank']}")
            by_bank[event.detail["bank"]] = event
        elif event.kind == EventKind.BANK_REMOVED:
            by_bank.pop(event.detail["bank"], None)
    return by_bank


def _breaches_of_bank_used(look: Transaction, study: str) -> list[str]:
    row = studies.find(look, study)
    if row is None:
        return []
    if extract.source_deployment(look):
        return list(_run_check(f"study {study}: its copy", partial(_copy_breaches, look, study)))
    name = row.bank_name
    event = _import_events(list(events.walk(look, events.DEPLOYMENT))).get(name)
    return list(_run_check(f"bank {name}", partial(_breaches_of_bank, look, name, event)))


def _breaches_of_bank(look: Transaction, name: str, event: EventRow | None) -> Iterator[str]:
    if event is None:
        yield f"bank {name}: it was inserted; no event records its import."
        return
    row = banks.bank_row(look, name)
    recorded = {**asdict(Provenance()), **event.detail, "imported_at_utc": event.at_utc}
    altered = differing_columns(
        {**banks.facts(row), "imported_at_utc": row.imported_at_utc}, recorded
    )
    if altered:
        yield f"bank {name}: {altered} altered since the import."
    sha256 = banks.content_sha256(look, row.id, simulated=bool(row.simulated))
    if sha256 != recorded["content_sha256"]:
        yield f"bank {name}: its items, options, films, reports or reference standard were altered."


def _copy_breaches(look: Transaction, name: str) -> Iterator[str]:
    """Check the items of a copy, which lacks parts that the bank's hash covers."""
    row = study_row(look, name)
    trail = events.walk(look, events.study_chain(name))
    copied = (event for event in trail if event.kind == EventKind.STUDY_COPIED)
    recorded = [event.detail["material_sha256"] for event in copied]
    if not recorded:
        yield f"study {name}: the store is marked as a copy, but no event records that."
    elif recorded[-1] != sha256_of(extract.hashed_rows(look, row.id)):
        yield f"study {name}: its items, films or reference standard were altered."


def _study_breaches(look: Transaction, name: str) -> Iterator[str]:
    row = studies.find(look, name)
    if row is None:
        yield f"study {name}: its bank is missing."
        return
    own_events = trails.own_trail(look, name)
    by_chain = {True: own_events, False: [*own_events, *trails.sites_trail(look, name)]}
    copied = bool(extract.source_deployment(look))
    for check_name, check in CHECKS.items():
        if copied and check_name in NOT_COPIED:
            continue
        trail = by_chain[check_name in CHECKED_BY_OWN_CHAIN]
        yield from _run_check(f"study {name}: {check_name}", partial(check, look, row, trail))


def _film_breaches(look: Transaction, name: str) -> Iterator[str]:
    row = studies.find(look, name)
    for film in studies.case_films(look, row.id) if row else ():
        try:
            sha256 = hashlib.sha256(film.file.read_bytes()).hexdigest()
        except OSError:
            yield f"study {name}: the film {film.file} cannot be read."
            continue
        if sha256 != film.sha256:
            yield f"study {name}: the film {film.file} is not the one that was imported."


MAX_CLOCK_SLIP = timedelta(minutes=2)
"""Shorter steps back are normal: processes read the clock before writing; clocks are adjusted."""


def _clock_breaches(chain: str, trail: Iterable[EventRow]) -> Iterator[str]:
    """Yield a line where times go back by over an hour without a recorded clock change."""
    for before, event, noted_at in _steps_back(trail):
        if not noted_at:
            yield (
                f"{chain}: event {event.number} ({event.kind}) is dated {event.at_utc}, "
                f"{_gap(before, event)} before event {before.number}."
            )


def _clock_remarks(chain: str, trail: Iterable[EventRow]) -> Iterator[str]:
    """Yield a line where times go back by less than an hour, or with a recorded clock change."""
    for before, event, noted_at in _steps_back(trail):
        if noted_at:
            yield (
                f"{chain}: the clock went back by {_gap(before, event)} at event "
                f"{event.number}, from {before.at_utc} to {event.at_utc}."
            )


def _steps_back(trail: Iterable[EventRow]) -> Iterator[tuple[EventRow, EventRow, bool]]:
    """Yield an event, the earlier-dated one after it, and whether the step back is explained.

    A step is explained if it is short, if the clock change was recorded, or by restoring a study.
    """
    events = list(trail)
    simulated = {e.detail["reader_id"] for e in events if e.kind == EventKind.READER_SIMULATED}
    restored_at = max((e.number for e in events if e.kind == EventKind.STUDY_RESTORED), default=0)
    before: EventRow | None = None
    for event in events:
        if event.actor in simulated:
            continue
        if before is not None and moment(event.at_utc) < moment(before.at_utc) - MAX_CLOCK_SLIP:
            is_short = moment(event.at_utc) >= moment(before.at_utc) - CLOCK_TOLERANCE
            recorded = event.kind == EventKind.CLOCK_WENT_BACK
            yield before, event, is_short or recorded or event.number <= restored_at
        before = event


def _gap(before: EventRow, event: EventRow) -> str:
    minutes = round((moment(before.at_utc) - moment(event.at_utc)).total_seconds() / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
