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


def reason_of(inference: Inference, no_value: str) -> str:
    """Return the sentence for a row's empty cells, empty where none is.

    Parameters
    ----------
    inference : Inference
        The row's.
    no_value : str
        Why a rater's value is undefined; empty where none is.

    Examples
    --------
    >>> from analysis.mrmc.inference import undefined
    >>> reason_of(undefined(0.1, "a single reader"), "")
    'standard error, interval and p: a single reader'
    """
    if math.isnan(inference.estimate):
        return no_value or inference.undefined_because
    if inference.undefined_because:
        return f"{NO_TEST}: {inference.undefined_because}"
    return ""


def below(random: Inference, fixed: Inference) -> str:
    """Return the note that random readers came out more precise than fixed ones, else nothing."""
    return BELOW_FIXED if random.se < fixed.se * (1 - ROUNDING) else ""


def finite(df: float) -> float:
    """Return degrees of freedom for a table: nan where there is no bound."""
    return math.nan if math.isinf(df) else df


def joined(parts: Iterable[str]) -> str:
    """Join what is not empty, in order, with semicolons."""
    return "; ".join(part for part in parts if part)
