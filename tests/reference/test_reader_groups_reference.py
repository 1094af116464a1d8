"""All rows of reader_groups.csv equal the formula, computed from single readings.

Without error over items it is Welch's t test of the readers' accuracies.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import Bundle, bundle_from_tables
from analysis.statistics.merits import Merits
from analysis.statistics.mrmc.group_contrasts import between_groups
from analysis.statistics.mrmc.groups import reader_groups, reader_groups_gain

LEVELS = {"R1": "attending", "R2": "attending", "R3": "attending", "R4": "resident"}
LEVELS |= {"R5": "resident", "R6": "", "R7": "resident"}
N_ITEMS = 40


def study(conditions: Sequence[str] = ("aided", "unaided")) -> Bundle:
    """Return seven readers of three levels and two models, with two items per patient."""
    random = np.random.default_rng(11)
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:02}" for i in range(N_ITEMS)],
            "truth": "A",
            "task": np.where(np.arange(N_ITEMS) % 2, "x", "y"),
            "patient_id": [f"p{i // 2}" for i in range(N_ITEMS)],
        }
    )
    hard = random.random(N_ITEMS)
    readings = [
        {
            "rater_id": rater,
            "item_id": item,
            "condition": condition,
            "answer": "A" if random.random() > 0.8 * hard[place] else random.choice(["B", ""]),
        }
        for number, rater in enumerate([*LEVELS, "M1", "M2"])
        for condition in (conditions if rater in LEVELS else [""])
        for place, item in enumerate(items["item_id"])
        if (rater, place) != ("R2", 5)
    ]
    raters = pd.DataFrame({"rater_id": [*LEVELS, "M1", "M2"]})
    raters["rater_kind"] = ["reader"] * len(LEVELS) + ["model"] * 2
    raters["level"] = [*LEVELS.values(), "", ""]
    return bundle_from_tables(items, pd.DataFrame(readings), raters)


def plain(values: dict[str, pd.Series], groups: tuple[list[str], list[str]]) -> dict[str, float]:
    """Return the cells of a row, computed from the values of single readers on shared items."""
    n = len(next(iter(values.values())))
    patients = np.array([int(item[1:]) // 2 for item in next(iter(values.values())).index])
    n_patients = len(set(patients))

    def covariance(first: str, second: str) -> float:
        total = 0.0
        for patient in set(patients):
            same_patient = patients == patient
            a, b = values[first], values[second]
            total += (a[same_patient].sum() - same_patient.sum() * a.mean()) * (
                b[same_patient].sum() - same_patient.sum() * b.mean()
            )
        return total * n_patients / (n_patients - 1) / n**2

    means = [[values[reader].mean() for reader in group] for group in groups]
    parts = [np.var(group, ddof=1) / len(group) for group in means]
    within = [np.mean([covariance(*pair) for pair in combinations(g, 2)]) for g in groups]
    between = np.mean([covariance(a, b) for a in groups[0] for b in groups[1]])
    variance = sum(parts) + max(sum(within) - 2 * between, 0)
    df = variance**2 / sum(p**2 / (len(g) - 1) for p, g in zip(parts, groups, strict=True))
    difference = np.mean(means[0]) - np.mean(means[1])
    half = stats.t.isf(0.025, df) * np.sqrt(variance)
    return {
        "value_a": np.mean(means[0]),
        "value_b": np.mean(means[1]),
        "difference": difference,
        "se": np.sqrt(variance),
        "df": df,
        "ci_low": difference - half,
        "ci_high": difference + half,
        "p": 2 * stats.t.sf(abs(difference) / np.sqrt(variance), df),
    }


def correct_of(bundle: Bundle) -> pd.DataFrame:
    """Return 1 for a correct and 0 for an incorrect answer by rater, condition and item."""
    readings = bundle.readings.assign(right=(bundle.readings["answer"] == "A").astype(float))
    wide = readings.pivot_table(index=["rater_id", "condition"], columns="item_id", values="right")
    return wide.drop(columns="q05")


GROUPS = (["R1", "R2", "R3"], ["R4", "R5", "R7"])
READERS = [*GROUPS[0], *GROUPS[1]]


@pytest.mark.thorough
def test_every_row_equals_the_formula() -> None:
    """Accuracy and the lead of two models are compared by condition, overall and by task."""
    bundle = study()
    correct = correct_of(bundle)
    table = reader_groups(bundle)
    assert len(table) == 2 * 3 * 3
    for row in table.to_dict("records"):
        items = [
            item
            for place, item in enumerate(bundle.items["item_id"])
            if item in correct and (row["by"] == "overall" or row["group"] == "yx"[place % 2])
        ]
        values = {reader: correct.loc[(reader, row["condition"]), items] for reader in READERS}
        if row["metric"] == "lead":
            model = correct.loc[(row["note"][6:8], ""), items]
            values = {reader: model - value for reader, value in values.items()}
        expected = plain(values, GROUPS)
        assert {key: row[key] for key in expected} == pytest.approx(expected, abs=1e-12)
        assert (row["n_readers_a"], row["n_readers_b"], row["n_items"]) == (3, 3, len(items))


def test_every_gain_equals_the_formula() -> None:
    """A gain is the difference of each reader's values between the conditions."""
    bundle = study()
    correct = correct_of(bundle)
    row = reader_groups_gain(bundle).iloc[0]
    assert (row["condition_a"], row["condition_b"]) == ("aided", "unaided")
    values = {
        reader: correct.loc[(reader, "aided")] - correct.loc[(reader, "unaided")]
        for reader in READERS
    }
    expected = plain(values, GROUPS)
    assert {key: row[key] for key in expected} == pytest.approx(expected, abs=1e-12)


def test_the_test_equals_welchs_test_without_error_over_items() -> None:
    """Biometrika 1947;34:28-35, as computed by scipy."""
    first, second = np.array([0.81, 0.84, 0.9, 0.79]), np.array([0.7, 0.66, 0.74, 0.9, 0.61])
    merits = Merits(values=np.concatenate([first, second]), covariance=np.zeros((9, 9)))
    inference = between_groups(merits, np.arange(4), np.arange(4, 9)).inference
    welch = stats.ttest_ind(first, second, equal_var=False)
    assert (inference.statistic, inference.df) == pytest.approx((welch.statistic, welch.df))
    assert inference.p == pytest.approx(welch.pvalue)
