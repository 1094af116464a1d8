"""Invariances of all tables, for random bundles."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import Options, agreement_pairs, analyse, bundle_from_tables, comparisons
from tests.conftest import number_of_examples

OPTIONS = Options(bootstrap=20)
LETTERS = "ABCD"
# Measures that use the options of an item, but not the order of its letters.
UNBOUND = ["raw", "brennan_prediger", "error_consistency", "same_wrong"]
RATERS = ["rater_id", "rater_a", "rater_b", "model_id", "contrast"]
LETTERED = ["truth", "model_answer", "readers_answers"]
# Columns that depend on all raters, or on all pairs of a family.
OF_ALL = {"rank", "rank_low", "rank_high", "p_adjusted"}
ESTIMATE = {
    "accuracy": "accuracy",
    "agreement_pairs": "estimate",
    "agreement_groups": "estimate",
    "agreement_between": "difference",
    "agreement_with_truth": "estimate",
    "intra_reader": "estimate",
    "comparisons": "difference",
    "model_pairs": "difference",
    "option_positions": "difference",
    "reader_panel": "p",
    "reader_conditions": "p",
    "sensitivity_panel": "p",
    "gee": "p",
    "time_model": "estimate",
    "times": "median_ms",
    "leaderboard": "rank_low",
}
WORDS = {"note", "method", "undefined_because"}

Study = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]
Tables = Mapping[str, pd.DataFrame]


@st.composite
def studies(draw: st.DrawFn, fewest_readers: int = 1) -> Study:
    """Return up to three readers and two models with gaps, flags, times, repeats and clusters."""
    n = draw(st.integers(1, 7))
    ids = [f"q{i}" for i in range(n)]
    columns = {
        "truth": [*LETTERS, ""],
        "n_options": [4, 5, 9],
        "task": ["x", "y", ""],
        "option_set": ["o", "p"],
        "patient_id": draw(st.sampled_from([[""], ["p", "q", "r"]])),
    }
    items = pd.DataFrame({"item_id": ids}).assign(
        **{
            name: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
            for name, values in columns.items()
        }
    )
    readers = [f"R{i}" for i in range(draw(st.integers(fewest_readers, 3)))]
    models = [f"M{i}" for i in range(draw(st.integers(0, 2)))]
    conditions = draw(st.sampled_from([[""], ["aided", "unaided"]]))
    reading = st.tuples(
        st.sampled_from([*LETTERS, ""]),
        st.sampled_from(["", "0", "1000", "2750.5"]),
        st.sampled_from(["", "", "late zoomed"]),
        st.sampled_from(["", "", "left the room"]),
    )
    keys = [
        (rater, condition, item, place, repeat)
        for rater in (*readers, *models)
        for condition in (conditions if rater in readers else [""])
        for place, item in enumerate(ids)
        for repeat in ([1, 2] if place == 0 else [1])
    ]
    rows_drawn = draw(st.lists(reading, min_size=len(keys), max_size=len(keys)))
    names = ["rater_id", "condition", "item_id", "position", "repeat"]
    names += ["answer", "response_ms", "flags", "excluded"]
    readings = pd.DataFrame(
        [(*k, *m) for k, m in zip(keys, rows_drawn, strict=True)], columns=names
    )
    kinds = ["reader"] * len(readers) + ["model"] * len(models)
    return items, readings, pd.DataFrame({"rater_id": readers + models, "rater_kind": kinds})


def _tables(study: Study) -> Tables:
    return analyse(bundle_from_tables(*study), OPTIONS).tables


def _assert_equal(before: pd.DataFrame, after: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        before.reset_index(drop=True),
        after.reset_index(drop=True),
        check_exact=True,
        check_dtype=False,
    )


@pytest.mark.thorough
@settings(max_examples=number_of_examples(5))
@given(studies(), st.integers(0, 2**31), st.data())
def test_invariances_of_all_tables(study: Study, seed: int, data: st.DataObject) -> None:
    """Reordered, renamed and relabelled copies, and a copy without one rater, are compared."""
    before = _tables(study)
    _check_reasons_and_bounds(before)
    _check_removed_rater(study, before, data)
    _check_reordered_and_renamed(study, before, seed)
    _check_relabelled_options(study, before, data)


def _check_reordered_and_renamed(study: Study, before: Tables, seed: int) -> None:
    """Check that other names and orders of rows leave all other cells identical to the last bit."""
    items, readings, raters = (table.sample(frac=1, random_state=seed) for table in study)
    renamed = (items, *(t.assign(rater_id="the " + t["rater_id"]) for t in (readings, raters)))
    after = _tables(renamed)
    for name, table in before.items():
        names = {
            column: [f"the {cell}" if cell else "" for cell in table[column]]
            for column in RATERS
            if column in table
        }
        if name == "model_disagreements":
            answers = table["readers_answers"].str.split("; ")
            names["readers_answers"] = [
                "; ".join(f"the {entry}" for entry in row) for row in answers
            ]
        _assert_equal(table.assign(**names), after[name])


def _check_relabelled_options(study: Study, before: Tables, data: st.DataObject) -> None:
    """Check that measures of correctness and agreement do not depend on letters."""
    items, readings, raters = (table.copy() for table in study)
    maps = {
        item: {"": "", **dict(zip(LETTERS, data.draw(st.permutations(LETTERS)), strict=True))}
        for item in items["item_id"]
    }
    items["truth"] = [maps[i][t] for i, t in zip(items["item_id"], items["truth"], strict=True)]
    readings["answer"] = [
        maps[i][a] for i, a in zip(readings["item_id"], readings["answer"], strict=True)
    ]
    after = _tables((items, readings, raters))
    for name, table in before.items():
        if name == "option_positions":
            continue
        if "measure" not in table:
            first, other = (t.drop(columns=LETTERED, errors="ignore") for t in (table, after[name]))
            _assert_equal(first, other)
            continue
        columns = [c for c in ("measure", "n", "estimate", "difference") if c in table]
        first, other = (t.loc[t["measure"].isin(UNBOUND), columns] for t in (table, after[name]))
        pd.testing.assert_frame_equal(
            first.reset_index(drop=True), other.reset_index(drop=True), rtol=1e-12, atol=1e-12
        )


def _check_removed_rater(study: Study, after: Tables, data: st.DataObject) -> None:
    """Check that removing a rater changes only panels and groups of readers."""
    items, readings, raters = study
    removed_id = data.draw(st.sampled_from(raters["rater_id"].tolist()[1:] or [""]))
    fewer = [table.loc[table["rater_id"] != removed_id] for table in (readings, raters)]
    before = _tables((items, *fewer))
    _check_reasons_and_bounds(before)
    own = ["accuracy", "agreement_pairs", "comparisons", "times", "missing", "sensitivity"]
    own += ["agreement_indices", "agreement_with_truth", "intra_reader", "leaderboard"]
    own += ["model_pairs", "option_positions"]
    if removed_id.startswith("M"):
        own += ["reader_panel", "reader_conditions", "sensitivity_panel", "gee", "time_model"]
        own += ["variance_components", "agreement_groups"]
    for name in own:
        first, other = (_without(tables[name], removed_id) for tables in (before, after))
        columns = [column for column in first if column not in OF_ALL]
        keys = [c for c in ("condition", "by", "group", "rater_id") if name == "leaderboard"]
        if keys:
            first, other = first.sort_values(keys), other.sort_values(keys)
        _assert_equal(first[columns], other[columns])


def _without(table: pd.DataFrame, removed_id: str) -> pd.DataFrame:
    for column in set(RATERS) & set(table):
        table = table.loc[table[column] != removed_id]
    if "analysis" in table:  # true if a reading of any rater is excluded
        table = table.loc[table["analysis"] != "excluded readings dropped"]
    return table.loc[table["raters"] == "readers"] if "raters" in table else table


def _check_reasons_and_bounds(tables: Tables) -> None:
    """Check that empty cells have a reason, and that other cells are within their bounds."""
    _check_reasons_of_agreement(tables)
    _check_gaps_and_limits(tables)


def _check_reasons_of_agreement(tables: Tables) -> None:
    """Check that a reason names the empty cells: standard error, interval, both, or all."""
    names = ["agreement_pairs", "agreement_groups", "agreement_between", "agreement_with_truth"]
    for name in (*names, "intra_reader"):
        table = tables[name]
        reason, no_interval = table["undefined_because"], table["ci_low"].isna()
        assert (no_interval == table["ci_high"].isna()).all()
        both = reason.str.startswith("standard error and interval: ").astype(bool)
        interval = reason.str.startswith("interval: ").astype(bool)
        plain = (reason != "") & ~both & ~interval
        estimate = "difference" if name == "agreement_between" else "estimate"
        assert (plain == table[estimate].isna()).all()
        assert ((both | plain | interval) == no_interval).all()
        if "se" in table:
            assert ((both | plain) == table["se"].isna()).all()
            assert not (table["ci_high"] > 1).any()
        assert not (table["ci_low"] > table["ci_high"]).any()


def _check_gaps_and_limits(tables: Tables) -> None:
    """Check that no row is repeated, no gap lacks a reason, and limits are in order."""
    for name, column in ESTIMATE.items():
        table = tables[name]
        assert (table.loc[table[column].isna(), "undefined_because"] != "").all(), name
    for table in tables.values():
        assert not table.map(lambda cell: isinstance(cell, np.ndarray)).any(axis=None)
        keys = [c for c in table if pd.api.types.is_string_dtype(table[c]) and c not in WORDS]
        keys += [c for c in table if c == "place"]
        assert not table.duplicated(keys).any()
        if "ci_low" in table:
            assert not (table["ci_low"] > table["ci_high"]).any()
    timed, model, board = (tables[name] for name in ("times", "time_model", "leaderboard"))
    assert ((timed["n"] == 0) == timed["median_ms"].isna()).all()
    assert (timed["geometric_mean_ms"].isna() == (timed["undefined_because"] != "")).all()
    assert not (timed["q1_ms"] > timed["median_ms"]).any()
    assert (timed["n_flagged"] <= timed["n"]).all()
    assert (model["estimate"].isna() == (model["undefined_because"] != "")).all()
    assert not (model["ci_low"] > model["ratio"]).any()
    assert (board["rank_low"].isna() == (board["undefined_because"] != "")).all()
    assert not (board["rank_low"] > board["rank_high"]).any()
    assert not (tables["accuracy"]["ci_high"] > 1).any()
    counts, items = tables["missing"], tables["item_difficulty"]
    assert (counts.iloc[:, 3:].sum(axis=1) == counts["n_assigned"]).all()
    assert (items["n_readers_correct"] <= items["n_readers"]).all()


@settings(max_examples=number_of_examples(5))
@given(studies())
def test_adjusted_p_values_are_not_smaller_and_have_the_same_order(study: Study) -> None:
    """The adjustment covers the readers and models of a condition."""
    table = comparisons(bundle_from_tables(*study), OPTIONS)
    column = "p_mid" if (table["clustered_method"] == "").all() else "p_clustered"
    for _, members in table.loc[table["family"] != ""].groupby("family"):
        p, adjusted = members[column], members["p_adjusted"]
        assert (p.isna() == adjusted.isna()).all()
        assert (adjusted >= p).sum() == p.notna().sum()
        assert adjusted.loc[p.dropna().sort_values().index].is_monotonic_increasing


@pytest.mark.thorough
@settings(max_examples=number_of_examples(5))
@given(studies(fewest_readers=2))
def test_exchanging_two_readers_reverses_their_difference(study: Study) -> None:
    """The limits are exchanged; p and agreement are the same."""
    items, readings, _ = study
    readings = readings.loc[readings["rater_id"].isin(["R0", "R1"])]
    swapped = readings.replace({"rater_id": {"R0": "R1", "R1": "R0"}})
    before, after = (bundle_from_tables(items, subset) for subset in (readings, swapped))
    there, back = (
        agreement_pairs(b, OPTIONS).drop(columns="undefined_because") for b in (before, after)
    )
    pd.testing.assert_frame_equal(there, back, rtol=1e-12, atol=1e-12)
    first, other = (comparisons(bundle, OPTIONS) for bundle in (before, after))
    for column, mirrored in (
        ("difference", "difference"),
        ("ci_low", "ci_high"),
        ("cluster_ci_low", "cluster_ci_high"),
    ):
        mirrored_result = (-other[mirrored]).tolist()
        assert first[column].tolist() == pytest.approx(mirrored_result, abs=1e-12, nan_ok=True)
    for column in ("p_exact", "p_mid", "p_clustered", "n"):
        pd.testing.assert_series_equal(first[column], other[column])
    assert first["only_a_correct"].tolist() == other["only_b_correct"].tolist()
