"""The page with the questions in a bank: filters, search, questions, and hidden data."""

import pandas as pd

from study.store import Store
from ui.banks.questions import facets, filtered, value_counts


def test_filters_offer_the_values_of_the_bank(banked: Store) -> None:
    frame = facets(banked, 1, "any")
    assert len(frame) == 24
    tasks = value_counts(frame, "task")
    assert tasks.sum() == 24
    first = tasks.index[0]
    assert len(filtered(frame, {"task": [first], "sex": []})) == tasks.iloc[0]
    assert isinstance(frame["age"].dtype, pd.CategoricalDtype)
