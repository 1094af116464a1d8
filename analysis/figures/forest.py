"""Forest plots: rows of estimates with intervals, and a column with their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.figures.drawing.axes import row_height_mm, rows_axis
from analysis.figures.drawing.chart import (
    Axis,
    Ink,
    Label,
    Layer,
    Line,
    Mark,
    Note,
    Panel,
    Points,
    Side,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimate in a forest plot.

    Parameters
    ----------
    row : float
        The row, 0 for the first.
    ink, mark, hollow
        Colour and shape of the mark, and whether it is hollow.
    value, low, high : float
        The estimate and its interval, nan for none, on the scale of the axis.
    hover : str
        Lines of the hover text.
    text : str
        Text next to the plot; empty for none.
    """

    row: float
    ink: Ink
    mark: Mark
    value: float
    low: float
    high: float
    hover: str
    text: str = ""
    hollow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of a forest plot.

    Parameters
    ----------
    labels : sequence of Label
        The labels of the rows.
    labelled : bool
        Whether the labels are drawn.
    height : float
        Height of a row relative to the usual height.
    least : int
        Minimum height of the panel, in rows of the usual height.
    """

    labels: Sequence[Label]
    labelled: bool = True
    height: float = 1.0
    least: int = 2


def forest(
    rows: Rows,
    estimates: Sequence[Estimate],
    axis: Axis,
    *,
    background: Sequence[Layer] = (),
    title: str = "",
    weight: float = 1.0,
) -> Panel:
    """Return a panel of estimates.

    Parameters
    ----------
    rows : Rows
        The rows.
    estimates : sequence of Estimate
        The estimates; undefined ones are omitted.
    axis : Axis
        The axis of the estimates.
    background : sequence of layers
        Layers that are drawn behind the estimates.
    title : str
        Title of the panel.
    weight : float
        Width of the panel relative to the other panels.
    """
    n_rows = len(rows.labels) * rows.height
    pitch = row_height_mm(round(n_rows))
    return Panel(
        x=axis,
        y=rows_axis(rows.labels, shown=rows.labelled),
        layers=(*background, *_points_by_look(estimates, size_mm=min(1.6, 0.6 * pitch))),
        title=title,
        height_mm=max(n_rows, rows.least) * pitch,
        weight=weight,
    )


def number_column(plot: Panel, estimates: Sequence[Estimate], *, title: str) -> Panel:
    """Return a column with the texts of the estimates, to be placed next to their plot."""
    return Panel(
        x=Axis(low=0, high=1, grid=False, labels=False),
        y=Axis(low=plot.y.low, high=plot.y.high, ticks=plot.y.ticks, grid=False, labels=False),
        layers=tuple(
            Note(x=0, y=estimate.row, label=Label(text=estimate.text), side=Side.LEFT)
            for estimate in estimates
            if estimate.text
        ),
        title=title,
        height_mm=plot.height_mm,
        framed=False,
    )


def ends_of(estimates: Sequence[Estimate]) -> list[float]:
    """Return the estimates and the limits of their intervals, all of which an axis must include."""
    return [end for estimate in estimates for end in (estimate.value, estimate.low, estimate.high)]


def vertical_intervals(x: Iterable[float], low: Iterable[float], high: Iterable[float]) -> Line:
    """Return vertical intervals as a single interrupted line."""
    ends = [
        (place, end)
        for at, bottom, top in zip(x, low, high, strict=True)
        for place, end in ((at, bottom), (at, top), (math.nan, math.nan))
    ]
    return Line(
        ink=Ink.QUIET,
        x=tuple(place for place, _ in ends),
        y=tuple(end for _, end in ends),
        width_pt=0.9,
    )


def _points_by_look(estimates: Sequence[Estimate], *, size_mm: float) -> list[Points]:
    known = [estimate for estimate in estimates if not math.isnan(estimate.value)]
    looks = list(dict.fromkeys(_look(estimate) for estimate in known))
    layers = []
    for look in looks:
        alike = [estimate for estimate in known if _look(estimate) == look]
        layers.append(
            Points(
                ink=look[0],
                mark=look[1],
                hollow=look[2],
                x=tuple(estimate.value for estimate in alike),
                y=tuple(estimate.row for estimate in alike),
                low=tuple(estimate.low for estimate in alike),
                high=tuple(estimate.high for estimate in alike),
                hover=tuple(estimate.hover for estimate in alike),
                size_mm=size_mm,
            )
        )
    return layers


def _look(estimate: Estimate) -> tuple[Ink, Mark, bool]:
    return estimate.ink, estimate.mark, estimate.hollow
