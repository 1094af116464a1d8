"""Reads models' predictions from files; ``docs/predictions-format.md`` describes the formats."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypedDict, Unpack

from study.base.canonical import joint_sha256
from study.base.errors import BadFile
from study.base.text import LONGEST_NAME, id_key, natural_key, text_key
from study.models.answer_columns import answer_keys, reference_notes
from study.models.answer_mentions import LETTERS
from study.models.answer_parser import STANDARD, VERSION, answer_in, open_answer_in
from study.models.answer_text import is_unfinished
from study.models.files import (
    ANSWER_KEYS,
    ID_KEYS,
    ColumnRoles,
    Records,
    check_columns,
    check_roles,
    column_kinds,
    first_of,
    is_used,
    read_records,
    used_by_name,
)
from study.models.finish_reasons import CUT_OFF, EMPTY, is_cut_off
from study.models.harnesses import (
    ModelOutput,
    Shape,
    format_name,
    read_by_roles,
    read_plain,
    shape_of,
)
from study.models.image_marks import boxes_of, heat_maps_of
from study.models.model_protocol import Shown
from study.models.refusals import is_refusal
from study.store.models import condition_rank
from study.tables.columns import column_list, plain_key
from study.tables.source import Record, Repeated
from study.tables.values import as_text, is_missing, quoted_value

PredictionStatus = Literal["answered", "skipped", "unparsed", "refused"]

_PAPER_NUMBER = "index"
_PAPER_NEEDED_NOTE = (
    "column index is used as the item's ID; if the file answers an exam paper, give its"
    " paper.json with it, which holds the id of each index"
)
_MOST_FAULTS = 100
_REASONS = {
    CUT_OFF: "{n} {output was|outputs were} cut off and {is|are} unparsed",
    EMPTY: "{n} {output is|outputs are} empty although the model finished, and {is|are} unparsed",
}
_SINGULAR_OR_PLURAL = re.compile(r"\{([\w ]+)\|([\w ]+)\}")
"""The singular and the plural of words that follow a count."""

_MIN_PERCENTAGE = 10
"""If the largest confidence is not above this value, the scale is probably not 0 to 100."""
_FORMAT_ERRORS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""Errors raised when a value does not have the type that the harness writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A model's answer to one item, in one run under one condition.

    Attributes
    ----------
    item_id : str
        The item.
    answer : str or None
        Letter of an option in canonical order, or the text of an open-ended answer; None unless
        `status` is `answered`.
    status : {"answered", "skipped", "unparsed", "refused"}
        `skipped`: no output. `unparsed`: an output that does not clearly name one option.
        `refused`: an unmistakable refusal to answer.
    raw_answer : str
        The model's words, verbatim.
    condition : str
        What the model was shown, such as `image-absent`; empty if the file does not specify it.
    run : str
        The name of the run; empty if there is only one.
    repeat : int
        The number of the run, from 1.
    confidence : float or None
        The model's confidence in its answer, from 0 to 1.
    detail : mapping
        Further facts: the `rule` by which the words were read, `probabilities` by letter, the
        `order` of the options, `prompt`, `explanation`, and why the request `failed`.
    """

    item_id: str
    answer: str | None
    status: PredictionStatus
    raw_answer: str
    condition: str = ""
    run: str = ""
    repeat: int = 1
    confidence: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionFile:
    """The content of a file of predictions, or of several files that belong together.

    Attributes
    ----------
    shape : str
        The kind of file in words, such as `VLMEvalKit XLSX table`.
    n_rows : int
        The number of entries.
    columns : tuple of str
        The names of the entries' fields.
    sha256 : str
        Hash of the file's bytes in hexadecimal; for several files, of their hashes, one per line.
    predictions : tuple of Prediction
        For the study's items, in file order.
    unknown_ids : tuple of str
        IDs in the file that are not among the items, in file order.
    notes : tuple of str
        Counts of values that were not understood, and decisions made.
    needs_paper : bool
        Whether entries have only a number instead of an ID; an exam paper's `paper.json` maps the
        numbers to IDs.
    """

    shape: str
    n_rows: int
    columns: tuple[str, ...]
    sha256: str
    predictions: tuple[Prediction, ...]
    unknown_ids: tuple[str, ...]
    notes: tuple[str, ...]
    needs_paper: bool = False

    @property
    def n_runs(self) -> int:
        """Return the number of runs."""
        return max((prediction.repeat for prediction in self.predictions), default=1)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return the conditions of the answers, the primary one first."""
        return tuple(
            sorted({prediction.condition for prediction in self.predictions}, key=condition_rank)
        )

    @property
    def primary(self) -> tuple[Prediction, ...]:
        """Return the primary answers: those of the first run under the readers' condition."""
        condition = self.conditions[0] if self.predictions else ""
        return tuple(
            prediction
            for prediction in self.predictions
            if (prediction.repeat, prediction.condition) == (1, condition)
        )


def read_predictions(
    *paths: Path,
    options: Mapping[str, tuple[str, ...]],
    questions: Mapping[str, str] = MappingProxyType({}),
    known_as: Mapping[str, str] = MappingProxyType({}),
    column_roles: ColumnRoles | None = None,
) -> PredictionFile:
    """Read a model's predictions.

    Parameters
    ----------
    *paths : Path
        Files in any format of ``docs/predictions-format.md``. Several files with the same items are
        runs, in the given order; an exam paper's `paper.json` among them defines the order of
        options, the condition and the items' numbers.
    options : mapping of str to tuple of str
        The options of each item by ID, in canonical order, without letters.
    questions : mapping of str to str, optional
        The question of each item by ID.
    known_as : mapping of str to str, optional
        Items' IDs by their IDs in exam papers.
    column_roles : mapping of str to str, optional
        The columns by role; by default they are recognised.

    Returns
    -------
    PredictionFile

    Raises
    ------
    BadFile
        A file cannot be read; all faults are listed: invalid entries, missing or repeated IDs.
    BadInput
        `column_roles` has an unknown role.
    """
    if column_roles is not None:
        check_roles(column_roles)
    paper = next((candidate for path in paths if (candidate := _paper_in(path, known_as))), None)
    read = [_content_of(path, column_roles) for path in paths if not paper or path != paper.path]
    if not read:
        raise BadFile(
            f"{paths[0]} is an exam paper without answers; give it together with the answers"
        )
    faults = [fault for content in read for fault in content.faults]
    outputs = [each for content in read for each in content.outputs]
    files = ", ".join(str(path) for path in paths)
    if not faults and not any(output.has_words or _has_result(output) for output in outputs):
        raise BadFile(
            f"{files} contains no predictions. Columns: {_columns_of(read)}. Name the column of the"
            f" answers {' or '.join(ANSWER_KEYS[:4])}, or name the columns: on the page, or with"
            " --columns id=COLUMN,answer=COLUMN"
        )
    reader = _Reader(options, questions, explicit=column_roles or {})
    id_name = _id_name(outputs, _item_finder(options, known_as))
    predictions = reader.predictions(_rows_of(read, options, known_as, paper, id_name))
    faults += reader.faults
    if faults:
        more = len(faults) - _MOST_FAULTS
        lines = faults[:_MOST_FAULTS] + ([f"and {more:,} more"] if more > 0 else [])
        raise BadFile(f"{files} has faults:\n" + "\n".join(f"- {line}" for line in lines))
    needs_paper = paper is None and plain_key(id_name) == _PAPER_NUMBER
    is_numbered = needs_paper and all(prediction.item_id.isdecimal() for prediction in predictions)
    number_notes = (_PAPER_NEEDED_NOTE,) if is_numbered else ()
    return PredictionFile(
        shape=" and ".join(dict.fromkeys(content.shape for content in read)),
        n_rows=sum(len(content.source.records) for content in read),
        columns=tuple(
            dict.fromkeys(column for content in read for column in content.source.columns)
        ),
        sha256=joint_sha256([content.source.sha256 for content in read]),
        predictions=tuple(predictions),
        unknown_ids=tuple(reader.unknown),
        notes=(
            *(note for content in read for note in content.notes),
            *reader.notes(),
            *number_notes,
        ),
        needs_paper=needs_paper,
    )


def _columns_of(read: Sequence["_FileContent"]) -> str:
    return column_list(
        tuple(dict.fromkeys(name for content in read for name in content.source.columns))
    )


def columns_of(path: Path) -> tuple[str, ...]:
    """Return the names of a file's columns; errors as for `read_records`."""
    return read_records(path, is_record=_is_record).columns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paper:
    """The parts of an exam paper that complete the answers in other files."""

    path: Path
    condition: str
    orders: Mapping[str, str]
    ids: Mapping[str, str]

    def complete(self, item_id: str, extras: Mapping[str, object]) -> dict[str, object]:
        """Return the extra values of an answer, completed from the paper."""
        added = {"order": self.orders.get(item_id), "condition": self.condition}
        return {
            **extras,
            **{key: value for key, value in added.items() if is_missing(extras.get(key))},
        }


def _paper_in(path: Path, known_as: Mapping[str, str]) -> _Paper | None:
    """Return the exam paper in a `paper.json`, or None for another file."""
    if path.name != "paper.json":
        return None
    try:
        paper = json.loads(path.read_bytes())
        items = [
            (item["index"], str(item["item_id"]), item["shown_order"]) for item in paper["items"]
        ]
        condition = paper["model_protocol"]["condition"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return _Paper(
        path=path,
        condition=str(condition),
        orders={known_as.get(item_id, item_id): str(order) for _, item_id, order in items},
        ids={str(number): known_as.get(item_id, item_id) for number, item_id, _ in items},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileContent:
    """The content of a file before its entries are matched with the items."""

    source: Records
    shape: str
    outputs: Sequence[ModelOutput]
    faults: Sequence[str]
    notes: Sequence[str]


def _content_of(path: Path, column_roles: ColumnRoles | None) -> _FileContent:
    source = read_records(
        path,
        is_record=partial(_is_record, column_roles=column_roles),
        kind_of=column_kinds(column_roles),
    )
    faults = [str(fault) for fault in source.faults]
    notes = list(source.notes)
    harness = shape_of(source) if column_roles is None else None
    words: tuple[str, ...] = ()
    if column_roles is not None:
        check_columns(path, column_roles, source)
        shape, outputs = (
            source.kind,
            [read_by_roles(record, column_roles) for record in source.records],
        )
    elif harness:
        shape, outputs = harness.name, list(_harness_outputs(harness, source, faults, notes))
    else:
        words = answer_keys(source)
        shape, outputs = (
            format_name(source),
            [read_plain(record, words) for record in source.records],
        )
        notes += _note_unused_columns(source.records, words)
    notes += reference_notes(path, source, words, column_roles)
    faults += [
        f"{record.key or record.place}: a key given twice; keep one of each"
        for record in source.records
        if isinstance(record.value, Repeated)
    ]
    return _FileContent(source=source, shape=shape, outputs=outputs, faults=faults, notes=notes)


def _is_record(value: dict[str, object], column_roles: ColumnRoles | None = None) -> bool:
    if column_roles is not None:
        return set(column_roles.values()) <= value.keys()
    if "custom_id" in value or "doc_id" in value:
        return True
    return first_of(value, ID_KEYS)[0] and first_of(value, ANSWER_KEYS)[0]


def _harness_outputs(
    harness: Shape, source: Records, faults: list[str], notes: list[str]
) -> Iterator[ModelOutput]:
    filters: dict[str, None] = {}
    for record in source.records:
        if not isinstance(record.value, dict):
            faults.append(f"{record.place}: not an entry but {quoted_value(record.value)}")
            continue
        try:
            outputs = list(harness.read(record.value))
        except _FORMAT_ERRORS:
            faults.append(f"{record.place}: not an entry as in {harness.name}; write it again")
            continue
        for output in outputs:
            output = replace(output, place=record.place)
            name = str(output.extras.get("filter"))
            filters.setdefault(name)
            if name == next(iter(filters)):
                yield output
    if len(filters) > 1:
        names = ", ".join(filters)
        notes.append(f"each sample occurs once per filter ({names}); it is read once")


def _note_unused_columns(records: Iterable[Record], words: Sequence[str]) -> Iterator[str]:
    known = used_by_name(words)
    ignored = dict.fromkeys(
        key
        for record in records
        if isinstance(record.value, dict)
        for key in record.value
        if not is_used(key, known)
    )
    if ignored:
        yield f"columns not used: {column_list(tuple(ignored))}"


def _has_result(output: ModelOutput) -> bool:
    return bool(output.failed or output.refused) or not is_missing(
        output.extras.get("probabilities")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A model's output with the item's ID and the name of the run."""

    item_id: str
    run: str
    output: ModelOutput


def _rows_of(
    read: Sequence[_FileContent],
    options: Mapping[str, object],
    known_as: Mapping[str, str],
    paper: _Paper | None,
    id_name: str,
) -> Iterator[_Row]:
    """Yield the outputs with item and run; files with the same items are runs."""
    find_item = _item_finder(options, known_as)
    is_number = plain_key(id_name) == _PAPER_NUMBER
    by_file = [
        [
            _Row(
                item_id=find_item(written_id := _id_of(output, id_name)) or written_id,
                run=_as_label(output.extras.get("run")),
                output=output,
            )
            for output in content.outputs
        ]
        for content in read
    ]
    ids = [{row.item_id for row in rows} for rows in by_file]
    is_overlapping = sum(map(len, ids)) > len(set().union(*ids))
    has_no_runs = not any(row.run for rows in by_file for row in rows)
    for n, rows in enumerate(by_file, 1):
        for row in rows:
            run, item_id, output = row.run, row.item_id, row.output
            if is_overlapping and has_no_runs:
                run = str(n)
            if paper:
                if is_number or (item_id not in options and plain_key(id_name) != "docid"):
                    item_id = paper.ids.get(
                        item_id, item_id
                    )  # the paper's numbers start at 1, doc_id at 0
                output = replace(output, extras=paper.complete(item_id, output.extras))
            yield _Row(item_id=item_id, run=run, output=output)


def _item_finder(
    options: Mapping[str, object], known_as: Mapping[str, str]
) -> Callable[[str], str]:
    """Return a function that finds the item of an ID, exactly or by a unique similar ID.

    The function returns an empty string if there is none.
    """
    known = {**{item_id: item_id for item_id in options}, **known_as}
    by_form: dict[str, str] = {}
    for name, item_id in known.items():
        if by_form.setdefault(form := id_key(name), item_id) != item_id:
            by_form[form] = ""
    return lambda written_id: known.get(written_id) or by_form.get(id_key(written_id), "")


def _id_name(outputs: Sequence[ModelOutput], find_item: Callable[[str], str]) -> str:
    """Return the field of the IDs: the first that contains an item's ID, otherwise the first."""
    names = dict.fromkeys(name for output in outputs for name in output.ids)
    known = (
        n for n in names if any(find_item(_id_text(output.ids.get(n)) or "") for output in outputs)
    )
    return next(known, next(iter(names), ""))


def _id_of(output: ModelOutput, id_name: str) -> str:
    return _id_text(output.ids.get(id_name, next(iter(output.ids.values()), None))) or ""


def _id_text(value: object) -> str | None:
    return as_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def _as_label(value: object) -> str:
    """Return the name of a run or a condition as text."""
    if is_missing(value) or isinstance(value, bool):
        return ""
    text = _id_text(value) if isinstance(value, int | float) else as_text(value)
    return (text or str(value)).removesuffix(".0")[:LONGEST_NAME]


class _Reader:
    """Converts outputs to predictions, and collects faults and notes."""

    def __init__(
        self,
        options: Mapping[str, tuple[str, ...]],
        questions: Mapping[str, str],
        *,
        explicit: ColumnRoles,
    ) -> None:
        self._options, self._questions, self._explicit = options, questions, explicit
        self._counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.unknown: dict[str, None] = {}

    def predictions(self, rows: Iterable[_Row]) -> list[Prediction]:
        """Return the predictions for the items, in file order."""
        by_key: dict[tuple[str, str, str], _Row] = {}
        for row in rows:
            condition = _condition_name(row.output.extras.get("condition"))
            key = (row.item_id, condition, row.run)
            place = row.output.place
            if not row.item_id:
                self.faults.append(_missing_id_fault(row.output))
            elif key in by_key:
                self.faults.append(
                    f"{row.item_id}: given again at {place}; keep one prediction per item, or name"
                    " the column of the run"
                )
            else:
                by_key[key] = row
        runs = sorted(
            {run for *_, run in by_key}
        )  # sorted first for a fixed order of names with the same key
        ranks = {run: n for n, run in enumerate(sorted(runs, key=natural_key), 1)}
        scale = self._scale_divisors([row.output for row in by_key.values()])
        predictions = []
        for (item_id, condition, run), row in by_key.items():
            self._note(row.output)
            if item_id not in self._options:
                self.unknown[item_id] = None
                continue
            label = "" if len(ranks) == 1 and run == "1" else run
            predictions.append(self._prediction(row, condition, label, ranks[run], scale))
        if any(
            row.condition == "options-shuffled" and "order" not in row.detail for row in predictions
        ):
            self._counts["letters under options-shuffled are read as canonical letters"] = 0
        return predictions

    def notes(self) -> Iterator[str]:
        """Yield the notes, with counts."""
        for note, n in self._counts.items():
            words = _SINGULAR_OR_PLURAL.sub(lambda match, n=n: match[1 if n == 1 else 2], note)  # type: ignore[misc]
            yield words.replace("{n}", f"{n:,}")

    def _note(self, output: ModelOutput) -> None:
        if output.failed:
            failed = (
                "{n} {request|requests} failed ("
                + output.failed
                + ") and {counts|count} as skipped"
            )
            self._counts[failed] += 1
        elif not output.has_words and not _has_result(output):
            self._counts["{n} {entry|entries} without a prediction {counts|count} as skipped"] += 1

    def _scale_divisors(self, outputs: Sequence[ModelOutput]) -> Mapping[str, float]:
        """Return the divisors of confidence and probabilities: 100 for percentages, otherwise 1."""
        scale = {}
        for role in ("confidence", "probabilities"):
            numbers = [n for output in outputs for n in _numbers(output.extras.get(role))]
            highest = max(numbers, default=0.0)
            scale[role] = 100.0 if 1 < highest <= 100 else 1.0
            if scale[role] > 1:
                self._note_scale(role, highest, sum(0 < n <= 1 for n in numbers))
        return scale

    def _note_scale(self, role: str, highest: float, n_small: int) -> None:
        """Add a note if the scale may not be percentages, although it is read as such."""
        if highest <= _MIN_PERCENTAGE:
            ends = " or ".join(dict.fromkeys((f"{highest:g}", f"{_MIN_PERCENTAGE:g}")))
            self._counts[
                f"{role} is read as 0 to 100, and the largest is {highest:g} (taken as"
                f" {highest / 100:g}); if the scale ends at {ends}, divide by its end"
            ] = 0
        elif n_small:
            self._counts[
                f"{role} is read as 0 to 100, as the largest is {highest:g}; {n_small:,}"
                " {value is|values are} 1 or less and read as at most 0.01. Use one scale"
            ] = n_small

    def _prediction(
        self, row: _Row, condition: str, run: str, repeat: int, scale: Mapping[str, float]
    ) -> Prediction:
        output, options = row.output, self._options[row.item_id]
        place = f"{row.item_id} ({output.place})"
        order = self._order(place, output.extras.get("order"), len(options))
        probabilities = self._probabilities(
            place, output.extras.get("probabilities"), options, scale
        )
        words = None if output.failed else output.words
        finish = None if output.failed else output.extras.get("finish")
        read = (
            predict_open_answer(row.item_id, words, refused=output.refused, finish=finish)
            if condition == Shown.OPEN_ENDED
            else predict(
                row.item_id,
                words,
                options,
                order=order,
                probabilities=probabilities,
                refused=output.refused,
                finish=finish,
                question=self._questions.get(row.item_id),
            )
        )
        if read.detail.get("reason"):
            self._counts[_REASONS[read.detail["reason"]]] += 1
        confidence = self._confidence(place, output.extras.get("confidence"), scale)
        if confidence is None and probabilities and read.answer:
            confidence = probabilities.get(read.answer)
        detail = {
            **read.detail,
            "order": order,
            "probabilities": probabilities,
            "prompt": _text_or_empty(output.extras.get("prompt")),
            "explanation": _text_or_empty(output.extras.get("explanation"))
            or read.detail.get("explanation", ""),
            "boxes": self._marks("boxes", place, output, boxes_of),
            "map": self._marks("map", place, output, heat_maps_of),
            "failed": output.failed,
        }
        return Prediction(
            item_id=row.item_id,
            answer=read.answer,
            status=read.status,
            raw_answer=read.raw_answer,
            condition=condition,
            run=run,
            repeat=repeat,
            confidence=confidence,
            detail={key: value for key, value in detail.items() if value},
        )

    def _confidence(self, place: str, value: object, scale: Mapping[str, float]) -> float | None:
        if is_missing(value):
            return None
        numbers = [number / scale.get("confidence", 1.0) for number in _numbers(value)]
        if len(numbers) == 1 and 0 <= numbers[0] <= 1:
            return numbers[0]
        self._note_invalid("confidence", place, value, "a number from 0 to 1, or from 0 to 100")
        return None

    def _probabilities(
        self, place: str, value: object, options: Sequence[str], scale: Mapping[str, float]
    ) -> dict[str, float]:
        if is_missing(value):
            return {}
        value = _parse_json(value)
        if isinstance(value, list):
            value = dict(zip(LETTERS, value, strict=False)) if len(value) == len(options) else {}
        by_letter: dict[str, float] = {}
        indices = {text_key(text): n for n, text in enumerate(options)}
        for key, share in value.items() if isinstance(value, dict) else ():
            if is_missing(share):
                continue
            n = indices.get(text_key(str(key)), LETTERS.find(id_key(str(key)).upper()))
            number = [part / scale.get("probabilities", 1.0) for part in _numbers(share)]
            if len(str(key)) == 1 and not 0 <= n < len(options) and number == [0]:
                continue
            if not 0 <= n < len(options) or len(number) != 1 or not 0 <= number[0] <= 1:
                by_letter = {}
                break
            by_letter[LETTERS[n]] = number[0]
        if not by_letter and not (isinstance(value, dict) and all(map(is_missing, value.values()))):
            self._note_invalid("probabilities", place, value, "one number per option, from 0 to 1")
        return by_letter

    def _marks(
        self,
        role: str,
        place: str,
        output: ModelOutput,
        read: Callable[[object], list[dict[str, Any]] | None],
    ) -> list[dict[str, Any]]:
        value = output.extras.get(role)
        if is_missing(value):
            return []
        marks = read(_parse_json(value))
        if marks is None:
            self._note_invalid(role, place, value, "a list as in docs/predictions-format.md")
        return marks or []

    def _order(self, place: str, value: object, n_options: int) -> str:
        if is_missing(value):
            return ""
        letters = "".join(map(str, value)) if isinstance(value, list) else str(value)
        letters = "".join(character for character in letters.upper() if character.isalpha())
        if sorted(letters) != list(LETTERS[:n_options]):
            self.faults.append(
                f"{place}: {quoted_value(value)} is not an order of {n_options} options; write "
                "their canonical letters as they were shown, such as CADB"
            )
            return ""
        return letters if letters != LETTERS[:n_options] else ""

    def _note_invalid(self, role: str, place: str, value: object, expected: str) -> None:
        if any(key.startswith(role[:11]) for key in self._explicit):
            self.faults.append(f"{place}: the {role} {quoted_value(value)} is not {expected}")
        else:
            self._counts[f"{role} of {{n}} {{entry|entries}} is not {expected}, and not used"] += 1


def _missing_id_fault(output: ModelOutput) -> str:
    if output.ids or output.has_words is False or isinstance(output.words, dict | str | list):
        return f"{output.place}: no item id; give the id of the item as {ID_KEYS[0]}"
    return f"{output.place}: not a prediction but {quoted_value(output.words)}; give an object"


def _condition_name(value: object) -> str:
    """Return the name of a condition in the spelling of protocols, such as `image-absent`."""
    return "-".join(_as_label(value).lower().replace("_", " ").replace("-", " ").split())


def _text_or_empty(value: object) -> str:
    return "" if is_missing(value) else _text(value)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates


def _parse_json(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _numbers(value: object) -> list[float]:
    """Return the numbers in a cell, a list or an object; percentages are divided by 100."""
    value = _parse_json(value)
    if isinstance(value, dict):
        return [number for entry in value.values() for number in _numbers(entry)]
    if isinstance(value, list):
        return [number for entry in value for number in _numbers(entry)]
    if isinstance(value, bool) or value is None:
        return []
    text = str(value).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return []
    return [number / 100 if text.endswith("%") else number]


class Circumstances(TypedDict, total=False):
    """What a harness reports about an output.

    Attributes
    ----------
    order : str
        The canonical letters in the order shown to the model; empty for the canonical order.
    probabilities : mapping of str to float, optional
        The options' probabilities by letter; without words, the largest is the answer.
    refused : bool
        Whether the provider reports that the model declined.
    finish : object
        The finish reason: text, or an object with a type.
    """

    order: str
    probabilities: Mapping[str, float] | None
    refused: bool
    finish: object


def predict(
    item_id: str,
    words: object,
    options: Sequence[str],
    *,
    rules: str = STANDARD,
    question: str | None = None,
    **circumstances: Unpack[Circumstances],
) -> Prediction:
    """Convert a model's output to a prediction.

    Parameters
    ----------
    item_id : str
        The item.
    words : object
        The model's words; null or blank if there are none. Other JSON values are read as text.
    options : sequence of str
        The item's options in canonical order, without letters.
    rules : str
        The rules of `study.models.answer_parser.RULES` for reading the words.
    question : str, optional
        The item's question, as the model and the readers see it.

    Returns
    -------
    Prediction
    """
    probabilities, finish = circumstances.get("probabilities"), circumstances.get("finish")
    raw = "" if is_missing(words) else _text(words)
    reason = _reason_unparsed(raw, finish, probabilities)
    answer, rule = None, ""
    if not reason and raw:
        order = map(LETTERS.index, circumstances.get("order", ""))
        places = list(order) or list(range(len(options)))
        shown = [options[place] for place in places]
        answer, rule = answer_in(raw, shown, rules, question=question)
        answer = LETTERS[places[LETTERS.index(answer)]] if answer else None
    elif not reason and probabilities:
        highest = max(probabilities.values())
        best = [letter for letter, value in probabilities.items() if value == highest]
        answer, rule = (best[0] if len(best) == 1 else None), "most probable"
    status: PredictionStatus = "unparsed" if raw or reason or probabilities else "skipped"
    if answer:
        status = "answered"
    elif circumstances.get("refused") or (raw and not reason and is_refusal(raw)):
        status, reason = "refused", ""
    return Prediction(
        item_id=item_id,
        answer=answer,
        status=status,
        raw_answer=raw if not isinstance(words, str) else words,
        detail={
            **({"rule": rule} if rule and answer else {}),
            **({"rules": rules} if rules != STANDARD else {}),
            **_ending_details(raw, finish, reason),
        },
    )


def _reason_unparsed(raw: str, finish: object, probabilities: object) -> str:
    """Return why an output is not a complete answer; empty if it may be one."""
    if probabilities and not raw:
        return ""
    if is_cut_off(finish) or is_unfinished(raw):
        return CUT_OFF
    return EMPTY if not raw and not is_missing(finish) else ""


def _ending_details(raw: str, finish: object, reason: str) -> dict[str, Any]:
    """Return the details to store about how an output was parsed and why it ended."""
    stop = finish if isinstance(finish, str) else json.dumps(finish) if finish else ""
    details = {"parser": VERSION if raw else 0, "stop": stop[:LONGEST_NAME], "reason": reason}
    return {key: value for key, value in details.items() if value}


def predict_open_answer(
    item_id: str, words: object, *, refused: bool = False, finish: object = None
) -> Prediction:
    """Convert a model's open-ended answer to a prediction, without searching for a letter.

    Parameters
    ----------
    item_id : str
        The item.
    words : object
        The model's words; null or blank if there are none.
    refused : bool
        Whether the provider reports that the model declined.

    Returns
    -------
    Prediction
    """
    raw = "" if is_missing(words) else _text(words)
    answer, explanation = open_answer_in(raw)
    declined = refused or is_refusal(raw)
    reason = _reason_unparsed(raw, finish, None)
    status: PredictionStatus = "answered" if answer else "unparsed" if raw or reason else "skipped"
    if reason:
        answer, status = "", "unparsed"
    if declined:
        status, reason = "refused", ""
    return Prediction(
        item_id=item_id,
        answer=None if declined else answer or None,
        status=status,
        raw_answer=raw,
        detail={
            **({"explanation": explanation} if explanation else {}),
            **_ending_details("", finish, reason),
        },
    )
