"""Exports a study as a bundle: a Frictionless Data Package, the only link to the analysis.

Readers are identified by their study codes. Options are in canonical order. The same store always
gives the same bytes.

A blinded bundle has no reference standard, so that users who may not see accuracy can analyse
agreement and times. Readers' questionnaires and display checks are included only if the protocol's
``bundle_extras`` lists them. Free text in questionnaires must be listed separately, because it may
identify a reader.
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
from dataclasses import asdict, dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from study.base.canonical import canonical_json
from study.base.errors import BadFile
from study.base.system import system_reason
from study.base.text import GUARDED_CELLS, CellRules, FirstSpelling, csv_bytes, text_key
from study.base.translation import t
from study.base.version import version
from study.exchange.schemas import FILES, Column, columns_in, keys_of
from study.lifecycle.scoring import score_rows, scored_items
from study.models.finish_reasons import CUT_OFF
from study.models.models import Withdrawn, withdrawn_models_in
from study.models.rereading import read_differently
from study.monitoring.interventions import excluded_readings
from study.protocol.protocol import AID_KEYS, Aid, Condition, Protocol, stored_protocol
from study.reading.course import Step
from study.reading.records import shown_letter
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
"""Keys in the ``datapackage.json`` of bundles whose cells are written by `study.base.text`."""

SETS_BY_LOOK = "option_sets_by_look"
"""Key in the ``datapackage.json`` of bundles in which options that look alike count as equal."""

Tables = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of a bundle's tables by file name."""

_LATER_KEYS = frozenset(
    {
        *("bundle_extras", "fault_marks", "required_views", "age", "unknown_age"),
        *("sex", "without_flags", "only_items", "without_items"),
        *AID_KEYS,
        *("reads_per_case", "cases_per_reader", "anchor", "arms", "metadata"),
        "session_feedback",
        *("positive", "subgroups", "sample_size", "ordered_options", "years_limit"),
    }
)
"""Protocol keys that earlier bundles do not contain."""

RECORDS = "records.jsonl"
"""The rows that `verify` needs but the bundle's tables do not contain, one JSON object per line.

The file contains no reference standard, names, access codes or questionnaires.
"""

RECORDS_FORMAT = 1
STUDY_RECORD = "study"
_MAX_MEASUREMENT_LENGTH = 100

_StepDone = tuple[str, str, Mapping[str, Any]]
"""A preparation step: the reader's code, the time, and the details."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a bundle contains.

    Attributes
    ----------
    blinded : bool
        Whether the reference standard is left out.
    texts : bool
        Whether the bundle contains questions, options, the free text of readers and models (which
        may repeat them), and the records. Otherwise, items with the same options still have the
        same `option_set`.
    sets_by_look : bool
        Whether options that look alike count as equal in `option_set`; False for earlier bundles.
    """

    blinded: bool = False
    texts: bool = True
    sets_by_look: bool = True


COMPLETE = Content()


def tables_of(
    look: Transaction,
    study: StudyRow,
    content: Content = COMPLETE,
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables in a study's bundle."""
    blinded, sets_by_look = content.blinded, content.sets_by_look
    tables = {
        "items.csv": list(_items(look, study, blinded, sets_by_look=sets_by_look)),
        "raters.csv": list(_raters(look, study.id)),
        "readings.csv": [
            *_reader_readings(look, study, blinded=blinded),
            *_model_readings(look, study.id),
        ],
        **_preparation_tables(look, study),
    }
    if by_rules := list(_answers_by_rules(look, study)):
        tables["answers_by_rules.csv"] = by_rules
    if words := list(_open_answers(look, study)):
        tables["open_answers.csv"] = words
    if scores := list(score_rows(look, study.id)):
        tables["open_scores.csv"] = scores
    if not content.texts:
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
    """Return the files of a study's bundle by name; without trails, only those for the analysis."""
    with store.look() as look:
        return files_of(look, study, Content(blinded=blinded), trails=trails)


def files_of(
    look: Transaction,
    study: str,
    content: Content = COMPLETE,
    *,
    tables: Tables | None = None,
    rules: CellRules = GUARDED_CELLS,
    trails: bool = True,
) -> dict[str, bytes]:
    """Return the files of a study's bundle within a transaction.

    Parameters
    ----------
    tables
        The result of `tables_of`, if already computed.
    rules
        How strings are written as cells; bundles of earlier versions have other rules.
    trails
        Whether to include the chains and records, which make up nine tenths of a large bundle.
    """
    study_found = study_row(look, study)
    chain = events.study_chain(study)
    last_skipped = 0 if trails else events.head(look, chain).number - 1
    trail = list(events.walk(look, chain, after=last_skipped))
    amended = [amendment._asdict() for amendment in studies.amendments(look, study_found.id)]
    tables = tables or tables_of(look, study_found, content)
    files = {
        name: table_bytes(columns_in(name, rows), rows, rules=rules)
        for name, rows in tables.items()
    }
    files["protocol.json"] = _indented_json(
        {
            "sha256": study_found.protocol_sha256,
            "locked": json.loads(study_found.protocol),
            "amendments": amended,
            "in_force": _current_protocol(study_found),
        }
    )
    if trails:
        if content.texts:
            files[RECORDS] = records(look, study_found, blinded=content.blinded)
        files["audit.jsonl"] = _trail_lines(trail)
        for chain, site_head in merged_chains(look, study).items():
            files[audit_file(site_head["deployment_id"])] = _trail_lines(events.walk(look, chain))
    withdrawn = withdrawn_models_in(look, study_found)
    provenance = banks.bank_row(look, study_found.bank_name).provenance
    package = _package(study_found, trail, files, tables, content, withdrawn)
    package["reading_room"]["texts"] = content.texts
    if drawn := scored_items(look, study_found.id):
        package["reading_room"]["scored_items"] = drawn
    package["reading_room"]["bank"] = {"name": study_found.bank_name, **asdict(provenance)}
    files["datapackage.json"] = _indented_json(
        {**provenance.package_metadata(study_found.bank_name), **package}
    )
    return files


def _current_protocol(study: StudyRow) -> dict[str, Any]:
    """Return the current protocol, without keys in `_LATER_KEYS` that are at their default.

    Earlier bundles do not contain these keys, and exporting them again must give the same bytes.
    """
    values, defaults = stored_protocol(study).in_full(), Protocol().in_full()
    return {
        key: value
        for key, value in values.items()
        if key not in _LATER_KEYS or value != defaults[key]
    }


def audit_file(deployment_id: str) -> str:
    """Return the name of the file with a merged site's chain."""
    return f"audit-{deployment_id}.jsonl"


def _trail_lines(trail: Iterable[EventRow]) -> bytes:
    return "".join(canonical_json(event._asdict()) + "\n" for event in trail).encode()


def export(
    store: Store,
    *,
    study: str,
    out: Path,
    texts: bool = True,
    record: Callable[[], object] = lambda: None,
) -> tuple[str, ...]:
    """Write a study's bundle to a folder, or to a ZIP file if `out` ends in ``.zip``.

    Parameters
    ----------
    texts
        As in `Content`.
    record
        Function that records the complete export; if it fails, the export is deleted.

    Raises
    ------
    BadFile
        `out` already exists, or it cannot be written; no partial export remains.
    """
    with store.look() as look:
        files = files_of(look, study, Content(texts=texts))
    as_zip = out.suffix == ".zip"
    with write_in_place(out, as_zip=as_zip) as path:
        if as_zip:
            path.write_bytes(zip_files(files))
        else:
            path.mkdir()
            for name, content in files.items():
                (path / name).write_bytes(content)
        record()
    return tuple(files)


@contextmanager
def write_in_place(out: Path, *, as_zip: bool, exists_message: str = "") -> Iterator[Path]:
    """Yield a temporary path for a folder or a file, and move it to `out` at the end.

    Parameters
    ----------
    out
        A new file, or a new or empty folder.
    exists_message
        The message if `out` already exists.

    Raises
    ------
    BadFile
        `out` already exists or cannot be written.
    """
    try:
        target = Path(os.path.realpath(out))
        if target.exists() and (as_zip or not target.is_dir() or any(target.iterdir())):
            message = f"{target} already exists. Name a new folder (or .zip), or empty it."
            raise BadFile(exists_message or message)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
            scratch_path = Path(scratch) / "made"
            yield scratch_path
            if target.is_dir():
                target.rmdir()
            scratch_path.rename(target)
    except OSError as error:
        reason = system_reason(error)
        raise BadFile(
            t("{folder} cannot be written: {strerror}.", folder=out, strerror=reason)
        ) from error


def checksum_lines(sha256: Mapping[str, str]) -> str:
    """Return hashes by file in the format of ``sha256sum``."""
    return "".join(f"{digest}  {name}\n" for name, digest in sha256.items())


def sha256_of_file(path: Path) -> str:
    """Return a file's SHA-256 without reading it into memory at once."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def zip_files(files: Mapping[str, bytes]) -> bytes:
    """Return the files as a ZIP archive with reproducible bytes."""
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
    """Return a rater's label, which states whether the rater is simulated."""
    return f"{rater_id} (simulated)" if simulated else rater_id


def model_label(row: ModelRow) -> str:
    """Return a model's label, which states whether the model is synthetic or simulated."""
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
    excluded = excluded_readings(look, study)
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
            "raw_answer": row["reason"] if answer is None else shown_letter(answer, order),
            "flags": _flags(row),
            "excluded": excluded.get(row["id"]),
            "stage": row["stage"] or None,
            "arm": arms[row["reader_id"]],
            **aid_of(row),
        }


def _aid_columns(
    look: Transaction, study: StudyRow, *, blinded: bool
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a function that returns a reading's columns about the aid, empty if none was shown.

    A blinded bundle does not contain the aid's answers, because a comparison with the model's
    predictions would reveal the planted errors.
    """
    protocol = stored_protocol(study)
    shown_aids = {} if blinded else dict(aids.of_study(look, study.id))
    requested = {row["assignment"] for row in aids.requests_of_study(look, study.id)}

    def columns(row: Mapping[str, Any]) -> dict[str, Any]:
        on_demand = row["aid"] == Aid.ON_DEMAND
        if row["condition"] != Condition.AIDED or (
            on_demand and row["assignment"] not in requested
        ):
            return {"aid_shown_ms": None}
        aid = shown_aids.get(row["item_id"])
        return {
            "aid_model": protocol.aid_model,
            "aid_answer": aid and aid.answer,
            "aid_planted": aid and aid.planted,
        }

    return columns


def _flags(row: Mapping[str, Any]) -> str:
    return " ".join("_".join(flag.split()) for flag in json.loads(row["flags"]))


def _open_answers(look: Transaction, study: StudyRow) -> Iterator[dict[str, Any]]:
    """Yield the answers to open-ended cases and the explanations of models, which are free text."""
    answers = judgements.open_answers_of_study(look, study.id)
    rows = {row["id"]: row for row in readings.of_study(look, study.id)} if answers else {}
    excluded = excluded_readings(look, study) if answers else {}
    for answer in answers:
        reading = rows.get(answer.answer_id)
        yield {
            **answer._asdict(),
            "flags": _flags(reading) if reading else None,
            "excluded": excluded.get(answer.answer_id),
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


def _answers_by_rules(look: Transaction, study: StudyRow) -> Iterator[dict[str, Any]]:
    for model, prediction, by_rules in read_differently(look, study):
        yield {
            "rater_id": model.model_id,
            "item_id": prediction.item_id,
            "condition": prediction.condition,
            "run": prediction.run,
            **by_rules,
        }


def table_bytes(
    columns: Sequence[Column],
    rows: Iterable[Mapping[str, Any]],
    *,
    rules: CellRules = GUARDED_CELLS,
) -> bytes:
    """Return a table as CSV in UTF-8: a header and a line for each row, null as an empty cell."""
    names = [column.name for column in columns]
    return csv_bytes(names, ([row.get(name) for name in names] for row in rows), rules=rules)


def _indented_json(value: Any) -> bytes:
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False)
    return (text + "\n").encode("utf-8", "replace")


def _package(
    study: StudyRow,
    trail: Sequence[EventRow],
    files: Mapping[str, bytes],
    tables: Tables,
    content: Content,
    withdrawn: Sequence[Withdrawn],
) -> dict[str, Any]:
    return {
        "profile": "data-package",
        "name": "reading-room-bundle",
        "title": study.name,
        "created": trail[-1].at_utc,
        "reading_room": {
            "version": version(),
            "state": study.state,
            "protocol_sha256": study.protocol_sha256,
            "amendments": len(json.loads(study.amendments)),
            "last_event": trail[-1].number,
            "last_event_hash": trail[-1].hash,
            "simulated_films": bool(study.simulated_films),
            "blinded": content.blinded,
            **(
                {"items_salt": study.items_salt} if study.items_salt and not content.blinded else {}
            ),
            CELLS_GUARDED: True,
            CELLS_ESCAPED: True,
            SETS_BY_LOOK: content.sets_by_look,
            "withdrawn_models": [asdict(model) for model in withdrawn],
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
    """The first row of the records: the study and the deployment in which it was read."""

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


def origin_deployment(look: Transaction, study: StudyRow) -> str:
    """Return the ID of the deployment in which a study was read, even if it was restored here."""
    return study.restored_from.partition("/")[0] or deployment.value(look, "deployment_id")


def _facts(look: Transaction, study: StudyRow) -> StudyFacts:
    drawn = events.of_kind(look, events.study_chain(study.name), EventKind.STUDY_DRAWN)
    return StudyFacts(
        format=RECORDS_FORMAT,
        deployment_id=origin_deployment(look, study),
        study=study.name,
        bank=drawn[0]["bank"] if drawn else study.bank_name,
        state=study.state,
        drawn_at_utc=study.drawn_at_utc,
        opened_at_utc=study.opened_at_utc,
        closed_at_utc=study.closed_at_utc,
        simulated_films=bool(study.simulated_films),
    )


def _preparation_tables(look: Transaction, study: StudyRow) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables that ``bundle_extras`` adds to a bundle, by file name.

    A restored study has no such tables, because preparations are not part of a bundle's records.
    """
    extras = () if study.restored_from else stored_protocol(study).bundle_extras
    if not extras:
        return {}
    codes = {row.id: row.reader_id for row in people.readers(look, study.id)}
    steps_by_kind: dict[str, list[_StepDone]] = {step: [] for step in Step}
    for row in readings.preparations_of_study(look, study.id):
        entry = (codes[row["reader"]], row["received_at_utc"], json.loads(row["detail"]))
        steps_by_kind[row["step"]].append(entry)
    tables = {}
    if "questionnaire" in extras:
        tables["questionnaire.csv"] = list(
            _questionnaire_rows(study, steps_by_kind[Step.QUESTIONNAIRE])
        )
    if "display checks" in extras:
        tables["display_checks.csv"] = list(_display_check_rows(steps_by_kind[Step.DISPLAY]))
    return tables


def _questionnaire_rows(study: StudyRow, steps: Sequence[_StepDone]) -> Iterator[dict[str, Any]]:
    protocol = stored_protocol(study)
    kinds = {"choice", "number"}
    if "questionnaire texts" in protocol.bundle_extras:
        kinds.add("text")
    for code, _, detail in sorted(steps, key=itemgetter(0)):
        for question in protocol.questionnaire:
            if question.kind in kinds:
                yield {
                    "rater_id": code,
                    "question_id": question.id,
                    "question": question.question,
                    "kind": question.kind,
                    "answer": detail["answers"].get(question.id),
                }


def _display_check_rows(steps: Sequence[_StepDone]) -> Iterator[dict[str, Any]]:
    n_sign_ins: Counter[str] = Counter()
    for code, at, detail in sorted(steps, key=itemgetter(0, 1)):
        n_sign_ins[code] += 1
        measurements = {
            column.name: _measurement_value(column.type, detail.get(column.name))
            for column in FILES["display_checks.csv"]
        }
        yield {**measurements, "rater_id": code, "sign_in": n_sign_ins[code], "checked_at_utc": at}


def _measurement_value(kind: str, value: Any) -> str | float | None:
    """Return a browser's measurement, or None if it does not have the column's type."""
    if kind == "string":
        return str(value)[:_MAX_MEASUREMENT_LENGTH] if isinstance(value, str | int) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None
