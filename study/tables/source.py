"""Reads records from a file: a JSON object or list, JSON lines, or a table.

Question banks and predictions are read in this way. A record keeps its key and its position, so
that an error can be located in the file. Duplicate keys, which other JSON parsers drop, are kept.
JSON is read in parts, so that its size is not limited by memory. Tables are read by
`study.tables.table`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from study.base.bank_model import Fault
from study.base.budget import BUDGET, Budget
from study.base.errors import BadFile
from study.tables.columns import KindOf, all_text
from study.tables.table import Bytes, begins_as_workbook, read_table
from study.tables.text_file import TextFile, open_bytes

SourceFormat = Literal["json", "jsonl", "csv", "xlsx"]

_ENDINGS: dict[str, SourceFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_N_INSPECTED_BYTES = 4096
_JSON_SPACE = " \t\r\n"
_SPACES = re.compile(f"[{_JSON_SPACE}]*")
NOT_JSON = "{} is not JSON: {}. Check that the file is complete, or export it again"
_JSON_FAULTS = {
    "Expecting value": "a value is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Extra data": "more text follows after the end",
    "Unterminated string starting at": "a string is not closed",
    "Invalid control character at": "a string contains a line break or another control character",
}
"""Messages of Python's JSON parser, and their replacements."""

PIECE_LENGTH = 1 << 19
"""Minimum number of characters in a piece, whose entries are parsed together."""

_Parsed = TypeVar("_Parsed")


class Repeated(dict[str, object]):
    """A JSON object with a duplicate key; as a dict it contains the last value of each key."""

    def __init__(self, pairs: Sequence[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.pairs = tuple(pairs)


class Record(NamedTuple):
    """An entry of a file.

    Attributes
    ----------
    key : str
        The key of the entry in a JSON object; empty in other files.
    place : str
        The position of the entry in the file, such as `line 3` or `entry 17`.
    value : object
        Any JSON value, or a row as a dict of strings.
    """

    key: str
    place: str
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The records of a file.

    Attributes
    ----------
    format : {"json", "jsonl", "csv", "xlsx"}
        How the file was read.
    name : str
        The name in messages: the path, and the sheet of a workbook.
    sha256 : str
        The hash of the file's bytes, in hexadecimal.
    records : tuple of Record
        The records in file order.
    faults : tuple of Fault
        The faults of lines that are not records.
    columns : tuple of str
        The header of a table as written in the file; empty for JSON.
    """

    format: SourceFormat
    name: str
    sha256: str
    records: tuple[Record, ...]
    faults: tuple[Fault, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSource:
    """A file that is being read.

    Attributes
    ----------
    format, name, columns
        As in `Source`.
    entries : iterator of Record or Fault
        The entries in file order. The iterator raises `BadFile` where the file cannot be read.
    """

    format: SourceFormat
    name: str
    columns: tuple[str, ...]
    entries: Iterator[Record | Fault]
    _bytes: Bytes
    _json_entries: "_Entries | None" = None

    @property
    def n_bytes_read(self) -> int:
        """Return the number of bytes read so far."""
        return self._bytes.n_bytes

    @property
    def sha256(self) -> str:
        """Return the hash of the file; valid after all entries have been read."""
        return str(self._bytes.hash.hexdigest())

    def pieces(self) -> Iterator["Piece"]:
        """Yield the text of many JSON entries at a time, without parsing it.

        `entries` does not yield these entries again but continues after them. The end of a piece is
        a guess: report each valid piece with `count_entries`, and return the first invalid piece
        and all pieces after it with `give_back`.
        """
        return iter(()) if self._json_entries is None else self._json_entries.pieces()

    def count_entries(self, n: int) -> None:
        """Count the entries of a piece; raise `BadFile` if there are too many."""
        if self._json_entries is not None:
            self._json_entries.take(n)

    @property
    def n_entries(self) -> int:
        """Return the number of JSON entries read so far, including those in pieces."""
        return self._json_entries.n if self._json_entries is not None else 0

    def give_back(self, pieces: Sequence["Piece"]) -> None:
        """Return the last pieces that were yielded, so that `entries` yields their records."""
        if self._json_entries is not None:
            self._json_entries.give_back(pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a JSON file that appears to consist of complete entries, each after a comma.

    `place` is the line and the column at which it begins.
    """

    text: str
    of_object: bool
    place: tuple[int, int]
    path: Path
    budget: Budget

    def records(self, before: int) -> list[Record] | None:
        """Return the entries, numbered from `before + 1`; None if they are not complete."""
        opening, ending = ("{", "}") if self.of_object else ("[", "]")
        comma = _skip_space(self.text, 0)
        if self.text[comma : comma + 1] != ",":
            return None
        try:
            entries: Any = _loads(f"{opening}{self.text[comma + 1 :]}{ending}")
        except ValueError:
            return None
        self.budget.check_depth(self.path, *(entries.values() if self.of_object else entries))
        pairs: Iterable[tuple[str, object]] = zip(repeat(""), entries)
        if self.of_object:
            pairs = entries.pairs if isinstance(entries, Repeated) else entries.items()
        return [
            Record(key=key, place=f"entry {n}", value=value)
            for n, (key, value) in enumerate(pairs, before + 1)
        ]


def read_source(
    path: Path,
    *,
    format: SourceFormat | None = None,
    is_record: Callable[[dict[str, object]], bool] = lambda _: False,
    kind_of: KindOf = all_text,
    budget: Budget = BUDGET,
) -> Source:
    """Read a file into records.

    Parameters
    ----------
    path : Path
        The file: UTF-8, with or without a byte order mark.
    format : {"json", "jsonl", "csv"}, optional
        By default, the format is recognised from the file extension, or from its first character.
    is_record : callable, optional
        Returns whether a JSON object is a record and not an object of records by key.

    Returns
    -------
    Source

    Raises
    ------
    BadFile
        The file cannot be read, contains no record or exceeds the budget.
    """
    with open_source(
        path, format=format, is_record=is_record, kind_of=kind_of, budget=budget
    ) as source:
        entries = list(source.entries)
        return Source(
            format=source.format,
            name=source.name,
            sha256=source.sha256,
            records=tuple(entry for entry in entries if isinstance(entry, Record)),
            faults=tuple(entry for entry in entries if isinstance(entry, Fault)),
            columns=source.columns,
        )


@contextmanager
def open_source(
    path: Path,
    *,
    format: SourceFormat | None = None,
    is_record: Callable[[dict[str, object]], bool] = lambda _: False,
    kind_of: KindOf = all_text,
    budget: Budget = BUDGET,
) -> Iterator[OpenSource]:
    """Open a file to read it record by record; see `read_source` for the parameters."""
    with open_bytes(path) as file:
        is_workbook = begins_as_workbook(path, file)
        format = format or _ENDINGS.get(path.suffix.lower()) or _guess_format(file)
        if is_workbook or format == "csv":
            source = _from_table(path, file, kind_of, budget)
        else:
            source = _from_json(path, _Text(path, file, budget), format, is_record)
        yield source


def _guess_format(file: BufferedReader) -> SourceFormat:
    begins = file.read(_N_INSPECTED_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    return "json" if begins[:1] in (b"{", b"[") else "csv"


def _from_table(path: Path, file: BufferedReader, kind_of: KindOf, budget: Budget) -> OpenSource:
    table = read_table(path, file, kind_of=kind_of, budget=budget)
    rows: Iterator[Record | Fault] = (
        row if isinstance(row, Fault) else Record(key="", place=row.place, value=row.cells)
        for row in table.rows
    )
    return OpenSource(
        format=table.format,
        name=table.name,
        columns=table.header,
        entries=_refuse_empty(table.name, rows),
        _bytes=table.source,
    )


def _from_json(
    path: Path,
    text: "_Text",
    format: SourceFormat,
    is_record: Callable[[dict[str, object]], bool],
) -> OpenSource:
    entries: Iterator[Record | Fault] = _line_records(text)
    if format != "jsonl":
        format, entries = _json_entries(path, text, is_record)
    return OpenSource(
        format=format,
        name=str(path),
        columns=(),
        entries=_refuse_empty(str(path), _check_depths(text, entries)),
        _bytes=text,
        _json_entries=entries if isinstance(entries, _Entries) else None,
    )


def _check_depths(text: "_Text", entries: Iterator[Record | Fault]) -> Iterator[Record | Fault]:
    """Yield entries; raise `BadFile` if an entry is nested more deeply than the budget allows."""
    for entry in entries:
        if isinstance(entry, Record):
            text.budget.check_depth(text.path, entry.value)
        yield entry


def _refuse_empty(name: str, entries: Iterator[Record | Fault]) -> Iterator[Record | Fault]:
    first = next(entries, None)
    if first is None:
        raise BadFile(f"{name} contains no entries; choose a file with at least one entry")
    return chain([first], entries)


class _Text(TextFile):
    """The text of a JSON file, with the position of the next value."""

    def __init__(self, path: Path, file: BufferedReader, budget: Budget) -> None:
        super().__init__(path, file, longest=budget.record_characters)
        self.budget = budget

    def place(self) -> tuple[int, int]:
        """Return the line and the column of the current position."""
        self._forget()
        return self._line, self._column

    def give_back(self, pieces: Sequence["Piece"]) -> None:
        """Return to the beginning of the first of these pieces, the last ones that were read."""
        self._forget()
        self.here = "".join(piece.text for piece in pieces) + self.here
        self._line, self._column = pieces[0].place

    def sign(self) -> str:
        """Return the next character that is not a space without consuming it; empty at the end."""
        self.at = _skip_space(self.here, self.at)
        while self.at == len(self.here) and self.more():
            self.at = _skip_space(self.here, self.at)
        return self.here[self.at : self.at + 1]

    def take(self, parse: Callable[[str, int], tuple[_Parsed, int]]) -> _Parsed:
        """Parse and consume the value at the position, reading as much of the file as needed."""
        while True:
            try:
                parsed, end = parse(self.here, self.at)
                if end < len(self.here) or not self.more():
                    self.at = end
                    return parsed
            except json.JSONDecodeError as error:
                refused = self.not_json(error)
                if len(self.here) - self.at > self.longest or not self.more():
                    raise refused from None
            except RecursionError:
                raise BadFile(NOT_JSON.format(self.path, "nested too deeply")) from None
            except ValueError:  # not a JSON error: Python limits the number of digits
                raise BadFile(NOT_JSON.format(self.path, "a number too long")) from None

    def expected(self, expectation: str) -> BadFile:
        """Return the error for a file in which something is missing at the current position."""
        return self.not_json(json.JSONDecodeError(expectation, self.here, self.at))

    def not_json(self, error: json.JSONDecodeError) -> BadFile:
        """Return the error for a file that is not JSON, with the position."""
        column = error.colno + (self._column - 1 if error.lineno == 1 else 0)
        place = f"line {self._line + error.lineno - 1:,}, column {column:,}"
        return BadFile(NOT_JSON.format(self.path, f"{place}: {_json_fault(error)}"))


def _json_fault(error: json.JSONDecodeError) -> str:
    if error.msg.startswith("Invalid \\"):
        return "a string contains a backslash that escapes nothing"
    if error.msg.startswith("Illegal trailing comma"):
        return "a comma is not followed by a value"
    return _JSON_FAULTS.get(error.msg, error.msg)


def why_not_json(error: Exception) -> str:
    """Return why text is not JSON, with the position if it is known."""
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno:,}, column {error.colno:,}: {_json_fault(error)}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1:,} is not UTF-8"
    return "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"


def _skip_space(text: str, at: int) -> int:
    return _SPACES.match(text, at).end()  # type: ignore[union-attr]  # it may be empty


def _object_from_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else Repeated(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_object_from_pairs)


def _loads(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        raise ValueError(why_not_json(error)) from None


def _json_entries(
    path: Path, text: _Text, is_record: Callable[[dict[str, object]], bool]
) -> tuple[SourceFormat, Iterator[Record | Fault]]:
    begins = text.sign()
    text.more()
    first, remainder = _first_object(text)
    if first is not None and remainder.strip(_JSON_SPACE):
        return "jsonl", _line_records(text)
    if first is not None and text.is_complete and is_record(first):
        return "jsonl", iter([Record(key="", place="line 1", value=first)])
    if begins in ("{", "["):
        return "json", _Entries(text, begins)
    kind = type(text.take(_element)[1]).__name__
    raise BadFile(
        f"{path} contains a single JSON {kind}; it must contain an object of entries by ID, or a"
        " list of entries"
    )


def _first_object(text: _Text) -> tuple[dict[str, object] | None, str]:
    """Return the object that is the text in memory or its first line, and the text after it."""
    line = text.here[text.at :]
    for part in (line, line.partition("\n")[0]):
        with suppress(ValueError):
            value = _loads(part)
            if isinstance(value, dict):
                return value, line[len(part) :]
    return None, ""


class _Entries(Iterator[Record | Fault]):
    """Iterates over the entries of the JSON object or list at the current position."""

    def __init__(self, text: _Text, begins: str) -> None:
        self._text, self._of_object = text, begins == "{"
        self._ends = "}" if self._of_object else "]"
        self._is_done = False
        self.n = 0
        """Number of entries so far."""

    def __next__(self) -> Record:
        text = self._text
        if self._is_done:
            raise StopIteration
        if self.n == 0:
            text.at += 1
        if text.sign() == self._ends:
            self._end()
            raise StopIteration
        text.budget.check_rows(text.path, self.n + 1)
        if self.n:
            if text.sign() != ",":
                raise text.expected("Expecting ',' delimiter")
            text.at += 1
        self.n += 1
        key, value = text.take(_pair if self._of_object else _element)
        return Record(key=key, place=f"entry {self.n}", value=value)

    def _end(self) -> None:
        self._is_done = True
        self._text.at += 1
        if self._text.sign():
            raise self._text.expected("Extra data")

    def take(self, n: int) -> None:
        """Count the entries of a piece."""
        self.n += n
        self._text.budget.check_rows(self._text.path, self.n)

    def give_back(self, pieces: Sequence[Piece]) -> None:
        """Return to the beginning of the first of these pieces, the last ones that were read."""
        self._text.give_back(pieces)

    def pieces(self) -> Iterator[Piece]:
        """Yield pieces that probably consist of complete entries; the last entry is left over."""
        ends = _ENTRY_ENDS[self._of_object]
        while True:
            place = self._text.place()
            while not (end := ends.search(self._text.here, PIECE_LENGTH)):
                if len(self._text.here) > self._text.longest or not self._text.more():
                    return
            self._text.at = end.end()
            yield Piece(
                text=self._text.here[: end.end()],
                of_object=self._of_object,
                place=place,
                path=self._text.path,
                budget=self._text.budget,
            )


_ENTRY_ENDS = {
    True: re.compile(rf'}}(?=[{_JSON_SPACE}]*,[{_JSON_SPACE}]*")'),
    False: re.compile(rf"}}(?=[{_JSON_SPACE}]*,[{_JSON_SPACE}]*{{)"),
}
"""The apparent end of an entry that is an object; True: entries of an object, False: of a list."""


def _pair(text: str, at: int) -> tuple[tuple[str, object], int]:
    at = _skip_space(text, at)
    if text[at : at + 1] != '"':
        raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    key, at = _DECODER.raw_decode(text, at)
    at = _skip_space(text, at)
    if text[at : at + 1] != ":":
        raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
    (_, value), at = _element(text, at + 1)
    return (key, value), at


def _element(text: str, at: int) -> tuple[tuple[str, object], int]:
    value, at = _DECODER.raw_decode(text, _skip_space(text, at))
    return ("", value), _skip_space(text, at)


def _line_records(text: _Text) -> Iterator[Record | Fault]:
    for n, line in enumerate(text.lines(), 1):
        text.budget.check_rows(text.path, n)
        if not line.strip(_JSON_SPACE):
            continue
        try:
            yield Record(key="", place=f"line {n}", value=_loads(line.removesuffix("\n")))
        except json.JSONDecodeError as error:
            fault = f"not JSON: column {error.colno:,}: {_json_fault(error)}"
            yield Fault(key=f"line {n}", what=fault, remedy="write one JSON object per line")
        except ValueError as error:
            fault = f"not JSON: {error}"
            yield Fault(key=f"line {n}", what=fault, remedy="write one JSON object per line")
