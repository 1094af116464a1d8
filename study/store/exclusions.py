"""Exclusions in the store: rows that set a reading aside or bring it back, written once."""

from typing import Any

from study.store.connection import Transaction

_OF_STUDY = (
    "SELECT exclusions.*, reader_id, position, item_id, condition, session, repeat, "
    "NOT EXISTS (SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) AS current "
    "FROM exclusions JOIN readings ON readings.id = reading "
    "JOIN assignments ON assignments.id = assignment JOIN readers ON readers.id = reader "
    "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
    "WHERE readers.study = :study "
)


def add(change: Transaction, **columns: Any) -> str:
    """Insert a row and return its id: its reading's, and which decision about it this is.

    Such an id stays the same in whichever store the study is.
    """
    number = change.value(
        "SELECT count(*) FROM exclusions WHERE reading = :reading", reading=columns["reading"]
    )
    name = f"{columns['reading']}/{number + 1}"
    change.insert("exclusions", id=name, **columns)
    return name


def by_id(look: Transaction, exclusion: str) -> dict[str, Any] | None:
    """Return a row as stored, or None."""
    return look.row("SELECT * FROM exclusions WHERE id = :exclusion", exclusion=exclusion)


def last_of(look: Transaction, reading: str) -> dict[str, Any] | None:
    """Return the last row about a reading, or None."""
    return look.row(
        "SELECT * FROM exclusions WHERE reading = :reading ORDER BY rowid DESC LIMIT 1",
        reading=reading,
    )


def of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every row of a study as stored, for verification."""
    return look.rows(
        "SELECT exclusions.* FROM exclusions JOIN readings ON readings.id = reading "
        "JOIN assignments ON assignments.id = assignment JOIN readers ON readers.id = reader "
        "WHERE study = :study ORDER BY exclusions.rowid",
        study=study,
    )


def listed(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every row of a study with its reader and case, oldest first."""
    return look.rows(_OF_STUDY + "ORDER BY exclusions.rowid", study=study)


def reading(look: Transaction, study: int, reading_id: str) -> dict[str, Any] | None:
    """Return a reading of a study with its reader and position, or None."""
    return look.row(
        "SELECT readings.id, reader_id, position, "
        "NOT EXISTS (SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) "
        "AS current FROM readings JOIN assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study AND readings.id = :reading_id",
        study=study,
        reading_id=reading_id,
    )
