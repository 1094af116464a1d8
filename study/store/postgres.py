"""The engine for networks of sites: a store in a PostgreSQL database, through pg8000.

The tables belong to the account that creates them. Transactions run as one of two roles that have
its name and an ending: ``_staff`` can read every table, ``_desk`` all except the sealed tables;
neither can change rows of append-only tables. Readers' connections sign in as ``_desk``, so that no
statement can give them the rights of another role; the others set their role. Writers follow one
another, each in a serializable transaction, as with SQLite, so that the chains of events never
fork.
"""

import logging
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path

import pg8000.native as pg

from study.base.errors import BadInput, BrokenStore, Busy, NotFound, NotNow, StudyError
from study.base.text import forms_for_comparison
from study.base.translation import later, t, translated
from study.store import dialect, engine, postgres_rights, schema, sqlite
from study.store.address import ServerAddress, settings_of
from study.store.connection import Transaction
from study.store.engine import PATIENCE_S, Kind
from study.store.moving import copy_rows
from study.store.postgres_connection import (
    SCHEMA,
    Limits,
    PostgresConnection,
)
from study.store.postgres_silence import ServerError, Silence

FILES = "READING_ROOM_FILES"
"""The environment variable with the folder of the deployment's files."""

_OLDEST_VERSION = 15
"""The oldest version of PostgreSQL with everything that the store uses."""

_DEFAULT_FILES = Path(__file__).parents[2] / "instance"
_CLOSING_WAIT_S = 3
_READER_IDLE_S = 10.0
"""How long a suspended app server may hold the write lock for a reader, in seconds."""

_STAFF_IDLE_S = 60.0
"""The limit for staff; an import reads files for a few seconds between two statements."""

_READING_IDLE_S = 3600.0
"""The limit for transactions that do not block others, such as those of backups and moves."""

_ANSWER_S = 1.0
"""How much longer a time-limited statement may take than it waits for locks, in seconds."""

_END_STALLED_QUERY = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database()
AND application_name = 'Reading Room' AND state = 'active' AND wait_event = 'ClientRead'
AND query_start < now() - make_interval(secs => :idle_s) AND pid <> pg_backend_pid()
"""
"""Ends statements of programs that were suspended while they sent rows.

The server does not consider such a program idle.
"""

_UPGRADE_S = 3600.0
"""How long a server waits while another one upgrades the store, in seconds."""

_log = logging.getLogger("reading_room.store")


class Postgres:
    """The engine of a PostgreSQL database.

    Parameters
    ----------
    address
        ``postgresql://user:password@host:port/database``. A missing password is taken from the
        environment variable ``PGPASSWORD``. Of several hosts, separated by commas, the first that
        accepts changes is used. ``?sslmode=verify-full`` checks the server's certificate, with
        ``&sslrootcert=FILE`` against that authority; by default TLS is used if the server offers
        it. ``?host=/run/postgresql`` names a folder of sockets.
    """

    errors: tuple[type[Exception], ...] = (sqlite3.DatabaseError,)

    def __init__(self, address: str) -> None:
        self.address = ServerAddress(address)
        self._settings = settings_of(self.address)
        self._user: str = self._settings["user"]
        self._silence = Silence()
        self.path = Path(os.environ.get(FILES) or _DEFAULT_FILES) / self._settings["database"]

    def create(self, fill: Callable[[engine.Database], None]) -> None:
        """Create the tables and roles in an empty database in one transaction, unless they exist.

        If they exist, rights that the roles have lost are granted again.

        Raises
        ------
        StudyError
            The folder of the files cannot be created.
        BadInput
            The server is too old, or the database sorts text by a language or has another encoding
            than UTF-8.
        StudyError
            The account may not create roles, and they do not exist.
        """
        self._make_folder()
        with closing(self._connect(PATIENCE_S)) as connection:
            self._check_server(connection)
            _begin_exclusively(connection)
            if not self._exists(connection):
                postgres_rights.make_roles(connection, self._user, self._settings["password"])
                self._make_schema(connection)
                for statement in _own_statements():
                    connection.run(statement)
                connection.run(f"INSERT INTO store_version VALUES ({schema.FIRST_VERSION})")
                names = ("symbol", "folded", "lowered")
                connection.copy("folded_characters", names, forms_for_comparison())
                schema.create(connection)  # type: ignore[arg-type]
                postgres_rights.grant_rights(connection, self._user)
                fill(connection)
            elif schema.version(connection) == schema.newest():  # type: ignore[arg-type]
                postgres_rights.grant_rights(connection, self._user)
            connection.execute("COMMIT")

    def check_and_upgrade(self) -> None:
        """Check that the database is a store, and upgrade it to the version of this program.

        Raises
        ------
        NotFound
            The database has no store.
        BrokenStore
            The store has a version that is not supported.
        StudyError
            Another account owns the store.
        """
        self._make_folder()
        with closing(self._connect(PATIENCE_S)) as connection:
            if not self._exists(connection):
                raise NotFound(
                    f"There is no store in the database {self.path.name}. Make one with: "
                    "python -m study init --db ADDRESS"
                )
            self._check_server(connection)
            number = schema.version(connection)  # type: ignore[arg-type]
            schema.check_version(number, self.path.name)
            if number == schema.newest() and postgres_rights.lacks_version(connection, self._user):
                _begin_exclusively(connection)  # the store is older than this right
                postgres_rights.grant_rights(connection, self._user)
                connection.execute("COMMIT")
        if number < schema.newest():
            self._upgrade()

    def is_writable(self, database: engine.Database) -> bool:
        """Return whether the server accepts changes, which a standby does not."""
        ((setting,),) = database.execute("SELECT current_setting('transaction_read_only')")
        return bool(setting == "off")

    def is_full(self, error: Exception) -> bool:
        """Return whether the server, the database or the account has too many connections."""
        return getattr(error, "code", "") == "53300"

    def open_connection(self, kind: Kind) -> PostgresConnection:
        """Open a connection with the rights of its kind."""
        idle_s = _STAFF_IDLE_S if kind.writes else _READING_IDLE_S
        limits = Limits(
            lock_s=kind.patience_s,
            idle_s=_READER_IDLE_S if kind.sealed else idle_s,
            answer_s=kind.patience_s + _ANSWER_S if kind.is_time_limited else None,
            silence=self._silence if kind.is_time_limited else None,
        )
        if kind.sealed:
            desk = {**self._settings, "user": postgres_rights.role_name(self._user, "desk")}
            return PostgresConnection(desk, limits)
        staff = postgres_rights.role_name(self._user, "staff")
        return PostgresConnection(self._settings, limits, staff)

    @contextmanager
    def keep_open(self) -> Iterator[None]:
        """Check that readers can be served; the server itself stays open."""
        with closing(self._connect(PATIENCE_S)) as connection:
            postgres_rights.check_desk(connection, self._user)
        self.open_connection(Kind(sealed=True, writes=False, patience_s=PATIENCE_S)).close()
        yield

    @contextmanager
    def attach(self, database: engine.Database, file: Path) -> Iterator[None]:
        """Make a SQLite file's tables readable within a transaction as `beside.items` etc."""
        assert isinstance(database, PostgresConnection)
        with closing(sqlite3.connect(":memory:", uri=True)) as source:
            source.execute("ATTACH ? AS beside", (f"{file.absolute().as_uri()}?mode=ro",))
            database.attached_file = source
            try:
                yield
            finally:
                database.attached_file = None

    def explain_error(self, error: Exception) -> Exception:
        """Return a server error as a sentence with its remedy; return other errors unchanged.

        Readers and signed-out visitors see it too, so only a note for commands contains the
        address.
        """
        code = error.code if isinstance(error, ServerError) else ""
        fault = self._explanation(code, error)
        if fault is not error:
            _log.error("%s: %s", self.path.name, error)
            fault.add_note(f"{self.address}: {error}")
        return fault

    def _explanation(self, code: str, error: Exception) -> Exception:
        refused = re.findall(r"\w+", str(error).partition(":")[0])
        if code == "42501" and _RESTRICTED_TABLES.intersection(refused):
            return error
        for beginning, (fault, sentence) in _EXPLANATIONS.items():
            if code.startswith(beginning):
                return fault(translated(sentence))
        return Busy(translated(_UNREACHABLE)) if getattr(error, "is_final", False) else error

    def is_in_use(self) -> bool:
        """Return whether another connection is open, after waiting for those just closed."""
        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'Reading Room' AND pid <> pg_backend_pid()"
        )
        with closing(self._connect(PATIENCE_S)) as connection:
            for _ in range(_CLOSING_WAIT_S * 10):
                if connection.execute(others).fetchone() == (0,):
                    return False
                connection.run("SELECT pg_sleep(0.1)")
        return True

    def end_stalled(self) -> int:
        """End the program's own transactions that wait too long for the rest of a statement."""
        with closing(self._connect(PATIENCE_S)) as connection:
            result = connection.run_once(_END_STALLED_QUERY, {"idle_s": _STAFF_IDLE_S})
            (n_ended,) = result.fetchone() or (0,)
        return int(n_ended)

    def copy_to(self, path: Path) -> None:
        """Refuse: a backup or a move copies the rows one by one."""
        path.unlink()
        raise NotNow(
            t(
                "A store in PostgreSQL is not a file. Make a backup or move it: see "
                "docs/postgresql.md."
            )
        )

    def checkpoint(self, patience_s: float, *, quietly: bool = False) -> bool:
        """Free the space of deleted names.

        Return True, because no other connection can prevent it.
        """
        if not quietly:
            with closing(self._connect(patience_s)) as connection:
                for table in ("names", "people", "identities"):
                    connection.run(f"VACUUM {table}")
        return True

    def rename_to(self, path: Path) -> None:
        """Refuse: a database cannot be renamed while it is in use."""
        raise NotNow("A store in PostgreSQL cannot be renamed.")

    def enable_journal(self) -> None:
        """Do nothing: the server always has a write-ahead log."""

    def _connect(self, patience_s: float) -> PostgresConnection:
        return PostgresConnection(self._settings, Limits(lock_s=patience_s, idle_s=_READING_IDLE_S))

    def _make_folder(self) -> None:
        folder = self.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(
                f"The folder {folder} cannot be created: {error.strerror}. Set {FILES} to the "
                "folder of the server's files, see docs/postgresql.md."
            ) from error

    def _exists(self, connection: PostgresConnection) -> bool:
        """Return whether the database has a store, and refuse that of another account."""
        rows = connection.execute(
            "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE relname = 'store_version' "
            f"AND relnamespace = to_regnamespace('{SCHEMA}')"
        )
        (owner,) = rows.fetchone() or (None,)
        if owner not in (None, self._user):
            raise StudyError(
                f"The store in the database {self.path.name} belongs to the account {owner}, not "
                f"to {self._user}. Use the address with {owner}."
            )
        return owner is not None

    def _make_schema(self, connection: PostgresConnection) -> None:
        """Create the schema, after checking that the account owns the database."""
        ((is_owner, name),) = connection.execute(
            "SELECT pg_has_role(datdba, 'USAGE'), quote_ident(datname) FROM pg_database "
            "WHERE datname = current_database()"
        )
        if not is_owner:
            raise StudyError(
                f"The account {self._user} does not own the database {self.path.name}, so it may "
                "not create the tables. Run as an administrator of the server: ALTER DATABASE "
                f"{name} OWNER TO {pg.identifier(self._user)}"
            )
        connection.run(f"CREATE SCHEMA {SCHEMA}")

    def _check_server(self, connection: PostgresConnection) -> None:
        ((version, encoding, collation, character_type),) = connection.execute(
            "SELECT current_setting('server_version'), pg_encoding_to_char(encoding), datcollate, "
            "datctype FROM pg_database WHERE datname = current_database()"
        )
        if int(re.split(r"\D", version)[0]) < _OLDEST_VERSION:
            raise BadInput(
                f"The database server is PostgreSQL {version}. "
                f"Use version {_OLDEST_VERSION} or later."
            )
        if encoding != "UTF8" or {collation, character_type} - {"C", "POSIX"}:
            raise BadInput(
                f"The database {self.path.name} sorts text by the rules of a language "
                f"({collation}, {encoding}). Create it with: CREATE DATABASE {self.path.name} "
                "TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
            )

    def _upgrade(self) -> None:
        """Upgrade the store after a copy; other servers that start now wait for it."""
        with closing(self._connect(_UPGRADE_S)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            for statement in _own_statements():
                if statement.startswith("CREATE OR REPLACE"):
                    connection.run(statement)
            schema.migrate(connection, lambda number: self._back_up(connection, number))  # type: ignore[arg-type]
            postgres_rights.grant_rights(connection, self._user)
            connection.execute("COMMIT")

    def _back_up(self, connection: PostgresConnection, number: int) -> None:
        """Copy the store to a SQLite file of its version before an upgrade."""

        def fill(database: engine.Database) -> None:
            copy_rows(Transaction(connection), Transaction(database), number)

        with schema.upgrade_backup_of(self.path, number) as file:
            sqlite.make_store(file, fill, number)
            sqlite.as_single_file(file)


def _begin_exclusively(connection: PostgresConnection) -> None:
    """Begin a transaction once no other server is creating the store or granting rights."""
    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    connection.execute("SELECT pg_advisory_xact_lock(1380085613)")


def _own_statements() -> Iterator[str]:
    yield from dialect.statements(files(__package__).joinpath("postgres.sql").read_text("utf-8"))


_BUSY = later("The database is busy. Try again in a moment.")
_UNREACHABLE = later("The database cannot be reached. Try again in a moment.")
_SUSPENDED = later(
    "The program was suspended for too long in the middle of a change. Nothing of the change was "
    "stored. Try again."
)
_INCOMPLETE = later(
    "The database is incomplete, or its roles have lost rights. Check them as in "
    "docs/postgresql.md, or restore a backup."
)
_RESTRICTED_TABLES = {*schema.SEALED_TABLES, *schema.REMOVED_WITH_STUDY, *schema.REMOVED_WITH_BANK}
"""Tables that the server refuses to a role by design: a refusal is a defect in the program."""
_EXPLANATIONS: dict[str, tuple[type[StudyError], str]] = {
    "28": (
        StudyError,
        later(
            "The database refuses an account. Check the address, and that the roles have the "
            "passwords of docs/postgresql.md."
        ),
    ),
    "55P03": (Busy, _BUSY),
    "40": (Busy, _BUSY),
    "08": (Busy, _UNREACHABLE),
    "57014": (Busy, _BUSY),
    "57": (Busy, _UNREACHABLE),
    "25P03": (Busy, _SUSPENDED),
    "25P": (Busy, _UNREACHABLE),
    "53300": (Busy, _BUSY),
    "53100": (
        StudyError,
        later("The database cannot be written: the disk is full. Free some space and try again."),
    ),
    "25006": (
        StudyError,
        later(
            "The database cannot be written: it is read-only. Use the address of the primary "
            "server."
        ),
    ),
    "3D000": (StudyError, later("There is no such database. Check its address.")),
    "42P06": (
        BadInput,
        later("The database has other tables and was not changed. Name an empty database."),
    ),
    "42501": (
        StudyError,
        later(
            "The database refuses a right that the program needs. Check the rights of its roles "
            "as in docs/postgresql.md."
        ),
    ),
    "42P01": (BrokenStore, _INCOMPLETE),
    "42703": (BrokenStore, later("The database is incomplete. Restore it from a backup.")),
    **dict.fromkeys(
        ("53", "54", "58", "XX"),
        (
            StudyError,
            later("The database server has a fault, which its log describes. Repair it first."),
        ),
    ),
}
