"""Resampled sums for groups and pairs, compared with resamples of single items."""

import numpy as np
import pytest

from analysis.arrays import Floats, Ints
from analysis.readings.clusters import resample_weights
from analysis.readings.matrix import ReadingMatrix, reading_matrix
from analysis.statistics.agreement import between as means
from analysis.statistics.agreement.between import ESTIMATES
from analysis.statistics.agreement.groups import answers, coefficients
from analysis.statistics.agreement.groups.answers import rater_groups
from analysis.statistics.agreement.pairs.counts import pairs_of
from tests.unit.analysis.conftest import MakeBundle

ANSWERS = {
    "R": "ABCDABCDAB.DABCDABCD",
    "S": "ABCAABDDAAC.ABCAABDD",
    "T": "ABBDCBCAABBDC.CAABBD",
    "M": "DBCAABCDDBCAABC..BCA",
}


@pytest.fixture
def matrix(make_bundle: MakeBundle) -> ReadingMatrix:
    """Return answers of four raters to 20 items of seven patients."""
    return reading_matrix(
        make_bundle(
            "ABCDABCD.ABCDABCDABC",
            ANSWERS,
            models=("M",),
            patient_id=[f"p{i // 3}" for i in range(20)],
            n_options=[4, 5, 6, 4] * 5,
        )
    )


@pytest.fixture
def weights(matrix: ReadingMatrix) -> Floats:
    """Return six resamples of these patients."""
    return resample_weights(matrix.n_clusters, 6, seed=3)


def _repeated_items(matrix: ReadingMatrix, weights: Floats, items: Ints) -> Ints:
    return np.repeat(items, weights[matrix.clusters[items]].astype(int))


@pytest.mark.parametrize("items", [np.arange(20), np.arange(2, 20, 3)], ids=["all", "some"])
@pytest.mark.parametrize(
    "measure", coefficients.MEASURES_OF_EVERY_SCOPE, ids=lambda measure: measure.name
)
def test_a_resample_of_a_group_is_the_estimate_of_the_drawn_items(
    matrix: ReadingMatrix, weights: Floats, items: Ints, measure: coefficients.GroupMeasure
) -> None:
    """Clusters count as often as they are drawn."""
    groups = rater_groups(matrix.columns)
    codes = answers.correctness_of if measure.on_correctness else answers.letters_of
    draws = answers.resamples_of(matrix, items, weights)
    answered = answers.sum_answers(codes(matrix, items), matrix.n_options[items], groups, draws)
    for r, row in enumerate(weights):
        drawn = _repeated_items(matrix, row, items)
        naive = answers.sum_answers(codes(matrix, drawn), matrix.n_options[drawn], groups, None)
        for group, alone in zip(answered, naive, strict=True):
            assert group.resampled is not None
            estimate = measure.estimate(group.resampled)[r]
            expected = measure.estimate(alone.sums)
            if (
                measure.needs_same_n_options
            ):  # the estimate is defined over all items, and undefined in every resample
                assert np.isnan(estimate)
            else:
                assert estimate == pytest.approx(float(expected), abs=1e-12, nan_ok=True)


def test_a_resampled_mean_over_pairs_is_that_of_the_drawn_items(
    matrix: ReadingMatrix, weights: Floats
) -> None:
    """All three measures are computed over pairs in blocks."""
    pairs, items = pairs_of(matrix.columns), np.arange(20)
    defined = means.pair_means(matrix, pairs, items, ESTIMATES).defined
    resampled_means = means.resampled_means(matrix, pairs, items, ESTIMATES, defined, weights)
    for r, row in enumerate(weights):
        drawn = _repeated_items(matrix, row, items)
        expected = means.pair_means(matrix, pairs, drawn, ESTIMATES).mean
        assert resampled_means[:, r] == pytest.approx(expected, abs=1e-12)
