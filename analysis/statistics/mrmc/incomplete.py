"""Comparisons in which not every reader read every case, with their pair-weighted means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import RaterKind
from analysis.readings.clusters import sums_by_cluster
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.merits import Metric, why_no_auc
from analysis.statistics.mrmc.conditions import contrasts_of
from analysis.statistics.mrmc.panel import panels_of
from analysis.statistics.mrmc.second_moments import Observations
from analysis.statistics.mrmc.u_statistics import UStatistic, u_statistic
from analysis.statistics.study import Study
from analysis.translation import later

LARGEST_KERNEL = 2**26
"""Cells of a kernel of three axes: 0.5 GB each for kernel and design."""
TOO_LARGE = later("AUC: too many pairs of cases for a U-statistic")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """The readings of one side of a comparison.

    Parameters
    ----------
    columns : numpy.ndarray of int, shape (n_readers,)
        The readers' columns in the matrix; -1 for a reader without one.
    model : int or None
        The column of the model that each reading is compared with.
    """

    columns: Ints
    model: int | None = None

    def counted_readings(self, matrix: ReadingMatrix) -> Bools:
        """Return the readings that are counted, shape (n_items, n_readers)."""
        is_counted: Bools = matrix.is_counted[:, self.columns] & (self.columns >= 0)
        return is_counted if self.model is None else is_counted & matrix.is_counted[:, [self.model]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """A model against readers, or two conditions, in an incomplete design.

    Parameters
    ----------
    names : dict
        The cells `model_id`, `condition_a` and `condition_b`.
    sides : tuple of Side
        The readers' readings; for two conditions, those under each.
    """

    names: dict[str, str]
    sides: tuple[Side, ...]

    def counted_readings(self, matrix: ReadingMatrix) -> Bools:
        """Return the readings of all sides that are counted, shape (n_items, n_columns)."""
        side_readings = [side.counted_readings(matrix)[:, side.columns >= 0] for side in self.sides]
        return np.hstack(side_readings)

    def is_crossed(self, matrix: ReadingMatrix) -> bool:
        """Return whether every reader read, on all sides, the items that any reader read."""
        is_counted = self.counted_readings(matrix)
        complete = all((side.columns >= 0).all() for side in self.sides)
        return complete and bool(is_counted[is_counted.any(axis=1)].all())


def incomplete_comparisons(matrix: ReadingMatrix) -> Iterator[Comparison]:
    """Yield the comparisons that are not crossed: models against readers, then two conditions."""
    for comparison in _all_comparisons(matrix):
        if comparison.counted_readings(matrix).any() and not comparison.is_crossed(matrix):
            yield comparison


def _all_comparisons(matrix: ReadingMatrix) -> Iterator[Comparison]:
    for panel in panels_of(matrix):
        names = {"model_id": panel.model_id, "condition_a": panel.condition, "condition_b": ""}
        yield Comparison(names=names, sides=(Side(columns=panel.readers, model=panel.model),))
    columns_by_condition: dict[str, dict[str, int]] = {}
    for column_number, column in enumerate(matrix.columns):
        if column.kind is RaterKind.READER:
            columns_by_condition.setdefault(column.condition, {})[column.rater_id] = column_number
    for contrast in contrasts_of(matrix):
        a, b = (
            columns_by_condition[contrast.condition_a],
            columns_by_condition[contrast.condition_b],
        )
        readers = sorted(a.keys() | b.keys())
        sides = tuple(
            Side(columns=np.array([side.get(reader, -1) for reader in readers])) for side in (a, b)
        )
        names = {
            "model_id": "",
            "condition_a": contrast.condition_a,
            "condition_b": contrast.condition_b,
        }
        yield Comparison(names=names, sides=sides)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairWeightedMeans:
    """The two pair-weighted means of a comparison, and the statistic of their difference."""

    value_a: float
    value_b: float
    statistic: UStatistic


def pair_weighted_means(
    study: Study, comparison: Comparison, metric: Metric
) -> tuple[PairWeightedMeans | None, str]:
    """Return the pair-weighted estimates of a comparison, or the reason why there are none.

    Parameters
    ----------
    study : Study
        The checked tables.
    comparison : Comparison
        A comparison from `incomplete_comparisons`.
    metric : Metric
        Accuracy, or the area if there are ratings.
    """
    if metric is Metric.AUC:
        has_both_classes = _has_patient_of_both_classes(study)
        if reason := _no_area_reason(study, comparison, has_both_classes):
            return None, reason
        parts = [_area_observations(study, side, has_both_classes) for side in comparison.sides]
    else:
        parts = [_accuracy_observations(study, side) for side in comparison.sides]
    if len(parts) == 1:
        readers, model = parts[0]
        difference = replace(readers, kernel=model.kernel - readers.kernel)
        return PairWeightedMeans(
            value_a=model.mean, value_b=readers.mean, statistic=u_statistic(difference)
        ), ""
    (a, _), (b, _) = parts
    return PairWeightedMeans(value_a=a.mean, value_b=b.mean, statistic=u_statistic(a, b)), ""


def _accuracy_observations(study: Study, side: Side) -> tuple[Observations, Observations]:
    """Return the correct answers of readers, and of the model for the same readings, by patient."""
    matrix = study.matrix
    is_counted = side.counted_readings(matrix).astype(np.float64)
    kernel = is_counted * matrix.correct[:, side.columns]
    model = is_counted * matrix.correct[:, [side.model or 0]]
    design, _ = sums_by_cluster(is_counted, matrix.clusters)
    readers, models = (
        Observations(kernel=sums_by_cluster(part, matrix.clusters)[0].T, design=design.T)
        for part in (kernel, model)
    )
    return readers, models


def _area_observations(
    study: Study, side: Side, has_both_classes: bool
) -> tuple[Observations, Observations]:
    """Return the readers' and the model's scores of pairs of cases, by pair of patients.

    `has_both_classes` states whether any patient has cases of both classes.
    """
    ratings = study.figures_of_merit.ratings
    assert ratings is not None  # the metric exists only where there are ratings
    is_counted = side.counted_readings(study.matrix)
    positive = ratings.positive & study.matrix.has_truth
    negative = ~ratings.positive & study.matrix.has_truth
    design = (is_counted[positive].T[:, :, None] & is_counted[negative].T[:, None, :]).astype(
        np.float64
    )

    def scores(columns: Ints) -> Floats:
        high = ratings.ratings[positive][:, columns].T[:, :, None]
        low = ratings.ratings[negative][:, columns].T[:, None, :]
        scored: Floats = design * ((high > low) + 0.5 * (high == low))
        return scored

    clusters = study.matrix.clusters
    patients = [np.unique(clusters[each], return_index=True) for each in (positive, negative)]
    (with_positive, _), (with_negative, _) = patients

    def by_patient(cells: Floats) -> Floats:
        for axis, (_, first) in enumerate(patients, start=1):
            cells = np.add.reduceat(cells, first, axis=axis)
        if not has_both_classes:
            return cells
        square = np.zeros((len(cells), study.matrix.n_clusters, study.matrix.n_clusters))
        square[:, with_positive[:, None], with_negative] = cells
        return square

    model = np.full(len(side.columns), side.model or 0)
    n_pairs = by_patient(design)
    readers, models = (
        Observations(
            kernel=by_patient(scores(columns)), design=n_pairs, same_patients=has_both_classes
        )
        for columns in (side.columns, model)
    )
    return readers, models


def _has_patient_of_both_classes(study: Study) -> bool:
    """Return whether any patient has a positive and a negative case."""
    matrix, ratings = study.matrix, study.figures_of_merit.ratings
    assert ratings is not None  # the metric exists only where there are ratings
    positives, negatives = (
        matrix.clusters[matrix.has_truth & each] for each in (ratings.positive, ~ratings.positive)
    )
    return bool(np.isin(positives, negatives).any())


def _no_area_reason(study: Study, comparison: Comparison, has_both_classes: bool) -> str:
    matrix, ratings = study.matrix, study.figures_of_merit.ratings
    assert ratings is not None  # the metric exists only where there are ratings
    is_counted = comparison.counted_readings(matrix).any(axis=1)
    n_positive = int((is_counted & ratings.positive).sum())
    n_pairs = n_positive * (int(is_counted.sum()) - n_positive)
    if has_both_classes:
        n_pairs = max(n_pairs, matrix.n_clusters**2)
    if len(comparison.sides[0].columns) * n_pairs > LARGEST_KERNEL:
        return TOO_LARGE
    reasons = []
    for side in comparison.sides:
        is_read = side.counted_readings(matrix)
        columns = side.columns if side.model is None else np.append(side.columns, side.model)
        for i, column in enumerate(columns):
            if column < 0:
                continue
            items = is_read[:, i] if i < len(side.columns) else np.any(is_read, axis=1)
            n_gaps = int(np.isnan(ratings.ratings[items, column]).sum())
            is_letter_unknown = ratings.is_letter_unknown and bool(ratings.rated[column])
            reasons.append(
                why_no_auc(
                    matrix.columns[column].rater_id, n_gaps, is_letter_unknown=is_letter_unknown
                )
            )
    return "; ".join(dict.fromkeys(filter(None, reasons)))
