"""Taking records in: none blocks the others, and no answer is lost for what stands beside it."""

import json
import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from study.reading import desk
from study.reading.records import MAX_COMMENT
from study.reading.simulation import simulate
from study.store import Store
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading

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
