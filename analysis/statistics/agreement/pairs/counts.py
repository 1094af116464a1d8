"""The pairs of raters that are compared, and the counts from their answers.

Each rater and letter has a bit set of the items with that answer; the intersection of two sets is
counted 64 items at a time. This is as fast as a matrix product of indicators by BLAS, but unlike
BLAS threads it is not slowed down by other programs.

Most sums of a pair are the sums of one rater minus the few items that the other did not answer.
Answers are therefore counted once per rater, and only three numbers once per pair. All counts are
whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from analysis.arrays import Bools, Codes, Floats, Ints, ordered_sum
from analysis.bundle.model import PairKind, RaterKind
from analysis.readings.matrix import (
    NO_LETTER,
    RaterColumn,
    ReadingMatrix,
    models_of_every_condition,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A pair of columns of the reading matrix: a reader before a model, otherwise by id."""

    a: int
    b: int
    kind: PairKind
    condition: str


def pairs_of(columns: Sequence[RaterColumn]) -> tuple[Pair, ...]:
    """Return the pairs of raters that are compared.

    Parameters
    ----------
    columns : sequence of RaterColumn
        The matrix's columns: readers, then models, each in order of id and condition.

    Returns
    -------
    tuple of Pair
        In order of condition, kind and ids.

    Notes
    -----
    Two raters are compared under the same condition. A model with a single condition is compared
    with the readers of every condition, and the pair has the reader's condition; a model with
    several conditions is compared with readers under the same conditions.

    Examples
    --------
    >>> reader, model = RaterKind.READER, RaterKind.MODEL
    >>> columns = [
    ...     RaterColumn(rater_id="R1", kind=reader, condition="aided"),
    ...     RaterColumn(rater_id="R1", kind=reader, condition="unaided"),
    ...     RaterColumn(rater_id="M1", kind=model, condition=""),
    ... ]
    >>> [(pair.a, pair.b, pair.condition) for pair in pairs_of(columns)]
    [(0, 2, 'aided'), (1, 2, 'unaided')]
    """
    ranks = {kind: rank for rank, kind in enumerate(PairKind)}
    return tuple(
        sorted(
            _comparable_pairs(columns),
            key=lambda p: (
                p.condition,
                ranks[p.kind],
                columns[p.a].rater_id,
                columns[p.b].rater_id,
            ),
        )
    )


def pair_names(
    columns: Sequence[RaterColumn], pairs: Sequence[Pair], times: int = 1
) -> pd.DataFrame:
    """Return the columns that name pairs in the tables.

    Parameters
    ----------
    columns : sequence of RaterColumn
        The matrix's columns.
    pairs : sequence of Pair
        The pairs.
    times : int, default 1
        Number of consecutive rows per pair.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_a, rater_b, pair_kind, condition`.

    Examples
    --------
    >>> reader = RaterKind.READER
    >>> columns = [RaterColumn(rater_id=r, kind=reader, condition="") for r in ("R1", "R2")]
    >>> pair_names(columns, pairs_of(columns)).values.tolist()
    [['R1', 'R2', 'reader-reader', '']]
    """
    names = {
        "rater_a": [columns[pair.a].rater_id for pair in pairs],
        "rater_b": [columns[pair.b].rater_id for pair in pairs],
        "pair_kind": [pair.kind.value for pair in pairs],
        "condition": [pair.condition for pair in pairs],
    }
    repeated = {key: np.repeat(np.array(each, dtype=object), times) for key, each in names.items()}
    return pd.DataFrame(repeated, dtype=object)


def _comparable_pairs(columns: Sequence[RaterColumn]) -> Iterator[Pair]:
    models_in_every_condition = models_of_every_condition(columns)
    for (i, a), (j, b) in combinations(enumerate(columns), 2):
        if a.rater_id == b.rater_id:
            continue
        kind = _pair_kind(a, b)
        is_unconditioned = kind is PairKind.MIXED and b.rater_id in models_in_every_condition
        if a.condition == b.condition or is_unconditioned:
            yield Pair(a=i, b=j, kind=kind, condition=a.condition)


def _pair_kind(a: RaterColumn, b: RaterColumn) -> PairKind:
    if a.kind is b.kind:
        return PairKind.READERS if a.kind is RaterKind.READER else PairKind.MODELS
    return PairKind.MIXED


# Outcomes of two answers to an item, according to the reference standard.
BOTH_CORRECT, ONLY_A_CORRECT, ONLY_B_CORRECT, SAME_WRONG_ANSWER, DIFFERENT_WRONG, NO_TRUTH = range(
    6
)
N_OUTCOMES = 6


def count_by_sets(
    matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, n_letters: int, sizes: Ints
) -> tuple[Floats, Floats, Floats]:
    """Count the answers of each pair to a set of items.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs, at least one.
    items : numpy.ndarray of int, shape (n_used,)
        Positions of the items.
    n_letters : int
        Number of letters that are distinguished.
    sizes : numpy.ndarray of int, shape (n_sizes,)
        Numbers of options that are distinguished.

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
    letters = _letter_counts(*sides, n_letters)[a, :, b, :]
    outcomes = _outcome_counts(*sides, matrix.truth[items])[:, a, b].T
    given_a, given_b = (side != NO_LETTER for side in sides)
    for i, size in enumerate(sizes):
        options[:, i] = _n_in_common(given_a & (matrix.n_options[items] == size), given_b)[a, b]
    return letters, outcomes, options


def _letter_counts(a: Codes, b: Codes, n_letters: int) -> Floats:
    """Count items by the letters of both columns.

    The shape is (n_columns_a, n_letters, n_columns_b, n_letters).
    """
    letters = np.arange(n_letters, dtype=np.int8)[:, None]
    shape, n_items = (len(a), n_letters, len(b), n_letters), a.shape[1]
    flat_a, flat_b = (
        (side[:, None] == letters).reshape(len(side) * n_letters, n_items) for side in (a, b)
    )
    return _n_in_common(flat_a, flat_b).reshape(shape)


def _outcome_counts(a: Codes, b: Codes, truth: Codes) -> Floats:
    """Count items by outcome, shape (6, n_columns_a, n_columns_b)."""
    has_truth = truth != NO_LETTER
    given_a, given_b = a != NO_LETTER, b != NO_LETTER
    correct_a, correct_b = (a == truth) & has_truth, (b == truth) & has_truth
    wrong_a, wrong_b = given_a & ~correct_a & has_truth, given_b & ~correct_b & has_truth
    outcomes = np.empty((N_OUTCOMES, len(a), len(b)))
    outcomes[BOTH_CORRECT] = _n_in_common(correct_a, correct_b)
    outcomes[ONLY_A_CORRECT] = _n_in_common(correct_a, wrong_b)
    outcomes[ONLY_B_CORRECT] = _n_in_common(wrong_a, correct_b)
    outcomes[SAME_WRONG_ANSWER] = sum(
        _n_in_common(wrong_a & (a == letter), wrong_b & (b == letter))
        for letter in range(_n_letters_in_both(a, b))
    )
    outcomes[DIFFERENT_WRONG] = _n_in_common(wrong_a, wrong_b) - outcomes[SAME_WRONG_ANSWER]
    outcomes[NO_TRUTH] = _n_in_common(given_a & ~has_truth, given_b)
    return outcomes


def _n_letters_in_both(a: Codes, b: Codes) -> int:
    return 1 + int(min(a.max(initial=NO_LETTER), b.max(initial=NO_LETTER)))


def _n_in_common(a: Bools, b: Bools) -> Floats:
    """Count the items that are both in a row of `a` and in a row of `b`."""
    bits_a, bits_b = _packed_bits(a), _packed_bits(b)
    common = np.empty((len(a), len(b)))
    for i, row in enumerate(bits_a):
        common[i] = np.bitwise_count(bits_b & row).sum(axis=-1)
    return common


def _packed_bits(sets: Bools) -> npt.NDArray[np.uint64]:
    padded = np.zeros((len(sets), -(-sets.shape[1] // 64) * 64), dtype=bool)
    padded[:, : sets.shape[1]] = sets
    return np.packbits(padded, axis=-1).view(np.uint64)


# From this mean number of items per cell, counting by sets is faster than pair by pair.
FEWEST_ITEMS_FOR_SETS = 250
# Number of readings of a rater that are counted at once: large enough that the call costs little,
# small enough for the processor's cache.
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
        The numbers of options, ascending; 0 for unknown.
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
        Positions of the items.
    cells : numpy.ndarray of int, shape (n_used,)
        The cell of each item: a scope or a cluster.
    n_cells : int
        Number of cells.

    Returns
    -------
    PairCounts
        One entry per pair and cell.
    """
    n_letters = int(matrix.answers.max(initial=0)) + 1
    sizes = np.unique(matrix.n_options)
    counts = PairCounts(
        letters=np.zeros((len(pairs), n_cells, n_letters, n_letters)),
        outcomes=np.zeros((len(pairs), n_cells, N_OUTCOMES)),
        options=np.zeros((len(pairs), n_cells, len(sizes))),
        sizes=sizes,
    )
    if pairs and 0 < n_cells * FEWEST_ITEMS_FOR_SETS <= len(items):
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
        letters, outcomes, options = count_by_sets(matrix, pairs, members, n_letters, counts.sizes)
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
    first, second = (np.array([getattr(pair, side) for pair in pairs], dtype=int) for side in "ab")
    step = max(1, READINGS_AT_ONCE // max(len(items), 1))
    for start in range(0, len(pairs), step):
        block = slice(start, start + step)
        a, b = answers[first[block]], answers[second[block]]
        pair, both = np.nonzero((a != NO_LETTER) & (b != NO_LETTER))
        a, b = a[pair, both], b[pair, both]
        cell = pair * n_cells + cells[both]
        _tabulate(counts.letters[block], cell, a * n_letters + b)
        _tabulate(counts.outcomes[block], cell, _outcome_codes(a, b, truth[both]))
        _tabulate(counts.options[block], cell, size[both])


def _tabulate(table: Floats, cell: Ints, code: Ints) -> None:
    n_codes = math.prod(table.shape[2:])
    table[...] = np.bincount(cell * n_codes + code, minlength=table.size).reshape(table.shape)


def _outcome_codes(a: Ints, b: Ints, truth: Ints) -> Ints:
    correct_a, correct_b = a == truth, b == truth
    wrong = np.where(a == b, SAME_WRONG_ANSWER, DIFFERENT_WRONG)
    outcome = np.where(correct_a, np.where(correct_b, BOTH_CORRECT, ONLY_A_CORRECT), wrong)
    outcome = np.where(~correct_a & correct_b, ONLY_B_CORRECT, outcome)
    outcome_codes: Ints = np.where(truth == NO_LETTER, NO_TRUTH, outcome)
    return outcome_codes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """The sums from which every estimate is computed; shape (...) is that of the estimates.

    Categories are on the first axis, because numpy adds complete planes much faster than rows of
    four numbers.

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
        The numbers of options; 0 for unknown.
    """

    agree: Floats
    answers_a: Floats
    answers_b: Floats
    outcomes: Floats
    options: Floats
    sizes: Ints

    @property
    def n(self) -> Floats:
        """Number of items that both raters answered, shape (...)."""
        n: Floats = self.answers_a.sum(axis=0)
        return n

    @property
    def n_both_wrong(self) -> Floats:
        """Number of items that both raters answered wrongly, shape (...)."""
        both_wrong: Floats = self.outcomes[SAME_WRONG_ANSWER] + self.outcomes[DIFFERENT_WRONG]
        return both_wrong

    @property
    def n_judged(self) -> Floats:
        """Number of items with a reference standard that both raters answered, shape (...)."""
        judged: Floats = self.outcomes[:NO_TRUTH].sum(axis=0)
        return judged

    @property
    def correctness(self) -> Sums:
        """The sums of correctness instead of letters, over the items with a reference standard."""
        is_correct, only_a, only_b = (
            self.outcomes[i] for i in (BOTH_CORRECT, ONLY_A_CORRECT, ONLY_B_CORRECT)
        )
        wrong = self.n_both_wrong
        return Sums(
            agree=is_correct + wrong,
            answers_a=np.stack([is_correct + only_a, only_b + wrong]),
            answers_b=np.stack([is_correct + only_b, only_a + wrong]),
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
    """Return the tables of correctness of each pair, shape (n_pairs, n_cells, 2, 2)."""
    cells = [counts.outcomes[..., cell] for cell in (BOTH_CORRECT, ONLY_A_CORRECT, ONLY_B_CORRECT)]
    wrong = counts.outcomes[..., SAME_WRONG_ANSWER] + counts.outcomes[..., DIFFERENT_WRONG]
    return np.stack([*cells, wrong], axis=-1).reshape(*wrong.shape, 2, 2)


Numbers = npt.NDArray[np.float32] | npt.NDArray[np.float64]
N_PAIR_COUNTS = 3  # numbers of a pair: same answer, both right, same answer not judged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScopeAnswers:
    """The answers to the items of a scope.

    Parameters
    ----------
    letters : numpy.ndarray of int8, shape (n_columns, n_items)
        -1 where there is no answer.
    truth : numpy.ndarray of int8, shape (n_items,)
        -1 without a reference standard.
    size : numpy.ndarray of int, shape (n_items,)
        The index in `sizes` of the number of options offered.
    sizes : numpy.ndarray of int, shape (n_sizes,)
        The numbers of options; 0 for unknown.
    n_letters : int
        Number of letters.
    cells : numpy.ndarray of int, shape (n_items,)
        The number of each item's cluster, ascending from 0 without gaps.
    starts : numpy.ndarray of int, shape (n_cells,)
        Position of the first item of each cluster.
    clusters : numpy.ndarray of int, shape (n_cells,)
        The matrix's numbers for these clusters.
    """

    letters: Codes
    truth: Codes
    size: Ints
    sizes: Ints
    n_letters: int
    cells: Ints
    starts: Ints
    clusters: Ints

    @property
    def n_kinds(self) -> int:
        """Number of kinds: letters, correct, without reference standard, numbers of options."""
        return self.n_letters + 2 + (len(self.sizes) if len(self.sizes) > 1 else 0)


def scope_answers(matrix: ReadingMatrix, items: Ints) -> ScopeAnswers:
    """Return a scope's answers, arranged by rater.

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
    return ScopeAnswers(
        letters=np.ascontiguousarray(matrix.answers[items].T),
        truth=matrix.truth[items],
        size=np.searchsorted(sizes, matrix.n_options[items]),
        sizes=sizes,
        n_letters=int(matrix.answers.max(initial=0)) + 1,
        cells=cells,
        starts=starts,
        clusters=clusters,
    )


def counts_of_raters(answers: ScopeAnswers) -> Floats:
    """Count each rater's answers by kind, shape (n_kinds, n_columns, n_cells)."""
    n_columns, n_cells = len(answers.letters), len(answers.starts)
    counts = np.empty((answers.n_kinds, n_columns, n_cells))
    for column, letters in enumerate(answers.letters):
        item = np.flatnonzero(letters != NO_LETTER)
        kind, entry = _answer_kinds(answers, letters[item], item)
        cell = kind * n_cells + answers.cells[item[entry]]
        totals = np.bincount(cell, minlength=answers.n_kinds * n_cells)
        counts[:, column] = totals.reshape(answers.n_kinds, n_cells)
    return counts


def counts_of_pairs(answers: ScopeAnswers, a: Ints, b: Ints) -> Floats:
    """Count each pair's same answers: all, correct ones, and those without a reference standard.

    The shape is (3, n_pairs, n_cells).
    """
    letters = answers.letters[a]
    is_same_answer = (letters == answers.letters[b]) & (letters != NO_LETTER)
    lacks_truth = answers.truth == NO_LETTER
    counts = np.zeros((N_PAIR_COUNTS, len(a), len(answers.starts)))
    np.add.reduceat(is_same_answer, answers.starts, axis=-1, dtype=np.float64, out=counts[0])
    both_correct = is_same_answer & (letters == answers.truth)
    np.add.reduceat(both_correct, answers.starts, axis=-1, dtype=np.float64, out=counts[1])
    if lacks_truth.any():
        np.add.reduceat(
            is_same_answer & lacks_truth, answers.starts, axis=-1, dtype=np.float64, out=counts[2]
        )
    return counts


def counts_without_partner(answers: ScopeAnswers, a: Ints, b: Ints) -> csr_array:
    """Count the answers of `a` to items that `b` did not answer.

    The shape is (n_kinds * n_pairs, n_cells).
    """
    answered = answers.letters != NO_LETTER
    pair, item = np.nonzero(answered[a] & ~answered[b])
    kind, entry = _answer_kinds(answers, answers.letters[a[pair], item], item)
    row = kind * len(a) + pair[entry]
    shape = (answers.n_kinds * len(a), len(answers.starts))
    cell = answers.cells[item[entry]]
    return csr_array((np.ones(len(row)), (row, cell)), shape=shape)


def _answer_kinds(answers: ScopeAnswers, letter: Codes, item: Ints) -> tuple[Ints, Ints]:
    """Return the kinds of all answers, and the position of the answer that has each kind."""
    all_items = np.arange(len(item))
    truth = answers.truth[item]
    is_correct, lacks_truth = np.flatnonzero(letter == truth), np.flatnonzero(truth == NO_LETTER)
    kinds = [
        letter.astype(np.int64),
        np.full(len(is_correct), answers.n_letters),
        np.full(len(lacks_truth), answers.n_letters + 1),
    ]
    entries = [all_items, is_correct, lacks_truth]
    if len(answers.sizes) > 1:
        kinds.append(answers.n_letters + 2 + answers.size[item])
        entries.append(all_items)
    return np.concatenate(kinds), np.concatenate(entries)


def sums_of_pairs(answers: ScopeAnswers, of_a: Numbers, of_b: Numbers, shared: Numbers) -> Sums:
    """Compute the sums of pairs.

    Parameters
    ----------
    answers : ScopeAnswers
        The answers that were counted.
    of_a, of_b : numpy.ndarray of float, shape (n_kinds, n_pairs, ...)
        Each rater's answers by kind, to items that the other rater answered as well.
    shared : numpy.ndarray of float, shape (3, n_pairs, ...)
        The counts of the pairs' same answers, see `counts_of_pairs`.

    Returns
    -------
    Sums
        Sums of shape (n_pairs, ...).
    """
    n = answers.n_letters
    letters_a = of_a[:n].astype(np.float64)
    total = letters_a.sum(axis=0)
    agree, both_correct, same_without_truth = shared
    outcomes = np.empty((N_OUTCOMES, *agree.shape))
    outcomes[BOTH_CORRECT] = both_correct
    outcomes[ONLY_A_CORRECT] = of_a[n] - both_correct
    outcomes[ONLY_B_CORRECT] = of_b[n] - both_correct
    outcomes[SAME_WRONG_ANSWER] = agree - both_correct - same_without_truth
    outcomes[NO_TRUTH] = of_a[n + 1]
    outcomes[DIFFERENT_WRONG] = total - of_a[n + 1] - of_a[n] - of_b[n] + both_correct
    outcomes[DIFFERENT_WRONG] -= outcomes[SAME_WRONG_ANSWER]
    return Sums(
        agree=agree.astype(np.float64),
        answers_a=letters_a,
        answers_b=of_b[:n].astype(np.float64),
        outcomes=outcomes,
        options=of_a[n + 2 :].astype(np.float64) if len(answers.sizes) > 1 else total[None],
        sizes=answers.sizes,
    )
