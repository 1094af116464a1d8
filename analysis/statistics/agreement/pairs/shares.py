"""The few counts that the sums of all pairs follow from.

Most of a pair's sums are those of its two raters alone, less the items that the other did not
answer. So answers are counted once a rater, what has to be counted once a pair is three numbers,
and the items that only one of the two answered are few. All are whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from analysis.arrays import Codes, Floats, Ints
from analysis.readings.matrix import NO_LETTER, ReadingMatrix
from analysis.statistics.agreement.pairs.counts import Sums
from analysis.statistics.agreement.pairs.item_sets import (
    BOTH_RIGHT,
    NOT_JUDGED,
    ONLY_A,
    ONLY_B,
    OTHER_WRONG,
    OUTCOMES,
    SAME_WRONG,
)

Numbers = npt.NDArray[np.float32] | npt.NDArray[np.float64]
SHARED = 3  # numbers counted once a pair: same answer, both right, same answer not judged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """The answers to a scope's items.

    Parameters
    ----------
    letters : numpy.ndarray of int8, shape (n_columns, n_items)
        -1 where there is no answer.
    truth : numpy.ndarray of int8, shape (n_items,)
        -1 without a reference standard.
    size : numpy.ndarray of int, shape (n_items,)
        The place of the number of options offered among `sizes`.
    sizes : numpy.ndarray of int, shape (n_sizes,)
        These numbers; 0 stands for not given.
    n_letters : int
        Number of letters there are.
    tells_letters : bool
        Whether answers are counted by letter; else all letters as one.
    cells : numpy.ndarray of int, shape (n_items,)
        The cluster of each item, ascending, from 0 without a gap.
    starts : numpy.ndarray of int, shape (n_cells,)
        Where each cluster begins.
    clusters : numpy.ndarray of int, shape (n_cells,)
        These clusters, as the matrix numbers them.
    """

    letters: Codes
    truth: Codes
    size: Ints
    sizes: Ints
    n_letters: int
    cells: Ints
    starts: Ints
    clusters: Ints
    tells_letters: bool = True

    @property
    def n_told(self) -> int:
        """Letters that are told apart."""
        return self.n_letters if self.tells_letters else 1

    @property
    def n_kinds(self) -> int:
        """Kinds of answers that are counted: by letter, right, not judged, by options offered."""
        return self.n_told + 2 + (len(self.sizes) if len(self.sizes) > 1 else 0)


def answers_of(matrix: ReadingMatrix, items: Ints) -> Answers:
    """Arrange a scope's answers.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : numpy.ndarray of int, shape (n_items,)
        Positions of the scope's items, ascending.
    """
    clusters, starts, cells = np.unique(
        matrix.clusters[items], return_index=True, return_inverse=True
    )
    sizes = np.unique(matrix.n_options)
    return Answers(
        letters=np.ascontiguousarray(matrix.answers[items].T),
        truth=matrix.truth[items],
        size=np.searchsorted(sizes, matrix.n_options[items]),
        sizes=sizes,
        n_letters=int(matrix.answers.max(initial=0)) + 1,
        cells=cells,
        starts=starts,
        clusters=clusters,
    )


def counts_of_raters(answers: Answers) -> Floats:
    """Count each rater's answers by kind, shape (n_kinds, n_columns, n_cells)."""
    n_columns, n_cells = len(answers.letters), len(answers.starts)
    counts = np.empty((answers.n_kinds, n_columns, n_cells))
    for column, letters in enumerate(answers.letters):
        item = np.flatnonzero(letters != NO_LETTER)
        kind, entry = _kinds(answers, letters[item], item)
        cell = kind * n_cells + answers.cells[item[entry]]
        found = np.bincount(cell, minlength=answers.n_kinds * n_cells)
        counts[:, column] = found.reshape(answers.n_kinds, n_cells)
    return counts


def counts_of_pairs(answers: Answers, a: Ints, b: Ints) -> Floats:
    """Count what the raters of each pair did alike, shape (3, n_pairs, n_cells)."""
    letters = answers.letters[a]
    alike = (letters == answers.letters[b]) & (letters != NO_LETTER)
    unjudged = answers.truth == NO_LETTER
    counts = np.zeros((SHARED, len(a), len(answers.starts)))
    np.add.reduceat(alike, answers.starts, axis=-1, dtype=np.float64, out=counts[0])
    both_right = alike & (letters == answers.truth)
    np.add.reduceat(both_right, answers.starts, axis=-1, dtype=np.float64, out=counts[1])
    if unjudged.any():
        np.add.reduceat(alike & unjudged, answers.starts, axis=-1, dtype=np.float64, out=counts[2])
    return counts


def counts_of_one(answers: Answers, a: Ints, b: Ints) -> csr_array:
    """Count the answers of `a` where `b` gave none, shape (n_kinds * n_pairs, n_cells)."""
    given = answers.letters != NO_LETTER
    pair, item = np.nonzero(given[a] & ~given[b])
    kind, entry = _kinds(answers, answers.letters[a[pair], item], item)
    row = kind * len(a) + pair[entry]
    shape = (answers.n_kinds * len(a), len(answers.starts))
    cell = answers.cells[item[entry]]
    return csr_array((np.ones(len(row)), (row, cell)), shape=shape)


def _kinds(answers: Answers, letter: Codes, item: Ints) -> tuple[Ints, Ints]:
    """Return every kind that each answer is of, and the answer's place."""
    every = np.arange(len(item))
    truth = answers.truth[item]
    right, unjudged = np.flatnonzero(letter == truth), np.flatnonzero(truth == NO_LETTER)
    kinds = [
        letter.astype(np.int64) * answers.tells_letters,
        np.full(len(right), answers.n_told),
        np.full(len(unjudged), answers.n_told + 1),
    ]
    entries = [every, right, unjudged]
    if len(answers.sizes) > 1:
        kinds.append(answers.n_told + 2 + answers.size[item])
        entries.append(every)
    return np.concatenate(kinds), np.concatenate(entries)


def sums_from(answers: Answers, of_a: Numbers, of_b: Numbers, shared: Numbers) -> Sums:
    """Work out the sums of pairs.

    Parameters
    ----------
    answers : Answers
        What was counted.
    of_a, of_b : numpy.ndarray of float, shape (n_kinds, n_pairs, ...)
        The answers of each rater by kind, to items that the other answered too.
    shared : numpy.ndarray of float, shape (3, n_pairs, ...)
        What both did alike.

    Returns
    -------
    Sums
        Of shape (n_pairs, ...).
    """
    n = answers.n_told
    letters_a = of_a[:n].astype(np.float64)
    total = letters_a.sum(axis=0)
    agree, both_right, alike_unjudged = shared
    outcomes = np.empty((OUTCOMES, *agree.shape))
    outcomes[BOTH_RIGHT] = both_right
    outcomes[ONLY_A] = of_a[n] - both_right
    outcomes[ONLY_B] = of_b[n] - both_right
    outcomes[SAME_WRONG] = agree - both_right - alike_unjudged
    outcomes[NOT_JUDGED] = of_a[n + 1]
    outcomes[OTHER_WRONG] = total - of_a[n + 1] - of_a[n] - of_b[n] + both_right
    outcomes[OTHER_WRONG] -= outcomes[SAME_WRONG]
    return Sums(
        agree=agree.astype(np.float64),
        answers_a=letters_a,
        answers_b=of_b[:n].astype(np.float64),
        outcomes=outcomes,
        options=of_a[n + 2 :].astype(np.float64) if len(answers.sizes) > 1 else total[None],
        sizes=answers.sizes,
    )
