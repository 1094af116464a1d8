"""Groups of items: all items, and the items with the same task or other field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.arrays import Ints
from analysis.readings.matrix import ReadingMatrix


def item_groups(matrix: ReadingMatrix, by: Sequence[str]) -> Iterator[tuple[str, str, Ints]]:
    """Yield all items as the group `micro` of `overall`, then the items of each group.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    by : sequence of str
        The groupings, which are keys of `matrix.groups`.

    Yields
    ------
    by, group : str
        The grouping and the group, with groups in order of name.
    items : numpy.ndarray of int
        Positions of the group's items.
    """
    yield "overall", "micro", np.arange(len(matrix.truth))
    for grouping in by:
        for group, items in matrix.members(grouping).items():
            yield grouping, group, items
