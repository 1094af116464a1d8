"""Invariances of sensitivity and specificity, for random bundles."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import Options, bundle_from_tables
from analysis.statistics.accuracy.diagnostic import diagnostic
from tests.conftest import number_of_examples

NUMBERS = ["n_positive", "n_negative", "sensitivity", "specificity", "sens_low", "spec_high"]
SWAPPED = ["n_negative", "n_positive", "specificity", "sensitivity", "spec_low", "sens_high"]
OTHER = {"A": "B", "B": "A", "": ""}

Tables = tuple[pd.DataFrame, pd.DataFrame]


@st.composite
def studies(draw: st.DrawFn) -> Tables:
    """Return items with two options and up to three readers with gaps."""
    n = draw(st.integers(1, 8))
    letters = st.sampled_from(["A", "B", ""])
    items = pd.DataFrame(
        {
            "item_id": [f"q{i}" for i in range(n)],
            "truth": draw(st.lists(letters, min_size=n, max_size=n)),
            "options": '["mass", "nodule"]',
            "task": draw(st.lists(st.sampled_from(["x", "y", ""]), min_size=n, max_size=n)),
        }
    )
    rows = [
        {"rater_id": f"R{i}", "item_id": item, "answer": draw(letters)}
        for i in range(draw(st.integers(1, 3)))
        for item in items["item_id"]
    ]
    return items, pd.DataFrame(rows)


def numbers(items: pd.DataFrame, readings: pd.DataFrame, positive: str) -> pd.DataFrame:
    """Return the table with `mass` or `nodule` as the positive option."""
    return diagnostic(bundle_from_tables(items, readings), Options(positive=(positive,)))


@pytest.mark.thorough
@settings(max_examples=number_of_examples(15))
@given(studies(), st.integers(0, 2**31))
def test_classes_letters_and_the_order_of_rows_do_not_matter(study: Tables, seed: int) -> None:
    """The other positive option exchanges the columns; letters and orders do not matter."""
    items, readings = study
    before = numbers(items, readings, "mass")
    swapped = numbers(items, readings, "nodule")
    assert before[NUMBERS].equals(swapped[SWAPPED].set_axis(NUMBERS, axis="columns"))
    relabelled = items.assign(truth=items["truth"].map(OTHER), options='["nodule", "mass"]')
    answers = readings.assign(answer=readings["answer"].map(OTHER))
    assert before[NUMBERS].equals(numbers(relabelled, answers, "mass")[NUMBERS])
    first, second = (table.sample(frac=1, random_state=seed) for table in study)
    assert before.equals(numbers(first, second, "mass"))
