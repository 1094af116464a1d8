"""Roles given and revoked, codes replaced, names erased: what is done about one person.

Whoever reads in a study never has another role in it, and the other way round, for good: the
tables refuse it, and here it is said in words. `everywhere` says that whoever acts is an
administrator of the deployment; see `study.people.persons` for what that is needed for.
"""

from dataclasses import dataclass
from datetime import datetime

from study.base.actor import By
from study.base.canonical import stamp
from study.base.errors import BadInput, NotAllowed, NotNow
from study.base.text import check_code_name, checked_reason, name_key
from study.base.translation import t
from study.people import codes, persons
from study.people.codes import Code
from study.people.roles import Role
from study.store import Store, Transaction, events, names, people
from study.store.events import EventKind
from study.store.people import GrantRow
from study.store.studies import study_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """Somebody to give a role to.

    Parameters
    ----------
    handle
        What they are called in the trail, for good: initials or a function.
    name, email
        Kept apart and erasable; the address is how they are known at single sign-on.
    """

    handle: str
    role: Role
    name: str = ""
    email: str = ""


def give_role(
    store: Store,
    newcomer: Newcomer,
    *,
    study: str,
    code: Code,
    expires: datetime | None,
    everywhere: bool,
    by: By,
    now: datetime,
) -> str:
    """Give a role in a study (or, where `study` is empty, in the deployment); return the handle.

    Somebody who is known by their e-mail address, or to an administrator of the deployment by
    their handle, stays the same person. The code is theirs from then on; one they had stops.

    Raises
    ------
    NotAllowed
        They read in the study, or have a part elsewhere that `everywhere` is needed for.
    NotNow
        They have the role already, or the handle is another's.
    """
    check_code_name(newcomer.handle, str(newcomer.role))
    if study and newcomer.role is Role.REVIEWER:
        raise BadInput(t("Reviewers are added for the whole server, not for one study."))
    with store.change() as change:
        number = study_row(change, study).id if study else None
        person = _known(change, newcomer, everywhere=everywhere)
        if person is None:
            _refuse_taken(change, newcomer.handle, number)
            person = people.add(change, handle=newcomer.handle, made_at_utc=stamp(now))
        else:
            _refuse_reader(change, person, number)
            persons.refuse_with_parts_elsewhere(change, person, number, everywhere=everywhere)
            _refuse_twice(change, person, newcomer, number)
            people.name_handle(change, person, newcomer.handle)
        if newcomer.name.strip() or newcomer.email.strip():
            persons.keep_name(change, person, name=newcomer.name, email=newcomer.email)
        handle = people.handle_of(change, person)
        enter_role(change, person, newcomer.role, study=study, number=number, by=by, now=now)
        codes.give(change, code, person=person, now=now, expires=expires)
    return handle


def enter_role(
    change: Transaction,
    person: int,
    role: Role,
    *,
    study: str,
    number: int | None,
    by: By,
    now: datetime,
) -> None:
    """Give a person who has a handle a role, within a transaction that has checked all else."""
    people.grant(change, person=person, role=role, study=number, given_at_utc=stamp(now))
    handle = people.handle_of(change, person)
    detail = {"whose": handle, "new": str(role)}
    events.record(change, study, now, kind=EventKind.ROLE_GIVEN, detail=detail, by=by)


def revoke(store: Store, *, study: str, grant: int, reason: str, by: By, now: datetime) -> None:
    """End a role at once: its holder is signed out everywhere, and a last role takes the code.

    Raises
    ------
    NotNow
        It was revoked already, or it is the deployment's last administrator.
    BadInput
        No reason is given.
    """
    why = checked_reason(reason)
    with store.change() as change:
        row = _grant(change, study, grant)
        if row.revoked_at_utc:
            raise NotNow(t("That role has already been revoked."))
        if not study and row.role == Role.ADMINISTRATOR:
            _refuse_last_administrator(change)
        persons.end_role(change, study, row, why, by, now)


def give_back(
    store: Store,
    *,
    study: str,
    grant: int,
    code: Code,
    expires: datetime | None,
    everywhere: bool,
    by: By,
    now: datetime,
) -> None:
    """Give a revoked role back to whoever held it, with a new code."""
    with store.change() as change:
        row = _grant(change, study, grant)
        persons.refuse_with_parts_elsewhere(change, row.person, row.study, everywhere=everywhere)
        if any(
            (one.role, one.study) == (row.role, row.study)
            for one in people.roles_held(change, row.person)
        ):
            raise NotNow(t("That role has already been restored."))
        people.grant(
            change,
            person=row.person,
            role=row.role,
            study=row.study,
            reader=row.reader,
            given_at_utc=stamp(now),
        )
        detail = {"whose": row.whose, "new": row.role}
        events.record(change, study, now, kind=EventKind.ROLE_GIVEN, detail=detail, by=by)
        codes.give(change, code, person=row.person, now=now, expires=expires)


def replace_code(
    store: Store,
    *,
    study: str,
    grant: int,
    code: Code,
    expires: datetime | None,
    everywhere: bool,
    by: By,
    now: datetime,
) -> None:
    """Give whoever holds a role a new code; the old one and all its sign-ins end."""
    with store.change() as change:
        row = _standing_grant(change, study, grant)
        persons.refuse_with_parts_elsewhere(change, row.person, row.study, everywhere=everywhere)
        codes.give(change, code, person=row.person, now=now, expires=expires)
        detail = {"whose": row.whose, "expires_at_utc": stamp(expires) if expires else ""}
        events.record(change, study, now, kind=EventKind.CODE_GIVEN, detail=detail, by=by)


def change_name(
    store: Store,
    *,
    study: str,
    grant: int,
    name: str,
    email: str,
    everywhere: bool,
    by: By,
    now: datetime,
) -> None:
    """Keep another name and e-mail address; the trail says that, and neither of them."""
    if not name.strip() and not email.strip():
        raise BadInput(t("Enter a name or an email address, or erase what is recorded."))
    with store.change() as change:
        row = _grant(change, study, grant)
        persons.refuse_with_parts_elsewhere(change, row.person, row.study, everywhere=everywhere)
        persons.keep_name(change, row.person, name=name, email=email)
        detail = {"whose": row.whose}
        events.record(change, study, now, kind=EventKind.NAME_ENTERED, detail=detail, by=by)


def erase_name(
    store: Store, *, study: str, grant: int, everywhere: bool, by: By, now: datetime
) -> bool:
    """Erase a person's name, e-mail address and identities; nothing they read is touched.

    Returns
    -------
    bool
        Whether the bytes have left the journal too; otherwise they do when nobody is in the way.
    """
    with store.change() as change:
        row = _grant(change, study, grant)
        persons.refuse_with_parts_elsewhere(change, row.person, row.study, everywhere=everywhere)
        if not names.erase(change, row.person):
            raise NotNow(t("No name is recorded for {who}.", who=row.whose))
        detail = {"whose": row.whose}
        events.record(change, study, now, kind=EventKind.NAME_ERASED, detail=detail, by=by)
    return store.fold_in()


def _grant(look: Transaction, study: str, grant: int) -> GrantRow:
    return persons.grant_in(look, grant, study_row(look, study).id if study else None)


def _standing_grant(look: Transaction, study: str, grant: int) -> GrantRow:
    row = _grant(look, study, grant)
    if row.revoked_at_utc:
        raise NotNow(t("{who} no longer has access here. Restore their role first.", who=row.whose))
    return row


def _known(look: Transaction, newcomer: Newcomer, *, everywhere: bool) -> int | None:
    known = persons.by_email(look, newcomer.email)
    if known is None and everywhere:
        named = people.staff_named(look, newcomer.handle)
        if len(named) == 1:
            return named[0]
    return known


def _refuse_taken(look: Transaction, handle: str, study: int | None) -> None:
    there = people.grants_of_deployment(look)
    there += people.grants_of_study(look, study) if study else []
    if name_key(handle) in {name_key(row.whose) for row in there}:
        raise NotNow(
            t("The short name {handle} is already in use here. Choose another.", handle=handle)
        )


def _refuse_reader(look: Transaction, person: int, study: int | None) -> None:
    for row in people.ever(look, person):
        if row.role == Role.READER and study in (None, row.study):
            raise NotAllowed(
                t(
                    "This person reads, as {who}, in a study this role would let them run. A "
                    "reader in a study cannot have another role in it.",
                    who=row.whose,
                )
            )


def _refuse_twice(look: Transaction, person: int, newcomer: Newcomer, study: int | None) -> None:
    for row in people.roles_held(look, person):
        if row.role == newcomer.role and row.study == study:
            raise NotNow(t("{who} already has that role.", who=newcomer.handle))


def _refuse_last_administrator(look: Transaction) -> None:
    left = [
        row
        for row in people.grants_of_deployment(look)
        if row.role == Role.ADMINISTRATOR and not row.revoked_at_utc
    ]
    if len(left) == 1:
        raise NotNow(t("This is the only administrator. Appoint another one first."))
