"""The flags of a reading: each says one thing, and none stands where nothing is doubtful."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from study.reading import desk
from study.store import Store
from tests.conftest import NOW, person, presentation, reading

Opened = Callable[..., Store]
NOW_MS = NOW.timestamp() * 1000


def _case(store: Store) -> str:
    return desk.desk(store, person(store), now=NOW).cases[0].case


def _take(store: Store, *records: Any, after_s: float) -> None:
    now = NOW + timedelta(seconds=after_s)
    assert desk.take_records(store, person(store), records, now=now).refused == ()


def _row(store: Store) -> dict[str, Any]:
    with store.look() as look:
        (row,) = look.rows("SELECT * FROM readings")
    return {**row, "flags": json.loads(row["flags"])}


def _times(elapsed_ms: float | None) -> dict[str, Any]:
    return {"response_ms": elapsed_ms, "elapsed_ms": elapsed_ms}


def _read_late(store: Store, case: str) -> None:
    """Show a case at once, and hand its reading in 41 s after it was committed."""
    _take(store, presentation(case), after_s=0)
    _take(store, reading(case), after_s=42)


def _read_on_a_cut_line(store: Store, case: str) -> None:
    """Hand presentation and reading in together, a minute later."""
    committed = NOW_MS + 5000
    record = reading(case, times=_times(5000.0), committed_epoch_ms=committed)
    _take(store, presentation(case), record, after_s=65)


def _read_on_a_line_cut_shortly(store: Store, case: str) -> None:
    """Hand both in together, before 30 s are over."""
    committed = NOW_MS + 5000
    record = reading(case, times=_times(5000.0), committed_epoch_ms=committed)
    _take(store, presentation(case), record, after_s=6)


def _read_with_a_late_presentation(store: Store, case: str) -> None:
    """Hand the presentation in late and the reading at once: nothing disagrees."""
    _take(store, presentation(case), after_s=50)
    committed = NOW_MS + 60_000
    _take(
        store,
        reading(case, times=_times(60_000.0), committed_epoch_ms=committed),
        after_s=60.2,
    )


def _read_with_clocks_that_disagree(store: Store, case: str) -> None:
    """Say it took a minute, where the server saw a second."""
    _take(store, presentation(case), after_s=0)
    _take(store, reading(case, times=_times(60_000.0)), after_s=1)


def _read_quickly(store: Store, case: str) -> None:
    """Everything as it should be, in two messages."""
    _take(store, presentation(case), after_s=0.1)
    _take(store, reading(case), after_s=1.4)


def _read_quickly_in_one_message(store: Store, case: str) -> None:
    """Everything as it should be, in one message."""
    _take(store, presentation(case), reading(case), after_s=1.4)


def _sent_by_a_clock_that_is_off(store: Store, case: str, off_s: float, waited_s: float) -> None:
    """Read as it should be on a workstation whose clock is off, and hand it in after a while."""
    shown = NOW_MS + off_s * 1000
    committed = shown + 1234.5
    _take(store, {**presentation(case), "shown_epoch_ms": shown}, after_s=0.1)
    record = reading(
        case,
        presented_epoch_ms=shown,
        committed_epoch_ms=committed,
        sent_epoch_ms=committed + waited_s * 1000,
    )
    _take(store, record, after_s=1.3 + waited_s)


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
    _take(store, record, after_s=46)


def _read_with_an_odd_moment_of_sending(store: Store, case: str) -> None:
    """Say when it was sent in no way a clock does."""
    _take(store, presentation(case), after_s=0.1)
    _take(store, reading(case, sent_epoch_ms="yesterday"), after_s=1.4)


def _read_too_fast(store: Store, case: str) -> None:
    """Confirm before anybody could have looked."""
    record = reading(case, times=_times(120.0), committed_epoch_ms=NOW_MS + 120)
    _take(store, presentation(case), after_s=0.05)
    _take(store, record, after_s=0.2)


def _read_without_presentation(store: Store, case: str) -> None:
    """Lose the message before it."""
    _take(store, reading(case), after_s=1.4)


def _read_without_presentation_and_late(store: Store, case: str) -> None:
    """Lose the message before it, and hand it in a minute later."""
    _take(store, reading(case), after_s=65)


def _present_and_read_late(store: Store, case: str) -> None:
    """Hand both in late, in two messages: the presentation tells nothing, the commit does."""
    _take(store, presentation(case), after_s=50)
    _take(store, reading(case), after_s=51)


def _read_by_a_clock_that_was_set_right(store: Store, case: str) -> None:
    """Show the case in 1970 by the browser's clock, which is right again at the reading."""
    _take(store, {**presentation(case), "shown_epoch_ms": 0}, after_s=3)
    _take(store, reading(case), after_s=4.2)


def _read_in_a_second_browser(store: Store, case: str) -> None:
    """Look at it in one browser, read it a minute later in another."""
    _take(store, presentation(case), after_s=0)
    later = NOW_MS + 60_000
    record = reading(case, presented_epoch_ms=later, committed_epoch_ms=later + 1234.5)
    _take(store, {**presentation(case), "shown_epoch_ms": later}, record, after_s=61.5)


def _read_after_a_reload_elsewhere(store: Store, case: str) -> None:
    """Say, as the page does, that the case had been shown before."""
    _take(store, presentation(case), after_s=0)
    later = NOW_MS + 20_000
    record = reading(
        case,
        presented_epoch_ms=later,
        committed_epoch_ms=later + 1234.5,
        times=_times(None),
        flags=["resumed_elsewhere"],
    )
    _take(store, record, after_s=21.5)


def _read_beyond_the_limit(store: Store, case: str) -> None:
    """Go on where the page should have ended it."""
    _take(store, presentation(case), after_s=0)
    record = reading(case, times=_times(23_000.0), committed_epoch_ms=NOW_MS + 23_000)
    _take(store, record, after_s=23)


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
    read(store, _case(store))
    row = _row(store)
    assert row["flags"] == flags
    assert row["answer"] == "A"


def test_a_changed_answer_is_not_compared_with_the_first_showing(opened: Opened) -> None:
    """Going back minutes later is no disagreement of clocks, and no second browser."""
    store = opened(back_navigation=True)
    case = _case(store)
    _take(store, presentation(case), after_s=0)
    _take(store, reading(case), after_s=1.4)
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
    _take(store, changed, after_s=301.5)
    with store.look() as look:
        flags = look.value("SELECT flags FROM readings WHERE id = 'changed-it'")
    assert json.loads(flags) == ["revisited"]
