"""CSV and TSV files from various programs: separators, quotes, decimal commas and headers."""

from pathlib import Path

import pytest

from study.base.bank_model import Fault
from study.base.budget import Budget
from study.base.errors import BadFile, BeyondBudget
from study.tables.columns import Kind
from study.tables.table import Row
from tests.unit.study.tables.workbooks import read_cells, read_table

BODY = "id{0}answer\nq1{0}A\nq2{0}B\n"
EXPECTED_ROWS = [["q1", "A"], ["q2", "B"]]


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    """Write text without changing its line ends."""
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return path


@pytest.mark.parametrize("blank", ["", ",", " , ", '""'])
def test_blank_rows_count_towards_the_limit(tmp_path: Path, blank: str) -> None:
    """Blank rows are not returned, but take as long to read as other rows."""
    path = write(tmp_path, BODY.format(",") + f"{blank}\n" * 4)
    assert read_cells(path) == EXPECTED_ROWS
    assert len(read_table(path, budget=Budget(rows=6))[1]) == 2
    with pytest.raises(BeyondBudget, match="more than 5 rows"):
        read_table(path, budget=Budget(rows=5))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("byte_order_mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("first", "separator"),
    [
        ("", ";"),
        ("sep=;\n", ";"),
        ("SEP=;\n", ";"),
        ('"sep=;"\n', ";"),
        ("sep=;;;\n", ";"),
        ("sep=,\n", ","),
        ("Sep=\t\n", "\t"),
        ("sep=|\n", "|"),
    ],
)
def test_the_line_that_names_the_separator_is_not_the_header(
    tmp_path: Path, first: str, separator: str, byte_order_mark: str, line_end: str
) -> None:
    """Excel writes this line, which counts in line numbers."""
    text = (byte_order_mark + first + BODY.format(separator)).replace("\n", line_end)
    path = write(tmp_path, text)
    assert read_cells(path) == EXPECTED_ROWS
    _, rows = read_table(path)
    assert [row.place for row in rows if isinstance(row, Row)] == [
        f"line {n + bool(first)}" for n in (2, 3)
    ]


@pytest.mark.parametrize("text", ["sep=;\n", "sep=;", "\ufeffsep=,\r\n"])
def test_a_file_with_only_the_separator_line_has_no_rows(tmp_path: Path, text: str) -> None:
    assert read_table(write(tmp_path, text))[1] == []


def test_a_column_may_have_the_name_sep(tmp_path: Path) -> None:
    """Only a complete line `sep=` is special."""
    assert read_table(write(tmp_path, "sep=x,b\n1,2\n"))[0].header == ("sep=x", "b")


@pytest.mark.parametrize(
    ("header", "n"),
    [
        ('"Name; first; last",id\n"A; B",1\n', 2),
        ("id;images, views, and more;truth\nq1;a.png;A\n", 3),
        ('"a\nb, c";d\n1;2\n', 2),
        ("id\tquestion, if any, in full\nq1\tWhy?\n", 2),
        ("\n\n;;\nid;x\n1;2\n", 2),
        ("id;x\n1;2;3\n", 2),
        ("id\nq1\n", 1),
    ],
)
def test_the_separator_is_the_character_that_gives_the_most_columns(
    tmp_path: Path, header: str, n: int
) -> None:
    """Separators in quotes do not count."""
    assert len(read_table(write(tmp_path, header))[0].header) == n


@pytest.mark.parametrize(
    ("separator", "written", "number"),
    [
        (";", "0,95", "0.95"),
        ("\t", "-1,5", "-1.5"),
        (";", "95,5 %", "95.5 %"),
        (";", r"0,143\0,143", r"0.143\0.143"),
        (";", "0,143|0,2", "0.143|0.2"),
        (";", '"0,143;0,2"', "0.143;0.2"),
        (";", "0.5", "0.5"),
        (";", "1.234,5", "1.234,5"),
        (";", "[0.1,0.9]", "[0.1,0.9]"),
        (";", """['0,1', '0,9']""", """['0.1', '0.9']"""),
        (",", '"0,95"', "0,95"),
    ],
)
def test_a_decimal_comma_is_read_if_commas_do_not_separate(
    tmp_path: Path, separator: str, written: str, number: str
) -> None:
    """Only columns of numbers are converted: the option 1,5 cm is unchanged."""
    path = write(tmp_path, f"id{separator}n\nq1{separator}{written}\n")
    assert read_cells(path, Kind.NUMBER) == [["q1", number]]
    assert read_cells(path, Kind.TEXT) == [["q1", written.strip('"')]]


def test_a_row_may_have_additional_empty_cells_only(tmp_path: Path) -> None:
    """A row with too few cells is rejected."""
    _, rows = read_table(write(tmp_path, "a,b,\n1,2\n1,2,,\n1,2,,x\n"))
    assert isinstance(rows[0], Fault)
    assert rows[1] == ("line 3", {"a": "1", "b": "2"})
    assert isinstance(rows[2], Fault)


@pytest.mark.parametrize("repeated_header", ["id,text", "id , text", '"id","text",'])
def test_a_repeated_header_is_not_a_row(tmp_path: Path, repeated_header: str) -> None:
    """Joined tables contain such rows, which must not become readers or items."""
    _, rows = read_table(write(tmp_path, f"id,text\n1,text\n{repeated_header}\n2,b\n"))
    assert [str(row.key) for row in rows if isinstance(row, Fault)] == ["line 3"]
    assert [row.place for row in rows if not isinstance(row, Fault)] == ["line 2", "line 4"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_byte_order_mark_is_refused(tmp_path: Path, encoding: str) -> None:
    """The bytes of such a file are valid UTF-8 with NUL characters."""
    path = tmp_path / "t.csv"
    path.write_bytes("id,text\n1,a\n".encode(encoding))
    with pytest.raises(BadFile, match="is not UTF-8: it contains NUL characters"):
        read_table(path)


def test_a_cell_may_be_as_long_as_the_limit_of_a_record(tmp_path: Path) -> None:
    """Answers of models with their reasoning exceed the limit of Python's reader."""
    long = "word " * 60_000
    assert read_table(write(tmp_path, f"id,text\n1,{long}\n"))[1] == [
        ("line 2", {"id": "1", "text": long})
    ]


def test_a_wide_header_is_checked_in_linear_time(tmp_path: Path) -> None:
    """Each name is looked up once: comparing all pairs of 16,000 would be 128 million steps."""
    names = [f"c{n}" for n in range(16_000)]
    assert len(read_table(write(tmp_path, ",".join(names) + "\n"))[0].header) == 16_000
    with pytest.raises(BadFile, match="twice: C7, c7"):
        read_table(write(tmp_path, ",".join([*names, "C7"]) + "\n"))
    with pytest.raises(BadFile, match="more than 16,384 columns"):
        read_table(write(tmp_path, ",".join(f"c{n}" for n in range(40_000)) + "\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id;x\n1;ü\n".encode("utf-16"), "not UTF-8: byte 0, line 1"),
        ("id;x\n1;ü\n".encode("cp1252"), "not UTF-8: byte 7, line 2.*CSV UTF-8"),
        (b'id,x\n1,"open\n2,b\n', "row that begins at line 2"),
    ],
)
def test_the_error_about_unreadable_text_states_its_position(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=rf"t\.csv.*{message}"):
        read_table(path)
