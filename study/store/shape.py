"""Compares a store's tables, indexes and triggers with those of a new store.

The triggers prevent the program from altering append-only tables; the event chains would not show
that a trigger was removed.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache

from study.store import dialect, schema
from study.store.connection import Transaction

_Definitions = dict[tuple[str, str], str]
_REPLICATION_TABLES = frozenset({("table", "_litestream_seq"), ("table", "_litestream_lock")})
"""Tables that Litestream creates in a store it replicates; they contain no study data."""

_SCHEMA_QUERY = "SELECT type, name, coalesce(sql, '') AS sql FROM sqlite_master"


def breaches(look: Transaction) -> Iterator[str]:
    """Yield a message for each table, index and trigger that is missing, altered or unknown."""
    if look.dialect == "postgres":
        expected, actual = dialect.shape(), _definitions(look.rows(dialect.SHAPE))
    else:
        expected, actual = (
            _schema_of_new_store(schema.MIGRATIONS),
            _definitions(look.rows(_SCHEMA_QUERY)),
        )
    for kind, name in sorted(expected.keys() | (actual.keys() - _REPLICATION_TABLES)):
        if (kind, name) not in actual:
            yield f"the store: the {kind} {name} is missing."
        elif (kind, name) not in expected:
            yield f"the store: the {kind} {name} is not one of this program's."
        elif actual[kind, name] != expected[kind, name]:
            yield f"the store: the {kind} {name} was altered."


def damage(look: Transaction) -> Iterator[str]:
    """Yield the damage that SQLite reports in pages, indexes and references between rows."""
    if look.dialect == "postgres":  # PostgreSQL checks its pages and references itself
        return
    for row in look.rows("PRAGMA integrity_check(5)"):
        result = next(iter(row.values()))
        if result != "ok":
            yield f"The file is damaged: {result}."
    for row in look.rows("SELECT * FROM pragma_foreign_key_check LIMIT 20"):
        yield (
            f"the store: row {row['rowid']} of {row['table']} refers to a row of {row['parent']} "
            "that does not exist."
        )


@cache
def _schema_of_new_store(migrations: tuple[schema.Migration, ...]) -> _Definitions:
    """Return the schema of a new store; cached, because each verification needs it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        schema.create(connection)
        return _definitions(connection.execute(_SCHEMA_QUERY))


def _definitions(rows: Iterable[sqlite3.Row | dict[str, str]]) -> _Definitions:
    """Return the definition of each object, except those that SQLite itself creates."""
    return {
        (row["type"], row["name"]): re.sub(r"\s+", "", row["sql"])
        for row in rows
        if not row["name"].startswith("sqlite_")
    }
