"""Which columns of a file say what: known by their usual names, or named by whoever adds it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from study.bank.fields import missing
from study.bank.source import plain_key
from study.base.canonical import stamp
from study.base.errors import BadFile, BadInput
from study.base.translation import t
from study.models.files import Records
from study.store import Store, models

ROLES = (
    "id",
    "answer",
    "output",
    "run",
    "condition",
    "confidence",
    "probabilities",
    "order",
    "prompt",
    "explanation",
)
"""What a column can mean; beside these, `probability_A`, `probability_B`, ..."""

_PROBABILITY = re.compile(r"probability_[A-H]")

ID_KEYS = ("item_id", "question_id", "id", "index", "data_point_id", "custom_id")
PREDICTION_KEYS = ("model_prediction", "prediction")
WORD_KEYS = ("answer", "output", "model_output", "response")
LATER_WORD_KEYS = ("model_answer", "model_response", "pred", "generated_text")
"""Names without doubt, which count where none of the above is there."""

ANSWER_KEYS = (*PREDICTION_KEYS, *WORD_KEYS, *LATER_WORD_KEYS)
_BESIDE = {
    "run": ("run", "epoch"),
    "condition": ("condition",),
    "confidence": ("confidence",),
    "probabilities": ("probabilities", "probs"),
    "order": ("shown_order",),
}

Meant = Mapping[str, str]
"""The column that says each thing, by what it says."""


def parsed_columns(words: str) -> dict[str, str]:
    """Read what `--columns` says, such as ``id=case,output=reply,run=seed``.

    Raises
    ------
    BadInput
        It is not of that form, names something that no column can mean, or means one thing twice.

    Examples
    --------
    >>> parsed_columns("id=Case, No.,answer=Reply")
    {'id': 'Case, No.', 'answer': 'Reply'}
    """
    meant: dict[str, str] = {}
    for part in re.split(r",\s*(?=[A-Za-z_]+=)", words.strip()):
        role, mark, column = (one.strip() for one in part.partition("="))
        if not mark or not column:
            raise BadInput(f"--columns: {part!r} is not of the form id=COLUMN; separate by commas")
        if role in meant:
            raise BadInput(f"--columns names {role} twice; keep one")
        meant[role] = column
    check_roles(meant)
    return meant


def check_roles(meant: Meant) -> None:
    """Refuse what no column can mean, and a naming without answers.

    Raises
    ------
    BadInput
        With what can be named.
    """
    unknown = [role for role in meant if role not in ROLES and not _PROBABILITY.fullmatch(role)]
    if unknown:
        raise BadInput(
            f"A column cannot mean {unknown[0]!r}; it can mean {', '.join(ROLES)},"
            " probability_A, probability_B, ..."
        )
    if not {"answer", "output", "probabilities", "probability_A"} & meant.keys():
        raise BadInput(t("Name the column of the answers: the answer itself, or the raw output."))


def check_columns(path: object, meant: Meant, found: Records) -> None:
    """Refuse columns that are not in a file.

    Raises
    ------
    BadFile
        With those that are.
    """
    for role, column in meant.items():
        top = column.partition(".")[0]
        if not {plain_key(column), plain_key(top)} & {plain_key(one) for one in found.columns}:
            raise BadFile(
                f"{path} has no column {column!r} for the {role}; it has"
                f" {', '.join(found.columns[:40]) or 'none'}"
            )
    if "id" not in meant and not all(one.key for one in found.records):
        raise BadFile(f"{path}: say which column is the item's id")


def value_of(record: Mapping[str, object], column: str) -> object:
    """Return what stands in a column, by its name, its name in another spelling, or its path.

    Examples
    --------
    >>> value_of({"Item ID": "q1"}, "item_id"), value_of({"out": [{"text": "B"}]}, "out.0.text")
    ('q1', 'B')
    """
    if column in record:
        return record[column]
    for key, value in record.items():
        if plain_key(key) == plain_key(column):
            return value
    here: object = record
    for part in column.split("."):
        if isinstance(here, Mapping) and part in here:
            here = here[part]
        elif isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        else:
            return None
    return here


def first_of(record: Mapping[str, object], keys: Iterable[str]) -> tuple[bool, object]:
    """Return whether a record has any of these keys, and the first of them that is filled."""
    plain = {plain_key(key): value for key, value in record.items()}
    given = [plain[plain_key(key)] for key in keys if plain_key(key) in plain]
    return bool(given), next((value for value in given if not missing(value)), None)


def beside(record: Mapping[str, object], meant: Meant | None) -> dict[str, object]:
    """Return what a record says beside its answer, by the usual names or those given."""
    if meant is None:
        found = {role: first_of(record, keys)[1] for role, keys in _BESIDE.items()}
        single = {key[-1].upper(): key for key in record if _is_probability(key)}
    else:
        found = {role: value_of(record, column) for role, column in meant.items()}
        single = {role[-1]: meant[role] for role in meant if _PROBABILITY.fullmatch(role)}
    if single and missing(found.get("probabilities")):
        found["probabilities"] = {key: value_of(record, column) for key, column in single.items()}
    return found


def _is_probability(key: str) -> bool:
    return re.fullmatch(r"prob(?:ability)?[a-h]", plain_key(key)) is not None


def used_by_name(words: Iterable[str]) -> set[str]:
    """Return the names, in plain spelling, that are read where nobody named columns."""
    return {plain_key(key) for keys in ((*ID_KEYS, *words), *_BESIDE.values()) for key in keys}


def is_used(key: str, known: set[str]) -> bool:
    """Whether a key is read where nobody named columns."""
    return plain_key(key) in known or _is_probability(key)


def remember_columns(store: Store, columns: Sequence[str], meant: Meant, now: datetime) -> None:
    """Keep what the columns of a file mean, for the next file that has the same."""
    with store.change() as change:
        models.remember_columns(change, _as_key(columns), json.dumps(dict(meant)), stamp(now))


def remembered_columns(store: Store, columns: Sequence[str]) -> dict[str, str]:
    """Return what these columns meant the last time, or nothing."""
    with store.look() as look:
        found = models.remembered_columns(look, _as_key(columns))
    return dict(json.loads(found)) if found else {}


def are_usual(columns: Iterable[str]) -> bool:
    """Whether both the case and the answer have names that are known."""
    plain = {plain_key(column) for column in columns}
    return all(
        any(plain_key(key) in plain for key in keys)
        for keys in (ID_KEYS, (*ANSWER_KEYS, "probabilities"))
    )


def guessed(columns: Iterable[str]) -> dict[str, str]:
    """Return what columns mean as far as their usual names tell; not which holds the answers."""
    plain = {plain_key(column): column for column in columns}
    usual = {"id": ID_KEYS, **_BESIDE}
    found = {
        role: next((plain[plain_key(key)] for key in keys if plain_key(key) in plain), "")
        for role, keys in usual.items()
    }
    found |= {
        f"probability_{key[-1].upper()}": column
        for key, column in plain.items()
        if _is_probability(key)
    }
    return {role: column for role, column in found.items() if column}


def _as_key(columns: Sequence[str]) -> str:
    return json.dumps(sorted(columns))
