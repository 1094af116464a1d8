"""Stored values of the deployment, such as its id and secret, and the list of its backups."""

import hmac
from typing import Any, NamedTuple

from study.base.errors import BrokenStore
from study.base.translation import t
from study.store.connection import Transaction


def value(look: Transaction, name: str) -> str:
    """Return a value of the deployment; empty if it was never set."""
    return str(look.value("SELECT value FROM deployment WHERE name = :name", name=name) or "")


def set_once(change: Transaction, name: str, new: str) -> None:
    """Set a value that was not set before."""
    change.execute(
        "INSERT INTO deployment (name, value) VALUES (:name, :new) ON CONFLICT DO NOTHING",
        name=name,
        new=new,
    )


def set_value(change: Transaction, name: str, new: str) -> None:
    """Set or replace a value."""
    change.upsert("deployment", "name", name=name, value=new)


def remove_value(change: Transaction, name: str) -> None:
    """Delete a value."""
    change.execute("DELETE FROM deployment WHERE name = :name", name=name)


def secret(look: Transaction) -> str:
    """Return the deployment's secret (64 hexadecimal digits), used to sign addresses of films.

    Raises
    ------
    BrokenStore
        The store has no secret; an empty one must not be used.
    """
    key = look.secret = look.secret or value(look, "secret")
    if len(key) != 64:
        raise BrokenStore(
            t(
                "The database has no secret of its own, so nothing can be signed. The server "
                "administrator can create one: see init in docs/commands.md."
            )
        )
    return key


def keyed_mark(look: Transaction, text: str) -> str:
    """Return the keyed hash that represents an address, account or item outside the store."""
    return hmac.digest(bytes.fromhex(secret(look)), text.encode(), "sha256").hex()[:32]


class BackupRow(NamedTuple):
    """A backup: its file, the result of its verification, and when it was removed, or None."""

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


def add_backup(change: Transaction, **columns: Any) -> int:
    """Insert a backup's row and return its id."""
    return change.insert("backups", **columns)


def every_backup(look: Transaction) -> list[BackupRow]:
    """Return every backup, including removed ones, in the order they were made."""
    return [BackupRow(**row) for row in look.rows("SELECT * FROM backups ORDER BY id")]


def backups_kept(look: Transaction) -> list[BackupRow]:
    """Return every backup that was not removed, the newest first."""
    return [row for row in reversed(every_backup(look)) if row.removed_at_utc is None]


def mark_backup_removed(change: Transaction, number: int, at_utc: str) -> None:
    """Record that the file of a backup was removed."""
    change.execute(
        "UPDATE backups SET removed_at_utc = :at_utc WHERE id = :number",
        at_utc=at_utc,
        number=number,
    )
