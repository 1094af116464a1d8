"""The records of a predictions file, whatever its dress: JSON, a table, or Inspect's log."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from study.bank.source import Record, opened_bytes, read_source
from study.bank.spreadsheet import read_rows
from study.base.bank_model import Fault
from study.base.errors import BadFile
from study.base.packed import opened

MOST_BYTES = 4_000_000_000
"""What a packed log may unpack to."""

_INSPECT = "inspect"
_BEGINS_AS_LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
_ZSTANDARD = 93
_OF_A_SAMPLE = ("id", "epoch", "metadata", "output", "error")
_DRESSES = {"json": "JSON", "jsonl": "JSON lines", "csv": "CSV table"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The records of a file.

    Attributes
    ----------
    format : str
        `json`, `jsonl`, `csv`, `xlsx`, `parquet` or `inspect`.
    dress : str
        What the file is, in words.
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
    dress: str
    sha256: str
    records: tuple[Record, ...]
    faults: tuple[Fault, ...] = ()
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_NOT_OPENED = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind (.xls)",
    b"\x80": "a Python pickle, which could run a program and is never opened",
}


def read_records(path: Path, *, is_record: Callable[[dict[str, object]], bool]) -> Records:
    """Read a file into records; what it is, its content says, or else its name's ending.

    Parameters
    ----------
    path : Path
        The file.
    is_record : callable
        Tells a JSON object that is one record from one that holds records by their keys.

    Raises
    ------
    BadFile
        When the file cannot be read as a whole or holds no record.
    """
    with opened_bytes(path) as file:
        begins = file.read(400)
        file.seek(0)
        if begins.startswith((b"PK", b"PAR1")) or _BEGINS_AS_LOG.match(begins):
            sha256 = file_digest(file, "sha256").hexdigest()
        else:
            sha256 = ""
    for magic, what in _NOT_OPENED.items():
        if begins.startswith(magic):
            raise BadFile(f"{path} is {what}; write it as XLSX, CSV or JSON")
    if begins.startswith(b"PK"):
        return _packed(path, sha256)
    if begins.startswith(b"PAR1"):
        return _parquet(path, sha256)
    if sha256:
        return _inspect_json(path, sha256)
    source = read_source(path, is_record=is_record)
    records = _unwrapped(source.records, is_record) if source.format == "json" else source.records
    return Records(
        format=source.format,
        dress=_DRESSES[source.format],
        sha256=source.sha256,
        records=records,
        faults=source.faults,
        columns=source.columns or _names(records),
    )


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


def _packed(path: Path, sha256: str) -> Records:
    with opened(path) as (packed, entries):
        inside = {one.filename: one for one in entries}
        if "xl/workbook.xml" not in inside:
            return _inspect_packed(path, packed, inside, sha256)
    records = read_rows(path)
    return Records(
        format="xlsx",
        dress="XLSX table",
        sha256=sha256,
        records=records,
        columns=_names(records),
    )


def _inspect_packed(
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
        dress="Inspect log",
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
        format="parquet",
        dress="Parquet table",
        sha256=sha256,
        records=records,
        columns=tuple(plain),
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
