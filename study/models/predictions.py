"""Predictions of models from files, as ``docs/predictions-format.md`` describes them."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from study.base.errors import BadFile
from study.base.text import LONGEST, id_key, natural, text_key
from study.models.answer_columns import answer_keys, reference_notes
from study.models.answer_mentions import LETTERS
from study.models.answer_parser import STANDARD, VERSION, answer_in, words_in
from study.models.answer_text import is_unfinished
from study.models.files import (
    ANSWER_KEYS,
    ID_KEYS,
    Meant,
    Records,
    check_columns,
    check_roles,
    first_of,
    is_used,
    kinds,
    read_records,
    used_by_name,
)
from study.models.finish_reasons import CUT_OFF, EMPTY, is_cut_off
from study.models.harnesses import ModelOutput, Shape, name_of, named, plain, shape_of
from study.models.image_marks import boxes_of, map_of
from study.models.model_protocol import Shown
from study.models.refusals import is_refusal
from study.store.models import standing_rank
from study.tables.columns import listed, plain_key
from study.tables.source import Record, Repeated
from study.tables.values import as_text, missing, shown

PredictionStatus = Literal["answered", "skipped", "unparsed", "refused"]

_PAPER_NUMBER = "index"
_BY_NUMBER = (
    "column index is taken for the item's id; if the file answers an exam paper, give its"
    " paper.json with it, which holds the id of each index"
)
_MOST_FAULTS = 100
_REASONS = {
    CUT_OFF: "{n} outputs were cut off at the token limit and are unparsed",
    EMPTY: "{n} outputs are empty although the model finished, and are unparsed",
}
_LEAST_PERCENTAGE = 10
"""A largest confidence of no more than that is hardly one of 0 to 100."""
_OTHER_FORM = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""What reading an entry ends in where a value is not of the type that its harness writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a model said about one item, in one run under one condition.

    Attributes
    ----------
    item_id : str
        The item.
    answer : str or None
        Letter of an option in canonical order, the words where it was asked open-ended; None unless
        `status` is `answered`.
    status : {"answered", "skipped", "unparsed", "refused"}
        `skipped`: nothing was said. `unparsed`: something that is not plainly one option.
        `refused`: an unmistakable refusal to answer.
    raw_answer : str
        The model's words, verbatim.
    condition : str
        What the model was shown, such as `image-absent`; empty where the file does not say.
    run : str
        What the run is called; empty where there is one only.
    repeat : int
        Which run it is, from 1.
    confidence : float or None
        How sure the model is of its answer, from 0 to 1.
    detail : mapping
        What else is known: the `rule` by which the words were read, `probabilities` by letter,
        the `order` of the options, `prompt`, `explanation`, and why the request `failed`.
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
    """A file of predictions as read, or several that make one.

    Attributes
    ----------
    shape : str
        What the file is, in words, such as `VLMEvalKit XLSX table`.
    n_rows : int
        How many entries it holds.
    columns : tuple of str
        The names in them.
    sha256 : str
        Of the file's bytes, in hexadecimal; of several files, of their hashes one a line.
    predictions : tuple of Prediction
        For items that were asked about, in file order.
    unknown_ids : tuple of str
        Ids in the file that are not among the items, in file order.
    notes : tuple of str
        What was not understood or had to be decided, with counts.
    needs_paper : bool
        Whether entries are known by a number only, which an exam paper's `paper.json` explains.
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
        """Return how many runs there are."""
        return max((one.repeat for one in self.predictions), default=1)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return the conditions there are answers under, the standing one first."""
        return tuple(sorted({one.condition for one in self.predictions}, key=standing_rank))

    @property
    def standing(self) -> tuple[Prediction, ...]:
        """Return the answers that stand for the model: the first run's, shown what readers are."""
        condition = self.conditions[0] if self.predictions else ""
        return tuple(
            one for one in self.predictions if (one.repeat, one.condition) == (1, condition)
        )


def read_predictions(
    *paths: Path,
    options: Mapping[str, tuple[str, ...]],
    known_as: Mapping[str, str] = MappingProxyType({}),
    meant: Meant | None = None,
) -> PredictionFile:
    """Read a model's predictions.

    Parameters
    ----------
    *paths : Path
        Files of any shape that ``docs/predictions-format.md`` names. Of several, those that say
        something of the same items are runs, in the order given; an exam paper's `paper.json` among
        them tells the order of options, the condition and the items' numbers.
    options : mapping of str to tuple of str
        The options of each item by its id, in canonical order, without letters.
    known_as : mapping of str to str, optional
        Items' ids by other ids that they have in exam papers.
    meant : mapping of str to str, optional
        The columns by what they say; without it they are recognised.

    Returns
    -------
    PredictionFile

    Raises
    ------
    BadFile
        When a file cannot be read, with every fault listed: entries that are none, without an id,
        or with an id given before.
    BadInput
        When `meant` names what no column can mean.
    """
    if meant is not None:
        check_roles(meant)
    paper = next((one for path in paths if (one := _paper(path, known_as))), None)
    read = [_said_in(path, meant) for path in paths if not paper or path != paper.path]
    if not read:
        raise BadFile(f"{paths[0]} is an exam paper without answers; give it beside the answers")
    faults = [fault for one in read for fault in one.faults]
    said = [each for one in read for each in one.said]
    where = ", ".join(str(path) for path in paths)
    if not faults and not any(one.has_words or _has_more(one) for one in said):
        raise BadFile(
            f"{where} holds no predictions. Columns: {_columns_of(read)}. Name the column of the"
            f" answers {' or '.join(ANSWER_KEYS[:4])}, or name the columns: on the page, or with"
            " --columns id=COLUMN,answer=COLUMN"
        )
    reader = _Reader(options, explicit=meant or {})
    id_name = _id_name(said, _item_named(options, known_as))
    predictions = reader.predictions(_with_runs(read, options, known_as, paper, id_name))
    faults += reader.faults
    if faults:
        more = len(faults) - _MOST_FAULTS
        lines = faults[:_MOST_FAULTS] + ([f"and {more:,} more"] if more > 0 else [])
        raise BadFile(f"{where} has faults:\n" + "\n".join(f"- {line}" for line in lines))
    needs_paper = paper is None and plain_key(id_name) == _PAPER_NUMBER
    numbered = needs_paper and all(one.item_id.isdecimal() for one in predictions)
    by_number = (_BY_NUMBER,) if numbered else ()
    return PredictionFile(
        shape=" and ".join(dict.fromkeys(one.shape for one in read)),
        n_rows=sum(len(one.found.records) for one in read),
        columns=tuple(dict.fromkeys(column for one in read for column in one.found.columns)),
        sha256=_sha256([one.found.sha256 for one in read]),
        predictions=tuple(predictions),
        unknown_ids=tuple(reader.unknown),
        notes=(*(note for one in read for note in one.notes), *reader.notes(), *by_number),
        needs_paper=needs_paper,
    )


def _columns_of(read: Sequence["_Read"]) -> str:
    return listed(tuple(dict.fromkeys(name for one in read for name in one.found.columns)))


def columns_of(path: Path) -> tuple[str, ...]:
    """Return the names of a file's columns, to be named; raises `BadFile` as `read_records`."""
    return read_records(path, is_record=_is_record).columns


def _sha256(of_files: Sequence[str]) -> str:
    if len(of_files) == 1:
        return of_files[0]
    return sha256("".join(f"{one}\n" for one in of_files).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paper:
    """What an exam paper tells of answers that came back without it."""

    path: Path
    condition: str
    orders: Mapping[str, str]
    ids: Mapping[str, str]

    def beside(self, item_id: str, said: Mapping[str, object]) -> dict[str, object]:
        """Return what was said beside an answer, with what the paper adds."""
        told = {"order": self.orders.get(item_id), "condition": self.condition}
        return {**said, **{key: one for key, one in told.items() if missing(said.get(key))}}


def _paper(path: Path, known_as: Mapping[str, str]) -> _Paper | None:
    """Return the exam paper that a file is the `paper.json` of, or None."""
    if path.name != "paper.json":
        return None
    try:
        about = json.loads(path.read_bytes())
        items = [(one["index"], str(one["item_id"]), one["shown_order"]) for one in about["items"]]
        condition = about["model_protocol"]["condition"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return _Paper(
        path=path,
        condition=str(condition),
        orders={known_as.get(item_id, item_id): str(order) for _, item_id, order in items},
        ids={str(number): known_as.get(item_id, item_id) for number, item_id, _ in items},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What a file says, before it is held against the items."""

    found: Records
    shape: str
    said: Sequence[ModelOutput]
    faults: Sequence[str]
    notes: Sequence[str]


def _said_in(path: Path, meant: Meant | None) -> _Read:
    found = read_records(path, is_record=partial(_is_record, meant=meant), kind_of=kinds(meant))
    faults = [str(fault) for fault in found.faults]
    notes = list(found.notes)
    harness = shape_of(found) if meant is None else None
    words: tuple[str, ...] = ()
    if meant is not None:
        check_columns(path, meant, found)
        shape, said = found.dress, [named(record, meant) for record in found.records]
    elif harness:
        shape, said = harness.name, list(_harness_said(harness, found, faults, notes))
    else:
        words = answer_keys(found)
        shape, said = name_of(found), [plain(record, words) for record in found.records]
        notes += _unused(found.records, words)
    notes += reference_notes(path, found, words, meant)
    faults += [
        f"{record.key or record.place}: a key given twice; keep one of each"
        for record in found.records
        if isinstance(record.value, Repeated)
    ]
    return _Read(found=found, shape=shape, said=said, faults=faults, notes=notes)


def _is_record(found: dict[str, object], meant: Meant | None = None) -> bool:
    if meant is not None:
        return set(meant.values()) <= found.keys()
    if "custom_id" in found or "doc_id" in found:
        return True
    return first_of(found, ID_KEYS)[0] and first_of(found, ANSWER_KEYS)[0]


def _harness_said(
    harness: Shape, found: Records, faults: list[str], notes: list[str]
) -> Iterator[ModelOutput]:
    filters: dict[str, None] = {}
    for record in found.records:
        if not isinstance(record.value, dict):
            faults.append(f"{record.place}: not an entry of its kind but {shown(record.value)}")
            continue
        try:
            outputs = list(harness.read(record.value))
        except _OTHER_FORM:
            faults.append(f"{record.place}: not an entry as in {harness.name}; write it again")
            continue
        for read in outputs:
            said = replace(read, place=record.place)
            name = str(said.beside.get("filter"))
            filters.setdefault(name)
            if name == next(iter(filters)):
                yield said
    if len(filters) > 1:
        names = ", ".join(filters)
        notes.append(f"each sample stands once a filter ({names}); its words are taken once")


def _unused(records: Iterable[Record], words: Sequence[str]) -> Iterator[str]:
    known = used_by_name(words)
    ignored = dict.fromkeys(
        key
        for record in records
        if isinstance(record.value, dict)
        for key in record.value
        if not is_used(key, known)
    )
    if ignored:
        yield f"columns not used: {listed(tuple(ignored))}"


def _has_more(said: ModelOutput) -> bool:
    return bool(said.failed or said.refused) or not missing(said.beside.get("probabilities"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What was said of an item whose id was made out, in a run that has its name."""

    item_id: str
    run: str
    said: ModelOutput


def _with_runs(
    read: Sequence[_Read],
    options: Mapping[str, object],
    known_as: Mapping[str, str],
    paper: _Paper | None,
    chosen: str,
) -> Iterator[_Found]:
    """Name item and run; of several files that say something of the same items each is a run."""
    item_named = _item_named(options, known_as)
    is_number = plain_key(chosen) == _PAPER_NUMBER
    found = [
        [
            _Found(
                item_id=item_named(given := _id(said, chosen)) or given,
                run=_label(said.beside.get("run")),
                said=said,
            )
            for said in one.said
        ]
        for one in read
    ]
    ids = [{one.item_id for one in each} for each in found]
    overlap = sum(len(one) for one in ids) > len(set().union(*ids))
    unnamed = not any(one.run for each in found for one in each)
    for n, each in enumerate(found, 1):
        for one in each:
            run, item_id, said = one.run, one.item_id, one.said
            if overlap and unnamed:
                run = str(n)
            if paper:
                if is_number or (item_id not in options and plain_key(chosen) != "docid"):
                    item_id = paper.ids.get(item_id, item_id)  # which begin at 1, doc_id at 0
                said = replace(said, beside=paper.beside(item_id, said.beside))
            yield _Found(item_id=item_id, run=run, said=said)


def _item_named(options: Mapping[str, object], known_as: Mapping[str, str]) -> Callable[[str], str]:
    """Return what finds the item that an id names, or that the one id like it names; else empty."""
    known = {**{item_id: item_id for item_id in options}, **known_as}
    by_form: dict[str, str] = {}
    for name, item_id in known.items():
        if by_form.setdefault(form := id_key(name), item_id) != item_id:
            by_form[form] = ""
    return lambda given: known.get(given) or by_form.get(id_key(given), "")


def _id_name(said: Sequence[ModelOutput], item_named: Callable[[str], str]) -> str:
    """Return the name under which the ids stand: the first that knows any item, else the first."""
    names = dict.fromkeys(name for one in said for name in one.ids)
    known = (n for n in names if any(item_named(_id_text(one.ids.get(n)) or "") for one in said))
    return next(known, next(iter(names), ""))


def _id(said: ModelOutput, chosen: str) -> str:
    return _id_text(said.ids.get(chosen, next(iter(said.ids.values()), None))) or ""


def _id_text(value: object) -> str | None:
    return as_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def _label(value: object) -> str:
    """Return what a run or a condition is called, as text."""
    if missing(value) or isinstance(value, bool):
        return ""
    text = _id_text(value) if isinstance(value, int | float) else as_text(value)
    return (text or str(value)).removesuffix(".0")[:LONGEST]


class _Reader:
    """Makes predictions of what was said, and collects what is wrong and what is to be noted."""

    def __init__(self, options: Mapping[str, tuple[str, ...]], *, explicit: Meant) -> None:
        self._options, self._explicit = options, explicit
        self._counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.unknown: dict[str, None] = {}

    def predictions(self, found: Iterable[_Found]) -> list[Prediction]:
        """Return the predictions for the items, in file order."""
        there: dict[tuple[str, str, str], _Found] = {}
        for one in found:
            condition = _condition(one.said.beside.get("condition"))
            key = (one.item_id, condition, one.run)
            place = one.said.place
            if not one.item_id:
                self.faults.append(_no_id(one.said))
            elif key in there:
                self.faults.append(
                    f"{one.item_id}: given again at {place}; keep one prediction an item, or say"
                    " which column tells runs apart"
                )
            else:
                there[key] = one
        runs = sorted({run for *_, run in there})  # a fixed order of names with the same key
        ranks = {run: n for n, run in enumerate(sorted(runs, key=natural), 1)}
        scale = self._scale([one.said for one in there.values()])
        made = []
        for (item_id, condition, run), one in there.items():
            self._note(one.said)
            if item_id not in self._options:
                self.unknown[item_id] = None
                continue
            label = "" if len(ranks) == 1 and run == "1" else run
            made.append(self._prediction(one, condition, label, ranks[run], scale))
        if any(one.condition == "options-shuffled" and "order" not in one.detail for one in made):
            self._counts["letters under options-shuffled are taken in canonical order"] = 0
        return made

    def notes(self) -> Iterator[str]:
        """Yield what is to be known, with counts."""
        for what, n in self._counts.items():
            yield what.replace("{n}", f"{n:,}")

    def _note(self, said: ModelOutput) -> None:
        if said.failed:
            self._counts[f"{{n}} requests failed ({said.failed}) and count as skipped"] += 1
        elif not said.has_words and not _has_more(said):
            self._counts["{n} entries without a prediction count as skipped"] += 1

    def _scale(self, said: Sequence[ModelOutput]) -> Mapping[str, float]:
        """Return what confidence and probabilities are divided by: 100 where one is above 1."""
        scale = {}
        for role in ("confidence", "probabilities"):
            numbers = [n for one in said for n in _numbers(one.beside.get(role))]
            most = max(numbers, default=0.0)
            scale[role] = 100.0 if 1 < most <= 100 else 1.0
            if scale[role] > 1:
                self._note_scale(role, most, sum(0 < n <= 1 for n in numbers))
        return scale

    def _note_scale(self, role: str, most: float, n_small: int) -> None:
        """Note a scale that is hardly one of percentages."""
        if most <= _LEAST_PERCENTAGE:
            ends = " or ".join(dict.fromkeys((f"{most:g}", f"{_LEAST_PERCENTAGE:g}")))
            self._counts[
                f"{role} is read as 0 to 100, and the largest is {most:g} (taken as"
                f" {most / 100:g}); if the scale ends at {ends}, divide by its end"
            ] = 0
        elif n_small:
            self._counts[
                f"{role} is read as 0 to 100, as the largest is {most:g}; {n_small:,} values are 1"
                " or less and are taken as at most 0.01. Use one scale"
            ] = 0

    def _prediction(
        self, one: _Found, condition: str, run: str, repeat: int, scale: Mapping[str, float]
    ) -> Prediction:
        said, options = one.said, self._options[one.item_id]
        where = f"{one.item_id} ({said.place})"
        order = self._order(where, said.beside.get("order"), len(options))
        likely = self._probabilities(where, said.beside.get("probabilities"), options, scale)
        words = None if said.failed else said.words
        finish = None if said.failed else said.beside.get("finish")
        read = (
            in_words(one.item_id, words, refused=said.refused, finish=finish)
            if condition == Shown.OPEN_ENDED
            else predict(
                one.item_id,
                words,
                options,
                order=order,
                probabilities=likely,
                refused=said.refused,
                finish=finish,
            )
        )
        if read.detail.get("reason"):
            self._counts[_REASONS[read.detail["reason"]]] += 1
        confidence = self._confidence(where, said.beside.get("confidence"), scale)
        if confidence is None and likely and read.answer:
            confidence = likely.get(read.answer)
        detail = {
            **read.detail,
            "order": order,
            "probabilities": likely,
            "prompt": _words(said.beside.get("prompt")),
            "explanation": _words(said.beside.get("explanation"))
            or read.detail.get("explanation", ""),
            "boxes": self._marks("boxes", where, said, boxes_of),
            "map": self._marks("map", where, said, map_of),
            "failed": said.failed,
        }
        return Prediction(
            item_id=one.item_id,
            answer=read.answer,
            status=read.status,
            raw_answer=read.raw_answer,
            condition=condition,
            run=run,
            repeat=repeat,
            confidence=confidence,
            detail={key: value for key, value in detail.items() if value},
        )

    def _confidence(self, where: str, given: object, scale: Mapping[str, float]) -> float | None:
        if missing(given):
            return None
        found = [value / scale.get("confidence", 1.0) for value in _numbers(given)]
        if len(found) == 1 and 0 <= found[0] <= 1:
            return found[0]
        self._bad("confidence", where, given, "a number from 0 to 1, or from 0 to 100")
        return None

    def _probabilities(
        self, where: str, given: object, options: Sequence[str], scale: Mapping[str, float]
    ) -> dict[str, float]:
        if missing(given):
            return {}
        given = _loaded(given)
        if isinstance(given, list):
            given = dict(zip(LETTERS, given, strict=False)) if len(given) == len(options) else {}
        found: dict[str, float] = {}
        named = {text_key(text): n for n, text in enumerate(options)}
        for key, value in given.items() if isinstance(given, dict) else ():
            if missing(value):
                continue
            n = named.get(text_key(str(key)), LETTERS.find(id_key(str(key)).upper()))
            number = [one / scale.get("probabilities", 1.0) for one in _numbers(value)]
            if len(str(key)) == 1 and not 0 <= n < len(options) and number == [0]:
                continue
            if not 0 <= n < len(options) or len(number) != 1 or not 0 <= number[0] <= 1:
                found = {}
                break
            found[LETTERS[n]] = number[0]
        if not found and not (isinstance(given, dict) and all(map(missing, given.values()))):
            self._bad("probabilities", where, given, "one number an option, from 0 to 1")
        return found

    def _marks(
        self,
        role: str,
        where: str,
        said: ModelOutput,
        read: Callable[[object], list[dict[str, Any]] | None],
    ) -> list[dict[str, Any]]:
        value = said.beside.get(role)
        if missing(value):
            return []
        marks = read(_loaded(value))
        if marks is None:
            self._bad(role, where, value, "a list as in docs/predictions-format.md")
        return marks or []

    def _order(self, where: str, given: object, n_options: int) -> str:
        if missing(given):
            return ""
        letters = "".join(map(str, given)) if isinstance(given, list) else str(given)
        letters = "".join(sign for sign in letters.upper() if sign.isalpha())
        if sorted(letters) != list(LETTERS[:n_options]):
            self.faults.append(
                f"{where}: {shown(given)} is no order of {n_options} options; write their canonical"
                " letters as they were shown, such as CADB"
            )
            return ""
        return letters if letters != LETTERS[:n_options] else ""

    def _bad(self, role: str, where: str, given: object, wanted: str) -> None:
        if any(key.startswith(role[:11]) for key in self._explicit):
            self.faults.append(f"{where}: the {role} {shown(given)} is not {wanted}")
        else:
            self._counts[f"{role} of {{n}} entries is not {wanted}, and not used"] += 1


def _no_id(said: ModelOutput) -> str:
    if said.ids or said.has_words is False or isinstance(said.words, dict | str | list):
        return f"{said.place}: no item id; give the id of the item as {ID_KEYS[0]}"
    return f"{said.place}: not a prediction but {shown(said.words)}; give an object"


def _condition(value: object) -> str:
    """Return a condition's name in the spelling of the protocol's: `image-absent`."""
    return "-".join(_label(value).lower().replace("_", " ").replace("-", " ").split())


def _words(value: object) -> str:
    return "" if missing(value) else _text(value)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates


def _loaded(given: object) -> object:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def _numbers(given: object) -> list[float]:
    """Return the numbers in a cell, a list or an object; a percentage counts as its hundredth."""
    given = _loaded(given)
    if isinstance(given, dict):
        return [number for value in given.values() for number in _numbers(value)]
    if isinstance(given, list):
        return [number for value in given for number in _numbers(value)]
    if isinstance(given, bool) or given is None:
        return []
    text = str(given).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return []
    return [number / 100 if text.endswith("%") else number]


def predict(
    item_id: str,
    said: object,
    options: Sequence[str],
    *,
    order: str = "",
    probabilities: Mapping[str, float] | None = None,
    refused: bool = False,
    finish: object = None,
    rules: str = STANDARD,
) -> Prediction:
    """Make a prediction of what a model said.

    Parameters
    ----------
    item_id : str
        The item.
    said : object
        The model's words; null or blank for none; other JSON values are read as their text.
    options : sequence of str
        The item's options in canonical order, without letters.
    order : str
        The canonical letters in the order in which the model was shown the options, if another.
    probabilities : mapping of str to float, optional
        The options' probabilities by letter: without words the largest is the answer.
    refused : bool
        Whether the provider says that the model declined.
    finish : object
        Why the output ended, as the harness says: text, or an object with a type.
    rules : str
        By which of `study.models.answer_parser.RULES` the words are read.

    Returns
    -------
    Prediction
    """
    raw = "" if missing(said) else _text(said)
    reason = _unparsed_because(raw, finish, probabilities)
    answer, rule = None, ""
    if not reason and raw:
        places = [LETTERS.index(letter) for letter in order] or list(range(len(options)))
        answer, rule = answer_in(raw, [options[place] for place in places], rules)
        answer = LETTERS[places[LETTERS.index(answer)]] if answer else None
    elif not reason and probabilities:
        most = max(probabilities.values())
        best = [letter for letter, value in probabilities.items() if value == most]
        answer, rule = (best[0] if len(best) == 1 else None), "most probable"
    status: PredictionStatus = "unparsed" if raw or reason or probabilities else "skipped"
    if answer:
        status = "answered"
    elif refused or (raw and not reason and is_refusal(raw)):
        status, reason = "refused", ""
    return Prediction(
        item_id=item_id,
        answer=answer,
        status=status,
        raw_answer=raw if not isinstance(said, str) else said,
        detail={
            **({"rule": rule} if rule and answer else {}),
            **({"rules": rules} if rules != STANDARD else {}),
            **_ended(raw, finish, reason),
        },
    )


def _unparsed_because(raw: str, finish: object, probabilities: object) -> str:
    """Return why an output is no whole answer, whatever it says; empty where it may be one."""
    if probabilities and not raw:
        return ""
    if is_cut_off(finish) or is_unfinished(raw):
        return CUT_OFF
    return EMPTY if not raw and not missing(finish) else ""


def _ended(raw: str, finish: object, reason: str) -> dict[str, Any]:
    """Return what is kept of how an output was read and ended."""
    stop = finish if isinstance(finish, str) else json.dumps(finish) if finish else ""
    kept = {"parser": VERSION if raw else 0, "stop": stop[:LONGEST], "reason": reason}
    return {key: value for key, value in kept.items() if value}


def in_words(
    item_id: str, said: object, *, refused: bool = False, finish: object = None
) -> Prediction:
    """Make a prediction of what a model answered in its own words: no letter is looked for in them.

    Parameters
    ----------
    item_id : str
        The item.
    said : object
        The model's words; null or blank for none.
    refused : bool
        Whether the provider says that the model declined.

    Returns
    -------
    Prediction
    """
    raw = "" if missing(said) else _text(said)
    answer, explanation = words_in(raw)
    declined = refused or is_refusal(raw)
    reason = _unparsed_because(raw, finish, None)
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
            **_ended("", finish, reason),
        },
    )
