"""Obuchowski-Rockette for one treatment: a mean over readers, readers random or fixed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Floats
from analysis.statistics.merits.merits import Merits
from analysis.statistics.mrmc.inference import Inference, beyond_rounding, infer, undefined
from analysis.translation import later

# Below this a mean square is rounding: half a tie among 40,000 items moves it by more.
ZERO_SPREAD = 1e-24
ONE_READER = later("a single reader does not show how readers vary")
NO_ESTIMATE = later("a figure of merit is undefined")


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleTreatment:
    """A mean over readers with the inference for readers and items, random or fixed.

    Parameters
    ----------
    n_readers : int
        Readers, J.
    msr : float
        Mean square of readers; nan with one reader.
    var, cov2 : float
        Mean variance, and mean covariance between readers (nan with one).
    var_reader : float
        MSR - Var + Cov2: the variance of the readers' true figures; may come out negative.
    random_readers : Inference
        Readers and items are samples: the claim about readers like these.
    fixed_readers : Inference
        Items are a sample: the claim about these readers.
    fixed_items : Inference
        Readers are a sample: the claim about these items.
    """

    n_readers: int
    msr: float
    var: float
    cov2: float
    var_reader: float
    random_readers: Inference
    fixed_readers: Inference
    fixed_items: Inference


def single_treatment(
    merits: Merits,
    alpha: float = 0.05,
    *,
    constrain: bool = True,
    items_df: float = math.inf,
) -> SingleTreatment:
    r"""Infer the mean of readers' figures of merit.

    Parameters
    ----------
    merits : Merits
        One figure a reader. For a model against readers, the differences model minus reader, as
        `differences` gives them.
    alpha : float, default 0.05
        Two-sided error of the intervals.
    constrain : bool, default True
        Take a negative Cov2 as 0. MRMCaov's fixed-reader interval does not.
    items_df : float, default inf
        Degrees of freedom of the claim about fixed readers. The programs that this is checked
        against have the normal distribution there; with few items, or patients, t with their number
        less 1 holds its level.

    Returns
    -------
    SingleTreatment
        The components and the three inferences.

    Notes
    -----
    With J readers, MSR the variance of their figures (ddof 1), Var the mean of the covariance
    matrix' diagonal and Cov2 the mean of the rest, the variance of the mean is

    - readers and items random: :math:`(MSR + \max(J\,Cov_2, 0)) / J`, t with Hillis' degrees of
      freedom [1]_ :math:`(MSR + \max(J\,Cov_2, 0))^2 / (MSR^2 / (J - 1))`;
    - readers fixed: :math:`(Var + (J - 1) \max(Cov_2, 0)) / J`, normal, or t
      with `items_df`;
    - items fixed: :math:`MSR / J`, t with J - 1.

    Applied to the differences from a model that reads alone this is the comparison with a
    standalone reader of Hillis and of Chakraborty [2]_ [3]_: the model is one fixed rater, and its
    own error over items is part of every difference. Where all figures are equal MSR is 0, the
    degrees of freedom have no bound, and t is the normal distribution.

    References
    ----------
    .. [1] Hillis SL. A comparison of denominator degrees of freedom methods for multiple observer
       ROC analysis. Stat Med 2007;26:596-619. doi:10.1002/sim.2532
    .. [2] Hillis SL, Obuchowski NA, Berbaum KS. Power estimation for multireader ROC methods: an
       updated and unified approach. Acad Radiol 2011;18:129-142. doi:10.1016/j.acra.2010.09.007
    .. [3] Chakraborty DP. Observer performance methods for diagnostic imaging. CRC Press 2017,
       chapter 22. doi:10.1201/9781351228190

    Examples
    --------
    >>> merits = Merits(
    ...     values=np.array([0.03, 0.05, 0.10]), covariance=0.0004 * (np.eye(3) + np.ones((3, 3))))
    >>> one = single_treatment(merits)
    >>> round(one.random_readers.se, 4), round(one.random_readers.df, 2)
    (0.0289, 7.4)
    >>> round(one.fixed_readers.se, 4)
    0.0231
    """
    values, j = merits.values, len(merits.values)
    estimate = float(values.mean()) if j else math.nan
    msr = _mean_square(values)
    var, found = cell_means(merits.covariance)
    cov2 = beyond_rounding(found, var)
    no_estimate = NO_ESTIMATE if math.isnan(estimate) else ""
    reason = merits.no_covariance or no_estimate
    used = max(cov2, 0.0) if constrain else cov2
    return SingleTreatment(
        n_readers=j,
        msr=msr,
        var=var,
        cov2=cov2,
        var_reader=beyond_rounding(msr - var + cov2, msr + var),
        random_readers=_random(estimate, msr, j * used, j, alpha, reason),
        fixed_readers=_fixed(estimate, var, used, j, items_df, alpha, reason),
        fixed_items=_random(estimate, msr, 0.0, j, alpha, no_estimate and reason),
    )


def _random(
    estimate: float, msr: float, items: float, j: int, alpha: float, reason: str
) -> Inference:
    if reason or j < 2:
        return undefined(estimate, reason or ONE_READER)
    denominator = msr + items
    df = denominator**2 / (msr**2 / (j - 1)) if msr else math.inf
    return infer(estimate, denominator / j, df, alpha)


def _fixed(
    estimate: float, var: float, cov2: float, j: int, df: float, alpha: float, reason: str
) -> Inference:
    if reason:
        return undefined(estimate, reason)
    between = (j - 1) * cov2 if j > 1 else 0.0
    return infer(estimate, beyond_rounding(var + between, var) / j, df, alpha)


def _mean_square(values: Floats) -> float:
    if len(values) < 2:
        return math.nan
    square = float(values.var(ddof=1))
    return 0.0 if square < ZERO_SPREAD else square


def cell_means(covariance: Floats) -> tuple[float, float]:
    """Return the means of the diagonal and of the rest, nan for the rest of a single cell.

    Examples
    --------
    >>> cell_means(np.array([[4.0, 1.0], [1.0, 2.0]]))
    (3.0, 1.0)
    """
    j = len(covariance)
    diagonal = float(np.trace(covariance))
    off = (float(covariance.sum()) - diagonal) / (j * (j - 1)) if j > 1 else math.nan
    return diagonal / j if j else math.nan, off
