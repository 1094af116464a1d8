"""Open the store and provide its transactions.

Every write is one `BEGIN IMMEDIATE` transaction through `Store.change`: a deferred begin loses
writes under concurrency. A connection has one user at a time; it is opened for that use, or reused
(`Store.kept_warm`).
"""

import copy
import logging
import os
import sqlite3
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlite_utils import Database

from study.base.errors import BrokenStore, Busy, NotFound, StudyError
from study.base.translation import later, said, t
from study.store import comparing, schema, witness
from study.store.witness import Head

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
"""Tables that must never reach a reader during a study; enforced by SQLite, see `Store.desk`."""

_SHOWN_VIEWS = {
    "report_texts": "shown_context",
    "aids": "due_aids",
    "wrong_images": "items_with_images",
}
"""The only way into a sealed table: the view of it with what a reader may be shown."""

_BUSY_TIMEOUT_S = 20.0
_MOST_IDLE = 8
"""Number of idle connections of each kind that are kept for reuse."""

HELD = "PRAGMA cache_size = -32768"
"""Lets SQLite cache 32 MB of a file, for queries that read much of it in random order."""

_Row = TypeVar("_Row")
_File = tuple[int, int, int] | None

_log = logging.getLogger("reading_room.store")


class Transaction:
    """One open transaction: thin verbs over sqlite-utils that the store's modules build on."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.heads: dict[str, Head] = {}
        """The last event of each chain that was sealed within this transaction."""

    def rows(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """Return all rows of a query with named parameters."""
        return list(self.stream(sql, **values))

    def stream(self, sql: str, **values: Any) -> Iterator[dict[str, Any]]:
        """Return the rows of a query one by one.

        sqlite-utils' own `query` would run two more statements for each.
        """
        cursor = self._database.conn.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def cursor(self, sql: str, **values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as plain tuples."""
        return iter(self._database.conn.execute(sql, values))

    def tuples(self, make: Callable[..., _Row], sql: str, **values: Any) -> list[_Row]:
        """Return all rows of a query, each made of its columns in their order."""
        return [make(*row) for row in self._database.conn.execute(sql, values)]

    def row(self, sql: str, **values: Any) -> dict[str, Any] | None:
        """Return the first row of a query, or None."""
        return next(self.stream(sql, **values), None)

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
        self._database.table(table).upsert(values, pk=key)

    def execute(self, sql: str, **values: Any) -> int:
        """Run one statement and return the number of rows it changed."""
        return int(self._database.execute(sql, values).rowcount)


class Store:
    """A deployment's store.

    Parameters
    ----------
    path
        The SQLite file. It must exist; `Store.create` makes a new one.
    witnessed
        Whether writes are recorded by the second witness (`study.store.witness`) before they
        count as stored; not needed for a temporary copy.

    Raises
    ------
    NotFound
        There is no file at `path`.
    BrokenStore
        The file is not a Reading Room store, or of a version that is not supported.
    """

    def __init__(self, path: Path, *, witnessed: bool = True) -> None:
        self.path = Path(path)
        self._patience_s = _BUSY_TIMEOUT_S
        self._witnessed = witnessed
        self._owed: dict[str, Head] = {}
        self._telling = threading.Lock()
        self._idle = _Idle()
        if not self.path.is_file():
            raise NotFound(
                f"There is no store {self.path.name}. Make one with: python -m study init --db DB"
            )
        with self._connection() as connection:
            _check_ours(connection, self.path)
            if schema.version(connection) < schema.newest():
                with _immediate(connection):  # only one of several processes migrates it
                    schema.migrate(connection)

    @classmethod
    def create(
        cls, path: Path, fill: Callable[[Transaction], None], *, witnessed: bool = True
    ) -> "Store":
        """Create a store and fill it, or open the existing one.

        The store is created under another name and then renamed, so that neither a crash nor two
        processes at once leave an incomplete store.

        Raises
        ------
        NotFound
            The folder does not exist.
        BrokenStore
            `path` is another kind of file.
        """
        path = Path(path)
        if path.exists():
            return cls(path, witnessed=witnessed)
        if not path.parent.is_dir():
            raise NotFound(f"The folder {path.parent} does not exist. Make it first.")
        try:
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-store-") as scratch:
                new = Path(scratch) / "store.db"
                _make(new, fill)
                _put_in_place(new, path)
        except OSError as error:
            raise StudyError(f"{path} cannot be made: {error.strerror}.") from error
        return cls(path, witnessed=witnessed)

    @classmethod
    def at(cls, address: str) -> "Store":
        """Open the store of an `address`, for example in another process."""
        return cls(Path(address))

    @property
    def address(self) -> str:
        """Return what identifies the store in this process and opens it in another."""
        return str(self.path)

    @property
    def stem(self) -> str:
        """Return the name of the store for names of files."""
        return self.path.stem

    @property
    def folder(self) -> Path:
        """Return the folder of the deployment's files."""
        return self.path.resolve().parent

    def beside(self, suffix: str) -> Path:
        """Return the path of a file or folder that belongs to the store, such as its backups."""
        return self.path.with_name(f"{self.path.name}-{suffix}")

    def hurried(self, patience_s: float) -> "Store":
        """Return the same store with another maximum waiting time for other writers."""
        store = copy.copy(self)
        store._patience_s = patience_s
        return store

    @contextmanager
    def look(self, *, sealed: bool = False) -> Iterator[Transaction]:
        """Read from one consistent snapshot; writing is refused by SQLite.

        With `sealed` the sealed tables are refused too, as by `Store.desk`.
        """
        with self._database(self._kind(sealed=sealed, writes=False)) as database:
            database.conn.execute("BEGIN")
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
        """Write on behalf of a reader: SQLite itself refuses to read the sealed tables.

        No statement of this transaction can read the sealed tables, so that no mistake in the code
        of the reading page can leak them. `_SHOWN_VIEWS` are the exceptions: the indication and the
        comparison, an aid that is due, and the images that stand in for those of a case.
        """
        with self._writing(sealed=True) as transaction:
            yield transaction

    def put_in_place(self, path: Path) -> None:
        """Rename this store, unless a store of that name exists.

        The journal is checkpointed first, so that the store is one file.
        """
        with self._connection() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _put_in_place(self.path, path)

    def fold_in(self) -> bool:
        """Checkpoint and truncate the journal; return whether no other connection prevented it.

        Until then the journal still contains what was deleted from the file.
        """
        with self._connection() as connection:
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def fold_in_quietly(self) -> None:
        """Checkpoint as much of the journal as possible without blocking other connections."""
        with self._connection() as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def begin_witness(self) -> None:
        """Create the witness if there is none, with the current heads of the chains."""
        if witness.read(self.path) is None:
            with self.look() as look:
                self._tell(look, {head.chain: head for head in _heads(look)})

    def renew_witness(self) -> None:
        """Rewrite the witness, with its readable heads and the current ones."""
        with self.look() as look:
            witness.renew(self.path, _heads(look), needless=lambda heads: _needless(look, heads))

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
        with self._connection() as connection, closing(sqlite3.connect(path)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # a single complete file

    def journal_again(self) -> None:
        """Switch a store that is a single file back to a write-ahead log."""
        with self._connection() as connection:
            connection.execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def kept_warm(self) -> Iterator[None]:
        """Keep connections open for reuse, at least one of them idle.

        When a connection is opened, SQLite reads the schema, which takes longer than most
        transactions; when the last one is closed, it checkpoints the journal, which costs several
        flushes to disk.
        """
        with self._connection() as connection:
            connection.execute("SELECT count(*) FROM deployment").fetchone()
            with self._idle.kept():
                yield

    def _tell_witness(self, committed: Transaction, held: int | None) -> None:
        """Write the committed heads to the witness; only then may an act be acknowledged.

        Heads that could not be written are kept for the next attempt, so that an act sent again is
        not acknowledged without them.
        """
        for chain, head in committed.heads.items():
            self._owed[chain] = max(head, self._owed.get(chain, head), key=_number)
        if self._owed:
            self._tell(committed, self._owed, held)
            self._owed.clear()

    def _tell(self, look: Transaction, heads: dict[str, Head], held: int | None = None) -> None:
        try:
            witness.add(
                self.path,
                heads.values(),
                held=held,
                every=lambda: [head for head in _heads(look) if head.chain not in heads],
                needless=lambda missing: _needless(look, missing),
            )
        except OSError as error:
            raise StudyError(
                t(
                    "The server cannot write {file} ({why}), so this is not confirmed yet. Try "
                    "again in a moment.",
                    file=witness.file_of(self.path).name,
                    why=error.strerror,
                )
            ) from error

    @contextmanager
    def _writing(self, *, sealed: bool, attached: Path | None = None) -> Iterator[Transaction]:
        kind = self._kind(sealed=sealed, writes=True)
        with ExitStack() as locks, self._database(kind) as database:
            transaction = Transaction(database)
            held = None
            with _attached(database.conn, attached), _immediate(database.conn):
                yield transaction
                if (
                    self._witnessed
                ):  # at most one action is committed and not yet in the witness file
                    locks.enter_context(self._telling)
                    held = locks.enter_context(witness.locked(self.path))
            if self._witnessed:
                self._tell_witness(transaction, held)

    def _kind(self, *, sealed: bool, writes: bool) -> "_Kind":
        return _Kind(sealed=sealed, writes=writes, patience_s=self._patience_s)

    @contextmanager
    def _database(self, kind: "_Kind") -> Iterator[Database]:
        """Yield a connection of a kind; it is reused unless an error occurred."""
        with self._explaining():
            file = _identity(self.path)
            database = self._idle.take(kind, file) or _opened(self.path, kind)
            kept = False
            try:
                yield database
                kept = self._idle.give(kind, file, database)
            finally:
                if not kept:
                    database.conn.close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._explaining(), closing(_connect(self.path, self._patience_s)) as connection:
            yield connection

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise _explained(error, self.path) from error


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a connection may do, which is set once for each."""

    sealed: bool
    writes: bool
    patience_s: float


class _Idle:
    """The idle connections of a store that is kept warm.

    Each is reused only with the same permissions, and only while the store's path still refers to
    the file it was opened on.
    """

    def __init__(self) -> None:
        self._users = 0
        self._lock = threading.Lock()
        self._kept: dict[_Kind, list[tuple[_File, Database]]] = defaultdict(list)

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
                unused = {} if self._users else dict(self._kept)
                if unused:
                    self._kept.clear()
            for kept in unused.values():
                for _, database in kept:
                    database.conn.close()

    def take(self, kind: _Kind, file: "_File") -> Database | None:
        """Return a connection to this file, or None."""
        while True:
            with self._lock:
                if not self._kept[kind]:
                    return None
                opened_on, database = self._kept[kind].pop()
            if opened_on == file:
                return database
            database.conn.close()

    def give(self, kind: _Kind, file: "_File", database: Database) -> bool:
        """Keep a connection, and return whether it is kept."""
        with self._lock:
            room = bool(self._users) and len(self._kept[kind]) < _MOST_IDLE
            if room:
                self._kept[kind].append((file, database))
            return room


def _identity(path: Path) -> "_File":
    """Return values that distinguish a file from one that replaced or overwrote it."""
    try:
        status = path.stat()
    except OSError:  # opening it reports the error
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _opened(path: Path, kind: _Kind) -> Database:
    connection = _connect(path, kind.patience_s)
    if kind.sealed:
        connection.set_authorizer(_refuse_sealed)
    if not kind.writes:
        connection.execute("PRAGMA query_only = ON")
    return Database(connection, recursive_triggers=False)


def add_functions(connection: sqlite3.Connection) -> None:
    """Register the functions of `study.store.comparing` with a connection."""
    for function, n_arguments in comparing.FUNCTIONS:
        connection.create_function(function.__name__, n_arguments, function, deterministic=True)


def _number(head: Head) -> int:
    return head.number


def _heads(look: Transaction) -> list[Head]:
    rows = look.rows(
        "SELECT chain_heads.chain, chain_heads.number, chain_heads.hash, at_utc FROM chain_heads "
        "JOIN events ON events.chain = chain_heads.chain AND events.number = chain_heads.number"
    )
    return [Head(**row) for row in rows]


def is_there(look: Transaction, head: Head) -> bool:
    """Return whether a store contains the event of a head."""
    return bool(
        look.value(
            "SELECT 1 FROM events WHERE chain = :chain AND number = :number AND hash = :hash",
            chain=head.chain,
            number=head.number,
            hash=head.hash,
        )
    )


def _needless(look: Transaction, heads: Iterable[Head]) -> list[Head]:
    """Return the heads that are in the store and superseded by a later one; lost ones are kept."""
    stored = [head for head in heads if is_there(look, head)]
    last = {head.chain: head.number for head in sorted(stored, key=_number)}
    return [head for head in stored if head.number < last[head.chain]]


def _make(path: Path, fill: Callable[[Transaction], None]) -> None:
    """Create a store under a name that no other process uses; closing it leaves one file."""
    path.touch(mode=0o600)
    try:
        with closing(_connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            with _immediate(connection):
                schema.create(connection)
                fill(Transaction(Database(connection, recursive_triggers=False)))
    except sqlite3.DatabaseError as error:
        raise _explained(error, path) from error


def _put_in_place(new: Path, path: Path) -> None:
    """Rename a finished store, unless another one of that name exists."""
    try:
        os.link(new, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not path.exists():
            new.replace(path)


def _connect(path: Path, patience_s: float = _BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Open an existing file; SQLite would otherwise create a missing one."""
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw",
        uri=True,
        timeout=patience_s,
        isolation_level=None,
        check_same_thread=False,  # a connection kept for the next may be used by another thread
    )
    try:
        add_functions(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # erased names are overwritten on disk
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


@contextmanager
def _attached(connection: sqlite3.Connection, path: Path | None) -> Iterator[None]:
    if path is None:
        yield
        return
    connection.execute("ATTACH ? AS beside", (f"{path.absolute().as_uri()}?mode=ro",))
    (before,) = connection.execute("PRAGMA main.cache_size").fetchone()
    connection.execute(HELD)
    try:
        yield
    finally:
        connection.execute(f"PRAGMA main.cache_size = {before}")
        connection.execute("DETACH beside")


@contextmanager
def _immediate(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _refuse_sealed(
    action: int, table: str | None, column: str | None, database: str | None, within: str | None
) -> int:
    shown = within is not None and within == _SHOWN_VIEWS.get(table or "")
    if action == sqlite3.SQLITE_READ and table in SEALED_TABLES and not shown:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != schema.APPLICATION_ID:
        raise BrokenStore(f"{path.name} is not a Reading Room store. Name another file.")
    version = schema.version(connection)
    if version < schema.FIRST_VERSION:
        raise BrokenStore(
            f"{path.name} was made before the first release: export its studies with the program "
            "that made it (python -m study export), and restore the bundles into a new store "
            "(python -m study restore)."
        )
    if version > schema.newest():
        raise BrokenStore(
            f"{path.name} was made by a newer version of Reading Room (store version {version}; "
            f"this program supports {schema.newest()}). Use the newer version."
        )


def _explained(error: sqlite3.DatabaseError, path: Path) -> Exception:
    """Return an error of the file as a sentence with its remedy; programming errors unchanged.

    Readers and strangers see it too, so only the log contains the path.
    """
    words = str(error)
    for mark, sentence in _BROKEN.items():
        if mark in words:
            _log.error("%s: %s", path, words)
            return BrokenStore(said(sentence))
    for mark, sentence in _TROUBLE.items():
        if mark in words and isinstance(error, sqlite3.OperationalError):
            _log.error("%s: %s", path, words)
            return (Busy if mark == "locked" else StudyError)(said(sentence))
    return error


_BROKEN = {
    "not a database": later("The database is not a SQLite file. Name another file."),
    "malformed": later("The database is damaged. Restore it from a backup."),
    "no such table": later("The database is incomplete. Restore it from a backup."),
    "no such column": later("The database is incomplete. Restore it from a backup."),
}
_TROUBLE = {
    "locked": later("The database is busy. Try again in a moment."),
    "disk is full": later(
        "The database cannot be written: the disk is full. Free some space and try again."
    ),
    "disk I/O": later("The database cannot be read or written: the disk reports an error."),
    "readonly": later("The database cannot be written: it is read-only. Check its permissions."),
    "unable to open": later(
        "The database cannot be opened. Check that it exists, and check its permissions."
    ),
}
