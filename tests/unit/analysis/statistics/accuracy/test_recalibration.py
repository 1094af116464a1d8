"""Calibration slope and intercept equal a fit by another optimiser, with sandwich errors."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from analysis import Bundle, Options, bundle_from_tables
from analysis.arrays import Floats
from analysis.statistics.accuracy.recalibration import model_recalibration

OPTIONS = Options(confidence="answer")


def study(confidence: Floats, right: Floats, n_patients: int = 0) -> Bundle:
    """Return a model's answers with their confidence."""
    ids = [f"q{i:03}" for i in range(len(right))]
    items = pd.DataFrame({"item_id": ids, "truth": "A"})
    if n_patients:
        items["patient_id"] = [f"p{i % n_patients}" for i in range(len(ids))]
    readings = pd.DataFrame(
        {
            "rater_id": "M",
            "item_id": ids,
            "answer": np.where(right, "A", "B"),
            "confidence": confidence,
        }
    )
    raters = pd.DataFrame({"rater_id": ["M"], "rater_kind": "model"})
    return bundle_from_tables(items, readings, raters)


@pytest.fixture
def answers() -> tuple[Floats, Floats]:
    """Return confidences that are too extreme, and whether answers are right."""
    random = np.random.default_rng(6)
    linear = random.normal(0.5, 1, 200)
    right = (random.random(200) < expit(linear)).astype(float)
    return np.round(expit(2 * linear), 4).clip(0.01, 0.99), right


def maximum_likelihood_fit(
    design: Floats, offset: Floats, right: Floats, groups: Floats
) -> tuple[Floats, Floats]:
    """Return the maximum likelihood estimates and their sandwich standard errors."""

    def loss(beta: Floats) -> float:
        linear = design @ beta + offset
        return float(np.sum(np.logaddexp(0, linear) - right * linear))

    beta = minimize(loss, np.zeros(design.shape[1]), method="BFGS", tol=1e-10).x
    p = expit(design @ beta + offset)
    bread = np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design)
    scores = design * (right - p)[:, None]
    sums = np.array([scores[groups == g].sum(axis=0) for g in np.unique(groups)])
    n, k, g = len(right), design.shape[1], len(sums)
    correction = g / (g - 1) * (n - 1) / (n - k)
    errors = np.sqrt(np.diag(bread @ (sums.T @ sums) @ bread) * correction)
    return beta, errors


@pytest.mark.parametrize("n_patients", [0, 40])
def test_slope_and_intercept_equal_another_fit(
    answers: tuple[Floats, Floats], n_patients: int
) -> None:
    """The slope is fitted with a free intercept, and the intercept with a slope of 1."""
    confidence, right = answers
    table = model_recalibration(study(confidence, right, n_patients), OPTIONS)
    table = table.set_index("measure")
    logits, ones = logit(confidence), np.ones(len(right))
    groups = np.arange(len(right)) % (n_patients or len(right))
    for measure, design, offset in (
        ("slope", np.column_stack([logits, ones]), 0 * logits),
        ("intercept", ones[:, None], logits),
    ):
        beta, errors = maximum_likelihood_fit(design, offset, right, groups)
        row = table.loc[measure]
        assert row["estimate"] == pytest.approx(beta[0], abs=1e-4)
        assert row["se"] == pytest.approx(errors[0], rel=1e-3)
        assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * 1.95996 * row["se"], rel=1e-5)
    assert table.loc["slope", "estimate"] < 0.8


@pytest.mark.parametrize(
    ("confidence", "right", "reasons"),
    [
        ([0.5, 1.0] * 6, [0, 1, 1, 1] * 3, ["a confidence is 0 or 1"] * 2),
        ([0.6] * 12, [0, 1, 1] * 4, ["all confidences are equal", ""]),
        ([0.3] * 6 + [0.8] * 6, [0] * 6 + [1] * 6, ["confidence separates right from wrong", ""]),
        ([0.3, 0.8] * 6, [1] * 12, ["all of these answers are right"] * 2),
    ],
)
def test_undefined_values_have_a_reason(
    confidence: list[float], right: list[float], reasons: list[str]
) -> None:
    """No fit is attempted if it would not converge."""
    table = model_recalibration(study(np.array(confidence), np.array(right)), OPTIONS)
    for row, reason in zip(table.to_dict("records"), reasons, strict=True):
        assert row["undefined_because"].startswith(reason)
        assert bool(row["undefined_because"]) == pd.isna(row["estimate"])
