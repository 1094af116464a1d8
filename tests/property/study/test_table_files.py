"""A table has the same cells when read from CSV, TSV and a workbook."""

import csv
import re
import string
from pathlib import Path

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from study.base.bank_model import Fault
from study.tables.table import open_table

_DAMAGED = re.compile(r"[\x00-\x08\x0b-\x1f]|_x")
"""Characters that openpyxl refuses, or writes without a required escape."""

_NAMES = st.lists(
    st.text(string.ascii_letters + "_ é问", min_size=1, max_size=12).filter(
        lambda entry: entry.strip() == entry
    ),
    min_size=2,
    max_size=5,
    unique_by=lambda entry: "".join(char for char in entry.casefold() if char.isalnum()) or entry,
).filter(lambda names: all(any(char.isalnum() for char in name) for name in names))
_TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\ufffe\uffff"), max_size=20
).filter(lambda entry: not entry.startswith(("=", "#")))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Return a header and rows that are not blank."""
    header = draw(_NAMES)
    rows = st.lists(_TEXTS, min_size=len(header), max_size=len(header))
    return header, draw(st.lists(rows.filter(lambda row: any(entry.strip() for entry in row))))


def _read(path: Path) -> tuple[tuple[str, ...], list[list[str]]]:
    with open_table(path) as table:
        rows = list(table.rows)
        assert not [row for row in rows if isinstance(row, Fault)]
        return table.header, [
            list(row.cells.values()) for row in rows if not isinstance(row, Fault)
        ]


@pytest.mark.thorough
@given(table=tables())
def test_a_table_is_the_same_in_all_formats(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[list[str], list[list[str]]]
) -> None:
    """Texts have separators, quotes, line breaks, escapes and control characters."""
    header, rows = table
    folder = tmp_path_factory.mktemp("tables")
    expected = (tuple(header), rows)
    for name, separator in (("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t")):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL)
            writer.writerows([header, *rows])
        assert _read(folder / name) == expected
    with xlsxwriter.Workbook(folder / "x.xlsx", {"strings_to_formulas": False}) as book:
        sheet = book.add_worksheet()
        for n, row in enumerate([header, *rows]):
            for column, text in enumerate(row):
                sheet.write_string(n, column, text)
    assert _read(folder / "x.xlsx") == expected
    if not any(_DAMAGED.search(text) for row in rows for text in row):
        workbook = Workbook()
        for row in [header, *rows]:
            workbook.active.append(row)
        workbook.save(folder / "o.xlsx")
        assert _read(folder / "o.xlsx") == expected
