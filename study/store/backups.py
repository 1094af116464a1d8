"""What is known of the backups of a store: one row each, of those removed as well."""

from typing import Any

from study.store.connection import Transaction


def add(change: Transaction, **columns: Any) -> int:
    """Insert a backup's row and return its id."""
    return change.insert("backups", **columns)


def listed(look: Transaction) -> list[dict[str, Any]]:
    """Return every backup that was not removed, the newest first."""
    return look.rows("SELECT * FROM backups WHERE removed_at_utc IS NULL ORDER BY id DESC")


def every(look: Transaction) -> list[dict[str, Any]]:
    """Return every backup, removed ones too, in the order they were made."""
    return look.rows("SELECT * FROM backups ORDER BY id")


def last(look: Transaction) -> dict[str, Any] | None:
    """Return the newest backup, or None."""
    return look.row("SELECT * FROM backups ORDER BY id DESC LIMIT 1")


def mark_removed(change: Transaction, number: int, at_utc: str) -> None:
    """Say of a backup that its file was removed."""
    change.execute(
        "UPDATE backups SET removed_at_utc = :at_utc WHERE id = :number",
        at_utc=at_utc,
        number=number,
    )
