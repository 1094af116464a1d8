"""Records are accepted one by one; no answer is lost, and doubtful times get a flag."""

import csv
import io
import json
import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from study.exchange.bundle import bundle_files
from study.monitoring.progress import status
from study.reading import desk
from study.reading.records import MAX_COMMENT
from study.reading.simulation import simulate
from study.store import Store, events
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading, tamper

Opened = Callable[..., Store]
NOW_MS = NOW.timestamp() * 1000
SURROGATE = "\ud800"


def _case(store: Store, reader_id: str = "R1") -> str:
    return desk.desk(store, person(store, reader_id), now=NOW).cases[0].case


def _take(
    store: Store, *records: Any, after_s: float = 2.0, reader_id: str = "R1"
) -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=after_s)
    return desk.take_records(store, person(store, reader_id), records, now=now)


def _row(store: Store) -> dict[str, Any]:
    with store.look() as look:
        (row,) = look.rows(
            "SELECT readings.*, shown_at_utc, circumstances FROM readings "
            "JOIN presentations USING (assignment)"
        )
    return {**row, "flags": json.loads(row["flags"])}


# Readings that are kept although values are replaced or flagged


@pytest.mark.parametrize("name", ["response_ms", "elapsed_ms", "hidden_ms", "first_selection_ms"])
@pytest.mark.parametrize("value", [-1, 4e10, 10**400, math.inf, math.nan])
def test_an_implausible_duration_is_stored_as_null(opened: Opened, name: str, value: float) -> None:
    """The answer and the other times are kept."""
    store = opened()
    case = _case(store)
    times = {"response_ms": 900.0, "elapsed_ms": 900.0, "hidden_ms": 0.0, name: value}
    _take(store, presentation(case), reading(case, times=times))
    row = _row(store)
    assert (row["answer"], row[name], row["flags"]) == ("A", None, ["clock_implausible"])
    assert row["response_ms" if name != "response_ms" else "elapsed_ms"] == 900.0


@pytest.mark.parametrize("epoch_ms", [0, -1e30, 9.4e11, 4.2e12, 1e30, 10**400, math.nan])
def test_an_implausible_date_is_replaced_by_that_of_the_server(
    opened: Opened, epoch_ms: float
) -> None:
    """For dates outside 2000 to 2100, the server's time is stored and flagged."""
    store = opened()
    case = _case(store)
    shown = {**presentation(case), "shown_epoch_ms": epoch_ms}
    read = reading(case, presented_epoch_ms=epoch_ms, committed_epoch_ms=epoch_ms)
    assert _take(store, shown, read).refused == ()
    row = _row(store)
    assert row["committed_at_utc"] == row["shown_at_utc"] == "2025-06-04T12:00:02.000Z"
    assert row["flags"] == ["clock_implausible"]
    assert json.loads(row["circumstances"])["clock_implausible"] is True


@pytest.mark.parametrize("hours", [-25, 25])
def test_times_from_a_clock_that_is_a_day_off_are_kept_and_flagged(
    opened: Opened, hours: int
) -> None:
    """The clock is ahead of the server or behind it by more than 24 hours."""
    store = opened()
    case = _case(store)
    off_ms = NOW_MS + hours * 3_600_000
    shown = {**presentation(case), "shown_epoch_ms": off_ms}
    read = reading(case, presented_epoch_ms=off_ms, committed_epoch_ms=off_ms + 1234.5)
    _take(store, shown, read)
    row = _row(store)
    assert "clock_implausible" in row["flags"]
    assert row["committed_at_utc"].startswith("2025-06-0" + ("3T11" if hours < 0 else "5T13"))
    assert row["response_ms"] == 1234.5


@pytest.mark.parametrize(
    ("comment", "stored_comment"),
    [
        ("x" * (MAX_COMMENT + 1), "x" * MAX_COMMENT),
        (f"a{SURROGATE}b", "a\ufffdb"),
        (["no", "text"], ""),
    ],
)
def test_an_invalid_comment_is_changed_and_flagged(
    opened: Opened, comment: Any, stored_comment: str
) -> None:
    """The comment is shortened or cleaned, and the answer is kept."""
    store = opened(comments=True)
    case = _case(store)
    _take(store, presentation(case), reading(case, comment=comment))
    row = _row(store)
    assert (row["answer"], row["comment"], row["flags"]) == ("A", stored_comment, ["comment_cut"])


def test_a_valid_comment_is_kept_unchanged(opened: Opened) -> None:
    """Nothing is flagged, even with emoji."""
    store = opened(comments=True)
    case = _case(store)
    _take(store, presentation(case), reading(case, comment="left base? \U0001f914"))
    row = _row(store)
    assert (row["comment"], row["flags"]) == ("left base? \U0001f914", [])


def test_circumstances_are_cleaned_before_they_are_stored(opened: Opened) -> None:
    """Lone surrogates and NaN are replaced by values that JSON in UTF-8 supports."""
    store = opened()
    case = _case(store)
    odd = {"a" + SURROGATE: [SURROGATE, math.nan, {"b": math.inf}], "fine": 1.5}
    assert _take(store, {**presentation(case), "circumstances": odd}, reading(case)).refused == ()
    circumstances = json.loads(_row(store)["circumstances"])
    assert circumstances == {"a\ufffd": ["\ufffd", None, {"b": None}], "fine": 1.5}


def _nested(depth: int) -> Any:
    return [_nested(depth - 1)] if depth else []


@pytest.mark.parametrize(
    "broken",
    [
        {"circumstances": {"deep": _nested(400)}},
        {"circumstances": {"long": "x" * 5000}},
        {"id": SURROGATE * 8},
        {"case": SURROGATE * 8},
        {"shown_epoch_ms": "soon"},
    ],
)
def test_a_malformed_record_does_not_block_the_batch(opened: Opened, broken: Any) -> None:
    """The malformed record is refused, and the next record is accepted."""
    store = opened()
    case = _case(store)
    receipt = _take(store, {**presentation(case), **broken}, reading(case))
    assert len(receipt.refused) == 1
    assert receipt.stored == (f"read-{case}",)
    assert verify(store) == []


@pytest.mark.parametrize("owner", ["R1", "R2"])
def test_the_id_of_a_presentation_used_for_another_case_is_refused(
    opened: Opened, owner: str
) -> None:
    """The ID is the reader's own or another reader's; the rest of the batch is accepted."""
    store = opened()
    first = _case(store)
    _take(store, {**presentation(first), "id": "the-same-id"}, reading(first))
    second = _case(store, owner)
    shown = {**presentation(second), "id": "the-same-id"}
    receipt = _take(store, shown, reading(second), reader_id=owner)
    assert receipt.refused == (("the-same-id", "Another presentation already has this ID."),)
    assert receipt.stored == (f"read-{second}",)


def test_only_cases_that_were_handed_out_can_be_presented(opened: Opened) -> None:
    """The current case and the next two are; other presentations are refused."""
    store = opened()
    with store.look() as look:
        rows = look.rows(
            "SELECT assignments.id FROM assignments JOIN readers ON readers.id = reader "
            "WHERE reader_id = 'R1' ORDER BY position"
        )
    shown = [_take(store, presentation(row["id"])).refused for row in rows]
    assert shown[:3] == [()] * 3
    assert [reason for ((_, reason),) in shown[3:]] == ["This case is not available yet."] * 5
    first, fourth = rows[0]["id"], rows[3]["id"]
    assert _take(store, reading(first), presentation(fourth)).refused == ()


def test_the_id_of_a_reading_of_another_case_is_refused(opened: Opened) -> None:
    """An ID belongs to one reading; the answer stored under it is kept."""
    store = opened()
    first = _case(store)
    _take(store, presentation(first), reading(first, "B"))
    for reader_id in ("R1", "R2"):
        other = reading(_case(store, reader_id), "C", id=f"read-{first}")
        receipt = _take(store, other, reader_id=reader_id)
        assert receipt.refused == ((f"read-{first}", "Another reading already has this ID."),)
    assert (_row(store)["assignment"], _row(store)["answer"]) == (first, "B")


def test_selections_are_stored_under_canonical_letters(opened: Opened) -> None:
    """Selections refer to the option, like the answer, not to its position."""
    store = opened(option_order="random")
    orders = {}
    with store.look() as look:
        for view in desk.desk(store, person(store), now=NOW).cases:
            sql = "SELECT shown_order FROM assignments WHERE id = :case"
            orders[view.case] = look.value(sql, case=view.case)
    case = next(case for case, order in orders.items() if order != "ABCD")
    chosen = [{"option": letter, "at_ms": 1.0} for letter in "ABCDH"]
    _take(store, presentation(case), reading(case, "A", selections=chosen))
    row = _row(store)
    assert json.loads(row["selections"]) == [[letter, 1.0] for letter in orders[case]]
    assert row["answer"] == orders[case][0]


def test_a_negative_zero_causes_no_breach(opened: Opened) -> None:
    """The hash covers the number as SQLite stores it."""
    store = opened()
    case = _case(store)
    _take(store, presentation(case), reading(case, times={"response_ms": -0.0, "hidden_ms": 3}))
    assert verify(store) == []


# Simulated readers and time limits


def test_a_person_cannot_read_as_a_simulated_reader(opened: Opened) -> None:
    """Both a reading and a presentation are refused."""
    store = opened()
    case = _case(store)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    change = reading(case, id="a-person-reads")
    for record in (presentation(case), change):
        ((_, reason),) = _take(store, record).refused
        assert "simulated one" in reason


def test_a_case_that_timed_out_is_stored_without_an_answer(opened: Opened) -> None:
    """With a time limit, a case without an answer is a reading too."""
    store = opened(time_limit_s=3)
    case = _case(store)
    assert _take(store, presentation(case), reading(case, None)).refused == ()
    row = _row(store)
    assert (row["status"], row["answer"], row["flags"]) == ("timed_out", None, [])


def _accept(store: Store, *records: Any, after_s: float) -> None:
    assert _take(store, *records, after_s=after_s).refused == ()


def _reading(store: Store) -> dict[str, Any]:
    with store.look() as look:
        (row,) = look.rows("SELECT * FROM readings")
    return {**row, "flags": json.loads(row["flags"])}


def _times(elapsed_ms: float | None) -> dict[str, Any]:
    return {"response_ms": elapsed_ms, "elapsed_ms": elapsed_ms}


def _read_late(store: Store, case: str) -> None:
    """Present a case at once, and send its reading 41 s after it was committed."""
    _accept(store, presentation(case), after_s=0)
    _accept(store, reading(case), after_s=42)


def _read_offline(store: Store, case: str) -> None:
    """Send presentation and reading together a minute later."""
    committed = NOW_MS + 5000
    record = reading(case, times=_times(5000.0), committed_epoch_ms=committed)
    _accept(store, presentation(case), record, after_s=65)


def _read_offline_briefly(store: Store, case: str) -> None:
    """Send presentation and reading together within 30 s."""
    committed = NOW_MS + 5000
    record = reading(case, times=_times(5000.0), committed_epoch_ms=committed)
    _accept(store, presentation(case), record, after_s=6)


def _read_with_a_late_presentation(store: Store, case: str) -> None:
    """Send the presentation late and the reading at once: the clocks agree."""
    _accept(store, presentation(case), after_s=50)
    committed = NOW_MS + 60_000
    _accept(
        store,
        reading(case, times=_times(60_000.0), committed_epoch_ms=committed),
        after_s=60.2,
    )


def _read_with_clocks_that_disagree(store: Store, case: str) -> None:
    """Report a minute where the server measured a second."""
    _accept(store, presentation(case), after_s=0)
    _accept(store, reading(case, times=_times(60_000.0)), after_s=1)


def _read_quickly(store: Store, case: str) -> None:
    """Send presentation and reading at once, in two messages."""
    _accept(store, presentation(case), after_s=0.1)
    _accept(store, reading(case), after_s=1.4)


def _read_quickly_in_one_message(store: Store, case: str) -> None:
    """Send presentation and reading at once, in one message."""
    _accept(store, presentation(case), reading(case), after_s=1.4)


def _read_with_clock_offset(store: Store, case: str, off_s: float, waited_s: float) -> None:
    """Read on a computer with a wrong clock, and send the reading after a while."""
    shown = NOW_MS + off_s * 1000
    committed = shown + 1234.5
    _accept(store, {**presentation(case), "shown_epoch_ms": shown}, after_s=0.1)
    record = reading(
        case,
        presented_epoch_ms=shown,
        committed_epoch_ms=committed,
        sent_epoch_ms=committed + waited_s * 1000,
    )
    _accept(store, record, after_s=1.3 + waited_s)


def _read_by_a_slow_clock(store: Store, case: str) -> None:
    """Read with a clock one minute behind the server."""
    _read_with_clock_offset(store, case, off_s=-60, waited_s=0)


def _read_by_a_fast_clock(store: Store, case: str) -> None:
    """Read with a clock one minute ahead of the server."""
    _read_with_clock_offset(store, case, off_s=60, waited_s=0)


def _read_late_by_a_slow_clock(store: Store, case: str) -> None:
    """Read with a clock one minute behind, and send the reading a minute late."""
    _read_with_clock_offset(store, case, off_s=-60, waited_s=60)


def _read_late_by_a_fast_clock(store: Store, case: str) -> None:
    """Read with a clock one minute ahead, and send the reading a minute late."""
    _read_with_clock_offset(store, case, off_s=60, waited_s=60)


def _read_late_alone_by_a_fast_clock(store: Store, case: str) -> None:
    """Lose the presentation too, so that there is no delay by the server's clock."""
    committed = NOW_MS + 60_000
    sent = committed + 45_000
    record = reading(case, committed_epoch_ms=committed, sent_epoch_ms=sent)
    _accept(store, record, after_s=46)


def _read_with_an_invalid_time_of_sending(store: Store, case: str) -> None:
    """Send a time of sending that is not a number."""
    _accept(store, presentation(case), after_s=0.1)
    _accept(store, reading(case, sent_epoch_ms="yesterday"), after_s=1.4)


def _read_too_fast(store: Store, case: str) -> None:
    """Confirm faster than anyone can look."""
    record = reading(case, times=_times(120.0), committed_epoch_ms=NOW_MS + 120)
    _accept(store, presentation(case), after_s=0.05)
    _accept(store, record, after_s=0.2)


def _read_without_presentation(store: Store, case: str) -> None:
    """Lose the presentation."""
    _accept(store, reading(case), after_s=1.4)


def _read_without_presentation_and_late(store: Store, case: str) -> None:
    """Lose the presentation, and send the reading a minute later."""
    _accept(store, reading(case), after_s=65)


def _present_and_read_late(store: Store, case: str) -> None:
    """Send presentation and reading late, apart; only the answer's time shows the delay."""
    _accept(store, presentation(case), after_s=50)
    _accept(store, reading(case), after_s=51)


def _read_with_a_corrected_clock(store: Store, case: str) -> None:
    """Present the case in 1970 by the browser's clock, which is correct at the reading."""
    _accept(store, {**presentation(case), "shown_epoch_ms": 0}, after_s=3)
    _accept(store, reading(case), after_s=4.2)


def _read_in_a_second_browser(store: Store, case: str) -> None:
    """Present the case in one browser, and read it a minute later in another."""
    _accept(store, presentation(case), after_s=0)
    later = NOW_MS + 60_000
    record = reading(case, presented_epoch_ms=later, committed_epoch_ms=later + 1234.5)
    _accept(store, {**presentation(case), "shown_epoch_ms": later}, record, after_s=61.5)


def _read_after_a_reload_elsewhere(store: Store, case: str) -> None:
    """Report, as the page does, that the case was presented before."""
    _accept(store, presentation(case), after_s=0)
    later = NOW_MS + 20_000
    record = reading(
        case,
        presented_epoch_ms=later,
        committed_epoch_ms=later + 1234.5,
        times=_times(None),
        flags=["resumed_elsewhere"],
    )
    _accept(store, record, after_s=21.5)


def _read_beyond_the_limit(store: Store, case: str) -> None:
    """Answer after the page should have ended the case."""
    _accept(store, presentation(case), after_s=0)
    record = reading(case, times=_times(23_000.0), committed_epoch_ms=NOW_MS + 23_000)
    _accept(store, record, after_s=23)


@pytest.mark.parametrize(
    ("read", "flags"),
    [
        (_read_quickly, []),
        (_read_quickly_in_one_message, []),
        (_read_late, ["received_late"]),
        (_read_offline, ["received_late"]),
        (_read_offline_briefly, ["received_late"]),
        (_read_with_a_late_presentation, []),
        (_read_with_clocks_that_disagree, ["clock_disagreement"]),
        (_read_without_presentation, ["presentation_lost"]),
        (_read_without_presentation_and_late, ["presentation_lost", "received_late"]),
        (_present_and_read_late, ["received_late"]),
        (_read_with_a_corrected_clock, []),
        (_read_in_a_second_browser, ["presented_elsewhere"]),
        (_read_after_a_reload_elsewhere, ["resumed_elsewhere"]),
        (_read_beyond_the_limit, ["over_time_limit"]),
        (_read_by_a_slow_clock, []),
        (_read_by_a_fast_clock, []),
        (_read_late_by_a_slow_clock, ["received_late"]),
        (_read_late_by_a_fast_clock, ["received_late"]),
        (_read_late_alone_by_a_fast_clock, ["presentation_lost", "received_late"]),
        (_read_with_an_invalid_time_of_sending, []),
        (_read_too_fast, ["too_fast"]),
    ],
)
def test_a_reading_has_exactly_the_flags_of_its_circumstances(
    opened: Opened, read: Callable[[Store, str], None], flags: list[str]
) -> None:
    """The reading is kept as sent."""
    store = opened(time_limit_s=20 if read is _read_beyond_the_limit else 0)
    read(store, _case(store))
    row = _reading(store)
    assert row["flags"] == flags
    assert row["answer"] == "A"


def test_a_changed_answer_is_not_compared_with_the_first_presentation(opened: Opened) -> None:
    """Going back minutes later does not show wrong clocks or a second browser."""
    store = opened(back_navigation=True)
    case = _case(store)
    _accept(store, presentation(case), after_s=0)
    _accept(store, reading(case), after_s=1.4)
    later = NOW_MS + 300_000
    changed = reading(
        case,
        "B",
        id="changed-it",
        supersedes=f"read-{case}",
        presented_epoch_ms=later,
        committed_epoch_ms=later + 1234.5,
        flags=["revisited"],
    )
    _accept(store, changed, after_s=301.5)
    with store.look() as look:
        flags = look.value("SELECT flags FROM readings WHERE id = 'changed-it'")
    assert json.loads(flags) == ["revisited"]


def _skipped(case: str, reason: Any = "Rotated, cut off", **changed: Any) -> dict[str, Any]:
    return {**reading(case, None), "status": "skipped", "reason": reason, **changed}


def _readings(store: Store) -> list[dict[str, str]]:
    text = bundle_files(store, "trial")["readings.csv"].decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_case_is_skipped_only_if_the_protocol_allows_it(opened: Opened) -> None:
    """By default every case must be answered."""
    store = opened()
    assert "Every case must be answered" in _take(store, _skipped(_case(store))).refused[0][1]


def test_the_reason_for_skipping_is_stored_and_exported(opened: Opened) -> None:
    """The reason is stored in a table and the event, and is the raw answer in the bundle."""
    store = opened(cannot_answer=True, confidence=5)
    case = _case(store)
    assert _take(store, presentation(case), _skipped(case)).refused == ()
    (row,) = _readings(store)
    assert (row["status"], row["answer"], row["raw_answer"], row["confidence"]) == (
        "skipped",
        "",
        "Rotated, cut off",
        "",
    )
    with store.look() as look:
        details = [event.detail for event in events.walk(look, "study:trial")]
    assert [detail["reason"] for detail in details if "reason" in detail] == ["Rotated, cut off"]
    reader = status(store, "trial")["readers"][0]
    assert (reader["n_read"], reader["n_skipped"], reader["n_answered"]) == (1, 1, 0)
    assert verify(store) == []


@pytest.mark.parametrize("reason", [None, "", "  ", 5, ["x"]])
def test_skipping_a_case_needs_a_reason(opened: Opened, reason: Any) -> None:
    """The page asks for a reason, so a record without one is refused."""
    store = opened(cannot_answer=True)
    assert "Invalid record" in _take(store, _skipped(_case(store), reason)).refused[0][1]


def test_a_reason_with_an_answer_is_refused(opened: Opened) -> None:
    """An answered case was not skipped."""
    store = opened(cannot_answer=True)
    record = reading(_case(store), "A", reason="but")
    assert "Invalid record" in _take(store, record).refused[0][1]


def test_a_long_reason_is_shortened_and_flagged(opened: Opened) -> None:
    """The reason is cut at 500 characters and cleaned; the reading is kept."""
    store = opened(cannot_answer=True)
    case = _case(store)
    assert _take(store, presentation(case), _skipped(case, "\ud800" + "x" * 600)).refused == ()
    assert _readings(store)[0]["raw_answer"] == "\ufffd" + "x" * 499
    with store.look() as look:
        assert look.value("SELECT flags FROM readings") == '["reason_cut"]'


def test_if_going_back_is_allowed_a_reason_can_replace_an_answer(opened: Opened) -> None:
    """An answer can replace a reason too, and only the last reading counts."""
    store = opened(cannot_answer=True, back_navigation=True)
    case = _case(store)
    _take(store, presentation(case), reading(case, "B"))
    given_up = _skipped(case, id="given-it-up", supersedes=f"read-{case}")
    assert _take(store, given_up).refused == ()
    stored = desk.case_at(store, person(store), 1, now=NOW).reading
    assert stored is not None
    assert (stored.status, stored.option) == ("skipped", None)
    assert [row["raw_answer"] for row in _readings(store)] == ["Rotated, cut off"]
    answered = reading(case, "C", id="after-all", supersedes="given-it-up")
    assert _take(store, answered).refused == ()
    assert [(row["answer"], row["status"]) for row in _readings(store)] == [("C", "answered")]
    assert verify(store) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE reasons SET words = 'other'",
        "DELETE FROM reasons",
        "INSERT INTO reasons SELECT id, 'inserted' FROM readings WHERE status = 'answered'",
    ],
)
def test_verification_reports_an_altered_reason(opened: Opened, statement: str) -> None:
    """The event contains the text."""
    store = opened(cannot_answer=True)
    first = _case(store)
    _take(store, presentation(first), _skipped(first))
    second = _case(store)
    _take(store, presentation(second), reading(second))
    tamper(store, statement)
    (breach,) = verify(store)
    assert "the reason of reading" in breach
