"""Random effects between sites and between banks equal the formulas."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq

from analysis import Bundle, bundle_from_tables
from analysis.arrays import Floats
from analysis.statistics.mrmc.heterogeneity import heterogeneity

N_ITEMS = 60
SITES = {"R1": "x", "R2": "x", "R3": "y", "R4": "y", "R5": "z", "R6": ""}
SHARE_CORRECT = {"x": 0.9, "y": 0.6, "z": 0.4, "": 0.5}


def study(sites: dict[str, str], banks: int = 1) -> Bundle:
    """Return readers of some sites and a model on items of some banks."""
    random = np.random.default_rng(12)
    ids = [f"q{i:02}" for i in range(N_ITEMS)]
    items = pd.DataFrame({"item_id": ids, "truth": "A"})
    if banks > 1:
        items["bank"] = [f"bank {i % banks}" for i in range(N_ITEMS)]
    readings = [
        {
            "rater_id": rater,
            "item_id": item,
            "answer": "A" if random.random() < SHARE_CORRECT.get(site, 0.8) else "B",
        }
        for rater, site in {**sites, "M": "model"}.items()
        for item in ids
    ]
    raters = pd.DataFrame({"rater_id": [*sites, "M"], "site": [*sites.values(), ""]})
    raters["rater_kind"] = ["reader"] * len(sites) + ["model"]
    return bundle_from_tables(items, pd.DataFrame(readings), raters)


def correct_answers(bundle: Bundle) -> pd.DataFrame:
    """Return 1 for a correct answer: item by rater."""
    readings = bundle.readings.assign(right=(bundle.readings["answer"] == "A").astype(float))
    return readings.pivot_table(index="item_id", columns="rater_id", values="right")


def random_effects_summary(means: Floats, variances: Floats) -> dict[str, float]:
    """Return mean, limits and tau by the methods of Paule and Mandel, and Hartung and Knapp."""
    k = len(means)

    def excess(tau2: float) -> float:
        weights = 1 / (variances + tau2)
        mean = (weights * means).sum() / weights.sum()
        return float((weights * (means - mean) ** 2).sum() - (k - 1))

    tau2 = brentq(excess, 0, 10, xtol=1e-15) if excess(0) > 0 else 0.0
    weights = 1 / (variances + tau2)
    mean = (weights * means).sum() / weights.sum()
    spread = (weights * (means - mean) ** 2).sum() / (k - 1)
    se = np.sqrt(spread / weights.sum())
    expected = {
        "estimate": mean,
        "se": se,
        "ci_low": mean - stats.t.isf(0.025, k - 1) * se,
        "tau": np.sqrt(tau2),
        "q": excess(0) + k - 1,
        "p": stats.chi2.sf(excess(0) + k - 1, k - 1),
    }
    if k > 2:
        half_width = stats.t.isf(0.025, k - 2) * np.sqrt(tau2 + se**2)
        expected["prediction_low"] = max(mean - half_width, -1)
    return expected


def test_the_variation_of_sites_excludes_that_of_their_readers() -> None:
    """The variance between readers is pooled within sites; readers without a site do not count."""
    bundle = study(SITES)
    right = correct_answers(bundle).mean()
    groups = [["R1", "R2"], ["R3", "R4"], ["R5"]]
    within = sum(((right[g] - right[g].mean()) ** 2).sum() for g in groups) / 2
    means = np.array([right[group].mean() for group in groups])
    [row] = heterogeneity(bundle).to_dict("records")
    expected = random_effects_summary(means, within / np.array([2, 2, 1]))
    assert {key: row[key] for key in expected} == pytest.approx(expected, abs=1e-5)
    assert (row["factor"], row["n_groups"], row["undefined_because"]) == ("site", 3, "")


def test_the_prediction_interval_includes_the_error_of_the_mean() -> None:
    """With six sites, the interval is not truncated to the possible range."""
    sites = {f"R{number:02}": "uvwxyz"[number // 2] for number in range(12)}
    bundle = study(sites)
    right = correct_answers(bundle).mean()
    groups = [[reader for reader in sites if sites[reader] == site] for site in "uvwxyz"]
    within = sum(((right[g] - right[g].mean()) ** 2).sum() for g in groups) / 6
    means = np.array([right[group].mean() for group in groups])
    row = heterogeneity(bundle).iloc[0]
    expected = random_effects_summary(means, np.full(6, within / 2))
    assert row["prediction_low"] == pytest.approx(expected["prediction_low"], abs=1e-5)
    assert -1 < row["prediction_low"] < row["ci_low"]


@pytest.mark.parametrize("is_opposed", [False, True])
def test_the_variation_of_banks_excludes_that_of_their_items(is_opposed: bool) -> None:
    """The readers' mean and the model's lead vary; two banks have no prediction interval.

    The variance is that of the table of the panel: if readers err on different items, their
    negative covariance counts as 0.
    """
    bundle = study({"R1": "", "R2": ""}, banks=2)
    if is_opposed:
        bundle = with_opposed_reader(bundle)
    right = correct_answers(bundle)
    bank = np.arange(N_ITEMS) % 2
    table = heterogeneity(bundle)
    assert table["metric"].tolist() == ["accuracy", "lead"]
    readers = right[["R1", "R2"]]
    values = (readers, readers.rsub(right["M"], axis=0))
    for row, each in zip(table.to_dict("records"), values, strict=True):
        parts = [each[bank == place].to_numpy() for place in (0, 1)]
        covariances = [np.cov(part.T) / len(part) for part in parts]
        if is_opposed and row["metric"] == "accuracy":
            assert min(c[0, 1] for c in covariances) < 0
        expected = random_effects_summary(
            np.array([part.mean() for part in parts]),
            np.array([(np.trace(c) / 2 + max(c[0, 1], 0)) / 2 for c in covariances]),
        )
        assert {key: row[key] for key in expected} == pytest.approx(expected, abs=1e-5)
        assert row["undefined_because"] == "prediction interval: fewer than 3 groups"
        assert pd.isna(row["prediction_low"])


def with_opposed_reader(bundle: Bundle) -> Bundle:
    """Return the study with a second reader who is mostly right where the first is wrong."""
    right = correct_answers(bundle)["R1"]
    readings = bundle.readings.copy()
    second = readings["rater_id"] == "R2"
    place = readings.loc[second, "item_id"]
    other = np.where(right.loc[place].to_numpy() > 0, "B", "A")
    readings.loc[second, "answer"] = np.where(np.arange(len(place)) % 7 == 0, "A", other)
    items, raters = bundle.items[["item_id", "truth", "bank"]], bundle.raters
    return bundle_from_tables(
        items,
        readings[["rater_id", "item_id", "answer"]],
        raters[["rater_id", "rater_kind", "site"]],
    )


def test_the_variation_of_sites_with_one_reader_each_is_undefined() -> None:
    """One reader does not show the variance within a site."""
    row = heterogeneity(study({"R1": "x", "R2": "y", "R3": "z"})).iloc[0]
    assert pd.isna(row["estimate"])
    assert row["undefined_because"] == "no variation within the groups to compare with"


def test_a_single_site_or_bank_has_no_row() -> None:
    """A comparison needs two sites or banks."""
    assert len(heterogeneity(study({"R1": "x", "R2": "x"}))) == 0
