"""The metrics under which readers are compared, as functions of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.arrays import Ints
from analysis.readings.shared_items import Shared
from analysis.statistics.merits import FigureOfMerit
from analysis.statistics.study import Study

Metrics = Callable[[Study, Shared, Ints, Ints], Iterator[FigureOfMerit]]
"""Of a study: the shared items, the raters' columns, and those that need ratings for an AUC."""


def accuracy_and_auc(
    study: Study, shared: Shared, columns: Ints, rated: Ints
) -> Iterator[FigureOfMerit]:
    """Yield accuracy, and AUC where there are ratings and a binary reference standard."""
    return study.figures.over(shared, columns, rated)


def sensitivity_and_specificity(
    study: Study, shared: Shared, columns: Ints, _: Ints
) -> Iterator[FigureOfMerit]:
    """Yield both, on the items with a positive and a negative class."""
    return study.dichotomy.figures(study.matrix, shared, columns)
