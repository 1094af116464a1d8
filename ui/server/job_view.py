"""Waits for a job within an action, and shows the elapsed time and a button that cancels it."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from study.base.translation import t
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.text import plain
from ui.parts.uninterrupted import run_interruptibly
from ui.server.worker import WAIT_BEFORE_PROGRESS_S, Job

_CHECK_EVERY_S = 0.5
_Result = TypeVar("_Result")


def outcome_of(
    action: str,
    begin: Callable[[], Job[_Result]],
    title: str,
    *,
    on_cancel: Callable[[], object] = lambda: None,
) -> _Result:
    """Start a job within an action and return its result when it is done.

    Any click interrupts the wait. The job continues, and is cancelled if the action runs
    again. `on_cancel` is called before the page runs again.

    Raises
    ------
    StudyError
        See `Job.outcome`; also raised by `begin`.
    """
    key = f"job-{action}"
    abandoned: Job[Any] | None = st.session_state.pop(key, None)
    if abandoned is not None:
        abandoned.cancel()
    job = st.session_state[key] = begin()
    if not job.is_done(WAIT_BEFORE_PROGRESS_S):
        run_interruptibly(lambda: _show_until_done(job, title, action, on_cancel))
    st.session_state.pop(key, None)
    return job.outcome()


def _show_until_done(
    job: Job[Any], title: str, action: str, on_cancel: Callable[[], object]
) -> None:
    def cancel() -> None:
        job.cancel()
        actions.record_result(action, Report(text=t("Cancelled. Nothing was saved."), kind="info"))
        on_cancel()

    placeholder = st.empty()
    began_s = time.monotonic()
    with placeholder.container(border=True):
        line = st.empty()
        actions.view_button(t("Cancel"), cancel, key=f"{action}-cancel", before_page=True)
        while not job.is_done(_CHECK_EVERY_S):
            elapsed_s = round(time.monotonic() - began_s + WAIT_BEFORE_PROGRESS_S)
            line.markdown(plain(t("{what}: {n} s", what=title, n=elapsed_s)))
    placeholder.empty()
