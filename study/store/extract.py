"""Copies parts of a store into another: a complete study, or the rows that a reader's desk needs.

Each table of the store is in one of the two lists below; a new table must be added to one of them.
The copy is a new file that is filled row by row, so it contains no remains of other rows. A copy
for a preview contains no findings, impressions, predictions, people or readers, and no records of
readers' actions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from study.store.connection import Transaction

_BANK = "(SELECT bank FROM studies WHERE id = :study)"
ITEMS_SHOWN = (
    "(SELECT item FROM cases WHERE study = :study "
    "UNION SELECT item FROM practice_cases WHERE study = :study)"
)


_STUDIES_BY_CONTEXT = "studies AS asking, json_each(asking.protocol, '$.protocol.context')"


def is_section_shown(section: str, study: str = ":study") -> str:
    """Return the SQL condition that a study's protocol shows a section of the context.

    `study` must be the same for all rows of the query, because a protocol lists all of its cases
    and takes time to parse.
    """
    condition = f"asking.id = {study} AND value = '{section}'"
    return f"EXISTS (SELECT 1 FROM {_STUDIES_BY_CONTEXT} WHERE {condition})"


STUDIES_WITH_PRIORS = f"(SELECT asking.id FROM {_STUDIES_BY_CONTEXT} WHERE value = 'prior')"
"""The studies whose protocols show prior films."""


PRIORS_SHOWN = f"item IN {ITEMS_SHOWN} AND {is_section_shown('prior')}"
_READERS = "(SELECT id FROM readers WHERE study = :study)"
_ASSIGNMENTS = f"(SELECT id FROM assignments WHERE reader IN {_READERS})"
_PRACTICE_ASSIGNMENTS = f"(SELECT id FROM practice_assignments WHERE reader IN {_READERS})"
_READINGS = f"(SELECT id FROM readings WHERE assignment IN {_ASSIGNMENTS})"
_SCORINGS = "(SELECT id FROM scorings WHERE study = :study)"
_NAME = "(SELECT name FROM studies WHERE id = :study)"
_CHAIN = (
    f"(SELECT chain FROM chain_heads WHERE chain = 'study:' || {_NAME} "
    f"OR substr(chain, 1, length({_NAME}) + 7) = 'study:' || {_NAME} || '#')"
)

EXTRACTED_ROWS = {
    "banks": f"id IN {_BANK}",
    "films": f"id IN (SELECT film FROM item_views WHERE item IN {ITEMS_SHOWN} "
    f"UNION SELECT film FROM item_priors WHERE {PRIORS_SHOWN})",
    "items": f"id IN {ITEMS_SHOWN}",
    "item_views": f"item IN {ITEMS_SHOWN}",
    "item_priors": PRIORS_SHOWN,
    "reference_standard": f"item IN {ITEMS_SHOWN}",
    "explanations": f"item IN {ITEMS_SHOWN}",
    "studies": "id = :study",
    "cases": "study = :study",
    "practice_cases": "study = :study",
    "wrong_images": "case_id IN (SELECT id FROM cases WHERE study = :study)",
    "aids": "case_id IN (SELECT id FROM cases WHERE study = :study)",
    "readers": "study = :study",
    "assignments": f"reader IN {_READERS}",
    "practice_assignments": f"reader IN {_READERS}",
    "preparations": f"reader IN {_READERS}",
    "models": "study = :study",
    "predictions": "model IN (SELECT id FROM models WHERE study = :study)",
    "withdrawn_models": "model IN (SELECT id FROM models WHERE study = :study)",
    "presentations": f"assignment IN {_ASSIGNMENTS}",
    "aid_requests": f"assignment IN {_ASSIGNMENTS}",
    "readings": f"assignment IN {_ASSIGNMENTS}",
    "reasons": f"reading IN {_READINGS}",
    "practice_readings": f"assignment IN {_PRACTICE_ASSIGNMENTS}",
    "amendments": "study = :study",
    "interventions": "study = :study",
    "exclusions": f"reading IN {_READINGS}",
    "scorings": "study = :study",
    "scoring_cases": f"scoring IN {_SCORINGS}",
    "scoring_answers": f"scoring IN {_SCORINGS}",
    "scorers": f"scoring IN {_SCORINGS}",
    "scores": f"scoring IN {_SCORINGS}",
    "scoring_ends": f"scoring IN {_SCORINGS}",
    "events": f"chain IN {_CHAIN}",
    "chain_heads": f"chain IN {_CHAIN}",
}
"""Copied tables with the conditions for their rows, ordered so that references are satisfied."""

OMITTED_TABLES = frozenset(
    {
        "deployment",
        "report_texts",
        "item_attributes",
        "people",
        "names",
        "grants",
        "group_grants",
        "codes",
        "identities",
        "sign_ins",
        "tickets",
        "second_factors",
        "recovery_codes",
        "places",
        "drafts",
        "backups",
        "column_names",
        "struck_items",
        "exposure_marks",
        "teaching_marks",
        "teaching_answers",
        "reviews",
        "review_items",
        "reviewers",
        "review_verdicts",
        "review_ends",
    }
)
"""Tables that are not copied."""

_SOURCE_KEY = "extract_of"
_REPLACED_VALUES: dict[str, dict[str, str | None]] = {
    "banks": {"images_root": ""},
    "films": {"place": ""},
    "scorers": {"person": None},
}
"""Values that are replaced in the copy: file paths, and the people who scored."""


def source_deployment(look: Transaction) -> str:
    """Return the id of the deployment that a store was extracted from; empty for no extract."""
    return str(
        look.value("SELECT value FROM deployment WHERE name = :name", name=_SOURCE_KEY) or ""
    )


def copy_study(look: Transaction, change: Transaction, study: int) -> None:
    """Copy a study's rows from one store into another, and mark that as an extract."""
    source = look.value("SELECT value FROM deployment WHERE name = 'deployment_id'")
    change.insert("deployment", name=_SOURCE_KEY, value=source or "unknown")
    for table, condition in EXTRACTED_ROWS.items():
        own_columns = {row["name"] for row in change.rows(f"PRAGMA table_info({table})")}
        names = tuple(name for name in sorted(own_columns) if (table, name) != ("events", "id"))
        replacements = _REPLACED_VALUES.get(table, {})
        rows = look.stream(
            f"SELECT {', '.join(names)} FROM {table} WHERE {condition} ORDER BY rowid", study=study
        )
        change.insert_many(
            table,
            names,
            (tuple(replacements.get(name, row[name]) for name in names) for row in rows),
        )


def hashed_rows(look: Transaction, study: int) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a study's bank that are in an extract, in the form hashed in its trail.

    They include a view's original term if it differs from the label, as in `banks.content_sha256`,
    and the prior films if the study shows them.
    """
    films = {
        name: look.rows(
            f"SELECT item_id, position, label, said, path, sha256, width, height, bits, low, high, "
            f"n_bytes, spacing_mm{more} FROM {table} JOIN films ON films.id = film JOIN items "
            f"ON items.id = item WHERE {condition} ORDER BY item_id, position",
            study=study,
        )
        for name, table, more, condition in (
            ("views", "item_views", "", f"item IN {ITEMS_SHOWN}"),
            ("priors", "item_priors", ", days", PRIORS_SHOWN),
        )
    }
    return {
        "banks": look.rows(
            "SELECT name, simulated, content_sha256 FROM banks "
            "WHERE id = (SELECT bank FROM studies WHERE id = :study)",
            study=study,
        ),
        "items": look.rows(
            "SELECT item_id, question, options, task, category, subcategory, examination_id, "
            "patient_id, age, sex, truth, words AS explanation FROM items "
            "LEFT JOIN reference_standard ON reference_standard.item = items.id "
            "LEFT JOIN explanations ON explanations.item = items.id "
            f"WHERE items.id IN {ITEMS_SHOWN} ORDER BY item_id",
            study=study,
        ),
        **{
            name: [{key: row[key] for key in row if key != "said" or row[key]} for row in rows]
            for name, rows in films.items()
            if rows or name == "views"
        },
    }


_ITEMS_OF_BANK = "(SELECT id FROM items WHERE bank = :bank)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FictitiousAnswers:
    """Replacements for the reference standard and the explanations.

    Parameters
    ----------
    truth
        Returns a letter for an item's id and number of options, without knowing the correct one.
    words
        The text that replaces every explanation.
    """

    truth: Callable[[str, int], str]
    words: str


def copy_bank(
    look: Transaction, change: Transaction, bank: int, fictitious: FictitiousAnswers | None
) -> None:
    """Copy a bank with all its items."""
    _copy_items(look, change, bank, f"IN {_ITEMS_OF_BANK}", {"bank": bank}, fictitious)


def copy_drawn_study(
    look: Transaction, change: Transaction, study: int, fictitious: FictitiousAnswers | None
) -> None:
    """Copy a study as it was after the draw, with its amendments and the items that it shows."""
    (row,) = look.rows("SELECT * FROM studies WHERE id = :study", study=study)
    _copy_items(look, change, row["bank"], f"IN {ITEMS_SHOWN}", {"study": study}, fictitious)
    state_after_draw = {"state": "drawn", "opened_at_utc": None, "closed_at_utc": None}
    change.insert("studies", **{**row, **state_after_draw})
    for table, condition in {
        **dict.fromkeys(("cases", "practice_cases", "amendments"), "study = :study"),
        "wrong_images": EXTRACTED_ROWS["wrong_images"],
    }.items():
        _insert_rows(
            change, table, look.rows(f"SELECT * FROM {table} WHERE {condition}", study=study)
        )


def _copy_items(
    look: Transaction,
    change: Transaction,
    bank: int,
    condition: str,
    values: Mapping[str, int],
    fictitious: FictitiousAnswers | None,
) -> None:
    queries = {
        "items": f"SELECT * FROM items WHERE id {condition}",
        "item_views": f"SELECT * FROM item_views WHERE item {condition}",
        "item_priors": f"SELECT * FROM item_priors WHERE item {condition}",
        "report_texts": f"SELECT * FROM shown_context WHERE item {condition}",
    }
    if fictitious is None:
        queries |= {
            table: f"SELECT * FROM {table} WHERE item {condition}"
            for table in ("reference_standard", "explanations")
        }
    films = (
        f"SELECT * FROM films WHERE id IN (SELECT film FROM item_views WHERE item {condition} "
        f"UNION SELECT film FROM item_priors WHERE item {condition})"
    )
    _insert_rows(change, "banks", look.rows("SELECT * FROM banks WHERE id = :bank", bank=bank))
    _insert_rows(change, "films", look.rows(films, **values))
    for table, query in queries.items():
        _insert_rows(change, table, look.rows(query, **values))
    if fictitious is not None:
        rows = look.rows(
            "SELECT items.id, items.item_id, json_array_length(options) AS n "
            f"FROM reference_standard JOIN items ON items.id = item WHERE item {condition}",
            **values,
        )
        truths = [
            {"item": row["id"], "truth": fictitious.truth(row["item_id"], row["n"])} for row in rows
        ]
        _insert_rows(change, "reference_standard", truths)
        _insert_rows(
            change, "explanations", [{"item": row["id"], "words": fictitious.words} for row in rows]
        )


def _insert_rows(change: Transaction, table: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        names = tuple(rows[0])
        change.insert_many(table, names, (tuple(row.values()) for row in rows))
