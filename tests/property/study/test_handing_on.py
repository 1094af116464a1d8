"""Texts of a study are unchanged in Excel and Parquet files."""

import io
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from study.exchange.formats.tables import parquet_files, workbook
from tests.unit.study.exchange.test_archives import cells

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40
) | st.sampled_from(
    [
        "=1+1",
        "+1",
        "-1",
        "@x",
        "1",
        "1e5",
        "TRUE",
        "2025-01-01",
        "http://x.y",
        "_x0041_",
        " a ",
        "\r\n",
    ]
)


def _items(texts: list[str]) -> list[dict[str, Any]]:
    return [{"item_id": f"q{n}", "question": text} for n, text in enumerate(texts)]


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_texts_survive_parquet(texts: list[str]) -> None:
    """All characters are compared."""
    file = parquet_files({"items.csv": _items(texts)}, {})["items.parquet"]
    assert parquet.read_table(io.BytesIO(file))["question"].to_pylist() == texts


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_texts_survive_excel(texts: list[str]) -> None:
    """All characters are compared, and every cell is text."""
    rows = cells(workbook({"items.csv": _items(texts)}, {}), 2)[1:]
    assert [row["E"] for row in rows] == [("inlineStr", text) for text in texts]
