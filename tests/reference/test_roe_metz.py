"""U-statistics of areas in Roe and Metz's model with the published configurations of iMRMC.

Configurations HL and HH of `data/roeMetzConfigs.rda` (iMRMC, public domain): 5 readers, 50 + 50
cases, variances of readers, of cases (0.3) and of readers' readings of a case (0.2), each once for
both modalities and once for each, by class. The moments are probabilities of two normal variables.
"""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from analysis.statistics.mrmc.second_moments import Observations
from analysis.statistics.mrmc.u_statistics import u_statistic

READERS, CASES, N_STUDIES = 5, 50, 80
OF_CASE, OF_READING = 2 * 0.3, 2 * 0.2
"""The sum of the two equal variances of one modality."""
CONFIGURATIONS = [
    *product([0.75, 1.5, 2.5], [0.0055]),
    *zip([0.75, 1.5, 2.5], [0.011, 0.03, 0.056], strict=True),
]


def scores(mean: float, reader: float, generator: np.random.Generator) -> np.ndarray:
    """Return whether each reader ranks each positive case above each negative one."""
    normal = generator.standard_normal
    positive, negative = (
        shift
        + np.sqrt(2 * reader) * normal((READERS, 1))
        + np.sqrt(OF_CASE) * normal(CASES)
        + np.sqrt(OF_READING) * normal((READERS, CASES))
        for shift in (mean, 0.0)
    )
    return np.asarray(positive[:, :, None] > negative[:, None, :], dtype=np.float64)


def true_moment(mean: float, reader: float, shared: int) -> float:
    """Return the probability that two pairs that share these axes are both in order."""
    same_reader, *same_cases = (bool(shared >> axis & 1) for axis in range(3))
    variance = 2 * (2 * reader + OF_CASE + OF_READING)
    covariance = same_reader * 4 * reader
    covariance += sum(OF_CASE + same_reader * OF_READING for same in same_cases if same)
    if shared == 7:
        return float(norm.cdf(mean / np.sqrt(variance)))
    both = multivariate_normal([mean] * 2, [[variance, covariance], [covariance, variance]])
    return float(1 - 2 * norm.cdf(-mean / np.sqrt(variance)) + both.cdf([0, 0]))


@pytest.mark.parametrize(("mean", "reader"), CONFIGURATIONS)
def test_areas_moments_and_variances_are_unbiased(mean: float, reader: float) -> None:
    """The means over studies are the true values, apart from four standard errors."""
    generator = np.random.default_rng([7, round(1e4 * mean), round(1e4 * reader)])
    design = np.ones((READERS, CASES, CASES))
    results = [
        u_statistic(Observations(kernel=scores(mean, reader, generator), design=design))
        for _ in range(N_STUDIES)
    ]
    moments = [true_moment(mean, reader, shared) for shared in range(8)]
    variance = float(results[0].moments[0].coefficients @ moments)
    for estimates, true in (
        (np.array([result.estimate for result in results]), moments[7]),
        (np.array([result.variance for result in results]), variance),
        *zip(np.array([r.moments[0].unbiased for r in results]).T, moments, strict=True),
    ):
        assert estimates.mean() == pytest.approx(
            true, abs=4 * estimates.std(ddof=1) / np.sqrt(N_STUDIES)
        )
