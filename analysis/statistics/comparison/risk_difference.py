"""The difference between a model's accuracy and the readers', with a cluster-robust error."""

from __future__ import annotations

import numpy as np

from analysis.arrays import Floats


def robust_difference(model: Floats, readers: Floats, sizes: Floats) -> tuple[float, float]:
    r"""Return a model's accuracy less the readers', and its cluster-robust standard error.

    Parameters
    ----------
    model : numpy.ndarray of float, shape (n_clusters,)
        How many items of each cluster the model got right; whole numbers.
    readers : numpy.ndarray of float, shape (n_clusters, n_readers)
        The same for each reader.
    sizes : numpy.ndarray of float, shape (n_clusters,)
        Items of each cluster, at least 1.

    Returns
    -------
    estimate, se : float
        As proportions. Both nan without cluster or reader; the error is nan with one cluster.

    Notes
    -----
    Generalised estimating equations [1]_ of correct on rater kind (1 for the model, 0 for a
    reader), with identity link and independence as working correlation. One binary regressor
    saturates the model, so its estimate is the difference of the two means, and the sandwich
    variance has a closed form: with J readers, C clusters, N items in all, :math:`n_c` of them in
    cluster c, and :math:`S_{mc}` and :math:`S_{jc}` the right answers of model and reader,

    .. math:: \hat\delta = \sum_c e_c / N, \quad e_c = S_{mc} - \frac1J \sum_j S_{jc}, \quad
       \widehat{\mathrm{SE}}^2 = \frac{C}{C - 1} \sum_c (e_c - n_c \hat\delta)^2 / N^2.

    All readings of an item, and of a patient, lie in one cluster, so that their dependence is in
    the error, whatever its form. Without C / (C - 1) it is the sandwich of statsmodels' `GEE`; the
    factor is that of the panel's covariances [2]_. The readers are fixed: the claim is about these.

    References
    ----------
    .. [1] Liang KY, Zeger SL. Longitudinal data analysis using generalized linear models.
       Biometrika 1986;73:13-22. doi:10.1093/biomet/73.1.13
    .. [2] Cameron AC, Miller DL. A practitioner's guide to cluster-robust inference. J Hum Resour
       2015;50:317-372. doi:10.3368/jhr.50.2.317

    Examples
    --------
    Two readers and four patients with one film each:

    >>> estimate, se = robust_difference(
    ...     np.array([1.0, 1.0, 1.0, 0.0]),
    ...     np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
    ...     np.ones(4),
    ... )
    >>> round(estimate, 6), round(se, 6)
    (0.25, 0.322749)
    """
    n_clusters, n_readers = readers.shape
    n_items = float(sizes.sum())
    if n_clusters == 0 or n_readers == 0:
        return float("nan"), float("nan")
    # Times readers times items, everything is a whole number, and a variance of 0 is exactly 0.
    excess = n_readers * model - readers.sum(axis=1)
    total = float(excess.sum())
    deviations = n_items * excess - sizes * total
    estimate = total / (n_readers * n_items)
    if n_clusters < 2:
        return estimate, float("nan")
    root = float(np.sqrt((deviations**2).sum() * n_clusters / (n_clusters - 1)))
    return estimate, root / (n_readers * n_items**2)
