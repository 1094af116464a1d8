"""What must hold for comparisons of accuracy, over counts and bundles nobody chose."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import Bundle, Options, bundle_from_tables, comparisons, gee
from analysis.comparison.mcnemar import mcnemar_p
from analysis.comparison.tango import tango_interval
from analysis.comparison.yang import yang_test

OPTIONS = Options(bootstrap=30)
KINDS = ("reader", "reader", "model", "model")
RATERS = ("R0", "R1", "R2", "R3")

Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]

counts = st.tuples(*[st.one_of(st.integers(0, 12), st.integers(0, 30_000))] * 3).filter(any)
alphas = st.sampled_from([1e-6, 0.01, 0.05, 0.3, 0.9])
clusters = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)).map(
        lambda c: (c[0], c[1], max(c[0], c[1]) + c[2])
    ),
    min_size=2,
    max_size=12,
).map(lambda rows: [(a, b, max(n, 1)) for a, b, n in rows])


@st.composite
def studies(draw: st.DrawFn) -> Tables:
    """Two readers and two models, some answers missing, patients shared or not."""
    n = draw(st.integers(1, 10))
    ids = [f"q{i}" for i in range(n)]
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": draw(st.lists(st.sampled_from(["A", "A", "B", ""]), min_size=n, max_size=n)),
            "patient_id": draw(
                st.one_of(
                    st.just(ids), st.lists(st.sampled_from(["p", "q", "r"]), min_size=n, max_size=n)
                )
            ),
        }
    )
    readings = pd.DataFrame(
        [
            {"rater_id": rater, "item_id": item, "answer": draw(st.sampled_from(["A", "B", ""]))}
            for rater in RATERS
            for item in ids
        ]
    )
    return items, readings, pd.DataFrame({"rater_id": RATERS, "rater_kind": KINDS})


def _bundle(tables: Tables) -> Bundle:
    return bundle_from_tables(*tables)


def _tango(b: int, c: int, n: int, alpha: float) -> tuple[float, float]:
    low, high = tango_interval(*(np.array([float(count)]) for count in (b, c, n)), alpha)
    return float(low[0]), float(high[0])


def _yang(rows: list[tuple[int, int, int]]) -> tuple[float, float]:
    table = np.array(rows, dtype=float)
    statistic, p = yang_test(table[:, :2], table[:, 2], np.array([0]), np.array([1]))
    return float(statistic[0]), float(p[0])


@given(counts, alphas)
def test_tango_holds_the_estimate_within_its_range(
    table: tuple[int, int, int], alpha: float
) -> None:
    """From -1 to 1; never without width."""
    b, c, rest = table
    n = b + c + rest
    low, high = _tango(b, c, n, alpha)
    assert -1 <= low <= (b - c) / n <= high <= 1
    assert low < high


@given(counts, alphas)
def test_swapped_raters_have_the_same_numbers_with_the_other_sign(
    table: tuple[int, int, int], alpha: float
) -> None:
    """To the last bit."""
    b, c, rest = table
    low, high = _tango(b, c, b + c + rest, alpha)
    assert _tango(c, b, b + c + rest, alpha) == (-high, -low)
    first, second = np.array([float(b)]), np.array([float(c)])
    assert mcnemar_p(first, second) == mcnemar_p(second, first)


@given(counts)
def test_a_smaller_error_makes_tangos_interval_wider(table: tuple[int, int, int]) -> None:
    """Each interval lies within the next."""
    b, c, rest = table
    limits = [_tango(b, c, b + c + rest, alpha) for alpha in (0.5, 0.1, 0.01)]
    for (low, high), (wider_low, wider_high) in pairwise(limits):
        assert wider_low <= low <= high <= wider_high


@given(counts)
def test_mid_p_lies_below_the_exact_p(table: tuple[int, int, int]) -> None:
    """Both from 0 to 1, and 1 for an even split."""
    exact, mid = (float(p[0]) for p in mcnemar_p(*(np.array([float(k)]) for k in table[:2])))
    assert 0 <= mid <= exact <= 1
    assert (table[0] != table[1]) or (mid == exact == 1)


@given(clusters)
def test_yangs_test_knows_neither_order_nor_sign(rows: list[tuple[int, int, int]]) -> None:
    """Clusters turned round and raters swapped give the same statistic."""
    statistic, p = _yang(rows)
    assert _yang([(b, a, n) for a, b, n in rows[::-1]]) == (statistic, p)
    assert statistic >= 0
    assert 0 <= p <= 1


@given(clusters, st.integers(2, 5))
def test_every_cluster_several_times_multiplies_yangs_statistic(
    rows: list[tuple[int, int, int]], times: int
) -> None:
    """By that number, K - 1 over K aside: the variance of a mean falls as its sample grows."""
    k = len(rows)
    statistic, repeated = _yang(rows)[0], _yang(rows * times)[0]
    expected = statistic * times * ((times * k - 1) / (times * k)) / ((k - 1) / k)
    assert repeated == pytest.approx(expected, rel=1e-10)


@given(clusters, st.integers(2, 5))
def test_every_item_several_times_leaves_yangs_statistic(
    rows: list[tuple[int, int, int]], times: int
) -> None:
    """Copies within a cluster add no information."""
    copied = [(times * a, times * b, times * n) for a, b, n in rows]
    assert _yang(copied) == pytest.approx(_yang(rows), rel=1e-10)


@settings(max_examples=10, deadline=None)
@given(studies(), st.integers(0, 2**31))
def test_the_order_of_rows_changes_nothing(tables: Tables, seed: int) -> None:
    """Not even the bootstrap: every number is the same to the last bit."""
    shuffled = tuple(table.sample(frac=1, random_state=seed) for table in tables)
    for before, after in (
        (comparisons(_bundle(tables), OPTIONS), comparisons(_bundle(shuffled), OPTIONS)),
        (gee(_bundle(tables)), gee(_bundle(shuffled))),
    ):
        pd.testing.assert_frame_equal(before, after, check_exact=True)


@settings(max_examples=10, deadline=None)
@given(studies())
def test_renaming_the_raters_renames_the_rows_and_no_more(tables: Tables) -> None:
    """Numbers do not hang on names."""
    items, readings, raters = tables
    renamed = _bundle(
        (items, *(t.assign(rater_id="rater " + t["rater_id"]) for t in (readings, raters)))
    )
    before = comparisons(_bundle(tables), OPTIONS)
    for column in ("rater_a", "rater_b"):
        before[column] = "rater " + before[column]
    pd.testing.assert_frame_equal(before, comparisons(renamed, OPTIONS), check_exact=True)
    before = gee(_bundle(tables))
    before["contrast"] = "rater " + before["contrast"]
    pd.testing.assert_frame_equal(before, gee(renamed), check_exact=True)


@settings(max_examples=10, deadline=None)
@given(studies())
def test_swapping_two_readers_flips_the_sign_and_keeps_p(tables: Tables) -> None:
    """Limits change places; what the two share with the models moves with them."""
    items, readings, raters = tables
    swapped = readings.replace({"rater_id": {"R0": "R1", "R1": "R0"}})
    before, after = (
        comparisons(_bundle((items, r, raters)), OPTIONS).iloc[0] for r in (readings, swapped)
    )
    for one, other in (
        ("difference", "difference"),
        ("ci_low", "ci_high"),
        ("cluster_ci_low", "cluster_ci_high"),
    ):
        assert before[one] == pytest.approx(-after[other], abs=1e-12, nan_ok=True)
    for p in ("p_exact", "p_mid", "p_clustered", "n"):
        assert before[p] == pytest.approx(after[p], abs=0, nan_ok=True)
    assert before["only_a_correct"] == after["only_b_correct"]


@settings(max_examples=10, deadline=None)
@given(studies())
def test_the_presence_of_another_rater_changes_no_pair(tables: Tables) -> None:
    """But for the family, whose size it is part of."""
    items, readings, raters = tables
    fewer = (items, *(t.loc[t["rater_id"] != "R2"] for t in (readings, raters)))
    before = comparisons(_bundle(fewer), OPTIONS).drop(columns="p_adjusted")
    after = comparisons(_bundle(tables), OPTIONS).drop(columns="p_adjusted")
    after = after.loc[(after["rater_a"] != "R2") & (after["rater_b"] != "R2")]
    pd.testing.assert_frame_equal(before, after.reset_index(drop=True), check_exact=True)


@settings(max_examples=10, deadline=None)
@given(studies())
def test_adjusted_p_is_no_smaller_and_keeps_the_order(tables: Tables) -> None:
    """Within the readers and models of the one condition."""
    table = comparisons(_bundle(tables), OPTIONS)
    mixed = table.loc[table["family"] != ""]
    p = mixed["p_mid"] if (mixed["clustered_method"] == "").all() else mixed["p_clustered"]
    assert (p.isna() == mixed["p_adjusted"].isna()).all()
    assert (mixed["p_adjusted"] >= p).sum() == p.notna().sum()
    assert mixed.loc[p.sort_values().index, "p_adjusted"].is_monotonic_increasing or p.isna().all()
