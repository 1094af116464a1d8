"""The records of a predictions file, whatever its dress, and which of their columns say what.

A file is JSON, a table, or Inspect's log. Its columns are known by their usual names, or named by
whoever adds it.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest
from pathlib import Path

from study.base.bank_model import Fault
from study.base.budget import BUDGET, Budget
from study.base.canonical import stamp
from study.base.errors import BadFile, BadInput
from study.base.packed import opened
from study.base.text import did_you_mean
from study.base.translation import t
from study.models import inspect_log
from study.models.finish_reasons import FINISH_KEYS, finish_reason
from study.models.inspect_log import InspectLog
from study.models.parquet_rows import read_parquet
from study.store import Store, models
from study.tables.columns import Kind, KindOf, plain_key
from study.tables.source import Record, read_source
from study.tables.text_file import opened_bytes
from study.tables.values import missing
from study.tables.workbook import is_workbook

_INSPECT = "inspect"
_DRESSES = {
    "json": "JSON",
    "jsonl": "JSON lines",
    "csv": "CSV table",
    "xlsx": "XLSX table",
    "parquet": "Parquet table",
    _INSPECT: "Inspect log",
}

_PICKLE = b"\x80"

ROLES = (
    *("id", "answer", "output", "run", "condition", "confidence"),
    *("probabilities", "order", "prompt", "explanation", "boxes", "map", "finish"),
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
    "explanation": ("model_explanation", "explanation"),
    "boxes": ("boxes",),
    "map": ("map", "heat_map"),
    "finish": FINISH_KEYS,
}

_NUMBERS = {plain_key(key) for key in (*_BESIDE["confidence"], *_BESIDE["probabilities"])}

Meant = Mapping[str, str]
"""The column that says each thing, by what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The records of a file.

    Attributes
    ----------
    format : str
        `json`, `jsonl`, `csv`, `xlsx`, `parquet` or `inspect`.
    name : str
        What messages call the file: its path, and the sheet of a workbook.
    sha256 : str
        Of its bytes, in hexadecimal.
    records : tuple of Record
        In file order.
    faults : tuple of Fault
        Lines that are no record at all.
    columns : tuple of str
        The names in the records, in the order in which they first come; of a table, its header.
    notes : tuple of str
        What is to be known of the file as a whole.
    """

    format: str
    name: str
    sha256: str
    records: tuple[Record, ...]
    faults: tuple[Fault, ...] = ()
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def dress(self) -> str:
        """Return what the file is, in words."""
        return _DRESSES[self.format]


def kinds(meant: Meant | None) -> KindOf:
    """Return what the columns of a table hold, by their usual names or those given."""
    used = used_by_name(ANSWER_KEYS)

    def kind_of(column: str) -> Kind:
        plain = plain_key(column)
        if meant is not None:
            roles = [role for role, named in meant.items() if plain_key(named) == plain]
            if any(role.startswith(("confidence", "probabilit")) for role in roles):
                return Kind.NUMBER
            return Kind.TEXT if roles else Kind.ANY
        if plain in _NUMBERS or _is_probability(column):
            return Kind.NUMBER
        return Kind.TEXT if plain in used else Kind.ANY

    return kind_of


def read_records(
    path: Path,
    *,
    is_record: Callable[[dict[str, object]], bool],
    kind_of: KindOf = lambda _: Kind.ANY,
    budget: Budget = BUDGET,
) -> Records:
    """Read a file into records; what it is, its content says, or else its name's ending.

    Parameters
    ----------
    path : Path
        The file.
    is_record : callable
        Tells a JSON object that is one record from one that holds records by their keys.
    kind_of : callable
        The kind of each column of a table.

    Raises
    ------
    BadFile
        When the file cannot be read as a whole or holds no record.
    """
    with opened_bytes(path) as file:
        begins = file.read(400)
        file.seek(0)
        if begins.startswith(_PICKLE):
            raise BadFile(
                f"{path} is a Python pickle, which could run a program and is never opened; write"
                " it as XLSX, CSV or JSON"
            )
        if begins.startswith(b"PK") and not _holds_workbook(path):
            log = inspect_log.read_packed_log(path, budget)
            return _of_log(path, file_digest(file, "sha256").hexdigest(), log)
        if begins.startswith(b"PAR1"):
            return _parquet(path, file_digest(file, "sha256").hexdigest(), budget)
        if inspect_log.begins_as_log(begins):
            log = inspect_log.read_json_log(path, budget)
            return _of_log(path, file_digest(file, "sha256").hexdigest(), log)
    source = read_source(path, is_record=is_record, kind_of=kind_of, budget=budget)
    records = _unwrapped(source.records, is_record) if source.format == "json" else source.records
    return Records(
        format=source.format,
        name=source.name,
        sha256=source.sha256,
        records=records,
        faults=source.faults,
        columns=source.columns or _names(records),
    )


def _holds_workbook(path: Path) -> bool:
    with opened(path) as (_, entries):
        return is_workbook(entry.filename for entry in entries)


def _names(records: Sequence[Record]) -> tuple[str, ...]:
    found = (key for one in records if isinstance(one.value, dict) for key in one.value)
    return tuple(dict.fromkeys(found))


def _unwrapped(
    records: tuple[Record, ...], is_record: Callable[[dict[str, object]], bool]
) -> tuple[Record, ...]:
    """Return the records of the one list in a JSON object that holds something else beside it."""
    lists = [one for one in records if one.key and _is_list_of_objects(one.value)]
    others = [one.value for one in records if one not in lists]
    if len(lists) != 1 or any(isinstance(v, dict) and is_record({"id": 0, **v}) for v in others):
        return records
    of = lists[0]
    assert isinstance(of.value, list)
    return tuple(
        Record(key="", place=f"{of.key} {n}", value=value) for n, value in enumerate(of.value, 1)
    )


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _of_log(path: Path, sha256: str, log: InspectLog) -> Records:
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


def _parquet(path: Path, sha256: str, budget: Budget) -> Records:
    columns, rows = read_parquet(path, budget)
    records = tuple(Record(key="", place=f"row {n}", value=row) for n, row in enumerate(rows, 1))
    return Records(
        format="parquet", name=str(path), sha256=sha256, records=records, columns=columns
    )


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
            f" probability_A, probability_B, ...{did_you_mean(unknown[0], ROLES)}"
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
        found["finish"] = finish_reason(record)
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


def has_probabilities(columns: Iterable[str]) -> bool:
    """Whether columns hold the options' probabilities, which are an answer without words."""
    return any(is_used(one, {"probabilities", "probs"}) for one in columns)


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
