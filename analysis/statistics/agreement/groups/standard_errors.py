r"""Gwet's standard errors of a group's coefficients, in the form for raw ratings.

Each item has a value whose mean over the items is the coefficient and whose scatter is its error:
the standard error is :math:`\sqrt{\sum_i (\kappa_i - \kappa)^2 / (n (n - 1))}`. The values are
the coefficient's linearisation: what an item adds to observed agreement, less twice what it adds to
the agreement by chance, since that is of second degree in the shares.

References
----------
.. [1] Gwet KL. Large-sample variance of Fleiss generalized kappa. Educ Psychol Meas
   2021;81:781-790. doi:10.1177/0013164420973080
.. [2] Gwet KL. Computing inter-rater reliability and its variance in the presence of high
   agreement. Br J Math Stat Psychol 2008;61:29-48. doi:10.1348/000711006X126600
.. [3] Gwet KL. irrCAC: computing chance-corrected agreement coefficients. R package 1.0, 2019, the
   functions for raw ratings.
"""

from __future__ import annotations

import numpy as np

from analysis.arrays import Floats, Ints
from analysis.readings.clusters import ratio
from analysis.readings.matrix import NO_LETTER
from analysis.statistics.agreement.groups.coefficients import (
    ac1,
    ac1_chance,
    brennan_prediger,
    conger_chance,
    conger_kappa,
    fleiss_chance,
    fleiss_kappa,
    guessing_chance,
    krippendorff_chance,
    krippendorff_observed,
    krippendorff_uncorrected,
    prevalences,
)
from analysis.statistics.agreement.groups.ratings import Ratings
from analysis.statistics.agreement.groups.sums import GroupSums, observed_by_item


def fleiss_kappa_se(ratings: Ratings, sums: GroupSums) -> float:
    r"""Return the standard error of `fleiss_kappa` [1]_.

    Parameters
    ----------
    ratings : Ratings
        The group's answers.
    sums : GroupSums
        Their sums, of shape ().

    Returns
    -------
    float
        nan where the coefficient is undefined or a single item has an answer.

    Notes
    -----
    An item adds :math:`\sum_k \pi_k r_{ik} / r_i` to the agreement by chance.
    """
    by_chance = _weighted_shares(ratings.counts, prevalences(sums))
    return _scatter(ratings, sums, fleiss_kappa(sums), fleiss_chance(sums), by_chance)


def ac1_se(ratings: Ratings, sums: GroupSums) -> float:
    r"""Return the standard error of `ac1` [2]_; an item adds its mean of 1 - pi, over k - 1."""
    by_chance = _weighted_shares(ratings.counts, (1 - prevalences(sums)) / (sums.size - 1))
    return _scatter(ratings, sums, ac1(sums), ac1_chance(sums), by_chance)


def brennan_prediger_se(ratings: Ratings, sums: GroupSums) -> float:
    """Return the standard error of `brennan_prediger` [3]_; chance is the items', and fixed."""
    chance = guessing_chance(sums)
    return _scatter(ratings, sums, brennan_prediger(sums), chance, chance)


def conger_kappa_se(ratings: Ratings, sums: GroupSums) -> float:
    r"""Return the standard error of `conger_kappa` [3]_.

    Parameters
    ----------
    ratings : Ratings
        The group's answers.
    sums : GroupSums
        Their sums, of shape ().

    Returns
    -------
    float
        nan where the coefficient is undefined or a single item has an answer.

    Notes
    -----
    With :math:`v_{gk}` the sum of the other raters' shares of category k, rater g's answer x to an
    item adds :math:`(n / n_g) (v_{gx} - m_g) + m_g` to :math:`r (r - 1) p_e`, and no answer
    :math:`m_g = \sum_k p_{gk} v_{gk}`; :math:`n_g` of the n items were answered by g.
    """
    by_chance = _conger_by_item(ratings, float(sums.n))
    estimate, chance = conger_kappa(sums), conger_chance(sums)
    return _scatter(ratings, sums, estimate, chance, by_chance, ratings.kinds)


def krippendorff_alpha_se(ratings: Ratings, sums: GroupSums) -> float:
    r"""Return the standard error of `krippendorff_alpha` [3]_.

    Parameters
    ----------
    ratings : Ratings
        The group's answers.
    sums : GroupSums
        Their sums, of shape ().

    Returns
    -------
    float
        nan where alpha is undefined or a single item has two answers.

    Notes
    -----
    That of alpha without its correction for small samples, over the n items with at least two
    answers. With :math:`\bar r` answers an item, an item's
    :math:`\sum_k r_{ik} (r_{ik} - 1) / (\bar r (r_i - 1))` and
    :math:`\sum_k r_{ik} \pi_k / \bar r` are lowered by :math:`p_a` and :math:`p_e` times
    :math:`(r_i - \bar r) / \bar r`, since both are ratios to the number of answers. As in [3]_
    this :math:`p_a` is the corrected one, which matters where answers are missing.
    """
    paired = ratings.answers >= 2
    counts, answers = ratings.counts[:, paired], ratings.answers[paired]
    times = ratings.times[paired]
    mean_answers = ratio(sums.paired_answers, sums.n_paired)
    excess = ratio(answers - mean_answers, mean_answers)
    agreeing = (counts * (counts - 1)).sum(axis=0) / (answers - 1)
    observed = krippendorff_observed(sums)
    chance, alpha = krippendorff_chance(sums), krippendorff_uncorrected(sums)
    shares = ratio(sums.paired, sums.paired_answers)
    observed_i = agreeing / mean_answers - observed * excess
    chance_i = shares @ counts / mean_answers - chance * excess
    se = _root(_linear(observed_i, chance, alpha, chance_i), alpha, times)
    # Without a disagreement what is left is rounding.
    return 0.0 if np.isfinite(se) and sums.coincident == sums.paired_answers else se


def _scatter(
    ratings: Ratings,
    sums: GroupSums,
    estimate: Floats,
    chance: Floats,
    by_chance: Floats,
    kinds: Ints | None = None,
) -> float:
    """Return the root of the scatter; `by_chance` is by kind, or by item where `kinds` is given."""
    if not np.isfinite(estimate):
        return np.nan
    # Items with a single answer have no part in observed agreement; the others stand for them.
    scale = ratio(sums.n, sums.n_paired)
    observed, paired = scale * observed_by_item(ratings.counts), scale * (ratings.answers >= 2)
    times = ratings.times * (ratings.answers >= 1)
    if kinds is not None:
        observed, paired = observed[kinds], paired[kinds]
        times = (ratings.answers >= 1).astype(np.float64)[kinds]
    return _root(_linear(observed, chance, estimate, by_chance, paired), estimate, times)


def _linear(
    observed: Floats,
    chance: Floats,
    estimate: Floats,
    by_chance: Floats,
    paired: Floats | float = 1.0,
) -> Floats:
    first = ratio(observed - paired * chance, 1 - chance)
    return first - 2 * (1 - estimate) * ratio(by_chance - chance, 1 - chance)


def _root(values: Floats, estimate: Floats, times: Floats) -> float:
    n = times.sum()
    if n < 2:
        return np.nan
    return float(np.sqrt((times * (values - estimate) ** 2).sum() / (n * (n - 1))))


def _weighted_shares(counts: Floats, weights: Floats) -> Floats:
    shares: Floats = (weights @ counts) / np.maximum(counts.sum(axis=0), 1)
    return shares


def _conger_by_item(ratings: Ratings, n: float) -> Floats:
    given = ratings.by_rater.sum(axis=1)
    present = np.flatnonzero(given)
    shares = ratings.by_rater[present] / given[present, None]
    others = shares.sum(axis=0) - shares
    means = (shares * others).sum(axis=1)
    total = np.full(ratings.codes.shape[1], means.sum())
    for rater, mine, mean in zip(present, others, means, strict=True):
        adds = np.concatenate([[0.0], (mine - mean) * n / given[rater]])
        total += adds.take(ratings.codes[rater] - NO_LETTER)
    return total / max(len(present) * (len(present) - 1), 1)
