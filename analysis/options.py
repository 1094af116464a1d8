"""The options of a run of the analysis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.errors import OptionsError, quoted

DEFAULT_SEED = 20250604
DEFAULT_BOOTSTRAP = 2000
DEFAULT_ALPHA = 0.05
CONFIDENCE_MEANINGS = ("answer", "finding")
# For much smaller values quantiles of the t distribution become infinite.
SMALLEST_ALPHA = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a run of the analysis.

    Parameters
    ----------
    seed : int, default 20250604
        Seed of the bootstrap's random generator, not negative.
    bootstrap : int, default 2000
        Number of resamples of clusters, at least 1.
    alpha : float, default 0.05
        Two-sided error of every interval; the intervals are 100 (1 - alpha) %.
    margin : float or None, default None
        Non-inferiority margin, model minus reader mean, in proportions. None: the protocol's.
    confidence : str, default ""
        Meaning of confidence: `answer`, how sure the rater is of the answer, or `finding`, a rating
        of the finding. Empty: the meaning that the bundle states.
    faulty : tuple of str, default ()
        `item_id` of each item that an expert review found faulty; ids not in the bundle are
        ignored.
    positive : tuple of str, default ()
        Options that count as positive in sensitivity and specificity, as letters or in words.
        Empty: the protocol's.
    ordered : bool, default False
        Whether the options of items that share an option set are ordered, as grades are. The
        protocol can declare this too.
    years_limit : float, default 0
        Readers with fewer years of experience are compared with the others. 0: the protocol's.

    Raises
    ------
    OptionsError
        A value is outside its range.

    Examples
    --------
    >>> Options(alpha=0.1).confidence_percent
    '90'
    >>> Options(alpha=2)
    Traceback (most recent call last):
        ...
    analysis.errors.OptionsError: alpha is 2; give a number between 0 and 1, such as 0.05
    """

    seed: int = DEFAULT_SEED
    bootstrap: int = DEFAULT_BOOTSTRAP
    alpha: float = DEFAULT_ALPHA
    margin: float | None = None
    confidence: str = ""
    faulty: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    ordered: bool = False
    years_limit: float = 0.0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise OptionsError(f"seed is {self.seed}; give a whole number, 0 or larger")
        if self.bootstrap < 1:
            raise OptionsError(f"bootstrap is {self.bootstrap}; give a whole number, 1 or larger")
        if not SMALLEST_ALPHA <= self.alpha < 1:
            raise OptionsError(
                f"alpha is {self.alpha}; give a number between 0 and 1, such as 0.05"
            )
        if self.margin is not None and not 0 <= self.margin < 1:
            raise OptionsError(
                f"margin is {self.margin}; give a proportion from 0 to below 1, such as 0.05"
            )
        if not 0 <= self.years_limit < math.inf:
            raise OptionsError(f"years limit is {self.years_limit}; give a number, 0 or larger")
        if self.confidence not in ("", *CONFIDENCE_MEANINGS):
            raise OptionsError(
                f"confidence is {quoted(self.confidence)}; give one of"
                f" {', '.join(CONFIDENCE_MEANINGS)}"
            )

    @property
    def confidence_percent(self) -> str:
        """The confidence level of the intervals in percent, as text."""
        return f"{100 * (1 - self.alpha):.6g}"
