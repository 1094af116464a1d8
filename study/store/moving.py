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
    """Return the content of some tables of a store by their names, by default of all."""
    known = dialect.tables()
    return _contents(look, {name: known[name] for name in tables or known})


def _contents(look: Transaction, tables: Mapping[str, dialect.Table]) -> dict[str, Content]:
    tables_filled = {}
    for name, table in tables.items():
        digest = _Digest()
        for _ in digest.over(_rows(look, name, table)):
            pass
        tables_filled[name] = digest.content()
    return tables_filled


def copy_rows(
    look: Transaction, change: Transaction, number: int | None = None
) -> Mapping[str, Content]:
    """Copy every table into an empty store with the numbers of its rows, and compare the copies.

    Parameters
    ----------
    number
        The version of both stores, by default the newest.

    Raises
    ------
    BadInput
        A text contains a character that the other engine cannot store; the table is named.
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
    n_copied = _contents(change, tables)
    different = [name for name, content in copied.items() if n_copied[name] != content]
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
    """Counts and hashes rows as they pass."""

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
    return ("rowid", *table.columns) if name in dialect.NUMBERED else table.columns


def _rows(look: Transaction, name: str, table: dialect.Table) -> Iterator[_Row]:
    """Yield the rows of a table in the order of insertion, if it is kept, or else of its key."""
    columns = _columns(name, table)
    key = ("rowid",) if name in dialect.NUMBERED else table.key
    column_list, order = ", ".join(columns), ", ".join(key)
    later = f"WHERE ({order}) > ({', '.join(f':{column}' for column in key)})"
    last: dict[str, object] = {}
    while True:
        condition = later if last else ""
        sql = f"SELECT {column_list} FROM {name} {condition} ORDER BY {order} LIMIT {_BATCH}"
        page = list(look.cursor(sql, **last))
        yield from page
        if len(page) < _BATCH:
            return
        last = {column: page[-1][columns.index(column)] for column in key}
