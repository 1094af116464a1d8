"""The raters of a group, their answers within a set of items, and the sums of these answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analysis.arrays import Codes, Floats, Ints
from analysis.bundle.model import RaterKind
from analysis.readings.clusters import ratio
from analysis.readings.matrix import (
    NO_LETTER,
    RaterColumn,
    ReadingMatrix,
    models_of_every_condition,
)

# Up to this number of possible codes per item, codes are counted in a table; otherwise, sorted.
MOST_CODES_PER_ITEM = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupAnswers:
    """A group's answers to a set of items; the categories are letters, or correct and incorrect.

    Items with the same number of raters in each category and the same number of options are of one
    kind and contribute the same to all estimates. Forty thousand items have a few hundred kinds.

    Parameters
    ----------
    codes : numpy.ndarray of int8, shape (n_raters, n_items)
        The category that each rater chose; -1 where there is no answer.
    by_rater : numpy.ndarray of float, shape (n_raters, n_categories)
        Number of times that each rater chose each category.
    kinds : numpy.ndarray of int, shape (n_items,)
        The kind of each item.
    times : numpy.ndarray of float, shape (n_kinds,)
        Number of items of each kind.
    counts : numpy.ndarray of float, shape (n_categories, n_kinds)
        Number of raters who chose each category.
    options : numpy.ndarray of int, shape (n_kinds,)
        Number of options offered; 0 if unknown.
    """

    codes: Codes
    by_rater: Floats
    kinds: Ints
    times: Floats
    counts: Floats
    options: Ints

    @property
    def answers(self) -> Floats:
        """Number of answers to an item of each kind, shape (n_kinds,)."""
        answers: Floats = self.counts.sum(axis=0)
        return answers


def answers_of_group(codes: Codes, options: Ints) -> GroupAnswers:
    """Count how many raters of a group chose each category.

    Parameters
    ----------
    codes : numpy.ndarray of int8, shape (n_items, n_raters)
        Categories from 0; -1 where there is no answer.
    options : numpy.ndarray of int, shape (n_items,)
        Number of options offered.

    Returns
    -------
    GroupAnswers
        The categories are those up to the highest one chosen; at least one.

    Examples
    --------
    >>> codes = np.array([[0, 1], [1, 0], [1, 1]], dtype=np.int8)
    >>> ratings = answers_of_group(codes, np.array([2, 2, 2]))
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
    first, kinds, times = _item_kinds([options, *counts], len(codes))
    return GroupAnswers(
        codes=codes,
        by_rater=by_rater,
        kinds=kinds,
        times=times.astype(np.float64),
        counts=counts[:, first].astype(np.float64),
        options=options[first],
    )


def _item_kinds(numbers: Sequence[Ints], n_answers: int) -> tuple[Ints, Ints, Ints]:
    """Return an item of each kind, the kind of each item, and the number of items of each kind.

    Kinds are in the order of their codes, so that sums over kinds do not depend on the order of
    items.
    """
    n_items = len(numbers[0])
    base = max(n_answers, int(numbers[0].max(initial=0))) + 1
    if base ** len(numbers) <= MOST_CODES_PER_ITEM * n_items:
        code = _combined_codes(numbers, base)
        present = np.bincount(code, minlength=1)
        codes = np.flatnonzero(present)
        kind_of_code = np.zeros(len(present), dtype=np.int64)
        kind_of_code[codes] = np.arange(len(codes))
        kinds = kind_of_code[code]
        first = np.empty(len(codes), dtype=np.int64)
        first[kinds] = np.arange(n_items)
        return first, kinds, present[codes]
    if base ** len(numbers) < 2**62:
        code = _combined_codes(numbers, base)
        _, first, kinds, times = np.unique(
            code, return_index=True, return_inverse=True, return_counts=True
        )
    else:
        _, first, kinds, times = np.unique(
            np.stack(numbers), axis=1, return_index=True, return_inverse=True, return_counts=True
        )
    return first, kinds, times


def _combined_codes(numbers: Sequence[Ints], base: int) -> Ints:
    code = np.zeros(len(numbers[0]), dtype=np.int64)
    for number in numbers:
        code = code * base + number
    return code


# Number of an item's terms that do not depend on the number of categories, see `item_terms`.
N_COMMON_TERMS = 6


def observed_by_item(counts: Floats) -> Floats:
    r"""Return the share of agreeing pairs among the answers to an item of each kind.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (n_categories, n_kinds)
        Number of raters who chose each category.

    Returns
    -------
    numpy.ndarray of float, shape (n_kinds,)
        :math:`\sum_k r_{ik} (r_{ik} - 1) / (r_i (r_i - 1))`; 0 with fewer than two answers.
    """
    answers = counts.sum(axis=0)
    agreeing = (counts * (counts - 1)).sum(axis=0)
    return ratio(agreeing, np.where(answers >= 2, answers * (answers - 1), 1.0))


def item_terms(ratings: GroupAnswers) -> Floats:
    """Return what an item of each kind contributes to the sums.

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
        Number of items with at least one answer.
    n_paired : numpy.ndarray of float, shape (...)
        Number of items with at least two answers.
    observed : numpy.ndarray of float, shape (...)
        Sum of the items' shares of agreeing pairs of answers.
    guessed : numpy.ndarray of float, shape (...)
        Sum of 1/k over the items with at least two answers; 1 instead of 1/k if k is unknown.
    paired_answers : numpy.ndarray of float, shape (...)
        Number of answers to items with at least two answers.
    coincident : numpy.ndarray of float, shape (...)
        Krippendorff's coincidences within a category.
    shares : numpy.ndarray of float, shape (n_categories, ...)
        Sum over items of the share of their answers in each category.
    paired : numpy.ndarray of float, shape (n_categories, ...)
        Number of answers in each category to items with at least two answers.
    raters : RaterSums
        Sums over the raters' own shares.
    size : float
        Number of options that every item with an answer offers; nan if it varies or is below 2.
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
    """Sums over the marginal distributions of raters.

    Parameters
    ----------
    n : numpy.ndarray of float, shape (...)
        Number of raters with an answer.
    varying : numpy.ndarray of float, shape (...)
        Number of raters who chose more than one category.
    shares : numpy.ndarray of float, shape (n_categories, ...)
        Sum over raters of the share of their answers in each category.
    squares : numpy.ndarray of float, shape (n_categories, ...)
        Sum over raters of the squares of these shares.
    """

    n: Floats
    varying: Floats
    shares: Floats
    squares: Floats


def group_sums(ratings: GroupAnswers, totals: Floats, raters: RaterSums) -> GroupSums:
    """Assign the totals of `item_terms` to the fields of `GroupSums`.

    Parameters
    ----------
    ratings : GroupAnswers
        The group's answers.
    totals : numpy.ndarray of float, shape (6 + 2 n_categories, ...)
        The terms summed over items.
    raters : RaterSums
        The raters' marginals over the same items.

    Returns
    -------
    GroupSums
        Sums of shape (...).
    """
    n_categories = (len(totals) - N_COMMON_TERMS) // 2
    n, n_paired, observed, guessed, paired_answers, coincident = totals[:N_COMMON_TERMS]
    return GroupSums(
        n=n,
        n_paired=n_paired,
        observed=observed,
        guessed=guessed,
        paired_answers=paired_answers,
        coincident=coincident,
        shares=totals[N_COMMON_TERMS : N_COMMON_TERMS + n_categories],
        paired=totals[N_COMMON_TERMS + n_categories :],
        raters=raters,
        size=_common_n_options(ratings),
        sizes_known=bool((ratings.options[ratings.answers >= 2] > 0).all()),
    )


def _common_n_options(ratings: GroupAnswers) -> float:
    sizes = np.unique(ratings.options[ratings.answers >= 1])
    return float(sizes[0]) if len(sizes) == 1 and sizes[0] >= 2 else np.nan


def rater_sums(counts: Floats) -> RaterSums:
    """Sum the raters' own shares of each category.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (n_raters, n_categories, ...)
        Number of answers of each rater by category.

    Returns
    -------
    RaterSums
        Sums of shape (...), without raters who gave no answer.
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
        Number of cells and of categories.

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
    for rater, letters in enumerate(codes.T):
        answered = np.flatnonzero(letters != NO_LETTER)
        cell = letters[answered].astype(np.int64) * n_cells + cells[answered]
        counts[rater].flat = np.bincount(cell, minlength=n_categories * n_cells)
    return counts


class Raters(StrEnum):
    """The kind of a group: the values of the column `raters`."""

    READERS = "readers"
    MODELS = "models"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterGroup:
    """A group of raters as columns of the reading matrix, one column per rater.

    Parameters
    ----------
    raters : Raters
        Readers, models, or both.
    condition : str
        The condition of the readers; for `models`, that of the models.
    columns : tuple of int
        Positions in the matrix, ascending.
    """

    raters: Raters
    condition: str
    columns: tuple[int, ...]


def rater_groups(columns: Sequence[RaterColumn]) -> tuple[RaterGroup, ...]:
    """Return the groups of raters whose agreement is estimated.

    Returns
    -------
    tuple of RaterGroup
        In order of condition, and under each condition readers, models, all; without empty groups.

    Notes
    -----
    As with pairs, a model with a single condition is in `all` with the readers of every condition;
    a model with several conditions is with the readers under the same conditions. Under a condition
    without readers, `all` would repeat `models` and is omitted, unless the study has no readers.

    Examples
    --------
    >>> reader, model = RaterKind.READER, RaterKind.MODEL
    >>> columns = [
    ...     RaterColumn(rater_id="R1", kind=reader, condition="aided"),
    ...     RaterColumn(rater_id="R1", kind=reader, condition="unaided"),
    ...     RaterColumn(rater_id="M1", kind=model, condition=""),
    ... ]
    >>> [(str(group.raters), group.condition, group.columns) for group in rater_groups(columns)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('models', '', (2,)), ('readers', 'aided', (0,)), ('all', 'aided', (0, 2)),
     ('readers', 'unaided', (1,)), ('all', 'unaided', (1, 2))]
    """
    conditions = sorted({column.condition for column in columns})
    groups = [
        RaterGroup(
            raters=raters, condition=condition, columns=_group_columns(columns, raters, condition)
        )
        for condition in conditions
        for raters in Raters
    ]
    return tuple(group for group in groups if group.columns)


def models_compared_with_readers(columns: Sequence[RaterColumn], condition: str) -> tuple[int, ...]:
    """Return the columns of the models that are compared with readers under a condition."""
    unconditioned = models_of_every_condition(columns)
    return tuple(
        i
        for i, column in enumerate(columns)
        if column.kind is RaterKind.MODEL
        and (column.condition == condition or column.rater_id in unconditioned)
    )


def columns_of_kind(
    columns: Sequence[RaterColumn], kind: RaterKind, condition: str
) -> tuple[int, ...]:
    """Return the columns of one kind of rater under a condition."""
    return tuple(
        i
        for i, column in enumerate(columns)
        if (column.kind, column.condition) == (kind, condition)
    )


def _group_columns(
    columns: Sequence[RaterColumn], raters: Raters, condition: str
) -> tuple[int, ...]:
    readers = columns_of_kind(columns, RaterKind.READER, condition)
    models = columns_of_kind(columns, RaterKind.MODEL, condition)
    if raters is Raters.READERS:
        return readers
    if raters is Raters.MODELS:
        return models
    if readers:
        return readers + models_compared_with_readers(columns, condition)
    any_reader = any(column.kind is RaterKind.READER for column in columns)
    return () if any_reader else models


CORRECT, INCORRECT = 0, 1

# Largest size of an array: 64 MiB of float64.
LARGEST_ARRAY_SIZE = 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SummedAnswers:
    """A group's answers within a scope, with their sums.

    Parameters
    ----------
    ratings : GroupAnswers
        The answers by item.
    sums : GroupSums
        The sums of the answers, of shape ().
    resampled : GroupSums or None
        The sums of every resample, of shape (n_resamples,); None without resamples.
    """

    ratings: GroupAnswers
    sums: GroupSums
    resampled: GroupSums | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resamples:
    """The resamples of a scope's clusters.

    Parameters
    ----------
    starts : numpy.ndarray of int, shape (n_present,)
        Position of the first item of each cluster among the scope's items.
    cells : numpy.ndarray of int, shape (n_items,)
        The position of each item's cluster among these clusters.
    weights : numpy.ndarray of float, shape (n_resamples, n_present)
        Number of times each of these clusters was drawn in each resample.
    """

    starts: Ints
    cells: Ints
    weights: Floats

    def totals(self, by_cluster: Floats) -> Floats:
        """Sum terms of shape (..., n_present) in every resample, to shape (..., n_resamples)."""
        rows = by_cluster.reshape(-1, by_cluster.shape[-1]) @ self.weights.T
        return rows.reshape(*by_cluster.shape[:-1], -1)


def resamples_of(matrix: ReadingMatrix, items: Ints, weights: Floats) -> Resamples:
    """Restrict the resamples to the clusters of a scope's items.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : numpy.ndarray of int, shape (n_items,)
        Positions of the items, ascending.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        The resamples.
    """
    present, starts, cells = np.unique(
        matrix.clusters[items], return_index=True, return_inverse=True
    )
    is_partial = len(present) < weights.shape[1]
    return Resamples(
        starts=starts, cells=cells, weights=weights.T[present].T if is_partial else weights
    )


def letters_of(matrix: ReadingMatrix, items: Ints) -> Codes:
    """Return the letters chosen, shape (n_items, n_columns); -1 without an answer."""
    return matrix.answers[items]


def correctness_of(matrix: ReadingMatrix, items: Ints) -> Codes:
    """Return 0 if correct and 1 if incorrect; -1 without an answer or a reference standard."""
    answers, truth = matrix.answers[items], matrix.truth[items, None]
    codes = np.where(answers == truth, np.int8(CORRECT), np.int8(INCORRECT))
    return np.where((answers == NO_LETTER) | (truth == NO_LETTER), np.int8(NO_LETTER), codes)


def sum_answers(
    codes: Codes, options: Ints, groups: Sequence[RaterGroup], resamples: Resamples | None
) -> list[SummedAnswers]:
    """Sum up the answers of every group.

    Parameters
    ----------
    codes : numpy.ndarray of int8, shape (n_items, n_columns)
        Categories from 0; -1 where there is no answer.
    options : numpy.ndarray of int, shape (n_items,)
        Number of options offered.
    groups : sequence of RaterGroup
        The groups.
    resamples : Resamples or None
        The resamples.

    Notes
    -----
    The raters' counts, which are whole numbers, are resampled once for all groups. The items'
    shares are resampled by group, so that rounding cannot make a result depend on other raters.
    """
    n_categories = max(int(codes.max(initial=0)) + 1, 1)
    resampled_counts = (
        None if resamples is None else _resampled_counts(codes, resamples, n_categories)
    )
    summed_answers = []
    for group in groups:
        columns = list(group.columns)
        ratings = answers_of_group(codes[:, columns], options)
        terms = item_terms(ratings)
        totals = (terms * ratings.times).sum(axis=1)
        sums = group_sums(ratings, totals, rater_sums(ratings.by_rater))
        resampled = None
        if resamples is not None and resampled_counts is not None:
            totals = resamples.totals(_by_cluster(terms[:, ratings.kinds], resamples.starts))
            resampled = group_sums(ratings, totals, rater_sums(resampled_counts[columns]))
        summed_answers.append(SummedAnswers(ratings=ratings, sums=sums, resampled=resampled))
    return summed_answers


def _by_cluster(terms: Floats, starts: Ints) -> Floats:
    if not len(starts):
        return np.zeros((len(terms), 0))
    by_cluster: Floats = np.add.reduceat(terms, starts, axis=1)
    return by_cluster


def _resampled_counts(codes: Codes, resamples: Resamples, n_categories: int) -> Floats:
    n_columns, n_cells = codes.shape[1], len(resamples.starts)
    resampled_counts = np.empty((n_columns, n_categories, len(resamples.weights)))
    size = max(1, LARGEST_ARRAY_SIZE // max(n_categories * n_cells, 1))
    for start in range(0, n_columns, size):
        block = slice(start, start + size)
        counts = rater_counts(codes[:, block], resamples.cells, n_cells, n_categories)
        resampled_counts[block] = resamples.totals(counts)
    return resampled_counts
