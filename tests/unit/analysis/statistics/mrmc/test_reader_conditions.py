"""Comparisons of conditions with the same readers."""

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

BOTH_CONDITIONS: Answers = {
    ("R1", "aided"): "AAAABAAA",
    ("R1", "unaided"): "AABBBAAB",
    ("R2", "aided"): "AAAAAAAB",
    ("R2", "unaided"): "BAABAABB",
}


@pytest.fixture
def read(make_bundle: MakeBundle) -> Read:
    """Return a function that makes bundles of eight items with answer A; M1 is a model."""
    return lambda answers: make_bundle("A" * 8, answers, models=("M1",))


def test_the_difference_is_the_first_condition_by_name_minus_the_second(read: Read) -> None:
    """By hand: two readers have 7/8 and 7/8 aided, and 4/8 and 4/8 unaided."""
    table = reader_conditions(read(BOTH_CONDITIONS))
    assert table["claim"].tolist() == ["these readers", "readers like these"]
    assert (table[["condition_a", "condition_b"]] == ["aided", "unaided"]).all(axis=None)
    assert table["value_a"].tolist() == [0.875] * 2
    assert table["value_b"].tolist() == [0.5] * 2
    assert table["difference"].tolist() == [0.375] * 2


def test_fixed_items_give_a_paired_t_test(read: Read) -> None:
    """The differences of the two readers are 3/8 each except for one item."""
    answers = {**BOTH_CONDITIONS, ("R2", "aided"): "AAAAAABB"}
    row = reader_conditions_items(read(answers)).iloc[0]
    assert row["claim"] == "these items"
    assert row["difference"] == pytest.approx((3 / 8 + 2 / 8) / 2)
    assert row["se"] == pytest.approx(1 / 16)
    assert row["df"] == 1


def test_only_readers_with_both_conditions_count(read: Read) -> None:
    """Models with both conditions do not count."""
    more = {
        ("R3", "aided"): "AAAABBBB",
        ("M1", "aided"): "BBBBBBBB",
        ("M1", "unaided"): "AAAAAAAA",
    }
    pd.testing.assert_frame_equal(
        reader_conditions(read(BOTH_CONDITIONS)),
        reader_conditions(read({**BOTH_CONDITIONS, **more})),
    )


def test_conditions_without_a_common_reader_are_not_compared(read: Read) -> None:
    """The row states a reason and has no numbers."""
    table = reader_conditions(read({("R1", "aided"): "AAAABAAA", ("R2", "unaided"): "AABBBAAB"}))
    assert (table["undefined_because"] == "no reader read under both conditions").all()
    assert table[["value_a", "value_b", "difference", "se", "p"]].isna().all(axis=None)
    assert (table[["n_readers", "n_items"]] == 0).all(axis=None)


def test_three_conditions_give_three_contrasts(read: Read) -> None:
    """The contrasts are sorted by name."""
    third = {("R1", "image-absent"): "BBBBABAB", ("R2", "image-absent"): "BABBABBB"}
    table = reader_conditions(read({**BOTH_CONDITIONS, **third}))
    pairs = table[["condition_a", "condition_b"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["aided", "image-absent"], ["aided", "unaided"], ["image-absent", "unaided"]]


def test_with_one_reader_only_the_fixed_claim_is_defined(read: Read) -> None:
    """Claims about readers in general need two readers."""
    first = {key: answers for key, answers in BOTH_CONDITIONS.items() if key[0] == "R1"}
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


def test_equal_answers_under_both_conditions_have_no_test(read: Read) -> None:
    """The difference has no variance."""
    same = {
        (reader, condition): BOTH_CONDITIONS[(reader, "aided")]
        for reader in ("R1", "R2")
        for condition in ("aided", "unaided")
    }
    table = reader_conditions(read(same))
    assert table["difference"].tolist() == [0.0] * 2
    assert table[["se", "ci_low", "ci_high", "p"]].isna().all(axis=None)
    assert table["undefined_because"].str.contains("leave no variance").all()


def test_a_negative_difference_of_covariances_counts_as_0_by_default() -> None:
    """MRMCaov's interval for fixed readers omits max(Cov2 - Cov3, 0).

    OR-DBM and this program include it.
    """
    merits = mrmc.percent_correct(
        np.array([[1, 1, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]], dtype=bool)
    )
    a, b = np.array([0, 1]), np.array([2, 3])
    actual = mrmc.two_treatments(merits, a, b)
    expected = mrmc.two_treatments(merits, a, b, constrain=False)
    assert actual.cov2 < actual.cov3
    variance = 2 / 2 * (actual.var - actual.cov1)
    assert actual.fixed_readers.se**2 == pytest.approx(variance)
    assert expected.fixed_readers.se**2 == pytest.approx(variance + actual.cov2 - actual.cov3)


def test_degrees_of_freedom_of_these_readers_are_those_of_patients(make_bundle: MakeBundle) -> None:
    """Eight items of four patients have 3 degrees of freedom, not 7."""
    table = reader_conditions(make_bundle("A" * 8, BOTH_CONDITIONS, patient_id=list("ppqqrrss")))
    assert table.set_index("claim").loc["these readers", "df"] == 3
