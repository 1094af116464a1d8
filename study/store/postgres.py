"""The engine for networks of sites: a store in a PostgreSQL database, through pg8000.

The tables belong to the account that creates them. Transactions run as one of two roles that have
its name and an ending: ``_staff`` reads every table, ``_desk`` no sealed one; neither can change a
row of a table that is written once. Writers follow one another, each in a serializable transaction,
as with SQLite, so that the chains of events never fork. Errors are those of `sqlite3`, so that the
modules of the store need to know one set.
"""

import logging
import os
import re
import sqlite3
import ssl
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.resources import files
from itertools import islice
from math import isnan
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pg8000.native as pg

from study.base.errors import BadInput, BrokenStore, Busy, NotFound, NotNow, StudyError
from study.base.text import forms_for_comparison
from study.base.translation import later, said, t
from study.store import dialect, engine, schema
from study.store.engine import PATIENCE_S, Kind

FILES = "READING_ROOM_FILES"
"""The environment variable with the folder of the deployment's files."""

_SCHEMA = "reading_room"
_DEFAULT_FILES = Path(__file__).parents[2] / "instance"
_CONNECT_S, _CLOSING_S = 10, 3
_MOST_PREPARED = 400
_BATCH = 5000
_BIGINT, _DOUBLE, _TEXT, _NUMERIC, _BOOLEAN, _JSON = 20, 701, 25, 1700, 16, 114
_ANY = 0
"""The type of a value that the server derives from its place in the statement."""

_log = logging.getLogger("reading_room.store")


class Postgres:
    """The engine of a PostgreSQL database.

    Parameters
    ----------
    address
        ``postgresql://user:password@host:port/database``. ``?sslmode=verify-full`` checks the
        server's certificate, with ``&sslrootcert=FILE`` against this authority; by default TLS is
        used if the server offers it. ``?host=/run/postgresql`` is a folder of sockets.
    """

    errors: tuple[type[Exception], ...] = (sqlite3.DatabaseError,)

    def __init__(self, address: str) -> None:
        self.address = address
        parts = urlsplit(address)
        options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        name = unquote(parts.path.removeprefix("/"))
        if not name or not parts.username:
            raise BadInput(
                "The address of a PostgreSQL store is "
                "postgresql://user:password@host:port/database."
            )
        folder = options.get("host", "")
        port = parts.port or 5432
        self._where: dict[str, Any] = {
            "user": unquote(parts.username),
            "password": unquote(parts.password or ""),
            "database": name,
            "host": parts.hostname or "localhost",
            "port": port,
            "unix_sock": f"{folder}/.s.PGSQL.{port}" if folder else None,
            "ssl_context": _tls(options),
        }
        self._user = unquote(parts.username)
        self.path = Path(os.environ.get(FILES) or _DEFAULT_FILES) / name

    def create(self, fill: Callable[[engine.Database], None]) -> None:
        """Create the tables and roles in an empty database in one transaction, unless they exist.

        Raises
        ------
        BadInput
            The database sorts text by a language, or has another encoding than UTF-8.
        StudyError
            The account may not create roles, and they do not exist.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connected(PATIENCE_S)) as connection:
            self._check_collation(connection)
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            connection.execute("SELECT pg_advisory_xact_lock(1380085613)")
            if not _exists(connection):
                self._make_roles(connection)
                for statement in (f"CREATE SCHEMA {_SCHEMA}", *_own_statements()):
                    connection.run(statement)
                connection.run(f"INSERT INTO store_version VALUES ({schema.FIRST_VERSION})")
                names = ("symbol", "folded", "lowered")
                connection.copy("folded_characters", names, forms_for_comparison())
                schema.create(connection)  # type: ignore[arg-type]
                self._grant(connection)
                fill(connection)
            connection.execute("COMMIT")

    def ready(self) -> None:
        """Check that the database is a store of a version that is supported.

        Raises
        ------
        NotFound
            The database has no store.
        BrokenStore
            It was made by a newer version of the program.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connected(PATIENCE_S)) as connection:
            if not _exists(connection):
                raise NotFound(
                    f"There is no store in the database {self.path.name}. Make one with: "
                    "python -m study init --db ADDRESS"
                )
            self._check_collation(connection)
            ((version,),) = connection.execute("PRAGMA user_version")
            if version > schema.newest():
                raise BrokenStore(
                    f"{self.path.name} was made by a newer version of Reading Room (store version "
                    f"{version}; this program supports {schema.newest()}). Use the newer version."
                )

    def is_writable(self) -> bool:
        """Return whether the server accepts changes, which a standby does not."""
        with closing(self._connected(PATIENCE_S)) as connection:
            ((setting,),) = connection.execute("SELECT current_setting('transaction_read_only')")
        return bool(setting == "off")

    def opened(self, kind: Kind) -> "PostgresConnection":
        """Open a connection with the role of its kind."""
        role = _role(self._user, "desk" if kind.sealed else "staff")
        return self._connected(kind.patience_s, role)

    @contextmanager
    def held_open(self) -> Iterator[None]:
        """Do nothing: the server stays open."""
        yield

    @contextmanager
    def attached(self, database: engine.Database, file: Path) -> Iterator[None]:
        """Make the tables of a SQLite file readable within a transaction as `beside.items`."""
        assert isinstance(database, PostgresConnection)
        with closing(sqlite3.connect(":memory:", uri=True)) as source:
            source.execute("ATTACH ? AS beside", (f"{file.absolute().as_uri()}?mode=ro",))
            database.beside = source
            try:
                yield
            finally:
                database.beside = None

    def explained(self, error: Exception) -> Exception:
        """Return an error of the server as a sentence with its remedy; other errors unchanged."""
        code = error.code if isinstance(error, ServerError) else ""
        for beginning, (made, sentence) in _EXPLAINED.items():
            if code.startswith(beginning):
                _log.error("%s: %s", self.path.name, error)
                return made(said(sentence))
        return error

    def is_in_use(self) -> bool:
        """Return whether another connection is open; one that was just closed is waited for."""
        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'Reading Room' AND pid <> pg_backend_pid()"
        )
        with closing(self._connected(PATIENCE_S)) as connection:
            for _ in range(_CLOSING_S * 10):
                if connection.execute(others).fetchone() == (0,):
                    return False
                connection.run("SELECT pg_sleep(0.1)")
        return True

    def copy_to(self, path: Path) -> None:
        """Refuse: the rows are copied one by one, by a backup or a move."""
        path.unlink()
        raise NotNow(
            t(
                "A store in PostgreSQL is not a file. Make a backup or move it: see "
                "docs/postgresql.md."
            )
        )

    def fold_in(self, patience_s: float, *, quietly: bool = False) -> bool:
        """Free the space of deleted names; return True, because nobody can prevent it."""
        if not quietly:
            with closing(self._connected(patience_s)) as connection:
                for table in ("names", "people", "identities"):
                    connection.run(f"VACUUM {table}")
        return True

    def put_in_place(self, path: Path) -> None:
        """Refuse: a database is not renamed while it is in use."""
        raise NotNow("A store in PostgreSQL cannot be renamed.")

    def journal_again(self) -> None:
        """Do nothing: the server always has a write-ahead log."""

    def _connected(self, patience_s: float, role: str = "") -> "PostgresConnection":
        return PostgresConnection(self._where, patience_s, role)

    def _check_collation(self, connection: "PostgresConnection") -> None:
        ((encoding, collation, letters),) = connection.execute(
            "SELECT pg_encoding_to_char(encoding), datcollate, datctype FROM pg_database "
            "WHERE datname = current_database()"
        )
        if encoding != "UTF8" or {collation, letters} - {"C", "POSIX"}:
            raise BadInput(
                f"The database {self.path.name} sorts text by the rules of a language "
                f"({collation}, {encoding}). Create it with: CREATE DATABASE {self.path.name} "
                "TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
            )

    def _make_roles(self, connection: "PostgresConnection") -> None:
        for ending in ("staff", "desk"):
            role = _role(self._user, ending)
            known = "SELECT 1 FROM pg_roles WHERE rolname = :role"
            name = role.strip('"').replace('""', '"')
            if not connection.execute(known, {"role": name}).fetchone():
                try:
                    connection.run(f"CREATE ROLE {role} NOLOGIN")
                except ServerError as error:
                    raise StudyError(
                        f"The account {self._user} may not create roles. Run as an administrator "
                        f"of the server: CREATE ROLE {role} NOLOGIN; GRANT {role} TO "
                        f'"{self._user}"'
                    ) from error
                connection.run(f'GRANT {role} TO "{self._user}"')

    def _grant(self, connection: "PostgresConnection") -> None:
        """Let the roles do what each may do with each table, and nothing else."""
        staff, desk = (_role(self._user, ending) for ending in ("staff", "desk"))
        written_once = {*schema.REMOVED_WITH_STUDY, *schema.REMOVED_WITH_BANK}
        connection.run(f"GRANT USAGE ON SCHEMA {_SCHEMA} TO {staff}, {desk}")
        connection.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA {_SCHEMA} TO {staff}")
        connection.run(f"GRANT DELETE ON write_lock TO {staff}, {desk}")
        for table in dialect.tables():
            is_sealed = table in schema.SEALED_TABLES
            rights = "INSERT, DELETE" if table in written_once else "INSERT, UPDATE, DELETE"
            connection.run(f"GRANT {rights} ON {table} TO {staff}")
            if not is_sealed:
                connection.run(f"GRANT SELECT, {rights} ON {table} TO {desk}")
        views = ", ".join((*schema.SHOWN_VIEWS.values(), "item_films", "folded_characters"))
        connection.run(f"GRANT SELECT ON {views} TO {desk}")


class ServerError(sqlite3.OperationalError):
    """An error of the server with its code (SQLSTATE); 08000 if it cannot be reached."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Result:
    """The rows of a statement."""

    def __init__(self, rows: list[list[Any]] | None, names: list[str], changed: int) -> None:
        self._rows = iter(rows or ())
        self.description = [(name,) for name in names]
        self.rowcount = changed
        self.lastrowid: int | None = None

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, or None."""
        row = next(self._rows, None)
        return None if row is None else tuple(row)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows."""
        return map(tuple, self._rows)


class PostgresConnection:
    """A connection that runs SQL in the dialect of SQLite; one thread at a time may use it."""

    dialect = "postgres"

    def __init__(self, where: Mapping[str, Any], patience_s: float, role: str) -> None:
        self._where, self._patience_s, self._role = where, patience_s, role
        self.in_transaction = False
        self.beside: sqlite3.Connection | None = None
        self._open()

    @property
    def conn(self) -> "PostgresConnection":
        """Return itself, as sqlite-utils returns its connection."""
        return self

    def _open(self) -> None:
        self._process = os.getpid()
        self._prepared: OrderedDict[Any, pg.PreparedStatement] = OrderedDict()
        patience_ms = max(1, round(self._patience_s * 1000))
        settings = {
            "search_path": _SCHEMA,
            "synchronous_commit": "on",
            "lock_timeout": str(patience_ms),
            "tcp_keepalives_idle": "20",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            "jit": "off",
        }
        with _as_sqlite():
            self._pg = pg.Connection(
                **self._where,
                timeout=_CONNECT_S,
                application_name="Reading Room",
                startup_params=settings,
            )
            self._pg._usock.settimeout(None)  # only connecting is limited
            for oid, read in ((_BOOLEAN, _truth), (_NUMERIC, _number), (_JSON, str)):
                self._pg.register_in_adapter(oid, read)
            if self._role:
                self._pg.run(f"SET ROLE {self._role}")

    def execute(self, sql: str, values: Any = (), /) -> Result:
        """Run one statement of SQLite's dialect with named values."""
        if sql.startswith("BEGIN"):
            return self._begin(sql)
        if sql in ("COMMIT", "ROLLBACK"):
            self.in_transaction = False
        if self.beside and (match := _FROM_BESIDE.fullmatch(sql)):
            self.copy(match[1], match[2].split(", "), self.beside.execute(match[3]))
            return Result(None, [], -1)
        statement = dialect.translated(sql)
        if statement.startswith(("CREATE", "SET", "COMMIT", "ROLLBACK", "ALTER")):
            self.run(statement)
            return Result(None, [], -1)
        insert = _INSERT.match(statement)
        table = dialect.tables().get(insert[1]) if insert else None
        key = table.key[0] if table and table.is_numbered_by_key else ""
        if insert and key and "ON CONFLICT" not in statement:
            statement += f" RETURNING {key}"
        result = self._run_prepared(statement, dict(values), untyped=bool(insert))
        if insert and result.description:
            (result.lastrowid,) = result.fetchone() or (None,)
        return result

    def executemany(self, sql: str, rows: Iterable[Any], /) -> None:
        """Insert many rows."""
        match = _INSERT_MANY.fullmatch(sql)
        if match is None:
            raise ValueError(f"only rows to insert can be many: {sql}")
        self.copy(match[1], tuple(match[2].split(", ")), rows)

    def copy(self, table: str, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
        """Insert many rows of values in the order of `names`."""
        sql, remaining = f"COPY {table} ({', '.join(names)}) FROM STDIN", iter(rows)
        while batch := [_copied(row) for row in islice(remaining, _BATCH)]:
            with _as_sqlite():
                self._pg.run(sql, stream=("".join(batch),))

    def run(self, sql: str) -> None:
        """Run statements of PostgreSQL's dialect without values."""
        with _as_sqlite():
            self._pg.execute_simple(sql)

    def close(self) -> None:
        """Close the connection; one that another process opened stays open there."""
        if self._process == os.getpid():
            try:
                self._pg.close()
            except pg.Error:
                return
        else:
            self._pg._usock.close()

    def _begin(self, sql: str) -> Result:
        statement = dialect.translated(sql)
        if self._process != os.getpid():
            self.close()
            self._open()
        try:
            self.run(statement)
        except ServerError as error:
            if not error.code.startswith(("08", "57P")):
                self._pg.execute_simple("ROLLBACK")
                raise
            self.close()  # the server was restarted since the last transaction
            self._open()
            self.run(statement)
        self.in_transaction = True
        return Result(None, [], -1)

    def _run_prepared(self, sql: str, values: dict[str, Any], *, untyped: bool) -> Result:
        plain, types = {}, {}
        for name, value in values.items():
            plain[name], types[name] = _plain(value)
        declared = None if untyped else types
        key = (sql, tuple(types.items()) if declared else None)
        with _as_sqlite(sql):
            prepared = self._prepared.pop(key, None)
            if prepared is None:
                prepared = pg.PreparedStatement(self._pg, sql, types=declared)
                if len(self._prepared) >= _MOST_PREPARED:
                    self._prepared.popitem(last=False)[1].close()
            self._prepared[key] = prepared
            rows = prepared.run(**plain)
            names = [column["name"] for column in prepared.cols or ()]
            return Result(rows, names, prepared._context.row_count)


_INSERT = re.compile(r"INSERT INTO (\w+) \([\w, ]+\) VALUES ")
_FROM_BESIDE = re.compile(r"INSERT INTO (?:main\.)?(\w+) \(([\w, ]+)\) (SELECT .* FROM beside\..*)")
_INSERT_MANY = re.compile(r"INSERT INTO (\w+) \(([\w, ]+)\) VALUES \([?, ]+\)")


def _plain(value: Any) -> tuple[str | None, int]:
    """Return a value as text, and its type."""
    if value is None:
        return None, _ANY
    if isinstance(value, str):
        if "\0" in value:
            raise BadInput(
                t(
                    "The text contains a NUL character (U+0000), which PostgreSQL cannot store. "
                    "Remove it."
                )
            )
        return str(value), _TEXT
    if isinstance(value, float):
        if isnan(value):
            return None, _ANY
        return repr(value).removesuffix(".0"), _DOUBLE
    return str(int(value)), _BIGINT


_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _copied(row: Iterable[Any]) -> str:
    """Return a line of COPY."""
    texts = (_plain(value)[0] for value in row)
    return "\t".join("\\N" if text is None else text.translate(_ESCAPED) for text in texts) + "\n"


def _truth(text: str) -> int:
    return int(text == "t")


def _number(text: str) -> int | float:
    return float(text) if "." in text or "e" in text.lower() else int(text)


def _role(user: str, ending: str) -> str:
    escaped = user.replace('"', '""')
    return f'"{escaped}_{ending}"'


def _exists(connection: PostgresConnection) -> bool:
    rows = connection.execute(
        "SELECT 1 FROM pg_class WHERE relname = 'store_version' "
        f"AND relnamespace = to_regnamespace('{_SCHEMA}')"
    )
    return rows.fetchone() is not None


def _own_statements() -> Iterator[str]:
    yield from dialect.statements(files(__package__).joinpath("postgres.sql").read_text("utf-8"))


def _tls(options: Mapping[str, str]) -> Any:
    mode = options.get("sslmode", "prefer")
    if mode == "disable":
        return False
    if mode in ("verify-full", "verify-ca"):
        context = ssl.create_default_context(cafile=options.get("sslrootcert"))
        context.check_hostname = mode == "verify-full"
        return context
    return True if mode == "require" else None


@contextmanager
def _as_sqlite(sql: str = "") -> Iterator[None]:
    """Raise the errors of the driver as those of sqlite3; a wrong statement is quoted."""
    try:
        yield
    except pg.DatabaseError as error:
        fields = error.args[0] if isinstance(error.args[0], dict) else {}
        code, message = fields.get("C", ""), fields.get("M", str(error))
        if code.startswith(("22", "23")):
            raise sqlite3.IntegrityError(message) from error
        raise ServerError(f"{message}: {sql}" if code[:2] == "42" else message, code) from error
    except (pg.InterfaceError, OSError) as error:
        raise ServerError(str(error), "08000") from error


_BUSY = later("The database is busy. Try again in a moment.")
_AWAY = later("The database cannot be reached. Try again in a moment.")
_EXPLAINED: dict[str, tuple[type[StudyError], str]] = {
    "55P03": (Busy, _BUSY),
    "40": (Busy, _BUSY),
    "08": (Busy, _AWAY),
    "57P": (Busy, _AWAY),
    "53300": (Busy, _BUSY),
    "53100": (
        StudyError,
        later("The database cannot be written: the disk is full. Free some space and try again."),
    ),
    "25006": (StudyError, later("The database cannot be written: it is read-only.")),
    "28": (
        StudyError,
        later("The database refuses the account. Check the user and password of its address."),
    ),
    "3D000": (StudyError, later("There is no such database. Check its address.")),
    "42P01": (BrokenStore, later("The database is incomplete. Restore it from a backup.")),
    "42703": (BrokenStore, later("The database is incomplete. Restore it from a backup.")),
}
