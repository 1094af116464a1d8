"""Stored studies: drafts, amendments, case sets and assignments.

A study has two case sets: its cases, and practice cases outside its sample. They are in separate
tables, so that no count or export of the study includes practice by mistake. Functions for both
take a `CaseSet`. Drafts may be changed and are not covered by the event chains.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from study.base.canonical import canonical_json
from study.base.errors import NotFound, NotNow
from study.base.text import did_you_mean, quoted
from study.base.translation import t
from study.store.banks import FILM_COLUMNS, FilmRow
from study.store.connection import Transaction
from study.store.events import EventKind
from study.store.extract import ITEMS_SHOWN, PRIORS_SHOWN, is_section_shown


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSet:
    """The tables of a case set; `cases` and `assignments` have the same columns in both sets.

    Parameters
    ----------
    tables
        The prefix of its tables' names.
    case
        The column of an assignment that refers to its case.
    hashed_columns
        The columns that the hash of a reader's list covers.
    later_columns
        Columns added later, with their defaults; the hash covers them only if they differ.
    purpose
        Part of an assignment's id that distinguishes the ids of the two sets.
    images
        The SQL expression for the item whose images an assignment shows; NULL without images.
    """

    tables: str
    case: str
    hashed_columns: tuple[str, ...]
    later_columns: tuple[tuple[str, Any], ...]
    purpose: str
    cases: str
    assignments: str
    images: str
    presentations: str
    readings: str
    read: EventKind


_HASHED_COLUMNS = ("id", "position", "item_id", "condition", "shown_order")

STUDY = CaseSet(
    tables="",
    case="case_id",
    hashed_columns=(*_HASHED_COLUMNS, "session", "repeat"),
    later_columns=(("block", None), ("stage", 0), ("aid", "")),
    purpose="assignment",
    cases="cases",
    assignments="assignments",
    images="(SELECT item FROM items_with_images WHERE assignment = assignments.id)",
    presentations="presentations",
    readings="readings",
    read=EventKind.CASE_READ,
)

PRACTICE = CaseSet(
    tables="practice_",
    case="practice_case",
    hashed_columns=_HASHED_COLUMNS,
    later_columns=(),
    purpose="practice",
    cases="(SELECT *, '' AS stratum FROM practice_cases)",
    assignments="(SELECT *, practice_case AS case_id, 1 AS session, 1 AS repeat, 0 AS stage, "
    "'' AS aid FROM practice_assignments)",
    images="CASE WHEN condition <> 'image-absent' THEN cases.item END",
    presentations="(SELECT NULL AS assignment LIMIT 0)",
    readings="(SELECT *, NULL AS supersedes FROM practice_readings)",
    read=EventKind.PRACTICE_CASE_READ,
)


class StudyRow(NamedTuple):
    """A study with its bank's name and marks; `protocol` and `amendments` are JSON."""

    id: int
    name: str
    bank: int
    state: str
    protocol: str
    protocol_sha256: str
    drawn_at_utc: str
    opened_at_utc: str | None
    closed_at_utc: str | None
    discarded_at_utc: str | None
    restored_from: str
    items_salt: str
    bank_name: str
    simulated_films: int
    bank_sha256: str
    amendments: str


class CaseRow(NamedTuple):
    """A case of a study, or a practice case, with its item; `options` is JSON."""

    id: int
    number: int
    item: int
    item_id: str
    options: str
    stratum: str = ""


class DrawnCase(NamedTuple):
    """A case as staff see it before the study is opened; `view` has its views, joined by ``+``."""

    number: int
    item_id: str
    stratum: str
    task: str
    category: str
    patient_id: str
    view: str
    question: str


class Amendment(NamedTuple):
    """An amendment of an opened study: each changed key with its ``old`` and ``new`` value."""

    number: int
    at_utc: str
    actor: str
    reason: str
    changes: Mapping[str, Mapping[str, Any]]


_STUDIES = (
    "SELECT studies.*, banks.name AS bank_name, banks.simulated AS simulated_films, "
    "banks.content_sha256 AS bank_sha256, (SELECT json_group_array(json(changes)) FROM "
    "(SELECT changes FROM amendments WHERE study = studies.id ORDER BY number)) AS amendments "
    "FROM studies JOIN banks ON banks.id = studies.bank "
)


def add(change: Transaction, **columns: Any) -> int:
    """Insert a study's row and return its id."""
    return change.insert("studies", **columns)


def find(look: Transaction, name: str) -> StudyRow | None:
    """Return the study with a name, or with a name that looks the same, or None."""
    return look.one(StudyRow, _STUDIES + "WHERE studies.name = :name", name=name) or look.one(
        StudyRow, _STUDIES + "WHERE id_key(studies.name) = id_key(:name)", name=name
    )


def names(look: Transaction) -> list[str]:
    """Return the names of all studies."""
    return [row["name"] for row in look.rows("SELECT name FROM studies ORDER BY name")]


def listed(look: Transaction) -> list[StudyRow]:
    """Return every study's row, the newest first."""
    return [StudyRow(**row) for row in look.rows(_STUDIES + "ORDER BY studies.id DESC")]


def name_of(look: Transaction, number: int) -> str:
    """Return a study's name by rowid; empty if there is none, or it was discarded."""
    name = look.value(
        "SELECT name FROM studies WHERE id = :number AND discarded_at_utc IS NULL", number=number
    )
    return str(name or "")


def mark_closed(change: Transaction, study: int, at_utc: str) -> None:
    """Mark an open study as closed."""
    change.execute(
        "UPDATE studies SET state = 'closed', closed_at_utc = :at_utc WHERE id = :study",
        at_utc=at_utc,
        study=study,
    )


def mark_discarded(change: Transaction, study: int, at_utc: str) -> None:
    """Mark a drawn study as discarded, permanently."""
    change.execute(
        "UPDATE studies SET discarded_at_utc = :at_utc WHERE id = :study",
        at_utc=at_utc,
        study=study,
    )


def add_amendment(change: Transaction, study: int, amendment: Amendment) -> None:
    """Insert an amendment; it cannot be changed afterwards."""
    columns = amendment._asdict() | {"changes": canonical_json(amendment.changes)}
    change.insert("amendments", study=study, **columns)


def amendments(look: Transaction, study: int) -> list[Amendment]:
    """Return a study's amendments in the order they were made."""
    rows = look.rows(
        "SELECT number, at_utc, actor, reason, changes FROM amendments WHERE study = :study "
        "ORDER BY number",
        study=study,
    )
    return [Amendment(**{**row, "changes": json.loads(row["changes"])}) for row in rows]


def add_cases(change: Transaction, study: int, cases: Iterable[tuple[int, int, str]]) -> None:
    """Insert the drawn cases, given as (item, number, stratum)."""
    change.insert_many(
        "cases",
        ("study", "item", "number", "stratum"),
        ((study, item, number, stratum) for item, number, stratum in cases),
    )


def add_practice_cases(change: Transaction, study: int, items: Iterable[int]) -> None:
    """Insert the drawn practice cases, in order of number."""
    change.insert_many(
        "practice_cases",
        ("study", "item", "number"),
        ((study, item, number) for number, item in enumerate(items, start=1)),
    )


def add_wrong_images(change: Transaction, pairs: Iterable[tuple[int, int]]) -> None:
    """Insert the pairs of a case and the case whose images are shown instead."""
    change.insert_many("wrong_images", ("case_id", "shown_case"), pairs)


def wrong_images(look: Transaction, study: int) -> list[tuple[int, int]]:
    """Return the numbers of each case and of the case whose images are shown instead."""
    return look.tuples(
        lambda *pair: pair,
        "SELECT cases.number, shown.number FROM wrong_images JOIN cases ON cases.id = case_id "
        "JOIN cases AS shown ON shown.id = shown_case WHERE cases.study = :study "
        "ORDER BY cases.number",
        study=study,
    )


def images_shown_instead(look: Transaction, study: str) -> dict[str, str]:
    """Map each item to the item whose images a study shows in the condition wrong-image."""
    rows = look.tuples(
        lambda *pair: pair,
        "SELECT items.item_id, other.item_id FROM wrong_images JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item JOIN cases AS shown ON shown.id = shown_case "
        "JOIN items AS other ON other.id = shown.item "
        "WHERE cases.study = (SELECT id FROM studies WHERE name = :study)",
        study=study,
    )
    return dict(rows)


def cases(look: Transaction, study: int, case_set: CaseSet = STUDY) -> list[CaseRow]:
    """Return the cases of a study with their items, in order of number."""
    rows = look.rows(
        f"SELECT cases.id, number, stratum, item, item_id, options FROM {case_set.cases} AS cases "
        "JOIN items ON items.id = item WHERE study = :study ORDER BY number",
        study=study,
    )
    return [CaseRow(**row) for row in rows]


def questions(look: Transaction, study: int) -> dict[str, str]:
    """Return the questions of a study's cases by item ID."""
    rows = look.rows(
        "SELECT item_id, question FROM cases JOIN items ON items.id = item WHERE study = :study",
        study=study,
    )
    return {row["item_id"]: row["question"] for row in rows}


def drawn_cases(look: Transaction, study: int) -> list[DrawnCase]:
    """Return the drawn cases of a study, in order of number."""
    rows = look.rows(
        "SELECT number, item_id, stratum, task, category, patient_id, question, "
        "coalesce((SELECT group_concat(label, '+') FROM (SELECT label FROM item_views "
        "WHERE item_views.item = items.id ORDER BY position)), '') AS view "
        "FROM cases JOIN items ON items.id = item WHERE study = :study ORDER BY number",
        study=study,
    )
    return [DrawnCase(**row) for row in rows]


def case_films(look: Transaction, study: int) -> list[FilmRow]:
    """Return each film of a study's cases and practice cases once, with its location."""
    rows = look.rows(
        f"SELECT DISTINCT {FILM_COLUMNS} FROM films JOIN banks ON banks.id = films.bank "
        f"WHERE films.id IN (SELECT film FROM item_views WHERE item IN {ITEMS_SHOWN} "
        f"UNION SELECT film FROM item_priors WHERE {PRIORS_SHOWN}) ORDER BY films.path",
        study=study,
    )
    return [FilmRow(**row) for row in rows]


def views_of_case(look: Transaction, study: int, item_id: str) -> list[FilmRow]:
    """Return the films of a case in the order shown, prior films last.

    The list is empty if the case does not exist.
    """
    rows = look.rows(
        f"SELECT {FILM_COLUMNS}, label, prior, days FROM item_films JOIN films ON films.id = film "
        "JOIN banks ON banks.id = films.bank WHERE item = :item "
        f"AND (prior = 0 OR {is_section_shown('prior')}) ORDER BY position",
        item=look.value(
            "SELECT item FROM cases JOIN items ON items.id = item "
            "WHERE study = :study AND item_id = :item_id",
            study=study,
            item_id=item_id,
        ),
        study=study,
    )
    return [FilmRow(**row) for row in rows]


def mark_open(change: Transaction, study: int, at_utc: str, items_salt: str) -> None:
    """Mark a drawn study as open."""
    change.execute(
        "UPDATE studies SET state = 'open', opened_at_utc = :at_utc, items_salt = :items_salt "
        "WHERE id = :study",
        at_utc=at_utc,
        items_salt=items_salt,
        study=study,
    )


def add_assignments(
    change: Transaction, case_set: CaseSet, rows: Iterable[Mapping[str, Any]]
) -> None:
    """Insert a reader's list. Practice cases have no session or repeat."""
    own_columns = [
        name
        for name in (*case_set.hashed_columns, *dict(case_set.later_columns))
        if name != "item_id"
    ]
    change.insert_many(
        f"{case_set.tables}assignments",
        (case_set.case, "reader", *own_columns),
        ([row[name] for name in ("case", "reader", *own_columns)] for row in rows),
    )


def assignments(look: Transaction, reader: int, case_set: CaseSet = STUDY) -> list[dict[str, Any]]:
    """Return a reader's list in order of position, with the columns that its hash covers."""
    rows = look.rows(
        f"SELECT assignments.*, item_id FROM {case_set.assignments} AS assignments "
        f"JOIN {case_set.cases} AS cases ON cases.id = case_id JOIN items ON items.id = item "
        f"WHERE reader = :reader ORDER BY position{', stage' if case_set.later_columns else ''}",
        reader=reader,
    )
    return [
        {name: row[name] for name in case_set.hashed_columns}
        | {name: row[name] for name, default in case_set.later_columns if row[name] != default}
        for row in rows
    ]


def study_row(look: Transaction, name: str) -> StudyRow:
    """Return a study's row, or raise `NotFound` with the existing names."""
    row = find(look, name)
    if row is None:
        known = names(look)
        raise NotFound(
            t(
                "There is no study named {name}. Available studies: {there}.",
                name=quoted(name),
                there=", ".join(known) or t("none"),
            )
            + did_you_mean(name, known)
        )
    return row


def refuse_restored(study: StudyRow) -> None:
    """Refuse to continue a study that was read elsewhere and restored here."""
    if study.restored_from:
        raise NotNow(
            t(
                "The study {name} was restored from a bundle: it can be viewed, analysed and "
                "merged here, but cases can be read only where it came from.",
                name=quoted(study.name),
            )
        )


class DraftRow(NamedTuple):
    """A draft with its maker's handle and its bank's name, or None; `protocol` is JSON."""

    id: int
    name: str
    made_by: int
    bank: int | None
    protocol: str
    saved_at_utc: str
    reached: int
    handle: str
    bank_name: str | None


_DRAFTS = (
    "SELECT drafts.*, handle, banks.name AS bank_name FROM drafts "
    "JOIN people ON people.id = made_by LEFT JOIN banks ON banks.id = bank "
)


def add_draft(change: Transaction, **columns: Any) -> int:
    """Insert a draft and return its id."""
    return change.insert("drafts", **columns)


def find_draft(look: Transaction, number: int) -> DraftRow | None:
    """Return a draft, or None."""
    return look.one(DraftRow, _DRAFTS + "WHERE drafts.id = :number", number=number)


def listed_drafts(look: Transaction) -> list[DraftRow]:
    """Return all drafts, the most recently saved first."""
    rows = look.rows(_DRAFTS + "ORDER BY saved_at_utc DESC, drafts.id DESC")
    return [DraftRow(**row) for row in rows]


def save_draft(change: Transaction, number: int, **columns: Any) -> None:
    """Save a draft."""
    change.execute(
        "UPDATE drafts SET name = :name, bank = :bank, protocol = :protocol, "
        "saved_at_utc = :saved_at_utc WHERE id = :number",
        number=number,
        **columns,
    )


def reach_draft(change: Transaction, number: int, steps: int) -> None:
    """Record the number of completed steps of a draft, if it has increased."""
    change.execute(
        "UPDATE drafts SET reached = max(reached, :steps) WHERE id = :number",
        number=number,
        steps=steps,
    )


def remove_draft(change: Transaction, number: int) -> None:
    """Delete a draft."""
    change.execute("DELETE FROM drafts WHERE id = :number", number=number)
