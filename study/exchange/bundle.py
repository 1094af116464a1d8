"""Exports a study as a bundle: a Frictionless Data Package, the only link to the analysis.

Readers stand in it under their study codes. Options are mapped back to the canonical order. The
same store always gives the same bytes.

A blinded bundle lacks the reference standard: who may not see accuracy yet can look at agreement
and times in it. What readers said of themselves and what their screens showed is in it only where
the protocol's ``bundle_extras`` says so: answers of choice and number, free text only where that is
asked for too, for what somebody writes may say who they are.
"""

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from study.base.canonical import canonical_json
from study.base.errors import BadFile
from study.base.text import GUARDED, CellRules, FirstSpelling, csv_bytes, text_key
from study.base.translation import t
from study.exchange.schemas import FILES, Column, columns_in, keys_of
from study.lifecycle.scoring import score_rows, scored_items
from study.models.finish_reasons import CUT_OFF
from study.models.models import Withdrawn, withdrawn_in
from study.models.rereading import read_differently
from study.monitoring.interventions import excluded_readings
from study.protocol.protocol import AID_KEYS, Aid, Condition, Protocol, stored_protocol
from study.reading.course import Step
from study.reading.records import shown
from study.store import (
    Store,
    Transaction,
    aids,
    archive,
    banks,
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
from study.store.studies import StudyRow, study_row
from study.trail.trails import merged_chains

ZIP_DATE = (1980, 1, 1, 0, 0, 0)

CELLS_GUARDED, CELLS_ESCAPED = "cells_guarded", "cells_escaped"
"""What ``datapackage.json`` says of a bundle whose cells `study.base.text` wrote."""

SETS_BY_LOOK = "option_sets_by_look"
"""What ``datapackage.json`` says of a bundle in which options that look alike are one set."""

Tables = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of a bundle's tables by the table's file."""

_SINCE = frozenset(
    {
        *("bundle_extras", "fault_marks", "required_views", "age", "unknown_age"),
        *("sex", "without_flags", "only_items", "without_items"),
        *AID_KEYS,
        *("reads_per_case", "cases_per_reader", "anchor", "arms", "metadata"),
        *("positive", "subgroups"),
    }
)
"""Keys of the protocol that bundles once did not have."""

RECORDS = "records.jsonl"
"""Every row a bundle's tables do not hold and that `verify` vouches for, one JSON object a row.

It holds no reference standard, no person's name, no access code, and nothing of what readers said
of themselves before their first case.
"""

RECORDS_FORMAT = 1
STUDY_RECORD = "study"
_MOST_CHARACTERS = 100

_Done = tuple[str, str, Mapping[str, Any]]
"""Whose step, when, and what came of it."""


def tables_of(
    look: Transaction,
    study: StudyRow,
    *,
    blinded: bool,
    texts: bool = True,
    sets_by_look: bool = True,
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables of a study's bundle.

    Parameters
    ----------
    texts
        With questions, options, and what readers and models said in their own words, which may
        repeat them. Without, items that offer the same options are still known by their
        `option_set`.
    sets_by_look
        Whether options that look alike are the same in an `option_set`; in earlier bundles they
        were not.
    """
    tables = {
        "items.csv": list(_items(look, study, blinded, sets_by_look=sets_by_look)),
        "raters.csv": list(_raters(look, study.id)),
        "readings.csv": [
            *_reader_readings(look, study, blinded=blinded),
            *_model_readings(look, study.id),
        ],
        **_preparation_tables(look, study),
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
    rules: CellRules = GUARDED,
    trails: bool = True,
    texts: bool = True,
    sets_by_look: bool = True,
) -> dict[str, bytes]:
    """Return the files of a study's bundle as a transaction sees it.

    Parameters
    ----------
    tables
        What `tables_of` returned for it, where that is at hand.
    rules
        How texts are written as cells; bundles of earlier versions have others.
    trails
        Whether the chains and the records as they came are in it: nine tenths of a large bundle.
    texts, sets_by_look
        As in `tables_of`; without texts the records are not in it either.
    """
    found = study_row(look, study)
    chain = events.study_chain(study)
    passed = 0 if trails else events.head(look, chain).number - 1
    trail = list(events.walk(look, chain, after=passed))
    amended = [one._asdict() for one in studies.amendments(look, found.id)]
    tables = tables or tables_of(
        look, found, blinded=blinded, texts=texts, sets_by_look=sets_by_look
    )
    files = {
        name: table_bytes(columns_in(name, rows), rows, rules=rules)
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
            files[RECORDS] = records(look, found, blinded=blinded)
        files["audit.jsonl"] = _lines(trail)
        for chain, told in merged_chains(look, study).items():
            files[audit_file(told["deployment_id"])] = _lines(events.walk(look, chain))
    gone = withdrawn_in(look, found)
    provenance = banks.bank_row(look, found.bank_name).provenance
    package = _package(found, trail, files, tables, blinded, gone, sets_by_look)
    package["reading_room"]["texts"] = texts
    if drawn := scored_items(look, found.id):
        package["reading_room"]["scored_items"] = drawn
    package["reading_room"]["bank"] = {"name": found.bank_name, **asdict(provenance)}
    files["datapackage.json"] = _pretty({**provenance.in_package(found.bank_name), **package})
    return files


def _in_force(study: StudyRow) -> dict[str, Any]:
    """Return the protocol in force; keys of `_SINCE` only if they are not at their default.

    Earlier bundles do not have these keys and are restored to the same bytes.
    """
    values, usual = stored_protocol(study).in_full(), Protocol().in_full()
    return {key: value for key, value in values.items() if key not in _SINCE or value != usual[key]}


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
    as_zip = out.suffix == ".zip"
    with placed(out, as_zip=as_zip) as made:
        if as_zip:
            made.write_bytes(zipped(files))
        else:
            made.mkdir()
            for name, content in files.items():
                (made / name).write_bytes(content)
    return tuple(files)


@contextmanager
def placed(out: Path, *, as_zip: bool, there: str = "") -> Iterator[Path]:
    """Give a place to write a folder or a file at, and put that where it belongs once it is whole.

    Parameters
    ----------
    out
        A new file where it is to be one; else a new folder, or one that is empty.
    there
        What to say where something lies at `out` already.

    Raises
    ------
    BadFile
        Something does, or nothing can be written there.
    """
    try:
        end = Path(os.path.realpath(out))
        if end.exists() and (as_zip or not end.is_dir() or any(end.iterdir())):
            words = f"{end} is already there. Name a new folder (or .zip), or empty it."
            raise BadFile(there or words)
        end.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=end.parent, prefix=f".{end.name}.") as scratch:
            made = Path(scratch) / "made"
            yield made
            if end.is_dir():
                end.rmdir()
            made.rename(end)
    except OSError as error:
        why = error.strerror or error
        raise BadFile(
            t("{folder} cannot be written: {strerror}.", folder=out, strerror=why)
        ) from error


def sums_of(sha256: Mapping[str, str]) -> str:
    """Return hashes by file as the program ``sha256sum`` writes and checks them."""
    return "".join(f"{digest}  {name}\n" for name, digest in sha256.items())


def sha256_of_file(path: Path) -> str:
    """Return a file's SHA-256 without holding it in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def _items(
    look: Transaction, study: StudyRow, blinded: bool, *, sets_by_look: bool
) -> Iterator[dict[str, Any]]:
    rows = banks.items_of_study(look, study.id)
    subgroups = stored_protocol(study).subgroups
    sexes = banks.sexes_of_study(look, study.id) if "sex" in subgroups else {}
    options_of = {row.options: json.loads(row.options) for row in rows}
    first = FirstSpelling(lambda options: canonical_json(list(map(text_key, options_of[options]))))
    set_of = {row.options: first[row.options] if sets_by_look else row.options for row in rows}
    sizes = Counter(set_of[row.options] for row in rows)
    for row in rows:
        options, option_set = options_of[row.options], set_of[row.options]
        yield {
            **{name: value for name, value in row._asdict().items() if name != "origin"},
            "bank": row.origin or None,
            "truth": None if blinded else row.truth,
            "n_options": len(options),
            "option_set": " | ".join(options_of[option_set]) if sizes[option_set] > 1 else "",
            "sex": sexes.get(row.item_id) or None,
        }


def label_of(rater_id: str, *, simulated: bool) -> str:
    """Return a rater's label; what was simulated says so wherever it appears."""
    return f"{rater_id} (simulated)" if simulated else rater_id


def model_label(row: ModelRow) -> str:
    """Return a model's label, which states that it is synthetic or simulated."""
    if row.synthetic:
        return f"{row.model_id} (synthetic)"
    return label_of(row.model_id, simulated=bool(row.simulated))


def _raters(look: Transaction, study: int) -> Iterator[dict[str, Any]]:
    for row in people.readers(look, study):
        yield {
            "rater_id": row.reader_id,
            "rater_kind": "reader",
            "label": label_of(row.reader_id, simulated=bool(row.simulated)),
            "level": row.level,
            "years": row.years,
            "site": row.site,
            "arm": row.arm,
        }
    for model in models.of_study(look, study):
        yield {
            "rater_id": model.model_id,
            "rater_kind": "model",
            "label": model_label(model),
            "model_version": model.model_version,
        }


def _reader_readings(
    look: Transaction, study: StudyRow, *, blinded: bool
) -> Iterator[dict[str, Any]]:
    set_aside = excluded_readings(look, study)
    arms = {row.reader_id: row.arm for row in people.readers(look, study.id)}
    aid_of = _aid_columns(look, study, blinded=blinded)
    for row in readings.of_study(look, study.id):
        if row["condition"] == Condition.OPEN_ENDED:
            continue
        answer, order = row["answer"], row["shown_order"]
        yield {
            **row,
            "rater_id": row["reader_id"],
            "answered_at_utc": row["received_at_utc"],
            "raw_answer": row["reason"] if answer is None else shown(answer, order),
            "flags": _flags(row),
            "excluded": set_aside.get(row["id"]),
            "stage": row["stage"] or None,
            "arm": arms[row["reader_id"]],
            **aid_of(row),
        }


def _aid_columns(
    look: Transaction, study: StudyRow, *, blinded: bool
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what gives the columns about the aid of a reading; empty if none was shown.

    A blinded bundle does not contain the answers: beside the model's own predictions they would
    reveal the planted errors.
    """
    protocol = stored_protocol(study)
    shown = {} if blinded else dict(aids.of_study(look, study.id))
    requested = {row["assignment"] for row in aids.requests_of_study(look, study.id)}

    def columns(row: Mapping[str, Any]) -> dict[str, Any]:
        on_demand = row["aid"] == Aid.ON_DEMAND
        if row["condition"] != Condition.AIDED or (
            on_demand and row["assignment"] not in requested
        ):
            return {"aid_shown_ms": None}
        aid = shown.get(row["item_id"])
        return {
            "aid_model": protocol.aid_model,
            "aid_answer": aid and aid.answer,
            "aid_planted": aid and aid.planted,
        }

    return columns


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


def _model_readings(look: Transaction, study: int) -> Iterator[dict[str, Any]]:
    for model in models.of_study(look, study):
        for row in models.predictions(look, model.id):
            if row.condition == Condition.OPEN_ENDED:
                continue
            detail = json.loads(row.detail)
            yield {
                "rater_id": model.model_id,
                **row._asdict(),
                "repeat": row.repeat if row.run else None,
                "shown_order": detail.get("order"),
                "flags": "cut_off" if detail.get("reason") == CUT_OFF else None,
                "timing_source": "simulated" if model.simulated else None,
            }


def _by_rules(look: Transaction, study: StudyRow) -> Iterator[dict[str, Any]]:
    for model, one, by_rules in read_differently(look, study):
        yield {
            "rater_id": model.model_id,
            "item_id": one.item_id,
            "condition": one.condition,
            "run": one.run,
            **by_rules,
        }


def table_bytes(
    columns: Sequence[Column], rows: Iterable[Mapping[str, Any]], *, rules: CellRules = GUARDED
) -> bytes:
    """Return a table as CSV in UTF-8: a header, then one line a row, null as an empty cell."""
    names = [column.name for column in columns]
    return csv_bytes(names, ([row.get(name) for name in names] for row in rows), rules=rules)


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
    sets_by_look: bool,
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
            **({"items_salt": study.items_salt} if study.items_salt and not blinded else {}),
            CELLS_GUARDED: True,
            CELLS_ESCAPED: True,
            SETS_BY_LOOK: sets_by_look,
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
            **keys_of(name),
        },
    }


class StudyFacts(NamedTuple):
    """The first row: what study this is, and where it was read."""

    format: int
    deployment_id: str
    study: str
    bank: str
    state: str
    drawn_at_utc: str
    opened_at_utc: str | None
    closed_at_utc: str | None
    simulated_films: bool


def records(look: Transaction, study: StudyRow, *, blinded: bool = False) -> bytes:
    """Return a study's ``records.jsonl``."""
    lines = [{"row": STUDY_RECORD, **_facts(look, study)._asdict()}]
    rows = archive.rows(look, study.id, blinded=blinded)
    lines += [{"row": kind, **row} for kind, row in rows]
    return "".join(canonical_json(line) + "\n" for line in lines).encode()


def origin(look: Transaction, study: StudyRow) -> str:
    """Return the id of the deployment a study was read in: another one where it was restored."""
    return study.restored_from.partition("/")[0] or deployment.value(look, "deployment_id")


def _facts(look: Transaction, study: StudyRow) -> StudyFacts:
    drawn = events.of_kind(look, events.study_chain(study.name), EventKind.STUDY_DRAWN)
    return StudyFacts(
        format=RECORDS_FORMAT,
        deployment_id=origin(look, study),
        study=study.name,
        bank=drawn[0]["bank"] if drawn else study.bank_name,
        state=study.state,
        drawn_at_utc=study.drawn_at_utc,
        opened_at_utc=study.opened_at_utc,
        closed_at_utc=study.closed_at_utc,
        simulated_films=bool(study.simulated_films),
    )


def _preparation_tables(look: Transaction, study: StudyRow) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables a study's protocol adds to its bundle, by the table's file.

    A restored study has none: what its readers did before the first case stayed where it was read.
    """
    extras = () if study.restored_from else stored_protocol(study).bundle_extras
    if not extras:
        return {}
    codes = {row.id: row.reader_id for row in people.readers(look, study.id)}
    done: dict[str, list[_Done]] = {step: [] for step in Step}
    for row in readings.preparations_of_study(look, study.id):
        told = (codes[row["reader"]], row["received_at_utc"], json.loads(row["detail"]))
        done[row["step"]].append(told)
    tables = {}
    if "questionnaire" in extras:
        tables["questionnaire.csv"] = list(_answers(study, done[Step.QUESTIONNAIRE]))
    if "display checks" in extras:
        tables["display_checks.csv"] = list(_checks(done[Step.DISPLAY]))
    return tables


def _answers(study: StudyRow, done: Sequence[_Done]) -> Iterator[dict[str, Any]]:
    protocol = stored_protocol(study)
    kinds = {"choice", "number"}
    if "questionnaire texts" in protocol.bundle_extras:
        kinds.add("text")
    for code, _, detail in sorted(done, key=itemgetter(0)):
        for one in protocol.questionnaire:
            if one.kind in kinds:
                yield {
                    "rater_id": code,
                    "question_id": one.id,
                    "question": one.question,
                    "kind": one.kind,
                    "answer": detail["answers"].get(one.id),
                }


def _checks(done: Sequence[_Done]) -> Iterator[dict[str, Any]]:
    before: Counter[str] = Counter()
    for code, at, detail in sorted(done, key=itemgetter(0, 1)):
        before[code] += 1
        measured = {
            column.name: _measured(column.type, detail.get(column.name))
            for column in FILES["display_checks.csv"]
        }
        yield {**measured, "rater_id": code, "sign_in": before[code], "checked_at_utc": at}


def _measured(kind: str, value: Any) -> str | float | None:
    """Return what a browser said it measured, or None where that is not of the column's type."""
    if kind == "string":
        return str(value)[:_MOST_CHARACTERS] if isinstance(value, str | int) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None
