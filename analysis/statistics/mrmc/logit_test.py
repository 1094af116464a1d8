"""Lower limits for the area of a model minus that of readers, computed on the logit scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import t as student

from analysis.statistics.merits import Merits

LARGEST_T = 40.0
"""Values of Student's t above this one are treated as equal to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaDifference:
    """The area of a model and the mean area of readers, with their variances.

    Parameters
    ----------
    model, readers : float
        Areas from 0 to 1.
    model_variance, readers_variance : float
        Variances of these areas; that of random readers includes the variation between readers.
    correlation : float
        Correlation of the two estimates.
    n_pairs : int
        Number of pairs of a positive and a negative case.
    df : float
        Degrees of freedom.
    """

    model: float
    readers: float
    model_variance: float
    readers_variance: float
    correlation: float
    n_pairs: int
    df: float

    def lower_limit(self, quantile: float) -> float:
        r"""Return the lower limit of the difference at a quantile of Student's t.

        Parameters
        ----------
        quantile : float
            The quantile; a negative one gives the upper limit.

        Notes
        -----
        With the limits l of the model and u of the readers on the logit scale, :math:`\operatorname
        {expit}(\operatorname{logit} A \mp q\,SE / (A (1 - A)))` [1]_, the limit is :math:`d -
        \sqrt{(A_M - l)^2 + (u - A_R)^2 - 2 r (A_M - l)(u - A_R)}` [2]_. For a model with an area of
        1, l is that of a model with half a discordant pair: on the logit scale, a discordant pair
        among n has the standard error :math:`\sqrt 2` for any n.

        References
        ----------
        .. [1] Kottas M, Kuss O, Zapf A. A modified Wald interval for the area under the ROC curve
           (AUC) in diagnostic case-control studies. BMC Med Res Methodol 2014;14:26.
           doi:10.1186/1471-2288-14-26
        .. [2] Zou GY, Huang W, Zhang X. A note on confidence interval estimation for a linear
           function of binomial proportions. Comput Stat Data Anal 2009;53:1080-1085.
           doi:10.1016/j.csda.2008.09.033

        Examples
        --------
        >>> both = AreaDifference(model=0.97, readers=0.95, model_variance=0.0004,
        ...     readers_variance=0.0003, correlation=0.4, n_pairs=2500, df=49)
        >>> [round(both.lower_limit(q), 3) for q in (2.01, 0.0, -2.01)]
        [-0.053, 0.02, 0.065]
        """
        below = self.model - _shifted_area(self.model, self.model_variance, -quantile, self.n_pairs)
        above = (
            _shifted_area(self.readers, self.readers_variance, quantile, self.n_pairs)
            - self.readers
        )
        square = below**2 + above**2 - 2 * self.correlation * below * above
        return self.model - self.readers - math.copysign(math.sqrt(max(square, 0.0)), quantile)

    def statistic(self, margin: float) -> float:
        """Return the value of Student's t at which the lower limit is minus the margin."""

        def excess(quantile: float) -> float:
            return self.lower_limit(quantile) + margin

        if excess(LARGEST_T) >= 0:
            return LARGEST_T
        if excess(-LARGEST_T) <= 0:
            return -LARGEST_T
        return float(brentq(excess, -LARGEST_T, LARGEST_T, xtol=1e-10))

    def p(self, margin: float) -> float:
        """Return the one-sided p-value for the margin."""
        return float(student.sf(self.statistic(margin), self.df))


def area_difference(
    merits: Merits, patients: tuple[int, int], n_pairs: int, readers: tuple[float, float, int]
) -> AreaDifference:
    """Return the areas of a model and of readers, for inference on their difference.

    Parameters
    ----------
    merits : Merits
        Areas of the readers and, as the last one, of the model, with their covariances over cases.
    patients : tuple of int
        Numbers of patients with a positive and with a negative case.
    n_pairs : int
        Number of pairs of a positive and a negative case.
    readers : tuple of (float, float, int)
        The part of the variance of the mean difference that is due to true differences between
        readers, the mean square of readers divided by their number, and this number. For fixed
        readers 0, 0 and 1.

    Notes
    -----
    The degrees of freedom are the number of patients in the smaller class minus 1. For random
    readers they are those of Satterthwaite's rule, but not more.
    """
    n = len(merits.values) - 1
    covariance, mean = merits.covariance, merits.values[:n].mean()
    model_variance, mean_covariance = float(covariance[n, n]), float(covariance[:n, :n].mean())
    shared_covariance = float(covariance[n, :n].mean())
    reader_variance, mean_square, n_readers = readers
    sd_product = math.sqrt(max(model_variance, 0.0) * max(mean_covariance + reader_variance, 0.0))
    correlation = min(max(shared_covariance / sd_product, -1.0), 1.0) if sd_product else 0.0
    df = float(min(patients) - 1)
    if n_readers > 1:
        case_variance = max(model_variance + mean_covariance - 2 * shared_covariance, 0.0)
        shares = case_variance**2 / df + mean_square**2 / (n_readers - 1)
        df = min((case_variance + reader_variance) ** 2 / shares, df) if shares else df
    return AreaDifference(
        model=float(merits.values[n]),
        readers=float(mean),
        model_variance=model_variance,
        readers_variance=mean_covariance + reader_variance,
        correlation=correlation,
        n_pairs=n_pairs,
        df=df,
    )


def _shifted_area(area: float, variance: float, quantile: float, n_pairs: int) -> float:
    """Return an area moved on the logit scale by a multiple of its standard error."""
    if 0 < area < 1 and variance > 0:
        return float(expit(logit(area) + quantile * math.sqrt(variance) / (area * (1 - area))))
    if area < 1 or quantile >= 0:
        return area
    return float(expit(math.log(2 * n_pairs - 1) + quantile * math.sqrt(2)))
