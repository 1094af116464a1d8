"""Opens the store and provides its transactions, with either engine.

Every write is a transaction through `Store.change`, which takes the write lock when it begins: one
that takes the lock only when it writes can lose writes under concurrency. A connection has one user
at a time; it is opened for that use, or reused (`Store.kept_open`).
"""

import copy
import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from study.base.errors import Busy, StudyError, Upgraded
from study.base.system import system_reason
from study.base.translation import t
from study.store import schema, witness
from study.store.address import address_of
from study.store.engine import PATIENCE_S, Connection, Cursor, Database, Engine, Kind
from study.store.sqlite import Sqlite
from study.store.witness import Head

ALIVE_EVERY_S = 5.0
"""How often an otherwise idle transaction runs a statement, in seconds."""

_MOST_IDLE = 8
"""Number of idle connections of each kind that are kept for reuse."""

_RETRY_WAITS_S = (0.02, 0.1, 0.3)
"""Waiting times after closing an idle connection, whose server process ends with a delay."""

_Row = TypeVar("_Row")
_FileIdentity = tuple[int, int, int] | None


class Transaction:
    """An open transaction, with the basic operations that the store's modules use."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.dialect: str = getattr(database, "dialect", "sqlite")
        self._streamed: Callable[[str, dict[str, Any]], Cursor] = getattr(
            database.conn, "stream", database.conn.execute
        )
        self.heads: dict[str, Head] = {}
        """The last event that this transaction appended to each chain."""
        self.secret = ""
        """The deployment's secret, if it was read within this transaction."""

    @contextmanager
    def kept_alive(self) -> Iterator[None]:
        """Inform the database that the program is active while the block runs no statements.

        PostgreSQL otherwise ends a transaction in which the program is idle for a minute.
        """
        if self.dialect == "sqlite":
            yield
            return
        is_done = threading.Event()

        def repeat() -> None:
            with suppress(sqlite3.DatabaseError):  # the next statement reports the error
                while not is_done.wait(ALIVE_EVERY_S):
                    self.value("SELECT 1")

        thread = threading.Thread(target=repeat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_done.set()
            thread.join()

    def rows(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """Return all rows of a query with named parameters."""
        return list(_rows_by_name(self._database.conn.execute(sql, values)))

    def stream(self, sql: str, **values: Any) -> Iterator[dict[str, Any]]:
        """Return the rows of a query one by one, if there may be many.

        The method `query` of sqlite-utils would run two more statements for each query. PostgreSQL
        runs three statements, which are not prepared, so `rows` is faster for a few rows.
        """
        return _rows_by_name(self._streamed(sql, values))

    def cursor(self, sql: str, **values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one as plain tuples, if there may be many."""
        return iter(self._streamed(sql, values))

    def tuples(self, make: Callable[..., _Row], sql: str, **values: Any) -> list[_Row]:
        """Return all rows of a query, each built by `make` from the columns in order."""
        return [make(*row) for row in self._database.conn.execute(sql, values)]

    def row(self, sql: str, **values: Any) -> dict[str, Any] | None:
        """Return the first row of a query, or None."""
        return next(_rows_by_name(self._database.conn.execute(sql, values)), None)

    def one(self, make: Callable[..., _Row], sql: str, **values: Any) -> _Row | None:
        """Return the first row of a query, built by `make` from the columns by name, or None."""
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


def _rows_by_name(cursor: Cursor) -> Iterator[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


class Store:
    """A deployment's store.

    Parameters
    ----------
    address
        The SQLite file, or the address of a PostgreSQL database (`study.store.postgres`). The
        store must exist; `Store.create` makes a new one.
    witnessed
        Whether writes are recorded by the second witness (`study.store.witness`) before they are
        acknowledged; not needed for a temporary copy.

    Raises
    ------
    NotFound
        There is no store.
    BrokenStore
        The database is not a Reading Room store, or has a version that is not supported.
    """

    def __init__(self, address: Path | str, *, witnessed: bool = True) -> None:
        self._engine = _engine_of(address)
        self.path = self._engine.path
        self._patience_s, self._is_time_limited = PATIENCE_S, False
        self._witnessed = witnessed
        self._unwitnessed: dict[str, Head] = {}
        self._witness_lock = threading.Lock()
        self._idle = _IdleConnections()
        self._newest_version = schema.newest()
        with self._explaining_errors():
            self._engine.check_and_upgrade()

    @classmethod
    def create(
        cls, address: Path | str, fill: Callable[[Transaction], None], *, witnessed: bool = True
    ) -> "Store":
        """Create and fill a store, completely or not at all, or open the existing one.

        Raises
        ------
        NotFound
            The folder does not exist.
        BrokenStore
            The existing database is not a store.
        """
        engine = _engine_of(address)
        try:
            engine.create(lambda database: fill(Transaction(database)))
        except engine.errors as error:
            raise engine.explain_error(error) from error
        return cls(address, witnessed=witnessed)

    @classmethod
    def at(cls, address: str) -> "Store":
        """Open the store with the value of `address`, for example in another process."""
        return cls(address)

    @property
    def address(self) -> str:
        """Return the value that identifies the store in this process and opens it in another."""
        return self._engine.address

    @property
    def stem(self) -> str:
        """Return the store's name for use in file names."""
        return self.path.stem

    @property
    def folder(self) -> Path:
        """Return the folder of the deployment's files."""
        return self.path.resolve().parent

    def is_writable(self) -> bool:
        """Return whether the database and the folder of the deployment's files can be changed."""
        with self._explaining_errors():
            new = self._open(self._kind(sealed=False, writes=False))
            with closing(new.conn):
                return os.access(self.folder, os.W_OK) and self._engine.is_writable(new)

    def companion_path(self, suffix: str) -> Path:
        """Return the path of a file or folder that belongs to the store, such as its backups."""
        return _sibling_path(self.path, suffix)

    def is_in_use(self) -> bool:
        """Return whether another connection to the store is open, such as a server's."""
        with self._explaining_errors():
            return self._engine.is_in_use()

    def end_stalled(self) -> int:
        """End transactions whose program stopped within a statement; return their number.

        Other transactions whose program stops are ended by the database itself.
        """
        with self._explaining_errors():
            return self._engine.end_stalled()

    def with_wait_limit(self, patience_s: float) -> "Store":
        """Return the same store with a different maximum waiting time for other writers.

        Requests to a database that does not answer fail after the same time, so this is suitable
        only for short statements.
        """
        store = copy.copy(self)
        store._patience_s, store._is_time_limited = patience_s, True
        return store

    @contextmanager
    def look(self, *, sealed: bool = False) -> Iterator[Transaction]:
        """Read from one consistent snapshot; the database refuses to write.

        With `sealed`, it also refuses to read the sealed tables, as in `Store.desk`.
        """
        with self._database(self._kind(sealed=sealed, writes=False)) as database:
            self._check_version(database, database.conn.execute("BEGIN"))
            yield Transaction(database)
            database.conn.execute("ROLLBACK")

    @contextmanager
    def change(self, *, attached: Path | None = None) -> Iterator[Transaction]:
        """Write: everything in the block is stored, or nothing is.

        The tables of another SQLite file can be `attached` and read as `beside.items`.
        """
        with self._writing(sealed=False, attached=attached) as transaction:
            yield transaction

    @contextmanager
    def desk(self) -> Iterator[Transaction]:
        """Write on behalf of a reader; the database itself refuses to read the sealed tables.

        A mistake in the code of the reading page therefore cannot leak them. The exceptions are
        `schema.SHOWN_VIEWS`: the indication and the comparison, an aid that is due, and the images
        that replace those of a case.
        """
        with self._writing(sealed=True) as transaction:
            yield transaction

    def rename_to(self, path: Path) -> None:
        """Rename this store, unless a store of that name exists."""
        with self._explaining_errors():
            self._engine.rename_to(path)

    def checkpoint(self) -> bool:
        """Remove deleted content from the journal; return whether no connection prevented it."""
        with self._explaining_errors():
            return self._engine.checkpoint(self._patience_s)

    def checkpoint_without_blocking(self) -> None:
        """Shorten the journal as far as possible without blocking other connections."""
        with self._explaining_errors():
            self._engine.checkpoint(self._patience_s, quietly=True)

    def begin_witness(self) -> None:
        """Create the witness if there is none, with the current heads of the chains."""
        if witness.read(self.path) is None:
            with self.look() as look:
                self._write_heads(look, {head.chain: head for head in _current_heads(look)})

    def renew_witness(self) -> None:
        """Rewrite the witness with its readable heads and the current heads."""
        with self.look() as look:
            witness.renew(
                self.path,
                _current_heads(look),
                superseded=lambda heads: _superseded_heads(look, heads),
            )

    @property
    def witness_file(self) -> Path:
        """Return the path of the witness."""
        return witness.file_of(self.path)

    def read_witness(self) -> witness.Witness | None:
        """Return the content of the witness, or None if there is none."""
        return witness.read(self.path)

    def forget_heads(self, heads: Iterable[Head]) -> None:
        """Remove heads from the witness, after their loss or removal was recorded."""
        witness.forget(self.path, heads)

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy of the store to a new file while others may write.

        The copy contains everything committed before it begins, and nothing later.
        """
        path.touch(mode=0o600, exist_ok=False)
        with self._explaining_errors():
            self._engine.copy_to(path)

    def enable_journal(self) -> None:
        """Switch a store that is a single file back to a write-ahead log."""
        with self._explaining_errors():
            self._engine.enable_journal()

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep connections open for reuse."""
        with self._explaining_errors(), self._engine.keep_open(), self._idle.kept():
            yield

    def _write_to_witness(self, committed: Transaction, n_held: int | None) -> None:
        """Write the committed heads to the witness; an action may be acknowledged only afterwards.

        Heads that could not be written are kept for the next attempt, so that an action sent again
        is not acknowledged without them.
        """
        for chain, head in committed.heads.items():
            self._unwitnessed[chain] = max(
                head, self._unwitnessed.get(chain, head), key=_event_number
            )
        if self._unwitnessed:
            self._write_heads(committed, self._unwitnessed, n_held)
            self._unwitnessed.clear()

    def _write_heads(
        self, look: Transaction, heads: dict[str, Head], n_held: int | None = None
    ) -> None:
        try:
            witness.add(
                self.path,
                heads.values(),
                n_held=n_held,
                all_heads=lambda: [
                    head for head in _current_heads(look) if head.chain not in heads
                ],
                superseded=lambda missing: _superseded_heads(look, missing),
            )
        except OSError as error:
            fault = StudyError(
                t(
                    "The server cannot write {file} ({why}), so this is not confirmed yet. Try "
                    "again in a moment.",
                    file=witness.file_of(self.path).name,
                    why=system_reason(error),
                )
            )
            fault.add_note(_CHANGE_STORED_NOTE)
            raise fault from error

    @contextmanager
    def _writing(self, *, sealed: bool, attached: Path | None = None) -> Iterator[Transaction]:
        kind = self._kind(sealed=sealed, writes=True)
        with ExitStack() as locks, self._database(kind) as database:
            transaction = Transaction(database)
            n_held = None
            read = self._engine.attach(database, attached) if attached else nullcontext()
            with read, _begin_immediate(database.conn) as begin_result:
                self._check_version(database, begin_result)
                yield transaction
                if self._witnessed:
                    # At most one action is committed and not yet in the witness file.
                    locks.enter_context(self._single_writer())
                    n_held = locks.enter_context(witness.locked(self.path, self._patience_s))
            if self._witnessed:
                self._write_to_witness(transaction, n_held)

    def _check_version(self, database: Database, begin_result: Cursor) -> None:
        """Refuse a store that another server has upgraded since this server opened it.

        PostgreSQL returns the version with the statement that begins the transaction.
        """
        (version,) = begin_result.fetchone() or database.execute("PRAGMA user_version").fetchone()
        if version > self._newest_version:
            raise Upgraded(
                t(
                    "The database was upgraded by a newer version of the program. Start that "
                    "version on this server, too."
                )
            )

    @contextmanager
    def _single_writer(self) -> Iterator[None]:
        """Let one thread write to the witness at a time."""
        if not self._witness_lock.acquire(timeout=self._patience_s):
            raise Busy(t("The database is busy. Try again in a moment."))
        try:
            yield
        finally:
            self._witness_lock.release()

    def _kind(self, *, sealed: bool, writes: bool) -> Kind:
        return Kind(
            sealed=sealed,
            writes=writes,
            patience_s=self._patience_s,
            is_time_limited=self._is_time_limited,
        )

    @contextmanager
    def _database(self, kind: Kind) -> Iterator[Database]:
        """Yield a connection of a kind; it is reused unless an error occurred."""
        with self._explaining_errors():
            file = _identity(self.path)
            database = self._idle.take(kind, file) or self._open(kind)
            is_reusable = False
            try:
                yield database
                is_reusable = self._idle.give(kind, file, database)
            except self._engine.errors as error:
                if getattr(
                    error, "is_final", False
                ):  # the other connections lead to the same server
                    self._idle.clear()
                raise
            finally:
                if not is_reusable:
                    database.conn.close()

    def _open(self, kind: Kind) -> Database:
        """Open a connection; if the database accepts no more, close an idle one first."""
        for wait_s in _RETRY_WAITS_S:
            try:
                return self._engine.open_connection(kind)
            except self._engine.errors as error:
                if not self._engine.is_full(error) or not self._idle.close_one():
                    raise
            threading.Event().wait(wait_s)
        return self._engine.open_connection(kind)

    @contextmanager
    def _explaining_errors(self) -> Iterator[None]:
        try:
            yield
        except self._engine.errors as error:
            fault = self._engine.explain_error(error)
            if fault is not error:
                for note in getattr(error, "__notes__", ()):
                    fault.add_note(note)
            raise fault from error


class _IdleConnections:
    """The idle connections of a store, kept for reuse.

    Each is reused only with the same permissions, and only while the store's path refers to the
    file that the connection opened.
    """

    def __init__(self) -> None:
        self._users = 0
        self._lock = threading.Lock()
        self._kept: dict[Kind, list[tuple[_FileIdentity, Database]]] = defaultdict(list)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep connections until the context ends."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                is_unused = not self._users
            if is_unused:
                self.clear()

    def clear(self) -> None:
        """Close all idle connections."""
        with self._lock:
            entries = dict(self._kept)
            self._kept.clear()
        for of_kind in entries.values():
            for _, database in of_kind:
                database.conn.close()

    def close_one(self) -> bool:
        """Close a connection of the most frequent kind, and return whether there was one."""
        with self._lock:
            largest = max(self._kept.values(), key=len, default=[])
            if not largest:
                return False
            _, database = largest.pop()
        database.conn.close()
        return True

    def take(self, kind: Kind, file: "_FileIdentity") -> Database | None:
        """Return a connection to this file, or None."""
        while True:
            with self._lock:
                if not self._kept[kind]:
                    return None
                opened_on, database = self._kept[kind].pop()
            if opened_on == file:
                return database
            database.conn.close()

    def give(self, kind: Kind, file: "_FileIdentity", database: Database) -> bool:
        """Keep a connection if there is room, and return whether it is kept."""
        with self._lock:
            has_room = bool(self._users) and len(self._kept[kind]) < _MOST_IDLE
            if has_room:
                self._kept[kind].append((file, database))
            return has_room


def _identity(path: Path) -> "_FileIdentity":
    """Return values that distinguish a file from one that replaced or overwrote it."""
    try:
        status = path.stat()
    except OSError:  # opening the file reports the error
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


def companion_path(address: Path | str, suffix: str) -> Path:
    """Return the path of a file that belongs to the store of an address, which need not exist."""
    return _sibling_path(_engine_of(address).path, suffix)


def _sibling_path(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}-{suffix}")


def _engine_of(address: Path | str) -> Engine:
    known = address_of(address)
    if isinstance(known, Path):
        return Sqlite(known)
    # The driver is loaded only for its stores.
    engine: Engine = import_module("study.store.postgres").Postgres(known)
    return engine


@contextmanager
def _begin_immediate(connection: Connection) -> Iterator[Cursor]:
    begin_result = connection.execute("BEGIN IMMEDIATE")
    try:
        yield begin_result
        try:
            connection.execute("COMMIT")
        except Exception as error:
            if getattr(error, "is_final", False):
                error.add_note(_OUTCOME_UNKNOWN_NOTE)
            raise
    except BaseException as error:
        if connection.in_transaction and not getattr(error, "is_final", False):
            connection.execute("ROLLBACK")
        raise


_OUTCOME_UNKNOWN_NOTE = (
    "The connection ended while the change was being stored. Check whether it was stored before "
    "you repeat the command."
)
_CHANGE_STORED_NOTE = "The change is in the database. Check it before you repeat the command."
"""Notes on errors at the end of a change, which commands print."""


def _event_number(head: Head) -> int:
    return head.number


def _current_heads(look: Transaction) -> list[Head]:
    rows = look.rows(
        "SELECT chain_heads.chain, chain_heads.number, chain_heads.hash, at_utc FROM chain_heads "
        "JOIN events ON events.chain = chain_heads.chain AND events.number = chain_heads.number"
    )
    return [Head(**row) for row in rows]


def contains_head(look: Transaction, head: Head) -> bool:
    """Return whether a store contains the event of a head."""
    return bool(
        look.value(
            "SELECT 1 FROM events WHERE chain = :chain AND number = :number AND hash = :hash",
            chain=head.chain,
            number=head.number,
            hash=head.hash,
        )
    )


def _superseded_heads(look: Transaction, heads: Iterable[Head]) -> list[Head]:
    """Return the heads that the store contains and that are superseded by a later one."""
    stored = [head for head in heads if contains_head(look, head)]
    last = {head.chain: head.number for head in sorted(stored, key=_event_number)}
    return [head for head in stored if head.number < last[head.chain]]
