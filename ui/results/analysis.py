"""The analysis of a study as it stands, made from its bundle alone.

While accuracy may not be seen it is made from the blinded bundle, and so cannot be computed.
"""

import io
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import streamlit as st

import analysis
from analysis import Bundle, Results
from analysis.report.content import SECTIONS
from analysis.report.figure import ReportFigure
from analysis.report.figures import overview_figure, report_figures
from analysis.report.findings import findings
from analysis.report.findings.finding import Theme
from analysis.report.headline import Headline, headline
from study.base.errors import NotNow
from study.base.translation import t
from study.exchange.bundle import bundle_files, zipped
from study.lifecycle.closing import accuracy_is_shown
from study.store import Store
from ui.overview.now import head

_BLINDED_THEMES = (Theme.AGREEMENT.value, Theme.TIME.value)

FindingsByTheme = list[tuple[str, list[str]]]
SectionFigures = list[ReportFigure]


def results(store: Store, study: str) -> Results:
    """Return the tables of a study as it stands; computed anew only when something has happened.

    While accuracy may not be seen they have none.

    Raises
    ------
    StudyError, AnalysisError
        The study is gone, or its bundle cannot be analysed.
    """
    return _results(store, study, head(store, study), not accuracy_is_shown(store, study))


def sentences(store: Store, study: str) -> FindingsByTheme:
    """Return the findings in plain sentences, by theme."""
    found = findings(results(store, study))
    return [
        (theme, [one.text for one in part])
        for theme, part in groupby(found, key=lambda one: one.theme.value)
    ]


def opening(store: Store, study: str) -> tuple[Headline, list[ReportFigure]]:
    """Return what the report begins with, and its figure where there is one."""
    found = results(store, study)
    return headline(found), overview_figure(found)


def without_accuracy(found: FindingsByTheme) -> FindingsByTheme:
    """Return the findings on agreement and time; the others speak of the reference standard."""
    return [(theme, texts) for theme, texts in found if theme in _BLINDED_THEMES]


def sections(store: Store, study: str) -> dict[str, SectionFigures]:
    """Return the report's figures by the title of their section, in its order."""
    return _sections(store, study, head(store, study), not accuracy_is_shown(store, study))


def report(store: Store, study: str) -> bytes:
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
    return _report(store, study, head(store, study))


def report_file(store: Store, study: str, name: str) -> bytes:
    """Return one file of the report, such as `report.html`."""
    with zipfile.ZipFile(io.BytesIO(report(store, study))) as archive:
        return archive.read(name)


@st.cache_resource(max_entries=4, show_spinner="Computing the tables ...")
def _results(_store: Store, study: str, head: str, blinded: bool) -> Results:
    with _bundle(_store, study, blinded) as bundle:
        return analysis.analyse(bundle)


@st.cache_resource(max_entries=4, show_spinner="Drawing the figures ...")
def _sections(_store: Store, study: str, head: str, blinded: bool) -> dict[str, SectionFigures]:
    figures = report_figures(_results(_store, study, head, blinded))
    found = {
        title: [figure for figure in figures if figure.section == name]
        for name, title in SECTIONS.items()
    }
    return {title: part for title, part in found.items() if part}


@st.cache_resource(max_entries=2, show_spinner=False)
def _report(_store: Store, study: str, head: str) -> bytes:
    out = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        analysis.write_results(_results(_store, study, head, False), folder)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(folder))
    return out.getvalue()


@contextmanager
def _bundle(store: Store, study: str, blinded: bool) -> Iterator[Bundle]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bundle.zip"
        path.write_bytes(zipped(bundle_files(store, study, blinded=blinded)))
        yield analysis.read_bundle(path)
