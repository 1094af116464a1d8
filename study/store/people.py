"""Stored readers, people, roles, hashed access codes, sign-ins and names.

Names and addresses are stored separately: nothing refers to these rows and no event repeats them,
so that they can be deleted without other changes. Identities and tickets belong to single sign-on,
see `study.people.single_sign_on`.
"""

from typing import Any, NamedTuple, TypedDict

from study.base.text import did_you_mean
from study.store.connection import Transaction


class ReaderRow(NamedTuple):
    """A reader of a study; `list` is the number of their list within their arm, once assigned."""

    id: int
    study: int
    reader_id: str
    level: str
    years: str
    site: str
    simulated: int
    invited_at_utc: str
    arm: str = ""
    list: int | None = None


class GrantRow(NamedTuple):
    """A current or former role of a person, with the names of the person, reader and study.

    The reader's columns are None in other roles, and the study's in roles for the deployment.
    """

    id: int
    person: int
    role: str
    study: int | None
    reader: int | None
    given_at_utc: str
    revoked_at_utc: str | None
    handle: str
    seen_at_utc: str | None
    reader_id: str | None
    level: str | None
    years: str | None
    site: str | None
    simulated: int | None
    study_name: str | None
    state: str | None
    discarded_at_utc: str | None

    @property
    def holder_name(self) -> str:
        """Return the holder's name in the trail: the study code or handle, never a real name."""
        return self.reader_id or self.handle


class CodeRow(NamedTuple):
    """A person's access code as it is stored."""

    person: int
    lookup: str
    salt: str
    code_hash: str
    issued_at_utc: str
    expires_at_utc: str | None
    failures: int


class SignInRow(NamedTuple):
    """A sign-in with its person's handle; `grant_id` is the role chosen.

    `method` is ``code``, ``second factor`` (after a code) or ``single sign-on``.
    """

    id: str
    person: int
    grant_id: int | None
    study: int | None
    at_utc: str
    active_at_utc: str
    method: str
    handle: str


class Span(TypedDict):
    """The times between which valid sign-ins were created and last used."""

    since_utc: str
    until_utc: str
    active_since_utc: str


_IS_SIGNED_IN = (
    "(at_utc BETWEEN :since_utc AND :until_utc "
    "AND active_at_utc BETWEEN :active_since_utc AND :until_utc)"
)
_GRANTS = (
    "SELECT grants.*, handle, seen_at_utc, reader_id, level, years, site, simulated, "
    "studies.name AS study_name, state, discarded_at_utc FROM grants "
    "JOIN people ON people.id = grants.person LEFT JOIN readers ON readers.id = grants.reader "
    "LEFT JOIN studies ON studies.id = grants.study "
)


def add_reader(change: Transaction, **columns: Any) -> int:
    """Insert a reader's row and return its id."""
    return change.insert("readers", **columns)


def reader(look: Transaction, study: int, reader_id: str) -> ReaderRow | None:
    """Return a reader's row, or None."""
    return look.one(
        ReaderRow,
        "SELECT * FROM readers WHERE study = :study AND reader_id = :reader_id",
        study=study,
        reader_id=reader_id,
    )


def reader_suggestion(look: Transaction, study: int, reader_id: str) -> str:
    """Return a suggestion that names the reader with the most similar id, or an empty string."""
    return did_you_mean(reader_id, [row.reader_id for row in readers(look, study)])


def readers(look: Transaction, study: int) -> list[ReaderRow]:
    """Return a study's readers in the order of their invitation."""
    rows = look.rows("SELECT * FROM readers WHERE study = :study ORDER BY id", study=study)
    return [ReaderRow(**row) for row in rows]


def reader_row(look: Transaction, number: int) -> ReaderRow | None:
    """Return a reader by rowid, or None."""
    return look.one(ReaderRow, "SELECT * FROM readers WHERE id = :number", number=number)


def assign_list(change: Transaction, number: int, arm: str, list_number: int) -> None:
    """Store the arm of a reader and the number of their list in it."""
    change.execute(
        "UPDATE readers SET arm = :arm, list = :list_number WHERE id = :number",
        number=number,
        arm=arm,
        list_number=list_number,
    )


def mark_simulated(change: Transaction, number: int) -> None:
    """Mark a reader as simulated, permanently."""
    change.execute("UPDATE readers SET simulated = 1 WHERE id = :number", number=number)


def add(change: Transaction, *, handle: str, made_at_utc: str) -> int:
    """Insert a person and return their id; readers have study codes instead of a handle."""
    return change.insert("people", handle=handle, made_at_utc=made_at_utc)


def set_last_seen(change: Transaction, number: int, at_utc: str) -> None:
    """Record when a person last signed in."""
    change.execute(
        "UPDATE people SET seen_at_utc = :at_utc WHERE id = :number", at_utc=at_utc, number=number
    )


def handle_of(look: Transaction, number: int) -> str:
    """Return a person's handle; empty if they have none."""
    return str(look.value("SELECT handle FROM people WHERE id = :number", number=number) or "")


def grant(change: Transaction, **columns: Any) -> int:
    """Insert a role given to a person and return its id."""
    return change.insert("grants", **columns)


def revoke(change: Transaction, grant_id: int, at_utc: str) -> None:
    """End a role."""
    change.execute(
        "UPDATE grants SET revoked_at_utc = :at_utc "
        "WHERE id = :grant_id AND revoked_at_utc IS NULL",
        at_utc=at_utc,
        grant_id=grant_id,
    )


def current_grants(look: Transaction, person_id: int) -> list[GrantRow]:
    """Return the roles a person holds, oldest first."""
    return [row for row in all_grants_of(look, person_id) if row.revoked_at_utc is None]


def grant_row(look: Transaction, grant_id: int) -> GrantRow | None:
    """Return a current or former role, or None."""
    return look.one(GrantRow, _GRANTS + "WHERE grants.id = :grant_id", grant_id=grant_id)


def grants_of_study(look: Transaction, study: int) -> list[GrantRow]:
    """Return every current or former role in a study, oldest first."""
    rows = look.rows(_GRANTS + "WHERE grants.study = :study ORDER BY grants.id", study=study)
    return [GrantRow(**row) for row in rows]


def grants_of_deployment(look: Transaction) -> list[GrantRow]:
    """Return every current or former role for the entire deployment, oldest first."""
    rows = look.rows(_GRANTS + "WHERE grants.study IS NULL ORDER BY grants.id")
    return [GrantRow(**row) for row in rows]


def holder(look: Transaction, *, handle: str, role: str, study: int | None) -> GrantRow | None:
    """Return the current role of the person with a handle, or None."""
    return look.one(
        GrantRow,
        _GRANTS + "WHERE handle = :handle AND role = :role AND grants.study IS :study "
        "AND revoked_at_utc IS NULL",
        handle=handle,
        role=role,
        study=study,
    )


def all_grants_of(look: Transaction, person_id: int) -> list[GrantRow]:
    """Return every role a person holds or held, oldest first."""
    rows = look.rows(_GRANTS + "WHERE person = :person_id ORDER BY grants.id", person_id=person_id)
    return [GrantRow(**row) for row in rows]


def set_handle(change: Transaction, number: int, handle: str) -> None:
    """Set the handle of a person who has none because they were only a reader."""
    change.execute(
        "UPDATE people SET handle = :handle WHERE id = :number AND handle = ''",
        number=number,
        handle=handle,
    )


def staff_with_handle(look: Transaction, handle: str) -> list[int]:
    """Return the people with a handle who have a role other than reader."""
    rows = look.rows(
        "SELECT DISTINCT person FROM grants JOIN people ON people.id = grants.person "
        "WHERE handle = :handle AND role <> 'reader' AND revoked_at_utc IS NULL ORDER BY person",
        handle=handle,
    )
    return [int(row["person"]) for row in rows]


def person_of_reader(look: Transaction, reader: int) -> int | None:
    """Return the person of a reader, or None if the role was revoked."""
    number = look.value(
        "SELECT person FROM grants WHERE reader = :reader AND revoked_at_utc IS NULL",
        reader=reader,
    )
    return None if number is None else int(number)


def set_code(change: Transaction, person_id: int, **columns: Any) -> None:
    """Give a person an access code, which replaces an earlier code and ends its sign-ins."""
    end_access(change, person_id)
    change.insert("codes", person=person_id, **columns)


def end_sign_ins(change: Transaction, person_id: int) -> None:
    """End all sign-ins of a person, in every browser."""
    change.execute("DELETE FROM sign_ins WHERE person = :person_id", person_id=person_id)


def end_access(change: Transaction, person_id: int) -> None:
    """Delete a person's code and end all their sign-ins."""
    for table in ("codes", "sign_ins"):
        change.execute(f"DELETE FROM {table} WHERE person = :person_id", person_id=person_id)


def code(look: Transaction, person_id: int) -> CodeRow | None:
    """Return a person's code as stored, or None."""
    return look.one(CodeRow, "SELECT * FROM codes WHERE person = :person_id", person_id=person_id)


def code_by_lookup(look: Transaction, lookup: str) -> CodeRow | None:
    """Return the stored code with a public part, or None."""
    return look.one(CodeRow, "SELECT * FROM codes WHERE lookup = :lookup", lookup=lookup)


def count_failure(change: Transaction, person_id: int) -> int:
    """Count a failed attempt at a code; return the number of failures since the last sign-in."""
    change.execute(
        "UPDATE codes SET failures = failures + 1 WHERE person = :person_id", person_id=person_id
    )
    count = change.value(
        "SELECT failures FROM codes WHERE person = :person_id", person_id=person_id
    )
    return int(count or 0)


def reset_failures(change: Transaction, person_id: int) -> None:
    """Reset the count of failed attempts."""
    change.execute(
        "UPDATE codes SET failures = 0 WHERE person = :person_id AND failures > 0",
        person_id=person_id,
    )


def add_sign_in(change: Transaction, **columns: Any) -> None:
    """Insert a sign-in; it is valid until it ends or its person's code is replaced."""
    change.insert("sign_ins", **columns)


def choose(change: Transaction, token_id: str, grant: int, study: int | None) -> None:
    """Switch a sign-in to another role or study of its person."""
    change.execute(
        "UPDATE sign_ins SET grant_id = :grant, study = :study WHERE id = :token_id",
        grant=grant,
        study=study,
        token_id=token_id,
    )


def end_sign_in(change: Transaction, token_id: str) -> None:
    """Delete a sign-in."""
    change.execute("DELETE FROM sign_ins WHERE id = :token_id", token_id=token_id)


def end_old_sign_ins(change: Transaction, span: Span) -> None:
    """Delete the sign-ins that are no longer valid."""
    change.execute(f"DELETE FROM sign_ins WHERE NOT {_IS_SIGNED_IN}", **span)


def by_sign_in(look: Transaction, token_id: str, span: Span) -> SignInRow | None:
    """Return a sign-in that is still valid, or None."""
    return look.one(
        SignInRow,
        "SELECT sign_ins.*, handle FROM sign_ins JOIN people ON people.id = sign_ins.person "
        f"WHERE sign_ins.id = :token_id AND {_IS_SIGNED_IN}",
        token_id=token_id,
        **span,
    )


def sign_ins(look: Transaction) -> list[SignInRow]:
    """Return every sign-in."""
    rows = look.rows(
        "SELECT sign_ins.*, handle FROM sign_ins JOIN people ON people.id = sign_ins.person"
    )
    return [SignInRow(**row) for row in rows]


def mark_active(change: Transaction, token_id: str, at_utc: str) -> None:
    """Record that the person of a sign-in is active."""
    change.execute(
        "UPDATE sign_ins SET active_at_utc = :at_utc WHERE id = :token_id",
        at_utc=at_utc,
        token_id=token_id,
    )


def add_place(change: Transaction, **columns: Any) -> None:
    """Insert an address with its mark, unless the mark is known."""
    change.execute(
        "INSERT INTO places (mark, address, agent, first_seen_at_utc) "
        "VALUES (:mark, :address, :agent, :first_seen_at_utc) ON CONFLICT DO NOTHING",
        **columns,
    )


def places(look: Transaction) -> dict[str, str]:
    """Return the known addresses by mark."""
    return {row["mark"]: row["address"] for row in look.rows("SELECT mark, address FROM places")}


def knows_place(look: Transaction, mark: str) -> bool:
    """Return whether an address with a mark is known."""
    return look.value("SELECT 1 FROM places WHERE mark = :mark", mark=mark) is not None


class NameRow(NamedTuple):
    """A person's name and e-mail address; one of them may be empty."""

    person: int
    name: str
    email: str


class IdentityRow(NamedTuple):
    """A person's account with a sign-on provider, and their handle here."""

    issuer: str
    subject: str
    person: int
    bound_at_utc: str
    handle: str


def name_of(look: Transaction, person: int) -> NameRow | None:
    """Return a person's name and e-mail address, or None if none are stored."""
    return look.one(NameRow, "SELECT * FROM names WHERE person = :person", person=person)


def all_names(look: Transaction) -> dict[int, NameRow]:
    """Return every stored name, by person."""
    return {row["person"]: NameRow(**row) for row in look.rows("SELECT * FROM names")}


def set_name(change: Transaction, person: int, *, name: str, email: str) -> None:
    """Store a person's name and e-mail address, or replace them."""
    change.upsert("names", "person", person=person, name=name, email=email)


def erase_name(change: Transaction, person: int) -> bool:
    """Delete a person's name, address and sign-in accounts; return whether there were any.

    A record that an account existed remains, without the account itself.
    """
    had_account = any(account.issuer for account in accounts_of(change, person))
    erased = [
        change.execute(f"DELETE FROM {table} WHERE person = :person", person=person)
        for table in ("names", "tickets")
    ]
    if had_account:
        forget_identities(change, person)
        bind_identity(change, issuer="", subject=str(person), person=person, bound_at_utc="")
    return had_account or any(erased)


def forget_identities(change: Transaction, person: int) -> None:
    """Delete a person's sign-in accounts and the tickets for binding them."""
    for table in ("identities", "tickets"):
        change.execute(f"DELETE FROM {table} WHERE person = :person", person=person)


def accounts_of(look: Transaction, person: int) -> list[IdentityRow]:
    """Return a person's sign-in accounts, the first bound first; an erased one has no issuer."""
    return [identity for identity in identities(look) if identity.person == person]


def account_of(look: Transaction, person: int) -> IdentityRow | None:
    """Return a person's sign-in account, or None if none was bound."""
    return next(iter(accounts_of(look, person)), None)


def person_of_identity(look: Transaction, issuer: str, subject: str) -> int | None:
    """Return the person an identity is bound to, or None."""
    number = look.value(
        "SELECT person FROM identities WHERE issuer = :issuer AND subject = :subject",
        issuer=issuer,
        subject=subject,
    )
    return None if number is None else int(number)


def identities(look: Transaction) -> list[IdentityRow]:
    """Return every bound identity, the first bound first."""
    rows = look.rows(
        "SELECT identities.*, handle FROM identities JOIN people ON people.id = identities.person "
        "ORDER BY bound_at_utc, identities.rowid"
    )
    return [IdentityRow(**row) for row in rows]


def bind_identity(change: Transaction, **columns: Any) -> None:
    """Bind an identity to a person."""
    change.insert("identities", **columns)


def add_ticket(change: Transaction, **columns: Any) -> None:
    """Insert a ticket by its hash."""
    change.insert("tickets", **columns)


def take_ticket(change: Transaction, ticket_id: str, at_utc: str) -> int | None:
    """Delete a ticket and expired ones; return its person if it was still valid."""
    number = ticket_holder(change, ticket_id, at_utc)
    change.execute(
        "DELETE FROM tickets WHERE id = :ticket_id OR expires_at_utc < :at_utc",
        ticket_id=ticket_id,
        at_utc=at_utc,
    )
    return number


def ticket_holder(look: Transaction, ticket_id: str, at_utc: str) -> int | None:
    """Return the person of a ticket that is still valid, without using it up."""
    number = look.value(
        "SELECT person FROM tickets WHERE id = :ticket_id AND expires_at_utc >= :at_utc",
        ticket_id=ticket_id,
        at_utc=at_utc,
    )
    return None if number is None else int(number)


def mark_second_factor(change: Transaction, person: int) -> None:
    """Record that a person's sign-ins by code have passed the second factor."""
    change.execute(
        "UPDATE sign_ins SET method = 'second factor' WHERE person = :person AND method = 'code'",
        person=person,
    )


def mark_group_grant(change: Transaction, grant_id: int, issuer: str) -> None:
    """Record that a role was given because of a provider's group."""
    change.insert("group_grants", grant_id=grant_id, issuer=issuer)


def grants_by_group(look: Transaction, issuer: str) -> set[int]:
    """Return the ids of all roles that were given because of a provider's groups."""
    sql = "SELECT grant_id FROM group_grants WHERE issuer = :issuer"
    return set(look.tuples(int, sql, issuer=issuer))


def all_handles(look: Transaction) -> list[str]:
    """Return the handles of all people and the ids of all readers."""
    return look.tuples(str, "SELECT handle FROM people UNION SELECT reader_id FROM readers")
