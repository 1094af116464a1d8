"""How far a study's readers are, in the store: cases by what came of them, and every reading."""

import json
from typing import Any, NamedTuple

from study.store.connection import Transaction
from study.store.readings import CURRENT


class ReadingRow(NamedTuple):
    """A reading with its case and its presentation, and whether no other supersedes it."""

    id: str
    supersedes: str | None
    status: str
    answer: str | None
    response_ms: float | None
    elapsed_ms: float | None
    hidden_ms: float | None
    paused_ms: float | None
    flags: tuple[str, ...]
    comment: str
    timing_source: str
    received_at_utc: str
    shown_at_utc: str
    circumstances: dict[str, Any]
    current: int
    reader_id: str
    position: int
    session: int
    condition: str
    repeat: int
    shown_order: str
    item_id: str
    case_number: int
    case_id: int
    given_up: str


# Of every assignment the reading that no other supersedes, and whether it stands excluded.
_OUTCOMES = (
    "WITH standing AS (SELECT reading, excluded FROM exclusions "
    "WHERE rowid IN (SELECT max(rowid) FROM exclusions GROUP BY reading)), "
    "outcomes AS (SELECT readers.id AS reader, reader_id, session, condition, repeat, "
    "assignments.position, case_id, presentations.id AS presentation, readings.id AS reading, "
    "readings.status, readings.received_at_utc, coalesce(excluded, 0) AS excluded "
    "FROM readers JOIN assignments ON assignments.reader = readers.id "
    "LEFT JOIN presentations ON presentations.assignment = assignments.id "
    f"LEFT JOIN readings ON readings.assignment = assignments.id AND {CURRENT} "
    "LEFT JOIN standing ON standing.reading = readings.id WHERE readers.study = :study) "
)


def counts(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return how many cases were assigned and what came of them, by reader, session and condition.

    In each reader's order of reading. ``n_excluded`` counts readings set aside, whatever their
    status; the other counts keep them.
    """
    return look.rows(
        _OUTCOMES + "SELECT reader_id, session, condition, count(*) AS n_assigned, "
        "count(presentation) AS n_presented, count(reading) AS n_read, "
        "count(*) FILTER (WHERE status = 'answered') AS n_answered, "
        "count(*) FILTER (WHERE status = 'skipped') AS n_skipped, "
        "count(*) FILTER (WHERE status = 'timed_out') AS n_timed_out, "
        "sum(excluded) AS n_excluded, max(received_at_utc) AS last_reading_at_utc "
        "FROM outcomes GROUP BY reader, session, condition ORDER BY reader, min(position)",
        study=study,
    )


def is_read(look: Transaction, study: int) -> bool:
    """Return whether every assigned case of the readers who are still taking part was read."""
    return not look.rows(
        "SELECT 1 FROM readers "
        "JOIN grants ON grants.reader = readers.id AND revoked_at_utc IS NULL "
        "JOIN assignments ON assignments.reader = readers.id "
        "WHERE readers.study = :study AND NOT EXISTS "
        "(SELECT 1 FROM readings WHERE assignment = assignments.id) LIMIT 1",
        study=study,
    )


def without_answer(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every assigned case without an answer that counts, in order of reader and position."""
    return look.rows(
        _OUTCOMES + "SELECT reader_id, session, condition, repeat, position, item_id, "
        "CASE WHEN status = 'skipped' THEN 'given up' WHEN status = 'timed_out' THEN 'timed out' "
        "WHEN excluded THEN 'excluded' WHEN presentation IS NOT NULL THEN 'shown, not answered' "
        "ELSE 'not shown' END AS why "
        "FROM outcomes JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        "WHERE status IS NOT 'answered' OR excluded ORDER BY reader, position",
        study=study,
    )


def readings(look: Transaction, study: int) -> list[ReadingRow]:
    """Return every reading of a study, superseded ones too, in order of reader and position."""
    rows = look.rows(
        "SELECT readings.id, supersedes, status, answer, response_ms, elapsed_ms, hidden_ms, "
        "paused_ms, readings.flags, readings.comment, "
        "timing_source, readings.received_at_utc, presentations.received_at_utc AS shown_at_utc, "
        f"circumstances, {CURRENT} AS current, reader_id, position, session, "
        "condition, repeat, shown_order, item_id, cases.number AS case_number, case_id, "
        "coalesce(words, '') AS given_up "
        "FROM readings JOIN assignments ON assignments.id = readings.assignment "
        "JOIN presentations ON presentations.assignment = assignments.id "
        "JOIN readers ON readers.id = reader JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item LEFT JOIN reasons ON reasons.reading = readings.id "
        "WHERE readers.study = :study ORDER BY readers.id, position, readings.rowid",
        study=study,
    )
    return [
        ReadingRow(
            **row
            | {
                "flags": tuple(json.loads(row["flags"])),
                "circumstances": json.loads(row["circumstances"]),
            }
        )
        for row in rows
    ]


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
