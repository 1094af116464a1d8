"""The counts of all pairs at once, from sets of items held as bits: for many items.

The items with an answer are one set for each rater and letter; what two sets have in common is
counted 64 items at a time. (As fast as a matrix product of indicators by BLAS, and unlike that
never slow: its threads wait for one another where other programs are busy.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from analysis.arrays import Bools, Codes, Floats, Ints
from analysis.readings.matrix import NO_LETTER, ReadingMatrix
from analysis.statistics.agreement.pairs.pairing import Pair

# What two answers to one item come to, given the reference standard.
BOTH_RIGHT, ONLY_A, ONLY_B, SAME_WRONG, OTHER_WRONG, NOT_JUDGED = range(6)
OUTCOMES = 6


def pair_counts(
    matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, n_letters: int, sizes: Ints
) -> tuple[Floats, Floats, Floats]:
    """Count the answers of each pair.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs, at least one.
    items : numpy.ndarray of int, shape (n_used,)
        Positions of the items that count.
    n_letters : int
        Number of letters that are told apart.
    sizes : numpy.ndarray of int, shape (n_sizes,)
        Numbers of options that are told apart.

    Returns
    -------
    letters : numpy.ndarray of float, shape (n_pairs, n_letters, n_letters)
        Answers of the first rater by answers of the second.
    outcomes : numpy.ndarray of float, shape (n_pairs, 6)
        Items by outcome.
    options : numpy.ndarray of float, shape (n_pairs, n_sizes)
        Items by number of options offered.
    """
    options = np.zeros((len(pairs), len(sizes)))
    columns_a, a = np.unique([pair.a for pair in pairs], return_inverse=True)
    columns_b, b = np.unique([pair.b for pair in pairs], return_inverse=True)
    answers = np.ascontiguousarray(matrix.answers[items].T)
    sides = (answers[columns_a], answers[columns_b])
    letters = _letters(*sides, n_letters)[a, :, b, :]
    outcomes = _outcomes(*sides, matrix.truth[items])[:, a, b].T
    given_a, given_b = (side != NO_LETTER for side in sides)
    for i, size in enumerate(sizes):
        options[:, i] = _in_common(given_a & (matrix.n_options[items] == size), given_b)[a, b]
    return letters, outcomes, options


def _letters(a: Codes, b: Codes, n_letters: int) -> Floats:
    """Return answers by answers, shape (n_columns_a, n_letters, n_columns_b, n_letters)."""
    letters = np.arange(n_letters, dtype=np.int8)[:, None]
    shape, n_items = (len(a), n_letters, len(b), n_letters), a.shape[1]
    flat_a, flat_b = (
        (side[:, None] == letters).reshape(len(side) * n_letters, n_items) for side in (a, b)
    )
    return _in_common(flat_a, flat_b).reshape(shape)


def _outcomes(a: Codes, b: Codes, truth: Codes) -> Floats:
    """Return outcomes, shape (6, n_columns_a, n_columns_b)."""
    judged = truth != NO_LETTER
    given_a, given_b = a != NO_LETTER, b != NO_LETTER
    right_a, right_b = (a == truth) & judged, (b == truth) & judged
    wrong_a, wrong_b = given_a & ~right_a & judged, given_b & ~right_b & judged
    outcomes = np.empty((OUTCOMES, len(a), len(b)))
    outcomes[BOTH_RIGHT] = _in_common(right_a, right_b)
    outcomes[ONLY_A] = _in_common(right_a, wrong_b)
    outcomes[ONLY_B] = _in_common(wrong_a, right_b)
    outcomes[SAME_WRONG] = sum(
        _in_common(wrong_a & (a == letter), wrong_b & (b == letter)) for letter in range(_top(a, b))
    )
    outcomes[OTHER_WRONG] = _in_common(wrong_a, wrong_b) - outcomes[SAME_WRONG]
    outcomes[NOT_JUDGED] = _in_common(given_a & ~judged, given_b)
    return outcomes


def _top(a: Codes, b: Codes) -> int:
    return 1 + int(min(a.max(initial=NO_LETTER), b.max(initial=NO_LETTER)))


def _in_common(a: Bools, b: Bools) -> Floats:
    """Count the items that each row of `a` has in common with each row of `b`."""
    bits_a, bits_b = _bits(a), _bits(b)
    common = np.empty((len(a), len(b)))
    for i, row in enumerate(bits_a):
        common[i] = np.bitwise_count(bits_b & row).sum(axis=-1)
    return common


def _bits(sets: Bools) -> npt.NDArray[np.uint64]:
    padded = np.zeros((len(sets), -(-sets.shape[1] // 64) * 64), dtype=bool)
    padded[:, : sets.shape[1]] = sets
    return np.packbits(padded, axis=-1).view(np.uint64)
