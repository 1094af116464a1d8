"""The figures of the report: their order, names and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import plotly.graph_objects as go

from analysis.figures.accuracy import (
    overview_chart,
)
from analysis.figures.drawing.axes import (
    conditions_of,
    rater_names,
)
from analysis.figures.drawing.chart import Chart, chart_csv
from analysis.figures.drawing.colours import DARK, LIGHT
from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.presentation import captions
from analysis.presentation.wording import cell_number, file_name, rows_of
from analysis.registry import STATISTICS
from analysis.report.headline import raters_in_order
from analysis.results import Results
from analysis.statistics.agreement.pairs import matrices
from analysis.statistics.statistic import Figure
from analysis.translation import t


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportFigure:
    """A figure with its place in the report.

    Parameters
    ----------
    name : str
        File name without suffix; the id of the HTML element is `figure-` and the name.
    section : str
        `accuracy`, `leaderboard`, `robustness`, `tasks`, `comparison`, `agreement`, `time` or
        `items`.
    condition : str
        The readers' condition; empty if the bundle has none.
    title, caption : str
        Title and caption, as plain text.
    chart : Chart
        The chart.
    """

    name: str
    section: str
    condition: str
    title: str
    caption: str
    chart: Chart

    @cached_property
    def figure(self) -> go.Figure:
        """The figure as drawn by plotly on a white background."""
        return self.plotly()

    @cached_property
    def json(self) -> str:
        """The figure's data and layout for plotly.js."""
        text: str = self.figure.to_json()
        return text

    @cached_property
    def svgs(self) -> tuple[bytes, ...]:
        """Each part of the figure as SVG with text as paths; the bytes are the same every time."""
        # Imported only when a picture is written, because matplotlib loads slowly.
        from analysis.figures.drawing.to_print import svgs

        return svgs(self.chart)

    def set_svgs(self, svgs: Sequence[bytes]) -> None:
        """Set the SVGs to those that another process has drawn."""
        vars(self)["svgs"] = tuple(svgs)

    @cached_property
    def pngs(self) -> tuple[bytes, ...]:
        """Each part of the figure as PNG with 300 dpi; the bytes are the same every time."""
        from analysis.figures.drawing.to_print import svg_to_png

        return tuple(map(svg_to_png, self.svgs))

    def parts(self, width_mm: float) -> int:
        """Return the number of parts in print at a width."""
        from analysis.figures.drawing.to_print import n_parts

        if width_mm not in self._parts:
            self._parts[width_mm] = n_parts(self.chart.at_width(width_mm))
        return self._parts[width_mm]

    @cached_property
    def _parts(self) -> dict[float, int]:
        """The numbers of parts that have been determined, by width."""
        return {}

    def files(self, form: str) -> tuple[str, ...]:
        """Return the names of the picture files, one for each part."""
        return tuple(f"{self.name}{part_suffix(i)}.{form}" for i in range(1, len(self.svgs) + 1))

    @property
    def square(self) -> bool:
        """Whether the figure is a matrix."""
        return self.chart.square

    def plotly(self, *, dark: bool = False) -> go.Figure:
        """Draw the figure for the screen."""
        return plotly_figure(self.chart, DARK if dark else LIGHT)

    def file(self, form: str, width_mm: float, part: int = 1) -> bytes:
        """Return a part drawn at a width as `svg` or `png`, or the data of the figure as `csv`."""
        from analysis.figures.drawing.to_print import png, svg

        chart = self.chart.at_width(width_mm)
        if form == "csv":
            return chart_csv(chart)
        return {"svg": svg, "png": png}[form](chart, part)


def part_suffix(part: int) -> str:
    """Return the suffix of a picture's name for a part; empty for the first part.

    Examples
    --------
    >>> part_suffix(1), part_suffix(2)
    ('', '-part2')
    """
    return "" if part == 1 else f"-part{part}"


OVERVIEW = "overview"


def report_figures(results: Results) -> list[ReportFigure]:
    """Draw the figures of the report for every condition; omit those without a defined value."""
    conditions = conditions_of(results.tables["accuracy"])
    return [
        *overview_figure(results),
        *(
            _report_figure(figure, file_name(figure.name, number, condition), condition)
            for number, condition in enumerate(conditions, start=1)
            for figure in _figures(results, condition)
            if figure.chart is not None
        ),
    ]


def overview_figure(results: Results) -> list[ReportFigure]:
    """Draw the first figure of the report; the list is empty if no accuracy is defined."""
    rows = raters_in_order(results)
    means = {
        str(row["condition"]): cell_number(row, "reader_mean")
        for row in rows_of(results, "reader_panel", metric="accuracy")
        if cell_number(row, "n_readers") > 1 and not np.isnan(cell_number(row, "reader_mean"))
    }
    chart = overview_chart(rows, means, names=rater_names(results.bundle))
    if chart is None:
        return []
    return [
        ReportFigure(
            name=OVERVIEW,
            section=OVERVIEW,
            condition="",
            title=t("Accuracy of every rater"),
            caption=captions.overview_caption(
                rows, results.options.confidence_percent, clustered=results.clustered
            ),
            chart=chart,
        )
    ]


def _figures(results: Results, condition: str) -> list[Figure]:
    """Return the figures of a condition in the order of the report."""
    parts = {
        place: part
        for statistic in STATISTICS
        if results.has(statistic.name)
        for place, part in statistic.figures.items()
    }
    return [figure for place in sorted(parts) for figure in parts[place](results, condition)]


def matrix_figure(
    results: Results,
    measure: str,
    *,
    scope: str = "all",
    condition: str = "",
    reference: bool = False,
) -> ReportFigure | None:
    """Draw an agreement matrix; see `analysis.statistics.agreement.pairs.matrices`."""
    figure = matrices.matrix_figure(
        results, measure, scope=scope, condition=condition, reference=reference
    )
    return _report_figure(figure, figure.name, condition) if figure else None


def _report_figure(figure: Figure, name: str, condition: str) -> ReportFigure:
    assert figure.chart is not None
    return ReportFigure(
        name=name,
        section=figure.section,
        condition=condition,
        title=figure.title,
        caption=figure.caption,
        chart=figure.chart,
    )
