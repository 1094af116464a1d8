"""Which readings count in accuracy.csv and missing.csv, and how."""

import math

import pandas as pd
import pytest

from analysis import Options, accuracy, bundle_from_tables, missing
from analysis.readings.clusters import SINGLE_CLUSTER
from analysis.statistics.accuracy.accuracy import NO_REFERENCE
from analysis.statistics.accuracy.means import wilson_interval
from tests.unit.analysis.conftest import MakeBundle


def test_unanswered_items_count_as_wrong() -> None:
    """A correct letter after the time limit is wrong; items that were never shown do not count."""
    items = pd.DataFrame({"item_id": list("abcdefg"), "truth": ["A"] * 6 + [""]})
    readings = pd.DataFrame(
        {
            "rater_id": "R",
            "item_id": list("abcdeg"),
            "answer": ["A", "A", "", "", "", "A"],
            "status": ["answered", "timed_out", "skipped", "unparsed", "refused", "answered"],
        }
    )
    bundle = bundle_from_tables(items, readings)
    micro = accuracy(bundle).iloc[0]
    assert (micro["n"], micro["n_correct"], micro["n_missing"]) == (5, 1, 4)
    assert missing(bundle).iloc[0, 2:].tolist() == [6, 1, 1, 1, 1, 1, 1]


def test_only_the_first_reading_of_an_item_counts() -> None:
    """Hidden repeats measure only how readers agree with themselves; row order has no effect."""
    items = pd.DataFrame({"item_id": ["a"], "truth": ["A"]})
    readings = pd.DataFrame(
        {"rater_id": "R", "item_id": "a", "answer": ["B", "A"], "repeat": ["2", "1"]}
    )
    assert accuracy(bundle_from_tables(items, readings))["accuracy"].iloc[0] == 1


def test_macro_is_the_mean_over_tasks_with_a_mover_interval(make_bundle: MakeBundle) -> None:
    """The values are computed by hand for two tasks, with 2 of 3 and 0 of 1 correct."""
    table = accuracy(make_bundle("AAAA", {"R": "AABB"}, task=["x", "x", "x", "y"]))
    macro = table.loc[table["group"] == "macro"].iloc[0]
    low, high = wilson_interval(
        pd.Series([2.0, 0]).to_numpy(), pd.Series([3.0, 1]).to_numpy(), 0.05
    )
    below = math.hypot(2 / 3 - low[0], 0 - low[1]) / 2
    above = math.hypot(high[0] - 2 / 3, high[1] - 0) / 2
    assert macro["accuracy"] == pytest.approx(1 / 3, abs=1e-12)
    assert macro["ci_low"] == pytest.approx(1 / 3 - below, abs=1e-12)
    assert macro["ci_high"] == pytest.approx(1 / 3 + above, abs=1e-12)


def test_without_a_reference_standard_accuracy_is_undefined(
    make_bundle: MakeBundle,
) -> None:
    """The cell is empty, and the reason is stated."""
    table = accuracy(make_bundle("..", {"R": "AB"}, task="x"))
    assert table["accuracy"].isna().all()
    assert (table["n"] == 0).all()
    assert (table["undefined_because"] != "").all()
    assert table["undefined_because"].iloc[0] == NO_REFERENCE


def test_cluster_intervals_need_patients_with_several_items(
    make_bundle: MakeBundle,
) -> None:
    """If each patient has one item, the cells are empty."""
    answers = {"R": "ABABABAB"}
    apart = accuracy(make_bundle("AAAABBBB", answers, patient_id=list("abcdefgh")))
    assert apart["cluster_ci_low"].isna().all()
    answers = {"R": "ABABABAB" * 2}
    pairs = [f"p{i // 2}" for i in range(16)]
    together = accuracy(make_bundle("AAAABBBB" * 2, answers, patient_id=pairs))
    micro = together.iloc[0]
    assert micro["cluster_ci_low"] <= micro["accuracy"] <= micro["cluster_ci_high"]


def test_examinations_are_clusters_if_patients_are_unknown(make_bundle: MakeBundle) -> None:
    """A single examination cannot be resampled, and the reason is stated."""
    table = accuracy(make_bundle("AB", {"R": "AA"}, examination_id=["e", "e"]))
    assert table["undefined_because"].iloc[0] == f"cluster interval: {SINGLE_CLUSTER}"


def test_repeated_answers_of_patients_widen_the_cluster_interval(
    make_bundle: MakeBundle,
) -> None:
    """Ten patients with four identical items each have the information of ten items."""
    truth, answers = "A" * 40, {"R": ("A" * 4 + "B" * 4) * 5}
    patients = [f"p{i // 4}" for i in range(40)]
    micro = accuracy(make_bundle(truth, answers, patient_id=patients)).iloc[0]
    assert micro["cluster_ci_high"] - micro["cluster_ci_low"] > 1.5 * (
        micro["ci_high"] - micro["ci_low"]
    )


def test_alpha_determines_the_width(make_bundle: MakeBundle) -> None:
    """A 50 % interval is inside the 95 % interval."""
    bundle = make_bundle("AAAA", {"R": "AABB"})
    wide, narrow = (accuracy(bundle, Options(alpha=a)).iloc[0] for a in (0.05, 0.5))
    assert wide["ci_low"] < narrow["ci_low"] < narrow["ci_high"] < wide["ci_high"]


def test_readers_come_before_models_sorted_by_id(make_bundle: MakeBundle) -> None:
    """The order of rows does not depend on the input."""
    bundle = make_bundle("A", {"b": "A", "a": "A", "c": "A"}, models=("a",))
    assert missing(bundle)["rater_id"].tolist() == ["b", "c", "a"]
