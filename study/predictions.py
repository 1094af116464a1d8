"""Predictions of models from files, and the reading of an answer out of a model's words.

Parsing is conservative: what is not plainly one option is `unparsed`, and counts as wrong later on,
never as a guess of ours. The rules are written out in ``docs/predictions-format.md``.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from study.bank.fields import missing, shown
from study.bank.source import Record, Repeated, Source, plain_key, read_source
from study.errors import BadFile

PredictionStatus = Literal["answered", "skipped", "unparsed", "refused"]

ID_KEYS = ("item_id", "question_id", "id")
ANSWER_KEYS = ("model_prediction", "prediction", "answer", "output", "model_output", "response")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# A letter as an answer: never part of a word, and not the article of "A large effusion".
_BRACKETED = r"[(\[]\s*([A-Za-z])\s*[)\]]"
_CAPITAL = r"([B-Z])\b(?!['’-]\w)"
_LETTER_A = r"(A)\b(?!['’-]\w)(?=\s*(?:$|[^\s\w(]|\n|\b(?:because|since|as|is|due|based|given)\b))"
_SMALL = r"([a-z])(?=\s*(?:$|[.,;:!)\]\n]))"
_ONE = rf"(?:{_BRACKETED}|{_CAPITAL}|{_LETTER_A}|{_SMALL})"
_MORE = r"(?:\s*(?:,|/|&|\bor\b|\band\b)\s*(?:[(\[]\s*[A-Za-z]\s*[)\]]|[A-Z]\b))"
_NOUN = r"(?:answer|option|choice|response|diagnosis|letter)"
_LEAD = r"(?:\s*(?:is|would be|should be|must be|=|:|-|\u2192))+\s*(?:(?:option|choice|letter)\s+)?"

_SHORT = re.compile(
    rf"(?:(?:option|choice|letter|answer)\s*:?\s*)?(?:{_BRACKETED}|([A-Za-z]))[.):,]*",
    re.IGNORECASE,
)
_LETTERED = re.compile(
    r"(?:(?i:option|choice)\s+)?(?:[(\[]\s*([A-Za-z])\s*[)\]][.:]?|([A-Za-z])(?:[.):]|\s+[-\u2013]\s))"
    r"\s*(\S.*)",
    re.DOTALL,
)
_TAGGED = re.compile(r"<(?:final_?)?answer>(.*?)</(?:final_?)?answer>", re.IGNORECASE | re.DOTALL)
_BOXED = re.compile(r"\\boxed\s*\{\s*(?:\\(?:text|textbf|mathrm|mathbf)\s*\{)?([^{}]*)\}")
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_FINAL = re.compile(rf"\b(?i:final\s+{_NOUN})(?i:{_LEAD})", re.DOTALL)
_SAID = re.compile(
    rf"(?i:\b(?:correct|best|right|my|likely|the|most\s+\w+)\s+{_NOUN}|^\W*{_NOUN})(?i:{_LEAD})"
    r"|\b(?i:i\s+(?:would\s+)?(?:choose|select|pick))\s+(?i:(?:option|choice|answer)\s+)?",
    re.MULTILINE,
)
_IS_CORRECT = re.compile(
    rf"(?:{_BRACKETED}|\b([B-Z]|A))\s+is\s+(?:the\s+)?(?:correct|right|best|most likely)\b"
)
_AT_MARK = re.compile(rf"{_ONE}({_MORE}?)")
_REFUSAL = re.compile(
    r"(?:i(?:'|’)?m sorry|i am sorry|sorry|i apologi[sz]e)?[\s,.;]*(?:but\s+)?"
    r"(?:as an ai[\w\s]*,\s*)?i\s*(?:cannot|can(?:'|’)?t|can not|am unable to|(?:'|’)m unable to|"
    r"am not able to|(?:'|’)m not able to|won(?:'|’)?t|will not|must decline to|decline to|refuse to)\s+"
    r"(?:answer|assist|help|comply|diagnose|interpret|analy[sz]e|"
    r"provide (?:a |an |any |you |with )*(?:medical |clinical )?"
    r"(?:answer|advice|diagnosis|interpretation|assistance|help))\b",
    re.IGNORECASE,
)


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
    keyless = 0
    for record in source.records:
        item_id, fault = _identified(record, found)
        if fault:
            faults.append(fault)
            continue
        has_key, found[item_id] = _said(record.value)
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
        notes=_notes(source, keyless),
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
    answer = parse_answer(raw, options)
    status: PredictionStatus = "answered" if answer else "unparsed"
    if answer is None and is_refusal(raw):
        status = "refused"
    return Prediction(item_id=item_id, answer=answer, status=status, raw_answer=raw)


def is_refusal(raw: str) -> bool:
    """Whether words are unmistakably a refusal: they begin with one and are short."""
    return len(raw) <= 600 and _REFUSAL.match(raw.strip()) is not None


def parse_answer(raw: str, options: Sequence[str]) -> str | None:
    """Read the one option that a model's words plainly name.

    Parameters
    ----------
    raw : str
        The model's words.
    options : sequence of str
        The item's options in canonical order, without letters.

    Returns
    -------
    str or None
        The option's letter; None where the words name none, several, or one outside the options.

    Notes
    -----
    In order, the first that says anything decides: the whole text as a letter, an option's text or
    both; `<answer>`, a boxed letter, "final answer" and JSON; "the answer is", "answer:", "B is
    correct"; a last or first line that is an answer by itself. What decides must say one thing.

    Examples
    --------
    >>> options = ("Pneumothorax", "Pleural effusion")
    >>> parse_answer("The answer is (B).", options), parse_answer("pleural effusion", options)
    ('B', 'B')
    >>> parse_answer("A large effusion is seen.", options) is None
    True
    """
    text = _THOUGHT.sub("\n", raw)
    text = re.sub(r"\*+|`+|__|\$|<\|[^|>]*\|>", "", text).strip()
    if not text:
        return None
    for step in (_whole, _final, _stated, _line):
        named = step(text, options)
        if named:
            return named.pop() if len(named) == 1 and named <= _letters(options) else None
    return None


def _letters(options: Sequence[str]) -> set[str]:
    return set(_LETTERS[: len(options)])


def _whole(text: str, options: Sequence[str]) -> set[str]:
    """Letters that a text names which is nothing but an answer."""
    named = {letter for letter, own in zip(_LETTERS, options, strict=False) if _same(text, own)}
    if short := _SHORT.fullmatch(text):
        return named | {(short[1] or short[2]).upper()}
    if not named and (lettered := _LETTERED.fullmatch(text)):
        meant = _whole_text(lettered[3], options)
        return meant | {(lettered[1] or lettered[2]).upper()} if meant else set()
    return named


def _whole_text(text: str, options: Sequence[str]) -> set[str]:
    return {letter for letter, own in zip(_LETTERS, options, strict=False) if _same(text, own)}


def _final(text: str, options: Sequence[str]) -> set[str]:
    """Letters given as final: tagged, boxed, in JSON or after "final answer"."""
    given = [match[1] for mark in (_TAGGED, _BOXED) for match in mark.finditer(text)]
    named: set[str] = set()
    for said in [*given, *_from_json(text)]:
        named |= _whole(said.strip(), options) or _stated(said, options) or {"?"}
    return named | _after(_FINAL, text, options)


def _stated(text: str, options: Sequence[str]) -> set[str]:
    named = _after(_SAID, text, options)
    return named | {match[1] or match[2] for match in _IS_CORRECT.finditer(text)}


def _after(mark: re.Pattern[str], text: str, options: Sequence[str]) -> set[str]:
    """Letters or option texts right after a mark such as "the answer is"."""
    named: set[str] = set()
    for match in mark.finditer(text):
        rest = text[match.end() :]
        line = rest.lstrip().partition("\n")[0]
        said = _whole(line, options) or _whole(re.split(r"(?<=[.;])\s", line)[0], options)
        if not said and (at := _AT_MARK.match(rest.lstrip())):
            said = {next(letter for letter in at.groups()[:4] if letter).upper()}
            said |= {"?"} if at[5] else set()
        named |= said
    return named


def _line(text: str, options: Sequence[str]) -> set[str]:
    """Letters of the last and the first line, when no other line begins with another letter."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    starts = {(m[1] or m[2]).upper() for m in map(_LETTERED.fullmatch, lines) if m}
    starts |= {(m[1] or m[2]).upper() for m in map(_SHORT.fullmatch, lines) if m}
    named = _whole(lines[-1], options) | _whole(lines[0], options)
    opening = _LETTERED.fullmatch(lines[0])
    if opening and (opening[1] or opening[2]).isupper():
        named |= starts
    return named | starts if named else set()


def _from_json(text: str) -> list[str]:
    """Answers in JSON objects within a text."""
    found = []
    for chunk in re.findall(r"\{[^{}]*\}", text):
        try:
            value = json.loads(chunk)
        except ValueError:
            continue
        for key, said in value.items():
            if plain_key(key) in ("answer", "finalanswer", "prediction", "option", "choice"):
                found.append(said if isinstance(said, str) else json.dumps(said))
    return found


def _same(text: str, option: str) -> bool:
    return _plain(text) == _plain(option)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .\"'“”")


def _is_record(found: dict[str, object]) -> bool:
    keys = {plain_key(key) for key in found}
    return any(plain_key(key) in keys for key in ID_KEYS) and _said(found)[0]


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
    value, item_id = record.value, record.key
    if isinstance(value, dict) and not item_id:
        given = _first(value, ID_KEYS)[1]
        item_id = str(given) if isinstance(given, str | int) else ""
    item_id = item_id.strip()
    if not item_id:
        return "", f"{record.place}: no item id; give the id of the item in {_or(ID_KEYS[:1])}"
    if item_id in found:
        return "", f"{item_id}: given again at {record.place}; keep one prediction an item"
    if isinstance(value, Repeated):
        return item_id, f"{item_id}: a key given twice; keep one of each"
    if not record.key and not isinstance(value, dict):
        return item_id, f"{record.place}: not a prediction but {shown(value)}; give an object"
    return item_id, ""


def _said(value: object) -> tuple[bool, object]:
    """Return whether a record has a key for its answer, and the first answer that is filled."""
    return _first(value, ANSWER_KEYS) if isinstance(value, dict) else (True, value)


def _first(record: Mapping[str, object], keys: Iterable[str]) -> tuple[bool, object]:
    plain = {plain_key(key): value for key, value in record.items()}
    given = [plain[plain_key(key)] for key in keys if plain_key(key) in plain]
    return bool(given), next((value for value in given if not missing(value)), None)


def _notes(source: Source, keyless: int) -> tuple[str, ...]:
    known = {plain_key(key) for key in (*ID_KEYS, *ANSWER_KEYS)}
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
