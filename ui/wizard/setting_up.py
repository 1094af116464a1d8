"""What the set-up page of a drawn, open or closed study shows, and opening it."""

import os
from dataclasses import dataclass

from study.people.signing_in import Person
from study.protocol.protocol import Protocol, stored_protocol
from study.store import people, studies
from study.store.studies import Amendment, study_row
from study.trail import heads
from ui.server.access import acting
from ui.server.deployment import store


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """A study as its set-up page shows it."""

    name: str
    state: str
    bank: str
    protocol: Protocol
    protocol_sha256: str
    readers: tuple[str, ...]
    drawn_at_utc: str
    opened_at_utc: str
    closed_at_utc: str
    amendments: tuple[Amendment, ...]


def set_up_of(study: str) -> SetUp:
    """Return a study's set-up.

    Raises
    ------
    NotFound
        No such study.
    """
    with store().look() as look:
        row = study_row(look, study)
        return SetUp(
            name=row.name,
            state=row.state,
            bank=row.bank_name,
            protocol=stored_protocol(row),
            protocol_sha256=row.protocol_sha256,
            readers=tuple(one.reader_id for one in people.readers(look, row.id)),
            drawn_at_utc=row.drawn_at_utc,
            opened_at_utc=row.opened_at_utc or "",
            closed_at_utc=row.closed_at_utc or "",
            amendments=tuple(studies.amendments(look, row.id)),
        )


def open_study(person: Person, witness: str) -> None:
    """Open the person's study; the head of its chain goes to `witness`, if anybody is named.

    Raises
    ------
    Undelivered
        That is no e-mail address; nothing is opened.
    """
    kept, study, told = store(), person.study_name, acting(person)
    heads.open_study(kept, study=study, witness=witness.strip(), **told)
    heads.send_now(kept, os.environ, study, **told)
