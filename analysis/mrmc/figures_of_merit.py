"""The figures of merit that a bundle's readings allow: accuracy always, AUC where rated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Ints
from analysis.confidence import Confidence
from analysis.matrix import ReadingMatrix
from analysis.mrmc.auc import AucCovariance, empirical_auc
from analysis.mrmc.merits import Merits
from analysis.mrmc.percent_correct import percent_correct
from analysis.mrmc.ratings import Ratings, binary_letters, ratings_of


class Metric(StrEnum):
    """What readers are measured by."""

    ACCURACY = "accuracy"
    AUC = "auc"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FigureOfMerit:
    """One metric of every column of the reading matrix.

    Parameters
    ----------
    metric : Metric
        Which.
    n_items : int
        Items it is taken over: those with a reference standard.
    merits : Merits
        Values and covariances, columns in the matrix' order.
    covariances : str
        How these were estimated, as text.
    measured : numpy.ndarray of bool, shape (n_columns,)
        Whether the rater takes part in this metric at all.
    reasons : tuple of str, length n_columns
        Why the rater's value is undefined; empty where it is not.
    notes : tuple of str, length n_columns
        What is to be known about the rater's value.
    """

    metric: Metric
    n_items: int
    merits: Merits
    covariances: str
    measured: Bools
    reasons: tuple[str, ...]
    notes: tuple[str, ...]

    def reason(self, columns: Ints) -> str:
        """Return why values of these columns are undefined, empty where none is."""
        return "; ".join(_once([self.reasons[column] for column in columns]))

    def note(self, columns: Ints) -> tuple[str, ...]:
        """Return what is to be known about these columns."""
        return _once([part for c in columns for part in self.notes[c].split("; ")])


def figures_of_merit(
    matrix: ReadingMatrix, items: pd.DataFrame, confidence: Confidence
) -> tuple[FigureOfMerit, ...]:
    """Return accuracy, and AUC where there are ratings and a binary reference standard.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : pandas.DataFrame
        The bundle's items, for their `options`.
    confidence : Confidence
        What confidence is taken for.

    Returns
    -------
    tuple of FigureOfMerit
        Each with all columns of the matrix.
    """
    letters = binary_letters(matrix, items)
    ratings = ratings_of(matrix, letters, confidence) if letters else None
    if ratings is None or not ratings.rated.any():
        return (_accuracy(matrix),)
    return _accuracy(matrix), _auc(matrix, ratings)


def _accuracy(matrix: ReadingMatrix) -> FigureOfMerit:
    items = matrix.assigned
    n_columns = len(matrix.columns)
    return FigureOfMerit(
        metric=Metric.ACCURACY,
        n_items=int(items.sum()),
        merits=percent_correct(matrix.correct[items], matrix.clusters[items]),
        covariances="covariances of percent correct" + _over(matrix),
        measured=np.ones(n_columns, dtype=np.bool_),
        reasons=("",) * n_columns,
        notes=("",) * n_columns,
    )


def _auc(matrix: ReadingMatrix, ratings: Ratings) -> FigureOfMerit:
    covariance = AucCovariance.DELONG if matrix.clustered else AucCovariance.JACKKNIFE
    clusters = matrix.clusters[matrix.assigned] if matrix.clustered else None
    reasons = tuple(
        _why_no_auc(column.rater_id, int(n), unreadable=ratings.unreadable and bool(rated))
        for column, n, rated in zip(matrix.columns, ratings.gaps, ratings.rated, strict=True)
    )
    merits = empirical_auc(
        np.where(np.isnan(ratings.ratings), 0.0, ratings.ratings),
        ratings.positive,
        clusters,
        covariance,
    )
    gaps = np.array([bool(reason) for reason in reasons])
    either = gaps[:, None] | gaps
    return FigureOfMerit(
        metric=Metric.AUC,
        n_items=len(ratings.positive),
        merits=Merits(
            values=np.where(gaps, np.nan, merits.values),
            covariance=np.where(either, np.nan, merits.covariance),
            no_covariance=merits.no_covariance,
        ),
        covariances=f"{covariance.value} covariances of the empirical AUC" + _over(matrix),
        measured=ratings.rated,
        reasons=reasons,
        notes=ratings.notes,
    )


def _why_no_auc(rater: str, n_gaps: int, *, unreadable: bool) -> str:
    if n_gaps:
        return f"AUC: {n_gaps} answers of {rater} have no confidence"
    if unreadable:
        return "AUC: nobody gave both letters, so that it cannot be told which of them is rated"
    return ""


def _over(matrix: ReadingMatrix) -> str:
    return " over patients" if matrix.clustered else ""


def _once(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for part in parts if part))
