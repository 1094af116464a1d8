"""Taking records in: none blocks the others, no answer is lost, and what is doubtful is flagged."""

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


def _case(store: Store, who: str = "R1") -> str:
    return desk.desk(store, person(store, who), now=NOW).cases[0].case


def _take(
    store: Store, *records: Any, after_s: float = 2.0, who: str = "R1"
) -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=after_s)
    return desk.take_records(store, person(store, who), records, now=now)


def _row(store: Store) -> dict[str, Any]:
    with store.look() as look:
        (row,) = look.rows(
            "SELECT readings.*, shown_at_utc, circumstances FROM readings "
            "JOIN presentations USING (assignment)"
        )
    return {**row, "flags": json.loads(row["flags"])}


# What is kept although something about it is not as it should be


@pytest.mark.parametrize("name", ["response_ms", "elapsed_ms", "hidden_ms", "first_selection_ms"])
@pytest.mark.parametrize("value", [-1, 4e10, 10**400, math.inf, math.nan])
def test_an_implausible_duration_is_null_and_the_answer_kept(
    opened: Opened, name: str, value: float
) -> None:
    """No clock says that; the other times stay as they are."""
    store = opened()
    case = _case(store)
    times = {"response_ms": 900.0, "elapsed_ms": 900.0, "hidden_ms": 0.0, name: value}
    _take(store, presentation(case), reading(case, times=times))
    row = _row(store)
    assert (row["answer"], row[name], row["flags"]) == ("A", None, ["clock_implausible"])
    assert row["response_ms" if name != "response_ms" else "elapsed_ms"] == 900.0


@pytest.mark.parametrize("epoch_ms", [0, -1e30, 9.4e11, 4.2e12, 1e30, 10**400, math.nan])
def test_an_absurd_date_gives_way_to_the_servers(opened: Opened, epoch_ms: float) -> None:
    """Outside of 2000 to 2100 the server's time stands in, flagged."""
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
def test_a_clock_a_day_off_is_flagged_and_its_times_kept(opened: Opened, hours: int) -> None:
    """Ahead of the server or behind it by more than 24 hours."""
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
    ("comment", "kept"),
    [
        ("x" * (MAX_COMMENT + 1), "x" * MAX_COMMENT),
        (f"a{SURROGATE}b", "a\ufffdb"),
        (["no", "text"], ""),
    ],
)
def test_a_bad_comment_costs_the_comment_only(opened: Opened, comment: Any, kept: str) -> None:
    """It is cut or cleaned, flagged, and the answer stays."""
    store = opened(comments=True)
    case = _case(store)
    _take(store, presentation(case), reading(case, comment=comment))
    row = _row(store)
    assert (row["answer"], row["comment"], row["flags"]) == ("A", kept, ["comment_cut"])


def test_a_good_comment_is_kept_as_it_is(opened: Opened) -> None:
    """Nothing is flagged, emoji and all."""
    store = opened(comments=True)
    case = _case(store)
    _take(store, presentation(case), reading(case, comment="left base? \U0001f914"))
    row = _row(store)
    assert (row["comment"], row["flags"]) == ("left base? \U0001f914", [])


def test_circumstances_are_cleaned_before_they_are_stored(opened: Opened) -> None:
    """Lone surrogates and NaN become what JSON in UTF-8 can hold."""
    store = opened()
    case = _case(store)
    odd = {"a" + SURROGATE: [SURROGATE, math.nan, {"b": math.inf}], "fine": 1.5}
    assert _take(store, {**presentation(case), "circumstances": odd}, reading(case)).refused == ()
    kept = json.loads(_row(store)["circumstances"])
    assert kept == {"a\ufffd": ["\ufffd", None, {"b": None}], "fine": 1.5}


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
def test_one_malformed_record_never_blocks_the_batch(opened: Opened, broken: Any) -> None:
    """It is refused, and the record after it is taken."""
    store = opened()
    case = _case(store)
    receipt = _take(store, {**presentation(case), **broken}, reading(case))
    assert len(receipt.refused) == 1
    assert receipt.stored == (f"read-{case}",)
    assert verify(store) == []


@pytest.mark.parametrize("whose", ["R1", "R2"])
def test_a_presentations_id_used_for_another_case_is_refused(opened: Opened, whose: str) -> None:
    """One's own or another reader's; the rest of the batch is taken."""
    store = opened()
    first = _case(store)
    _take(store, {**presentation(first), "id": "the-same-id"}, reading(first))
    second = _case(store, whose)
    shown = {**presentation(second), "id": "the-same-id"}
    receipt = _take(store, shown, reading(second), who=whose)
    assert receipt.refused == (("the-same-id", "Another presentation already has this ID."),)
    assert receipt.stored == (f"read-{second}",)


def test_a_case_is_presented_when_it_was_handed_out_and_not_before(opened: Opened) -> None:
    """The current one and the next two; whatever else a page says it has shown is not believed."""
    store = opened()
    with store.look() as look:
        rows = look.rows(
            "SELECT assignments.id FROM assignments JOIN readers ON readers.id = reader "
            "WHERE reader_id = 'R1' ORDER BY position"
        )
    shown = [_take(store, presentation(row["id"])).refused for row in rows]
    assert shown[:3] == [()] * 3
    assert [why for ((_, why),) in shown[3:]] == ["This case is not available yet."] * 5
    first, fourth = rows[0]["id"], rows[3]["id"]
    assert _take(store, reading(first), presentation(fourth)).refused == ()


def test_another_cases_reading_id_is_refused(opened: Opened) -> None:
    """An id stands for one reading; the answer stored under it stays."""
    store = opened()
    first = _case(store)
    _take(store, presentation(first), reading(first, "B"))
    for who in ("R1", "R2"):
        other = reading(_case(store, who), "C", id=f"read-{first}")
        receipt = _take(store, other, who=who)
        assert receipt.refused == ((f"read-{first}", "Another reading already has this ID."),)
    assert (_row(store)["assignment"], _row(store)["answer"]) == (first, "B")


def test_selections_are_stored_under_canonical_letters(opened: Opened) -> None:
    """As the answer is: by the option, not by where it stood."""
    store = opened(option_order="random")
    orders = {}
    with store.look() as look:
        for one in desk.desk(store, person(store), now=NOW).cases:
            sql = "SELECT shown_order FROM assignments WHERE id = :case"
            orders[one.case] = look.value(sql, case=one.case)
    case = next(case for case, order in orders.items() if order != "ABCD")
    chosen = [{"option": letter, "at_ms": 1.0} for letter in "ABCDH"]
    _take(store, presentation(case), reading(case, "A", selections=chosen))
    row = _row(store)
    assert json.loads(row["selections"]) == [[letter, 1.0] for letter in orders[case]]
    assert row["answer"] == orders[case][0]


def test_a_negative_zero_is_no_breach(opened: Opened) -> None:
    """What is hashed is what was stored, whatever SQLite makes of a number."""
    store = opened()
    case = _case(store)
    _take(store, presentation(case), reading(case, times={"response_ms": -0.0, "hidden_ms": 3}))
    assert verify(store) == []


# Who may read for whom


def test_a_person_cannot_read_for_a_simulated_reader(opened: Opened) -> None:
    """Neither a reading nor a presentation of theirs is taken."""
    store = opened()
    case = _case(store)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    change = reading(case, id="a-person-reads")
    for record in (presentation(case), change):
        ((_, why),) = _take(store, record).refused
        assert "simulated one" in why


def test_a_case_that_timed_out_is_stored_without_an_answer(opened: Opened) -> None:
    """Where there is a limit, a case without an answer is a reading too."""
    store = opened(time_limit_s=3)
    case = _case(store)
    assert _take(store, presentation(case), reading(case, None)).refused == ()
    row = _row(store)
    assert (row["status"], row["answer"], row["flags"]) == ("timed_out", None, [])


def _case_flags(store: Store) -> str:
    return desk.desk(store, person(store), now=NOW).cases[0].case


def _take_flags(store: Store, *records: Any, after_s: float) -> None:
    now = NOW + timedelta(seconds=after_s)
    assert desk.take_records(store, person(store), records, now=now).refused == ()


def _row_flags(store: Store) -> dict[str, Any]:
    with store.look() as look:
        (row,) = look.rows("SELECT * FROM readings")
    return {**row, "flags": json.loads(row["flags"])}


def _times(elapsed_ms: float | None) -> dict[str, Any]:
    return {"response_ms": elapsed_ms, "elapsed_ms": elapsed_ms}


def _read_late(store: Store, case: str) -> None:
    """Show a case at once, and hand its reading in 41 s after it was committed."""
    _take_flags(store, presentation(case), after_s=0)
    _take_flags(store, reading(case), after_s=42)


def _read_on_a_cut_line(store: Store, case: str) -> None:
    """Hand presentation and reading in together, a minute later."""
    committed = NOW_MS + 5000
    record = reading(case, times=_times(5000.0), committed_epoch_ms=committed)
    _take_flags(store, presentation(case), record, after_s=65)


def _read_on_a_line_cut_shortly(store: Store, case: str) -> None:
    """Hand both in together, before 30 s are over."""
    committed = NOW_MS + 5000
    record = reading(case, times=_times(5000.0), committed_epoch_ms=committed)
    _take_flags(store, presentation(case), record, after_s=6)


def _read_with_a_late_presentation(store: Store, case: str) -> None:
    """Hand the presentation in late and the reading at once: nothing disagrees."""
    _take_flags(store, presentation(case), after_s=50)
    committed = NOW_MS + 60_000
    _take_flags(
        store,
        reading(case, times=_times(60_000.0), committed_epoch_ms=committed),
        after_s=60.2,
    )


def _read_with_clocks_that_disagree(store: Store, case: str) -> None:
    """Say it took a minute, where the server saw a second."""
    _take_flags(store, presentation(case), after_s=0)
    _take_flags(store, reading(case, times=_times(60_000.0)), after_s=1)


def _read_quickly(store: Store, case: str) -> None:
    """Everything as it should be, in two messages."""
    _take_flags(store, presentation(case), after_s=0.1)
    _take_flags(store, reading(case), after_s=1.4)


def _read_quickly_in_one_message(store: Store, case: str) -> None:
    """Everything as it should be, in one message."""
    _take_flags(store, presentation(case), reading(case), after_s=1.4)


def _sent_by_a_clock_that_is_off(store: Store, case: str, off_s: float, waited_s: float) -> None:
    """Read as it should be on a workstation whose clock is off, and hand it in after a while."""
    shown = NOW_MS + off_s * 1000
    committed = shown + 1234.5
    _take_flags(store, {**presentation(case), "shown_epoch_ms": shown}, after_s=0.1)
    record = reading(
        case,
        presented_epoch_ms=shown,
        committed_epoch_ms=committed,
        sent_epoch_ms=committed + waited_s * 1000,
    )
    _take_flags(store, record, after_s=1.3 + waited_s)


def _read_by_a_slow_clock(store: Store, case: str) -> None:
    """Read a minute behind the server, everything else as it should be."""
    _sent_by_a_clock_that_is_off(store, case, off_s=-60, waited_s=0)


def _read_by_a_fast_clock(store: Store, case: str) -> None:
    """Read a minute ahead of the server, everything else as it should be."""
    _sent_by_a_clock_that_is_off(store, case, off_s=60, waited_s=0)


def _read_late_by_a_slow_clock(store: Store, case: str) -> None:
    """Read a minute behind the server, and hand it in a minute late."""
    _sent_by_a_clock_that_is_off(store, case, off_s=-60, waited_s=60)


def _read_late_by_a_fast_clock(store: Store, case: str) -> None:
    """Read a minute ahead of the server, and hand it in a minute late."""
    _sent_by_a_clock_that_is_off(store, case, off_s=60, waited_s=60)


def _read_late_alone_by_a_fast_clock(store: Store, case: str) -> None:
    """Lose the presentation as well, so that the server's clock sees nothing late."""
    committed = NOW_MS + 60_000
    sent = committed + 45_000
    record = reading(case, committed_epoch_ms=committed, sent_epoch_ms=sent)
    _take_flags(store, record, after_s=46)


def _read_with_an_odd_moment_of_sending(store: Store, case: str) -> None:
    """Say when it was sent in no way a clock does."""
    _take_flags(store, presentation(case), after_s=0.1)
    _take_flags(store, reading(case, sent_epoch_ms="yesterday"), after_s=1.4)


def _read_too_fast(store: Store, case: str) -> None:
    """Confirm before anybody could have looked."""
    record = reading(case, times=_times(120.0), committed_epoch_ms=NOW_MS + 120)
    _take_flags(store, presentation(case), after_s=0.05)
    _take_flags(store, record, after_s=0.2)


def _read_without_presentation(store: Store, case: str) -> None:
    """Lose the message before it."""
    _take_flags(store, reading(case), after_s=1.4)


def _read_without_presentation_and_late(store: Store, case: str) -> None:
    """Lose the message before it, and hand it in a minute later."""
    _take_flags(store, reading(case), after_s=65)


def _present_and_read_late(store: Store, case: str) -> None:
    """Hand both in late, in two messages: the presentation tells nothing, the commit does."""
    _take_flags(store, presentation(case), after_s=50)
    _take_flags(store, reading(case), after_s=51)


def _read_by_a_clock_that_was_set_right(store: Store, case: str) -> None:
    """Show the case in 1970 by the browser's clock, which is right again at the reading."""
    _take_flags(store, {**presentation(case), "shown_epoch_ms": 0}, after_s=3)
    _take_flags(store, reading(case), after_s=4.2)


def _read_in_a_second_browser(store: Store, case: str) -> None:
    """Look at it in one browser, read it a minute later in another."""
    _take_flags(store, presentation(case), after_s=0)
    later = NOW_MS + 60_000
    record = reading(case, presented_epoch_ms=later, committed_epoch_ms=later + 1234.5)
    _take_flags(store, {**presentation(case), "shown_epoch_ms": later}, record, after_s=61.5)


def _read_after_a_reload_elsewhere(store: Store, case: str) -> None:
    """Say, as the page does, that the case had been shown before."""
    _take_flags(store, presentation(case), after_s=0)
    later = NOW_MS + 20_000
    record = reading(
        case,
        presented_epoch_ms=later,
        committed_epoch_ms=later + 1234.5,
        times=_times(None),
        flags=["resumed_elsewhere"],
    )
    _take_flags(store, record, after_s=21.5)


def _read_beyond_the_limit(store: Store, case: str) -> None:
    """Go on where the page should have ended it."""
    _take_flags(store, presentation(case), after_s=0)
    record = reading(case, times=_times(23_000.0), committed_epoch_ms=NOW_MS + 23_000)
    _take_flags(store, record, after_s=23)


@pytest.mark.parametrize(
    ("read", "flags"),
    [
        (_read_quickly, []),
        (_read_quickly_in_one_message, []),
        (_read_late, ["received_late"]),
        (_read_on_a_cut_line, ["received_late"]),
        (_read_on_a_line_cut_shortly, ["received_late"]),
        (_read_with_a_late_presentation, []),
        (_read_with_clocks_that_disagree, ["clock_disagreement"]),
        (_read_without_presentation, ["presentation_lost"]),
        (_read_without_presentation_and_late, ["presentation_lost", "received_late"]),
        (_present_and_read_late, ["received_late"]),
        (_read_by_a_clock_that_was_set_right, []),
        (_read_in_a_second_browser, ["presented_elsewhere"]),
        (_read_after_a_reload_elsewhere, ["resumed_elsewhere"]),
        (_read_beyond_the_limit, ["over_time_limit"]),
        (_read_by_a_slow_clock, []),
        (_read_by_a_fast_clock, []),
        (_read_late_by_a_slow_clock, ["received_late"]),
        (_read_late_by_a_fast_clock, ["received_late"]),
        (_read_late_alone_by_a_fast_clock, ["presentation_lost", "received_late"]),
        (_read_with_an_odd_moment_of_sending, []),
        (_read_too_fast, ["too_fast"]),
    ],
)
def test_each_flag_says_one_thing(
    opened: Opened, read: Callable[[Store, str], None], flags: list[str]
) -> None:
    """The reading is kept as sent, with the flags it deserves and no other."""
    store = opened(time_limit_s=20 if read is _read_beyond_the_limit else 0)
    read(store, _case_flags(store))
    row = _row_flags(store)
    assert row["flags"] == flags
    assert row["answer"] == "A"


def test_a_changed_answer_is_not_compared_with_the_first_showing(opened: Opened) -> None:
    """Going back minutes later is no disagreement of clocks, and no second browser."""
    store = opened(back_navigation=True)
    case = _case_flags(store)
    _take_flags(store, presentation(case), after_s=0)
    _take_flags(store, reading(case), after_s=1.4)
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
    _take_flags(store, changed, after_s=301.5)
    with store.look() as look:
        flags = look.value("SELECT flags FROM readings WHERE id = 'changed-it'")
    assert json.loads(flags) == ["revisited"]


def _take_given_up(store: Store, *records: Any) -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=2)
    return desk.take_records(store, person(store), records, now=now)


def _given_up(case: str, reason: Any = "Rotated, cut off", **changed: Any) -> dict[str, Any]:
    return {**reading(case, None), "status": "skipped", "reason": reason, **changed}


def _case_given_up(store: Store) -> str:
    return desk.desk(store, person(store), now=NOW).cases[0].case


def _readings(store: Store) -> list[dict[str, str]]:
    text = bundle_files(store, "trial")["readings.csv"].decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_case_is_given_up_only_where_the_protocol_lets_it(opened: Opened) -> None:
    """By default every case is answered."""
    store = opened()
    assert (
        "Every case must be answered"
        in _take_given_up(store, _given_up(_case_given_up(store))).refused[0][1]
    )


def test_the_reason_is_kept_exported_and_vouched_for(opened: Opened) -> None:
    """In a table of its own, in the event, and as the raw answer of the bundle."""
    store = opened(cannot_answer=True, confidence=5)
    case = _case_given_up(store)
    assert _take_given_up(store, presentation(case), _given_up(case)).refused == ()
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
def test_without_a_reason_no_case_is_given_up(opened: Opened, reason: Any) -> None:
    """The page asks for one."""
    store = opened(cannot_answer=True)
    assert (
        "Invalid record"
        in _take_given_up(store, _given_up(_case_given_up(store), reason)).refused[0][1]
    )


def test_a_reason_beside_an_answer_is_nothing_the_page_sends(opened: Opened) -> None:
    """An answered case was not given up."""
    store = opened(cannot_answer=True)
    record = reading(_case_given_up(store), "A", reason="but")
    assert "Invalid record" in _take_given_up(store, record).refused[0][1]


def test_a_long_reason_is_cut_and_flagged(opened: Opened) -> None:
    """At 500 characters, and cleaned of what is no text; the reading stays."""
    store = opened(cannot_answer=True)
    case = _case_given_up(store)
    assert (
        _take_given_up(store, presentation(case), _given_up(case, "\ud800" + "x" * 600)).refused
        == ()
    )
    assert _readings(store)[0]["raw_answer"] == "\ufffd" + "x" * 499
    with store.look() as look:
        assert look.value("SELECT flags FROM readings") == '["reason_cut"]'


def test_an_answer_may_be_taken_back_with_a_reason_and_the_other_way_round(opened: Opened) -> None:
    """Where going back is allowed, and each time only the last one counts."""
    store = opened(cannot_answer=True, back_navigation=True)
    case = _case_given_up(store)
    _take_given_up(store, presentation(case), reading(case, "B"))
    given_up = _given_up(case, id="given-it-up", supersedes=f"read-{case}")
    assert _take_given_up(store, given_up).refused == ()
    again = desk.case_at(store, person(store), 1, now=NOW).reading
    assert again is not None
    assert (again.status, again.option) == ("skipped", None)
    assert [row["raw_answer"] for row in _readings(store)] == ["Rotated, cut off"]
    answered = reading(case, "C", id="after-all", supersedes="given-it-up")
    assert _take_given_up(store, answered).refused == ()
    assert [(row["answer"], row["status"]) for row in _readings(store)] == [("C", "answered")]
    assert verify(store) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE reasons SET words = 'other'",
        "DELETE FROM reasons",
        "INSERT INTO reasons SELECT id, 'slipped in' FROM readings WHERE status = 'answered'",
    ],
)
def test_an_altered_reason_is_found(opened: Opened, statement: str) -> None:
    """The event holds the words."""
    store = opened(cannot_answer=True)
    first = _case_given_up(store)
    _take_given_up(store, presentation(first), _given_up(first))
    second = _case_given_up(store)
    _take_given_up(store, presentation(second), reading(second))
    tamper(store, statement)
    (breach,) = verify(store)
    assert "the reason of reading" in breach
