"""The order of raters on a matrix: those who agree stand side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

# Agreements that differ by less are taken for the same, so that the order does not hang on the
# last digit of a sum.
DIGITS = 9


def by_likeness(raters: Sequence[str], agreement: Mapping[tuple[str, str], float]) -> list[str]:
    """Order raters so that neighbours agree: average linkage with optimal leaf ordering [1]_.

    Parameters
    ----------
    raters : sequence of str
        In any order; the result does not depend on it.
    agreement : mapping of (str, str) to float
        Agreement of two raters, at most 1; absent or nan where it is undefined.

    Returns
    -------
    list of str
        The raters, turned so that of both ends the one earlier by name stands first.

    Notes
    -----
    The distance is 1 minus the agreement. An undefined one counts as the largest that is known: it
    says nothing for putting the two together. Without any, the order is that of the ids.

    References
    ----------
    .. [1] Bar-Joseph Z, Gifford DK, Jaakkola TS. Fast optimal leaf ordering for hierarchical
       clustering. Bioinformatics 2001;17(Suppl 1):S22-S29.
       doi:10.1093/bioinformatics/17.suppl_1.s22

    Examples
    --------
    >>> by_likeness("abc", {("a", "c"): 0.9, ("a", "b"): 0.1, ("b", "c"): 0.2})
    ['a', 'c', 'b']
    """
    ordered = sorted(raters)
    upper = [
        agreement.get((a, b), agreement.get((b, a), math.nan))
        for i, a in enumerate(ordered)
        for b in ordered[i + 1 :]
    ]
    distance = np.round(1 - np.array(upper, dtype=float), DIGITS)
    if len(ordered) < 3 or np.isnan(distance).all():
        return ordered
    distance = np.where(np.isnan(distance), np.nanmax(distance), distance)
    tree = optimal_leaf_ordering(linkage(distance, "average"), distance)
    leaves = [ordered[i] for i in leaves_list(tree)]
    return leaves if leaves[0] < leaves[-1] else leaves[::-1]
