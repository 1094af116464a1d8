"""What was assigned and what came of it, and what was decided about a study, in the store."""

from typing import Any

from study.store.connection import Transaction

# Of every assignment the reading that no other supersedes, and whether it stands excluded.
_OUTCOMES = (
    "WITH standing AS (SELECT reading, excluded FROM exclusions "
    "WHERE rowid IN (SELECT max(rowid) FROM exclusions GROUP BY reading)), "
    "outcomes AS (SELECT readers.id AS reader, reader_id, session, condition, repeat, "
    "assignments.position, assignments.id AS assignment, case_id, readings.id AS reading, "
    "readings.status, coalesce(excluded, 0) AS excluded "
    "FROM readers JOIN assignments ON assignments.reader = readers.id "
    "LEFT JOIN readings ON readings.assignment = assignments.id AND NOT EXISTS "
    "(SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) "
    "LEFT JOIN standing ON standing.reading = readings.id WHERE readers.study = :study) "
)


def counts(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return per reader, session and condition how many cases were assigned and what came of them.

    ``n_excluded`` counts readings set aside, whatever their status; the other counts keep them.
    """
    return look.rows(
        _OUTCOMES + "SELECT reader_id, session, condition, count(*) AS n_assigned, "
        "count(reading) AS n_read, "
        "count(*) FILTER (WHERE status = 'answered') AS n_answered, "
        "count(*) FILTER (WHERE status = 'skipped') AS n_skipped, "
        "count(*) FILTER (WHERE status = 'timed_out') AS n_timed_out, "
        "sum(excluded) AS n_excluded "
        "FROM outcomes GROUP BY reader, session, condition ORDER BY reader, session, condition",
        study=study,
    )


def without_answer(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every assigned case without an answer that counts, in order of reader and position."""
    return look.rows(
        _OUTCOMES + "SELECT reader_id, session, condition, repeat, position, item_id, "
        "CASE WHEN status = 'skipped' THEN 'given up' WHEN status = 'timed_out' THEN 'timed out' "
        "WHEN excluded THEN 'excluded' WHEN EXISTS (SELECT 1 FROM presentations "
        "WHERE presentations.assignment = outcomes.assignment) THEN 'shown, not answered' "
        "ELSE 'not shown' END AS why "
        "FROM outcomes JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        "WHERE status IS NOT 'answered' OR excluded ORDER BY reader, position",
        study=study,
    )


def excluded(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every decision to set a reading aside or take it back, as they were taken."""
    return look.rows(
        "SELECT reading, reader_id, item_id, condition, session, repeat, excluded, reason, actor, "
        "at_utc FROM exclusions JOIN readings ON readings.id = reading "
        "JOIN assignments ON assignments.id = assignment JOIN readers ON readers.id = reader "
        "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        "WHERE readers.study = :study ORDER BY exclusions.rowid",
        study=study,
    )


def interventions(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every intervention as it was made; without a reader it was on the whole study."""
    return look.rows(
        "SELECT coalesce(reader_id, '') AS reader_id, kind, session, days, reason, actor, at_utc "
        "FROM interventions LEFT JOIN readers ON readers.id = reader "
        "WHERE interventions.study = :study ORDER BY interventions.id",
        study=study,
    )


def amendments(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every amendment of a study's protocol, as it was made."""
    return look.rows(
        "SELECT number, changes, reason, actor, at_utc FROM amendments WHERE study = :study "
        "ORDER BY number",
        study=study,
    )
