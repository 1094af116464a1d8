"""Clusters of items, resamples of clusters, and percentile intervals.

Questions about the same examination, and examinations of the same patient, are not independent.
Bootstrap intervals therefore resample complete patients (Field and Welsh 2007,
doi:10.1111/j.1467-9868.2007.00593.x). All estimates of a run use the same resamples, so that
estimates can be compared within a resample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr, stdtrit

from analysis.arrays import Bools, Floats, Ints
from analysis.options import Options
from analysis.translation import later

# A percentile interval requires a defined estimate in this share of the resamples.
MIN_DEFINED_SHARE = 0.8
SINGLE_CLUSTER = later("all items belong to one patient or examination")
# With fewer than MIN_CLUSTERS clusters there is no interval. With fewer than FEW_CLUSTERS, a
# percentile interval would be too narrow, so that its levels are widened (docs/coverage.md).
MIN_CLUSTERS, FEW_CLUSTERS = 8, 30
TOO_FEW_CLUSTERS = f"fewer than {MIN_CLUSTERS} patients or examinations"
PERCENTILE_METHOD = later("percentile bootstrap over patients")
WIDENED_METHOD = f"{PERCENTILE_METHOD}, levels widened for fewer than {FEW_CLUSTERS}"
# Number of resamples drawn at the same time; drawing all would double the memory.
RESAMPLES_AT_ONCE = 64
# Number of cells in a block of resamples.
CELLS_PER_BLOCK = 2**22


def cluster_codes(items: pd.DataFrame) -> Ints:
    """Return the number of each item's cluster, with clusters in the order of their names.

    Parameters
    ----------
    items : pandas.DataFrame
        The columns `item_id`, `patient_id` and `examination_id` as text, empty if unknown.

    Returns
    -------
    numpy.ndarray of int, shape (n_items,)
        The cluster of each item: its patient, or its examination if the patient is unknown, or the
        item if both are unknown. An examination whose patient is known from another item belongs to
        that patient.

    Examples
    --------
    >>> cluster_codes(pd.DataFrame({
    ...     "item_id": ["a", "b", "c"],
    ...     "patient_id": ["p1", "", "p1"],
    ...     "examination_id": ["e1", "e2", "e3"],
    ... })).tolist()
    [1, 0, 1]
    """
    patient = items["patient_id"].astype(object)
    examination = items["examination_id"].astype(object)
    known = items.loc[(patient != "") & (examination != "")]
    owners = known.groupby("examination_id")["patient_id"].agg(["first", "nunique"])
    sole = owners.loc[owners["nunique"] == 1, "first"].to_dict()
    owner = examination.map(lambda name: sole.get(name, "")).astype(object)
    patient = patient.where(patient != "", owner)
    name = ("item " + items["item_id"].astype(object)).where(
        examination == "", "examination " + examination
    )
    name = name.where(patient == "", "patient " + patient)
    return np.unique(name.to_numpy(dtype=object), return_inverse=True)[1].astype(np.int64)


def resample_weights(n_clusters: int, n_resamples: int, seed: int) -> Floats:
    """Draw how often each cluster occurs in each bootstrap resample.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, which is also the number of draws in each resample.
    n_resamples : int
        Number of resamples.
    seed : int
        Seed of the generator (PCG64).

    Returns
    -------
    numpy.ndarray of float, shape (n_resamples, n_clusters)
        Whole numbers; each row sums to `n_clusters`.

    Notes
    -----
    The draw depends only on these three numbers, not on the order of rows or on which raters are
    present.

    Examples
    --------
    >>> resample_weights(5, 3, seed=1).sum(axis=1).tolist()
    [5.0, 5.0, 5.0]
    """
    generator = np.random.default_rng(seed)
    # The weights of a cluster are adjacent in memory, which makes selecting clusters ten times
    # faster.
    weights = np.empty((n_clusters, n_resamples), dtype=np.float64)
    for start in range(0, n_resamples, RESAMPLES_AT_ONCE):
        block = np.arange(start, min(start + RESAMPLES_AT_ONCE, n_resamples)) - start
        drawn = generator.integers(n_clusters, size=(len(block), n_clusters))
        counts = np.bincount((drawn * len(block) + block[:, None]).ravel(), minlength=drawn.size)
        weights[:, start : start + len(block)] = counts.reshape(n_clusters, len(block))
    return weights.T


def tail_probability(alpha: float, n_units: Ints) -> Floats:
    r"""Return the share of resamples beyond either limit of a percentile interval.

    Parameters
    ----------
    alpha : float
        Two-sided error.
    n_units : numpy.ndarray of int, any shape
        Number of patients of the estimate, or of items if every patient has one item.

    Returns
    -------
    numpy.ndarray of float, the same shape
        alpha/2 for 30 units or more; for n < 30 units :math:`\Phi(-\sqrt{n / (n - 1)} \,
        t_{1 - \alpha/2, n - 1})` [1]_, which makes the interval wider; nan for fewer than 8.

    Notes
    -----
    A percentile interval from few units is too narrow for two reasons: the variance of resamples is
    (n - 1) / n of that of samples, and its quantiles are normal instead of Student's t. For a mean,
    the smaller tail corrects both, and every limit remains a possible value of the statistic.

    References
    ----------
    .. [1] Hesterberg TC. What teachers should know about the bootstrap: resampling in the
       undergraduate statistics curriculum. Am Stat 2015;69:371-386.
       doi:10.1080/00031305.2015.1089789

    Examples
    --------
    >>> tail_probability(0.05, np.array([7, 8, 12, 29, 30])).round(4).tolist()
    [nan, 0.0057, 0.0108, 0.0185, 0.025]
    """
    n = np.clip(n_units, 2, None)
    wider = ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, alpha / 2))
    share = np.where(n_units < FEW_CLUSTERS, wider, alpha / 2)
    return np.where(n_units < MIN_CLUSTERS, np.nan, share)


def reason_too_few(n_units: int, *, clustered: bool) -> str:
    """Return why an estimate from this number of units has no interval; empty if it has one.

    Examples
    --------
    >>> [reason_too_few(n, clustered=True) for n in (1, 8)], reason_too_few(7, clustered=False)
    (['all items belong to one patient or examination', ''], 'fewer than 8 items')
    """
    if n_units >= MIN_CLUSTERS:
        return ""
    if n_units > 1:
        return TOO_FEW_CLUSTERS if clustered else f"fewer than {MIN_CLUSTERS} items"
    return SINGLE_CLUSTER if clustered else later("a single item")


def is_widened(n_units: Ints) -> Bools:
    """Return whether the percentile interval's levels are widened because of few units.

    Examples
    --------
    >>> is_widened(np.array([7, 8, 29, 30])).tolist()
    [False, True, True, False]
    """
    widened: Bools = (n_units >= MIN_CLUSTERS) & (n_units < FEW_CLUSTERS)
    return widened


def percentile_limits(
    estimates: Floats, alpha: float, n_units: Ints, times: Ints | None = None
) -> tuple[Floats, Floats, Floats]:
    """Return the percentile interval of each estimate over the resamples where it is defined.

    Parameters
    ----------
    estimates : numpy.ndarray of float, shape (..., n_resamples)
        The estimate in each resample; nan if it is undefined there.
    alpha : float
        Two-sided error.
    n_units : numpy.ndarray of int, shape (...)
        Number of patients in each estimate, or of items if each patient has only one.
    times : numpy.ndarray of int, shape (n_resamples,), optional
        Number of times that each of the resamples was drawn; default: once.

    Returns
    -------
    low, high, share : numpy.ndarray of float, shape (...)
        The quantiles (linear interpolation, Hyndman and Fan's type 7) that leave `tail_probability`
        on either side, and the share of defined resamples. The quantiles are nan if the estimate is
        defined in fewer than 80 % of the resamples or there are fewer than 8 units.

    Examples
    --------
    >>> many = np.array(30)
    >>> low, high, share = percentile_limits(np.arange(101.0)[None], 0.1, many)
    >>> low.tolist(), high.tolist(), share.tolist()
    ([5.0], [95.0], [1.0])
    >>> low, high, share = percentile_limits(np.array([[1.0, 2.0]]), 0.5, many, np.array([4, 1]))
    >>> low.tolist(), high.tolist()
    ([1.0], [1.0])
    """
    n = estimates.shape[-1] if times is None else int(times.sum())
    finite = np.isfinite(estimates)
    defined = (finite if times is None else finite * times).sum(axis=-1)
    share = defined / max(n, 1)
    tail_share = np.broadcast_to(tail_probability(alpha, np.asarray(n_units)), share.shape)
    has_enough = (share >= MIN_DEFINED_SHARE) & (defined > 0) & np.isfinite(tail_share)
    tail_share = np.where(has_enough, tail_share, 0.0)
    at_rank = (
        _value_by_rank(estimates) if times is None else _value_by_weighted_rank(estimates, times)
    )
    limits = [_quantile(at_rank, defined, q) for q in (tail_share, 1 - tail_share)]
    low, high = (np.where(has_enough, limit, np.nan) for limit in limits)
    return low, high, share


def _value_by_rank(estimates: Floats) -> Callable[[Ints], Floats]:
    """Sort all resamples, nan last, and return a function from ranks to values.

    numpy sorts with vector instructions, which is faster than a partial sort.
    """
    ordered = np.sort(estimates, axis=-1)
    return lambda rank: np.take_along_axis(ordered, rank[..., None], axis=-1)[..., 0]


def _value_by_weighted_rank(estimates: Floats, times: Ints) -> Callable[[Ints], Floats]:
    """Do the same as `_value_by_rank` for resamples that were drawn several times."""
    order = np.argsort(estimates, axis=-1)
    ordered = np.take_along_axis(estimates, order, axis=-1)
    upto = times[order].cumsum(axis=-1)

    def at_rank(rank: Ints) -> Floats:
        place = (upto <= rank[..., None]).sum(axis=-1)
        at: Floats = np.take_along_axis(ordered, place[..., None], axis=-1)[..., 0]
        return at

    return at_rank


def _quantile(at_rank: Callable[[Ints], Floats], defined: Ints, q: Floats) -> Floats:
    position = q * np.maximum(defined - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(defined - 1, 0))
    at_below, at_above = at_rank(below), at_rank(above)
    limit: Floats = at_below + (at_above - at_below) * (position - below)
    return limit


def sums_by_cluster(values: Floats, clusters: Ints) -> tuple[Floats, Ints]:
    """Sum the rows of each cluster.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (n_items, n_columns)
        The items' values, in order of cluster.
    clusters : numpy.ndarray of int, shape (n_items,)
        The items' clusters, in ascending order.

    Returns
    -------
    sums : numpy.ndarray of float, shape (n_present, n_columns)
        One row for each cluster that occurs in `clusters`.
    present : numpy.ndarray of int, shape (n_present,)
        The clusters of the rows.

    Examples
    --------
    >>> sums, present = sums_by_cluster(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 7]))
    >>> sums.tolist(), present.tolist()
    ([[3.0], [4.0]], [0, 7])
    """
    if not len(clusters):
        return np.zeros((0, values.shape[1])), clusters
    first: Bools = np.r_[True, clusters[1:] != clusters[:-1]]
    return np.add.reduceat(values, np.flatnonzero(first), axis=0), clusters[first]


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide two arrays; the result is nan where the denominator is 0.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    if np.all(denominator):
        # Without a mask the loop is vectorised.
        quotient: Floats = np.divide(numerator, denominator)
        return quotient
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    out = np.full(shape, np.nan)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator != 0))
    return out


def weight_blocks(
    weights: Floats | None, n_items: int, options: Options
) -> Iterator[npt.NDArray[np.float32]]:
    """Yield the resamples of a run in blocks.

    The resamples are those of clusters, or of items if every patient has one item.

    Parameters
    ----------
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        The run's resamples of clusters; None if every patient has one item.
    n_items : int
        Number of items, which is the number of draws in each resample if `weights` is None.
    options : Options
        Seed and number of resamples of items.

    Yields
    ------
    numpy.ndarray of float32, shape (n_block, n_clusters) or (n_block, n_items)
        The number of times that each resample contains each cluster or item, as whole numbers,
        whose sums are exact below 2**24.

    Notes
    -----
    Two thousand resamples of forty thousand items would need 650 MB; a block needs 16 MB.

    Examples
    --------
    >>> blocks = list(weight_blocks(None, 5, Options(bootstrap=3)))
    >>> [block.sum(axis=1).tolist() for block in blocks]
    [[5.0, 5.0, 5.0]]
    """
    generator = np.random.default_rng(options.seed)
    n_units = n_items if weights is None else weights.shape[1]
    n_resamples = options.bootstrap if weights is None else len(weights)
    size = max(1, CELLS_PER_BLOCK // max(n_units, 1))
    for start in range(0, n_resamples, size):
        stop = min(start + size, n_resamples)
        if weights is not None:
            yield weights[start:stop].astype(np.float32)
        else:
            drawn = generator.integers(n_units, size=(stop - start, n_units))
            drawn += n_units * np.arange(stop - start)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=(stop - start) * n_units)
            yield counts.reshape(drawn.shape).astype(np.float32)
