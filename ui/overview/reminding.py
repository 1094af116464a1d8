"""Reminders: a letter to copy, or to send where the deployment has a mail server."""

import os
from urllib.parse import urlsplit

import streamlit as st

from study.base.mail import MailServer
from study.base.translation import t
from study.monitoring.progress import Progress, ReaderProgress
from study.monitoring.reminders import (
    Addressee,
    Letter,
    addressee,
    compose,
    may_be_reminded,
    note_sent,
    send_reminder,
    sent,
)
from study.people.roles import Act
from study.people.signing_in import Person
from ui.overview.labels import stage_word
from ui.parts.confirming import answer, ask
from ui.parts.look import error_line
from ui.parts.text import minute, plain
from ui.server.access import acting
from ui.server.deployment import store

_KEY = "reminding"


def show_reminding(person: Person, found: Progress) -> None:
    """Show a letter to one reader, and the ways to send it."""
    waiting = {one.reader_id: one for one in found.readers if may_be_reminded(one)}
    if found.state != "open" or not waiting:
        st.markdown(t("There are no readers to remind."))
        return
    chosen = st.selectbox(
        t("Who"),
        list(waiting),
        format_func=lambda name: _label(waiting[name]),
        key="remind-whom",
        width=420,
    )
    reader = waiting[chosen]
    last = sent(store(), found.study).get(reader.reader_id)
    if last:
        st.caption(t("Last reminded: {time} UTC.", time=minute(last)))
    who = (
        addressee(store(), found.study, reader.reader_id) if person.may(Act.PEOPLE) else Addressee()
    )
    letter = _letter(found, reader, who)
    st.markdown(f"**{plain(letter.subject)}**")
    st.code(letter.text, language=None, wrap_lines=True)
    _ways(found.study, reader, who, letter)
    answer(_KEY, acting(person), about=(reader.reader_id, letter.text))


def _label(one: ReaderProgress) -> str:
    return t(
        "{reader}: {stage}, {n} of {total}",
        reader=one.reader_id,
        stage=stage_word(one.stage),
        n=one.counts.n_read,
        total=one.counts.n_assigned,
    )


def _letter(found: Progress, reader: ReaderProgress, who: Addressee) -> Letter:
    """Return the letter as it was written, or as somebody changed it here."""
    letter = compose(found, reader, name=who.name, address=home_address())
    with st.expander(t("Edit the text")):
        text = st.text_area(
            t("Message"),
            value=letter.text,
            height=280,
            max_chars=4000,
            key=f"letter-{reader.reader_id}-{reader.counts.n_read}",
        )
    return Letter(subject=letter.subject, text=text)


def _ways(study: str, reader: ReaderProgress, who: Addressee, letter: Letter) -> None:
    server = None
    with error_line():
        server = MailServer.named(os.environ)
    left, right, _ = st.columns([1, 1, 2])
    name = reader.reader_id
    if left.button(t("Mark as sent"), key="note-sent", width="stretch"):
        ask(
            _KEY,
            about=(name, letter.text),
            question=t("Record in the audit trail that {reader} was reminded?", reader=name),
            do=lambda acting: note_sent(store(), study=study, reader_id=name, **acting),
            done=t("Marked as sent."),
        )
    if server is None:
        st.caption(t("This server cannot send email: copy the message and send it yourself."))
    elif not who.email:
        st.caption(t("There is no email address on record for this reader: copy the message."))
    elif right.button(t("Send by email"), key="send-mail", width="stretch"):
        ask(
            _KEY,
            about=(name, letter.text),
            question=t("Send this message to {address}?", address=who.email),
            do=lambda acting: send_reminder(
                store(), server, letter, study=study, reader_id=name, **acting
            ),
            done=t("Sent."),
        )


def home_address() -> str:
    """Return the address of the reading room as this browser knows it, without the page's."""
    parts = urlsplit(str(st.context.url or ""))
    folder = parts.path.rstrip("/").rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/" if parts.netloc else ""
