"""Groups of items: all items, and those of a task or another field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.arrays import Ints
from analysis.readings.matrix import ReadingMatrix


def item_groups(matrix: ReadingMatrix, by: Sequence[str]) -> Iterator[tuple[str, str, Ints]]:
    """Yield all items as `overall`, `micro`, then the items of each group of the groupings.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    by : sequence of str
        Names of `matrix.groups`.

    Yields
    ------
    by, group : str
        The grouping and its group, groups in order of name.
    items : numpy.ndarray of int
        Positions of the group's items.
    """
    yield "overall", "micro", np.arange(len(matrix.truth))
    for grouping in by:
        for group, items in matrix.members(grouping).items():
            yield grouping, group, items
