"""An estimate with its standard error, interval and tests, and what is claimed with it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from scipy.stats import norm, t

from analysis.translation import later

# Below this a variance is rounding: one item of 40,000 moves a difference by more.
ZERO_VARIANCE = 1e-18
ROUNDING = 1e-10
"""Of what numbers are added: a sum below it is their rounding, at a million items too."""

NO_VARIANCE = later("the answers leave no variance to estimate")
NEGATIVE_VARIANCE = later("the variance comes out negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """An estimate with its standard error, interval and test against 0.

    Parameters
    ----------
    estimate : float
        A proportion or a difference of two.
    se : float
        Its standard error; nan where undefined.
    df : float
        Degrees of freedom of Student's t; inf where it is the normal distribution.
    ci_low, ci_high : float
        Confidence limits; not cut to the range of the estimate.
    p : float
        Two-sided, for 0.
    undefined_because : str
        Why standard error, interval and p are nan; empty where they are not.
    """

    estimate: float
    se: float
    df: float
    ci_low: float
    ci_high: float
    p: float
    undefined_because: str = ""

    @property
    def statistic(self) -> float:
        """The estimate over its standard error."""
        return self.estimate / self.se

    def p_noninferior(self, margin: float) -> float:
        r"""Return the one-sided p for the hypothesis that the estimate is `-margin` or less.

        Parameters
        ----------
        margin : float
            Not negative, in the unit of the estimate.

        Returns
        -------
        float
            :math:`P(T > (estimate + margin) / SE)`; nan where the standard error is undefined.

        Examples
        --------
        >>> round(infer(-0.01, 0.0004, math.inf, alpha=0.05).p_noninferior(0.05), 4)
        0.0228
        """
        return _beyond((self.estimate + margin) / self.se, self.df)


def beyond_rounding(value: float, scale: float) -> float:
    """Return a sum of numbers of both signs, 0 where it is no more than their rounding.

    Parameters
    ----------
    value : float
        The sum; nan stays nan.
    scale : float
        The size of what was added.

    Examples
    --------
    >>> beyond_rounding(0.1 + 0.2 - 0.3, scale=0.3), beyond_rounding(0.1, scale=0.3)
    (0.0, 0.1)
    """
    return 0.0 if abs(value) <= ROUNDING * scale else value


def infer(estimate: float, variance: float, df: float, alpha: float) -> Inference:
    """Return the t or normal interval and test of an estimate.

    Parameters
    ----------
    estimate, variance : float
        The estimate and the square of its standard error.
    df : float
        Degrees of freedom; inf for the normal distribution.
    alpha : float
        Two-sided error of the interval.

    Returns
    -------
    Inference
        Without standard error, interval and p where the variance is 0 or negative: a 0 would
        claim certainty.

    Examples
    --------
    >>> one = infer(0.1, 0.0025, 8, alpha=0.05)
    >>> round(one.ci_low, 4), round(one.ci_high, 4), round(one.p, 4)
    (-0.0153, 0.2153, 0.0805)
    >>> infer(0.0, 0.0, 8, alpha=0.05).undefined_because
    'the answers leave no variance to estimate'
    """
    if not variance > ZERO_VARIANCE:
        return undefined(estimate, NEGATIVE_VARIANCE if variance < -ZERO_VARIANCE else NO_VARIANCE)
    se = math.sqrt(variance)
    half = float(norm.isf(alpha / 2) if math.isinf(df) else t.isf(alpha / 2, df)) * se
    return Inference(
        estimate=estimate,
        se=se,
        df=df,
        ci_low=estimate - half,
        ci_high=estimate + half,
        p=2 * _beyond(abs(estimate) / se, df),
    )


def _beyond(value: float, df: float) -> float:
    return float(norm.sf(value) if math.isinf(df) else t.sf(value, df))


def undefined(estimate: float, reason: str) -> Inference:
    """Return an estimate that has no standard error, with the reason.

    Examples
    --------
    >>> undefined(0.1, "a single reader").se
    nan
    """
    nan = math.nan
    return Inference(
        estimate=estimate, se=nan, df=nan, ci_low=nan, ci_high=nan, p=nan, undefined_because=reason
    )


NARROWER = "came out narrower than for these readers, whose se, df, limits and p stand here"
NEGATIVE_COVARIANCE = "negative covariance between readers taken as 0"
NO_TEST = "standard error, interval and p"
# Equal widths that were computed in two ways differ by this share of them at most.
LIMIT_ROUNDING = 1e-12
# A difference of proportions, or of areas, cannot be larger.
LARGEST = 1.0


class Claim(StrEnum):
    """About whom the claim is."""

    THESE_READERS = "these readers"
    READERS_LIKE_THESE = "readers like these"
    THESE_ITEMS = "these items"


def inference_cells(one: Inference, claim: Claim, no_value: str) -> dict[str, object]:
    """Return the cells of a row that an inference fills.

    Parameters
    ----------
    one : Inference
        The row's.
    claim : Claim
        About whom it is.
    no_value : str
        Why a rater's value is undefined; empty where none is.

    Returns
    -------
    dict
        `claim, difference, se, df, ci_low, ci_high, p, undefined_because`; limits are cut at the
        largest difference there can be.

    Examples
    --------
    >>> from analysis.statistics.mrmc.inference import undefined
    >>> one = undefined(0.1, "a single reader")
    >>> inference_cells(one, Claim.READERS_LIKE_THESE, "")["undefined_because"]
    'standard error, interval and p: a single reader'
    """
    return {
        "claim": claim.value,
        "difference": one.estimate,
        "se": one.se,
        "df": one.df,
        "ci_low": -LARGEST if one.ci_low < -LARGEST else one.ci_low,
        "ci_high": LARGEST if one.ci_high > LARGEST else one.ci_high,
        "p": one.p,
        "undefined_because": _reason(one, no_value),
    }


def _reason(one: Inference, no_value: str) -> str:
    if math.isnan(one.estimate):
        return no_value or one.undefined_because
    return f"{NO_TEST}: {one.undefined_because}" if one.undefined_because else ""


def never_surer(random: Inference, fixed: Inference) -> tuple[Inference, str]:
    """Return the inference for readers like these, which is never surer than for these readers.

    Where readers differ less than chance would make them, the random interval comes out narrower
    than the fixed one: then the fixed one's standard error, df, limits and p stand for both. The
    narrower one would hold the truth in 80 % (docs/coverage.md).

    Parameters
    ----------
    random, fixed : Inference
        Of one difference, for readers like these and for these readers.

    Returns
    -------
    Inference
        The wider of the two.
    str
        The note that says so; empty where the random one is as wide, or undefined.

    Examples
    --------
    >>> from analysis.statistics.mrmc.inference import infer
    >>> fixed = infer(0.1, 0.04, 30, alpha=0.05)
    >>> found, note = never_surer(infer(0.1, 0.01, 4, alpha=0.05), fixed)
    >>> found == fixed, note[:21]
    (True, 'came out narrower tha')
    >>> never_surer(infer(0.1, 0.04, 4, alpha=0.05), fixed)[1]
    ''
    """
    widths = [one.ci_high - one.ci_low for one in (random, fixed)]
    return (fixed, NARROWER) if widths[0] < widths[1] * (1 - LIMIT_ROUNDING) else (random, "")


def joined(parts: Iterable[str]) -> str:
    """Join what is not empty, in order, with semicolons.

    Examples
    --------
    >>> joined(["one", "", "two"])
    'one; two'
    """
    return "; ".join(part for part in parts if part)
