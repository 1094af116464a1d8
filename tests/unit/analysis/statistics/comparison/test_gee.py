"""gee.csv compares each model with all readers of a condition."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t

from analysis import Bundle, Options, bundle_from_tables, comparisons, gee
from analysis.statistics.comparison.gee import GEE, NO_SPREAD, ONE_CLUSTER
from analysis.statistics.comparison.pairs import NO_REFERENCE
from tests.unit.analysis.conftest import MakeBundle


def _study(seed: int, *, clustered: bool) -> tuple[Bundle, pd.DataFrame]:
    """Return three readers, two models and 60 items, of 17 patients if clustered, with gaps."""
    random = np.random.default_rng(seed)
    ids = [f"q{i:02d}" for i in range(60)]
    patients = [f"p{k}" for k in random.integers(0, 17, 60)] if clustered else [""] * 60
    hard = random.random(17)[random.integers(0, 17, 60)]
    raters = ["R1", "R2", "R3", "M1", "M2"]
    readings = pd.DataFrame(
        [
            {"rater_id": rater, "item_id": item, "answer": answer}
            for rater in raters
            for item, answer in zip(
                ids,
                np.where(random.random(60) < hard, "A", random.choice(["B", ""], 60)),
                strict=True,
            )
        ]
    )
    items = pd.DataFrame({"item_id": ids, "truth": "A", "patient_id": patients})
    kinds = pd.DataFrame({"rater_id": raters, "rater_kind": ["reader"] * 3 + ["model"] * 2})
    cluster = dict(zip(ids, patients if clustered else ids, strict=True))
    flat = readings.assign(
        correct=(readings["answer"] == "A").astype(float),
        cluster=readings["item_id"].map(cluster),
    )
    return bundle_from_tables(items, readings, kinds), flat


@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_estimate_and_error_equal_statsmodels_gee(seed: int, clustered: bool) -> None:
    """The robust standard error is multiplied by the root of C / (C - 1)."""
    bundle, flat = _study(seed, clustered=clustered)
    table = gee(bundle).set_index("contrast")
    for model in ("M1", "M2"):
        used = flat.loc[flat["rater_id"].str.startswith("R") | (flat["rater_id"] == model)]
        design = sm.add_constant((used["rater_id"] == model).astype(float).to_numpy())
        fit = sm.GEE(used["correct"].to_numpy(), design, groups=used["cluster"].to_numpy()).fit()
        row = table.loc[model]
        c = used["cluster"].nunique()
        assert row["estimate"] == pytest.approx(fit.params[1], abs=1e-12)
        assert row["se"] == pytest.approx(fit.bse[1] * math.sqrt(c / (c - 1)), abs=1e-12)
        reach = t.isf(0.025, c - 1) * row["se"]
        assert row["ci_low"] == pytest.approx(row["estimate"] - reach, abs=1e-14)
        assert row["ci_high"] == pytest.approx(row["estimate"] + reach, abs=1e-14)
        assert row["p"] == pytest.approx(2 * t.sf(abs(row["estimate"]) / row["se"], c - 1))
        assert (row["n_readings"], row["n_items"], row["n_clusters"]) == (240, 60, c)


def test_the_interval_contains_0_if_p_is_above_alpha() -> None:
    """The interval and the p-value use the same distribution for any alpha."""
    bundle, _ = _study(7, clustered=True)
    for alpha in (0.01, 0.05, 0.3, 0.8):
        table = gee(bundle, Options(alpha=alpha))
        holds = (table["ci_low"] <= 0) & (table["ci_high"] >= 0)
        assert (holds == (table["p"] > alpha)).all()


def test_with_one_reader_the_estimate_is_the_difference_of_the_pair(
    make_bundle: MakeBundle,
) -> None:
    """The difference of the pair is reader minus model, with the opposite sign."""
    bundle = make_bundle("AAAA", {"R": "AABB", "M": "AAAB"}, models=("M",))
    assert gee(bundle)["estimate"].tolist() == [-comparisons(bundle)["difference"].iloc[0]]


def test_a_model_without_conditions_is_compared_under_every_condition(
    make_bundle: MakeBundle,
) -> None:
    """Rows are sorted by condition and model."""
    answers = {
        ("R1", "aided"): "AAAB",
        ("R1", "unaided"): "ABBB",
        ("R2", "unaided"): "BBAB",
        ("M2", ""): "AABA",
        ("M1", ""): "ABAA",
    }
    table = gee(make_bundle("AAAA", answers, models=("M1", "M2")))
    assert table[["condition", "contrast", "n_readings", "estimate"]].values.tolist() == [
        ["aided", "M1", 8, 0.0],
        ["aided", "M2", 8, 0.0],
        ["unaided", "M1", 12, 0.5],
        ["unaided", "M2", 12, 0.5],
    ]


def test_without_readers_or_models_the_table_is_empty(make_bundle: MakeBundle) -> None:
    """The table has all columns."""
    for models in ((), ("R", "S")):
        table = gee(make_bundle("AB", {"R": "AB", "S": "AA"}, models=models))
        assert len(table) == 0
        assert list(table.columns) == GEE.header


@pytest.mark.parametrize(
    ("truth", "patient", "reason", "estimate"),
    [
        ("...", "", NO_REFERENCE, None),
        ("AAA", "p", ONE_CLUSTER, 2 / 3),
    ],
)
def test_undefined_values_are_empty_with_a_reason(
    make_bundle: MakeBundle, truth: str, patient: str, reason: str, estimate: float | None
) -> None:
    """The estimate is kept if only its standard error is undefined."""
    bundle = make_bundle(truth, {"R": "ABB", "M": "AAA"}, models=("M",), patient_id=patient)
    row = gee(bundle).iloc[0]
    assert row["undefined_because"] == reason
    assert row[["se", "ci_low", "ci_high", "p"]].isna().all()
    assert row["estimate"] == pytest.approx(math.nan if estimate is None else estimate, nan_ok=True)


@pytest.mark.parametrize(("patients", "cluster"), [("", "item"), (["p", "q"] * 3, "patient")])
def test_a_constant_difference_has_no_standard_error(
    make_bundle: MakeBundle, patients: object, cluster: str
) -> None:
    """A standard error of 0 would suggest certainty; rounding errors do not count as variation."""
    answers = {"R1": "A" * 6, "R2": "B" * 6, "R3": "B" * 6, "M": "A" * 6}
    row = gee(make_bundle("A" * 6, answers, models=("M",), patient_id=patients)).iloc[0]
    assert row["undefined_because"] == NO_SPREAD.format(cluster=cluster)
    assert row[["se", "ci_low", "ci_high", "p"]].isna().all()
    assert row["estimate"] == pytest.approx(2 / 3)
