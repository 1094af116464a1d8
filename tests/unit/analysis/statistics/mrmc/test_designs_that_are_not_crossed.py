"""Designs that are not fully crossed: items that are compared, and refused comparisons."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import (
    Bundle,
    Options,
    accuracy,
    analyse,
    bundle_from_tables,
    comparisons,
    leaderboard,
    missing,
    reader_conditions,
    reader_panel,
    sensitivity,
    sensitivity_panel,
    variance_components,
)
from analysis.statistics.accuracy.accuracy import NOT_GIVEN
from analysis.statistics.accuracy.leaderboard import UNRANKED
from analysis.statistics.comparison.pairs import NOT_BOTH

Answers = Mapping[tuple[str, str], str]


def study(truth: str, answers: Answers, **columns: object) -> Bundle:
    """Return a bundle from answers; a blank is a case never presented, a dot a declined one."""
    ids = [f"q{i:03d}" for i in range(len(truth))]
    rows = [
        {"rater_id": rater, "condition": condition, "item_id": item, "answer": answer.strip(".")}
        for (rater, condition), values in answers.items()
        for item, answer in zip(ids, values, strict=True)
        if answer != " "
    ]
    names = sorted({rater for rater, _ in answers})
    raters = pd.DataFrame(
        {"rater_id": names, "rater_kind": ["model" if n[0] == "M" else "reader" for n in names]}
    )
    items = pd.DataFrame({"item_id": ids, "truth": list(truth), "n_options": 2})
    return bundle_from_tables(items.assign(**columns), pd.DataFrame(rows), raters)


def study_with_stopped_reader(after: int = 8, of: int = 40) -> Bundle:
    """Return two complete readers, one who stopped, and a slightly worse model."""
    random = np.random.default_rng(5)
    answers = {
        (rater, ""): "".join(random.choice(list("AAAB"), of)) for rater in ("R1", "R2", "R3")
    }
    answers[("R3", "")] = answers[("R3", "")][:after] + " " * (of - after)
    answers[("M", "")] = "".join(random.choice(list("AAB"), of))
    return study("A" * of, answers)


def test_a_reader_who_stopped_early_leaves_the_panel_undefined() -> None:
    """The reason names the reader; otherwise the model would seem far better than the readers."""
    bundle = study_with_stopped_reader()
    panel = reader_panel(bundle, Options(margin=0.05))
    numbers = [
        "reader_mean",
        "model_value",
        "difference",
        "se",
        "df",
        "ci_low",
        "p",
        "p_noninferior",
    ]
    assert panel[numbers].isna().all(axis=None)
    assert set(panel["undefined_because"]) == {
        "8 of 40 items were given to all readers, fewer than 80 %: R3 was given 8"
    }
    parts = variance_components(bundle)
    assert parts["note"].str.contains("R3 was given 8").all()
    other = sensitivity_panel(bundle)
    is_absent = other["analysis"] == "absent as wrong"
    assert (other["difference"].notna() == is_absent).all()


def test_a_reader_who_stopped_early_is_evaluated_on_the_items_that_were_read() -> None:
    """The other items count as absent, and the reader has no rank."""
    bundle = study_with_stopped_reader()
    micro = accuracy(bundle).query("group == 'micro'").set_index("rater_id")
    assert micro["n"].to_dict() == {"R1": 40, "R2": 40, "R3": 8, "M": 40}
    assert missing(bundle).set_index("rater_id").loc["R3", "n_absent"] == 32
    pair = comparisons(bundle).query("rater_a == 'R3'").iloc[0]
    assert pair["n"] == 8
    assert pair["accuracy_a"] == micro.loc["R3", "accuracy"]
    board = leaderboard(bundle).query("group == 'micro'").set_index("rater_id")
    assert board.loc["R3", "accuracy"] == micro.loc["R3", "accuracy"]
    assert np.isnan(board.loc["R3", "rank"])
    assert board.loc["R3", "undefined_because"] == UNRANKED
    assert sorted(board["rank"].dropna()) == [1, 2, 3]


def test_a_model_has_no_advantage_from_omitting_items() -> None:
    """Replacing wrong answers by absent answers changes only the counts."""
    right, left_out = "AAAAAAABBB", "AAAAAAA   "
    first, other = (
        study("A" * 10, {("M", ""): answers, ("R1", ""): "AAAAABBBBB", ("R2", ""): "ABABABABAB"})
        for answers in (right, left_out)
    )
    for table in (reader_panel, comparisons):
        pd.testing.assert_frame_equal(table(first), table(other))
    assert accuracy(other).query("rater_id == 'M'")["n"].tolist()[0] == 10


def test_four_fifths_of_the_items_suffice_for_a_comparison() -> None:
    """Values equal those of a bundle with these items only, and a note states their number."""
    answers = {("M", ""): "AAAABBAAAB", ("R1", ""): "AABABBAB  ", ("R2", ""): "ABBABAABAB"}
    table = reader_panel(study("A" * 10, answers))
    assert table["n_items"].tolist() == [8, 8]
    assert table["note"].str.contains("over the 8 of 10 items that all readers were given").all()
    subset = reader_panel(study("A" * 8, {key: values[:8] for key, values in answers.items()}))
    same = ["reader_mean", "model_value", "difference", "se", "df", "ci_low", "ci_high", "p"]
    pd.testing.assert_frame_equal(table[same], subset[same])
    answers[("R1", "")] = "AABABBA   "
    assert reader_panel(study("A" * 10, answers))["difference"].isna().all()


def test_conditions_are_compared_only_with_shared_cases() -> None:
    """Condition `film` has the first half of the cases, `screen` and `screen 2` the second half."""
    answers = {
        ("R1", "film"): "ABAB    ",
        ("R2", "film"): "AABB    ",
        ("R1", "screen"): "    AAAB",
        ("R2", "screen"): "    ABAB",
        ("R1", "screen 2"): "    ABBB",
        ("R2", "screen 2"): "    AABA",
    }
    table = reader_conditions(study("A" * 8, answers)).set_index(["condition_a", "condition_b"])
    for other in ("screen", "screen 2"):
        rows = table.loc[("film", other)]
        assert rows["difference"].isna().all()
        assert set(rows["undefined_because"]) == {
            f"{other} was read on other items than film, none of 8 under both"
        }
    shared = table.loc[("screen", "screen 2")]
    assert shared["n_items"].tolist() == [4, 4]
    assert (shared["undefined_because"] == "").all()
    assert shared["note"].str.contains("over the 4 of 8 items that all readers").all()
    without_film = {key: values[4:] for key, values in answers.items() if key[1] != "film"}
    same = ["value_a", "value_b", "difference", "se", "df", "p"]
    pd.testing.assert_frame_equal(
        shared[same].reset_index(drop=True), reader_conditions(study("A" * 4, without_film))[same]
    )


def test_the_reason_states_that_readers_read_different_cases() -> None:
    """The conditions have common cases, but the readers do not."""
    halves = {"R1": "AB  ", "R2": "  AA"}
    answers = {(r, c): answers for r, answers in halves.items() for c in ("one", "two")}
    table = reader_conditions(study("A" * 4, answers))
    assert set(table["undefined_because"]) == {
        "0 of 4 items were given to all readers under both conditions, fewer than 80 %:"
        " not everybody read everything"
    }


def test_readers_without_shared_cases_are_not_compared() -> None:
    """Each of the two readers read a different half."""
    bundle = study("A" * 4, {("R1", ""): "AB  ", ("R2", ""): "  AA"})
    row = comparisons(bundle).iloc[0]
    assert (row["n"], row["undefined_because"]) == (0, NOT_BOTH)
    assert np.isnan(row["difference"])


def test_a_task_without_assigned_items_is_not_part_of_the_macro_average() -> None:
    """The accuracy in such a task is undefined."""
    bundle = study("AAAA", {("R1", ""): "AB  ", ("R2", ""): "AAAB"}, task=list("xxyy"))
    table = accuracy(bundle).query("rater_id == 'R1'").set_index("group")
    assert (table.loc["y", "n"], table.loc["y", "undefined_because"]) == (0, NOT_GIVEN)
    assert table.loc["macro", "accuracy"] == table.loc["x", "accuracy"] == 0.5


def test_a_rater_without_readings_is_in_the_participant_flow() -> None:
    """The rater was enrolled and has not read any item."""
    bundle = study("AA", {("R2", "aided"): "AB"})
    raters = pd.DataFrame({"rater_id": ["R1", "R2", "R3"], "rater_kind": "reader"})
    bundle = bundle_from_tables(bundle.items, bundle.readings, raters)
    table = missing(bundle)
    assert table["rater_id"].tolist() == ["R1", "R2", "R3"]
    assert table["condition"].tolist() == ["", "aided", ""]
    assert table["n_absent"].tolist() == [2, 0, 2]


def study_with_exclusions(exclusions: str) -> Bundle:
    """Return four items with an excluded second reading of R1, whose hidden repeat is correct."""
    items = pd.DataFrame({"item_id": list("abcd"), "truth": "A"})
    rows = [("R1", item, "A" if item != "b" else "B", 0) for item in "abcd"]
    rows += [("R1", "b", "A", 1), *(("M", item, "A", 0) for item in "abcd")]
    readings = pd.DataFrame(rows, columns=["rater_id", "item_id", "answer", "repeat"])
    readings["response_ms"] = 1000
    readings.loc[1, "excluded"] = "the telephone rang"
    raters = pd.DataFrame({"rater_id": ["M", "R1"], "rater_kind": ["model", "reader"]})
    bundle = bundle_from_tables(items, readings, raters)
    return replace(bundle, protocol={"locked": {"protocol": {"exclusions": exclusions}}})


def test_the_protocol_can_remove_excluded_readings_from_the_primary_analysis() -> None:
    """Excluded readings are neither wrong nor absent, and repeats do not replace them."""
    tables = analyse(study_with_exclusions("primary")).tables
    micro = tables["accuracy"].query("group == 'micro'").set_index("rater_id")
    assert micro.loc["R1", ["n", "n_correct", "n_missing"]].tolist() == [3, 3, 0]
    assert micro.loc["M", "n"] == 4
    assert tables["comparisons"]["n"].tolist() == [3]
    raw = tables["agreement_pairs"].query("measure == 'raw' and scope == 'all'")
    assert raw["n"].tolist() == [3]
    assert tables["missing"].set_index("rater_id").loc["R1", "n_absent"] == 0
    assert tables["times"].query("rater_id == 'R1' and by == 'overall'")["n"].tolist() == [3]
    other = tables["sensitivity"].query("rater_id == 'R1'").set_index("analysis")["n"]
    assert other["excluded readings counted"] == 4
    assert other["excluded readings dropped"] == other["missing as wrong"] == 3


def test_excluded_readings_count_by_default() -> None:
    """The protocol of this study does not mention excluded readings."""
    for protocol in ("sensitivity", ""):
        tables = analyse(study_with_exclusions(protocol)).tables
        assert tables["accuracy"].query("rater_id == 'R1'")["n"].tolist()[0] == 4
        assert "excluded readings counted" not in set(tables["sensitivity"]["analysis"])
        other = (
            sensitivity(study_with_exclusions(protocol))
            .query("rater_id == 'R1'")
            .set_index("analysis")
        )
        assert other.loc["excluded readings dropped", "n"] == 3


@pytest.mark.parametrize("answers", ["AAAB", "ABBB"])
def test_limits_of_intervals_are_within_the_possible_range(answers: str) -> None:
    """Two readers and four items have very wide intervals."""
    bundle = study("AAAA", {("R1", ""): "BBAB", ("R2", ""): "ABAA", ("M", ""): answers})
    tables = analyse(bundle).tables
    for name in ("reader_panel", "sensitivity_panel", "gee"):
        assert not (tables[name]["ci_low"] < -1).any()
        assert not (tables[name]["ci_high"] > 1).any()
    assert (tables["reader_panel"]["ci_high"] == 1).any() or answers == "ABBB"


@pytest.mark.parametrize("arms", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_sites_and_confidences_of_any_design_are_analysed(arms: bool, shared: bool) -> None:
    """The designs include arms with different readers, and blocks without common cases."""
    random = np.random.default_rng(2)
    n, readers = 36, [f"R{i}" for i in range(6)]
    rows = [
        {
            "rater_id": reader,
            "item_id": f"q{item:02}",
            "condition": condition,
            "answer": random.choice(["A", "B", "B" if item % 2 else "A", ""]),
            "confidence": str(random.integers(1, 6)),
            "aid_model": "M" if condition == "aided" else "",
            "aid_answer": "B" if condition == "aided" else "",
        }
        for place, reader in enumerate(readers)
        for condition in ("aided", "unaided")
        for item in range(n)
        if not arms or (place < 3) == (condition == "aided")
        if shared or item % 3 != place % 3
    ]
    readings = pd.DataFrame(rows)
    readings.loc[readings["answer"] == "", "confidence"] = ""
    items = pd.DataFrame({"item_id": sorted({row["item_id"] for row in rows}), "n_options": 2})
    items = items.assign(truth=list("AB") * (n // 2), bank=["x", "y", "y", "x"] * (n // 4))
    raters = pd.DataFrame({"rater_id": readers, "rater_kind": "reader", "site": [*"abcabc"]})
    raters = raters.assign(arm=[*"sssttt"] if arms else "", level=[*"jkjkjk"])
    results = analyse(bundle_from_tables(items, readings, raters), Options(bootstrap=5, margin=0.1))
    sites = results.tables["heterogeneity"].query("factor == 'site'")
    defined = shared and not arms  # each site has one reader per arm
    assert ((sites["undefined_because"] == "") == defined).all()
    assert sites["n_items"].tolist() == [n if shared else 0] * 2
    assert ("uncrossed" in results.tables) == (arms or not shared)
    assert {"reader_groups", "roc_areas"} <= results.tables.keys()
