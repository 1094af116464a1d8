"""The lower limit of a model's difference from readers that keeps its level near the ceiling."""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

from analysis.statistics.merits import FigureOfMerit, Metric
from analysis.statistics.mrmc.obuchowski_rockette import LARGEST, Inference


def wilson_lower(value: float, n: float, quantile: float) -> float:
    """Return Wilson's lower limit of a proportion.

    Examples
    --------
    >>> round(wilson_lower(1.0, 20, 1.96), 3)
    0.839
    """
    square = quantile**2 / n
    reach = quantile * math.sqrt(value * (1 - value) / n + square / (4 * n))
    return (value + square / 2 - reach) / (1 + square)


def area_lower(value: float, n_positive: int, n_negative: int, quantile: float) -> float:
    r"""Return Newcombe's lower score limit of an area under the ROC curve (his method 5).

    Parameters
    ----------
    value : float
        The area, 0 to 1.
    n_positive, n_negative : int
        Cases of each class.
    quantile : float
        Of the reference distribution.

    Notes
    -----
    The limit :math:`\theta` is where the area is `quantile` standard errors above it, with
    the variance :math:`\theta (1 - \theta) (1 + (N - 1) ((1 - \theta) / (2 - \theta) + \theta / (1
    + \theta))) / (m n)` and N the mean of m and n [1]_. It is below 1 for an area of 1.

    References
    ----------
    .. [1] Newcombe RG. Confidence intervals for an effect size measure based on the Mann-Whitney
       statistic. Part 2: asymptotic methods and evaluation. Stat Med 2006;25:559-573.
       doi:10.1002/sim.2324

    Examples
    --------
    >>> round(area_lower(1.0, 25, 25, 1.96), 3)
    0.919
    """
    size = (n_positive + n_negative) / 2 - 1

    def excess(area: float) -> float:
        shares = (1 - area) / (2 - area) + area / (1 + area)
        variance = area * (1 - area) * (1 + size * shares) / (n_positive * n_negative)
        return value - area - quantile * math.sqrt(variance)

    inside = value - 1e-12
    if value <= 0 or excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, inside)) if excess(inside) < 0 else value


def ceiling_limit(figure: FigureOfMerit, inference: Inference, alpha: float) -> float:
    r"""Return the lower limit of a model minus readers from a score limit of the model.

    Parameters
    ----------
    figure : FigureOfMerit
        Values and covariances of the readers, then of the model.
    inference : Inference
        The difference of the model and the readers' mean, with its standard error.
    alpha : float
        Two-sided error.

    Returns
    -------
    float
        Not below -1; nan where the inference has no standard error.

    Notes
    -----
    A model with hardly any error has hardly any observed variance. With l the lower score limit of
    the model's value m (`wilson_lower`, `area_lower`), q the quantile of the inference, :math:`s_r`
    the standard error of the readers' mean and :math:`\rho` its correlation with the model's value,
    the limit is Zou's [1]_ :math:`d - \sqrt{(m - l)^2 + q^2 s_r^2 - 2 \rho (m - l) q s_r}`;
    :math:`s_r^2` is the squared standard error of the difference without the model's part. Where
    patients have several items, l has the effective number of items, between patients and items;
    for an area the patients of each class.

    References
    ----------
    .. [1] Zou GY, Donner A. Construction of confidence limits about effect measures: a general
       approach. Stat Med 2008;27:1693-1702. doi:10.1002/sim.3095
    """
    if math.isnan(inference.se):
        return math.nan
    model, covariance = float(figure.merits.values[-1]), figure.merits.covariance
    own, with_readers = float(covariance[-1, -1]), float(covariance[-1, :-1].mean())
    quantile = float(
        norm.isf(alpha / 2) if math.isinf(inference.df) else student.isf(alpha / 2, inference.df)
    )
    distance = model - _lower(figure, model, own, quantile)
    readers = math.sqrt(max(inference.se**2 - own + 2 * with_readers, 0.0))
    both = math.sqrt(own) * readers
    correlation = min(max(with_readers / both, -1.0), 1.0) if both > 0 else 0.0
    reach = quantile * readers
    square = distance**2 + reach**2 - 2 * correlation * distance * reach
    return max(inference.estimate - math.sqrt(max(square, 0.0)), -LARGEST)


def _lower(figure: FigureOfMerit, model: float, variance: float, quantile: float) -> float:
    if figure.metric is Metric.AUC:
        return area_lower(model, *figure.classes, quantile)
    effective = model * (1 - model) / variance if variance > 0 else 0.0
    n = min(max(effective, figure.n_clusters), figure.n_items)
    return wilson_lower(model, n, quantile)
