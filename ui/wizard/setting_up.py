"""What the set-up page of a drawn, open or closed study shows and does."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from study.lifecycle import amendments, opening
from study.lifecycle.amendments import Amendment
from study.lifecycle.closing import discard as discard_study
from study.people.access import Person
from study.protocol.protocol import Protocol, stored_protocol
from study.store import people
from study.store.studies import study_row
from study.trail import deposits
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
            name=row["name"],
            state=row["state"],
            bank=row["bank_name"],
            protocol=stored_protocol(row),
            protocol_sha256=row["protocol_sha256"],
            readers=tuple(one["reader_id"] for one in people.readers(look, row["id"])),
            drawn_at_utc=row["drawn_at_utc"],
            opened_at_utc=row["opened_at_utc"] or "",
            closed_at_utc=row["closed_at_utc"] or "",
            amendments=tuple(amendments.of_study(look, row["id"])),
        )


def cautions_of(study: str) -> tuple[str, ...]:
    """Return what to know of a drawn study before it is opened."""
    return opening.cautions(store(), study)


def open_study(person: Person, witness: str) -> None:
    """Open the person's study; the head of its chain goes to `witness`, if anybody is named.

    Raises
    ------
    Undelivered
        That is no e-mail address; nothing is opened.
    """
    study, now = person.study_name, datetime.now(UTC)
    deposits.open_study(store(), study=study, witness=witness.strip(), by=person.by, now=now)
    deposits.send_now(store(), os.environ, study, now=now, by=person.by)


def discard(person: Person, reason: str) -> None:
    """Discard the person's study, which is drawn."""
    now = datetime.now(UTC)
    discard_study(store(), study=person.study_name, reason=reason, by=person.by, now=now)


def amend(person: Person, changes: Mapping[str, Any], reason: str) -> None:
    """Amend the protocol of the person's study."""
    now = datetime.now(UTC)
    amendments.amend(
        store(),
        study=person.study_name,
        changes=changes,
        reason=reason,
        by=person.by,
        now=now,
    )
