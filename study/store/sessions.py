"""Sessions as the store knows them: what was read in each, when, and how somebody stepped in."""

from typing import Any, NamedTuple

from study.store.connection import Transaction


class SessionRow(NamedTuple):
    """A condition of a reader's session; first presentation and last reading as received."""

    session: int
    condition: str
    n_assigned: int
    n_read: int
    first_at_utc: str | None
    last_at_utc: str | None


class InterventionRow(NamedTuple):
    """How somebody stepped into a study, or (with a reader) into one reader's part of it."""

    id: int
    study: int
    reader: int | None
    kind: str
    session: int | None
    days: float | None
    reason: str
    actor: str
    at_utc: str
    reader_id: str | None


def of_reader(look: Transaction, reader: int) -> list[SessionRow]:
    """Return a reader's sessions in order, a row for each condition in the order of reading.

    Of a changed answer every reading is joined: the first stands for the case.
    """
    return look.tuples(
        SessionRow,
        "SELECT session, condition, "
        "count(*) FILTER (WHERE readings.supersedes IS NULL), "
        "count(readings.id) FILTER (WHERE readings.supersedes IS NULL), "
        "min(presentations.received_at_utc), max(readings.received_at_utc) FROM assignments "
        "LEFT JOIN presentations ON presentations.assignment = assignments.id "
        "LEFT JOIN readings ON readings.assignment = assignments.id WHERE reader = :reader "
        "GROUP BY session, condition ORDER BY session, min(position)",
        reader=reader,
    )


def add_intervention(change: Transaction, **columns: Any) -> None:
    """Insert a row that says how somebody stepped in."""
    change.insert("interventions", **columns)


def interventions(look: Transaction, study: int) -> list[InterventionRow]:
    """Return how somebody stepped into a study, in order."""
    rows = look.rows(
        "SELECT interventions.*, reader_id FROM interventions "
        "LEFT JOIN readers ON readers.id = reader WHERE interventions.study = :study "
        "ORDER BY interventions.id",
        study=study,
    )
    return [InterventionRow(**row) for row in rows]
