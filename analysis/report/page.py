"""The report as one HTML file that needs nothing else and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from analysis.bundle.words import RaterKind
from analysis.figures import RaterName, rater_names
from analysis.protocol import stated
from analysis.provenance import provenance
from analysis.report.figures import ReportFigure
from analysis.report.findings import findings
from analysis.report.tables import accuracy_overview, missing_overview, pairs_overview
from analysis.results import Results
from analysis.sources import SOURCES

# A matrix wider than half the page gets the whole of it.
COLUMN_PX = 560

CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "displayModeBar": False,
    "responsive": True,
    "typesetMath": False,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "topojsonURL": "",
}


def report_page(results: Results, figures: Sequence[ReportFigure]) -> str:
    """Write the report.

    Parameters
    ----------
    results : Results
        The run.
    figures : sequence of ReportFigure
        Its figures.

    Returns
    -------
    str
        HTML with plotly embedded once; a content security policy forbids every request.
    """
    here = Path(__file__).parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(here),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.jinja")
    tables = [accuracy_overview(results), missing_overview(results)]
    if len(results.tables["agreement_pairs"]):
        tables.insert(1, pairs_overview(results))
    simulated = results.bundle.simulated
    kinds = results.tables["accuracy"].groupby("rater_kind")["rater_id"].nunique()
    return template.render(
        name=_study_name(results),
        css=Markup((here / "report.css").read_text("utf-8")),  # noqa: S704 - our own file
        plotly=Markup(get_plotlyjs()),  # noqa: S704 - the library itself
        findings=findings(results),
        simulated=[label.full for label in _simulated_names(results)],
        all_simulated=bool(simulated) and len(simulated) == len(results.bundle.raters),
        facts=[
            (int(kinds.get(RaterKind.READER, 0)), "readers"),
            (int(kinds.get(RaterKind.MODEL, 0)), "models"),
            (len(results.bundle.items), "items"),
            (len(results.bundle.readings), "readings"),
        ],
        sections=_sections(figures),
        tables=tables,
        options=results.options,
        clustered=results.clustered,
        silent=_silent(results),
        provenance=provenance(results),
        sources=SOURCES,
    )


def _study_name(results: Results) -> str:
    return str(stated(results.bundle.protocol, "name") or "Reader study")


def _simulated_names(results: Results) -> list[RaterName]:
    names = rater_names(results.bundle)
    return [names[rater] for rater in sorted(results.bundle.simulated)]


def _silent(results: Results) -> list[str]:
    """Raters without any reading: no table can show them, so the page says so."""
    read = set(results.bundle.readings["rater_id"])
    labels = results.bundle.labels
    return [labels[rater] for rater in sorted(labels) if rater not in read]


def _sections(figures: Sequence[ReportFigure]) -> list[dict[str, Any]]:
    titles = {"accuracy": "Accuracy", "agreement": "Agreement of every two raters"}
    return [
        {
            "id": section,
            "title": titles[section],
            "conditions": [
                {"name": condition, "figures": [_embedded(figure) for figure in part]}
                for condition, part in groupby(
                    (figure for figure in figures if figure.section == section),
                    key=lambda figure: figure.condition,
                )
            ],
        }
        for section in titles
        if any(figure.section == section for figure in figures)
    ]


def _embedded(figure: ReportFigure) -> dict[str, Any]:
    markup = figure.figure.to_html(
        config={**CONFIG, "responsive": figure.section == "accuracy"},
        include_plotlyjs=False,
        full_html=False,
        div_id=f"figure-{figure.name}",
    )
    return {
        "title": figure.title,
        "caption": figure.caption,
        "wide": (figure.figure.layout.width or 0) > COLUMN_PX,
        "markup": Markup(markup),  # noqa: S704 - plotly escapes its JSON, we escape the labels
    }
