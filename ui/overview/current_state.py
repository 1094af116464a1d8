"""Caches the state of a study; it is read again only after a change or a minute later."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import streamlit as st

from study.monitoring.progress import Progress, progress_of, status
from study.monitoring.quality import QualityFact, ReadingFacts, current_readings, find_quality_facts
from study.store import Store, events

Value = TypeVar("Value")


def current_progress(store: Store, study: str) -> Progress:
    """Return the progress of a study.

    Raises
    ------
    StudyError
        The study no longer exists, or the store cannot be read.
    """
    now = datetime.now(UTC)
    return _cached(store, study, progress_of, f"{now:%Y-%m-%d %H:%M}", now=now)


def quality_facts(store: Store, study: str) -> list[QualityFact]:
    """Return the facts about a study's readings."""
    return _cached(store, study, find_quality_facts)


def reading_facts(store: Store, study: str) -> list[ReadingFacts]:
    """Return the study's readings as coordinators may see them."""
    return _cached(store, study, current_readings)


def current_status(store: Store, study: str) -> dict[str, Any]:
    """Return a study's state as `study.monitoring.progress.status` returns it."""
    return _cached(store, study, status)


def chain_head(store: Store, study: str) -> str:
    """Return a value that differs after every change to a study."""
    with store.look() as look:
        return str(events.head(look, events.study_chain(study)))


def _cached(
    store: Store, study: str, read: Callable[..., Value], minute: str = "", **arguments: Any
) -> Value:
    key = (
        f"{read.__module__}.{read.__name__}",
        store.address,
        study,
        chain_head(store, study),
        minute,
    )
    return cast(Value, _read(key, lambda: read(store, study, **arguments)))


@st.cache_resource(max_entries=16, show_spinner=False)
def _read(key: tuple[str, ...], _read: Callable[[], object]) -> object:
    return _read()
