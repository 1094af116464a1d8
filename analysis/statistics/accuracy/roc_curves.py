"""Empirical ROC curves as arrays: their points, their mean, and areas under part of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Bools, Floats
from analysis.readings.clusters import ratio
from analysis.statistics.study import Study

MOST_FALSE_POSITIVE = 0.2
"""The false-positive rate up to which partial areas are taken."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatedItems:
    """The items that one rater rated.

    Parameters
    ----------
    column : int
        The rater's column in the matrix.
    items : numpy.ndarray of bool, shape (n_items,)
        Which items of the matrix.
    positive : numpy.ndarray of bool, shape (n,)
        Whether the reference standard is positive.
    ratings : numpy.ndarray of float, shape (n,)
        Higher means more likely positive; -inf or inf for a missing answer.
    """

    column: int
    items: Bools
    positive: Bools
    ratings: Floats


def rated_items(study: Study) -> list[RatedItems]:
    """Return the ratings of every rater whose answers all have one, in the matrix's order.

    The positive class is that of `Study.dichotomy`. A missing answer has the worst rating.
    """
    ratings, matrix = study.figures_of_merit.ratings, study.matrix
    if ratings is None or ratings.is_letter_unknown:
        return []
    positive = study.dichotomy.positive_items(matrix)
    same = bool((positive == ratings.positive)[matrix.assigned].all())
    rated = []
    for column in np.flatnonzero(ratings.rated):
        items = matrix.given[:, column]
        values = ratings.ratings[items, column] * (1.0 if same else -1.0)
        if not np.isnan(values).any() and 0 < positive[items].sum() < items.sum():
            rated.append(
                RatedItems(
                    column=int(column), items=items, positive=positive[items], ratings=values
                )
            )
    return rated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """An empirical ROC curve; arrays have shape (n_points,).

    Parameters
    ----------
    thresholds : numpy.ndarray of float
        Falling. Items with at least this rating are called positive; the first is inf, for none.
    false_positive_rate, true_positive_rate : numpy.ndarray of float
        From 0 to 1.
    """

    thresholds: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats


def curve_of(rated: RatedItems) -> Curve:
    """Return the ROC curve of some ratings, with a point for each different rating.

    Examples
    --------
    >>> curve = curve_of(RatedItems(
    ...     column=0, items=np.ones(4, dtype=bool), positive=np.array([False, False, True, True]),
    ...     ratings=np.array([1.0, 2.0, 2.0, np.inf]),
    ... ))
    >>> curve.thresholds.tolist(), curve.true_positive_rate.tolist()
    ([inf, inf, 2.0, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    from sklearn.metrics import roc_curve

    # scikit-learn does not accept infinite ratings, so ranks are passed.
    levels, ranks = np.unique(rated.ratings, return_inverse=True)
    false, true, thresholds = roc_curve(rated.positive, ranks, drop_intermediate=False)
    return Curve(
        thresholds=np.concatenate([[np.inf], levels[thresholds[1:].astype(np.int64)]]),
        false_positive_rate=false,
        true_positive_rate=true,
    )


_HALF_STEP = 1e-9
"""Half the width of a vertical part of a mean curve."""


def mean_curve(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return the mean of the true-positive rates at each false-positive rate.

    Parameters
    ----------
    curves : sequence of two numpy.ndarray of float
        False- and true-positive rates of each curve, from (0, 0) to (1, 1).

    Returns
    -------
    tuple of two numpy.ndarray of float
        The mean curve. The area under it is the mean of the areas, apart from rounding.

    References
    ----------
    .. [1] Fawcett T. An introduction to ROC analysis. Pattern Recognit Lett 2006;27:861-874.
       doi:10.1016/j.patrec.2005.10.010

    Examples
    --------
    >>> one = np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])
    >>> false, true = mean_curve([one, (np.array([0.0, 1.0]), np.array([0.0, 1.0]))])
    >>> np.interp([0.25, 0.5], false, true).round(6).tolist()
    [0.375, 0.75]
    """
    places = np.unique(np.concatenate([false for false, _ in curves]))
    grid = np.unique(np.clip(np.concatenate([places - _HALF_STEP, places + _HALF_STEP]), 0, 1))
    mean = np.mean([np.interp(grid, false, true) for false, true in curves], axis=0)
    return np.concatenate([[0.0], grid]), np.concatenate([[0.0], mean])


def partial_area(false: Floats, true: Floats, max_false: float = MOST_FALSE_POSITIVE) -> Floats:
    r"""Return the standardised area under curves up to a false-positive rate.

    Parameters
    ----------
    false, true : numpy.ndarray of float, shape (..., n_points)
        False- and true-positive rates, rising from 0 to 1.
    most : float, default 0.2
        The largest false-positive rate, above 0.

    Returns
    -------
    numpy.ndarray of float, shape (...)
        :math:`(1 + (A - m^2 / 2) / (m - m^2 / 2)) / 2` with A the area up to m [1]_: 1 for a
        perfect curve and 1/2 for the diagonal.

    References
    ----------
    .. [1] McClish DK. Analyzing a portion of the ROC curve. Med Decis Making 1989;9:190-195.
       doi:10.1177/0272989X8900900307

    Examples
    --------
    >>> line = np.array([0.0, 1.0])
    >>> float(partial_area(line, line).round(6))
    0.5
    """
    start, end = np.minimum(false[..., :-1], max_false), np.minimum(false[..., 1:], max_false)
    width, rise = np.diff(false, axis=-1), np.diff(true, axis=-1)
    reached = true[..., :-1] + rise * np.nan_to_num(ratio(end - false[..., :-1], width))
    heights = np.where(end > start, (true[..., :-1] + reached) / 2, 0.0)
    area = ((end - start) * heights).sum(axis=-1)
    least = max_false**2 / 2
    standardised: Floats = (1 + (area - least) / (max_false - least)) / 2
    return standardised


def weighted_rates(rated: RatedItems, weights: Floats) -> tuple[Floats, Floats]:
    """Return the rates of resampled curves.

    Parameters
    ----------
    rated : RatedItems
        The ratings of one rater.
    weights : numpy.ndarray of float, shape (n_resamples, n)
        How often each of the items is in each resample.

    Returns
    -------
    tuple of two numpy.ndarray of float, shape (n_resamples, n_points)
        False- and true-positive rates; nan if a resample has no item of a class.
    """
    order = np.argsort(-rated.ratings, kind="stable")
    falling = rated.ratings[order]
    ends = np.flatnonzero(np.r_[falling[1:] != falling[:-1], True])
    rates = []
    for of_class in (~rated.positive, rated.positive):
        counts = np.cumsum(weights[:, order] * of_class[order], axis=1)[:, ends]
        counts = np.concatenate([np.zeros((len(weights), 1)), counts], axis=1)
        rates.append(ratio(counts, counts[:, -1:]))
    return rates[0], rates[1]
