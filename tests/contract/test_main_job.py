"""The main job gives the same bytes on both engines, and PostgreSQL accepts every statement."""

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import timedelta
from importlib import import_module
from itertools import chain, product
from pathlib import Path
from typing import Any

import pg8000.native as pg
import pytest

from study import demo
from study import store as store_package
from study.base.actor import COMMAND_LINE, Acting
from study.exchange.bundle import export
from study.lifecycle import studies
from study.store import Store, dialect, sqlite
from study.store.postgres import Postgres
from study.trail.verification import verify
from tests.conftest import NOW, ROOT, entropy_from

pytestmark = pytest.mark.sqlite("compares both engines")

VERBS = {"rows": 0, "stream": 0, "cursor": 0, "row": 0, "value": 0, "execute": 0}
VERBS |= {"tuples": 1, "one": 1}
"""The methods of a transaction, and the position of their statement."""

_OF_SQLITE = re.compile(
    r"^(BEGIN|COMMIT|ROLLBACK|PRAGMA|ATTACH|DETACH)|\bbeside\.|\bsqlite_master\b|\bpragma_"
)
"""Statements that PostgreSQL runs differently: transactions, checks of a file, and its tables."""

_ANY, _TEXT, _BIGINT, _DOUBLE = 0, 25, 20, 701


def _job(address: Path | str, out: Path) -> Store:
    """Import the demo's bank, draw, simulate readers, add models, close, export and verify."""
    store = demo.set_up(address, ROOT / "data", entropy=entropy_from(4), now=NOW)
    reason, later = "The demo ends.", NOW + timedelta(days=1)
    studies.close(
        store, study=demo.DEMO_STUDY, reason=reason, acting=Acting(by=COMMAND_LINE, now=later)
    )
    export(store, study=demo.DEMO_STUDY, out=out)
    assert verify(store) == []
    return store


def _files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_main_job_is_the_same_on_both_engines(
    database: Callable[[], str], tmp_path: Path
) -> None:
    """From the demo's bank to the bundle, with the same clock and entropy.

    A report is the same for the same bundle (`tests/unit/analysis/test_command_line.py`).
    """
    bundles = []
    for name, address in (("sqlite", tmp_path / "demo.db"), ("postgres", database())):
        _job(address, tmp_path / name)
        bundles.append(_files(tmp_path / name))
    assert bundles[0].keys() == bundles[1].keys()
    assert not [name for name, content in bundles[0].items() if bundles[1][name] != content]
    assert {"items.csv", "readings.csv", "records.jsonl"} <= bundles[0].keys()


def _written() -> Iterator[str]:
    """Yield every statement in the modules of the store that contains no local variable."""
    for file in sorted(Path(store_package.__path__[0]).glob("*.py")):
        module = import_module(f"study.store.{file.stem}")
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            place = VERBS.get(node.func.attr)
            if place is None or len(node.args) <= place or "look" not in _names(node.func):
                continue
            expression = node.args[place]
            if _names(expression) <= vars(module).keys():
                code = compile(ast.Expression(expression), file.name, "eval")
                with suppress(AttributeError):  # a local variable with the name of a function
                    yield str(eval(code, dict(vars(module))))


def _names(node: ast.AST) -> set[str]:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return {"look" if name == "change" else name for name in names}


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return a set to which the statements of all SQLite stores are added."""
    statements: set[str] = set()

    class Recording:
        def __init__(self, conn: Any) -> None:
            self._conn = conn

        def execute(self, sql: str, *values: Any) -> Any:
            statements.add(sql)
            return self._conn.execute(sql, *values)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._conn, name)

    opened = sqlite.Sqlite.open_connection

    def record(engine: sqlite.Sqlite, kind: Any) -> Any:
        database = opened(engine, kind)
        monkeypatch.setattr(database, "conn", Recording(database.conn))
        return database

    monkeypatch.setattr(sqlite.Sqlite, "open_connection", record)
    return statements


def _refusal(connection: pg.Connection, sql: str) -> str:
    """Return why PostgreSQL does not prepare a statement with values of any type; or nothing."""
    names = sorted(set(re.findall(r"(?<![:\w]):(\w+)", re.sub("'[^']*'", "", sql))))
    alike = ([kind] * len(names) for kind in (_ANY, _TEXT, _BIGINT, _DOUBLE))
    mixed = product((_TEXT, _BIGINT), repeat=len(names)) if len(names) < 8 else ()
    reason = ""
    for types in chain(alike, mixed):
        try:
            pg.PreparedStatement(connection, sql, dict(zip(names, types, strict=True))).close()
        except pg.DatabaseError as error:
            reason = reason or str(error.args[0].get("M"))
        else:
            return ""
    return reason


def test_postgresql_prepares_every_statement(
    recorded: set[str], on_postgres: Store, tmp_path: Path
) -> None:
    """The statements written in the store, and those that the main job composes."""
    _job(tmp_path / "demo.db", tmp_path / "bundle")
    statements = set(_written())
    assert len(statements) > 150
    assert len(recorded) > 100
    refused = {}
    engine = Postgres(on_postgres.address)
    with closing(engine._connect(10.0)) as opened:
        for sql in sorted(statements | recorded):
            if _OF_SQLITE.search(sql):
                continue
            if reason := _refusal(opened._pg, dialect.to_postgres(sql)):
                refused[sql] = reason
    assert refused == {}
