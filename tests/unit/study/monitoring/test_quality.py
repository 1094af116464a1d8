"""Data quality: each fact about known readings, with values on either side of its threshold."""

import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from study.base.canonical import stamp
from study.monitoring.quality import (
    FactKind,
    QualityFact,
    current_readings,
    facts_of,
    find_quality_facts,
    find_reading,
    run_probability,
    runs_of,
    screen_setup,
)
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store
from study.store.progress import ReadingRow
from tests.conftest import NOW, person, presentation, reading

Opened = Callable[..., Store]
PROTOCOL = Protocol(washout_days=28)
_numbers = itertools.count()


def _row(**changed: Any) -> ReadingRow:
    """Return an ordinary reading with some values replaced."""
    n = next(_numbers)
    return ReadingRow(
        id=f"reading-{n}",
        supersedes=None,
        status="answered",
        answer="ABCD"[n % 4],
        response_ms=9000.0,
        elapsed_ms=9000.0,
        hidden_ms=0.0,
        paused_ms=0.0,
        flags=(),
        comment="",
        timing_source="browser",
        received_at_utc=stamp(NOW),
        shown_at_utc=stamp(NOW),
        circumstances={"screen": [1920, 1080], "user_agent": "Firefox/140"},
        current=1,
        reader_id="R1",
        position=n,
        session=1,
        condition="image-present",
        repeat=1,
        shown_order="ABCD",
        item_id=f"q{n}",
        case_number=n,
        case_id=n,
        given_up="",
    )._replace(**changed)


def _only_fact(rows: list[ReadingRow], protocol: Protocol = PROTOCOL) -> QualityFact:
    (fact,) = facts_of(rows, protocol)
    return fact


def test_ordinary_readings_have_no_facts() -> None:
    """The list of facts is empty."""
    assert facts_of([_row() for _ in range(8)], PROTOCOL) == []


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"response_ms": 1999.0}, FactKind.GLANCE),
        ({"hidden_ms": 60_000.0}, FactKind.HIDDEN),
        ({"flags": ("too_fast",)}, FactKind.TOO_FAST),
        ({"flags": ("clock_disagreement",)}, FactKind.CLOCK),
        ({"flags": ("received_late",)}, FactKind.LATE),
        ({"flags": ("view_not_shown",)}, FactKind.FILM),
        ({"flags": ("page_zoom",)}, FactKind.WINDOW),
        ({"flags": ("software_rendering",)}, FactKind.SOFTWARE),
        ({"flags": ("page_translated",)}, FactKind.TRANSLATED),
        ({"flags": ("question_faulty",)}, FactKind.FAULTY),
    ],
)
def test_a_fact_names_the_reader_the_number_and_the_readings(
    changed: dict[str, Any], kind: FactKind
) -> None:
    """One of three readings is affected."""
    odd = _row(**changed)
    fact = _only_fact([_row(), odd, _row()])
    assert (fact.kind, fact.reader_id, fact.n, fact.total) == (kind, "R1", 1, 3)
    assert fact.readings == (odd.id,)


def test_values_at_the_thresholds_give_no_fact() -> None:
    """Times of exactly 2 s and a minute less a millisecond are not reported."""
    rows = [_row(response_ms=2000.0), _row(hidden_ms=59_999.0)]
    assert facts_of(rows, PROTOCOL) == []


def test_readings_to_which_a_fact_cannot_apply_are_not_in_the_denominator() -> None:
    """A time that was not measured and a skipped case are neither fast nor slow."""
    rows = [
        _row(response_ms=500.0),
        _row(response_ms=None),
        _row(response_ms=500.0, status="skipped", answer=None),
        _row(response_ms=500.0, supersedes="another"),
    ]
    assert [(fact.n, fact.total) for fact in facts_of(rows, PROTOCOL)] == [(1, 1)]


def test_simulated_and_superseded_readings_are_left_out() -> None:
    """Such readings say nothing about a person's current answer."""
    fast = {"response_ms": 500.0}
    rows = [_row(**fast, timing_source="simulated"), _row(**fast, current=0)]
    assert facts_of(rows, PROTOCOL) == []


def _share_with_run(length: int, n_options: list[int]) -> float:
    """Return the share of all lists of letters that contain a run of a length."""
    lists = list(itertools.product(*("ABCD"[:k] for k in n_options)))
    return sum(max(run.length for run in runs_of(letters)) >= length for letters in lists) / len(
        lists
    )


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_the_probability_of_a_run_equals_a_complete_enumeration(length: int) -> None:
    """The probability is exact if all cases have equally many options, otherwise an upper bound."""
    assert run_probability(length, [3] * 6) == pytest.approx(_share_with_run(length, [3] * 6))
    mixed = [2, 4, 2, 3, 2]
    assert run_probability(length, mixed) >= _share_with_run(length, mixed) - 1e-12


def test_an_empty_list_contains_no_run() -> None:
    """A list of one answer contains a run of one."""
    assert (run_probability(3, []), run_probability(1, []), run_probability(1, [4])) == (0, 0, 1)


def test_a_long_run_of_one_key_is_reported_with_its_probability() -> None:
    """Nine times B in a list of 29 is rarer than 1 in 1,000; four times is not."""
    start = [_row(answer="ABCD"[i % 4]) for i in range(20)]
    run = [_row(answer="B") for _ in range(9)]
    fact = _only_fact([*start, *run])
    assert (fact.kind, fact.n, fact.total, fact.values["letter"]) == (FactKind.ONE_KEY, 9, 29, "B")
    assert fact.values["chance"] == pytest.approx(run_probability(9, [4] * 29))
    assert fact.readings == tuple(row.id for row in run)
    assert facts_of([*start, *run[:4]], PROTOCOL) == []


def test_a_run_counts_the_key_pressed_not_the_option() -> None:
    """The same option at changing places is not a run; changing options at one place are."""
    orders = ["ABCD", "DABC", "CDAB", "BCDA"]
    wandering = [_row(answer="A", shown_order=orders[i % 4]) for i in range(12)]
    assert facts_of(wandering, PROTOCOL) == []
    pressing = [_row(answer=orders[i % 4][0], shown_order=orders[i % 4]) for i in range(12)]
    assert _only_fact(pressing).values["letter"] == "A"


def test_a_case_without_an_answer_ends_a_run() -> None:
    """Five answers, a missing answer and five answers are two runs of five."""
    letters = ["A"] * 5 + [None] + ["A"] * 5
    assert [run.length for run in runs_of(letters)] == [5, 5]


def test_a_change_of_screen_is_reported_only_within_a_session() -> None:
    """Readings on the less used screen are counted out of those with a known screen."""
    other = {"circumstances": {"screen": [2560, 1440], "user_agent": "Firefox/140"}}
    odd = _row(**other)
    fact = _only_fact([_row(), _row(), odd, _row(circumstances={})])
    assert (fact.kind, fact.session, fact.n, fact.total) == (FactKind.SCREENS, 1, 1, 3)
    assert fact.readings == (odd.id,)
    assert facts_of([_row(), _row(**other, session=2)], PROTOCOL) == []


def test_a_browser_is_named_without_its_version() -> None:
    """An update during the study is not another browser."""
    chrome = "Mozilla/5.0 AppleWebKit/537.36 Chrome/{}.0 Safari/537.36"
    assert screen_setup({"user_agent": chrome.format(140)}) == screen_setup(
        {"user_agent": chrome.format(141)}
    )
    assert screen_setup({"user_agent": chrome.format(140) + " Edg/140.0"}) == "Edge"
    assert screen_setup({}) == ""


def _repeated_readings(days: float) -> list[ReadingRow]:
    later = stamp(NOW + timedelta(days=days))
    first = _row(case_id=-1)
    return [first, _row(case_id=-1, session=2, shown_at_utc=later, received_at_utc=later)]


def test_it_is_reported_whether_the_wash_out_period_was_kept() -> None:
    """An interval of 28 days suffices; one minute less does not. The shortest one is reported."""
    kept, near = _only_fact(_repeated_readings(28)), _only_fact(_repeated_readings(27.999))
    assert (kept.kind, kept.n, kept.total, kept.values["shortest_days"]) == (
        FactKind.WASHOUT,
        0,
        1,
        28,
    )
    assert (near.n, near.total) == (1, 1)
    assert near.values["shortest_days"] == pytest.approx(27.999)


def test_hidden_repeats_within_a_session_need_no_wash_out() -> None:
    """Repeats within a session are intended to be close together."""
    assert facts_of([_row(case_id=-2), _row(case_id=-2)], PROTOCOL) == []


def test_a_case_with_problems_is_reported_by_its_item() -> None:
    """Two of three readers skipped the case or did not see all of it; one is not reported."""
    case = {"case_number": 1, "item_id": "q1"}
    given_up = _row(**case, status="skipped", answer=None)
    unseen = _row(**case, reader_id="R2", flags=("film_not_whole",))
    fine = _row(**case, reader_id="R3")
    of_cases = [
        fact for fact in facts_of([given_up, unseen, fine], PROTOCOL) if fact.kind is FactKind.CASE
    ]
    assert [(fact.item_id, fact.n, fact.total, fact.reader_id) for fact in of_cases] == [
        ("q1", 2, 3, "")
    ]
    assert dict(of_cases[0].values) == {"case_number": 1, "skipped": 1, "flagged": 1}
    assert facts_of([given_up, fine], PROTOCOL) == []


def test_facts_are_computed_without_the_reference_standard(opened: Opened) -> None:
    """A record sent by the page leads to a fact, which names its reading."""
    store = opened()
    reader = person(store)
    case = desk.desk(store, reader, now=NOW).cases[0].case
    at_once = {"response_ms": 250.0, "elapsed_ms": 250.0, "hidden_ms": 0.0, "paused_ms": 0.0}
    record = reading(case, times=at_once, committed_epoch_ms=NOW.timestamp() * 1000 + 250)
    desk.take_records(store, reader, [presentation(case), record], now=NOW)
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    assert [fact.kind for fact in find_quality_facts(store, "trial")] == [
        FactKind.TOO_FAST,
        FactKind.GLANCE,
    ]
    rows = current_readings(store, "trial")
    assert len(rows) == 9
    row = find_reading(rows, "R1", 1)
    assert row is not None
    assert (row.id, row.flags, row.response_ms) == (f"read-{case}", ("too_fast",), 250.0)
    assert find_reading(rows, "R1", 2) is None
    assert "answer" not in row._fields
