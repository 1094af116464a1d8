"""Figures drawn once: for the screen, and as files for print where a figure has such a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import plotly.graph_objects as go

from analysis.report.figure import ReportFigure


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
        square=figure.chart.square,
    )
