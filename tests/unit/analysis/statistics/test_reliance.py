"""Reliance on a model's answers equals a simple count over pairs of readings."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest

from analysis.bundle import bundle_from_tables
from analysis.options import Options
from analysis.statistics.reliance import reliance

N_ITEMS = 60
READERS = ("r1", "r2", "r3")
BOOTSTRAP = Options(bootstrap=50)


@pytest.fixture(scope="module")
def study_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return items and readings of three readers without and with a model's answer."""
    generator = np.random.default_rng(7)
    items = pd.DataFrame(
        {
            "item_id": [f"q{n:02}" for n in range(N_ITEMS)],
            "truth": generator.choice(list("ABCD"), N_ITEMS),
            "n_options": 4,
            "task": np.where(np.arange(N_ITEMS) % 2, "Location", "Presence"),
            "patient_id": [f"p{n // 2}" for n in range(N_ITEMS)],
        }
    )
    aid = generator.choice(list("ABCD"), N_ITEMS)
    shown = generator.random(N_ITEMS) < 0.8
    readings = [
        {
            "rater_id": reader,
            "item_id": item,
            "condition": condition,
            "answer": generator.choice(["A", "B", "C", "D", ""]),
            "aid_model": "M" if condition == "aided" else "",
            "aid_answer": aid[n] if condition == "aided" else "",
            "aid_planted": str(n % 3 == 0).replace("True", "1").replace("False", "0"),
            "aid_shown_ms": "16.7" if condition == "aided" and shown[n] else "",
        }
        for reader in READERS
        for n, item in enumerate(items["item_id"])
        for condition in ("unaided", "aided")
    ]
    return items, pd.DataFrame(readings)


def pairs_of(study_tables: tuple[pd.DataFrame, pd.DataFrame]) -> pd.DataFrame:
    """Return the pairs with a shown answer: before, after, aid, truth, planted, task."""
    items, readings = study_tables
    wide = readings.pivot_table(
        index=["rater_id", "item_id"], columns="condition", values="answer", aggfunc="first"
    ).reset_index()
    aids = readings[readings["aid_shown_ms"] != ""].drop_duplicates("item_id")
    pairs = wide.merge(items, on="item_id")
    return pairs.merge(aids[["item_id", "aid_answer", "aid_planted"]], on="item_id")


Row = dict[str, str]


def plain_counts(pairs: pd.DataFrame) -> dict[str, tuple[int, float]]:
    """Return n and estimate of each measure, counted over pairs."""
    rows = pairs.to_dict("records")

    def share(chosen: list[Row], value: Callable[[Row], float]) -> tuple[int, float]:
        values = [value(row) for row in chosen]
        return len(values), float(np.mean(values)) if values else np.nan

    def right(row: Row, column: str) -> bool:
        return row[column] == row["truth"]

    differed = [row for row in rows if row["unaided"] != row["aid_answer"]]
    wrong_aid = [row for row in rows if not right(row, "aid_answer")]
    misleadable = [row for row in wrong_aid if right(row, "unaided")]
    correctable = [row for row in rows if not right(row, "unaided") and right(row, "aid_answer")]
    accuracy = {
        column: share(rows, partial(right, column=column))
        for column in ("unaided", "aided", "aid_answer")
    }
    without_aid, with_aid, aid = (
        accuracy[column][1] for column in ("unaided", "aided", "aid_answer")
    )
    return {
        "aid_correct": accuracy["aid_answer"],
        "agreed_before": share(rows, lambda row: row["unaided"] == row["aid_answer"]),
        "switched": share(differed, lambda row: row["aided"] == row["aid_answer"]),
        "corrected": share(correctable, lambda row: right(row, "aided")),
        "misled": share(misleadable, lambda row: not right(row, "aided")),
        "resisted": share(misleadable, lambda row: right(row, "aided")),
        "changed_elsewhere": share(
            differed, lambda row: row["aided"] not in (row["aid_answer"], row["unaided"])
        ),
        "accuracy_without": accuracy["unaided"],
        "accuracy_with": accuracy["aided"],
        "accuracy_aid": accuracy["aid_answer"],
        "gain": (len(rows), with_aid - without_aid),
        "complementarity": (len(rows), with_aid - max(without_aid, aid)),
        "automation_bias": share(
            wrong_aid, lambda row: right(row, "unaided") - float(right(row, "aided"))
        ),
    }


@pytest.fixture(scope="module")
def reliance_table(study_tables: tuple[pd.DataFrame, pd.DataFrame]) -> pd.DataFrame:
    """Return the table of these readings."""
    return reliance(bundle_from_tables(*study_tables), BOOTSTRAP)


@pytest.fixture(scope="module")
def all_pairs(study_tables: tuple[pd.DataFrame, pd.DataFrame]) -> pd.DataFrame:
    """Return the pairs of these readings."""
    return pairs_of(study_tables)


@pytest.mark.parametrize("rater", [*READERS, "readers"])
@pytest.mark.parametrize("planted", ["all", "yes", "no"])
@pytest.mark.parametrize("task", ["", "Location"])
def test_every_measure_equals_a_simple_count(
    reliance_table: pd.DataFrame, all_pairs: pd.DataFrame, rater: str, planted: str, task: str
) -> None:
    table, pairs = reliance_table, all_pairs
    if rater != "readers":
        pairs = pairs[pairs["rater_id"] == rater]
    if planted != "all":
        pairs = pairs[pairs["aid_planted"] == {"yes": "1", "no": "0"}[planted]]
    if task:
        pairs = pairs[pairs["task"] == task]
    rows = table[
        (table["rater_id"] == rater)
        & (table["planted"] == planted)
        & (table["group"] == (task or "micro"))
    ].set_index("measure")
    expected = plain_counts(pairs)
    assert set(rows.index) == set(expected)
    for measure, (n, estimate) in expected.items():
        assert rows.loc[measure, "n"] == n
        assert rows.loc[measure, "estimate"] == pytest.approx(estimate, nan_ok=True, abs=1e-12)


def test_undefined_measures_have_a_reason_and_no_interval() -> None:
    items = pd.DataFrame({"item_id": list("wxyz"), "truth": "A", "n_options": 2})
    readings = pd.DataFrame(
        {
            "rater_id": "R1",
            "item_id": list("wxyz") * 2,
            "condition": ["unaided"] * 4 + ["aided"] * 4,
            "answer": "A",
            "aid_answer": [""] * 4 + ["A"] * 4,
        }
    )
    table = reliance(bundle_from_tables(items, readings), BOOTSTRAP).set_index("measure")
    misled = table.loc["misled"].iloc[0]
    assert (misled["n"], misled["undefined_because"] != "") == (0, True)
    assert misled[["estimate", "ci_low", "ci_high"]].isna().all()


def test_a_study_without_an_aid_has_no_row() -> None:
    items = pd.DataFrame({"item_id": ["w"], "truth": "A", "n_options": 2})
    readings = pd.DataFrame({"rater_id": ["R1"], "item_id": "w", "answer": "A"})
    assert reliance(bundle_from_tables(items, readings), BOOTSTRAP).empty


def test_readings_whose_model_answer_was_not_requested_form_no_pair(
    study_tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    table = reliance(bundle_from_tables(*study_tables), BOOTSTRAP)
    all_rows = table[(table["rater_id"] == "readers") & (table["group"] == "micro")]
    assert all_rows.iloc[0]["n"] == len(pairs_of(study_tables)) < N_ITEMS * len(READERS)


def test_pairs_need_both_readings_and_no_reference_standard(
    study_tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    """Agreement includes items without a truth; a missing reading leaves no pair."""
    items, readings = study_tables
    pairs = pairs_of(study_tables)
    without_truth = items.assign(truth=items["truth"].mask(items["item_id"] == "q00", ""))
    is_removed = (readings["item_id"] == "q01") & (readings["condition"] == "unaided")
    table = reliance(bundle_from_tables(without_truth, readings[~is_removed]), BOOTSTRAP)
    all_rows = table[(table["rater_id"] == "readers") & (table["group"] == "micro")]
    n = all_rows[all_rows["planted"] == "all"].set_index("measure")["n"]
    left = pairs[pairs["item_id"] != "q01"]
    assert n["agreed_before"] == len(left)
    assert n["aid_correct"] == (left["item_id"] != "q00").sum() < len(left)


def test_complementarity_refers_to_the_better_rater_of_each_resample() -> None:
    """The value is exactly 0 if readers never change and are right whenever the model is."""
    n = 40
    ids = [f"q{i:02}" for i in range(n)]
    before = np.where(np.arange(n) % 4 == 0, "B", "A")
    aid = np.where(np.arange(n) % 3 == 0, "B", before)
    readings = pd.DataFrame(
        {
            "rater_id": "R1",
            "item_id": ids * 2,
            "condition": ["unaided"] * n + ["aided"] * n,
            "answer": [*before, *before],
            "aid_model": [""] * n + ["M"] * n,
            "aid_answer": [""] * n + [*aid],
        }
    )
    items = pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 2})
    table = reliance(bundle_from_tables(items, readings), BOOTSTRAP).set_index("measure")
    row = table.loc["complementarity"].iloc[0]
    assert row[["estimate", "ci_low", "ci_high"]].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("stage", "aid"), [("", "first"), ("1", "first"), ("2", "after")])
def test_only_in_a_second_stage_the_aid_follows_the_readers_answer(stage: str, aid: str) -> None:
    items = pd.DataFrame({"item_id": list("wx"), "truth": "A", "n_options": 2})
    readings = pd.DataFrame(
        {
            "rater_id": "R1",
            "item_id": list("wxwx"),
            "condition": ["unaided"] * 2 + ["aided"] * 2,
            "answer": "A",
            "stage": [""] * 2 + [stage] * 2,
            "aid_model": [""] * 2 + ["M"] * 2,
            "aid_answer": [""] * 2 + ["A"] * 2,
        }
    )
    assert set(reliance(bundle_from_tables(items, readings), BOOTSTRAP)["aid"]) == {aid}
