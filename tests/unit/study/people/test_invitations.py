"""Lists of readers, in which every error is reported with line and column."""

from pathlib import Path

import pytest

from study.base.errors import BadFile
from study.people.invitations import Invitation, parse_invitations, read_invitations
from tests.unit.study.tables.workbooks import write_workbook

READERS = [
    Invitation(reader_id="R1", level="resident", years="2.5", name="Jörg"),
    Invitation(reader_id="R2", level="board", years="11", name="Ada"),
]


@pytest.mark.parametrize(
    "text",
    [
        "reader_id,level,years,name\nR1,resident,2.5,Jörg\nR2,board,11,Ada\n",
        "\ufeffReader ID;Level;Years;Name;\r\nR1;resident;2,5;Jörg;\r\nR2;board;11;Ada;\r\n;;;;",
        "sep=;\r\nreader_id;level;years;name\r\nR1;resident;2,5;Jörg\r\nR2;board;11;Ada\r\n",
        "reader_id\tlevel\tyears\tname\nR1\tresident\t2,5\tJörg\nR2\tboard\t11\tAda",
    ],
)
def test_a_list_is_read_the_same_from_text_and_from_a_file(tmp_path: Path, text: str) -> None:
    """Excel's first line, decimal commas and empty columns are accepted."""
    assert parse_invitations(text, source="The list") == READERS
    path = tmp_path / "readers.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_invitations(path) == READERS


def test_a_list_may_be_a_workbook(tmp_path: Path) -> None:
    """Numbers are read as Excel displays them: an ID entered as 0012 is kept."""
    path = write_workbook(
        tmp_path / "readers.xlsx",
        ["Reader ID", "years"],
        [12, 2.5],
        ["R2", 3],
        formats={"A2": "0000"},
    )
    read = [(reader.reader_id, reader.years) for reader in read_invitations(path)]
    assert read == [("0012", "2.5"), ("R2", "3")]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("Anna Miller\nBob Jones\n", ["The first line must name the columns: reader_id"]),
        ("reader;name\nR04;Anna\n", ["header: unknown column “reader”", "reader_id is missing"]),
        (
            f"reader_id,name,site\nR1,{'x' * 84},\nR2,,{'y' * 98}\n",
            ["line 2: name has 84 characters; the limit is 60", "line 3: site has 98 characters"],
        ),
        (
            "reader_id,years,email\nR1,many,r1@x.org\nR2,3,foo\n,5+,\n",
            [
                "line 2: years must be a number, such as 2 or 2.5, not “many”",
                "line 3: foo is not a valid email address",
                "line 4: reader_id is empty",
                "line 4: years must be a number",
            ],
        ),
        ('reader_id,level\nR1,"a\nb"\n', ["line 2: level contains a line break"]),
        ("reader_id,level\nR1\n", ["line 2: 1 cell under a header of 2"]),
        ("reader_id\n", ["There are no readers below the header"]),
        ("", ["the column reader_id is missing"]),
    ],
)
def test_every_error_is_reported_with_line_column_and_remedy(text: str, faults: list[str]) -> None:
    """Errors in the header, in a cell and in the number of cells are included."""
    with pytest.raises(BadFile) as refused:
        parse_invitations(text, source="The list")
    first, *lines = str(refused.value).splitlines()
    number = "1 error" if len(faults) == 1 else f"{len(faults)} errors"
    assert first == f"The list: {number}; no one was invited."
    assert len(lines) == len(faults)
    for line, fault in zip(lines, faults, strict=True):
        assert fault in line


def test_a_date_as_an_id_is_refused(tmp_path: Path) -> None:
    """Excel turns an ID such as 1-2 into a date."""
    path = write_workbook(tmp_path / "r.xlsx", ["reader_id"], [46054], formats={"A2": "d-mmm"})
    with pytest.raises(BadFile, match=r"sheet “Sheet”: 1 error.*\n  row 2: .*reader_id.* a date"):
        read_invitations(path)
