"""sensitivity.csv and item_difficulty.csv: alternative accuracies, and counts by item."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import (
    Bundle,
    accuracy,
    bundle_from_tables,
    item_difficulty,
    model_disagreements,
    sensitivity,
    write_tables,
)
from analysis.readings.circumstances import FLAGS_NOT_ABOUT_TIME
from analysis.statistics.accuracy.items import (
    EVERYBODY_CORRECT,
    EVERYBODY_MISSED,
    MODEL_DISAGREEMENTS,
    MODEL_RIGHT,
    MODEL_WRONG,
    MODELS_MISSED,
    READERS_MISSED,
)
from analysis.statistics.accuracy.means import wilson_interval
from tests.conftest import ROOT
from tests.unit.analysis.conftest import MakeBundle

ANALYSES = [
    "missing as wrong",
    "missing dropped",
    "missing as right",
    "absent as wrong",
    "flagged times dropped",
]


def _flagged() -> Bundle:
    """Return six items: two correct (one flagged), one wrong and flagged, two declined."""
    items = pd.DataFrame({"item_id": list("abcdefg"), "truth": ["A"] * 6 + [""]})
    readings = pd.DataFrame(
        {
            "rater_id": "R",
            "item_id": list("abcdeg"),
            "answer": ["A", "A", "B", "A", "", "A"],
            "status": ["answered"] * 3 + ["timed_out", "skipped", "answered"],
            "flags": ["", "too_fast", "late page_zoomed", "", "", "late"],
        }
    )
    return bundle_from_tables(items, readings)


def test_the_five_analyses_count_the_stated_readings() -> None:
    """Values are computed by hand; items without a reference standard never count."""
    table = sensitivity(_flagged())
    assert table["analysis"].tolist() == ANALYSES
    expected = [(2, 5), (2, 3), (4, 5), (2, 6), (1, 3)]
    assert table["n"].tolist() == [n for _, n in expected]
    assert table["accuracy"].tolist() == pytest.approx([k / n for k, n in expected], abs=1e-12)
    counts, totals = np.array(expected, dtype=float).T
    low, high = wilson_interval(counts, totals, 0.05)
    assert table["ci_low"].tolist() == pytest.approx(low.tolist(), abs=1e-12)
    assert table["ci_high"].tolist() == pytest.approx(high.tolist(), abs=1e-12)


def test_the_primary_analysis_is_the_micro_accuracy(make_bundle: MakeBundle) -> None:
    """Raters are in the order of the accuracy table."""
    bundle = make_bundle("AABB", {"b": "AA.B", "a": "BABA", "m": "...."}, models=("m",))
    primary = sensitivity(bundle).query("analysis == 'missing as wrong'").reset_index(drop=True)
    micro = accuracy(bundle).query("group == 'micro'").reset_index(drop=True)
    same = ["rater_id", "n", "accuracy", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(primary[same], micro[same])


def test_an_analysis_without_readings_is_empty() -> None:
    """Without any reading, the accuracy is undefined and not 0."""
    items = pd.DataFrame({"item_id": ["a"], "truth": ["A"]})
    reading = {"rater_id": ["R"], "item_id": ["a"], "answer": [""], "flags": ["late"]}
    table = sensitivity(bundle_from_tables(items, pd.DataFrame(reading))).set_index("analysis")
    assert table.loc[["missing dropped", "flagged times dropped"], "n"].tolist() == [0, 0]
    assert table.loc[["missing dropped", "flagged times dropped"], "accuracy"].isna().all()


def test_only_flags_of_the_first_reading_count() -> None:
    """Likewise only the answer of the first reading counts."""
    items = pd.DataFrame({"item_id": ["a"], "truth": ["A"]})
    readings = pd.DataFrame(
        {
            "rater_id": "R",
            "item_id": "a",
            "answer": "A",
            "repeat": [2, 1],
            "flags": ["late", ""],
        }
    )
    table = sensitivity(bundle_from_tables(items, readings)).set_index("analysis")
    assert table.loc["flagged times dropped", "n"] == 1


def test_raters_with_a_wrong_answer_are_counted_by_kind_with_a_note(
    make_bundle: MakeBundle,
) -> None:
    """Readers are R and S, models M and N; notes are not repeated."""
    bundle = make_bundle(
        "AAAAA.",
        {"R": "ABBABA", "S": "ABABBA", "M": "ABBAAA", "N": "ABBBBA"},
        models=("M", "N"),
        examination_id=["e1", "e1", "e2", "e2", "e3", "e3"],
    )
    table = item_difficulty(bundle).set_index("item_id")
    assert list(table.index) == ["q000", "q001", "q002", "q003", "q004"]
    assert table["n_readers"].tolist() == table["n_models"].tolist() == [2] * 5
    assert table["n_readers_correct"].tolist() == [2, 0, 1, 1, 0]
    assert table["n_models_correct"].tolist() == [2, 0, 0, 1, 1]
    assert table["note"].tolist() == [
        EVERYBODY_CORRECT,
        EVERYBODY_MISSED,
        MODELS_MISSED,
        "",
        READERS_MISSED,
    ]
    assert table["examination_id"].tolist() == ["e1", "e1", "e2", "e2", "e3"]


def test_items_that_were_not_read_are_not_counted_as_missed() -> None:
    """Declined items count as missed; items not yet read do not count."""
    items = pd.DataFrame({"item_id": ["a", "b", "c"], "truth": "A"})
    readings = pd.DataFrame({"rater_id": ["R", "R"], "item_id": ["a", "b"], "answer": ["", "A"]})
    table = item_difficulty(bundle_from_tables(items, readings))
    assert table["n_readers"].tolist() == [1, 1, 0]
    assert table["note"].tolist() == [EVERYBODY_MISSED, EVERYBODY_CORRECT, ""]


def test_items_are_counted_over_raters_who_received_them() -> None:
    """Items after a reader stopped do not count; items that a model omitted do."""
    items = pd.DataFrame({"item_id": list("abc"), "truth": "A"})
    answers = {"R": "AAB", "S": "A", "M": "AA"}
    readings = pd.DataFrame(
        [
            {"rater_id": reader_id, "item_id": item, "answer": letter}
            for reader_id, letters in answers.items()
            for item, letter in zip("abc", letters, strict=False)
        ]
    )
    kinds = {"R": "reader", "S": "reader", "M": "model"}
    raters = pd.DataFrame({"rater_id": list(kinds), "rater_kind": list(kinds.values())})
    table = item_difficulty(bundle_from_tables(items, readings, raters))
    assert table["n_readers"].tolist() == [2, 1, 1]
    assert table["readers_share"].tolist() == [1, 1, 0]
    assert table["few_readers"].tolist() == ["", "1 of 2 readers", "1 of 2 readers"]
    assert table["n_models"].tolist() == [1, 1, 1]
    assert table["note"].tolist() == [EVERYBODY_CORRECT, EVERYBODY_CORRECT, EVERYBODY_MISSED]


def test_items_that_no_reader_read_are_not_missed_by_all() -> None:
    """Even if no model answered these items, they are not listed as missed."""
    items = pd.DataFrame({"item_id": ["a", "b"], "truth": "A"})
    readings = pd.DataFrame({"rater_id": ["R", "M"], "item_id": "a", "answer": "A"})
    raters = pd.DataFrame({"rater_id": ["R", "M"], "rater_kind": ["reader", "model"]})
    table = item_difficulty(bundle_from_tables(items, readings, raters))
    assert table["note"].tolist() == [EVERYBODY_CORRECT, ""]


def test_a_model_without_conditions_is_compared_with_readers_under_each_condition(
    make_bundle: MakeBundle,
) -> None:
    """Items are listed separately for each condition."""
    answers = {("R", "aided"): "A", ("R", "unaided"): "B", ("M", ""): "A"}
    table = item_difficulty(make_bundle("A", answers, models=("M",)))
    assert table[["condition", "n_readers_correct", "n_models_correct"]].values.tolist() == [
        ["aided", 1, 1],
        ["unaided", 0, 1],
    ]


def test_items_where_a_model_and_all_readers_differ_are_listed(
    make_bundle: MakeBundle, tmp_path: Path
) -> None:
    """The list is written as CSV, and as JSON with the answers of all readers of the item."""
    bundle = make_bundle(
        "AAAAA",
        {"R": "AABB.", "S": "AAB.A", "M": "AB.AB", "N": "BAAA."},
        models=("M", "N"),
    )
    table = model_disagreements(bundle)
    rows = table[["model_id", "item_id", "kind", "model_answer", "n_readers", "readers_answers"]]
    expected = [
        ("M", "q001", MODEL_WRONG, "B", 2, "R: A; S: A"),
        ("M", "q003", MODEL_RIGHT, "A", 2, "R: B; S:"),
        ("N", "q000", MODEL_WRONG, "B", 2, "R: A; S: A"),
        ("N", "q002", MODEL_RIGHT, "A", 2, "R: B; S: B"),
        ("N", "q003", MODEL_RIGHT, "A", 2, "R: B; S:"),
    ]
    assert [tuple(row) for row in rows.values] == expected
    write_tables(bundle, tmp_path)
    lines = (tmp_path / "tables" / "model_disagreements.jsonl").read_text("utf-8").splitlines()
    text = [json.loads(line) for line in lines]
    assert [(entry["model_id"], entry["item_id"]) for entry in text] == [
        (model, item) for model, item, *_ in expected
    ]
    assert text[0]["answers"] == {"R": "A", "S": "A", "M": "B", "N": "A"}


def test_without_readers_or_models_the_list_is_empty(make_bundle: MakeBundle) -> None:
    """The table has all columns and no rows."""
    for models in ((), ("R", "S")):
        table = model_disagreements(make_bundle("AB", {"R": "AA", "S": "BB"}, models=models))
        assert not len(table)
        assert list(table.columns) == MODEL_DISAGREEMENTS.header


def test_flags_of_slow_graphics_do_not_exclude_times() -> None:
    """Otherwise no times would remain if a hospital uses remote desktops."""
    items = pd.DataFrame({"item_id": list("abc"), "truth": list("AAA")})
    readings = {
        "rater_id": "R",
        "item_id": list("abc"),
        "answer": list("AAB"),
        "flags": ["software_rendering", "software_rendering asleep", "page_zoom comment_cut"],
    }
    table = sensitivity(bundle_from_tables(items, pd.DataFrame(readings)))
    row = table.set_index("analysis").loc["flagged times dropped"]
    assert (row["n"], row["accuracy"]) == (2, 0.5)


def test_flags_that_do_not_concern_times_are_documented() -> None:
    """Each documented flag exists as a flag of the page or the server."""
    text = (ROOT / "docs" / "reading-page.md").read_text("utf-8")
    (message,) = re.findall(r"do not affect the time: ([^.]*)\.", text)
    assert set(re.findall(r"`(\w+)`", message)) == FLAGS_NOT_ABOUT_TIME
    matches = {
        flag
        for row in re.findall(r"^\| (`.*?) \|", text, re.M)
        for flag in re.findall(r"`(\w+)`", row)
    }
    assert matches >= FLAGS_NOT_ABOUT_TIME
