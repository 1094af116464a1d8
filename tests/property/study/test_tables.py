"""Tables of random texts are unchanged after writing and reading."""

import csv
import io
import math
import re
import string
import unicodedata

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from analysis.bundle import cells
from study.base.text import csv_line, guard_cell, unguard_cell
from study.exchange.bundle import table_bytes
from study.exchange.schemas import FILES

_texts = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
    | st.text('\r\n",;\t é😀\u2028', min_size=1, max_size=6)
    | st.text("'=+-@\t\r1.e", max_size=5)
)
_cells = st.none() | _texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_columns = FILES["raters.csv"]
_names = [column.name for column in _columns]


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(_names, _cells)), max_size=5))
def test_a_table_is_the_same_after_writing_and_reading(rows: list[dict[str, object]]) -> None:
    """No row or column is added, lost or changed."""
    content = table_bytes(_columns, rows).decode()
    reader = [
        [unguard_cell(cell) for cell in row] for row in csv.reader(io.StringIO(content, newline=""))
    ]
    expected = [["" if row[name] is None else str(row[name]) for name in _names] for row in rows]
    assert reader == [_names, *expected]


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(_names, _texts)), min_size=1, max_size=3))
def test_pandas_reads_the_same_cells(rows: list[dict[str, str]]) -> None:
    """A table can be read without the project."""
    buffer = io.BytesIO(table_bytes(_columns, rows))
    result = pd.read_csv(buffer, dtype=str, keep_default_na=False, encoding="utf-8")
    assert result.map(unguard_cell).to_dict("records") == rows


_ODD = st.lists(
    st.sampled_from(
        [
            *"'=+-@|\t\r\n \\u5a\x00\x1b\x7f\x85\x9f\u00a0\u00ad\u3000\u200b\ufeff",
            *"\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\uff1d\uff0b\uff0d\uff20",
            *("u001b", "\\u202e", "\\u005c", "-0.5", "DROP"),
        ]
    ),
    max_size=8,
).map("".join)


@given(_texts | _ODD)
def test_no_cell_is_a_formula_and_texts_are_restored(text: str) -> None:
    """The analysis writes and reads the same cells."""
    cell = guard_cell(text)
    begins = cell.lstrip(
        "\u00ad\u200b\u200c\u200d\u2060\ufeff" + string.whitespace + "\u00a0\u3000"
    )
    assert not re.match(r"[=+\-@|\uff1d\uff0b\uff0d\uff20]", begins) or math.isfinite(float(cell))
    assert not re.match(r"[\t\r\n]", cell)
    assert not any(
        unicodedata.category(char) in ("Cc", "Zl", "Zp") and char not in "\t\r\n" for char in cell
    )
    assert not any(unicodedata.bidirectional(char) in _TURNING for char in cell)
    assert unguard_cell(cell) == text
    assert (cells.escape_cell(text), cells.unescape_cell(cell)) == (cell, text)


_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(_texts | _ODD, _texts | _ODD)
def test_different_texts_have_different_cells(text: str, other: str) -> None:
    """Otherwise the original text could not be restored."""
    assert (guard_cell(text) == guard_cell(other)) == (text == other)


@given(st.text(st.characters(categories=["L", "N"])))
def test_letters_and_digits_are_not_escaped(text: str) -> None:
    """Letters of all scripts are tried."""
    assert guard_cell(text) == text


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_numbers_are_not_escaped(number: float) -> None:
    """Numbers and their texts are tried."""
    assert guard_cell(str(number)) == str(number)
    assert csv_line([number]) == f"{number}\n"
