"""Receipts and chain heads kept elsewhere reveal a rewritten history."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from study.base.actor import COMMAND_LINE, SCHEDULE, Acting, By
from study.base.canonical import canonical_json, sha256_of
from study.base.errors import NotFound, Undelivered
from study.lifecycle import studies
from study.reading import desk
from study.store import Store, events, readings
from study.store.studies import study_row
from study.trail import heads
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading, tamper

Opened = Callable[..., Store]
BY = By(name="coordinator")
ACTING = Acting(by=BY, now=NOW)


def read(store: Store, n: int, reader: str = "R1") -> None:
    """Let a reader read some cases."""
    me = person(store, reader)
    for _ in range(n):
        (case, *_) = desk.desk(store, me, now=NOW).cases
        records = [presentation(case.case), reading(case.case)]
        assert desk.take_records(store, me, records, now=NOW).refused == ()


def forge(store: Store, answer: str) -> None:
    """Rewrite R2's first answer and every later hash, as anyone with access to the file can."""
    with store.look() as look:
        row = look.row(
            "SELECT readings.id FROM readings JOIN assignments ON assignments.id = assignment "
            "JOIN readers ON readers.id = reader WHERE reader_id = 'R2'"
        )
    assert row is not None
    tamper(store, f"UPDATE readings SET answer = '{answer}' WHERE id = '{row['id']}'")
    with store.look() as look:
        stored = readings.stored_row(look, row["id"])
        lines = list(events.walk(look, "study:trial"))
    previous, changed = events.FIRST_HASH, []
    for line in lines:
        if line.detail.get("reading") == row["id"]:
            line.detail["sha256"] = sha256_of(stored)
        event = {**line.sealed(), "previous_hash": previous}
        previous_of, previous = previous, sha256_of(event)
        changed.append((canonical_json(line.detail), previous_of, previous, line.number))
    statements = [
        f"UPDATE events SET detail = '{detail.replace(chr(39), chr(39) * 2)}', "
        f"previous_hash = '{before}', hash = '{digest}' "
        f"WHERE chain = 'study:trial' AND number = {number}"
        for detail, before, digest, number in changed
    ]
    tamper(store, *statements)
    tamper(store, f"UPDATE chain_heads SET hash = '{previous}' WHERE chain = 'study:trial'")


def test_a_receipt_is_issued_after_the_last_case(opened: Opened) -> None:
    """Before that there is no receipt; afterwards it does not change."""
    store = opened(cases=4)
    read(store, 3)
    assert desk.desk(store, person(store), now=NOW).receipt == ""
    read(store, 1)
    receipt = desk.desk(store, person(store), now=NOW).receipt
    assert receipt.startswith("R1 · 4 of 4 · ")
    assert receipt == desk.desk(store, person(store), now=NOW).receipt
    assert [check.matches for check in heads.check_receipts(store, receipt)] == [True]


def test_a_receipt_is_accepted_in_any_notation(opened: Opened) -> None:
    """Spaces, lower case, O for 0 and missing dashes are accepted; comments are ignored."""
    store = opened(cases=4)
    read(store, 4)
    receipt = desk.desk(store, person(store), now=NOW).receipt
    characters = receipt.rpartition(" ")[2]
    file = "\n".join(
        [
            "# kept by R1",
            "",
            receipt,
            f"  r1   4 of 4   {characters.lower().replace('0', 'o')}",
            f"r1 · 4/4 · {characters.replace('-', ' ')}",
            f"> R1, 4 of 4, {characters.replace('-', '')}",
        ]
    )
    assert [check.matches for check in heads.check_receipts(store, file)] == [True] * 4


def test_a_wrong_receipt_is_reported_with_its_line(opened: Opened) -> None:
    """The characters, number or reader differ, or the line is not a receipt."""
    store = opened(cases=4)
    read(store, 4)
    receipt = desk.desk(store, person(store), now=NOW).receipt
    file = (
        f"{receipt[:-1]}{'0' if receipt[-1] != '0' else '1'}\n{receipt.replace('4 of', '3 of')}\n"
    )
    file += f"{receipt.replace('R1', 'R9')}\nhello\n"
    checks = heads.check_receipts(store, file)
    assert [check.matches for check in checks] == [False] * 4
    for check, words in zip(
        checks,
        (
            "line 1: R1, 4 of 4: does NOT match: the readings of R1 up to case 4",
            "line 2: R1, 3 of 4: does NOT match: this receipt was issued for 4 readings",
            "line 3: R9, 4 of 4: does NOT match: no reader R9",
            "line 4: not a receipt",
        ),
        strict=True,
    ):
        assert check.sentence.startswith(words)


def test_a_rewritten_history_matches_no_receipt_and_no_head(opened: Opened) -> None:
    """All hashes are valid again, but they differ from those kept elsewhere."""
    store = opened(cases=4)
    read(store, 4, "R2")
    before = heads.head_line(store, "trial", now=NOW)
    read(store, 4, "R1")
    heads_kept = [
        desk.desk(store, person(store, reader_id), now=NOW).receipt for reader_id in ("R1", "R2")
    ]
    after = heads.head_line(store, "trial", now=NOW)
    assert all(check.matches for check in heads.check_heads(store, f"{before}\n{after}"))
    (store.path.parent / "store.db-heads.log").unlink()
    forge(store, "B")
    assert verify(store) == []
    assert not any(check.matches for check in heads.check_receipts(store, "\n".join(heads_kept)))
    checks = heads.check_heads(store, f"{before}\n{after}")
    assert not any(check.matches for check in checks)
    assert "it was rewritten" in checks[0].sentence


def test_an_earlier_head_matches_a_longer_chain(opened: Opened) -> None:
    """A head of another chain, or one beyond the end of the chain, does not match."""
    store = opened(cases=4)
    first = heads.head_line(store, "trial", now=NOW)
    assert first.startswith("reading-room head: trial · 2025-06-04T12:00Z · 6 · ")
    read(store, 2)
    longer = first.replace("· 6 ·", "· 60 ·")
    checks = heads.check_heads(
        store, f"> {first}\n{longer}\nreading-room head: x\n{first.upper()[19:]}"
    )
    assert [check.matches for check in checks] == [True, False, False, False]
    assert "the chain ends before it" in checks[1].sentence
    assert "line 3: not a head" in checks[2].sentence
    assert "no study of that name" in checks[3].sentence
    with pytest.raises(NotFound):
        heads.head_line(store, "none", now=NOW)


def test_the_trail_does_not_contain_the_address(opened: Opened) -> None:
    """If the address is altered in the file, this is reported."""
    store = opened(cases=4)
    with store.change() as change:
        heads.name_witness(change, "trial", "ann@example.org", acting=ACTING)
        with pytest.raises(Undelivered):
            heads.name_witness(change, "trial", "nobody", acting=ACTING)
    with store.look() as look:
        assert "ann@example.org" not in json.dumps(list(events.walk(look, "study:trial")))
    assert verify(store) == []
    tamper(store, "UPDATE deployment SET value = 'eve@example.org' WHERE name LIKE 'head_to/%'")
    assert verify(store) == ["study trial: the recipient of its chain head was altered."]


def test_a_head_that_cannot_be_sent_is_tried_again_an_hour_later(opened: Opened) -> None:
    """The reason is reported and stored, and the study continues."""
    store = opened(cases=4)
    assert heads.send_head(store, {}, "trial", acting=Acting(by=SCHEDULE, now=NOW)) == ""
    with store.change() as change:
        heads.name_witness(change, "trial", "ann@example.org", acting=ACTING)
    reason = heads.send_head(store, {}, "trial", acting=Acting(by=SCHEDULE, now=NOW))
    assert reason == "The chain head was not sent: This server cannot send email."
    assert heads.send_due_heads(store, {}, now=NOW) == []
    with store.look() as look:
        row = study_row(look, "trial")
        assert heads.deposit_of(look, row).why_not == "This server cannot send email."
    assert heads.send_due_heads(store, {}, now=NOW + heads.RETRY_INTERVAL) == [reason]


def test_a_suspended_server_does_not_repeat_the_head_of_another(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is suspended before it takes the lease, and resumes with its earlier time."""
    store = opened(cases=4)
    with store.change() as change:
        heads.name_witness(change, "trial", "ann@example.org", acting=ACTING)
    letters: list[str] = []
    monkeypatch.setattr(heads, "send", lambda _, *, to, subject, text: letters.append(to))
    mail = {"READING_ROOM_SMTP": "smtp://localhost", "READING_ROOM_MAIL_FROM": "a@example.org"}
    due = heads._studies_due

    def suspended(*arguments: Any) -> list[str]:
        monkeypatch.setattr(heads, "_studies_due", due)
        names = due(*arguments)
        assert heads.send_due_heads(store, mail, now=NOW + timedelta(minutes=50)) == []
        return names

    monkeypatch.setattr(heads, "_studies_due", suspended)
    assert heads.send_due_heads(store, mail, now=NOW) == []
    assert letters == ["ann@example.org"]


def test_the_head_is_sent_at_opening_daily_and_at_closing(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message has the current line."""
    letters: list[tuple[str, str]] = []
    monkeypatch.setattr(heads, "send", lambda _, *, to, subject, text: letters.append((to, text)))
    mail = {"READING_ROOM_SMTP": "smtp://localhost", "READING_ROOM_MAIL_FROM": "a@example.org"}
    store = opened(cases=4)
    with store.change() as change:
        heads.name_witness(change, "trial", "ann@example.org", acting=ACTING)
    sent = []
    for hours in (0, 1, 23, 25, 26, 48, 50):
        if hours == 48:
            studies.close(
                store,
                study="trial",
                reason="done",
                acting=Acting(by=COMMAND_LINE, now=NOW + timedelta(hours=hours)),
            )
        assert heads.send_due_heads(store, mail, now=NOW + timedelta(hours=hours)) == []
        sent.append(len(letters))
    assert sent == [1, 1, 1, 2, 2, 3, 3]
    assert {to for to, _ in letters} == {"ann@example.org"}
    lines = [line for _, text in letters for line in text.splitlines() if "head: " in line]
    assert [check.matches for check in heads.check_heads(store, "\n".join(lines))] == [True] * 3
    assert verify(store) == []
