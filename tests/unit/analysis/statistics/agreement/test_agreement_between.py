"""agreement_between.csv compares agreement with models and agreement among readers."""

import math

import numpy as np
import pytest

from analysis import Options, agreement_between, agreement_pairs
from analysis.readings.clusters import resample_weights
from analysis.readings.matrix import reading_matrix
from analysis.statistics.agreement import between
from analysis.statistics.agreement.pairs.counts import pairs_of
from analysis.statistics.agreement.pairs.measures import raw_agreement
from analysis.statistics.agreement.pairs.resampling import ONE_CLUSTER
from tests.unit.analysis.conftest import MakeBundle

ANSWERS = {"R": "ABCDABCD", "S": "ABCAABD.", "T": "ABBDCBCA", "M": "DBCAABCD", "N": "A.CCABBD"}
MODELS = ("M", "N")
PAIR_KINDS = {
    "among_readers": "reader-reader",
    "readers_models": "reader-model",
    "among_models": "model-model",
}


def test_the_table_has_its_columns_without_rows(make_bundle: MakeBundle) -> None:
    """A study without models has no comparison."""
    empty = agreement_between(make_bundle("AB", {"R": "AB", "S": "AB"}))
    assert list(empty.columns) == between.AGREEMENT_BETWEEN.header
    assert not len(empty)


def test_each_value_is_the_mean_of_rows_of_agreement_pairs(make_bundle: MakeBundle) -> None:
    """Users can recompute each value from `agreement_pairs.csv`."""
    bundle = make_bundle(
        "ABCDABC.",
        ANSWERS,
        models=MODELS,
        task=list("xxxxyyyy"),
        n_options=[4, 4, 5, 6, 4, 4, 5, 4],
    )
    pairs = agreement_pairs(bundle)
    table = agreement_between(bundle, Options(bootstrap=20))
    assert table["scope"].unique().tolist() == ["all", "task=x", "task=y"]
    for row in table.to_dict("records"):
        same = pairs.loc[(pairs["scope"] == row["scope"]) & (pairs["measure"] == row["measure"])]
        for column, kind in PAIR_KINDS.items():
            mean = same.loc[same["pair_kind"] == kind, "estimate"].mean()
            assert row[column] == pytest.approx(mean, abs=1e-14, nan_ok=True)
        difference = row["readers_models"] - row["among_readers"]
        assert row["difference"] == pytest.approx(difference, nan_ok=True)


def test_items_are_counted_if_their_answers_count(make_bundle: MakeBundle) -> None:
    """Items need a reader and another rater; error consistency also a reference standard."""
    answers = {"R": "AB..", "S": "A..A", "M": "..BA"}
    table = agreement_between(make_bundle("AB..", answers, models=("M",))).set_index("measure")
    counts = ["n_readers", "n_models", "n_items"]
    assert table.loc["raw", counts].tolist() == [2, 1, 2]
    assert table.loc["error_consistency", counts].tolist() == [2, 0, 1]


def test_items_are_resampled_if_each_patient_has_a_single_item(make_bundle: MakeBundle) -> None:
    """Otherwise patients are resampled; the interval contains the difference."""
    single = agreement_between(make_bundle("ABCDABCD", ANSWERS, models=MODELS)).iloc[0]
    assert f"{between.OVER_ITEMS}, levels widened" in single["method"]
    assert single["ci_low"] < single["difference"] < single["ci_high"]
    patients = [f"p{i // 2}" for i in range(8)]
    bundle = make_bundle("ABCDABCD", ANSWERS, models=MODELS, patient_id=patients)
    row = agreement_between(bundle).iloc[0]
    assert row["method"].endswith("percentile bootstrap over patients")
    assert row["difference"] == single["difference"]


def test_the_interval_between_readers_and_models_is_that_of_resampled_items(
    make_bundle: MakeBundle,
) -> None:
    """The limits are quantiles of the mean raw agreement, computed item by item."""
    rng = np.random.default_rng(3)
    answers = {rater: "".join(rng.choice(list("ABC"), 40)) for rater in "RSMN"}
    table = agreement_between(make_bundle("ABCA" * 10, answers, models=("M", "N")))
    row = table.set_index("measure").loc["raw"]
    same = np.mean(
        [
            [a == b for a, b in zip(answers[reader], answers[model], strict=True)]
            for reader in "RS"
            for model in "MN"
        ],
        axis=0,
    )
    drawn = resample_weights(40, 2000, Options().seed) @ same / 40
    limits = np.quantile(drawn, [0.025, 0.975])
    assert row[["readers_models_low", "readers_models_high"]].tolist() == pytest.approx(limits)


def test_resamples_of_many_items_are_computed_in_blocks(
    make_bundle: MakeBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks limit the memory; the number of resamples is unchanged."""
    monkeypatch.setattr(between, "LARGEST_ARRAY_SIZE", 8 * 30)
    row = agreement_between(make_bundle("ABCDABCD", ANSWERS, models=MODELS)).iloc[0]
    assert row["ci_low"] < row["difference"] < row["ci_high"]


def test_with_one_reader_there_is_no_difference(make_bundle: MakeBundle) -> None:
    """The other values are defined."""
    row = agreement_between(make_bundle("AB", {"R": "AB", "M": "AA"}, models=("M",))).iloc[0]
    assert row["readers_models"] == 0.5
    assert math.isnan(row["difference"])
    assert row["undefined_because"] == between.ONE_READER


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"R": "A.", "S": ".B", "M": "AB"}, between.NO_READERS),
        ({"R": "A.", "S": "A.", "M": ".B"}, between.NO_READER_MODEL_PAIR),
        ({"R": "A.", "S": "B.", "M": "A."}, "interval: a single item"),
    ],
)
def test_undefined_values_have_a_reason(
    make_bundle: MakeBundle, answers: dict[str, str], reason: str
) -> None:
    """The reason is stated as text."""
    row = agreement_between(make_bundle("AB", answers, models=("M",))).iloc[0]
    assert row["undefined_because"] == reason
    assert math.isnan(row["ci_low"])


def test_with_one_patient_there_is_no_interval(make_bundle: MakeBundle) -> None:
    """A single patient cannot be resampled."""
    answers = {"R": "AB", "S": "AA", "M": "BA"}
    row = agreement_between(make_bundle("AB", answers, models=("M",), patient_id="p")).iloc[0]
    assert row["undefined_because"] == ONE_CLUSTER
    assert row["difference"] == -0.25


def test_a_model_without_conditions_is_compared_with_readers_under_each_condition(
    make_bundle: MakeBundle,
) -> None:
    """The table has a row per condition of the readers."""
    answers = {
        ("R1", "aided"): "AB",
        ("R2", "aided"): "AB",
        ("R1", "unaided"): "AA",
        ("R2", "unaided"): "AB",
        ("M1", ""): "AB",
        ("M2", ""): "AA",
    }
    bundle = make_bundle("..", answers, models=("M1", "M2"))
    table = agreement_between(bundle, Options(bootstrap=20))
    raw = table.loc[table["measure"] == "raw"]
    columns = ["condition", "among_readers", "readers_models", "among_models"]
    assert raw[columns].values.tolist() == [["aided", 1, 0.75, 0.5], ["unaided", 0.5, 0.75, 0.5]]


def test_models_under_different_conditions_are_not_paired(make_bundle: MakeBundle) -> None:
    """The means equal those of the table of pairs, which has no such row."""
    answers = {
        ("R1", "aided"): "ABB",
        ("R2", "aided"): "ABA",
        ("M1", "one"): "ABA",
        ("M2", "one"): "AAA",
        ("M3", "two"): "BBA",
    }
    bundle = make_bundle("...", answers, models=("M1", "M2", "M3"))
    pairs = agreement_pairs(bundle)
    model_pairs = pairs.loc[(pairs["pair_kind"] == "model-model") & (pairs["measure"] == "raw")]
    row = agreement_between(bundle, Options(bootstrap=20)).iloc[0]
    assert model_pairs[["rater_a", "rater_b"]].drop_duplicates().values.tolist() == [["M1", "M2"]]
    assert row["among_models"] == pytest.approx(model_pairs["estimate"].mean())


def test_a_pair_without_a_common_item_in_a_resample_is_not_in_its_mean(
    make_bundle: MakeBundle,
) -> None:
    """If only the first patient is drawn, the mean is the agreement of the pair that read it."""
    matrix = reading_matrix(
        make_bundle("AAAA", {"R": "ABAB", "S": "AA..", "T": "..AA"}, patient_id=list("ppqq"))
    )
    pairs = [pair for pair in pairs_of(matrix.columns) if pair.a == 0]
    defined = np.ones((1, len(pairs)), dtype=bool)
    weights = np.array([[1.0, 0.0], [1.0, 1.0]])
    means = between.resampled_means(matrix, pairs, np.arange(4), [raw_agreement], defined, weights)
    assert means.tolist() == [[0.5, 0.5]]
