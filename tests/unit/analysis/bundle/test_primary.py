"""Runs and conditions of a model: answers in the tables, and separate results of the others."""

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, bundle_from_tables
from analysis.registry import STATISTICS, analyse
from analysis.report.findings.inputs import input_findings
from analysis.report.tables import report_tables
from analysis.statistics.accuracy.model_conditions import model_conditions
from analysis.statistics.accuracy.model_runs import model_runs
from analysis.statistics.study import Study

COMPUTE = {statistic.name: statistic.compute for statistic in STATISTICS}
IDS = [f"q{n}" for n in range(12)]
TRUTH = list("ABCDABCDABCD")
RUNS = {"1": "ABCDABCDAAAA", "2": "ABCDABCDABAA", "10": "ABCDABCDDDDD"}
STANDS = ("accuracy", "agreement_pairs", "comparisons", "reader_panel", "missing", "intra_reader")


def _rows(rater: str, answers: str, condition: str = "", run: str = "") -> list[dict[str, str]]:
    values = {"rater_id": rater, "condition": condition, "run": run}
    return [{"item_id": q, "answer": a, **values} for q, a in zip(IDS, answers, strict=True)]


def _bundle(rows: list[dict[str, str]], patients: list[str] | None = None) -> Bundle:
    items = pd.DataFrame({"item_id": IDS, "truth": TRUTH, "n_options": 4})
    if patients:
        items = items.assign(patient_id=patients)
    readers = _rows("R1", "ABCDABCDABCA", "unaided") + _rows("R2", "ABCDABCAAAAA", "unaided")
    raters = pd.DataFrame(
        {"rater_id": ["R1", "R2", "M"], "rater_kind": ["reader", "reader", "model"]}
    )
    return bundle_from_tables(items, pd.DataFrame(readers + rows), raters)


@pytest.mark.slow
@pytest.mark.parametrize("condition", ["", "image", "unaided"])
def test_further_runs_and_conditions_do_not_change_tables(condition: str) -> None:
    """The first run represents the model for any order of rows."""
    single_run = _bundle(_rows("M", RUNS["1"], condition))
    rows = [row for run, answers in RUNS.items() for row in _rows("M", answers, condition, run)]
    rows += _rows("M", "AAAAAAAAAAAA", "image-absent", "1")
    complete = _bundle(rows[::-1])
    assert len(complete.aside) == 36
    for name in STANDS:
        options = Options(bootstrap=50)
        first, second = (COMPUTE[name](Study(entry, options)) for entry in (single_run, complete))
        pd.testing.assert_frame_equal(first, second)


def test_an_item_missing_from_the_first_run_is_absent() -> None:
    """A later run does not replace it."""
    rows = _rows("M", RUNS["1"], run="1")[:-1] + _rows("M", RUNS["2"], run="2")
    table = COMPUTE["missing"](Study(_bundle(rows)))
    assert table.loc[table["rater_id"] == "M", ["n_answered", "n_absent"]].values.tolist() == [
        [11, 1]
    ]


def test_conditions_shared_with_readers_are_compared() -> None:
    """Only conditions without a reader are set aside, and the others keep their names."""
    rows = _rows("M", RUNS["1"], "image") + _rows("M", RUNS["2"], "image-absent")
    rows += _rows("R1", RUNS["2"], "image-absent")
    bundle = _bundle(rows)
    assert sorted(
        bundle.readings.loc[bundle.readings["rater_id"] == "M", "condition"].unique()
    ) == [
        "image-absent",
        "unaided",
    ]
    assert bundle.aside.empty


@pytest.mark.slow
def test_models_with_different_names_of_a_condition_are_compared() -> None:
    """One file has `image`, and the other an empty value."""
    items = pd.DataFrame({"item_id": IDS, "truth": TRUTH})
    rows = _rows("R", RUNS["1"], "unaided") + _rows("M", RUNS["1"], "image") + _rows("N", RUNS["2"])
    raters = pd.DataFrame({"rater_id": ["R", "M", "N"], "rater_kind": ["reader", "model", "model"]})
    pairs = COMPUTE["comparisons"](Study(bundle_from_tables(items, pd.DataFrame(rows), raters)))
    assert pairs[["rater_a", "rater_b"]].values.tolist() == [["M", "N"], ["R", "M"], ["R", "N"]]


@pytest.mark.slow
def test_the_report_has_tables_of_runs_and_conditions() -> None:
    """Each table has estimates."""
    rows = [row for run, answers in RUNS.items() for row in _rows("M", answers, "", run)]
    rows += _rows("M", "A" * 12, "image-absent", "1")
    result = analyse(_bundle(rows), Options(bootstrap=50))
    tables = {table.name: table for table in report_tables(result)}
    ((_, runs),) = tables["model-runs"].rows
    assert runs[:2] == ("3", "12")
    ((_, shown),) = tables["model-conditions"].rows
    assert shown[0] == "image-absent"


def test_agreement_and_variance_of_runs() -> None:
    """Pairs of runs that agree, and the variance within items, are computed by hand."""
    rows = [row for run, answers in RUNS.items() for row in _rows("M", answers, "", run)]
    table = model_runs(_bundle(rows)).set_index("measure")
    cells = np.array([list(answers) for answers in RUNS.values()])
    agree = np.mean([cells[a] == cells[b] for a, b in ((0, 1), (0, 2), (1, 2))], axis=0)
    right = (cells == np.array(TRUTH)).astype(float)
    assert table["estimate"].to_dict() == pytest.approx(
        {
            "raw_agreement": agree.mean(),
            "mean_accuracy": right.mean(),
            "run_variance": right.var(axis=0, ddof=1).mean() / 12,
        }
    )
    assert table.loc["raw_agreement", "se"] == pytest.approx(agree.std(ddof=1) / np.sqrt(12))
    assert set(table["n_runs"]) == {3}
    assert set(table["n_items"]) == {12}


def test_clusters_widen_intervals_of_runs() -> None:
    """Patients with two equal items each have half the information."""
    rows = [row for run, answers in RUNS.items() for row in _rows("M", answers, "", run)]
    single = model_runs(_bundle(rows)).set_index("measure")
    twos = model_runs(_bundle(rows, [f"p{n // 2}" for n in range(12)])).set_index("measure")
    assert twos.loc["raw_agreement", "se"] > single.loc["raw_agreement", "se"]
    assert twos.loc["raw_agreement", "method"] == "mean over items, t over patients"


def test_equal_runs_have_no_interval() -> None:
    """It is undefined with the reason, and not 0."""
    rows = _rows("M", RUNS["1"], "", "1") + _rows("M", RUNS["1"], "", "2")
    table = model_runs(_bundle(rows)).set_index("measure")
    assert table.loc["raw_agreement", "estimate"] == 1
    assert np.isnan(table.loc["raw_agreement", "se"])
    assert "every item has the same value" in table.loc["raw_agreement", "undefined_because"]


@pytest.mark.slow
@pytest.mark.parametrize("readers", [("aided",), ("aided", "image-absent", "wrong-image")])
def test_inputs_of_models_are_compared_in_studies_of_several_conditions(
    readers: tuple[str, ...],
) -> None:
    """Inputs are compared with the condition without aid.

    The primary analysis keeps all conditions.
    """
    rows = [row for name in readers for row in _rows("R1", RUNS["2"], name)]
    for name, answers in (
        ("aided", "D" * 12),
        ("unaided", RUNS["1"]),
        ("image-absent", "A" * 12),
        ("wrong-image", "B" * 12),
    ):
        rows += _rows("M", answers, name)
    bundle = _bundle(rows)
    assert bundle.aside.empty
    table = model_conditions(bundle)
    assert table[["condition_a", "condition_b", "n"]].values.tolist() == [
        ["unaided", "image-absent", 12],
        ["unaided", "wrong-image", 12],
    ]
    assert table["accuracy_a"].tolist() == pytest.approx([9 / 12, 9 / 12])
    assert table["accuracy_b"].tolist() == pytest.approx([3 / 12, 3 / 12])
    texts = [str(finding) for finding in input_findings(analyse(bundle, Options(bootstrap=50)))]
    assert [text.split(",")[0] for text in texts] == [
        f"Under \u2068{name}\u2069" for name in ("image-absent", "wrong-image")
    ]


def test_conditions_of_models_alone_are_not_compared_with_those_of_readers() -> None:
    """Without readers there is no readers' condition."""
    items = pd.DataFrame({"item_id": IDS, "truth": TRUTH})
    rows = _rows("M", RUNS["1"], "image") + _rows("M", RUNS["2"], "image-absent")
    raters = pd.DataFrame({"rater_id": ["M"], "rater_kind": ["model"]})
    assert model_conditions(bundle_from_tables(items, pd.DataFrame(rows), raters)).empty


def test_the_effect_of_a_condition_is_a_paired_difference() -> None:
    """It is computed over items with a reading under both, as for two raters."""
    rows = _rows("M", RUNS["1"]) + _rows("M", "A" * 12, "image-absent")[:8]
    (row,) = model_conditions(_bundle(rows)).to_dict("records")
    assert (row["condition_b"], row["n"], row["accuracy_a"], row["accuracy_b"]) == (
        "image-absent",
        8,
        1.0,
        0.25,
    )
    assert row["difference"] == 0.75
    assert row["ci_low"] < 0.75 < row["ci_high"]
