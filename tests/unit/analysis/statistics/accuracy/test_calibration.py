"""model_calibration.csv and model_reliability.csv, compared with scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, roc_auc_score

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.report.tables import report_tables
from analysis.statistics.accuracy.calibration import (
    ALL_CORRECT_OR_INCORRECT,
    ALL_EQUAL,
    AUC,
    BRIER,
    BY_CHANCE,
    ECE,
    OVERCONFIDENCE,
    model_calibration,
    model_reliability,
)

OPTIONS = Options(bootstrap=400, confidence="answer")


def _bundle(confidence: list[float | None], right: list[bool], per_patient: int = 1) -> Bundle:
    n = len(right)
    ids = [f"q{i:03d}" for i in range(n)]
    patients = [f"p{i // per_patient}" for i in range(n)]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 4, "patient_id": patients})
    answers = ["A" if entry else "B" for entry in right]
    readings = pd.DataFrame(
        {"rater_id": "M", "item_id": ids, "answer": answers, "confidence": confidence}
    )
    raters = pd.DataFrame({"rater_id": ["M"], "rater_kind": ["model"]})
    return bundle_from_tables(items, readings, raters)


def _random_confidences(n: int = 120, seed: int = 5) -> tuple[list[float | None], list[bool]]:
    """Return confidences that are too high by a fifth, with many ties and values on bin edges."""
    rng = np.random.default_rng(seed)
    confidence = rng.integers(0, 21, n) / 20
    return list(confidence), list(rng.random(n) < 0.8 * confidence)


def test_each_measure_equals_that_of_scikit_learn() -> None:
    """Bins of scikit-learn include the upper edge, ours the lower edge.

    No confidence in this test is on an edge.
    """
    confidence, right = _random_confidences()
    table = model_calibration(_bundle(confidence, right), OPTIONS).set_index("measure")
    assert table.loc[BRIER, "estimate"] == pytest.approx(brier_score_loss(right, confidence))
    assert table.loc[AUC, "estimate"] == pytest.approx(roc_auc_score(right, confidence))
    assert table.loc[OVERCONFIDENCE, "estimate"] == pytest.approx(
        np.mean(confidence) - np.mean(right)
    )
    inside = [float(entry or 0) * 0.98 + 0.011 for entry in confidence]
    share, mean = calibration_curve(right, inside, n_bins=10, strategy="uniform")
    sizes = np.histogram(inside, bins=10, range=(0, 1))[0]
    bundle = _bundle([*inside], right)
    ece = model_calibration(bundle, OPTIONS).set_index("measure").loc[ECE, "estimate"]
    assert ece == pytest.approx(np.sum(sizes[sizes > 0] * np.abs(share - mean)) / len(right))
    bins = model_reliability(bundle, OPTIONS)
    assert bins["accuracy"].tolist() == pytest.approx(list(share))
    assert bins["mean_confidence"].tolist() == pytest.approx(list(mean))
    assert bins["n"].sum() == len(right)


def test_an_edge_belongs_to_the_upper_bin() -> None:
    """Edges are decimal numbers: the floating-point number 0.3 is slightly less than 3/10."""
    bins = model_reliability(_bundle([0, 0.1, 0.3, 0.6, 0.7, 1], [True] * 6), OPTIONS)
    assert bins["bin_low"].tolist() == pytest.approx([0, 0.1, 0.3, 0.6, 0.7, 0.9])


def test_patients_are_resampled_together() -> None:
    """With four equal answers per patient, the interval is wider, and contains the estimate."""
    few, of_few = _random_confidences(40)
    confidence, right = (
        [entry for entry in few for _ in range(4)],
        [r for r in of_few for _ in range(4)],
    )
    single, together = (
        model_calibration(_bundle(confidence, right, per_patient), OPTIONS)
        for per_patient in (1, 4)
    )
    single, together = (table.set_index("measure") for table in (single, together))
    for measure in (BRIER, AUC, OVERCONFIDENCE):
        widths = []
        for table in (single, together):
            low, estimate, high = (
                float(table.loc[measure, name]) for name in ("ci_low", "estimate", "ci_high")
            )
            assert low < estimate < high
            widths.append(high - low)
        assert 1.6 < widths[1] / widths[0] < 2.6
    assert "patients" in together.loc[BRIER, "method"]
    assert "answers" in single.loc[BRIER, "method"]


@pytest.mark.thorough
def test_calibrated_models_are_within_the_range_of_chance() -> None:
    """At most six of 40 calibrated models are outside; one that is too confident is above."""
    ids = [f"q{i:03d}" for i in range(200)]
    names = [f"M{n:02d}" for n in range(40)]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 4})
    parts = []
    for seed, name in enumerate(names):
        rng = np.random.default_rng(seed)
        confidence = rng.random(200)
        answers = np.where(rng.random(200) < confidence, "A", "B")
        part = {"rater_id": name, "item_id": ids, "answer": answers, "confidence": confidence}
        parts.append(pd.DataFrame(part))
    raters = pd.DataFrame({"rater_id": names, "rater_kind": "model"})
    bundle = bundle_from_tables(items, pd.concat(parts), raters)
    table = model_calibration(bundle, OPTIONS).set_index(["measure", "model_id"])
    error, chance = table.loc[ECE], table.loc[BY_CHANCE]
    assert len(error) == len(chance) == 40
    assert error["ci_low"].isna().all()
    inside = (chance["ci_low"] <= error["estimate"]) & (error["estimate"] <= chance["ci_high"])
    assert (~inside).sum() <= 6
    result = model_calibration(_bundle(*_random_confidences(400)), OPTIONS).set_index("measure")
    assert result.loc[ECE, "estimate"] > result.loc[BY_CHANCE, "ci_high"]


def test_an_undefined_calibration_has_its_reason() -> None:
    """Without wrong answers there is no AUC, and with few answers no interval."""
    all_rows = model_calibration(_bundle([0.5, 0.9] * 20, [True] * 40), OPTIONS).set_index(
        "measure"
    )
    assert np.isnan(all_rows.loc[AUC, "estimate"])
    assert all_rows.loc[AUC, "undefined_because"] == ALL_CORRECT_OR_INCORRECT
    assert all_rows.loc[BRIER, "undefined_because"] == ""
    equal = model_calibration(_bundle([0.7] * 40, [True, False] * 20), OPTIONS)
    row = equal.set_index("measure").loc[AUC]
    assert (row["estimate"], row["undefined_because"]) == (0.5, ALL_EQUAL)
    assert np.isnan(row["ci_low"])
    few = model_calibration(_bundle([0.5, None, 0.9], [True, False, False]), OPTIONS)
    assert set(few["n"]) == {2}
    few = few.set_index("measure")
    for measure in (BRIER, AUC, OVERCONFIDENCE):
        assert np.isnan(few.loc[measure, "ci_low"])
        assert few.loc[measure, "undefined_because"] == "interval: fewer than 8 items"


def test_the_table_exists_only_if_a_model_states_its_confidence() -> None:
    """Confidences of readers, ratings of a finding, and numbers above 1 do not count."""
    confidence, right = _random_confidences(30)
    results = analyse(_bundle(confidence, right), OPTIONS)
    assert len(results.tables["model_calibration"]) == 5
    shown = {table.name: table for table in report_tables(results)}
    assert len(shown["model-calibration"].rows) == 1
    for bundle, options in (
        (_bundle([None] * 30, right), OPTIONS),
        (_bundle(confidence, right), Options(bootstrap=50)),
        (_bundle([3.0] * 30, right), OPTIONS),
    ):
        assert "model_calibration" not in analyse(bundle, options).tables


def test_equal_confidences_count_half_in_resamples_as_well() -> None:
    """With two levels most pairs are tied, and the interval still contains the area."""
    right = [bool((i // 2) % 2) for i in range(200)]
    confidence = [0.8 if (i % 2) != (i % 10 == 0) else 0.2 for i in range(200)]
    row = model_calibration(_bundle([*confidence], right), OPTIONS).set_index("measure").loc[AUC]
    assert row["estimate"] == pytest.approx(roc_auc_score(right, confidence))
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
