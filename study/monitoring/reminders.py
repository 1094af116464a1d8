"""Writes reminders to readers, and sends them if the deployment has a mail server.

The trail records that a reader was reminded and how, but not their name or address. A reminder
cannot contain the access code, because the store contains only a hash of it.
"""

from dataclasses import dataclass

from study.base import translation
from study.base.actor import Acting
from study.base.errors import NotFound, NotNow
from study.base.mail import MailServer, send
from study.base.translation import t, tn
from study.monitoring.progress import Progress, ReaderProgress, Stage
from study.reading.course import SessionStanding, SessionState
from study.store import Store, Transaction, events, people
from study.store.events import EventKind
from study.store.studies import study_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressee:
    """Name and e-mail address of a reader, if stored; both may be empty."""

    name: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A reminder that has not been sent yet; the sender may change the text."""

    subject: str
    text: str


def find_addressee(store: Store, study: str, reader_id: str) -> Addressee:
    """Return the name and address of a reader; call it only for people who may see names."""
    with store.look() as look:
        reader = people.reader(look, study_row(look, study).id, reader_id)
        person = people.person_of_reader(look, reader.id) if reader else None
        row = people.name_of(look, person) if person is not None else None
    return Addressee(name=row.name, email=row.email) if row else Addressee()


def may_be_reminded(reader: ReaderProgress) -> bool:
    """Return whether a reader has unread cases and is a real person in the study."""
    return reader.stage not in (Stage.FINISHED, Stage.WITHDRAWN) and not reader.simulated


def compose_reminder(
    progress: Progress, reader: ReaderProgress, *, name: str, address: str
) -> Letter:
    """Write a reminder in the current language.

    Parameters
    ----------
    name
        Name for the salutation; if empty, the study code is used.
    address
        The address of the reading room.
    """
    lines = [
        t("Dear {name},", name=name or reader.reader_id),
        "",
        _progress_sentence(progress, reader),
        *_session_lines(reader.current),
        "",
        t("Continue reading here: {address}", address=address),
        t(
            "Sign in with the access code you were given for {reader}. If you no longer have it, "
            "reply to this message and we will send you a new one.",
            reader=reader.reader_id,
        ),
        "",
        t(
            "All your answers are saved; you will continue where you stopped. Thank you for "
            "reading."
        ),
    ]
    return Letter(subject=t("Your cases in {study}", study=progress.study), text="\n".join(lines))


def send_reminder(
    store: Store, server: MailServer, letter: Letter, *, study: str, reader_id: str, acting: Acting
) -> None:
    """Send a reminder to a reader's address, and record that it was sent.

    Raises
    ------
    NotFound
        No e-mail address is stored for the reader.
    Undelivered
        The message could not be sent; nothing is recorded.
    """
    to = find_addressee(store, study, reader_id).email
    if not to:
        raise NotFound(t("No email address is recorded for {reader}.", reader=reader_id))
    with store.look(sealed=True) as look:
        refuse_unless_open(look, study)
    send(server, to=to, subject=letter.subject, text=letter.text)
    _record(store, study, reader_id, "e-mail", acting)


def record_sent(store: Store, *, study: str, reader_id: str, acting: Acting) -> None:
    """Record that the coordinator has sent a reminder manually."""
    with store.look(sealed=True) as look:
        refuse_unless_open(look, study)
    _record(store, study, reader_id, "by hand", acting)


def last_reminder_times(store: Store, study: str) -> dict[str, str]:
    """Return the time of the last reminder of each reader."""
    with store.look(sealed=True) as look:
        return {
            event.detail["reader_id"]: event.at_utc
            for event in events.walk(look, events.study_chain(study))
            if event.kind == EventKind.REMINDER_SENT
        }


def refuse_unless_open(look: Transaction, study: str) -> None:
    """Refuse reminders for a study that is not open."""
    if study_row(look, study).state != "open":
        raise NotNow(t("The study is not open, so no reminders can be sent."))


def _record(store: Store, study: str, reader_id: str, way: str, acting: Acting) -> None:
    with store.change() as change:
        events.record(
            change,
            study,
            acting,
            kind=EventKind.REMINDER_SENT,
            detail={"reader_id": reader_id, "way": way},
        )


def _progress_sentence(progress: Progress, reader: ReaderProgress) -> str:
    counts = reader.counts
    if not counts.n_read:
        return tn(
            "{n} case in the study {study} is waiting for you.",
            "{n} cases in the study {study} are waiting for you.",
            counts.n_assigned,
            study=progress.study,
        )
    return tn(
        "You have read {read} of {total} cases in the study {study}; {n} remains.",
        "You have read {read} of {total} cases in the study {study}; {n} remain.",
        counts.n_unread,
        read=counts.n_read,
        total=counts.n_assigned,
        study=progress.study,
    )


def _session_lines(session: SessionStanding | None) -> list[str]:
    """Return a line about the opening or the deadline of a reader's session, if it has one."""
    if session is None:
        return []
    if session.state == SessionState.WASHING_OUT and session.opens_at_utc:
        opens = translation.date_and_time(session.opens_at_utc)
        return [t("Session {n} opens on {time}.", n=session.session, time=opens)]
    if session.state == SessionState.OPEN and session.ends_at_utc:
        ends = translation.date_and_time(session.ends_at_utc)
        return [t("Session {n} ends on {time}.", n=session.session, time=ends)]
    if session.state == SessionState.LAPSED and session.ends_at_utc:
        ended = translation.date_and_time(session.ends_at_utc)
        return [
            t(
                "The time for session {n} ran out on {time}; reply to this message if you "
                "would like to continue.",
                n=session.session,
                time=ended,
            )
        ]
    return []
