"""Measures of agreement of two raters, their standard errors, and why they are undefined.

The same functions compute the estimate and its resamples. A measure is undefined (nan)

- without items;
- for a kappa, if both raters are constant or the chance agreement is 1 (to 1e-12);
- for Brennan-Prediger and AC1, if the number of options is unknown for an item, or is 1;
- for AC1, if the number of options varies.

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
.. [5] Fleiss JL, Cohen J, Everitt BS. Large sample standard errors of kappa and weighted kappa.
   Psychol Bull 1969;72:323-327. doi:10.1037/h0028106
.. [6] Gwet KL. irrCAC: computing chance-corrected agreement coefficients. R package 1.0, 2019, the
   functions for raw ratings, whose variances divide by n (n - 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from analysis.arrays import Bools, Floats, Ints, ordered_sum
from analysis.readings.clusters import ratio
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.counts import (
    SAME_WRONG_ANSWER,
    PairCounts,
    Sums,
    correctness_tables,
    sums_of,
)
from analysis.translation import later

CHANCE_TOLERANCE = 1e-12
ROUNDING = 1e-14
"""Smaller differences are rounding errors: one answer in a million changes agreement by more."""


def raw_agreement(sums: Sums) -> Floats:
    """Return the share of items with the same answer, shape (...), 0 to 1."""
    return ratio(sums.agree, sums.n)


def beyond_chance(observed: Floats, chance: Floats) -> Floats:
    r"""Return :math:`(p_o - p_e) / (1 - p_e)`, exactly 0 if the two differ only by rounding.

    Examples
    --------
    >>> beyond_chance(np.array([0.75, 0.1 + 0.2]), np.array([0.5, 0.3])).tolist()
    [0.5, 0.0]
    """
    difference = observed - chance
    return ratio(np.where(np.abs(difference) <= ROUNDING, 0.0, difference), 1 - chance)


def kappa_letters(sums: Sums) -> Floats:
    r"""Return Cohen's kappa on the letters [1]_, shape (...), -1 to 1.

    Notes
    -----
    The value is :math:`(p_o - p_e) / (1 - p_e)` with :math:`p_e = \sum_j p_{j+} p_{+j}`. Letters
    are arbitrary across items with different options, and permuting the options changes the value.
    """
    return cohen_kappa(sums)


def error_consistency(sums: Sums) -> Floats:
    """Return Cohen's kappa of correctness [4]_, over items with a reference standard.

    The shape is (...); values are from -1 to 1.
    """
    return cohen_kappa(sums.correctness)


def brennan_prediger(sums: Sums) -> Floats:
    r"""Return Brennan and Prediger's kappa [2]_ with each item's own number of options.

    The shape is (...); values are at most 1.

    Notes
    -----
    The value is :math:`(p_o - p_e) / (1 - p_e)`, where :math:`p_e` is the mean of :math:`1 / k_i`
    over the pair's items and :math:`k_i` is the number of options offered.
    """
    chance = guessing_probability(sums)
    return beyond_chance(raw_agreement(sums), chance)


def same_wrong_share(sums: Sums) -> Floats:
    """Return the share of the same wrong option among the items that both answered wrongly.

    The shape is (...); values are from 0 to 1.
    """
    return ratio(sums.outcomes[SAME_WRONG_ANSWER], sums.n_both_wrong)


def ac1(sums: Sums) -> Floats:
    r"""Return Gwet's AC1 [3]_ for items that all offer the same k options, shape (...), at most 1.

    Notes
    -----
    Chance agreement is :math:`p_e = \sum_j \pi_j (1 - \pi_j) / (k - 1)`, where :math:`\pi_j` is the
    mean of the two raters' shares of option j, and k counts the options offered, not those chosen.
    """
    prevalence = ratio(sums.answers_a + sums.answers_b, 2 * sums.n)
    chance = ratio(ordered_sum(prevalence * (1 - prevalence)), common_n_options(sums) - 1)
    return beyond_chance(raw_agreement(sums), chance)


def cohen_kappa(sums: Sums) -> Floats:
    """Return Cohen's kappa [1]_ with the categories of the sums.

    The shape is (...); values are from -1 to 1, and nan where undefined.

    Examples
    --------
    Cohen (1960) published .492 for these 200 items:

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
    joint = (sums.answers_a * sums.answers_b).sum(axis=0)
    chance = ratio(joint, n * n)
    undefined = 1 - chance <= CHANCE_TOLERANCE
    if not np.all(joint):  # the others are constant pairs, with a chance agreement of 1
        undefined |= are_both_constant(sums)
    return np.where(undefined, np.nan, beyond_chance(observed, chance))


def are_both_constant(sums: Sums) -> Bools:
    """Return whether each rater gave a single answer throughout, shape (...)."""
    constant: Bools = _is_constant(sums.answers_a) & _is_constant(sums.answers_b)
    return constant


def is_any_constant(sums: Sums) -> Bools:
    """Return whether at least one rater gave a single answer throughout, shape (...)."""
    constant: Bools = _is_constant(sums.answers_a) | _is_constant(sums.answers_b)
    return constant


def _is_constant(answers: Floats) -> Bools:
    constant: Bools = answers.max(axis=0) == answers.sum(axis=0)
    return constant


def guessing_probability(sums: Sums) -> Floats:
    """Return the mean of 1/k over the items; nan if any k is unknown or all are 1."""
    known = sums.sizes > 0
    shares = 1 / sums.sizes[known]
    total = ordered_sum(
        share * part for share, part in zip(shares, sums.options[known], strict=True)
    )
    unknown = sums.options[~known].sum(axis=0) > 0
    chance = np.where(unknown, np.nan, ratio(total, sums.n))
    return np.where(1 - chance <= CHANCE_TOLERANCE, np.nan, chance)


def common_n_options(sums: Sums) -> Floats:
    """Return the number of options if it is the same for all items and at least 2; else nan."""
    sizes_differ = (sums.options > 0).sum(axis=0) != 1
    size = sums.sizes[sums.options.argmax(axis=0)].astype(np.float64)
    return np.where(sizes_differ | (size < 2), np.nan, size)


def cohen_kappa_se(tables: Floats) -> Floats:
    r"""Return the standard error of Cohen's kappa, without assuming a kappa of 0 [5]_.

    Parameters
    ----------
    tables : numpy.ndarray of float, shape (..., n_categories, n_categories)
        Counts, with the first rater's categories in rows and the second's in columns.

    Returns
    -------
    numpy.ndarray of float, shape (...)
        nan without items or if chance agreement is 1; 0 if a rater is constant, which the caller
        must treat as undefined.

    Notes
    -----
    With :math:`u_{ij} = \delta_{ij} (1 - p_e) - (1 - p_o)(p_{+i} + p_{j+})`, the variance is
    :math:`\sum_{ij} p_{ij} (u_{ij} - \bar u)^2 / (n (1 - p_e)^4)`. This is equation 8 of the
    source, centred so that rounding cannot make it negative.

    Examples
    --------
    The source gives the variance .002885 for this table:

    >>> table = np.array([[106.0, 10, 4], [22, 28, 10], [2, 12, 6]])
    >>> (cohen_kappa_se(table) ** 2).round(6)
    np.float64(0.002885)
    """
    n = tables.sum(axis=(-2, -1))
    row_totals, column_totals = tables.sum(axis=-1), tables.sum(axis=-2)
    rows, columns = ratio(row_totals, n[..., None]), ratio(column_totals, n[..., None])
    shares = ratio(tables, n[..., None, None])
    agree = np.trace(tables, axis1=-2, axis2=-1)
    observed, chance = ratio(agree, n), ratio((row_totals * column_totals).sum(axis=-1), n * n)
    marginals = columns[..., :, None] + rows[..., None, :]
    identity = np.eye(tables.shape[-1])
    influence = (
        identity * (1 - chance)[..., None, None] - (1 - observed)[..., None, None] * marginals
    )
    mean = _sum_of_cells(shares * influence)[..., None, None]
    variance = _sum_of_cells(shares * (influence - mean) ** 2)
    se = np.sqrt(ratio(variance, n * ((1 - chance) ** 2) ** 2))
    return np.where((agree == n) & np.isfinite(se), 0.0, se)


def kappa_letters_se(counts: PairCounts) -> Floats:
    """Return the standard error of `kappa_letters` [5]_, shape (n_pairs, n_cells)."""
    return cohen_kappa_se(counts.letters)


def error_consistency_se(counts: PairCounts) -> Floats:
    """Return the standard error of `error_consistency` [5]_, shape (n_pairs, n_cells)."""
    return cohen_kappa_se(correctness_tables(counts))


def raw_agreement_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `raw_agreement` [6]_: :math:`\sqrt{p (1 - p) / (n - 1)}`."""
    sums = sums_of(counts)
    return _share_se(raw_agreement(sums), sums.n)


def same_wrong_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `same_wrong_share` p: :math:`\sqrt{p (1 - p) / (n - 1)}`."""
    sums = sums_of(counts)
    return _share_se(same_wrong_share(sums), sums.n_both_wrong)


def brennan_prediger_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `brennan_prediger` [6]_.

    Notes
    -----
    Chance agreement depends on the items, not on the answers, and is therefore fixed. The standard
    error is that of raw agreement divided by :math:`1 - p_e`.
    """
    return ratio(raw_agreement_se(counts), 1 - guessing_probability(sums_of(counts)))


def ac1_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `ac1` [3]_ [6]_.

    Returns
    -------
    numpy.ndarray of float, shape (n_pairs, n_cells)
        nan if AC1 is undefined or there is only one item.

    Notes
    -----
    Each item contributes :math:`\gamma_i = (a_i - p_e)/(1 - p_e) - 2 (1 - \gamma)(p_{e|i} - p_e)
    / (1 - p_e)`, where :math:`p_{e|i}` is the mean of :math:`1 - \pi` over its two answers, divided
    by :math:`k - 1`; the variance is :math:`\sum_i (\gamma_i - \gamma)^2 / (n (n - 1))`. Items with
    the same two answers have the same value, so the pair's table is sufficient.
    """
    sums = sums_of(counts)
    n, size, estimate = sums.n, common_n_options(sums), ac1(sums)
    prevalence = ratio(sums.answers_a + sums.answers_b, 2 * n)
    chance = ratio(ordered_sum(prevalence * (1 - prevalence)), size - 1)[..., None, None]
    other_prevalence = np.moveaxis(1 - prevalence, 0, -1)
    n_others = (size - 1)[..., None, None]
    item_chance = (other_prevalence[..., :, None] + other_prevalence[..., None, :]) / 2 / n_others
    gamma = estimate[..., None, None]
    identity = np.eye(counts.letters.shape[-1])
    item_values = ((identity - chance) - 2 * (1 - gamma) * (item_chance - chance)) / (1 - chance)
    squares = _sum_of_cells(counts.letters * (item_values - gamma) ** 2)
    return np.sqrt(ratio(squares, n * (n - 1)))


def _sum_of_cells(tables: Floats) -> Floats:
    return ordered_sum(cell for row in np.moveaxis(tables, (-2, -1), (0, 1)) for cell in row)


def _share_se(share: Floats, n: Floats) -> Floats:
    return np.sqrt(ratio(share * (1 - share), np.maximum(n - 1, 0)))


Reasons = npt.NDArray[np.object_]

NO_ITEM = later("no item was answered by both raters")
NO_ITEM_WITH_TRUTH = later("no item with a reference standard was answered by both raters")
NO_BOTH_WRONG = later("no item was answered wrongly by both raters")
BOTH_CONSTANT = later("each rater gave a single answer throughout")
BOTH_CONSTANT_CORRECT = later("each rater was always right or always wrong")
CHANCE_IS_ONE = later("agreement expected by chance is 1")
N_OPTIONS_UNKNOWN = later("the number of options is not given for every item")
SINGLE_OPTION = later("a single option was offered")
N_OPTIONS_VARIES = later("the number of options varies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure of agreement between two raters.

    Parameters
    ----------
    name : str
        Its name in the tables.
    estimate : callable
        Function of sums of shape (...) that returns estimates of that shape, nan where undefined.
    standard_error : callable
        Function of counts that returns standard errors, shape (n_pairs, n_cells).
    n : callable
        Function of sums that returns the number of items that are counted.
    is_rater_constant : callable
        Function of sums that returns whether a rater is constant in the measure's categories, which
        makes a standard error of 0 invalid.
    reason : callable
        Function of sums that returns why an estimate is undefined.
    has_normal_interval : bool
        Whether the analytic interval is normal; otherwise it uses t with n - 1 degrees of freedom.
    method : str
        Estimator and standard error with their sources, for the tables.
    title, words : str
        The name of the measure as a title, and within a sentence.
    caption : str
        What it measures, for the caption of its matrix; empty for a measure without a matrix.
    on_correctness : bool
        Whether it compares only correctness.
    """

    name: str
    estimate: Callable[[Sums], Floats]
    standard_error: Callable[[PairCounts], Floats]
    n: Callable[[Sums], Floats]
    is_rater_constant: Callable[[Sums], Bools]
    reason: Callable[[Sums], Reasons]
    has_normal_interval: bool
    method: str
    title: str
    words: str
    caption: str = ""
    on_correctness: bool = False


def _never_constant(sums: Sums) -> Bools:
    return np.zeros(sums.agree.shape, dtype=bool)


def _constant_correctness(sums: Sums) -> Bools:
    return is_any_constant(sums.correctness)


def _kappa_reasons(sums: Sums) -> Reasons:
    return _first_reason(
        sums,
        (sums.n == 0, NO_ITEM),
        (are_both_constant(sums), BOTH_CONSTANT),
        fallback=CHANCE_IS_ONE,
    )


def _error_consistency_reasons(sums: Sums) -> Reasons:
    return _first_reason(
        sums,
        (sums.n_judged == 0, NO_ITEM_WITH_TRUTH),
        (are_both_constant(sums.correctness), BOTH_CONSTANT_CORRECT),
        fallback=CHANCE_IS_ONE,
    )


def _raw_reasons(sums: Sums) -> Reasons:
    return _first_reason(sums, fallback=NO_ITEM)


def _same_wrong_reasons(sums: Sums) -> Reasons:
    return _first_reason(sums, (sums.n_judged == 0, NO_ITEM_WITH_TRUTH), fallback=NO_BOTH_WRONG)


def _brennan_prediger_reasons(sums: Sums) -> Reasons:
    return _first_reason(
        sums,
        (sums.n == 0, NO_ITEM),
        (_lacks_n_options(sums), N_OPTIONS_UNKNOWN),
        fallback=CHANCE_IS_ONE,
    )


def _ac1_reasons(sums: Sums) -> Reasons:
    return _first_reason(
        sums,
        (sums.n == 0, NO_ITEM),
        (_lacks_n_options(sums), N_OPTIONS_UNKNOWN),
        ((sums.options > 0).sum(axis=0) > 1, N_OPTIONS_VARIES),
        fallback=SINGLE_OPTION,
    )


def _lacks_n_options(sums: Sums) -> Bools:
    unknown: Bools = sums.options[sums.sizes == 0].sum(axis=0) > 0
    return unknown


def _first_reason(sums: Sums, *conditions: tuple[Bools, str], fallback: str) -> Reasons:
    reasons = np.full(sums.agree.shape, fallback, dtype=object)
    for is_true, reason in reversed(conditions):
        reasons[is_true] = reason
    return reasons


FLEISS_COHEN_EVERITT = later("SE Fleiss, Cohen and Everitt (1969)")
RAW_RATINGS = later("SE irrCAC raw ratings (n - 1)")

RAW = Measure(
    name="raw",
    estimate=raw_agreement,
    standard_error=raw_agreement_se,
    n=attrgetter("n"),
    is_rater_constant=is_any_constant,
    reason=_raw_reasons,
    has_normal_interval=False,
    method=f"share of items with the same answer; {RAW_RATINGS}",
    title=later("Raw agreement"),
    words=later("raw agreement"),
    caption=later("Share of cases with the same answer, not corrected for chance."),
)
KAPPA_LETTERS = Measure(
    name="kappa_letters",
    estimate=kappa_letters,
    standard_error=kappa_letters_se,
    n=attrgetter("n"),
    is_rater_constant=is_any_constant,
    reason=_kappa_reasons,
    has_normal_interval=True,
    method=f"Cohen's kappa (1960) on arbitrary letters; {FLEISS_COHEN_EVERITT}",
    title=later("Cohen's kappa"),
    words=later("Cohen's kappa"),
    caption=later(
        "Cohen's kappa on the answers, for comparison with published matrices. Letters"
        " are canonical, those of the question bank, whatever order the options were shown in. They"
        " are arbitrary labels: permuting the options of the questions changes kappa, but not"
        " Brennan-Prediger."
    ),
)
BRENNAN_PREDIGER = Measure(
    name="brennan_prediger",
    estimate=brennan_prediger,
    standard_error=brennan_prediger_se,
    n=attrgetter("n"),
    is_rater_constant=is_any_constant,
    reason=_brennan_prediger_reasons,
    has_normal_interval=False,
    method=f"Brennan and Prediger (1981), chance the mean of 1/k; {RAW_RATINGS}",
    title=later("Brennan-Prediger"),
    words=later("Brennan-Prediger"),
    caption=later(
        "Agreement beyond guessing among the options offered (chance: the mean of 1/k). Relabelling"
        " the options does not change it."
    ),
)
ERROR_CONSISTENCY = Measure(
    name="error_consistency",
    estimate=error_consistency,
    standard_error=error_consistency_se,
    n=attrgetter("n_judged"),
    is_rater_constant=_constant_correctness,
    reason=_error_consistency_reasons,
    has_normal_interval=True,
    method=f"Cohen's kappa (1960) on correct and incorrect; {FLEISS_COHEN_EVERITT}",
    title=later("Error consistency"),
    words=later("error consistency"),
    caption=later(
        "Cohen's kappa on correct and incorrect: whether two raters fail on the same cases more"
        " often than their accuracies alone would lead one to expect."
    ),
    on_correctness=True,
)
SAME_WRONG = Measure(
    name="same_wrong",
    estimate=same_wrong_share,
    standard_error=same_wrong_se,
    n=attrgetter("n_both_wrong"),
    # The measure is a share: raters whose answers vary may still always make the same errors.
    is_rater_constant=_never_constant,
    reason=_same_wrong_reasons,
    has_normal_interval=False,
    method="share with the same wrong option where both are wrong; SE of a share (n - 1)",
    title=later("Same wrong answer"),
    words=later("same wrong option"),
)
KAPPA = replace(
    KAPPA_LETTERS,
    name="kappa",
    method=f"Cohen's kappa (1960) on the same options; {FLEISS_COHEN_EVERITT}",
    caption=later("Cohen's kappa on the answers to questions with the same options."),
)
AC1 = Measure(
    name="ac1",
    estimate=ac1,
    standard_error=ac1_se,
    n=attrgetter("n"),
    is_rater_constant=is_any_constant,
    reason=_ac1_reasons,
    has_normal_interval=False,
    method=f"Gwet's AC1 (2008); {RAW_RATINGS}",
    title=later("Gwet's AC1"),
    words=later("AC1"),
    caption=later("Gwet's AC1 on the answers to questions with the same options."),
)

MEASURES_OF_EVERY_SCOPE = (RAW, KAPPA_LETTERS, BRENNAN_PREDIGER, ERROR_CONSISTENCY, SAME_WRONG)
MEASURES_OF_OPTION_SETS = (*MEASURES_OF_EVERY_SCOPE, KAPPA, AC1)
MEASURES = {
    measure.name: measure
    for measure in (
        KAPPA_LETTERS,
        KAPPA,
        BRENNAN_PREDIGER,
        ERROR_CONSISTENCY,
        RAW,
        AC1,
        SAME_WRONG,
    )
}
"""All measures by name, in the order in which they are offered to users."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Disjoint scopes, whose items are counted together.

    Parameters
    ----------
    order : int
        Position among the partitions.
    names : tuple of str
        The names of the scopes in the column `scope`.
    members : tuple of numpy.ndarray of int
        Positions of each scope's items.
    measures : tuple of Measure
        The measures that are estimated in each scope.
    """

    order: int
    names: tuple[str, ...]
    members: tuple[Ints, ...]
    measures: tuple[Measure, ...]

    @property
    def items(self) -> Ints:
        """Positions of the items of all scopes, one scope after another."""
        return np.concatenate([*self.members, np.zeros(0, dtype=np.int64)])

    @property
    def cells(self) -> Ints:
        """The scope of each of these items."""
        return np.repeat(np.arange(len(self.members)), [len(items) for items in self.members])


MEASURES_BY_SCOPE: Mapping[str, tuple[Measure, ...]] = {
    "all": MEASURES_OF_EVERY_SCOPE,
    "task": MEASURES_OF_EVERY_SCOPE,
    "option_set": MEASURES_OF_OPTION_SETS,
}


def partitions(
    matrix: ReadingMatrix, measures_by_scope: Mapping[str, tuple[Measure, ...]] = MEASURES_BY_SCOPE
) -> Iterator[Partition]:
    """Yield the partition of each key of `measures_by_scope`: all items, or groups by a column."""
    for order, (grouping, measures) in enumerate(measures_by_scope.items()):
        all_items = {"": np.arange(len(matrix.truth))}
        groups = all_items if grouping == "all" else matrix.members(grouping)
        yield Partition(
            order=order,
            names=tuple(f"{grouping}={name}" if name else grouping for name in groups),
            members=tuple(groups.values()),
            measures=measures,
        )
