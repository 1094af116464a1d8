"""A study as it stands now; read anew only when something has happened, or a minute has passed."""

from datetime import UTC, datetime
from typing import Any

import streamlit as st

from study.monitoring.progress import Progress, progress_of, status
from study.monitoring.quality import QualityFact, ReadingFacts, facts, readings_of
from study.store import Store, events


def watched(store: Store, study: str) -> Progress:
    """Return how far a study is.

    Raises
    ------
    StudyError
        The study is gone, or the store cannot be read.
    """
    return _watched(store, str(store.path), study, head(store, study), _minute())


def found(store: Store, study: str) -> list[QualityFact]:
    """Return the facts about a study's readings."""
    return _facts(store, str(store.path), study, head(store, study))


def inspected(store: Store, study: str) -> list[ReadingFacts]:
    """Return the study's readings as they may be looked at."""
    return _readings(store, str(store.path), study, head(store, study))


def standing(store: Store, study: str) -> dict[str, Any]:
    """Return a study's state as `study.monitoring.progress.status` gives it."""
    return _standing(store, str(store.path), study, head(store, study))


def head(store: Store, study: str) -> str:
    """Return what changes whenever something happens in a study."""
    with store.look() as look:
        return str(events.head(look, events.study_chain(study)))


def _minute() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


@st.cache_resource(max_entries=4, show_spinner=False)
def _watched(_store: Store, path: str, study: str, head: str, minute: str) -> Progress:
    return progress_of(_store, study, now=datetime.now(UTC))


@st.cache_resource(max_entries=4, show_spinner=False)
def _standing(_store: Store, path: str, study: str, head: str) -> dict[str, Any]:
    return status(_store, study)


@st.cache_resource(max_entries=4, show_spinner=False)
def _facts(_store: Store, path: str, study: str, head: str) -> list[QualityFact]:
    return facts(_store, study)


@st.cache_resource(max_entries=4, show_spinner=False)
def _readings(_store: Store, path: str, study: str, head: str) -> list[ReadingFacts]:
    return readings_of(_store, study)
