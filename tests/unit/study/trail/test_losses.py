"""A store that lacks acknowledged records is reported, continues, and can be accepted."""

import os
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest

from study.base.actor import Acting, By
from study.base.errors import BadInput, NotNow, StudyError
from study.exchange import backups
from study.lifecycle.deployments import init
from study.reading import desk
from study.store import Store, events, witness
from study.store.events import EventKind
from study.store.witness import Head
from study.trail import losses
from study.trail.verification import remarks, verify, verify_study
from tests.conftest import NOW, entropy_from, person, presentation, reading
from ui.server.schedule import check_witness

pytestmark = [
    pytest.mark.usefixtures("cold"),
    pytest.mark.sqlite("replaces the file by an earlier one"),
]

Opened = Callable[..., Store]
BY = By(name="admin", role="administrator")
ACTING = Acting(by=BY, now=NOW)


class ReadingPage:
    """A reading page that sends records and keeps those that were acknowledged."""

    def __init__(self, store: Store, reader: str = "R1") -> None:
        self.store, self.reader = store, reader
        self.sent: list[dict[str, Any]] = []

    def read(self, n: int) -> None:
        """Read some cases; each presentation and each reading is sent in a separate message."""
        me = person(self.store, self.reader)
        for _ in range(n):
            (case, *_) = desk.desk(self.store, me, now=NOW).cases
            for record in (presentation(case.case), reading(case.case)):
                receipts = desk.take_records(self.store, me, [record], now=NOW)
                assert receipts.refused == ()
                self.sent.append(record)

    def send_all_again(self, store: Store) -> desk.Acknowledgement:
        """Send all records again, as a page does when the server has lost some."""
        me = person(store, self.reader)
        repeated = [{**record, "again": True} for record in self.sent]
        return desk.take_records(store, me, repeated, now=NOW + timedelta(minutes=9))


@contextmanager
def _keep_journal(store: Store) -> Iterator[None]:
    """Keep the journal next to the file, as during the run of a server."""
    with store.kept_open():
        yield


def _copy_store_files(store: Store, to: Path, *ends: str) -> Store:
    """Copy a store's file and the files with the same name and other endings."""
    to.mkdir()
    for end in ("", *ends):
        shutil.copy(f"{store.path}{end}", to / f"{store.path.name}{end}")
    return Store(to / store.path.name)


def _restore_earlier_copy(store: Store, page: ReadingPage, then: int, rest: int) -> Store:
    """Read some cases, copy the file, read the rest, and restore the copy."""
    page.read(then)
    store.checkpoint()
    earlier_store = Path(shutil.copy(store.path, store.path.with_suffix(".kept")))
    page.read(rest)
    for end in ("-wal", "-shm"):
        Path(f"{store.path}{end}").unlink(missing_ok=True)
    shutil.copy(earlier_store, store.path)
    return Store(store.path)


def test_verification_reports_a_copy_without_its_journal(opened: Opened, tmp_path: Path) -> None:
    """The latest records are only in the journal, so the copy opens without them."""
    store = opened(cases=8)
    store.checkpoint()
    with _keep_journal(store):
        ReadingPage(store).read(3)
        copy = _copy_store_files(store, tmp_path / "copy", "-heads.log")
        assert verify(store) == []
    with copy.look() as look:
        assert look.value("SELECT count(*) FROM readings") == 0
    (breach,) = verify(copy)
    assert breach.startswith("study:trial: the store ends before what was acknowledged")
    assert "event 6, and event 12 was acknowledged at 2025-06-04T12:00:00" in breach
    assert verify_study(copy, "trial").breaches == (breach,)


def test_verification_reports_a_damaged_journal(opened: Opened, tmp_path: Path) -> None:
    """SQLite silently ignores the part of a journal after the damage."""
    store = opened(cases=8)
    store.checkpoint()
    with _keep_journal(store):
        ReadingPage(store).read(6)
        copy = tmp_path / "copy"
        copy.mkdir()
        for end in ("", "-wal", "-heads.log"):
            shutil.copy(f"{store.path}{end}", copy / f"{store.path.name}{end}")
    journal = Path(f"{copy / store.path.name}-wal")
    content = journal.read_bytes()
    journal.write_bytes(content[:5000] + b"\xff" * 200 + content[5200:])
    assert any(
        "ends before what was acknowledged" in breach for breach in verify(Store(copy / "store.db"))
    )


def test_a_missing_witness_causes_a_remark_and_not_a_breach(opened: Opened, tmp_path: Path) -> None:
    """The store may have been created by an earlier version, or moved."""
    store = opened(cases=8)
    copy = _copy_store_files(store, tmp_path / "copy")
    assert verify(copy) == []
    (remark,) = remarks(copy)
    assert "no witness file (store.db-heads.log)" in remark
    assert remarks(store) == []
    check_witness(lambda: copy)
    assert remarks(copy) == []
    witnessed = witness.read(copy.path)
    assert witnessed is not None
    assert {head.chain for head in witnessed.heads} == {"deployment", "study:trial"}


def test_a_store_with_a_record_that_is_not_in_its_witness_is_valid(opened: Opened) -> None:
    """The server was killed while writing a line: the store may have an unacknowledged record."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    before = log.read_bytes()
    ReadingPage(store).read(1)
    log.write_bytes(before + log.read_bytes()[len(before) :][:40])
    assert (verify(store), remarks(store)) == ([], [])
    ReadingPage(store).read(1)
    witnessed = witness.read(store.path)
    assert witnessed is not None
    assert (witnessed.n_unread, witnessed.damage, witnessed.heads[-1].number) == (0, "", 10)
    assert (verify(store), remarks(store)) == ([], [])


def _record_later_events(store: Store, n: int, start: int = 0) -> None:
    """Record events in the deployment's trail, one per minute."""
    for minute in range(start, start + n):
        with store.change() as change:
            at = NOW + timedelta(minutes=minute)
            events.record(change, "", Acting(by=BY, now=at), kind=EventKind.DOWNLOADED, detail={})


def _keep_lines(log: Path, n: int) -> None:
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:n]))


def _swap(log: Path) -> None:
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:-3], lines[-2], lines[-3], lines[-1]]))


def _link(log: Path, to: str) -> None:
    log.unlink()
    log.symlink_to(to)


TAMPERING: dict[str, Callable[[Path], object]] = {
    "emptied": lambda log: log.write_text(""),
    "first line alone": lambda log: _keep_lines(log, 1),
    "heading alone": lambda log: _keep_lines(log, 2),
    "cut in half": lambda log: _keep_lines(log, len(log.read_text().splitlines()) // 2),
    "cut by a line": lambda log: _keep_lines(log, len(log.read_text().splitlines()) - 1),
    "cut within a line": lambda log: log.write_bytes(log.read_bytes()[:-20]),
    "without its first line": lambda log: log.write_text(log.read_text().split("\n", 1)[1]),
    "former heading alone": lambda log: log.write_text("# Heads of the chains of store.db\n"),
    "a line removed": lambda log: log.write_text(
        "".join(log.read_text().splitlines(keepends=True)[n] for n in (0, 1, 2, 4, 5, 6, 7))
    ),
    "a line twice": lambda log: log.write_text(
        log.read_text() + log.read_text().splitlines(keepends=True)[-1]
    ),
    "all lines twice": lambda log: log.write_bytes(2 * log.read_bytes()),
    "two lines swapped": _swap,
    "the heading edited": lambda log: log.write_text(
        log.read_text().replace("store.db", "other.db")
    ),
    "a line edited": lambda log: log.write_text(log.read_text().replace(" 7 ", " 8 ")),
    "a remark added": lambda log: log.write_text(log.read_text() + "# nothing\n"),
    "bytes of no text": lambda log: log.write_bytes(log.read_bytes() + b"\xff\xfe\n"),
    "another first line": lambda log: log.write_text(
        re.sub("seal [0-9a-f]{4}", "seal 0000", log.read_text(), count=1)
    ),
    "a link to nothing": lambda log: _link(log, "nowhere"),
    "a link to /dev/null": lambda log: _link(log, "/dev/null"),
}


@pytest.mark.parametrize("tampering", TAMPERING)
def test_a_tampered_witness_is_reported_until_an_administrator_accepts_it(
    opened: Opened, tampering: str
) -> None:
    """After a start, the audit trail reports the damage, and the file itself is valid again."""
    store = opened(cases=8)
    _record_later_events(store, 5)
    assert verify(store) == []
    TAMPERING[tampering](witness.file_of(store.path))
    assert any("the witness: the file " in line for line in verify(store))
    assert any("the witness: " in line for line in verify_study(store, "trial").breaches)
    for _ in range(2):
        losses.record_losses(store, now=NOW, starting=True)
    witnessed = witness.read(store.path)
    assert witnessed is not None
    assert (witnessed.damage, witnessed.n_unread) == ("", 0)
    with store.look() as look:
        assert len(events.of_kind(look, events.DEPLOYMENT, EventKind.WITNESS_DAMAGED)) == 1
        assert {line.chain for line in witnessed.heads} == set(events.chains(look))
    assert any("the witness: on " in line for line in verify(store))
    losses.accept_losses(store, reason="Edited by mistake.", acting=ACTING)
    assert verify(store) == []
    assert any("Edited by mistake." in line for line in remarks(store))


def test_a_loss_is_accepted_although_the_witness_cannot_be_written(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trail records the acceptance; heads that remain in the witness are no loss."""
    original = opened(cases=8)
    store = _restore_earlier_copy(original, ReadingPage(original), 2, 2)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "forget_heads", Mock(side_effect=OSError(28, "full")))
        assert losses.accept_losses(store, reason="Copied by mistake.", acting=ACTING)
    assert verify(store) == []
    with pytest.raises(NotNow):
        losses.accept_losses(store, reason="Copied by mistake.", acting=ACTING)


@pytest.mark.parametrize("tampering", [breach for breach in TAMPERING if "link" not in breach])
def test_lines_added_later_do_not_hide_the_damage_of_a_witness(
    opened: Opened, tampering: str
) -> None:
    """The file was altered while a server was running."""
    store = opened(cases=8)
    _record_later_events(store, 5)
    TAMPERING[tampering](witness.file_of(store.path))
    _record_later_events(store, 2)
    assert any("the witness: the file " in breach for breach in verify(store))


@pytest.mark.parametrize("n", [1, 40])
def test_the_witness_of_another_store_is_reported(opened: Opened, tmp_path: Path, n: int) -> None:
    """That file is valid, and shorter or longer, but its events have other hashes."""
    store = opened(cases=8)
    _record_later_events(store, 5)
    (tmp_path / "other").mkdir()
    address = tmp_path / "other" / store.path.name
    other = init(address, entropy=entropy_from(1), now=NOW + timedelta(seconds=1))
    _record_later_events(other, n, start=100)
    shutil.copy(witness.file_of(other.path), witness.file_of(store.path))
    expected = "deployment: the store ends before what was acknowledged: "
    assert any(line.startswith(expected) for line in verify(store))
    losses.record_losses(store, now=NOW, starting=True)
    _record_later_events(store, 2, start=300)
    assert any(line.startswith(expected) for line in verify(store))
    losses.accept_losses(store, reason="Copied by mistake.", acting=ACTING)
    assert verify(store) == []


def test_verification_reports_a_witness_older_than_the_store(opened: Opened) -> None:
    """An older store with an older witness cannot be detected."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    older = log.read_bytes()
    _record_later_events(store, 5)
    log.write_bytes(older)
    (breach,) = verify(store)
    assert "ends before the store: it has no event of deployment after number" in breach
    losses.record_losses(store, now=NOW)
    assert verify(store) == [
        breach
    ]  # other processes may be writing, so only a start of the server can decide
    losses.record_losses(store, now=NOW, starting=True)
    assert any("the witness: on " in name for name in verify(store))


def test_a_witness_in_an_earlier_format_is_valid_and_rewritten(opened: Opened) -> None:
    """The lines of this format have no seals."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    former = witness.read(store.path)
    assert former is not None
    lines = "".join(
        f"{head.at_utc} {head.number} {head.hash} {head.chain}\n" for head in former.heads
    )
    log.write_text(f"# Heads of the chains of store.db, begun 2025.\n{lines}")
    ReadingPage(store).read(1)
    assert verify(store) == []
    assert any("format of an earlier version" in remark for remark in remarks(store))
    losses.record_losses(store, now=NOW, starting=True)
    rewritten = witness.read(store.path)
    assert rewritten is not None
    assert (rewritten.is_former, rewritten.damage, remarks(store)) == (False, "", [])
    assert rewritten.heads[-1].number == 8


def test_a_first_line_that_was_not_flushed_is_corrected(opened: Opened) -> None:
    """After a power cut, the line may count fewer lines than the file has, never more."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    first = log.read_bytes().split(b"\n")[0]
    _record_later_events(store, 3)
    log.write_bytes(first + log.read_bytes()[len(first) :])
    assert verify(store) == []
    _record_later_events(store, 1)
    witnessed = witness.read(store.path)
    assert witnessed is not None
    assert (witnessed.damage, verify(store)) == ("", [])


def test_simultaneous_writers_keep_the_witness_valid(opened: Opened) -> None:
    """Each line continues the one before, even when the file is started or rewritten."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    log.unlink()
    with patch.object(witness, "MAX_BYTES", 3000), ThreadPoolExecutor(6) as pool:
        for result in [pool.submit(_record_later_events, store, 8) for _ in range(6)]:
            result.result()
    assert log.stat().st_size < 6000
    assert verify(store) == []
    assert [path.name for path in store.path.parent.glob(".*heads*")] == []


def test_lost_answers_are_sent_again_and_recorded_in_the_trail(opened: Opened) -> None:
    """The store has lost three of five readings; the page sends them again."""
    store = opened(cases=8)
    page = ReadingPage(store)
    back = _restore_earlier_copy(store, page, 2, 3)
    losses.record_losses(back, now=NOW)
    with back.look() as look:
        loss = losses.unaccepted_loss(look, "trial")
        assert loss is not None
        assert (loss.ends, loss.lost.number) == (10, 16)
    assert desk.desk(back, person(back), now=NOW).stored == 4
    receipt = page.send_all_again(back)
    assert receipt.refused == ()
    assert receipt.desk.read == 5
    assert receipt.desk.stored == 10
    with back.look() as look:
        flags = [row["flags"] for row in look.rows("SELECT flags FROM readings ORDER BY rowid")]
    assert ["sent_again" in names for names in flags] == [False, False, True, True, True]
    (breach,) = verify(back)
    assert "it had gone back to event 10; event 16 was acknowledged" in breach
    assert "answers sent again since: 3." in breach
    losses.accept_losses(
        back, reason="All came again.", acting=Acting(by=BY, now=NOW + timedelta(minutes=10))
    )
    assert verify(back) == []
    (remark,) = remarks(back)
    assert "answers sent again since: 3. Accepted on 2025-06-04T12:10:00.000Z by admin" in remark
    with back.look() as look:
        assert losses.unaccepted_loss(look, "trial") is None
    ReadingPage(back).read(1)
    assert verify(back) == []


def test_a_loss_is_recorded_once(opened: Opened) -> None:
    """The number of checks and servers makes no difference."""
    store = opened(cases=8)
    back = _restore_earlier_copy(store, ReadingPage(store), 1, 2)
    for _ in range(3):
        check_witness(lambda: back)
    with back.look() as look:
        noted = events.of_kind(look, "study:trial", losses.WENT_BACK_KIND)
    assert [(event["ends"], event["number"]) for event in noted] == [(8, 12)]


def test_verification_reports_a_lost_study(opened: Opened, tmp_path: Path) -> None:
    """The study was drawn after the copy; the deployment's trail records the loss."""
    before = tmp_path / "before.db"
    store = opened(cases=8)
    log = witness.file_of(store.path).read_text()
    empty = init(before, entropy=entropy_from(1), now=NOW)
    witness.file_of(empty.path).write_text(log)
    assert any("study:trial: the store ends before" in breach for breach in verify(empty))
    check_witness(lambda: empty)
    with empty.look() as look:
        recorded = events.of_kind(look, events.DEPLOYMENT, losses.WENT_BACK_KIND)
        assert losses.unaccepted_loss(look, "") is not None
    assert "study:trial" in {event["chain"] for event in recorded}
    losses.accept_losses(empty, reason="It was a trial.", acting=ACTING)
    assert verify(empty) == []


def test_only_an_existing_loss_can_be_accepted_and_with_a_reason(opened: Opened) -> None:
    """An intact store has no loss to accept."""
    store = opened(cases=8)
    with pytest.raises(NotNow, match="nothing to accept"):
        losses.accept_losses(store, reason="x", acting=ACTING)
    back = _restore_earlier_copy(store, ReadingPage(store), 0, 1)
    with pytest.raises(BadInput, match="Give a reason"):
        losses.accept_losses(back, reason=" ", acting=ACTING)


def test_a_restored_backup_continues_and_its_losses_are_accepted(opened: Opened) -> None:
    """The decision to restore includes the acceptance."""
    store = opened(cases=8)
    page = ReadingPage(store)
    page.read(1)
    backup = backups.make_backup(store, acting=ACTING)
    page.read(2)
    for end in ("", "-wal", "-shm"):
        Path(f"{store.path}{end}").unlink(missing_ok=True)
    restored = backups.restore_backup(backup.file, store.path)
    lacking = backups.record_restored(restored, backup.file, acting=ACTING)
    assert {loss.lost.chain for loss in lacking} == {"study:trial", "deployment"}
    assert verify(restored) == []
    assert page.send_all_again(restored).refused == ()
    assert verify(restored) == []
    assert any("answers sent again since: 2" in remark for remark in remarks(restored))


def test_records_are_not_acknowledged_before_they_are_in_the_witness(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records are refused until the witness can be written."""
    store = opened(cases=8)
    me = person(store)
    case = desk.desk(store, me, now=NOW).cases[0].case
    records = [presentation(case), reading(case)]
    add = witness.add

    def broken(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(witness, "add", broken)
    for _ in range(2):
        with pytest.raises(StudyError, match=r"cannot write store.db-heads.log") as refused:
            desk.take_records(store, me, records, now=NOW)
        assert "The change is in the database." in refused.value.__notes__[-1]
    monkeypatch.setattr(witness, "add", add)
    assert desk.take_records(store, me, records, now=NOW).refused == ()
    witnessed = witness.read(store.path)
    assert witnessed is not None
    assert witnessed.heads[-1].number == 8


def test_a_server_killed_under_load_causes_no_breach(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process commits only after the last event of every other process is in the witness."""
    stores = [opened(cases=8)]
    stores.append(Store(stores[0].path))
    entered, finish, add = threading.Event(), threading.Event(), witness.add

    def slow(*what: Any, **more: Any) -> None:
        entered.set()
        finish.wait()
        add(*what, **more)

    monkeypatch.setattr(witness, "add", slow)
    with ThreadPoolExecutor(4) as pool:
        acts = [
            pool.submit(_record_later_events, store, 1, n) for n, store in enumerate(stores * 2)
        ]
        entered.wait()
        wait(acts, timeout=0.5)  # the other processes wait for the first
        try:
            assert verify(stores[0]) == []  # the state after a kill at this moment
        finally:
            finish.set()
    assert [act.result() for act in acts] == [None] * 4
    assert verify(stores[0]) == []


def test_an_earlier_head_never_replaces_a_later_one(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two simultaneous commits, the later one may reach the witness first."""
    store = opened(cases=8)
    wrong = [OSError(28, "No space left on device")]
    add = witness.add

    def broken_once(*what: Any, **more: Any) -> None:
        if wrong:
            raise wrong.pop()
        add(*what, **more)

    monkeypatch.setattr(witness, "add", broken_once)
    with pytest.raises(StudyError), store.change() as change:
        change.heads["study:trial"] = _head(11)
    with store.change() as change:
        change.heads["study:trial"] = _head(10)
    witnessed = witness.read(store.path)
    assert witnessed is not None
    assert witnessed.heads[-1] == _head(11)


def _head(number: int) -> Head:
    return Head(
        chain="study:trial", number=number, hash="a" * 64, at_utc="2025-06-04T12:00:00.000Z"
    )


@pytest.mark.parametrize("is_rewritten", [False, True])
def test_the_witness_has_the_owner_and_mode_of_the_store(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, is_rewritten: bool
) -> None:
    """After a command run by root, the server can still write it."""
    store = opened(cases=8)
    file = witness.file_of(store.path)
    store.path.chmod(0o660)
    if os.geteuid() == 0:
        os.chown(store.path, 12345, 12345)
    if is_rewritten:
        monkeypatch.setattr(witness, "MAX_BYTES", 1)
    else:
        file.unlink()
    ReadingPage(store).read(1)
    status, expected = file.stat(), store.path.stat()
    assert (status.st_mode, status.st_uid, status.st_gid) == (
        expected.st_mode,
        expected.st_uid,
        expected.st_gid,
    )


def test_a_rewritten_witness_keeps_the_last_heads_and_all_losses(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rewriting keeps the file small."""
    monkeypatch.setattr(witness, "MAX_BYTES", 2000)
    store = opened(cases=12)
    page = ReadingPage(store)
    lost = Head(chain="study:trial", number=99, hash="a" * 64, at_utc="2025-06-04T12:00:00.000Z")
    witness.add(store.path, [lost], all_heads=tuple, superseded=lambda _: ())
    page.read(8)
    assert witness.file_of(store.path).stat().st_size < 2200
    witnessed = witness.read(store.path)
    assert witnessed is not None
    assert lost in witnessed.heads
    assert witnessed.heads[-1].number == 22
    assert len(verify(store)) == 1


def test_a_checkpoint_moves_all_rows_to_the_file_without_blocking(
    opened: Opened, tmp_path: Path
) -> None:
    """A copy of the file without its log lacks at most a minute, and readers do not wait."""
    store = opened(cases=8)
    with _keep_journal(store):
        ReadingPage(store).read(2)
        with store.look() as look:  # a long read is in progress
            look.value("SELECT count(*) FROM readings")
            store.checkpoint_without_blocking()
        store.checkpoint_without_blocking()
        copy = Path(shutil.copy(store.path, tmp_path / "copy.db"))
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT count(*) FROM readings").fetchone() == (2,)
    connection.close()
