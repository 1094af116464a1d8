"""Decides which columns contain a model's answers, and which may be the reference standard.

In question banks and in the tables of most harnesses, `answer` is the correct option. Such a column
is therefore read as the model's only if the file has no questions, no other name of the reference
standard and no second column of answers. An ambiguous file is refused unless its columns are
specified.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from study.base.bank_model import LETTERS
from study.base.errors import BadFile
from study.models.files import (
    ANSWER_KEYS,
    ID_KEYS,
    LATER_WORD_KEYS,
    PREDICTION_KEYS,
    WORD_KEYS,
    ColumnRoles,
    Records,
    first_of,
    has_probabilities,
    is_used,
    used_by_name,
    value_of,
)
from study.tables.columns import column_list, plain_key
from study.tables.values import as_text, is_missing

_MIN_COMPARED = 3
_TABLE_FORMATS = ("csv", "xlsx", "parquet")
_REFERENCE_WORDS = frozenset(
    {
        *("truth", "groundtruth", "true", "gold", "goldstandard", "gt", "correct"),
        *("correctanswer", "rightanswer", "reference", "referencestandard", "ref"),
        *("target", "targets"),
        *("label", "labels", "solution", "solutions", "expected", "ideal", "cop", "decision"),
        *("wahrheit", "referenz", "referenzstandard", "richtig", "korrekt"),
    }
)
"""Words in names of the reference standard."""

_REFERENCE_WORDS_WITH_ANSWER = frozenset(
    {"idx", "index", "key", "text", "letter", "type", "choice", "option"}
)
_MODEL_WORDS = frozenset({"model", "output", "response", "raw"})
_PREDICTION_WORDS = frozenset({"pred", "predicted", "prediction"})
_OPTION_LETTERS = frozenset(LETTERS.lower())
_WORD = re.compile(r"[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+")

_QUESTION_COLUMNS = frozenset(
    {
        *("question", "questions", "questiontext", "query", "problem", "prompt", "instruction"),
        *("stem", "options", "choices", "candidates", "distractors", "multiplechoices", "hint"),
    }
)
_OPTION_COLUMN = re.compile(r"(?:option|choice|op|ending)(?:[a-h]|[0-9])")


def _words(name: str) -> set[str]:
    return {word.casefold() for word in (*_WORD.findall(name), plain_key(name))}


def may_be_reference(name: str) -> bool:
    """Return whether a column, or a file, has a usual name of the reference standard.

    >>> [name for name in ("Ground truth", "correctAnswer", "answer_idx") if may_be_reference(name)]
    ['Ground truth', 'correctAnswer', 'answer_idx']
    >>> may_be_reference("prediction"), may_be_reference("predicted_label")
    (False, False)
    """
    words = _words(name)
    if words & (_MODEL_WORDS | _PREDICTION_WORDS):
        return False
    return bool(words & _REFERENCE_WORDS) or (
        "answer" in words and bool(words & _REFERENCE_WORDS_WITH_ANSWER)
    )


def question_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns that contain questions or options.

    >>> question_columns(["index", "Question", "A", "B", "answer"])
    ['Question', 'A', 'B']
    >>> question_columns(["a", "answer"])
    []
    """
    names = {plain_key(column): column for column in columns}
    single = [letter.lower() for letter in LETTERS if letter.lower() in names]
    letters = set(single) if {"a", "b"} <= set(single) else set()
    return [
        column
        for key, column in names.items()
        if key in _QUESTION_COLUMNS or key in letters or _OPTION_COLUMN.fullmatch(key)
    ]


def is_medevalkit(keys: Iterable[str]) -> bool:
    """Return whether columns, as `plain_key` returns them, are those of MedEvalKit."""
    keys = set(keys)
    return {"response", "answer", "choices"} <= keys and not keys & {"prediction", "output"}


def answer_keys(source: Records) -> tuple[str, ...]:
    """Return the names under which a file's answers are read if no columns were specified.

    Raises
    ------
    BadFile
        A column for ids or answers is missing, or `answer` may be the reference standard.
    """
    keys = {plain_key(column) for column in source.columns}
    words = _usual_answer_keys(keys)
    if source.format in _TABLE_FORMATS:
        _check_columns(source, words)
    if words == WORD_KEYS and (reason := _reason_for_doubt(source, keys)):
        raise BadFile(
            f"{source.name}: {reason}. Columns: {column_list(source.columns)}."
            f" {_how_to_name(source)}"
        )
    return words


def _usual_answer_keys(keys: set[str]) -> tuple[str, ...]:
    if keys & {plain_key(key) for key in PREDICTION_KEYS}:
        return PREDICTION_KEYS
    if is_medevalkit(keys):
        return ("response",)
    if "text" in keys and keys & {"answerid", "modelid"}:  # written by LLaVA's own scripts
        return ("text",)
    if keys & {plain_key(key) for key in LATER_WORD_KEYS}:
        return LATER_WORD_KEYS
    return WORD_KEYS


def _check_columns(source: Records, words: Sequence[str]) -> None:
    expected_keys = words if words != WORD_KEYS else ANSWER_KEYS
    if not first_of(dict.fromkeys(source.columns), ID_KEYS)[0]:
        needed = f"the item's id (such as {ID_KEYS[0]})"
    elif not first_of(dict.fromkeys(source.columns), expected_keys)[0] and not has_probabilities(
        source.columns
    ):
        needed = f"the model's answers (such as {PREDICTION_KEYS[0]})"
    else:
        return
    raise BadFile(
        f"{source.name} has no column for {needed}. Columns: {column_list(source.columns)}."
        f" {_how_to_name(source)}"
    )


def _how_to_name(source: Records) -> str:
    return (
        "If one of them holds the model's answers, name the columns: on the page, or with"
        " --columns id=COLUMN,answer=COLUMN"
    )


def _reason_for_doubt(source: Records, keys: set[str]) -> str:
    """Return why a file's answers may be the reference standard, or an empty string."""
    answer, *others = WORD_KEYS
    outputs = [key for key in others if plain_key(key) in keys]
    if answer not in keys:
        is_task = "instruction" in keys and bool(outputs)
        return f"column “{outputs[0]}” may be the reference standard" if is_task else ""
    neighbours = [
        *question_columns(source.columns),
        *filter(may_be_reference, source.columns),
        *_other_answer_columns(source),
    ]
    if neighbours := list(dict.fromkeys(neighbours)):
        return (
            f"column “{answer}” may be the reference standard, as the file also has"
            f" {column_list(neighbours)}, and it was not read as the model's answers"
        )
    if outputs and _is_output_redundant(source, outputs):
        return (
            f"both “{answer}” and “{outputs[0]}” are present, and “{answer}” may be the reference"
            " standard"
        )
    return ""


def _other_answer_columns(source: Records) -> list[str]:
    """Return further columns whose values are option letters, or also occur in column `answer`."""
    known = used_by_name(WORD_KEYS)
    values: dict[str, set[str]] = defaultdict(set)
    for record in source.records:
        for column, value in record.value.items() if isinstance(record.value, Mapping) else ():
            if isinstance(value, str) and not is_missing(value):
                values[column].add(_comparable(value))
    answers = {
        text for column in values if plain_key(column) == WORD_KEYS[0] for text in values[column]
    }
    return [
        column
        for column, texts in values.items()
        if not (is_used(column, known) or _MODEL_WORDS & _words(column))
        and (texts <= _OPTION_LETTERS or texts & answers)
    ]


def _is_output_redundant(source: Records, outputs: Sequence[str]) -> bool:
    """Return whether no entry has an output, or some entry has both an answer and an output."""
    filled = [
        (first_of(record.value, WORD_KEYS[:1])[1], first_of(record.value, outputs)[1])
        for record in source.records
        if isinstance(record.value, Mapping)
    ]
    both = any(answer is not None and output is not None for answer, output in filled)
    return both or all(output is None for _, output in filled)


def reference_notes(
    path: Path, source: Records, words: Sequence[str], column_roles: ColumnRoles | None
) -> Iterator[str]:
    """Yield evidence that a file's answers are the reference standard.

    Only the file itself is examined; the bank's reference standard is not read.
    """
    used = _used_columns(source, words, column_roles)
    for column in used if column_roles is not None else ():
        if may_be_reference(column) or (_names_answer(column) and question_columns(source.columns)):
            yield (
                f"the answers are read from column “{column}”, which often holds the reference"
                " standard; check that it holds the model's answers"
            )
    others = [name for name in source.columns if name not in used and _names_answer(name)]
    for column in others:
        if n := _n_equal(source, used, column):
            yield (
                f"all {n:,} answers equal column “{column}”; check that they are the model's and"
                " not the reference standard"
            )
    if may_be_reference(path.stem):
        yield (
            f"the file is called {path.name}; check that it holds the model's answers and not the"
            " reference standard"
        )


def _names_answer(column: str) -> bool:
    return plain_key(column) == WORD_KEYS[0] or may_be_reference(column)


def _used_columns(
    source: Records, words: Sequence[str], column_roles: ColumnRoles | None
) -> list[str]:
    if column_roles is None:
        used_keys = {plain_key(key) for key in words}
    else:
        used_keys = {
            plain_key(column_roles[role]) for role in ("answer", "output") if role in column_roles
        }
    return [column for column in source.columns if plain_key(column) in used_keys]


def _n_equal(source: Records, used: Sequence[str], column: str) -> int:
    """Return how many answers equal another column, if all of them do and there are enough."""
    pairs = [
        (first_of(record.value, used)[1], value_of(record.value, column))
        for record in source.records
        if isinstance(record.value, Mapping)
    ]
    compared = [
        (_comparable(answer), _comparable(other))
        for answer, other in pairs
        if not is_missing(answer)
    ]
    is_equal = len(compared) >= _MIN_COMPARED and all(answer == other for answer, other in compared)
    return len(compared) if is_equal else 0


def _comparable(value: object) -> str:
    return " ".join((as_text(value) or str(value)).split()).casefold().strip("().:")
