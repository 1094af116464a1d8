"""Sensitivity and specificity equal a published table and counts of readings."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from analysis import Options, bundle_from_tables
from analysis.statistics.accuracy.diagnostic import diagnostic


def wilson(k: int, n: int, z: float) -> tuple[float, float]:
    """Return Wilson's limits from the closed form."""
    centre = (k + z**2 / 2) / (n + z**2)
    half = z * sqrt(k * (n - k) / n + z**2 / 4) / (n + z**2)
    return centre - half, centre + half


def test_liver_scans_reproduce_the_values_of_altman_and_bland() -> None:
    """BMJ 1994;308:1552: 231 of 258 abnormal livers and 54 of 86 normal livers were correct.

    The authors print 0.90 and 0.63.
    """
    truth = ["A"] * 258 + ["B"] * 86
    answers = ["A"] * 231 + ["B"] * 27 + ["A"] * 32 + ["B"] * 54
    ids = [f"q{n:03}" for n in range(344)]
    table = diagnostic(
        bundle_from_tables(
            pd.DataFrame({"item_id": ids, "truth": truth, "options": '["abnormal", "normal"]'}),
            pd.DataFrame({"rater_id": "scan", "item_id": ids, "answer": answers}),
        )
    )
    row = table.iloc[0]
    assert (row["positive"], row["n_positive"], row["n_negative"]) == ("A", 258, 86)
    assert (round(row["sensitivity"], 2), round(row["specificity"], 2)) == (0.90, 0.63)
    z = norm.isf(0.025)
    assert (row["sens_low"], row["sens_high"]) == pytest.approx(wilson(231, 258, z))
    assert (row["spec_low"], row["spec_high"]) == pytest.approx(wilson(54, 86, z))


def test_every_row_equals_a_count_of_readings() -> None:
    """Missing readings, absent items, tasks, and items with two or five options are included."""
    random = np.random.default_rng(5)
    n = 60
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:02}" for i in range(n)],
            "n_options": np.where(np.arange(n) % 3, 2, 5),
            "task": np.where(np.arange(n) % 2, "x", "y"),
        }
    )
    items["truth"] = [random.choice(list("ABCDE")[:k]) for k in items["n_options"]]
    items.loc[3, "truth"] = ""
    readings = pd.DataFrame(
        [
            {"rater_id": rater, "item_id": item, "answer": random.choice(["A", "B", "D", ""])}
            for rater in ("R1", "R2", "M")
            for item in items["item_id"]
            if random.random() < 0.9
        ]
    )
    readings = readings.merge(items[["item_id", "n_options"]])
    readings.loc[(readings["n_options"] == 2) & (readings["answer"] == "D"), "answer"] = "A"
    readings = readings.drop(columns="n_options")
    raters = pd.DataFrame({"rater_id": ["R1", "R2", "M"], "rater_kind": ["reader"] * 2 + ["model"]})
    bundle = bundle_from_tables(items, readings, raters)
    table = diagnostic(bundle, Options(positive=("D", "E", "B")))
    items_with_truth = items[items["truth"] != ""]
    assert set(table["by"]) == {"overall", "task"}
    for row in table.to_dict("records"):
        answers = readings[readings["rater_id"] == row["rater_id"]].set_index("item_id")["answer"]
        counts: dict[bool, list[bool]] = {True: [], False: []}
        for item in items_with_truth.to_dict("records"):
            is_absent = item["item_id"] not in answers
            in_group = row["by"] == "overall" or item["task"] == row["group"]
            if not in_group or (is_absent and row["rater_kind"] == "reader"):
                continue
            answer = "" if is_absent else answers[item["item_id"]]
            positive = item["truth"] in "BDE"
            right = answer != "" and (answer in "BDE") == positive
            counts[positive].append(right)
        for positive, column, number in (
            (True, "sensitivity", "n_positive"),
            (False, "specificity", "n_negative"),
        ):
            assert row[number] == len(counts[positive])
            assert row[column] == pytest.approx(np.mean(counts[positive]))
