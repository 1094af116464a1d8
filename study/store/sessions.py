"""Sessions as the store knows them: what was read in each, when, and how somebody stepped in."""

from typing import Any

from study.store.connection import Transaction


def of_reader(look: Transaction, reader: int) -> list[dict[str, Any]]:
    """Return a reader's sessions in order, a row for each condition in the order of reading.

    `first_at_utc` is when its first presentation was received, `last_at_utc` its last reading, a
    superseding one too. Of a changed answer every reading is joined: the first stands for the case.
    """
    return look.rows(
        "SELECT session, condition, "
        "count(*) FILTER (WHERE readings.supersedes IS NULL) AS n_assigned, "
        "count(readings.id) FILTER (WHERE readings.supersedes IS NULL) AS n_read, "
        "min(presentations.received_at_utc) AS first_at_utc, "
        "max(readings.received_at_utc) AS last_at_utc FROM assignments "
        "LEFT JOIN presentations ON presentations.assignment = assignments.id "
        "LEFT JOIN readings ON readings.assignment = assignments.id WHERE reader = :reader "
        "GROUP BY session, condition ORDER BY session, min(position)",
        reader=reader,
    )


def add_intervention(change: Transaction, **columns: Any) -> None:
    """Insert a row that says how somebody stepped in."""
    change.insert("interventions", **columns)


def interventions(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return how somebody stepped into a study, in order, each with the reader it is about."""
    return look.rows(
        "SELECT interventions.*, reader_id FROM interventions "
        "LEFT JOIN readers ON readers.id = reader WHERE interventions.study = :study "
        "ORDER BY interventions.id",
        study=study,
    )
