"""What is known of the backups of a store: one row each, of those removed as well."""

from typing import Any, NamedTuple

from study.store.connection import Transaction


class BackupRow(NamedTuple):
    """A backup: its file, what verifying it found, and when the file was removed, or None."""

    id: int
    file: str
    made_at_utc: str
    trigger: str
    actor: str
    n_bytes: int
    sha256: str
    verified_at_utc: str | None
    finding: str
    removed_at_utc: str | None


def add(change: Transaction, **columns: Any) -> int:
    """Insert a backup's row and return its id."""
    return change.insert("backups", **columns)


def every(look: Transaction) -> list[BackupRow]:
    """Return every backup, removed ones too, in the order they were made."""
    return [BackupRow(**row) for row in look.rows("SELECT * FROM backups ORDER BY id")]


def listed(look: Transaction) -> list[BackupRow]:
    """Return every backup that was not removed, the newest first."""
    return [row for row in reversed(every(look)) if row.removed_at_utc is None]


def mark_removed(change: Transaction, number: int, at_utc: str) -> None:
    """Say of a backup that its file was removed."""
    change.execute(
        "UPDATE backups SET removed_at_utc = :at_utc WHERE id = :number",
        at_utc=at_utc,
        number=number,
    )
