"""The schema of a store: creation, migrations, and refusal of stores before the first release."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from study.base.errors import BrokenStore
from study.store import Store, banks, judgements, people, schema, shape
from study.store.judgements import VerdictRow
from study.trail.verification import verify

pytestmark = pytest.mark.sqlite("upgrades files")

CHANGEABLE_TABLES = {
    *("deployment", "backups", "banks", "studies", "drafts", "readers", "chain_heads"),
    *(
        "people",
        "names",
        "grants",
        "codes",
        "sign_ins",
        "identities",
        "tickets",
        "second_factors",
        "recovery_codes",
        "places",
    ),
    *("column_names", "second_factors", "recovery_codes"),
}
"""Tables whose rows may change."""


def _set_version(path: Path, number: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {number}")


def _add_table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE rooms (id INTEGER PRIMARY KEY) STRICT")


def _migrations(
    monkeypatch: pytest.MonkeyPatch, *migrations: Callable[[sqlite3.Connection], None]
) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, *migrations))


def test_only_one_of_many_processes_migrates_an_older_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other processes wait; the result equals a new store."""
    _migrations(monkeypatch, _add_table)
    with ThreadPoolExecutor(6) as pool:
        stores = [pool.submit(Store, store.path) for _ in range(12)]
    for opened in stores:
        assert verify(opened.result()) == []


def test_a_failing_migration_leaves_the_store_unchanged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either all missing migrations are run or none."""
    with monkeypatch.context() as newer:
        _migrations(newer, _add_table, _add_table)
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            Store(store.path)
    assert verify(Store(store.path)) == []


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        *((n, r"^store\.db was made before the first release: .* restore\)\.$") for n in (0, 12)),
        (999, r"^store\.db was made by a newer version .*\. Use the newer version\.$"),
    ],
)
def test_a_store_of_an_unsupported_version_is_refused_with_a_remedy(
    store: Store, version: int, reason: str
) -> None:
    """A store made before the first release or by a newer program is not changed."""
    _set_version(store.path, version)
    with pytest.raises(BrokenStore, match=reason):
        Store(store.path)
    with closing(sqlite3.connect(store.path)) as connection:
        assert schema.version(connection) == version


def test_every_table_is_append_only_or_listed_as_changeable(store: Store) -> None:
    """A new table must be append-only or added to the list."""
    with store.look() as look:
        tables = {row["name"] for row in look.rows("SELECT name FROM pragma_table_list")}
    own = {name for name in tables if not name.startswith("sqlite_")} - {
        "item_films",
        "shown_context",
        "due_aids",
        "items_with_images",
    }
    groups = (set(schema.REMOVED_WITH_STUDY), set(schema.REMOVED_WITH_BANK), CHANGEABLE_TABLES)
    assert sum(map(len, groups)) == len(set().union(*groups))
    assert own == set().union(*groups)


def test_rows_of_a_bank_can_be_deleted_only_with_the_bank(store: Store) -> None:
    """A trigger refuses the deletion while the bank exists."""
    with store.change() as change:
        for statement in (
            "INSERT INTO banks VALUES (1, 'b', 'csv', 's', 'h', 'c', '/', 0, '', '', '', '', '')",
            "INSERT INTO items VALUES (1, 1, 'q', '?', '[1, 2]', '', '', '', 'e', '', '', '', '')",
            "INSERT INTO films VALUES (1, 1, 'a.png', 'h', 2, 2, 8, 0, 1, 9, NULL, '')",
        ):
            change.execute(statement)
        change.insert("item_priors", item=1, position=1, film=1, label="PA", days=91)
    for statement in ("DELETE FROM items", "UPDATE item_priors SET days = 3"):
        with pytest.raises(sqlite3.IntegrityError, match="written once"), store.change() as change:
            change.execute(statement)
    with store.change() as change:
        banks.remove(change, 1)
    with store.look() as look:
        assert look.value("SELECT count(*) FROM items") == 0


def test_a_reviewer_has_a_role_in_the_deployment(store: Store) -> None:
    """The constraint on roles accepts this role, and no other new role."""
    with store.change() as change:
        change.execute("INSERT INTO people VALUES (1, 'ada', '', NULL)")
        people.grant(change, person=1, role="reviewer", study=None, given_at_utc="")
        assert list(shape.damage(change)) == []
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"), store.change() as change:
        people.grant(change, person=1, role="guest", study=None, given_at_utc="")


def test_a_score_has_one_of_three_values_and_is_written_once(store: Store) -> None:
    """The store refuses any other score, and a change of a score."""
    with store.change() as change:
        for statement in (
            "INSERT INTO banks VALUES (1, 'b', 'csv', 's', 'h', 'c', '/', 0, '', '', '', '', '')",
            "INSERT INTO studies VALUES (1, 's', 1, 'closed', '{}', '', '', '', '', NULL, '', '')",
            "INSERT INTO people VALUES (1, 'ada', '', NULL)",
        ):
            change.execute(statement)
        add = partial(judgements.add_scoring, change, [], [1])
        number = add(study=1, kind="answer", seed=1, opened_at_utc="")
        scoring = judgements.judging(change, "scoring", number)
        assert scoring is not None
        judgements.add_verdict(change, scoring, VerdictRow(0, 0, "correct", "", ""), turn=1)
        assert [row.verdict for row in judgements.verdicts(change, scoring)] == ["correct"]
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"), store.change() as change:
        judgements.add_verdict(change, scoring, VerdictRow(0, 0, "right", "", ""), turn=1)
    with pytest.raises(sqlite3.IntegrityError, match="written once"), store.change() as change:
        change.execute("UPDATE scores SET score = 'incorrect'")
