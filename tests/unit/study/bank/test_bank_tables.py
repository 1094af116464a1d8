"""Workbooks and unusual CSV files give the same items as plain CSV, or an error with its row."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study.bank.dicom_bank import import_dicom
from study.bank.importing import FaultyBank
from study.bank.layout import contains_dicom, find_bank
from study.bank.managing import check_bank
from study.bank.reading import ImportOptions
from study.base.bank_model import FINDINGS, TITLES, Rule
from study.base.errors import BadFile
from study.lifecycle import deployments
from study.store import Store, banks
from tests.conftest import ACTING, NOW, entropy_from
from tests.unit.study.bank.conftest import BankFile, read_bank_file
from tests.unit.study.bank.test_dicom_bank import write_folder
from tests.unit.study.tables.workbooks import SHEET, edit_workbook, write_workbook

Read = Callable[..., BankFile]
PA, LAT = "deid_png/P1/A1/pa.png", "deid_png/P1/A1/lat.png"
HEADER = ["item_id", "Question", "option_a", "option_b", "truth", "images", "pixel_spacing", "age"]
ROWS = [
    ["q1", "Which, if any?", "1,5 cm", "2 cm", "B", PA, "0.143", "60"],
    ["q2", "Why?\nSay.", "50%", "55%", "A", f"{PA}|{LAT}", "0.2|0.3", "5"],
]


def test_a_workbook_gives_the_same_items_as_csv(root: Path, bank: Read) -> None:
    """The types of the cells in the workbook do not matter."""
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in [HEADER, *ROWS])
    plain = bank(text, "bank.csv")
    cells: list[list[Any]] = [[*row] for row in ROWS]
    cells[0][6:], cells[1][7] = [0.143, 60], 5.0
    cells[1][2:4] = [0.5, 0.55]
    path = write_workbook(root / "bank.xlsx", HEADER, *cells, formats={"C3": "0%", "D3": "0%"})
    read = read_bank_file(path, images=root)
    assert (read.format, read.faults, read.notes) == ("csv", (), plain.notes)
    assert read.items == plain.items
    assert read.films == plain.films
    assert read.items[0].options == ("1,5 cm", "2 cm")
    assert read.films[LAT].spacing_mm == 0.3


@pytest.mark.parametrize(
    ("first", "separator", "comma"),
    [("sep=;\r\n", ";", ","), ("", ";", ","), ("", "\t", ","), ("", ",", ".")],
)
def test_a_decimal_comma_is_read_in_columns_of_numbers(
    bank: Read, first: str, separator: str, comma: str
) -> None:
    """Commas in other columns are part of the text."""
    header = "item_id;question;option_a;option_b;truth;images;views;pixel_spacing"
    row = f'q1;Is it?;"1,5";"2,5";A;{PA};PA;0{comma}143'
    file = bank(first + f"{header}\r\n{row}\r\n".replace(";", separator), "bank.csv")
    assert (file.faults, file.notes) == ((), ())
    assert file.films[PA].spacing_mm == 0.143
    assert file.items[0].options == ("1,5", "2,5")


@pytest.mark.parametrize(
    ("cells", "formats", "message"),
    [
        ({"C2": 46054}, {"C2": "d-mmm"}, "column “option_a” holds a date (2026-02-01)"),
        ({"B2": 0.75}, {"B2": "h:mm"}, "column “Question” holds a time of day"),
        ({"E2": "#N/A"}, {}, "column “truth” holds the error #N/A"),
        ({"A2": 12345678901234567}, {"A2": "0"}, "column “item_id” holds a number of more than"),
        ({"G2": "=1/7"}, {}, "column “pixel_spacing” holds a formula without a saved result"),
    ],
)
def test_a_cell_that_excel_displays_differently_is_an_error(
    root: Path, cells: dict[str, Any], formats: dict[str, str], message: str
) -> None:
    """The error names row and column; the other rows are read."""
    rows = [[*row] for row in ROWS]
    for name, value in cells.items():
        rows[int(name[1]) - 2][ord(name[0]) - ord("A")] = value
    path = write_workbook(root / "bank.xlsx", HEADER, *rows, formats=formats)
    read = read_bank_file(path, images=root)
    assert [fault.key for fault in read.faults] == ["row 2"]
    assert message in read.faults[0].what
    assert [item.item_id for item in read.items] == ["q2"]


def test_rows_beyond_the_declared_size_of_a_sheet_are_read(root: Path) -> None:
    """If they were ignored, cases would be missing from the study without an error."""
    path = write_workbook(root / "bank.xlsx", HEADER, *ROWS)
    edit_workbook(path, {SHEET: lambda text: text.replace("A1:H3", "A1:H2")})
    assert len(read_bank_file(path, images=root).items) == 2


def test_the_error_of_a_missing_column_names_the_sheet(root: Path) -> None:
    """A workbook may have several sheets."""
    path = write_workbook(root / "bank.xlsx", ["views"], ["PA"])
    with pytest.raises(BadFile, match=r"bank\.xlsx, sheet “Sheet” has no column item_id, .*views"):
        read_bank_file(path, images=root)


@pytest.mark.parametrize("ending", [".xlsx", ".xlsm", ".XLSX"])
def test_a_folder_may_contain_a_workbook(root: Path, ending: str) -> None:
    """Excel's lock file is ignored."""
    path = write_workbook(root / "questions.xlsx", HEADER, *ROWS)
    path = path.rename(path.with_suffix(ending))
    (root / f"~$questions{ending}").write_bytes(b"lock")
    parts, images = find_bank(root)
    assert [part.path for part in parts] == [path]
    assert images == root
    assert check_bank(root, images=None).n_sound == 2


def test_the_error_of_an_xls_file_explains_how_to_convert_it(root: Path) -> None:
    (root / "questions.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    (finding,) = check_bank(root, images=None).findings
    assert "Save As > Excel Workbook (.xlsx)" in finding.examples[0][1]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return an empty store in a separate folder."""
    (tmp_path / "home").mkdir()
    return deployments.init(tmp_path / "home" / "s.db", entropy=entropy_from(1), now=NOW)


@pytest.mark.parametrize("ending", [".xlsx", ".xlsm"])
def test_a_dicom_folder_may_contain_a_workbook(tmp_path: Path, store: Store, ending: str) -> None:
    """The same rules apply: text as displayed, errors by column, and declared sizes ignored."""
    place = write_folder(tmp_path)
    (place / "questions.csv").unlink()
    header = ["item_id", "question", "option_a", "option_b", "truth", "images"]
    rows = [
        [12, "What is the ratio?", 0.5, 0.55, "B", "second.dcm"],
        ["q2", "Which ribs?", 46054, 46115, "A", "second.dcm"],
        ["q3", "Is it there?", True, False, "A", "second.dcm"],
    ]
    formats = {"A2": "0000", "C2": "0%", "D2": "0%", "C3": "d-mmm", "D3": "d-mmm"}
    path = write_workbook(place / "questions.xlsx", header, *rows, formats=formats)
    edit_workbook(path, {SHEET: lambda text: text.replace("A1:F4", "A1:F2")})
    path.rename(path.with_suffix(ending))
    assert contains_dicom(place)
    with pytest.raises(FaultyBank, match="row 3: column “option_a” holds a date"):
        import_dicom(store, place, name="own", acting=ACTING)
    assert (
        import_dicom(
            store, place, name="own", acting=ACTING, options=ImportOptions(skip_faulty=True)
        ).n_items
        == 2
    )
    with store.look() as look:
        items = banks.complete_items(look, banks.bank_row(look, "own").id)
        options = {item.item_id: item.options for item in items}
    assert options == {"0012": ("50%", "55%"), "q3": ("TRUE", "FALSE")}


def test_every_rule_has_a_description_of_its_findings() -> None:
    """The title of a rule describes the desired state, so it cannot describe a finding."""
    assert set(FINDINGS) == set(TITLES) == set(Rule)
    assert not set(FINDINGS.values()) & set(TITLES.values())


def test_a_check_prints_one_line_per_rule(root: Path) -> None:
    """Each line has the number of items, and examples."""
    path = write_workbook(root / "bank.xlsx", HEADER, ROWS[0], ROWS[0])
    (finding,) = check_bank(path, images=root).findings
    assert str(finding) == "B103: Items have the same id: 1 (q1)"
