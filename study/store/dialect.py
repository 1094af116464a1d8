"""Translates SQL from the dialect of SQLite, in which the store is written, to PostgreSQL.

Functions without an equivalent in PostgreSQL are defined in ``postgres.sql``. Table definitions are
translated too, so both engines use the same ``schema.sql``. SQLite's row number is the integer key
of the table; tables without one that are read in the order of insertion get a column ``rowid``,
which ``*`` omits.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from study.store import schema

ROWID_TABLES = frozenset(
    {
        "aid_requests",
        "exclusions",
        "identities",
        "practice_readings",
        "preparations",
        "presentations",
        "readings",
    }
)
"""Tables without an integer key that are read in the order of insertion."""

_LITERAL = re.compile(r"'(?:[^']|'')*'")
_LITERAL_PLACEHOLDER = re.compile("\0(\\d+)\0")


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table, and its primary key."""

    columns: tuple[str, ...]
    key: tuple[str, ...]
    is_numbered_by_key: bool
    """Whether SQLite numbers rows that are inserted without a key."""


def tables(number: int | None = None) -> dict[str, Table]:
    """Return the tables of a store by name, for the newest version or an earlier one."""
    return _tables_of_version(schema.MIGRATIONS, number)


@cache
def _tables_of_version(_: tuple[schema.Migration, ...], number: int | None) -> dict[str, Table]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        schema.create(connection, number)
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name: _table(connection, name) for (name,) in names.fetchall()}


def _table(connection: sqlite3.Connection, name: str) -> Table:
    rows = connection.execute(f"PRAGMA table_info({name})").fetchall()
    key = sorted((row for row in rows if row[5]), key=lambda row: int(row[5]))
    return Table(
        columns=tuple(row[1] for row in rows),
        key=tuple(row[1] for row in key),
        is_numbered_by_key=[row[2] for row in key] == ["INTEGER"],
    )


@lru_cache(maxsize=2000)
def to_postgres(sql: str) -> str:
    """Translate a statement to PostgreSQL's dialect; placeholders such as ``:name`` are kept."""
    if pragma := _PRAGMA.fullmatch(sql):
        return _pragma(*pragma.groups())
    if sql in _TRANSACTION:
        return _TRANSACTION[sql]
    sql = _COMMENT.sub("", sql).strip().removesuffix(";")
    if trigger := _TRIGGER.fullmatch(sql):
        return _trigger(*trigger.groups())
    if dropped := _DROP_TRIGGER.fullmatch(sql):
        return f"DROP FUNCTION {dropped[1]}() CASCADE"
    if view := _BARRIER_VIEW.match(sql):
        # Without a barrier, an error in a reader's query could contain a row that is not shown.
        return f"{view[0]}WITH (security_barrier = true) {to_postgres(sql[view.end() :])}"
    literals: list[str] = []

    def replace_literal(match: re.Match[str]) -> str:
        literals.append(match[0])
        return f"\0{len(literals) - 1}\0"

    sql = _LITERAL.sub(replace_literal, sql)
    sql = _GLOB.sub(lambda match: f" ~ {_regular_expression(literals[int(match[1])])}", sql)
    if sql.startswith("CREATE TABLE"):
        sql = _table_definition(sql)
    elif sql.startswith("ALTER TABLE"):
        sql = _with_postgres_types(sql)
    else:
        for pattern, new in _REPLACEMENTS:
            sql = pattern.sub(new, sql)
        table_by_alias = dict.fromkeys(tables(), "") | {
            name: of for of, name in _ALIAS.findall(sql)
        }
        sql = _ROW_NUMBER.sub(partial(_row_number, table_by_alias), sql)
        sql = _order_by_key(sql)
        sql = _STAR.sub(partial(_expand_star, table_by_alias), sql)
        for name, rewrite in _REWRITTEN_CALLS.items():
            sql = _rewrite_calls(sql, name, rewrite)
        sql = _add_aliases(sql)
    return _LITERAL_PLACEHOLDER.sub(lambda match: literals[int(match[1])], sql)


_COMMENT = re.compile(r"(?m)^\s*--.*$")
_TRANSACTION = {
    "BEGIN": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; TABLE store_version",
    # The lock is taken before the transaction's snapshot, so that only one transaction writes.
    "BEGIN IMMEDIATE": (
        "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE write_lock; TABLE store_version"
    ),
}
_PRAGMA = re.compile(r"PRAGMA (\w+)(?:\((\w+)\)| = (\w+))?")


def _pragma(name: str, of: str | None, value: str | None) -> str:
    if name == "table_info":
        return (
            "SELECT attname::text AS name FROM pg_attribute WHERE attrelid = "
            f"'{of}'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'rowid' "
            "ORDER BY attnum"
        )
    if name == "defer_foreign_keys":
        return "SET CONSTRAINTS ALL DEFERRED"
    if name == "user_version":
        return f"UPDATE store_version SET version = {value}" if value else "TABLE store_version"
    raise ValueError(f"PRAGMA {name} is only known to SQLite")


_TRIGGER = re.compile(
    r"CREATE TRIGGER (\w+) BEFORE (INSERT|DELETE|UPDATE(?: OF [\w, ]+?)?)\s+ON (\w+)\s+"
    r"(?:WHEN (.*?)\s*)?BEGIN SELECT RAISE\(ABORT, ('[^']*')\); END",
    re.DOTALL,
)


def _trigger(name: str, verb: str, table: str, when: str | None, message: str) -> str:
    refuse = f"RAISE EXCEPTION USING MESSAGE = {message}, ERRCODE = '23000';"
    if when:
        condition = to_postgres(f"SELECT {when}").removeprefix("SELECT ")
        refuse = f"IF {condition} THEN {refuse} END IF;"
    row = "OLD" if verb == "DELETE" else "NEW"
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN {refuse} RETURN {row}; END $$; "
        f"CREATE TRIGGER {name} BEFORE {verb} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
    )


_BARRIER_VIEW = re.compile(rf"CREATE VIEW ({'|'.join(schema.SHOWN_VIEWS.values())}) ")
_DROP_TRIGGER = re.compile(r"DROP TRIGGER (\w+)")
_TYPES = {"INTEGER": "bigint", "REAL": "double precision", "TEXT": "text", "BLOB": "bytea"}
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b")
_REFERENCE = re.compile(r"(REFERENCES \w+ \([\w, ]+\))")


def _with_postgres_types(sql: str) -> str:
    """Replace SQLite's types in column definitions by those of PostgreSQL."""
    sql = _TYPE.sub(lambda match: _TYPES[match[1]], sql)
    return _REFERENCE.sub(r"\1 DEFERRABLE", sql)


def _table_definition(sql: str) -> str:
    """Return the definition of a table, with the trigger that numbers its rows."""
    name = sql.split()[2]
    body = sql[sql.index("(") + 1 : sql.rindex(")")].rstrip()
    body, number = _with_postgres_types(body), ""
    if name in ROWID_TABLES:
        number, body = "rowid", f"{body},\n    rowid bigint NOT NULL UNIQUE"
    elif body.lstrip().startswith("id bigint PRIMARY KEY"):
        number = "id"
    statement = f"CREATE TABLE {name} ({body}\n)"
    return (
        statement
        if not number
        else (
            f"{statement}; CREATE TRIGGER {name}_{number} BEFORE INSERT ON {name} FOR EACH ROW "
            f"WHEN (new.{number} IS NULL) EXECUTE FUNCTION number_{number}()"
        )
    )


_NOW = "left((clock_timestamp() AT TIME ZONE 'UTC')::text, 19)"
_REPLACEMENTS = (
    (re.compile(r"\bIS NOT (?!NULL\b|DISTINCT\b)"), "IS DISTINCT FROM "),
    (re.compile(r"\bIS (?!NOT\b|NULL\b|DISTINCT\b)"), "IS NOT DISTINCT FROM "),
    (re.compile(r"\bLIKE\b"), "ILIKE"),
    (re.compile(r"\bCROSS JOIN (?=\w+(?: AS \w+)? (?:ON|USING)\b)"), "JOIN "),
    (re.compile(r"\bAS INTEGER\)"), "AS bigint)"),
    (re.compile(r"\bAS REAL\)"), "AS double precision)"),
    (re.compile(r"\bNOT IN \(\)"), "<> ALL ('{}')"),
    (re.compile(r"\bIN \(\)"), "= ANY ('{}')"),
    (re.compile(r"\bmain\."), ""),
    (re.compile(r" (?:NOT INDEXED|INDEXED BY \w+)\b"), ""),
    (re.compile(r"\bCURRENT_TIMESTAMP\b"), _NOW),
)
_GLOB = re.compile(" GLOB \0(\\d+)\0")


def _regular_expression(literal: str) -> str:
    """Translate a GLOB pattern to a regular expression; both use the same character sets."""
    inner = literal[1:-1].removeprefix("*").removesuffix("*")
    start = "" if literal[1:2] == "*" else "^"
    end = "" if literal[-2:-1] == "*" else "$"
    parts = re.split(r"(\[[^]]*\]|\*|\?)", inner)
    wildcards = {"*": ".*", "?": "."}
    translated_parts = (
        wildcards.get(part) or (part if part.startswith("[") else re.escape(part)) for part in parts
    )
    return f"'{start}{''.join(translated_parts)}{end}'"


_ALIAS = re.compile(r"\b(?:FROM|JOIN) (\w+) AS (\w+)")
_ROW_NUMBER = re.compile(r"\b(\w+)\.rowid\b")
_IN_ORDER = re.compile(r"^SELECT .*? FROM (\w+) .* ORDER BY rowid$", re.DOTALL)
_STAR = re.compile(r"\bSELECT \* FROM (\w+)|\b(\w+)\.\*")


def _row_number(table_by_alias: dict[str, str], match: re.Match[str]) -> str:
    table = tables().get(table_by_alias.get(match[1]) or match[1])
    return f"{match[1]}.{table.key[0]}" if table and table.is_numbered_by_key else match[0]


def _order_by_key(sql: str) -> str:
    match = _IN_ORDER.match(sql)
    if match is None or match[1] in ROWID_TABLES:
        return sql
    return sql.removesuffix("rowid") + ", ".join(tables()[match[1]].key)


def _expand_star(table_by_alias: dict[str, str], match: re.Match[str]) -> str:
    name = match[1] or match[2]
    table = table_by_alias.get(name) or name
    if table not in ROWID_TABLES:
        return match[0]
    columns = ", ".join(f"{name}.{column}" for column in tables()[table].columns)
    return f"SELECT {columns} FROM {name}" if match[1] else columns


def _json_group_array(arguments: list[str]) -> str:
    distinct, value = _distinct(arguments[0])
    text = value if value.startswith("json") else f"json_quote({value})"
    return f"('[' || coalesce(string_agg({distinct}{text}, ','), '') || ']')"


def _json_group_object(arguments: list[str]) -> str:
    name, value = arguments
    pair = f"json_quote({name}) || ':' || json_quote({value})"
    return f"('{{' || coalesce(string_agg({pair}, ','), '') || '}}')"


def _json_array(arguments: list[str]) -> str:
    return "('[' || " + " || ',' || ".join(f"json_quote({each})" for each in arguments) + " || ']')"


def _group_concat(arguments: list[str]) -> str:
    distinct, value = _distinct(arguments[0])
    separator = arguments[1] if len(arguments) > 1 else "','"
    return f"string_agg({distinct}CAST({value} AS text), {separator})"


def _total(arguments: list[str]) -> str:
    return f"CAST(coalesce(sum({arguments[0]}), 0) AS double precision)"


def _distinct(argument: str) -> tuple[str, str]:
    value = argument.removeprefix("DISTINCT ")
    return argument.removesuffix(value), value


_REWRITTEN_CALLS: dict[str, Callable[[list[str]], str]] = {
    "json_group_array": _json_group_array,
    "json_group_object": _json_group_object,
    "json_array": _json_array,
    "json": lambda arguments: arguments[0],
    "group_concat": _group_concat,
    "total": _total,
    "printf": lambda arguments: f"format({', '.join(arguments)})",
}
"""Functions whose calls are rewritten, outer functions first."""


def _rewrite_calls(sql: str, name: str, rewrite: Callable[[list[str]], str]) -> str:
    """Rewrite all calls of a function in a statement."""
    result, start = "", 0
    for match in re.finditer(rf"\b{name}\(", sql):
        if match.start() < start:
            continue
        arguments, end = _arguments(sql, match.end())
        inner = [_rewrite_calls(argument, name, rewrite) for argument in arguments]
        result += sql[start : match.start()] + rewrite(inner)
        start = end
    return result + sql[start:]


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a call that begin at `start`, and the position after the call."""
    depth, first, arguments = 0, start, []
    for i in range(start, len(sql)):
        if sql[i] == "(":
            depth += 1
        elif sql[i] in ",)" and not depth:
            arguments.append(sql[first:i].strip())
            first = i + 1
            if sql[i] == ")":
                return arguments, i + 1
        elif sql[i] == ")":
            depth -= 1
    raise ValueError(f"a bracket is not closed: {sql}")


_BRACKET = re.compile(r"(?:\b(?:FROM|JOIN)\s*)?\(|\)")
_NAMED = re.compile(r"\s*(?:AS\b|(?!(?:CROSS|JOIN|LEFT|ON|WHERE|GROUP|ORDER|LIMIT|UNION|EXCEPT|"
    r"INTERSECT|USING|AND)\b)\w)")  # fmt: skip


def _add_aliases(sql: str) -> str:
    """Give a name to each query in a statement that is used as a table."""
    parts, start = [], 0
    open_brackets: list[bool] = []
    for n, match in enumerate(_BRACKET.finditer(sql)):
        if match[0] != ")":
            is_query = sql[match.end() :].lstrip().startswith(("SELECT", "WITH"))
            open_brackets.append(match[0] != "(" and is_query)
        elif open_brackets.pop() and not _NAMED.match(sql, match.end()):
            parts.append(f"{sql[start : match.end()]} AS query_{n}")
            start = match.end()
    return "".join(parts) + sql[start:]


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, which are separated by empty lines."""
    yield from (part for part in re.split(r"\n\n+", script) if part.strip())


SHAPE = """
SELECT 'trigger' AS type, tgname::text AS name,
CASE WHEN tgenabled = 'O' THEN prosrc ELSE 'disabled' END AS sql
FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_class ON pg_class.oid = tgrelid
WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace
AND tgfoid NOT IN ('number_id'::regproc, 'number_rowid'::regproc)
UNION ALL SELECT 'table', relname::text, string_agg(attname, ',' ORDER BY attnum)
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND attname <> 'rowid'
AND relname NOT IN ('store_version', 'write_lock', 'folded_characters')
GROUP BY pg_class.oid, relname
UNION ALL SELECT 'index', relname::text,
indrelid::regclass::text || CASE WHEN indisunique THEN ' unique' ELSE '' END
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relnamespace = current_schema()::regnamespace
AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
UNION ALL SELECT 'view', viewname::text, '' FROM pg_views WHERE schemaname = current_schema()
"""
"""The query for the columns of tables, the bodies of triggers, and indexes and views."""


def shape() -> dict[tuple[str, str], str]:
    """Return the result that `SHAPE` has in a new store, without white space."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        schema.create(connection)
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        bodies = {("trigger", name): to_postgres(sql).split("$$")[1] for name, sql in triggers}
        others = connection.execute(_INDEXES_AND_VIEWS).fetchall()
    columns = {("table", name): ",".join(table.columns) for name, table in tables().items()}
    expected_shape = bodies | columns | {(kind, name): text for kind, name, text in others}
    return {key: re.sub(r"\s+", "", text) for key, text in expected_shape.items()}


_INDEXES_AND_VIEWS = """
SELECT 'index', listed.name,
tables.name || CASE WHEN listed."unique" THEN ' unique' ELSE '' END
FROM pragma_table_list AS tables, pragma_index_list(tables.name) AS listed WHERE listed.origin = 'c'
UNION ALL SELECT 'view', name, '' FROM sqlite_master WHERE type = 'view'
"""
"""SQLite's query for the indexes and views."""
