"""agreement_pairs.csv: who is paired with whom, and what is undefined why."""

import math

import pandas as pd
import pytest
from scipy.stats import t

from analysis import Bundle, accuracy, agreement_pairs
from analysis.statistics.agreement.pairs import measures
from analysis.statistics.agreement.pairs.table import CONSTANT_SE
from tests.unit.analysis.conftest import MakeBundle


def _row(bundle: Bundle, measure: str, scope: str = "all") -> pd.Series:
    table = agreement_pairs(bundle)
    return table.loc[(table["measure"] == measure) & (table["scope"] == scope)].iloc[0]


def test_the_columns_are_those_of_the_contract(make_bundle: MakeBundle) -> None:
    """Names and order are part of the contract, with and without rows."""
    expected = [
        "rater_a",
        "rater_b",
        "pair_kind",
        "condition",
        "scope",
        "measure",
        "n",
        "estimate",
        "se",
        "ci_low",
        "ci_high",
        "method",
        "undefined_because",
    ]
    for answers in ({"R": "AB"}, {"R": "AB", "S": "AA"}):
        assert list(agreement_pairs(make_bundle("AB", answers)).columns) == expected


def test_a_pair_is_named_reader_first_else_in_order_of_id(make_bundle: MakeBundle) -> None:
    """A model whose id sorts first still stands second."""
    table = agreement_pairs(make_bundle("AB", {"R2": "AB", "R1": "AB", "A": "AB"}, models=("A",)))
    pairs = table[["rater_a", "rater_b", "pair_kind"]].drop_duplicates().values.tolist()
    assert pairs == [
        ["R1", "R2", "reader-reader"],
        ["R1", "A", "reader-model"],
        ["R2", "A", "reader-model"],
    ]


def test_a_model_with_one_condition_meets_the_readers_of_every_condition(
    make_bundle: MakeBundle,
) -> None:
    """Readers meet each other only under the same condition."""
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
    """Error consistency further asks for a reference standard, same_wrong for two errors."""
    bundle = make_bundle("AAAA.", {"R": "AB.BC", "S": "ABACC"})
    counts = {m: _row(bundle, m)["n"] for m in ("raw", "error_consistency", "same_wrong")}
    assert counts == {"raw": 4, "error_consistency": 3, "same_wrong": 2}
    assert _row(bundle, "same_wrong")["estimate"] == 0.5


def test_chance_for_brennan_prediger_is_the_mean_of_each_items_own_share(
    make_bundle: MakeBundle,
) -> None:
    """Three of four agree; chance is the mean of 1/2, 1/2, 1/4 and 1/4."""
    bundle = make_bundle("AAAA", {"R": "AABB", "S": "AABA"}, n_options=[2, 2, 4, 4])
    row = _row(bundle, "brennan_prediger")
    assert row["estimate"] == pytest.approx((0.75 - 0.375) / 0.625, abs=1e-15)
    assert row["se"] == pytest.approx(math.sqrt(0.75 * 0.25 / 3) / 0.625, abs=1e-15)
    assert row["ci_high"] == 1
    assert row["ci_low"] == pytest.approx(row["estimate"] - t.ppf(0.975, 3) * row["se"], abs=1e-12)


def test_an_unknown_number_of_options_leaves_brennan_prediger_undefined(
    make_bundle: MakeBundle,
) -> None:
    """Options are those offered, not those seen: nothing is guessed from the answers."""
    row = _row(make_bundle("AB", {"R": "AB", "S": "AA"}, n_options=["", 4]), "brennan_prediger")
    assert math.isnan(row["estimate"])
    assert row["undefined_because"] == measures.SIZE_UNKNOWN


def test_two_constant_raters_have_no_kappa(make_bundle: MakeBundle) -> None:
    """Neither the same letter throughout nor two different ones."""
    for other in ("AAAA", "BBBB"):
        row = _row(make_bundle("AABB", {"R": "AAAA", "S": other}), "kappa_letters")
        assert math.isnan(row["estimate"])
        assert row["undefined_because"] == measures.BOTH_CONSTANT


def test_one_constant_rater_leaves_the_standard_error_undefined(make_bundle: MakeBundle) -> None:
    """Kappa is 0 by construction, which is no certainty."""
    row = _row(make_bundle("AABB", {"R": "AAAA", "S": "ABAB"}), "kappa_letters")
    assert row["estimate"] == 0
    assert row[["se", "ci_low", "ci_high"]].isna().all()
    assert row["undefined_because"] == CONSTANT_SE


def test_raters_who_share_no_item_are_undefined_with_the_reason(make_bundle: MakeBundle) -> None:
    """Every measure says why."""
    table = agreement_pairs(make_bundle("AB", {"R": "A.", "S": ".B"}))
    assert table["estimate"].isna().all()
    assert (table["undefined_because"] != "").all()
    assert (table["n"] == 0).all()


def test_kappa_and_ac1_stand_within_option_sets_only(make_bundle: MakeBundle) -> None:
    """Letters mean something only where the options are the same."""
    table = agreement_pairs(
        make_bundle("ABAB", {"R": "ABBA", "S": "ABAB"}, option_set=["s", "s", "s", ""], task="x")
    )
    scopes = table.groupby("measure")["scope"].unique().map(sorted)
    assert scopes["kappa"] == scopes["ac1"] == ["option_set=s"]
    assert scopes["raw"] == ["all", "option_set=s", "task=x"]


def test_ac1_is_undefined_where_the_number_of_options_varies(make_bundle: MakeBundle) -> None:
    """The source's k is one number."""
    bundle = make_bundle("ABA", {"R": "ABB", "S": "ABA"}, option_set="s", n_options=[2, 3, 3])
    row = _row(bundle, "ac1", "option_set=s")
    assert row["undefined_because"] == measures.SIZE_VARIES


def test_ac1_counts_the_options_offered_not_those_seen(make_bundle: MakeBundle) -> None:
    """By hand: shares of A and B are 1/2, k is 4, so chance is (1/4 + 1/4) / 3."""
    bundle = make_bundle("ABAB", {"R": "ABAB", "S": "ABBA"}, option_set="s")
    row = _row(bundle, "ac1", "option_set=s")
    assert row["estimate"] == pytest.approx((0.5 - 1 / 6) / (1 - 1 / 6), abs=1e-15)


def test_patients_with_several_items_turn_the_intervals_into_bootstrap_ones(
    make_bundle: MakeBundle,
) -> None:
    """The standard error stays analytic, and the estimate is untouched."""
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
def test_a_share_of_same_errors_of_0_or_1_has_no_spread_and_says_so(
    make_bundle: MakeBundle, other: str, share: float
) -> None:
    """It is a plain share: that a rater never varied is no reason against it."""
    row = _row(make_bundle("AAAA", {"R": "BBBB", "S": other}), "same_wrong")
    assert row[["estimate", "se", "ci_low", "ci_high"]].tolist() == [share, 0, share, share]
    assert row["undefined_because"] == ""


def test_the_share_of_same_errors_has_the_standard_error_of_a_share(
    make_bundle: MakeBundle,
) -> None:
    """One of four, one rater constant: the root of p (1 - p) / (n - 1), and a t interval."""
    row = _row(make_bundle("AAAAA", {"R": "BBBBB", "S": "BCDCA"}), "same_wrong")
    assert row["n"] == 4
    assert row["se"] == pytest.approx(math.sqrt(0.25 * 0.75 / 3), abs=1e-15)
    assert row["ci_low"] == pytest.approx(0.25 - t.ppf(0.975, 3) * row["se"], abs=1e-12)


def test_a_single_item_names_both_of_what_it_leaves_empty(make_bundle: MakeBundle) -> None:
    """Standard error and interval."""
    row = _row(make_bundle("A", {"R": "A", "S": "A"}), "raw")
    assert row["undefined_because"] == "standard error and interval: a single item"


def test_leaving_raters_out_changes_no_bit_of_the_others(make_bundle: MakeBundle) -> None:
    """Neither fewer columns nor fewer letters change the order in which fractions are added."""
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
