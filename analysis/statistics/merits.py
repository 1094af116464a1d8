"""Figures of merit of raters, accuracy and AUC, with the covariances between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Codes, Floats, Ints
from analysis.bundle.model import LETTERS, RaterKind
from analysis.errors import OptionsError
from analysis.readings.clusters import SINGLE_CLUSTER, ratio, sums_by_cluster
from analysis.readings.confidence import MEANING_WORDS, Confidence, Meaning
from analysis.readings.matrix import NO_LETTER, ReadingMatrix
from analysis.readings.shared_items import SharedItems
from analysis.translation import later


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Merits:
    """Figures of merit of several raters on the same items.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (n_raters,)
        One figure of merit per rater: a proportion, an area, or a difference between two of these.
    covariance : numpy.ndarray of float, shape (n_raters, n_raters)
        Their covariances over the sampling of items, for fixed raters; nan where undefined.
    no_covariance : str
        Why the covariances are undefined; empty if they are defined.
    """

    values: Floats
    covariance: Floats
    no_covariance: str = ""

    def take(self, raters: Ints) -> Merits:
        """Return the figures of merit of these raters, in this order."""
        return Merits(
            values=self.values[raters],
            covariance=self.covariance[np.ix_(raters, raters)],
            no_covariance=self.no_covariance,
        )


def without_covariance(values: Floats, reason: str) -> Merits:
    """Return figures of merit whose covariances are undefined, with the reason.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (n_raters,)
        Figures of merit; nan where these are undefined as well.
    reason : str
        Why there are no covariances.

    Examples
    --------
    >>> without_covariance(np.array([0.5]), "a single item").covariance.tolist()
    [[nan]]
    """
    undefined = np.full((len(values), len(values)), np.nan)
    return Merits(values=values, covariance=undefined, no_covariance=reason)


def differences(merits: Merits, a: Ints, b: Ints) -> Merits:
    r"""Return the differences between raters' figures of merit: rater a[j] minus rater b[j].

    Parameters
    ----------
    merits : Merits
        All raters.
    a, b : numpy.ndarray of int, shape (n_differences,)
        Positions of the raters. For a model against readers, `a` repeats the model. For two
        conditions, `a` and `b` are the columns of the same readers under each.

    Returns
    -------
    Merits
        One value per difference.

    Notes
    -----
    :math:`Cov(d_j, d_k) = Cov(a_j, a_k) + Cov(b_j, b_k) - Cov(a_j, b_k) - Cov(b_j, a_k)`.

    Examples
    --------
    >>> merits = Merits(values=np.array([0.9, 0.7]), covariance=np.array([[4.0, 1.0], [1.0, 2.0]]))
    >>> d = differences(merits, np.array([0]), np.array([1]))
    >>> d.values.round(3).tolist(), d.covariance.tolist()
    ([0.2], [[4.0]])
    """
    s = merits.covariance
    within = s[np.ix_(a, a)] + s[np.ix_(b, b)]
    between = s[np.ix_(a, b)] + s[np.ix_(b, a)]
    return Merits(
        values=merits.values[a] - merits.values[b],
        covariance=within - between,
        no_covariance=merits.no_covariance,
    )


NO_ITEM = later("no item has a reference standard")
ONE_ITEM = later("a single item")


def percent_correct(correct: Bools, clusters: Ints | None = None) -> Merits:
    r"""Return each rater's proportion of correct answers, with covariances over items.

    Parameters
    ----------
    correct : numpy.ndarray of bool, shape (n_items, n_raters)
        Whether each rater's answer is that of the reference standard.
    clusters : numpy.ndarray of int, shape (n_items,), optional
        The patient of each item, ascending. By default, every item has its own patient.

    Returns
    -------
    Merits
        Proportions from 0 to 1. Without items, all values are undefined; with a single item or
        cluster, only the covariances are.

    Notes
    -----
    With the sums :math:`S_{ac}` of correct answers of rater a to the :math:`n_c` items of cluster
    c, C clusters and N items,

    .. math:: Cov(p_a, p_b) = \frac{C}{C - 1}
              \sum_c \frac{(S_{ac} - n_c p_a)(S_{bc} - n_c p_b)}{N^2},

    the linearised covariance of a ratio. If every patient has one item, this is the covariance of
    the answers (with denominator N - 1) divided by N, which equals the jackknife estimate; no loop
    is needed. Only whole numbers are summed, so results do not depend on the order of items or
    raters.

    References
    ----------
    .. [1] Obuchowski NA, Rockette HE. Hypothesis testing of diagnostic accuracy for multiple
       readers and multiple tests: an ANOVA approach with dependent observations. Commun Stat
       Simul Comput 1995;24:285-308. doi:10.1080/03610919508813243
    .. [2] Rao JNK, Scott AJ. A simple method for the analysis of clustered binary data. Biometrics
       1992;48:577-585. doi:10.2307/2532311

    Examples
    --------
    >>> merits = percent_correct(np.array([[1, 1], [1, 0], [0, 0], [1, 1]], dtype=bool))
    >>> merits.values.tolist(), merits.covariance.round(4).tolist()
    ([0.75, 0.5], [[0.0625, 0.0417], [0.0417, 0.0833]])
    """
    n, n_raters = correct.shape
    clusters = np.arange(n) if clusters is None else clusters
    columns_summed = np.column_stack([correct, np.ones(n)]).astype(np.float64)
    sums, present = sums_by_cluster(columns_summed, clusters)
    sums, sizes = sums[:, :-1], sums[:, -1]
    values = ratio(sums.sum(axis=0), np.full(n_raters, float(n)))
    reason = no_covariance(n, len(present))
    if reason:
        return without_covariance(values, reason)
    scale = len(present) / (len(present) - 1) / n**2
    return Merits(values=values, covariance=centred_products(sums, sizes, sums, sizes) * scale)


def mean_of_own_items(values: Floats, is_counted: Bools, clusters: Ints, empty: str) -> Merits:
    """Return the mean of each column over its own items, with linearised covariances.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (n_items, n_columns)
        The value of each item; 0 where it is not counted.
    is_counted : numpy.ndarray of bool, shape (n_items, n_columns)
        Which items are counted in each column.
    clusters : numpy.ndarray of int, shape (n_items,)
        The patient of each item, ascending.
    empty : str
        Why there is no mean if no item is counted in a column.

    Examples
    --------
    >>> values = np.array([[1.0, 0.0], [3.0, 5.0], [2.0, 7.0]])
    >>> merits = mean_of_own_items(values, values > 0, np.arange(3), "no item")
    >>> merits.values.tolist(), merits.covariance.round(3).tolist()
    ([2.0, 6.0], [[0.333, -0.25], [-0.25, 0.75]])
    """
    n = is_counted.sum(axis=0).astype(np.float64)
    means = ratio(values.sum(axis=0), n)
    reason = empty if not n.all() else no_covariance(len(is_counted), len(np.unique(clusters)))
    if reason:
        return without_covariance(means, reason)
    sums, present = sums_by_cluster(np.where(is_counted, values - means, 0.0) / n, clusters)
    covariance: Floats = sums.T @ sums * (len(present) / (len(present) - 1))
    return Merits(values=means, covariance=covariance)


def no_covariance(n_items: int, n_clusters: int) -> str:
    """Return the reason why these items are too few for a covariance; empty if they are sufficient.

    Examples
    --------
    >>> no_covariance(4, 1), no_covariance(4, 2)
    ('all items belong to one patient or examination', '')
    """
    if n_items == 0:
        return NO_ITEM
    if n_clusters == 1:
        return ONE_ITEM if n_items == 1 else SINGLE_CLUSTER
    return ""


def centred_products(a: Floats, a_sizes: Floats, b: Floats, b_sizes: Floats) -> Floats:
    r"""Return the sums of products of centred cluster sums.

    Parameters
    ----------
    a, b : numpy.ndarray of float, shape (n_clusters, n_raters)
        Sums of whole numbers over the units of each cluster.
    a_sizes, b_sizes : numpy.ndarray of float, shape (n_clusters,)
        Number of units in each cluster.

    Returns
    -------
    numpy.ndarray of float, shape (n_raters, n_raters)
        :math:`\sum_c (A_{ic} - m_c \bar A_i)(B_{jc} - n_c \bar B_j)`, with means over units.

    Notes
    -----
    The terms have a common denominator, so that all numbers are whole until the last division and
    equal raters get exactly equal results.

    Examples
    --------
    >>> ones = np.ones(3)
    >>> a = np.array([[0.0], [1.0], [2.0]])
    >>> centred_products(a, ones, a, ones).tolist()
    [[2.0]]
    """
    m, n = a_sizes.sum(), b_sizes.sum()
    a_total, b_total = a.sum(axis=0)[:, None], b.sum(axis=0)[None, :]
    a_weighted = (a.T @ b_sizes)[:, None]
    b_weighted = (b.T @ a_sizes)[None, :]
    terms = m * n * (a.T @ b) + a_total * b_total * (a_sizes @ b_sizes)
    centred: Floats = (terms - (n * a_total * b_weighted + m * a_weighted * b_total)) / (m * n)
    return centred


ONE_CLASS = later("the items are all of one class")
FEW_POSITIVE = "the positive items belong to a single patient or examination, or are one item"
FEW_NEGATIVE = "the negative items belong to a single patient or examination, or are one item"


class AucCovariance(StrEnum):
    """The estimator of covariances of areas."""

    DELONG = "DeLong"
    JACKKNIFE = "jackknife"
    UNBIASED = "unbiased"


def empirical_auc(
    ratings: Floats,
    positive: Bools,
    clusters: Ints | None = None,
    covariance: AucCovariance = AucCovariance.DELONG,
) -> Merits:
    r"""Return each rater's empirical AUC, with covariances over items.

    Parameters
    ----------
    ratings : numpy.ndarray of float, shape (n_items, n_raters)
        Higher means more likely positive; -inf and inf are ratings, nan is not.
    positive : numpy.ndarray of bool, shape (n_items,)
        Whether the reference standard is positive.
    clusters : numpy.ndarray of int, shape (n_items,), optional
        The patient of each item, ascending; only for DeLong's covariances. By default, every item
        has its own patient.
    covariance : AucCovariance, default DELONG
        The estimator of covariances.

    Returns
    -------
    Merits
        Areas from 0 to 1. Undefined if a class has no item; without covariances if a class has
        only one item or one patient.

    Raises
    ------
    OptionsError
        Clusters are combined with an estimator other than DeLong's.

    Notes
    -----
    A pair of a positive and a negative item scores 1 if the positive item is rated higher, 1/2 if
    they tie, and 0 otherwise. The area is the mean score over all pairs; the component :math:`V_i`
    of an item is the mean over its pairs. DeLong's estimate [1]_ is the covariance of the positive
    items' components divided by their number m, plus that of the negative items' components
    divided by their number n, each with ddof 1. With clusters [2]_, the components are first summed
    by patient, and patients with both kinds of items add twice their covariance. The jackknife's
    leave-one-out values are linear functions of the components, so that no loop is needed [3]_.
    The unbiased estimate is that of U-statistics [4]_.

    References
    ----------
    .. [1] DeLong ER, DeLong DM, Clarke-Pearson DL. Comparing the areas under two or more
       correlated receiver operating characteristic curves: a nonparametric approach. Biometrics
       1988;44:837-845. doi:10.2307/2531595
    .. [2] Obuchowski NA. Nonparametric analysis of clustered ROC curve data. Biometrics
       1997;53:567-578. doi:10.2307/2533958
    .. [3] Hillis SL, Obuchowski NA, Schartz KM, Berbaum KS. A comparison of the
       Dorfman-Berbaum-Metz and Obuchowski-Rockette methods for receiver operating characteristic
       (ROC) data. Stat Med 2005;24:1579-1607. doi:10.1002/sim.2024
    .. [4] Gallas BD, Bandos A, Samuelson FW, Wagner RF. A framework for random-effects ROC
       analysis: biases with the bootstrap and other variance estimators. Commun Stat Theory
       Methods 2009;38:2586-2603. doi:10.1080/03610920802610084

    Examples
    --------
    >>> ratings = np.array([[1.0], [2.0], [3.0], [2.0], [4.0]])
    >>> positive = np.array([False, False, False, True, True])
    >>> merits = empirical_auc(ratings, positive)
    >>> merits.values.tolist(), merits.covariance.round(4).tolist()
    ([0.75], [[0.0833]])
    """
    if clusters is not None and covariance is not AucCovariance.DELONG:
        raise OptionsError(f"clusters go with DeLong's covariances, not with {covariance.value}")
    m, n = int(positive.sum()), int((~positive).sum())
    if not (m and n):
        undefined = np.full(ratings.shape[1], np.nan)
        return without_covariance(undefined, ONE_CLASS if m or n else NO_ITEM)
    wins = _doubled_wins(ratings, positive)
    values = wins[positive].sum(axis=0) / (2.0 * m * n)
    groups = np.arange(m + n) if clusters is None else clusters
    for part, reason in ((positive, FEW_POSITIVE), (~positive, FEW_NEGATIVE)):
        if len(np.unique(groups[part])) == 1:
            return without_covariance(values, reason)
    if covariance is AucCovariance.UNBIASED:
        matrix = unbiased_covariance(ratings, positive)
    elif covariance is AucCovariance.JACKKNIFE:
        matrix = _jackknife(wins, positive)
    else:
        matrix = _delong(wins, positive, groups)
    return Merits(values=values, covariance=matrix)


def _doubled_wins(ratings: Floats, positive: Bools) -> Floats:
    """Count each item's pairs: 2 if the positive item is rated higher, 1 for a tie."""
    wins = np.empty(ratings.shape)
    for column, rated in enumerate(ratings.T):
        high, low = np.sort(rated[positive]), np.sort(rated[~positive])
        wins[positive, column] = np.searchsorted(low, rated[positive], "left") + np.searchsorted(
            low, rated[positive], "right"
        )
        wins[~positive, column] = 2 * len(high) - (
            np.searchsorted(high, rated[~positive], "left")
            + np.searchsorted(high, rated[~positive], "right")
        )
    return wins


def _jackknife(wins: Floats, positive: Bools) -> Floats:
    r"""Return the covariances of the jackknife.

    Omitting item i changes the area by
    :math:`\theta_{(i)} - \theta = -(V_i - \theta) / (m - 1)`.
    """
    m, n = int(positive.sum()), int((~positive).sum())
    total = np.zeros((wins.shape[1],) * 2)
    for part, n_own, other in ((positive, m, n), (~positive, n, m)):
        total += (
            _centred_products_of(wins[part], np.arange(n_own)) / (2.0 * other * (n_own - 1)) ** 2
        )
    return (m + n - 1) / (m + n) * total


def _delong(wins: Floats, positive: Bools, clusters: Ints) -> Floats:
    m, n = int(positive.sum()), int((~positive).sum())
    total = np.zeros((wins.shape[1],) * 2)
    for part, n_own, other in ((positive, m, n), (~positive, n, m)):
        patients = len(np.unique(clusters[part]))
        within = _centred_products_of(wins[part], clusters[part]) / (2.0 * other * n_own) ** 2
        total += patients / (patients - 1) * within
    patients = len(np.unique(clusters))
    if patients == m + n:
        return total
    both = _mixed_products(wins, positive, clusters) / (2.0 * m * n) ** 2
    covariance: Floats = total + patients / (patients - 1) * (both + both.T)
    return covariance


def _centred_products_of(wins: Floats, clusters: Ints) -> Floats:
    sums, _ = sums_by_cluster(np.column_stack([wins, np.ones(len(wins))]), clusters)
    return centred_products(sums[:, :-1], sums[:, -1], sums[:, :-1], sums[:, -1])


def _mixed_products(wins: Floats, positive: Bools, clusters: Ints) -> Floats:
    """Return the products of patients' centred positive and negative components."""
    columns_summed = np.column_stack([wins, np.ones(len(wins))])
    high, _ = sums_by_cluster(np.where(positive[:, None], columns_summed, 0.0), clusters)
    low, _ = sums_by_cluster(np.where(positive[:, None], 0.0, columns_summed), clusters)
    return centred_products(high[:, :-1], high[:, -1], low[:, :-1], low[:, -1])


def unbiased_covariance(ratings: Floats, positive: Bools) -> Floats:
    r"""Return the U-statistics estimate of the covariances of several raters' areas.

    Parameters
    ----------
    ratings : numpy.ndarray of float, shape (n_items, n_raters)
        Higher means more likely positive.
    positive : numpy.ndarray of bool, shape (n_items,)
        Whether the reference standard is positive; two items or more of each class.

    Returns
    -------
    numpy.ndarray of float, shape (n_raters, n_raters)
        Unbiased; a variance may be negative.

    Notes
    -----
    With :math:`\psi_{ij}` the score of a pair of items (1, 1/2 or 0), the estimate is the product
    of two areas minus the mean of :math:`\psi_{ij} \psi'_{i'j'}` over pairs that share no item
    [1]_. The time is proportional to the product of the numbers of positive and negative items.

    References
    ----------
    .. [1] Gallas BD, Bandos A, Samuelson FW, Wagner RF. A framework for random-effects ROC
       analysis: biases with the bootstrap and other variance estimators. Commun Stat Theory
       Methods 2009;38:2586-2603. doi:10.1080/03610920802610084

    Examples
    --------
    >>> ratings = np.array([[1.0], [2.0], [3.0], [2.0], [4.0]])
    >>> unbiased_covariance(ratings, np.arange(5) > 2).round(4).tolist()
    [[0.0625]]
    """
    high, low = ratings[positive], ratings[~positive]
    m, n = len(high), len(low)
    k = ratings.shape[1]
    by_high, by_low, by_pair = np.zeros((k, k)), np.zeros((n, k)), np.zeros((k, k))
    for rated in high:
        wins = (rated > low).astype(float) + 0.5 * (rated == low)
        sums = wins.sum(axis=0)
        by_high += np.outer(sums, sums)
        by_pair += wins.T @ wins
        by_low += wins
    total = by_low.sum(axis=0)
    products = np.outer(total, total)
    disjoint = products - by_high - by_low.T @ by_low + by_pair
    covariance: Floats = products / (m * n) ** 2 - disjoint / (m * (m - 1) * n * (n - 1))
    return covariance


# If answers follow from ratings, at least this share of pairs has the same order in both.
CONCORDANT_SHARE = 0.95
# Fewer pairs of answers may all have the same order by chance.
FEWEST_PAIRS = 25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """The ratings of the items of a matrix with a binary reference standard.

    Parameters
    ----------
    positive : numpy.ndarray of bool, shape (n_items,)
        Whether the reference standard is the positive letter.
    ratings : numpy.ndarray of float, shape (n_items, n_columns)
        Higher means more likely positive; nan if an answer has no confidence. Missing answers have
        the worst rating: -inf for a positive item and inf for a negative one.
    rated : numpy.ndarray of bool, shape (n_columns,)
        Whether the rater gave any confidence.
    is_letter_unknown : bool
        Whether the letter that the ratings refer to is unknown.
    notes : tuple of str, length n_columns
        How the confidence was interpreted.
    """

    positive: Bools
    ratings: Floats
    rated: Bools
    is_letter_unknown: bool
    notes: tuple[str, ...]


def binary_letters(matrix: ReadingMatrix, items: pd.DataFrame) -> tuple[int, int] | None:
    """Return the negative and the positive letter if all items ask the same binary question.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : pandas.DataFrame
        The bundle's items, for their `options`.

    Returns
    -------
    tuple of two int, or None
        Positions in the alphabet, 0 for A; the first letter is taken as negative, which does not
        affect areas. None unless the items with a reference standard have exactly two different
        truths, two options each (or no stated options) and one option set (or else the same
        `options`), and no answer is another letter.
    """
    assigned = matrix.has_truth
    letters = np.unique(matrix.truth[assigned])
    letters_given = np.unique(matrix.answers[assigned])
    if len(letters) != 2 or not set(letters_given.tolist()) <= {NO_LETTER, *letters.tolist()}:
        return None
    if not np.isin(matrix.n_options[assigned], (0, 2)).all():
        return None
    sets = set(matrix.groups["option_set"][assigned])
    if sets == {""}:
        sets = set(items.loc[items["truth"] != "", "options"])
    return (int(letters[0]), int(letters[1])) if len(sets) == 1 else None


def ratings_of(matrix: ReadingMatrix, letters: tuple[int, int], confidence: Confidence) -> Ratings:
    """Rate every item by answer and confidence.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    letters : tuple of two int
        The negative and the positive letter.
    confidence : Confidence
        The meaning of confidence.

    Returns
    -------
    Ratings
        The ratings; those of items without a reference standard are meaningless.

    Notes
    -----
    If confidence means how sure the rater is of the answer, the rating is the confidence for the
    positive letter and minus the confidence for the other. If it rates the finding, and the answer
    follows from a rater's cut-off, the confidence is the rating of one letter, the same for all
    raters. To find this letter, each reader's answers are paired across the two letters; it is the
    one with the higher confidence in more of the pairs (ties count half; models' answers are used
    if no reader gave both letters). A note states whether answers and confidence contradict this.

    Examples
    --------
    A reader who is sure of B, then unsure of B, then unsure of A:

    >>> from analysis.bundle import bundle_from_tables
    >>> from analysis.readings.confidence import Meaning
    >>> from analysis.readings.matrix import reading_matrix
    >>> matrix = reading_matrix(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2", "q3"], "truth": list("BAA")}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": ["q1", "q2", "q3"],
    ...                   "answer": list("BBA"), "confidence": [5, 1, 1]}),
    ... ))
    >>> ratings_of(matrix, (0, 1), Confidence(meaning=Meaning.ANSWER)).ratings[:, 0].tolist()
    [5.0, 1.0, -1.0]
    >>> ratings_of(matrix, (0, 1), Confidence(meaning=Meaning.FINDING)).ratings[:, 0].tolist()
    [5.0, 1.0, 1.0]
    """
    items = matrix.has_truth
    answers, confidence_given = matrix.answers, matrix.confidence
    positive: Bools = matrix.truth == letters[1]
    pairs = [
        _pair_counts(answers[items, i], confidence_given[items, i], letters)
        for i in range(len(matrix.columns))
    ]
    rated_letter = _rated_letter([column.kind for column in matrix.columns], pairs)
    if confidence.meaning is Meaning.FINDING:
        signs = np.full(answers.shape, -1.0 if rated_letter == 0 else 1.0)
    else:
        signs = np.where(answers == letters[1], 1.0, -1.0)
    rated = np.logical_or.reduce(np.isfinite(confidence_given[items]), axis=0)
    notes = [
        _confidence_note(column.kind, pair, confidence, rated_letter, letters)
        if has_confidence
        else ""
        for column, pair, has_confidence in zip(matrix.columns, pairs, rated, strict=True)
    ]
    worst_ratings = np.where(positive, -np.inf, np.inf)[:, None]
    return Ratings(
        positive=positive,
        ratings=np.where(answers == NO_LETTER, worst_ratings, signs * confidence_given),
        rated=rated,
        is_letter_unknown=confidence.meaning is Meaning.FINDING and rated_letter is None,
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairCounts:
    """Numbers of pairs of answers with different letters: `n` in all.

    In `higher` of these the positive letter has the higher confidence; ties count half.
    """

    higher: float
    n: int


def _pair_counts(answers: Codes, confidence: Floats, letters: tuple[int, int]) -> _PairCounts:
    low, high = (confidence[(answers == letter) & np.isfinite(confidence)] for letter in letters)
    ordered = np.sort(low)
    below, up_to = (np.searchsorted(ordered, high, side=side) for side in ("left", "right"))
    return _PairCounts(higher=float((below + up_to).sum()) / 2, n=len(low) * len(high))


def _rated_letter(kinds: Sequence[RaterKind], pairs: Sequence[_PairCounts]) -> int | None:
    """Return the letter with the higher confidence: 0 for the negative, 1 for the positive one."""
    for kind in RaterKind:
        pairs_of_kind = [pair for other, pair in zip(kinds, pairs, strict=True) if other is kind]
        n = sum(pair.n for pair in pairs_of_kind)
        if n:
            return int(2 * sum(pair.higher for pair in pairs_of_kind) >= n)
    return None


def _confidence_note(
    kind: RaterKind,
    pairs: _PairCounts,
    confidence: Confidence,
    rated_letter: int | None,
    letters: tuple[int, int],
) -> str:
    raters = "readers" if kind is RaterKind.READER else "model"
    parts = []
    if confidence.meaning is Meaning.ANSWER:
        parts.append(f"{raters}: confidence is {MEANING_WORDS[Meaning.ANSWER]}")
        if (
            pairs.n >= FEWEST_PAIRS
            and not 1 - CONCORDANT_SHARE < pairs.higher / pairs.n < CONCORDANT_SHARE
        ):
            parts.append(f"{raters}: answers go with confidence as if it rated the finding")
    elif rated_letter is not None:
        letter = LETTERS[letters[rated_letter]]
        parts.append(f"{raters}: confidence rates answer {letter}, which follows from a cut-off")
        share = (pairs.higher if rated_letter else pairs.n - pairs.higher) / max(pairs.n, 1)
        if pairs.n and share < CONCORDANT_SHARE:
            parts.append(f"{raters}: not every answer follows from the confidence")
    if parts and confidence.origin:
        parts.append(confidence.origin)
    return "; ".join(parts)


CHANCE_AREA = 0.5
PERCENT_CORRECT = later("covariances of percent correct")


class Metric(StrEnum):
    """The metrics of raters."""

    ACCURACY = "accuracy"
    AUC = "auc"
    SENSITIVITY = "sensitivity"
    SPECIFICITY = "specificity"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FigureOfMerit:
    """A metric of the raters of a comparison, over the items that they share.

    Parameters
    ----------
    metric : Metric
        The metric.
    n_items, n_clusters : int
        Number of its items and of their clusters: patients, or items if every patient has one item.
    merits : Merits
        Values and covariances, in the raters' order.
    covariances : str
        How the covariances are estimated, in words.
    no_value : str
        Why a rater's value is undefined; empty if none is.
    notes : tuple of str
        Notes on the values.
    """

    metric: Metric
    n_items: int
    n_clusters: int
    merits: Merits
    covariances: str
    no_value: str
    notes: tuple[str, ...]

    @property
    def items_df(self) -> float:
        """Degrees of freedom of the variation over items."""
        return float(max(self.n_clusters - 1, 1))

    def reversed_note(self, readers: Floats, suffix: str = "") -> str:
        """Return a note if every reader is worse than guessing; otherwise an empty string.

        Parameters
        ----------
        readers : numpy.ndarray of float, shape (n_readers,)
            The readers' values.
        suffix : str, optional
            Words that state which readers these are.
        """
        if self.metric is Metric.AUC and len(readers) and bool((readers < CHANCE_AREA).all()):
            return f"the AUC of every reader{suffix} is below 0.5"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiguresOfMerit:
    """The metrics of the readings in a matrix, for the raters and items of any comparison.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    ratings : Ratings or None
        The ratings for areas; None if there are none.
    """

    matrix: ReadingMatrix
    ratings: Ratings | None

    def of_raters(self, shared: SharedItems, columns: Ints, rated: Ints) -> Iterator[FigureOfMerit]:
        """Yield every metric of the raters, over the items that they share.

        Parameters
        ----------
        shared : SharedItems
            The items; if they are too few, the metrics are undefined.
        columns : numpy.ndarray of int, shape (n_raters,)
            Positions of the raters in the matrix.
        rated : numpy.ndarray of int
            The raters who must have ratings for an area.

        Yields
        ------
        FigureOfMerit
            Accuracy, and AUC where there are ratings.
        """
        yield self._accuracy(shared, columns)
        if self.ratings is not None and self.ratings.rated[rated].any():
            yield self._auc(self.ratings, shared, columns)

    def _accuracy(self, shared: SharedItems, columns: Ints) -> FigureOfMerit:
        correct = self.matrix.correct[shared.items][:, columns]
        return self.figure(
            Metric.ACCURACY,
            shared,
            percent_correct(correct, self.matrix.clusters[shared.items]),
            PERCENT_CORRECT,
        )

    def _auc(self, ratings: Ratings, shared: SharedItems, columns: Ints) -> FigureOfMerit:
        matrix = self.matrix
        covariance = AucCovariance.DELONG if matrix.clustered else AucCovariance.JACKKNIFE
        shared_ratings = ratings.ratings[shared.items][:, columns]
        reasons = [
            why_no_auc(
                matrix.columns[column].rater_id,
                int(n_gaps),
                is_letter_unknown=ratings.is_letter_unknown and bool(ratings.rated[column]),
            )
            for column, n_gaps in zip(columns, np.isnan(shared_ratings).sum(axis=0), strict=True)
        ]
        merits = empirical_auc(
            np.where(np.isnan(shared_ratings), 0.0, shared_ratings),
            ratings.positive[shared.items],
            matrix.clusters[shared.items] if matrix.clustered else None,
            covariance,
        )
        gaps = np.array([bool(reason) for reason in reasons], dtype=np.bool_)
        merits = Merits(
            values=np.where(gaps, np.nan, merits.values),
            covariance=np.where(gaps[:, None] | gaps, np.nan, merits.covariance),
            no_covariance=merits.no_covariance,
        )
        notes = [part for column in columns for part in ratings.notes[column].split("; ")]
        if np.isinf(shared_ratings).any():
            notes.append("missing answers have the worst rating")
        return self.figure(
            Metric.AUC,
            shared,
            merits,
            f"{covariance.value} covariances of the empirical AUC",
            "; ".join(_without_repeats(reasons)),
            notes,
        )

    def figure(
        self,
        metric: Metric,
        shared: SharedItems,
        merits: Merits,
        covariances: str,
        no_value: str = "",
        notes: Sequence[str] = (),
    ) -> FigureOfMerit:
        """Return a metric over shared items; it is undefined if these are too few."""
        clusters = self.matrix.clusters[shared.items]
        if shared.reason:
            merits = without_covariance(np.full(len(merits.values), np.nan), shared.reason)
            no_value, notes = "", ()
        return FigureOfMerit(
            metric=metric,
            n_items=len(clusters),
            n_clusters=len(np.unique(clusters)),
            merits=merits,
            covariances=covariances + (" over patients" if self.matrix.clustered else ""),
            no_value=no_value,
            notes=_without_repeats([shared.note, *notes]),
        )


def figures_of_merit(
    matrix: ReadingMatrix, items: pd.DataFrame, confidence: Confidence
) -> FiguresOfMerit:
    """Return accuracy, and AUC where there are ratings and a binary reference standard.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : pandas.DataFrame
        The bundle's items, for their `options`.
    confidence : Confidence
        The meaning of confidence.

    Returns
    -------
    FiguresOfMerit
        The metrics of the matrix.
    """
    letters = binary_letters(matrix, items)
    return FiguresOfMerit(
        matrix=matrix, ratings=ratings_of(matrix, letters, confidence) if letters else None
    )


def why_no_auc(rater: str, n_gaps: int, *, is_letter_unknown: bool) -> str:
    """Return why a rater has no AUC; empty if the rater has one.

    Examples
    --------
    >>> why_no_auc("R1", 2, is_letter_unknown=False), why_no_auc("R1", 0, is_letter_unknown=False)
    ('AUC: 2 answers of R1 have no confidence', '')
    """
    if n_gaps:
        return f"AUC: {n_gaps} answers of {rater} have no confidence"
    if is_letter_unknown:
        return "AUC: nobody gave both letters, so the rated letter is unknown"
    return ""


def _without_repeats(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for part in parts if part))
