"""Queries whose time must not grow with the square of a study's cases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study.exchange.bundle import export
from study.reading.desk import desk
from study.store import Store, banks, readings
from study.store.connection import Transaction
from study.trail.verification import verify
from tests.conftest import NOW, person

pytestmark = pytest.mark.sqlite("reads SQLite's plans of queries")


def test_no_query_parses_the_protocol_once_for_each_row(
    opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A protocol lists all cases: with 40,000 cases an export took 95 s instead of 6 s."""
    queries: dict[str, dict[str, Any]] = {}
    rows = Transaction.rows

    def record_query(look: Transaction, sql: str, **values: Any) -> list[dict[str, Any]]:
        queries[sql] = values
        return rows(look, sql, **values)

    store = opened(context=["sex"])
    monkeypatch.setattr(Transaction, "rows", record_query)
    export(store, study="trial", out=tmp_path / "bundle")
    desk(store, person(store), now=NOW)
    assert verify(store) == []
    with store.look() as look:
        readings.films_to_read(look)
        banks.items_of_study(look, 1)
        parsing = [sql for sql in queries if ".protocol, '$.protocol.context')" in sql]
        assert len(parsing) >= 4
        for sql in parsing:
            assert not _json_of_each_row(rows(look, f"EXPLAIN QUERY PLAN {sql}", **queries[sql])), (
                sql
            )


def _json_of_each_row(plan: list[dict[str, Any]]) -> bool:
    """Return whether a plan reads JSON in a part that is run for each row."""
    correlated: set[int] = set()
    for step in plan:
        if step["parent"] in correlated or "CORRELATED" in step["detail"]:
            correlated.add(step["id"])
            if "asking VIRTUAL" in step["detail"] or "json_each" in step["detail"]:
                return True
    return False
