"""Comparisons of groups of readers, their conditions, and reasons for undefined values."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.statistics.mrmc.group_tasks import reader_groups_tasks
from analysis.statistics.mrmc.groups import reader_groups, reader_groups_gain

NAME_COLUMNS = ["factor", "group_a", "group_b", "condition", "metric", "by", "group"]


def study(readers: dict[str, tuple[str, str]], **columns: list[str]) -> Bundle:
    """Return readers with (condition, answers); columns are those of raters.csv."""
    ids = list("pqrs")
    readings = [
        {"rater_id": rater, "condition": condition, "item_id": item, "answer": answer}
        for rater, (conditions, answers) in readers.items()
        for condition in conditions.split("+")
        for item, answer in zip(ids, answers, strict=False)
    ]
    raters = pd.DataFrame({"rater_id": [*readers], "rater_kind": "reader", **columns})
    raters.loc[raters["rater_id"].str.startswith("M"), "rater_kind"] = "model"
    return bundle_from_tables(
        pd.DataFrame({"item_id": ids, "truth": "A"}), pd.DataFrame(readings), raters
    )


FOUR_READERS = {"R1": ("", "AAAB"), "R2": ("", "AAAA"), "R3": ("", "AABB"), "R4": ("", "ABBB")}


def test_every_factor_with_two_groups_has_rows() -> None:
    """Rows are sorted by factor and group; readers without a group do not count."""
    table = reader_groups(
        study(
            FOUR_READERS,
            site=["b", "b", "a", "a"],
            level=["x", "x", "y", ""],
            arm=["", "", "", "c"],
        )
    )
    assert table[NAME_COLUMNS[:3]].values.tolist() == [["level", "x", "y"], ["site", "a", "b"]]
    assert table["n_readers_a"].tolist() == [2, 2]
    assert table["n_readers_b"].tolist() == [1, 2]


@pytest.mark.parametrize("declared", [False, True])
def test_readers_are_divided_by_a_declared_number_of_years(declared: bool) -> None:
    """The number is an option of the command or in the protocol.

    Readers without years are not in a group.
    """
    bundle = study(FOUR_READERS, years=["3", "5", "about 9", "12"])
    assert reader_groups(bundle).empty
    options = Options(years_limit=0 if declared else 5)
    if declared:
        bundle = replace(bundle, protocol={"years_limit": 5})
    row = reader_groups(bundle, options).iloc[0]
    assert row[NAME_COLUMNS[:3]].tolist() == ["years", "< 5", ">= 5"]
    assert (row["n_readers_a"], row["n_readers_b"]) == (1, 2)
    assert (row["value_a"], row["value_b"]) == (0.75, 0.625)


@pytest.mark.parametrize(
    ("years", "reason"),
    [(["3", "x", "", "12"], "fewer than 3 readers"), (["7", "7", "7", "7"], "")],
)
def test_a_slope_over_years_needs_three_readers_with_different_years(
    years: list[str], reason: str
) -> None:
    """The slope of two readers has no error; equal years have no table."""
    tables = analyse(study(FOUR_READERS, years=years), Options(bootstrap=5)).tables
    assert ("reader_years" in tables) is bool(reason)
    if reason:
        row = tables["reader_years"].iloc[0]
        assert row["difference"] == pytest.approx(-0.5 / 0.9)
        assert pd.isna(row["se"])
        assert reason in row["undefined_because"]


def test_a_study_of_one_task_has_no_interaction_with_tasks() -> None:
    """An interaction needs items of two tasks that were presented to all readers."""
    bundle = study(FOUR_READERS, level=["x", "x", "y", "y"])
    assert "reader_groups_tasks" not in analyse(bundle, Options(bootstrap=5)).tables
    tasks = replace(bundle, items=bundle.items.assign(task=["t", "u", "u", ""]))
    table = reader_groups_tasks(tasks)
    assert table["group"].tolist() == ["t", "u"]
    assert table["n_items"].tolist() == [3, 3]
    absent = tasks.readings[tasks.readings["item_id"] != "p"]
    row = reader_groups_tasks(replace(tasks, readings=absent)).iloc[0]
    assert pd.isna(row["difference"])
    assert row["undefined_because"].startswith("2 of 3 items were given to all readers")


def test_a_group_of_one_reader_has_a_difference_without_test() -> None:
    """Test and interval are undefined."""
    row = reader_groups(study(FOUR_READERS, level=["x", "x", "x", "y"])).iloc[0]
    assert row["difference"] == 0.5
    assert pd.isna(row["se"])
    assert row["undefined_because"].startswith("standard error, interval and p: a group has a ")


def test_arms_are_compared_under_their_conditions() -> None:
    """Groups by level need a common condition; arms use one if it exists."""
    readers = {
        "R1": ("aided", "AAAB"),
        "R2": ("aided", "AAAA"),
        "R3": ("unaided", "AABB"),
        "R4": ("unaided", "ABBB"),
        "M": ("", "AAAA"),
    }
    groups = ["with AI", "with AI", "control", "control", ""]
    table = reader_groups(study(readers, arm=groups, level=groups))
    assert table["condition"].tolist() == ["unaided - aided"] * 2
    assert table["metric"].tolist() == ["accuracy", "lead"]
    assert table["difference"].tolist() == [-0.5, 0.5]
    assert set(table["factor"]) == {"arm"}
    own = {**readers, "M": ("aided+unaided", "AAAA")}
    assert set(reader_groups(study(own, arm=groups))["metric"]) == {"accuracy"}
    both = {**readers, "R1": ("aided+unaided", "AAAB"), "R2": ("aided+unaided", "AAAA")}
    assert set(reader_groups(study(both, arm=groups))["condition"]) == {"unaided"}


def test_readers_with_too_few_items_leave_the_row_undefined() -> None:
    """The reason states the numbers of items, as in the table of the panel."""
    readers = {**FOUR_READERS, "R4": ("", "AAA")}
    row = reader_groups(study(readers, level=["x", "x", "y", "y"])).iloc[0]
    assert pd.isna(row["difference"])
    assert row["undefined_because"] == (
        "3 of 4 items were given to all readers, fewer than 80 %: R4 was given 3"
    )


def test_a_study_without_groups_has_no_table() -> None:
    """Each factor has at most one group of readers."""
    tables = analyse(study(FOUR_READERS, level=["x"] * 4), Options(bootstrap=5)).tables
    assert not [name for name in tables if name.startswith("reader_groups")]


@pytest.mark.parametrize("seed", range(3))
def test_values_do_not_depend_on_order(seed: int) -> None:
    """Groups, readers and rows are reordered; swapped groups change the sign of the difference."""
    random = np.random.default_rng(seed)
    answers = {f"R{i}": ("aided+unaided", random.choice(list("AAB"), 4)) for i in range(6)}
    readers = {**answers, "M": ("", random.choice(list("AAB"), 4))}
    groups = [*"xxxyyy", ""]
    bundle = study(readers, level=groups)
    before = reader_groups(bundle)
    other = study(readers, level=[{"x": "y", "y": "x"}.get(g, "") for g in groups])
    swapped = reader_groups(other)
    same = ["se", "df", "p", "n_items"]
    pd.testing.assert_frame_equal(before[same], swapped[same])
    assert before["difference"].tolist() == (-swapped["difference"]).tolist()
    gains = [reader_groups_gain(b)["difference"].tolist() for b in (bundle, other)]
    assert gains[0] == [-value for value in gains[1]]
    accuracy, lead = (before[before["metric"] == m].reset_index() for m in ("accuracy", "lead"))
    assert accuracy["difference"].tolist() == pytest.approx((-lead["difference"]).tolist())
    assert accuracy["se"].tolist() == pytest.approx(lead["se"].tolist(), nan_ok=True)
    shuffled = bundle_from_tables(
        *(
            table.sample(frac=1, random_state=seed)
            for table in (bundle.items[["item_id", "truth"]], bundle.readings, bundle.raters)
        )
    )
    pd.testing.assert_frame_equal(before, reader_groups(shuffled))


def test_the_tests_by_task_of_each_pair_of_groups_are_a_family() -> None:
    """With two tasks, Holm's method doubles the smaller p-value for any number of groups."""
    random = np.random.default_rng(5)
    readers = {f"R{i}": ("", random.choice(list("AAB"), 4)) for i in range(6)}
    bundle = study(readers, level=[*"xxyyzz"])
    tasks = replace(bundle, items=bundle.items.assign(task=["t", "t", "u", "u"]))
    table = reader_groups_tasks(tasks)
    assert table["p"].notna().any()
    for _, rows in table.groupby(["group_a", "group_b"]):
        p = rows["p"].to_numpy(dtype=float)
        expected = np.maximum(np.minimum(2 * np.nanmin(p), 1), p)
        assert rows["p_adjusted"].tolist() == pytest.approx(expected.tolist(), nan_ok=True)
