"""What readers did before their first case, in the store: one row a step."""

from typing import Any

from study.store.connection import Transaction


def add(change: Transaction, **columns: Any) -> None:
    """Insert a step that was done."""
    change.insert("preparations", **columns)


def by_id(look: Transaction, preparation_id: str) -> dict[str, Any] | None:
    """Return a step's row, or None."""
    return look.row("SELECT * FROM preparations WHERE id = :id", id=preparation_id)


def done(look: Transaction, reader: int) -> set[tuple[str, str]]:
    """Return the steps a reader has done, each with the sign-in it was done for."""
    rows = look.rows("SELECT step, sign_in FROM preparations WHERE reader = :reader", reader=reader)
    return {(row["step"], row["sign_in"]) for row in rows}


def of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every step of a study's readers as stored, for verification."""
    return look.rows(
        "SELECT preparations.* FROM preparations JOIN readers ON readers.id = reader "
        "WHERE study = :study ORDER BY preparations.rowid",
        study=study,
    )
