"""Stepping in: pause, resume, extend, release, withdraw; with a reason, asked back, and logged."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from study.base.actor import Acting
from study.base.text import LONGEST_REASON, checked_reason
from study.base.translation import t
from study.monitoring import interventions
from study.monitoring.interventions import Intervention
from study.monitoring.progress import Progress, ReaderProgress, Stage
from study.people.signing_in import Person
from study.reading.course import SessionState
from study.store.readings import InterventionRow
from ui.overview.labels import standing_words
from ui.parts.confirming import answer, ask
from ui.parts.look import error_line, grid, section
from ui.parts.text import instant, minute
from ui.server.access import acting
from ui.server.deployment import store

_KEY = "stepping-in"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """What may be done to whom; no reader is the study as a whole."""

    step: Intervention
    reader_id: str | None
    session: int | None


def show_stepping_in(person: Person, found: Progress) -> None:
    """Show what can be done, and what was."""
    if found.state == "open":
        answer(_KEY, acting(person), about=_form(found))
    else:
        st.markdown(t("Interventions are only possible while the study is open."))
    log = interventions.listed(store(), found.study)
    if log:
        section(t("Interventions so far"))
        grid(_log(log), key="interventions")


def _form(found: Progress) -> _Chosen:
    """Ask what is to be done to whom and why, and return what was chosen."""
    step = st.segmented_control(
        t("What to do"),
        list(Intervention),
        default=Intervention.PAUSE,
        required=True,
        format_func=lambda one: _word(Intervention(one)),
        key="step",
    )
    step = Intervention(step)
    st.caption(_consequence(step))
    here = [one for one in found.readers if one.stage is not Stage.WITHDRAWN]
    left, middle, right = st.columns(3)
    reader = _whom(left, step, here)
    session = _session(middle, step, reader)
    chosen = _Chosen(step=step, reader_id=reader.reader_id if reader else None, session=session)
    days = 0.0
    if step is Intervention.EXTEND:
        days = right.number_input(
            t("Extra days"), min_value=0.5, max_value=365.0, value=7.0, step=0.5, key="step-days"
        )
    if step in (Intervention.EXTEND, Intervention.RELEASE) and session is None:
        st.markdown(t("This reader has no session with a deadline that can be extended."))
        return chosen
    if step is Intervention.WITHDRAW and reader is None:
        st.markdown(t("All readers have left the study."))
        return chosen
    with st.form("step-in", clear_on_submit=True):
        reason = st.text_area(t("Reason"), max_chars=LONGEST_REASON, key="step-reason")
        asked = st.form_submit_button(_word(step), key="step-now")
    if asked:
        with error_line():
            _ask(found.study, chosen, days, reason)
    return chosen


def _whom(place: Any, step: Intervention, readers: list[ReaderProgress]) -> ReaderProgress | None:
    """Ask whom it is about: a reader, or where it can be the study as a whole (None)."""
    by_name = {one.reader_id: one for one in readers}
    whole = [""] if step in (Intervention.PAUSE, Intervention.RESUME) else []
    chosen = place.selectbox(
        t("Who"),
        [*whole, *by_name],
        format_func=lambda name: _named(by_name.get(name)),
        key=f"step-whom-{bool(whole)}",
    )
    return by_name.get(chosen or "")


def _named(reader: ReaderProgress | None) -> str:
    if reader is None:
        return t("the whole study")
    if reader.current is None:
        return t("{reader}: finished", reader=reader.reader_id)
    return t(
        "{reader}: session {n} {state}",
        reader=reader.reader_id,
        n=reader.current.session,
        state=standing_words(reader.current),
    )


def _session(place: Any, step: Intervention, reader: ReaderProgress | None) -> int | None:
    if step not in (Intervention.EXTEND, Intervention.RELEASE) or reader is None:
        return None
    ending = {
        one.standing.session: one.standing
        for one in reader.parts
        if one.standing.ends_at_utc and one.standing.state is not SessionState.DONE
    }
    if not ending:
        return None
    chosen = place.selectbox(
        t("Session"),
        list(ending),
        format_func=lambda n: t(
            "{n}: {state}, ends {time} UTC",
            n=n,
            state=standing_words(ending[n]),
            time=minute(ending[n].ends_at_utc),
        ),
        key=f"step-session-{reader.reader_id}",
    )
    return int(chosen)


def _ask(study: str, chosen: _Chosen, days: float, reason: str) -> None:
    words = checked_reason(reason)
    step = chosen.step
    whom = chosen.reader_id or t("the whole study")
    question = t("{what}: {whom}? Reason: {reason}", what=_word(step), whom=whom, reason=words)
    if step is Intervention.WITHDRAW:
        question = t(
            "Withdraw {whom} permanently? This cannot be undone. Reason: {reason}",
            whom=whom,
            reason=words,
        )
    ask(
        _KEY,
        about=chosen,
        question=question,
        do=partial(_act, study, chosen, days, words),
        done=t("Done: {what} ({whom}).", what=_word(step), whom=whom),
    )


def _act(study: str, asked: _Chosen, days: float, reason: str, acting: Acting) -> None:
    kept, reader_id, session = store(), asked.reader_id or "", asked.session or 0
    if asked.step in (Intervention.PAUSE, Intervention.RESUME):
        act = interventions.pause if asked.step is Intervention.PAUSE else interventions.resume
        act(kept, study=study, reader_id=asked.reader_id, reason=reason, **acting)
    elif asked.step is Intervention.WITHDRAW:
        interventions.withdraw(kept, study=study, reader_id=reader_id, reason=reason, **acting)
    elif asked.step is Intervention.EXTEND:
        interventions.extend(
            kept,
            study=study,
            reader_id=reader_id,
            session=session,
            days=days,
            reason=reason,
            **acting,
        )
    else:
        interventions.release(
            kept, study=study, reader_id=reader_id, session=session, reason=reason, **acting
        )


def _word(step: Intervention) -> str:
    return {
        Intervention.PAUSE: t("Pause"),
        Intervention.RESUME: t("Resume"),
        Intervention.EXTEND: t("Extend a session"),
        Intervention.RELEASE: t("Remove a session's deadline"),
        Intervention.WITHDRAW: t("Withdraw a reader"),
    }[step]


def _consequence(step: Intervention) -> str:
    return {
        Intervention.PAUSE: t(
            "No cases are shown until reading is resumed. Answers already given are still "
            "accepted; wash-out periods and session deadlines keep running."
        ),
        Intervention.RESUME: t(
            "Cases are shown again. A reader's pause and a study pause are separate: ending one "
            "does not end the other."
        ),
        Intervention.EXTEND: t(
            "The deadline is extended by this many days: from the current deadline or, if that "
            "has passed, from now."
        ),
        Intervention.RELEASE: t("The session, lapsed or not, can be completed without a deadline."),
        Intervention.WITHDRAW: t(
            "The reader gets no more cases and can no longer sign in to the study. All readings "
            "are kept, and unread cases stay in the denominators."
        ),
    }[step]


def _log(log: list[InterventionRow]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            t("When (UTC)"): [instant(one.at_utc) for one in log],
            t("What"): [_word(Intervention(one.kind)) for one in log],
            t("Who"): [one.reader_id or t("the whole study") for one in log],
            t("Session"): ["" if one.session is None else str(one.session) for one in log],
            t("Extra days"): ["" if one.days is None else f"{one.days:g}" for one in log],
            t("Reason"): [one.reason for one in log],
            t("By"): [one.actor for one in log],
        }
    )
