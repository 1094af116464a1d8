"""Copies the rows of every table of a store into another one, on either engine, and compares them.

Rows are read and written in batches, so the memory needed does not grow with the store.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from study.base.errors import BadInput, NotNow
from study.base.translation import t
from study.store import dialect
from study.store.connection import Transaction

_BATCH = 1000

_Row = tuple[str | int | float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The number of rows of a table, and a SHA-256 of the rows in order."""

    n_rows: int
    sha256: str


def contents(look: Transaction, tables: Iterable[str] = ()) -> dict[str, Content]:
    """Return the content of tables of a store by name, by default of all tables."""
    known = dialect.tables()
    return _content_by_table(look, {name: known[name] for name in tables or known})


def _content_by_table(look: Transaction, tables: Mapping[str, dialect.Table]) -> dict[str, Content]:
    content_by_table = {}
    for name, table in tables.items():
        digest = _Digest()
        for _ in digest.over(_rows(look, name, table)):
            pass
        content_by_table[name] = digest.content()
    return content_by_table


def copy_rows(
    look: Transaction, change: Transaction, number: int | None = None
) -> Mapping[str, Content]:
    """Copy every table into an empty store, keeping row numbers, and compare the copies.

    Parameters
    ----------
    number
        The version of both stores; by default, the newest.

    Raises
    ------
    BadInput
        A text contains a character that the other engine cannot store; the message names the table.
    NotNow
        The rows written differ from those read.
    """
    copied, tables = {}, dialect.tables(number)
    for name, table in tables.items():
        digest = _Digest()
        try:
            change.insert_many(name, _columns(name, table), digest.over(_rows(look, name, table)))
        except BadInput as error:
            raise BadInput(t("Table {table}: {error}", table=name, error=error)) from error
        copied[name] = digest.content()
    content_of_copies = _content_by_table(change, tables)
    different = [name for name, content in copied.items() if content_of_copies[name] != content]
    if different:
        raise NotNow(
            t(
                "The copies of these tables differ from the originals: {tables}. Nothing was "
                "created.",
                tables=", ".join(different),
            )
        )
    return copied


class _Digest:
    """Counts and hashes the rows of an iterator."""

    def __init__(self) -> None:
        self._n_rows, self._hash = 0, hashlib.sha256()

    def over(self, rows: Iterator[_Row]) -> Iterator[_Row]:
        for row in rows:
            self._n_rows += 1
            self._hash.update(repr(row).encode())
            yield row

    def content(self) -> Content:
        return Content(n_rows=self._n_rows, sha256=self._hash.hexdigest())


def _columns(name: str, table: dialect.Table) -> tuple[str, ...]:
    return ("rowid", *table.columns) if name in dialect.ROWID_TABLES else table.columns


def _rows(look: Transaction, name: str, table: dialect.Table) -> Iterator[_Row]:
    """Yield the rows of a table in the order of insertion, if known, or else in order of key."""
    columns = _columns(name, table)
    key = ("rowid",) if name in dialect.ROWID_TABLES else table.key
    column_list, order = ", ".join(columns), ", ".join(key)
    after_last = f"WHERE ({order}) > ({', '.join(f':{column}' for column in key)})"
    last: dict[str, object] = {}
    while True:
        condition = after_last if last else ""
        sql = f"SELECT {column_list} FROM {name} {condition} ORDER BY {order} LIMIT {_BATCH}"
        page = list(look.cursor(sql, **last))
        yield from page
        if len(page) < _BATCH:
            return
        last = {column: page[-1][columns.index(column)] for column in key}
