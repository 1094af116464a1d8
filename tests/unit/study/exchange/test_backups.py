"""Backups are consistent, verified, restorable, scheduled, and removed after a time."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import pytest

from study.base.actor import Acting, By
from study.base.canonical import stamp
from study.base.errors import BadFile, BadInput, BrokenStore, Busy, NotFound, NotNow
from study.exchange import backups
from study.exchange.backups import Schedule
from study.exchange.bundle import sha256_of_file
from study.reading import desk
from study.store import Store, events
from study.store.leases import lease
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading, tamper
from ui.server.schedule import run_due_tasks

pytestmark = pytest.mark.sqlite("backs up files")

Opened = Callable[..., Store]
BY = By(name="admin", role="administrator")
ACTING = Acting(by=BY, now=NOW)


def _kinds(store: Store) -> list[str]:
    with store.look() as look:
        return [event.kind for event in events.walk(look, "deployment")]


def test_a_backup_made_during_writes_is_consistent(opened: Opened, tmp_path: Path) -> None:
    """The records in the backup are complete, and readers can continue after a restoration."""
    store = opened(readers=("R1", "R2"), cases=12)
    started = threading.Event()

    def read(reader_id: str) -> None:
        reader = person(store, reader_id)
        while cases := desk.desk(store, reader, now=NOW).cases:
            records = [presentation(cases[0].case), reading(cases[0].case)]
            desk.take_records(store, reader, records, now=NOW)
            started.set()

    threads = [threading.Thread(target=read, args=(reader_id,)) for reader_id in ("R1", "R2")]
    for thread in threads:
        thread.start()
    started.wait(60)
    backups_made = [
        backups.make_backup(store, acting=Acting(by=BY, now=NOW + timedelta(minutes=i)))
        for i in range(3)
    ]
    for thread in threads:
        thread.join()
    assert [backup.finding for backup in backups_made] == ["", "", ""]
    for number, backup in enumerate(backups_made):
        restored = backups.restore_backup(backup.file, tmp_path / f"again{number}.db")
        assert verify(restored) == []
        for reader_id in ("R1", "R2"):
            reader = person(restored, reader_id)
            while cases := desk.desk(restored, reader, now=NOW).cases:
                records = [presentation(cases[0].case), reading(cases[0].case)]
                receipts = desk.take_records(restored, reader, records, now=NOW)
                assert receipts.refused == ()
            assert desk.desk(restored, reader, now=NOW).finished
        assert verify(restored) == []
    assert verify(store) == []


def test_a_backup_is_a_single_private_file(banked: Store) -> None:
    """The backup has no journal, only its owner can read it, and the event has its hash."""
    backup = backups.make_backup(banked, acting=ACTING)
    folder = backups.backup_folder(banked)
    assert [path.name for path in folder.iterdir()] == [backup.file.name]
    assert backup.file.stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0
    assert backup.n_bytes == backup.file.stat().st_size
    with banked.look() as look:
        event = list(events.walk(look, "deployment"))[-1]
    assert (event.kind, event.actor, event.detail["sha256"]) == (
        "backup made",
        "admin",
        backup.sha256,
    )
    (last,) = backups.list_backups(banked)
    assert (last.made_at_utc, last.finding) == (backup.made_at_utc, "")


def test_backups_made_in_the_same_second_have_different_names(banked: Store) -> None:
    """The second backup does not overwrite the first."""
    first, second = (backups.make_backup(banked, acting=ACTING) for _ in range(2))
    assert first.file != second.file
    assert [backup.there for backup in backups.list_backups(banked)] == [True, True]


def test_a_backup_that_fails_the_verification_is_kept_but_not_restored(
    banked: Store, tmp_path: Path
) -> None:
    """The finding is stored with the backup."""
    tamper(banked, "UPDATE reference_standard SET truth = 'A'")
    backup = backups.make_backup(banked, acting=ACTING)
    assert "bank bank: its items" in backup.finding
    with pytest.raises(BadFile, match="bank bank: its items"):
        backups.restore_backup(backup.file, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_damaged_backup_is_not_restored(banked: Store, tmp_path: Path) -> None:
    """The backup has overwritten pages, is truncated, or is another file."""
    backup_file = backups.make_backup(banked, acting=ACTING).file
    content = backup_file.read_bytes()
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


def test_restoring_overwrites_no_file(banked: Store, tmp_path: Path) -> None:
    """Stores and their journals are kept; a missing backup or folder is reported."""
    backup_file = backups.make_backup(banked, acting=ACTING).file
    with pytest.raises(BadFile, match="already exists"):
        backups.restore_backup(backup_file, banked.path)
    (tmp_path / "new.db-wal").write_bytes(b"x")
    with pytest.raises(BadFile, match=r"new\.db-wal already exists"):
        backups.restore_backup(backup_file, tmp_path / "new.db")
    with pytest.raises(NotFound, match="no backup"):
        backups.restore_backup(tmp_path / "none.db", tmp_path / "x.db")
    with pytest.raises(NotFound, match="folder"):
        backups.restore_backup(backup_file, tmp_path / "none" / "x.db")


def test_a_restored_store_uses_a_journal(banked: Store, tmp_path: Path) -> None:
    """The backup itself is a single file."""
    restored = backups.restore_backup(
        backups.make_backup(banked, acting=ACTING).file, tmp_path / "restored.db"
    )
    connection = sqlite3.connect(restored.path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_backup_can_be_written_to_another_path(banked: Store, tmp_path: Path) -> None:
    """Such a backup is never removed, and never overwrites a file."""
    backup = backups.make_backup(banked, acting=ACTING, out=tmp_path / "mine.db")
    assert backup.file == tmp_path / "mine.db"
    with pytest.raises(BadFile, match="already exists"):
        backups.make_backup(banked, acting=ACTING, out=tmp_path / "mine.db")
    with pytest.raises(BadFile, match="cannot be written"):
        backups.make_backup(banked, acting=ACTING, out=tmp_path / "none" / "x.db")
    backups.set_schedule(banked, Schedule(every_hours=1, keep=1), acting=ACTING)
    for minute in range(3):
        backups.make_backup(banked, acting=Acting(by=BY, now=NOW + timedelta(minutes=minute)))
    assert backup.file.is_file()
    assert len(list(backups.backup_folder(banked).iterdir())) == 1


def test_old_backups_are_removed_but_the_last_valid_one_is_kept(
    banked: Store, tmp_path: Path
) -> None:
    """Later invalid backups do not replace the last valid one."""
    backups.set_schedule(banked, Schedule(every_hours=24, keep=2), acting=ACTING)
    backups_made = [
        backups.make_backup(banked, acting=Acting(by=BY, now=NOW + timedelta(hours=i)))
        for i in range(3)
    ]
    assert [backup.file for backup in backups.list_backups(banked)] == [
        backups_made[2].file,
        backups_made[1].file,
    ]
    assert not backups_made[0].file.exists()
    tamper(banked, "UPDATE reference_standard SET truth = 'A'")
    for i in range(3, 7):
        backups.make_backup(banked, acting=Acting(by=BY, now=NOW + timedelta(hours=i)))
    assert backups_made[2].file.exists()
    assert len(backups.list_backups(banked)) == 3
    assert _kinds(banked).count("backup removed") == 4


def test_a_copy_made_before_an_upgrade_is_listed_and_later_removed(banked: Store) -> None:
    """The next backup verifies the copy, which is older."""
    backups.set_schedule(banked, Schedule(every_hours=24, keep=2), acting=ACTING)
    folder = backups.backup_folder(banked)
    folder.mkdir()
    copy, torn = (folder / f"{banked.stem}-before-upgrade-{n}.db" for n in (1, 2))
    banked.copy_to(copy)
    torn.write_bytes(copy.read_bytes()[:8192])
    made = backups.make_backup(banked, acting=ACTING)
    assert [backup.file for backup in backups.list_backups(banked)] == [made.file, torn]
    assert [not backup.finding for backup in backups.list_backups(banked)] == [True, False]
    assert not copy.exists()
    assert verify(banked, films=False) == []


def test_a_backup_file_whose_transaction_failed_is_listed_by_the_next_backup(
    banked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is in the name of the file, and files of other programs are not listed."""

    def fail(*_: object) -> NoReturn:
        raise Busy("The database cannot be reached.")

    with monkeypatch.context() as patch:
        patch.setattr(backups, "_backup", fail)  # fails after the file was renamed
        with pytest.raises(Busy):
            backups.make_backup(banked, acting=ACTING)
    assert backups.list_backups(banked) == []
    (file,) = backups.backup_folder(banked).glob("*.db")
    for name in (f"{banked.stem}-copy.db", "other-20251103T140000Z.db", "20251103T140000Z.db"):
        file.with_name(name).write_bytes(b"")
    later = NOW + timedelta(hours=1)
    made = backups.make_backup(banked, acting=Acting(by=BY, now=later))
    newest, unlisted = backups.list_backups(banked)
    assert (newest, unlisted.file, unlisted.finding) == (made, file, "")
    assert unlisted.made_at_utc == stamp(NOW)
    assert unlisted.sha256 == sha256_of_file(file)
    assert verify(banked, films=False) == []


def test_the_schedule_makes_a_backup_when_it_is_due(banked: Store) -> None:
    """The first backup is due at once, the next after the interval.

    No backup is due if the schedule is off.
    """
    assert backups.make_backup_if_due(banked, now=NOW) is not None
    assert backups.make_backup_if_due(banked, now=NOW + timedelta(hours=23)) is None
    backup = backups.make_backup_if_due(banked, now=NOW + timedelta(hours=24))
    assert backup is not None
    assert (backup.trigger, backup.actor) == ("schedule", "schedule")
    backups.set_schedule(banked, Schedule(every_hours=0, keep=2), acting=ACTING)
    assert backups.make_backup_if_due(banked, now=NOW + timedelta(days=99)) is None
    with banked.look() as look:
        detail = list(events.walk(look, "deployment"))[-1].detail
    assert (detail["old"], detail["new"]) == ("every 24 h, 14 kept", "never, 2 kept")


@pytest.mark.parametrize(("hours", "keep"), [(-1, 5), (24 * 91, 5), (24, 0), (24, 1001)])
def test_a_schedule_out_of_range_is_refused(banked: Store, hours: int, keep: int) -> None:
    """The current schedule remains in force."""
    with pytest.raises(BadInput, match="every 1 to"):
        backups.set_schedule(banked, Schedule(every_hours=hours, keep=keep), acting=ACTING)
    with banked.look() as look:
        assert backups.current_schedule(look) == Schedule(every_hours=24, keep=14)


def test_only_one_backup_is_made_at_a_time(banked: Store) -> None:
    """Only one of eight workers makes a backup; none does while another server holds the lease."""
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: backups.make_backup_if_due(banked, now=NOW), range(8)))
    assert sum(result is not None for result in made) == 1
    with lease(banked, "backup") as is_ours:
        assert is_ours()
        assert backups.make_backup_if_due(banked, now=NOW + timedelta(days=2)) is None
        with pytest.raises(NotNow, match="already in progress"):
            backups.make_backup(banked, acting=ACTING)
    assert backups.make_backup(banked, acting=ACTING).finding == ""


def test_a_failed_backup_is_recorded_and_tried_again_an_hour_later(
    banked: Store,
) -> None:
    """The backup fails because a file has the name of the folder."""
    backups.backup_folder(banked).write_bytes(b"")
    with pytest.raises(BadFile, match="cannot be written"):
        backups.make_backup_if_due(banked, now=NOW)
    assert _kinds(banked)[-1] == "backup failed"
    assert backups.make_backup_if_due(banked, now=NOW + timedelta(minutes=5)) is None
    backups.backup_folder(banked).unlink()
    assert backups.make_backup_if_due(banked, now=NOW + timedelta(minutes=61)) is not None


def test_incomplete_backups_left_by_a_crash_are_removed(banked: Store) -> None:
    """The next backup removes these files."""
    incomplete = backups.backup_folder(banked) / ".making-x"
    incomplete.mkdir(parents=True)
    (incomplete / "store.db").write_bytes(b"half")
    backups.make_backup(banked, acting=ACTING)
    assert not incomplete.exists()


def test_the_thread_of_the_server_makes_backups_despite_errors(
    banked: Store, tmp_path: Path
) -> None:
    """At first the store is missing, then an unexpected error occurs, then the backup succeeds."""
    calls, done = [], threading.Event()

    def store() -> Store:
        calls.append(1)
        if len(calls) == 1:
            raise NotFound("none")
        if len(calls) == 2:
            raise RuntimeError("a mistake")
        if len(calls) > 3:
            done.set()
        return banked

    with run_due_tasks(store, first_s=0.0, every_s=0.01):
        assert done.wait(60)
    assert len(backups.list_backups(banked)) == 1


def test_after_a_move_of_the_store_backups_without_a_file_are_marked(
    banked: Store, tmp_path: Path
) -> None:
    """The rows of these backups are kept."""
    backups.make_backup(banked, acting=ACTING)
    (tmp_path / "moved").mkdir()
    banked.copy_to(tmp_path / "moved" / "store.db")
    moved = Store(tmp_path / "moved" / "store.db")
    assert [backup.there for backup in backups.list_backups(moved)] == [False]
