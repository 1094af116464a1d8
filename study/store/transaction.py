"""A transaction of a store: the verbs with which its modules read and write rows."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from study.store.engine import Cursor, Database
from study.store.witness import Head

_Row = TypeVar("_Row")


class Transaction:
    """One open transaction: thin verbs that the store's modules build on."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.dialect: str = getattr(database, "dialect", "sqlite")
        self._streamed: Callable[[str, dict[str, Any]], Cursor] = getattr(
            database.conn, "stream", database.conn.execute
        )
        self.heads: dict[str, Head] = {}
        """The last event of each chain that was sealed within this transaction."""

    def rows(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """Return all rows of a query with named parameters."""
        return list(_named(self._database.conn.execute(sql, values)))

    def stream(self, sql: str, **values: Any) -> Iterator[dict[str, Any]]:
        """Return the rows of a query one by one.

        sqlite-utils' own `query` would run two more statements for each.
        """
        return _named(self._streamed(sql, values))

    def cursor(self, sql: str, **values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one as plain tuples."""
        return iter(self._streamed(sql, values))

    def tuples(self, make: Callable[..., _Row], sql: str, **values: Any) -> list[_Row]:
        """Return all rows of a query, each made of its columns in their order."""
        return [make(*row) for row in self._database.conn.execute(sql, values)]

    def row(self, sql: str, **values: Any) -> dict[str, Any] | None:
        """Return the first row of a query, or None."""
        return next(_named(self._database.conn.execute(sql, values)), None)

    def one(self, make: Callable[..., _Row], sql: str, **values: Any) -> _Row | None:
        """Return the first row of a query, made of its columns by their names, or None."""
        row = self.row(sql, **values)
        return None if row is None else make(**row)

    def value(self, sql: str, **values: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self._database.conn.execute(sql, values).fetchone()
        return row and row[0]

    def insert(self, table: str, **values: Any) -> int:
        """Insert one row and return its rowid."""
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        cursor = self._database.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})",
            values,
        )
        return int(cursor.lastrowid or 0)

    def insert_many(self, table: str, names: tuple[str, ...], rows: Any) -> None:
        """Insert many rows of plain tuples in the order of `names`."""
        marks = ", ".join("?" * len(names))
        self._database.conn.executemany(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})",
            rows,
        )

    def upsert(self, table: str, key: str, **values: Any) -> None:
        """Insert one row, or update the one with the same key."""
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        new = ", ".join(f"{name} = excluded.{name}" for name in values if name != key)
        self._database.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks}) "
            f"ON CONFLICT ({key}) DO UPDATE SET {new}",
            values,
        )

    def execute(self, sql: str, **values: Any) -> int:
        """Run one statement and return the number of rows it changed."""
        return int(self._database.execute(sql, values).rowcount)


def _named(cursor: Cursor) -> Iterator[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)
