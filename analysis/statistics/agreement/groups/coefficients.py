r"""The coefficients of agreement within a group of raters, as functions of sums.

The same functions serve the estimate and its resamples. With :math:`r_{ik}` raters choosing
category k for item i, of :math:`r_i` who answered, observed agreement is the mean over the items
with at least two answers of the share of agreeing pairs of answers; missing answers are left out
item by item, as irrCAC does [5]_. All coefficients but Krippendorff's are
:math:`(p_a - p_e) / (1 - p_e)` with this :math:`p_a`. Each is nan where it is undefined:

- fewer than two raters with an answer, or no item with two answers;
- Fleiss, Conger and Krippendorff where every rater gave a single answer throughout;
- chance agreement of 1 (to 1e-12);
- Brennan-Prediger and AC1 where the number of options is not given for every item, or is 1;
- AC1 where the number of options varies.

References
----------
.. [1] Fleiss JL. Measuring nominal scale agreement among many raters. Psychol Bull
   1971;76:378-382. doi:10.1037/h0031619
.. [2] Conger AJ. Integration and generalization of kappas for multiple raters. Psychol Bull
   1980;88:322-328. doi:10.1037/0033-2909.88.2.322
.. [3] Hayes AF, Krippendorff K. Answering the call for a standard reliability measure for coding
   data. Commun Methods Meas 2007;1:77-89. doi:10.1080/19312450709336664
.. [4] Gwet KL. Computing inter-rater reliability and its variance in the presence of high
   agreement. Br J Math Stat Psychol 2008;61:29-48. doi:10.1348/000711006X126600
.. [5] Gwet KL. Large-sample variance of Fleiss generalized kappa. Educ Psychol Meas
   2021;81:781-790. doi:10.1177/0013164420973080
"""

from __future__ import annotations

import numpy as np

from analysis.arrays import Floats, ordered_sum
from analysis.readings.clusters import ratio
from analysis.statistics.agreement.groups.sums import GroupSums
from analysis.statistics.agreement.pairs.measures import CHANCE_TOLERANCE


def observed_agreement(sums: GroupSums) -> Floats:
    """Return the mean share of agreeing pairs of answers, over items with at least two.

    Shape (...), 0 to 1.
    """
    return ratio(sums.observed, sums.n_paired)


def above_chance(observed: Floats, chance: Floats) -> Floats:
    r"""Return :math:`(p_a - p_e) / (1 - p_e)`, nan where chance agreement is 1 (to 1e-12).

    Examples
    --------
    >>> above_chance(np.array([0.75, 1.0]), np.array([0.5, 1.0])).tolist()
    [0.5, nan]
    """
    chance = np.where(1 - chance <= CHANCE_TOLERANCE, np.nan, chance)
    return ratio(observed - chance, 1 - chance)


def prevalences(sums: GroupSums) -> Floats:
    """Return the mean over items of each category's share of the answers.

    Shape (n_categories, ...), 0 to 1.
    """
    return ratio(sums.shares, sums.n)


def fleiss_chance(sums: GroupSums) -> Floats:
    r"""Return Fleiss' agreement by chance [1]_ :math:`\sum_k \pi_k^2`, shape (...)."""
    return ordered_sum(prevalences(sums) ** 2)


def fleiss_kappa(sums: GroupSums) -> Floats:
    r"""Return Fleiss' kappa [1]_, shape (...), -1 to 1.

    Notes
    -----
    :math:`p_e = \sum_k \pi_k^2` with :math:`\pi_k` the mean over the items with an answer of the
    share :math:`r_{ik} / r_i`.
    """
    return _unless_constant(sums, above_chance(observed_agreement(sums), fleiss_chance(sums)))


def conger_chance(sums: GroupSums) -> Floats:
    r"""Return the mean over pairs of raters g, h of :math:`\sum_k p_{gk} p_{hk}`, shape (...)."""
    raters = sums.raters
    together = ordered_sum(raters.shares**2 - raters.squares)
    return ratio(together, raters.n * (raters.n - 1))


def conger_kappa(sums: GroupSums) -> Floats:
    r"""Return Conger's kappa [2]_, Cohen's kappa for many raters, shape (...), -1 to 1.

    Notes
    -----
    :math:`p_e` is the mean over the pairs of raters of their chance agreement
    :math:`\sum_k p_{gk} p_{hk}`, each rater's shares taken over the items that they answered. For
    two raters and no missing answer it is Cohen's kappa.
    """
    return _unless_constant(sums, above_chance(observed_agreement(sums), conger_chance(sums)))


def krippendorff_observed(sums: GroupSums) -> Floats:
    r"""Return :math:`(1 - 1/n) o + 1/n`, o the share of coincidences among n answers, (...)."""
    observed = ratio(sums.coincident, sums.paired_answers)
    share = ratio(np.ones_like(sums.paired_answers), sums.paired_answers)
    return (1 - share) * observed + share


def krippendorff_chance(sums: GroupSums) -> Floats:
    r"""Return :math:`\sum_k (n_k / n)^2` over the answers that can be paired, shape (...)."""
    return ordered_sum(ratio(sums.paired, sums.paired_answers) ** 2)


def krippendorff_uncorrected(sums: GroupSums) -> Floats:
    """Return alpha without its correction for small samples, shape (...)."""
    observed = ratio(sums.coincident, sums.paired_answers)
    return _unless_constant(sums, above_chance(observed, krippendorff_chance(sums)))


def krippendorff_alpha(sums: GroupSums) -> Floats:
    r"""Return Krippendorff's alpha for nominal data [3]_, shape (...), at most 1.

    Notes
    -----
    Only the n answers to items with at least two count. With :math:`o` the share of coincidences
    :math:`\sum_i \sum_k r_{ik} (r_{ik} - 1) / (r_i - 1)` among them,
    :math:`p_a = (1 - 1/n) o + 1/n` and :math:`p_e = \sum_k (n_k / n)^2`. This is the same as
    :math:`1 - D_o / D_e`.
    """
    observed = krippendorff_observed(sums)
    return _unless_constant(sums, above_chance(observed, krippendorff_chance(sums)))


def ac1_chance(sums: GroupSums) -> Floats:
    r"""Return Gwet's agreement by chance [4]_ :math:`\sum_k \pi_k (1 - \pi_k) / (k - 1)`."""
    prevalence = prevalences(sums)
    return ordered_sum(prevalence * (1 - prevalence)) / (sums.size - 1)


def ac1(sums: GroupSums) -> Floats:
    r"""Return Gwet's AC1 [4]_ for items that all offer the same k options, shape (...), at most 1.

    Notes
    -----
    :math:`p_e = \sum_k \pi_k (1 - \pi_k) / (k - 1)` with the prevalences of Fleiss' kappa.
    """
    return _unless_alone(sums, above_chance(observed_agreement(sums), ac1_chance(sums)))


def guessing_chance(sums: GroupSums) -> Floats:
    """Return the mean of 1/k over the items with at least two answers, shape (...)."""
    return ratio(sums.guessed, sums.n_paired)


def brennan_prediger(sums: GroupSums) -> Floats:
    r"""Return Brennan and Prediger's kappa with each item's own number of options.

    Shape (...), at most 1.

    Notes
    -----
    :math:`p_e` is the mean of :math:`1 / k_i` over the items that observed agreement is taken
    over, those with at least two answers: raters who guess then have 0 in expectation whatever is
    missing, and two raters have the value of their pair.
    """
    estimate = above_chance(observed_agreement(sums), guessing_chance(sums))
    return _unless_alone(sums, estimate if sums.sizes_known else np.full_like(estimate, np.nan))


def _unless_constant(sums: GroupSums, estimate: Floats) -> Floats:
    return np.where(sums.raters.varying == 0, np.nan, _unless_alone(sums, estimate))


def _unless_alone(sums: GroupSums, estimate: Floats) -> Floats:
    return np.where(sums.raters.n < 2, np.nan, estimate)
