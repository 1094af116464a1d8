r"""Coefficients of agreement within a group, their standard errors, and why they are undefined.

The same functions compute the estimate and its resamples. With :math:`r_{ik}` raters choosing
category k for item i, of :math:`r_i` who answered, observed agreement is the mean over the items
with at least two answers of the share of agreeing pairs of answers; missing answers are omitted by
item, as in irrCAC [5]_. All coefficients but Krippendorff's are
:math:`(p_a - p_e) / (1 - p_e)` with this :math:`p_a`. Each is nan if it is undefined:

- fewer than two raters with an answer, or no item with two answers;
- Fleiss, Conger and Krippendorff where every rater gave a single answer throughout;
- chance agreement of 1 (to 1e-12);
- Brennan-Prediger and AC1 where the number of options is not given for every item, or is 1;
- AC1 where the number of options varies.

For standard errors each item has a value. The mean of the values is the coefficient, and their
scatter gives its error, :math:`\sqrt{\sum_i (\kappa_i - \kappa)^2 / (n (n - 1))}`. The values are
the coefficient's linearisation: the item's contribution to observed agreement minus twice its
contribution to chance agreement, which is of second degree in the shares.

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
.. [6] Gwet KL. irrCAC: computing chance-corrected agreement coefficients. R package 1.0, 2019, the
   functions for raw ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Bools, Floats, Ints, ordered_sum
from analysis.readings.clusters import ratio
from analysis.readings.matrix import NO_LETTER
from analysis.statistics.agreement.groups.answers import GroupAnswers, GroupSums, observed_by_item
from analysis.statistics.agreement.pairs.measures import (
    BOTH_CONSTANT,
    BOTH_CONSTANT_CORRECT,
    CHANCE_IS_ONE,
    CHANCE_TOLERANCE,
    SIZE_ONE,
    SIZE_UNKNOWN,
    SIZE_VARIES,
    beyond_chance,
)
from analysis.translation import later


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
    return beyond_chance(observed, chance)


def prevalences(sums: GroupSums) -> Floats:
    """Return the mean over items of each category's share of the answers.

    Shape (n_categories, ...), 0 to 1.
    """
    return ratio(sums.shares, sums.n)


def fleiss_chance(sums: GroupSums) -> Floats:
    r"""Return Fleiss' chance agreement [1]_ :math:`\sum_k \pi_k^2`, shape (...)."""
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
    :math:`\sum_k p_{gk} p_{hk}`, with each rater's shares over the items that they answered. For
    two raters without missing answers it is Cohen's kappa.
    """
    return _unless_constant(sums, above_chance(observed_agreement(sums), conger_chance(sums)))


def krippendorff_observed(sums: GroupSums) -> Floats:
    r"""Return :math:`(1 - 1/n) o + 1/n`, o the share of coincidences among n answers, (...)."""
    observed = ratio(sums.coincident, sums.paired_answers)
    share = ratio(np.ones_like(sums.paired_answers), sums.paired_answers)
    return (1 - share) * observed + share


def krippendorff_chance(sums: GroupSums) -> Floats:
    r"""Return :math:`\sum_k (n_k / n)^2` over the pairable answers, shape (...)."""
    return ordered_sum(ratio(sums.paired, sums.paired_answers) ** 2)


def krippendorff_uncorrected(sums: GroupSums) -> Floats:
    """Return alpha without its small-sample correction, shape (...)."""
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
    r"""Return Gwet's chance agreement [4]_ :math:`\sum_k \pi_k (1 - \pi_k) / (k - 1)`."""
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
    :math:`p_e` is the mean of :math:`1 / k_i` over the items of observed agreement, those with at
    least two answers. So raters who guess have 0 in expectation regardless of missing answers, and
    two raters have the value of their pair.
    """
    estimate = above_chance(observed_agreement(sums), guessing_chance(sums))
    return _unless_alone(sums, estimate if sums.sizes_known else np.full_like(estimate, np.nan))


def _unless_constant(sums: GroupSums, estimate: Floats) -> Floats:
    return np.where(sums.raters.varying == 0, np.nan, _unless_alone(sums, estimate))


def _unless_alone(sums: GroupSums, estimate: Floats) -> Floats:
    return np.where(sums.raters.n < 2, np.nan, estimate)


def fleiss_kappa_se(ratings: GroupAnswers, sums: GroupSums) -> float:
    r"""Return the standard error of `fleiss_kappa` [5]_.

    Parameters
    ----------
    ratings : GroupAnswers
        The group's answers.
    sums : GroupSums
        Their sums, of shape ().

    Returns
    -------
    float
        nan if the coefficient is undefined or a single item has an answer.

    Notes
    -----
    The contribution of an item to chance agreement is :math:`\sum_k \pi_k r_{ik} / r_i`.
    """
    by_chance = _weighted_shares(ratings.counts, prevalences(sums))
    return _scatter(ratings, sums, fleiss_kappa(sums), fleiss_chance(sums), by_chance)


def ac1_se(ratings: GroupAnswers, sums: GroupSums) -> float:
    r"""Return the standard error of `ac1` [4]_; an item adds its mean of 1 - pi over k - 1."""
    by_chance = _weighted_shares(ratings.counts, (1 - prevalences(sums)) / (sums.size - 1))
    return _scatter(ratings, sums, ac1(sums), ac1_chance(sums), by_chance)


def brennan_prediger_se(ratings: GroupAnswers, sums: GroupSums) -> float:
    """Return the standard error of `brennan_prediger` [6]_; its chance agreement is fixed."""
    chance = guessing_chance(sums)
    return _scatter(ratings, sums, brennan_prediger(sums), chance, chance)


def conger_kappa_se(ratings: GroupAnswers, sums: GroupSums) -> float:
    r"""Return the standard error of `conger_kappa` [6]_.

    Parameters
    ----------
    ratings : GroupAnswers
        The group's answers.
    sums : GroupSums
        Their sums, of shape ().

    Returns
    -------
    float
        nan if the coefficient is undefined or a single item has an answer.

    Notes
    -----
    With :math:`v_{gk}` the sum of the other raters' shares of category k, rater g's answer x to an
    item contributes :math:`(n / n_g) (v_{gx} - m_g) + m_g` to :math:`r (r - 1) p_e`, a missing
    answer :math:`m_g = \sum_k p_{gk} v_{gk}`; g answered :math:`n_g` of the n items.
    """
    by_chance = _conger_by_item(ratings, float(sums.n))
    estimate, chance = conger_kappa(sums), conger_chance(sums)
    return _scatter(ratings, sums, estimate, chance, by_chance, ratings.kinds)


def krippendorff_alpha_se(ratings: GroupAnswers, sums: GroupSums) -> float:
    r"""Return the standard error of `krippendorff_alpha` [6]_.

    Parameters
    ----------
    ratings : GroupAnswers
        The group's answers.
    sums : GroupSums
        Their sums, of shape ().

    Returns
    -------
    float
        nan where alpha is undefined or a single item has two answers.

    Notes
    -----
    The standard error is that of alpha without its small-sample correction, over the n items with
    at least two answers. With :math:`\bar r` answers per item, an item's :math:`\sum_k r_{ik}
    (r_{ik} - 1) / (\bar r (r_i - 1))` and :math:`\sum_k r_{ik} \pi_k / \bar r` are reduced by
    :math:`p_a` and :math:`p_e` times :math:`(r_i - \bar r) / \bar r`, because both are ratios to
    the number of answers. As in [6]_ this :math:`p_a` is corrected, which matters if answers are
    missing.
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
    # Without disagreement only a rounding error remains.
    return 0.0 if np.isfinite(se) and sums.coincident == sums.paired_answers else se


def _scatter(
    ratings: GroupAnswers,
    sums: GroupSums,
    estimate: Floats,
    chance: Floats,
    by_chance: Floats,
    kinds: Ints | None = None,
) -> float:
    """Return the standard error; `by_chance` is by kind, or by item where `kinds` is given."""
    if not np.isfinite(estimate):
        return np.nan
    # Observed agreement leaves out items with a single answer, which is equal to giving them the
    # mean of the others.
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


def _conger_by_item(ratings: GroupAnswers, n: float) -> Floats:
    n_answers = ratings.by_rater.sum(axis=1)
    present = np.flatnonzero(n_answers)
    shares = ratings.by_rater[present] / n_answers[present, None]
    others = shares.sum(axis=0) - shares
    means = (shares * others).sum(axis=1)
    total = np.full(ratings.codes.shape[1], means.sum())
    for rater, others_shares, mean in zip(present, others, means, strict=True):
        adds = np.concatenate([[0.0], (others_shares - mean) * n / n_answers[rater]])
        total += adds.take(ratings.codes[rater] - NO_LETTER)
    return total / max(len(present) * (len(present) - 1), 1)


SINGLE_RATER = later("the group has a single rater")
NO_ANSWER = later("no item was answered")
NO_JUDGED_ANSWER = later("no item with a reference standard was answered")
NO_PAIRED = later("no item was answered by two raters")
NO_JUDGED_PAIRED = later("no item with a reference standard was answered by two raters")

GWET = later("SE Gwet (irrCAC raw ratings)")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMeasure:
    """One coefficient of agreement within a group of raters.

    Parameters
    ----------
    name : str
        As in the table.
    estimate : callable
        From sums of shape (...) to estimates of that shape, nan where undefined.
    standard_error : callable
        From answers and their sums to the standard error.
    method : str
        Estimator and standard error with their sources, for the table.
    on_correctness : bool
        Whether it compares correctness instead of letters.
    from_marginals : bool
        Whether chance agreement depends on the marginals, so that it is undefined for constant
        raters.
    by_size : bool
        Whether chance agreement depends on the number of options offered.
    one_size : bool
        Whether every item has to offer the same number.
    paired_only : bool
        Whether items with a single answer do not count.
    """

    name: str
    estimate: Callable[[GroupSums], Floats]
    standard_error: Callable[[GroupAnswers, GroupSums], float]
    method: str
    on_correctness: bool = False
    from_marginals: bool = True
    by_size: bool = False
    one_size: bool = False
    paired_only: bool = False

    def counted(self, ratings: GroupAnswers) -> Bools:
        """Whether an item of each kind counts, shape (n_kinds,)."""
        is_counted: Bools = ratings.answers >= (2 if self.paired_only else 1)
        return is_counted

    def reason(self, ratings: GroupAnswers, sums: GroupSums) -> str:
        """Return the reason for an undefined estimate."""
        on_correctness = self.on_correctness
        cases = (
            (len(ratings.codes) < 2, SINGLE_RATER),
            (sums.n == 0, NO_JUDGED_ANSWER if on_correctness else NO_ANSWER),
            (sums.n_paired == 0, NO_JUDGED_PAIRED if on_correctness else NO_PAIRED),
            (
                self.from_marginals and sums.raters.varying == 0,
                BOTH_CONSTANT_CORRECT if on_correctness else BOTH_CONSTANT,
            ),
            *(self._size_cases(ratings) if self.by_size else ()),
        )
        return next((reason for holds, reason in cases if holds), CHANCE_IS_ONE)

    def _size_cases(self, ratings: GroupAnswers) -> tuple[tuple[bool, str], ...]:
        sizes = np.unique(ratings.options[ratings.answers >= (1 if self.one_size else 2)])
        return (
            (bool((sizes == 0).any()), SIZE_UNKNOWN),
            (self.one_size and len(sizes) > 1, SIZE_VARIES),
            (self.one_size, SIZE_ONE),
        )


def _fleiss(name: str, label: str, *, on_correctness: bool = False) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=fleiss_kappa,
        standard_error=fleiss_kappa_se,
        method=f"Fleiss' kappa (1971) on {label}; {GWET}",
        on_correctness=on_correctness,
    )


def _conger(name: str, label: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=conger_kappa,
        standard_error=conger_kappa_se,
        method=f"Conger's kappa (1980) on {label}; {GWET}",
    )


def _krippendorff(name: str, label: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=krippendorff_alpha,
        standard_error=krippendorff_alpha_se,
        method=f"Krippendorff's alpha, nominal, on {label}; {GWET}",
        paired_only=True,
    )


def _ac1(name: str, label: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=ac1,
        standard_error=ac1_se,
        method=f"Gwet's AC1 (2008) on {label}; {GWET}",
        from_marginals=False,
        by_size=True,
        one_size=True,
    )


ARBITRARY, SAME = "arbitrary letters", "the same options"

BRENNAN_PREDIGER = GroupMeasure(
    name="brennan_prediger",
    estimate=brennan_prediger,
    standard_error=brennan_prediger_se,
    method=f"Brennan and Prediger (1981), chance the mean of 1/k; {GWET}",
    from_marginals=False,
    by_size=True,
)

MEASURES_OF_EVERY_SCOPE = (
    BRENNAN_PREDIGER,
    _fleiss("error_consistency", "correct and incorrect", on_correctness=True),
    _fleiss("fleiss_kappa_letters", ARBITRARY),
    _conger("conger_kappa_letters", ARBITRARY),
    _krippendorff("krippendorff_alpha_letters", ARBITRARY),
    _ac1("ac1_letters", ARBITRARY),
)
WITHIN_OPTION_SET = (
    _fleiss("fleiss_kappa", SAME),
    _conger("conger_kappa", SAME),
    _krippendorff("krippendorff_alpha", SAME),
    _ac1("ac1", SAME),
    BRENNAN_PREDIGER,
)
