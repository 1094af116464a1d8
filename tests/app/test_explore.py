"""The page of a bank's questions: filters, search, a question, and what is kept from view."""

import pandas as pd

from study.store import Store
from ui.banks.questions import chosen, counted, facets


def test_a_filter_is_what_the_bank_says_of_its_questions(banked: Store) -> None:
    frame = facets(banked, 1, "any")
    assert len(frame) == 24
    tasks = counted(frame, "task")
    assert tasks.sum() == 24
    first = tasks.index[0]
    assert len(chosen(frame, {"task": [first], "sex": []})) == tasks.iloc[0]
    assert isinstance(frame["age"].dtype, pd.CategoricalDtype)
