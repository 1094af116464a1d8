"""Reads the records of a predictions file and determines the roles of its columns.

A file is JSON, a table, or an Inspect log. Its columns are recognised by their usual names, or
named by the user.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest
from pathlib import Path

from study.base.bank_model import Fault
from study.base.canonical import stamp
from study.base.errors import BadFile, BadInput
from study.base.packed import open_archive
from study.base.text import did_you_mean, quoted
from study.base.translation import t
from study.models import inspect_log
from study.models.finish_reasons import FINISH_KEYS, finish_reason
from study.models.inspect_log import InspectLog
from study.models.parquet_rows import read_parquet
from study.store import Store, models
from study.tables.columns import Kind, KindOf, plain_key
from study.tables.source import Record, read_source
from study.tables.text_file import open_bytes
from study.tables.values import is_missing
from study.tables.workbook import is_workbook

_INSPECT = "inspect"
_FORMAT_NAMES = {
    "json": "JSON",
    "jsonl": "JSON lines",
    "csv": "CSV table",
    "xlsx": "XLSX table",
    "parquet": "Parquet table",
    _INSPECT: "Inspect log",
}

_PICKLE_START = b"\x80"

ROLES = (
    *("id", "answer", "output", "run", "condition", "confidence"),
    *("probabilities", "order", "prompt", "explanation", "boxes", "map", "finish"),
)
"""The roles of columns, in addition to `probability_A`, `probability_B`, ..."""

_PROBABILITY = re.compile(r"probability_[A-H]")
ID_KEYS = ("item_id", "question_id", "id", "index", "data_point_id", "custom_id")
PREDICTION_KEYS = ("model_prediction", "prediction")
WORD_KEYS = ("answer", "output", "model_output", "response")
LATER_WORD_KEYS = ("model_answer", "model_response", "pred", "generated_text")
"""Unambiguous names, used if a file has none of the names above."""

ANSWER_KEYS = (*PREDICTION_KEYS, *WORD_KEYS, *LATER_WORD_KEYS)
_EXTRA_KEYS = {
    "run": ("run", "epoch"),
    "condition": ("condition",),
    "confidence": ("confidence",),
    "probabilities": ("probabilities", "probs"),
    "order": ("shown_order",),
    "explanation": ("model_explanation", "explanation"),
    "boxes": ("boxes",),
    "map": ("map", "heat_map"),
    "finish": FINISH_KEYS,
}

_NUMBER_COLUMNS = {
    plain_key(key) for key in (*_EXTRA_KEYS["confidence"], *_EXTRA_KEYS["probabilities"])
}

ColumnRoles = Mapping[str, str]
"""Columns by their role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The records of a file.

    Attributes
    ----------
    format : str
        `json`, `jsonl`, `csv`, `xlsx`, `parquet` or `inspect`.
    name : str
        The file's name in messages: its path, and the sheet of a workbook.
    sha256 : str
        Hash of its bytes, in hexadecimal.
    records : tuple of Record
        In file order.
    faults : tuple of Fault
        Lines that are not records.
    columns : tuple of str
        The header of a table, or the names in the records in order of first occurrence.
    notes : tuple of str
        Notes on the file.
    """

    format: str
    name: str
    sha256: str
    records: tuple[Record, ...]
    faults: tuple[Fault, ...] = ()
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Return the kind of file in words."""
        return _FORMAT_NAMES[self.format]


def column_kinds(column_roles: ColumnRoles | None) -> KindOf:
    """Return a function that determines the kind of a column from its usual name or its role."""
    used = used_by_name(ANSWER_KEYS)

    def kind_of(column: str) -> Kind:
        plain = plain_key(column)
        if column_roles is not None:
            roles = [
                role
                for role, column_name in column_roles.items()
                if plain_key(column_name) == plain
            ]
            if any(role.startswith(("confidence", "probabilit")) for role in roles):
                return Kind.NUMBER
            return Kind.TEXT if roles else Kind.ANY
        if plain in _NUMBER_COLUMNS or _is_probability(column):
            return Kind.NUMBER
        return Kind.TEXT if plain in used else Kind.ANY

    return kind_of


def read_records(
    path: Path,
    *,
    is_record: Callable[[dict[str, object]], bool],
    kind_of: KindOf = lambda _: Kind.ANY,
) -> Records:
    """Read a file into records; its format is recognised by its content or file extension.

    Parameters
    ----------
    path : Path
        The file.
    is_record : callable
        Whether a JSON object is a record, rather than a mapping of IDs to records.
    kind_of : callable
        The kind of each column of a table.

    Raises
    ------
    BadFile
        The file cannot be read or contains no record.
    """
    with open_bytes(path) as file:
        first_bytes = file.read(400)
        file.seek(0)
        if first_bytes.startswith(_PICKLE_START):
            raise BadFile(
                f"{path} is a Python pickle, which could run a program and is never opened; write"
                " it as XLSX, CSV or JSON"
            )
        if first_bytes.startswith(b"PK") and not _contains_workbook(path):
            log = inspect_log.read_packed_log(path)
            return _records_of_log(path, file_digest(file, "sha256").hexdigest(), log)
        if first_bytes.startswith(b"PAR1"):
            return _records_of_parquet(path, file_digest(file, "sha256").hexdigest())
        if inspect_log.starts_like_log(first_bytes):
            log = inspect_log.read_json_log(path)
            return _records_of_log(path, file_digest(file, "sha256").hexdigest(), log)
    source = read_source(path, is_record=is_record, kind_of=kind_of)
    records = _unwrap(source.records, is_record) if source.format == "json" else source.records
    return Records(
        format=source.format,
        name=source.name,
        sha256=source.sha256,
        records=records,
        faults=source.faults,
        columns=source.columns or _column_names(records),
    )


def _contains_workbook(path: Path) -> bool:
    with open_archive(path) as (_, entries):
        return is_workbook(entry.filename for entry in entries)


def _column_names(records: Sequence[Record]) -> tuple[str, ...]:
    keys = (key for record in records if isinstance(record.value, dict) for key in record.value)
    return tuple(dict.fromkeys(keys))


def _unwrap(
    records: tuple[Record, ...], is_record: Callable[[dict[str, object]], bool]
) -> tuple[Record, ...]:
    """Return the entries of the only list in a JSON object that also has other values."""
    list_records = [
        record for record in records if record.key and _is_list_of_objects(record.value)
    ]
    others = [record.value for record in records if record not in list_records]
    if len(list_records) != 1 or any(
        isinstance(v, dict) and is_record({"id": 0, **v}) for v in others
    ):
        return records
    wrapper = list_records[0]
    assert isinstance(wrapper.value, list)
    return tuple(
        Record(key="", place=f"{wrapper.key} {n}", value=value)
        for n, value in enumerate(wrapper.value, 1)
    )


def _is_list_of_objects(value: object) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
    )


def _records_of_log(path: Path, sha256: str, log: InspectLog) -> Records:
    records = (
        Record(key="", place=f"sample {n}", value=value) for n, value in enumerate(log.samples, 1)
    )
    unfinished = (f"the log says that its run ended as “{log.status}”",)
    return Records(
        format=_INSPECT,
        name=str(path),
        sha256=sha256,
        records=tuple(records),
        columns=inspect_log.COLUMNS,
        notes=unfinished if log.status != "success" else (),
    )


def _records_of_parquet(path: Path, sha256: str) -> Records:
    columns, rows = read_parquet(path)
    records = tuple(Record(key="", place=f"row {n}", value=row) for n, row in enumerate(rows, 1))
    return Records(
        format="parquet", name=str(path), sha256=sha256, records=records, columns=columns
    )


def parse_columns(text: str) -> dict[str, str]:
    """Parse the value of `--columns`, such as ``id=case,output=reply,run=seed``.

    Raises
    ------
    BadInput
        The text does not have that form, or names an unknown role, or a role twice.

    Examples
    --------
    >>> parse_columns("id=Case, No.,answer=Reply")
    {'id': 'Case, No.', 'answer': 'Reply'}
    """
    column_roles: dict[str, str] = {}
    for part in re.split(r",\s*(?=[A-Za-z_]+=)", text.strip()):
        role, equals, column = (part.strip() for part in part.partition("="))
        if not equals or not column:
            raise BadInput(
                f"--columns: {quoted(part)} is not of the form id=COLUMN; separate by commas"
            )
        if role in column_roles:
            raise BadInput(f"--columns names {role} twice; keep one")
        column_roles[role] = column
    check_roles(column_roles)
    return column_roles


def check_roles(column_roles: ColumnRoles) -> None:
    """Refuse unknown roles, and roles without an answer.

    Raises
    ------
    BadInput
        The message lists the known roles.
    """
    unknown = [
        role for role in column_roles if role not in ROLES and not _PROBABILITY.fullmatch(role)
    ]
    if unknown:
        raise BadInput(
            f"A column cannot mean {quoted(unknown[0])}; it can mean {', '.join(ROLES)},"
            f" probability_A, probability_B, ...{did_you_mean(unknown[0], ROLES)}"
        )
    if not {"answer", "output", "probabilities", "probability_A"} & column_roles.keys():
        raise BadInput(t("Name the column of the answers: the answer itself, or the raw output."))


def check_columns(path: object, column_roles: ColumnRoles, source: Records) -> None:
    """Refuse columns that are not in a file.

    Raises
    ------
    BadFile
        The message lists the columns of the file.
    """
    for role, column in column_roles.items():
        top = column.partition(".")[0]
        if not {plain_key(column), plain_key(top)} & {plain_key(name) for name in source.columns}:
            raise BadFile(
                f"{path} has no column {quoted(column)} for the {role}; it has"
                f" {', '.join(source.columns[:40]) or 'none'}"
            )
    if "id" not in column_roles and not all(record.key for record in source.records):
        raise BadFile(f"{path}: name the column of the item's ID")


def value_of(record: Mapping[str, object], column: str) -> object:
    """Return the value of a column that is named exactly, in another spelling, or by a path.

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
    current: object = record
    for part in column.split("."):
        if isinstance(current, Mapping) and part in current:
            current = current[part]
        elif isinstance(current, list) and part.isdecimal() and int(part) < len(current):
            current = current[int(part)]
        else:
            return None
    return current


def first_of(record: Mapping[str, object], keys: Iterable[str]) -> tuple[bool, object]:
    """Return whether a record has any of these keys, and the value of the first that is filled."""
    plain = {plain_key(key): value for key, value in record.items()}
    values = [plain[plain_key(key)] for key in keys if plain_key(key) in plain]
    return bool(values), next((value for value in values if not is_missing(value)), None)


def extras_of(record: Mapping[str, object], column_roles: ColumnRoles | None) -> dict[str, object]:
    """Return a record's values other than the answer, by usual names or by the columns' roles."""
    if column_roles is None:
        extras = {role: first_of(record, keys)[1] for role, keys in _EXTRA_KEYS.items()}
        extras["finish"] = finish_reason(record)
        probabilities = {key[-1].upper(): key for key in record if _is_probability(key)}
    else:
        extras = {role: value_of(record, column) for role, column in column_roles.items()}
        probabilities = {
            role[-1]: column_roles[role] for role in column_roles if _PROBABILITY.fullmatch(role)
        }
    if probabilities and is_missing(extras.get("probabilities")):
        extras["probabilities"] = {
            key: value_of(record, column) for key, column in probabilities.items()
        }
    return extras


def _is_probability(key: str) -> bool:
    return re.fullmatch(r"prob(?:ability)?[a-h]", plain_key(key)) is not None


def used_by_name(words: Iterable[str]) -> set[str]:
    """Return the column names that are read without roles, as `plain_key` returns them."""
    return {plain_key(key) for keys in ((*ID_KEYS, *words), *_EXTRA_KEYS.values()) for key in keys}


def is_used(key: str, known: set[str]) -> bool:
    """Return whether a key is read without roles."""
    return plain_key(key) in known or _is_probability(key)


def has_probabilities(columns: Iterable[str]) -> bool:
    """Return whether columns contain the options' probabilities, which replace an answer."""
    return any(is_used(column, {"probabilities", "probs"}) for column in columns)


def remember_columns(
    store: Store, columns: Sequence[str], column_roles: ColumnRoles, now: datetime
) -> None:
    """Store the roles of a file's columns, for the next file with the same columns."""
    with store.change() as change:
        models.remember_columns(
            change, _columns_key(columns), json.dumps(dict(column_roles)), stamp(now)
        )


def remembered_columns(store: Store, columns: Sequence[str]) -> dict[str, str]:
    """Return the roles stored for these columns, or an empty dictionary."""
    with store.look() as look:
        stored = models.remembered_columns(look, _columns_key(columns))
    return dict(json.loads(stored)) if stored else {}


def have_usual_names(columns: Iterable[str]) -> bool:
    """Return whether the columns of the ID and the answer both have usual names."""
    plain = {plain_key(column) for column in columns}
    return all(
        any(plain_key(key) in plain for key in keys)
        for keys in (ID_KEYS, (*ANSWER_KEYS, "probabilities"))
    )


def guess_roles(columns: Iterable[str]) -> dict[str, str]:
    """Return the roles of columns with usual names, except the answer's."""
    plain = {plain_key(column): column for column in columns}
    default_keys = {"id": ID_KEYS, **_EXTRA_KEYS}
    guesses = {
        role: next((plain[plain_key(key)] for key in keys if plain_key(key) in plain), "")
        for role, keys in default_keys.items()
    }
    guesses |= {
        f"probability_{key[-1].upper()}": column
        for key, column in plain.items()
        if _is_probability(key)
    }
    return {role: column for role, column in guesses.items() if column}


def _columns_key(columns: Sequence[str]) -> str:
    return json.dumps(sorted(columns))
