"""Restores a study from its bundle, or merges the bundle into a closed study as another site.

A restored study is identical to the original: rows keep their IDs and the chain keeps its hashes;
the event "study restored" is appended to the chain. Before the transaction is committed, the study
is verified against its chain and exported again; if the export differs from the bundle, the bundle
is refused. A restored study can be viewed, analysed, exported and merged, but reading cannot
continue, because films and access codes are not part of a bundle.

If several deployments use the same locked protocol, a merge adds the readers of another site and
their rows to the study. The site's chain is stored next to the study's chain, and both are
verified. If there are conflicts, all of them are listed and nothing is changed.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from study.base.actor import Acting
from study.base.bank_model import Item, Prior
from study.base.canonical import canonical_json, stamp
from study.base.errors import BadFile, NotNow
from study.base.text import LONGEST_NAME, formula_fault, name_fault, quoted, text_key
from study.base.translation import t
from study.exchange.bundle import RECORDS, Content, files_of, origin_deployment, tables_of
from study.exchange.received_bundle import PACKAGE, ReceivedBundle, receive, refuse
from study.models.models import key_of
from study.store import (
    Store,
    Transaction,
    archive,
    banks,
    events,
    judgements,
    models,
    people,
    studies,
)
from study.store.events import EventKind
from study.store.models import LATER_COLUMN_DEFAULTS
from study.store.studies import StudyRow, study_row
from study.trail.checks import opening_hashes
from study.trail.trails import merged_chains
from study.trail.verification import study_verdict

IDENTICAL_FILES = ("items.csv", "raters.csv", "readings.csv", "protocol.json", RECORDS)
"""Files that must be identical when a restored study is exported again."""

_OPTIONAL_IDENTICAL_FILES = frozenset({"open_answers.csv", "open_scores.csv"})
"""Further files that must be identical, but that not every bundle contains."""

OMITTED_PARTS = ("preparation", "practice", "films", "reports", "explanations", "names", "codes")
"""Parts of a study that a bundle does not contain."""

_STATES = ("open", "closed")
_ITEM_KEYS = (
    *("item_id", "question", "task", "category"),
    *("subcategory", "examination_id", "patient_id"),
)

_READER_ROW_KINDS = (
    *("reader", "assignment", "presentation", "aid_request", "reading"),
    *("reason", "intervention", "exclusion"),
)

_ModelContent = list[Any]
"""The version of a model, whether it is simulated, and its predictions.

Models are equal if these values are equal.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The result of restoring a study."""

    study: str
    bank: str
    state: str
    deployment_id: str
    n_readers: int
    n_readings: int
    n_models: int
    items_hashed: bool

    @property
    def note(self) -> str:
        """Return a note about the restored study; empty if there is none."""
        if self.items_hashed:
            return ""
        return t(
            "The study was opened by an earlier version, which kept no hash of its items: whether "
            "items.csv was edited cannot be detected."
        )


def restore(store: Store, bundle_path: Path, *, acting: Acting) -> Restored:
    """Restore a study from a bundle in a folder or a ZIP file, completely or not at all.

    Raises
    ------
    BadFile
        The bundle is inconsistent (all faults are listed), is not a bundle of Reading Room, or is
        blinded and its bank is missing from this store.
    NotNow
        A study of the same name exists, or the bundle's study was never opened.
    """
    bundle = receive(store, bundle_path)
    with store.change() as change:
        _refuse_state(change, bundle)
        bank = _find_or_add_bank(change, bundle, acting)
        row = _restore_within(change, bundle, bank, acting)
    return Restored(
        study=bundle.study,
        bank=row.bank_name,
        state=row.state,
        deployment_id=bundle.deployment_id,
        n_readers=len(bundle.carried.rows["reader"]),
        n_readings=len(bundle.carried.rows["reading"]),
        n_models=len(bundle.carried.rows["model"]) - len(bundle.carried.rows["withdrawn_model"]),
        items_hashed=bool(opening_hashes(bundle.chain)),
    )


def _restore_within(
    change: Transaction, bundle: ReceivedBundle, bank: int, acting: Acting
) -> StudyRow:
    """Restore a bundle's study with a bank of this store; refuse inconsistent bundles."""
    if opening_hashes(bundle.chain) and not (bundle.items_salt or bundle.blinded):
        refuse(bundle.name, [f"{PACKAGE} has no items_salt: the truth cannot be verified."])
    study = _add_study(change, bundle, bank)
    cases = _add_cases(change, bundle, bank, study)
    insert_rows(change, bundle, study, cases, bundle.carried.rows)
    events.insert_chain(change, events.study_chain(bundle.study), bundle.chain)
    for deployment_id, lines in bundle.sites.items():
        events.insert_chain(change, events.merged_chain(bundle.study, deployment_id), lines)
    _refuse_different_export(change, bundle)
    row = study_row(change, bundle.study)
    _record_restored(change, bundle, row.bank_name, acting)
    refuse(bundle.name, study_verdict(change, bundle.study).breaches)
    return row


def insert_rows(
    change: Transaction,
    bundle: ReceivedBundle,
    study: int,
    cases: Mapping[str, int],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    """Insert the rows of a bundle into a study that has its cases; replace names by row numbers.

    Raises
    ------
    BadFile
        A row refers to a missing row, or already exists.
    """
    known: dict[tuple[Any, ...], int] = {
        (name, item_id): number
        for item_id, number in cases.items()
        for name in ("item_id", "shown_item_id")
    }
    for kind, table in archive.KINDS.items():
        names = {name for columns in table.names for name in columns}
        for row in rows.get(kind, ()) if kind != "case" else ():
            stored = {key: value for key, value in row.items() if key not in names}
            if "study" in table.numbers:
                stored["study"] = study
            try:
                for columns, column in table.names.items():
                    name = archive.name_in(row, kind, columns)
                    stored[column] = None if name[0] is None else known[(columns[0], *name)]
                number = archive.insert(change, kind, stored)
            except (archive.UnfitRow, KeyError, TypeError) as error:
                raise BadFile(
                    f"{bundle.name}: a {kind} does not fit. Export the study again."
                ) from error
            if table.identifiers:
                identifiers = archive.name_in(row, kind, table.identifiers)
                known[(table.identifiers[0], *identifiers)] = number


def _refuse_state(look: Transaction, bundle: ReceivedBundle) -> None:
    name, state = bundle.study, bundle.carried.study.state
    fault = name_fault(name)
    if fault:
        raise BadFile(f"{bundle.name}: the name of the study {fault}.")
    if state not in _STATES:
        raise NotNow(f"The study {quoted(name)} was never opened; there is nothing to restore.")
    if studies.find(look, name):
        raise NotNow(f"A study named {quoted(name)} already exists; it was not changed.")
    if events.head(look, events.study_chain(name)).number:
        raise NotNow(f"The trail already contains events of a study named {quoted(name)}.")


def _find_or_add_bank(change: Transaction, bundle: ReceivedBundle, acting: Acting) -> int:
    """Return the study's bank if it exists here, or a new bank with the bundle's items."""
    content_sha256 = str(bundle.locked["bank_sha256"])
    existing = banks.by_content(change, content_sha256)
    if existing is not None:
        return existing
    if bundle.blinded:
        raise BadFile(
            f"{bundle.name} is blinded: it has no reference standard. Import the bank "
            f"{quoted(bundle.carried.study.bank)} first, or restore the bundle of the closed study."
        )
    return _add_bank(change, bundle, acting)


def _add_bank(change: Transaction, bundle: ReceivedBundle, acting: Acting) -> int:
    """Create a bank from a bundle's items, and return its number."""
    name = _unused_name(change, str(bundle.carried.study.bank))
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
        imported_at_utc=stamp(acting.now),
        **asdict(bundle.provenance),
    )
    _store_rows(bundle, lambda: banks.add_items(change, number, _bundle_items(bundle)))
    content_sha256 = banks.content_sha256(change, number, simulated=simulated)
    banks.set_content_hash(change, number, content_sha256)
    banks.add_marks(change, number, list(banks.bank_marks(change, number)))
    facts = banks.facts(banks.bank_row(change, name))
    detail = {**facts, "n_items": len(bundle.items)}
    events.record(change, "", acting, kind=EventKind.BANK_RESTORED, detail=detail)
    return number


def _unused_name(look: Transaction, name: str) -> str:
    names_taken = set(banks.names(look))
    names = (name, *(f"{name} ({number})" for number in range(2, len(names_taken) + 2)))
    return next(candidate for candidate in names if candidate not in names_taken)


def _bundle_items(bundle: ReceivedBundle) -> list[Item]:
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


def _add_study(change: Transaction, bundle: ReceivedBundle, bank: int) -> int:
    facts = bundle.carried.study
    return int(
        _store_rows(
            bundle,
            lambda: studies.add(
                change,
                name=bundle.study,
                bank=bank,
                protocol=canonical_json(bundle.locked),
                protocol_sha256=bundle.protocol_sha256,
                restored_from=f"{bundle.deployment_id}/{bundle.sha256}",
                items_salt=bundle.items_salt,
                state=facts.state,
                drawn_at_utc=facts.drawn_at_utc,
                opened_at_utc=facts.opened_at_utc,
                closed_at_utc=facts.closed_at_utc,
            ),
        )
    )


def _add_cases(
    change: Transaction, bundle: ReceivedBundle, bank: int, study: int
) -> dict[str, int]:
    def add() -> None:
        rows = bundle.carried.rows["case"]
        items = [banks.item_number(change, bank, row["item_id"]) for row in rows]
        drawn = [(row["number"], row["stratum"]) for row in rows]
        studies.add_cases(change, study, [(i, *d) for i, d in zip(items, drawn, strict=True)])

    _store_rows(bundle, add)
    return {row.item_id: row.id for row in studies.cases(change, study)}


def _store_rows(bundle: ReceivedBundle, write: Callable[[], Any]) -> Any:
    """Store rows of a bundle, or refuse the bundle if the store rejects them."""
    try:
        return archive.checking_constraints(write)
    except (archive.UnfitRow, KeyError, TypeError, ValueError) as error:
        raise BadFile(
            f"{bundle.name}: items or cases are inconsistent. Export the study again."
        ) from error


def _refuse_different_export(look: Transaction, bundle: ReceivedBundle) -> None:
    exported = files_of(
        look,
        bundle.study,
        Content(blinded=bundle.blinded, sets_by_look=bundle.sets_by_look),
        rules=bundle.rules,
    )
    refuse(
        bundle.name,
        [
            f"{name} contradicts {RECORDS} and the chain: it differs when exported again."
            for name in (*IDENTICAL_FILES, *_OPTIONAL_IDENTICAL_FILES.intersection(bundle.files))
            if exported.get(name) != bundle.files[name]
        ],
    )


def _record_restored(
    change: Transaction, bundle: ReceivedBundle, bank: str, acting: Acting
) -> None:
    events.record(
        change,
        bundle.study,
        acting,
        kind=EventKind.STUDY_RESTORED,
        detail={
            "deployment_id": bundle.deployment_id,
            "bundle_sha256": bundle.sha256,
            "bank": bank,
            "left_behind": list(OMITTED_PARTS),
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The result of a merge, with the added readers and models."""

    study: str
    deployment_id: str
    site: str
    readers: tuple[str, ...]
    models: tuple[str, ...]
    n_readings: int


def merge(store: Store, bundle_path: Path, *, study: str, site: str = "", acting: Acting) -> Merged:
    """Merge the bundle of another deployment into a study, completely or not at all.

    Parameters
    ----------
    site
        The site for readers in the bundle who have none; by default, the other deployment's ID.

    Raises
    ------
    NotFound
        The study does not exist.
    BadFile
        The bundle is inconsistent, or conflicts with the study; all conflicts are listed.
    """
    bundle = receive(store, bundle_path)
    site = site.strip() or bundle.deployment_id
    with store.look() as look:
        row = study_row(look, study)
        refuse(bundle.name, list(_conflicts(look, row, bundle, site)))
    _refuse_edited(bundle, acting)
    with store.change() as change:
        row = study_row(change, study)
        refuse(bundle.name, list(_conflicts(change, row, bundle, site)))
        editions = _new_editions(change, row.id, bundle)
        rows = _merged_rows(bundle, site, editions)
        cases = {row.item_id: row.id for row in studies.cases(change, row.id)}
        insert_rows(change, bundle, row.id, cases, rows)
        events.insert_chain(change, events.merged_chain(study, bundle.deployment_id), bundle.chain)
        merged = Merged(
            study=study,
            deployment_id=bundle.deployment_id,
            site=site,
            readers=tuple(row["reader_id"] for row in rows["reader"]),
            models=tuple(sorted(editions)),
            n_readings=len(rows["reading"]),
        )
        _record_merged(change, bundle, merged, editions, acting)
        refuse(bundle.name, study_verdict(change, study).breaches)
    return merged


def _refuse_edited(bundle: ReceivedBundle, acting: Acting) -> None:
    """Refuse a bundle whose tables contradict its records and its chain.

    Because a merge does not store the tables, the study is restored to a temporary store to check
    them.
    """
    with tempfile.TemporaryDirectory() as folder:
        scratch = Store.create(Path(folder) / "merge.db", lambda _: None, witnessed=False)
        with scratch.change() as change:
            _restore_within(change, bundle, _add_bank(change, bundle, acting), acting)


def _item_conflicts(look: Transaction, study: StudyRow, bundle: ReceivedBundle) -> Iterator[str]:
    """Yield a line for each column in which the bundle's items differ from the study's items."""
    content = Content(blinded=bundle.blinded, sets_by_look=bundle.sets_by_look)
    tables = tables_of(look, study, content)
    own_items = {str(row["item_id"]): row for row in tables["items.csv"]}
    incoming = {row["item_id"]: row for row in bundle.items}
    if own_items.keys() != incoming.keys():
        yield "items.csv: its items are not those of the study."
        return
    for column in next(iter(incoming.values()), {}):
        differing = [
            item_id
            for item_id, row in incoming.items()
            if row[column] != _cell(own_items[item_id].get(column))
        ]
        if differing:
            yield (
                f"items.csv: {column} differs from that of the study; items: {len(differing)}, "
                f"first {differing[0]}."
            )


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _conflicts(
    look: Transaction, study: StudyRow, bundle: ReceivedBundle, site: str
) -> Iterator[str]:
    name, other = study.name, bundle.deployment_id
    if bundle.protocol_sha256 != study.protocol_sha256:
        yield (
            f"it was read under a different protocol ({bundle.protocol_sha256[:12]}) than "
            f"{quoted(name)} ({study.protocol_sha256[:12]})."
        )
        return
    if study.state != "closed":
        yield f"the study {quoted(name)} is still {study.state}. Close it first."
    if bundle.carried.study.state != "closed":
        yield "the bundle was exported while its study was still open. Close it there first."
    if other == origin_deployment(look, study):
        yield f"it comes from the deployment in which {quoted(name)} itself was read ({other})."
    elif events.merged_chain(name, other) in merged_chains(look, name):
        yield f"the bundle of the deployment {other} was already merged."
    if bundle.sites:
        yield "it contains merged sites. Merge the bundle of each site separately."
    if bundle.carried.rows["scoring"] or judgements.scorings_of_study(look, study.id):
        yield "answers in words were scored before the sites were merged. Merge first, then score."
    if formula_fault(site):
        yield (
            f"the site {quoted(site[:LONGEST_NAME])} {formula_fault(site)}. Begin it with a letter."
        )
    if len(site) > LONGEST_NAME or not site.isprintable():
        yield (
            f"the site {quoted(site[:LONGEST_NAME])} is over {LONGEST_NAME} characters or has "
            "unprintable ones."
        )
    yield from _reader_conflicts(look, study, bundle)
    yield from _model_conflicts(look, study, bundle)
    own_amendments = _rows_of_kinds(look, study.id, ("amendment",))["amendment"]
    if [_number_and_changes(row) for row in own_amendments] != [
        _number_and_changes(row) for row in bundle.carried.rows["amendment"]
    ]:
        yield "its protocol has different amendments."
    shown = _rows_of_kinds(look, study.id, ("wrong_image", "aid"))
    if not bundle.blinded and any(shown[kind] != bundle.carried.rows[kind] for kind in shown):
        yield "its readers were shown different answers of the model or different wrong images."
    yield from _item_conflicts(look, study, bundle)


def _number_and_changes(amendment: Mapping[str, Any]) -> tuple[Any, Any]:
    return amendment["number"], amendment["changes"]


def _reader_conflicts(look: Transaction, study: StudyRow, bundle: ReceivedBundle) -> Iterator[str]:
    known_ids = {text_key(row.reader_id) for row in people.readers(look, study.id)}
    rated = {text_key(row.model_id) for row in models.of_study(look, study.id)}
    for row in bundle.carried.rows["reader"]:
        key = text_key(str(row["reader_id"]))
        if key in known_ids:
            yield f"the reader {row['reader_id']} is in both studies."
        if key in rated:
            yield f"its reader {row['reader_id']} has the name of a model in the study."
    for row in bundle.carried.rows["model"]:
        if text_key(str(row["model_id"])) in known_ids:
            yield f"its model {row['model_id']} has the name of a reader in the study."


def _model_conflicts(look: Transaction, study: StudyRow, bundle: ReceivedBundle) -> Iterator[str]:
    own_events = _rows_of_kinds(look, study.id, ("model", "prediction", "withdrawn_model"))
    models_here, withdrawn_here = _models_by_name(own_events)
    incoming, withdrawn_there = _models_by_name(bundle.carried.rows)
    keys = {text_key(name): name for name in models_here}
    for name in incoming:
        same = keys.get(text_key(name))
        if same is not None and (same != name or models_here[same] != incoming[name]):
            yield f"the model {name} is in both, with different predictions or a different version."
    for n_counted, withdrawn, place in (
        (incoming, withdrawn_here, "the study but not in the bundle"),
        (models_here, withdrawn_there, "the bundle but not in the study"),
    ):
        for name in sorted(n_counted):
            if (name, n_counted[name]) in withdrawn:
                yield f"the model {name} was withdrawn in {place}. Withdraw it in both."


def _rows_of_kinds(
    look: Transaction, study: int, kinds: Sequence[str]
) -> dict[str, list[Mapping[str, Any]]]:
    by_kind: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in kinds}
    for kind, row in archive.rows(look, study):
        if kind in by_kind:
            by_kind[kind].append(row)
    return by_kind


def _models_by_name(
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
) -> tuple[dict[str, _ModelContent], list[tuple[str, _ModelContent]]]:
    """Return the models in force by name, and a list of the withdrawn models."""
    by_key: dict[tuple[str, int], _ModelContent] = {
        key_of(row): [row["model_version"], row["simulated"]] for row in rows["model"]
    }
    for row in rows["prediction"]:
        later = [row.get(column, plain) for column, plain in LATER_COLUMN_DEFAULTS.items()]
        by_key[key_of(row)].append([row["item_id"], row["answer"], row["status"], *later])
    withdrawn = {key_of(row) for row in rows["withdrawn_model"]}
    return (
        {key[0]: content for key, content in by_key.items() if key not in withdrawn},
        [(key[0], content) for key, content in by_key.items() if key in withdrawn],
    )


def _new_editions(look: Transaction, study: int, bundle: ReceivedBundle) -> dict[str, int]:
    """Return the bundle's models that are not in the study, with their new edition numbers."""
    known_ids = {row.model_id for row in models.of_study(look, study)}
    incoming, _ = _models_by_name(bundle.carried.rows)
    return {
        name: models.next_edition(look, study, name) for name in incoming if name not in known_ids
    }


def _merged_rows(
    bundle: ReceivedBundle, site: str, editions: Mapping[str, int]
) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of a bundle to be added to the study, without those of withdrawn models."""
    carried = bundle.carried.rows
    joining: dict[str, Sequence[Mapping[str, Any]]] = {
        kind: carried[kind] for kind in _READER_ROW_KINDS
    }
    joining["reader"] = [{**row, "site": row["site"] or site} for row in carried["reader"]]
    withdrawn = {key_of(row) for row in carried["withdrawn_model"]}
    for kind in ("model", "prediction"):
        joining[kind] = [
            {**row, "edition": editions[row["model_id"]]}
            for row in carried[kind]
            if row["model_id"] in editions and key_of(row) not in withdrawn
        ]
    return joining


def _record_merged(
    change: Transaction,
    bundle: ReceivedBundle,
    merged: Merged,
    editions: Mapping[str, int],
    acting: Acting,
) -> None:
    later_editions = {name: number for name, number in editions.items() if number > 1}
    events.record(
        change,
        merged.study,
        acting,
        kind=EventKind.SITE_MERGED,
        detail={
            "deployment_id": merged.deployment_id,
            "study": bundle.study,
            "site": merged.site,
            "readers": list(merged.readers),
            "models": list(merged.models),
            **({"editions": later_editions} if later_editions else {}),
            "bundle_sha256": bundle.sha256,
            "last_event": bundle.chain[-1].number,
            "last_event_hash": bundle.chain[-1].hash,
        },
    )
