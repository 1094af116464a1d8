"""A file of records, whatever its dress: a JSON object or list, JSON lines, or CSV.

Both question banks and predictions come this way. A record keeps its key and its place, so that a
fault can be found in the file again; keys given twice, which JSON readers swallow, are kept.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from study.base.bank_model import Fault
from study.base.errors import BadFile

SourceFormat = Literal["json", "jsonl", "csv"]

_ENDINGS: dict[str, SourceFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_JSON_SPACE = " \t\r\n"


class Repeated(dict[str, object]):
    """A JSON object that gives a key twice; as a dict it holds the last value of each."""

    def __init__(self, pairs: Sequence[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.pairs = tuple(pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One entry of a file.

    Attributes
    ----------
    key : str
        The key it stands under in a JSON object; empty elsewhere.
    place : str
        Where it is, such as `line 3` or `entry 17`.
    value : object
        What stands there: any JSON value, or a row as a dict of texts.
    """

    key: str
    place: str
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The records of a file.

    Attributes
    ----------
    format : {"json", "jsonl", "csv"}
        How the file was read.
    sha256 : str
        Of its bytes, in hexadecimal.
    records : tuple of Record
        In file order.
    faults : tuple of Fault
        Lines that are no record at all.
    columns : tuple of str
        The header of a CSV file, as written; empty for JSON.
    """

    format: SourceFormat
    sha256: str
    records: tuple[Record, ...]
    faults: tuple[Fault, ...]
    columns: tuple[str, ...]


@lru_cache(maxsize=4096)
def plain_key(key: str) -> str:
    """Return a key as it is compared: `PatientID`, `patient_id` and `Patient ID` are one."""
    return re.sub(r"[^a-z0-9]", "", key.lower())


def read_source(
    path: Path,
    *,
    format: SourceFormat | None = None,
    is_record: Callable[[dict[str, object]], bool] = lambda _: False,
) -> Source:
    """Read a file into records.

    Parameters
    ----------
    path : Path
        The file: UTF-8, with or without byte order mark.
    format : {"json", "jsonl", "csv"}, optional
        Taken from the file's ending, else from its first character.
    is_record : callable, optional
        Tells a JSON object that is one record from one that holds records by their keys.

    Returns
    -------
    Source

    Raises
    ------
    BadFile
        When the file cannot be read as a whole or holds no record.
    """
    data = _bytes(path)
    text = _text(path, data)
    format = format or _ENDINGS.get(path.suffix.lower()) or _guess(text)
    columns: tuple[str, ...] = ()
    if format == "csv":
        columns, entries = _csv(path, text)
    elif format == "jsonl":
        entries = _lines(text)
    else:
        format, entries = _json(path, text, is_record)
    found = list(entries)
    if not found:
        raise BadFile(f"{path} holds no entries; give a file with at least one")
    return Source(
        format=format,
        sha256=hashlib.sha256(data).hexdigest(),
        records=tuple(entry for entry in found if isinstance(entry, Record)),
        faults=tuple(entry for entry in found if isinstance(entry, Fault)),
        columns=columns,
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"{path} is not there; check the path") from None
    except IsADirectoryError:
        raise BadFile(f"{path} is a folder; name the file inside it") from None
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read: {error}") from error


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(
            f"{path} is not UTF-8: byte {error.start:,}, line {line:,}; save it as UTF-8"
        ) from None


def _guess(text: str) -> SourceFormat:
    return "json" if text.lstrip(_JSON_SPACE)[:1] in ("{", "[") else "csv"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeated(pairs)


def _loads(text: str) -> object:
    try:
        found: object = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return found


def _json(
    path: Path, text: str, is_record: Callable[[dict[str, object]], bool]
) -> tuple[SourceFormat, Iterable[Record | Fault]]:
    try:
        found = _loads(text)
    except ValueError as error:
        if _looks_like_lines(text):
            return "jsonl", _lines(text)
        raise BadFile(f"{path} is not JSON: {error}; repair it or write it again") from None
    if isinstance(found, dict) and is_record(found):
        return "jsonl", [Record(key="", place="line 1", value=found)]
    if isinstance(found, dict):
        pairs = found.pairs if isinstance(found, Repeated) else found.items()
        return "json", [
            Record(key=key, place=f"entry {n}", value=value)
            for n, (key, value) in enumerate(pairs, 1)
        ]
    if isinstance(found, list):
        return "json", [
            Record(key="", place=f"entry {n}", value=value) for n, value in enumerate(found, 1)
        ]
    raise BadFile(
        f"{path} holds a single JSON {type(found).__name__}; an object of entries by their ids, or"
        " a list of entries, is needed"
    )


def _looks_like_lines(text: str) -> bool:
    first, _, rest = text.lstrip(_JSON_SPACE).partition("\n")
    try:
        return bool(rest.strip()) and isinstance(_loads(first), dict)
    except ValueError:
        return False


def _lines(text: str) -> Iterator[Record | Fault]:
    for n, line in enumerate(text.split("\n"), 1):
        if not line.strip(_JSON_SPACE):
            continue
        try:
            yield Record(key="", place=f"line {n}", value=_loads(line))
        except ValueError as error:
            yield Fault(
                key=f"line {n}", what=f"not JSON: {error}", remedy="write one JSON object a line"
            )


def _csv(path: Path, text: str) -> tuple[tuple[str, ...], Iterable[Record | Fault]]:
    """Read comma, semicolon or tab separated rows; strict, so that no lost quote swallows rows."""
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    numbered: list[tuple[int, list[str]]] = []
    last = 0
    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                numbered.append((last + 1, row))
            last = rows.line_num
    except csv.Error as error:
        raise BadFile(
            f"{path} is not CSV: {error}, in the row that begins at line {last + 1}; check its"
            " quotes"
        ) from None
    if not numbered:
        return (), []
    header = tuple(cell.strip() for cell in numbered[0][1])
    _check_header(path, header)
    return header, [_row(header, n, row) for n, row in numbered[1:]]


def _check_header(path: Path, header: tuple[str, ...]) -> None:
    plain = [plain_key(column) for column in header]
    twice = sorted({c for c, p in zip(header, plain, strict=True) if p and plain.count(p) > 1})
    if twice:
        raise BadFile(f"{path} has columns given twice: {', '.join(twice)}; keep one of each")


def _row(header: tuple[str, ...], n: int, row: list[str]) -> Record | Fault:
    place = f"line {n}"
    if len(row) != len(header):
        return Fault(
            key=place,
            what=f"{len(row)} cells under a header of {len(header)}",
            remedy="give each column one cell, quoted where it holds the separator",
        )
    return Record(key="", place=place, value=dict(zip(header, row, strict=True)))
