"""The expected power of the analysis, which the closed form only approximates."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, stdtrit
from scipy.stats import chi2

from analysis.arrays import Floats
from analysis.planning.designs import PlanDesign, Size
from analysis.planning.power import PlanClaim, PowerPlan

N_NODES = (64, 7, 7)
"""Numbers of nodes for the mean squares of readers, of readers by cases, and of cases."""

MAX_DF = 1e12


def expected_power(plan: PowerPlan, size: Size) -> float:
    r"""Return the probability that the report shows the effect, for readers like these.

    Parameters
    ----------
    plan : PowerPlan
        The planned study; normal errors and equal covariances are assumed.
    size : Size
        Its size; every reader reads every case, and there are no parallel arms.

    Returns
    -------
    float
        The probability, accurate to 0.001.

    Notes
    -----
    The closed form treats the variance and the degrees of freedom of the test as known. The
    analysis estimates both from the mean squares of readers, of readers by cases, and of cases.
    These are independent of each other and of the estimate :math:`\bar d`. Their distributions are
    multiples of chi-square with :math:`J - 1`, :math:`(J - 1)(C - 1)` and :math:`C - 1` degrees of
    freedom for J readers and C patients. The three mean squares determine the half-width h of the
    interval, which is the wider one of those for readers like these and for these readers. The
    power is then :math:`\Phi((d - h) / \sqrt V) + \Phi((-d - h) / \sqrt V)`, or with a margin M
    :math:`\Phi((d + M - h) / \sqrt V)`. The result is its mean over the three distributions. With
    three readers, the mean square of readers has two degrees of freedom: if it is small, Hillis'
    degrees of freedom are large, and the test rejects more often than in the closed form.

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.05)
    >>> round(expected_power(plan, plan.size(5, 200)), 3)
    0.772
    """
    spread, j = plan.spread, size.readers
    units = size.cases * (spread.clusters or spread.cases) / spread.cases
    scale = spread.cases / size.cases
    readers = max(float(spread.reader), 0.0)
    shared = scale * max(float(spread.shared), 0.0)
    own_variance = scale * float(spread.own + min(spread.shared, 0.0))
    df = (j - 1, (j - 1) * (units - 1), units - 1)
    between, within, together = np.meshgrid(
        *(
            value * _nodes(freedom, n)
            for value, freedom, n in zip(
                (readers + own_variance, own_variance, own_variance + j * shared),
                df,
                N_NODES,
                strict=True,
            )
        ),
        indexing="ij",
    )
    cases_part = np.maximum(together - within, 0.0)
    random = between + cases_part
    random_df = np.minimum((j - 1) * (random / between) ** 2, MAX_DF)
    # Var + (J - 1) max(Cov2, 0) over J, where Var - Cov2 is `within` and J Cov2 the difference.
    fixed = (within + np.minimum(together - within, 0.0) / j + cases_part) / j
    level = 1 - plan.alpha / 2
    half = np.maximum(
        stdtrit(random_df, level) * np.sqrt(random / j), stdtrit(units - 1, level) * np.sqrt(fixed)
    )
    error = np.sqrt((readers + own_variance) / j + shared)
    effect = plan.effect
    if plan.margin is not None:
        return float(ndtr((effect + plan.margin - half) / error).mean())
    return float((ndtr((effect - half) / error) + ndtr((-effect - half) / error)).mean())


def _nodes(df: float, n: int) -> Floats:
    """Return `n` equally probable values of a chi-square divided by its degrees of freedom."""
    nodes: Floats = chi2.ppf((np.arange(n) + 0.5) / n, df) / df
    return nodes


def power_of_analysis(plan: PowerPlan, size: Size, claim: PlanClaim) -> float:
    """Return `expected_power` if it is known, and nan otherwise.

    Parameters
    ----------
    plan : PowerPlan
        The planned study.
    size : Size
        The size of the study.
    claim : PlanClaim
        The claim.

    Returns
    -------
    float
        nan for other claims than the claim about readers like these, for incomplete designs and for
        arms.

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.05)
    >>> round(power_of_analysis(plan, plan.size(5, 200), PlanClaim.READERS_LIKE_THESE), 3)
    0.772
    """
    crossed = plan.design is not PlanDesign.ARMS and size.reads == size.readers
    if claim is not PlanClaim.READERS_LIKE_THESE or not crossed:
        return np.nan
    return expected_power(plan, size)
