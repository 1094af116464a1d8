r"""Coefficients of agreement within a group, their standard errors, and why they are undefined.

The same functions compute the estimate and its resamples. Let :math:`r_i` be the number of raters
who answered item i, and :math:`r_{ik}` the number of those who chose category k. Observed agreement
:math:`p_a` is the mean share of agreeing pairs of answers, over the items with at least two
answers; missing answers are omitted by item, as in irrCAC [6]_. All coefficients except
Krippendorff's are :math:`(p_a - p_e) / (1 - p_e)` with this :math:`p_a`. A coefficient is undefined
(nan)

- with fewer than two raters who answered, or without an item with two answers;
- for Fleiss, Conger and Krippendorff, if every rater gave a single answer throughout;
- if chance agreement is 1 (to 1e-12);
- for Brennan-Prediger and AC1, if the number of options is unknown for an item, or is 1;
- for AC1, if the number of options varies.

For standard errors, each item has a value :math:`\kappa_i`. The mean of the values is the
coefficient, and their variation gives its standard error,
:math:`\sqrt{\sum_i (\kappa_i - \kappa)^2 / (n (n - 1))}`. The values linearise the coefficient:
they are the item's contribution to observed agreement minus twice its contribution to chance
agreement, which is quadratic in the shares.

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
    N_OPTIONS_UNKNOWN,
    N_OPTIONS_VARIES,
    SINGLE_OPTION,
    beyond_chance,
)
from analysis.translation import later


def observed_agreement(sums: GroupSums) -> Floats:
    """Return the mean share of agreeing pairs of answers, over items with at least two answers.

    The shape is (...); values are from 0 to 1.
    """
    return ratio(sums.observed, sums.n_paired)


def above_chance(observed: Floats, chance: Floats) -> Floats:
    r"""Return :math:`(p_a - p_e) / (1 - p_e)`; nan where chance agreement is 1 (to 1e-12).

    Examples
    --------
    >>> above_chance(np.array([0.75, 1.0]), np.array([0.5, 1.0])).tolist()
    [0.5, nan]
    """
    chance = np.where(1 - chance <= CHANCE_TOLERANCE, np.nan, chance)
    return beyond_chance(observed, chance)


def prevalences(sums: GroupSums) -> Floats:
    """Return each category's share of an item's answers, averaged over items.

    The shape is (n_categories, ...); values are from 0 to 1.
    """
    return ratio(sums.shares, sums.n)


def fleiss_chance(sums: GroupSums) -> Floats:
    r"""Return Fleiss' chance agreement [1]_ :math:`\sum_k \pi_k^2`, shape (...)."""
    return ordered_sum(prevalences(sums) ** 2)


def fleiss_kappa(sums: GroupSums) -> Floats:
    r"""Return Fleiss' kappa [1]_, shape (...), -1 to 1.

    Notes
    -----
    Chance agreement is :math:`p_e = \sum_k \pi_k^2`, where :math:`\pi_k` is the mean of the share
    :math:`r_{ik} / r_i` over the items with an answer.
    """
    return _nan_if_constant(sums, above_chance(observed_agreement(sums), fleiss_chance(sums)))


def conger_chance(sums: GroupSums) -> Floats:
    r"""Return the mean of :math:`\sum_k p_{gk} p_{hk}` over pairs of raters g, h, shape (...)."""
    raters = sums.raters
    joint = ordered_sum(raters.shares**2 - raters.squares)
    return ratio(joint, raters.n * (raters.n - 1))


def conger_kappa(sums: GroupSums) -> Floats:
    r"""Return Conger's kappa [2]_, Cohen's kappa for many raters, shape (...), -1 to 1.

    Notes
    -----
    :math:`p_e` is the mean chance agreement :math:`\sum_k p_{gk} p_{hk}` of pairs of raters, with
    each rater's shares over the items that they answered. For two raters without missing answers
    the coefficient is Cohen's kappa.
    """
    return _nan_if_constant(sums, above_chance(observed_agreement(sums), conger_chance(sums)))


def krippendorff_observed(sums: GroupSums) -> Floats:
    r"""Return :math:`(1 - 1/n) o + 1/n`, where o is the share of coincidences among n answers."""
    observed = ratio(sums.coincident, sums.paired_answers)
    share = ratio(np.ones_like(sums.paired_answers), sums.paired_answers)
    return (1 - share) * observed + share


def krippendorff_chance(sums: GroupSums) -> Floats:
    r"""Return :math:`\sum_k (n_k / n)^2` over the pairable answers, shape (...)."""
    return ordered_sum(ratio(sums.paired, sums.paired_answers) ** 2)


def krippendorff_uncorrected(sums: GroupSums) -> Floats:
    """Return alpha without its small-sample correction, shape (...)."""
    observed = ratio(sums.coincident, sums.paired_answers)
    return _nan_if_constant(sums, above_chance(observed, krippendorff_chance(sums)))


def krippendorff_alpha(sums: GroupSums) -> Floats:
    r"""Return Krippendorff's alpha for nominal data [3]_, shape (...), at most 1.

    Notes
    -----
    Only the n answers to items with at least two answers are counted. Let :math:`o` be the share of
    coincidences :math:`\sum_i \sum_k r_{ik} (r_{ik} - 1) / (r_i - 1)` among them. Then
    :math:`p_a = (1 - 1/n) o + 1/n` and :math:`p_e = \sum_k (n_k / n)^2`, which gives
    :math:`1 - D_o / D_e`.
    """
    observed = krippendorff_observed(sums)
    return _nan_if_constant(sums, above_chance(observed, krippendorff_chance(sums)))


def ac1_chance(sums: GroupSums) -> Floats:
    r"""Return Gwet's chance agreement [4]_ :math:`\sum_k \pi_k (1 - \pi_k) / (k - 1)`."""
    prevalence = prevalences(sums)
    return ordered_sum(prevalence * (1 - prevalence)) / (sums.size - 1)


def ac1(sums: GroupSums) -> Floats:
    r"""Return Gwet's AC1 [4]_ for items that all offer the same k options, shape (...), at most 1.

    Notes
    -----
    Chance agreement is :math:`p_e = \sum_j \pi_j (1 - \pi_j) / (k - 1)`, with the prevalences
    :math:`\pi_j` of Fleiss' kappa.
    """
    return _nan_if_single_rater(sums, above_chance(observed_agreement(sums), ac1_chance(sums)))


def guessing_chance(sums: GroupSums) -> Floats:
    """Return the mean of 1/k over the items with at least two answers, shape (...)."""
    return ratio(sums.guessed, sums.n_paired)


def brennan_prediger(sums: GroupSums) -> Floats:
    r"""Return Brennan and Prediger's kappa with each item's own number of options.

    The shape is (...); values are at most 1.

    Notes
    -----
    :math:`p_e` is the mean of :math:`1 / k_i` over the items with at least two answers, like
    observed agreement. The expected value for raters who guess is therefore 0 even if answers are
    missing, and two raters have the same value as a pair and as a group.
    """
    estimate = above_chance(observed_agreement(sums), guessing_chance(sums))
    return _nan_if_single_rater(
        sums, estimate if sums.sizes_known else np.full_like(estimate, np.nan)
    )


def _nan_if_constant(sums: GroupSums, estimate: Floats) -> Floats:
    return np.where(sums.raters.varying == 0, np.nan, _nan_if_single_rater(sums, estimate))


def _nan_if_single_rater(sums: GroupSums, estimate: Floats) -> Floats:
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
    return _standard_error(ratings, sums, fleiss_kappa(sums), fleiss_chance(sums), by_chance)


def ac1_se(ratings: GroupAnswers, sums: GroupSums) -> float:
    r"""Return the standard error of `ac1` [4]_.

    An item's contribution to chance agreement is the mean of :math:`1 - \pi` over its answers,
    divided by :math:`k - 1`.
    """
    by_chance = _weighted_shares(ratings.counts, (1 - prevalences(sums)) / (sums.size - 1))
    return _standard_error(ratings, sums, ac1(sums), ac1_chance(sums), by_chance)


def brennan_prediger_se(ratings: GroupAnswers, sums: GroupSums) -> float:
    """Return the standard error of `brennan_prediger` [6]_, whose chance agreement is fixed."""
    chance = guessing_chance(sums)
    return _standard_error(ratings, sums, brennan_prediger(sums), chance, chance)


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
    Let :math:`v_{gk}` be the sum of the other raters' shares of category k, and :math:`n_g` the
    number of the n items that rater g answered. Rater g's answer x to an item contributes
    :math:`(n / n_g) (v_{gx} - m_g) + m_g` to :math:`r (r - 1) p_e`, and a missing answer
    contributes :math:`m_g = \sum_k p_{gk} v_{gk}`.
    """
    by_chance = _conger_chance_by_item(ratings, float(sums.n))
    estimate, chance = conger_kappa(sums), conger_chance(sums)
    return _standard_error(ratings, sums, estimate, chance, by_chance, ratings.kinds)


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
        nan if alpha is undefined or only one item has two answers.

    Notes
    -----
    The standard error is that of alpha without its small-sample correction, over the n items with
    at least two answers, which have :math:`\bar r` answers on average. An item's :math:`\sum_k
    r_{ik} (r_{ik} - 1) / (\bar r (r_i - 1))` is reduced by :math:`p_a (r_i - \bar r) / \bar r`, and
    its :math:`\sum_k r_{ik} \pi_k / \bar r` by :math:`p_e (r_i - \bar r) / \bar r`, because both
    are ratios to the number of answers. As in [6]_, this :math:`p_a` includes the small-sample
    correction, which matters if answers are missing.
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
    se = _error_of_mean(_linearised_values(observed_i, chance, alpha, chance_i), alpha, times)
    # Without disagreement, the formula gives only a rounding error.
    return 0.0 if np.isfinite(se) and sums.coincident == sums.paired_answers else se


def _standard_error(
    ratings: GroupAnswers,
    sums: GroupSums,
    estimate: Floats,
    chance: Floats,
    by_chance: Floats,
    kinds: Ints | None = None,
) -> float:
    """Return the standard error; `by_chance` is by item if `kinds` is passed, otherwise by kind."""
    if not np.isfinite(estimate):
        return np.nan
    # Observed agreement omits items with a single answer, which is equivalent to giving them the
    # mean of the others.
    scale = ratio(sums.n, sums.n_paired)
    observed, paired = scale * observed_by_item(ratings.counts), scale * (ratings.answers >= 2)
    times = ratings.times * (ratings.answers >= 1)
    if kinds is not None:
        observed, paired = observed[kinds], paired[kinds]
        times = (ratings.answers >= 1).astype(np.float64)[kinds]
    return _error_of_mean(
        _linearised_values(observed, chance, estimate, by_chance, paired), estimate, times
    )


def _linearised_values(
    observed: Floats,
    chance: Floats,
    estimate: Floats,
    by_chance: Floats,
    paired: Floats | float = 1.0,
) -> Floats:
    observed_part = ratio(observed - paired * chance, 1 - chance)
    return observed_part - 2 * (1 - estimate) * ratio(by_chance - chance, 1 - chance)


def _error_of_mean(values: Floats, estimate: Floats, times: Floats) -> float:
    n = times.sum()
    if n < 2:
        return np.nan
    return float(np.sqrt((times * (values - estimate) ** 2).sum() / (n * (n - 1))))


def _weighted_shares(counts: Floats, weights: Floats) -> Floats:
    shares: Floats = (weights @ counts) / np.maximum(counts.sum(axis=0), 1)
    return shares


def _conger_chance_by_item(ratings: GroupAnswers, n: float) -> Floats:
    n_answers = ratings.by_rater.sum(axis=1)
    present = np.flatnonzero(n_answers)
    shares = ratings.by_rater[present] / n_answers[present, None]
    others = shares.sum(axis=0) - shares
    means = (shares * others).sum(axis=1)
    total = np.full(ratings.codes.shape[1], means.sum())
    for rater, others_shares, mean in zip(present, others, means, strict=True):
        chance_by_letter = np.concatenate([[0.0], (others_shares - mean) * n / n_answers[rater]])
        total += chance_by_letter.take(ratings.codes[rater] - NO_LETTER)
    return total / max(len(present) * (len(present) - 1), 1)


SINGLE_RATER = later("the group has a single rater")
NO_ANSWER = later("no item was answered")
NO_JUDGED_ANSWER = later("no item with a reference standard was answered")
NO_PAIRED = later("no item was answered by two raters")
NO_JUDGED_PAIRED = later("no item with a reference standard was answered by two raters")

GWET_SE = later("SE Gwet (irrCAC raw ratings)")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMeasure:
    """One coefficient of agreement within a group of raters.

    Parameters
    ----------
    name : str
        Its name in the table.
    estimate : callable
        Function of sums of shape (...) that returns estimates of that shape, nan where undefined.
    standard_error : callable
        Function of answers and their sums that returns the standard error.
    method : str
        Estimator and standard error with their sources, for the table.
    on_correctness : bool
        Whether it compares correctness instead of letters.
    uses_marginals : bool
        Whether chance agreement depends on the marginals, so that it is undefined for constant
        raters.
    uses_n_options : bool
        Whether chance agreement depends on the number of options offered.
    needs_same_n_options : bool
        Whether every item must offer the same number of options.
    needs_two_answers : bool
        Whether items with a single answer are omitted.
    """

    name: str
    estimate: Callable[[GroupSums], Floats]
    standard_error: Callable[[GroupAnswers, GroupSums], float]
    method: str
    on_correctness: bool = False
    uses_marginals: bool = True
    uses_n_options: bool = False
    needs_same_n_options: bool = False
    needs_two_answers: bool = False

    def has_enough_answers(self, ratings: GroupAnswers) -> Bools:
        """Return whether items of each kind have enough answers to be counted, shape (n_kinds,)."""
        has_enough: Bools = ratings.answers >= (2 if self.needs_two_answers else 1)
        return has_enough

    def reason(self, ratings: GroupAnswers, sums: GroupSums) -> str:
        """Return the reason why the estimate is undefined."""
        on_correctness = self.on_correctness
        conditions = (
            (len(ratings.codes) < 2, SINGLE_RATER),
            (sums.n == 0, NO_JUDGED_ANSWER if on_correctness else NO_ANSWER),
            (sums.n_paired == 0, NO_JUDGED_PAIRED if on_correctness else NO_PAIRED),
            (
                self.uses_marginals and sums.raters.varying == 0,
                BOTH_CONSTANT_CORRECT if on_correctness else BOTH_CONSTANT,
            ),
            *(self._size_conditions(ratings) if self.uses_n_options else ()),
        )
        return next((reason for is_true, reason in conditions if is_true), CHANCE_IS_ONE)

    def _size_conditions(self, ratings: GroupAnswers) -> tuple[tuple[bool, str], ...]:
        sizes = np.unique(
            ratings.options[ratings.answers >= (1 if self.needs_same_n_options else 2)]
        )
        return (
            (bool((sizes == 0).any()), N_OPTIONS_UNKNOWN),
            (self.needs_same_n_options and len(sizes) > 1, N_OPTIONS_VARIES),
            (self.needs_same_n_options, SINGLE_OPTION),
        )


def _fleiss_measure(name: str, label: str, *, on_correctness: bool = False) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=fleiss_kappa,
        standard_error=fleiss_kappa_se,
        method=f"Fleiss' kappa (1971) on {label}; {GWET_SE}",
        on_correctness=on_correctness,
    )


def _conger_measure(name: str, label: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=conger_kappa,
        standard_error=conger_kappa_se,
        method=f"Conger's kappa (1980) on {label}; {GWET_SE}",
    )


def _krippendorff_measure(name: str, label: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=krippendorff_alpha,
        standard_error=krippendorff_alpha_se,
        method=f"Krippendorff's alpha, nominal, on {label}; {GWET_SE}",
        needs_two_answers=True,
    )


def _ac1_measure(name: str, label: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=ac1,
        standard_error=ac1_se,
        method=f"Gwet's AC1 (2008) on {label}; {GWET_SE}",
        uses_marginals=False,
        uses_n_options=True,
        needs_same_n_options=True,
    )


ARBITRARY_LETTERS, SAME_OPTIONS = "arbitrary letters", "the same options"

BRENNAN_PREDIGER = GroupMeasure(
    name="brennan_prediger",
    estimate=brennan_prediger,
    standard_error=brennan_prediger_se,
    method=f"Brennan and Prediger (1981), chance the mean of 1/k; {GWET_SE}",
    uses_marginals=False,
    uses_n_options=True,
)

MEASURES_OF_EVERY_SCOPE = (
    BRENNAN_PREDIGER,
    _fleiss_measure("error_consistency", "correct and incorrect", on_correctness=True),
    _fleiss_measure("fleiss_kappa_letters", ARBITRARY_LETTERS),
    _conger_measure("conger_kappa_letters", ARBITRARY_LETTERS),
    _krippendorff_measure("krippendorff_alpha_letters", ARBITRARY_LETTERS),
    _ac1_measure("ac1_letters", ARBITRARY_LETTERS),
)
MEASURES_OF_OPTION_SETS = (
    _fleiss_measure("fleiss_kappa", SAME_OPTIONS),
    _conger_measure("conger_kappa", SAME_OPTIONS),
    _krippendorff_measure("krippendorff_alpha", SAME_OPTIONS),
    _ac1_measure("ac1", SAME_OPTIONS),
    BRENNAN_PREDIGER,
)
