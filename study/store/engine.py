"""The interface of the store's database engines: `study.store.sqlite`, `study.store.postgres`."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

PATIENCE_S = 20.0
"""How long a transaction waits for other writers by default, in seconds."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The permissions and limits of a connection, set when it is opened.

    Attributes
    ----------
    patience_s : float
        How long a transaction waits for other writers.
    is_time_limited : bool
        Whether requests to a database that does not respond fail after the same time.
    """

    sealed: bool
    writes: bool
    patience_s: float
    is_time_limited: bool = False


class Cursor(Protocol):
    """The result of a statement, as in the DB-API."""

    @property
    def description(self) -> Any:
        """Return a tuple for each column, which begins with its name."""

    @property
    def rowcount(self) -> int:
        """Return the number of rows that the statement changed."""

    @property
    def lastrowid(self) -> int | None:
        """Return the number of the row that the statement inserted."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows as tuples."""


class Connection(Protocol):
    """An open connection that runs SQL in the dialect of SQLite."""

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open."""

    def execute(self, sql: str, values: Any = ..., /) -> Cursor:
        """Run one statement with named values."""

    def executemany(self, sql: str, rows: Iterable[Any], /) -> object:
        """Run one statement for each row of values, which are in the order of its placeholders."""

    def close(self) -> None:
        """Close the connection."""


class Database(Protocol):
    """A connection in the form in which sqlite-utils wraps it."""

    @property
    def conn(self) -> Connection:
        """Return the connection."""

    def execute(self, sql: str, values: Any = ..., /) -> Cursor:
        """Run one statement with named values."""


class Engine(Protocol):
    """A deployment's database: opens connections to it, and maintains it.

    Attributes
    ----------
    errors
        The exceptions that `explain_error` can explain.
    """

    errors: tuple[type[Exception], ...]

    @property
    def path(self) -> Path:
        """Return the path from which the paths of the deployment's other files are derived."""

    @property
    def address(self) -> str:
        """Return the value that opens the database in another process."""

    def create(self, fill: Callable[[Database], None]) -> None:
        """Create and fill the store, completely or not at all; do nothing if it exists."""

    def check_and_upgrade(self) -> None:
        """Check that the database is a store, and upgrade it to the version of this program."""

    def is_writable(self, database: Database) -> bool:
        """Return whether the database of a new connection accepts changes."""

    def is_full(self, error: Exception) -> bool:
        """Return whether an error means that the database accepts no more connections."""

    def open_connection(self, kind: Kind) -> Database:
        """Open a connection."""

    def keep_open(self) -> AbstractContextManager[None]:
        """Keep the database open, so that opening and closing connections is fast."""

    def attach(self, database: Database, file: Path) -> AbstractContextManager[None]:
        """Make a SQLite file's tables readable within a transaction as `beside.items` etc."""

    def explain_error(self, error: Exception) -> Exception:
        """Return a database error as a sentence with its remedy; return other errors unchanged."""

    def is_in_use(self) -> bool:
        """Return whether another connection is open."""

    def end_stalled(self) -> int:
        """End transactions whose program stopped within a statement; return their number."""

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy to a new SQLite file."""

    def checkpoint(self, patience_s: float, *, quietly: bool = False) -> bool:
        """Remove deleted content from the journal; return whether no connection prevented it."""

    def rename_to(self, path: Path) -> None:
        """Rename the database, unless another one has that name."""

    def enable_journal(self) -> None:
        """Switch a database that is a single file back to a write-ahead log."""
