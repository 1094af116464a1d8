"""What is claimed, and the sentences beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum

from analysis.mrmc.inference import Inference

BELOW_FIXED = "standard error is below that of these readers"
NEGATIVE_COVARIANCE = "negative covariance between readers taken as 0"
NO_SPREAD = "df: the readers' values are equal, so that it has no bound and t is normal"
NO_TEST = "standard error, interval and p"
# Equal standard errors that were computed in two ways differ by this share of them at most.
ROUNDING = 1e-12


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
        `claim, difference, se, df, ci_low, ci_high, p, undefined_because`; `df` is nan where it has
        no bound.

    Examples
    --------
    >>> from analysis.mrmc.inference import undefined
    >>> one = undefined(0.1, "a single reader")
    >>> inference_cells(one, Claim.READERS_LIKE_THESE, "")["undefined_because"]
    'standard error, interval and p: a single reader'
    """
    unbounded = math.isinf(one.df)
    return {
        "claim": claim.value,
        "difference": one.estimate,
        "se": one.se,
        "df": math.nan if unbounded else one.df,
        "ci_low": one.ci_low,
        "ci_high": one.ci_high,
        "p": one.p,
        "undefined_because": NO_SPREAD
        if unbounded and claim is not Claim.THESE_READERS
        else _reason(one, no_value),
    }


def _reason(one: Inference, no_value: str) -> str:
    if math.isnan(one.estimate):
        return no_value or one.undefined_because
    return f"{NO_TEST}: {one.undefined_because}" if one.undefined_because else ""


def below(random: Inference, fixed: Inference) -> str:
    """Return the note that random readers came out more precise than fixed ones, else nothing.

    Parameters
    ----------
    random, fixed : Inference
        Of one difference, for readers like these and for these readers.

    Examples
    --------
    >>> from analysis.mrmc.inference import infer
    >>> below(infer(0.1, 0.01, 4, alpha=0.05), infer(0.1, 0.04, math.inf, alpha=0.05))
    'standard error is below that of these readers'
    """
    return BELOW_FIXED if random.se < fixed.se * (1 - ROUNDING) else ""


def joined(parts: Iterable[str]) -> str:
    """Join what is not empty, in order, with semicolons.

    Examples
    --------
    >>> joined(["one", "", "two"])
    'one; two'
    """
    return "; ".join(part for part in parts if part)
