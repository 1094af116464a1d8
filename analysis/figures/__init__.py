"""The figures: tables become charts, and a chart is drawn with plotly or for print."""

from analysis.figures.drawing.names import RaterName, conditions_of, rater_names
from analysis.figures.kappa_matrix import MEASURE_TITLES
from analysis.figures.on_pages import accuracy_figure, kappa_matrix_figure

__all__ = [
    "MEASURE_TITLES",
    "RaterName",
    "accuracy_figure",
    "conditions_of",
    "kappa_matrix_figure",
    "rater_names",
]
