"""Tables of any text read back as they were written."""

import csv
import io

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from study.bundle import table_bytes
from study.schemas import FILES

_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | st.text(
    '\r\n",;\t é😀\u2028', min_size=1, max_size=6
)
_cells = st.none() | _texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_columns = FILES["raters.csv"]
_names = [column.name for column in _columns]


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(_names, _cells)), max_size=5))
def test_every_table_reads_back_equal(rows: list[dict[str, object]]) -> None:
    """Whatever stands in the cells, no row or column is gained, lost or changed."""
    written = table_bytes(_columns, rows).decode()
    found = list(csv.reader(io.StringIO(written, newline="")))
    expected = [["" if row[name] is None else str(row[name]) for name in _names] for row in rows]
    assert found == [_names, *expected]


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(_names, _texts)), min_size=1, max_size=3))
def test_every_table_reads_back_equal_with_another_reader(rows: list[dict[str, str]]) -> None:
    """Pandas finds the same cells."""
    written = io.BytesIO(table_bytes(_columns, rows))
    found = pd.read_csv(written, dtype=str, keep_default_na=False, encoding="utf-8")
    assert found.to_dict("records") == rows
