"""What pairs of raters come down to where only means over pairs are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.agreement.measures import CHANCE_TOLERANCE
from analysis.agreement.pairing import Pair
from analysis.arrays import Floats, Ints
from analysis.clusters import ratio
from analysis.matrix import NO_LETTER, ReadingMatrix

TERMS = 7
# Numbers held at once in the largest array: 64 MiB of float64.
BUDGET = 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairSums:
    """Sums over the items that both raters of a pair answered; shape (...) is the estimates'.

    Parameters
    ----------
    n, agree : numpy.ndarray of float, shape (...)
        Items, and those of them with the same answer.
    guessed : numpy.ndarray of float, shape (...)
        Sum of 1/k, the options offered; nan where some k is not given.
    judged : numpy.ndarray of float, shape (...)
        Items with a reference standard.
    right_a, right_b, right_both : numpy.ndarray of float, shape (...)
        Judged items that the first rater, the second, both had right.
    """

    n: Floats
    agree: Floats
    guessed: Floats
    judged: Floats
    right_a: Floats
    right_b: Floats
    right_both: Floats


def raw(sums: PairSums) -> Floats:
    """Return each pair's share of items with the same answer.

    Parameters
    ----------
    sums : PairSums
        Of shape (...).

    Returns
    -------
    numpy.ndarray of float, shape (...)
        nan where it is undefined.

    Examples
    --------
    >>> one = np.ones(1)
    >>> sums = PairSums(n=4 * one, agree=3 * one, guessed=2 * one, judged=4 * one,
    ...                 right_a=3 * one, right_b=2 * one, right_both=2 * one)
    >>> raw(sums).tolist()
    [0.75]
    """
    return ratio(sums.agree, sums.n)


def brennan_prediger(sums: PairSums) -> Floats:
    """Return each pair's Brennan-Prediger coefficient, as in `agreement_pairs`.

    Parameters
    ----------
    sums : PairSums
        Of shape (...).

    Returns
    -------
    numpy.ndarray of float, shape (...)
        nan where it is undefined.

    Examples
    --------
    >>> one = np.ones(1)
    >>> sums = PairSums(n=4 * one, agree=3 * one, guessed=2 * one, judged=4 * one,
    ...                 right_a=3 * one, right_b=2 * one, right_both=2 * one)
    >>> brennan_prediger(sums).tolist()
    [0.5]
    """
    return _above_chance(raw(sums), ratio(sums.guessed, sums.n))


def error_consistency(sums: PairSums) -> Floats:
    """Return each pair's Cohen's kappa on correct and incorrect, as in `agreement_pairs`.

    Parameters
    ----------
    sums : PairSums
        Of shape (...).

    Returns
    -------
    numpy.ndarray of float, shape (...)
        nan where it is undefined.

    Examples
    --------
    >>> one = np.ones(1)
    >>> sums = PairSums(n=4 * one, agree=3 * one, guessed=2 * one, judged=4 * one,
    ...                 right_a=3 * one, right_b=2 * one, right_both=2 * one)
    >>> error_consistency(sums).tolist()
    [0.5]
    """
    n, a, b = sums.judged, sums.right_a, sums.right_b
    constant = ((a == 0) | (a == n)) & ((b == 0) | (b == n))
    chance = ratio(a * b + (n - a) * (n - b), n * n)
    kappa = _above_chance(ratio(n - a - b + 2 * sums.right_both, n), chance)
    return np.where(constant, np.nan, kappa)


def _above_chance(observed: Floats, chance: Floats) -> Floats:
    chance = np.where(1 - chance <= CHANCE_TOLERANCE, np.nan, chance)
    return ratio(observed - chance, 1 - chance)


Estimate = Callable[[PairSums], Floats]


def item_terms(matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints) -> Floats:
    """Return what each item adds to the sums of each pair.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    items : numpy.ndarray of int, shape (n_items,)
        Positions of the items.

    Returns
    -------
    numpy.ndarray of float, shape (7, n_pairs, n_items)
        In the order of the fields of `PairSums`.
    """
    answers = np.ascontiguousarray(matrix.answers[items].T)
    right = np.ascontiguousarray(matrix.correct[items].T)
    a, b = [pair.a for pair in pairs], [pair.b for pair in pairs]
    both = (answers[a] != NO_LETTER) & (answers[b] != NO_LETTER)
    judged = both & matrix.assigned[items]
    offered = matrix.n_options[items].astype(np.float64)
    guess = 1 / np.where(offered > 0, offered, np.nan)
    terms = np.empty((TERMS, len(pairs), len(items)))
    terms[0] = both
    terms[1] = both & (answers[a] == answers[b])
    terms[2] = np.where(both, guess, 0.0)
    terms[3] = judged
    terms[4] = judged & right[a]
    terms[5] = judged & right[b]
    terms[6] = judged & right[a] & right[b]
    return terms


def blocks(n_pairs: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of pairs, few enough that their terms fit into memory.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.
    n_columns : int
        Numbers that each term of a pair takes: items, or resamples.

    Examples
    --------
    >>> list(blocks(5, BUDGET // (2 * TERMS)))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, BUDGET // max(TERMS * n_columns, 1))
    for start in range(0, n_pairs, size):
        yield slice(start, min(start + size, n_pairs))
