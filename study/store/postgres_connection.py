"""A connection to a PostgreSQL server through pg8000, which runs SQL in the dialect of SQLite.

Errors are those of `sqlite3`, so that the modules of the store handle only one set.
"""

import os
import re
import socket
import sqlite3
import struct
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from math import isnan
from typing import Any

import pg8000.native as pg
from pg8000.core import ERROR_RESPONSE

from study.base.errors import BadInput
from study.base.translation import t
from study.store import dialect
from study.store.postgres_silence import SILENT, ServerError, Silence

SCHEMA = "reading_room"
"""The schema of the tables within a database."""

_CONNECT_S = 10.0
_CONNECT_AMONG_SEVERAL_S = 3.0
_EXTRA_WAIT_S = 0.5
"""How much longer than the server's limit the program waits before it abandons a statement."""

_BEGIN_S = 5.0
"""How long a transaction without another limit waits to begin, in addition to waiting for locks.

Its connection may have been idle for so long that a firewall has dropped it.
"""

_KEEPALIVE = {
    "TCP_KEEPIDLE": 20,
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 35_000,
}
"""Socket options for both sides; a lost connection is detected after 35 seconds."""

_READ_ONLY = ("in_hot_standby", "default_transaction_read_only")
"""Settings that a server reports to each connection; one of them is on if it is read-only."""

_FINAL_SEVERITIES = ("FATAL", "PANIC")
"""The severity of errors with which the server ends a connection."""

_MOST_PREPARED = 400
_BATCH = 5000
_STREAM_BATCH = 1000
_BIGINT, _DOUBLE, _TEXT, _NUMERIC, _BOOLEAN, _JSON = 20, 701, 25, 1700, 16, 114
_DERIVED_TYPE = 0
"""The type number with which the server derives a value's type from the statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a connection waits, in seconds.

    Attributes
    ----------
    lock_s : float
        The limit for waiting for a lock of another transaction.
    idle_s : float
        The limit within a transaction until the program's next statement. The server then ends the
        transaction, because a suspended program would hold its locks forever.
    answer_s : float or None
        The limit for the server's answer to a statement; None for no limit. The program measures
        this time, too, because a suspended server cannot.
    silence : Silence or None
        Shared by the connections that have `answer_s`.
    """

    lock_s: float
    idle_s: float
    answer_s: float | None = None
    silence: Silence | None = None


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


class Stream:
    """The rows of a query, which the server keeps until they are read or the transaction ends."""

    _names = count()

    def __init__(self, connection: "PostgresConnection", sql: str, values: dict[str, Any]) -> None:
        self._connection, self._name = connection, f"stream_{next(self._names)}"
        connection.run_once(f"DECLARE {self._name} NO SCROLL CURSOR FOR {sql}", values)
        self._rows = self._next()

    @property
    def description(self) -> list[tuple[str]]:
        """Return a tuple for each column, which begins with its name."""
        return self._rows.description

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows."""
        while True:
            n_rows = 0
            for row in self._rows:
                n_rows += 1
                yield row
            if n_rows < _STREAM_BATCH:
                self._connection.run(f"CLOSE {self._name}")
                return
            self._rows = self._next()

    def _next(self) -> Result:
        return self._connection.run_once(f"FETCH {_STREAM_BATCH} FROM {self._name}", {})


class PostgresConnection:
    """A connection that runs SQL in the dialect of SQLite; one thread at a time may use it."""

    dialect = "postgres"

    def __init__(self, address: Mapping[str, Any], limits: Limits, role: str = "") -> None:
        self._address, self._limits, self._role = address, limits, role
        self.in_transaction = False
        self.attached_file: sqlite3.Connection | None = None
        self._n_copied: Counter[str] = Counter()
        with self._detecting_silence():
            self._open()

    @property
    def conn(self) -> "PostgresConnection":
        """Return the object itself; in sqlite-utils, this is the wrapped connection."""
        return self

    def _open(self) -> None:
        self._process = os.getpid()
        self._prepared: OrderedDict[Any, pg.PreparedStatement] = OrderedDict()
        limits = self._limits
        settings = {
            "search_path": f"{SCHEMA}, pg_temp",
            "synchronous_commit": "on",
            "lock_timeout": _milliseconds(limits.lock_s),
            # A backup or an import may take long.
            "statement_timeout": "0" if limits.answer_s is None else _milliseconds(limits.answer_s),
            "idle_in_transaction_session_timeout": _milliseconds(limits.idle_s),
            "tcp_user_timeout": str(_KEEPALIVE["TCP_USER_TIMEOUT"]),
            "tcp_keepalives_idle": str(_KEEPALIVE["TCP_KEEPIDLE"]),
            "tcp_keepalives_interval": str(_KEEPALIVE["TCP_KEEPINTVL"]),
            "tcp_keepalives_count": str(_KEEPALIVE["TCP_KEEPCNT"]),
            "jit": "off",
            "cursor_tuple_fraction": "1",  # all rows of a stream are read
        }
        with _raising_sqlite_errors():
            self._pg = _connect_to_first(self._address, settings, limits.answer_s or _CONNECT_S)
            # pg8000's connections are reference cycles: sockets stay open until garbage collection.
            self._socket_closed = weakref.finalize(self, _close_socket, self._pg._usock)
            self._socket_closed.atexit = False
            try:
                self._set_up()
            except BaseException:
                self.close()
                raise

    def _set_up(self) -> None:
        answer_s = self._limits.answer_s
        self._pg._usock.settimeout(None if answer_s is None else answer_s + _EXTRA_WAIT_S)
        is_local = self._pg._usock.family == socket.AF_UNIX
        for name, value in () if is_local else _KEEPALIVE.items():
            if option := getattr(socket, name, None):  # macOS lacks some
                self._pg._usock.setsockopt(socket.IPPROTO_TCP, option, value)
        for oid, read in (
            (_BOOLEAN, lambda text: int(text == "t")),
            (_NUMERIC, _parse_number),
            (_JSON, str),
        ):
            self._pg.register_in_adapter(oid, read)
        self._pg.message_types[ERROR_RESPONSE] = partial(
            _handle_error, self._pg.handle_ERROR_RESPONSE
        )
        self._set_role()

    def execute(self, sql: str, values: Any = (), /) -> Result:
        """Run one statement in SQLite's dialect with named values."""
        if sql.startswith("BEGIN"):
            return self._begin(sql)
        if sql in ("COMMIT", "ROLLBACK"):
            self.in_transaction = False
        if self.attached_file and (match := _INSERT_FROM_ATTACHED.fullmatch(sql)):
            self.copy(match[1], match[2].split(", "), self.attached_file.execute(match[3]))
            return Result(None, [], -1)
        statement = dialect.to_postgres(sql)
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

    def stream(self, sql: str, values: Any = (), /) -> "Stream | Result":
        """Run a query and fetch its rows in batches, so that they are not all in memory."""
        if not sql.startswith(("SELECT", "WITH")):
            return self.execute(sql, values)
        return Stream(self, dialect.to_postgres(sql), dict(values))

    def executemany(self, sql: str, rows: Iterable[Any], /) -> None:
        """Insert many rows."""
        match = _INSERT_MANY.fullmatch(sql)
        if match is None:
            raise ValueError(f"only rows to insert can be many: {sql}")
        self.copy(match[1], tuple(match[2].split(", ")), rows)

    def copy(self, table: str, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
        """Insert many rows of values in the order of `names`."""
        sql, remaining = f"COPY {table} ({', '.join(names)}) FROM STDIN", iter(rows)
        while batch := [_copy_line(row) for row in islice(remaining, _BATCH)]:
            with _raising_sqlite_errors():
                self._pg.run(sql, stream=("".join(batch),))
            self._n_copied[table] += len(batch)
        if self._n_copied[table] >= _BATCH:
            self._analyze(table)

    def _analyze(self, table: str) -> None:
        """Update a table's statistics now, as its owner: without them, queries can take minutes."""
        self._n_copied[table] = 0
        self.run(f"RESET ROLE; ANALYZE {table}")
        self._set_role()

    def _set_role(self) -> None:
        if self._role:
            try:
                self.run(f"SET ROLE {pg.identifier(self._role)}")
            except sqlite3.DatabaseError as error:  # no such role, or the account is not a member
                if getattr(error, "code", "42501") != "42501":
                    raise
                raise ServerError(str(error), "28000") from error

    def run_once(self, sql: str, values: dict[str, Any]) -> Result:
        """Run a statement in PostgreSQL's dialect with named values, without caching it."""
        texts, types = _values_and_types(values)
        with _raising_sqlite_errors(sql):
            rows = self._pg.run(sql, types=types, **texts)
            names = [column["name"] for column in self._pg.columns or ()]
            return Result(rows, names, self._pg.row_count)

    def run(self, sql: str) -> list[list[Any]]:
        """Run statements in PostgreSQL's dialect without values, and return their rows."""
        with _raising_sqlite_errors():
            return self._pg.execute_simple(sql).rows or []

    def close(self) -> None:
        """Close the connection.

        A connection that another process opened remains open in that process.
        """
        if self._process == os.getpid():
            with suppress(pg.Error):
                self._pg.close()
        self._socket_closed()

    def _detecting_silence(self) -> AbstractContextManager[None]:
        silence = self._limits.silence
        return silence.trying() if silence else nullcontext()

    def _begin(self, sql: str) -> Result:
        with self._detecting_silence():
            return self._begin_or_reconnect(sql)

    def _begin_or_reconnect(self, sql: str) -> Result:
        statement = dialect.to_postgres(sql)
        if self._process != os.getpid():
            self.close()
            self._open()
        try:
            rows = self._run_begin_statement(statement, sql == "BEGIN")
        except ServerError as error:
            if not error.is_final:
                self._pg.execute_simple("ROLLBACK")
                raise
            if error.code == SILENT and self._limits.answer_s is not None:
                raise
            self.close()  # the server was restarted or disconnected since the last transaction
            self._open()
            rows = self.run(statement)
        self.in_transaction = True
        return Result(rows, ["version"], -1)

    def _run_begin_statement(self, statement: str, is_unlocked: bool) -> list[list[Any]]:
        if self._limits.answer_s is not None:
            return self.run(statement)
        self._pg._usock.settimeout(_BEGIN_S + (0.0 if is_unlocked else self._limits.lock_s))
        rows = self.run(statement)
        self._pg._usock.settimeout(None)
        return rows

    def _run_prepared(self, sql: str, values: dict[str, Any], *, untyped: bool) -> Result:
        texts, types = _values_and_types(values)
        declared = None if untyped else types
        key = (sql, tuple(types.items()) if declared else None)
        with _raising_sqlite_errors(sql):
            prepared = self._prepared.pop(key, None)
            if prepared is None:
                prepared = pg.PreparedStatement(self._pg, sql, types=declared)
                if len(self._prepared) >= _MOST_PREPARED:
                    self._prepared.popitem(last=False)[1].close()
            self._prepared[key] = prepared
            rows = prepared.run(**texts)
            names = [column["name"] for column in prepared.cols or ()]
            return Result(rows, names, prepared._context.row_count)


_INSERT = re.compile(r"INSERT INTO (\w+) \([\w, ]+\) VALUES ")
_INSERT_FROM_ATTACHED = re.compile(
    r"INSERT INTO (?:main\.)?(\w+) \(([\w, ]+)\) (SELECT .* FROM beside\..*)"
)
_INSERT_MANY = re.compile(r"INSERT INTO (\w+) \(([\w, ]+)\) VALUES \([?, ]+\)")


def _handle_error(handle: Callable[[Any, Any], None], data: Any, context: Any) -> None:
    """Raise an error with which the server ends the connection; pg8000 would continue to wait."""
    handle(data, context)
    if _fields(context.error).get("V") in _FINAL_SEVERITIES:
        raise context.error


def _close_socket(sock: socket.socket) -> None:
    """Close this process's descriptor of a socket, even if a file object refers to it."""
    if (descriptor := sock.detach()) >= 0:
        os.close(descriptor)


def _values_and_types(values: dict[str, Any]) -> tuple[dict[str, str | None], dict[str, int]]:
    """Return named values as texts, and their types."""
    texts, types = {}, {}
    for name, value in values.items():
        texts[name], types[name] = _text_and_type(value)
    return texts, types


def _text_and_type(value: Any) -> tuple[str | None, int]:
    """Return a value as text, and its type."""
    if value is None:
        return None, _DERIVED_TYPE
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
            return None, _DERIVED_TYPE
        return repr(value).removesuffix(".0"), _DOUBLE
    return str(int(value)), _BIGINT


_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _copy_line(row: Iterable[Any]) -> str:
    """Return a row as a line of input for COPY."""
    texts = (_text_and_type(value)[0] for value in row)
    return "\t".join("\\N" if text is None else text.translate(_ESCAPED) for text in texts) + "\n"


def _parse_number(text: str) -> int | float:
    return float(text) if "." in text or "e" in text.lower() else int(text)


@contextmanager
def _raising_sqlite_errors(sql: str = "") -> Iterator[None]:
    """Convert the driver's errors to those of sqlite3, and quote an invalid statement."""
    try:
        yield
    except pg.DatabaseError as error:
        fields = _fields(error)
        code, message = fields.get("C", ""), fields.get("M", str(error))
        if code.startswith(("22", "23")):
            raise sqlite3.IntegrityError(message) from error
        quoted = f"{message}: {sql}" if sql and code.startswith("42") else message
        raise ServerError(quoted, code, is_final=fields.get("V") in _FINAL_SEVERITIES) from error
    except (pg.InterfaceError, OSError) as error:
        code = SILENT if _is_silence(error) else "08000"
        raise ServerError(str(error), code, is_final=True) from error


def _is_silence(error: Exception) -> bool:
    """Return whether the socket's own limit has passed, not one of the system (ETIMEDOUT)."""
    return any(
        isinstance(each, TimeoutError) and each.errno is None for each in (error, error.__cause__)
    )


def _milliseconds(seconds: float) -> str:
    """Return a limit in milliseconds, at least 1: the server reads 0 as no limit."""
    return str(max(1, round(seconds * 1000)))


def _connect_to_first(
    address: Mapping[str, Any], settings: dict[str, str], patience_s: float
) -> pg.Connection:
    """Connect to the only server, or to the first of several that accepts changes."""
    hosts, account = address["hosts"], {name: address[name] for name in address if name != "hosts"}
    is_only, failures = len(hosts) == 1, []
    for host in hosts:
        try:
            opened = connect(
                **account,
                **host,
                timeout=patience_s if is_only else min(patience_s, _CONNECT_AMONG_SEVERAL_S),
                application_name="Reading Room",
                startup_params=settings,
            )
        except (pg.Error, OSError) as error:
            if is_only or _fields(error).get("C", "57P03") != "57P03":
                raise
            failures.append(str(_fields(error).get("M", error)))
            continue
        if is_only or all(opened.parameter_statuses.get(name) == "off" for name in _READ_ONLY):
            return opened
        opened.close()
        failures.append(f"{host['host']}:{host['port']} accepts no changes")
    raise pg.InterfaceError("; ".join(failures))


def connect(
    user: str, *, host: str, port: int, timeout: float, unix_sock: str | None = None, **account: Any
) -> pg.Connection:
    """Connect to a server within `timeout` seconds, and close the socket if that fails.

    pg8000 does not close its own socket if the server stops while the connection is made.

    Raises
    ------
    OSError
        The server cannot be reached.
    pg8000.native.Error
        The server refuses the connection, or is not a PostgreSQL server.
    """
    sock = None
    try:
        if unix_sock:
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(timeout)
            sock.connect(unix_sock)
        else:
            sock = socket.create_connection((host, port), timeout)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as libpq does
        return pg.Connection(user, host=host, sock=sock, **account)
    except BaseException as error:
        if sock:
            _close_socket(sock)
        if isinstance(
            error, LookupError | ValueError | struct.error
        ):  # the bytes received are no messages
            raise pg.InterfaceError(f"{host}:{port} is not a PostgreSQL server") from error
        raise


def _fields(error: Exception) -> dict[str, str]:
    """Return the fields of a server message by their letters."""
    return error.args[0] if isinstance(error.args[0], dict) else {}
