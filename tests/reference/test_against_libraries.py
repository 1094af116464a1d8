"""Kappas, accuracies, AUC and Wilson intervals against scikit-learn and statsmodels."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, roc_auc_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

import analysis
from analysis.statistics.merits import empirical_auc

LETTERS = np.array(list("ABCD"))


def _answers(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return reference answers and the letters of two raters, mostly correct."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, n)
    raters = [np.where(random.random(n) < 0.6, truth, random.integers(0, 4, n)) for _ in range(2)]
    return LETTERS[truth], LETTERS[raters[0]], LETTERS[raters[1]]


def _bundle(truth: np.ndarray, first: np.ndarray, second: np.ndarray) -> analysis.Bundle:
    ids = [f"q{i}" for i in range(len(truth))]
    items = pd.DataFrame({"item_id": ids, "truth": truth, "n_options": "4"})
    readings = pd.DataFrame(
        {
            "rater_id": ["R1"] * len(ids) + ["R2"] * len(ids),
            "item_id": ids * 2,
            "answer": [*first, *second],
        }
    )
    return analysis.bundle_from_tables(items, readings)


@pytest.mark.parametrize("seed", range(10))
def test_kappas_and_their_errors_match_the_libraries(seed: int) -> None:
    """Cohen's kappa of letters and of correctness, with the error of Fleiss, Cohen and Everitt."""
    truth, first, second = _answers(seed, 60 + 37 * seed)
    pairs = analysis.agreement_pairs(_bundle(truth, first, second))
    pairs = pairs[pairs["scope"] == "all"].set_index("measure")
    for measure, a, b in (
        ("kappa_letters", first, second),
        ("error_consistency", first == truth, second == truth),
    ):
        row = pairs.loc[measure]
        assert row["estimate"] == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
        table = pd.crosstab(a, b).to_numpy()
        reference = cohens_kappa(table)
        assert row["se"] == pytest.approx(math.sqrt(reference.var_kappa), abs=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_kappas_against_the_reference_standard_match_the_libraries(seed: int) -> None:
    """Only answered items count; raw agreement is the accuracy."""
    truth, answers, other = _answers(seed, 60 + 37 * seed)
    answers[::7] = ""
    table = analysis.agreement_with_truth(_bundle(truth, answers, other))
    table = table[(table["rater_id"] == "R1") & (table["scope"] == "all")].set_index("measure")
    answered = answers != ""
    kappa = cohen_kappa_score(answers[answered], truth[answered])
    accuracy = np.mean((answers == truth)[answered])
    assert table.loc["kappa_letters", "estimate"] == pytest.approx(kappa, abs=1e-12)
    assert table.loc["raw", "estimate"] == pytest.approx(accuracy, abs=1e-12)
    guessed = table.loc["brennan_prediger", "estimate"]
    assert guessed == pytest.approx((accuracy - 1 / 4) / (1 - 1 / 4), abs=1e-12)
    reference = cohens_kappa(pd.crosstab(answers[answered], truth[answered]).to_numpy())
    se = math.sqrt(reference.var_kappa)
    assert table.loc["kappa_letters", "se"] == pytest.approx(se, abs=1e-10)
    assert set(table["n"]) == {answered.sum()}


@pytest.mark.parametrize("seed", range(10))
def test_wilson_intervals_match_statsmodels(seed: int) -> None:
    """They are the intervals of the micro accuracy."""
    truth, first, second = _answers(seed, 20 + 13 * seed)
    accuracy = analysis.accuracy(_bundle(truth, first, second))
    row = accuracy[(accuracy["rater_id"] == "R1") & (accuracy["group"] == "micro")].iloc[0]
    low, high = proportion_confint((first == truth).sum(), len(truth), method="wilson")
    assert row["accuracy"] == pytest.approx(accuracy_score(truth, first), abs=1e-12)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_areas_under_the_curve_match_scikit_learn(seed: int) -> None:
    """The empirical AUC of each rater has five ratings and ties."""
    random = np.random.default_rng(seed)
    positive = np.arange(30 + 7 * seed) % 3 == 0
    ratings = random.integers(1, 6, (len(positive), 3)) + 1.0 * positive[:, None]
    expected = [roc_auc_score(positive, rating) for rating in ratings.T]
    assert empirical_auc(ratings, positive).values == pytest.approx(expected, abs=1e-12)
