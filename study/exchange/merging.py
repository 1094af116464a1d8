"""Merges another site's bundle into a closed study: several deployments, one locked protocol.

The other site's readers and their rows are added to the study's own; its chain is kept whole beside
the study's own, and verification walks both. What cannot stand side by side is refused by name,
every conflict at once, and nothing is changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from study.base.actor import By
from study.base.text import LONGEST, formula_fault, name_key
from study.exchange.incoming import Received, receive
from study.exchange.records_file import origin, refuse
from study.exchange.restoring import insert_rows
from study.models.withdrawals import key_of
from study.store import Store, Transaction, archive, events, judgements, models, people, studies
from study.store.events import EventKind
from study.store.models import PLAIN
from study.store.studies import StudyRow, study_row
from study.trail.trails import merged_chains
from study.trail.verification import study_verdict

_OF_READERS = (
    "reader",
    "assignment",
    "presentation",
    "reading",
    "reason",
    "intervention",
    "exclusion",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What was merged: the readers added, and the models that were not there before."""

    study: str
    deployment_id: str
    site: str
    readers: tuple[str, ...]
    models: tuple[str, ...]
    n_readings: int


def merge(
    store: Store, bundle_path: Path, *, study: str, site: str = "", by: By, now: datetime
) -> Merged:
    """Merge the bundle of another deployment into a study: all of it or nothing.

    Parameters
    ----------
    site
        Where the bundle's readers read, for those who have no site yet; the other deployment's id
        where it is empty.

    Raises
    ------
    NotFound
        No such study.
    BadFile
        The bundle does not hold, or conflicts with the study; every conflict is named.
    """
    bundle = receive(store, bundle_path)
    site = site.strip() or bundle.deployment_id
    with store.change() as change:
        found = study_row(change, study)
        refuse(bundle.name, list(_conflicts(change, found, bundle, site)))
        editions = _new_models(change, found.id, bundle)
        rows = _rows(bundle, site, editions)
        cases = {row.item_id: row.id for row in studies.cases(change, found.id)}
        insert_rows(change, bundle, found.id, cases, rows)
        events.adopt(change, events.merged_chain(study, bundle.deployment_id), bundle.chain)
        done = Merged(
            study=study,
            deployment_id=bundle.deployment_id,
            site=site,
            readers=tuple(row["reader_id"] for row in rows["reader"]),
            models=tuple(sorted(editions)),
            n_readings=len(rows["reading"]),
        )
        _record(change, bundle, done, editions, by, now)
        refuse(bundle.name, study_verdict(change, study).breaches)
    return done


def _conflicts(look: Transaction, study: StudyRow, bundle: Received, site: str) -> Iterator[str]:
    name, other = study.name, bundle.deployment_id
    if bundle.protocol_sha256 != study.protocol_sha256:
        yield (
            f"it was read under another protocol ({bundle.protocol_sha256[:12]}) than {name!r} "
            f"({study.protocol_sha256[:12]})."
        )
        return
    if study.state != "closed":
        yield f"the study {name!r} is still {study.state}. Close it first."
    if bundle.carried.study.state != "closed":
        yield "the bundle was exported while its study was still open. Close it there first."
    if other == origin(look, study):
        yield f"it comes from the deployment that {name!r} was read in itself ({other})."
    elif events.merged_chain(name, other) in merged_chains(look, name):
        yield f"the bundle of the deployment {other} was merged already."
    if bundle.sites:
        yield "it holds other sites itself. Merge the bundle of each site, one by one."
    if bundle.carried.rows["scoring"] or judgements.scorings_of_study(look, study.id):
        yield "answers in words were scored before the sites were merged. Merge first, then score."
    if formula_fault(site):
        yield f"the site {site[:LONGEST]!r} {formula_fault(site)}. Begin it with a letter."
    if len(site) > LONGEST or not site.isprintable():
        yield f"the site {site[:LONGEST]!r} has more than {LONGEST} signs, or unprintable ones."
    yield from _reader_conflicts(look, study, bundle)
    yield from _model_conflicts(look, study, bundle)
    own = _of_kinds(look, study.id, ("amendment",))["amendment"]
    if [_changes(row) for row in own] != [
        _changes(row) for row in bundle.carried.rows["amendment"]
    ]:
        yield "its protocol was amended otherwise."


def _changes(amendment: Mapping[str, Any]) -> tuple[Any, Any]:
    return amendment["number"], amendment["changes"]


def _reader_conflicts(look: Transaction, study: StudyRow, bundle: Received) -> Iterator[str]:
    taken = {name_key(row.reader_id) for row in people.readers(look, study.id)}
    rated = {name_key(row.model_id) for row in models.of_study(look, study.id)}
    for row in bundle.carried.rows["reader"]:
        key = name_key(str(row["reader_id"]))
        if key in taken:
            yield f"the reader {row['reader_id']} is in both."
        if key in rated:
            yield f"its reader {row['reader_id']} has the name of a model here."
    for row in bundle.carried.rows["model"]:
        if name_key(str(row["model_id"])) in taken:
            yield f"its model {row['model_id']} has the name of a reader here."


def _model_conflicts(look: Transaction, study: StudyRow, bundle: Received) -> Iterator[str]:
    own = _of_kinds(look, study.id, ("model", "prediction", "withdrawn_model"))
    here, gone_here = _by_model(own)
    there, gone_there = _by_model(bundle.carried.rows)
    keys = {name_key(name): name for name in here}
    for name in there:
        same = keys.get(name_key(name))
        if same is not None and (same != name or here[same] != there[name]):
            yield f"the model {name} is in both, with other predictions or another version."
    for standing, gone, where in ((there, gone_here, "here"), (here, gone_there, "there")):
        for name in sorted(standing):
            if (name, standing[name]) in gone:
                yield (
                    f"the model {name} was withdrawn {where}, and counts in the other. "
                    "Withdraw it in both."
                )


def _of_kinds(
    look: Transaction, study: int, kinds: Sequence[str]
) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in kinds}
    for kind, row in archive.rows(look, study):
        if kind in found:
            found[kind].append(row)
    return found


_Same = list[Any]
"""What makes a model the same model: its version, its mark, its predictions."""


def _by_model(
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
) -> tuple[dict[str, _Same], list[tuple[str, _Same]]]:
    """Return the models that stand, by name, and those that were withdrawn."""
    found: dict[tuple[str, int], _Same] = {
        key_of(row): [row["model_version"], row["simulated"]] for row in rows["model"]
    }
    for row in rows["prediction"]:
        later = [row.get(column, plain) for column, plain in PLAIN.items()]
        found[key_of(row)].append([row["item_id"], row["answer"], row["status"], *later])
    gone = {key_of(row) for row in rows["withdrawn_model"]}
    return (
        {key[0]: same for key, same in found.items() if key not in gone},
        [(key[0], same) for key, same in found.items() if key in gone],
    )


def _new_models(look: Transaction, study: int, bundle: Received) -> dict[str, int]:
    """Return the bundle's models that are not here, and which of their name each one becomes."""
    here = {row.model_id for row in models.of_study(look, study)}
    there, _ = _by_model(bundle.carried.rows)
    return {name: models.next_edition(look, study, name) for name in there if name not in here}


def _rows(
    bundle: Received, site: str, editions: Mapping[str, int]
) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of a bundle that join the study's own; withdrawn models stay behind."""
    carried = bundle.carried.rows
    joining: dict[str, Sequence[Mapping[str, Any]]] = {kind: carried[kind] for kind in _OF_READERS}
    joining["reader"] = [{**row, "site": row["site"] or site} for row in carried["reader"]]
    gone = {key_of(row) for row in carried["withdrawn_model"]}
    for kind in ("model", "prediction"):
        joining[kind] = [
            {**row, "edition": editions[row["model_id"]]}
            for row in carried[kind]
            if row["model_id"] in editions and key_of(row) not in gone
        ]
    return joining


def _record(
    change: Transaction,
    bundle: Received,
    done: Merged,
    editions: Mapping[str, int],
    by: By,
    now: datetime,
) -> None:
    later_ones = {name: number for name, number in editions.items() if number > 1}
    events.record(
        change,
        done.study,
        now,
        kind=EventKind.SITE_MERGED,
        detail={
            "deployment_id": done.deployment_id,
            "study": bundle.study,
            "site": done.site,
            "readers": list(done.readers),
            "models": list(done.models),
            **({"editions": later_ones} if later_ones else {}),
            "bundle_sha256": bundle.sha256,
            "last_event": bundle.chain[-1].number,
            "last_event_hash": bundle.chain[-1].hash,
        },
        by=by,
    )
