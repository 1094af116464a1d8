"""Runs an import that a form started: shows progress, result and follow-up questions."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from study.bank import uploads
from study.bank.importing import FaultyBank, Imported
from study.bank.layout import SeveralBanks
from study.bank.reading import ImportOptions
from study.base.errors import StudyError
from study.base.translation import t, tn
from study.people.roles import Act
from study.people.signing_in import Person
from ui.parts import actions
from ui.parts.actions import SHOWN_BELOW, Report
from ui.parts.forms import required
from ui.parts.text import plain, time_left
from ui.server import bank_import, worker
from ui.server.access import acting, guard
from ui.server.deployment import store

_STARTED_BY_KEY, _FINISHED_KEY = "import-begun", "import-settled"


def begin(
    person: Person,
    form_name: str,
    name: str,
    receive: Callable[[], uploads.ReceivedBank],
    *,
    chosen: Sequence[str],
    **options: Any,
) -> Report:
    """Start an import in the background; its progress is shown below the form."""
    title = required(t("Bank name"), name)
    job = bank_import.begin(
        store(),
        receive(),
        title,
        acting=acting(person),
        chosen=chosen,
        options=ImportOptions(**options),
    )
    st.session_state[_STARTED_BY_KEY] = (actions.page_visits(), form_name)
    job.is_done(worker.WAIT_BEFORE_PROGRESS_S)
    return SHOWN_BELOW


def _form_of_import() -> str:
    """Return the form in this window that started the import; empty after leaving the page."""
    visit, form_name = st.session_state.get(_STARTED_BY_KEY, (0, ""))
    return str(form_name) if visit == actions.page_visits() else ""


def finish_import() -> None:
    """Handle the end of an import: clear the form, or ask which file is the bank."""
    job = bank_import.current(store())
    if job is None or not job.is_done() or st.session_state.get(_FINISHED_KEY) == job.number:
        return
    st.session_state[_FINISHED_KEY] = job.number
    form_name = _form_of_import()
    try:
        job.outcome()
    except SeveralBanks as several:
        st.session_state[f"{form_name}-choices"] = several.names
        st.session_state["several"] = st.session_state.get("several", 0) + 1
        bank_import.put_away(store())
    except StudyError:
        return
    else:
        if form_name:
            st.session_state["banks-brought"] = st.session_state.get("banks-brought", 0) + 1
            st.session_state.pop(f"{form_name}-choices", None)


def show_import(form_name: str) -> None:
    """Show the import that a form started (or another window, for an empty name) and its result."""
    job = bank_import.current(store())
    if job is None or _form_of_import() != form_name:
        return
    if not job.is_done():
        _show_progress()
        return
    report = _import_report(job)
    with actions.attention(f"report-import-{job.number}", report.text):
        actions.show_report(report)
        actions.view_button(
            t("Hide this message"), lambda: bank_import.put_away(store()), key="put-away"
        )


@st.fragment(run_every=1.0)
def _show_progress() -> None:
    guard(Act.MAKE_STUDY)
    job = bank_import.current(store())
    if job is None or job.is_done():
        st.rerun()
    words = t("Importing {bank}", bank=job.name)
    with st.container(border=True), actions.attention(f"report-importing-{job.number}", words):
        st.markdown(f"**{plain(words)}**")
        progress = job.progress
        st.progress(progress.share, _progress_text(progress))
        actions.button(t("Cancel the import"), partial(_cancel, job), key="cancel-import")


def _cancel(job: bank_import.ImportJob) -> Report:
    job.cancel()
    job.is_done(worker.WAIT_BEFORE_PROGRESS_S)
    return SHOWN_BELOW


def _progress_text(progress: worker.Progress) -> str:
    if progress.step == "films":
        words = t(
            "Checking the images: {done} of {total}, {rate} per second",
            done=round(progress.done),
            total=round(progress.total),
            rate=round(progress.rate),
        )
        left = progress.remaining_s
        return words if left is None else f"{words} · {time_left(left)}"
    return t("Storing the bank ...") if progress.step == "store" else t("Reading the questions ...")


def _import_report(job: bank_import.ImportJob) -> Report:
    """Return the result of an import."""
    try:
        return success_report(job.outcome())
    except FaultyBank as faulty:
        return _refusal_report(faulty)
    except StudyError as error:
        return Report(text=str(error), kind="error")


def _refusal_report(faulty: FaultyBank) -> Report:
    sentences = []
    if faulty.n_faulty:
        sentences.append(
            tn(
                "Nothing was imported: {n} question has errors, listed below. Correct the "
                "file, or tick “Leave out questions with errors, and list them”.",
                "Nothing was imported: {n} questions have errors, listed below. Correct the "
                "file, or tick “Leave out questions with errors, and list them”.",
                faulty.n_faulty,
            )
        )
    if faulty.missing.n_items:
        sentences.append(
            tn(
                "Nothing was imported: {n} image is missing. Add it, or choose what to do with "
                "its questions under “If images are missing”.",
                "Nothing was imported: {n} images are missing. Add them, or choose what to do "
                "with their questions under “If images are missing”.",
                faulty.missing.n_films,
            )
        )
    faults = (*(faulty.faults if faulty.n_faulty else ()), *faulty.missing.examples)
    return Report(text=" ".join(sentences), kind="error", lines=tuple(map(str, faults)))


def success_report(result: Imported) -> Report:
    """Return the report of a completed import."""
    if not result.is_new:
        return Report(
            text=t(
                "{bank} was imported from these same files before. Nothing was changed.",
                bank=result.bank,
            ),
            kind="info",
        )
    warnings = [*result.guessable]
    if result.n_left_out:
        warnings.append(
            tn("{n} question was left out.", "{n} questions were left out.", result.n_left_out)
        )
    if result.missing.n_shortened:
        warnings.append(
            tn(
                "{n} question is shown without an image that is missing.",
                "{n} questions are shown without an image that is missing.",
                result.missing.n_shortened,
            )
        )
    left_out = (*result.left_out, *result.missing.examples) if result.n_left_out else ()
    return Report(
        text=t(
            "Imported {bank}: {items}, {films}.",
            bank=result.bank,
            items=tn("{n} question", "{n} questions", result.n_items),
            films=tn("{n} image", "{n} images", result.n_films),
        ),
        warnings=tuple(warnings),
        lines=(*result.notes, *map(str, left_out)),
    )
