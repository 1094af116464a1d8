"""Exports a study as a bundle: a Frictionless Data Package, the only link to the analysis.

Readers stand in it under their study codes. Options are mapped back to the canonical order. The
same store always gives the same bytes.

A blinded bundle lacks the reference standard: who may not see accuracy yet can look at agreement
and times in it.
"""

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from study.base.canonical import canonical_json
from study.base.errors import BadFile
from study.base.text import csv_bytes
from study.exchange import records_file
from study.exchange.preparation_tables import preparation_tables
from study.exchange.schemas import Column, columns_in
from study.lifecycle.scoring import score_rows, scored_items
from study.models.rereading import read_otherwise
from study.models.withdrawals import Withdrawn, withdrawn_in
from study.monitoring.interventions import excluded_readings
from study.protocol.protocol import Condition, stored_protocol
from study.reading.records import shown
from study.store import (
    Store,
    Transaction,
    banks,
    events,
    judgements,
    models,
    people,
    readings,
    studies,
)
from study.store.events import EventRow
from study.store.studies import StudyRow, study_row
from study.trail.trails import merged_chains

ZIP_DATE = (1980, 1, 1, 0, 0, 0)


GUARDED = "cells_guarded"
"""What ``datapackage.json`` says of a bundle whose cells `study.base.text` wrote."""

Tables = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of a bundle's tables by the table's file."""


def tables_of(
    look: Transaction, study: StudyRow, *, blinded: bool, texts: bool = True
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables of a study's bundle.

    Parameters
    ----------
    texts
        With questions, options, and what readers and models said in their own words, which may
        repeat them. Without, items that offer the same options are still known by their
        `option_set`.
    """
    tables = {
        "items.csv": list(_items(look, study.id, blinded)),
        "raters.csv": list(_raters(look, study.id)),
        "readings.csv": [*_reader_readings(look, study), *_model_readings(look, study.id)],
        **preparation_tables(look, study),
    }
    if by_rules := list(_by_rules(look, study)):
        tables["answers_by_rules.csv"] = by_rules
    if words := list(_open_answers(look, study)):
        tables["open_answers.csv"] = words
    if scores := list(score_rows(look, study.id)):
        tables["open_scores.csv"] = scores
    if not texts:
        for row in words:
            row["words"] = None
        for row in scores:
            row["comment"] = None
        sets = {"": ""}
        for row in tables["items.csv"]:
            name = sets.setdefault(row["option_set"], f"options {len(sets)}")
            row |= {"question": None, "options": None, "option_set": name}
        models = {row["rater_id"] for row in tables["raters.csv"] if row["rater_kind"] == "model"}
        for row in tables["readings.csv"]:
            if row["rater_id"] in models:
                row["raw_answer"] = None
    return tables


def bundle_files(
    store: Store, study: str, *, blinded: bool = False, trails: bool = True
) -> dict[str, bytes]:
    """Return every file of a study's bundle by name; without its trails, what the analysis asks."""
    with store.look() as look:
        return files_of(look, study, blinded=blinded, trails=trails)


def files_of(
    look: Transaction,
    study: str,
    *,
    blinded: bool = False,
    tables: Tables | None = None,
    guard: bool = True,
    trails: bool = True,
    texts: bool = True,
) -> dict[str, bytes]:
    """Return the files of a study's bundle as a transaction sees it.

    Parameters
    ----------
    tables
        What `tables_of` returned for it, where that is at hand.
    guard
        Whether text that a spreadsheet would take for a formula is kept from it; bundles once were
        made without.
    trails
        Whether the chains and the records as they came are in it: nine tenths of a large bundle.
    texts
        As in `tables_of`; without them the records are not in it either.
    """
    found = study_row(look, study)
    chain = events.study_chain(study)
    passed = 0 if trails else events.head(look, chain).number - 1
    trail = list(events.walk(look, chain, after=passed))
    amended = [one._asdict() for one in studies.amendments(look, found.id)]
    tables = tables or tables_of(look, found, blinded=blinded, texts=texts)
    files = {
        name: table_bytes(columns_in(name, rows), rows, guard=guard)
        for name, rows in tables.items()
    }
    files["protocol.json"] = _pretty(
        {
            "sha256": found.protocol_sha256,
            "locked": json.loads(found.protocol),
            "amendments": amended,
            "in_force": _in_force(found),
        }
    )
    if trails:
        if texts:
            files[records_file.FILE] = records_file.records(look, found)
        files["audit.jsonl"] = _lines(trail)
        for chain, told in merged_chains(look, study).items():
            files[audit_file(told["deployment_id"])] = _lines(events.walk(look, chain))
    gone = withdrawn_in(look, found)
    provenance = banks.bank_row(look, found.bank_name).provenance
    package = _package(found, trail, files, tables, blinded, gone)
    package["reading_room"]["texts"] = texts
    if drawn := scored_items(look, found.id):
        package["reading_room"]["scored_items"] = drawn
    package["reading_room"]["bank"] = {"name": found.bank_name, **asdict(provenance)}
    files["datapackage.json"] = _pretty({**provenance.in_package(found.bank_name), **package})
    return files


_SINCE = frozenset(
    {
        "bundle_extras",
        "fault_marks",
        "required_views",
        "age",
        "unknown_age",
        "sex",
        "without_flags",
        "only_items",
        "without_items",
    }
)
"""Keys of the protocol that bundles once did not have."""


def _in_force(study: StudyRow) -> dict[str, Any]:
    """Return the protocol in force; what came after bundles were first restored, only if it is set.

    A bundle made before says nothing of it, and is restored to the same bytes.
    """
    values = stored_protocol(study).in_full()
    return {key: value for key, value in values.items() if key not in _SINCE or value}


def audit_file(deployment_id: str) -> str:
    """Return the name of the file that holds a merged site's chain."""
    return f"audit-{deployment_id}.jsonl"


def _lines(trail: Iterable[EventRow]) -> bytes:
    return "".join(canonical_json(event._asdict()) + "\n" for event in trail).encode()


def export(store: Store, *, study: str, out: Path, texts: bool = True) -> tuple[str, ...]:
    """Write a study's bundle to a folder, or to one file where `out` ends in ``.zip``.

    Parameters
    ----------
    texts
        As in `tables_of`.

    Raises
    ------
    BadFile
        Something lies at `out` already, or it cannot be written; nothing half-done is left.
    """
    with store.look() as look:
        files = files_of(look, study, texts=texts)
    try:
        _write(Path(os.path.realpath(out)), files, as_zip=out.suffix == ".zip")
    except OSError as error:
        raise BadFile(f"{out} cannot be written: {error.strerror or error}.") from error
    return tuple(files)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return the files as one zip archive with the same bytes every time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, files[name])
    return buffer.getvalue()


def _write(out: Path, files: Mapping[str, bytes], *, as_zip: bool) -> None:
    if out.exists() and (as_zip or not out.is_dir() or any(out.iterdir())):
        raise BadFile(f"{out} is already there. Name a new folder (or .zip), or empty it.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
        made = Path(scratch) / "bundle"
        if as_zip:
            made.write_bytes(zipped(files))
        else:
            made.mkdir()
            for name, content in files.items():
                (made / name).write_bytes(content)
            if out.is_dir():
                out.rmdir()
        made.rename(out)


def _items(look: Transaction, study: int, blinded: bool) -> Iterator[dict[str, Any]]:
    rows = banks.items_of_study(look, study)
    sets = Counter(row.options for row in rows)
    for row in rows:
        options = json.loads(row.options)
        yield {
            **{name: value for name, value in row._asdict().items() if name != "origin"},
            "bank": row.origin or None,
            "truth": None if blinded else row.truth,
            "n_options": len(options),
            "option_set": " | ".join(options) if sets[row.options] > 1 else "",
        }


def label_of(rater_id: str, *, simulated: bool) -> str:
    """Return a rater's label; what was simulated says so wherever it appears."""
    return f"{rater_id} (simulated)" if simulated else rater_id


def _raters(look: Transaction, study: int) -> Iterator[dict[str, Any]]:
    for row in people.readers(look, study):
        yield {
            "rater_id": row.reader_id,
            "rater_kind": "reader",
            "label": label_of(row.reader_id, simulated=bool(row.simulated)),
            "level": row.level,
            "years": row.years,
            "site": row.site,
        }
    for model in models.of_study(look, study):
        yield {
            "rater_id": model.model_id,
            "rater_kind": "model",
            "label": label_of(model.model_id, simulated=bool(model.simulated)),
            "model_version": model.model_version,
        }


def _reader_readings(look: Transaction, study: StudyRow) -> Iterator[dict[str, Any]]:
    set_aside = excluded_readings(look, study)
    for row in readings.of_study(look, study.id):
        if row["condition"] == Condition.OPEN_ENDED:
            continue
        answer, order = row["answer"], row["shown_order"]
        yield {
            **{key: row[key] for key in _READING_KEYS},
            "rater_id": row["reader_id"],
            "answered_at_utc": row["received_at_utc"],
            "raw_answer": row["reason"] if answer is None else shown(answer, order),
            "flags": _flags(row),
            "excluded": set_aside.get(row["id"]),
        }


def _flags(row: Mapping[str, Any]) -> str:
    return " ".join("_".join(flag.split()) for flag in json.loads(row["flags"]))


def _open_answers(look: Transaction, study: StudyRow) -> Iterator[dict[str, Any]]:
    """Yield answers to open-ended cases, and models' explanations: neither is a letter."""
    said = judgements.open_answers_of_study(look, study.id)
    rows = {row["id"]: row for row in readings.of_study(look, study.id)} if said else {}
    set_aside = excluded_readings(look, study) if said else {}
    for one in said:
        reading = rows.get(one.answer_id)
        yield {
            **one._asdict(),
            "flags": _flags(reading) if reading else None,
            "excluded": set_aside.get(one.answer_id),
        }


_READING_KEYS = (
    "item_id",
    "answer",
    "condition",
    "session",
    "repeat",
    "position",
    "status",
    "confidence",
    "response_ms",
    "elapsed_ms",
    "hidden_ms",
    "paused_ms",
    "presented_at_utc",
    "timing_source",
    "shown_order",
)


def _model_readings(look: Transaction, study: int) -> Iterator[dict[str, Any]]:
    for model in models.of_study(look, study):
        for row in models.predictions(look, model.id):
            if row.condition == Condition.OPEN_ENDED:
                continue
            yield {
                "rater_id": model.model_id,
                **row._asdict(),
                "repeat": row.repeat if row.run else None,
                "shown_order": json.loads(row.detail).get("order"),
                "timing_source": "simulated" if model.simulated else None,
            }


def _by_rules(look: Transaction, study: StudyRow) -> Iterator[dict[str, Any]]:
    for model, one, by_rules in read_otherwise(look, study):
        yield {
            "rater_id": model.model_id,
            "item_id": one.item_id,
            "condition": one.condition,
            "run": one.run,
            **by_rules,
        }


def table_bytes(
    columns: Sequence[Column], rows: Iterable[Mapping[str, Any]], *, guard: bool = True
) -> bytes:
    """Return a table as CSV in UTF-8: a header, then one line a row, null as an empty cell."""
    names = [column.name for column in columns]
    return csv_bytes(names, ([row.get(name) for name in names] for row in rows), guard=guard)


def _pretty(value: Any) -> bytes:
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False)
    return (text + "\n").encode("utf-8", "replace")


def _package(
    study: StudyRow,
    trail: Sequence[EventRow],
    files: Mapping[str, bytes],
    tables: Tables,
    blinded: bool,
    gone: Sequence[Withdrawn],
) -> dict[str, Any]:
    return {
        "profile": "data-package",
        "name": "reading-room-bundle",
        "title": study.name,
        "created": trail[-1].at_utc,
        "reading_room": {
            "state": study.state,
            "protocol_sha256": study.protocol_sha256,
            "amendments": len(json.loads(study.amendments)),
            "last_event": trail[-1].number,
            "last_event_hash": trail[-1].hash,
            "simulated_films": bool(study.simulated_films),
            "blinded": blinded,
            GUARDED: True,
            "withdrawn_models": [asdict(one) for one in gone],
            "confidence_means": "answer",
        },
        "resources": [_resource(name, files[name], tables.get(name)) for name in files],
    }


def _resource(
    name: str, content: bytes, rows: Sequence[Mapping[str, Any]] | None
) -> dict[str, Any]:
    resource: dict[str, Any] = {
        "name": name.replace(".", "-"),
        "path": name,
        "format": name.rpartition(".")[2],
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }
    if rows is None:
        return {**resource, "type": "json" if name.endswith(".json") else "file"}
    return {
        **resource,
        "type": "table",
        "mediatype": "text/csv",
        "rows": len(rows),
        "schema": {
            "fields": [column.field() for column in columns_in(name, rows)],
            "missingValues": [""],
            **_KEYS[name],
        },
    }


def _refers(*keys: str) -> list[dict[str, Any]]:
    resources = {
        "rater_id": "raters-csv",
        "item_id": "items-csv",
        "answer_id": "open_answers-csv",
    }
    return [
        {"fields": [key], "reference": {"resource": resources[key], "fields": [key]}}
        for key in keys
    ]


_KEYS: Mapping[str, Mapping[str, Any]] = {
    "items.csv": {"primaryKey": ["item_id"]},
    "raters.csv": {"primaryKey": ["rater_id"]},
    "readings.csv": {"foreignKeys": _refers("rater_id", "item_id")},
    "questionnaire.csv": {
        "primaryKey": ["rater_id", "question_id"],
        "foreignKeys": _refers("rater_id"),
    },
    "display_checks.csv": {
        "primaryKey": ["rater_id", "sign_in"],
        "foreignKeys": _refers("rater_id"),
    },
    "answers_by_rules.csv": {
        "primaryKey": ["rater_id", "item_id", "condition", "run"],
        "foreignKeys": _refers("rater_id", "item_id"),
    },
    "open_answers.csv": {
        "primaryKey": ["answer_id"],
        "foreignKeys": _refers("rater_id", "item_id"),
    },
    "open_scores.csv": {
        "primaryKey": ["answer_id", "scorer"],
        "foreignKeys": _refers("answer_id"),
    },
}
