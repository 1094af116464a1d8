r"""The measures of agreement between two raters, as functions of sums.

The same functions serve the estimate and its resamples. Each returns nan where it is undefined:

- no item that counts;
- a kappa of two constant raters, or whose chance agreement is 1 (to 1e-12);
- Brennan-Prediger and AC1 where the number of options is not given for every item, or is 1;
- AC1 where the number of options varies.

References
----------
.. [1] Cohen J. A coefficient of agreement for nominal scales. Educ Psychol Meas 1960;20:37-46.
   doi:10.1177/001316446002000104
.. [2] Brennan RL, Prediger DJ. Coefficient kappa: some uses, misuses, and alternatives. Educ
   Psychol Meas 1981;41:687-699. doi:10.1177/001316448104100307
.. [3] Gwet KL. Computing inter-rater reliability and its variance in the presence of high
   agreement. Br J Math Stat Psychol 2008;61:29-48. doi:10.1348/000711006X126600
.. [4] Geirhos R, Meding K, Wichmann FA. Beyond accuracy: quantifying trial-by-trial behaviour of
   CNNs and humans by measuring error consistency. NeurIPS 2020. doi:10.48550/arXiv.2006.16736
"""

from __future__ import annotations

import numpy as np

from analysis.arrays import Bools, Floats, ordered_sum
from analysis.readings.clusters import ratio
from analysis.statistics.agreement.pairs.counts import Sums
from analysis.statistics.agreement.pairs.item_sets import SAME_WRONG

CHANCE_TOLERANCE = 1e-12


def raw(sums: Sums) -> Floats:
    """Return the share of items with the same answer, shape (...), 0 to 1."""
    return ratio(sums.agree, sums.n)


def kappa_letters(sums: Sums) -> Floats:
    r"""Return Cohen's kappa on the letters [1]_, shape (...), -1 to 1.

    Notes
    -----
    :math:`(p_o - p_e) / (1 - p_e)` with :math:`p_e = \sum_j p_{j+} p_{+j}`. Across items whose
    options differ the letters are arbitrary, and permuting the options changes the value.
    """
    return cohen_kappa(sums)


def error_consistency(sums: Sums) -> Floats:
    """Return Cohen's kappa on correct and incorrect [4]_, over items with a reference standard.

    Shape (...), -1 to 1.
    """
    return cohen_kappa(sums.correctness)


def brennan_prediger(sums: Sums) -> Floats:
    r"""Return Brennan and Prediger's kappa [2]_ with each item's own number of options.

    Shape (...), at most 1.

    Notes
    -----
    :math:`(p_o - p_e) / (1 - p_e)` where :math:`p_e` is the mean of :math:`1 / k_i` over the
    pair's items, :math:`k_i` being the options offered.
    """
    chance = chance_of_guessing(sums)
    return ratio(raw(sums) - chance, 1 - chance)


def same_wrong(sums: Sums) -> Floats:
    """Return the share with the same wrong option among the items that both got wrong.

    Shape (...), 0 to 1.
    """
    return ratio(sums.outcomes[SAME_WRONG], sums.both_wrong)


def ac1(sums: Sums) -> Floats:
    r"""Return Gwet's AC1 [3]_ for items that all offer the same k options, shape (...), at most 1.

    Notes
    -----
    :math:`p_e = \sum_j \pi_j (1 - \pi_j) / (k - 1)` with :math:`\pi_j` the mean of the two raters'
    shares of option j; k counts the options offered, not those seen.
    """
    prevalence = ratio(sums.answers_a + sums.answers_b, 2 * sums.n)
    chance = ratio(ordered_sum(prevalence * (1 - prevalence)), common_size(sums) - 1)
    return ratio(raw(sums) - chance, 1 - chance)


def cohen_kappa(sums: Sums) -> Floats:
    """Return Cohen's kappa [1]_ of the answers as they are categorised in the sums.

    Shape (...), -1 to 1; nan where undefined.

    Examples
    --------
    Cohen (1960), 200 items, published as .492:

    >>> none = np.zeros((6,))
    >>> sums = Sums(
    ...     agree=np.array(140.0),
    ...     answers_a=np.array([120.0, 60, 20]),
    ...     answers_b=np.array([100.0, 60, 40]),
    ...     outcomes=none, options=none, sizes=np.arange(6),
    ... )
    >>> cohen_kappa(sums).round(4)
    np.float64(0.4915)
    """
    n = sums.n
    observed = ratio(sums.agree, n)
    together = (sums.answers_a * sums.answers_b).sum(axis=0)
    chance = ratio(together, n * n)
    undefined = 1 - chance <= CHANCE_TOLERANCE
    if not np.all(together):  # else two constant raters have a chance of 1
        undefined |= both_constant(sums)
    return np.where(undefined, np.nan, ratio(observed - chance, 1 - chance))


def both_constant(sums: Sums) -> Bools:
    """Whether each rater gave a single answer throughout, shape (...)."""
    constant: Bools = _is_constant(sums.answers_a) & _is_constant(sums.answers_b)
    return constant


def either_constant(sums: Sums) -> Bools:
    """Whether at least one rater gave a single answer throughout, shape (...)."""
    constant: Bools = _is_constant(sums.answers_a) | _is_constant(sums.answers_b)
    return constant


def _is_constant(answers: Floats) -> Bools:
    constant: Bools = answers.max(axis=0) == answers.sum(axis=0)
    return constant


def chance_of_guessing(sums: Sums) -> Floats:
    """Return the mean of 1/k over the items; nan where some k is not given, or it is 1."""
    known = sums.sizes > 0
    shares = 1 / sums.sizes[known]
    total = ordered_sum(
        share * part for share, part in zip(shares, sums.options[known], strict=True)
    )
    unknown = sums.options[~known].sum(axis=0) > 0
    chance = np.where(unknown, np.nan, ratio(total, sums.n))
    return np.where(1 - chance <= CHANCE_TOLERANCE, np.nan, chance)


def common_size(sums: Sums) -> Floats:
    """Return the number of options where all items offer the same; nan where not, or below 2."""
    several = (sums.options > 0).sum(axis=0) != 1
    size = sums.sizes[sums.options.argmax(axis=0)].astype(np.float64)
    return np.where(several | (size < 2), np.nan, size)
