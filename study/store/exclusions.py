"""Exclusions in the store: rows that set a reading aside or bring it back, written once."""

from typing import Any, NamedTuple

from study.store.connection import Transaction


class ExclusionRow(NamedTuple):
    """A decision about a reading, its reader and case, and whether the reading is the current one.

    `excluded` says whether the reading was set aside or brought back.
    """

    id: str
    reading: str
    excluded: int
    reason: str
    actor: str
    at_utc: str
    reader_id: str
    position: int
    item_id: str
    condition: str
    session: int
    repeat: int
    current: int

    def stored(self) -> dict[str, Any]:
        """Return the row as the table has it, which is what is vouched for."""
        return dict(zip(self._fields[:6], self[:6], strict=True))


class DecidedRow(NamedTuple):
    """A reading that is decided about, and whether it is the current one of its case."""

    reader_id: str
    position: int
    current: int


_CURRENT = (
    "NOT EXISTS (SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) AS current "
)
_OF_STUDY = (
    "SELECT exclusions.*, reader_id, position, item_id, condition, session, repeat, "
    + _CURRENT
    + "FROM exclusions JOIN readings ON readings.id = reading "
    "JOIN assignments ON assignments.id = assignment JOIN readers ON readers.id = reader "
    "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
    "WHERE readers.study = :study ORDER BY exclusions.rowid"
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


def of_study(look: Transaction, study: int) -> list[ExclusionRow]:
    """Return every decision about a study's readings, oldest first."""
    return [ExclusionRow(**row) for row in look.rows(_OF_STUDY, study=study)]


def reading(look: Transaction, study: int, reading_id: str) -> DecidedRow | None:
    """Return a reading of a study, or None."""
    row = look.row(
        f"SELECT reader_id, position, {_CURRENT} FROM readings "
        "JOIN assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study AND readings.id = :reading_id",
        study=study,
        reading_id=reading_id,
    )
    return None if row is None else DecidedRow(**row)
