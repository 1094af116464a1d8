"""banks.csv compares the accuracy of a rater on two banks."""

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.report.findings import findings
from analysis.report.tables import report_tables
from analysis.statistics.accuracy.banks import MOVER, NO_ITEM_IN_ONE_BANK, banks

OPTIONS = Options(bootstrap=200)


def _bundle(right: dict[str, tuple[int, int]], per_patient: int = 1) -> Bundle:
    """Return a study of one reader with the number of cases and correct answers for each bank."""
    rows = [
        (f"{bank}{i}", bank, f"{bank}-p{i // per_patient}", "ab"[i % 2], "A" if i < k else "B")
        for bank, (n, k) in right.items()
        for i in range(n)
    ]
    table = pd.DataFrame(rows, columns=["item_id", "bank", "patient_id", "task", "answer"])
    items = table.drop(columns="answer").assign(truth="A", n_options="4")
    return bundle_from_tables(items, table[["item_id", "answer"]].assign(rater_id="R1"))


def test_the_difference_has_newcombes_interval() -> None:
    """In example (a) of Newcombe 1998, method 10, 56 of 70 and 48 of 80 give 0.0524 to 0.3339."""
    table = banks(_bundle({"x": (70, 56), "y": (80, 48)}), OPTIONS)
    row = table.loc[table["by"] == "overall"].iloc[0]
    assert (row["bank"], row["other_bank"], row["n"], row["n_other"]) == ("x", "y", 70, 80)
    assert row["difference"] == pytest.approx(0.2)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert row["method"] == MOVER
    assert list(table["group"]) == ["micro", "a", "b"]


def test_cases_of_a_patient_are_resampled_together() -> None:
    """With four equal cases per patient, the interval is twice as wide."""
    single = banks(_bundle({"x": (160, 120), "y": (160, 80)}), OPTIONS).iloc[0]
    shared = banks(_bundle({"x": (160, 120), "y": (160, 80)}, per_patient=4), OPTIONS).iloc[0]
    assert shared["difference"] == single["difference"] == pytest.approx(0.25)
    wide, narrow = (entry["ci_high"] - entry["ci_low"] for entry in (shared, single))
    assert 1.6 < wide / narrow < 2.4
    assert shared["method"].startswith("percentile bootstrap over patients")


def test_all_pairs_of_banks_are_compared_in_any_order_of_rows() -> None:
    bundle = _bundle({"x": (40, 30), "y": (40, 20), "z": (40, 10)}, per_patient=2)
    table = banks(bundle, OPTIONS)
    overall = table.loc[table["by"] == "overall", ["bank", "other_bank"]]
    assert overall.to_numpy().tolist() == [["x", "y"], ["x", "z"], ["y", "z"]]
    second = bundle_from_tables(
        bundle.items.astype(str).sample(frac=1, random_state=1),
        bundle.readings[["rater_id", "item_id", "answer"]].sample(frac=1, random_state=2),
    )
    pd.testing.assert_frame_equal(banks(second, OPTIONS), table)


def test_the_difference_from_an_unread_bank_is_undefined() -> None:
    bundle = _bundle({"x": (40, 30), "y": (40, 20)})
    read = bundle.readings.loc[bundle.readings["item_id"].str.startswith("x")]
    items = bundle.items.astype(str)
    subset = bundle_from_tables(items, read[["rater_id", "item_id", "answer"]])
    row = banks(subset, OPTIONS).iloc[0]
    assert np.isnan([row["difference"], row["ci_low"], row["ci_high"]]).all()
    assert row["undefined_because"] == NO_ITEM_IN_ONE_BANK


def test_the_report_has_the_difference_if_there_are_two_banks() -> None:
    results = analyse(_bundle({"x": (70, 56), "y": (80, 48)}), OPTIONS)
    text = " ".join(map(str, findings(results)))
    assert "x minus y 20.0 [5.2 to 33.4; 70 and 80 cases]" in text
    (table,) = [entry for entry in report_tables(results) if entry.name == "banks"]
    assert next(cells[-2:] for _, cells in table.rows) == ("20.0", "5.2 to 33.4")
    single_study = analyse(_bundle({"x": (70, 56)}), OPTIONS)
    assert "banks" not in single_study.tables
    assert "one bank" not in " ".join(map(str, findings(single_study)))
    assert "banks" not in [entry.name for entry in report_tables(single_study)]
