"""The schema of a store: its tables (``schema.sql``), append-only triggers and migrations.

SQLite enforces the rules where it can: STRICT tables, foreign keys, CHECK and UNIQUE constraints
(one reading per reader, case, condition and repeat), and triggers that refuse to change or delete
rows of append-only tables. The version of a store is SQLite's ``user_version``. A released
migration never changes; any change of the schema requires a new migration.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from study.base.errors import BrokenStore

APPLICATION_ID = 0x52526F6D
"""Marks a SQLite file as a Reading Room store ("RRom")."""

FIRST_VERSION = 14
"""The version of the first release. Lower versions were development versions."""

Migration = Callable[[sqlite3.Connection], None]

MIGRATIONS: tuple[Migration, ...] = ()
"""The migrations, each run once, in this order; the first creates version ``FIRST_VERSION + 1``.

They run on both engines. A changed function in ``postgres.sql`` requires a migration, too, which
may be empty.
"""

_ITEM_OF_A_BANK = (
    "SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item"
)
_ROW_OF_A_BANK = "SELECT 1 FROM banks WHERE id = old.bank"
_REVIEW_OF_A_BANK = (
    "SELECT 1 FROM reviews JOIN banks ON banks.id = bank WHERE reviews.id = old.review"
)

_ROW_OF_A_STUDY = "SELECT 1 FROM studies WHERE id = old.study"
_ROW_OF_A_READER = (
    "SELECT 1 FROM readers JOIN studies ON studies.id = study WHERE readers.id = old.reader"
)
_ROW_OF_A_CASE = (
    "SELECT 1 FROM cases JOIN studies ON studies.id = study WHERE cases.id = old.case_id"
)
_ROW_OF_A_MODEL = (
    "SELECT 1 FROM models JOIN studies ON studies.id = study WHERE models.id = old.model"
)
_ROW_OF_A_SCORING = (
    "SELECT 1 FROM scorings JOIN studies ON studies.id = study WHERE scorings.id = old.scoring"
)
_ROW_OF_AN_ASSIGNMENT = (
    "SELECT 1 FROM {}assignments AS assigned JOIN readers ON readers.id = assigned.reader "
    "JOIN studies ON studies.id = study WHERE assigned.id = old.assignment"
)
_ROW_OF_A_READING = (
    "SELECT 1 FROM readings JOIN assignments ON assignments.id = readings.assignment "
    "JOIN readers ON readers.id = assignments.reader JOIN studies ON studies.id = study "
    "WHERE readings.id = old.reading"
)
_ROW_OF_A_GRANT = (
    "SELECT 1 FROM grants WHERE id = old.grant_id "
    "AND (study IS NULL OR study IN (SELECT id FROM studies))"
)
_EVENT_OF_A_CHAIN = (
    "SELECT 1 WHERE old.chain NOT LIKE 'study:%' UNION ALL SELECT 1 FROM studies "
    "WHERE old.chain = 'study:' || name "
    "OR substr(old.chain, 1, length(name) + 7) = 'study:' || name || '#'"
)

SEALED_TABLES = frozenset(
    {
        "reference_standard",
        "report_texts",
        "explanations",
        "item_attributes",
        "wrong_images",
        "aids",
        "predictions",
        "names",
        "second_factors",
        "recovery_codes",
    }
)
"""Tables that must never reach a reader during a study; see `Store.desk`."""

DESK_TABLES = frozenset(
    {
        "aid_requests",
        "chain_heads",
        "events",
        "practice_readings",
        "preparations",
        "presentations",
        "readings",
        "reasons",
    }
)
"""Tables to which a reader's request may write."""

SHOWN_VIEWS = {
    "report_texts": "shown_context",
    "aids": "due_aids",
    "wrong_images": "items_with_images",
}
"""The only access of readers to a sealed table: a view of the content that they may see."""

REMOVED_WITH_STUDY = {
    **dict.fromkeys(("cases", "practice_cases", "amendments", "interventions"), _ROW_OF_A_STUDY),
    **dict.fromkeys(("models", "scorings"), _ROW_OF_A_STUDY),
    **dict.fromkeys(("assignments", "practice_assignments", "preparations"), _ROW_OF_A_READER),
    **dict.fromkeys(("wrong_images", "aids"), _ROW_OF_A_CASE),
    **dict.fromkeys(
        ("presentations", "aid_requests", "readings"), _ROW_OF_AN_ASSIGNMENT.format("")
    ),
    "practice_readings": _ROW_OF_AN_ASSIGNMENT.format("practice_"),
    **dict.fromkeys(("reasons", "exclusions"), _ROW_OF_A_READING),
    "predictions": f"{_ROW_OF_A_MODEL} AND old.model NOT IN (SELECT model FROM withdrawn_models)",
    "withdrawn_models": _ROW_OF_A_MODEL,
    **dict.fromkeys(("scoring_cases", "scoring_answers", "scorers"), _ROW_OF_A_SCORING),
    **dict.fromkeys(("scores", "scoring_ends"), _ROW_OF_A_SCORING),
    "group_grants": _ROW_OF_A_GRANT,
    "events": _EVENT_OF_A_CHAIN,
}
"""Tables whose rows are never changed and are deleted only after their study's row, with the query
that finds the study. Predictions can also be deleted after their model was withdrawn, and events
of the deployment's chain never."""

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


def check_version(number: int, name: str) -> None:
    """Check that this program can open or upgrade a store of a version.

    Raises
    ------
    BrokenStore
        The store was made before the first release, or by a newer version.
    """
    if number < FIRST_VERSION:
        raise BrokenStore(
            f"{name} was made before the first release: export its studies with the program "
            "that made it (python -m study export), and restore the bundles into a new store "
            "(python -m study restore)."
        )
    if number > newest():
        raise BrokenStore(
            f"{name} was made by a newer version of Reading Room (store version {number}; "
            f"this program supports {newest()}). Use the newer version."
        )


def create(connection: sqlite3.Connection, number: int | None = None) -> None:
    """Create all tables, indexes, views and triggers of a version in an empty file.

    `number` is the version, by default the newest.
    """
    for statement in files(__package__).joinpath("schema.sql").read_text("utf-8").split(";\n"):
        connection.execute(statement)
    for table, owner in (REMOVED_WITH_BANK | REMOVED_WITH_STUDY).items():
        _create_refusing_trigger(connection, "UPDATE", table)
        _create_refusing_trigger(connection, "DELETE", table, when=f"WHEN EXISTS ({owner})")
    _set_version(connection, FIRST_VERSION)
    _migrate(connection, number)


def migrate(connection: sqlite3.Connection, back_up: Callable[[int], None]) -> None:
    """Back up the store and run the missing migrations, in the caller's transaction.

    Parameters
    ----------
    back_up
        Called with the store's version to copy the store. If the upgrade is rolled back, the
        earlier version of the program opens the copy.
    """
    if version(connection) < newest():
        back_up(version(connection))
        _migrate(connection)


def upgrade_backup(store: Path, number: int) -> Path:
    """Return the path of the backup that is made before a store of this version is upgraded."""
    return store.with_name(f"{store.name}-backups") / f"{store.stem}-before-upgrade-{number}.db"


@contextmanager
def upgrade_backup_of(store: Path, number: int) -> Iterator[Path]:
    """Yield a new file for a copy of a store before an upgrade; it replaces an earlier copy."""
    file = upgrade_backup(store, number)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    new = file.with_name(f".making-{file.name}")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600)
    yield new
    new.replace(file)


def _migrate(connection: sqlite3.Connection, number: int | None = None) -> None:
    last = newest() if number is None else number
    for migration in MIGRATIONS[version(connection) - FIRST_VERSION : last - FIRST_VERSION]:
        migration(connection)
    _set_version(connection, last)


def _set_version(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(f"PRAGMA user_version = {number}")


def _create_refusing_trigger(
    connection: sqlite3.Connection, verb: str, table: str, when: str = ""
) -> None:
    connection.execute(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} {when} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are written once'); END"
    )
