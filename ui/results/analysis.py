"""What the results page shows of an analysis, made in the background.

While accuracy may not be seen the analysis is given the blinded bundle, and so cannot compute it.
"""

import io
import zipfile
from itertools import groupby

import streamlit as st

from analysis.report.content import SECTIONS
from analysis.report.figures import OVERVIEW, ReportFigure
from analysis.report.findings.finding import Theme
from study.base.errors import NotNow
from study.base.translation import ENGLISH, t
from study.lifecycle.closing import accuracy_is_shown
from study.store import Store
from ui.overview.now import head
from ui.results.background import Analysis, report_of

_BLINDED_THEMES = (Theme.AGREEMENT.value, Theme.TIME.value)

FindingsByTheme = list[tuple[str, list[str]]]
SectionFigures = list[ReportFigure]


def sentences(found: Analysis) -> FindingsByTheme:
    """Return the findings in plain sentences, by theme."""
    return [
        (theme, [one.text for one in part])
        for theme, part in groupby(found.findings, key=lambda one: one.theme.value)
    ]


def without_accuracy(found: FindingsByTheme) -> FindingsByTheme:
    """Return the findings on agreement and time; the others speak of the reference standard."""
    return [(theme, texts) for theme, texts in found if theme in _BLINDED_THEMES]


def overview(found: Analysis) -> SectionFigures:
    """Return the figure that the report begins with, where there is one."""
    return [figure for figure in found.figures if figure.section == OVERVIEW]


def sections(found: Analysis) -> dict[str, SectionFigures]:
    """Return the report's figures by the title of their section, in its order."""
    by_title = {
        title: [figure for figure in found.figures if figure.section == name]
        for name, title in SECTIONS.items()
    }
    return {title: part for title, part in by_title.items() if part}


def report(store: Store, study: str, language: str = ENGLISH) -> bytes:
    """Return the whole report as a zip file: pages, figures, tables, a paper's files.

    Raises
    ------
    NotNow
        Accuracy may not be seen yet.
    """
    if not accuracy_is_shown(store, study):
        raise NotNow(
            t("The report is available once the study is closed, because it shows accuracy.")
        )
    return _report(store, study, head(store, study), language)


def report_file(store: Store, study: str, name: str, language: str = ENGLISH) -> bytes:
    """Return one file of the report, such as `report.html`."""
    with zipfile.ZipFile(io.BytesIO(report(store, study, language))) as archive:
        return archive.read(name)


@st.cache_resource(max_entries=2, show_spinner=False)
def _report(_store: Store, study: str, head: str, language: str) -> bytes:
    return report_of(_store, study, language)
