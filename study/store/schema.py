"""The schema of a store: its tables (``schema.sql``), append-only triggers and migrations.

SQLite enforces the rules where it can: STRICT tables, foreign keys, CHECK and UNIQUE constraints
(one reading per reader, case, condition and repeat), and triggers that refuse to change or delete
rows of append-only tables. The version of a store is SQLite's ``user_version``. A released
migration never changes; a change of the schema is a new migration.
"""

import sqlite3
from collections.abc import Callable
from importlib.resources import files

APPLICATION_ID = 0x52526F6D
"""Marks a SQLite file as a Reading Room store ("RRom")."""

FIRST_VERSION = 14
"""The version of the first release. Lower versions were development versions."""

MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = ()
"""Each is run once, in this order; the first makes version ``FIRST_VERSION + 1``."""

_ITEM_OF_A_BANK = (
    "SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item"
)
_ROW_OF_A_BANK = "SELECT 1 FROM banks WHERE id = old.bank"
_REVIEW_OF_A_BANK = (
    "SELECT 1 FROM reviews JOIN banks ON banks.id = bank WHERE reviews.id = old.review"
)

APPEND_ONLY = (
    *("cases", "wrong_images", "aids", "assignments", "amendments", "interventions"),
    *("preparations", "practice_cases", "practice_assignments", "practice_readings"),
    *("presentations", "aid_requests", "readings", "reasons", "exclusions"),
    *("models", "predictions", "withdrawn_models"),
    *("scorings", "scoring_cases", "scoring_answers", "scorers", "scores", "scoring_ends"),
    *("group_grants", "events"),
)
"""Tables whose rows are never changed or deleted."""

REMOVED_WITH_BANK = {
    **dict.fromkeys(("films", "items", "reviews", "exposure_marks"), _ROW_OF_A_BANK),
    **dict.fromkeys(("teaching_marks", "teaching_answers"), _ROW_OF_A_BANK),
    **dict.fromkeys(("item_views", "item_priors", "item_attributes"), _ITEM_OF_A_BANK),
    **dict.fromkeys(("reference_standard", "report_texts", "explanations"), _ITEM_OF_A_BANK),
    "struck_items": _ITEM_OF_A_BANK,
    **dict.fromkeys(("review_items", "reviewers", "review_verdicts"), _REVIEW_OF_A_BANK),
    "review_ends": _REVIEW_OF_A_BANK,
}
"""Tables whose rows are never changed and are deleted only after their bank's row, with the query
that finds the bank."""


def version(connection: sqlite3.Connection) -> int:
    """Return the version of a store; 0 for an empty file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def newest() -> int:
    """Return the version that this program creates and opens."""
    return FIRST_VERSION + len(MIGRATIONS)


def create(connection: sqlite3.Connection) -> None:
    """Create all tables, indexes, views and triggers in an empty file, at the newest version."""
    for statement in files(__package__).joinpath("schema.sql").read_text("utf-8").split(";\n"):
        connection.execute(statement)
    for table in APPEND_ONLY:
        _refuse(connection, "UPDATE", table)
        _refuse(connection, "DELETE", table)
    for table, bank in REMOVED_WITH_BANK.items():
        _refuse(connection, "UPDATE", table)
        _refuse(connection, "DELETE", table, when=f"WHEN EXISTS ({bank})")
    _mark(connection, FIRST_VERSION)
    migrate(connection)


def migrate(connection: sqlite3.Connection) -> None:
    """Run the migrations that a store has not had, within the caller's transaction."""
    for migration in MIGRATIONS[version(connection) - FIRST_VERSION :]:
        migration(connection)
    _mark(connection, newest())


def _mark(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(f"PRAGMA user_version = {number}")


def _refuse(connection: sqlite3.Connection, verb: str, table: str, when: str = "") -> None:
    connection.execute(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} {when} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are written once'); END"
    )
