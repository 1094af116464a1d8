"""The default engine: a store is one SQLite file, opened with sqlite-utils."""

import errno
import fcntl
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from sqlite_utils import Database

from study.base.errors import BrokenStore, Busy, NotFound, StudyError
from study.base.translation import later, translated
from study.store import comparing, engine, schema
from study.store.engine import PATIENCE_S, Kind

LARGE_CACHE = "PRAGMA cache_size = -32768"
"""Lets SQLite cache 32 MB of a file for queries that read much of it in random order."""

_NEW_STORE_PREFIX = ".new-store-"
"""The beginning of the name of a folder in which a store is created."""

_log = logging.getLogger("reading_room.store")


class Sqlite:
    """The engine of a SQLite file."""

    errors: tuple[type[Exception], ...] = (sqlite3.DatabaseError,)

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def address(self) -> str:
        """Return the path."""
        return str(self.path)

    def create(self, fill: Callable[[engine.Database], None]) -> None:
        """Create the file under another name and then rename it, unless it exists.

        A crash or a second process therefore never leaves an incomplete store.

        Raises
        ------
        NotFound
            The folder does not exist.
        """
        path = self.path
        if not path.parent.is_dir():
            raise NotFound(f"The folder {path.parent} does not exist. Create it first.")
        try:
            with ExitStack() as stack:
                with _locked(path.parent, wait=True) as is_alone:
                    if is_alone:
                        _delete_leftovers(path.parent)
                    if path.exists():
                        return
                    scratch = tempfile.TemporaryDirectory(dir=path.parent, prefix=_NEW_STORE_PREFIX)
                    new = Path(stack.enter_context(scratch)) / "store.db"
                    stack.enter_context(_locked(new.parent))
                make_store(new, fill)
                _rename_new_store(new, path)
        except OSError as error:
            raise StudyError(f"{path} cannot be made: {error.strerror}.") from error

    def check_and_upgrade(self) -> None:
        """Check that the file is a store, and upgrade it to the version of this program.

        Raises
        ------
        NotFound
            There is no file.
        BrokenStore
            The file is not a Reading Room store, or has a version that is not supported.
        """
        if not self.path.is_file():
            raise NotFound(
                f"There is no store {self.path.name}. Create one with: python -m study init --db DB"
            )
        with closing(_open_existing(self.path)) as connection:
            _check_store(connection, self.path)
            if schema.version(connection) == schema.newest():
                return
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")  # so that only one process migrates the store
            with connection:
                schema.migrate(connection, self._back_up)

    def is_writable(self, database: engine.Database) -> bool:
        """Return whether the file may be changed."""
        return os.access(self.path, os.W_OK)

    def is_full(self, error: Exception) -> bool:
        """Return False: the number of connections to a file is not limited."""
        return False

    def open_connection(self, kind: Kind) -> Database:
        """Open a connection."""
        connection = _connect(self.path, kind.patience_s)
        if kind.sealed:
            connection.set_authorizer(_refuse_sealed)
        if not kind.writes:
            connection.execute("PRAGMA query_only = ON")
        return Database(connection, recursive_triggers=False)

    @contextmanager
    def keep_open(self) -> Iterator[None]:
        """Keep one connection open.

        When the last connection is closed, SQLite checkpoints the journal, which costs several
        flushes to disk. This connection opens the journal and does not read the schema.
        """
        with closing(_open_existing(self.path)) as connection:
            schema.version(connection)
            yield

    @contextmanager
    def attach(self, database: engine.Database, file: Path) -> Iterator[None]:
        """Make the tables of a file readable within a transaction as `beside.items`."""
        connection = database.conn
        connection.execute("ATTACH ? AS beside", (f"{file.absolute().as_uri()}?mode=ro",))
        (before,) = connection.execute("PRAGMA main.cache_size").fetchone()
        connection.execute(LARGE_CACHE)
        try:
            yield
        finally:
            connection.execute(f"PRAGMA main.cache_size = {before}")
            connection.execute("DETACH beside")

    def explain_error(self, error: Exception) -> Exception:
        """Return an error of SQLite as a sentence with its remedy; return other errors unchanged.

        Readers and signed-out visitors see it too, so only the log contains the path.
        """
        return explain_error(error, self.path)

    def is_in_use(self) -> bool:
        """Return whether another connection is open, so that SQLite refuses an exclusive lock."""
        address = f"{self.path.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, timeout=0)) as connection:
            # No earlier statement may run: it would open the log in shared mode.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            try:
                connection.execute("SELECT 1 FROM deployment")
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    return True
                raise
        return False

    def end_stalled(self) -> int:
        """Return 0: the locks of a file end with the process that holds them."""
        return 0

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy to a new file, with everything committed before it begins."""
        with self._connection() as connection, closing(sqlite3.connect(path)) as copy:
            try:
                connection.backup(copy)
            except sqlite3.OperationalError as error:
                if "full" not in str(error):
                    raise
                full = errno.ENOSPC  # the disk of the copy, not of this file
                raise OSError(full, os.strerror(full), str(path)) from error
        as_single_file(path)

    def checkpoint(self, patience_s: float, *, quietly: bool = False) -> bool:
        """Checkpoint the journal; return whether no other connection prevented it.

        With `quietly`, do as much as possible without blocking other connections.
        """
        mode = "PASSIVE" if quietly else "TRUNCATE"
        with self._connection(patience_s) as connection:
            (busy, _, _) = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        return not busy

    def rename_to(self, path: Path) -> None:
        """Rename the file, after a checkpoint, unless a file of that name exists."""
        self.checkpoint(PATIENCE_S)
        _rename_new_store(self.path, path)

    def enable_journal(self) -> None:
        """Switch a store that is a single file back to a write-ahead log."""
        with self._connection() as connection:
            connection.execute("PRAGMA journal_mode = WAL")

    def _back_up(self, number: int) -> None:
        """Copy the store before an upgrade."""
        try:
            with schema.upgrade_backup_of(self.path, number) as file:
                # SQLite does not copy from a connection that is in a write transaction.
                self.copy_to(file)
        except OSError as error:
            raise StudyError(
                f"The copy before the upgrade cannot be written to {error.filename}: "
                f"{error.strerror}."
            ) from error

    @contextmanager
    def _connection(self, patience_s: float = PATIENCE_S) -> Iterator[sqlite3.Connection]:
        with closing(_connect(self.path, patience_s)) as connection:
            yield connection


def _delete_leftovers(parent: Path) -> None:
    """Delete the folders in which killed processes left complete or incomplete stores."""
    for leftover in parent.glob(f"{_NEW_STORE_PREFIX}*"):
        with suppress(OSError), _locked(leftover) as is_unused:
            if is_unused:
                shutil.rmtree(leftover)


@contextmanager
def _locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Lock a folder, at most until the process ends, and yield whether that succeeded.

    Some network file systems do not support locks.
    """
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        is_locked = True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            is_locked = False
        yield is_locked
    finally:
        os.close(file)


def add_functions(connection: sqlite3.Connection) -> None:
    """Register the functions of `study.store.comparing` with a connection."""
    for function, n_arguments in comparing.FUNCTIONS:
        connection.create_function(function.__name__, n_arguments, function, deterministic=True)


def make_store(
    path: Path, fill: Callable[[engine.Database], None], number: int | None = None
) -> None:
    """Create a store under a name that no other process uses, as a single file.

    `number` is its version, by default the newest.
    """
    path.touch(mode=0o600)
    try:
        with closing(_connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                schema.create(connection, number)
                fill(Database(connection, recursive_triggers=False))
    except sqlite3.DatabaseError as error:
        raise explain_error(error, path) from error


def as_single_file(path: Path) -> None:
    """Switch a store that is not in use from a write-ahead log to a single file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def _rename_new_store(new: Path, path: Path) -> None:
    """Rename a finished store, unless another one of that name exists."""
    try:
        os.link(new, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not path.exists():
            new.replace(path)


def _open_existing(path: Path, patience_s: float = PATIENCE_S) -> sqlite3.Connection:
    """Open an existing file; SQLite would otherwise create a missing one.

    The schema is not read, which takes longer than most transactions.
    """
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw",
        uri=True,
        timeout=patience_s,
        isolation_level=None,
        check_same_thread=False,  # another thread may reuse the connection later
    )


def _connect(path: Path, patience_s: float = PATIENCE_S) -> sqlite3.Connection:
    connection = _open_existing(path, patience_s)
    try:
        add_functions(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # erased names are overwritten on disk
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _refuse_sealed(
    action: int, table: str | None, column: str | None, database: str | None, within: str | None
) -> int:
    shown = within is not None and within == schema.SHOWN_VIEWS.get(table or "")
    if action == sqlite3.SQLITE_READ and table in schema.SEALED_TABLES and not shown:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _check_store(connection: sqlite3.Connection, path: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != schema.APPLICATION_ID:
        raise BrokenStore(f"{path.name} is not a Reading Room store. Name another file.")
    schema.check_version(schema.version(connection), path.name)


def explain_error(error: Exception, path: Path) -> Exception:
    """Return an error of SQLite as a sentence with its remedy, and log it; others unchanged."""
    fault, words = _explanation(error, path), str(error)
    if fault is not error:
        _log.error("%s: %s", path, words)
        fault.add_note(f"{path}: {words}")
    return fault


def _explanation(error: Exception, path: Path) -> Exception:
    is_full = getattr(error, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE"
    words = "disk is full" if is_full else str(error)  # the index of the journal cannot grow
    for mark, sentence in _DAMAGE_MESSAGES.items():
        if mark in words:
            return BrokenStore(f"{path.name}: {translated(sentence)}")
    for mark, sentence in _FAILURE_MESSAGES.items():
        if mark in words and isinstance(error, sqlite3.OperationalError):
            return (Busy if mark == "locked" else StudyError)(translated(sentence))
    return error


_DAMAGE_MESSAGES = {
    "not a database": later("The database is not a SQLite file. Name another file."),
    "malformed": later("The database is damaged. Restore it from a backup."),
    "no such table": later("The database is incomplete. Restore it from a backup."),
    "no such column": later("The database is incomplete. Restore it from a backup."),
}
_FAILURE_MESSAGES = {
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
