"""Parts shared by the captions of figures: sample sizes, methods of intervals, warnings."""

from __future__ import annotations

import pandas as pd

from analysis.presentation.wording import join_sentences
from analysis.translation import localised, t, tn, translate_pieces


def overview_caption(rows: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Describe the first figure of the report; `rows` are the micro accuracies."""
    values = {"n": number_range(rows["n"]), "percent": localised(percent)}
    first = (
        t(
            "Accuracy over all cases, n = {n}; lines are {percent} % intervals over patients, who"
            " have several cases each (where these are too few, Wilson's or MOVER's).",
            **values,
        )
        if clustered
        else t(
            "Accuracy over all cases, n = {n}; lines are {percent} % intervals by Wilson.", **values
        )
    )
    return join_sentences([first, overlap_warning()])


def overlap_warning() -> str:
    """Return a caption's warning about overlapping intervals."""
    return t("Overlapping intervals are no test of a difference: raters answered the same cases.")


def number_range(numbers: pd.Series[int]) -> str:
    """Return the range of whole numbers in words.

    Examples
    --------
    >>> number_range(pd.Series([198, 200])), number_range(pd.Series([200, 200]))
    ('198 to 200', '200')
    """
    low, high = (localised(f"{int(end):,}") for end in (numbers.min(), numbers.max()))
    return low if low == high else t("{low} to {high}", low=low, high=high)


def interval_methods(rows: pd.DataFrame, column: str = "method") -> str:
    """Return the distinct methods of the intervals, which are the last part of each method."""
    parts = (str(method).split("; ")[-1] for method in rows[column].dropna() if method)
    return t("; ").join(sorted({translate_pieces(part) for part in parts})) or t("none")


def reader_range(numbers: pd.Series[int]) -> str:
    """Return a number of readers, or its range, with the noun."""
    return tn("{count} reader", "{count} readers", int(numbers.max()), count=number_range(numbers))


def model_range(numbers: pd.Series[int]) -> str:
    """Return a number of models, or its range, with the noun."""
    return tn("{count} model", "{count} models", int(numbers.max()), count=number_range(numbers))


def answer_range(numbers: pd.Series[int]) -> str:
    """Return a number of answers, or its range, with the noun."""
    return tn("{count} answer", "{count} answers", int(numbers.max()), count=number_range(numbers))


def case_range(numbers: pd.Series[int]) -> str:
    """Return a number of cases, or its range, with the noun."""
    return tn("{count} case", "{count} cases", int(numbers.max()), count=number_range(numbers))
