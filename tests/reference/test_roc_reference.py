"""ROC curves and areas equal a published example and scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import auc, roc_auc_score

from analysis import Bundle, Options, bundle_from_tables
from analysis.statistics.accuracy.roc import roc_areas, roc_points

NORMAL = [33, 6, 6, 11, 2]
ABNORMAL = [3, 2, 2, 11, 33]


def hanley_mcneil() -> Bundle:
    """Return the ratings of 109 CT images: Radiology 1982;143:29-36, table I."""
    ratings = np.concatenate([np.repeat(np.arange(1, 6), n) for n in (NORMAL, ABNORMAL)])
    truth = ["A"] * 58 + ["B"] * 51
    ids = [f"q{i:03}" for i in range(109)]
    answers = np.where(ratings >= 4, "B", "A")
    return bundle_from_tables(
        pd.DataFrame({"item_id": ids, "truth": truth, "options": '["normal", "abnormal"]'}),
        pd.DataFrame({"rater_id": "R1", "item_id": ids, "answer": answers, "confidence": ratings}),
    )


def test_the_ct_images_of_hanley_and_mcneil_have_the_published_area() -> None:
    """Points and area equal the printed values: .893 with a standard error of .032."""
    bundle = hanley_mcneil()
    points = roc_points(bundle)
    assert points["threshold"].tolist() == [np.inf, 5, 4, 3, 2, 1]
    assert points["false_positive_rate"].tolist() == pytest.approx(
        [0, 2 / 58, 13 / 58, 19 / 58, 25 / 58, 1]
    )
    assert points["true_positive_rate"].tolist() == pytest.approx(
        [0, 33 / 51, 44 / 51, 46 / 51, 48 / 51, 1]
    )
    row = roc_areas(bundle).set_index("measure").loc["auc"]
    assert round(row["estimate"], 3) == 0.893
    assert round(row["se"], 2) == 0.03
    limits = row[["ci_low", "estimate", "ci_high"]].to_numpy(dtype=float)
    reach = 1.959964 * row["se"] / (row["estimate"] * (1 - row["estimate"]))
    assert np.diff(np.log(limits / (1 - limits))).tolist() == pytest.approx([reach, reach])


def test_areas_match_scikit_learn() -> None:
    """Complete and partial areas (up to 20 %) of three raters with ties and gaps are compared."""
    random = np.random.default_rng(3)
    ids = [f"q{i:03}" for i in range(80)]
    truth = random.choice(["A", "B"], 80)
    readings = pd.DataFrame(
        [
            {
                "rater_id": rater,
                "item_id": item,
                "answer": "" if random.random() < 0.05 else random.choice(["A", "B", letter]),
                "confidence": random.integers(1, 6),
            }
            for rater in ("R1", "R2", "R3")
            for item, letter in zip(ids, truth, strict=True)
        ]
    )
    bundle = bundle_from_tables(
        pd.DataFrame({"item_id": ids, "truth": truth, "n_options": 2}), readings
    )
    options = Options(confidence="answer", bootstrap=40)
    areas = roc_areas(bundle, options).set_index(["rater_id", "measure"])["estimate"]
    positive = truth == "B"
    for rater, points in roc_points(bundle, options).groupby("rater_id"):
        own_rows = readings[readings["rater_id"] == rater]
        signed = np.where(
            own_rows["answer"] == "B", own_rows["confidence"], -own_rows["confidence"]
        )
        missing = np.where(positive, -9.0, 9.0)
        ratings = np.where(own_rows["answer"] == "", missing, signed)
        assert areas[rater, "auc"] == pytest.approx(roc_auc_score(positive, ratings))
        partial = roc_auc_score(positive, ratings, max_fpr=0.2)
        assert areas[rater, "partial_auc"] == pytest.approx(partial)
        curve = points["false_positive_rate"], points["true_positive_rate"]
        assert auc(*curve) == pytest.approx(areas[rater, "auc"])
