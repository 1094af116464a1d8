"""Runs and conditions of a model: the first run is used in the tables, the others separately."""

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

COMPUTE_BY_NAME = {statistic.name: statistic.compute for statistic in STATISTICS}
ITEM_IDS = [f"q{n}" for n in range(12)]
TRUTH = list("ABCDABCDABCD")
RUNS = {"1": "ABCDABCDAAAA", "2": "ABCDABCDABAA", "10": "ABCDABCDDDDD"}
UNCHANGED_TABLES = (
    "accuracy",
    "agreement_pairs",
    "comparisons",
    "reader_panel",
    "missing",
    "intra_reader",
)


def _rows(rater: str, answers: str, condition: str = "", run: str = "") -> list[dict[str, str]]:
    values = {"rater_id": rater, "condition": condition, "run": run}
    return [{"item_id": q, "answer": a, **values} for q, a in zip(ITEM_IDS, answers, strict=True)]


def _bundle(rows: list[dict[str, str]], patients: list[str] | None = None) -> Bundle:
    items = pd.DataFrame({"item_id": ITEM_IDS, "truth": TRUTH, "n_options": 4})
    if patients:
        items = items.assign(patient_id=patients)
    readers = _rows("R1", "ABCDABCDABCA", "unaided") + _rows("R2", "ABCDABCAAAAA", "unaided")
    raters = pd.DataFrame(
        {"rater_id": ["R1", "R2", "M"], "rater_kind": ["reader", "reader", "model"]}
    )
    return bundle_from_tables(items, pd.DataFrame(readers + rows), raters)


@pytest.mark.parametrize("condition", ["", "image", "unaided"])
def test_further_runs_and_conditions_of_a_model_do_not_change_tables(condition: str) -> None:
    """The first run is used in the tables, regardless of the order of rows."""
    single_run = _bundle(_rows("M", RUNS["1"], condition))
    rows = [row for run, answers in RUNS.items() for row in _rows("M", answers, condition, run)]
    rows += _rows("M", "AAAAAAAAAAAA", "image-absent", "1")
    complete = _bundle(rows[::-1])
    assert len(complete.aside) == 36
    for name in UNCHANGED_TABLES:
        options = Options(bootstrap=50)
        first, second = (
            COMPUTE_BY_NAME[name](Study(entry, options)) for entry in (single_run, complete)
        )
        pd.testing.assert_frame_equal(first, second)


def test_an_item_missing_from_the_first_run_is_absent() -> None:
    """The answer in a later run does not replace the missing answer."""
    rows = _rows("M", RUNS["1"], run="1")[:-1] + _rows("M", RUNS["2"], run="2")
    table = COMPUTE_BY_NAME["missing"](Study(_bundle(rows)))
    assert table.loc[table["rater_id"] == "M", ["n_answered", "n_absent"]].values.tolist() == [
        [11, 1]
    ]


def test_conditions_shared_with_readers_are_compared() -> None:
    """Only conditions without a reader are excluded; the others keep their names."""
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


def test_models_are_compared_if_one_names_its_condition_and_the_other_does_not() -> None:
    """One file has the condition `image`, and the other an empty value."""
    items = pd.DataFrame({"item_id": ITEM_IDS, "truth": TRUTH})
    rows = _rows("R", RUNS["1"], "unaided") + _rows("M", RUNS["1"], "image") + _rows("N", RUNS["2"])
    raters = pd.DataFrame({"rater_id": ["R", "M", "N"], "rater_kind": ["reader", "model", "model"]})
    pairs = COMPUTE_BY_NAME["comparisons"](
        Study(bundle_from_tables(items, pd.DataFrame(rows), raters))
    )
    assert pairs[["rater_a", "rater_b"]].values.tolist() == [["M", "N"], ["R", "M"], ["R", "N"]]


def test_the_report_has_tables_of_runs_and_conditions() -> None:
    """Both tables have estimates."""
    rows = [row for run, answers in RUNS.items() for row in _rows("M", answers, "", run)]
    rows += _rows("M", "A" * 12, "image-absent", "1")
    result = analyse(_bundle(rows), Options(bootstrap=50))
    tables = {table.name: table for table in report_tables(result)}
    ((_, runs),) = tables["model-runs"].rows
    assert runs[:2] == ("3", "12")
    ((_, shown),) = tables["model-conditions"].rows
    assert shown[0] == "image-absent"


def test_agreement_and_variance_of_runs_equal_values_by_hand() -> None:
    """The share of agreeing pairs of runs and the variance within items are checked."""
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
    """If each patient has two equal items, they contain the information of one item."""
    rows = [row for run, answers in RUNS.items() for row in _rows("M", answers, "", run)]
    single = model_runs(_bundle(rows)).set_index("measure")
    twos = model_runs(_bundle(rows, [f"p{n // 2}" for n in range(12)])).set_index("measure")
    assert twos.loc["raw_agreement", "se"] > single.loc["raw_agreement", "se"]
    assert twos.loc["raw_agreement", "method"] == "mean over items, t over patients"


def test_equal_runs_have_no_interval() -> None:
    """The interval is undefined and has a reason; its width is not 0."""
    rows = _rows("M", RUNS["1"], "", "1") + _rows("M", RUNS["1"], "", "2")
    table = model_runs(_bundle(rows)).set_index("measure")
    assert table.loc["raw_agreement", "estimate"] == 1
    assert np.isnan(table.loc["raw_agreement", "se"])
    assert "every item has the same value" in table.loc["raw_agreement", "undefined_because"]


@pytest.mark.parametrize("readers", [("aided",), ("aided", "image-absent", "wrong-image")])
def test_inputs_of_models_are_compared_if_readers_have_several_conditions(
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


def test_conditions_are_not_compared_with_those_of_readers_if_there_are_no_readers() -> None:
    """A study of models only has no readers' condition."""
    items = pd.DataFrame({"item_id": ITEM_IDS, "truth": TRUTH})
    rows = _rows("M", RUNS["1"], "image") + _rows("M", RUNS["2"], "image-absent")
    raters = pd.DataFrame({"rater_id": ["M"], "rater_kind": ["model"]})
    assert model_conditions(bundle_from_tables(items, pd.DataFrame(rows), raters)).empty


def test_the_effect_of_a_condition_is_a_paired_difference() -> None:
    """The difference is computed over items with a reading under both conditions."""
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
