"""What a group's answers come down to: sums over items that all coefficients are functions of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Codes, Floats, Ints
from analysis.clusters import ratio
from analysis.matrix import NO_LETTER

# What each item adds up to once, whatever the number of categories: see `item_terms`.
PLAIN_TERMS = 6


# Up to so many possible codes an item they are counted in a table, else sorted.
TABLE = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """A group's answers to some items in one categorisation: letters, or right and wrong.

    Items are alike where as many raters chose each category and as many options were offered: all
    that is estimated is the same for them. Forty thousand items are a few hundred kinds.

    Parameters
    ----------
    codes : numpy.ndarray of int8, shape (n_raters, n_items)
        The category that each rater chose; -1 where there is no answer.
    by_rater : numpy.ndarray of float, shape (n_raters, n_categories)
        How often each rater chose each category.
    kinds : numpy.ndarray of int, shape (n_items,)
        The kind of each item.
    times : numpy.ndarray of float, shape (n_kinds,)
        How many items of each kind there are.
    counts : numpy.ndarray of float, shape (n_categories, n_kinds)
        How many raters chose each category.
    options : numpy.ndarray of int, shape (n_kinds,)
        Options offered; 0 where not given.
    """

    codes: Codes
    by_rater: Floats
    kinds: Ints
    times: Floats
    counts: Floats
    options: Ints

    @property
    def answers(self) -> Floats:
        """Answers to an item of each kind, shape (n_kinds,)."""
        answers: Floats = self.counts.sum(axis=0)
        return answers


def ratings_of(codes: Codes, options: Ints) -> Ratings:
    """Count how many raters of a group chose each category.

    Parameters
    ----------
    codes : numpy.ndarray of int8, shape (n_items, n_raters)
        Categories from 0; -1 where there is no answer.
    options : numpy.ndarray of int, shape (n_items,)
        Options offered.

    Returns
    -------
    Ratings
        With as many categories as were seen, at least one.

    Examples
    --------
    >>> ratings = ratings_of(np.array([[0, 1], [1, 0], [1, 1]], dtype=np.int8), np.array([2, 2, 2]))
    >>> ratings.counts.tolist(), ratings.times.tolist(), ratings.kinds.tolist()
    ([[0.0, 1.0], [2.0, 1.0]], [1.0, 2.0], [1, 1, 0])
    """
    codes = np.ascontiguousarray(codes.T)
    n_categories = max(int(codes.max(initial=0)) + 1, 1)
    counts = np.empty((n_categories, codes.shape[1]), dtype=np.int64)
    by_rater = np.empty((len(codes), n_categories))
    for category in range(n_categories):
        chosen = codes == category
        counts[category] = chosen.sum(axis=0, dtype=np.int16)
        by_rater[:, category] = np.count_nonzero(chosen, axis=1)
    first, kinds, times = _alike([options, *counts], len(codes))
    return Ratings(
        codes=codes,
        by_rater=by_rater,
        kinds=kinds,
        times=times.astype(np.float64),
        counts=counts[:, first].astype(np.float64),
        options=options[first],
    )


def _alike(numbers: Sequence[Ints], most: int) -> tuple[Ints, Ints, Ints]:
    """Return an item of each kind, the kind of each item, and how many there are of each kind.

    Kinds are in the order of their numbers, so that sums over them depend on nothing else.
    """
    n_items = len(numbers[0])
    base = max(most, int(numbers[0].max(initial=0))) + 1
    if base ** len(numbers) <= TABLE * n_items:
        code = _code(numbers, base)
        present = np.bincount(code, minlength=1)
        found = np.flatnonzero(present)
        place = np.zeros(len(present), dtype=np.int64)
        place[found] = np.arange(len(found))
        kinds = place[code]
        first = np.empty(len(found), dtype=np.int64)
        first[kinds] = np.arange(n_items)
        return first, kinds, present[found]
    if base ** len(numbers) < 2**62:
        code = _code(numbers, base)
        _, first, kinds, times = np.unique(
            code, return_index=True, return_inverse=True, return_counts=True
        )
    else:
        _, first, kinds, times = np.unique(
            np.stack(numbers), axis=1, return_index=True, return_inverse=True, return_counts=True
        )
    return first, kinds, times


def _code(numbers: Sequence[Ints], base: int) -> Ints:
    code = np.zeros(len(numbers[0]), dtype=np.int64)
    for number in numbers:
        code = code * base + number
    return code


def observed_by_item(counts: Floats) -> Floats:
    r"""Return the share of agreeing pairs of answers to an item of each kind, 0 below two answers.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (n_categories, n_kinds)
        How many raters chose each category.

    Returns
    -------
    numpy.ndarray of float, shape (n_kinds,)
        :math:`\sum_k r_{ik} (r_{ik} - 1) / (r_i (r_i - 1))`.
    """
    answers = counts.sum(axis=0)
    agreeing = (counts * (counts - 1)).sum(axis=0)
    return ratio(agreeing, np.where(answers >= 2, answers * (answers - 1), 1.0))


def item_terms(ratings: Ratings) -> Floats:
    """Return what an item of each kind adds to the sums.

    Parameters
    ----------
    ratings : Ratings
        The group's answers.

    Returns
    -------
    numpy.ndarray of float, shape (6 + 2 n_categories, n_kinds)
        In the order of the fields of `GroupSums`.
    """
    counts, answers = ratings.counts, ratings.answers
    paired = (answers >= 2).astype(np.float64)
    agreeing = (counts * (counts - 1)).sum(axis=0)
    return np.vstack(
        [
            answers >= 1,
            paired,
            observed_by_item(counts),
            paired / np.maximum(ratings.options, 1),
            paired * answers,
            agreeing / np.maximum(answers - 1, 1),
            counts / np.maximum(answers, 1),
            counts * paired,
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupSums:
    """Sums over items; shape (...) is that of the estimates: () or (n_resamples,).

    Parameters
    ----------
    n : numpy.ndarray of float, shape (...)
        Items with at least one answer.
    n_paired : numpy.ndarray of float, shape (...)
        Items with at least two.
    observed : numpy.ndarray of float, shape (...)
        Sum of the items' shares of agreeing pairs of answers.
    guessed : numpy.ndarray of float, shape (...)
        Sum of 1/k over the items with at least two answers; 1 where k is not given.
    paired_answers : numpy.ndarray of float, shape (...)
        Answers to items with at least two.
    coincident : numpy.ndarray of float, shape (...)
        Krippendorff's coincidences within a category.
    shares : numpy.ndarray of float, shape (n_categories, ...)
        Sum over items of the share of their answers in each category.
    paired : numpy.ndarray of float, shape (n_categories, ...)
        Answers in each category to items with at least two.
    raters : RaterSums
        Sums over the raters' own shares.
    size : float
        Options that every item with an answer offers; nan where this varies or is below 2.
    sizes_known : bool
        Whether the number of options is given for every item with at least two answers.
    """

    n: Floats
    n_paired: Floats
    observed: Floats
    guessed: Floats
    paired_answers: Floats
    coincident: Floats
    shares: Floats
    paired: Floats
    raters: RaterSums
    size: float
    sizes_known: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RaterSums:
    """What the raters' own marginals come to.

    Parameters
    ----------
    n : numpy.ndarray of float, shape (...)
        Raters with an answer.
    varying : numpy.ndarray of float, shape (...)
        Raters who chose more than one category.
    shares : numpy.ndarray of float, shape (n_categories, ...)
        Sum over raters of the share of their answers in each category.
    squares : numpy.ndarray of float, shape (n_categories, ...)
        Sum over raters of those shares' squares.
    """

    n: Floats
    varying: Floats
    shares: Floats
    squares: Floats


def group_sums(ratings: Ratings, totals: Floats, raters: RaterSums) -> GroupSums:
    """Name the totals of `item_terms`.

    Parameters
    ----------
    ratings : Ratings
        The group's answers.
    totals : numpy.ndarray of float, shape (6 + 2 n_categories, ...)
        The terms summed over items.
    raters : RaterSums
        The raters' marginals over the same items.

    Returns
    -------
    GroupSums
        Of shape (...).
    """
    n_categories = (len(totals) - PLAIN_TERMS) // 2
    n, n_paired, observed, guessed, paired_answers, coincident = totals[:PLAIN_TERMS]
    return GroupSums(
        n=n,
        n_paired=n_paired,
        observed=observed,
        guessed=guessed,
        paired_answers=paired_answers,
        coincident=coincident,
        shares=totals[PLAIN_TERMS : PLAIN_TERMS + n_categories],
        paired=totals[PLAIN_TERMS + n_categories :],
        raters=raters,
        size=_common_size(ratings),
        sizes_known=bool((ratings.options[ratings.answers >= 2] > 0).all()),
    )


def _common_size(ratings: Ratings) -> float:
    sizes = np.unique(ratings.options[ratings.answers >= 1])
    return float(sizes[0]) if len(sizes) == 1 and sizes[0] >= 2 else np.nan


def rater_sums(counts: Floats) -> RaterSums:
    """Sum the raters' own shares of each category.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (n_raters, n_categories, ...)
        Answers of each rater by category.

    Returns
    -------
    RaterSums
        Of shape (...). Raters without an answer are no part of it.
    """
    n = counts.sum(axis=1)
    shares = np.nan_to_num(ratio(counts, n[:, None]), copy=False)
    return RaterSums(
        n=(n > 0).sum(axis=0).astype(np.float64),
        varying=(counts.max(axis=1) < n).sum(axis=0).astype(np.float64),
        shares=shares.sum(axis=0),
        squares=(shares**2).sum(axis=0),
    )


def rater_counts(codes: Codes, cells: Ints, n_cells: int, n_categories: int) -> Floats:
    """Count each rater's answers by category within each cell.

    Parameters
    ----------
    codes : numpy.ndarray of int8, shape (n_items, n_raters)
        Categories from 0; -1 where there is no answer.
    cells : numpy.ndarray of int, shape (n_items,)
        The cell of each item, such as its cluster.
    n_cells, n_categories : int
        How many there are.

    Returns
    -------
    numpy.ndarray of float, shape (n_raters, n_categories, n_cells)
        Whole numbers.

    Examples
    --------
    >>> codes = np.array([[0], [1], [1], [-1]], dtype=np.int8)
    >>> rater_counts(codes, np.array([0, 0, 1, 1]), 2, 2).tolist()
    [[[1.0, 0.0], [1.0, 1.0]]]
    """
    counts = np.empty((codes.shape[1], n_categories, n_cells))
    for rater, given in enumerate(codes.T):
        answered = np.flatnonzero(given != NO_LETTER)
        cell = given[answered].astype(np.int64) * n_cells + cells[answered]
        counts[rater].flat = np.bincount(cell, minlength=n_categories * n_cells)
    return counts
