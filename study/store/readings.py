"""Stored presentations, readings, preparation steps, sessions and interventions of readers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from study.store.banks import FILM_COLUMNS, FilmRow
from study.store.connection import Transaction
from study.store.extract import STUDIES_WITH_PRIORS, is_section_shown
from study.store.studies import PRACTICE, STUDY, CaseSet

_STUDY_OF_READER = "(SELECT study FROM readers WHERE id = :reader)"


class WaitingCase(NamedTuple):
    """A case on a reader's list with everything the reader sees; `options` is JSON.

    `images` is the item whose images are shown, or None. In stage 2 of sequential reading,
    `first_stage` is the id of the assignment of stage 1.
    """

    id: str
    position: int
    condition: str
    shown_order: str
    question: str
    options: str
    item: int
    presented: int
    images: int | None
    stage: int = 0
    aid: str = ""
    first_stage: str | None = None


class ItemShown(NamedTuple):
    """An item with everything that a rater may see; `options` is JSON."""

    item_id: str
    question: str
    options: str
    item: int


class AssignmentRow(NamedTuple):
    """A case on a reader's list, with its item's options as JSON."""

    id: str
    reader: int
    session: int
    position: int
    condition: str
    shown_order: str
    options: str
    stage: int
    aid: str


class ViewRow(NamedTuple):
    """A film of an item without its path; `prior` and `days` as in `banks.FilmRow`."""

    position: int
    label: str
    width: int
    height: int
    bits: int
    low: int
    high: int
    spacing_mm: float | None
    prior: int
    days: int | None


class PresentationRow(NamedTuple):
    """A presentation as stored; `circumstances` is JSON."""

    id: str
    assignment: str
    shown_at_utc: str
    received_at_utc: str
    circumstances: str


class AnswerRow(NamedTuple):
    """The content of a reading; `flags` is JSON.

    `answer` is a canonical letter, or the reader's words in an open-ended case; None if there is
    no answer.
    """

    id: str
    assignment: str
    answer: str | None
    status: str
    confidence: int | None
    comment: str
    flags: str


class TruthRow(NamedTuple):
    """The correct answer for a case, and the order in which its reader sees the options (JSON)."""

    truth: str
    explanation: str
    condition: str
    shown_order: str
    options: str


class ScoredRow(NamedTuple):
    """A read case with its answer and its reference standard, if the bank has one."""

    position: int
    condition: str
    shown_order: str
    study: int
    item: int
    images: int | None
    item_id: str
    question: str
    options: str
    task: str
    answer: str | None
    status: str
    confidence: int | None
    truth: str | None
    explanation: str


class CaseToSimulate(NamedTuple):
    """A case for a simulated reader; `options` is JSON."""

    item_id: str
    options: str
    shown_order: str
    condition: str
    repeat: int
    stage: int
    aid: str
    truth: str | None


class ReadSoFar(NamedTuple):
    """The numbers of cases that were assigned to a reader and that the reader has read."""

    n_assigned: int
    n_read: int


_IS_CURRENT = "NOT EXISTS (SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id)"
_SCORED_QUERY = (
    "SELECT assignments.position, condition, shown_order, cases.study, items.id AS item, "
    f"{STUDY.images} AS images, item_id, "
    "question, options, task, answer, status, confidence, truth, "
    "coalesce(words, '') AS explanation FROM assignments JOIN cases ON cases.id = case_id "
    "JOIN items ON items.id = cases.item "
    f"JOIN readings ON readings.assignment = assignments.id AND {_IS_CURRENT} "
    "LEFT JOIN reference_standard ON reference_standard.item = items.id "
    "LEFT JOIN explanations ON explanations.item = items.id WHERE reader = :reader AND stage <> 1"
)


_QUESTION_COLUMNS = "question, options, items.id AS item"


def _assignments_clause(case_set: CaseSet) -> str:
    """Return the FROM clause for assignments with their cases."""
    return (
        f"{case_set.assignments} AS assignments "
        f"JOIN {case_set.cases} AS cases ON cases.id = case_id "
    )


def _is_unread_condition(case_set: CaseSet) -> str:
    return (
        f"NOT EXISTS (SELECT 1 FROM {case_set.tables}readings WHERE assignment = assignments.id) "
    )


def _case_query(case_set: CaseSet) -> str:
    return (
        f"SELECT assignments.id, position, condition, shown_order, {_QUESTION_COLUMNS}, "
        "EXISTS (SELECT 1 FROM "
        f"{case_set.presentations} WHERE assignment = assignments.id) AS presented, "
        f"{case_set.images} AS images, stage, aid, CASE stage WHEN 2 THEN (SELECT first.id "
        "FROM assignments AS first WHERE first.reader = assignments.reader "
        "AND first.position = assignments.position AND first.stage = 1) END AS first_stage "
        f"FROM {_assignments_clause(case_set)} JOIN items ON items.id = cases.item "
    )


def items_shown(
    look: Transaction, *, study: int | None = None, bank: int | None = None
) -> list[ItemShown]:
    """Return the items of a study's cases, or of a bank, in order of their id."""
    condition = "items.id IN (SELECT item FROM cases WHERE study = :study)"
    rows = look.rows(
        f"SELECT item_id, {_QUESTION_COLUMNS} FROM items "
        f"WHERE {condition if study else 'bank = :bank'} "
        "ORDER BY item_id",
        **({"study": study} if study else {"bank": bank}),
    )
    return [ItemShown(**row) for row in rows]


def films_shown(look: Transaction, item: int, *, prior: bool = False) -> list[FilmRow]:
    """Return an item's films with their paths, in order; with `prior`, including prior films."""
    rows = look.rows(
        f"SELECT {FILM_COLUMNS}, label, prior, days FROM item_films JOIN films ON films.id = film "
        "JOIN banks ON banks.id = films.bank "
        "WHERE item = :item AND prior <= :prior ORDER BY position",
        item=item,
        prior=int(prior),
    )
    return [FilmRow(**row) for row in rows]


def unread(
    look: Transaction,
    reader: int,
    limit: int,
    session: int | None = None,
    case_set: CaseSet = STUDY,
) -> list[WaitingCase]:
    """Return a reader's next unread cases in order of position, of all sessions or only one.

    The two stages of sequential reading are two entries that count once towards `limit`.
    """
    rows = [WaitingCase(**row) for row in _next_rows(look, reader, limit, session, case_set)]
    if any(row.stage for row in rows):
        rows = [
            WaitingCase(**row) for row in _next_rows(look, reader, 2 * limit, session, case_set)
        ]
    places = list(dict.fromkeys(row.position for row in rows))[:limit]
    return [row for row in rows if row.position in places]


def _next_rows(
    look: Transaction, reader: int, limit: int, session: int | None, case_set: CaseSet
) -> list[dict[str, Any]]:
    return look.rows(
        _case_query(case_set) + "WHERE reader = :reader "
        "AND (CAST(:session AS INTEGER) IS NULL OR session = :session) "
        f"AND {_is_unread_condition(case_set)} ORDER BY position, stage LIMIT :limit",
        reader=reader,
        limit=limit,
        session=session,
    )


def at_position(look: Transaction, reader: int, position: int) -> WaitingCase | None:
    """Return a reader's case at a position, or None."""
    return look.one(
        WaitingCase,
        _case_query(STUDY) + "WHERE reader = :reader AND position = :position ORDER BY stage DESC",
        reader=reader,
        position=position,
    )


def views(
    look: Transaction, items: Sequence[int], *, prior: bool = False
) -> dict[int, list[ViewRow]]:
    """Return the films of each item in order, without paths; with `prior`, including prior films.

    An item without films has no entry.
    """
    condition, values = _items_condition(items)
    films: dict[int, list[ViewRow]] = {}
    for row in look.rows(
        "SELECT item, position, label, width, height, bits, low, high, spacing_mm, prior, days "
        f"FROM item_films JOIN films ON films.id = film WHERE item {condition} AND prior <= :prior "
        "ORDER BY position",
        **values,
        prior=int(prior),
    ):
        films.setdefault(row.pop("item"), []).append(ViewRow(**row))
    return films


def _items_condition(items: Sequence[int]) -> tuple[str, dict[str, int]]:
    """Return the SQL condition that a column is one of these items, and its values.

    Each item is a parameter: SQLite would scan the tables of a view for a list in JSON.
    """
    values = {f"item{place}": item for place, item in enumerate(items)}
    return f"IN ({', '.join(f':{name}' for name in values)})", values


def film(look: Transaction, reader: int, case: str, view: int) -> FilmRow | None:
    """Return a film of a reader's own case or practice case, with its folder, or None.

    Parameters
    ----------
    view
        The film's position among the case's views, followed by its prior films if the study
        shows them.
    """
    query = " UNION ALL ".join(
        f"SELECT {case_set.images} FROM {_assignments_clause(case_set)} "
        "WHERE assignments.id = :case AND reader = :reader"
        for case_set in (STUDY, PRACTICE)
    )
    return look.one(
        FilmRow,
        f"SELECT {FILM_COLUMNS} FROM item_films JOIN films ON films.id = film "
        "JOIN banks ON banks.id = films.bank WHERE position = :view AND item = :item AND "
        f"(prior = 0 OR {is_section_shown('prior', _STUDY_OF_READER)})",
        item=look.value(
            query, reader=reader, case=case
        ),  # as a subquery, it would make SQLite scan the table
        reader=reader,
        view=view,
    )


_FILM_COLUMNS = FILM_COLUMNS.replace("films.", "").replace("banks.", "")
_CASES_OF_OPEN_STUDIES = (
    "(SELECT study, item FROM cases UNION SELECT study, item FROM practice_cases) AS coming "
    "JOIN studies ON studies.id = coming.study AND state = 'open'"
)


def _joins_to_films(films: str) -> str:
    """Return the joins from upcoming cases to their current or prior films."""
    return (
        f"JOIN {films} AS own ON own.item = coming.item JOIN films ON films.id = own.film "
        "JOIN banks ON banks.id = films.bank"
    )


def upcoming_films(look: Transaction, reader: int | None, n_cases: int) -> list[FilmRow]:
    """Return the films of a reader's next cases, practice cases first, in order of use."""
    waiting = " UNION ALL ".join(
        f"SELECT {place} AS turn, position, {case_set.images} AS item "
        f"FROM {_assignments_clause(case_set)} "
        f"WHERE reader = :reader AND {_is_unread_condition(case_set)}"
        for place, case_set in enumerate((PRACTICE, STUDY))
    )
    coming = f"({waiting} ORDER BY turn, position LIMIT :n_cases) AS coming"
    condition = is_section_shown("prior", _STUDY_OF_READER)
    rows = look.rows(
        f"SELECT {_FILM_COLUMNS} FROM ("
        f"SELECT {FILM_COLUMNS}, turn, coming.position AS case_position, 0 AS prior, own.position "
        f"FROM {coming} {_joins_to_films('item_views')} UNION ALL "
        f"SELECT {FILM_COLUMNS}, turn, coming.position, 1, own.position "
        f"FROM {coming} {_joins_to_films('item_priors')} AND {condition}) "
        "ORDER BY turn, case_position, prior, position",
        reader=reader,
        n_cases=n_cases,
    )
    return [FilmRow(**row) for row in rows]


def films_to_read(look: Transaction) -> list[FilmRow]:
    """Return the films of every open study's cases, each once, with their folders."""
    rows = look.rows(
        f"SELECT {_FILM_COLUMNS} FROM ("
        f"SELECT films.id, {FILM_COLUMNS} "
        f"FROM {_CASES_OF_OPEN_STUDIES} {_joins_to_films('item_views')} "
        f"UNION SELECT films.id, {FILM_COLUMNS} "
        f"FROM {_CASES_OF_OPEN_STUDIES} {_joins_to_films('item_priors')} "
        f"AND coming.study IN {STUDIES_WITH_PRIORS}) ORDER BY id"
    )
    return [FilmRow(**row) for row in rows]


def assignment(
    look: Transaction, assignment_id: str, case_set: CaseSet = STUDY
) -> AssignmentRow | None:
    """Return an assignment with its item's options, or None."""
    return look.one(
        AssignmentRow,
        "SELECT assignments.id, reader, session, position, condition, shown_order, options, stage, "
        "aid "
        f"FROM {_assignments_clause(case_set)} JOIN items ON items.id = cases.item "
        "WHERE assignments.id = :assignment_id",
        assignment_id=assignment_id,
    )


def counts(look: Transaction, reader: int, case_set: CaseSet = STUDY) -> ReadSoFar:
    """Return how many cases were assigned to a reader, and how many of them have been read."""
    row = look.row(
        "SELECT count(*) AS n_assigned, count(readings.id) AS n_read "
        f"FROM {case_set.assignments} AS assignments LEFT JOIN {case_set.readings} AS readings "
        f"ON readings.assignment = assignments.id AND {_IS_CURRENT} WHERE reader = :reader",
        reader=reader,
    )
    return ReadSoFar(**row or {"n_assigned": 0, "n_read": 0})


def reading_time(look: Transaction, reader: int) -> dict[str, Any]:
    """Return a reader's counts of cases, the first and last time, and the total reading time."""
    row = look.row(
        "SELECT count(*) AS n_assigned, count(readings.id) AS n_read, "
        "min(presentations.received_at_utc) AS first_at_utc, "
        "max(readings.received_at_utc) AS last_at_utc, "
        "total(response_ms) AS reading_ms, count(response_ms) AS n_timed FROM assignments "
        "LEFT JOIN presentations ON presentations.assignment = assignments.id LEFT JOIN readings "
        f"ON readings.assignment = assignments.id AND {_IS_CURRENT} WHERE reader = :reader",
        reader=reader,
    )
    return row or {}


def add_presentation(change: Transaction, row: PresentationRow) -> None:
    """Insert a presentation."""
    change.insert("presentations", **row._asdict())


def presentation(look: Transaction, assignment_id: str) -> PresentationRow | None:
    """Return an assignment's presentation, or None."""
    return look.one(
        PresentationRow,
        "SELECT * FROM presentations WHERE assignment = :assignment_id",
        assignment_id=assignment_id,
    )


def add(change: Transaction, case_set: CaseSet, **columns: Any) -> None:
    """Insert a reading."""
    change.insert(f"{case_set.tables}readings", **columns)


def stored_row(
    look: Transaction, reading_id: str, case_set: CaseSet = STUDY
) -> dict[str, Any] | None:
    """Return a reading's complete row, which its event hashes, or None."""
    row = look.row(f"SELECT * FROM {case_set.tables}readings WHERE id = :id", id=reading_id)
    return row and _hashed_columns(row)


def _hashed_columns(row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that the hash of a reading covers; a later one only if it has a value."""
    return {key: row[key] for key in row if key != "aid_shown_ms" or row[key] is not None}


def by_id(look: Transaction, reading_id: str, case_set: CaseSet = STUDY) -> AnswerRow | None:
    """Return the content of a reading, or None."""
    return look.one(AnswerRow, _answer_query(case_set) + "WHERE id = :id", id=reading_id)


def current(look: Transaction, assignment_id: str, case_set: CaseSet = STUDY) -> AnswerRow | None:
    """Return the current reading of an assignment, or None."""
    return look.one(
        AnswerRow,
        f"{_answer_query(case_set)} WHERE assignment = :id AND {_IS_CURRENT}",
        id=assignment_id,
    )


def _answer_query(case_set: CaseSet) -> str:
    columns = ", ".join(AnswerRow._fields)
    return f"SELECT {columns} FROM {case_set.readings} AS readings "


def has_presentation_id(look: Transaction, presentation_id: str) -> bool:
    """Return whether a presentation with this id exists."""
    return bool(
        look.value(
            "SELECT EXISTS (SELECT 1 FROM presentations WHERE id = :presentation_id)",
            presentation_id=presentation_id,
        )
    )


def has_presentation(look: Transaction, study: int) -> bool:
    """Return whether any reader was shown a case of a study."""
    return bool(
        look.value(
            "SELECT EXISTS (SELECT 1 FROM presentations "
            "JOIN assignments ON assignments.id = assignment "
            "JOIN readers ON readers.id = reader WHERE study = :study)",
            study=study,
        )
    )


def n_records(look: Transaction, reader: int) -> int:
    """Return the number of records of a reader; it never decreases."""
    return int(
        look.value(
            "SELECT (SELECT count(*) FROM preparations WHERE reader = :reader) "
            "+ (SELECT count(*) FROM practice_readings JOIN practice_assignments "
            "ON practice_assignments.id = assignment WHERE reader = :reader) "
            "+ (SELECT count(*) FROM presentations JOIN assignments "
            "ON assignments.id = assignment WHERE reader = :reader) "
            "+ (SELECT count(*) FROM aid_requests JOIN assignments "
            "ON assignments.id = assignment WHERE reader = :reader) "
            "+ (SELECT count(*) FROM readings JOIN assignments "
            "ON assignments.id = assignment WHERE reader = :reader)",
            reader=reader,
        )
    )


def has_begun(look: Transaction, reader: int) -> bool:
    """Return whether a reader has prepared, practised or been shown a case."""
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
    """Insert the reason why a case was skipped."""
    change.insert("reasons", reading=reading_id, words=words)


def reasons_of_study(look: Transaction, study: int) -> dict[str, str]:
    """Return the reasons for a study's skipped readings by reading id, for verification."""
    rows = look.rows(
        "SELECT reasons.* FROM reasons JOIN readings ON readings.id = reading "
        "JOIN assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study",
        study=study,
    )
    return {row["reading"]: row["words"] for row in rows}


def of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return a study's current readings with reader, item and presentation."""
    return look.rows(
        "SELECT readings.*, reader_id, item_id, condition, session, repeat, assignments.position, "
        "block, stage, aid, shown_order, "
        "presentations.received_at_utc AS presented_at_utc, words AS reason "
        "FROM readings JOIN assignments ON assignments.id = readings.assignment "
        "LEFT JOIN reasons ON reasons.reading = readings.id "
        "JOIN presentations ON presentations.assignment = assignments.id "
        "JOIN readers ON readers.id = reader JOIN cases ON cases.id = case_id "
        f"JOIN items ON items.id = cases.item WHERE readers.study = :study AND {_IS_CURRENT} "
        "ORDER BY readers.id, assignments.position, stage",
        study=study,
    )


def all_of_study(look: Transaction, study: int, case_set: CaseSet = STUDY) -> list[dict[str, Any]]:
    """Return all readings of a study as stored, including superseded ones, for verification."""
    rows = look.rows(
        f"SELECT readings.* FROM {case_set.tables}readings AS readings "
        f"JOIN {case_set.assignments} AS assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study ORDER BY readings.rowid",
        study=study,
    )
    return [_hashed_columns(row) for row in rows]


def presentations_of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every presentation of a study as stored, for verification."""
    return look.rows(
        "SELECT presentations.* FROM presentations JOIN assignments "
        "ON assignments.id = assignment JOIN readers ON readers.id = reader "
        "WHERE study = :study ORDER BY presentations.rowid",
        study=study,
    )


def truth(look: Transaction, assignment_id: str, case_set: CaseSet = STUDY) -> TruthRow | None:
    """Return an assignment's reference standard and explanation; never through `Store.desk`."""
    return look.one(
        TruthRow,
        "SELECT truth, coalesce(words, '') AS explanation, condition, shown_order, options "
        f"FROM {_assignments_clause(case_set)} JOIN items ON items.id = cases.item "
        "JOIN reference_standard ON reference_standard.item = cases.item "
        "LEFT JOIN explanations ON explanations.item = cases.item "
        "WHERE assignments.id = :assignment_id",
        assignment_id=assignment_id,
    )


def scored(look: Transaction, reader: int) -> list[ScoredRow]:
    """Return a reader's read cases with answer, reference standard and explanation, in order.

    Use it only for a reader whose study is closed, and never through `Store.desk`.
    """
    rows = look.rows(f"{_SCORED_QUERY} ORDER BY assignments.position", reader=reader)
    return [ScoredRow(**row) for row in rows]


def scored_at(look: Transaction, reader: int, position: int) -> ScoredRow | None:
    """Return the read case at a position in the form of `scored`, or None."""
    return look.one(
        ScoredRow,
        f"{_SCORED_QUERY} AND assignments.position = :position",
        reader=reader,
        position=position,
    )


def simulated_case(look: Transaction, assignment_id: str) -> CaseToSimulate | None:
    """Return a case for a simulated reader, with its reference standard."""
    return look.one(
        CaseToSimulate,
        "SELECT item_id, options, shown_order, condition, repeat, stage, aid, truth "
        "FROM assignments "
        "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        "LEFT JOIN reference_standard ON reference_standard.item = items.id "
        "WHERE assignments.id = :assignment_id",
        assignment_id=assignment_id,
    )


def elapsed_of_first_stage(look: Transaction, assignment_id: str) -> float | None:
    """Return the elapsed time of stage 1 of an assignment in stage 2, or None."""
    elapsed_ms = look.value(
        "SELECT elapsed_ms FROM assignments AS second JOIN assignments AS first "
        "ON first.reader = second.reader AND first.position = second.position AND first.stage = 1 "
        "JOIN readings ON readings.assignment = first.id WHERE second.id = :assignment_id",
        assignment_id=assignment_id,
    )
    return None if elapsed_ms is None else float(elapsed_ms)


def add_preparation(change: Transaction, **columns: Any) -> None:
    """Insert a completed preparation step."""
    change.insert("preparations", **columns)


def preparation(look: Transaction, preparation_id: str) -> dict[str, Any] | None:
    """Return a step's row, or None."""
    return look.row("SELECT * FROM preparations WHERE id = :id", id=preparation_id)


def steps_done(look: Transaction, reader: int) -> set[tuple[str, str]]:
    """Return a reader's completed steps, each with its sign-in."""
    rows = look.rows("SELECT step, sign_in FROM preparations WHERE reader = :reader", reader=reader)
    return {(row["step"], row["sign_in"]) for row in rows}


def preparations_of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every step of a study's readers as stored, for verification."""
    return look.rows(
        "SELECT preparations.* FROM preparations JOIN readers ON readers.id = reader "
        "WHERE study = :study ORDER BY preparations.rowid",
        study=study,
    )


class SessionRow(NamedTuple):
    """A condition in a reader's session, with the times of its first presentation and last reading.

    `n_cases` and `n_cases_read` count the two readings of sequential reading as one case.
    """

    session: int
    condition: str
    n_assigned: int
    n_read: int
    first_at_utc: str | None
    last_at_utc: str | None
    n_cases: int
    n_cases_read: int


class InterventionRow(NamedTuple):
    """An intervention in a study, or in one reader's part of it if `reader` is set."""

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


def sessions_of_reader(look: Transaction, reader: int) -> list[SessionRow]:
    """Return a reader's sessions in order, a row for each condition in the order of reading.

    Of several readings of a case, whose answer was changed, the first is counted.
    """
    return look.tuples(
        SessionRow,
        "SELECT session, condition, "
        "count(*) FILTER (WHERE readings.supersedes IS NULL), "
        "count(readings.id) FILTER (WHERE readings.supersedes IS NULL), "
        "min(presentations.received_at_utc), max(readings.received_at_utc), "
        "count(*) FILTER (WHERE readings.supersedes IS NULL AND stage <> 2), "
        "count(readings.id) FILTER (WHERE readings.supersedes IS NULL AND stage <> 1) "
        "FROM assignments "
        "LEFT JOIN presentations ON presentations.assignment = assignments.id "
        "LEFT JOIN readings ON readings.assignment = assignments.id WHERE reader = :reader "
        "GROUP BY session, condition ORDER BY session, min(position)",
        reader=reader,
    )


def add_intervention(change: Transaction, **columns: Any) -> None:
    """Insert an intervention."""
    change.insert("interventions", **columns)


def interventions(look: Transaction, study: int) -> list[InterventionRow]:
    """Return the interventions in a study, in order."""
    rows = look.rows(
        "SELECT interventions.*, reader_id FROM interventions "
        "LEFT JOIN readers ON readers.id = reader WHERE interventions.study = :study "
        "ORDER BY interventions.id",
        study=study,
    )
    return [InterventionRow(**row) for row in rows]


def shown_context(
    look: Transaction, items: Sequence[int], keys: Sequence[str]
) -> dict[int, tuple[tuple[str, str], ...]]:
    """Return the context that a protocol shows with each item's question, in the protocol's order.

    Readers and models see the same content. It can be read through `Store.desk`, to which findings
    and impressions are sealed.

    Parameters
    ----------
    items : sequence of int
        The rowids of the items.
    keys : sequence of str
        The protocol's `context`.

    Returns
    -------
    dict of int to tuple of (str, str)
        For example `("Age", "60 years")`; values that the bank lacks are omitted.
    """
    condition, values = _items_condition(items)
    rows = look.rows(
        f"SELECT id AS item, 'age' AS name, age AS words FROM items WHERE id {condition} "
        f"UNION ALL SELECT id, 'sex', sex FROM items WHERE id {condition} "
        f"UNION ALL SELECT item, section, words FROM shown_context WHERE item {condition}",
        **values,
    )
    texts = {(row["item"], row["name"]): row["words"] for row in rows}
    return {
        item: tuple((key.capitalize(), texts[item, key]) for key in keys if texts.get((item, key)))
        for item in items
    }
