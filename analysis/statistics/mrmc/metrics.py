"""The metrics under which readers are compared, as functions of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from analysis.arrays import Ints
from analysis.readings.shared_items import SharedItems
from analysis.statistics.merits import FigureOfMerit, Metric
from analysis.statistics.study import Study

Metrics = Callable[[Study, SharedItems, Ints, Ints], Iterator[FigureOfMerit]]
"""Function of a study, shared items, the raters' columns, and the columns that need ratings."""


def accuracy_and_auc(
    study: Study, shared: SharedItems, columns: Ints, rated: Ints
) -> Iterator[FigureOfMerit]:
    """Yield accuracy, and AUC where there are ratings and a binary reference standard."""
    return study.figures_of_merit.of_raters(shared, columns, rated)


def accuracy(
    study: Study, shared: SharedItems, columns: Ints, rated: Ints
) -> Iterator[FigureOfMerit]:
    """Yield only accuracy."""
    yield from islice(accuracy_and_auc(study, shared, columns, rated), 1)


def sensitivity_and_specificity(
    study: Study, shared: SharedItems, columns: Ints, _: Ints
) -> Iterator[FigureOfMerit]:
    """Yield sensitivity and specificity, on the items that have two classes."""
    return study.dichotomy.figures_of_merit(study.matrix, shared, columns)


def every_metric(
    study: Study, shared: SharedItems, columns: Ints, rated: Ints
) -> Iterator[FigureOfMerit]:
    """Yield accuracy, and AUC, sensitivity and specificity where the items allow them."""
    yield from accuracy_and_auc(study, shared, columns, rated)
    if study.dichotomy.counted_items(study.matrix).any():
        yield from sensitivity_and_specificity(study, shared, columns, rated)


def all_but_accuracy(
    study: Study, shared: SharedItems, columns: Ints, rated: Ints
) -> Iterator[FigureOfMerit]:
    """Yield AUC, sensitivity and specificity where the items allow them."""
    figures = every_metric(study, shared, columns, rated)
    return (figure for figure in figures if figure.metric is not Metric.ACCURACY)
