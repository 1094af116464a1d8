"""Cells of a workbook are read as Excel displays them, or rejected with row and column."""

from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from study.base.bank_model import Fault
from study.tables.columns import Kind
from tests.unit.study.tables.workbooks import (
    BOOK,
    edit_workbook,
    read_cells,
    read_table,
    write_raw_workbook,
    write_workbook,
)

DISPLAYED_CELLS = [
    ("word", "General", "word"),
    (12, "General", "12"),
    (12.0, "General", "12"),
    (-3, "General", "-3"),
    (0.1 + 0.2, "General", "0.3"),
    (1 / 3, "General", "0.333333333"),
    (12345.678901234, "General", "12345.6789"),
    (123456789012, "General", "123456789012"),
    (0.5, "0%", "50%"),
    (0.55, "0%", "55%"),
    (0.125, "0.0%", "12.5%"),
    (0.125, "0 %", "13 %"),
    (1, "0%", "100%"),
    (12, "0000", "0012"),
    (7, "000-00", None),
    (3, "0.00", "3.00"),
    (2.5, "0", "3"),
    (-2.5, "0", "-3"),
    (0.143, "0.##", "0.14"),
    (12, '0" mm"', "12 mm"),
    (12, r"0\ \c\m", "12 cm"),
    (5, '"R"0', "R5"),
    (1234567, "#,##0", "1,234,567"),
    (1234.5, "#,##0.00", "1,234.50"),
    (-1.5, "0.0;[Red]-0.0", "-1.5"),
    (-1.5, "0.0;(0.0)", "(1.5)"),
    (0, '0;-0;"none"', None),
    (-3, '"Grade "0', "-Grade 3"),
    (-0.4, "0", "0"),
    (123456789, "0." + 20 * "0", "123456789." + 20 * "0"),
    (True, "General", "TRUE"),
    (False, "General", "FALSE"),
    (12, "@", "12"),
    (date(2026, 2, 1), "d-mmm", None),
    (datetime(2026, 2, 1, 8, 30), "yyyy-mm-dd hh:mm", None),
    (time(8, 30), "h:mm", None),
    (timedelta(hours=30), "[h]:mm", None),
    (46054, "[$-407]d. mmmm", None),
    (1234.5, '"$"#,##0.00_);("$"#,##0.00)', "$1,234.50"),
    (-1234, "#,##0_);[Red](#,##0)", "(1,234)"),
    (1.5, "[$-409]0.00", "1.50"),
    (1.5, "[$-409]General", "1.5"),
    (1234.5, '_-* #,##0.00 "€"_-', None),
    (1234.5, "$#,##0.00", None),
    (12.5, "[$€-407] #,##0.00", None),
    (0.5, "# ?/?", None),
    (100000, "0.00E+00", None),
    (0.00001, "General", None),
    (12345678901234567, "General", None),
    (12345678901234567, "0", None),
    (1234567, "0,", None),
    (5, "[>3]0;0.0", None),
    (5, "??0", None),
    ("word", "0.00", "word"),
    ("word", "@", "word"),
    ("word", "0;-0;;@", "word"),
    ("word", "[Red]0;[Blue]-0", "word"),
    ("word", '@" mm"', None),
    ("word", '0;-0;0;"Option "@', None),
    ("word", ";;;", None),
    ("word", '0;-0;0;"none"', None),
    ("#N/A", "General", None),
    ("=1+1", "General", None),
]


@pytest.mark.parametrize(("value", "code", "displayed"), DISPLAYED_CELLS)
def test_a_text_cell_is_read_as_displayed_or_its_row_is_rejected(
    tmp_path: Path, value: Any, code: str, displayed: str | None
) -> None:
    """A cell that other computers display differently is rejected with row and column."""
    path = write_workbook(
        tmp_path / "q.xlsx", ["Option A"], [value], ["other"], formats={"A2": code}
    )
    _, (row, other) = read_table(path)
    if displayed is None:
        assert isinstance(row, Fault)
        assert (row.key, "“Option A” holds" in row.what) == ("row 2", True)
        assert "Text" in row.remedy
    else:
        assert row == ("row 2", {"Option A": displayed})
    assert other == ("row 3", {"Option A": "other"})


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.95, "0%", "0.95"),
        (0.55, "0%", "0.55"),
        (0.1435, "0.0", "0.1435"),
        (200, "General", "200"),
        (1e-7, "General", "1e-07"),
        ("0,143", "General", "0.143"),
        (r"0,143\0,15", "General", r"0.143\0.15"),
        ("0.143", "@", "0.143"),
    ],
)
def test_numbers_are_read_in_full_precision(
    tmp_path: Path, value: Any, code: str, text: str
) -> None:
    """The format does not matter; a decimal comma becomes a point."""
    path = write_workbook(tmp_path / "q.xlsx", ["a"], [value], formats={"A2": code})
    assert read_cells(path, Kind.NUMBER) == [[text]]


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (date(2026, 5, 24), "d-mmm", "2026-05-24"),
        (datetime(2026, 5, 24, 8, 30), "d.m.yy h:mm", "2026-05-24 08:30:00"),
        (20260524, "General", "20260524"),
        ("24 May", "General", "24 May"),
    ],
)
@pytest.mark.parametrize("kind", [Kind.DATE, Kind.ANY])
def test_dates_are_read_in_iso_format(
    tmp_path: Path, kind: Kind, value: Any, code: str, text: str
) -> None:
    """Columns that are only stored are read in the same way."""
    path = write_workbook(tmp_path / "q.xlsx", ["a"], [value], formats={"A2": code})
    assert read_cells(path, kind) == [[text]]


def test_the_date_system_of_1904_is_supported(tmp_path: Path) -> None:
    """Excel for Macintosh used this system, in which dates differ by four years."""
    path = write_raw_workbook(
        tmp_path / "q.xlsx", '<c r="A2" s="1"><v>44592</v></c>', styles=["yyyy-mm-dd"]
    )
    assert read_cells(path, Kind.DATE) == [["2022-01-31"]]
    edit_workbook(
        path, {BOOK: lambda text: text.replace("<workbookPr ", '<workbookPr date1904="1" ')}
    )
    assert read_cells(path, Kind.DATE) == [["2026-02-01"]]


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.NUMBER, Kind.DATE])
@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ('<c r="A2" t="e"><v>#DIV/0!</v></c>', "the error #DIV/0!"),
        ('<c r="A2"><f>B2*2</f></c>', "a formula without a saved result"),
    ],
)
def test_a_formula_without_result_rejects_its_row(
    tmp_path: Path, kind: Kind, cell: str, what: str
) -> None:
    """Otherwise an optional cell would be empty without a warning; all columns are tested."""
    _, (row,) = read_table(write_raw_workbook(tmp_path / "q.xlsx", cell), kind_of=lambda _: kind)
    assert isinstance(row, Fault)
    assert what in row.what


def test_the_result_of_a_formula_is_read(tmp_path: Path) -> None:
    """The result is a number, text, empty, or a boolean."""
    written = (
        '<c r="A2"><f>1+1</f><v>2</v></c><c r="B2" t="str"><f>"x"</f><v>x_x000D_</v></c>'
        '<c r="C2" t="str"><f>""</f><v></v></c><c r="D2" t="b"><f>1=1</f><v>1</v></c>'
    )
    path = write_raw_workbook(tmp_path / "q.xlsx", written, header="a,b,c,d")
    assert read_cells(path) == [["2", "x\r", "", "TRUE"]]


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("B_x000D_\n", "B\r\n"),
        ("B_x000d_", "B\r"),
        ("_x005F_x000D_", "_x000D_"),
        ("_x005F_x005F_", "_x005F_"),
        ("_x0041_", "A"),
        ("_x000D", "_x000D"),
        ("_x00zz_", "_x00zz_"),
        ("_xD83D__xDE00_", "😀"),
        ("a_x0009_b_x0001_", "a\tb\x01"),
    ],
)
@pytest.mark.parametrize("way", ["inline", "rich", "formula"])
def test_escaped_control_characters_are_decoded(
    tmp_path: Path, way: str, stored: str, text: str
) -> None:
    """Strings may be shared or inline; an escaped escape sequence is literal text."""
    ways = {
        "inline": f'<c r="A2" t="inlineStr"><is><t>{stored}</t></is></c>',
        "rich": f'<c r="A2" t="inlineStr"><is><r><t>{stored[:3]}</t></r><r><rPr><b/></rPr>'
        f"<t>{stored[3:]}</t></r><rPh><t>guide</t></rPh></is></c>",
        "formula": f'<c r="A2" t="str"><f>X</f><v>{stored}</v></c>',
    }
    assert read_cells(write_raw_workbook(tmp_path / "q.xlsx", ways[way])) == [[text]]
