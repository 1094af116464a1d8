"""What a group's answers come down to: sums over items that all coefficients are functions of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Codes, Floats, Ints
from analysis.readings.clusters import ratio
from analysis.readings.matrix import NO_LETTER
from analysis.statistics.agreement.groups.ratings import Ratings

# What each item adds up to once, whatever the number of categories: see `item_terms`.
PLAIN_TERMS = 6


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
