"""The people of a study or a deployment: who has a part in it, and what is done about one of them.

Roles are given and revoked, codes replaced, names kept apart and erased. One e-mail address is one
person, and a code opens every role of its person. So whoever looks after one study may give a new
code, or alter a name, only for people who have no other part elsewhere; for the others an
administrator of the deployment does, which `everywhere` says.

Whoever reads in a study never has another role in it, and the other way round, for good: the
tables refuse it, and here it is said in words.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from study.base.actor import By
from study.base.canonical import stamp
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow
from study.base.text import check_code_name, check_name, checked_reason, text_key
from study.base.translation import t
from study.people import codes
from study.people.codes import Code
from study.people.roles import Act, Role
from study.people.signing_in import GUESSED
from study.store import Store, Transaction, events, people
from study.store.events import EventKind
from study.store.people import CodeRow, GrantRow, NameRow
from study.store.studies import study_row

_EMAIL = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+")
LONGEST_EMAIL = 254


def act_for(role: Role, study: str) -> Act:
    """Return what somebody must be allowed to do to give or revoke a role.

    >>> act_for(Role.STATISTICIAN, "trial"), act_for(Role.COORDINATOR, "trial")
    (<Act.PEOPLE: 'people'>, <Act.ROLES: 'roles'>)
    """
    if not study:
        return Act.MAKE_STUDY if role is Role.REVIEWER else Act.DEPLOYMENT
    return Act.PEOPLE if role in (Role.READER, Role.STATISTICIAN) else Act.ROLES


def by_email(look: Transaction, email: str) -> int | None:
    """Return the person with an e-mail address, or None."""
    key = text_key(email)
    if not key:
        return None
    found = (one for one, row in people.everyones_names(look).items() if text_key(row.email) == key)
    return next(found, None)


def by_address(look: Transaction, email: str) -> int | None:
    """Return the person registered with this very address, or None.

    Stricter than `by_email`: only ASCII letters match in either case. Addresses that merely look
    alike, such as with full-width letters, can belong to somebody else at the provider.
    """
    wanted = _mailbox(email)
    holders = [
        person
        for person, row in people.everyones_names(look).items()
        if row.email and _mailbox(row.email) == wanted
    ]
    return holders[0] if len(holders) == 1 else None


def _mailbox(email: str) -> bytes:
    return unicodedata.normalize("NFC", email).encode("utf-8", "surrogatepass").lower()


def keep_name(change: Transaction, person: int, *, name: str, email: str) -> None:
    """Keep a person's name and e-mail address; both empty keeps none.

    Raises
    ------
    BadInput
        The name cannot be printed, or the address is none.
    NotNow
        The address is somebody else's.
    """
    name, email = name.strip(), email.strip()
    if name:
        check_name(name, "person")
    if email and (len(email) > LONGEST_EMAIL or not _EMAIL.fullmatch(email)):
        raise BadInput(
            t("{email} is not a valid email address. Write it as name@example.org.", email=email)
        )
    other = by_email(change, email)
    if other not in (None, person):
        raise NotNow(t("{email} is already registered to someone else here.", email=email))
    if name or email:
        people.keep_name(change, person, name=name, email=email)


def refuse_with_parts_elsewhere(
    look: Transaction, person: int, study: int | None, *, everywhere: bool
) -> None:
    """Refuse what reaches beyond a study, unless whoever acts looks after the whole deployment."""
    if everywhere:
        return
    if any(row.study != study for row in people.roles_held(look, person)):
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
    by: By,
    now: datetime,
    *,
    sign_out: bool = True,
) -> None:
    """Revoke a role at once: its holder is signed out everywhere; a last role takes the code.

    Without `sign_out` both stay, though neither opens anything any more where it was the last role:
    so that the page and the sign-in can tell their holder why.
    """
    people.revoke(change, row.id, stamp(now))
    if sign_out:
        people.end_sign_ins(change, row.person)
        if not people.roles_held(change, row.person):
            people.end_access(change, row.person)
    detail = {"whose": row.whose, "old": row.role, "reason": reason}
    events.record(change, study, now, kind=EventKind.ROLE_REVOKED, detail=detail, by=by)


def grant_in(look: Transaction, grant: int, study: int | None) -> GrantRow:
    """Return a role given in a study (None: in the deployment), or refuse."""
    row = people.grant_row(look, grant)
    if row is None or row.study != study:
        raise NotFound(t("That role no longer exists. Reload the page."))
    return row


def reader_behind(change: Transaction, email: str, study: int, now: datetime) -> tuple[int, bool]:
    """Return the person a new reader of a study is, and whether they have a code of their own.

    Raises
    ------
    NotAllowed
        They have, or once had, another role in the study; it has shown them what a reader must not
        see.
    NotNow
        They read in the study already.
    """
    known = by_email(change, email)
    if known is None:
        return people.add(change, handle="", made_at_utc=stamp(now)), False
    for row in people.ever(change, known):
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
                t("{email} already reads in this study, as {who}.", email=email, who=row.whose)
            )
    return known, bool(people.roles_held(change, known))


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
            refuse_with_parts_elsewhere(change, person, number, everywhere=everywhere)
            _refuse_twice(change, person, newcomer, number)
            people.name_handle(change, person, newcomer.handle)
        if newcomer.name.strip() or newcomer.email.strip():
            keep_name(change, person, name=newcomer.name, email=newcomer.email)
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
        end_role(change, study, row, why, by, now)


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
        refuse_with_parts_elsewhere(change, row.person, row.study, everywhere=everywhere)
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
        refuse_with_parts_elsewhere(change, row.person, row.study, everywhere=everywhere)
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
        refuse_with_parts_elsewhere(change, row.person, row.study, everywhere=everywhere)
        keep_name(change, row.person, name=name, email=email)
        detail = {"whose": row.whose}
        events.record(change, study, now, kind=EventKind.NAME_ENTERED, detail=detail, by=by)


def erase_name(
    store: Store, *, study: str, grant: int, everywhere: bool, by: By, now: datetime
) -> bool:
    """Erase a person's name, e-mail address and sign-in account; their readings are not touched.

    The erased account no longer signs in. Another one can be bound only after an administrator has
    released it.

    Returns
    -------
    bool
        Whether the bytes have left the journal too; otherwise they leave it later.
    """
    with store.change() as change:
        row = _grant(change, study, grant)
        refuse_with_parts_elsewhere(change, row.person, row.study, everywhere=everywhere)
        if not people.erase_name(change, row.person):
            raise NotNow(t("No name is recorded for {who}.", who=row.whose))
        detail = {"whose": row.whose}
        events.record(change, study, now, kind=EventKind.NAME_ERASED, detail=detail, by=by)
    return store.fold_in()


def _grant(look: Transaction, study: str, grant: int) -> GrantRow:
    return grant_in(look, grant, study_row(look, study).id if study else None)


def _standing_grant(look: Transaction, study: str, grant: int) -> GrantRow:
    row = _grant(look, study, grant)
    if row.revoked_at_utc:
        raise NotNow(t("{who} no longer has access here. Restore their role first.", who=row.whose))
    return row


def _known(look: Transaction, newcomer: Newcomer, *, everywhere: bool) -> int | None:
    known = by_email(look, newcomer.email)
    if known is None and everywhere:
        named = people.staff_named(look, newcomer.handle)
        if len(named) == 1:
            return named[0]
    return known


def _refuse_taken(look: Transaction, handle: str, study: int | None) -> None:
    there = people.grants_of_deployment(look)
    there += people.grants_of_study(look, study) if study else []
    if text_key(handle) in {text_key(row.whose) for row in there}:
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


class CodeState(StrEnum):
    """How somebody stands with their access code."""

    NONE = "no code"
    NEVER_USED = "never used"
    USED = "used"
    EXPIRED = "expired"
    GUESSED = "guessed at"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Somebody with a role, as the people's page shows them.

    `who` is a reader's study code or a handle; `name` and `email` are empty where none are kept.
    Times are in UTC, as stored; `expires_at_utc` and `seen_at_utc` are None where there is none.
    `account` is the provider of the sign-in account bound to them: None where there is none, empty
    where it was erased.
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

    @property
    def revoked(self) -> bool:
        """Return whether the role was revoked."""
        return self.code is CodeState.REVOKED


def members_of_study(store: Store, study: str, *, now: datetime) -> list[Member]:
    """Return everybody who has or had a role in a study, each role once, in the order given."""
    with store.look() as look:
        number = study_row(look, study).id
        return _members(look, people.grants_of_study(look, number), number, now)


def members_of_deployment(store: Store, *, now: datetime) -> list[Member]:
    """Return everybody who has or had a role in the deployment as a whole."""
    with store.look() as look:
        return _members(look, people.grants_of_deployment(look), None, now)


def _members(
    look: Transaction, rows: Iterable[GrantRow], study: int | None, now: datetime
) -> list[Member]:
    kept = people.everyones_names(look)
    latest = {(row.person, row.role, row.reader): row for row in rows}
    return [_member(look, row, kept.get(row.person), study, now) for row in latest.values()]


def _member(
    look: Transaction,
    row: GrantRow,
    named: NameRow | None,
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
        who=row.whose,
        about=", ".join(fact for fact in facts if fact),
        simulated=bool(row.simulated),
        name=named.name if named else "",
        email=named.email if named else "",
        code=_code_state(row, code, now),
        given_at_utc=row.given_at_utc,
        expires_at_utc=code.expires_at_utc if code else None,
        seen_at_utc=row.seen_at_utc,
        elsewhere=any(one.study != study for one in people.roles_held(look, row.person)),
        account=account.issuer if account else None,
    )


def _code_state(row: GrantRow, code: CodeRow | None, now: datetime) -> CodeState:
    if row.revoked_at_utc:
        return CodeState.REVOKED
    if code is None:
        return CodeState.NONE
    if code.expires_at_utc and code.expires_at_utc <= stamp(now):
        return CodeState.EXPIRED
    if code.failures >= GUESSED:
        return CodeState.GUESSED
    seen = row.seen_at_utc
    return CodeState.USED if seen and seen >= code.issued_at_utc else CodeState.NEVER_USED
