"""The array types of the statistics, and a sum that does not depend on memory layout."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]


def ordered_sum(terms: Iterable[Floats]) -> Floats:
    """Add arrays of the same shape in order.

    numpy and BLAS choose the order of additions by an array's shape, so that the presence of
    another rater could change the last bit of a sum of fractions. Sums of counts are exact.

    Parameters
    ----------
    terms : iterable of numpy.ndarray of float, shape (...)
        The terms, or an array of shape (n_terms, ...).

    Returns
    -------
    numpy.ndarray of float, shape (...)
        The sum; 0 if there are no terms.

    Examples
    --------
    >>> ordered_sum(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [4.0, 6.0]
    """
    total: Floats = np.zeros(())
    for term in terms:
        total = total + term
    return total
