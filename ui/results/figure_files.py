"""Each figure as files: SVG and PNG for one column or the page's width, and its data.

A file is made when it is asked for, from the analysis that the page shows.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from analysis.report.figures import ReportFigure, matrix_figure
from analysis.translation import spoken
from study.base.errors import NotFound
from study.base.translation import language, t
from study.store import Store
from ui.parts.links import links
from ui.results.background import job_of

COLUMN_MM, PAGE_MM = 85, 180
TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv"}
_NAME = re.compile(rf"([a-z0-9_-]+?)(?:-({COLUMN_MM}|{PAGE_MM})mm)?\.({'|'.join(TYPES)})")


def figure_links(figure: ReportFigure, matrix: Mapping[str, str]) -> None:
    """Offer a figure's files; `matrix` says which one it is of the matrix with a switch."""
    asked = f"?{urlencode(matrix)}" if matrix else ""
    sizes = {
        f"export/figures/{figure.name}-{width}mm.{form}{asked}": t(
            "{format}, {width} mm", format=form.upper(), width=width
        )
        for width in (COLUMN_MM, PAGE_MM)
        for form in ("svg", "png")
    }
    with st.popover(t("Download figure"), type="tertiary", icon=":material/download:"):
        data = {f"export/figures/{figure.name}.csv{asked}": t("Data (CSV)")}
        links(f"figure_{figure.name}", {**sizes, **data}, download=True)
        st.caption(t("85 mm is one column of a journal, 180 mm the full page; PNG at 300 dpi."))


def figure_file(
    store: Store, study: str, name: str, matrix: Mapping[str, str]
) -> tuple[bytes, str]:
    """Return a file of a figure, and its media type.

    Raises
    ------
    NotFound
        The study has no such figure at present.
    """
    parts = _NAME.fullmatch(name)
    with spoken(language()):
        figure = parts and _figure(store, study, parts[1], matrix)
        if not parts or not figure:
            raise NotFound(t("There is no such figure."))
        return figure.file(parts[3], float(parts[2] or PAGE_MM)), TYPES[parts[3]]


def _figure(store: Store, study: str, name: str, matrix: Mapping[str, str]) -> ReportFigure | None:
    found = job_of(store, study).analysis()
    if matrix:
        scope, condition = matrix.get("scope", "all"), matrix.get("condition", "")
        reference = bool(matrix.get("reference"))
        return matrix_figure(
            found.results, name, scope=scope, condition=condition, reference=reference
        )
    return next((one for one in found.figures if one.name == name), None)
