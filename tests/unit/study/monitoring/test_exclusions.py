"""Readings are excluded with a reason, reported with and without them, and verified."""

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

import analysis
from analysis import bundle as bundles
from study.base.actor import Acting, By
from study.base.errors import BadInput, NotFound, NotNow
from study.exchange.bundle import bundle_files, export
from study.monitoring.interventions import exclude, exclusion_history, exclusion_rule, reinstate
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events, studies
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, person, presentation, reading, tamper

Opened = Callable[..., Store]
BY = By(name="c", role="coordinator", place="mark")


@pytest.fixture
def read_study(opened: Opened) -> Store:
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


def _exclude(store: Store, reason: str = "fire alarm", hours: float = 1) -> None:
    exclude(
        store,
        study="trial",
        reading=_first(store),
        reason=reason,
        acting=Acting(by=BY, now=NOW + timedelta(hours=hours)),
    )


def _reinstate(store: Store) -> None:
    reinstate(
        store,
        study="trial",
        reading=_first(store),
        reason="no alarm",
        acting=Acting(by=BY, now=NOW),
    )


def _exported_rows(store: Store) -> list[str]:
    text = bundle_files(store, "trial")["readings.csv"].decode()
    return [row["excluded"] for row in csv.DictReader(io.StringIO(text))]


def test_an_excluded_reading_is_exported_with_its_reason(read_study: Store) -> None:
    """The export keeps the row and adds the reason."""
    assert _exported_rows(read_study) == [""] * 8
    _exclude(read_study, "fire\n alarm")
    assert _exported_rows(read_study) == ["fire alarm", *[""] * 7]
    assert verify(read_study) == []


@pytest.mark.parametrize(
    ("exclusions", "message"),
    [
        (
            "sensitivity",
            "are included in the primary analysis; a sensitivity analysis leaves them out",
        ),
        ("primary", "are left out of the primary analysis; a sensitivity analysis includes them"),
    ],
)
def test_the_explanation_of_an_exclusion_depends_on_the_protocol(
    opened: Opened, exclusions: str, message: str
) -> None:
    """The protocol in the bundle states the same choice for the analysis."""
    store = opened(exclusions=exclusions)
    assert message in exclusion_rule(store, "trial")
    protocol = json.loads(bundle_files(store, "trial")["protocol.json"])
    assert protocol["in_force"]["exclusions"] == exclusions
    assert protocol["locked"]["protocol"].get("exclusions", "sensitivity") == exclusions


def test_a_reading_can_be_reinstated_and_excluded_again(read_study: Store) -> None:
    """Each decision is a separate row; the last one counts."""
    _exclude(read_study)
    _reinstate(read_study)
    assert _exported_rows(read_study)[0] == ""
    _exclude(read_study, "again")
    assert _exported_rows(read_study)[0] == "again"
    assert [
        (decision.excluded, decision.reason) for decision in exclusion_history(read_study, "trial")
    ] == [
        (True, "fire alarm"),
        (False, "no alarm"),
        (True, "again"),
    ]
    assert verify(read_study) == []


def test_the_trail_records_who_excluded_which_reading_and_why(read_study: Store) -> None:
    """The event has the person's name, role and place, the old and new value, and the reason."""
    _exclude(read_study)
    with read_study.look() as look:
        last = list(events.walk(look, events.study_chain("trial")))[-1]
    assert (last.kind, last.actor) == ("reading excluded", "c")
    recorded = {key: last.detail[key] for key in ("reader_id", "position", "old", "new", "reason")}
    assert recorded == {
        "reader_id": "R1",
        "position": 1,
        "old": "counts",
        "new": "excluded",
        "reason": "fire alarm",
    }
    assert (last.detail["role"], last.detail["place"]) == ("coordinator", "mark")


def test_an_exclusion_needs_a_reason_of_acceptable_length(read_study: Store) -> None:
    """A blank or extremely long reason is refused."""
    for reason in ("", " \n ", "x" * 2001):
        with pytest.raises(BadInput):
            _exclude(read_study, reason)
    assert _exported_rows(read_study) == [""] * 8


def test_a_decision_that_changes_nothing_is_refused(read_study: Store) -> None:
    """A second click, or a second window, does not add a decision."""
    with pytest.raises(NotNow, match="not excluded"):
        _reinstate(read_study)
    _exclude(read_study)
    with pytest.raises(NotNow, match="already excluded"):
        _exclude(read_study)
    with pytest.raises(NotFound):
        exclude(read_study, study="trial", reading="none", reason="x", acting=ACTING)
    assert len(exclusion_history(read_study, "trial")) == 1


def test_an_exclusion_does_not_apply_to_a_changed_answer(opened: Opened) -> None:
    """The old reading can no longer be reinstated, and the new one counts."""
    store = opened(back_navigation=True)
    reader = person(store)
    case = desk.desk(store, reader, now=NOW).cases[0].case
    desk.take_records(store, reader, [presentation(case), reading(case)], now=NOW)
    exclude(store, study="trial", reading=f"read-{case}", reason="x", acting=ACTING)
    changed = reading(case, "B", id="second-answer", supersedes=f"read-{case}")
    assert desk.take_records(store, reader, [changed], now=NOW).refused == ()
    assert _exported_rows(store) == [""]
    assert [decision.current for decision in exclusion_history(store, "trial")] == [False]
    with pytest.raises(NotNow, match="changed the answer"):
        reinstate(store, study="trial", reading=f"read-{case}", reason="x", acting=ACTING)


def test_an_exclusion_after_closing_is_marked_in_the_export(read_study: Store) -> None:
    """A person who excludes a reading after closing may have seen the results."""
    with read_study.change() as change:
        number = change.value("SELECT id FROM studies")
        studies.mark_closed(change, number, "2025-06-04T12:30:00.000Z")
    _exclude(read_study)
    assert _exported_rows(read_study)[0] == "fire alarm (decided after closing)"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE exclusions SET reason = 'x'", "/1 was altered"),
        ("UPDATE exclusions SET excluded = 0", "/1 was altered"),
        ("DELETE FROM exclusions", "/1 is missing"),
        (
            "INSERT INTO exclusions SELECT 'x/7', reading, 0, 'x', 'c', at_utc FROM exclusions",
            "exclusion x/7 was altered or inserted",
        ),
    ],
)
def test_verification_reports_an_exclusion_altered_in_the_file(
    read_study: Store, tmp_path: Path, statement: str, message: str
) -> None:
    """A changed reason or decision, a deleted row and an inserted row are reported."""
    _exclude(read_study)
    read_study.copy_to(tmp_path / "copy.db")
    copy = Store(tmp_path / "copy.db")
    tamper(copy, statement)
    assert any(message in breach for breach in verify(copy))


def test_the_sensitivity_analysis_drops_excluded_readings(
    read_study: Store, tmp_path: Path
) -> None:
    """The primary analysis includes them."""
    export(read_study, study="trial", out=tmp_path / "before")
    _exclude(read_study)
    export(read_study, study="trial", out=tmp_path / "after")
    before, after = (bundles.read_bundle(tmp_path / name) for name in ("before", "after"))
    assert analysis.accuracy(before).equals(analysis.accuracy(after))
    table = analysis.sensitivity(after).set_index("analysis")
    assert table.loc["missing as wrong", "n"] == 8
    assert table.loc["excluded readings dropped", "n"] == 7
    assert "excluded readings dropped" not in set(analysis.sensitivity(before)["analysis"])
