"""agreement_pairs.csv: pairs of raters, and reasons for undefined values."""

import math

import pandas as pd
import pytest
from scipy.stats import t

from analysis import Bundle, accuracy, agreement_pairs
from analysis.statistics.agreement.pairs import measures
from analysis.statistics.agreement.pairs.table import NO_SE_ONE_ANSWER
from tests.unit.analysis.conftest import MakeBundle


def _row(bundle: Bundle, measure: str, scope: str = "all") -> pd.Series:
    table = agreement_pairs(bundle)
    return table.loc[(table["measure"] == measure) & (table["scope"] == scope)].iloc[0]


def test_a_pair_has_the_reader_first_or_is_sorted_by_id(make_bundle: MakeBundle) -> None:
    """A model is second even if its id sorts first."""
    table = agreement_pairs(make_bundle("AB", {"R2": "AB", "R1": "AB", "A": "AB"}, models=("A",)))
    pairs = table[["rater_a", "rater_b", "pair_kind"]].drop_duplicates().values.tolist()
    assert pairs == [
        ["R1", "R2", "reader-reader"],
        ["R1", "A", "reader-model"],
        ["R2", "A", "reader-model"],
    ]


def test_a_model_without_conditions_is_paired_with_all_readers(
    make_bundle: MakeBundle,
) -> None:
    """Readers are paired only under the same condition."""
    everybody = [("R1", "aided"), ("R1", "unaided"), ("R2", "unaided"), ("M1", ""), ("M2", "")]
    bundle = make_bundle("..", dict.fromkeys(everybody, "AA"), models=("M1", "M2"))
    table = agreement_pairs(bundle)
    pairs = table[["condition", "rater_a", "rater_b"]].drop_duplicates().values.tolist()
    assert pairs == [
        ["", "M1", "M2"],
        ["aided", "R1", "M1"],
        ["aided", "R1", "M2"],
        ["unaided", "R1", "R2"],
        ["unaided", "R1", "M1"],
        ["unaided", "R1", "M2"],
        ["unaided", "R2", "M1"],
        ["unaided", "R2", "M2"],
    ]


def test_only_items_that_both_answered_count(make_bundle: MakeBundle) -> None:
    """Error consistency also needs a reference standard, and same_wrong needs two errors."""
    bundle = make_bundle("AAAA.", {"R": "AB.BC", "S": "ABACC"})
    counts = {m: _row(bundle, m)["n"] for m in ("raw", "error_consistency", "same_wrong")}
    assert counts == {"raw": 4, "error_consistency": 3, "same_wrong": 2}
    assert _row(bundle, "same_wrong")["estimate"] == 0.5


def test_chance_for_brennan_prediger_is_the_mean_over_items(
    make_bundle: MakeBundle,
) -> None:
    """Three of four agree; chance is the mean of 1/2, 1/2, 1/4 and 1/4."""
    bundle = make_bundle("AAAA", {"R": "AABB", "S": "AABA"}, n_options=[2, 2, 4, 4])
    row = _row(bundle, "brennan_prediger")
    assert row["estimate"] == pytest.approx((0.75 - 0.375) / 0.625, abs=1e-15)
    assert row["se"] == pytest.approx(math.sqrt(0.75 * 0.25 / 3) / 0.625, abs=1e-15)
    assert row["ci_high"] == 1
    assert row["ci_low"] == pytest.approx(row["estimate"] - t.ppf(0.975, 3) * row["se"], abs=1e-12)


def test_without_the_number_of_options_brennan_prediger_is_undefined(
    make_bundle: MakeBundle,
) -> None:
    """The number is not inferred from the answers."""
    row = _row(make_bundle("AB", {"R": "AB", "S": "AA"}, n_options=["", 4]), "brennan_prediger")
    assert math.isnan(row["estimate"])
    assert row["undefined_because"] == measures.N_OPTIONS_UNKNOWN


def test_two_constant_raters_have_no_kappa(make_bundle: MakeBundle) -> None:
    """The two raters always give the same letter, or always two different letters."""
    for other in ("AAAA", "BBBB"):
        row = _row(make_bundle("AABB", {"R": "AAAA", "S": other}), "kappa_letters")
        assert math.isnan(row["estimate"])
        assert row["undefined_because"] == measures.BOTH_CONSTANT


def test_with_a_constant_rater_the_standard_error_is_undefined(make_bundle: MakeBundle) -> None:
    """Kappa is then 0 by construction, which is not a certain result."""
    row = _row(make_bundle("AABB", {"R": "AAAA", "S": "ABAB"}), "kappa_letters")
    assert row["estimate"] == 0
    assert row[["se", "ci_low", "ci_high"]].isna().all()
    assert row["undefined_because"] == NO_SE_ONE_ANSWER


def test_pairs_without_a_shared_item_are_undefined(make_bundle: MakeBundle) -> None:
    """Every measure states the reason."""
    table = agreement_pairs(make_bundle("AB", {"R": "A.", "S": ".B"}))
    assert table["estimate"].isna().all()
    assert (table["undefined_because"] != "").all()
    assert (table["n"] == 0).all()


def test_kappa_and_ac1_are_computed_within_option_sets(make_bundle: MakeBundle) -> None:
    """Letters are comparable only if options are the same."""
    table = agreement_pairs(
        make_bundle("ABAB", {"R": "ABBA", "S": "ABAB"}, option_set=["s", "s", "s", ""], task="x")
    )
    scopes = table.groupby("measure")["scope"].unique().map(sorted)
    assert scopes["kappa"] == scopes["ac1"] == ["option_set=s"]
    assert scopes["raw"] == ["all", "option_set=s", "task=x"]


def test_ac1_needs_a_constant_number_of_options(make_bundle: MakeBundle) -> None:
    """AC1 is defined only for a fixed number of options."""
    bundle = make_bundle("ABA", {"R": "ABB", "S": "ABA"}, option_set="s", n_options=[2, 3, 3])
    row = _row(bundle, "ac1", "option_set=s")
    assert row["undefined_because"] == measures.N_OPTIONS_VARIES


def test_ac1_counts_offered_options(make_bundle: MakeBundle) -> None:
    """By hand: A and B each have a share of 1/2 and k is 4, so chance is (1/4 + 1/4) / 3."""
    bundle = make_bundle("ABAB", {"R": "ABAB", "S": "ABBA"}, option_set="s")
    row = _row(bundle, "ac1", "option_set=s")
    assert row["estimate"] == pytest.approx((0.5 - 1 / 6) / (1 - 1 / 6), abs=1e-15)


def test_patients_with_several_items_have_bootstrap_intervals(
    make_bundle: MakeBundle,
) -> None:
    """The standard error remains analytic, and the estimate is unchanged."""
    key, answers = "ABCD" * 10, {"R": "ABCC" * 10, "S": "ABDD" * 5 + "BACD" * 5}
    apart = agreement_pairs(make_bundle(key, answers))
    together = agreement_pairs(
        make_bundle(key, answers, patient_id=[f"p{i // 4}" for i in range(40)])
    )
    columns = ["measure", "n", "estimate", "se"]
    pd.testing.assert_frame_equal(apart[columns], together[columns])
    raw = together.iloc[0]
    assert "bootstrap" in raw["method"]
    assert raw["ci_low"] <= raw["estimate"] <= raw["ci_high"]


@pytest.mark.parametrize(("other", "share"), [("BBBB", 1.0), ("CCCC", 0.0)])
def test_a_share_of_identical_errors_of_0_or_1_has_a_standard_error_of_0(
    make_bundle: MakeBundle, other: str, share: float
) -> None:
    """The measure is a proportion, so a constant rater is not a reason for undefined values."""
    row = _row(make_bundle("AAAA", {"R": "BBBB", "S": other}), "same_wrong")
    assert row[["estimate", "se", "ci_low", "ci_high"]].tolist() == [share, 0, share, share]
    assert row["undefined_because"] == ""


def test_the_share_of_identical_errors_has_the_standard_error_of_a_proportion(
    make_bundle: MakeBundle,
) -> None:
    """For one of four, computed by hand: the root of p (1 - p) / (n - 1), and a t interval."""
    row = _row(make_bundle("AAAAA", {"R": "BBBBB", "S": "BCDCA"}), "same_wrong")
    assert row["n"] == 4
    assert row["se"] == pytest.approx(math.sqrt(0.25 * 0.75 / 3), abs=1e-15)
    assert row["ci_low"] == pytest.approx(0.25 - t.ppf(0.975, 3) * row["se"], abs=1e-12)


def test_with_a_single_item_standard_error_and_interval_are_empty(make_bundle: MakeBundle) -> None:
    """The reason names the standard error and the interval."""
    row = _row(make_bundle("A", {"R": "A", "S": "A"}), "raw")
    assert row["undefined_because"] == "standard error and interval: a single item"


def test_values_of_a_pair_do_not_depend_on_other_raters(make_bundle: MakeBundle) -> None:
    """Fewer raters or letters give identical sums."""
    size, letters = [2 + i % 13 for i in range(130)], "ABCDEFGHIJKLMN"
    answers = {
        f"R{rater}": "".join(
            letters[(i * (rater + 3) + i // 7) % min(k, 2 + 2 * rater)] for i, k in enumerate(size)
        )
        for rater in range(6)
    }
    columns = {
        "n_options": size,
        "task": [f"t{i % 11}" for i in range(130)],
        "option_set": [f"s{k}" for k in size],
    }
    everyone = make_bundle("A" * 130, answers, **columns)
    two = make_bundle("A" * 130, {name: answers[name] for name in ("R0", "R1")}, **columns)
    after = agreement_pairs(everyone)
    after = after.loc[(after["rater_a"] == "R0") & (after["rater_b"] == "R1")]
    pd.testing.assert_frame_equal(
        agreement_pairs(two), after.reset_index(drop=True), check_exact=True
    )
    first, among = (
        table.loc[table["rater_id"] == "R0"].reset_index(drop=True)
        for table in (
            accuracy(make_bundle("A" * 130, {"R0": answers["R0"]}, **columns)),
            accuracy(everyone),
        )
    )
    pd.testing.assert_frame_equal(first, among, check_exact=True)
