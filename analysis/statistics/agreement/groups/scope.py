"""Which raters form a group, and their answers within one set of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analysis.arrays import Codes, Floats, Ints
from analysis.bundle.model import RaterKind
from analysis.readings.crossing import models_of_every_condition
from analysis.readings.matrix import NO_LETTER, ReadingMatrix, Reads
from analysis.statistics.agreement.groups.ratings import Ratings, ratings_of
from analysis.statistics.agreement.groups.sums import (
    GroupSums,
    group_sums,
    item_terms,
    rater_counts,
    rater_sums,
)


class Raters(StrEnum):
    """Whose agreement it is, as in the table's column `raters`."""

    READERS = "readers"
    MODELS = "models"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Columns of the reading matrix, one a rater.

    Parameters
    ----------
    raters : Raters
        Readers, models, or both.
    condition : str
        The readers' condition; for `models` their own.
    columns : tuple of int
        Positions in the matrix, ascending.
    """

    raters: Raters
    condition: str
    columns: tuple[int, ...]


def groups_of(columns: Sequence[Reads]) -> tuple[Group, ...]:
    """List the groups of raters whose agreement is estimated.

    Returns
    -------
    tuple of Group
        In order of condition, and within it readers, models, all; none without a rater.

    Notes
    -----
    As with pairs, a model that has answered under one condition only joins the readers of every
    condition in `all`; a model with several joins the readers of the same names. Under a condition
    that no reader has, `all` would repeat `models`, and is left out, unless there is no reader.

    Examples
    --------
    >>> reader, model = RaterKind.READER, RaterKind.MODEL
    >>> columns = [
    ...     Reads(rater_id="R1", kind=reader, condition="aided"),
    ...     Reads(rater_id="R1", kind=reader, condition="unaided"),
    ...     Reads(rater_id="M1", kind=model, condition=""),
    ... ]
    >>> [(str(group.raters), group.condition, group.columns) for group in groups_of(columns)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('models', '', (2,)), ('readers', 'aided', (0,)), ('all', 'aided', (0, 2)),
     ('readers', 'unaided', (1,)), ('all', 'unaided', (1, 2))]
    """
    conditions = sorted({column.condition for column in columns})
    groups = [
        Group(raters=raters, condition=condition, columns=_members(columns, raters, condition))
        for condition in conditions
        for raters in Raters
    ]
    return tuple(group for group in groups if group.columns)


def models_beside(columns: Sequence[Reads], condition: str) -> tuple[int, ...]:
    """Return the columns of the models that are compared with readers under a condition."""
    everywhere = models_of_every_condition(columns)
    return tuple(
        i
        for i, column in enumerate(columns)
        if column.kind is RaterKind.MODEL
        and (column.condition == condition or column.rater_id in everywhere)
    )


def of_kind(columns: Sequence[Reads], kind: RaterKind, condition: str) -> tuple[int, ...]:
    """Return the columns of one kind under a condition."""
    return tuple(
        i
        for i, column in enumerate(columns)
        if (column.kind, column.condition) == (kind, condition)
    )


def _members(columns: Sequence[Reads], raters: Raters, condition: str) -> tuple[int, ...]:
    readers = of_kind(columns, RaterKind.READER, condition)
    models = of_kind(columns, RaterKind.MODEL, condition)
    if raters is Raters.READERS:
        return readers
    if raters is Raters.MODELS:
        return models
    if readers:
        return readers + models_beside(columns, condition)
    any_reader = any(column.kind is RaterKind.READER for column in columns)
    return () if any_reader else models


RIGHT, WRONG = 0, 1

# Numbers held at once in the largest array: 64 MiB of float64.
BUDGET = 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answered:
    """A group's answers in one categorisation, within one scope.

    Parameters
    ----------
    ratings : Ratings
        The answers, item by item.
    sums : GroupSums
        Their sums, of shape ().
    resampled : GroupSums or None
        The sums of every resample, of shape (n_resamples,); None without resamples.
    """

    ratings: Ratings
    sums: GroupSums
    resampled: GroupSums | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """The resamples of a scope's clusters.

    Parameters
    ----------
    starts : numpy.ndarray of int, shape (n_present,)
        Where among the scope's items each cluster begins.
    cells : numpy.ndarray of int, shape (n_items,)
        The place of each item's cluster among them.
    weights : numpy.ndarray of float, shape (n_resamples, n_present)
        How often each of these clusters stands in each resample.
    """

    starts: Ints
    cells: Ints
    weights: Floats

    def totals(self, by_cluster: Floats) -> Floats:
        """Sum over every resample: from shape (..., n_present) to (..., n_resamples)."""
        rows = by_cluster.reshape(-1, by_cluster.shape[-1]) @ self.weights.T
        return rows.reshape(*by_cluster.shape[:-1], -1)


def draws_of(matrix: ReadingMatrix, items: Ints, weights: Floats) -> Draws:
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
    some = len(present) < weights.shape[1]
    return Draws(starts=starts, cells=cells, weights=weights.T[present].T if some else weights)


def letters_of(matrix: ReadingMatrix, items: Ints) -> Codes:
    """Return the letters chosen, shape (n_items, n_columns); -1 without an answer."""
    return matrix.answers[items]


def correctness_of(matrix: ReadingMatrix, items: Ints) -> Codes:
    """Return 0 for right and 1 for wrong; -1 without an answer or a reference standard."""
    answers, truth = matrix.answers[items], matrix.truth[items, None]
    codes = np.where(answers == truth, np.int8(RIGHT), np.int8(WRONG))
    return np.where((answers == NO_LETTER) | (truth == NO_LETTER), np.int8(NO_LETTER), codes)


def answered(
    codes: Codes, options: Ints, groups: Sequence[Group], draws: Draws | None
) -> list[Answered]:
    """Sum up the answers of every group.

    Parameters
    ----------
    codes : numpy.ndarray of int8, shape (n_items, n_columns)
        Categories from 0; -1 where there is no answer.
    options : numpy.ndarray of int, shape (n_items,)
        Options offered.
    groups : sequence of Group
        The groups.
    draws : Draws or None
        The resamples.

    Notes
    -----
    The raters' own counts are whole numbers and drawn once for all groups, whereas the items'
    shares are drawn group by group: then not even the last bit depends on who else is there.
    """
    n_categories = max(int(codes.max(initial=0)) + 1, 1)
    drawn = None if draws is None else _drawn_counts(codes, draws, n_categories)
    found = []
    for group in groups:
        columns = list(group.columns)
        ratings = ratings_of(codes[:, columns], options)
        terms = item_terms(ratings)
        totals = (terms * ratings.times).sum(axis=1)
        sums = group_sums(ratings, totals, rater_sums(ratings.by_rater))
        resampled = None
        if draws is not None and drawn is not None:
            totals = draws.totals(_by_cluster(terms[:, ratings.kinds], draws.starts))
            resampled = group_sums(ratings, totals, rater_sums(drawn[columns]))
        found.append(Answered(ratings=ratings, sums=sums, resampled=resampled))
    return found


def _by_cluster(terms: Floats, starts: Ints) -> Floats:
    if not len(starts):
        return np.zeros((len(terms), 0))
    by_cluster: Floats = np.add.reduceat(terms, starts, axis=1)
    return by_cluster


def _drawn_counts(codes: Codes, draws: Draws, n_categories: int) -> Floats:
    n_columns, n_cells = codes.shape[1], len(draws.starts)
    drawn = np.empty((n_columns, n_categories, len(draws.weights)))
    size = max(1, BUDGET // max(n_categories * n_cells, 1))
    for start in range(0, n_columns, size):
        block = slice(start, start + size)
        counts = rater_counts(codes[:, block], draws.cells, n_cells, n_categories)
        drawn[block] = draws.totals(counts)
    return drawn
