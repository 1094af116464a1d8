"""The sets of items within which agreement is estimated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Ints
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.registry import EVERYWHERE, WITHIN_OPTION_SET, Measure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Scopes that share no item, counted in one pass.

    Parameters
    ----------
    order : int
        Place among the partitions.
    names : tuple of str
        The scopes, as in the table's column `scope`.
    members : tuple of numpy.ndarray of int
        Positions of each scope's items.
    measures : tuple of Measure
        What is estimated in each of them.
    """

    order: int
    names: tuple[str, ...]
    members: tuple[Ints, ...]
    measures: tuple[Measure, ...]

    @property
    def items(self) -> Ints:
        """Positions of all items, scope after scope."""
        return np.concatenate([*self.members, np.zeros(0, dtype=np.int64)])

    @property
    def cells(self) -> Ints:
        """The scope of each of these items."""
        return np.repeat(np.arange(len(self.members)), [len(items) for items in self.members])


def partitions(matrix: ReadingMatrix) -> Iterator[Partition]:
    """Yield all items as one scope, then the tasks, then the option sets."""
    every = np.arange(len(matrix.truth))
    yield Partition(order=0, names=("all",), members=(every,), measures=EVERYWHERE)
    for order, (grouping, measures) in enumerate(
        (("task", EVERYWHERE), ("option_set", WITHIN_OPTION_SET)), start=1
    ):
        groups = matrix.members(grouping)
        yield Partition(
            order=order,
            names=tuple(f"{grouping}={name}" for name in groups),
            members=tuple(groups.values()),
            measures=measures,
        )
