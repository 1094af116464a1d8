"""Sends reminders to readers who have been inactive for the number of days set by a coordinator.

The setting and each reminder are events in the study's audit trail.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from study.base import translation
from study.base.actor import SCHEDULE, Acting
from study.base.canonical import moment
from study.base.errors import BadInput, StudyError
from study.base.mail import MailServer
from study.base.translation import t
from study.monitoring.progress import ReaderProgress, progress_of
from study.monitoring.reminders import (
    compose_reminder,
    find_addressee,
    last_reminder_times,
    may_be_reminded,
    refuse_unless_open,
    send_reminder,
)
from study.reading.course import SessionState
from study.store import Store, events, studies
from study.store.events import EventKind
from study.store.leases import lease

MAX_REMINDER_DAYS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderSchedule:
    """When readers of a study are reminded.

    Attributes
    ----------
    days : int
        Days without a reading or reminder after which a reader is reminded; 0 for never.
    address : str
        The address of the reading room, which the reminder contains.
    language : str
        The language of the reminder.
    since_utc : str
        When the schedule was set; days before that do not count.
    """

    days: int = 0
    address: str = ""
    language: str = ""
    since_utc: str = ""


def reminder_schedule(store: Store, study: str) -> ReminderSchedule:
    """Return the schedule for a study's reminders."""
    with store.look(sealed=True) as look:
        kinds = (EventKind.REMINDERS_SCHEDULED,)
        event = events.last_of_kinds(look, events.study_chain(study), kinds)
    if event is None:
        return ReminderSchedule()
    values = {key: event.detail[key] for key in ("days", "address", "language")}
    return ReminderSchedule(since_utc=event.at_utc, **values)


def schedule_reminders(
    store: Store, *, study: str, days: int, address: str, acting: Acting
) -> None:
    """Set after how many days without a reading a reader is reminded.

    Reminders are written in the current language.

    Raises
    ------
    BadInput
        `days` is out of range.
    NotNow
        The study is not open.
    """
    if not 0 <= days <= MAX_REMINDER_DAYS:
        raise BadInput(t("Enter a number of days from 0 to {most}.", most=MAX_REMINDER_DAYS))
    with store.change() as change:
        refuse_unless_open(change, study)
        events.record(
            change,
            study,
            acting,
            kind=EventKind.REMINDERS_SCHEDULED,
            detail={"days": days, "address": address, "language": translation.language()},
        )


def send_due_reminders(store: Store, environment: Mapping[str, str], *, now: datetime) -> list[str]:
    """Send the reminders that are due; return the reason if one could not be sent.

    Only one of several servers sends reminders at a time. After a failure, no others are tried.
    """
    with store.look(sealed=True) as look:
        opened = [row.name for row in studies.listed(look) if row.state == "open"]
    scheduled = {name: reminder_schedule(store, name) for name in opened}
    scheduled = {name: schedule for name, schedule in scheduled.items() if schedule.days}
    if not scheduled:
        return []
    with lease(store, "reminders") as is_ours:
        try:
            server = MailServer.from_environment(environment)
            if is_ours() and server:
                for name, schedule in scheduled.items():
                    _send_due(store, server, name, schedule, now, is_ours)
        except StudyError as error:
            return [str(error)]
    return []


def _send_due(
    store: Store,
    server: MailServer,
    study: str,
    schedule: ReminderSchedule,
    now: datetime,
    is_ours: Callable[[], bool],
) -> None:
    progress, reminded = progress_of(store, study, now=now), last_reminder_times(store, study)
    for reader in progress.readers:
        if not _is_due(reader, schedule, reminded.get(reader.reader_id), now):
            continue
        recipient = find_addressee(store, study, reader.reader_id)
        if not recipient.email:
            continue
        if not is_ours():  # this server was suspended, and another server sends the reminders
            return
        with translation.in_language(schedule.language):
            letter = compose_reminder(
                progress, reader, name=recipient.name, address=schedule.address
            )
        acting = Acting(by=SCHEDULE, now=now)
        send_reminder(store, server, letter, study=study, reader_id=reader.reader_id, acting=acting)


def _is_due(
    reader: ReaderProgress, schedule: ReminderSchedule, reminded: str | None, now: datetime
) -> bool:
    """Return whether a reader could have read during the scheduled number of days, but did not."""
    session = reader.current
    if not may_be_reminded(reader) or session is None or session.paused:
        return False
    if session.state != SessionState.OPEN:
        return False
    times = (schedule.since_utc, reader.last_at_utc, session.opens_at_utc, reminded)
    last = max(moment(time) for time in times if time)
    return now - last >= timedelta(days=schedule.days)
