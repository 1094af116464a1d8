"""The chart of ROC curves of readers, of their mean, and of models as curves or points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import pandas as pd

from analysis.arrays import Floats
from analysis.bundle.model import RaterKind
from analysis.figures.drawing.axes import RaterName, name_of, percent_axis
from analysis.figures.drawing.chart import (
    Chart,
    Dash,
    Ink,
    Key,
    Layer,
    Line,
    Mark,
    Panel,
    Points,
)
from analysis.translation import t

PANEL_MM, CHART_WIDTH_MM = 66.0, 85.0
DASHES = (Dash.SOLID, Dash.DASHED, Dash.DOTTED)
POINT_MARKS = (Mark.DIAMOND, Mark.SQUARE, Mark.CIRCLE)
MAX_KEY_ENTRIES = 6


def roc_chart(
    points: pd.DataFrame,
    mean: tuple[Floats, Floats] | None,
    single: pd.DataFrame,
    *,
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart the ROC curves of a condition; None if there is no curve.

    Parameters
    ----------
    points : pandas.DataFrame
        Rows of `roc_points`, with `rater_kind`.
    mean : tuple of two numpy.ndarray of float, or None
        False- and true-positive rates of the readers' mean curve, if there is one.
    single : pandas.DataFrame
        Rows of `diagnostic` for the models without a curve.
    names : mapping, optional
        The names of the raters.
    """
    if points.empty:
        return None
    readers = points.loc[points["rater_kind"] == RaterKind.READER]
    models = points.loc[points["rater_kind"] == RaterKind.MODEL]
    curves = [rates_of(part) for _, part in readers.groupby("rater_id")]
    layers: list[Layer] = [
        Line(ink=Ink.QUIET, x=(0.0, 100.0), y=(0.0, 100.0), dash=Dash.DASHED, width_pt=0.6)
    ]
    layers += [_line(false, true, Ink.READER, width_pt=0.5) for false, true in curves]
    key: list[Key] = []
    if curves:
        key.append(Key(label=t("Readers"), ink=Ink.READER, dash=Dash.SOLID))
    if mean is not None:
        layers.append(_line(*mean, Ink.INK, width_pt=1.6))
        key.append(Key(label=t("Mean of the readers"), ink=Ink.INK, dash=Dash.SOLID))
    for layer, entry in (*_model_curves(models, names), *_model_points(single, names)):
        layers.append(layer)
        key += [entry] if len(key) < MAX_KEY_ENTRIES else []
    panel = Panel(
        x=percent_axis(t("1 − specificity, %")),
        y=percent_axis(t("Sensitivity, %")),
        layers=tuple(layers),
        height_mm=PANEL_MM,
    )
    return Chart(rows=((panel,),), key=tuple(key), width_mm=CHART_WIDTH_MM, stretches=False)


def rates_of(points: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return the false- and true-positive rates of a curve."""
    return points["false_positive_rate"].to_numpy(), points["true_positive_rate"].to_numpy()


def _line(
    false: Floats, true: Floats, ink: Ink, *, width_pt: float, dash: Dash = Dash.SOLID
) -> Line:
    return Line(ink=ink, x=tuple(100 * false), y=tuple(100 * true), width_pt=width_pt, dash=dash)


def _model_curves(
    models: pd.DataFrame, names: Mapping[str, RaterName] | None
) -> Iterator[tuple[Layer, Key]]:
    for place, (model, part) in enumerate(models.groupby("rater_id")):
        dash = DASHES[place % len(DASHES)]
        label = name_of(names, str(model)).on_figure
        line = _line(*rates_of(part), Ink.MODEL, width_pt=1.2, dash=dash)
        yield line, Key(label=label.text, fallback=label.fallback, ink=Ink.MODEL, dash=dash)


def _model_points(
    single: pd.DataFrame, names: Mapping[str, RaterName] | None
) -> Iterator[tuple[Layer, Key]]:
    shapes = list(product((False, True), POINT_MARKS))
    for place, row in enumerate(single.to_dict("records")):
        hollow, mark = shapes[place % len(shapes)]
        label = name_of(names, str(row["rater_id"])).on_figure
        dot = Points(
            ink=Ink.MODEL,
            mark=mark,
            hollow=hollow,
            x=(100 * (1 - row["specificity"]),),
            y=(100 * row["sensitivity"],),
            hover=(label.text,),
        )
        yield (
            dot,
            Key(label=label.text, fallback=label.fallback, ink=Ink.MODEL, mark=mark, hollow=hollow),
        )
