"""Which raters form a group, and under what condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from analysis.bundle.words import RaterKind
from analysis.readings.conditions import models_of_every_condition
from analysis.readings.matrix import Reads


class Raters(StrEnum):
    """Whose agreement it is, as in the table's column `raters`."""

    READERS = "readers"
    MODELS = "models"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Columns of the reading matrix, one a rater.

    Parameters
    ----------
    raters : Raters
        Readers, models, or both.
    condition : str
        The readers' condition; for `models` their own.
    columns : tuple of int
        Positions in the matrix, ascending.
    """

    raters: Raters
    condition: str
    columns: tuple[int, ...]


def groups_of(columns: Sequence[Reads]) -> tuple[Group, ...]:
    """List the groups of raters whose agreement is estimated.

    Returns
    -------
    tuple of Group
        In order of condition, and within it readers, models, all; none without a rater.

    Notes
    -----
    As with pairs, a model that has answered under one condition only joins the readers of every
    condition in `all`; a model with several joins the readers of the same names. Under a condition
    that no reader has, `all` would repeat `models`, and is left out, unless there is no reader.

    Examples
    --------
    >>> reader, model = RaterKind.READER, RaterKind.MODEL
    >>> columns = [
    ...     Reads(rater_id="R1", kind=reader, condition="aided"),
    ...     Reads(rater_id="R1", kind=reader, condition="unaided"),
    ...     Reads(rater_id="M1", kind=model, condition=""),
    ... ]
    >>> [(str(group.raters), group.condition, group.columns) for group in groups_of(columns)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('models', '', (2,)), ('readers', 'aided', (0,)), ('all', 'aided', (0, 2)),
     ('readers', 'unaided', (1,)), ('all', 'unaided', (1, 2))]
    """
    conditions = sorted({column.condition for column in columns})
    groups = [
        Group(raters=raters, condition=condition, columns=_members(columns, raters, condition))
        for condition in conditions
        for raters in Raters
    ]
    return tuple(group for group in groups if group.columns)


def models_beside(columns: Sequence[Reads], condition: str) -> tuple[int, ...]:
    """Return the columns of the models that are compared with readers under a condition."""
    everywhere = models_of_every_condition(columns)
    return tuple(
        i
        for i, column in enumerate(columns)
        if column.kind is RaterKind.MODEL
        and (column.condition == condition or column.rater_id in everywhere)
    )


def of_kind(columns: Sequence[Reads], kind: RaterKind, condition: str) -> tuple[int, ...]:
    """Return the columns of one kind under a condition."""
    return tuple(
        i
        for i, column in enumerate(columns)
        if (column.kind, column.condition) == (kind, condition)
    )


def _members(columns: Sequence[Reads], raters: Raters, condition: str) -> tuple[int, ...]:
    readers = of_kind(columns, RaterKind.READER, condition)
    models = of_kind(columns, RaterKind.MODEL, condition)
    if raters is Raters.READERS:
        return readers
    if raters is Raters.MODELS:
        return models
    if readers:
        return readers + models_beside(columns, condition)
    any_reader = any(column.kind is RaterKind.READER for column in columns)
    return () if any_reader else models
