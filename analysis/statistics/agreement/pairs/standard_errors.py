r"""Large-sample standard errors of the measures, from a pair's counts.

References
----------
.. [1] Fleiss JL, Cohen J, Everitt BS. Large sample standard errors of kappa and weighted kappa.
   Psychol Bull 1969;72:323-327. doi:10.1037/h0028106
.. [2] Gwet KL. Computing inter-rater reliability and its variance in the presence of high
   agreement. Br J Math Stat Psychol 2008;61:29-48. doi:10.1348/000711006X126600
.. [3] Gwet KL. irrCAC: computing chance-corrected agreement coefficients. R package 1.0, 2019, the
   functions for raw ratings: variances divide by n (n - 1).
"""

from __future__ import annotations

import numpy as np

from analysis.arrays import Floats, ordered_sum
from analysis.readings.clusters import ratio
from analysis.statistics.agreement.pairs.counts import PairCounts, correctness_tables, sums_of
from analysis.statistics.agreement.pairs.measures import (
    ac1,
    chance_of_guessing,
    common_size,
    raw,
    same_wrong,
)


def cohen_kappa_se(tables: Floats) -> Floats:
    r"""Return the standard error of Cohen's kappa, not assuming it to be 0 [1]_.

    Parameters
    ----------
    tables : numpy.ndarray of float, shape (..., n_categories, n_categories)
        Counts, first rater by second.

    Returns
    -------
    numpy.ndarray of float, shape (...)
        nan without items or where chance agreement is 1; 0 where a rater is constant, which the
        caller must treat as undefined.

    Notes
    -----
    With :math:`u_{ij} = \delta_{ij} (1 - p_e) - (1 - p_o)(p_{+i} + p_{j+})` the variance is
    :math:`\sum_{ij} p_{ij} (u_{ij} - \bar u)^2 / (n (1 - p_e)^4)`: equation 8 of the source,
    centred, so that rounding cannot make it negative.

    Examples
    --------
    The source's table, published variance .002885:

    >>> table = np.array([[106.0, 10, 4], [22, 28, 10], [2, 12, 6]])
    >>> (cohen_kappa_se(table) ** 2).round(6)
    np.float64(0.002885)
    """
    n = tables.sum(axis=(-2, -1))
    in_rows, in_columns = tables.sum(axis=-1), tables.sum(axis=-2)
    rows, columns = ratio(in_rows, n[..., None]), ratio(in_columns, n[..., None])
    shares = ratio(tables, n[..., None, None])
    agree = np.trace(tables, axis1=-2, axis2=-1)
    observed, chance = ratio(agree, n), ratio((in_rows * in_columns).sum(axis=-1), n * n)
    marginals = columns[..., :, None] + rows[..., None, :]
    same = np.eye(tables.shape[-1])
    influence = same * (1 - chance)[..., None, None] - (1 - observed)[..., None, None] * marginals
    mean = _over_cells(shares * influence)[..., None, None]
    variance = _over_cells(shares * (influence - mean) ** 2)
    se = np.sqrt(ratio(variance, n * ((1 - chance) ** 2) ** 2))
    return np.where((agree == n) & np.isfinite(se), 0.0, se)


def kappa_letters_se(counts: PairCounts) -> Floats:
    """Return the standard error of `kappa_letters` [1]_, shape (n_pairs, n_cells)."""
    return cohen_kappa_se(counts.letters)


def error_consistency_se(counts: PairCounts) -> Floats:
    """Return the standard error of `error_consistency` [1]_, shape (n_pairs, n_cells)."""
    return cohen_kappa_se(correctness_tables(counts))


def raw_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `raw` [3]_: :math:`\sqrt{p (1 - p) / (n - 1)}`."""
    sums = sums_of(counts)
    return _share_se(raw(sums), sums.n)


def same_wrong_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `same_wrong`, a share p: :math:`\sqrt{p (1 - p) / (n - 1)}`."""
    sums = sums_of(counts)
    return _share_se(same_wrong(sums), sums.both_wrong)


def brennan_prediger_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `brennan_prediger` [3]_.

    Notes
    -----
    Chance agreement is a property of the items, not of the answers, and so taken as fixed: the
    standard error is that of raw agreement over :math:`1 - p_e`.
    """
    return ratio(raw_se(counts), 1 - chance_of_guessing(sums_of(counts)))


def ac1_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `ac1` [2]_ [3]_.

    Returns
    -------
    numpy.ndarray of float, shape (n_pairs, n_cells)
        nan where AC1 is undefined and where there is a single item.

    Notes
    -----
    Each item contributes :math:`\gamma_i = (a_i - p_e)/(1 - p_e) - 2 (1 - \gamma)(p_{e|i} - p_e)
    / (1 - p_e)` with :math:`p_{e|i}` the mean of :math:`1 - \pi` over its two answers, over
    :math:`k - 1`; the variance is :math:`\sum_i (\gamma_i - \gamma)^2 / (n (n - 1))`. Items with
    the same two answers contribute alike, so that the pair's table suffices.
    """
    sums = sums_of(counts)
    n, size, estimate = sums.n, common_size(sums), ac1(sums)
    prevalence = ratio(sums.answers_a + sums.answers_b, 2 * n)
    chance = ratio(ordered_sum(prevalence * (1 - prevalence)), size - 1)[..., None, None]
    rest = np.moveaxis(1 - prevalence, 0, -1)
    spread = (size - 1)[..., None, None]
    item_chance = (rest[..., :, None] + rest[..., None, :]) / 2 / spread
    gamma = estimate[..., None, None]
    same = np.eye(counts.letters.shape[-1])
    item = ((same - chance) - 2 * (1 - gamma) * (item_chance - chance)) / (1 - chance)
    squares = _over_cells(counts.letters * (item - gamma) ** 2)
    return np.sqrt(ratio(squares, n * (n - 1)))


def _over_cells(tables: Floats) -> Floats:
    return ordered_sum(cell for row in np.moveaxis(tables, (-2, -1), (0, 1)) for cell in row)


def _share_se(share: Floats, n: Floats) -> Floats:
    return np.sqrt(ratio(share * (1 - share), np.maximum(n - 1, 0)))
