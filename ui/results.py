"""The analysis of a study as it stands, made from its bundle alone."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

import analysis
from analysis import Bundle, Results
from study.bundle import bundle_files, zipped
from study.store import Store, events


def results(store: Store, study: str) -> Results:
    """Return the tables of a study as it stands; computed anew only when something has happened.

    Raises
    ------
    StudyError, AnalysisError
        The study is gone, or its bundle cannot be analysed.
    """
    with store.look() as look:
        head = events.head(look, events.study_chain(study))
    return _results(store, study, str(head))


def report(store: Store, study: str) -> bytes:
    """Return the study's report as one HTML file."""
    with _bundle(store, study) as bundle, tempfile.TemporaryDirectory() as folder:
        analysis.write_report(bundle, folder)
        return (Path(folder) / "report.html").read_bytes()


@st.cache_resource(max_entries=4, show_spinner="Computing the tables ...")
def _results(_store: Store, study: str, head: str) -> Results:
    with _bundle(_store, study) as bundle:
        return analysis.analyse(bundle)


@contextmanager
def _bundle(store: Store, study: str) -> Iterator[Bundle]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bundle.zip"
        path.write_bytes(zipped(bundle_files(store, study)))
        yield analysis.read_bundle(path)
