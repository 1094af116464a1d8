"""The figures: tables become charts, and a chart is drawn with plotly or for print."""

from analysis.figures.drawing.names import RaterName, conditions_of, rater_names
from analysis.figures.kappa_matrix import MEASURE_TITLES

__all__ = [
    "MEASURE_TITLES",
    "RaterName",
    "conditions_of",
    "rater_names",
]
