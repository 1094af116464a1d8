"""The store: files from other programs, locks, and connections that are reused."""

import fcntl
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from study.base.errors import BrokenStore, Busy, NotFound, StudyError
from study.lifecycle.deployments import init
from study.store import Store, deployment
from tests.conftest import NOW, REFUSED, entropy_from


def test_a_missing_store_is_reported_with_a_remedy(tmp_path: Path) -> None:
    """No file is created."""
    with pytest.raises(NotFound, match="study init"):
        Store(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.sqlite("opens the file itself")
def test_a_file_of_another_program_is_refused_and_unchanged(tmp_path: Path) -> None:
    """A text file and a database of another program are tested."""
    text = tmp_path / "letter.txt"
    text.write_text("Dear Sir or Madam, " * 400)
    with pytest.raises(BrokenStore, match="not a SQLite file"):
        Store(text)
    foreign = tmp_path / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    before = foreign.read_bytes()
    with pytest.raises(BrokenStore, match="not a Reading Room store"):
        init(foreign, entropy=entropy_from(2), now=NOW)
    assert foreign.read_bytes() == before


@pytest.mark.sqlite("checks the permissions of the file")
def test_only_the_owner_can_read_a_store(store: Store) -> None:
    """The file contains the reference standard."""
    assert store.path.stat().st_mode & 0o077 == 0


@pytest.mark.sqlite("opens the file itself")
def test_a_locked_store_is_reported_after_a_wait(store: Store) -> None:
    """Another program holds the lock; the message is one sentence."""
    limited = store.with_wait_limit(0.05)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StudyError, match="The database is busy"), limited.change() as change:
        change.insert("deployment", name="a", value="b")
    other.close()


def test_a_process_suspended_while_it_writes_the_witness_is_reported(store: Store) -> None:
    """Otherwise all processes would wait for it, with the store locked; nothing is stored."""
    store.begin_witness()
    with store.witness_file.open() as suspended:
        fcntl.flock(suspended, fcntl.LOCK_EX)
        with (
            pytest.raises(Busy, match="The database is busy"),
            store.with_wait_limit(0.05).change() as change,
        ):
            change.insert("deployment", name="a", value="b")
    with store.change() as change:
        assert deployment.value(change, "a") == ""


@pytest.mark.usefixtures("cold")
def test_an_error_during_a_commit_states_that_its_outcome_is_unknown(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands print this note; the connection to the database ended during the commit."""

    class Lost(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            cursor = super().execute(sql, *values)
            if sql == "COMMIT":
                error = sqlite3.OperationalError("locked")
                error.is_final = True  # type: ignore[attr-defined]
                raise error
            return cursor

    connect = partial(sqlite3.connect, factory=Lost)
    with monkeypatch.context() as patch:
        patch.setattr("study.store.sqlite.sqlite3.connect", connect)
        with pytest.raises(Busy) as lost, store.change() as change:
            change.insert("deployment", name="a", value="b")
    assert "Check whether it was stored before you repeat" in lost.value.__notes__[-1]
    with store.look() as look:
        assert deployment.value(look, "a") == "b"


def test_a_second_init_keeps_the_store(store: Store) -> None:
    """The second call changes nothing."""
    with store.look() as look:
        before = look.rows("SELECT * FROM deployment")
    init(store.path, entropy=entropy_from(9), now=NOW)
    with store.look() as look:
        assert look.rows("SELECT * FROM deployment") == before


@pytest.mark.sqlite("opens the file itself")
def test_a_deleted_store_is_not_created_again(store: Store) -> None:
    """A running server reports that the file is missing, and creates no empty store."""
    for file in store.path.parent.glob(store.path.name + "*"):
        file.unlink()
    with pytest.raises(StudyError, match="cannot be opened"), store.look() as look:
        look.rows("SELECT 1")
    assert not store.path.exists()


def test_six_simultaneous_inits_create_one_store(tmp_path: Path) -> None:
    """All of them return the same deployment."""
    path = tmp_path / "store.db"

    def make(seed: int) -> str:
        made = init(path, entropy=entropy_from(seed), now=NOW)
        with made.look() as look:
            return deployment.value(look, "deployment_id")

    with ThreadPoolExecutor(6) as pool:
        ids = set(pool.map(make, range(6)))
    assert len(ids) == 1
    assert [entry.name for entry in tmp_path.iterdir() if entry.name[0] == "."] == []


def test_a_reused_connection_keeps_its_permissions(store: Store) -> None:
    """Sealed tables remain sealed, and a read-only connection cannot write."""
    with store.kept_open():
        for open_one in (store.desk, partial(store.look, sealed=True)):
            for _ in range(2):
                with open_one() as sealed:
                    assert deployment.secret(sealed)
                with pytest.raises(sqlite3.DatabaseError, match=REFUSED), open_one() as sealed:
                    sealed.rows("SELECT truth FROM reference_standard")
                with store.look() as look:
                    assert look.rows("SELECT truth FROM reference_standard") == []
        with pytest.raises(StudyError, match="read-only"), store.look() as look:
            look.execute("DELETE FROM deployment")


@pytest.mark.sqlite("replaces the file")
def test_a_replaced_file_is_detected(store: Store, tmp_path: Path) -> None:
    """Connections to a file that was replaced are not reused."""
    with store.kept_open():
        other = init(tmp_path / "other.db", entropy=entropy_from(9), now=NOW)
        with other.look() as look:
            its_id = deployment.value(look, "deployment_id")
        store.path.rename(tmp_path / "aside.db")
        other.copy_to(store.path)
        with store.look() as look:
            assert deployment.value(look, "deployment_id") == its_id
