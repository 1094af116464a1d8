"""A figure with its place in the report, drawn for the screen or for print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import plotly.graph_objects as go

from analysis.figures.drawing.chart import Chart
from analysis.figures.drawing.look import DARK, LIGHT
from analysis.figures.drawing.to_data import csv
from analysis.figures.drawing.to_plotly import plotly_figure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportFigure:
    """A figure with its place in the report.

    Parameters
    ----------
    name : str
        File name without suffix; the element's id has `figure-` before it.
    section : str
        `accuracy`, `leaderboard`, `robustness`, `tasks`, `comparison`, `agreement`, `time` or
        `items`.
    condition : str
        The readers' condition; empty when the bundle has none.
    title, caption : str
        As text.
    chart : Chart
        What it shows.
    """

    name: str
    section: str
    condition: str
    title: str
    caption: str
    chart: Chart

    @property
    def figure(self) -> go.Figure:
        """The figure as plotly draws it on white."""
        return self.plotly()

    def plotly(self, *, dark: bool = False) -> go.Figure:
        """Draw it for the screen."""
        return plotly_figure(self.chart, DARK if dark else LIGHT)

    def svg(self) -> bytes:
        """Draw it as SVG, text as paths, the same bytes every time."""
        # Only who prints waits for matplotlib.
        from analysis.figures.drawing.to_print import svg

        return svg(self.chart)

    def png(self) -> bytes:
        """Draw it as PNG of 300 dots an inch, the same bytes every time."""
        from analysis.figures.drawing.to_print import png

        return png(self.chart)

    def file(self, form: str, width_mm: float) -> bytes:
        """Draw it as `svg` or `png` at a width, or write its data as `csv`."""
        from analysis.figures.drawing.to_print import png, svg

        write = {"svg": svg, "png": png, "csv": csv}[form]
        return write(self.chart.at_width(width_mm))


@runtime_checkable
class Printed(Protocol):
    """A figure that can be printed."""

    def svg(self) -> bytes:
        """Return the figure as SVG."""
        ...

    def png(self) -> bytes:
        """Return the figure as PNG."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnFigure:
    """A figure with its place in the report, drawn.

    Parameters
    ----------
    name, section, condition, title, caption : str
        As `ReportFigure` has them.
    figure : plotly.graph_objects.Figure
        For the screen.
    svg, png : bytes or None
        For print.
    data : bytes
        What it shows, as CSV.
    square : bool
        Whether it is a matrix.
    """

    name: str
    section: str
    condition: str
    title: str
    caption: str
    figure: go.Figure
    svg: bytes | None
    png: bytes | None
    data: bytes
    square: bool = False


def drawn(figure: ReportFigure) -> DrawnFigure:
    """Draw a figure in every form it has."""
    printed = figure if isinstance(figure, Printed) else None
    return DrawnFigure(
        name=figure.name,
        section=figure.section,
        condition=figure.condition,
        title=figure.title,
        caption=figure.caption,
        figure=figure.figure,
        svg=printed.svg() if printed else None,
        png=printed.png() if printed else None,
        data=csv(figure.chart),
        square=figure.chart.square,
    )
