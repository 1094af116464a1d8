"""The end of a reader's study where going back is allowed: an act of their own, told once.

Without going back whoever has read every case has finished. With it there is a last chance to
review, and answers stand from the moment the reader says so.
"""

from datetime import datetime

from study.base.translation import t
from study.people.signing_in import Person
from study.protocol.protocol import Protocol
from study.reading.outcomes import Taken
from study.reading.records import Finish
from study.reading.sessions import place_of
from study.store import Transaction, events
from study.store.events import EventKind


def has_finished(look: Transaction, study: str, reader_id: str) -> bool:
    """Return whether a reader has said that their answers stand."""
    chain = events.study_chain(study)
    return events.last_hash(look, chain, EventKind.READING_FINISHED, reader_id) is not None


def take(
    change: Transaction, protocol: Protocol, person: Person, record: Finish, *, now: datetime
) -> Taken:
    """Note that a reader has finished, once, or say why they have not."""
    refused = _refusal(change, protocol, person, now)
    if not refused and not has_finished(change, person.study_name, person.name):
        events.record(
            change,
            person.study_name,
            now,
            by=person.by,
            kind=EventKind.READING_FINISHED,
            detail={"finish": record.id},
        )
    return Taken(id=record.id, case="", refused=refused)


def _refusal(look: Transaction, protocol: Protocol, person: Person, now: datetime) -> str:
    if not protocol.back_navigation:
        return t("This study ends with the last answer.")
    if not place_of(look, protocol, person.reader or 0, now=now).all_read:
        return t("Some cases have not been read yet.")
    return ""
