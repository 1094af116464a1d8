"""Restores a study from its bundle: in another deployment, as it was, to the last byte.

Rows keep their ids and the chain its hashes; "study restored" is appended to it. Before anything is
kept, the restored study is verified against its chain and exported again: what differs from the
bundle refuses it. A restored study is looked at, analysed, exported and merged. It is not read on:
its films and its readers' codes stayed where it came from.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from study.base.actor import By
from study.base.bank_model import Item, Prior
from study.base.canonical import canonical_json, stamp
from study.base.errors import BadFile, NotNow
from study.base.text import name_fault
from study.exchange.bundle import files_of
from study.exchange.incoming import Received, receive
from study.exchange.records_file import FILE, LEFT_BEHIND, refuse
from study.store import Store, Transaction, archive, banks, events, studies
from study.store.events import EventKind
from study.store.studies import study_row
from study.trail.verification import study_verdict

SAME = ("items.csv", "raters.csv", "readings.csv", "protocol.json", FILE)
"""Files that a restored study exports byte for byte as they came."""

_WHERE_THERE = frozenset({"open_answers.csv", "open_scores.csv"})
"""The same of files that only some bundles have."""

_STATES = ("open", "closed")
_ITEM_KEYS = (
    "item_id",
    "question",
    "task",
    "category",
    "subcategory",
    "examination_id",
    "patient_id",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was restored, and from where."""

    study: str
    bank: str
    state: str
    deployment_id: str
    n_readers: int
    n_readings: int
    n_models: int


def restore(store: Store, bundle_path: Path, *, by: By, now: datetime) -> Restored:
    """Restore a study from a bundle, a folder or a zip: all of it or nothing.

    Raises
    ------
    BadFile
        The bundle does not hold; every fault found is listed. Or it lacks what is needed: it is
        not ours, or blinded and its bank is not here.
    NotNow
        A study of that name is here, or the bundle's study was never opened.
    """
    bundle = receive(store, bundle_path)
    with store.change() as change:
        _refuse_state(change, bundle)
        bank = _bank(change, bundle, by, now)
        study = _study(change, bundle, bank)
        cases = _cases(change, bundle, bank, study)
        insert_rows(change, bundle, study, cases, bundle.carried.rows)
        events.adopt(change, events.study_chain(bundle.study), bundle.chain)
        for deployment_id, lines in bundle.sites.items():
            events.adopt(change, events.merged_chain(bundle.study, deployment_id), lines)
        _refuse_unlike(change, bundle)
        row = study_row(change, bundle.study)
        _record(change, bundle, row.bank_name, by, now)
        refuse(bundle.name, study_verdict(change, bundle.study).breaches)
    return Restored(
        study=bundle.study,
        bank=row.bank_name,
        state=row.state,
        deployment_id=bundle.deployment_id,
        n_readers=len(bundle.carried.rows["reader"]),
        n_readings=len(bundle.carried.rows["reading"]),
        n_models=len(bundle.carried.rows["model"]) - len(bundle.carried.rows["withdrawn_model"]),
    )


def insert_rows(
    change: Transaction,
    bundle: Received,
    study: int,
    cases: Mapping[str, int],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    """Insert the rows of a bundle into a study whose cases are there, names put into numbers.

    Raises
    ------
    BadFile
        A row does not fit: what it refers to is missing, or it is there already.
    """
    known: dict[tuple[Any, ...], int] = {
        ("item_id", item_id): number for item_id, number in cases.items()
    }
    for kind, of in archive.KINDS.items():
        names = {name for columns in of.names for name in columns}
        for row in rows.get(kind, ()) if kind != "case" else ():
            stored = {key: value for key, value in row.items() if key not in names}
            if "study" in of.numbers:
                stored["study"] = study
            try:
                for columns, column in of.names.items():
                    name = archive.name_in(row, kind, columns)
                    stored[column] = None if name[0] is None else known[(columns[0], *name)]
                number = archive.insert(change, kind, stored)
            except (archive.UnfitRow, KeyError, TypeError) as error:
                raise BadFile(f"{bundle.name}: a {kind} does not fit: {error}.") from error
            if of.called:
                known[(of.called[0], *archive.name_in(row, kind, of.called))] = number


def _refuse_state(look: Transaction, bundle: Received) -> None:
    name, state = bundle.study, bundle.carried.study.state
    fault = name_fault(name)
    if fault:
        raise BadFile(f"{bundle.name}: the name of the study {fault}.")
    if state not in _STATES:
        raise NotNow(f"The study {name!r} was never opened; there is nothing to restore.")
    if studies.find(look, name):
        raise NotNow(f"A study named {name!r} is already here. It is left as it is.")
    if events.head(look, events.study_chain(name)).number:
        raise NotNow(f"Events of a study named {name!r} are already here.")


def _bank(change: Transaction, bundle: Received, by: By, now: datetime) -> int:
    """Return the study's bank: the one it was drawn from where that is here, or what was drawn."""
    wanted = str(bundle.locked["bank_sha256"])
    there = banks.by_content(change, wanted)
    if there is not None:
        return there
    if bundle.blinded:
        raise BadFile(
            f"{bundle.name} is blinded: the reference standard is not in it. Import the bank "
            f"{bundle.carried.study.bank!r} here first, or restore the bundle of the closed "
            "study."
        )
    name = _free_name(change, str(bundle.carried.study.bank))
    simulated = bool(bundle.carried.study.simulated_films)
    number = banks.add(
        change,
        name=name,
        format=banks.FROM_BUNDLE,
        source_name=bundle.name,
        source_sha256=bundle.sha256,
        content_sha256="",
        images_root="",
        simulated=int(simulated),
        imported_at_utc=stamp(now),
        **asdict(bundle.provenance),
    )
    _fitting(bundle, lambda: banks.add_items(change, number, _items(bundle)))
    content_sha256 = banks.content_sha256(change, number, simulated=simulated)
    banks.set_content_hash(change, number, content_sha256)
    facts = banks.facts(banks.bank_row(change, name))
    detail = {**facts, "n_items": len(bundle.items)}
    events.record(change, "", now, kind=EventKind.BANK_RESTORED, detail=detail, by=by)
    return number


def _free_name(look: Transaction, name: str) -> str:
    taken, number, found = set(banks.names(look)), 1, name
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found


def _items(bundle: Received) -> list[Item]:
    shown = {row["item_id"]: row for row in bundle.carried.rows["case"]}
    return [
        Item(
            **{key: row[key] for key in _ITEM_KEYS},
            options=tuple(json.loads(row["options"])),
            truth=row["truth"] or None,
            age=case["age"],
            sex=case["sex"],
            views=(),
            report={key: case[key] for key in ("indication", "comparison") if key in case},
            explanation="",
            attributes={},
            origin=case.get("origin", ""),
            priors=tuple(
                Prior(path="", label="", days=None if days == "?" else int(days))
                for days in (case.get("prior_days") or "").split("|")
                if days
            ),
        )
        for row in bundle.items
        for case in (shown[row["item_id"]],)
    ]


def _study(change: Transaction, bundle: Received, bank: int) -> int:
    told = bundle.carried.study
    return int(
        _fitting(
            bundle,
            lambda: studies.add(
                change,
                name=bundle.study,
                bank=bank,
                protocol=canonical_json(bundle.locked),
                protocol_sha256=bundle.protocol_sha256,
                restored_from=f"{bundle.deployment_id}/{bundle.sha256}",
                state=told.state,
                drawn_at_utc=told.drawn_at_utc,
                opened_at_utc=told.opened_at_utc,
                closed_at_utc=told.closed_at_utc,
            ),
        )
    )


def _cases(change: Transaction, bundle: Received, bank: int, study: int) -> dict[str, int]:
    def add() -> None:
        rows = bundle.carried.rows["case"]
        items = [banks.item_number(change, bank, row["item_id"]) for row in rows]
        drawn = [(row["number"], row["stratum"]) for row in rows]
        studies.add_cases(change, study, [(i, *d) for i, d in zip(items, drawn, strict=True)])

    _fitting(bundle, add)
    return {row.item_id: row.id for row in studies.cases(change, study)}


def _fitting(bundle: Received, write: Callable[[], Any]) -> Any:
    """Write what a bundle says, or refuse it where it says what no store would hold."""
    try:
        return archive.fitting(write)
    except (archive.UnfitRow, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{bundle.name}: items or cases do not fit: {error}.") from error


def _refuse_unlike(look: Transaction, bundle: Received) -> None:
    again = files_of(look, bundle.study, blinded=bundle.blinded, guard=bundle.guarded)
    refuse(
        bundle.name,
        [
            f"{name} says something else than {FILE} and the chain: exported again it differs."
            for name in (*SAME, *_WHERE_THERE.intersection(bundle.files))
            if again.get(name) != bundle.files[name]
        ],
    )


def _record(change: Transaction, bundle: Received, bank: str, by: By, now: datetime) -> None:
    events.record(
        change,
        bundle.study,
        now,
        kind=EventKind.STUDY_RESTORED,
        detail={
            "deployment_id": bundle.deployment_id,
            "bundle_sha256": bundle.sha256,
            "bank": bank,
            "left_behind": list(LEFT_BEHIND),
        },
        by=by,
    )
