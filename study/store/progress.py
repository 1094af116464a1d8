"""Queries a study's progress: readings, exclusions and numbers of correct answers.

The number of correct answers is never queried through `Store.desk`, and only for closed studies.
Answers to open-ended cases are text and never match.
"""

import json
from functools import lru_cache
from typing import Any, NamedTuple

from study.store.connection import Transaction
from study.store.judgements import OPEN_ENDED


class ReadingRow(NamedTuple):
    """A reading with its case and its presentation, and whether it is the latest."""

    flags: tuple[str, ...]
    circumstances: dict[str, Any]
    position: int
    id: str
    supersedes: str | None
    status: str
    answer: str | None
    response_ms: float | None
    elapsed_ms: float | None
    hidden_ms: float | None
    paused_ms: float | None
    comment: str
    timing_source: str
    received_at_utc: str
    shown_at_utc: str
    current: int
    reader_id: str
    session: int
    condition: str
    repeat: int
    shown_order: str
    item_id: str
    case_number: int
    case_id: int
    given_up: str


_IS_LAST_READING = (
    "NOT EXISTS (SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id)"
)

# The last reading of every assignment, and whether it is excluded.
_WITH_OUTCOMES = (
    "WITH standing AS (SELECT reading, excluded FROM exclusions "
    "WHERE rowid IN (SELECT max(rowid) FROM exclusions GROUP BY reading)), "
    "outcomes AS (SELECT readers.id AS reader, reader_id, session, condition, repeat, "
    "assignments.position, stage, case_id, presentations.id AS presentation, "
    "presentations.received_at_utc AS shown_at_utc, readings.id AS reading, "
    "readings.status, readings.received_at_utc, coalesce(excluded, 0) AS excluded "
    "FROM readers JOIN assignments ON assignments.reader = readers.id "
    "LEFT JOIN presentations ON presentations.assignment = assignments.id "
    f"LEFT JOIN readings ON readings.assignment = assignments.id AND {_IS_LAST_READING} "
    "LEFT JOIN standing ON standing.reading = readings.id WHERE readers.study = :study) "
)


def counts(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return the numbers of assigned cases and of outcomes, by reader, session and condition.

    They are in each reader's order of reading. ``n_excluded`` counts excluded readings of any
    status; the other counts include them.
    """
    return look.rows(
        _WITH_OUTCOMES + "SELECT reader_id, session, condition, count(*) AS n_assigned, "
        "count(presentation) AS n_presented, count(reading) AS n_read, "
        "count(*) FILTER (WHERE status = 'answered') AS n_answered, "
        "count(*) FILTER (WHERE status = 'skipped') AS n_skipped, "
        "count(*) FILTER (WHERE status = 'timed_out') AS n_timed_out, "
        "count(*) FILTER (WHERE stage <> 2) AS n_cases, "
        "count(reading) FILTER (WHERE stage <> 1) AS n_cases_read, "
        "sum(excluded) AS n_excluded, min(shown_at_utc) AS first_shown_at_utc, "
        "max(received_at_utc) AS last_reading_at_utc "
        "FROM outcomes GROUP BY reader, reader_id, session, condition "
        "ORDER BY reader, min(position)",
        study=study,
    )


def is_completely_read(look: Transaction, study: int) -> bool:
    """Return whether all readers who are still taking part have read all their cases."""
    return not look.rows(
        "SELECT 1 FROM readers "
        "JOIN grants ON grants.reader = readers.id AND revoked_at_utc IS NULL "
        "JOIN assignments ON assignments.reader = readers.id "
        "WHERE readers.study = :study AND NOT EXISTS "
        "(SELECT 1 FROM readings WHERE assignment = assignments.id) LIMIT 1",
        study=study,
    )


def cases_without_answer(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return all cases with no answer or an excluded one, in order of reader and position."""
    return look.rows(
        _WITH_OUTCOMES + "SELECT reader_id, session, condition, repeat, position, item_id, "
        "CASE WHEN status = 'skipped' THEN 'given up' WHEN status = 'timed_out' THEN 'timed out' "
        "WHEN excluded = 1 THEN 'excluded' "
        "WHEN presentation IS NOT NULL THEN 'shown, not answered' ELSE 'not shown' END AS why "
        "FROM outcomes JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        "WHERE status IS NOT 'answered' OR excluded = 1 ORDER BY reader, position",
        study=study,
    )


class PlacedReading(NamedTuple):
    """A reading and its sort key: reader, position and arrival."""

    place: tuple[int, int, int]
    reading: ReadingRow


def readings(look: Transaction, study: int, *, after: int = 0) -> list[PlacedReading]:
    """Return a study's readings received after a row of the store, including superseded ones.

    They are in order of receipt; `place` sorts by reader and position.
    """
    return look.tuples(
        _placed_reading,
        "SELECT readers.id, readings.rowid, flags, circumstances, position, "
        "readings.id, supersedes, status, answer, response_ms, elapsed_ms, hidden_ms, "
        "paused_ms, readings.comment, "
        "timing_source, readings.received_at_utc, presentations.received_at_utc, "
        f"{_IS_LAST_READING}, reader_id, session, "
        "condition, repeat, shown_order, item_id, cases.number, case_id, "
        "coalesce(words, '') "
        # This query runs after every reading: the join order is fixed so that it begins with the
        # new rows.
        "FROM readings CROSS JOIN assignments ON assignments.id = readings.assignment "
        "JOIN presentations ON presentations.assignment = assignments.id "
        "JOIN readers ON readers.id = reader JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item LEFT JOIN reasons ON reasons.reading = readings.id "
        "WHERE readers.study = :study AND readings.rowid > :after ORDER BY readings.rowid",
        study=study,
        after=after,
    )


def _placed_reading(
    reader: int, row: int, flags: str, circumstances: str, position: int, *values: Any
) -> PlacedReading:
    reading = ReadingRow(_flags(flags), _parse_shared(circumstances), position, *values)
    return PlacedReading((reader, position, row), reading)


@lru_cache(4096)
def _parse_shared(text: str) -> Any:
    """Return the value of a JSON text; equal texts share one value, which must not be modified."""
    return json.loads(text)


@lru_cache(4096)
def _flags(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def activity(look: Transaction, study: int) -> dict[str, dict[str, Any]]:
    """Return each reader's activity outside the cases, and the time of their last activity."""
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


_FROM_CASES_WITH_TRUTH = (
    "FROM cases JOIN items ON items.id = cases.item "
    "JOIN reference_standard ON reference_standard.item = items.id "
)
_JOIN_READINGS = (
    "JOIN assignments ON case_id = cases.id AND repeat = 1 AND stage <> 1 "
    f"AND condition <> '{OPEN_ENDED}' "
    "JOIN readings ON readings.assignment = assignments.id AND NOT EXISTS "
    "(SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) "
    "WHERE reader IN (SELECT id FROM readers WHERE study = :study AND simulated = 0 "
    "AND id NOT IN (SELECT reader FROM interventions "
    "WHERE kind = 'withdraw' AND study = :study) "
    "AND NOT EXISTS (SELECT 1 FROM assignments AS own WHERE own.reader = readers.id AND NOT EXISTS "
    "(SELECT 1 FROM readings AS done WHERE done.assignment = own.id))) "
)
_JOIN_PREDICTIONS = (
    "JOIN models ON models.study = cases.study "
    "AND NOT EXISTS (SELECT 1 FROM withdrawn_models WHERE model = models.id) "
    f"AND models.id IN (SELECT model FROM predictions WHERE condition <> '{OPEN_ENDED}') "
    "LEFT JOIN predictions ON predictions.model = models.id AND case_id = cases.id "
    f"AND condition <> '{OPEN_ENDED}' WHERE cases.study = :study "
)
_MATCH_COUNTS = "count(*) AS n, sum(answer IS truth) AS n_correct "


def matches_of_readers(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return counts by reader and task for readers who have read every case, without repeats.

    Simulated and withdrawn readers are left out; a case without an answer is not correct.
    """
    return look.rows(
        f"SELECT reader, task, {_MATCH_COUNTS}"
        f"{_FROM_CASES_WITH_TRUTH}{_JOIN_READINGS}GROUP BY reader, task",
        study=study,
    )


def matches_of_cases(look: Transaction, study: int, excluding: int) -> list[dict[str, Any]]:
    """Return counts by item and condition for the same readers except the reader `excluding`."""
    return look.rows(
        f"SELECT items.id AS item, condition, {_MATCH_COUNTS}"
        f"{_FROM_CASES_WITH_TRUTH}{_JOIN_READINGS}AND reader <> :excluding "
        "GROUP BY items.id, condition",
        study=study,
        excluding=excluding,
    )


def matches_of_session(look: Transaction, reader: int, session: int) -> dict[str, int]:
    """Return counts of a reader's last answers for the cases of a session.

    Open-ended cases and those with wrong images are left out.

    Returns
    -------
    dict of str to int
        ``n``, ``n_correct`` and ``n_aid_correct`` (the correct answers of the aid, shown or not).
    """
    (counts,) = look.rows(
        "SELECT count(*) AS n, coalesce(sum(readings.answer IS truth), 0) AS n_correct, "
        "coalesce(sum(aids.answer IS truth), 0) AS n_aid_correct "
        "FROM assignments JOIN cases ON cases.id = assignments.case_id "
        "JOIN reference_standard ON reference_standard.item = cases.item "
        "JOIN readings ON readings.assignment = assignments.id AND NOT EXISTS "
        "(SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) "
        "LEFT JOIN aids ON aids.case_id = cases.id "
        "WHERE reader = :reader AND session = :session AND stage <> 1 "
        f"AND condition NOT IN ('{OPEN_ENDED}', 'wrong-image')",
        reader=reader,
        session=session,
    )
    return counts


def matches_of_models(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return counts by model and task; a case without a prediction is not correct."""
    return look.rows(
        f"SELECT model_id, task, {_MATCH_COUNTS}"
        f"{_FROM_CASES_WITH_TRUTH}{_JOIN_PREDICTIONS}"
        "GROUP BY models.id, task ORDER BY models.id",
        study=study,
    )


def matches_by_models(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return counts by item for all models together."""
    return look.rows(
        f"SELECT items.id AS item, {_MATCH_COUNTS}"
        f"{_FROM_CASES_WITH_TRUTH}{_JOIN_PREDICTIONS}GROUP BY items.id",
        study=study,
    )


class ExclusionRow(NamedTuple):
    """A decision about a reading, its reader and case, and whether the reading is the current one.

    `excluded` states whether the reading was excluded or reinstated.
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
        """Return the row as stored in the table, which the trail confirms."""
        return dict(zip(self._fields[:6], self[:6], strict=True))


class DecidedRow(NamedTuple):
    """An excluded or reinstated reading, and whether it is the current one of its case."""

    reader_id: str
    position: int
    current: int


_IS_CURRENT = (
    "NOT EXISTS (SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) AS current "
)
_EXCLUSIONS_OF_STUDY = (
    "SELECT exclusions.*, reader_id, position, item_id, condition, session, repeat, "
    + _IS_CURRENT
    + "FROM exclusions JOIN readings ON readings.id = reading "
    "JOIN assignments ON assignments.id = assignment JOIN readers ON readers.id = reader "
    "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
    "WHERE readers.study = :study ORDER BY exclusions.rowid"
)


def add_exclusion(change: Transaction, **columns: Any) -> str:
    """Insert a decision and return its id: the reading's id, and the number of the decision.

    The id is the same in every store that contains the study.
    """
    number = change.value(
        "SELECT count(*) FROM exclusions WHERE reading = :reading", reading=columns["reading"]
    )
    name = f"{columns['reading']}/{number + 1}"
    change.insert("exclusions", id=name, **columns)
    return name


def exclusions_of_study(look: Transaction, study: int) -> list[ExclusionRow]:
    """Return every decision about a study's readings, oldest first."""
    return [ExclusionRow(**row) for row in look.rows(_EXCLUSIONS_OF_STUDY, study=study)]


def decided_reading(look: Transaction, study: int, reading_id: str) -> DecidedRow | None:
    """Return a reading of a study, or None."""
    return look.one(
        DecidedRow,
        f"SELECT reader_id, position, {_IS_CURRENT} FROM readings "
        "JOIN assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study AND readings.id = :reading_id",
        study=study,
        reading_id=reading_id,
    )
