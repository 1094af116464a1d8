"""Backups: consistent under writing, verified when made, restored and read on; kept and pruned."""

import sqlite3
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from study.base.actor import By
from study.base.errors import BadFile, BadInput, BrokenStore, NotFound, NotNow
from study.exchange import backups
from study.exchange.backups import Schedule
from study.reading import desk
from study.store import Store, deployment, events
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading, tamper
from ui.server.schedule import chores

Opened = Callable[..., Store]
BY = By(name="admin", role="administrator")


def _kinds(store: Store) -> list[str]:
    with store.look() as look:
        return [event.kind for event in events.walk(look, "deployment")]


@pytest.mark.slow
def test_a_backup_made_in_the_middle_of_writing_is_restored_and_read_on(
    opened: Opened, tmp_path: Path
) -> None:
    """Nothing torn: whatever the copy holds it holds whole, and the reader goes on from there."""
    store = opened(readers=("R1", "R2"), cases=12)
    begun = threading.Event()

    def read(who: str) -> None:
        reader = person(store, who)
        while cases := desk.desk(store, reader, now=NOW).cases:
            records = [presentation(cases[0].case), reading(cases[0].case)]
            desk.take_records(store, reader, records, now=NOW)
            begun.set()

    threads = [threading.Thread(target=read, args=(who,)) for who in ("R1", "R2")]
    for thread in threads:
        thread.start()
    begun.wait(60)
    made = [backups.make(store, by=BY, now=NOW + timedelta(minutes=i)) for i in range(3)]
    for thread in threads:
        thread.join()
    assert [one.finding for one in made] == ["", "", ""]
    for number, one in enumerate(made):
        again = backups.restore_backup(one.file, tmp_path / f"again{number}.db")
        assert verify(again) == []
        for who in ("R1", "R2"):
            reader = person(again, who)
            while cases := desk.desk(again, reader, now=NOW).cases:
                records = [presentation(cases[0].case), reading(cases[0].case)]
                taken = desk.take_records(again, reader, records, now=NOW)
                assert taken.refused == ()
            assert desk.desk(again, reader, now=NOW).finished
        assert verify(again) == []
    assert verify(store) == []


def test_a_backup_is_one_private_file_with_its_hash(banked: Store) -> None:
    """No journal beside it, readable by its owner alone, and the trail tells of it."""
    made = backups.make(banked, by=BY, now=NOW)
    folder = backups.folder_of(banked)
    assert [path.name for path in folder.iterdir()] == [made.file.name]
    assert made.file.stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0
    assert made.n_bytes == made.file.stat().st_size
    with banked.look() as look:
        told = list(events.walk(look, "deployment"))[-1]
    assert (told.kind, told.actor, told.detail["sha256"]) == (
        "backup made",
        "admin",
        made.sha256,
    )
    (last,) = backups.listed(banked)
    assert (last.made_at_utc, last.finding) == (made.made_at_utc, "")


def test_two_in_one_second_have_two_names(banked: Store) -> None:
    """Neither overwrites the other."""
    first, second = (backups.make(banked, by=BY, now=NOW) for _ in range(2))
    assert first.file != second.file
    assert [one.there for one in backups.listed(banked)] == [True, True]


def test_what_does_not_hold_is_said_of_the_backup(banked: Store, tmp_path: Path) -> None:
    """It is kept, with what was found; and it is not restored."""
    tamper(banked, "UPDATE reference_standard SET truth = 'A'")
    made = backups.make(banked, by=BY, now=NOW)
    assert "bank bank: its items" in made.finding
    with pytest.raises(BadFile, match="bank bank: its items"):
        backups.restore_backup(made.file, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_damaged_backup_is_not_restored(banked: Store, tmp_path: Path) -> None:
    """Pages overwritten on the disk, a file cut short, a file of something else."""
    made = backups.make(banked, by=BY, now=NOW).file
    content = made.read_bytes()
    half = len(content) // 2
    for name, damaged in {
        "hole": content[:half] + b"\xff" * 4096 + content[half + 4096 :],
        "cut": content[:half],
        "other": b"no store",
    }.items():
        path = tmp_path / f"{name}.db"
        path.write_bytes(damaged)
        with pytest.raises((BadFile, BrokenStore)):
            backups.restore_backup(path, tmp_path / "new.db")
        assert not (tmp_path / "new.db").exists()
    assert not list(tmp_path.glob(".making-*"))


def test_restoring_never_overwrites(banked: Store, tmp_path: Path) -> None:
    """Neither a store nor the journal of one; and what is not there is said."""
    made = backups.make(banked, by=BY, now=NOW).file
    with pytest.raises(BadFile, match="already exists"):
        backups.restore_backup(made, banked.path)
    (tmp_path / "new.db-wal").write_bytes(b"x")
    with pytest.raises(BadFile, match="already exists"):
        backups.restore_backup(made, tmp_path / "new.db")
    with pytest.raises(NotFound, match="no backup"):
        backups.restore_backup(tmp_path / "none.db", tmp_path / "x.db")
    with pytest.raises(NotFound, match="folder"):
        backups.restore_backup(made, tmp_path / "none" / "x.db")


def test_a_restored_store_writes_through_a_journal(banked: Store, tmp_path: Path) -> None:
    """As a store in use does; the copy itself is one file without."""
    again = backups.restore_backup(backups.make(banked, by=BY, now=NOW).file, tmp_path / "again.db")
    connection = sqlite3.connect(again.path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_backup_goes_where_it_is_told_and_never_over_anything(
    banked: Store, tmp_path: Path
) -> None:
    """Such a one is never removed by us."""
    made = backups.make(banked, by=BY, now=NOW, out=tmp_path / "mine.db")
    assert made.file == tmp_path / "mine.db"
    with pytest.raises(BadFile, match="already exists"):
        backups.make(banked, by=BY, now=NOW, out=tmp_path / "mine.db")
    with pytest.raises(BadFile, match="cannot be written"):
        backups.make(banked, by=BY, now=NOW, out=tmp_path / "none" / "x.db")
    backups.set_schedule(banked, Schedule(every_hours=1, keep=1), by=BY, now=NOW)
    for minute in range(3):
        backups.make(banked, by=BY, now=NOW + timedelta(minutes=minute))
    assert made.file.is_file()
    assert len(list(backups.folder_of(banked).iterdir())) == 1


def test_the_oldest_go_and_the_last_sound_one_stays(banked: Store, tmp_path: Path) -> None:
    """However many broken ones come after it."""
    backups.set_schedule(banked, Schedule(every_hours=24, keep=2), by=BY, now=NOW)
    made = [backups.make(banked, by=BY, now=NOW + timedelta(hours=i)) for i in range(3)]
    assert [one.file for one in backups.listed(banked)] == [made[2].file, made[1].file]
    assert not made[0].file.exists()
    tamper(banked, "UPDATE reference_standard SET truth = 'A'")
    for i in range(3, 7):
        backups.make(banked, by=BY, now=NOW + timedelta(hours=i))
    assert made[2].file.exists()
    assert len(backups.listed(banked)) == 3
    assert _kinds(banked).count("backup removed") == 4


def test_the_schedule_makes_one_when_it_is_due(banked: Store) -> None:
    """The first at once, the next after its hours, none where it is off."""
    assert backups.make_if_due(banked, now=NOW) is not None
    assert backups.make_if_due(banked, now=NOW + timedelta(hours=23)) is None
    made = backups.make_if_due(banked, now=NOW + timedelta(hours=24))
    assert made is not None
    assert (made.trigger, made.actor) == ("schedule", "schedule")
    backups.set_schedule(banked, Schedule(every_hours=0, keep=2), by=BY, now=NOW)
    assert backups.make_if_due(banked, now=NOW + timedelta(days=99)) is None
    with banked.look() as look:
        told = list(events.walk(look, "deployment"))[-1].detail
    assert (told["old"], told["new"]) == ("every 24 h, 14 kept", "never, 2 kept")


@pytest.mark.parametrize(("hours", "keep"), [(-1, 5), (24 * 91, 5), (24, 0), (24, 1001)])
def test_an_absurd_schedule_is_refused(banked: Store, hours: int, keep: int) -> None:
    """The one in force stays."""
    with pytest.raises(BadInput, match="every 1 to"):
        backups.set_schedule(banked, Schedule(every_hours=hours, keep=keep), by=BY, now=NOW)
    with banked.look() as look:
        assert backups.schedule(look) == Schedule(every_hours=24, keep=14)


def test_only_one_is_made_at_a_time(banked: Store) -> None:
    """Eight workers find it due; one makes it. Who died over one does not block for ever."""
    made: list[object] = []
    threads = [
        threading.Thread(target=lambda: made.append(backups.make_if_due(banked, now=NOW)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one is not None for one in made) == 1
    with banked.change() as change:
        deployment.set_value(change, "backup_claimed_at_utc", "2025-06-04T12:00:00.000Z")
    with pytest.raises(NotNow, match="already in progress"):
        backups.make(banked, by=BY, now=NOW + timedelta(minutes=59))
    assert backups.make(banked, by=BY, now=NOW + timedelta(minutes=61)).finding == ""


def test_a_failed_backup_stands_in_the_trail_and_is_tried_again(
    banked: Store,
) -> None:
    """Where a file lies in the folder's place; an hour later, not each minute."""
    backups.folder_of(banked).write_bytes(b"")
    with pytest.raises(BadFile, match="cannot be written"):
        backups.make_if_due(banked, now=NOW)
    assert _kinds(banked)[-1] == "backup failed"
    assert backups.make_if_due(banked, now=NOW + timedelta(minutes=5)) is None
    backups.folder_of(banked).unlink()
    assert backups.make_if_due(banked, now=NOW + timedelta(minutes=61)) is not None


def test_what_a_crash_left_behind_is_cleared_away(banked: Store) -> None:
    """Half a copy is no backup."""
    left = backups.folder_of(banked) / ".making-x"
    left.mkdir(parents=True)
    (left / "store.db").write_bytes(b"half")
    backups.make(banked, by=BY, now=NOW)
    assert not left.exists()


def test_the_servers_thread_makes_backups_and_survives_whatever_goes_wrong(
    banked: Store, tmp_path: Path
) -> None:
    """First no store, then an error of ours, then it works."""
    looked, done = [], threading.Event()

    def store() -> Store:
        looked.append(1)
        if len(looked) == 1:
            raise NotFound("none")
        if len(looked) == 2:
            raise RuntimeError("a mistake")
        if len(looked) > 3:
            done.set()
        return banked

    with chores(store, first_s=0.0, every_s=0.01):
        assert done.wait(60)
    assert len(backups.listed(banked)) == 1


def test_a_moved_store_says_which_backups_are_elsewhere(banked: Store, tmp_path: Path) -> None:
    """A row without its file is no backup to count on."""
    backups.make(banked, by=BY, now=NOW)
    (tmp_path / "moved").mkdir()
    banked.copy_to(tmp_path / "moved" / "store.db")
    moved = Store(tmp_path / "moved" / "store.db")
    assert [one.there for one in backups.listed(moved)] == [False]
