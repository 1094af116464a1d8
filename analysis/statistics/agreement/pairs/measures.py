"""Measures of agreement of two raters, their standard errors, and why they are undefined.

The same functions compute the estimate and its resamples. Each returns nan if it is undefined:

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
.. [5] Fleiss JL, Cohen J, Everitt BS. Large sample standard errors of kappa and weighted kappa.
   Psychol Bull 1969;72:323-327. doi:10.1037/h0028106
.. [6] Gwet KL. irrCAC: computing chance-corrected agreement coefficients. R package 1.0, 2019, the
   functions for raw ratings: variances divide by n (n - 1).
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
from analysis.statistics.agreement.pairs import counts
from analysis.statistics.agreement.pairs.counts import (
    PairCounts,
    Sums,
    correctness_tables,
    sums_of,
)
from analysis.translation import later

CHANCE_TOLERANCE = 1e-12
ROUNDING = 1e-14
"""Smaller differences are rounding errors: one answer of a million changes agreement by more."""


def raw(sums: Sums) -> Floats:
    """Return the share of items with the same answer, shape (...), 0 to 1."""
    return ratio(sums.agree, sums.n)


def beyond_chance(observed: Floats, chance: Floats) -> Floats:
    r"""Return :math:`(p_o - p_e) / (1 - p_e)`: exactly 0 if the two differ only by rounding.

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
    :math:`(p_o - p_e) / (1 - p_e)` where :math:`p_e` is the mean of :math:`1 / k_i` over the pair's
    items, and :math:`k_i` is the number of options offered.
    """
    chance = chance_of_guessing(sums)
    return beyond_chance(raw(sums), chance)


def same_wrong(sums: Sums) -> Floats:
    """Return the share with the same wrong option among the items that both got wrong.

    Shape (...), 0 to 1.
    """
    return ratio(sums.outcomes[counts.SAME_WRONG], sums.both_wrong)


def ac1(sums: Sums) -> Floats:
    r"""Return Gwet's AC1 [3]_ for items that all offer the same k options, shape (...), at most 1.

    Notes
    -----
    :math:`p_e = \sum_j \pi_j (1 - \pi_j) / (k - 1)` with :math:`\pi_j` the mean of the two raters'
    shares of option j; k counts the options offered, not those seen.
    """
    prevalence = ratio(sums.answers_a + sums.answers_b, 2 * sums.n)
    chance = ratio(ordered_sum(prevalence * (1 - prevalence)), common_size(sums) - 1)
    return beyond_chance(raw(sums), chance)


def cohen_kappa(sums: Sums) -> Floats:
    """Return Cohen's kappa [1]_ of the answers, with the categories of the sums.

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
    if not np.all(together):  # the others are constant pairs, with a chance agreement of 1
        undefined |= both_constant(sums)
    return np.where(undefined, np.nan, beyond_chance(observed, chance))


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
    """Return the mean of 1/k over the items; nan if a k is missing or is 1."""
    known = sums.sizes > 0
    shares = 1 / sums.sizes[known]
    total = ordered_sum(
        share * part for share, part in zip(shares, sums.options[known], strict=True)
    )
    unknown = sums.options[~known].sum(axis=0) > 0
    chance = np.where(unknown, np.nan, ratio(total, sums.n))
    return np.where(1 - chance <= CHANCE_TOLERANCE, np.nan, chance)


def common_size(sums: Sums) -> Floats:
    """Return the number of options where all items offer the same; nan if not, or below 2."""
    several = (sums.options > 0).sum(axis=0) != 1
    size = sums.sizes[sums.options.argmax(axis=0)].astype(np.float64)
    return np.where(several | (size < 2), np.nan, size)


def cohen_kappa_se(tables: Floats) -> Floats:
    r"""Return the standard error of Cohen's kappa, not assuming it to be 0 [5]_.

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
    """Return the standard error of `kappa_letters` [5]_, shape (n_pairs, n_cells)."""
    return cohen_kappa_se(counts.letters)


def error_consistency_se(counts: PairCounts) -> Floats:
    """Return the standard error of `error_consistency` [5]_, shape (n_pairs, n_cells)."""
    return cohen_kappa_se(correctness_tables(counts))


def raw_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `raw` [6]_: :math:`\sqrt{p (1 - p) / (n - 1)}`."""
    sums = sums_of(counts)
    return _share_se(raw(sums), sums.n)


def same_wrong_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `same_wrong`, a share p: :math:`\sqrt{p (1 - p) / (n - 1)}`."""
    sums = sums_of(counts)
    return _share_se(same_wrong(sums), sums.both_wrong)


def brennan_prediger_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `brennan_prediger` [6]_.

    Notes
    -----
    Chance agreement depends on the items, not on the answers, and is therefore fixed: the standard
    error is that of raw agreement over :math:`1 - p_e`.
    """
    return ratio(raw_se(counts), 1 - chance_of_guessing(sums_of(counts)))


def ac1_se(counts: PairCounts) -> Floats:
    r"""Return the standard error of `ac1` [3]_ [6]_.

    Returns
    -------
    numpy.ndarray of float, shape (n_pairs, n_cells)
        nan where AC1 is undefined and where there is a single item.

    Notes
    -----
    Each item contributes :math:`\gamma_i = (a_i - p_e)/(1 - p_e) - 2 (1 - \gamma)(p_{e|i} - p_e)
    / (1 - p_e)` with :math:`p_{e|i}` the mean of :math:`1 - \pi` over its two answers, over
    :math:`k - 1`; the variance is :math:`\sum_i (\gamma_i - \gamma)^2 / (n (n - 1))`. Items with
    the same two answers have the same value, so that the pair's table suffices.
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


Reasons = npt.NDArray[np.object_]

NO_ITEM = later("no item was answered by both raters")
NO_JUDGED = later("no item with a reference standard was answered by both raters")
NO_BOTH_WRONG = later("no item was answered wrongly by both raters")
BOTH_CONSTANT = later("each rater gave a single answer throughout")
BOTH_CONSTANT_CORRECT = later("each rater was always right or always wrong")
CHANCE_IS_ONE = later("agreement expected by chance is 1")
SIZE_UNKNOWN = later("the number of options is not given for every item")
SIZE_ONE = later("a single option was offered")
SIZE_VARIES = later("the number of options varies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure of agreement between two raters.

    Parameters
    ----------
    name : str
        As in the tables.
    estimate : callable
        From sums of shape (...) to estimates of that shape, nan where undefined.
    standard_error : callable
        From counts to standard errors, shape (n_pairs, n_cells).
    n : callable
        From sums to the number of items that count.
    constant : callable
        From sums to whether a rater is constant in the categories of the measure, so that a
        standard error of 0 is invalid.
    reason : callable
        From sums to the reason for an undefined estimate.
    normal : bool
        Whether the analytic interval is normal; else t with n - 1 degrees of freedom.
    method : str
        Estimator and standard error with their sources, for the tables.
    title, words : str
        Its name as a title, and within a sentence.
    caption : str
        What it measures, for the captions of its matrix; empty for a measure without a matrix.
    on_correctness : bool
        Whether it compares correctness only.
    """

    name: str
    estimate: Callable[[Sums], Floats]
    standard_error: Callable[[PairCounts], Floats]
    n: Callable[[Sums], Floats]
    constant: Callable[[Sums], Bools]
    reason: Callable[[Sums], Reasons]
    normal: bool
    method: str
    title: str
    words: str
    caption: str = ""
    on_correctness: bool = False


def _never(sums: Sums) -> Bools:
    return np.zeros(sums.agree.shape, dtype=bool)


def _constant_correctness(sums: Sums) -> Bools:
    return either_constant(sums.correctness)


def _why_not_kappa(sums: Sums) -> Reasons:
    return _first(
        sums,
        (sums.n == 0, NO_ITEM),
        (both_constant(sums), BOTH_CONSTANT),
        otherwise=CHANCE_IS_ONE,
    )


def _why_not_error_consistency(sums: Sums) -> Reasons:
    return _first(
        sums,
        (sums.judged == 0, NO_JUDGED),
        (both_constant(sums.correctness), BOTH_CONSTANT_CORRECT),
        otherwise=CHANCE_IS_ONE,
    )


def _why_not_raw(sums: Sums) -> Reasons:
    return _first(sums, otherwise=NO_ITEM)


def _why_not_same_wrong(sums: Sums) -> Reasons:
    return _first(sums, (sums.judged == 0, NO_JUDGED), otherwise=NO_BOTH_WRONG)


def _why_not_brennan_prediger(sums: Sums) -> Reasons:
    return _first(
        sums, (sums.n == 0, NO_ITEM), (_size_unknown(sums), SIZE_UNKNOWN), otherwise=CHANCE_IS_ONE
    )


def _why_not_ac1(sums: Sums) -> Reasons:
    return _first(
        sums,
        (sums.n == 0, NO_ITEM),
        (_size_unknown(sums), SIZE_UNKNOWN),
        ((sums.options > 0).sum(axis=0) > 1, SIZE_VARIES),
        otherwise=SIZE_ONE,
    )


def _size_unknown(sums: Sums) -> Bools:
    unknown: Bools = sums.options[sums.sizes == 0].sum(axis=0) > 0
    return unknown


def _first(sums: Sums, *cases: tuple[Bools, str], otherwise: str) -> Reasons:
    reasons = np.full(sums.agree.shape, otherwise, dtype=object)
    for holds, reason in reversed(cases):
        reasons[holds] = reason
    return reasons


FLEISS_COHEN_EVERITT = later("SE Fleiss, Cohen and Everitt (1969)")
RAW_RATINGS = later("SE irrCAC raw ratings (n - 1)")

RAW = Measure(
    name="raw",
    estimate=raw,
    standard_error=raw_se,
    n=attrgetter("n"),
    constant=either_constant,
    reason=_why_not_raw,
    normal=False,
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
    constant=either_constant,
    reason=_why_not_kappa,
    normal=True,
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
    constant=either_constant,
    reason=_why_not_brennan_prediger,
    normal=False,
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
    n=attrgetter("judged"),
    constant=_constant_correctness,
    reason=_why_not_error_consistency,
    normal=True,
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
    estimate=same_wrong,
    standard_error=same_wrong_se,
    n=attrgetter("both_wrong"),
    # the measure is a share: raters whose answers vary may still always make the same errors
    constant=_never,
    reason=_why_not_same_wrong,
    normal=False,
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
    constant=either_constant,
    reason=_why_not_ac1,
    normal=False,
    method=f"Gwet's AC1 (2008); {RAW_RATINGS}",
    title=later("Gwet's AC1"),
    words=later("AC1"),
    caption=later("Gwet's AC1 on the answers to questions with the same options."),
)

MEASURES_OF_EVERY_SCOPE = (RAW, KAPPA_LETTERS, BRENNAN_PREDIGER, ERROR_CONSISTENCY, SAME_WRONG)
WITHIN_OPTION_SET = (*MEASURES_OF_EVERY_SCOPE, KAPPA, AC1)
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
"""All measures by name, in the order in which users choose between them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Disjoint scopes, which are counted together.

    Parameters
    ----------
    order : int
        Position among the partitions.
    names : tuple of str
        The scopes, as in the table's column `scope`.
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
        """Positions of all items, scope after scope."""
        return np.concatenate([*self.members, np.zeros(0, dtype=np.int64)])

    @property
    def cells(self) -> Ints:
        """The scope of each of these items."""
        return np.repeat(np.arange(len(self.members)), [len(items) for items in self.members])


SCOPES: Mapping[str, tuple[Measure, ...]] = {
    "all": MEASURES_OF_EVERY_SCOPE,
    "task": MEASURES_OF_EVERY_SCOPE,
    "option_set": WITHIN_OPTION_SET,
}


def partitions(
    matrix: ReadingMatrix, scopes: Mapping[str, tuple[Measure, ...]] = SCOPES
) -> Iterator[Partition]:
    """Yield all items as one scope, and the scopes of every grouping, each with its measures."""
    for order, (grouping, within) in enumerate(scopes.items()):
        all_items = {"": np.arange(len(matrix.truth))}
        groups = all_items if grouping == "all" else matrix.members(grouping)
        yield Partition(
            order=order,
            names=tuple(f"{grouping}={name}" if name else grouping for name in groups),
            members=tuple(groups.values()),
            measures=within,
        )
