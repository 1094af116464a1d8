"""The items that were presented to all readers of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Bools, Ints
from analysis.readings.matrix import ReadingMatrix


def is_enough(n: Ints, total: int) -> Bools:
    """Return whether `n` items are at least 80 % of all `total` items.

    Examples
    --------
    >>> is_enough(np.array([7, 8]), total=10).tolist()
    [False, True]
    """
    has_enough: Bools = np.asarray(5 * n >= 4 * total)  # whole numbers, so that 80 % is exact
    return has_enough


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedItems:
    """The items that were presented to all raters of a comparison.

    Parameters
    ----------
    items : numpy.ndarray of bool, shape (n_items,)
        The items.
    reason : str
        Why the items do not represent all items; empty if they do.
    note : str
        The numbers of these and of all items; empty if these are all items.
    """

    items: Bools
    reason: str = ""
    note: str = ""


def shared_by_panel(
    matrix: ReadingMatrix, columns: Ints, is_member: Bools | None = None
) -> SharedItems:
    """Return the items that were assigned to all readers of a panel.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    columns : numpy.ndarray of int, shape (n_raters,)
        The columns of the readers and of the model.
    is_member : numpy.ndarray of bool, shape (n_items,), optional
        Whether each item belongs to the group that all counts refer to. Default: all items do.

    Returns
    -------
    SharedItems
        The items; there are too few if they are less than 80 % of those with a reference standard.

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
    >>> shared_by_panel(reading_matrix(bundle), np.array([0, 1])).reason
    '3 of 5 items were given to all readers, fewer than 80 %: R2 was given 3'
    """
    is_counted, has_truth = _within_group(matrix, is_member)
    total = int(has_truth.sum())
    return _shared_items(matrix, columns, is_counted, total, total, "all readers")


def _within_group(matrix: ReadingMatrix, is_member: Bools | None) -> tuple[Bools, Bools]:
    """Return which items of a group count for each rater, and which have a reference standard."""
    if is_member is None:
        return matrix.is_counted, matrix.has_truth
    return matrix.is_counted & is_member[:, None], matrix.has_truth & is_member


def shared_by_conditions(
    matrix: ReadingMatrix, a: Ints, b: Ints, is_member: Bools | None = None
) -> SharedItems:
    """Return the items that were assigned to all readers under both of two conditions.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    a, b : numpy.ndarray of int, shape (n_readers,)
        The readers' columns under each condition.
    is_member : numpy.ndarray of bool, shape (n_items,), optional
        Whether each item belongs to the group that all counts refer to. Default: all items do.

    Returns
    -------
    SharedItems
        The items; there are too few if they are less than 80 % of the items that any of these
        readers was given under either condition. Other items are not part of the comparison.
    """
    columns = np.concatenate([a, b])
    is_counted, has_truth = _within_group(matrix, is_member)
    total = int(np.any(is_counted[:, columns], axis=1).sum())
    shared = _shared_items(
        matrix,
        columns,
        is_counted,
        total,
        int(has_truth.sum()),
        "all readers under both conditions",
    )
    if total and not np.any(is_counted[:, a] & is_counted[:, b]):
        names = [matrix.columns[part[0]].condition for part in (a, b)]
        reason = f"{names[1]} was read on other items than {names[0]}, none of {total} under both"
        return SharedItems(items=shared.items, reason=reason)
    return shared


def _shared_items(
    matrix: ReadingMatrix, columns: Ints, is_counted: Bools, total: int, n_items: int, readers: str
) -> SharedItems:
    presented = is_counted[:, columns]
    items = np.all(presented, axis=1)
    n = int(items.sum())
    if not is_enough(np.array(n), total):
        reason = f"{n} of {total} items were given to {readers}, fewer than 80 %"
        return SharedItems(
            items=items, reason=f"{reason}: {_incomplete_raters(matrix, columns, presented, total)}"
        )
    if not total and n_items:
        reason = f"no item with a reference standard was given to {readers}"
        return SharedItems(items=items, reason=reason)
    note = f"over the {n} of {n_items} items that {readers} were given"
    return SharedItems(items=items, note=note if n < n_items else "")


def _incomplete_raters(matrix: ReadingMatrix, columns: Ints, presented: Bools, total: int) -> str:
    """Name the raters who were given too few items, unless these are all raters or none."""
    counts = presented.sum(axis=0)
    few = np.flatnonzero(~is_enough(counts, total))
    if len(few) in (0, len(columns)):
        return "not everybody read everything"
    named_readers = [(matrix.columns[columns[i]], counts[i]) for i in few]
    return ", ".join(
        f"{column.rater_id}{f' ({column.condition})' if column.condition else ''} was given {n}"
        for column, n in named_readers
    )
