"""A group's answers, items that come to the same thing taken together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Codes, Floats, Ints

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
