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
from typing import Any
from zipfile import ZipFile, ZipInfo

from study.bank.fields import missing
from study.bank.source import Record, read_source
from study.base.bank_model import Fault
from study.base.canonical import stamp
from study.base.errors import BadFile, BadInput
from study.base.packed import opened
from study.base.translation import t
from study.store import Store, models
from study.tables.columns import Kind, KindOf, plain_key
from study.tables.text_file import opened_bytes
from study.tables.workbook import is_workbook

MOST_BYTES = 4_000_000_000
"""What a packed log may unpack to."""

_INSPECT = "inspect"
_BEGINS_AS_LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
_ZSTANDARD = 93
_OF_A_SAMPLE = ("id", "epoch", "metadata", "output", "error")
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
    *("probabilities", "order", "prompt", "explanation"),
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
            return _inspect_packed(path, file_digest(file, "sha256").hexdigest())
        if begins.startswith(b"PAR1"):
            return _parquet(path, file_digest(file, "sha256").hexdigest())
        if _BEGINS_AS_LOG.match(begins):
            return _inspect_json(path, file_digest(file, "sha256").hexdigest())
    source = read_source(path, is_record=is_record, kind_of=kind_of)
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


def _inspect_packed(path: Path, sha256: str) -> Records:
    with opened(path) as (packed, entries):
        inside = {one.filename: one for one in entries}
        return _inspect_archive(path, packed, inside, sha256)


def _inspect_archive(
    path: Path, packed: ZipFile, inside: Mapping[str, ZipInfo], sha256: str
) -> Records:
    samples = sorted(
        (one for one in inside if one.startswith("samples/") and one.endswith(".json")), key=natural
    )
    if not samples and not {"header.json", "_journal/start.json"} & inside.keys():
        raise BadFile(
            f"{path} is an archive, and neither an XLSX workbook nor a log of Inspect; unpack it,"
            " and give the file in it"
        )
    if any(inside[one].compress_type == _ZSTANDARD for one in samples):
        raise BadFile(
            f"{path} is packed with Zstandard, which is not read here. Write it as JSON first: "
            f"inspect log convert {path.name} --to json --output-dir json"
        )
    if sum(inside[one].file_size for one in samples) > MOST_BYTES:
        raise BadFile(f"{path} unpacks to more than {MOST_BYTES:,} bytes; export it without images")
    header: Any = {}
    try:
        if "header.json" in inside:
            header = json.loads(packed.read(inside["header.json"]))
        found = [json.loads(packed.read(inside[one])) for one in samples]
    except (ValueError, RecursionError, NotImplementedError) as error:
        raise BadFile(f"{path} cannot be read: {error}; write it again as JSON") from error
    return _inspect(path, sha256, found, str(header.get("status", "started")))


def _inspect_json(path: Path, sha256: str) -> Records:
    try:
        with path.open("rb") as file:
            log = json.load(file)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not JSON: {error}; repair it or write it again") from error
    return _inspect(path, sha256, log.get("samples") or [], str(log.get("status", "")))


def _inspect(path: Path, sha256: str, samples: list[Any], status: str) -> Records:
    if not samples:
        raise BadFile(f"{path} is a log of Inspect without samples; run it with log_samples")
    records = tuple(
        Record(
            key="",
            place=f"sample {n}",
            value={key: one[key] for key in _OF_A_SAMPLE if key in one}
            if isinstance(one, dict)
            else one,
        )
        for n, one in enumerate(samples, 1)
    )
    stopped = (f"the log says that its run ended as “{status}”",) if status != "success" else ()
    return Records(
        format=_INSPECT,
        name=str(path),
        sha256=sha256,
        records=records,
        columns=_OF_A_SAMPLE,
        notes=stopped,
    )


def _parquet(path: Path, sha256: str) -> Records:
    import pyarrow  # slow to import, and few hand in Parquet
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
        plain = [one.name for one in file.schema_arrow if not _holds_bytes(one.type, pyarrow.types)]
        rows = file.read(columns=plain).to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise BadFile(f"{path} is no sound Parquet file: {error}") from error
    if not rows:
        raise BadFile(f"{path} holds no entries; give a file with at least one")
    records = tuple(Record(key="", place=f"row {n}", value=row) for n, row in enumerate(rows, 1))
    return Records(
        format="parquet", name=str(path), sha256=sha256, records=records, columns=tuple(plain)
    )


def _holds_bytes(kind: Any, types: Any) -> bool:
    """Whether a column holds images or the like, which nobody asks for here."""
    if types.is_list(kind) or types.is_large_list(kind):
        return _holds_bytes(kind.value_type, types)
    if types.is_struct(kind):
        return any(_holds_bytes(kind.field(n).type, types) for n in range(kind.num_fields))
    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Return what texts are sorted by, so that run 2 comes before run 10."""
    parts = re.findall(r"\d+|\D+", text)
    return tuple(
        (not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts
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
