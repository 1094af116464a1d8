"""The two figures that a page shows, drawn with plotly."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.accuracy import accuracy_chart
from analysis.figures.drawing.names import RaterName
from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.figures.kappa_matrix import kappa_matrix_chart


def accuracy_figure(
    accuracy: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> go.Figure:
    """Draw `analysis.figures.accuracy.accuracy_chart`, whose parameters these are."""
    return plotly_figure(accuracy_chart(accuracy, condition=condition, names=names))


def kappa_matrix_figure(
    pairs: pd.DataFrame,
    *,
    measure: str = "brennan_prediger",
    condition: str = "",
    scope: str = "all",
    names: Mapping[str, RaterName] | None = None,
) -> go.Figure:
    """Draw `analysis.figures.kappa_matrix.kappa_matrix_chart`, whose parameters these are."""
    return plotly_figure(
        kappa_matrix_chart(pairs, measure=measure, condition=condition, scope=scope, names=names)
    )
