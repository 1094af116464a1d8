"""Write the files for a paper: LaTeX and Excel tables, methods, references and checklists."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xlsxwriter

from analysis.bundle.cells import escape_cell
from analysis.report.checklists import Checklist
from analysis.report.content import ReportContent
from analysis.report.formats.latex import PREAMBLE, latex_table
from analysis.report.methods import Paragraph
from analysis.report.methods.sources import CHECKLIST_SOURCES, bibtex, references
from analysis.report.tables import ReportTable
from analysis.results import Results

PAPER_FILES = ("tables.xlsx", "tables.tex", "references.bib", "methods.md", "checklists.md")
MAX_LATEX_ROWS = 60
# Prefix of the names of matrices, which are sheets of the workbook.
MATRIX_PREFIX = "matrix-"


def paper_files(results: Results, content: ReportContent) -> dict[str, bytes]:
    """Return the files for a paper, `PAPER_FILES`, by name."""
    texts = {
        "tables.tex": _tables_latex(content.tables),
        "references.bib": bibtex(content.references),
        "methods.md": _methods_markdown(content.methods),
        "checklists.md": _checklists_markdown(content.checklists),
    }
    files = {name: text.encode() for name, text in texts.items()}
    matrices = [table for table in content.tables if table.name.startswith(MATRIX_PREFIX)]
    sheets = {**results.tables, **{table.name: _to_frame(table) for table in matrices}}
    return {"tables.xlsx": workbook(sheets), **files}


def _to_frame(table: ReportTable) -> pd.DataFrame:
    rows = [
        (" and ".join(name.full for name in names), *map(_parse_number, cells))
        for names, cells in table.rows
    ]
    return pd.DataFrame(rows, columns=list(table.header))


def _parse_number(cell: str) -> str | float:
    """Convert an estimate to a number; an interval remains text."""
    try:
        return float(cell.replace("\u2212", "-"))
    except ValueError:
        return cell


def _tables_latex(tables: list[ReportTable]) -> str:
    printed = [table.cut(MAX_LATEX_ROWS) for table in tables if table.in_paper]
    return PREAMBLE + "\n" + "\n".join(_table_latex(table) for table in printed)


def _table_latex(table: ReportTable) -> str:
    return latex_table(
        label=table.name,
        caption=table.title,
        header=table.header,
        rows=[(" and ".join(name.full for name in names), *cells) for names, cells in table.rows],
        note=table.remark,
    )


def _methods_markdown(paragraphs: list[Paragraph]) -> str:
    return (
        "# Methods\n\n"
        + "\n\n".join(
            f"## {part.title}\n\n{_markdown(part.text, cells=False)}" for part in paragraphs
        )
        + "\n"
    )


def _checklists_markdown(checklists: list[Checklist]) -> str:
    opening = (
        "# Reporting checklists\n\n"
        "Items are paraphrased; the guidelines' wording is in the publications.\n"
    )
    sources = {entry.key: entry.source for entry in references(CHECKLIST_SOURCES)}
    parts = []
    for entry in checklists:
        rows = "".join(
            "| "
            + " | ".join(
                _markdown(cell)
                for cell in (item.number, item.topic, item.state.value, item.answer, item.place)
            )
            + " |\n"
            for item in entry.items
        )
        source = sources[entry.key]
        note = f"{entry.note} " if entry.note else ""
        parts.append(
            f"\n## {entry.title}\n\n{note}{source.text} doi:{source.doi}\n\n{entry.summary}.\n\n"
            "| item | what it asks | state | answer | where |\n|---|---|---|---|---|\n" + rows
        )
    return opening + "".join(parts)


def _markdown(text: str, *, cells: bool = True) -> str:
    line = " ".join(text.split())
    for sign in ("\\", "|", "*", "_", "`", "<") if cells else ("\\", "*", "_", "`", "<"):
        line = line.replace(sign, f"\\{sign}")
    return line


# Maximum number of rows in a sheet, because writing 40,000 rows would take a third of the time of
# the complete report. A sheet states how many rows are missing; the CSV files have all rows.
MAX_SHEET_ROWS = 10_000
MAX_CELL_CHARACTERS = 32_767
MAX_SHEET_NAME = 31
# A fixed date of creation, so that the same tables give the same file.
CREATION_DATE = datetime(2000, 1, 1)
WORKBOOK_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def workbook(tables: Mapping[str, pd.DataFrame], max_rows: int = MAX_SHEET_ROWS) -> bytes:
    """Write tables as an Excel file.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        The tables by name.
    max_rows : int, default 10000
        Maximum number of rows in a sheet. The first sheet, and the last row of a truncated sheet,
        state how many rows are missing and where they are.

    Returns
    -------
    bytes
        The file. Text is never a formula or a link; cells of undefined values are empty.
    """
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, WORKBOOK_OPTIONS)
    book.set_properties({"created": CREATION_DATE, "title": "Tables of the report"})
    formats = _Formats(
        head=book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}),
        note=book.add_format({"italic": True}),
        text=book.add_format({"quote_prefix": True}),
    )
    names = _sheet_names(tables)
    sheet = book.add_worksheet("about")
    _write_row(sheet, 0, ("table", "sheet", "rows", "rows in the sheet", "all rows"), formats.head)
    sheet.set_column(0, 4, 24)
    for place, (name, table) in enumerate(tables.items(), start=1):
        shown = min(len(table), max_rows)
        source = "agreement_pairs" if name.startswith(MATRIX_PREFIX) else name
        cells = (name, names[name], len(table), shown, f"tables/{source}.csv")
        _write_row(sheet, place, cells)
        _write_sheet(book.add_worksheet(names[name]), name, table, shown, formats)
    book.close()
    return file.getvalue()


def _sheet_names(tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    return {name: name[:MAX_SHEET_NAME] for name in tables}


class _Formats(NamedTuple):
    """The cell formats of a workbook."""

    head: Any
    note: Any
    text: Any


def _write_sheet(sheet: Any, name: str, table: pd.DataFrame, shown: int, formats: _Formats) -> None:
    _write_row(sheet, 0, list(table.columns), formats.head)
    sheet.freeze_panes(1, 0)
    for j, column in enumerate(table.columns):
        sheet.set_column(j, j, min(40, max(10, len(str(column)) + 2)))
        _write_column(sheet, j, table[column].iloc[:shown], formats.text)
    if shown < len(table):
        left = len(table) - shown
        note = f"{left:,} more rows are not in this sheet: see tables/{name}.csv"
        sheet.write_string(shown + 1, 0, note, formats.note)


def _write_column(sheet: Any, j: int, column: pd.Series[Any], text: Any) -> None:
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        finite = np.isfinite(column.to_numpy(dtype=float, na_value=np.nan)).tolist()
        for i, (number, known) in enumerate(zip(column.tolist(), finite, strict=True), start=1):
            if known:
                sheet.write_number(i, j, number)
        return
    # Without Excel's format for text, a cell would become a formula when it is edited.
    text_format = cache(lambda words: text if escape_cell(words) != words else None)
    for i, cell in enumerate(column.tolist(), start=1):
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            if math.isfinite(cell):
                sheet.write_number(i, j, cell)
        elif cell is not None and cell is not pd.NA and cell != "":
            words = str(cell)[:MAX_CELL_CHARACTERS]
            sheet.write_string(i, j, words, text_format(words))


def _write_row(sheet: Any, i: int, cells: Any, form: Any = None) -> None:
    for j, cell in enumerate(cells):
        if isinstance(cell, int):
            sheet.write_number(i, j, cell, form)
        else:
            sheet.write_string(i, j, str(cell), form)
