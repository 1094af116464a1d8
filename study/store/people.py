"""Readers, coordinators and their access codes' hashes in the store."""

from typing import Any

from study.store.connection import Transaction


def add_reader(change: Transaction, **columns: Any) -> int:
    """Insert a reader's row and return its id."""
    return change.insert("readers", **columns)


def reader(look: Transaction, study: int, reader_id: str) -> dict[str, Any] | None:
    """Return a reader's row, or None."""
    return look.row(
        "SELECT * FROM readers WHERE study = :study AND reader_id = :reader_id",
        study=study,
        reader_id=reader_id,
    )


def readers(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return a study's readers in the order of their invitation."""
    return look.rows("SELECT * FROM readers WHERE study = :study ORDER BY id", study=study)


def mark_simulated(change: Transaction, number: int) -> None:
    """Mark a reader as simulated, for good."""
    change.execute("UPDATE readers SET simulated = 1 WHERE id = :number", number=number)


def set_access(change: Transaction, **columns: Any) -> int:
    """Give a person an access code; one they had before stops working."""
    change.execute(
        "DELETE FROM access WHERE study = :study AND role = :role "
        "AND (reader = :reader OR (reader IS NULL AND name = :name))",
        study=columns["study"],
        role=columns["role"],
        reader=columns.get("reader"),
        name=columns["name"],
    )
    return change.insert("access", **columns)


def add_sign_in(change: Transaction, *, token_id: str, access: int, at_utc: str) -> None:
    """Insert a sign-in: it lasts until it is ended, or its access code is replaced."""
    change.insert("sign_ins", id=token_id, access=access, at_utc=at_utc)


def end_sign_in(change: Transaction, token_id: str) -> None:
    """Delete a sign-in."""
    change.execute("DELETE FROM sign_ins WHERE id = :token_id", token_id=token_id)


def end_old_sign_ins(change: Transaction, before_utc: str) -> None:
    """Delete the sign-ins from before a moment."""
    change.execute("DELETE FROM sign_ins WHERE at_utc < :before_utc", before_utc=before_utc)


def by_sign_in(look: Transaction, token_id: str, since_utc: str) -> dict[str, Any] | None:
    """Return the access row of a sign-in not older than a moment, or None."""
    return look.row(
        "SELECT access.* FROM sign_ins JOIN access ON access.id = sign_ins.access "
        "WHERE sign_ins.id = :token_id AND at_utc >= :since_utc",
        token_id=token_id,
        since_utc=since_utc,
    )


def by_lookup(look: Transaction, lookup: str) -> dict[str, Any] | None:
    """Return the access row of a code's open part, or None."""
    return look.row("SELECT * FROM access WHERE lookup = :lookup", lookup=lookup)


def reader_person(look: Transaction, number: int) -> dict[str, Any] | None:
    """Return a reader by rowid with the study's name and state, or None."""
    return look.row(
        "SELECT readers.*, studies.name AS study_name, studies.state FROM readers "
        "JOIN studies ON studies.id = readers.study WHERE readers.id = :number",
        number=number,
    )


def coordinator(look: Transaction, study: int, name: str) -> dict[str, Any] | None:
    """Return a coordinator's access row with the study's name, or None."""
    return look.row(
        "SELECT access.*, studies.name AS study_name FROM access "
        "JOIN studies ON studies.id = access.study "
        "WHERE role = 'coordinator' AND study = :study AND access.name = :name",
        study=study,
        name=name,
    )
