"""Who stands side by side under each condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.bundle.words import RaterKind
from analysis.readings.matrix import Reads


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
