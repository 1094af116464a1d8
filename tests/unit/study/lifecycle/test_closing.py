"""Closing a study: for good, with its numbers in the trail, and accuracy not before."""

from collections.abc import Callable

import pytest

from study.base.actor import By
from study.base.errors import BadInput, NotNow
from study.lifecycle import studies
from study.lifecycle.studies import accuracy_is_shown
from study.monitoring.progress import completeness_in
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, invite, person, tamper

Opened = Callable[..., Store]
BY = By(name="c", role="coordinator", place="0123456789ab")


def _close(store: Store, reason: str = "Every case is read.") -> None:
    studies.close(store, study="trial", reason=reason, by=BY, now=NOW)


def _events(store: Store, kind: str) -> list[events.EventRow]:
    with store.look() as look:
        return [one for one in events.walk(look, "study:trial") if one.kind == kind]


def test_a_closed_study_says_who_closed_it_why_and_what_was_missing(opened: Opened) -> None:
    """The event has name, role, place, reason and every count; the store still verifies."""
    store = opened(readers=("R1", "R2"))
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    _close(store, "  Funds \n ran out. ")
    (event,) = _events(store, "study closed")
    detail = event.detail
    assert event.actor == "c"
    assert isinstance(detail, dict)
    assert (detail["role"], detail["place"]) == ("coordinator", "0123456789ab")
    assert detail["reason"] == "Funds ran out."
    assert detail["readings"]["n_missing"] == 8
    assert detail["readers"] == {"finished": 1, "reading": 0, "not begun": 1, "withdrawn": 0}
    assert verify(store) == []


def test_closing_needs_a_reason_and_an_open_study_and_happens_once(
    banked: Store, opened: Opened
) -> None:
    """Never opened, without a reason, too long a reason, twice: refused, and nothing is written."""
    protocol = Protocol.from_json({"cases": 8, "one_question_per": "item"})
    studies.draw(banked, bank="bank", study="drawn", protocol=protocol, now=NOW)
    with pytest.raises(NotNow, match="never opened"):
        studies.close(banked, study="drawn", reason="x", now=NOW)
    store = opened()
    for reason in ("", " \n", "x" * 2001):
        with pytest.raises(BadInput, match="reason"):
            _close(store, reason)
    _close(store)
    with pytest.raises(NotNow, match="already closed"):
        _close(store)
    assert len(_events(store, "study closed")) == 1


def test_nobody_reads_and_nobody_is_invited_after_the_closing(opened: Opened) -> None:
    """An answer that comes late is refused in words."""
    store = opened()
    _close(store)
    with pytest.raises(NotNow, match="answers are no longer accepted"):
        desk.take_records(store, person(store), [{"kind": "reading"}], now=NOW)
    with pytest.raises(NotNow, match="closed"):
        invite(store, "R3")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE studies SET state = 'open'",
        "UPDATE studies SET closed_at_utc = 'x'",
        "UPDATE studies SET closed_at_utc = NULL",
    ],
)
def test_a_closed_study_cannot_be_opened_behind_the_programs_back(
    opened: Opened, statement: str
) -> None:
    """State and moment of the closing are vouched for by the trail."""
    store = opened()
    _close(store)
    tamper(store, statement)
    assert "altered" in verify(store)[0]


def test_a_study_set_to_closed_without_an_event_is_found(opened: Opened) -> None:
    """Whoever wants accuracy early cannot just write the state."""
    store = opened()
    tamper(store, f"UPDATE studies SET state = 'closed', closed_at_utc = '{NOW.isoformat()}'")
    assert verify(store) == ["study trial: state, closed_at_utc altered."]


@pytest.mark.parametrize("interim", [False, True])
def test_accuracy_opens_at_the_closing_unless_the_protocol_says_earlier(
    opened: Opened, interim: bool
) -> None:
    """One function decides, of the protocol in force."""
    store = opened(interim_results=interim)
    assert accuracy_is_shown(store, "trial") is interim
    _close(store)
    assert accuracy_is_shown(store, "trial")


def test_what_is_missing_is_counted_per_reader_session_and_condition(opened: Opened) -> None:
    """Denominators are the cases assigned; a simulated reader that finished lacks nothing."""
    store = opened(conditions=["unaided", "image-absent"])
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    with store.look() as look:
        found = completeness_in(look, study_row(look, "trial"))
    assert [one.stage for one in found.readers] == ["finished", "not begun"]
    assert {one.condition for one in found.sessions} == {"unaided", "image-absent"}
    assert found.counts.n_assigned == 2 * found.counts.n_unread == 32
