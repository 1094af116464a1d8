"""Draws a study from a bank, invites its readers, and opens it.

Opening locks the protocol: its hash covers the protocol, the bank's content and the drawn cases, so
that two deployments with the same protocol and bank show the same hash. Every assignment is written
before anyone reads; a reader invited into an open study is assigned at the invitation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from study import access, persons
from study.acts import COMMAND_LINE, By
from study.banks import bank_row
from study.canonical import canonical_json, sha256_of
from study.errors import BadFile, BrokenStore, NotFound, NotNow
from study.lists import assign_reader, stored_protocol
from study.moments import stamp
from study.names import check_name, name_fault, name_key
from study.protocol import STRATA, Protocol
from study.roles import Role
from study.sampling import Candidate, Stratum, draw_practice
from study.sampling import draw as draw_cases
from study.store import Store, Transaction, banks, events, models, people, practice, studies

__all__ = [
    "Invitation",
    "cases_hash",
    "draw",
    "invite",
    "open_study",
    "practice_cases_hash",
    "reader_facts",
    "stored_protocol",
    "study_row",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A reader to invite, under the code that stands for them in the study.

    `name` and `email` are kept apart from everything else and can be erased, see `study.persons`.
    """

    reader_id: str
    level: str = ""
    years: str = ""
    site: str = ""
    name: str = field(default="", repr=False)
    email: str = field(default="", repr=False)


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
    check_name(study, "study")
    with store.change() as change:
        found = bank_row(change, bank)
        if studies.find(change, study):
            raise NotNow(f"A study named {study!r} is already there. Choose another name.")
        number = int(found["id"])
        candidates = _candidates(change, number, protocol)
        drawn = draw_cases(candidates, protocol)
        rehearsed = _draw_practice(change, number, candidates, drawn.cases, protocol)
        locked = _locked(protocol, study, found["content_sha256"], drawn.cases, rehearsed)
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
        practice.add_cases(change, row, (items[item_id] for item_id in rehearsed))
        events.record(
            change,
            study,
            now,
            kind="study drawn",
            detail={
                "bank": bank,
                "n_cases": len(drawn.cases),
                "protocol_sha256": sha256_of(locked),
                "cases_sha256": cases_hash(change, row),
                **({"practice_sha256": practice_cases_hash(change, row)} if rehearsed else {}),
            },
        )
    return drawn.strata


def cases_hash(look: Transaction, study: int) -> str:
    """Return the hash that covers a study's cases with their numbers and strata."""
    return sha256_of(
        [[row["number"], row["item_id"], row["stratum"]] for row in studies.cases(look, study)]
    )


def practice_cases_hash(look: Transaction, study: int) -> str:
    """Return the hash that covers a study's practice cases with their numbers."""
    return sha256_of([[row["number"], row["item_id"]] for row in practice.cases(look, study)])


def study_row(look: Transaction, name: str) -> dict[str, Any]:
    """Return a study's row, or refuse with the names there are."""
    row = studies.find(look, name)
    if row is None:
        there = ", ".join(studies.names(look)) or "none"
        raise NotFound(f"No study named {name!r}. There: {there}.")
    return row


def invite(
    store: Store,
    *,
    study: str,
    invitations: Sequence[Invitation],
    codes: Sequence[access.Code],
    now: datetime,
    deliver: Callable[[], None] = lambda: None,
    expires: datetime | None = None,
    by: By = COMMAND_LINE,
) -> tuple[str, ...]:
    """Invite readers, all or none; their codes are stored as salted hashes only.

    Returns
    -------
    tuple of str
        Who was not given their code, for they are known by their e-mail address and have one.

    Parameters
    ----------
    deliver
        Hands the codes out, within the transaction: where that fails nobody is invited, for a code
        that was never seen can never be found again.

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
        known = [
            _admit(change, found, invitation, code, expires, by, now)
            for invitation, code in zip(invitations, codes, strict=True)
        ]
        deliver()
    return tuple(
        one.reader_id for one, is_known in zip(invitations, known, strict=True) if is_known
    )


def open_study(store: Store, *, study: str, now: datetime) -> str:
    """Open a study: lock its protocol, write every assignment; return the protocol's hash.

    Raises
    ------
    NotNow
        Already open, or nobody is invited.
    BrokenStore
        It was opened before, and its state altered since.
    """
    with store.change() as change:
        found = study_row(change, study)
        if found["state"] != "drawn":
            raise NotNow(f"The study {study!r} is already {found['state']}.")
        readers = people.readers(change, found["id"])
        if not readers:
            raise NotNow(f"The study {study!r} has no readers. Invite them first.")
        _refuse_opened_before(change, found, readers)
        studies.mark_open(change, found["id"], stamp(now))
        events.record(
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
            assign_reader(change, found, reader, index, now)
    return str(found["protocol_sha256"])


def _refuse_opened_before(
    look: Transaction, study: Mapping[str, Any], readers: Iterable[Mapping[str, Any]]
) -> None:
    trail = events.walk(look, events.study_chain(study["name"]))
    opened = any(event["kind"] == "study opened" for event in trail)
    if opened or any(studies.assignments(look, reader["id"]) for reader in readers):
        raise BrokenStore(
            f"The study {study['name']!r} was opened before and its state was altered since. "
            "See what else was: python -m study verify --db DB"
        )


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


def _draw_practice(
    look: Transaction,
    bank: int,
    candidates: Iterable[Candidate],
    cases: Iterable[tuple[str, str]],
    protocol: Protocol,
) -> list[str]:
    if not protocol.practice_cases:
        return []
    sample = {item_id for item_id, _ in cases}
    films = banks.films_by_item(look, bank)
    shown = set[str]().union(*(films.get(item_id, ()) for item_id in sample))
    # A bank may name neither patient nor examination, or give one film to several of them.
    elsewhere = {item_id for item_id, own in films.items() if own.isdisjoint(shown)}
    eligible = banks.with_truth(look, bank) & elsewhere
    return draw_practice(candidates, eligible, sample, protocol)


def _locked(
    protocol: Protocol,
    study: str,
    bank_sha256: str,
    cases: Iterable[tuple[str, str]],
    rehearsed: Sequence[str],
) -> dict[str, Any]:
    values = protocol.as_json()
    locked = {
        "protocol": {**values, "name": values["name"] or study},
        "bank_sha256": bank_sha256,
        "cases": [item_id for item_id, _ in cases],
    }
    return {**locked, "practice_cases_drawn": list(rehearsed)} if rehearsed else locked


def _refuse_known_readers(look: Transaction, study: int, invitations: Sequence[Invitation]) -> None:
    faults = []
    readers = {name_key(row["reader_id"]) for row in people.readers(look, study)}
    taken = {name_key(row["model_id"]) for row in models.of_study(look, study)}
    seen: set[str] = set()
    for invitation in invitations:
        who, key = invitation.reader_id, name_key(invitation.reader_id)
        fault = name_fault(who)
        if fault:
            faults.append(f"{who!r}: the name {fault}. Choose another reader_id.")
        if key in seen:
            faults.append(f"{who}: named twice. Leave one out.")
        seen.add(key)
        if key in readers:
            faults.append(f"{who}: already invited. Leave them out.")
        if key in taken:
            faults.append(f"{who}: a model has that name. Choose another reader_id.")
    if faults:
        raise BadFile("Nobody was invited:\n" + "\n".join(f"  {fault}" for fault in faults))


def reader_facts(row: Mapping[str, Any]) -> dict[str, str]:
    """Return what the event of a reader's invitation says of their row."""
    return {key: row[key] for key in ("reader_id", "level", "years", "site")}


def _admit(
    change: Transaction,
    study: Mapping[str, Any],
    invitation: Invitation,
    code: access.Code,
    expires: datetime | None,
    by: By,
    now: datetime,
) -> bool:
    """Make a reader of an invitation, and return whether they keep the code they have."""
    about = {
        "reader_id": invitation.reader_id,
        "level": invitation.level,
        "years": invitation.years,
        "site": invitation.site,
    }
    person, known = persons.reader_behind(change, invitation.email, study["id"], now)
    number = people.add_reader(
        change, study=study["id"], **about, simulated=0, invited_at_utc=stamp(now)
    )
    people.grant(
        change,
        person=person,
        role=Role.READER,
        study=study["id"],
        reader=number,
        given_at_utc=stamp(now),
    )
    if not known:
        access.give(change, code, person=person, now=now, expires=expires)
        if invitation.name or invitation.email:
            persons.keep_name(change, person, name=invitation.name, email=invitation.email)
    events.record(change, study["name"], now, kind="reader invited", detail=about, by=by)
    if study["state"] == "open":
        readers = people.readers(change, study["id"])
        assign_reader(change, study, readers[-1], len(readers) - 1, now)
    return known
