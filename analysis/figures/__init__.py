"""The figures, as functions from tables to plotly figures: the report and a page show the same."""

from analysis.figures.accuracy import accuracy_figure
from analysis.figures.kappa_matrix import MEASURE_TITLES, kappa_matrix_figure
from analysis.figures.names import RaterName, conditions_of, rater_names

__all__ = [
    "MEASURE_TITLES",
    "RaterName",
    "accuracy_figure",
    "conditions_of",
    "kappa_matrix_figure",
    "rater_names",
]
