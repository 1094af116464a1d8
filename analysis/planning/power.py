"""The power of a planned study in closed form, with the uncertainty of its components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from scipy.stats import f, ncf, nct, ncx2, norm, t

from analysis.arrays import Floats
from analysis.errors import OptionsError
from analysis.options import DEFAULT_ALPHA, DEFAULT_SEED, SMALLEST_ALPHA
from analysis.planning.components import Comparison, Components
from analysis.planning.designs import (
    PlanDesign,
    Size,
    Spread,
    Variance,
    group_sizes,
    spread_of,
    variances,
)

TARGET_POWER = 0.8
"""The power that `cases_needed` requires."""

N_DRAWS = 1000
"""Number of draws of the components, for the uncertainty of the power."""

MAX_CASES = 1_000_000


class PlanClaim(StrEnum):
    """Whether readers and cases (RRRC), only cases (FRRC) or only readers (RRFC) are sampled."""

    READERS_LIKE_THESE = "readers like these"
    THESE_READERS = "these readers"
    THESE_CASES = "these cases"


DF_RULES = {
    PlanClaim.READERS_LIKE_THESE: "OR, projected Hillis 2011",
    PlanClaim.THESE_READERS: "OR, chi-square",
    PlanClaim.THESE_CASES: "OR, J - 1",
}
"""The rule for the degrees of freedom of each claim, in the crossed design."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerPlan:
    """A planned study without its size.

    Parameters
    ----------
    components : Components
        The variance components.
    comparison : Comparison
        The comparison.
    design : PlanDesign
        The design.
    effect : float
        The true difference: a minus b, or model minus readers, as a proportion or area.
    margin : float or None
        Non-inferiority margin; None: two-sided test of no difference.
    alpha : float
        Two-sided error; the non-inferiority test is one-sided at alpha / 2.
    reads : int or None
        Readers per case (in each arm); None: all, or half of them in blocks.
    seed : int
        Seed of the draws of the components.

    Raises
    ------
    OptionsError
        A value is out of range, or the components, comparison and design are incompatible.
    """

    components: Components
    comparison: Comparison = Comparison.CONDITIONS
    design: PlanDesign = PlanDesign.CROSSED
    effect: float
    margin: float | None = None
    alpha: float = DEFAULT_ALPHA
    reads: int | None = None
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not -1 < self.effect < 1:
            raise OptionsError(f"effect is {self.effect}; give a difference between -1 and 1")
        if self.effect == 0 and self.margin is None:
            raise OptionsError("effect is 0; give another difference, or a margin")
        if self.margin is not None and not 0 < self.margin < 1:
            raise OptionsError(f"margin is {self.margin}; give a proportion between 0 and 1")
        if self.margin is not None and self.effect < -self.margin:
            raise OptionsError(
                f"effect is {self.effect}, below minus the margin of {self.margin}; give an effect"
                f" of {-self.margin} or more, or a larger margin"
            )
        if not SMALLEST_ALPHA <= self.alpha < 1:
            raise OptionsError(
                f"alpha is {self.alpha}; give a number between 0 and 1, such as 0.05"
            )
        if self.reads is not None and self.reads < 1:
            raise OptionsError(f"reads per case is {self.reads}; give a whole number, 1 or larger")
        if self.seed < 0:
            raise OptionsError(f"seed is {self.seed}; give a whole number, 0 or larger")
        _ = self.spread

    @property
    def spread(self) -> Spread:
        """The components of the variance of the difference."""
        return spread_of(self.components, self.comparison, self.design)

    def size(self, readers: int, cases: int) -> Size:
        """Return the size of the study, with the number of readers per case.

        Raises
        ------
        OptionsError
            There are too few readers for the design or for the planned reads per case.
        """
        groups = group_sizes(Size(readers=readers, cases=cases, reads=1), self.design)
        if min(groups) < 2:
            raise OptionsError(
                f"{readers} readers are too few: the design needs 2 in each arm"
                if len(groups) > 1
                else f"{readers} reader is too few; give 2 or more"
            )
        if cases < 2:
            raise OptionsError(f"cases is {cases}; give 2 or more")
        halves = -(-readers // 2) if self.design is PlanDesign.BLOCKS else max(groups)
        reads = self.reads or halves
        if reads > max(groups):
            raise OptionsError(
                f"reads per case is {reads}, more than the {max(groups)} readers of a case;"
                " give fewer reads or more readers"
            )
        return Size(readers=readers, cases=cases, reads=reads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The power of a plan for one size and one claim.

    Parameters
    ----------
    claim : PlanClaim
        The claim.
    ncp : float
        Noncentrality of F or chi-square; with a margin, the squared noncentrality of t.
    df : float
        Degrees of freedom of the denominator; inf for the normal distribution.
    power, low, high : float
        Power, and the 95 % limits that result from the uncertainty of the components.
    method : str
        The rule for the degrees of freedom.
    """

    claim: PlanClaim
    ncp: float
    df: float
    power: float
    low: float
    high: float
    method: str


def power(plan: PowerPlan, size: Size, drawn: Spread | None = None) -> Iterator[Power]:
    r"""Yield the power of a study under each claim.

    Parameters
    ----------
    plan : PowerPlan
        The planned study.
    size : Size
        Readers, cases and reads per case, from `PowerPlan.size`.
    drawn : Spread, optional
        Draws of the components, from `draw_spread`; without them the limits are nan.

    Yields
    ------
    Power
        In the order of `PlanClaim`.

    Notes
    -----
    The variance V and the degrees of freedom are those of `analysis.planning.designs.variances`; d
    is the effect and M the margin. Without a margin, the test is two-sided by F with 1 and df
    degrees of freedom and the noncentrality :math:`d^2 / V`. With a margin, it is one-sided at
    alpha / 2 by Student's t with the noncentrality :math:`(d + M) / \sqrt{V}`. For fixed readers,
    chi-square and the normal distribution replace F and t [1]_.

    References
    ----------
    .. [1] Hillis SL, Obuchowski NA, Berbaum KS. Power estimation for multireader ROC methods: an
       updated and unified approach. Acad Radiol 2011;18:129-142. doi:10.1016/j.acra.2010.09.007

    Examples
    --------
    Hillis, Obuchowski and Berbaum's example, as in RJafroc:

    >>> from analysis.planning.components import PUBLISHED
    >>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.043800322)
    >>> random = next(power(plan, plan.size(readers=10, cases=165)))
    >>> round(random.ncp, 4), round(random.df, 4), round(random.power, 4)
    (8.2096, 62.7073, 0.8054)
    """
    exact = variances(plan.spread, size, plan.design)
    uncertain = variances(drawn, size, plan.design) if drawn else None
    for claim, name in zip(
        PlanClaim, ("random_readers", "fixed_readers", "fixed_cases"), strict=True
    ):
        variance: Variance = getattr(exact, name)
        low, high = np.nan, np.nan
        if uncertain:
            low, high = np.quantile(power_of(plan, getattr(uncertain, name)), (0.025, 0.975))
        yield Power(
            claim=claim,
            ncp=(plan.effect + (plan.margin or 0.0)) ** 2 / float(variance.value),
            df=float(variance.df),
            power=float(power_of(plan, variance)),
            low=float(low),
            high=float(high),
            method=_df_rule(plan, size, claim),
        )


def _df_rule(plan: PowerPlan, size: Size, claim: PlanClaim) -> str:
    fixed = claim is PlanClaim.THESE_READERS
    rule = "OR, normal" if fixed and plan.margin is not None else DF_RULES[claim]
    if plan.design is PlanDesign.ARMS:
        rule = f"{rule if fixed else 'OR, Satterthwaite'}, arms"
        known = fixed or plan.components.var_r is not None
        return rule if known else f"{rule}; var_r from a correlation of 0.8"
    if size.reads == size.readers or fixed:
        return rule
    if plan.design is PlanDesign.BLOCKS and size.reads > 1:
        rule = rule.replace("J - 1", "J - blocks")
        return f"{rule}, split-plot"
    return f"{rule}, incomplete blocks"


def power_of(plan: PowerPlan, variance: Variance) -> Floats:
    """Return the power of a test, for one variance or an array of them."""
    value, df = np.broadcast_arrays(
        np.asarray(variance.value, dtype=np.float64), np.asarray(variance.df, dtype=np.float64)
    )
    normal = np.isinf(df)
    finite = np.where(normal, 1.0, df)
    if plan.margin is None:
        ncp = plan.effect**2 / value
        exact = ncf.sf(f.isf(plan.alpha, 1, finite), 1, finite, ncp)
        limit = ncx2.sf(norm.isf(plan.alpha / 2) ** 2, 1, ncp)
    else:
        shift = (plan.effect + plan.margin) / np.sqrt(value)
        exact = nct.sf(t.isf(plan.alpha / 2, finite), finite, shift)
        limit = norm.sf(norm.isf(plan.alpha / 2) - shift)
    chosen: Floats = np.where(normal, limit, exact)
    return chosen


def draw_spread(spread: Spread, seed: int, n_draws: int = N_DRAWS) -> Spread:
    r"""Draw components from the distribution of their estimates.

    Parameters
    ----------
    spread : Spread
        Components estimated from `spread.readers` readers and `spread.cases` cases.
    seed : int
        Seed of the draws.
    n_draws : int, default 1000
        Number of draws.

    Returns
    -------
    Spread
        Arrays of shape (n_draws,).

    Notes
    -----
    With J readers and C cases (patients if they have several cases), normal errors and equal
    covariances, three estimates are independent multiples of chi-square: the mean square of
    readers :math:`\sigma^2 + own` with J - 1 degrees of freedom, `own` with (J - 1)(C - 1), and
    :math:`own + J\,shared` with C - 1. Because binary outcomes are not normal, the last two have
    the degrees of freedom `own_df` and `joint_df` if a pilot provides them. Each estimate is
    divided by a draw of its chi-square over its degrees of freedom (generalised confidence
    intervals [1]_), and the components are computed from the quotients. Most of the uncertainty
    comes from the small number of readers in a pilot: their mean square has J - 1 degrees of
    freedom.

    References
    ----------
    .. [1] Weerahandi S. Generalized confidence intervals. J Am Stat Assoc 1993;88:899-905.
       doi:10.1080/01621459.1993.10476355
    """
    generator = np.random.default_rng(seed)
    j, (own_df, joint_df) = spread.readers, spread.normal_df
    own_share = spread.own * _draw_pivot(generator, spread.own_df or own_df, n_draws)
    joint = max(float(spread.own + j * spread.shared), 0.0)
    together = joint * _draw_pivot(generator, spread.joint_df or joint_df, n_draws)
    between = (spread.reader + spread.own) * _draw_pivot(generator, j - 1, n_draws)
    shared = (together - own_share) / j
    within = shared if spread.within == spread.shared else spread.within
    return replace(
        spread,
        reader=np.maximum(between - own_share, 0.0),
        own=own_share,
        shared=shared,
        within=within,
    )


def _draw_pivot(generator: np.random.Generator, df: float, n_draws: int) -> Floats:
    drawn: Floats = df / generator.chisquare(df, n_draws)
    return drawn


def largest_power(plan: PowerPlan, readers: int) -> float:
    """Return the limit of the power as the number of cases increases, for readers like these.

    If readers do not vary, the limit is 1.

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.05)
    >>> round(largest_power(plan, 3), 3), round(largest_power(plan, 4), 3)
    (0.618, 0.898)
    """
    return float(next(power(plan, plan.size(readers, 10**12))).power)


def cases_needed(plan: PowerPlan, readers: int, claim: PlanClaim) -> int | None:
    """Return the smallest number of cases with a power of 80 %; None if it is above a million.

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.043800322)
    >>> [cases_needed(plan, j, PlanClaim.READERS_LIKE_THESE) for j in (3, 4, 6, 10)]
    [None, 1089, 251, 163]
    """

    def reaches_target(cases: int) -> bool:
        rows = power(plan, plan.size(readers, cases))
        return next(row.power for row in rows if row.claim is claim) >= TARGET_POWER

    low, high = 2, MAX_CASES
    if not reaches_target(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches_target(middle) else (middle + 1, high)
    return low
