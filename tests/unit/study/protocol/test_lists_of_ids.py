"""Lists of item IDs that are typed, pasted, or read from tables."""

from pathlib import Path

import pytest

from study.base.errors import BadFile
from study.protocol.checks import ids_in, ids_in_file
from tests.unit.study.tables.workbooks import write_workbook


@pytest.mark.parametrize(
    "text",
    [
        "q2\nq1",
        "q1, q2; q1",
        "q1\tq2",
        "sep=;\nitem_id;x\nq1;1\nq2;2\n",
        '\ufeff"Item ID","note; or not"\nq1,"a, b"\nq2,c\n',
        "note;question_id\r\nx;q2\r\ny;q1\r\n",
        '"q1"\n"q2"',
    ],
)
def test_ids_are_read_from_a_list_or_a_table(tmp_path: Path, text: str) -> None:
    """The order is kept, and duplicates are dropped."""
    assert ids_in(text) == ["q1", "q2"]
    path = tmp_path / "ids.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert ids_in_file(path) == ["q1", "q2"]


def test_a_list_with_an_unclosed_quote_is_read_or_refused() -> None:
    """No other error occurs."""
    assert ids_in('q1\n"q2') == ["q1", "q2"]


def test_a_workbook_needs_a_column_of_ids(tmp_path: Path) -> None:
    """Numbers are read as Excel displays them."""
    path = write_workbook(
        tmp_path / "i.xlsx", ["No", "Item ID"], [1, 7], [2, "q1"], formats={"B2": "000"}
    )
    assert ids_in_file(path) == ["007", "q1"]
    with pytest.raises(BadFile, match=r"sheet “Sheet” has no column item_id\. .*: No"):
        ids_in_file(write_workbook(tmp_path / "j.xlsx", ["No"], [1]))
