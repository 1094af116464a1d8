"""Comparisons of two models, and of a model under two conditions, overall and by task."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, analyse, bundle_from_tables, comparisons
from analysis.bundle import Bundle
from analysis.report.tables import report_tables
from analysis.statistics.accuracy.model_conditions import model_conditions
from analysis.statistics.comparison.model_pairs import model_pairs

N_ITEMS = 240
GENERATOR = np.random.default_rng(11)
ITEMS = pd.DataFrame(
    {
        "item_id": [f"q{n:03}" for n in range(N_ITEMS)],
        "truth": GENERATOR.choice(list("ABCD"), N_ITEMS),
        "n_options": 4,
        "task": ["presence", "location", "severity"] * (N_ITEMS // 3),
        "patient_id": [f"p{n // 2}" for n in range(N_ITEMS)],
    }
)
OPTIONS = Options(bootstrap=200)


def _answers(rater: str, share: float, condition: str = "") -> pd.DataFrame:
    right = GENERATOR.random(N_ITEMS) < share
    answers = np.where(right, ITEMS["truth"], GENERATOR.choice([*"ABCD", ""], N_ITEMS))
    return pd.DataFrame(
        {"rater_id": rater, "item_id": ITEMS["item_id"], "answer": answers, "condition": condition}
    )


RATERS = pd.DataFrame(
    {"rater_id": ["R", "M1", "M2", "M3"], "rater_kind": ["reader", *["model"] * 3]}
)
READINGS = pd.concat(
    [_answers("R", 0.7), _answers("M1", 0.5), _answers("M2", 0.6), _answers("M3", 0.8)]
)


def _bundle(items: pd.DataFrame = ITEMS, readings: pd.DataFrame = READINGS) -> Bundle:
    return bundle_from_tables(items, readings, RATERS)


def test_all_pairs_of_models_have_a_row_overall_and_per_task() -> None:
    """The overall rows equal those in the table of all comparisons."""
    table = model_pairs(_bundle(), OPTIONS)
    assert table["group"].tolist() == ["micro", "location", "presence", "severity"] * 3
    overall = table.loc[table["by"] == "overall"].reset_index(drop=True)
    pairs = comparisons(_bundle(), OPTIONS)
    pairs = pairs.loc[pairs["pair_kind"] == "model-model"].reset_index(drop=True)
    shared = [column for column in pairs if column in overall]
    pd.testing.assert_frame_equal(overall[shared], pairs[shared])


def test_a_task_has_the_values_of_its_items_only() -> None:
    """Counts, score interval and tests are compared."""
    table = model_pairs(_bundle(), OPTIONS)
    own_rows = ITEMS.loc[ITEMS["task"] == "location"]
    single = comparisons(
        _bundle(own_rows, READINGS.loc[READINGS["item_id"].isin(own_rows["item_id"])]), OPTIONS
    )
    single = single.loc[single["pair_kind"] == "model-model"].reset_index(drop=True)
    result = table.loc[table["group"] == "location"].reset_index(drop=True)
    columns = ["n", "accuracy_a", "accuracy_b", "difference", "ci_low", "ci_high"]
    columns += ["only_a_correct", "only_b_correct", "p_exact", "p_mid"]
    pd.testing.assert_frame_equal(result[columns], single[columns])


def test_the_effect_of_a_condition_is_reported_by_task() -> None:
    """The share of equal answers refers to items answered under both conditions."""
    other = _answers("M1", 0.3, "image-absent")
    result = model_conditions(_bundle(readings=pd.concat([READINGS, other])), OPTIONS)
    assert result["group"].tolist() == ["micro", "location", "presence", "severity"]
    both = READINGS.loc[READINGS["rater_id"] == "M1"].merge(other, on="item_id").merge(ITEMS)
    for row in result.to_dict("records"):
        of = both if row["by"] == "overall" else both.loc[both["task"] == row["group"]]
        assert row["n"] == len(of)
        difference = (of["answer_x"] == of["truth"]).mean() - (of["answer_y"] == of["truth"]).mean()
        assert row["difference"] == pytest.approx(difference)
        text = of.loc[(of["answer_x"] != "") & (of["answer_y"] != "")]
        assert row["n_both_answered"] == len(text)
        assert row["same_answer"] == pytest.approx((text["answer_x"] == text["answer_y"]).mean())
        assert row["same_low"] < row["same_answer"] < row["same_high"]


def test_the_report_compares_models() -> None:
    """Each pair has the values of the file, overall and by task."""
    tables = {table.name: table for table in report_tables(analyse(_bundle(), OPTIONS))}
    rows = tables["model-pairs"].rows
    assert len(rows) == 12
    names, cells = rows[1]
    assert [name.label for name in names] == ["M1", "M2"]
    assert cells[:2] == ("location", "80")
    assert "model-conditions" not in tables
