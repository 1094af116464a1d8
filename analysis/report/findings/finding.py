"""Findings, which are sentences with a theme, and the scales on which numbers are written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from analysis.figures.drawing.axes import RaterName, rater_names, shorten
from analysis.presentation.wording import (
    Row,
    cell_number,
    decimals_for,
    format_number,
    format_range,
)
from analysis.results import Results
from analysis.translation import later, localised, t, translated

# Findings on more conditions would not fit on the page, which refers to the tables instead.
MAX_CONDITIONS = 3
MAX_NAME_LENGTH = 40


class Theme(StrEnum):
    """The theme of a finding, in the order of the report; the study's questions come first."""

    UNREAD = later("Not everything was read")
    ENDPOINT = later("Primary endpoint")
    STUDIED = later("What was studied")
    AGAINST = later("Models against readers")
    CONDITIONS = later("Readers under two conditions")
    RELIANCE = later("Use of a model's answers")
    GROUPS = later("Groups of readers")
    INPUT = later("Models under another condition")
    ACCURACY = later("Accuracy")
    OPEN_ENDED = later("Answers without options")
    AGREEMENT = later("Agreement")
    ERRORS = later("Shared errors")
    CHOICES = later("Sensitivity analyses")
    TIME = later("Time")
    RANKING = later("Ranking")
    READING = later("How to read this")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One or more sentences about the results.

    Parameters
    ----------
    theme : Theme
        The theme.
    text : str
        Plain text; names of raters are in Unicode isolates, because their script may be written in
        the other direction.
    """

    theme: Theme
    text: str

    def __str__(self) -> str:
        return self.text


def name_in_sentence(results: Results, rater: str) -> str:
    """Return a rater's name for a sentence."""
    name = rater_names(results.bundle).get(rater, RaterName(label=rater, simulated=False))
    return replace(name, label=shorten(name.label, MAX_NAME_LENGTH)).in_sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The scale on which values of a metric are written.

    Parameters
    ----------
    factor : float
        Factor by which values are multiplied.
    decimals : int
        Minimum number of decimals.
    unit, value_unit : str
        Messages for a difference (with `{size}`) and for a value (with `{value}`).
    confidence : str
        Confidence level of the intervals in percent.
    """

    factor: float
    decimals: int
    unit: str
    value_unit: str
    confidence: str

    def value(self, value: float) -> str:
        """Write a value."""
        return translated(self.value_unit).format(
            value=format_number(self.factor * value, self.decimals)
        )

    def size(self, difference: float) -> str:
        """Write the size of a difference, without its sign."""
        return self.with_unit(format_number(abs(self.factor * difference), self.decimals))

    def signed(self, difference: float) -> str:
        """Write a difference with its sign."""
        text = format_number(self.factor * difference, self.decimals)
        plus = "+" if difference > 0 and text.strip("0.,") else ""
        return self.with_unit(plus + text)

    def with_unit(self, text: str) -> str:
        """Add the unit to a written difference or range of differences."""
        return translated(self.unit).format(size=text)

    def limits(self, row: Row, margin: float | None = None) -> str:
        """Write the limits with enough decimals that they are not rounded to 0 or the margin."""
        low, high = (self.factor * cell_number(row, c) for c in ("ci_low", "ci_high"))
        decimals = self._decimals(row, margin)
        return format_range(format_number(low, decimals), format_number(high, decimals))

    def _decimals(self, row: Row, margin: float | None) -> int:
        limits = [self.factor * cell_number(row, c) for c in ("ci_low", "ci_high")]
        boundaries = [0.0] if margin is None else [0.0, round(-self.factor * margin, 9)]
        return decimals_for(limits, boundaries, self.decimals)

    def width(self, row: Row, margin: float | None = None) -> str:
        """Write the width of the interval, which is the difference of the rounded limits."""
        decimals = self._decimals(row, margin)
        low, high = (
            round(self.factor * cell_number(row, c), decimals) for c in ("ci_low", "ci_high")
        )
        return t("{size} wide", size=self.with_unit(format_number(high - low, decimals)))

    def interval(self, row: Row, margin: float | None = None) -> str:
        """Write the limits with their confidence level."""
        limits = self.limits(row, margin)
        return t("{percent} % CI {limits}", percent=self.confidence, limits=limits)


def confidence_percent(results: Results) -> str:
    """Write the confidence level of the intervals in percent in the language in use."""
    return localised(results.options.confidence_percent)


def points_scale(results: Results) -> Scale:
    """Return the scale for proportions: percent for values and points for differences."""
    confidence = confidence_percent(results)
    return Scale(
        factor=100,
        decimals=1,
        unit=later("{size} points"),
        value_unit=later("{value} %"),
        confidence=confidence,
    )


def area_scale(results: Results) -> Scale:
    """Return the scale for areas under the curve and for coefficients."""
    confidence = confidence_percent(results)
    return Scale(factor=1, decimals=2, unit="{size}", value_unit="{value}", confidence=confidence)
