"""comparisons.csv: compared raters, counted items, and reasons for undefined values."""

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, accuracy, agreement_pairs, bundle_from_tables, comparisons
from analysis.arrays import Floats
from analysis.readings.clusters import WIDENED_METHOD
from analysis.statistics.comparison import pairs
from analysis.statistics.comparison.pairs import (
    FEW_RESAMPLES,
    NO_REFERENCE,
    ONE_CLUSTER,
    TANGO,
    YANG,
)
from analysis.statistics.study import Study
from tests.unit.analysis.conftest import MakeBundle

ANSWERS = {"R1": "AABB", "R2": "AAAA", "M1": "ABA.", "M2": "AAAB"}
CLUSTER_COLUMNS = ["cluster_ci_low", "cluster_ci_high", "p_clustered"]


def test_the_rows_are_the_pairs_of_the_table_of_agreement(make_bundle: MakeBundle) -> None:
    """Pairs of readers come first, then readers with models, then pairs of models."""
    bundle = make_bundle("AAAA", ANSWERS, models=("M1", "M2"))
    names = ["rater_a", "rater_b", "pair_kind", "condition"]
    expected = agreement_pairs(bundle)[names].drop_duplicates().reset_index(drop=True)
    pd.testing.assert_frame_equal(comparisons(bundle)[names], expected)


def test_all_assigned_items_count_and_unanswered_items_count_as_wrong(
    make_bundle: MakeBundle,
) -> None:
    """Items without a reference standard never count."""
    row = comparisons(make_bundle("AAA.", {"R": "AA.A", "S": ".BAA"})).iloc[0]
    assert (row["n"], row["only_a_correct"], row["only_b_correct"]) == (3, 2, 1)
    assert (row["accuracy_a"], row["accuracy_b"]) == (2 / 3, 1 / 3)
    assert row["difference"] == 1 / 3
    assert (row["p_exact"], row["ci_method"]) == (1.0, TANGO)
    assert row["p_mid"] == pytest.approx(0.625, abs=1e-14)


def test_accuracies_equal_those_of_the_accuracy_table(make_bundle: MakeBundle) -> None:
    """The values are identical."""
    bundle = make_bundle("AAAA", ANSWERS, models=("M1", "M2"))
    table = accuracy(bundle)
    micro = table.loc[table["group"] == "micro"].set_index("rater_id")["accuracy"]
    for row in comparisons(bundle).itertuples():
        assert (row.accuracy_a, row.accuracy_b) == (micro[row.rater_a], micro[row.rater_b])


def test_without_clusters_the_clustered_cells_are_empty(make_bundle: MakeBundle) -> None:
    """The cells do not count as undefined, so no reason is stated."""
    table = comparisons(make_bundle("AAAA", ANSWERS, models=("M1", "M2")))
    assert table[CLUSTER_COLUMNS].isna().all(axis=None)
    assert set(table["clustered_method"]) == {""}
    assert set(table["undefined_because"]) == {""}


def test_only_comparisons_of_readers_with_models_are_a_family(make_bundle: MakeBundle) -> None:
    """Holm's method adjusts the four mid-p values; other pairs have no p_adjusted and no family."""
    table = comparisons(
        make_bundle("AAAA" * 6, {r: a * 6 for r, a in ANSWERS.items()}, models=("M1", "M2"))
    )
    mixed = table["pair_kind"] == "reader-model"
    assert mixed.sum() == 4
    assert set(table.loc[mixed, "family"]) == {"reader-model pairs"}
    assert set(table.loc[~mixed, "family"]) == {""}
    assert table.loc[~mixed, "p_adjusted"].isna().all()
    p = table.loc[mixed, "p_mid"].to_numpy()
    order = np.argsort(p)
    expected = np.minimum(np.maximum.accumulate(p[order] * np.arange(4, 0, -1)), 1)
    assert table.loc[mixed, "p_adjusted"].to_numpy()[order] == pytest.approx(expected)


def test_each_condition_is_a_family(
    make_bundle: MakeBundle,
) -> None:
    """The family has the name of the condition; a model without conditions is in all families."""
    answers = {("R", "aided"): "AAAAAB", ("R", "unaided"): "BBBBBB", ("M", ""): "AAAAAA"}
    table = comparisons(make_bundle("AAAAAA", answers, models=("M",)))
    assert table["condition"].tolist() == ["aided", "unaided"]
    assert table["family"].tolist() == [
        "reader-model pairs, aided",
        "reader-model pairs, unaided",
    ]
    assert table["p_adjusted"].tolist() == table["p_mid"].tolist()


def test_with_clusters_the_clustered_p_value_is_adjusted(make_bundle: MakeBundle) -> None:
    """In a family of one test the p-value does not change."""
    patients = [f"p{i // 2}" for i in range(16)]
    bundle = make_bundle(
        "A" * 16, {"R": "AAAAABBB" * 2, "M": "ABABBBBA" * 2}, models=("M",), patient_id=patients
    )
    row = comparisons(bundle, Options(bootstrap=200)).iloc[0]
    assert row["clustered_method"] == f"{YANG}; {WIDENED_METHOD}"
    assert row["p_adjusted"] == row["p_clustered"] != row["p_mid"]
    assert row["cluster_ci_low"] <= row["difference"] <= row["cluster_ci_high"]


def test_the_cluster_interval_equals_that_computed_in_a_loop(make_bundle: MakeBundle) -> None:
    """The loop draws patients with the same generator."""
    answers = {"R": "AAAAABBBABAA" * 8, "S": "ABABBBBAAABB" * 8}
    patients = [f"p{i // 3:02d}" for i in range(96)]
    row = comparisons(
        make_bundle("A" * 96, answers, patient_id=patients), Options(bootstrap=300, seed=11)
    ).iloc[0]
    right = {r: np.array([a == "A" for a in s]) for r, s in answers.items()}
    # Resamples are drawn in blocks of 64.
    generator = np.random.default_rng(11)
    drawn = np.vstack([generator.integers(32, size=(n, 32)) for n in (64, 64, 64, 64, 44)])
    differences = [
        np.mean(
            [
                right["R"][3 * k : 3 * k + 3].mean() - right["S"][3 * k : 3 * k + 3].mean()
                for k in ks
            ]
        )
        for ks in drawn
    ]
    low, high = np.quantile(differences, [0.025, 0.975])
    assert (row["cluster_ci_low"], row["cluster_ci_high"]) == pytest.approx((low, high), abs=1e-12)


def test_limits_do_not_depend_on_the_block_size(
    make_bundle: MakeBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks limit the memory."""
    patients = [f"p{i // 2}" for i in range(16)]
    answers = {rater: answers * 4 for rater, answers in ANSWERS.items()}
    bundle = make_bundle("A" * 16, answers, models=("M1", "M2"), patient_id=patients)
    complete = comparisons(bundle, Options(bootstrap=50))
    monkeypatch.setattr(pairs, "LARGEST_ARRAY_SIZE", 1)
    pd.testing.assert_frame_equal(
        complete, comparisons(bundle, Options(bootstrap=50)), check_exact=True
    )


def test_raters_with_equal_numbers_correct_in_every_patient_have_p_1(
    make_bundle: MakeBundle,
) -> None:
    """No items are discordant, or discordant items cancel within every patient."""
    patients = [f"p{i // 2}" for i in range(16)]
    for other in ("ABAB", "BABA"):
        answers = {"R": "ABAB" * 4, "S": other * 4}
        row = comparisons(make_bundle("A" * 16, answers, patient_id=patients)).iloc[0]
        assert (row["p_clustered"], row["cluster_ci_low"], row["cluster_ci_high"]) == (1, 0, 0)
        assert row["undefined_because"] == ""


def test_with_one_patient_the_clustered_cells_are_undefined(make_bundle: MakeBundle) -> None:
    """Other cells are defined; p_adjusted does not use another p-value instead."""
    bundle = make_bundle("AAA", {"R": "AAA", "M": "ABB"}, models=("M",), patient_id="p")
    row = comparisons(bundle).iloc[0]
    assert row[[*CLUSTER_COLUMNS, "p_adjusted"]].isna().all()
    assert (row["undefined_because"], row["clustered_method"]) == (ONE_CLUSTER, YANG)
    assert row["difference"] == 2 / 3
    assert row["family"] == "reader-model pairs"


def _resampled(bundle: Bundle, weights: Floats) -> Study:
    study = Study(bundle)
    vars(study)["weights"] = weights
    return study


def test_resamples_without_a_reference_standard_leave_no_interval(
    make_bundle: MakeBundle,
) -> None:
    """Only eight of twenty patients have a reference standard, so a resample may have none."""
    truth, answers = "A" * 8 + "." * 32, {"R": "A" * 40, "S": "AB" * 20}
    bundle = make_bundle(truth, answers, patient_id=[f"p{i % 20:02d}" for i in range(40)])
    neither = np.repeat([[0.0, 20 / 12]], [8, 12], axis=1)
    tables = [
        comparisons(_resampled(bundle, weights))
        for weights in (np.ones((10, 20)), np.vstack([np.ones((7, 20)), np.tile(neither, (3, 1))]))
    ]
    assert [table["undefined_because"].iloc[0] for table in tables] == ["", FEW_RESAMPLES]
    assert np.isnan(tables[1]["cluster_ci_low"].iloc[0])
    assert len({table["p_clustered"].iloc[0] for table in tables}) == 1


def test_without_a_reference_standard_all_values_are_undefined(make_bundle: MakeBundle) -> None:
    """The rows state the reason, and counts are 0."""
    for patients in ("", "p"):
        row = comparisons(
            make_bundle("..", {"R": "AB", "M": "AA"}, models=("M",), patient_id=patients)
        ).iloc[0]
        numbers = ["accuracy_a", "accuracy_b", "difference", "ci_low", "ci_high", *CLUSTER_COLUMNS]
        assert row[[*numbers, "p_exact", "p_mid", "p_adjusted"]].isna().all()
        assert (row["n"], row["only_a_correct"], row["only_b_correct"]) == (0, 0, 0)
        assert row["undefined_because"] == NO_REFERENCE


def test_two_hundred_raters_have_all_pairs() -> None:
    """There are 19,900 pairs; the benchmarks measure the time."""
    random = np.random.default_rng(5)
    raters = [f"R{i:03d}" for i in range(200)]
    ids = [f"q{i}" for i in range(10)]
    readings = pd.DataFrame(
        {
            "rater_id": np.repeat(raters, 10),
            "item_id": ids * 200,
            "answer": random.choice(["A", "B"], 2000),
        }
    )
    items = pd.DataFrame({"item_id": ids, "truth": "A", "patient_id": ["p", "q"] * 5})
    table = comparisons(bundle_from_tables(items, readings), Options(bootstrap=100))
    assert len(table) == 19900
    assert (table["ci_low"] <= table["difference"]).all()
    assert (table["difference"] <= table["ci_high"]).all()
