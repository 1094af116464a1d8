"""Practice cases in the store: outside the sample, with tables of their own."""

from collections.abc import Iterable
from typing import Any

from study.store.connection import Transaction
from study.store.studies import CaseRow

_CASE = (
    "SELECT practice_assignments.id, position, condition, shown_order, question, options, "
    "age, sex, items.id AS item, 0 AS presented "
    "FROM practice_assignments JOIN practice_cases ON practice_cases.id = practice_case "
    "JOIN items ON items.id = item "
)


def add_cases(change: Transaction, study: int, items: Iterable[int]) -> None:
    """Insert the drawn practice cases of a study, in order of number."""
    change.insert_many(
        "practice_cases",
        ("study", "item", "number"),
        ((study, item, number) for number, item in enumerate(items, start=1)),
    )


def cases(look: Transaction, study: int) -> list[CaseRow]:
    """Return the practice cases of a study with their items, in order of number."""
    rows = look.rows(
        "SELECT practice_cases.id, number, item, item_id, options FROM practice_cases "
        "JOIN items ON items.id = item WHERE study = :study ORDER BY number",
        study=study,
    )
    return [CaseRow(**row) for row in rows]


def add_assignments(change: Transaction, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert practice assignments: (id, reader, practice case, condition, position, order)."""
    change.insert_many(
        "practice_assignments",
        ("id", "reader", "practice_case", "condition", "position", "shown_order"),
        rows,
    )


def assignments(look: Transaction, reader: int) -> list[dict[str, Any]]:
    """Return a reader's practice list in order of position, as its hash covers it."""
    return look.rows(
        "SELECT practice_assignments.id, position, item_id, condition, shown_order "
        "FROM practice_assignments JOIN practice_cases ON practice_cases.id = practice_case "
        "JOIN items ON items.id = item WHERE reader = :reader ORDER BY position",
        reader=reader,
    )


def assignment(look: Transaction, assignment_id: str) -> dict[str, Any] | None:
    """Return a practice assignment with its item's options and its reader's mark, or None."""
    return look.row(
        "SELECT practice_assignments.*, options, simulated FROM practice_assignments "
        "JOIN readers ON readers.id = reader "
        "JOIN practice_cases ON practice_cases.id = practice_case "
        "JOIN items ON items.id = item WHERE practice_assignments.id = :assignment_id",
        assignment_id=assignment_id,
    )


def unread(look: Transaction, reader: int, limit: int) -> list[dict[str, Any]]:
    """Return a reader's next practice cases without a reading, in order of position."""
    return look.rows(
        _CASE + "WHERE reader = :reader AND NOT EXISTS "
        "(SELECT 1 FROM practice_readings WHERE assignment = practice_assignments.id) "
        "ORDER BY position LIMIT :limit",
        reader=reader,
        limit=limit,
    )


def count(look: Transaction, reader: int) -> int:
    """Return how many practice cases a reader was assigned."""
    return int(
        look.value(
            "SELECT count(*) FROM practice_assignments WHERE reader = :reader", reader=reader
        )
    )


def add_reading(change: Transaction, **columns: Any) -> None:
    """Insert a reading of a practice case."""
    change.insert("practice_readings", **columns)


def reading(look: Transaction, reading_id: str) -> dict[str, Any] | None:
    """Return a practice reading's row, or None."""
    return look.row("SELECT * FROM practice_readings WHERE id = :id", id=reading_id)


def is_read(look: Transaction, assignment_id: str) -> bool:
    """Return whether a practice case has a reading."""
    return bool(
        look.value(
            "SELECT EXISTS (SELECT 1 FROM practice_readings WHERE assignment = :assignment_id)",
            assignment_id=assignment_id,
        )
    )


def of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every practice reading of a study as stored, for verification."""
    return look.rows(
        "SELECT practice_readings.* FROM practice_readings "
        "JOIN practice_assignments ON practice_assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study ORDER BY practice_readings.rowid",
        study=study,
    )


def truth(look: Transaction, assignment_id: str) -> dict[str, Any] | None:
    """Return a practice case's reference standard and explanation; never through `Store.desk`."""
    return look.row(
        "SELECT truth, coalesce(words, '') AS explanation, shown_order "
        "FROM practice_assignments JOIN practice_cases ON practice_cases.id = practice_case "
        "JOIN reference_standard ON reference_standard.item = practice_cases.item "
        "LEFT JOIN explanations ON explanations.item = practice_cases.item "
        "WHERE practice_assignments.id = :assignment_id",
        assignment_id=assignment_id,
    )
