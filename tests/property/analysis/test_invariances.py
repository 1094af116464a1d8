"""What must not change a number, over bundles nobody chose."""

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import Bundle, Options, accuracy, agreement_pairs, bundle_from_tables, missing

OPTIONS = Options(bootstrap=30)
LETTERS = "ABCD"
UNBOUND = ["raw", "brennan_prediger", "error_consistency", "same_wrong"]

Tables = tuple[pd.DataFrame, pd.DataFrame]


@st.composite
def studies(draw: st.DrawFn) -> Tables:
    """Items and readings of up to four raters, some answers missing, some patients shared."""
    n = draw(st.integers(1, 12))
    raters = [f"R{i}" for i in range(draw(st.integers(2, 4)))]
    letters = st.sampled_from(LETTERS)
    items = pd.DataFrame(
        {
            "item_id": [f"q{i}" for i in range(n)],
            "truth": draw(st.lists(st.sampled_from([*LETTERS, ""]), min_size=n, max_size=n)),
            "n_options": draw(st.lists(st.sampled_from([4, 5, 6, 7, 9]), min_size=n, max_size=n)),
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
        {"rater_id": rater, "item_id": item, "answer": draw(st.one_of(letters, st.just("")))}
        for rater in raters
        for item in items["item_id"]
    ]
    return items, pd.DataFrame(rows)


def _bundle(tables: Tables) -> Bundle:
    return bundle_from_tables(*tables)


def _all(tables: Tables) -> list[pd.DataFrame]:
    bundle = _bundle(tables)
    return [accuracy(bundle, OPTIONS), agreement_pairs(bundle, OPTIONS), missing(bundle)]


@settings(max_examples=15, deadline=None)
@given(studies(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(tables: Tables, random: object) -> None:
    """Not even the bootstrap: every number is the same to the last bit."""
    seed = random.randint(0, 2**31)  # type: ignore[attr-defined]
    shuffled = tuple(table.sample(frac=1, random_state=seed) for table in tables)
    for before, after in zip(_all(tables), _all(shuffled), strict=True):
        pd.testing.assert_frame_equal(before, after, check_exact=True)


@settings(max_examples=15, deadline=None)
@given(studies(), st.data())
def test_relabelling_the_options_of_each_item_leaves_unbound_measures_alone(
    tables: Tables, data: st.DataObject
) -> None:
    """Raw agreement, Brennan-Prediger and what looks at right and wrong know no letters."""
    items, readings = (table.copy() for table in tables)
    maps = {
        item: {"": "", **dict(zip(LETTERS, data.draw(st.permutations(LETTERS)), strict=True))}
        for item in items["item_id"]
    }
    items["truth"] = [maps[i][t] for i, t in zip(items["item_id"], items["truth"], strict=True)]
    readings["answer"] = [
        maps[i][a] for i, a in zip(readings["item_id"], readings["answer"], strict=True)
    ]
    columns = ["rater_a", "rater_b", "scope", "measure", "n", "estimate"]
    before, after = (
        table.loc[table["measure"].isin(UNBOUND), columns]
        for table in (
            agreement_pairs(_bundle(tables), OPTIONS),
            agreement_pairs(_bundle((items, readings)), OPTIONS),
        )
    )
    pd.testing.assert_frame_equal(before, after, check_exact=True)
    pd.testing.assert_frame_equal(
        accuracy(_bundle(tables), OPTIONS), accuracy(_bundle((items, readings)), OPTIONS)
    )


@settings(max_examples=15, deadline=None)
@given(studies())
def test_renaming_the_raters_renames_the_rows_and_no_more(tables: Tables) -> None:
    """Numbers do not hang on names."""
    items, readings = tables
    renamed = readings.assign(rater_id="reader " + readings["rater_id"])
    for before, after in zip(_all(tables), _all((items, renamed)), strict=True):
        for column in set(before) & {"rater_id", "rater_a", "rater_b"}:
            before[column] = "reader " + before[column]
        pd.testing.assert_frame_equal(before, after, check_exact=True)


@settings(max_examples=15, deadline=None)
@given(studies())
def test_a_pair_swapped_has_the_same_agreement(tables: Tables) -> None:
    """Agreement is symmetrical, standard error and interval included."""
    items, readings = tables
    two = readings.loc[readings["rater_id"].isin(["R0", "R1"])]
    swapped = two.assign(rater_id=two["rater_id"].map({"R0": "R1", "R1": "R0"}))
    before, after = (
        agreement_pairs(_bundle((items, given_)), OPTIONS).drop(columns="undefined_because")
        for given_ in (two, swapped)
    )
    pd.testing.assert_frame_equal(before, after, rtol=1e-12, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(studies())
def test_another_rater_changes_nothing_for_those_who_were_there(tables: Tables) -> None:
    """The resamples do not depend on who is present, nor does the last bit of any number."""
    items, readings = tables
    fewer = readings.loc[readings["rater_id"].isin(["R0", "R1"])]
    before = agreement_pairs(_bundle((items, fewer)), OPTIONS)
    after = agreement_pairs(_bundle(tables), OPTIONS)
    both = after.loc[(after["rater_a"] == "R0") & (after["rater_b"] == "R1")]
    pd.testing.assert_frame_equal(before, both.reset_index(drop=True), check_exact=True)
    alone, among = (
        accuracy(_bundle((items, given_)), OPTIONS).query("rater_id == 'R0'").reset_index(drop=True)
        for given_ in (readings.loc[readings["rater_id"] == "R0"], readings)
    )
    pd.testing.assert_frame_equal(alone, among, check_exact=True)


@settings(max_examples=15, deadline=None)
@given(studies())
def test_the_reason_names_what_is_empty_and_nothing_else(tables: Tables) -> None:
    """Standard error, interval, or both; without a prefix everything."""
    table = agreement_pairs(_bundle(tables), OPTIONS)
    because = table["undefined_because"]
    no_se, no_interval = table["se"].isna(), table["ci_low"].isna()
    assert (no_interval == table["ci_high"].isna()).all()
    both = because.str.startswith("standard error and interval: ")
    interval = because.str.startswith("interval: ")
    plain = (because != "") & ~both & ~interval
    assert (plain == table["estimate"].isna()).all()
    assert ((both | plain) == no_se).all()
    assert ((both | plain | interval) == no_interval).all()


@settings(max_examples=15, deadline=None)
@given(studies())
def test_every_empty_estimate_has_its_reason_and_every_limit_its_side(tables: Tables) -> None:
    """Never a silent gap, and no interval beside its estimate's range."""
    bundle = _bundle(tables)
    for table, column in (
        (accuracy(bundle, OPTIONS), "accuracy"),
        (agreement_pairs(bundle, OPTIONS), "estimate"),
    ):
        assert (table.loc[table[column].isna(), "undefined_because"] != "").all()
        assert not (table["ci_low"] > table["ci_high"]).any()
        assert not (table["ci_high"] > 1).any()
    counts = missing(bundle)
    assert (counts.iloc[:, 3:].sum(axis=1) == counts["n_assigned"]).all()
