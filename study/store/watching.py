"""What is watched of a study while it runs: counts and readings, never the reference standard."""

from typing import Any

from study.store.connection import Transaction

_CURRENT = "NOT EXISTS (SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id)"


def counts(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return how many cases were assigned, shown and read, by reader, session and condition."""
    return look.rows(
        "SELECT readers.id AS reader, reader_id, session, condition, count(*) AS n_assigned, "
        "count(presentations.id) AS n_presented, count(readings.id) AS n_read, "
        "count(*) FILTER (WHERE readings.status = 'answered') AS n_answered, "
        "count(*) FILTER (WHERE readings.status = 'skipped') AS n_skipped, "
        "count(*) FILTER (WHERE readings.status = 'timed_out') AS n_timed_out, "
        "max(readings.received_at_utc) AS last_at_utc "
        "FROM assignments JOIN readers ON readers.id = reader "
        "LEFT JOIN presentations ON presentations.assignment = assignments.id "
        f"LEFT JOIN readings ON readings.assignment = assignments.id AND {_CURRENT} "
        "WHERE study = :study GROUP BY readers.id, session, condition "
        "ORDER BY readers.id, min(assignments.position)",
        study=study,
    )


def readings(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every reading of a study, superseded ones too, in order of reader and position."""
    return look.rows(
        "SELECT readings.id, supersedes, status, answer, response_ms, elapsed_ms, hidden_ms, "
        "paused_ms, readings.flags, readings.comment <> '' AS has_comment, readings.comment, "
        "timing_source, readings.received_at_utc, presentations.received_at_utc AS shown_at_utc, "
        f"circumstances, {_CURRENT} AS current, reader_id, simulated, position, session, "
        "condition, repeat, shown_order, item_id, cases.number AS case_number, case_id, "
        "coalesce(words, '') AS given_up "
        "FROM readings JOIN assignments ON assignments.id = readings.assignment "
        "JOIN presentations ON presentations.assignment = assignments.id "
        "JOIN readers ON readers.id = reader JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item LEFT JOIN reasons ON reasons.reading = readings.id "
        "WHERE readers.study = :study ORDER BY readers.id, position, readings.rowid",
        study=study,
    )


def activity(look: Transaction, study: int) -> dict[str, dict[str, Any]]:
    """Return what each reader did outside the cases, and when they were last heard of."""
    rows = look.rows(
        "SELECT reader_id, "
        "(SELECT count(*) FROM preparations WHERE reader = readers.id) AS n_steps, "
        "(SELECT max(received_at_utc) FROM preparations WHERE reader = readers.id) AS step_at_utc, "
        "(SELECT count(*) FROM practice_assignments WHERE reader = readers.id) AS n_practice, "
        "(SELECT count(*) FROM practice_readings JOIN practice_assignments "
        "ON practice_assignments.id = assignment WHERE reader = readers.id) AS n_practised, "
        "(SELECT max(received_at_utc) FROM practice_readings JOIN practice_assignments "
        "ON practice_assignments.id = assignment WHERE reader = readers.id) AS practised_at_utc, "
        "(SELECT max(presentations.received_at_utc) FROM presentations JOIN assignments "
        "ON assignments.id = assignment WHERE reader = readers.id) AS shown_at_utc "
        "FROM readers WHERE study = :study ORDER BY readers.id",
        study=study,
    )
    return {row["reader_id"]: row for row in rows}
