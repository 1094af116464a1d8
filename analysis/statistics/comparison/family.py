"""Holm's adjustment within families of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.arrays import Floats


def holm_within(p: Floats, families: Sequence[str]) -> Floats:
    r"""Adjust p values for the number of tests in their family.

    Parameters
    ----------
    p : numpy.ndarray of float, shape (n_tests,)
        0 to 1; nan where undefined.
    families : sequence of str, length n_tests
        The family of each test; empty: none.

    Returns
    -------
    numpy.ndarray of float, shape (n_tests,)
        At least `p`, at most 1; nan where `p` is undefined or belongs to no family.

    Notes
    -----
    Of a family's m tests in ascending order of p, the i-th is :math:`\max_{j \le i} \min(1,
    (m - j + 1) p_{(j)})` [1]_. It holds the family's error whatever the tests' dependence. A test
    without p does not count in m.

    References
    ----------
    .. [1] Holm S. A simple sequentially rejective multiple test procedure. Scand J Stat
       1979;6:65-70. doi:10.2307/4615733

    Examples
    --------
    >>> holm_within(np.array([0.01, 0.04, 0.03, 0.04]), ["x", "x", "x", ""]).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    names = np.array(families, dtype=object)
    adjusted = np.full(len(names), np.nan)
    for name in sorted(set(families) - {""}):
        members = np.flatnonzero((names == name) & np.isfinite(p))
        ascending = members[np.argsort(p[members])]
        stepped = p[ascending] * np.arange(len(members), 0, -1)
        adjusted[ascending] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted
