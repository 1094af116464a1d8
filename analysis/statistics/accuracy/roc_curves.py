"""Empirical ROC curves as arrays: their points, their mean, and partial areas under them."""

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
    """The items that a rater rated.

    Parameters
    ----------
    column : int
        The rater's column in the matrix.
    items : numpy.ndarray of bool, shape (n_items,)
        Whether each item of the matrix is among them.
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
    """Return the ratings of the raters all of whose answers have one, in the matrix's order.

    The positive class is that of `Study.dichotomy`. Missing answers have the worst rating.
    """
    ratings, matrix = study.figures_of_merit.ratings, study.matrix
    if ratings is None or ratings.is_letter_unknown:
        return []
    positive = study.dichotomy.positive_items(matrix)
    has_same_classes = bool((positive == ratings.positive)[matrix.has_truth].all())
    rated = []
    for column in np.flatnonzero(ratings.rated):
        items = matrix.is_counted[:, column]
        values = ratings.ratings[items, column] * (1.0 if has_same_classes else -1.0)
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
        Items with at least this rating are called positive. In descending order; the first is inf.
    false_positive_rate, true_positive_rate : numpy.ndarray of float
        From 0 to 1.
    """

    thresholds: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats


def empirical_curve(rated: RatedItems) -> Curve:
    """Return a rater's ROC curve, with a point for each distinct rating.

    Examples
    --------
    >>> curve = empirical_curve(RatedItems(
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
    """Return the mean true-positive rate at each false-positive rate.

    Parameters
    ----------
    curves : sequence of two numpy.ndarray of float
        False- and true-positive rates of each curve, from (0, 0) to (1, 1).

    Returns
    -------
    tuple of two numpy.ndarray of float
        The mean curve. The area under it is the mean of the curves' areas, apart from rounding.

    References
    ----------
    .. [1] Fawcett T. An introduction to ROC analysis. Pattern Recognit Lett 2006;27:861-874.
       doi:10.1016/j.patrec.2005.10.010

    Examples
    --------
    >>> first = np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])
    >>> false, true = mean_curve([first, (np.array([0.0, 1.0]), np.array([0.0, 1.0]))])
    >>> np.interp([0.25, 0.5], false, true).round(6).tolist()
    [0.375, 0.75]
    """
    rates_of_points = np.unique(np.concatenate([false for false, _ in curves]))
    grid = np.unique(
        np.clip(np.concatenate([rates_of_points - _HALF_STEP, rates_of_points + _HALF_STEP]), 0, 1)
    )
    mean = np.mean([np.interp(grid, false, true) for false, true in curves], axis=0)
    return np.concatenate([[0.0], grid]), np.concatenate([[0.0], mean])


def partial_area(false: Floats, true: Floats, max_false: float = MOST_FALSE_POSITIVE) -> Floats:
    r"""Return the standardised area under curves up to a maximum false-positive rate.

    Parameters
    ----------
    false, true : numpy.ndarray of float, shape (..., n_points)
        False- and true-positive rates, ascending from 0 to 1.
    max_false : float, default 0.2
        The largest false-positive rate, above 0.

    Returns
    -------
    numpy.ndarray of float, shape (...)
        :math:`(1 + (A - m^2 / 2) / (m - m^2 / 2)) / 2`, where A is the area up to m [1]_; 1 for a
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
    end_height = true[..., :-1] + rise * np.nan_to_num(ratio(end - false[..., :-1], width))
    heights = np.where(end > start, (true[..., :-1] + end_height) / 2, 0.0)
    area = ((end - start) * heights).sum(axis=-1)
    guessing_area = max_false**2 / 2
    standardised: Floats = (1 + (area - guessing_area) / (max_false - guessing_area)) / 2
    return standardised


def weighted_rates(rated: RatedItems, weights: Floats) -> tuple[Floats, Floats]:
    """Return the rates of resampled curves.

    Parameters
    ----------
    rated : RatedItems
        The ratings of one rater.
    weights : numpy.ndarray of float, shape (n_resamples, n)
        How often each item is in each resample.

    Returns
    -------
    tuple of two numpy.ndarray of float, shape (n_resamples, n_points)
        False- and true-positive rates; nan if a resample lacks items of a class.
    """
    order = np.argsort(-rated.ratings, kind="stable")
    descending_ratings = rated.ratings[order]
    ends = np.flatnonzero(np.r_[descending_ratings[1:] != descending_ratings[:-1], True])
    rates = []
    for of_class in (~rated.positive, rated.positive):
        counts = np.cumsum(weights[:, order] * of_class[order], axis=1)[:, ends]
        counts = np.concatenate([np.zeros((len(weights), 1)), counts], axis=1)
        rates.append(ratio(counts, counts[:, -1:]))
    return rates[0], rates[1]
