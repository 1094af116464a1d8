"""Stored second factors of staff: the secret of their authenticator app, and recovery codes."""

from typing import NamedTuple

from study.store.connection import Transaction


class FactorRow(NamedTuple):
    """A person's second factor.

    `last_step` is the time step of the last accepted code; `failures` counts the wrong codes since
    then, the last at `failed_at_utc` (empty if there was none).
    """

    person: int
    secret: str
    added_at_utc: str
    last_step: int
    failures: int
    failed_at_utc: str


def of(look: Transaction, person: int) -> FactorRow | None:
    """Return a person's second factor, or None."""
    return look.one(FactorRow, "SELECT * FROM second_factors WHERE person = :person", person=person)


def add(change: Transaction, row: FactorRow, recovery: list[str]) -> None:
    """Store a second factor with the hashes of its recovery codes; it replaces an earlier one."""
    remove(change, row.person)
    change.insert("second_factors", **row._asdict())
    names = ("person", "code_hash")
    change.insert_many("recovery_codes", names, [(row.person, code) for code in recovery])


def remove(change: Transaction, person: int) -> bool:
    """Delete a person's second factor and recovery codes; return whether there was one."""
    change.execute("DELETE FROM recovery_codes WHERE person = :person", person=person)
    return bool(change.execute("DELETE FROM second_factors WHERE person = :person", person=person))


def accept(change: Transaction, person: int, step: int) -> None:
    """Record that a code was accepted; `step` is its time step."""
    change.execute(
        "UPDATE second_factors SET last_step = :step, failures = 0, failed_at_utc = '' "
        "WHERE person = :person",
        person=person,
        step=step,
    )


def count_failure(change: Transaction, person: int, at_utc: str) -> None:
    """Count a wrong code."""
    change.execute(
        "UPDATE second_factors SET failures = failures + 1, failed_at_utc = :at_utc "
        "WHERE person = :person",
        person=person,
        at_utc=at_utc,
    )


def use_recovery_code(change: Transaction, person: int, code_hash: str) -> bool:
    """Delete a recovery code, and return whether the person had it."""
    return bool(
        change.execute(
            "DELETE FROM recovery_codes WHERE person = :person AND code_hash = :code_hash",
            person=person,
            code_hash=code_hash,
        )
    )


def n_recovery_codes(look: Transaction, person: int) -> int:
    """Return the number of unused recovery codes of a person."""
    sql = "SELECT count(*) FROM recovery_codes WHERE person = :person"
    return int(look.value(sql, person=person))
