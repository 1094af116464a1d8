"""Conditions against each other over the same readers."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, reader_conditions, reader_conditions_items, variance_components
from analysis.statistics import mrmc
from tests.unit.analysis.conftest import MakeBundle

Answers = dict[tuple[str, str], str]
Read = Callable[[Answers], Bundle]

BOTH: Answers = {
    ("R1", "aided"): "AAAABAAA",
    ("R1", "unaided"): "AABBBAAB",
    ("R2", "aided"): "AAAAAAAB",
    ("R2", "unaided"): "BAABAABB",
}


@pytest.fixture
def read(make_bundle: MakeBundle) -> Read:
    """Give a maker of bundles of eight items whose reference standard is A; M1 is a model."""
    return lambda answers: make_bundle("A" * 8, answers, models=("M1",))


def test_the_difference_is_the_first_condition_by_name_minus_the_second(read: Read) -> None:
    """By hand: 7/8 and 7/8 aided, 4/8 and 4/8 unaided."""
    table = reader_conditions(read(BOTH))
    assert table["claim"].tolist() == ["these readers", "readers like these"]
    assert (table[["condition_a", "condition_b"]] == ["aided", "unaided"]).all(axis=None)
    assert table["value_a"].tolist() == [0.875] * 2
    assert table["value_b"].tolist() == [0.5] * 2
    assert table["difference"].tolist() == [0.375] * 2


def test_these_items_are_a_table_of_their_own(read: Read) -> None:
    """A t test of the two readers' differences, 3/8 each but for one item."""
    answers = {**BOTH, ("R2", "aided"): "AAAAAABB"}
    row = reader_conditions_items(read(answers)).iloc[0]
    assert row["claim"] == "these items"
    assert row["difference"] == pytest.approx((3 / 8 + 2 / 8) / 2)
    assert row["se"] == pytest.approx(1 / 16)
    assert row["df"] == 1


def test_only_readers_with_both_conditions_count(read: Read) -> None:
    """A reader with one condition does not, nor does a model with both."""
    more = {
        ("R3", "aided"): "AAAABBBB",
        ("M1", "aided"): "BBBBBBBB",
        ("M1", "unaided"): "AAAAAAAA",
    }
    pd.testing.assert_frame_equal(
        reader_conditions(read(BOTH)), reader_conditions(read({**BOTH, **more}))
    )


def test_conditions_without_a_common_reader_are_refused_in_words(read: Read) -> None:
    """Different people cannot be compared so; the row says it and holds no number."""
    table = reader_conditions(read({("R1", "aided"): "AAAABAAA", ("R2", "unaided"): "AABBBAAB"}))
    assert (table["undefined_because"] == "no reader read under both conditions").all()
    assert table[["value_a", "value_b", "difference", "se", "p"]].isna().all(axis=None)
    assert (table[["n_readers", "n_items"]] == 0).all(axis=None)


def test_three_conditions_make_three_contrasts(read: Read) -> None:
    """Every two, in order of name."""
    third = {("R1", "image-absent"): "BBBBABAB", ("R2", "image-absent"): "BABBABBB"}
    table = reader_conditions(read({**BOTH, **third}))
    pairs = table[["condition_a", "condition_b"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["aided", "image-absent"], ["aided", "unaided"], ["image-absent", "unaided"]]


def test_one_reader_leaves_the_fixed_claim(read: Read) -> None:
    """Claims about readers in general need two."""
    first = {key: answers for key, answers in BOTH.items() if key[0] == "R1"}
    both = (reader_conditions(read(first)), reader_conditions_items(read(first)))
    table = pd.concat(both).set_index("claim")
    assert not math.isnan(table.loc["these readers", "se"])
    for claim in ("readers like these", "these items"):
        assert math.isnan(table.loc[claim, "se"])
        assert "single reader" in table.loc[claim, "undefined_because"]
    parts = variance_components(read(first)).set_index("component")
    assert parts["condition"].unique().tolist() == ["aided - unaided"]
    assert math.isnan(parts.loc["MSTR", "value"])
    assert "single reader" in parts.loc["MSTR", "note"]
    assert not math.isnan(parts.loc["Cov1", "value"])


def test_the_same_answers_under_both_conditions_are_no_infinite_t(read: Read) -> None:
    """No variance of the difference: no test."""
    same = {
        (reader, condition): BOTH[(reader, "aided")]
        for reader in ("R1", "R2")
        for condition in ("aided", "unaided")
    }
    table = reader_conditions(read(same))
    assert table["difference"].tolist() == [0.0] * 2
    assert table[["se", "ci_low", "ci_high", "p"]].isna().all(axis=None)
    assert table["undefined_because"].str.contains("leave no variance").all()


def test_a_negative_difference_of_covariances_counts_as_0_by_default() -> None:
    """MRMCaov's fixed-reader interval leaves out max(Cov2 - Cov3, 0); OR-DBM and we have it."""
    merits = mrmc.percent_correct(
        np.array([[1, 1, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]], dtype=bool)
    )
    a, b = np.array([0, 1]), np.array([2, 3])
    ours = mrmc.two_treatments(merits, a, b)
    theirs = mrmc.two_treatments(merits, a, b, constrain=False)
    assert ours.cov2 < ours.cov3
    variance = 2 / 2 * (ours.var - ours.cov1)
    assert ours.fixed_readers.se**2 == pytest.approx(variance)
    assert theirs.fixed_readers.se**2 == pytest.approx(variance + ours.cov2 - ours.cov3)
