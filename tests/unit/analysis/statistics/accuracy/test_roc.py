"""Raters who have a ROC curve, its direction, the mean curve, and the figure."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.arrays import Floats
from analysis.figures.drawing.chart import Line, Points
from analysis.statistics.accuracy.roc import ROC_POINTS, roc_areas, roc_points
from analysis.statistics.accuracy.roc_curves import mean_curve
from tests.conftest import number_of_examples

OPTIONS = Options(confidence="answer", bootstrap=20)
Ratings = Mapping[str, Sequence[object] | None]
CONFIDENCES: Ratings = {
    "R1": [5, 3, 1, 4, 2, 5],
    "R2": [1, 1, 2, 3, 4, 4],
    "M1": [0.9, 0.8, 0.7, 0.6, 0.9, 0.8],
}


def study(
    confidence: Mapping[str, Sequence[object] | None],
    options: str = '["mass", "no mass"]',
    **more: object,
) -> Bundle:
    """Return raters of six items who rate their answers, or do not."""
    ids, truth = list("pqrstu"), list("ABABAB")
    readings = [
        {"rater_id": rater, "item_id": item, "answer": answer, "confidence": confidence}
        for rater, values in confidence.items()
        for item, answer, confidence in zip(ids, "ABBBAA", values or [""] * 6, strict=True)
    ]
    kinds = ["model" if rater[0] == "M" else "reader" for rater in confidence]
    items = pd.DataFrame({"item_id": ids, "truth": truth, "options": options, **more})
    raters = pd.DataFrame({"rater_id": [*confidence], "rater_kind": kinds})
    return bundle_from_tables(items, pd.DataFrame(readings), raters)


def test_raters_without_confidence_have_no_curve() -> None:
    """A rater with missing confidence has no curve either; a study without curves has no table."""
    gap = {**CONFIDENCES, "R2": [1, 1, "", 3, 4, 4], "M1": None}
    assert set(roc_points(study(gap), OPTIONS)["rater_id"]) == {"R1"}
    assert "roc_points" not in analyse(study({"R1": None}), OPTIONS).tables


def test_curve_and_sensitivity_have_the_same_positive_class() -> None:
    """With the other class the curve is mirrored, and its area is the same."""
    by_default = roc_points(study(CONFIDENCES), OPTIONS)
    other = roc_points(study(CONFIDENCES), Options(confidence="answer", positive=("mass",)))
    columns = ["false_positive_rate", "true_positive_rate"]
    for rater in CONFIDENCES:
        first, second = (t.loc[t["rater_id"] == rater, columns] for t in (by_default, other))
        mirrored = 1 - second[columns[::-1]]
        assert set(map(tuple, first.round(9).to_numpy())) == set(
            map(tuple, mirrored.round(9).to_numpy())
        )
    areas = [
        roc_areas(study(CONFIDENCES), Options(confidence="answer", bootstrap=5, positive=positive))
        for positive in ((), ("mass",))
    ]
    areas_under = [table[table["measure"] == "auc"]["estimate"].tolist() for table in areas]
    assert areas_under[0] == pytest.approx(areas_under[1])


def test_intervals_take_into_account_items_of_the_same_patient() -> None:
    """With too few patients the partial area has a reason instead of an interval."""
    table = roc_areas(study(CONFIDENCES, patient_id=list("aabbcc")), OPTIONS)
    partial = table[table["measure"] == "partial_auc"].iloc[0]
    assert partial["undefined_because"] == "interval: fewer than 8 patients or examinations"
    assert pd.isna(partial["ci_low"])
    assert table[table["measure"] == "auc"]["method"].iloc[0] == "DeLong, logit over patients"


def test_the_figure_shows_readers_the_mean_of_readers_and_models() -> None:
    """A model without confidence is shown as a point."""
    results = analyse(study({**CONFIDENCES, "M2": None}), OPTIONS)
    [figure] = [f for part in ROC_POINTS.figures.values() for f in part(results, "")]
    assert "mean sensitivity at each specificity" in figure.caption
    assert figure.chart is not None
    layers = figure.chart.panels[0].layers
    assert sum(isinstance(layer, Line) for layer in layers) == 1 + 2 + 1 + 1
    [point] = [layer for layer in layers if isinstance(layer, Points)]
    assert (*point.x, *point.y) == pytest.approx((100 / 3, 200 / 3))


rising_rates = st.lists(st.floats(0, 1), max_size=5).map(lambda inner: np.sort([0.0, *inner, 1.0]))


@st.composite
def curves(draw: st.DrawFn) -> list[tuple[Floats, Floats]]:
    """Draw one to four rising curves, including steps."""
    curves_drawn = []
    for _ in range(draw(st.integers(1, 4))):
        false = np.round(draw(rising_rates), 2)
        true = np.sort(
            np.round(
                [
                    0.0,
                    *draw(
                        st.lists(st.floats(0, 1), min_size=len(false) - 2, max_size=len(false) - 2)
                    ),
                    1.0,
                ],
                2,
            )
        )
        curves_drawn.append((np.r_[0.0, false], np.r_[0.0, true]))
    return curves_drawn


@settings(max_examples=number_of_examples(25))
@given(curves())
def test_the_area_under_the_mean_is_the_mean_of_the_areas(
    drawn: list[tuple[Floats, Floats]],
) -> None:
    """The mean sensitivity is computed at each false-positive rate, including vertical steps."""
    false, true = mean_curve(drawn)
    assert auc(false, true) == pytest.approx(np.mean([auc(*curve) for curve in drawn]), abs=1e-6)
    assert (np.diff(true) >= -1e-9).all()


def test_copies_of_an_item_of_a_patient_add_no_precision() -> None:
    """The standard error is DeLong's for the items without copies."""
    ratings = {"R1": [5, 3, 1, 4, 2, 5], "R2": [1, 1, 2, 3, 4, 4]}
    bundle = study(ratings, patient_id=list("abcdef"))
    items, readings = (
        pd.concat([table, table.assign(item_id=table["item_id"] + "2")])
        for table in (bundle.items, bundle.readings)
    )
    table = roc_areas(bundle_from_tables(items, readings, bundle.raters), OPTIONS)
    truth, answers = np.array(list("ABABAB")) == "B", np.array(list("ABBBAA")) == "B"
    for rater, confidence in ratings.items():
        rated = np.where(answers, 1.0, -1.0) * confidence
        wins = (np.sign(rated[truth][:, None] - rated[~truth]) + 1) / 2
        variance = sum(wins.mean(axis=axis).var(ddof=1) / 3 for axis in (0, 1))
        row = table[(table["rater_id"] == rater) & (table["measure"] == "auc")].iloc[0]
        assert row["estimate"] == pytest.approx(wins.mean())
        assert row["se"] == pytest.approx(np.sqrt(variance))


def test_the_standard_error_of_independent_cases_is_that_of_the_jackknife() -> None:
    """The jackknife leaves out each case of either class in turn."""

    def area(positive: list[float], negative: list[float]) -> float:
        scores = [(a > b) + 0.5 * (a == b) for a in positive for b in negative]
        return float(np.mean(scores))

    table = roc_areas(study(CONFIDENCES), OPTIONS)
    row = table[(table["rater_id"] == "R1") & (table["measure"] == "auc")].iloc[0]
    # The positive option is B, "no mass", and the answers are ABBBAA.
    rating = [s if a == "B" else -s for s, a in zip([5, 3, 1, 4, 2, 5], "ABBBAA", strict=True)]
    positive, negative = rating[1::2], rating[::2]
    left_out = [area(positive[:i] + positive[i + 1 :], negative) for i in range(3)]
    left_out += [area(positive, negative[:i] + negative[i + 1 :]) for i in range(3)]
    variance = 5 / 6 * sum((each - np.mean(left_out)) ** 2 for each in left_out)
    assert row["estimate"] == pytest.approx(area(positive, negative))
    assert row["se"] == pytest.approx(variance**0.5)


@pytest.mark.parametrize("items", ["prt", "qsu"])
def test_a_rater_who_read_cases_of_a_single_class_has_no_curve(items: str) -> None:
    complete = study(CONFIDENCES)
    is_kept = (complete.readings["rater_id"] != "R2") | complete.readings["item_id"].isin(
        list(items)
    )
    part = bundle_from_tables(
        complete.items[["item_id", "truth", "options"]],
        complete.readings.loc[is_kept, ["rater_id", "item_id", "answer", "confidence"]],
        complete.raters[["rater_id", "rater_kind"]],
    )
    assert set(roc_points(part, OPTIONS)["rater_id"]) == {"R1", "M1"}
