"""Write workbooks for tests with openpyxl, and edit their parts."""

import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from study.base.bank_model import Fault
from study.base.budget import BUDGET, Budget
from study.tables.columns import Kind, KindOf, all_text
from study.tables.table import Row, Table, open_table

SHEET, BOOK, STRINGS = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml"
STYLES = "xl/styles.xml"


def write_workbook(
    path: Path, *rows: Sequence[Any], formats: Mapping[str, str] | None = None
) -> Path:
    """Write a workbook with one sheet; number formats are by cell, such as `{"A2": "0%"}`."""
    workbook = Workbook()
    for row in rows:
        workbook.active.append(list(row))
    for cell, code in (formats or {}).items():
        workbook.active[cell].number_format = code
    workbook.save(path)
    return path


def edit_workbook(path: Path, edits: Mapping[str, Callable[[str], str]], **added: bytes) -> Path:
    """Rewrite parts of a workbook, and add parts."""
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    for name, edit in edits.items():
        parts[name] = edit(parts[name].decode()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in {**parts, **added}.items():
            packed.writestr(name, content)
    return path


def write_raw_workbook(
    path: Path, cells: str, *, header: str = "a", styles: Sequence[str] = ()
) -> Path:
    """Write a workbook with the XML of its second row; `styles` are the number formats 0, 1, ..."""
    workbook = Workbook()
    workbook.active.append(header.split(","))
    for n, code in enumerate(styles):
        workbook.active.cell(row=50, column=n + 1).number_format = code
    workbook.save(path)
    row = f'<row r="2">{cells}</row>'
    return edit_workbook(
        path, {SHEET: lambda text: text.replace("</sheetData>", f"{row}</sheetData>")}
    )


def read_table(
    path: Path, *, kind_of: KindOf = all_text, budget: Budget = BUDGET
) -> tuple[Table, list[Row | Fault]]:
    """Read a complete table."""
    with open_table(path, kind_of=kind_of, budget=budget) as table:
        return table, list(table.rows)


def read_cells(path: Path, kind: Kind = Kind.TEXT) -> list[list[str]]:
    """Return the cells of all rows; all columns have the same kind."""
    _, rows = read_table(path, kind_of=lambda _: kind)
    faults = [str(row) for row in rows if isinstance(row, Fault)]
    assert not faults, faults
    return [list(row.cells.values()) for row in rows if isinstance(row, Row)]
