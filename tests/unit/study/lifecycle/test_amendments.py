"""Amendments of an open study: some keys may be changed, with a reason, and all others not."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from study.base.actor import Acting, By
from study.base.errors import BadInput, BadProtocol, NotNow
from study.exchange.bundle import bundle_files
from study.lifecycle.amendments import AMENDABLE, amend, why_fixed
from study.protocol.metadata import Metadata
from study.protocol.protocol import Protocol, stored_protocol
from study.protocol.protocol import toml_of_study as file_of_study
from study.reading.simulation import simulate
from study.store import Store
from study.store.studies import amendments, study_row
from study.trail.verification import verify
from tests.conftest import NOW, draw_trial, tamper

BY = By(name="ada", role="coordinator", place="0123456789ab")
Opened = Callable[..., Store]


def _amend(store: Store, reason: str = "The ethics committee asked.", **changes: Any) -> int:
    amendment = amend(
        store, study="trial", changes=changes, reason=reason, acting=Acting(by=BY, now=NOW)
    )
    return amendment.number


def _protocol(store: Store) -> Protocol:
    with store.look() as look:
        return stored_protocol(study_row(look, "trial"))


def test_an_amendment_applies_to_later_cases(opened: Opened) -> None:
    """The locked protocol keeps its hash, and the verification finds no breach."""
    store = opened()
    with store.look() as look:
        before = study_row(look, "trial").protocol_sha256
    assert _amend(store, margin=0.1) == 1
    assert _amend(store, break_every=20, endpoint="accuracy") == 2
    protocol = _protocol(store)
    assert (protocol.margin, protocol.break_every, protocol.endpoint) == (0.1, 20, "accuracy")
    with store.look() as look:
        row = study_row(look, "trial")
        second = amendments(look, row.id)[1]
    assert row.protocol_sha256 == before
    assert second.changes == {
        "break_every": {"old": 0, "new": 20},
        "endpoint": {"old": "", "new": "accuracy"},
    }
    assert "margin = 0.1" in file_of_study(store, "trial")
    assert verify(store) == []


def test_an_amendment_of_fixed_keys_is_refused_with_their_names(opened: Opened) -> None:
    """One message lists all fixed keys."""
    store = opened()
    fixed = sorted(set(Protocol().in_full()) - set(AMENDABLE))
    values = Protocol().in_full()
    with pytest.raises(BadProtocol) as refused:
        _amend(store, **{key: values[key] for key in fixed}, margin=0.1, nonsense=1)
    for key in (*fixed, "nonsense"):
        assert f"  {key}: " in str(refused.value)
    assert all(why_fixed(key) for key in fixed)
    assert _protocol(store).margin == 0.05


def test_an_amendment_needs_a_reason_and_a_change(opened: Opened) -> None:
    """The new value must be valid."""
    store = opened()
    with pytest.raises(BadInput, match="reason"):
        _amend(store, " \n", margin=0.1)
    with pytest.raises(NotNow, match="Nothing would change"):
        _amend(store, margin=0.05)
    with pytest.raises(BadProtocol, match="margin"):
        _amend(store, margin=2)


def test_only_an_open_study_can_be_amended(banked: Store) -> None:
    """A drawn study is discarded and drawn again."""
    draw_trial(banked, {"cases": 4, "one_question_per": "item"})
    with pytest.raises(NotNow, match="not open yet"):
        _amend(banked, margin=0.1)


def test_feedback_can_be_changed_freely_only_before_the_first_case(opened: Opened) -> None:
    """After the first case a score at the end can be added, but not removed."""
    store = opened()
    _amend(store, feedback="after case")
    _amend(store, feedback="never")
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    with pytest.raises(BadProtocol, match="once a case has been read"):
        _amend(store, feedback="after case")
    _amend(store, feedback="after study")
    with pytest.raises(BadProtocol, match="once a case has been read"):
        _amend(store, feedback="never")


def test_instructions_can_be_reworded_but_not_added_or_removed(opened: Opened) -> None:
    """Otherwise a reader could get a new step during the study."""
    store = opened(instructions="Look at the film.")
    _amend(store, instructions="Look at both films.")
    with pytest.raises(BadProtocol, match="reworded"):
        _amend(store, instructions="")


def test_the_bundle_contains_every_amendment(opened: Opened) -> None:
    """The file has the locked protocol, each amendment, and the protocol in force."""
    store = opened()
    assert json.loads(bundle_files(store, "trial")["protocol.json"])["amendments"] == []
    _amend(store, margin=0.1)
    files = bundle_files(store, "trial")
    protocol = json.loads(files["protocol.json"])
    assert protocol["locked"]["protocol"]["margin"] == 0.05
    assert protocol["in_force"]["margin"] == 0.1
    assert protocol["in_force"]["endpoint"] == ""
    (amendment,) = protocol["amendments"]
    assert amendment == {
        "number": 1,
        "at_utc": "2025-06-04T12:00:00.000Z",
        "actor": "ada",
        "reason": "The ethics committee asked.",
        "changes": {"margin": {"old": 0.05, "new": 0.1}},
    }
    package = json.loads(files["datapackage.json"])
    assert package["reading_room"]["amendments"] == 1


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE amendments SET reason = 'x' WHERE number = 2", "amendment 2: reason altered"),
        ("UPDATE amendments SET actor = 'x' WHERE number = 1", "amendment 1: actor altered"),
        ("UPDATE amendments SET at_utc = 'x' WHERE number = 1", "amendment 1: at_utc altered"),
        (
            'UPDATE amendments SET changes = \'{"margin":{"new":0.2,"old":0.05}}\' '
            "WHERE number = 1",
            "amendment 1: changes altered",
        ),
        ("DELETE FROM amendments WHERE number = 2", "amendments made: 2, amendments stored: 1"),
        (
            "INSERT INTO amendments (study, number, changes, reason, actor, at_utc) "
            "VALUES (1, 3, '{}', 'x', 'ada', 'x')",
            "amendments made: 2, amendments stored: 3",
        ),
    ],
)
def test_verification_reports_an_altered_amendment(
    opened: Opened, statement: str, message: str
) -> None:
    """Altered, deleted and inserted rows are reported."""
    store = opened()
    _amend(store, margin=0.1)
    _amend(store, break_every=10)
    assert verify(store) == []
    tamper(store, statement)
    assert any(message in breach for breach in verify(store))


def test_metadata_can_be_amended_and_removed(opened: Opened) -> None:
    store = opened(metadata={"funding": "None", "setting": "Two hospitals"})
    _amend(store, metadata={"funding": "A grant"})
    assert _protocol(store).metadata == Metadata(funding="A grant")
    in_force = json.loads(bundle_files(store, "trial")["protocol.json"])["in_force"]
    assert in_force["metadata"] == {"funding": "A grant"}
    _amend(store, metadata={})
    files = bundle_files(store, "trial")
    assert "metadata" not in json.loads(files["protocol.json"])["in_force"]
    assert verify(store) == []
