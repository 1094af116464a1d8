"""Reads a table from a file: its header, and its rows as text by column."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from io import BufferedReader, StringIO
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from study.base.bank_model import Fault
from study.base.budget import BUDGET, Budget
from study.base.errors import BadFile
from study.base.translation import t, translated
from study.tables.cells import Cell, NotDisplayed, text_of
from study.tables.columns import Kind, KindOf, all_text, check_header, with_decimal_points
from study.tables.delimited import read_delimited
from study.tables.text_file import TextFile, open_bytes
from study.tables.workbook import SAVE_AS, column_number, open_sheet

TEXT_ENDINGS = (".csv", ".tsv")
SPREADSHEET_ENDINGS = (
    *(*TEXT_ENDINGS, ".xlsx", ".xlsm", ".xltx", ".xltm"),
    *(".xls", ".xlt", ".xlsb", ".ods", ".numbers"),
)
"""Endings of spreadsheet files; the last five kinds are refused with advice on how to save them."""

_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_RANGE = re.compile(r"([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?")


class Row(NamedTuple):
    """A row of a table: its position (`line 3`, `row 3`), and its cells by column name."""

    place: str
    cells: dict[str, str]


class Bytes(Protocol):
    """Facts about the bytes of a file while it is being read."""

    @property
    def n_bytes(self) -> int:
        """Return the number of bytes read so far."""

    @property
    def hash(self) -> Any:
        """Return the SHA-256 object of the bytes read so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that is being read.

    Attributes
    ----------
    format : {"csv", "xlsx"}
        ``csv`` stands for text with any separator, ``xlsx`` for any workbook.
    name : str
        The name of the table in messages: the file, and the sheet of a workbook.
    header : tuple of str
        The names of the columns. The cells of a column without a name are ignored.
    rows : iterator of Row or Fault
        The rows in file order, without blank rows, and a fault for each row that cannot be read.
        The iterator raises `BadFile` where the rest of the file cannot be read.
    source : Bytes
        The file's bytes.
    """

    format: Literal["csv", "xlsx"]
    name: str
    header: tuple[str, ...]
    rows: Iterator[Row | Fault]
    source: Bytes


@contextmanager
def open_table(
    path: Path, *, kind_of: KindOf = all_text, budget: Budget = BUDGET
) -> Iterator[Table]:
    """Open a file and read it with `read_table`."""
    with open_bytes(path) as file:
        yield read_table(path, file, kind_of=kind_of, budget=budget)


def read_table(
    path: Path, file: BufferedReader, *, kind_of: KindOf = all_text, budget: Budget = BUDGET
) -> Table:
    """Read a CSV or TSV file, or the first visible sheet of a workbook.

    The format is recognised from the content.

    Parameters
    ----------
    path, file
        The path, and the open file, which must stay open until all rows have been read.
    kind_of : callable
        Returns the kind of a column from its name.
    budget : Budget
        The limits that the file must not exceed.

    Raises
    ------
    BadFile
        The file cannot be read at all.
    """
    if begins_as_workbook(path, file):
        return _table_of_workbook(path, file, kind_of, budget)
    text = TextFile(path, file)
    name = str(path)
    header, rows = _header_and_rows(name, text.beginning(), text.lines(), kind_of, budget)
    return Table(format="csv", name=name, header=header, rows=rows, source=text)


def read_pasted_table(
    text: str, *, name: str, kind_of: KindOf = all_text, budget: Budget = BUDGET
) -> tuple[tuple[str, ...], Iterator[Row | Fault]]:
    """Return the header and the rows of a table that was pasted into a page as text."""
    text = text.removeprefix("\ufeff")
    return _header_and_rows(name, text, StringIO(text, newline=""), kind_of, budget)


def begins_as_workbook(path: Path, file: BufferedReader) -> bool:
    """Return whether a file is a ZIP archive, like all supported workbooks.

    Raises
    ------
    BadFile
        The file is a workbook of an unsupported kind, or not a table.
    """
    file.seek(0)
    begins = file.read(512)
    if begins.startswith(_OLD_OFFICE):
        _refuse_old_office(path, file, begins)
    if b"urn:schemas-microsoft-com:office:spreadsheet" in begins:
        fault = t("{name} is an Excel workbook in the XML format of 2003.", name=path)
        raise BadFile(f"{fault} {translated(SAVE_AS)}")
    if begins.removeprefix(BOM_UTF8).lstrip().startswith(b"<"):
        fault = t("{name} is an HTML or XML file and not a table.", name=path)
        raise BadFile(f"{fault} {translated(SAVE_AS)}")
    file.seek(0)
    return begins.startswith(b"PK")


def _refuse_old_office(path: Path, file: BufferedReader, begins: bytes) -> None:
    """Refuse an old or an encrypted workbook; the directory of the container tells which it is."""
    sector = 1 << min(int.from_bytes(begins[30:32], "little"), 16)
    file.seek((int.from_bytes(begins[48:52], "little") + 1) * sector)
    if _ENCRYPTED in file.read(sector):
        raise BadFile(
            t(
                "{name} is protected with a password. Remove it in Excel (File > Info > Protect "
                "Workbook > Encrypt with Password) and save the file.",
                name=path,
            )
        )
    fault = t("{name} is an Excel workbook in the old format (.xls).", name=path)
    raise BadFile(f"{fault} {translated(SAVE_AS)}")


@dataclass(frozen=True, slots=True)
class _ReadBytes:
    n_bytes: int
    hash: Any


def _header_and_rows(
    name: str, beginning: str, lines: Iterator[str] | StringIO, kind_of: KindOf, budget: Budget
) -> tuple[tuple[str, ...], Iterator[Row | Fault]]:
    text = read_delimited(name, lines, beginning=beginning, budget=budget)
    _, first = next(text.rows, (0, []))
    if any("\0" in cell for cell in first):
        raise BadFile(
            t(
                "{name} is not UTF-8: it contains NUL characters. Save it as UTF-8 (in Excel: "
                "“CSV UTF-8”).",
                name=name,
            )
        )
    header = _header(name, first, budget)
    commas = text.has_decimal_commas
    numbers = {column for column in header if commas and kind_of(column) is Kind.NUMBER}

    def rows() -> Iterator[Row | Fault]:
        for line, cells in text.rows:
            yield _text_row(header, numbers, line, cells)

    return header, rows()


def _header(name: str, cells: Sequence[str], budget: Budget) -> tuple[str, ...]:
    header = tuple(cell.strip() for cell in cells)
    budget.check_columns(name, len(header))
    check_header(name, header)
    return header


def _text_row(
    header: Sequence[str], numbers: set[str], n: int, cells: Sequence[str]
) -> Row | Fault:
    place = f"line {n}"
    if len(cells) < len(header) or any(cell.strip() for cell in cells[len(header) :]):
        return Fault(
            key=place,
            what=f"{len(cells)} cell{'s' * (len(cells) != 1)} under a header of {len(header)}",
            remedy="give each column one cell, quoted if it contains the separator",
        )
    row = {name: cell for name, cell in zip(header, cells, strict=False) if name}
    row |= {name: with_decimal_points(row[name]) for name in numbers}
    return _row_unless_header(place, row)


def _row_unless_header(place: str, row: dict[str, str]) -> Row | Fault:
    """Return a row, or a fault if it repeats the header, as happens when tables are joined."""
    if all(cell.strip() == name for name, cell in row.items()):
        return Fault(key=place, what=t("the row repeats the header"), remedy=t("delete the row"))
    return Row(place, row)


def _table_of_workbook(path: Path, file: BufferedReader, kind_of: KindOf, budget: Budget) -> Table:
    sheet = open_sheet(path, budget)
    name = t("{name}, sheet “{sheet}”", name=path, sheet=sheet.name)
    top, first = next(sheet.rows, (0, []))
    header = _header(name, _header_texts(name, top, first), budget)
    kinds = [kind_of(column) for column in header]
    columns = [(n, column, kinds[n]) for n, column in enumerate(header) if column]

    def rows() -> Iterator[Row | Fault]:
        last = top
        for n, (last, cells) in enumerate(sheet.rows, 1):
            budget.check_rows(name, n)
            row = _workbook_row(columns, last, cells)
            if row is not None:
                yield row
        _refuse_merged(name, sheet.merged, top, last, [n for n, _, _ in columns])

    digest = _ReadBytes(path.stat().st_size, file_digest(file, "sha256"))
    return Table(format="xlsx", name=name, header=header, rows=rows(), source=digest)


def _header_texts(name: str, number: int, cells: Sequence[Cell]) -> list[str]:
    try:
        return [text_of(cell, Kind.TEXT) for cell in cells]
    except NotDisplayed as reason:
        raise BadFile(
            t(
                "{name}, row {row}: a column name is {what}. Format it as Text and type it again.",
                name=name,
                row=str(number),
                what=reason,
            )
        ) from None


def _workbook_row(
    columns: Sequence[tuple[int, str, Kind]], number: int, cells: Sequence[Cell]
) -> Row | Fault | None:
    row: dict[str, str] = {}
    faults: list[str] = []
    for place, name, kind in columns:
        try:
            row[name] = text_of(cells[place], kind) if place < len(cells) else ""
        except NotDisplayed as reason:
            faults.append(t("column “{column}” holds {what}", column=name, what=reason))
    if faults:
        return Fault(
            key=f"row {number}",
            what="; ".join(faults),
            remedy=t("format the cell as Text and type its content again"),
        )
    is_filled = any(text.strip() for text in row.values())
    return _row_unless_header(f"row {number}", row) if is_filled else None


def _refuse_merged(
    name: str, ranges: Sequence[str], top: int, last: int, columns: Sequence[int]
) -> None:
    """Refuse merged cells within a table; all but the first of them would be read as empty."""
    for cells in ranges:
        match = _RANGE.fullmatch(cells)
        if not match:
            continue
        left, right = (column_number(match[n] or match[1]) for n in (1, 3))
        upper, lower = (int(match[n] or match[2]) for n in (2, 4))
        if lower >= top and upper <= last and any(left <= n <= right for n in columns):
            raise BadFile(
                t(
                    "{name}: the cells {cells} are merged. Unmerge them and fill in each.",
                    name=name,
                    cells=cells,
                )
            )
