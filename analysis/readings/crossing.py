"""Who stands side by side under each condition, and on which items: those that all were given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Bools, Ints
from analysis.bundle.model import RaterKind
from analysis.readings.matrix import ReadingMatrix, Reads, are_enough


def models_of_every_condition(columns: Sequence[Reads]) -> frozenset[str]:
    """Return the models that have answered under one condition only: they meet every reader.

    Examples
    --------
    >>> model = RaterKind.MODEL
    >>> sorted(models_of_every_condition([
    ...     Reads(rater_id="M1", kind=model, condition=""),
    ...     Reads(rater_id="M2", kind=model, condition="aided"),
    ...     Reads(rater_id="M2", kind=model, condition="unaided"),
    ... ]))
    ['M1']
    """
    models = Counter(column.rater_id for column in columns if column.kind is RaterKind.MODEL)
    return frozenset(model for model, n in models.items() if n == 1)


def columns_by_condition(columns: Sequence[Reads]) -> dict[str, list[int]]:
    """List the columns that stand side by side under each condition.

    Parameters
    ----------
    columns : sequence of Reads
        The matrix's columns.

    Returns
    -------
    dict of str to list of int
        Conditions in order of name; each with its columns in the matrix's order.

    Notes
    -----
    As in pairs: a model that has answered under one condition only stands beside the readers of
    every condition. Where there is no reader, every model stays under its own.

    Examples
    --------
    >>> reader, model = RaterKind.READER, RaterKind.MODEL
    >>> columns_by_condition([
    ...     Reads(rater_id="R1", kind=reader, condition="aided"),
    ...     Reads(rater_id="R1", kind=reader, condition="unaided"),
    ...     Reads(rater_id="M1", kind=model, condition=""),
    ... ])
    {'aided': [0, 2], 'unaided': [1, 2]}
    """
    readers = any(column.kind is RaterKind.READER for column in columns)
    everywhere = models_of_every_condition(columns) if readers else frozenset()
    names = sorted({c.condition for c in columns if c.rater_id not in everywhere})
    return {
        name: [i for i, c in enumerate(columns) if c.condition == name or c.rater_id in everywhere]
        for name in names
    }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shared:
    """The items that some raters were all given.

    Parameters
    ----------
    items : numpy.ndarray of bool, shape (n_items,)
        Which.
    because : str
        Why they cannot stand for the items there are; empty where they can.
    note : str
        How many of how many they are; empty where they are all.
    """

    items: Bools
    because: str = ""
    note: str = ""


def shared_by_panel(matrix: ReadingMatrix, columns: Ints) -> Shared:
    """Return the items that all readers of a panel were given.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    columns : numpy.ndarray of int, shape (n_raters,)
        The columns of the readers and of the model.

    Returns
    -------
    Shared
        Too few where they are fewer than 80 % of the items with a reference standard.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from analysis.bundle import bundle_from_tables
    >>> from analysis.readings.matrix import reading_matrix
    >>> bundle = bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcde"), "truth": "A"}),
    ...     pd.DataFrame({"rater_id": ["R1"] * 5 + ["R2"] * 3, "item_id": list("abcdeabc"),
    ...                   "answer": "A"}),
    ... )
    >>> shared_by_panel(reading_matrix(bundle), np.array([0, 1])).because
    '3 of 5 items were given to all readers, fewer than 80 %: R2 was given 3'
    """
    return _shared(matrix, columns, int(matrix.assigned.sum()), "all readers")


def shared_by_conditions(matrix: ReadingMatrix, a: Ints, b: Ints) -> Shared:
    """Return the items that all readers were given under both of two conditions.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    a, b : numpy.ndarray of int, shape (n_readers,)
        The readers' columns under each condition.

    Returns
    -------
    Shared
        Too few where they are fewer than 80 % of the items that any of these readers was given
        under either: what neither was read on is no part of their comparison.
    """
    columns = np.concatenate([a, b])
    of = int(np.any(matrix.given[:, columns], axis=1).sum())
    found = _shared(matrix, columns, of, "all readers under both conditions")
    if of and not np.any(matrix.given[:, a] & matrix.given[:, b]):
        names = [matrix.columns[part[0]].condition for part in (a, b)]
        because = f"{names[1]} was read on other items than {names[0]}, none of {of} under both"
        return Shared(items=found.items, because=because)
    return found


def _shared(matrix: ReadingMatrix, columns: Ints, of: int, whom: str) -> Shared:
    given = matrix.given[:, columns]
    items = np.all(given, axis=1)
    n, n_assigned = int(items.sum()), int(matrix.assigned.sum())
    if not are_enough(np.array(n), of):
        because = f"{n} of {of} items were given to {whom}, fewer than 80 %"
        return Shared(items=items, because=f"{because}: {_who(matrix, columns, given, of)}")
    if not of and n_assigned:
        because = f"no item with a reference standard was given to {whom}"
        return Shared(items=items, because=because)
    note = f"over the {n} of {n_assigned} items that {whom} were given"
    return Shared(items=items, note=note if n < n_assigned else "")


def _who(matrix: ReadingMatrix, columns: Ints, given: Bools, of: int) -> str:
    """Name those who were given too few; where these are all, or none, it is the design."""
    counts = given.sum(axis=0)
    few = np.flatnonzero(~are_enough(counts, of))
    if len(few) in (0, len(columns)):
        return "not everybody read everything"
    named = [(matrix.columns[columns[i]], counts[i]) for i in few]
    return ", ".join(
        f"{one.rater_id}{f' ({one.condition})' if one.condition else ''} was given {n}"
        for one, n in named
    )
