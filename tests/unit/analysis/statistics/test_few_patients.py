"""Levels of percentile intervals depend on the number of patients, not of items."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, bundle_from_tables
from analysis.readings.clusters import FEW_CLUSTERS, WIDENED_METHOD
from analysis.statistics.accuracy.banks import banks
from analysis.statistics.accuracy.calibration import model_calibration
from analysis.statistics.accuracy.roc import roc_areas
from analysis.statistics.advice_weight import advice_weight
from analysis.statistics.agreement.weighted import agreement_weighted
from analysis.statistics.reliance import reliance

N_ITEMS = 160
OPTIONS = Options(bootstrap=40, confidence="answer", ordered=True)


def study(patients: int) -> Bundle:
    """Return two readers without and with the answers of a model; items of two banks in turn."""
    random = np.random.default_rng(6)
    ids = [f"q{i:03}" for i in range(N_ITEMS)]
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": random.choice(list("AB"), N_ITEMS),
            "n_options": 2,
            "option_set": "s",
            "patient_id": [f"p{i % patients:03}" for i in range(N_ITEMS)],
            "bank": ["few" if i % patients < 10 else "many" for i in range(N_ITEMS)],
        }
    )
    readings = [
        {
            "rater_id": rater,
            "item_id": item,
            "condition": condition,
            "answer": random.choice(list("AB")),
            "confidence": random.integers(1, 6) if rater != "M" else random.integers(1, 10) / 10,
            "aid_model": "M" if condition == "aided" else "",
            "aid_answer": random.choice(list("AB")) if condition == "aided" else "",
        }
        for rater, conditions in {
            "M": [""],
            "R1": ["aided", "unaided"],
            "R2": ["aided", "unaided"],
        }.items()
        for condition in conditions
        for item in ids
    ]
    raters = pd.DataFrame({"rater_id": ["M", "R1", "R2"], "rater_kind": ["model"] + ["reader"] * 2})
    return bundle_from_tables(items, pd.DataFrame(readings), raters)


@pytest.mark.parametrize(
    ("table", "measure"),
    [
        (reliance, "accuracy_with"),
        (advice_weight, "weight_of_advice"),
        (roc_areas, "partial_auc"),
        (agreement_weighted, "kappa_linear"),
        (model_calibration, "brier"),
        (banks, ""),
    ],
)
def test_levels_are_widened_by_the_number_of_patients(
    table: Callable[..., pd.DataFrame], measure: str
) -> None:
    """20 patients with eight items each are few, 80 patients with two are not.

    For two banks, the smaller number of patients counts.
    """
    for patients in (20, 80):
        rows = table(study(patients), OPTIONS)
        rows = rows[(rows["method"] != "") & (not measure or rows["measure"] == measure)]
        is_few = patients < FEW_CLUSTERS or table is banks
        assert {str(method) == WIDENED_METHOD for method in rows["method"]} == {is_few}
