"""A finding: a sentence and what it is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from analysis.bundle.model import RaterKind
from analysis.figures.drawing.names import RaterName, rater_names, shorten
from analysis.report.wording.numbers import decimals_for, rounded
from analysis.report.wording.rows import Row, number
from analysis.results import Results

KIND_WORDS = {RaterKind.READER: "reader", RaterKind.MODEL: "model"}
# More would not fit the page; the tables hold them all, and the page says so.
MOST_CONDITIONS = 3
LONGEST = 40


class Theme(StrEnum):
    """What a finding is about, in the order of the page: the questions of the study come first."""

    UNREAD = "Not everything was read"
    ENDPOINT = "Primary endpoint"
    STUDIED = "What was studied"
    AGAINST = "Models against readers"
    CONDITIONS = "Readers under two conditions"
    ACCURACY = "Accuracy"
    OPEN_ENDED = "Answers without options"
    AGREEMENT = "Agreement"
    ERRORS = "Shared errors"
    CHOICES = "Sensitivity analyses"
    TIME = "Time"
    RANKING = "Ranking"
    READING = "How to read this"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence or two, as text.

    Parameters
    ----------
    theme : Theme
        What it is about.
    text : str
        Plain text; names of raters stand in isolates, for their script may run the other way.
    """

    theme: Theme
    text: str

    def __str__(self) -> str:
        return self.text


def named(results: Results, rater: str) -> str:
    """Return a rater's name for a sentence."""
    name = rater_names(results.bundle).get(rater, RaterName(label=rater, simulated=False))
    return replace(name, label=shorten(name.label, LONGEST)).in_sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How values of a metric are written.

    Parameters
    ----------
    factor : float
        What a value is multiplied with.
    decimals : int
        At least.
    unit, value_unit : str
        After a difference, and after a value; with a blank before it.
    confidence : str
        Of the intervals, in percent.
    """

    factor: float
    decimals: int
    unit: str
    value_unit: str
    confidence: str

    def value(self, value: float) -> str:
        """Write a value."""
        return rounded(self.factor * value, self.decimals) + self.value_unit

    def size(self, difference: float) -> str:
        """Write the size of a difference, without its sign."""
        return rounded(abs(self.factor * difference), self.decimals) + self.unit

    def signed(self, difference: float) -> str:
        """Write a difference with its sign."""
        text = rounded(self.factor * difference, self.decimals)
        return ("+" if difference > 0 and text.strip("0.") else "") + text + self.unit

    def limits(self, row: Row, margin: float | None = None) -> str:
        """Write the limits, so that none is rounded onto 0 or onto the margin."""
        low, high = (self.factor * number(row, c) for c in ("ci_low", "ci_high"))
        decimals = self._decimals(row, margin)
        return f"{rounded(low, decimals)} to {rounded(high, decimals)}"

    def _decimals(self, row: Row, margin: float | None) -> int:
        limits = [self.factor * number(row, c) for c in ("ci_low", "ci_high")]
        boundaries = [0.0] if margin is None else [0.0, round(-self.factor * margin, 9)]
        return decimals_for(limits, boundaries, self.decimals)

    def width(self, row: Row, margin: float | None = None) -> str:
        """Write how wide the interval is, as the difference of the limits that are written."""
        decimals = self._decimals(row, margin)
        low, high = (round(self.factor * number(row, c), decimals) for c in ("ci_low", "ci_high"))
        return f"{rounded(high - low, decimals)}{self.unit} wide"

    def interval(self, row: Row, margin: float | None = None) -> str:
        """Write the limits with what they are."""
        return f"{self.confidence} % CI {self.limits(row, margin)}"


def points(results: Results) -> Scale:
    """Return the scale of proportions: percent, differences in points."""
    confidence = results.options.confidence_percent
    return Scale(factor=100, decimals=1, unit=" points", value_unit=" %", confidence=confidence)


def area(results: Results) -> Scale:
    """Return the scale of areas under the curve, and of coefficients."""
    confidence = results.options.confidence_percent
    return Scale(factor=1, decimals=2, unit="", value_unit="", confidence=confidence)
