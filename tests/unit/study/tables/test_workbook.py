"""Workbooks from various programs: the sheet that is read, limits, and refusals."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter
from openpyxl import Workbook, load_workbook

from study.base.bank_model import Fault
from study.base.budget import Budget
from study.base.errors import BadFile, BeyondBudget
from tests.unit.study.tables.workbooks import (
    BOOK,
    SHEET,
    STYLES,
    edit_workbook,
    read_cells,
    read_table,
    write_raw_workbook,
    write_workbook,
)

ROWS = [["id", "answer"], ["q1", "A"], ["q2", "B"], ["q3", "C"]]
EXPECTED_ROWS = [["q1", "A"], ["q2", "B"], ["q3", "C"]]
_STRICT = {
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": (
        "http://purl.oclc.org/ooxml/spreadsheetml/main"
    ),
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships": (
        "http://purl.oclc.org/ooxml/officeDocument/relationships"
    ),
}


@pytest.mark.parametrize(
    "declared", ["A1", "A1:B2", "A1:B3", "A1:A1", "A1:XFD1048576", "A1:ZZ1048576", "C9:D10", ""]
)
def test_the_size_that_a_sheet_declares_is_ignored(tmp_path: Path, declared: str) -> None:
    """Some programs declare a wrong size."""
    path = write_workbook(tmp_path / "q.xlsx", *ROWS)
    tag = f'<dimension ref="{declared}" />' if declared else ""
    edit_workbook(path, {SHEET: lambda text: text.replace('<dimension ref="A1:B4" />', tag)})
    with zipfile.ZipFile(path) as packed:
        assert (tag or "<sheetViews>") in packed.read(SHEET).decode()
    assert read_cells(path) == EXPECTED_ROWS


@pytest.mark.parametrize(
    "cell",
    [
        '<c r="A2" t="inlineStr"><is><t>{}</t></is></c>',
        '<c r="A2" t="str"><v>{}</v></c>',
        '<c r="A2" note="{}"><v>1</v></c>',
        '<c r="A2"><f>{}</f><v>1</v></c>',
        "<!--{}-->",
        "<{} />",
    ],
)
def test_a_text_or_tag_of_any_length_is_refused(tmp_path: Path, cell: str) -> None:
    """Parsing would take quadratic time; long text below the limit is read."""
    with pytest.raises(BeyondBudget, match=r"q\.xlsx has a cell of more than 4,000,000 characters"):
        read_table(write_raw_workbook(tmp_path / "q.xlsx", cell.format("x" * 4_100_000)))
    long = '<c r="A2" t="inlineStr"><is><t>{}</t></is></c>'.format("x" * 200_000)
    assert read_cells(write_raw_workbook(tmp_path / "long.xlsx", long)) == [["x" * 200_000]]


def test_limits_apply_to_rows_and_columns_with_content(tmp_path: Path) -> None:
    """Any number of formatted empty rows is accepted."""
    path = write_workbook(tmp_path / "q.xlsx", *ROWS)
    many = "".join(f'<row r="{n}"><c r="B{n}" s="0"/></row>' for n in range(10, 300))
    edit_workbook(path, {SHEET: lambda text: text.replace("</sheetData>", f"{many}</sheetData>")})
    assert read_cells(path) == EXPECTED_ROWS
    assert len(read_table(path, budget=Budget(rows=3, columns=2))[1]) == 3
    with pytest.raises(BadFile, match="more than 2 rows"):
        read_table(path, budget=Budget(rows=2))
    with pytest.raises(BadFile, match="more than 1 columns"):
        read_table(path, budget=Budget(columns=1))
    with pytest.raises(BadFile, match="unpacks to"):
        read_table(path, budget=Budget(unpacked_bytes=100))


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_the_first_visible_worksheet_is_read(tmp_path: Path, state: str) -> None:
    """Hidden sheets contain lists of choices, and chart sheets no cells."""
    workbook = Workbook()
    workbook.active.append(["views"])
    workbook.active.sheet_state = state
    workbook.create_chartsheet("chart")
    for row in ROWS:
        (
            workbook["bank"] if "bank" in workbook.sheetnames else workbook.create_sheet("bank")
        ).append(row)
    workbook.create_sheet("notes").append(["note"])
    workbook.save(tmp_path / "q.xlsx")
    table, rows = read_table(tmp_path / "q.xlsx")
    assert (table.name, len(rows)) == (f"{tmp_path / 'q.xlsx'}, sheet “bank”", 3)
    assert table.header == ("id", "answer")


def test_a_workbook_without_a_visible_worksheet_is_refused(tmp_path: Path) -> None:
    """The message has a remedy."""
    path = write_workbook(tmp_path / "q.xlsx", *ROWS)
    edit_workbook(path, {BOOK: lambda text: text.replace('state="visible"', 'state="hidden"')})
    with pytest.raises(BadFile, match=r"q\.xlsx has no visible worksheet\. Unhide"):
        read_table(path)


def test_hidden_rows_and_columns_are_read(tmp_path: Path) -> None:
    """A CSV export contains them too."""
    path = write_workbook(tmp_path / "q.xlsx", *ROWS)
    workbook = load_workbook(path)
    workbook.active.row_dimensions[3].hidden = True
    workbook.active.column_dimensions["B"].hidden = True
    workbook.save(path)
    assert read_cells(path) == EXPECTED_ROWS


@pytest.mark.parametrize("ending", [".xlsx", ".xlsm", ".xltx", ".xltm", ".dat"])
def test_a_workbook_is_recognised_by_its_content(tmp_path: Path, ending: str) -> None:
    """The file name does not matter; workbooks with macros and templates are recognised too."""
    path = write_workbook(tmp_path / "q.xlsx", *ROWS)
    assert read_cells(path.rename(path.with_suffix(ending))) == EXPECTED_ROWS


def test_strict_open_xml_is_read(tmp_path: Path) -> None:
    """Strict files have other namespaces, and dates may be text."""
    path = write_workbook(tmp_path / "q.xlsx", *ROWS)
    with zipfile.ZipFile(path) as packed:
        names = packed.namelist()

    def strict(text: str) -> str:
        for transitional, other in _STRICT.items():
            text = text.replace(transitional, other)
        return text

    edit_workbook(
        path, dict.fromkeys([name for name in names if name.endswith((".xml", ".rels"))], strict)
    )
    assert read_cells(path) == EXPECTED_ROWS


def test_shared_strings_and_numbers_of_xlsxwriter_are_read(tmp_path: Path) -> None:
    """Pandas and VLMEvalKit use this library."""
    path = tmp_path / "q.xlsx"
    with xlsxwriter.Workbook(path) as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_row(0, 0, ["a", "b", "c"])
        sheet.write_row(1, 0, ["B\r\n", "_x000D_", 2])
        bold = workbook.add_format({"bold": True})
        sheet.write_rich_string(2, 0, "Left ", bold, "upper", " lobe")
        sheet.write(2, 2, 0.5, workbook.add_format({"num_format": "0%"}))
    assert read_cells(path) == [["B\r\n", "_x000D_", "2"], ["Left upper lobe", "", "50%"]]


def test_cells_without_an_address_are_consecutive(tmp_path: Path) -> None:
    """Some programs omit addresses."""
    cells = '<c t="inlineStr"><is><t>x</t></is></c><c><v>2</v></c><c r="D2"><v>4</v></c>'
    assert read_cells(write_raw_workbook(tmp_path / "q.xlsx", cells, header="a,b,c,d")) == [
        ["x", "2", "", "4"]
    ]


@pytest.mark.parametrize("merged", ["A2:A3", "A2:B2", "B1:B4", "A4:C4"])
def test_merged_cells_in_the_table_are_refused(tmp_path: Path, merged: str) -> None:
    """All cells except the first would be empty, even in an optional column."""
    workbook = Workbook()
    for row in ROWS:
        workbook.active.append(row)
    workbook.active.merge_cells(merged)
    workbook.save(tmp_path / "q.xlsx")
    with pytest.raises(BadFile, match=f"sheet “Sheet”: the cells {merged} are merged"):
        read_table(tmp_path / "q.xlsx")


def test_merged_cells_outside_the_table_are_ignored(tmp_path: Path) -> None:
    """For example, there may be remarks to the right or below."""
    workbook = Workbook()
    for row in ROWS:
        workbook.active.append(row)
    workbook.active.merge_cells("E1:F9")
    workbook.active.merge_cells("A20:B20")
    workbook.save(tmp_path / "q.xlsx")
    assert read_cells(tmp_path / "q.xlsx") == EXPECTED_ROWS


@pytest.mark.parametrize(
    "header",
    [["a", "a"], ["Option A", "option_a"], ["Größe", "gro\u0308ße"], ["PatientID", "patient id"]],
)
def test_duplicate_column_names_are_refused_as_in_csv(tmp_path: Path, header: list[str]) -> None:
    """Names are compared ignoring case, spaces and underscores."""
    path = tmp_path / "q.csv"
    path.write_text(",".join(header) + "\n1,2\n", encoding="utf-8")
    for table in (path, write_workbook(tmp_path / "q.xlsx", header, ["1", "2"])):
        with pytest.raises(BadFile, match=f"columns given twice: {header[0]}|{header[1]}"):
            read_table(table)


def test_a_repeated_header_is_not_a_row(tmp_path: Path) -> None:
    """A repeated header is rejected as in CSV files."""
    _, rows = read_table(
        write_workbook(tmp_path / "q.xlsx", ["id", "text"], ["1", "text"], ["id", "text"])
    )
    assert [isinstance(row, Fault) for row in rows] == [False, True]


def test_a_column_name_that_is_a_date_is_refused(tmp_path: Path) -> None:
    """The message has the row; Excel may have converted another text to the date."""
    path = write_workbook(tmp_path / "q.xlsx", [46054, "b"], ["1", "2"], formats={"A1": "d-mmm"})
    with pytest.raises(BadFile, match="row 1: a column name is a date"):
        read_table(path)


def _xls_file(folder: Path) -> Path:
    path = folder / "q.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    return path


def _encrypted_file(folder: Path) -> Path:
    head = bytearray(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    head[30:32], head[48:52] = (9).to_bytes(2, "little"), (3).to_bytes(4, "little")
    path = folder / "q.xlsx"
    name = "EncryptedPackage".encode("utf-16-le")
    path.write_bytes(bytes(head) + bytes(512 * 3) + bytes(128) + name + bytes(500))
    return path


def _zip(path: Path, **parts: str) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in parts.items():
            packed.writestr(name, text)
    return path


def _xlsb_file(folder: Path) -> Path:
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Target="xl/workbook.bin" Type="x/officeDocument"/></Relationships>'
    )
    parts = {"_rels/.rels": rels, "xl/workbook.bin": ""}
    return _zip(folder / "q.xlsb", **parts)


def _ods_file(folder: Path) -> Path:
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return _zip(folder / "q.ods", **{"mimetype": kind, "content.xml": "<x/>"})


def _numbers_file(folder: Path) -> Path:
    return _zip(folder / "q.numbers", **{"Index/Document.iwa": "", "Metadata/x.plist": ""})


def _html_file(folder: Path) -> Path:
    path = folder / "q.xls"
    path.write_text("\ufeff\n<html><table><tr><td>id</td></tr></table></html>")
    return path


def _xml_2003_file(folder: Path) -> Path:
    path = folder / "q.xls"
    path.write_text(
        '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>'
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>'
    )
    return path


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (_xls_file, r"old format \(\.xls\)\. In Excel, choose File > Save As > Excel Workbook"),
        (_encrypted_file, "protected with a password. Remove it in Excel"),
        (_xlsb_file, r"\.xlsb.* Save As > Excel Workbook"),
        (_ods_file, "the OpenDocument format, .*Export it as Excel"),
        (_numbers_file, "the Numbers format, .*Export it as Excel"),
        (_html_file, r"HTML or XML file.* Save As > Excel Workbook"),
        (_xml_2003_file, "XML format of 2003. In Excel, choose File > Save As"),
    ],
)
def test_other_kinds_of_workbook_are_refused_with_instructions_to_save_them(
    tmp_path: Path, write: Callable[[Path], Path], message: str
) -> None:
    path = write(tmp_path)
    with pytest.raises(BadFile, match=rf"{path.name}.*{message}"):
        read_table(path)


@pytest.mark.parametrize(
    ("part", "edit"),
    [
        (SHEET, lambda text: text[:-60]),
        (SHEET, lambda text: text.replace('"inlineStr"><is>', '"s"><v>99</v><is>')),
        (SHEET, lambda text: text.replace('r="B2"', 'r="A2"')),
        (SHEET, lambda text: text.replace('<row r="2"', '<row r="x"')),
        (SHEET, lambda text: f'<!DOCTYPE x [<!ENTITY e "e">]>{text}'),
        (BOOK, lambda _: "no XML"),
        (BOOK, lambda text: text.replace("<sheets>", "<other>").replace("</sheets>", "</other>")),
        ("xl/_rels/workbook.xml.rels", lambda text: text.replace("sheet1.xml", "sheet7.xml")),
        ("xl/styles.xml", lambda text: text[:-5]),
    ],
)  # fmt: skip
def test_a_damaged_workbook_is_refused_with_its_name(
    tmp_path: Path, part: str, edit: Callable[[str], str]
) -> None:
    """Any part may be damaged; no other error occurs."""
    path = edit_workbook(write_workbook(tmp_path / "q.xlsx", *ROWS), {part: edit})
    if "<other>" in edit("<sheets>"):
        assert read_cells(path) == EXPECTED_ROWS
        return
    with pytest.raises(BadFile, match=r"q\.xlsx is not a complete Excel workbook"):
        read_table(path)


@pytest.mark.parametrize(
    ("row", "read_as"),
    [
        ("<c{q}/><c/><c{b}/>", ["q", "", "b"]),
        ('<c{q}/><c t="inlineStr"><is><t/></is></c><c{b}/>', ["q", "", "b"]),
        ("<c{q}/><c><v></v></c><c{b}/>", ["q", "", "b"]),
        ('<c{q}/><c r="C2"{b}/>', ["q", "", "b"]),
        ('<c r="B2"{q}/><c{b}/>', ["", "q", "b"]),
        ('<c r="c2"{b}/><c r="$A$2"{q}/>', ["q", "", "b"]),
    ],
)
def test_a_cell_without_a_reference_follows_the_previous_cell(
    tmp_path: Path, row: str, read_as: list[str]
) -> None:
    """The rule applies to empty cells too, so no answer moves to another column."""
    for name in "qb":
        text = f' t="inlineStr"><is><t>{name}</t></is></c>'
        row = row.replace(f"{{{name}}}/>", text)
    assert read_cells(write_raw_workbook(tmp_path / "q.xlsx", row, header="id,note,answer")) == [
        read_as
    ]


@pytest.mark.parametrize(
    "cell",
    [
        '<c r="?2"><v>1</v></c>',
        '<c r="A2" t="s"><v>-1</v></c>',
        '<c r="A2" t="s"><v>99</v></c>',
        '<c r="A2" s="-1"><v>1</v></c>',
        '<c r="A2" s="99"><v>1</v></c>',
    ],
)
def test_a_cell_with_an_invalid_reference_is_refused(tmp_path: Path, cell: str) -> None:
    """The cell is not read with another text or format instead."""
    with pytest.raises(BadFile, match="not a complete Excel workbook"):
        read_table(write_raw_workbook(tmp_path / "q.xlsx", cell))


@pytest.mark.parametrize("number", ["NaN", "INF", "-INF", "one"])
@pytest.mark.parametrize("style", [0, 1])
def test_an_invalid_number_rejects_its_row(tmp_path: Path, number: str, style: int) -> None:
    path = write_raw_workbook(
        tmp_path / "q.xlsx", f'<c r="A2" s="{style}"><v>{number}</v></c>', styles=["0.00"]
    )
    _, (row, *_) = read_table(path)
    assert isinstance(row, Fault)
    assert "an unreadable number" in row.what


def test_the_formats_of_conditional_formatting_are_not_used_for_cells(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "q.xlsx", ["a"], [0.5], formats={"A2": '0.0" %"'})
    dxf = '<dxfs count="1"><dxf><numFmt numFmtId="164" formatCode="0%"/></dxf></dxfs>'
    edit_workbook(path, {STYLES: lambda text: text.replace("</styleSheet>", f"{dxf}</styleSheet>")})
    with zipfile.ZipFile(path) as packed:
        assert dxf in packed.read(STYLES).decode()
    assert read_cells(path) == [["0.5 %"]]


def test_column_names_that_look_alike_are_equal(tmp_path: Path) -> None:
    """A Cyrillic letter in a name does not hide a column."""
    path = write_workbook(tmp_path / "q.xlsx", ["id", "answer", "\u0430nswer"], ["q1", "A", "B"])
    with pytest.raises(BadFile, match="columns given twice"):
        read_table(path)
