"""Creates a deployment's store, and access codes for coordinators, administrators and readers."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from study.base.actor import COMMAND_LINE, Acting
from study.base.canonical import sha256_of, stamp
from study.base.errors import NotFound, NotNow
from study.base.text import check_code_name, quoted
from study.people.codes import Entropy, issue_code, new_code
from study.people.roles import Role
from study.store import Store, Transaction, deployment, events, people
from study.store.events import EventKind
from study.store.studies import refuse_restored, study_row


def init(address: Path | str, *, entropy: Entropy, now: datetime, witnessed: bool = True) -> Store:
    """Create an empty store with a new secret, or open the existing store.

    The trail contains a hash of the secret, so that `verify` can check it.
    """

    def fill(change: Transaction) -> None:
        deployment.set_once(change, "secret", entropy(32).hex())
        deployment.set_once(change, "deployment_id", entropy(8).hex())
        events.record(
            change,
            "",
            Acting(by=COMMAND_LINE, now=now),
            kind=EventKind.DEPLOYMENT_MADE,
            detail={
                "deployment_id": deployment.value(change, "deployment_id"),
                "secret_sha256": sha256_of(deployment.value(change, "secret")),
            },
        )

    return Store.create(address, fill, witnessed=witnessed)


def coordinator_code(
    store: Store,
    *,
    study: str,
    name: str,
    entropy: Entropy,
    now: datetime,
    deliver: Callable[[str], None] = lambda code: None,
) -> str:
    """Give a coordinator of a study an access code; an earlier code stops working.

    Parameters
    ----------
    deliver
        Delivers the code within the transaction; if it fails, nothing is changed.
    """
    return _staff_code(store, Role.COORDINATOR, study, name, entropy, now, deliver)


def administrator_code(
    store: Store,
    *,
    name: str,
    entropy: Entropy,
    now: datetime,
    deliver: Callable[[str], None] = lambda code: None,
) -> str:
    """Give an administrator of the deployment an access code; an earlier code stops working.

    Parameters
    ----------
    deliver
        Delivers the code within the transaction; if it fails, nothing is changed.
    """
    return _staff_code(store, Role.ADMINISTRATOR, "", name, entropy, now, deliver)


def first_administrator(store: Store, *, entropy: Entropy, now: datetime) -> str:
    """Create the administrator ``admin`` if there is none; return their code, otherwise ""."""
    with store.look() as look:
        rows = people.grants_of_deployment(look)
    if any(row.role == Role.ADMINISTRATOR and not row.revoked_at_utc for row in rows):
        return ""
    return administrator_code(store, name="admin", entropy=entropy, now=now)


def reader_code(
    store: Store,
    *,
    study: str,
    reader_id: str,
    entropy: Entropy,
    now: datetime,
    deliver: Callable[[str], None] = lambda code: None,
) -> str:
    """Give a reader a new access code; the earlier code stops working.

    Raises
    ------
    NotFound
        The study or reader does not exist.
    NotNow
        The reader's role in the study was revoked.
    """
    code = new_code(entropy)
    with store.change() as change:
        row_of_study = study_row(change, study)
        refuse_restored(row_of_study)
        reader = people.reader(change, row_of_study.id, reader_id)
        if reader is None:
            suggestion = people.reader_suggestion(change, row_of_study.id, reader_id)
            raise NotFound(
                f"There is no reader {quoted(reader_id)} in {quoted(study)}.{suggestion}"
            )
        person = people.person_of_reader(change, reader.id)
        if person is None:
            raise NotNow(
                f"{quoted(reader_id)} no longer has a role in {quoted(study)}: it was revoked."
            )
        issue_code(change, code, person=person, now=now)
        events.record(
            change,
            study,
            Acting(by=COMMAND_LINE, now=now),
            kind=EventKind.READER_GIVEN_NEW_CODE,
            detail={"reader_id": reader_id},
        )
        deliver(code.text)
    return code.text


def _staff_code(
    store: Store,
    role: Role,
    study: str,
    name: str,
    entropy: Entropy,
    now: datetime,
    deliver: Callable[[str], None],
) -> str:
    """Give the holder of a role in a study (empty: in the deployment) a new access code."""
    check_code_name(name, role)
    code = new_code(entropy)
    with store.change() as change:
        number = study_row(change, study).id if study else None
        issue_code(change, code, person=holder(change, name, role, number, now), now=now)
        events.record(
            change,
            study,
            Acting(by=COMMAND_LINE, now=now),
            kind=EventKind(f"{role} given access"),
            detail={"name": name},
        )
        deliver(code.text)
    return code.text


def holder(change: Transaction, name: str, role: Role, study: int | None, now: datetime) -> int:
    """Return the person who holds a role under a name; create the person if there is none."""
    existing = people.holder(change, handle=name, role=role, study=study)
    if existing:
        return existing.person
    person = people.add(change, handle=name, made_at_utc=stamp(now))
    people.grant(change, person=person, role=role, study=study, given_at_utc=stamp(now))
    return person
