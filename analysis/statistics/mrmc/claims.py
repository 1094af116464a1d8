"""What is claimed, and the sentences beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum

from analysis.statistics.mrmc.inference import Inference

NARROWER = "came out narrower than for these readers, whose se, df, limits and p stand here"
NEGATIVE_COVARIANCE = "negative covariance between readers taken as 0"
NO_TEST = "standard error, interval and p"
# Equal widths that were computed in two ways differ by this share of them at most.
ROUNDING = 1e-12
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
    return (fixed, NARROWER) if widths[0] < widths[1] * (1 - ROUNDING) else (random, "")


def joined(parts: Iterable[str]) -> str:
    """Join what is not empty, in order, with semicolons.

    Examples
    --------
    >>> joined(["one", "", "two"])
    'one; two'
    """
    return "; ".join(part for part in parts if part)
