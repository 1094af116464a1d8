"""Draws a study from a bank, invites its readers, and opens it.

Opening locks the protocol: its hash covers the protocol, the bank's content and the drawn cases, so
that two deployments with the same protocol and bank show the same hash. Every assignment is written
before anyone reads; a reader invited into an open study is assigned at the invitation.
"""

import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from study import access
from study.assignment import Assigned, assign
from study.banks import bank_row
from study.canonical import canonical_json, sha256_of
from study.errors import BadFile, NotFound, NotNow
from study.moments import stamp
from study.protocol import STRATA, Protocol
from study.sampling import Candidate, Stratum
from study.sampling import draw as draw_cases
from study.store import Store, Transaction, banks, events, models, people, studies


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A reader to invite, under the code that stands for them in the study."""

    reader_id: str
    level: str = ""
    years: str = ""
    site: str = ""


def draw(
    store: Store, *, bank: str, study: str, protocol: Protocol, now: datetime
) -> tuple[Stratum, ...]:
    """Draw a study's cases and store them with its protocol.

    Raises
    ------
    NotFound
        No such bank.
    NotNow
        The name is taken, or the bank cannot give the cases asked for.
    """
    if not study.strip():
        raise NotNow("A study needs a name.")
    with store.change() as change:
        found = bank_row(change, bank)
        if studies.find(change, study):
            raise NotNow(f"A study named {study!r} is already there. Choose another name.")
        number = int(str(found["id"]))
        drawn = draw_cases(_candidates(change, number, protocol), protocol)
        locked = _locked(protocol, study, str(found["content_sha256"]), drawn.cases)
        row = studies.add(
            change,
            name=study,
            bank=number,
            state="drawn",
            protocol=canonical_json(locked),
            protocol_sha256=sha256_of(locked),
            drawn_at_utc=stamp(now),
        )
        items = banks.item_numbers(change, number)
        studies.add_cases(
            change,
            row,
            (
                (items[item_id], position, stratum)
                for position, (item_id, stratum) in enumerate(drawn.cases, start=1)
            ),
        )
        record(
            change,
            study,
            now,
            kind="study drawn",
            detail={
                "bank": bank,
                "n_cases": len(drawn.cases),
                "protocol_sha256": sha256_of(locked),
            },
        )
    return drawn.strata


def study_row(look: Transaction, name: str) -> dict[str, Any]:
    """Return a study's row, or refuse with the names there are."""
    row = studies.find(look, name)
    if row is None:
        there = ", ".join(studies.names(look)) or "none"
        raise NotFound(f"No study named {name!r}. There: {there}.")
    return row


def record(
    change: Transaction,
    study: str,
    now: datetime,
    *,
    kind: str,
    detail: Mapping[str, Any],
    actor: str = "coordinator",
) -> None:
    """Append an event to a study's chain."""
    events.append(
        change,
        chain=events.study_chain(study),
        at_utc=stamp(now),
        actor=actor,
        kind=kind,
        detail=detail,
    )


def invite(
    store: Store,
    *,
    study: str,
    invitations: Sequence[Invitation],
    codes: Sequence[access.Code],
    now: datetime,
) -> None:
    """Invite readers, all or none; their codes are stored as salted hashes only.

    Raises
    ------
    BadFile
        A reader is already in the study, or named twice, or has a model's name.
    """
    with store.change() as change:
        found = study_row(change, study)
        if found["state"] == "closed":
            raise NotNow(f"The study {study!r} is closed; nobody can be invited any more.")
        _refuse_known_readers(change, found["id"], invitations)
        for invitation, code in zip(invitations, codes, strict=True):
            _admit(change, found, invitation, code, now)


def open_study(store: Store, *, study: str, now: datetime) -> str:
    """Open a study: lock its protocol, write every assignment; return the protocol's hash.

    Raises
    ------
    NotNow
        Already open, or nobody is invited.
    """
    with store.change() as change:
        found = study_row(change, study)
        if found["state"] != "drawn":
            raise NotNow(f"The study {study!r} is already {found['state']}.")
        readers = people.readers(change, found["id"])
        if not readers:
            raise NotNow(f"The study {study!r} has no readers. Invite them first.")
        studies.mark_open(change, found["id"], stamp(now))
        record(
            change,
            study,
            now,
            kind="study opened",
            detail={
                "protocol_sha256": found["protocol_sha256"],
                "readers": [reader["reader_id"] for reader in readers],
            },
        )
        for index, reader in enumerate(readers):
            _assign_reader(change, found, reader, index, now)
    return str(found["protocol_sha256"])


def assignment_hash(look: Transaction, reader: int) -> str:
    """Return the hash that covers every assignment of a reader."""
    return sha256_of(studies.assignments(look, reader))


def _candidates(look: Transaction, bank: int, protocol: Protocol) -> list[Candidate]:
    if "site" in protocol.stratify_by:
        raise NotNow("stratify_by names site, but a bank says nothing of sites. Leave it out.")
    return [
        Candidate(
            item_id=row["item_id"],
            examination_id=row["examination_id"],
            patient_id=row["patient_id"],
            strata={key: row[key] for key in STRATA if key in row},
        )
        for row in banks.candidates(look, bank)
    ]


def _locked(
    protocol: Protocol, study: str, bank_sha256: str, cases: Iterable[tuple[str, str]]
) -> dict[str, Any]:
    values = protocol.as_json()
    return {
        "protocol": {**values, "name": values["name"] or study},
        "bank_sha256": bank_sha256,
        "cases": [item_id for item_id, _ in cases],
    }


def _refuse_known_readers(look: Transaction, study: int, invitations: Sequence[Invitation]) -> None:
    faults = []
    seen: set[str] = set()
    for invitation in invitations:
        who = invitation.reader_id
        if who in seen:
            faults.append(f"{who}: named twice. Leave one out.")
        seen.add(who)
        if people.reader(look, study, who):
            faults.append(f"{who}: already invited. Leave them out.")
        if models.find(look, study, who):
            faults.append(f"{who}: a model has that name. Choose another reader_id.")
    if faults:
        raise BadFile("Nobody was invited:\n" + "\n".join(f"  {fault}" for fault in faults))


def _admit(
    change: Transaction,
    study: Mapping[str, Any],
    invitation: Invitation,
    code: access.Code,
    now: datetime,
) -> None:
    number = people.add_reader(
        change,
        study=study["id"],
        reader_id=invitation.reader_id,
        level=invitation.level,
        years=invitation.years,
        site=invitation.site,
        simulated=0,
        invited_at_utc=stamp(now),
    )
    access.give(change, code, role="reader", study=study["id"], reader=number, name="", now=now)
    record(
        change,
        study["name"],
        now,
        kind="reader invited",
        detail={
            "reader_id": invitation.reader_id,
            "level": invitation.level,
            "years": invitation.years,
            "site": invitation.site,
        },
    )
    if study["state"] == "open":
        readers = people.readers(change, study["id"])
        _assign_reader(change, study, readers[-1], len(readers) - 1, now)


def _assign_reader(
    change: Transaction,
    study: Mapping[str, Any],
    reader: Mapping[str, Any],
    index: int,
    now: datetime,
) -> None:
    protocol = stored_protocol(study)
    cases = {row["item_id"]: row for row in studies.cases(change, study["id"])}
    assigned = assign(
        [(row["item_id"], row["options"]) for row in cases.values()],
        protocol,
        reader_id=reader["reader_id"],
        reader_index=index,
    )
    key = bytes.fromhex(access.secret(change))
    studies.add_assignments(
        change,
        (
            _assignment_row(entry, reader["id"], cases[entry.item_id]["id"], key)
            for entry in assigned
        ),
    )
    record(
        change,
        study["name"],
        now,
        kind="reader assigned",
        detail={
            "reader_id": reader["reader_id"],
            "n_assigned": len(assigned),
            "assignments_sha256": assignment_hash(change, reader["id"]),
        },
    )


def stored_protocol(study: Mapping[str, Any]) -> Protocol:
    """Return the protocol of a study's row."""
    return Protocol.from_json(json.loads(study["protocol"])["protocol"])


def _assignment_row(entry: Assigned, reader: int, case: int, key: bytes) -> tuple[Any, ...]:
    opaque = hmac.digest(key, f"assignment/{reader}/{entry.position}".encode(), "sha256")
    return (
        opaque.hex()[:24],
        reader,
        case,
        entry.condition,
        entry.session,
        entry.repeat,
        entry.position,
        entry.shown_order,
    )
