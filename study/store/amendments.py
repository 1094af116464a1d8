"""Amendments of opened studies in the store: written once."""

from typing import Any

from study.store.connection import Transaction


def add(change: Transaction, **columns: Any) -> None:
    """Insert an amendment."""
    change.insert("amendments", **columns)


def of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return a study's amendments in the order they were made."""
    return look.rows(
        "SELECT number, changes, reason, actor, at_utc FROM amendments WHERE study = :study "
        "ORDER BY number",
        study=study,
    )
