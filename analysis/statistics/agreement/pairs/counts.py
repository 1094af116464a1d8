"""What two raters' answers come down to: a few counts for each pair, scope and cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Floats, Ints, ordered_sum
from analysis.readings.matrix import NO_LETTER, ReadingMatrix
from analysis.statistics.agreement.pairs.item_sets import (
    BOTH_RIGHT,
    NOT_JUDGED,
    ONLY_A,
    ONLY_B,
    OTHER_WRONG,
    OUTCOMES,
    SAME_WRONG,
    pair_counts,
)
from analysis.statistics.agreement.pairs.pairing import Pair

# From so many items a cell on, on average, sets count faster than going from pair to pair.
ITEMS_A_LARGE_CELL = 250
# So many readings of a rater are counted in one go: enough to forget the call, few enough to stay
# in the processor's cache.
READINGS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairCounts:
    """Counts over the items that both raters of a pair answered.

    Parameters
    ----------
    letters : numpy.ndarray of float, shape (n_pairs, n_cells, n_letters, n_letters)
        Answers of the first rater by answers of the second.
    outcomes : numpy.ndarray of float, shape (n_pairs, n_cells, 6)
        Items by outcome, in the order of this module's constants.
    options : numpy.ndarray of float, shape (n_pairs, n_cells, n_sizes)
        Items by number of options offered.
    sizes : numpy.ndarray of int, shape (n_sizes,)
        These numbers of options, ascending; 0 stands for not given.
    """

    letters: Floats
    outcomes: Floats
    options: Floats
    sizes: Ints


def count_pairs(
    matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, cells: Ints, n_cells: int
) -> PairCounts:
    """Count the answers of each pair within each cell.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    items : numpy.ndarray of int, shape (n_used,)
        Positions of the items that count.
    cells : numpy.ndarray of int, shape (n_used,)
        The cell of each of them: a scope, or a cluster.
    n_cells : int
        Number of cells.

    Returns
    -------
    PairCounts
        One entry a pair and cell.
    """
    n_letters = int(matrix.answers.max(initial=0)) + 1
    sizes = np.unique(matrix.n_options)
    counts = PairCounts(
        letters=np.zeros((len(pairs), n_cells, n_letters, n_letters)),
        outcomes=np.zeros((len(pairs), n_cells, OUTCOMES)),
        options=np.zeros((len(pairs), n_cells, len(sizes))),
        sizes=sizes,
    )
    if pairs and 0 < n_cells * ITEMS_A_LARGE_CELL <= len(items):
        _fill_by_sets(counts, matrix, pairs, items, cells)
    else:
        _fill_by_pairs(counts, matrix, pairs, items, cells)
    return counts


def _fill_by_sets(
    counts: PairCounts, matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, cells: Ints
) -> None:
    n_cells, n_letters = counts.letters.shape[1:3]
    order = np.argsort(cells, kind="stable")
    edges = np.cumsum(np.bincount(cells, minlength=n_cells))[:-1]
    for cell, members in enumerate(np.split(items[order], edges)):
        letters, outcomes, options = pair_counts(matrix, pairs, members, n_letters, counts.sizes)
        counts.letters[:, cell] = letters
        counts.outcomes[:, cell] = outcomes
        counts.options[:, cell] = options


def _fill_by_pairs(
    counts: PairCounts, matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, cells: Ints
) -> None:
    n_cells, n_letters = counts.letters.shape[1:3]
    answers = np.ascontiguousarray(matrix.answers[items].T, dtype=np.int64)
    truth = matrix.truth[items].astype(np.int64)
    size = np.searchsorted(counts.sizes, matrix.n_options[items])
    first, second = (np.array([getattr(pair, of) for pair in pairs], dtype=int) for of in "ab")
    step = max(1, READINGS_AT_ONCE // max(len(items), 1))
    for start in range(0, len(pairs), step):
        some = slice(start, start + step)
        a, b = answers[first[some]], answers[second[some]]
        pair, both = np.nonzero((a != NO_LETTER) & (b != NO_LETTER))
        a, b = a[pair, both], b[pair, both]
        cell = pair * n_cells + cells[both]
        _count(counts.letters[some], cell, a * n_letters + b)
        _count(counts.outcomes[some], cell, _outcomes(a, b, truth[both]))
        _count(counts.options[some], cell, size[both])


def _count(table: Floats, cell: Ints, code: Ints) -> None:
    n_codes = math.prod(table.shape[2:])
    table[...] = np.bincount(cell * n_codes + code, minlength=table.size).reshape(table.shape)


def _outcomes(a: Ints, b: Ints, truth: Ints) -> Ints:
    right_a, right_b = a == truth, b == truth
    wrong = np.where(a == b, SAME_WRONG, OTHER_WRONG)
    outcome = np.where(right_a, np.where(right_b, BOTH_RIGHT, ONLY_A), wrong)
    outcome = np.where(~right_a & right_b, ONLY_B, outcome)
    judged: Ints = np.where(truth == NO_LETTER, NOT_JUDGED, outcome)
    return judged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """The sums that every estimate is a function of; shape (...) is that of the estimates.

    Categories come first: numpy adds whole planes far faster than runs of four numbers.

    Parameters
    ----------
    agree : numpy.ndarray of float, shape (...)
        Items with the same answer.
    answers_a, answers_b : numpy.ndarray of float, shape (n_letters, ...)
        Each rater's answers by letter.
    outcomes : numpy.ndarray of float, shape (6, ...)
        Items by outcome.
    options : numpy.ndarray of float, shape (n_sizes, ...)
        Items by number of options offered.
    sizes : numpy.ndarray of int, shape (n_sizes,)
        These numbers; 0 stands for not given.
    """

    agree: Floats
    answers_a: Floats
    answers_b: Floats
    outcomes: Floats
    options: Floats
    sizes: Ints

    @property
    def n(self) -> Floats:
        """Items that both raters answered, shape (...)."""
        n: Floats = self.answers_a.sum(axis=0)
        return n

    @property
    def both_wrong(self) -> Floats:
        """Items that both raters answered wrongly, shape (...)."""
        both_wrong: Floats = self.outcomes[SAME_WRONG] + self.outcomes[OTHER_WRONG]
        return both_wrong

    @property
    def judged(self) -> Floats:
        """Items with a reference standard that both raters answered, shape (...)."""
        judged: Floats = self.outcomes[:NOT_JUDGED].sum(axis=0)
        return judged

    @property
    def correctness(self) -> Sums:
        """Right and wrong in place of letters; unjudged items are left out."""
        right, only_a, only_b = (self.outcomes[i] for i in (BOTH_RIGHT, ONLY_A, ONLY_B))
        wrong = self.both_wrong
        return Sums(
            agree=right + wrong,
            answers_a=np.stack([right + only_a, only_b + wrong]),
            answers_b=np.stack([right + only_b, only_a + wrong]),
            outcomes=self.outcomes,
            options=self.options,
            sizes=self.sizes,
        )


def sums_of(counts: PairCounts) -> Sums:
    """Reduce counts to the sums that the estimates need, of shape (n_pairs, n_cells)."""
    return Sums(
        agree=np.trace(counts.letters, axis1=-2, axis2=-1),
        answers_a=np.moveaxis(ordered_sum(np.moveaxis(counts.letters, -1, 0)), -1, 0),
        answers_b=np.moveaxis(ordered_sum(np.moveaxis(counts.letters, -2, 0)), -1, 0),
        outcomes=np.moveaxis(counts.outcomes, -1, 0),
        options=np.moveaxis(counts.options, -1, 0),
        sizes=counts.sizes,
    )


def correctness_tables(counts: PairCounts) -> Floats:
    """Return right and wrong of the first rater by the second, shape (n_pairs, n_cells, 2, 2)."""
    cells = [counts.outcomes[..., cell] for cell in (BOTH_RIGHT, ONLY_A, ONLY_B)]
    wrong = counts.outcomes[..., SAME_WRONG] + counts.outcomes[..., OTHER_WRONG]
    return np.stack([*cells, wrong], axis=-1).reshape(*wrong.shape, 2, 2)
