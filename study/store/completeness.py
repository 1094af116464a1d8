"""What was assigned in a study and what came of it, in the store."""

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
