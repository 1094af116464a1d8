"""agreement_pairs.csv: who is paired with whom, and what is undefined why."""

import math

import pandas as pd
import pytest
from scipy.stats import t

from analysis import Bundle, agreement_pairs, bundle_from_tables
from analysis.agreement import registry
from analysis.agreement.rows import CONSTANT_SE
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


def test_a_model_with_one_condition_meets_the_readers_of_every_condition() -> None:
    """Readers meet each other only under the same condition."""
    readings = pd.DataFrame(
        [
            {"rater_id": rater, "condition": condition, "item_id": item, "answer": "A"}
            for rater, condition in (
                ("R1", "aided"),
                ("R1", "unaided"),
                ("R2", "unaided"),
                ("M1", ""),
                ("M2", ""),
            )
            for item in ("a", "b")
        ]
    )
    raters = pd.DataFrame(
        {"rater_id": ["R1", "R2", "M1", "M2"], "rater_kind": ["reader"] * 2 + ["model"] * 2}
    )
    table = agreement_pairs(
        bundle_from_tables(pd.DataFrame({"item_id": ["a", "b"]}), readings, raters)
    )
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
    assert row["undefined_because"] == registry.SIZE_UNKNOWN


def test_two_constant_raters_have_no_kappa(make_bundle: MakeBundle) -> None:
    """Neither the same letter throughout nor two different ones."""
    for other in ("AAAA", "BBBB"):
        row = _row(make_bundle("AABB", {"R": "AAAA", "S": other}), "kappa_letters")
        assert math.isnan(row["estimate"])
        assert row["undefined_because"] == registry.BOTH_CONSTANT


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
    assert row["undefined_because"] == registry.SIZE_VARIES


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
