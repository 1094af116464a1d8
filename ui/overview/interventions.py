"""Interventions (remind, pause, extend, withdraw), each confirmed first and logged.

A reminder is a message to copy, or to send if the deployment has a mail server.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from study.base.actor import Acting
from study.base.mail import MailServer
from study.base.text import LONGEST_REASON, checked_reason
from study.base.translation import t
from study.monitoring import interventions
from study.monitoring.interventions import Intervention
from study.monitoring.progress import Progress, ReaderProgress, Stage
from study.monitoring.reminders import (
    Addressee,
    Letter,
    compose_reminder,
    find_addressee,
    last_reminder_times,
    may_be_reminded,
    record_sent,
    send_reminder,
)
from study.monitoring.scheduled_reminders import (
    MAX_REMINDER_DAYS,
    reminder_schedule,
    schedule_reminders,
)
from study.people.roles import Act
from study.people.signing_in import Person
from study.reading.course import SessionState
from study.store.readings import InterventionRow
from ui.overview.labels import session_status_text, stage_label
from ui.parts import actions
from ui.parts.actions import Question
from ui.parts.text import minute, plain, table_time
from ui.parts.theme import Columns, error_line, grid, section
from ui.server.access import acting
from ui.server.deployment import store

_ACTION_KEY = "step-now"


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenIntervention:
    """The intervention chosen on the page; without a reader it concerns the whole study."""

    step: Intervention
    reader_id: str | None
    session: int | None


def show_interventions(person: Person, progress: Progress) -> None:
    """Show the possible interventions, and earlier ones."""
    if progress.state == "open":
        _intervention_form(person, progress)
    else:
        st.markdown(t("Interventions are only possible while the study is open."))
    log = interventions.list_interventions(store(), progress.study)
    if log:
        section(t("Interventions so far"))
        grid(_log_columns(log), key="interventions")


def _intervention_form(person: Person, progress: Progress) -> None:
    """Show the fields for the intervention, the reader and the reason."""
    step = st.segmented_control(
        t("What to do"),
        list(Intervention),
        default=Intervention.PAUSE,
        required=True,
        format_func=lambda step: _intervention_label(Intervention(step)),
        key="step",
    )
    step = Intervention(step)
    st.caption(_consequence(step))
    active = [step for step in progress.readers if step.stage is not Stage.WITHDRAWN]
    left, middle, right = st.columns(3)
    reader = _reader_field(left, step, active)
    session = _session_field(middle, step, reader)
    chosen = _ChosenIntervention(
        step=step, reader_id=reader.reader_id if reader else None, session=session
    )
    days = 0.0
    if step is Intervention.EXTEND:
        days = right.number_input(
            t("Extra days"), min_value=0.5, max_value=365.0, value=7.0, step=0.5, key="step-days"
        )
    if step in (Intervention.EXTEND, Intervention.RELEASE) and session is None:
        st.markdown(t("This reader has no session with a deadline that can be extended."))
        actions.show_last_report(_ACTION_KEY)
        return
    if step is Intervention.WITHDRAW and reader is None:
        st.markdown(t("All readers have left the study."))
        actions.show_last_report(_ACTION_KEY)
        return
    below = st.container()
    with below, st.form("step-in", clear_on_submit=True):
        reason = st.text_area(t("Reason"), max_chars=LONGEST_REASON, key="step-reason")
        actions.button(
            _intervention_label(step),
            lambda: _confirmation(person, progress.study, chosen, days, reason),
            in_form=True,
            key=_ACTION_KEY,
            subject=chosen,
            below=below,
        )


def _reader_field(
    place: Any, step: Intervention, readers: list[ReaderProgress]
) -> ReaderProgress | None:
    """Show the field for the reader; return None for the whole study, if this is possible."""
    by_name = {reader.reader_id: reader for reader in readers}
    names = [""] if step in (Intervention.PAUSE, Intervention.RESUME) else []
    chosen = place.selectbox(
        t("Who"),
        [*names, *by_name],
        format_func=lambda name: _reader_label(by_name.get(name)),
        key=f"step-whom-{bool(names)}",
    )
    return by_name.get(chosen or "")


def _reader_label(reader: ReaderProgress | None) -> str:
    if reader is None:
        return t("the whole study")
    if reader.current is None:
        return t("{reader}: finished", reader=reader.reader_id)
    return t(
        "{reader}: session {n} {state}",
        reader=reader.reader_id,
        n=reader.current.session,
        state=session_status_text(reader.current),
    )


def _session_field(place: Any, step: Intervention, reader: ReaderProgress | None) -> int | None:
    if step not in (Intervention.EXTEND, Intervention.RELEASE) or reader is None:
        return None
    ending = {
        part.status.session: part.status
        for part in reader.parts
        if part.status.ends_at_utc and part.status.state is not SessionState.DONE
    }
    if not ending:
        return None
    chosen = place.selectbox(
        t("Session"),
        list(ending),
        format_func=lambda n: t(
            "{n}: {state}, ends {time}",
            n=n,
            state=session_status_text(ending[n]),
            time=minute(ending[n].ends_at_utc),
        ),
        key=f"step-session-{reader.reader_id}",
    )
    return int(chosen)


def _confirmation(
    person: Person, study: str, chosen: _ChosenIntervention, days: float, reason: str
) -> Question:
    words = checked_reason(reason)
    step = chosen.step
    whom = chosen.reader_id or t("the whole study")
    question = t(
        "{what}: {whom}? Reason: {reason}", what=_intervention_label(step), whom=whom, reason=words
    )
    if step is Intervention.WITHDRAW:
        question = t(
            "Withdraw {whom} permanently? This cannot be undone. Reason: {reason}",
            whom=whom,
            reason=words,
        )

    def do() -> str:
        _intervene(study, chosen, days, words, acting(person))
        return t("Done: {what} ({whom}).", what=_intervention_label(step), whom=whom)

    return Question(text=question, do=do)


def _intervene(
    study: str, chosen_step: _ChosenIntervention, days: float, reason: str, acting: Acting
) -> None:
    whom: dict[str, Any] = {"reader_id": chosen_step.reader_id}
    which = {**whom, "session": chosen_step.session}
    acts: dict[Intervention, tuple[Callable[..., object], dict[str, Any]]] = {
        Intervention.PAUSE: (interventions.pause, whom),
        Intervention.RESUME: (interventions.resume, whom),
        Intervention.WITHDRAW: (interventions.withdraw, whom),
        Intervention.EXTEND: (interventions.extend, {**which, "days": days}),
        Intervention.RELEASE: (interventions.release, which),
    }
    act, subject = acts[chosen_step.step]
    act(store(), study=study, reason=reason, **subject, acting=acting)


def _intervention_label(step: Intervention) -> str:
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


def _log_columns(log: list[InterventionRow]) -> Columns:
    return {
        t("When (UTC)"): [table_time(entry.at_utc) for entry in log],
        t("What"): [_intervention_label(Intervention(entry.kind)) for entry in log],
        t("Who"): [entry.reader_id or t("the whole study") for entry in log],
        t("Session"): ["" if entry.session is None else str(entry.session) for entry in log],
        t("Extra days"): ["" if entry.days is None else f"{entry.days:g}" for entry in log],
        t("Reason"): [entry.reason for entry in log],
        t("By"): [entry.actor for entry in log],
    }


def show_reminders(person: Person, progress: Progress) -> None:
    """Show a reminder for a reader, ways to send it, and the schedule of automatic reminders."""
    _show_letter(person, progress)
    if progress.state == "open":
        _show_schedule(person, progress.study)


def _show_schedule(person: Person, study: str) -> None:
    section(t("Automatic reminders"))
    days = st.number_input(
        t("Days without a reading until a reader is reminded (0: never)"),
        min_value=0,
        max_value=MAX_REMINDER_DAYS,
        value=reminder_schedule(store(), study).days,
        key="remind-days",
        width=420,
    )

    def save() -> str:
        schedule_reminders(
            store(), study=study, days=days, address=home_address(), acting=acting(person)
        )
        return t("Saved.")

    actions.button(t("Save"), save, key="remind-save", subject=study)
    st.caption(
        t(
            "Readers whose session is open and whose address is known get this message by email, "
            "in the language of this page and without changes to its text. Each is reminded again "
            "after the same number of days."
        )
    )
    with error_line():
        if MailServer.from_environment(os.environ) is None:
            st.caption(t("This server cannot send email, so nothing is sent."))


def _show_letter(person: Person, progress: Progress) -> None:
    waiting = {reader.reader_id: reader for reader in progress.readers if may_be_reminded(reader)}
    if progress.state != "open" or not waiting:
        st.markdown(t("There are no readers to remind."))
        return
    chosen = st.selectbox(
        t("Who"),
        list(waiting),
        format_func=lambda name: _reminder_label(waiting[name]),
        key="remind-whom",
        width=420,
    )
    reader = waiting[chosen]
    last = last_reminder_times(store(), progress.study).get(reader.reader_id)
    if last:
        st.caption(t("Last reminded: {time}.", time=minute(last)))
    recipient = (
        find_addressee(store(), progress.study, reader.reader_id)
        if person.may(Act.PEOPLE)
        else Addressee()
    )
    letter = _letter(progress, reader, recipient)
    st.markdown(f"**{plain(letter.subject)}**")
    st.code(letter.text, language=None, wrap_lines=True)
    _sending_choices(person, progress.study, reader, recipient, letter)


def _reminder_label(reader: ReaderProgress) -> str:
    return t(
        "{reader}: {stage}, {n} of {total}",
        reader=reader.reader_id,
        stage=stage_label(reader.stage),
        n=reader.counts.n_read,
        total=reader.counts.n_assigned,
    )


def _letter(progress: Progress, reader: ReaderProgress, recipient: Addressee) -> Letter:
    """Return the reminder, with changes made on the page."""
    letter = compose_reminder(progress, reader, name=recipient.name, address=home_address())
    with st.expander(t("Edit the text")):
        text = st.text_area(
            t("Message"),
            value=letter.text,
            height=280,
            max_chars=4000,
            key=f"letter-{reader.reader_id}-{reader.counts.n_read}",
        )
    return Letter(subject=letter.subject, text=text)


def _sending_choices(
    person: Person, study: str, reader: ReaderProgress, recipient: Addressee, letter: Letter
) -> None:
    server = None
    with error_line():
        server = MailServer.from_environment(os.environ)
    left, right, _ = st.columns([1, 1, 2])
    below = st.container()
    name = reader.reader_id

    def note() -> str:
        record_sent(store(), study=study, reader_id=name, acting=acting(person))
        return t("Marked as sent.")

    record = t("Record in the audit trail that {reader} was reminded?", reader=name)
    subject = (name, letter.text)
    actions.button(
        t("Mark as sent"),
        lambda: Question(text=record, do=note),
        key="note-sent",
        subject=subject,
        place=left,
        below=below,
        width="stretch",
    )
    if server is None:
        st.caption(t("This server cannot send email: copy the message and send it yourself."))
    elif not recipient.email:
        st.caption(t("There is no email address on record for this reader: copy the message."))
    else:
        mail = server

        def send() -> str:
            send_reminder(store(), mail, letter, study=study, reader_id=name, acting=acting(person))
            return t("Sent to {address}.", address=recipient.email)

        actions.button(
            t("Send by email"),
            lambda: Question(
                text=t("Send this message to {address}?", address=recipient.email), do=send
            ),
            key="send-mail",
            subject=subject,
            place=right,
            below=below,
            width="stretch",
        )


def home_address() -> str:
    """Return the app's address in this browser, without the name of the page."""
    parts = urlsplit(str(st.context.url or ""))
    folder = parts.path.rstrip("/").rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/" if parts.netloc else ""
