"""The figures of merit that a bundle's readings allow: accuracy always, AUC where rated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Ints
from analysis.readings.confidence import Confidence
from analysis.readings.crossing import Shared
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.merits.auc import AucCovariance, empirical_auc
from analysis.statistics.merits.merits import Merits, percent_correct, without_covariance
from analysis.statistics.merits.ratings import Ratings, binary_letters, ratings_of
from analysis.translation import later

CHANCE_AREA = 0.5


class Metric(StrEnum):
    """What readers are measured by."""

    ACCURACY = "accuracy"
    AUC = "auc"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FigureOfMerit:
    """One metric of the raters of a comparison, over the items they share.

    Parameters
    ----------
    metric : Metric
        Which.
    n_items, n_clusters : int
        Items it is taken over, and their clusters: patients, or items where none cluster.
    merits : Merits
        Values and covariances, in the raters' order.
    covariances : str
        How these were estimated, as text.
    no_value : str
        Why a rater's value is undefined; empty where none is.
    notes : tuple of str
        What is to be known about the values.
    """

    metric: Metric
    n_items: int
    n_clusters: int
    merits: Merits
    covariances: str
    no_value: str
    notes: tuple[str, ...]

    @property
    def items_df(self) -> float:
        """Degrees of freedom of what varies with the items alone."""
        return float(max(self.n_clusters - 1, 1))

    def backwards(self, readers: Floats, where: str = "") -> str:
        """Return the note that every reader does worse than guessing; empty where one does not.

        Parameters
        ----------
        readers : numpy.ndarray of float, shape (n_readers,)
            The readers' values.
        where : str
            What is added to the readers.
        """
        if self.metric is Metric.AUC and len(readers) and bool((readers < CHANCE_AREA).all()):
            return f"the AUC of every reader{where} is below 0.5"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Figures:
    """The metrics of a matrix, over whatever items a comparison is made on.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    ratings : Ratings or None
        What areas are taken of; None where there are none.
    """

    matrix: ReadingMatrix
    ratings: Ratings | None

    def over(self, shared: Shared, columns: Ints, rated: Ints) -> Iterator[FigureOfMerit]:
        """Yield every metric of some raters, over the items that they share.

        Parameters
        ----------
        shared : Shared
            The items; where they cannot stand for those there are, nothing is defined.
        columns : numpy.ndarray of int, shape (n_raters,)
            Positions of the raters in the matrix.
        rated : numpy.ndarray of int
            Those of them without whose ratings there is no area.

        Yields
        ------
        FigureOfMerit
            In the order of `Metric`.
        """
        yield self._accuracy(shared, columns)
        if self.ratings is not None and self.ratings.rated[rated].any():
            yield self._auc(self.ratings, shared, columns)

    def _accuracy(self, shared: Shared, columns: Ints) -> FigureOfMerit:
        correct = self.matrix.correct[shared.items][:, columns]
        return self._figure(
            Metric.ACCURACY,
            shared,
            percent_correct(correct, self.matrix.clusters[shared.items]),
            later("covariances of percent correct"),
        )

    def _auc(self, ratings: Ratings, shared: Shared, columns: Ints) -> FigureOfMerit:
        matrix = self.matrix
        covariance = AucCovariance.DELONG if matrix.clustered else AucCovariance.JACKKNIFE
        given = ratings.ratings[shared.items][:, columns]
        reasons = [
            _why_no_auc(
                matrix.columns[column].rater_id,
                int(n_gaps),
                unreadable=ratings.unreadable and bool(ratings.rated[column]),
            )
            for column, n_gaps in zip(columns, np.isnan(given).sum(axis=0), strict=True)
        ]
        merits = empirical_auc(
            np.where(np.isnan(given), 0.0, given),
            ratings.positive[shared.items],
            matrix.clusters[shared.items] if matrix.clustered else None,
            covariance,
        )
        gaps = np.array([bool(reason) for reason in reasons])
        merits = Merits(
            values=np.where(gaps, np.nan, merits.values),
            covariance=np.where(gaps[:, None] | gaps, np.nan, merits.covariance),
            no_covariance=merits.no_covariance,
        )
        notes = [part for column in columns for part in ratings.notes[column].split("; ")]
        if np.isinf(given).any():
            notes.append("missing answers have the worst rating")
        return self._figure(
            Metric.AUC,
            shared,
            merits,
            f"{covariance.value} covariances of the empirical AUC",
            "; ".join(_once(reasons)),
            notes,
        )

    def _figure(
        self,
        metric: Metric,
        shared: Shared,
        merits: Merits,
        covariances: str,
        no_value: str = "",
        notes: Sequence[str] = (),
    ) -> FigureOfMerit:
        clusters = self.matrix.clusters[shared.items]
        if shared.because:
            merits = without_covariance(np.full(len(merits.values), np.nan), shared.because)
            no_value, notes = "", ()
        return FigureOfMerit(
            metric=metric,
            n_items=len(clusters),
            n_clusters=len(np.unique(clusters)),
            merits=merits,
            covariances=covariances + (" over patients" if self.matrix.clustered else ""),
            no_value=no_value,
            notes=_once([shared.note, *notes]),
        )


def figures_of_merit(matrix: ReadingMatrix, items: pd.DataFrame, confidence: Confidence) -> Figures:
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
    Figures
        Of the matrix.
    """
    letters = binary_letters(matrix, items)
    return Figures(
        matrix=matrix, ratings=ratings_of(matrix, letters, confidence) if letters else None
    )


def _why_no_auc(rater: str, n_gaps: int, *, unreadable: bool) -> str:
    if n_gaps:
        return f"AUC: {n_gaps} answers of {rater} have no confidence"
    if unreadable:
        return "AUC: nobody gave both letters, so that it cannot be told which of them is rated"
    return ""


def _once(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for part in parts if part))
