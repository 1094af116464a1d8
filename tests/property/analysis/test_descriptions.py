"""What must not change times, sensitivity, difficulty, leaderboard: bundles nobody chose."""

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import (
    Bundle,
    Options,
    bundle_from_tables,
    item_difficulty,
    leaderboard,
    sensitivity,
    time_model,
    times,
)

OPTIONS = Options(bootstrap=30)
LETTERS = "ABCD"

Tables = tuple[pd.DataFrame, pd.DataFrame]


@st.composite
def studies(draw: st.DrawFn) -> Tables:
    """Return items and timed, flagged readings of up to four raters, some patients shared."""
    n = draw(st.integers(1, 10))
    raters = [f"R{i}" for i in range(draw(st.integers(2, 4)))]
    items = pd.DataFrame(
        {
            "item_id": [f"q{i}" for i in range(n)],
            "truth": draw(st.lists(st.sampled_from([*LETTERS, ""]), min_size=n, max_size=n)),
            "task": draw(st.lists(st.sampled_from(["x", "y", ""]), min_size=n, max_size=n)),
            "patient_id": draw(
                st.one_of(
                    st.just([f"p{i}" for i in range(n)]),
                    st.lists(st.sampled_from(["p", "q", "r"]), min_size=n, max_size=n),
                )
            ),
        }
    )
    rows = [
        {
            "rater_id": rater,
            "item_id": item,
            "answer": draw(st.sampled_from([*LETTERS, ""])),
            "condition": draw(st.sampled_from(["aided", "unaided"])),
            "session": draw(st.sampled_from(["1", "2", ""])),
            "position": place,
            "response_ms": draw(st.sampled_from(["", "0", "1000", "1500", "2750.5", "9000"])),
            "flags": draw(st.sampled_from(["", "", "late", "late zoomed"])),
        }
        for rater in raters
        for place, item in enumerate(items["item_id"], start=1)
    ]
    return items, pd.DataFrame(rows)


def _bundle(tables: Tables) -> Bundle:
    return bundle_from_tables(*tables)


def _all(tables: Tables) -> list[pd.DataFrame]:
    bundle = _bundle(tables)
    return [
        times(bundle),
        sensitivity(bundle, OPTIONS),
        item_difficulty(bundle),
        leaderboard(bundle, OPTIONS),
        time_model(bundle, OPTIONS),
    ]


@settings(max_examples=15, deadline=None)
@given(studies(), st.integers(0, 2**31))
def test_the_order_of_rows_changes_nothing(tables: Tables, seed: int) -> None:
    """Neither a resample nor a model's optimum: every number is the same to the last bit."""
    shuffled = tuple(table.sample(frac=1, random_state=seed) for table in tables)
    for before, after in zip(_all(tables), _all(shuffled), strict=True):
        pd.testing.assert_frame_equal(before, after, check_exact=True)


@settings(max_examples=15, deadline=None)
@given(studies())
def test_renaming_the_raters_renames_the_rows_and_no_more(tables: Tables) -> None:
    """Numbers do not hang on names."""
    items, readings = tables
    renamed = readings.assign(rater_id="reader " + readings["rater_id"])
    for before, after in zip(_all(tables), _all((items, renamed)), strict=True):
        if "rater_id" in before:
            before["rater_id"] = "reader " + before["rater_id"].astype(object)
        pd.testing.assert_frame_equal(before, after, check_exact=True, check_dtype=False)


@settings(max_examples=15, deadline=None)
@given(studies(), st.data())
def test_relabelling_the_options_of_each_item_changes_nothing(
    tables: Tables, data: st.DataObject
) -> None:
    """All of it looks at right and wrong, never at letters."""
    items, readings = (table.copy() for table in tables)
    maps = {
        item: {"": "", **dict(zip(LETTERS, data.draw(st.permutations(LETTERS)), strict=True))}
        for item in items["item_id"]
    }
    items["truth"] = [maps[i][t] for i, t in zip(items["item_id"], items["truth"], strict=True)]
    readings["answer"] = [
        maps[i][a] for i, a in zip(readings["item_id"], readings["answer"], strict=True)
    ]
    for before, after in zip(_all(tables), _all((items, readings)), strict=True):
        pd.testing.assert_frame_equal(before, after, check_exact=True)


@settings(max_examples=15, deadline=None)
@given(studies())
def test_another_rater_changes_nothing_but_ranks_and_the_model(tables: Tables) -> None:
    """Times, sensitivity and the leaderboard's intervals are each rater's own."""
    items, readings = tables
    own = ["condition", "by", "group", "n", "accuracy", "ci_low", "ci_high"]
    found = []
    for some in (readings.loc[readings["rater_id"] == "R0"], readings):
        bundle = _bundle((items, some))
        board = leaderboard(bundle, OPTIONS).query("rater_id == 'R0'")
        found.append(
            [
                times(bundle).query("rater_id == 'R0'").reset_index(drop=True),
                sensitivity(bundle).query("rater_id == 'R0'").reset_index(drop=True),
                board[own].reset_index(drop=True),
            ]
        )
    for alone, among in zip(*found, strict=True):
        pd.testing.assert_frame_equal(alone, among, check_exact=True, check_dtype=False)


@settings(max_examples=25, deadline=None)
@given(studies())
def test_what_is_empty_has_its_reason_and_what_is_not_its_bounds(tables: Tables) -> None:
    """No silent gap, no warning on the way, and no limit on the wrong side."""
    timed, _, difficulty, board, model = _all(tables)
    assert ((timed["n"] == 0) == timed["median_ms"].isna()).all()
    assert (timed["geometric_mean_ms"].isna() == (timed["undefined_because"] != "")).all()
    assert not (timed["q1_ms"] > timed["median_ms"]).any()
    assert (timed["n_flagged"] <= timed["n"]).all()
    assert (model["estimate"].isna() == (model["undefined_because"] != "")).all()
    assert not (model["ci_low"] > model["ratio"]).any()
    assert (board["rank_low"].isna() == (board["undefined_because"] != "")).all()
    assert not (board["rank_low"] > board["rank_high"]).any()
    assert (difficulty["n_readers_correct"] <= difficulty["n_readers"]).all()
