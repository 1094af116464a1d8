"""Excluding a reading: with a reason only, both ways in the export, and vouched for."""

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

import analysis
from analysis import bundle as bundles
from study.base.actor import By
from study.base.errors import BadInput, NotFound, NotNow
from study.exchange.bundle import bundle_files, export
from study.monitoring.interventions import exclude, history, reinstate, what_it_does
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events, studies
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading, tamper

Opened = Callable[..., Store]
BY = By(name="c", role="coordinator", place="mark")


@pytest.fixture
def read(opened: Opened) -> Store:
    """Return a study whose reader R1, simulated, has read every case."""
    store = opened()
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    return store


def _first(store: Store) -> str:
    with store.look() as look:
        return str(
            look.value(
                "SELECT readings.id FROM readings JOIN assignments ON assignments.id = assignment "
                "WHERE position = 1"
            )
        )


def _exclude(store: Store, why: str = "fire alarm", hours: float = 1) -> None:
    exclude(
        store,
        study="trial",
        reading=_first(store),
        reason=why,
        by=BY,
        now=NOW + timedelta(hours=hours),
    )


def _reinstate(store: Store) -> None:
    reinstate(store, study="trial", reading=_first(store), reason="no alarm", by=BY, now=NOW)


def _exported(store: Store) -> list[str]:
    text = bundle_files(store, "trial")["readings.csv"].decode()
    return [row["excluded"] for row in csv.DictReader(io.StringIO(text))]


def test_an_excluded_reading_stays_in_the_export_with_its_reason(read: Store) -> None:
    """Nothing is taken out: the reason stands beside the reading."""
    assert _exported(read) == [""] * 8
    _exclude(read, "fire\n alarm")
    assert _exported(read) == ["fire alarm", *[""] * 7]
    assert verify(read) == []


@pytest.mark.parametrize(
    ("exclusions", "said"),
    [
        (
            "sensitivity",
            "are included in the primary analysis; a sensitivity analysis leaves them out",
        ),
        ("primary", "are left out of the primary analysis; a sensitivity analysis includes them"),
    ],
)
def test_what_excluding_does_is_said_as_the_protocol_decided_it(
    opened: Opened, exclusions: str, said: str
) -> None:
    """And the bundle's protocol says the same to the analysis."""
    store = opened(exclusions=exclusions)
    assert said in what_it_does(store, "trial")
    protocol = json.loads(bundle_files(store, "trial")["protocol.json"])
    assert protocol["in_force"]["exclusions"] == exclusions
    assert protocol["locked"]["protocol"].get("exclusions", "sensitivity") == exclusions


def test_a_reading_can_be_brought_back_and_set_aside_again(read: Store) -> None:
    """Each decision is a row of its own; the last one counts."""
    _exclude(read)
    _reinstate(read)
    assert _exported(read)[0] == ""
    _exclude(read, "again")
    assert _exported(read)[0] == "again"
    assert [(one.excluded, one.reason) for one in history(read, "trial")] == [
        (True, "fire alarm"),
        (False, "no alarm"),
        (True, "again"),
    ]
    assert verify(read) == []


def test_the_trail_says_who_decided_what_and_why(read: Store) -> None:
    """By whom, in which role, from where, old, new and reason."""
    _exclude(read)
    with read.look() as look:
        last = list(events.walk(look, events.study_chain("trial")))[-1]
    assert (last.kind, last.actor) == ("reading excluded", "c")
    told = {key: last.detail[key] for key in ("reader_id", "position", "old", "new", "reason")}
    assert told == {
        "reader_id": "R1",
        "position": 1,
        "old": "counts",
        "new": "excluded",
        "reason": "fire alarm",
    }
    assert (last.detail["role"], last.detail["place"]) == ("coordinator", "mark")


def test_without_a_reason_nothing_is_excluded(read: Store) -> None:
    """Blank, or so long that nobody reads it: refused."""
    for why in ("", " \n ", "x" * 2001):
        with pytest.raises(BadInput):
            _exclude(read, why)
    assert _exported(read) == [""] * 8


def test_what_is_so_already_is_refused(read: Store) -> None:
    """A second click, or a second window, decides nothing anew."""
    with pytest.raises(NotNow, match="not excluded"):
        _reinstate(read)
    _exclude(read)
    with pytest.raises(NotNow, match="already excluded"):
        _exclude(read)
    with pytest.raises(NotFound):
        exclude(read, study="trial", reading="none", reason="x", now=NOW)
    assert len(history(read, "trial")) == 1


def test_an_answer_changed_since_is_another_reading(opened: Opened) -> None:
    """The old one can no longer be excluded, the new one counts."""
    store = opened(back_navigation=True)
    who = person(store)
    case = desk.desk(store, who, now=NOW).cases[0].case
    desk.take_records(store, who, [presentation(case), reading(case)], now=NOW)
    exclude(store, study="trial", reading=f"read-{case}", reason="x", now=NOW)
    changed = reading(case, "B", id="second-answer", supersedes=f"read-{case}")
    assert desk.take_records(store, who, [changed], now=NOW).refused == ()
    assert _exported(store) == [""]
    assert [one.current for one in history(store, "trial")] == [False]
    with pytest.raises(NotNow, match="changed the answer"):
        reinstate(store, study="trial", reading=f"read-{case}", reason="x", now=NOW)


def test_an_exclusion_after_closing_says_so(read: Store) -> None:
    """Whoever decides then may have seen the results."""
    with read.change() as change:
        number = change.value("SELECT id FROM studies")
        studies.mark_closed(change, number, "2025-06-04T12:30:00.000Z")
    _exclude(read)
    assert _exported(read)[0] == "fire alarm (decided after closing)"


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE exclusions SET reason = 'x'", "/1 was altered"),
        ("UPDATE exclusions SET excluded = 0", "/1 was altered"),
        ("DELETE FROM exclusions", "/1 is missing"),
        (
            "INSERT INTO exclusions SELECT 'x/7', reading, 0, 'x', 'c', at_utc FROM exclusions",
            "exclusion x/7 was altered or slipped in",
        ),
    ],
)
def test_an_exclusion_altered_by_hand_is_found(
    read: Store, tmp_path: Path, statement: str, named: str
) -> None:
    """Reason, decision, a row taken out, a row slipped in."""
    _exclude(read)
    read.copy_to(tmp_path / "copy.db")
    copy = Store(tmp_path / "copy.db")
    tamper(copy, statement)
    assert any(named in breach for breach in verify(copy))


def test_the_analysis_reports_both_ways(read: Store, tmp_path: Path) -> None:
    """The primary analysis keeps the reading; the sensitivity analysis leaves it out."""
    export(read, study="trial", out=tmp_path / "before")
    _exclude(read)
    export(read, study="trial", out=tmp_path / "after")
    before, after = (bundles.read_bundle(tmp_path / name) for name in ("before", "after"))
    assert analysis.accuracy(before).equals(analysis.accuracy(after))
    table = analysis.sensitivity(after).set_index("analysis")
    assert table.loc["missing as wrong", "n"] == 8
    assert table.loc["excluded readings dropped", "n"] == 7
    assert "excluded readings dropped" not in set(analysis.sensitivity(before)["analysis"])
