"""The panel under alternative choices: dropped items, pairing, and comparison with bootstrap."""

import numpy as np
import pandas as pd
import pytest

from analysis import (
    Bundle,
    analyse,
    bundle_from_tables,
    reader_panel,
    sensitivity_panel,
)
from analysis.options import Options
from analysis.report.findings import Theme, findings
from analysis.statistics.mrmc.noninferiority import noninferiority

RATERS = ("M1", "R1", "R2", "R3")
SHARED = ["claim", "n_readers", "n_items", "difference", "se", "df", "ci_low", "ci_high", "p"]


def _bundle(*, patients: bool = False, tasks: int = 1, gaps: bool = False) -> Bundle:
    generator = np.random.default_rng(3)
    n = 60
    ids = [f"q{i:02d}" for i in range(n)]
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": "A",
            "task": [
                f"task {i % tasks}" if i > 3 * tasks or tasks == 1 else "task 0" for i in range(n)
            ],
            "patient_id": [f"p{i // 3 if patients else i}" for i in range(n)],
        }
    )
    readings = pd.DataFrame(
        {
            "rater_id": np.repeat(RATERS, n),
            "item_id": ids * len(RATERS),
            "answer": np.where(generator.random(n * len(RATERS)) < 0.7, "A", "B"),
            "flags": "",
            "excluded": "",
        }
    )
    if gaps:
        readings.loc[[5, 70], "answer"] = ""
        readings.loc[[8, 130], "flags"] = "too_fast"
        readings.loc[200, "excluded"] = "the telephone rang"
    kinds = pd.DataFrame({"rater_id": RATERS, "rater_kind": ["model", *["reader"] * 3]})
    return bundle_from_tables(items, readings, kinds)


@pytest.mark.parametrize("patients", [False, True])
def test_the_primary_choice_equals_the_panel(patients: bool) -> None:
    """The rows equal those for accuracy; with one task, macro has the same values."""
    bundle = _bundle(patients=patients)
    panel = reader_panel(bundle)
    table = sensitivity_panel(bundle)
    for name in ("missing as wrong", "macro"):
        rows = table.loc[table["analysis"] == name, SHARED].reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, panel[SHARED], check_exact=False, rtol=1e-10)


@pytest.mark.parametrize("patients", [False, True])
def test_every_choice_has_the_score_test_of_a_study_with_its_items(patients: bool) -> None:
    """After dropping two items with a missing answer, the test equals that of the other 58."""
    bundle, options = _bundle(patients=patients, gaps=True), Options(margin=0.1)
    table = sensitivity_panel(bundle, options)
    tests = ["p_margin", "p_superior"]
    items, readings = (
        frame.loc[~frame["item_id"].isin(["q05", "q10"]), columns]
        for frame, columns in (
            (bundle.items, ["item_id", "truth", "patient_id"]),
            (bundle.readings, ["rater_id", "item_id", "answer"]),
        )
    )
    others = bundle_from_tables(items, readings, bundle.raters[["rater_id", "rater_kind"]])
    for name, study in (("missing as wrong", bundle), ("missing dropped", others)):
        same = noninferiority(study, options)
        expected = same.loc[same["metric"] == "accuracy", ["p", "p_superior"]].to_numpy()
        rows = table[table["analysis"] == name]
        np.testing.assert_allclose(rows[tests].to_numpy(dtype=float), expected, rtol=1e-12)
        assert (rows["margin"] == 0.1).all()
    for name in ("flagged times dropped", "macro"):
        assert table.loc[table["analysis"] == name, ["margin", *tests]].isna().all(axis=None)
    assert sensitivity_panel(bundle)[["margin", *tests]].isna().all(axis=None)


def test_items_are_dropped_for_all_raters_and_flagged_readings_for_one() -> None:
    """Two missing answers, two flags and an exclusion concern different items."""
    bundle = _bundle(gaps=True)
    table = sensitivity_panel(bundle).drop_duplicates("analysis").set_index("analysis")
    assert table["n_items"].to_dict() == {
        "missing as wrong": 60,
        "missing dropped": 58,
        "missing as right": 60,
        "absent as wrong": 60,
        "flagged times dropped": 59,
        "excluded readings dropped": 59,
        "macro": 60,
    }
    assert table.loc["missing dropped", "note"] == "items that every rater of the row answered"
    assert table.loc["missing as wrong", "note"] == ""


@pytest.mark.parametrize("patients", [False, True])
def test_the_standard_error_of_macro_agrees_with_the_bootstrap(patients: bool) -> None:
    """The difference from the error of 20,000 resamples is less than 5 %."""
    bundle = _bundle(patients=patients, tasks=3)
    table = sensitivity_panel(bundle)
    row = table.loc[(table["analysis"] == "macro") & (table["claim"] == "these readers")].iloc[0]
    right = (bundle.readings["answer"] == "A").to_numpy().reshape(len(RATERS), -1).astype(float)
    differences = right[0] - right[1:].mean(axis=0)
    task = bundle.items["task"].to_numpy()
    cluster = np.unique(bundle.items["patient_id"], return_inverse=True)[1]
    draws = np.random.default_rng(1).integers(cluster.max() + 1, size=(20_000, cluster.max() + 1))
    counts = np.array([np.bincount(draw, minlength=cluster.max() + 1) for draw in draws])
    weights = counts[:, cluster]
    tasks = [task == name for name in np.unique(task)]
    resampled = np.mean(
        [(weights[:, t] @ differences[t]) / weights[:, t].sum(axis=1) for t in tasks], axis=0
    )
    assert row["difference"] == pytest.approx(np.mean([differences[t].mean() for t in tasks]))
    assert row["se"] == pytest.approx(resampled.std(), rel=0.05)


def test_the_macro_average_of_independent_items_is_a_stratified_mean() -> None:
    """The variance is the sum of variance over n in each task, over the squared number of tasks."""
    bundle = _bundle(tasks=3)
    table = sensitivity_panel(bundle)
    row = table.loc[(table["analysis"] == "macro") & (table["claim"] == "these readers")].iloc[0]
    right = (bundle.readings["answer"] == "A").to_numpy().reshape(len(RATERS), -1).astype(float)
    differences = right[0] - right[1:].mean(axis=0)
    task = bundle.items["task"].to_numpy()
    parts = [differences[task == name] for name in np.unique(task)]
    assert row["note"] == ""
    assert row["se"] ** 2 == pytest.approx(sum(p.var(ddof=1) / len(p) for p in parts) / 9)


def test_a_task_of_one_item_leaves_macro_without_standard_error() -> None:
    """One item does not show a variance, and 0 would suggest certainty."""
    bundle = _bundle(tasks=1)
    bundle.items.loc[0, "task"] = "lonely"
    table = sensitivity_panel(bundle)
    macro = table.loc[table["analysis"] == "macro"]
    assert macro["difference"].notna().all()
    assert macro["se"].isna().all()
    assert macro["undefined_because"].str.contains("in a task, a single item").all()


def test_the_findings_report_undefined_choices() -> None:
    """An undefined choice does not count as a changed conclusion."""
    bundle = _bundle(tasks=1)
    bundle.items.loc[0, "task"] = "lonely"
    message = [
        finding.text for finding in findings(analyse(bundle)) if finding.theme is Theme.CHOICES
    ]
    assert any(
        "With every task weighted equally no conclusion is possible" in text for text in message
    )
    assert not any("undefined" in text for text in message)


def test_undefined_values_have_a_reason() -> None:
    """The cases are one reader, a study without tasks, and a study without models."""
    items = pd.DataFrame({"item_id": list("ab"), "truth": "A"})
    readings = pd.DataFrame(
        {"rater_id": ["M", "M", "R", "R"], "item_id": list("abab"), "answer": list("AAAB")}
    )
    kinds = pd.DataFrame({"rater_id": ["M", "R"], "rater_kind": ["model", "reader"]})
    table = sensitivity_panel(bundle_from_tables(items, readings, kinds))
    random = table.loc[table["claim"] == "readers like these"]
    assert random["se"].isna().all()
    assert (random["undefined_because"] != "").all()
    macro = table.loc[table["analysis"] == "macro", "undefined_because"]
    assert (macro == "no item with a reference standard names its task").all()
    assert sensitivity_panel(bundle_from_tables(items, readings)).empty


@pytest.mark.parametrize("patients", [False, True])
def test_readings_flagged_by_all_readers_drop_their_items(
    patients: bool,
) -> None:
    """Values equal those of a study without these items, up to rounding."""
    bundle = _bundle(patients=patients)
    items, readings = bundle.items.drop(columns="n_options"), bundle.readings.copy()
    struck_ids = ["q03", "q17", "q18", "q19", "q50"]
    of_readers = readings["item_id"].isin(struck_ids) & (readings["rater_id"] != "M1")
    readings.loc[of_readers, "flags"] = "too_fast"
    flagged = bundle_from_tables(items, readings, bundle.raters)
    fewer = bundle_from_tables(
        items[~items["item_id"].isin(struck_ids)],
        bundle.readings[~bundle.readings["item_id"].isin(struck_ids)],
        bundle.raters,
    )
    table = sensitivity_panel(flagged)
    rows = table.loc[table["analysis"] == "flagged times dropped", SHARED].reset_index(drop=True)
    pd.testing.assert_frame_equal(rows, reader_panel(fewer)[SHARED], check_exact=False, rtol=1e-9)
    readings.loc[(readings["rater_id"] == "R2") & (readings["item_id"] == "q30"), "flags"] = "late"
    second = sensitivity_panel(bundle_from_tables(items, readings, bundle.raters))
    second = second.loc[second["analysis"] == "flagged times dropped"]
    assert second["n_items"].tolist() == rows["n_items"].tolist()
    assert (second["note"].str.contains("without the readings whose time is in doubt")).all()


@pytest.mark.parametrize("patients", [False, True])
def test_a_dropped_reading_does_not_affect_the_covariance_of_the_rest(patients: bool) -> None:
    """If deviations are summed, a dropped reading has no deviation from the reader's mean."""
    bundle = _bundle(patients=patients)
    readings = bundle.readings.copy()
    dropped = {"R1": ["q01", "q02", "q07", "q11", "q23"], "R2": ["q02", "q41"], "R3": ["q58"]}
    for reader, ids in dropped.items():
        flagged = (readings["rater_id"] == reader) & readings["item_id"].isin(ids)
        readings.loc[flagged, "flags"] = "too_fast"
    items = bundle.items.drop(columns="n_options")
    table = sensitivity_panel(bundle_from_tables(items, readings, bundle.raters))
    row = table[table["analysis"] == "flagged times dropped"].set_index("claim")
    wide = readings.merge(items, on="item_id")
    wide["right"] = (wide["answer"] == wide["truth"]).astype(float)
    right = wide.pivot(index="item_id", columns="rater_id", values="right")
    readers = [name for name in right.columns if name != "M1"]
    differences = pd.DataFrame({name: right["M1"] - right[name] for name in readers})
    for reader, ids in dropped.items():
        differences.loc[ids, reader] = np.nan
    deviations = ((differences - differences.mean()) / differences.count()).fillna(0)
    patient = (
        items.set_index("item_id")["patient_id"] if patients else differences.index.to_series()
    )
    sums = deviations.groupby(patient.loc[differences.index].to_numpy()).sum()
    covariance = sums.T @ sums * len(sums) / (len(sums) - 1)
    variance = np.trace(covariance) / len(readers)
    between = (covariance.to_numpy().sum() - np.trace(covariance)) / (
        len(readers) * (len(readers) - 1)
    )
    expected = (variance + (len(readers) - 1) * max(between, 0)) / len(readers)
    assert row.loc["these readers", "difference"] == pytest.approx(differences.mean().mean())
    assert row.loc["these readers", "se"] ** 2 == pytest.approx(expected, rel=1e-9)
