"""The bootstrap computes equal resamples once, and its limits are the same."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from analysis import Options, agreement_pairs
from analysis.readings.clusters import percentile_limits, resample_weights
from analysis.statistics.agreement import between
from analysis.statistics.agreement.pairs import resampling
from analysis.statistics.agreement.pairs.counts import pairs_of
from analysis.statistics.study import Study
from tests.unit.analysis.conftest import MakeBundle


def test_counting_equal_resamples_does_not_change_limits() -> None:
    """Limits are identical, also with undefined resamples."""
    generator = np.random.default_rng(7)
    for defined in (1.0, 0.9, 0.5):
        estimates = generator.normal(size=(5, 40))
        estimates[generator.random((5, 40)) > defined] = np.nan
        times = generator.integers(1, 60, size=40)
        for alpha in (0.05, 0.2, 0.9):
            units = np.array([7, 8, 29, 30, 300])
            by_counting = percentile_limits(estimates, alpha, units, times)
            written_out = percentile_limits(np.repeat(estimates, times, axis=1), alpha, units)
            np.testing.assert_array_equal(by_counting, written_out)


def test_intervals_of_few_patients_are_wider_or_undefined() -> None:
    """Fewer than eight patients have no interval; thirty or more have the percentile interval."""
    estimates = np.tile(np.random.default_rng(3).normal(size=999), (4, 1))
    low, high, _ = percentile_limits(estimates, 0.05, np.array([7, 8, 29, 30]))
    assert np.isnan([low[0], high[0]]).all()
    level = norm.cdf(-np.sqrt(8 / 7) * t.isf(0.025, 7))
    ends = np.quantile(estimates[0], [level, 1 - level])
    assert [low[1], high[1]] == pytest.approx(ends.tolist(), abs=1e-12)
    assert low[1] < low[2] < low[3] < high[3] < high[2] < high[1]
    plain = np.quantile(estimates[0], [0.025, 0.975])
    assert [low[3], high[3]] == pytest.approx(plain.tolist(), abs=1e-12)


def test_equal_resamples_are_counted() -> None:
    """Only three of two hundred patients have items, so their weights repeat."""
    drawn = resample_weights(200, 500, seed=1)[:, [3, 50, 120]]
    different, times = resampling._distinct_resamples(drawn)
    assert times is not None
    rows, counts = np.unique(drawn, axis=0, return_counts=True)
    order = np.lexsort(different.T[::-1])
    np.testing.assert_array_equal(different[order], rows)
    np.testing.assert_array_equal(times[order], counts)


def test_resamples_of_many_patients_are_not_counted() -> None:
    """All resamples differ, and their code would not fit into a float."""
    drawn = resample_weights(200, 50, seed=1)
    different, times = resampling._distinct_resamples(drawn)
    assert different is drawn
    assert times is None


def test_intervals_are_the_same_with_and_without_counting(
    make_bundle: MakeBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study has option sets of few patients."""
    n = 120
    answers = {"R": "ABCABD" * 20, "S": "ABCBAD" * 20, "T": "AACB.D" * 20}
    bundle = make_bundle(
        "ABCA" * 30,
        answers,
        patient_id=[f"p{i // 3}" for i in range(n)],
        option_set=[f"s{i // 12}" for i in range(n)],
    )
    by_counting = agreement_pairs(bundle, Options(bootstrap=400))
    monkeypatch.setattr(resampling, "_distinct_resamples", lambda drawn: (drawn, None))
    pd.testing.assert_frame_equal(
        by_counting, agreement_pairs(bundle, Options(bootstrap=400)), check_exact=True
    )


def test_every_resample_has_the_sums_of_the_distinct_resamples(make_bundle: MakeBundle) -> None:
    """Values are identical, with missing answers and different numbers of options."""
    answers = {"R": "ABCAB." * 20, "S": "ABCBAD" * 20, "T": "AACB.D" * 20}
    bundle = make_bundle("ABC." * 30, answers, n_options=[4, 5] * 60)
    matrix = Study(bundle).matrix
    pairs, items = pairs_of(matrix.columns), np.arange(120)
    weights = resample_weights(120, 50, seed=2)
    (_, all_drawn), (_, _, distinct, _) = (
        next(iter(result(matrix, pairs, items, weights)))
        for result in (resampling.sums_of_resamples, resampling.resampled_sums)
    )
    for _, measure in between.MEASURES:
        np.testing.assert_array_equal(measure(all_drawn), measure(distinct))
