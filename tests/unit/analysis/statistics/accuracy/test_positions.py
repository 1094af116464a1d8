"""The preference for a position among the options, in the order in which they were shown."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, analyse, bundle_from_tables, option_positions
from analysis.bundle import Bundle
from analysis.report.tables import report_tables

N_ITEMS = 300
GENERATOR = np.random.default_rng(5)
ITEMS = pd.DataFrame(
    {
        "item_id": [f"q{n:03}" for n in range(N_ITEMS)],
        "truth": GENERATOR.choice(list("ABCD"), N_ITEMS),
        "n_options": 4,
    }
)
ORDERS = ["".join(GENERATOR.permutation(list("ABCD"))) for _ in range(N_ITEMS)]


def _bundle(answers: list[str], orders: list[str] | None, items: pd.DataFrame = ITEMS) -> Bundle:
    readings = pd.DataFrame({"rater_id": "M", "item_id": ITEMS["item_id"], "answer": answers})
    if orders:
        readings["shown_order"] = orders
    return bundle_from_tables(
        items, readings, pd.DataFrame({"rater_id": ["M"], "rater_kind": ["model"]})
    )


def test_a_rater_who_always_chooses_the_first_position_is_detected() -> None:
    """The answer is correct if the correct option was shown first."""
    table = option_positions(_bundle([order[0] for order in ORDERS], ORDERS)).set_index("place")
    first = np.mean([o[0] == t for o, t in zip(ORDERS, ITEMS["truth"], strict=True)])
    assert table["n_chosen"].tolist() == [N_ITEMS, 0, 0, 0]
    assert table["difference"].iloc[0] == pytest.approx(1 - first)
    assert table["ci_low"].iloc[0] > 0.5
    assert table["accuracy"].tolist() == [1, 0, 0, 0]
    assert table["difference"].sum() == pytest.approx(0)


def test_without_an_order_the_letter_is_the_position() -> None:
    """Answers from other programs have no order of options."""
    table = option_positions(_bundle(["B"] * N_ITEMS, None)).set_index("place")
    assert table["n_chosen"].tolist() == [0, N_ITEMS, 0, 0]
    assert table["n_reference"].tolist() == [(ITEMS["truth"] == x).sum() for x in "ABCD"]


def test_random_errors_show_no_preference() -> None:
    """The intervals for all positions contain 0."""
    right = GENERATOR.random(N_ITEMS) < 0.7
    answers = list(np.where(right, ITEMS["truth"], GENERATOR.choice(list("ABCD"), N_ITEMS)))
    table = option_positions(_bundle(answers, ORDERS))
    assert ((table["ci_low"] < 0) & (table["ci_high"] > 0)).all()


def test_a_reading_with_an_invalid_order_is_not_counted() -> None:
    """Readings without an answer or without a number of options are not counted either."""
    orders = ["random", "AABC", "DCBA;", *ORDERS[3:]]
    answers = ["A", "A", "A", "", *["A"] * (N_ITEMS - 4)]
    table = option_positions(_bundle(answers, orders))
    assert set(table["n"]) == {N_ITEMS - 4}
    unknown = ITEMS.drop(columns="n_options")
    assert option_positions(_bundle(["A"] * N_ITEMS, None, unknown)).empty


def test_the_share_of_a_position_refers_to_the_items_that_have_it() -> None:
    """An item with two options has no third position."""
    items = ITEMS.assign(truth="A", n_options=[2, 4] * (N_ITEMS // 2))
    table = option_positions(_bundle(["B", "C"] * (N_ITEMS // 2), None, items)).set_index("place")
    assert table["n"].tolist() == [N_ITEMS, N_ITEMS, N_ITEMS // 2, N_ITEMS // 2]
    assert table.loc[3, "difference"] == 1
    assert table.loc[3, "undefined_because"].startswith("standard error and interval")
    assert "the reference standard never" in table.loc[3, "undefined_because"]


def test_the_table_in_the_report_has_a_column_for_each_position() -> None:
    """Each cell has an interval."""
    result = analyse(_bundle([order[0] for order in ORDERS], ORDERS), Options(bootstrap=20))
    table = {entry.name: entry for entry in report_tables(result)}["option-positions"]
    assert table.header == ("Rater", "Option 1", "Option 2", "Option 3", "Option 4")
    ((_, cells),) = table.rows
    assert " to " in cells[0]
