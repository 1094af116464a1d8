"""A finding: a sentence and what it is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from analysis.bundle.words import RaterKind
from analysis.figures import RaterName, rater_names
from analysis.figures.drawing.names import shorten
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
