"""The store: concurrent writers lose nothing, foreign files are refused, failures leave nothing."""

import sqlite3
import threading
from functools import partial
from pathlib import Path

import pytest

from study.base.canonical import stamp
from study.base.errors import BrokenStore, NotFound, StudyError
from study.lifecycle.deployments import init
from study.store import Store, deployment, events
from study.store.events import EventKind
from study.trail.verification import verify
from tests.conftest import NOW, REFUSED, entropy_from


def test_eight_writers_at_once_lose_nothing(store: Store) -> None:
    """400 events from 8 threads make one unbroken chain of 400."""

    def write(who: int) -> None:
        for _ in range(50):
            with store.change() as change:
                events.append(
                    change,
                    chain="busy",
                    at_utc=stamp(NOW),
                    actor=str(who),
                    kind=EventKind.DOWNLOADED,
                    detail={},
                )

    threads = [threading.Thread(target=write, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.look() as look:
        assert len(list(events.walk(look, "busy"))) == 400
    assert verify(store) == []


def test_a_failed_change_leaves_nothing(store: Store) -> None:
    """An error in the middle takes everything back."""

    def fail_in_the_middle() -> None:
        with store.change() as change:
            events.append(
                change, chain="x", at_utc="", actor="", kind=EventKind.DOWNLOADED, detail={}
            )
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_in_the_middle()
    with store.look() as look:
        assert "x" not in events.chains(look)


def test_looking_cannot_write(store: Store) -> None:
    """A read transaction refuses to write."""
    with pytest.raises(StudyError, match="cannot be written"), store.look() as look:
        look.execute("DELETE FROM deployment")


def test_a_missing_store_is_named_with_its_remedy(tmp_path: Path) -> None:
    """Nothing is created by asking."""
    with pytest.raises(NotFound, match="study init"):
        Store(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.sqlite("opens the file itself")
def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Neither a text file nor another program's database is taken for a store."""
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


def test_a_store_is_for_its_owner_only(store: Store) -> None:
    """The file holds the reference standard and is not readable by others."""
    assert store.path.stat().st_mode & 0o077 == 0


@pytest.mark.sqlite("opens the file itself")
def test_a_locked_store_gives_one_clear_sentence(store: Store) -> None:
    """Another program's lock is waited for, then named."""
    hurried = store.hurried(0.05)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StudyError, match="The database is busy"), hurried.change() as change:
        change.insert("deployment", name="a", value="b")
    other.close()


def test_making_a_store_twice_keeps_the_first(store: Store) -> None:
    """A second init changes nothing."""
    with store.look() as look:
        before = look.rows("SELECT * FROM deployment")
    init(store.path, entropy=entropy_from(9), now=NOW)
    with store.look() as look:
        assert look.rows("SELECT * FROM deployment") == before


@pytest.mark.sqlite("opens the file itself")
def test_a_store_that_goes_away_is_not_made_anew(store: Store) -> None:
    """A running server says that the file is gone; it never starts an empty one in its place."""
    for file in store.path.parent.glob(store.path.name + "*"):
        file.unlink()
    with pytest.raises(StudyError, match="cannot be opened"), store.look() as look:
        look.rows("SELECT 1")
    assert not store.path.exists()


def test_six_at_once_make_one_store(tmp_path: Path) -> None:
    """All of them end with the same deployment."""
    path = tmp_path / "store.db"
    ids: list[str] = []

    def make(seed: int) -> None:
        made = init(path, entropy=entropy_from(seed), now=NOW)
        with made.look() as look:
            ids.append(deployment.value(look, "deployment_id"))

    threads = [threading.Thread(target=make, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 6
    assert len(set(ids)) == 1
    assert [entry.name for entry in tmp_path.iterdir() if entry.name[0] == "."] == []


def test_a_connection_kept_for_the_next_stays_what_it_was(store: Store, tmp_path: Path) -> None:
    """Warm: a reader's is sealed at every use, one that looks never writes, a new file is seen."""
    with store.kept_warm():
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
        other = init(tmp_path / "other.db", entropy=entropy_from(9), now=NOW)
        with other.look() as look:
            its_id = deployment.value(look, "deployment_id")
        store.path.rename(tmp_path / "aside.db")
        other.copy_to(store.path)
        with store.look() as look:
            assert deployment.value(look, "deployment_id") == its_id
