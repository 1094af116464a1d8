"""Losses: a store behind what was acknowledged is named, gone on with, and accepted by somebody."""

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
from unittest.mock import patch

import pytest

from study.base.actor import By
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
from ui.server.schedule import ask_witness

pytestmark = pytest.mark.usefixtures("cold")  # files are put in the place of others

Opened = Callable[..., Store]
BY = By(name="admin", role="administrator")


class Page:
    """A reading page as far as it sends records: it keeps what was acknowledged."""

    def __init__(self, store: Store, reader: str = "R1") -> None:
        self.store, self.reader = store, reader
        self.sent: list[dict[str, Any]] = []

    def read(self, n: int) -> None:
        """Read some cases, each presentation and reading in a message of its own."""
        me = person(self.store, self.reader)
        for _ in range(n):
            (case, *_) = desk.desk(self.store, me, now=NOW).cases
            for record in (presentation(case.case), reading(case.case)):
                taken = desk.take_records(self.store, me, [record], now=NOW)
                assert taken.refused == ()
                self.sent.append(record)

    def offer_again(self, store: Store) -> desk.Acknowledgement:
        """Send everything once more, as a page does that sees the server gone back."""
        me = person(store, self.reader)
        again = [{**one, "again": True} for one in self.sent]
        return desk.take_records(store, me, again, now=NOW + timedelta(minutes=9))


@contextmanager
def _journalled(store: Store) -> Iterator[None]:
    """Keep the journal beside the file, as it is while a server runs."""
    with store.kept_warm():
        yield


def _copied(store: Store, to: Path, *ends: str) -> Store:
    """Copy a store's file and what ends so beside it, as somebody would who knows no better."""
    to.mkdir()
    for end in ("", *ends):
        shutil.copy(f"{store.path}{end}", to / f"{store.path.name}{end}")
    return Store(to / store.path.name)


def _set_back(store: Store, page: Page, then: int, rest: int) -> Store:
    """Read some cases, keep the file aside, read the rest, and put the file back."""
    page.read(then)
    store.fold_in()
    kept = Path(shutil.copy(store.path, store.path.with_suffix(".kept")))
    page.read(rest)
    for end in ("-wal", "-shm"):
        Path(f"{store.path}{end}").unlink(missing_ok=True)
    shutil.copy(kept, store.path)
    return Store(store.path)


def test_a_copy_without_its_journal_is_named(opened: Opened, tmp_path: Path) -> None:
    """What was acknowledged is in the journal alone; the copy opens whole and shorter."""
    store = opened(cases=8)
    store.fold_in()
    with _journalled(store):
        Page(store).read(3)
        copy = _copied(store, tmp_path / "copy", "-heads.log")
        assert verify(store) == []
    with copy.look() as look:
        assert look.value("SELECT count(*) FROM readings") == 0
    (found,) = verify(copy)
    assert found.startswith("study:trial: the store ends before what was acknowledged")
    assert "event 6, and event 12 was acknowledged at 2025-06-04T12:00:00" in found
    assert verify_study(copy, "trial").breaches == (found,)


def test_a_damaged_journal_is_named(opened: Opened, tmp_path: Path) -> None:
    """SQLite ends the journal where it is broken, and says nothing."""
    store = opened(cases=8)
    store.fold_in()
    with _journalled(store):
        Page(store).read(6)
        copy = tmp_path / "copy"
        copy.mkdir()
        for end in ("", "-wal", "-heads.log"):
            shutil.copy(f"{store.path}{end}", copy / f"{store.path.name}{end}")
    journal = Path(f"{copy / store.path.name}-wal")
    content = journal.read_bytes()
    journal.write_bytes(content[:5000] + b"\xff" * 200 + content[5200:])
    assert any(
        "ends before what was acknowledged" in one for one in verify(Store(copy / "store.db"))
    )


def test_a_copy_without_the_witness_says_that_it_is_absent(opened: Opened, tmp_path: Path) -> None:
    """That is no breach: an older store, or one that was moved."""
    store = opened(cases=8)
    copy = _copied(store, tmp_path / "copy")
    assert verify(copy) == []
    (remark,) = remarks(copy)
    assert "no witness file (store.db-heads.log)" in remark
    assert remarks(store) == []
    ask_witness(lambda: copy)
    assert remarks(copy) == []
    told = witness.read(copy.path)
    assert told is not None
    assert {head.chain for head in told.heads} == {"deployment", "study:trial"}


def test_the_store_may_be_ahead_of_its_witness(opened: Opened) -> None:
    """The server was killed within a line: what was not acknowledged may be in the store."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    before = log.read_bytes()
    Page(store).read(1)
    log.write_bytes(before + log.read_bytes()[len(before) :][:40])
    assert (verify(store), remarks(store)) == ([], [])
    Page(store).read(1)
    told = witness.read(store.path)
    assert told is not None
    assert (told.n_unread, told.damage, told.heads[-1].number) == (0, "", 10)
    assert (verify(store), remarks(store)) == ([], [])


def _later(store: Store, n: int, start: int = 0) -> None:
    """Record events in the deployment's trail, each at another minute."""
    for minute in range(start, start + n):
        with store.change() as change:
            at = NOW + timedelta(minutes=minute)
            events.record(change, "", at, kind=EventKind.DOWNLOADED, detail={}, by=BY)


def _cut(log: Path, n: int) -> None:
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:n]))


def _swap(log: Path) -> None:
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:-3], lines[-2], lines[-3], lines[-1]]))


def _link(log: Path, to: str) -> None:
    log.unlink()
    log.symlink_to(to)


TAMPERED: dict[str, Callable[[Path], object]] = {
    "emptied": lambda log: log.write_text(""),
    "first line alone": lambda log: _cut(log, 1),
    "heading alone": lambda log: _cut(log, 2),
    "cut in half": lambda log: _cut(log, len(log.read_text().splitlines()) // 2),
    "cut by a line": lambda log: _cut(log, len(log.read_text().splitlines()) - 1),
    "cut within a line": lambda log: log.write_bytes(log.read_bytes()[:-20]),
    "without its first line": lambda log: log.write_text(log.read_text().split("\n", 1)[1]),
    "former heading alone": lambda log: log.write_text("# Heads of the chains of store.db\n"),
    "a line removed": lambda log: log.write_text(
        "".join(log.read_text().splitlines(keepends=True)[n] for n in (0, 1, 2, 4, 5, 6, 7))
    ),
    "a line twice": lambda log: log.write_text(
        log.read_text() + log.read_text().splitlines(keepends=True)[-1]
    ),
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


@pytest.mark.parametrize("tampered", TAMPERED)
def test_a_witness_that_was_tampered_with_is_named_until_somebody_accepts_it(
    opened: Opened, tampered: str
) -> None:
    """By `verify` at once, and after a start by the trail; the file itself is whole again."""
    store = opened(cases=8)
    _later(store, 5)
    assert verify(store) == []
    TAMPERED[tampered](witness.file_of(store.path))
    assert any("the witness: the file " in one for one in verify(store))
    assert any("the witness: " in one for one in verify_study(store, "trial").breaches)
    for _ in range(2):
        losses.note(store, now=NOW, starting=True)
    told = witness.read(store.path)
    assert told is not None
    assert (told.damage, told.n_unread) == ("", 0)
    with store.look() as look:
        assert len(events.of_kind(look, events.DEPLOYMENT, EventKind.WITNESS_DAMAGED)) == 1
        assert {one.chain for one in told.heads} == set(events.chains(look))
    assert any("the witness: on " in one for one in verify(store))
    losses.accept(store, reason="Edited by mistake.", by=BY, now=NOW)
    assert verify(store) == []
    assert any("Edited by mistake." in one for one in remarks(store))


@pytest.mark.parametrize("tampered", [one for one in TAMPERED if "link" not in one])
def test_a_witness_that_is_written_on_still_shows_its_damage(opened: Opened, tampered: str) -> None:
    """Tampered with under a running server: what is added later does not hide it."""
    store = opened(cases=8)
    _later(store, 5)
    TAMPERED[tampered](witness.file_of(store.path))
    _later(store, 2)
    assert any("the witness: the file " in one for one in verify(store))


def test_an_older_witness_is_named_by_what_the_store_has_since(opened: Opened) -> None:
    """It is sound in itself; a store of its time would not tell either, which nobody can."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    older = log.read_bytes()
    _later(store, 5)
    log.write_bytes(older)
    (breach,) = verify(store)
    assert "ends before the store: it has no event of deployment after number" in breach
    losses.note(store, now=NOW)
    assert verify(store) == [breach]  # others may be writing: only a start is sure of it
    losses.note(store, now=NOW, starting=True)
    assert any("the witness: on " in one for one in verify(store))


def test_a_witness_of_an_earlier_version_holds_and_is_written_anew(opened: Opened) -> None:
    """Its lines have no seals; what it tells of is told of all the same."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    told = witness.read(store.path)
    assert told is not None
    lines = "".join(f"{one.at_utc} {one.number} {one.hash} {one.chain}\n" for one in told.heads)
    log.write_text(f"# Heads of the chains of store.db, begun 2025.\n{lines}")
    Page(store).read(1)
    assert verify(store) == []
    assert any("format of an earlier version" in one for one in remarks(store))
    losses.note(store, now=NOW, starting=True)
    again = witness.read(store.path)
    assert again is not None
    assert (again.is_former, again.damage, remarks(store)) == (False, "", [])
    assert again.heads[-1].number == 8


def test_a_first_line_that_was_not_flushed_is_caught_up(opened: Opened) -> None:
    """After a power cut it may count fewer lines than there are; never more."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    first = log.read_bytes().split(b"\n")[0]
    _later(store, 3)
    log.write_bytes(first + log.read_bytes()[len(first) :])
    assert verify(store) == []
    _later(store, 1)
    told = witness.read(store.path)
    assert told is not None
    assert (told.damage, verify(store)) == ("", [])


def test_many_write_to_the_witness_at_once(opened: Opened) -> None:
    """Each line follows from the one before, also when the file is begun or written anew."""
    store = opened(cases=8)
    log = witness.file_of(store.path)
    log.unlink()
    with patch.object(witness, "LONGEST", 3000), ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(_later, store, 8) for _ in range(6)]:
            done.result()
    assert log.stat().st_size < 6000
    assert verify(store) == []
    assert [one.name for one in store.path.parent.glob(".*heads*")] == []


def test_answers_come_again_and_the_trail_tells_of_it(opened: Opened) -> None:
    """Five read, the file set back to two, restarted, offered again: all five are there."""
    store = opened(cases=8)
    page = Page(store)
    back = _set_back(store, page, 2, 3)
    losses.note(back, now=NOW)
    with back.look() as look:
        loss = losses.gone_back(look, "trial")
        assert loss is not None
        assert (loss.ends, loss.lost.number) == (10, 16)
    assert desk.desk(back, person(back), now=NOW).stored == 4
    receipt = page.offer_again(back)
    assert receipt.refused == ()
    assert receipt.desk.read == 5
    assert receipt.desk.stored == 10
    with back.look() as look:
        flags = [row["flags"] for row in look.rows("SELECT flags FROM readings ORDER BY rowid")]
    assert ["sent_again" in one for one in flags] == [False, False, True, True, True]
    (found,) = verify(back)
    assert "it had gone back to event 10; event 16 was acknowledged" in found
    assert "answers sent again since: 3." in found
    losses.accept(back, reason="All came again.", by=BY, now=NOW + timedelta(minutes=10))
    assert verify(back) == []
    (remark,) = remarks(back)
    assert "answers sent again since: 3. Accepted on 2025-06-04T12:10:00.000Z by admin" in remark
    with back.look() as look:
        assert losses.gone_back(look, "trial") is None
    Page(back).read(1)
    assert verify(back) == []


def test_what_was_lost_is_noted_once(opened: Opened) -> None:
    """However often the server looks, and however many of them do."""
    store = opened(cases=8)
    back = _set_back(store, Page(store), 1, 2)
    for _ in range(3):
        ask_witness(lambda: back)
    with back.look() as look:
        noted = events.of_kind(look, "study:trial", losses.WENT_BACK)
    assert [(one["ends"], one["number"]) for one in noted] == [(8, 12)]


def test_a_study_that_is_gone_altogether_is_named(opened: Opened, tmp_path: Path) -> None:
    """It was drawn after the copy; the deployment's trail tells of it."""
    before = tmp_path / "before.db"
    store = opened(cases=8)
    log = witness.file_of(store.path).read_text()
    empty = init(before, entropy=entropy_from(1), now=NOW)
    witness.file_of(empty.path).write_text(log)
    assert any("study:trial: the store ends before" in one for one in verify(empty))
    ask_witness(lambda: empty)
    with empty.look() as look:
        told = events.of_kind(look, events.DEPLOYMENT, losses.WENT_BACK)
        assert losses.gone_back(look, "") is not None
    assert "study:trial" in {one["chain"] for one in told}
    losses.accept(empty, reason="It was a trial.", by=BY, now=NOW)
    assert verify(empty) == []


def test_a_whole_store_has_nothing_to_accept(opened: Opened) -> None:
    """Nor is a loss accepted without a reason."""
    store = opened(cases=8)
    with pytest.raises(NotNow, match="nothing to accept"):
        losses.accept(store, reason="x", by=BY, now=NOW)
    back = _set_back(store, Page(store), 0, 1)
    with pytest.raises(BadInput, match="Give a reason"):
        losses.accept(back, reason=" ", by=BY, now=NOW)


def test_a_backup_put_in_place_under_the_old_name_goes_on_from_there(opened: Opened) -> None:
    """What it lacks is told and accepted: to restore it was the decision."""
    store = opened(cases=8)
    page = Page(store)
    page.read(1)
    made = backups.make(store, by=BY, now=NOW)
    page.read(2)
    for end in ("", "-wal", "-shm"):
        Path(f"{store.path}{end}").unlink(missing_ok=True)
    again = backups.restore_backup(made.file, store.path)
    lacking = backups.record_restored(again, made.file, by=BY, now=NOW)
    assert {one.lost.chain for one in lacking} == {"study:trial", "deployment"}
    assert verify(again) == []
    assert page.offer_again(again).refused == ()
    assert verify(again) == []
    assert any("answers sent again since: 2" in one for one in remarks(again))


def test_nothing_is_acknowledged_that_was_not_witnessed(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same answer sent again is refused as well, until the witness can be written."""
    store = opened(cases=8)
    me = person(store)
    case = desk.desk(store, me, now=NOW).cases[0].case
    records = [presentation(case), reading(case)]
    add = witness.add

    def broken(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(witness, "add", broken)
    for _ in range(2):
        with pytest.raises(StudyError, match=r"cannot write store.db-heads.log"):
            desk.take_records(store, me, records, now=NOW)
    monkeypatch.setattr(witness, "add", add)
    assert desk.take_records(store, me, records, now=NOW).refused == ()
    told = witness.read(store.path)
    assert told is not None
    assert told.heads[-1].number == 8


def test_a_server_killed_under_load_leaves_one_act_without_a_witness(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process commits before the act of another is witnessed, so that a kill is no damage."""
    stores = [opened(cases=8)]
    stores.append(Store(stores[0].path))
    entered, finish, add = threading.Event(), threading.Event(), witness.add

    def slow(*what: Any, **more: Any) -> None:
        entered.set()
        finish.wait()
        add(*what, **more)

    monkeypatch.setattr(witness, "add", slow)
    with ThreadPoolExecutor(4) as pool:
        acts = [pool.submit(_later, store, 1, n) for n, store in enumerate(stores * 2)]
        entered.wait()
        wait(acts, timeout=0.5)  # as far as they come
        try:
            assert verify(stores[0]) == []  # as after a kill at this moment
        finally:
            finish.set()
    assert [act.result() for act in acts] == [None] * 4
    assert verify(stores[0]) == []


def test_what_is_owed_to_the_witness_is_the_last_of_a_chain(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that commit at once the later may tell first: the earlier does not take its place."""
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
    told = witness.read(store.path)
    assert told is not None
    assert told.heads[-1] == _head(11)


def _head(number: int) -> Head:
    return Head(
        chain="study:trial", number=number, hash="a" * 64, at_utc="2025-06-04T12:00:00.000Z"
    )


@pytest.mark.parametrize("anew", [False, True])
def test_the_witness_belongs_to_whom_the_store_belongs(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, anew: bool
) -> None:
    """A command that root ran leaves none behind that the server cannot write."""
    store = opened(cases=8)
    file = witness.file_of(store.path)
    store.path.chmod(0o660)
    if os.geteuid() == 0:
        os.chown(store.path, 12345, 12345)
    if anew:
        monkeypatch.setattr(witness, "LONGEST", 1)
    else:
        file.unlink()
    Page(store).read(1)
    there, like = file.stat(), store.path.stat()
    assert (there.st_mode, there.st_uid, there.st_gid) == (like.st_mode, like.st_uid, like.st_gid)


def test_the_witness_stays_small_and_forgets_no_loss(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written anew it keeps the last of each chain, and whatever the store lacks."""
    monkeypatch.setattr(witness, "LONGEST", 2000)
    store = opened(cases=12)
    page = Page(store)
    lost = Head(chain="study:trial", number=99, hash="a" * 64, at_utc="2025-06-04T12:00:00.000Z")
    witness.add(store.path, [lost], every=tuple, needless=lambda _: ())
    page.read(8)
    assert witness.file_of(store.path).stat().st_size < 2200
    told = witness.read(store.path)
    assert told is not None
    assert lost in told.heads
    assert told.heads[-1].number == 22
    assert len(verify(store)) == 1


def test_a_quiet_fold_leaves_everything_in_the_file(opened: Opened, tmp_path: Path) -> None:
    """So that a copy of the one file lacks a minute at most, and keeps no reader waiting."""
    store = opened(cases=8)
    with _journalled(store):
        Page(store).read(2)
        with store.look() as look:  # somebody reads for long
            look.value("SELECT count(*) FROM readings")
            store.fold_in_quietly()
        store.fold_in_quietly()
        copy = Path(shutil.copy(store.path, tmp_path / "copy.db"))
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT count(*) FROM readings").fetchone() == (2,)
    connection.close()
