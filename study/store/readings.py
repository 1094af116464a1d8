"""Presentations and readings in the store: what a reader was shown and what they answered."""

from typing import Any

from study.store.banks import FILM, FilmRow
from study.store.connection import Transaction
from study.store.parts import PRACTICE, STUDY, Part

_CURRENT = "NOT EXISTS (SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id)"
_SCORED = (
    "SELECT assignments.position, condition, shown_order, cases.study, items.id AS item, item_id, "
    "question, options, task, answer, status, confidence, truth, "
    "coalesce(words, '') AS explanation FROM assignments JOIN cases ON cases.id = case_id "
    "JOIN items ON items.id = cases.item "
    f"JOIN readings ON readings.assignment = assignments.id AND {_CURRENT} "
    "LEFT JOIN reference_standard ON reference_standard.item = items.id "
    "LEFT JOIN explanations ON explanations.item = items.id WHERE reader = :reader"
)


def _listed(part: Part) -> str:
    """Return what assignments of a part are read from, with their cases."""
    return f"{part.assignments} AS assignments JOIN {part.cases} AS cases ON cases.id = case_id "


def _unread(part: Part) -> str:
    return f"NOT EXISTS (SELECT 1 FROM {part.tables}readings WHERE assignment = assignments.id) "


def _case(part: Part) -> str:
    return (
        "SELECT assignments.id, position, condition, session, repeat, shown_order, question, "
        "options, age, sex, items.id AS item, EXISTS (SELECT 1 FROM "
        f"{part.presentations} WHERE assignment = assignments.id) AS presented "
        f"FROM {_listed(part)} JOIN items ON items.id = cases.item "
    )


def unread(
    look: Transaction, reader: int, limit: int, session: int | None = None, part: Part = STUDY
) -> list[dict[str, Any]]:
    """Return a reader's next cases without a reading, in order of position; of one session only."""
    return look.rows(
        _case(part) + "WHERE reader = :reader AND (:session IS NULL OR session = :session) "
        f"AND {_unread(part)} ORDER BY position LIMIT :limit",
        reader=reader,
        limit=limit,
        session=session,
    )


def at_position(look: Transaction, reader: int, position: int) -> dict[str, Any] | None:
    """Return a reader's case at a position, or None."""
    return look.row(
        _case(STUDY) + "WHERE reader = :reader AND position = :position",
        reader=reader,
        position=position,
    )


def views(look: Transaction, item: int) -> list[dict[str, Any]]:
    """Return an item's films in order, without their paths."""
    return look.rows(
        "SELECT item_views.position, label, width, height, bits, low, high, spacing_mm "
        "FROM item_views JOIN films ON films.id = film WHERE item = :item "
        "ORDER BY item_views.position",
        item=item,
    )


def film(look: Transaction, reader: int, case: str, view: int) -> FilmRow | None:
    """Return a film of one of a reader's own cases, of practice too, with its folder, or None.

    Parameters
    ----------
    view
        The film's place among the case's views.
    """
    item = " UNION ALL ".join(
        f"SELECT item FROM {_listed(part)} WHERE assignments.id = :case AND reader = :reader "
        "AND condition <> 'image-absent'"
        for part in (STUDY, PRACTICE)
    )
    row = look.row(
        f"SELECT {FILM} FROM item_views JOIN films ON films.id = film "
        "JOIN banks ON banks.id = films.bank "
        f"WHERE item_views.position = :view AND item = ({item})",
        reader=reader,
        case=case,
        view=view,
    )
    return None if row is None else FilmRow(**row)


def upcoming_films(look: Transaction, reader: int | None, n_cases: int) -> list[FilmRow]:
    """Return the films of a reader's next cases, of practice first, in the order of need."""
    waiting = " UNION ALL ".join(
        f"SELECT {place} AS part, position, item, condition FROM {_listed(part)} "
        f"WHERE reader = :reader AND {_unread(part)}"
        for place, part in enumerate((PRACTICE, STUDY))
    )
    rows = look.rows(
        f"SELECT {FILM} FROM ({waiting} ORDER BY part, position LIMIT :n_cases) AS coming "
        "JOIN item_views ON item_views.item = coming.item AND condition <> 'image-absent' "
        "JOIN films ON films.id = film JOIN banks ON banks.id = films.bank "
        "ORDER BY part, coming.position, item_views.position",
        reader=reader,
        n_cases=n_cases,
    )
    return [FilmRow(**row) for row in rows]


def films_to_read(look: Transaction) -> list[FilmRow]:
    """Return the films of every open study's cases, each once, with their folders."""
    rows = look.rows(
        f"SELECT DISTINCT {FILM} FROM studies "
        "JOIN (SELECT study, item FROM cases UNION SELECT study, item FROM practice_cases) "
        "AS drawn ON drawn.study = studies.id JOIN item_views ON item_views.item = drawn.item "
        "JOIN films ON films.id = film JOIN banks ON banks.id = films.bank "
        "WHERE studies.state = 'open' ORDER BY films.id"
    )
    return [FilmRow(**row) for row in rows]


def assignment(look: Transaction, assignment_id: str, part: Part = STUDY) -> dict[str, Any] | None:
    """Return an assignment with its item's options and its reader's mark, or None."""
    return look.row(
        f"SELECT assignments.*, options, simulated FROM {_listed(part)} "
        "JOIN readers ON readers.id = reader JOIN items ON items.id = cases.item "
        "WHERE assignments.id = :assignment_id",
        assignment_id=assignment_id,
    )


def counts(look: Transaction, reader: int, part: Part = STUDY) -> dict[str, Any]:
    """Return how many cases a reader was assigned and has read."""
    row = look.row(
        "SELECT count(*) AS n_assigned, count(readings.id) AS n_read "
        f"FROM {part.assignments} AS assignments LEFT JOIN {part.readings} AS readings "
        f"ON readings.assignment = assignments.id AND {_CURRENT} WHERE reader = :reader",
        reader=reader,
    )
    return row or {}


def spent(look: Transaction, reader: int) -> dict[str, Any]:
    """Return how many cases a reader was assigned and has read, from when to when, how long."""
    row = look.row(
        "SELECT count(*) AS n_assigned, count(readings.id) AS n_read, "
        "min(presentations.received_at_utc) AS first_at_utc, "
        "max(readings.received_at_utc) AS last_at_utc, "
        "total(response_ms) AS reading_ms, count(response_ms) AS n_timed FROM assignments "
        "LEFT JOIN presentations ON presentations.assignment = assignments.id LEFT JOIN readings "
        f"ON readings.assignment = assignments.id AND {_CURRENT} WHERE reader = :reader",
        reader=reader,
    )
    return row or {}


def add_presentation(change: Transaction, **columns: Any) -> None:
    """Insert a presentation."""
    change.insert("presentations", **columns)


def presentation(look: Transaction, assignment_id: str) -> dict[str, Any] | None:
    """Return an assignment's presentation, or None."""
    return look.row(
        "SELECT * FROM presentations WHERE assignment = :assignment_id",
        assignment_id=assignment_id,
    )


def add(change: Transaction, part: Part, **columns: Any) -> None:
    """Insert a reading."""
    change.insert(f"{part.tables}readings", **columns)


def by_id(look: Transaction, reading_id: str, part: Part = STUDY) -> dict[str, Any] | None:
    """Return a reading's row as stored, or None."""
    return look.row(f"SELECT * FROM {part.tables}readings WHERE id = :id", id=reading_id)


def current(look: Transaction, assignment_id: str, part: Part = STUDY) -> dict[str, Any] | None:
    """Return the reading of an assignment that no other supersedes, or None."""
    return look.row(
        f"SELECT * FROM {part.readings} AS readings "
        f"WHERE assignment = :assignment_id AND {_CURRENT}",
        assignment_id=assignment_id,
    )


def has_presentation_id(look: Transaction, presentation_id: str) -> bool:
    """Return whether any presentation, of whichever case, has this id."""
    return bool(
        look.value(
            "SELECT EXISTS (SELECT 1 FROM presentations WHERE id = :presentation_id)",
            presentation_id=presentation_id,
        )
    )


def any_of_study(look: Transaction, study: int) -> bool:
    """Return whether any case of a study was shown to anybody."""
    return bool(
        look.value(
            "SELECT EXISTS (SELECT 1 FROM presentations "
            "JOIN assignments ON assignments.id = assignment "
            "JOIN readers ON readers.id = reader WHERE study = :study)",
            study=study,
        )
    )


def n_records(look: Transaction, reader: int) -> int:
    """Return how many records of a reader are stored; none is ever taken away."""
    return int(
        look.value(
            "SELECT (SELECT count(*) FROM preparations WHERE reader = :reader) "
            "+ (SELECT count(*) FROM practice_readings JOIN practice_assignments "
            "ON practice_assignments.id = assignment WHERE reader = :reader) "
            "+ (SELECT count(*) FROM presentations JOIN assignments "
            "ON assignments.id = assignment WHERE reader = :reader) "
            "+ (SELECT count(*) FROM readings JOIN assignments "
            "ON assignments.id = assignment WHERE reader = :reader)",
            reader=reader,
        )
    )


def has_begun(look: Transaction, reader: int) -> bool:
    """Return whether a reader has prepared, practised or been shown a case; none reads without."""
    return bool(
        look.value(
            "SELECT EXISTS (SELECT 1 FROM presentations JOIN assignments "
            "ON assignments.id = assignment WHERE reader = :reader) "
            "OR EXISTS (SELECT 1 FROM preparations WHERE reader = :reader) "
            "OR EXISTS (SELECT 1 FROM practice_readings JOIN practice_assignments "
            "ON practice_assignments.id = assignment WHERE reader = :reader)",
            reader=reader,
        )
    )


def add_reason(change: Transaction, reading_id: str, words: str) -> None:
    """Insert the reason for which a case was given up."""
    change.insert("reasons", reading=reading_id, words=words)


def reasons_of_study(look: Transaction, study: int) -> dict[str, str]:
    """Return the reasons of a study's skipped readings by the reading's id, for verification."""
    rows = look.rows(
        "SELECT reasons.* FROM reasons JOIN readings ON readings.id = reading "
        "JOIN assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study",
        study=study,
    )
    return {row["reading"]: row["words"] for row in rows}


def of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return a study's readings that no other supersedes, with reader, item and presentation."""
    return look.rows(
        "SELECT readings.*, reader_id, item_id, condition, session, repeat, assignments.position, "
        "shown_order, presentations.received_at_utc AS presented_at_utc, words AS reason "
        "FROM readings JOIN assignments ON assignments.id = readings.assignment "
        "LEFT JOIN reasons ON reasons.reading = readings.id "
        "JOIN presentations ON presentations.assignment = assignments.id "
        "JOIN readers ON readers.id = reader JOIN cases ON cases.id = case_id "
        f"JOIN items ON items.id = cases.item WHERE readers.study = :study AND {_CURRENT} "
        "ORDER BY readers.id, assignments.position",
        study=study,
    )


def all_of_study(look: Transaction, study: int, part: Part = STUDY) -> list[dict[str, Any]]:
    """Return every reading of a study as stored, superseded ones too, for verification."""
    return look.rows(
        f"SELECT readings.* FROM {part.tables}readings AS readings "
        f"JOIN {part.assignments} AS assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study ORDER BY readings.rowid",
        study=study,
    )


def presentations_of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every presentation of a study as stored, for verification."""
    return look.rows(
        "SELECT presentations.* FROM presentations JOIN assignments "
        "ON assignments.id = assignment JOIN readers ON readers.id = reader "
        "WHERE study = :study ORDER BY presentations.rowid",
        study=study,
    )


def truth(look: Transaction, assignment_id: str, part: Part = STUDY) -> dict[str, Any] | None:
    """Return an assignment's reference standard and explanation; never through `Store.desk`."""
    return look.row(
        "SELECT truth, coalesce(words, '') AS explanation, shown_order, options "
        f"FROM {_listed(part)} JOIN items ON items.id = cases.item "
        "JOIN reference_standard ON reference_standard.item = cases.item "
        "LEFT JOIN explanations ON explanations.item = cases.item "
        "WHERE assignments.id = :assignment_id",
        assignment_id=assignment_id,
    )


def scored(look: Transaction, reader: int) -> list[dict[str, Any]]:
    """Return a reader's read cases with answer, reference standard and explanation, in order.

    Never through `Store.desk`, and only for a reader whose study is closed.
    """
    return look.rows(f"{_SCORED} ORDER BY assignments.position", reader=reader)


def scored_at(look: Transaction, reader: int, position: int) -> dict[str, Any] | None:
    """Return the same of one position, or None."""
    return look.row(
        f"{_SCORED} AND assignments.position = :position", reader=reader, position=position
    )


def simulated_case(look: Transaction, assignment_id: str) -> dict[str, Any]:
    """Return what a simulation needs of a case, its reference standard included."""
    row = look.row(
        "SELECT item_id, options, shown_order, condition, repeat, truth FROM assignments "
        "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        "LEFT JOIN reference_standard ON reference_standard.item = items.id "
        "WHERE assignments.id = :assignment_id",
        assignment_id=assignment_id,
    )
    return row or {}
