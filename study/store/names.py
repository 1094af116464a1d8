"""Names and addresses of people, apart from everything else, and what they sign on with elsewhere.

Nothing refers to these rows and no event repeats them: deleting them leaves everything else as it
is. Identities and tickets serve single sign-on, see `study.people.single_sign_on`.
"""

from typing import Any, NamedTuple

from study.store.connection import Transaction


class NameRow(NamedTuple):
    """A person's name and e-mail address; one of them may be empty."""

    person: int
    name: str
    email: str


class IdentityRow(NamedTuple):
    """What a person signs on with elsewhere, with their handle here."""

    issuer: str
    subject: str
    person: int
    bound_at_utc: str
    handle: str


def of_person(look: Transaction, person: int) -> NameRow | None:
    """Return a person's name and e-mail address, or None where none are kept."""
    row = look.row("SELECT * FROM names WHERE person = :person", person=person)
    return None if row is None else NameRow(**row)


def everyone(look: Transaction) -> dict[int, NameRow]:
    """Return every name kept, by person."""
    return {row["person"]: NameRow(**row) for row in look.rows("SELECT * FROM names")}


def keep(change: Transaction, person: int, *, name: str, email: str) -> None:
    """Keep a person's name and e-mail address in place of those kept before."""
    change.execute(
        "INSERT INTO names (person, name, email) VALUES (:person, :name, :email) "
        "ON CONFLICT (person) DO UPDATE SET name = excluded.name, email = excluded.email",
        person=person,
        name=name,
        email=email,
    )


def erase(change: Transaction, person: int) -> bool:
    """Delete a person's name, e-mail address and identities; return whether there were any."""
    tables = ("names", "identities", "tickets")
    erased = [
        change.execute(f"DELETE FROM {table} WHERE person = :person", person=person)
        for table in tables
    ]
    return any(erased)


def forget_identities(change: Transaction, person: int) -> None:
    """Delete what a person signs on with elsewhere."""
    change.execute("DELETE FROM identities WHERE person = :person", person=person)


def bound(look: Transaction, issuer: str, subject: str) -> int | None:
    """Return the person an identity is bound to, or None."""
    found = look.value(
        "SELECT person FROM identities WHERE issuer = :issuer AND subject = :subject",
        issuer=issuer,
        subject=subject,
    )
    return None if found is None else int(found)


def identities(look: Transaction) -> list[IdentityRow]:
    """Return every bound identity."""
    rows = look.rows(
        "SELECT identities.*, handle FROM identities JOIN people ON people.id = identities.person"
    )
    return [IdentityRow(**row) for row in rows]


def bind(change: Transaction, **columns: Any) -> None:
    """Bind an identity to a person."""
    change.insert("identities", **columns)


def add_ticket(change: Transaction, **columns: Any) -> None:
    """Insert a ticket by its hash."""
    change.insert("tickets", **columns)


def take_ticket(change: Transaction, ticket_id: str, at_utc: str) -> int | None:
    """Delete a ticket, and those that ran out; return whose it was if it was still good."""
    found = change.value(
        "SELECT person FROM tickets WHERE id = :ticket_id AND expires_at_utc >= :at_utc",
        ticket_id=ticket_id,
        at_utc=at_utc,
    )
    change.execute(
        "DELETE FROM tickets WHERE id = :ticket_id OR expires_at_utc < :at_utc",
        ticket_id=ticket_id,
        at_utc=at_utc,
    )
    return None if found is None else int(found)
