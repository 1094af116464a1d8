"""Parts of the report for the results page, and their files: sentences, sections and figures.

While accuracy must remain hidden, the analysis receives the blinded bundle and cannot compute it.
Figures are offered as SVG or PNG in column or page width, and as data; files are made on request
from the analysis that the page shows.
"""

import io
import re
import zipfile
from collections.abc import Mapping
from itertools import groupby
from urllib.parse import urlencode

import streamlit as st

from analysis.report.content import SECTION_TITLES
from analysis.report.figures import OVERVIEW, ReportFigure, matrix_figure, part_suffix
from analysis.report.findings.finding import Theme
from analysis.translation import use_language
from study.base.errors import NotFound, NotNow
from study.base.translation import ENGLISH, language, t
from study.lifecycle.studies import accuracy_is_shown
from study.store import Store
from ui.overview.current_state import chain_head
from ui.parts.links import links
from ui.results.background import Analysis, job_of, report_of

_BLINDED_THEMES = (Theme.AGREEMENT.value, Theme.TIME.value)

FindingsByTheme = list[tuple[str, list[str]]]
SectionFigures = list[ReportFigure]
COLUMN_MM, PAGE_MM = 85, 180
TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv"}
_FIGURE_FILE_NAME = re.compile(
    rf"([a-z0-9_-]+?)(?:-({COLUMN_MM}|{PAGE_MM})mm(?:-part([1-9][0-9]?))?)?\.({'|'.join(TYPES)})"
)


def sentences(analysis: Analysis) -> FindingsByTheme:
    """Return the findings in plain sentences, by theme."""
    return [
        (theme, [finding.text for finding in part])
        for theme, part in groupby(analysis.findings, key=lambda finding: finding.theme.value)
    ]


def without_accuracy(findings: FindingsByTheme) -> FindingsByTheme:
    """Return the findings on agreement and time, which do not need the reference standard."""
    return [(theme, texts) for theme, texts in findings if theme in _BLINDED_THEMES]


def overview(analysis: Analysis) -> SectionFigures:
    """Return the first figure of the report, if there is one."""
    return [figure for figure in analysis.figures if figure.section == OVERVIEW]


def sections(analysis: Analysis) -> dict[str, SectionFigures]:
    """Return the report's figures by the title of their section, in the report's order."""
    by_title = {
        title: [figure for figure in analysis.figures if figure.section == name]
        for name, title in SECTION_TITLES.items()
    }
    return {title: part for title, part in by_title.items() if part}


def report(store: Store, study: str, language: str = ENGLISH) -> bytes:
    """Return the complete report as a zip file: pages, figures, tables and files for a paper.

    Raises
    ------
    NotNow
        Accuracy may not be seen yet.
    """
    if not accuracy_is_shown(store, study):
        raise NotNow(
            t("The report is available once the study is closed, because it shows accuracy.")
        )
    return _report(store, study, chain_head(store, study), language)


def report_file(store: Store, study: str, name: str, language: str = ENGLISH) -> bytes:
    """Return one file of the report, such as `report.html`."""
    with zipfile.ZipFile(io.BytesIO(report(store, study, language))) as archive:
        return archive.read(name)


@st.cache_resource(max_entries=2, show_spinner=False)
def _report(_store: Store, study: str, head: str, language: str) -> bytes:
    return report_of(_store, study, language)


def figure_links(figure: ReportFigure, matrix: Mapping[str, str]) -> None:
    """Offer a figure's files; `matrix` holds the choices on the page if the figure is a matrix."""
    query = f"?{urlencode(matrix)}" if matrix else ""
    sizes = {
        f"export/figures/{figure.name}-{width}mm{part_suffix(part)}.{form}{query}": (
            t("{format}, {width} mm", format=form.upper(), width=width)
            if parts == 1
            else t(
                "{format}, {width} mm, part {part} of {n}",
                format=form.upper(),
                width=width,
                part=part,
                n=parts,
            )
        )
        for width in (COLUMN_MM, PAGE_MM)
        for parts in [figure.parts(width)]
        for form in ("svg", "png")
        for part in range(1, parts + 1)
    }
    with st.popover(t("Download figure"), type="tertiary", icon=":material/download:"):
        data = {f"export/figures/{figure.name}.csv{query}": t("Data (CSV)")}
        links(f"figure_{figure.name}", {**sizes, **data}, download=True)
        st.caption(t("85 mm is one column of a journal, 180 mm the full page; PNG at 300 dpi."))


def figure_file(
    store: Store, study: str, name: str, matrix: Mapping[str, str]
) -> tuple[bytes, str]:
    """Return a file of a figure, and its media type.

    Raises
    ------
    NotFound
        The study has no such figure.
    """
    parts = _FIGURE_FILE_NAME.fullmatch(name)
    with use_language(language()):
        figure = parts and _figure(store, study, parts[1], matrix)
        if not parts or not figure:
            raise NotFound(t("There is no such figure."))
        width, part = float(parts[2] or PAGE_MM), int(parts[3] or 1)
        if part > 1 and part > figure.parts(width):
            raise NotFound(t("There is no such figure."))
        return figure.file(parts[4], width, part), TYPES[parts[4]]


def _figure(store: Store, study: str, name: str, matrix: Mapping[str, str]) -> ReportFigure | None:
    analysis = job_of(store, study).analysis()
    if matrix:
        scope, condition = matrix.get("scope", "all"), matrix.get("condition", "")
        reference = bool(matrix.get("reference"))
        return matrix_figure(
            analysis.results, name, scope=scope, condition=condition, reference=reference
        )
    return next((figure for figure in analysis.figures if figure.name == name), None)
