"""Invariances of the tables on reader groups, experience and advice."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import Bundle, Options, bundle_from_tables
from analysis.statistics.advice_weight import advice_weight
from analysis.statistics.mrmc.by_reader import reader_conditions_readers
from analysis.statistics.mrmc.experience import reader_years
from analysis.statistics.mrmc.group_tasks import reader_groups_tasks
from analysis.statistics.mrmc.groups import reader_groups_gain, reader_groups_metrics
from analysis.statistics.mrmc.moments import uncrossed_components
from tests.conftest import number_of_examples

OPTIONS = Options(confidence="answer", bootstrap=20)
READERS = [f"R{number}" for number in range(5)]
TABLES = (
    reader_groups_metrics,
    reader_groups_gain,
    reader_groups_tasks,
    reader_years,
    reader_conditions_readers,
    uncrossed_components,
    advice_weight,
)
N = 9

Answer = tuple[str, int, bool]
"""The answer, its confidence, and whether the reading is missing."""


def bundle(answers: list[Answer], order: int | None = None) -> Bundle:
    """Return five readers with and without a model's answer; rows are in random order."""
    items = pd.DataFrame({"item_id": [f"q{n}" for n in range(N)], "truth": list("ABABABABA")})
    items = items.assign(n_options=2, task=["x", "y", "y"] * 3, patient_id=[*"aabbccdde"])
    keys = [(r, c, i) for r in READERS for c in ("aided", "unaided") for i in items["item_id"]]
    rows = [
        {
            "rater_id": reader,
            "condition": condition,
            "item_id": item,
            "answer": answer,
            "confidence": confidence,
            "aid_model": "M" if condition == "aided" else "",
            "aid_answer": "A" if condition == "aided" else "",
        }
        for (reader, condition, item), (answer, confidence, missing) in zip(
            keys, answers, strict=True
        )
        if not missing
    ]
    raters = pd.DataFrame({"rater_id": READERS, "rater_kind": "reader", "level": [*"jjssj"]})
    tables = [items, pd.DataFrame(rows), raters.assign(years=["1", "4", "9", "20", ""])]
    if order is not None:
        tables = [table.sample(frac=1, random_state=order) for table in tables]
    return bundle_from_tables(tables[0], tables[1], tables[2])


answers = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(1, 5), st.sampled_from([False] * 15 + [True])),
    min_size=len(READERS) * 2 * N,
    max_size=len(READERS) * 2 * N,
)


@pytest.mark.thorough
@settings(max_examples=number_of_examples(4), deadline=None)
@given(answers, st.integers(0, 2**31))
def test_the_order_of_readers_cases_and_rows_does_not_matter(
    given_answers: list[Answer], order: int
) -> None:
    """All cells of all tables are compared, and empty cells have a reason."""
    before, after = bundle(given_answers), bundle(given_answers, order)
    for compute in TABLES:
        table = compute(before, OPTIONS)
        pd.testing.assert_frame_equal(table, compute(after, OPTIONS), check_exact=True)
        if "undefined_because" in table:
            empty = table["ci_low"].isna()
            assert ((table["undefined_because"] != "") == empty).all(), compute.__name__
            assert not (table["ci_low"] > table["ci_high"]).any()


@pytest.mark.parametrize("pick", ["AB", "BA"])
def test_readers_who_always_agree_have_a_difference_of_zero(pick: str) -> None:
    """If all answers are correct or all are wrong, there is no variance and no interval."""
    same = [(pick[place % 9 % 2], 3, False) for place in range(len(READERS) * 2 * N)]
    for compute in TABLES[:-2]:
        table = compute(bundle(same), OPTIONS)
        assert len(table)
        assert np.allclose(table["difference"], 0, atol=1e-12)
        assert table[["se", "ci_low", "p"]].isna().all(axis=None)
        assert table["undefined_because"].str.startswith("standard error").all()
