"""Predictions of models from files, as ``docs/predictions-format.md`` describes them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from study.bank.fields import as_text, missing, shown
from study.bank.source import Record, Repeated, Source, plain_key, read_source
from study.base.errors import BadFile
from study.models.answer_parser import is_refusal, parse_answer

__all__ = [
    "Prediction",
    "PredictionFile",
    "PredictionStatus",
    "parse_answer",
    "predict",
    "read_predictions",
]

PredictionStatus = Literal["answered", "skipped", "unparsed", "refused"]

ID_KEYS = ("item_id", "question_id", "id")
PREDICTION_KEYS = ("model_prediction", "prediction")
WORD_KEYS = ("answer", "output", "model_output", "response")
ANSWER_KEYS = (*PREDICTION_KEYS, *WORD_KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a model said about one item.

    Attributes
    ----------
    item_id : str
        The item.
    answer : str or None
        Letter of an option in canonical order; None unless `status` is `answered`.
    status : {"answered", "skipped", "unparsed", "refused"}
        `skipped`: nothing was said. `unparsed`: something that is not plainly one option.
        `refused`: an unmistakable refusal to answer.
    raw_answer : str
        The model's words, verbatim.
    """

    item_id: str
    answer: str | None
    status: PredictionStatus
    raw_answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionFile:
    """A file of predictions as read.

    Attributes
    ----------
    format : str
        `json`, `jsonl` or `csv`.
    sha256 : str
        Of the file's bytes, in hexadecimal.
    predictions : tuple of Prediction
        For items that were asked about, in file order.
    unknown_ids : tuple of str
        Ids in the file that are not among the items, in file order.
    notes : tuple of str
        What was not understood or had to be decided, with counts.
    """

    format: str
    sha256: str
    predictions: tuple[Prediction, ...]
    unknown_ids: tuple[str, ...]
    notes: tuple[str, ...]


def read_predictions(path: Path, *, options: Mapping[str, tuple[str, ...]]) -> PredictionFile:
    """Read a model's predictions.

    Parameters
    ----------
    path : Path
        A submission in the leaderboard's format, JSON, JSON lines or CSV; see
        ``docs/predictions-format.md``.
    options : mapping of str to tuple of str
        The options of each item by its id, in canonical order, without letters.

    Returns
    -------
    PredictionFile

    Raises
    ------
    BadFile
        When the file cannot be read, with every fault listed: entries that are none, without an id,
        or with an id given before.
    """
    source = read_source(path, is_record=_is_record)
    _check_columns(path, source)
    faults = [str(fault) for fault in source.faults]
    found: dict[str, object] = {}
    keys = _keys_used(path, source)
    keyless = 0
    for record in source.records:
        item_id, fault = _identified(record, found)
        if fault:
            faults.append(fault)
            continue
        has_key, found[item_id] = _said(record.value, keys)
        keyless += not has_key
    if faults:
        raise BadFile(f"{path} has faults:\n" + "\n".join(f"- {fault}" for fault in faults))
    if keyless == len(found):
        raise BadFile(f"{path} holds no predictions; name them {_or(ANSWER_KEYS[:4])}")
    return PredictionFile(
        format=source.format,
        sha256=source.sha256,
        predictions=tuple(
            predict(item_id, said, options[item_id])
            for item_id, said in found.items()
            if item_id in options
        ),
        unknown_ids=tuple(item_id for item_id in found if item_id not in options),
        notes=_notes(source, keys, keyless),
    )


def predict(item_id: str, said: object, options: Sequence[str]) -> Prediction:
    """Make a prediction of what a model said.

    Parameters
    ----------
    item_id : str
        The item.
    said : object
        The model's words; null or blank for none; other JSON values are read as their text.
    options : sequence of str
        The item's options in canonical order, without letters.

    Returns
    -------
    Prediction
    """
    if missing(said):
        raw = said if isinstance(said, str) else ""
        return Prediction(item_id=item_id, answer=None, status="skipped", raw_answer=raw)
    raw = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    raw = raw.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates
    answer = parse_answer(raw, options)
    status: PredictionStatus = "answered" if answer else "unparsed"
    if answer is None and is_refusal(raw):
        status = "refused"
    return Prediction(item_id=item_id, answer=answer, status=status, raw_answer=raw)


def _is_record(found: dict[str, object]) -> bool:
    keys = {plain_key(key) for key in found}
    return any(plain_key(key) in keys for key in ID_KEYS) and _said(found, ANSWER_KEYS)[0]


def _keys_used(path: Path, source: Source) -> tuple[str, ...]:
    """Return the keys that hold the answers of this file.

    Beside a `model_prediction` anywhere in the file, `answer` may well be the correct one; beside
    an `output` nobody can tell, so the file is refused.
    """
    records = [record.value for record in source.records if isinstance(record.value, dict)]
    if any(_first(record, PREDICTION_KEYS)[0] for record in records):
        return PREDICTION_KEYS
    for record in records:
        if all(_first(record, keys)[1] is not None for keys in (WORD_KEYS[:1], WORD_KEYS[1:])):
            raise BadFile(
                f"{path} has both {WORD_KEYS[0]} and {_or(WORD_KEYS[1:])} in one entry, and one of "
                "them may be the reference standard. Keep the model's own and take the other out."
            )
    return WORD_KEYS


def _check_columns(path: Path, source: Source) -> None:
    if source.format != "csv":
        return
    columns = {plain_key(column) for column in source.columns}
    for keys in (ID_KEYS, ANSWER_KEYS):
        if columns.isdisjoint(map(plain_key, keys)):
            raise BadFile(
                f"{path} has no column {_or(keys)}; its header is"
                f" {', '.join(source.columns) or 'empty'}"
            )


def _identified(record: Record, found: Mapping[str, object]) -> tuple[str, str]:
    """Return a record's item id, and what is wrong with the record, if anything."""
    value: object = record.value
    given: object = record.key or None
    if isinstance(value, dict) and given is None:
        given = _first(value, ID_KEYS)[1]
    item_id = as_text(given)
    if not item_id and given is None and not isinstance(value, dict):
        return "", f"{record.place}: not a prediction but {shown(value)}; give an object"
    if not item_id:
        return "", f"{record.place}: no item id; give the id of the item in {_or(ID_KEYS[:1])}"
    if item_id in found:
        return "", f"{item_id}: given again at {record.place}; keep one prediction an item"
    if isinstance(value, Repeated):
        return item_id, f"{item_id}: a key given twice; keep one of each"
    return item_id, ""


def _said(value: object, keys: Iterable[str]) -> tuple[bool, object]:
    """Return whether a record has a key for its answer, and the first answer that is filled."""
    return _first(value, keys) if isinstance(value, dict) else (True, value)


def _first(record: Mapping[str, object], keys: Iterable[str]) -> tuple[bool, object]:
    plain = {plain_key(key): value for key, value in record.items()}
    given = [plain[plain_key(key)] for key in keys if plain_key(key) in plain]
    return bool(given), next((value for value in given if not missing(value)), None)


def _notes(source: Source, keys: Iterable[str], keyless: int) -> tuple[str, ...]:
    known = {plain_key(key) for key in (*ID_KEYS, *keys)}
    ignored: Counter[str] = Counter(
        key
        for record in source.records
        if isinstance(record.value, dict)
        for key in record.value
        if plain_key(key) not in known
    )
    notes = [f"key {shown(key)} not used ({n:,} entries)" for key, n in ignored.items()]
    if keyless:
        notes.append(f"{keyless:,} entries without a prediction count as skipped")
    return tuple(notes)


def _or(keys: Iterable[str]) -> str:
    return " or ".join(f"`{key}`" for key in keys)
