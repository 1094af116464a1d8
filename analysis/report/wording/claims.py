"""What an interval allows to be said: here a sentence learns how strong it may be."""

from __future__ import annotations

import math
from enum import StrEnum


class Verdict(StrEnum):
    """What may be said of a difference."""

    MORE = "higher"
    FEWER = "lower"
    NOT_SHOWN = "no difference shown"
    UNDEFINED = "undefined"


def verdict(low: float, high: float, *, at: float = 0.0) -> Verdict:
    """Tell on which side of a value an interval lies.

    Parameters
    ----------
    low, high : float
        Limits; nan where undefined. An interval without width is none: the formulas give it where
        nothing varies, and certainty would be claimed.
    at : float, default 0
        The value of no difference: 0 for differences, 1 for ratios.

    Returns
    -------
    Verdict
        `MORE` and `FEWER` only where the whole interval lies beyond `at`; a limit that touches it
        does not.

    Examples
    --------
    >>> verdict(0.01, 0.1).value, verdict(0.0, 0.1).value, verdict(0.1, 0.1).value
    ('higher', 'no difference shown', 'undefined')
    """
    if math.isnan(low) or math.isnan(high) or low >= high:
        return Verdict.UNDEFINED
    if low > at:
        return Verdict.MORE
    return Verdict.FEWER if high < at else Verdict.NOT_SHOWN


def non_inferior(low: float, high: float, margin: float | None) -> bool:
    """Tell whether the lower limit clears the margin; never without a margin or an interval.

    Examples
    --------
    >>> non_inferior(-0.04, 0.1, 0.05), non_inferior(-0.05, 0.1, 0.05), non_inferior(0.1, 0.2, None)
    (True, False, False)
    """
    if margin is None or math.isnan(margin) or verdict(low, high) is Verdict.UNDEFINED:
        return False
    return low > -margin
