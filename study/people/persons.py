"""Manages the people of a study or a deployment: roles, access codes and names.

An e-mail address belongs to one person, and an access code gives access to all roles of its person.
Therefore, users who run a study may issue a code or change a name only for people without roles
outside the study; for other people, this requires an administrator of the deployment
(`By.everywhere`).

A reader of a study can never have another role in it, and vice versa. The tables enforce this; the
functions in this module raise the error messages.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from study.base.actor import Acting, By
from study.base.canonical import stamp
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow, StudyError
from study.base.text import check_code_name, check_name, checked_reason, text_key
from study.base.translation import t
from study.people import codes
from study.people.codes import REPORTED_FAILURES, Code
from study.people.invitations import email_fault
from study.people.roles import Role, staff_roles
from study.store import Store, Transaction, events, people, second_factors
from study.store.events import EventKind
from study.store.people import CodeRow, GrantRow, NameRow
from study.store.studies import study_row


def person_by_email(look: Transaction, email: str) -> int | None:
    """Return the person with an e-mail address, or None."""
    key = text_key(email)
    if not key:
        return None
    matches = (
        person for person, row in people.all_names(look).items() if text_key(row.email) == key
    )
    return next(matches, None)


def person_by_address(look: Transaction, email: str) -> int | None:
    """Return the person registered with exactly this address, or None.

    Stricter than `person_by_email`: only the case of ASCII letters is ignored. Addresses that
    merely look alike, for example with full-width letters, can belong to different people at the
    provider.
    """
    mailbox = _mailbox(email)
    holders = [
        person
        for person, row in people.all_names(look).items()
        if row.email and _mailbox(row.email) == mailbox
    ]
    return holders[0] if len(holders) == 1 else None


def _mailbox(email: str) -> bytes:
    return unicodedata.normalize("NFC", email).encode("utf-8", "surrogatepass").lower()


def store_name(change: Transaction, person: int, *, name: str, email: str) -> None:
    """Store a person's name and e-mail address, unless both are empty.

    Raises
    ------
    BadInput
        The name contains unprintable characters, or the address is invalid.
    NotNow
        The address is registered to another person.
    """
    name, email = name.strip(), email.strip()
    if name:
        check_name(name, "person")
    if fault := email_fault(email):
        raise BadInput(fault)
    other = person_by_email(change, email)
    if other not in (None, person):
        raise NotNow(t("{email} is already registered to someone else here.", email=email))
    if name or email:
        people.set_name(change, person, name=name, email=email)


def refuse_with_roles_elsewhere(look: Transaction, person: int, study: int | None, by: By) -> None:
    """Refuse an action on a person with roles outside the study, except by administrators."""
    if by.everywhere:
        return
    if any(row.study != study for row in people.current_grants(look, person)):
        raise NotAllowed(
            t(
                "This person also has a role outside this study. Only an administrator of this "
                "server can do this."
            )
        )


def end_role(
    change: Transaction,
    study: str,
    row: GrantRow,
    reason: str,
    acting: Acting,
    *,
    sign_out: bool = True,
) -> None:
    """Revoke a role immediately, sign its holder out, and end their code if it was the last role.

    Without `sign_out`, the sign-ins and the code remain valid, so that the page can tell the person
    why they no longer have access.
    """
    people.revoke(change, row.id, stamp(acting.now))
    if sign_out:
        people.end_sign_ins(change, row.person)
        if not people.current_grants(change, row.person):
            people.end_access(change, row.person)
    detail = {"whose": row.holder_name, "old": row.role, "reason": reason}
    events.record(change, study, acting, kind=EventKind.ROLE_REVOKED, detail=detail)


def find_grant(look: Transaction, grant: int, study: int | None) -> GrantRow:
    """Return the row of a role granted in a study (None: in the deployment).

    Raises
    ------
    NotFound
        There is no such role.
    """
    row = people.grant_row(look, grant)
    if row is None or row.study != study:
        raise NotFound(t("That role no longer exists. Reload the page."))
    return row


def record_in_trails(
    change: Transaction,
    grants: Iterable[GrantRow],
    acting: Acting,
    *,
    kind: EventKind,
    **detail: object,
) -> None:
    """Record an event in the trail of each study of a person, under their name in that study."""
    for row in {(grant.study_name, grant.holder_name): grant for grant in grants}.values():
        event_detail = {"whose": row.holder_name, **detail}
        by = replace(acting.by, name=row.holder_name) if kind in _OWN_ACTION_KINDS else acting.by
        own_acting = replace(acting, by=by)
        events.record(change, row.study_name or "", own_acting, kind=kind, detail=event_detail)


_OWN_ACTION_KINDS = (EventKind.IDENTITY_BOUND, EventKind.SECOND_FACTOR_ADDED)
"""Events whose actor is the person themselves."""


def person_for_reader(
    change: Transaction, email: str, study: int, now: datetime
) -> tuple[int, bool]:
    """Return the person for a new reader of a study, and whether they already have a code.

    Raises
    ------
    NotAllowed
        The person has or had another role in the study and may have seen what readers must not see.
    NotNow
        The person is already a reader of the study.
    """
    known = person_by_email(change, email)
    if known is None:
        return people.add(change, handle="", made_at_utc=stamp(now)), False
    for row in people.all_grants_of(change, known):
        if row.role != Role.READER and row.study in (None, study):
            raise NotAllowed(
                t(
                    "{email} belongs to someone who has or had another role in this study. Anyone "
                    "who runs a study cannot read in it.",
                    email=email,
                )
            )
        if row.role == Role.READER and row.study == study:
            raise NotNow(
                t(
                    "{email} already reads in this study, as {who}.",
                    email=email,
                    who=row.holder_name,
                )
            )
    return known, bool(people.current_grants(change, known))


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """A person who is given a role.

    Parameters
    ----------
    handle
        The person's permanent name in the trail: initials or a job title.
    name, email
        These are stored separately and can be erased; the address identifies the person at single
        sign-on.
    """

    handle: str
    role: Role
    name: str = ""
    email: str = ""


def grant_role(store: Store, newcomer: Newcomer, *, study: str, code: Code, acting: Acting) -> str:
    """Grant a role in a study (or, if `study` is empty, in the deployment); return the handle.

    An existing person is recognised by e-mail address or, if the actor is an administrator of the
    deployment, by handle. The new code replaces the person's previous code.

    Raises
    ------
    NotAllowed
        The person is a reader of the study, or has roles elsewhere and the actor is not an
        administrator of the deployment.
    NotNow
        The person already has the role, or the handle belongs to another person.
    """
    check_code_name(newcomer.handle, str(newcomer.role))
    if study and newcomer.role not in staff_roles(study):
        raise BadInput(t("Reviewers are added for the whole server, not for one study."))
    with store.change() as change:
        number = study_row(change, study).id if study else None
        person = _existing_person(change, newcomer, acting.by)
        if person is None:
            _refuse_used_handle(change, newcomer.handle, number)
            person = people.add(change, handle=newcomer.handle, made_at_utc=stamp(acting.now))
        else:
            refuse_reader(change, person, number)
            refuse_with_roles_elsewhere(change, person, number, acting.by)
            _refuse_held_role(change, person, newcomer, number)
            people.set_handle(change, person, newcomer.handle)
        if newcomer.name.strip() or newcomer.email.strip():
            store_name(change, person, name=newcomer.name, email=newcomer.email)
        handle = people.handle_of(change, person)
        add_role(change, person, newcomer.role, study=study, acting=acting)
        codes.issue_code(change, code, person=person, now=acting.now)
    return handle


def add_role(
    change: Transaction,
    person: int,
    role: Role,
    *,
    study: str,
    acting: Acting,
    group: str = "",
) -> int:
    """Grant a role to a person with a handle, without further checks; return the grant's number.

    `group` is the group at the provider that gave the role, which the event records.
    """
    number = study_row(change, study).id if study else None
    grant = people.grant(
        change, person=person, role=role, study=number, given_at_utc=stamp(acting.now)
    )
    detail = {"whose": people.handle_of(change, person), "new": str(role)}
    detail |= {"group": group} if group else {}
    events.record(change, study, acting, kind=EventKind.ROLE_GIVEN, detail=detail)
    return grant


def revoke_role(store: Store, *, study: str, grant: int, reason: str, acting: Acting) -> None:
    """Revoke a role immediately, sign its holder out, and end their code if it was the last role.

    Raises
    ------
    NotNow
        The role was already revoked, or belongs to the last administrator of the deployment.
    BadInput
        The reason is empty.
    """
    why = checked_reason(reason)
    with store.change() as change:
        row = _grant(change, study, grant)
        if row.revoked_at_utc:
            raise NotNow(t("That role has already been revoked."))
        if not study and row.role == Role.ADMINISTRATOR:
            refuse_last_administrator(change)
        end_role(change, study, row, why, acting)


def restore_role(store: Store, *, study: str, grant: int, code: Code, acting: Acting) -> None:
    """Restore a revoked role, with a new code."""
    with store.change() as change:
        row = _grant(change, study, grant)
        refuse_with_roles_elsewhere(change, row.person, row.study, acting.by)
        if any(
            (role_held.role, role_held.study) == (row.role, row.study)
            for role_held in people.current_grants(change, row.person)
        ):
            raise NotNow(t("That role has already been restored."))
        people.grant(
            change,
            person=row.person,
            role=row.role,
            study=row.study,
            reader=row.reader,
            given_at_utc=stamp(acting.now),
        )
        detail = {"whose": row.holder_name, "new": row.role}
        events.record(change, study, acting, kind=EventKind.ROLE_GIVEN, detail=detail)
        codes.issue_code(change, code, person=row.person, now=acting.now)


def replace_code(store: Store, *, study: str, grant: int, code: Code, acting: Acting) -> None:
    """Issue a new code to the holder of a role; the old code and its sign-ins end."""
    with store.change() as change:
        row = _active_grant(change, study, grant)
        refuse_with_roles_elsewhere(change, row.person, row.study, acting.by)
        codes.issue_code(change, code, person=row.person, now=acting.now)
        detail = {
            "whose": row.holder_name,
            "expires_at_utc": stamp(code.expires) if code.expires else "",
        }
        events.record(change, study, acting, kind=EventKind.CODE_GIVEN, detail=detail)


def change_name(
    store: Store, *, study: str, grant: int, name: str, email: str, acting: Acting
) -> None:
    """Change a person's name and e-mail address; the trail records the change without them."""
    if not name.strip() and not email.strip():
        raise BadInput(t("Enter a name or an email address, or erase what is recorded."))
    with store.change() as change:
        row = _grant(change, study, grant)
        refuse_with_roles_elsewhere(change, row.person, row.study, acting.by)
        store_name(change, row.person, name=name, email=email)
        detail = {"whose": row.holder_name}
        events.record(change, study, acting, kind=EventKind.NAME_ENTERED, detail=detail)


def erase_name(store: Store, *, study: str, grant: int, acting: Acting) -> bool:
    """Erase a person's name, e-mail address and sign-in account; their readings are kept.

    The erased account can no longer sign in. Another account can be bound only after an
    administrator has released it.

    Returns
    -------
    bool
        Whether the bytes have already been removed from the write-ahead log; otherwise this happens
        later.
    """
    with store.change() as change:
        row = _grant(change, study, grant)
        refuse_with_roles_elsewhere(change, row.person, row.study, acting.by)
        if not people.erase_name(change, row.person):
            raise NotNow(t("No name is recorded for {who}.", who=row.holder_name))
        detail = {"whose": row.holder_name}
        events.record(change, study, acting, kind=EventKind.NAME_ERASED, detail=detail)
    try:
        return store.checkpoint()
    except StudyError:
        return False


def _grant(look: Transaction, study: str, grant: int) -> GrantRow:
    return find_grant(look, grant, study_row(look, study).id if study else None)


def _active_grant(look: Transaction, study: str, grant: int) -> GrantRow:
    row = _grant(look, study, grant)
    if row.revoked_at_utc:
        raise NotNow(
            t("{who} no longer has access here. Restore their role first.", who=row.holder_name)
        )
    return row


def _existing_person(look: Transaction, newcomer: Newcomer, by: By) -> int | None:
    known = person_by_email(look, newcomer.email)
    if known is None and by.everywhere:
        matches = people.staff_with_handle(look, newcomer.handle)
        if len(matches) == 1:
            return matches[0]
    return known


def _refuse_used_handle(look: Transaction, handle: str, study: int | None) -> None:
    grants = people.grants_of_deployment(look)
    grants += people.grants_of_study(look, study) if study else []
    if text_key(handle) in {text_key(row.holder_name) for row in grants}:
        raise NotNow(
            t("The short name {handle} is already in use here. Choose another.", handle=handle)
        )


def refuse_reader(look: Transaction, person: int, study: int | None) -> None:
    """Refuse a role in a study, or in the deployment, for a person who reads there."""
    for row in people.all_grants_of(look, person):
        if row.role == Role.READER and study in (None, row.study):
            raise NotAllowed(
                t(
                    "This person reads, as {who}, in a study this role would let them run. A "
                    "reader in a study cannot have another role in it.",
                    who=row.holder_name,
                )
            )


def _refuse_held_role(
    look: Transaction, person: int, newcomer: Newcomer, study: int | None
) -> None:
    for row in people.current_grants(look, person):
        if row.role == newcomer.role and row.study == study:
            raise NotNow(t("{who} already has that role.", who=newcomer.handle))


def refuse_last_administrator(look: Transaction) -> None:
    """Refuse to revoke the role of the only administrator of the deployment."""
    administrators = [
        row
        for row in people.grants_of_deployment(look)
        if row.role == Role.ADMINISTRATOR and not row.revoked_at_utc
    ]
    if len(administrators) == 1:
        raise NotNow(t("This is the only administrator. Appoint another one first."))


class CodeState(StrEnum):
    """The state of a person's access code."""

    NONE = "no code"
    NEVER_USED = "never used"
    USED = "used"
    EXPIRED = "expired"
    GUESSED = "guessed at"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person with a role, as the page "People" lists them.

    `who` is a reader's study code or a handle; `about` is a reader's level, experience and site.
    `name` and `email` are empty if not stored. `seen_at_utc` is the last sign-in, or None.
    `elsewhere` states whether the person has roles outside the study. `account` is the provider of
    the bound sign-in account: None if there is none, empty if it was erased.
    """

    grant: int
    person: int
    role: Role
    who: str
    about: str
    simulated: bool
    name: str
    email: str
    code: CodeState
    given_at_utc: str
    expires_at_utc: str | None
    seen_at_utc: str | None
    elsewhere: bool
    account: str | None = None
    has_second_factor: bool = False

    @property
    def revoked(self) -> bool:
        """Return whether the role was revoked."""
        return self.code is CodeState.REVOKED


def members_of_study(store: Store, study: str, *, now: datetime) -> list[Member]:
    """Return the people who have or had a role in a study, once per role, in order of granting."""
    with store.look() as look:
        number = study_row(look, study).id
        return _members(look, people.grants_of_study(look, number), number, now)


def members_of_deployment(store: Store, *, now: datetime) -> list[Member]:
    """Return the people who have or had a role in the deployment."""
    with store.look() as look:
        return _members(look, people.grants_of_deployment(look), None, now)


def _members(
    look: Transaction, rows: Iterable[GrantRow], study: int | None, now: datetime
) -> list[Member]:
    names_by_person = people.all_names(look)
    latest = {(row.person, row.role, row.reader): row for row in rows}
    return [
        _member(look, row, names_by_person.get(row.person), study, now) for row in latest.values()
    ]


def _member(
    look: Transaction,
    row: GrantRow,
    name_row: NameRow | None,
    study: int | None,
    now: datetime,
) -> Member:
    code = people.code(look, row.person)
    account = people.account_of(look, row.person)
    facts = (row.level, row.years, row.site)
    return Member(
        grant=row.id,
        person=row.person,
        role=Role(row.role),
        who=row.holder_name,
        about=", ".join(fact for fact in facts if fact),
        simulated=bool(row.simulated),
        name=name_row.name if name_row else "",
        email=name_row.email if name_row else "",
        code=_code_state(row, code, now),
        given_at_utc=row.given_at_utc,
        expires_at_utc=code.expires_at_utc if code else None,
        seen_at_utc=row.seen_at_utc,
        elsewhere=any(
            role_held.study != study for role_held in people.current_grants(look, row.person)
        ),
        account=account.issuer if account else None,
        has_second_factor=second_factors.of(look, row.person) is not None,
    )


def _code_state(row: GrantRow, code: CodeRow | None, now: datetime) -> CodeState:
    if row.revoked_at_utc:
        return CodeState.REVOKED
    if code is None:
        return CodeState.NONE
    if code.expires_at_utc and code.expires_at_utc <= stamp(now):
        return CodeState.EXPIRED
    if code.failures >= REPORTED_FAILURES:
        return CodeState.GUESSED
    seen_at = row.seen_at_utc
    return CodeState.USED if seen_at and seen_at >= code.issued_at_utc else CodeState.NEVER_USED
