"""McNemar's test of two raters' accuracy on the same items: exact, and with mid-p."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from analysis.arrays import Floats


def mcnemar_p(only_a: Floats, only_b: Floats) -> tuple[Floats, Floats]:
    r"""Return the two-sided p of McNemar's exact test, as it is and with mid-p.

    Parameters
    ----------
    only_a, only_b : numpy.ndarray of float, any one shape
        Items that only the first, only the second got right; whole numbers.

    Returns
    -------
    exact, mid : numpy.ndarray of float, the same shape
        0 to 1; both 1 without discordant items. Below 1e-308 they become 0.

    Notes
    -----
    Given their number, the discordant items fall to either rater like a fair coin [1]_. With X
    binomial of b + c throws and m = min(b, c): exact :math:`\min(1, 2 P(X \le m))`; mid-p counts
    the observed outcome half, :math:`2 P(X \le m) - P(X = m)`, and where b = c, so that both tails
    hold it, :math:`1 - P(X = m) / 2` [2]_. The items are taken for independent.

    References
    ----------
    .. [1] McNemar Q. Note on the sampling error of the difference between correlated proportions or
       percentages. Psychometrika 1947;12:153-157. doi:10.1007/BF02295996
    .. [2] Fagerland MW, Lydersen S, Laake P. The McNemar test for binary matched-pairs data: mid-p
       and asymptotic are better than exact conditional. BMC Med Res Methodol 2013;13:91.
       doi:10.1186/1471-2288-13-91

    Examples
    --------
    >>> exact, mid = mcnemar_p(np.array([12.0, 0, 3]), np.array([2.0, 0, 3]))
    >>> exact.tolist(), mid.round(9).tolist()
    ([0.012939453125, 1.0, 1.0], [0.007385254, 1.0, 0.84375])
    """
    fewer, discordant = np.minimum(only_a, only_b), only_a + only_b
    twice = 2 * binom.cdf(fewer, discordant, 0.5)
    exact = np.minimum(twice, 1.0)
    observed = binom.pmf(fewer, discordant, 0.5)
    even, none = only_a == only_b, discordant == 0
    # Where both are almost 0 rounding would make their difference negative.
    mid = np.where(even, 1 - observed / 2, np.clip(twice - observed, 0.0, exact))
    return np.where(even, 1.0, exact), np.where(none, 1.0, mid)
