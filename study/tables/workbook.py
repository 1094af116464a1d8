"""Reads the first visible sheet of an Excel workbook (XLSX, XLSM, Strict Open XML) row by row.

This module parses the XML itself, because openpyxl relies on the declared size of a sheet, damages
text such as `_x000D_` and does not open Strict Open XML. Element names are compared without their
namespace, so that both kinds of Open XML are read in the same way.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import Element, iterparse
from zipfile import ZipFile, ZipInfo

from study.base.budget import Budget
from study.base.errors import BadFile, BeyondBudget
from study.base.packed import open_archive
from study.base.translation import later, t, translated
from study.tables.cells import Cell, format_of, unescape

SAVE_AS = later("In Excel, choose File > Save As > Excel Workbook (.xlsx).")

_Parts = Mapping[str, ZipInfo]
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?\d+")
_FIRST_BYTES = 1024
_CONTENT_TAG = re.compile(rb"<(?:\w{1,20}:)?(row|v|is|f)[\s/>]")
_LONGEST_TAG = 40
"""Maximum length in bytes of the beginning of a tag that `_CONTENT_TAG` matches."""

_LONGEST_TEXT = 4_000_000
"""Maximum length in bytes; Excel writes up to 32,767 characters, each of at most seven bytes."""

_BLOCK = 1 << 16
_EMPTY_CELL = Cell()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A worksheet.

    Attributes
    ----------
    name : str
        The name on the sheet's tab.
    rows : iterator of (int, list of Cell)
        The rows that have content, each with its number. The iterator raises `BadFile` if the sheet
        is damaged.
    merged : list of str
        Ranges of merged cells, such as `A2:A5`; complete after all rows have been read.
    """

    name: str
    rows: Iterator[tuple[int, list[Cell]]]
    merged: list[str] = field(default_factory=list)


def is_workbook(names: Iterable[str]) -> bool:
    """Return whether an archive with files of these names is a spreadsheet of any kind."""
    return bool(_spreadsheet_kinds(names))


def _spreadsheet_kinds(names: Iterable[str]) -> list[str]:
    kinds = {"xl": "Excel", "content.xml": "OpenDocument", "index": "Numbers"}
    tops = {name.replace("\\", "/").partition("/")[0].lower() for name in names}
    if "mimetype" not in tops:
        kinds.pop("content.xml")
    if "metadata" not in tops and "index.zip" not in tops:
        kinds.pop("index")
    return [kind for top, kind in kinds.items() if top in tops]


def open_sheet(path: Path, budget: Budget) -> Sheet:
    """Open the first visible worksheet of a workbook.

    Raises
    ------
    BadFile
        The workbook cannot be read, or exceeds the budget; the message states the remedy.
    """
    with open_archive(path, budget=budget) as (archive, entries), _damage_refused(path):
        parts = {entry.filename.lower(): entry for entry in entries}
        return _sheet(path, archive, parts, budget)


@contextmanager
def _damage_refused(path: Path) -> Iterator[None]:
    """Refuse a damaged workbook, which can raise almost any exception."""
    try:
        yield
    except BadFile:
        raise
    except Exception as error:
        raise BadFile(
            t("{name} is not a complete Excel workbook. Copy or export it again.", name=path)
        ) from error


def _sheet(path: Path, archive: ZipFile, parts: _Parts, budget: Budget) -> Sheet:
    main = _main_part(path, archive, parts)
    related = _relations(archive, parts, main)
    sheets, from_1904 = _sheets(archive, parts, main)
    title, place = _first_visible(path, sheets, related)
    if place in parts:
        _check_rows(path, archive, parts[place], budget)
    texts = [target for kind, target in related.values() if kind == "sharedstrings"]
    styles = [target for kind, target in related.values() if kind == "styles"]
    shared = list(_shared_texts(archive, parts[texts[0]])) if texts and texts[0] in parts else []
    formats = _formats(archive, parts[styles[0]]) if styles and styles[0] in parts else []
    merged: list[str] = []
    reader = _RowReader(shared=shared, formats=formats, from_1904=from_1904, merged=merged)
    return Sheet(name=title, rows=_rows(path, place, reader), merged=merged)


def _main_part(path: Path, archive: ZipFile, parts: _Parts) -> str:
    relations = _relations(archive, parts, "") if "_rels/.rels" in parts else {}
    main = [target for kind, target in relations.values() if kind == "officedocument"]
    if main and main[0] in parts and main[0].endswith(".xml"):
        return main[0]
    others = [kind for kind in _spreadsheet_kinds(parts) if kind != "Excel"]
    if others:
        raise BadFile(
            t(
                "{name} is a spreadsheet in the {kind} format, which is not supported. Export it "
                "as Excel (.xlsx) or CSV.",
                name=path,
                kind=others[0],
            )
        )
    if main and main[0].endswith(".bin"):
        raise BadFile(
            t("{name} is a binary Excel workbook (.xlsb), which is not supported.", name=path)
            + f" {translated(SAVE_AS)}"
        )
    raise BadFile(t("{name} is not an Excel workbook.", name=path) + f" {translated(SAVE_AS)}")


def _relations(archive: ZipFile, parts: _Parts, part: str) -> dict[str, tuple[str, str]]:
    """Return the kind and path of the parts that a part refers to, by relationship ID."""
    folder, file = posixpath.split(part)
    rels = parts.get(f"{folder}/_rels/{file}.rels".lstrip("/"))
    relations = {}
    for element in _elements(archive, rels) if rels else ():
        if _tag(element) == "Relationship" and element.get("TargetMode") != "External":
            target = (element.get("Target") or "").replace("\\", "/")
            path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/").lower()
            kind = (element.get("Type") or "").rpartition("/")[2].lower()
            relations[element.get("Id") or ""] = (kind, path)
    return relations


def _sheets(archive: ZipFile, parts: _Parts, main: str) -> tuple[list[tuple[str, str, str]], bool]:
    """Return the name, state and ID of each sheet, and whether dates count from 1904."""
    sheets, from_1904 = [], False
    for element in _elements(archive, parts[main]):
        if _tag(element) == "sheet":
            number = next((v for key, v in element.attrib.items() if key.endswith("}id")), "")
            sheets.append((element.get("name") or "", element.get("state") or "visible", number))
        elif _tag(element) == "workbookPr":
            from_1904 = element.get("date1904") in ("1", "true")
    return sheets, from_1904


def _first_visible(
    path: Path, sheets: Iterable[tuple[str, str, str]], related: Mapping[str, tuple[str, str]]
) -> tuple[str, str]:
    for title, state, number in sheets:
        kind, place = related.get(number, ("", ""))
        if state == "visible" and kind == "worksheet":
            return title, place
    raise BadFile(t("{name} has no visible worksheet. Unhide the sheet to be read.", name=path))


def _check_rows(path: Path, archive: ZipFile, part: ZipInfo, budget: Budget) -> None:
    """Refuse a worksheet with too many rows with content.

    Counting tags is much faster than parsing.
    """
    n, is_filled, rest = 0, True, b""
    with archive.open(part) as file:
        while block := file.read(_BLOCK):
            text = rest + block
            end = text.rfind(b"<")
            rest = text[end : end + _LONGEST_TAG] if end >= 0 else b""
            for tag in _CONTENT_TAG.findall(text, 0, max(end, 0)):
                if tag == b"row":
                    is_filled = False
                elif not is_filled:
                    is_filled = True
                    n += 1
            budget.check_rows(path, n - 1)  # the header


def _shared_texts(archive: ZipFile, part: ZipInfo) -> Iterator[str]:
    for element in _elements(archive, part):
        if _tag(element) == "si":
            yield _text(element)
            element.clear()


def _text(parent: Element) -> str:
    """Return the text of an element, which may have formatted runs, without phonetic guides."""
    runs = [child for child in parent if _tag(child) in ("t", "r")]
    pieces = [run if _tag(run) == "t" else _child(run, "t") for run in runs]
    return unescape("".join(piece.text or "" for piece in pieces if piece is not None))


def _child(parent: Element, name: str) -> Element | None:
    return next((child for child in parent if _tag(child) == name), None)


def _formats(archive: ZipFile, part: ZipInfo) -> list[str]:
    """Return the number format of each cell style."""
    codes: dict[int, str] = {}
    numbers: list[int] = []
    for element in _elements(archive, part):
        if _tag(element) == "numFmts":  # a numFmt outside it belongs to a conditional format
            codes = {int(f.get("numFmtId") or 0): f.get("formatCode") or "" for f in element}
        elif _tag(element) == "cellXfs":
            numbers = [int(style.get("numFmtId") or 0) for style in element]
    return [format_of(number, codes) for number in numbers]


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _elements(archive: ZipFile, part: ZipInfo) -> Iterator[Element]:
    """Yield the elements of a part in the order in which they end; refuse a document type."""
    with archive.open(part) as beginning:
        if b"<!DOCTYPE" in beginning.read(_FIRST_BYTES):
            raise ValueError("a document type")
    with archive.open(part) as file:
        source = _LimitedPart(file, str(archive.filename))
        for _, element in iterparse(source):  # noqa: S314 (expat bounds entities)
            yield element


class _LimitedPart:
    """A part of a workbook that is refused if a tag, or the text between two tags, is too long.

    Expat parses an incomplete tag or text again with every block, so that the time grows with the
    square of its length.
    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name, self._n_open = file, name, 0

    def read(self, n: int = -1) -> bytes:
        """Return the next block."""
        block = self._file.read(n)
        self._n_open += len(block)
        if self._n_open > _LONGEST_TEXT:
            raise BeyondBudget(
                t(
                    "{name} has a cell of more than {most} characters. Shorten it, or leave out "
                    "its column.",
                    name=self._name,
                    most=_LONGEST_TEXT,
                )
            )
        end = max(block.rfind(b"<"), block.rfind(b">"))
        if end >= 0:
            self._n_open = len(block) - end - 1
        return block


def _rows(path: Path, place: str, reader: "_RowReader") -> Iterator[tuple[int, list[Cell]]]:
    with open_archive(path) as (archive, entries), _damage_refused(path):
        (part,) = (entry for entry in entries if entry.filename.lower() == place)
        yield from reader.rows(_elements(archive, part))


@dataclass(slots=True, kw_only=True)
class _RowReader:
    """Converts the elements of a worksheet to rows.

    `shared` are the strings of the workbook that cells refer to by number, `formats` the number
    formats of its cell styles, and `merged` receives the ranges of merged cells.
    """

    shared: list[str]
    formats: list[str]
    from_1904: bool
    merged: list[str]

    def rows(self, elements: Iterable[Element]) -> Iterator[tuple[int, list[Cell]]]:
        """Yield the rows that have content; the merged ranges are known after the last row."""
        number = 0
        for element in elements:
            tag = _tag(element)
            if tag == "row":
                number = int(element.get("r") or number + 1)
                cells = self._cells(element)
                element.clear()
                if any(cell.type == "f" or cell.value.strip() for cell in cells):
                    yield number, cells
            elif tag == "mergeCell":
                self.merged.append(element.get("ref") or "")

    def _cells(self, row: Element) -> list[Cell]:
        cells: list[Cell] = []
        place = -1
        for element in row:
            if _tag(element) != "c":
                continue
            place = _column_of(element, place)
            cell = self._cell(element)
            if cell.value or cell.type == "f":
                cells.extend([_EMPTY_CELL] * (place + 1 - len(cells)))
                if cells[place] is not _EMPTY_CELL:
                    raise ValueError(f"cell {element.get('r')} twice")
                cells[place] = cell
        return cells

    def _cell(self, element: Element) -> Cell:
        kind = element.get("t") or "n"
        style = int(element.get("s") or 0)
        code = _entry_at(self.formats, style) if self.formats else "General"
        if kind == "inlineStr":
            inside = _child(element, "is")
            return _EMPTY_CELL if inside is None else Cell(value=_text(inside), format=code)
        value = _child(element, "v")
        text = "" if value is None else value.text or ""
        if not text:
            has_no_result = _child(element, "f") is not None and (value is None or kind != "str")
            return Cell(type="f") if has_no_result else _EMPTY_CELL
        if kind == "s":
            return Cell(value=_entry_at(self.shared, int(text)), format=code)
        if kind == "str":
            return Cell(value=unescape(text), format=code)
        return Cell(type=kind, value=text, format=code, from_1904=self.from_1904)


def _column_of(cell: Element, previous: int) -> int:
    """Return the index of a cell's column; a cell without a reference follows the previous cell."""
    reference = cell.get("r")
    if not reference:
        return previous + 1
    match = _REFERENCE.fullmatch(reference.upper())
    if match is None:
        raise ValueError(f"cell {reference}")
    return column_number(match[1])


def _entry_at(texts: Sequence[str], place: int) -> str:
    if not 0 <= place < len(texts):
        raise IndexError(place)
    return texts[place]


def column_number(letters: str) -> int:
    """Return the index of a column, counted from 0, from its letters.

    >>> column_number("A"), column_number("AA")
    (0, 26)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
