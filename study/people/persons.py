"""The person behind a role: one e-mail address is one person; their names are kept apart.

A code opens every role of its person. So whoever looks after one study may give a new code, or
alter a name, only for people who have no other part elsewhere; for the others an administrator of
the deployment does.
"""

import re
from datetime import datetime

from study.base.actor import By
from study.base.canonical import stamp
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow
from study.base.text import check_name, name_key
from study.base.translation import t
from study.people.roles import Act, Role
from study.store import Transaction, events, names, people
from study.store.events import EventKind
from study.store.people import GrantRow

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


def email_key(email: str) -> str:
    """Return what two spellings of one e-mail address have in common.

    >>> email_key(" Anna@Example.org ")
    'anna@example.org'
    """
    return name_key(email)


def by_email(look: Transaction, email: str) -> int | None:
    """Return the person with an e-mail address, or None."""
    key = email_key(email)
    if not key:
        return None
    found = (one for one, row in names.everyone(look).items() if email_key(row.email) == key)
    return next(found, None)


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
    before = names.of_person(change, person)
    if before and email_key(before.email) != email_key(email):
        names.forget_identities(change, person)
    if name or email:
        names.keep(change, person, name=name, email=email)


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
