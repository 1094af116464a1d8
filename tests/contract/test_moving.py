"""Moving a deployment from SQLite to PostgreSQL and back."""

import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from study.base.errors import BadFile, BadInput, NotFound, NotNow, StudyError
from study.base.processes import run_forked
from study.cli.program import main
from study.exchange import backups, moving
from study.exchange.moving import move
from study.lifecycle.deployments import init
from study.store import Store, Transaction, companion_path, deployment, dialect
from study.store import moving as rows_of_store
from study.store.moving import Content, contents
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from
from tests.contract.test_engines import _event, _study

pytestmark = pytest.mark.sqlite("moves a file")


@pytest.mark.thorough
@pytest.mark.usefixtures("cold")
def test_a_deployment_is_moved_to_postgresql_and_back_unchanged(
    store: Store, database: Callable[[], str], tmp_path: Path
) -> None:
    """Through two databases and back, every table, file and verification is the same."""
    _study(store, tmp_path)
    backups.make_backup(store, acting=ACTING)
    with store.change() as change:
        deployment.set_value(change, "odd", "tab\t, line\r\n, \\N, \\, ä, 漢, \U0001d400, ''")
        deployment.set_value(change, "empty", "")
    with store.look() as look:
        before = contents(look)
    addresses = (database(), database(), tmp_path / "again.db")
    source = store
    for address in addresses:
        moved = move(source, address)
        assert moved.contents == before
        assert moved.before == moved.after == ()
        source = Store(address)
        assert source.witness_file.read_bytes() == store.witness_file.read_bytes()
        (backup,) = source.companion_path("backups").iterdir()
        (original,) = store.companion_path("backups").iterdir()
        assert backup.read_bytes() == original.read_bytes()
    with store.look() as look:
        assert contents(look) == before
    assert sum(content.n_rows > 0 for content in before.values()) > 20
    _event(source)
    assert verify(source) == []


@pytest.mark.usefixtures("cold")
def test_many_rows_are_copied_in_batches(store: Store, database: Callable[[], str]) -> None:
    """More rows than a batch, with keys of one and of two columns, and numbers with gaps."""
    with store.change() as change:
        change.insert_many(
            "people",
            ("id", "handle", "made_at_utc"),
            ((n * 3, f"p{n}", "") for n in range(1, 2502)),
        )
        change.insert_many(
            "identities",
            ("rowid", "issuer", "subject", "person", "bound_at_utc"),
            ((n * 2, f"i{n % 7}", f"s{-n}", n * 3, "") for n in range(1, 2002)),
        )
        change.insert_many(
            "recovery_codes",
            ("person", "code_hash"),
            ((n % 5 * 3 + 3, f"h{n}") for n in range(2001)),
        )
    address = database()
    move(store, address)
    tables = ("people", "identities", "recovery_codes")
    with store.look() as look, Store(address).look() as copied:
        assert contents(copied, tables) == contents(look, tables)
        assert [content.n_rows for content in contents(look, tables).values()] == [2501, 2001, 2001]
        sql = "SELECT rowid FROM identities ORDER BY rowid"
        assert copied.rows(sql) == look.rows(sql)


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_failed_move_leaves_nothing(
    store: Store, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """All copied rows and files are removed, and the next move works."""
    _event(store)
    folder = store.companion_path("runs")
    folder.mkdir()
    (folder / "one.json").write_text("{}")
    to = _target(request, store, engine)
    with monkeypatch.context() as patch:

        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device", "runs")

        patch.setattr(moving, "_refuse_changed", fail)
        with pytest.raises((OSError, StudyError), match="No space left"):
            move(store, to)
    with pytest.raises(NotFound, match="There is no store"):
        Store(to)
    assert not [name for name in moving.FILES if companion_path(to, name).exists()]
    move(store, to)
    assert verify(Store(to)) == []


@pytest.mark.thorough
@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_move_killed_at_any_step_can_be_repeated(
    store: Store, request: pytest.FixtureRequest, engine: str
) -> None:
    """The next move, from the other engine, completes or repeats it, without leftovers."""
    if engine == "sqlite":
        address = request.getfixturevalue("database")()
        move(store, address)
        store = Store(address)
    _event(store)
    for name in ("backups", "runs"):
        store.companion_path(name).mkdir()
        (store.companion_path(name) / "one").write_text("copied")
    with store.look() as look:
        before = contents(look)
    n_steps, was_killed = 0, True
    while was_killed:
        to = _target(request, store, engine, n_steps)
        was_killed = _killed_at(n_steps, lambda to=to: move(store, to))  # type: ignore[misc]
        if was_killed:
            assert move(store, to).contents == before
        copied = Store(to)
        assert verify(copied) == []
        assert copied.witness_file.read_bytes() == store.witness_file.read_bytes()
        assert (copied.companion_path("runs") / "one").read_text() == "copied"
        names = {path.name for path in copied.folder.iterdir()}
        assert not {name for name in names if re.search(r"\.new-store|moving|move-lock", name)}
        with pytest.raises(BadFile, match="already has a store"):
            move(store, to)
        n_steps += 1
    assert n_steps >= 8


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
@pytest.mark.parametrize("has_links", [True, False])
def test_a_move_stopped_during_verification_can_be_repeated(
    store: Store,
    request: pytest.FixtureRequest,
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    has_links: bool,
) -> None:
    """The copies are then complete, even on a disk without hard links."""
    if engine == "sqlite":
        address = request.getfixturevalue("database")()
        move(store, address)
        store = Store(address)
    _event(store)
    to = _target(request, store, engine)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(moving, "verify", stop)
        if not has_links:
            patch.setattr(Path, "hardlink_to", refuse)
        with pytest.raises(KeyboardInterrupt):
            move(store, to)
    assert Store(to).witness_file.read_bytes() == store.witness_file.read_bytes()
    assert move(store, to).after == ()
    assert not companion_path(to, "moving").exists()
    with pytest.raises(BadFile, match="already has a store"):
        move(store, to)


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_second_move_to_the_same_place_is_refused_while_one_is_under_way(
    store: Store, request: pytest.FixtureRequest, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is completed, and its lock is removed."""
    if engine == "sqlite":
        address = request.getfixturevalue("database")()
        move(store, address)
        store = Store(address)
    to = _target(request, store, engine)
    refuse_changed = moving._refuse_changed

    def move_again(*arguments: Any) -> None:
        monkeypatch.setattr(moving, "_refuse_changed", refuse_changed)
        with monkeypatch.context() as idle:
            idle.setattr(Store, "is_in_use", lambda _: False)
            with pytest.raises(NotNow, match="Another move"):
                move(store, to)
        refuse_changed(*arguments)

    monkeypatch.setattr(moving, "_refuse_changed", move_again)
    move(store, to)
    assert verify(Store(to)) == []
    assert not companion_path(to, "move-lock").exists()


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_killed_move_deletes_no_store_that_was_used_since(
    store: Store, request: pytest.FixtureRequest, engine: str
) -> None:
    """A server that was started on the copy began another witness, or the copy was deleted."""
    to = _target(request, store, engine)
    companion_path(to, "moving").parent.mkdir(exist_ok=True)
    companion_path(to, "moving").write_text("a part of the witness")
    companion_path(to, "heads.log").write_text("of a store")
    with pytest.raises(BadFile, match="belongs to another store"):
        move(store, to)
    assert companion_path(to, "heads.log").read_text() == "of a store"
    companion_path(to, "heads.log").unlink()
    _event(init(to, entropy=entropy_from(2), now=NOW))
    with pytest.raises(BadFile, match="already has a store"):
        move(store, to)
    assert verify(Store(to)) == []


def _killed_at(step: int, work: Callable[[], object]) -> bool:
    """Kill a process before the step with a number changes files, or before it commits."""

    def run() -> int:
        remaining = step

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal remaining
            writes = event == "open" and bool(arguments[2] & os.O_CREAT)  # type: ignore[operator]
            if writes or event in _STEPS:
                remaining -= 1
                if remaining < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        changed = moving._refuse_changed

        def commit(source: Store, copied: Mapping[str, Content]) -> None:
            changed(source, copied)
            sys.audit("commit")

        moving._refuse_changed = commit
        sys.addaudithook(count)
        work()
        return 0

    _, status = os.waitpid(run_forked(run), 0)
    assert status in (0, signal.SIGKILL)
    return status != 0


_STEPS = ("os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "commit")


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_store_is_never_overwritten(
    store: Store, request: pytest.FixtureRequest, engine: str
) -> None:
    """Stores, and witness files that belonged to a store, are kept."""
    to = _target(request, store, engine)
    witness = companion_path(to, "heads.log")
    witness.parent.mkdir(exist_ok=True)
    witness.write_text("another")
    with pytest.raises(BadFile, match="belongs to another store"):
        move(store, to)
    witness.unlink()
    other = init(to, entropy=entropy_from(2), now=NOW)
    with other.look() as look:
        before = contents(look)
    with pytest.raises(BadFile, match="already has a store"):
        move(store, to)
    with other.look() as look:
        assert contents(look) == before
    assert not witness.exists()


@pytest.mark.usefixtures("cold")
def test_a_store_in_use_is_not_moved(store: Store, tmp_path: Path) -> None:
    """A server keeps its connections open, even if it does nothing."""
    with store.kept_open():
        with pytest.raises(NotNow, match="in use"):
            move(store, tmp_path / "new.db")
        _event(store)
    assert move(store, tmp_path / "new.db").after == ()


@pytest.mark.thorough
def test_a_database_in_use_is_not_moved(on_postgres: Store, tmp_path: Path) -> None:
    """The fixture keeps connections open, as a server does."""
    _event(on_postgres)
    assert Store(on_postgres.address).is_in_use()
    with pytest.raises(NotNow, match="in use"):
        move(on_postgres, tmp_path / "new.db")


@pytest.mark.usefixtures("cold")
def test_a_store_that_changes_during_a_move_is_not_moved(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move is undone after an event of a server that was started during the move."""
    copy_rows = rows_of_store.copy_rows

    def copy_late(look: Transaction, change: Transaction) -> Mapping[str, Content]:
        copied = copy_rows(look, change)
        _event(store)
        return copied

    monkeypatch.setattr(moving, "copy_rows", copy_late)
    with pytest.raises(NotNow, match="changed while"):
        move(store, tmp_path / "new.db")
    assert not list(tmp_path.glob("new.db*"))


@pytest.mark.usefixtures("cold")
def test_the_command_states_breaches_and_the_next_step(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """An altered store is moved unchanged; the new store has the same breaches."""
    new = store.path.with_name("new.db")
    assert main(["move", "--db", str(store.path), "--to", str(new)]) == 0
    out, err = capsys.readouterr()
    assert f"Next: set READING_ROOM_DB to {new} and start the server." in out
    assert err == ""
    with store.change() as change:
        deployment.set_value(change, "secret", "0" * 64)
    other_path = store.path.with_name("again.db")
    assert main(["move", "--db", str(store.path), "--to", str(other_path)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "Both stores have these breaches:",
        *verify(Store(other_path)),
    ]


@pytest.mark.usefixtures("cold")
def test_a_text_that_cannot_be_stored_names_its_table(
    store: Store, database: Callable[[], str]
) -> None:
    """PostgreSQL refuses the character NUL."""
    with store.change() as change:
        deployment.set_value(change, "one", "a\0b")
    with pytest.raises(BadInput, match=r"Table deployment: .*NUL"):
        move(store, database())


@pytest.mark.thorough
def test_a_backup_of_a_database_is_restored_on_either_engine(
    on_postgres: Store, database: Callable[[], str], tmp_path: Path
) -> None:
    """The backup is made while the store is in use.

    A restored store differs only by the event of the backup.
    """
    _study(on_postgres, tmp_path)
    backup = backups.make_backup(on_postgres, acting=ACTING)
    assert backup.finding == ""
    assert [path.name for path in backup.file.parent.iterdir()] == [backup.file.name]
    for address in (tmp_path / "restored.db", database()):
        restored = backups.restore_backup(backup.file, address)
        with restored.look() as look, Store(backup.file).look() as kept:
            assert contents(look) == contents(kept)
        assert backups.record_restored(restored, backup.file, acting=ACTING) == []
        assert verify(restored) == []
    with pytest.raises(BadFile, match="already has a store"):
        backups.restore_backup(backup.file, address)


def test_tables_are_created_after_those_they_refer_to(store: Store) -> None:
    """Rows are copied in this order, with foreign keys checked at once."""
    known: set[str] = set()
    for table, described in dialect.tables().items():
        known.add(table)
        assert described.key, table
        with store.look() as look:
            references = look.rows(f"PRAGMA foreign_key_list({table})")
        assert {row["table"] for row in references} <= known


def _target(
    request: pytest.FixtureRequest, store: Store, engine: str, number: int = 0
) -> Path | str:
    """Return an address at which a store on an engine can be created."""
    if engine == "sqlite":
        return store.path.with_name(f"new{number}.db")
    database = request.getfixturevalue("database")()
    assert isinstance(database, str)
    return database
