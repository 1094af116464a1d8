"""Write the report as a single HTML file that does not load other files."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from analysis.figures.drawing.chart import chart_csv
from analysis.figures.drawing.pages import part_words
from analysis.presentation.table import whole_number
from analysis.report.content import FigureSection, ReportContent, labels
from analysis.report.figures import ReportFigure, part_suffix
from analysis.report.methods.sources import number_citations
from analysis.translation import current_language, is_right_to_left, t

# A figure that is wider, or has no width, spans the page.
COLUMN_PX = 560
# Larger figures are embedded as pictures, because a browser could not open the page.
MAX_FIGURE_CHARACTERS = 1_500_000

PLOTLY_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "displayModeBar": False,
    "responsive": True,
    "typesetMath": False,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "topojsonURL": "",
}


def report_page(content: ReportContent) -> str:
    """Return the report as HTML.

    Plotly is embedded once, and a content security policy forbids every request.
    """
    folder = Path(__file__).parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(isolated=isolate_html, coded=_code_html, whole=whole_number)
    order = [reference.key for reference in content.references]
    return environment.get_template("report.html.jinja").render(
        content=content,
        labels=labels(content),
        language=current_language(),
        right_to_left=is_right_to_left(),
        css=Markup((folder / "report.css").read_text("utf-8")),  # noqa: S704 - our own file
        plotly=Markup(get_plotlyjs()),  # noqa: S704 - the library itself
        overview=None if content.overview is None else _figure_values(content.overview),
        sections=[_section_values(section) for section in content.sections],
        methods=[(part.title, number_citations(part.text, order)) for part in content.methods],
    )


def isolate_html(text: str) -> Markup:
    """Return text as HTML with `bdi` elements instead of invisible isolate characters."""
    shown = str(escape(text)).replace("\u2068", "<bdi>").replace("\u2069", "</bdi>")
    return Markup(shown)  # noqa: S704 - escaped before


def _code_html(text: str) -> Markup:
    """Return a note of the report as HTML, with text between backticks as code elements."""
    shown = re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text)))
    return Markup(shown)  # noqa: S704 - escaped before


def _section_values(section: FigureSection) -> dict[str, Any]:
    return {
        "id": section.name,
        "title": section.title,
        "conditions": [
            _condition_values(f"{section.name}-{place}", name, figures)
            for place, (name, figures) in enumerate(section.conditions)
        ],
    }


def _condition_values(switch: str, name: str, figures: Sequence[ReportFigure]) -> dict[str, Any]:
    """Return the figures of a condition; a switch selects one of its matrices on the screen."""
    square = [figure for figure in figures if figure.square]
    switched = square if len(square) > 1 else []
    return {
        "name": name,
        "switch": switch,
        "switched": [_figure_values(figure) for figure in switched],
        "figures": [_figure_values(figure) for figure in figures if figure not in switched],
    }


def _figure_values(figure: ReportFigure) -> dict[str, Any]:
    width = figure.figure.layout.width
    return {
        "title": figure.title,
        "caption": figure.caption,
        "wide": width is None or width > COLUMN_PX,
        "markup": _picture(figure) or _plot(figure, responsive=width is None),
        "files": list(_downloads(figure)),
    }


def _downloads(figure: ReportFigure) -> Iterator[dict[str, str]]:
    """Yield the downloads of a figure: its pictures in the folder of the page, and its data.

    Embedded pictures would add 7 MB to a page of 5 MB.
    """
    for form in ("SVG", "PNG, 300 dpi"):
        files = figure.files(form[:3].lower())
        for part, file in enumerate(files, start=1):
            words = form if len(files) == 1 else f"{form}, {part_words(part, len(files))}"
            yield {"words": words, "file": file, "address": f"figures/{file}"}
    data = base64.b64encode(chart_csv(figure.chart)).decode()
    yield {
        "words": t("Data (CSV)"),
        "file": f"{figure.name}.csv",
        "address": f"data:text/csv;charset=utf-8;base64,{data}",
    }


def _picture(figure: ReportFigure) -> Markup | None:
    if len(figure.json) <= MAX_FIGURE_CHARACTERS:
        return None
    pictures = (
        Markup('<img id="figure-{}{}" alt="{}" src="data:image/png;base64,{}">').format(
            figure.name, part_suffix(part), figure.title, base64.b64encode(png).decode()
        )
        for part, png in enumerate(figure.pngs, start=1)
    )
    return Markup("").join(pictures)


def _plot(figure: ReportFigure, *, responsive: bool) -> Markup:
    markup = figure.figure.to_html(
        config={**PLOTLY_CONFIG, "responsive": responsive},
        include_plotlyjs=False,
        full_html=False,
        div_id=f"figure-{figure.name}",
    )
    return Markup(markup)  # noqa: S704 - plotly escapes its JSON, we escape the labels
