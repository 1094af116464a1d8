"""Who stands side by side under each condition."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.bundle.words import RaterKind
from analysis.matrix import Reads


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
    models = [column.rater_id for column in columns if column.kind is RaterKind.MODEL]
    readers = any(column.kind is RaterKind.READER for column in columns)
    everywhere = {model for model in models if models.count(model) == 1} if readers else set()
    names = sorted({c.condition for c in columns if c.rater_id not in everywhere})
    return {
        name: [i for i, c in enumerate(columns) if c.condition == name or c.rater_id in everywhere]
        for name in names
    }
