"""The audit trail: search by text, kind, actor and date, pages, and CSV export."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from study.base.actor import COMMAND_LINE, Acting, By
from study.exchange.restoring import merge
from study.lifecycle.amendments import amend
from study.people import signing_in
from study.store import Store, events
from study.trail import trails as trail
from study.trail.trails import Search, record_download
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, invite
from tests.sites import close_trial, create_site, export_bundle

Opened = Callable[..., Store]
BY = By(name="c", role="coordinator", place="mark1")
ACTING = Acting(by=BY, now=NOW)


def _kinds_found(store: Store, wanted: Search, study: str = "trial") -> list[str]:
    return [act.kind for act in trail.search(store, study, wanted, page=0, size=500).rows]


@pytest.fixture
def amended_study(opened: Opened) -> Store:
    """Return a study amended from a known place, whose bundle was taken."""
    store = opened()
    amend(store, study="trial", changes={"break_every": 5}, reason="Long lists", acting=ACTING)
    record_download(store, study="trial", file="b.zip", content=b"x", acting=ACTING)
    record_download(store, study="other", file="b.zip", content=b"x", acting=ACTING)
    return store


def test_events_can_be_searched_by_text_kind_actor_and_date(amended_study: Store) -> None:
    """Readings of single cases are included only on request."""
    assert _kinds_found(amended_study, Search(text="LONG lists")) == ["protocol amended"]
    assert _kinds_found(
        amended_study, Search(text="taken away", labelled_kinds=("downloaded",))
    ) == ["downloaded"]
    assert _kinds_found(amended_study, Search(kind="study opened")) == ["study opened"]
    assert _kinds_found(amended_study, Search(actor="c")) == ["downloaded", "protocol amended"]
    assert _kinds_found(amended_study, Search(since=NOW + timedelta(seconds=1))) == []
    assert _kinds_found(amended_study, Search(until=NOW)) == []
    assert len(_kinds_found(amended_study, Search(since=NOW, until=NOW + timedelta(days=1)))) == 8
    for nothing in ("100%", "r_1", "'; DROP TABLE events; --", "\\"):
        assert _kinds_found(amended_study, Search(text=nothing)) == []


def test_an_event_names_actor_place_reason_and_values(amended_study: Store) -> None:
    """Old value, new value, reason, role, place and hash are separate fields."""
    (act,) = trail.search(amended_study, "trial", Search(text="long"), page=0, size=5).rows
    assert (act.actor, act.role, act.place, act.reason) == (
        "c",
        "coordinator",
        "mark1",
        "Long lists",
    )
    assert (act.old, act.new) == ("break_every = 0", "break_every = 5")
    assert len(act.hash) == 64
    assert _kinds_found(amended_study, Search(text=act.hash[:12])) == ["protocol amended"]


def test_events_of_a_study_and_of_the_deployment_are_separate(amended_study: Store) -> None:
    """The downloads of another study are not listed."""
    assert _kinds_found(amended_study, Search()).count("downloaded") == 1
    kinds = _kinds_found(amended_study, Search(), study="")
    assert kinds.count("downloaded") == 2
    assert "study opened" not in kinds
    assert "bank imported" in kinds


def test_the_trail_shows_sign_in_and_sign_out_with_the_address(banked: Store) -> None:
    """The trail contains a mark; the address is stored in another table."""
    from study.lifecycle import studies
    from study.protocol.protocol import Protocol

    protocol = Protocol.from_json({"cases": 4, "one_question_per": "item"})
    studies.draw(
        banked,
        bank="bank",
        study="trial",
        protocol=protocol,
        acting=Acting(by=COMMAND_LINE, now=NOW),
    )
    code = invite(banked, "R1")[0].text
    studies.open_study(banked, study="trial", acting=Acting(by=COMMAND_LINE, now=NOW))
    mark = signing_in.remember_place(banked, "192.0.2.7", agent="Firefox", now=NOW)
    assert signing_in.remember_place(banked, "192.0.2.7", agent="Firefox", now=NOW) == mark
    assert signing_in.remember_place(banked, "", agent="", now=NOW) == ""
    browser = signing_in.Browser(place=mark)
    entered = signing_in.sign_in(banked, code, entropy=entropy_from(5), now=NOW, browser=browser)
    signing_in.sign_out(banked, entered.token, now=NOW, place=mark)
    signing_in.sign_out(banked, entered.token, now=NOW, place=mark)
    assert _kinds_found(banked, Search(actor="R1")) == ["signed out", "signed in"]
    acts = trail.search(banked, "trial", Search(actor="R1"), page=0, size=5).rows
    assert {act.place for act in acts} == {"192.0.2.7"}
    text = b"".join(trail.trail_csv(banked, "trial", Search()))
    assert mark.encode() in text
    assert b"192.0.2.7" not in text
    assert verify(banked) == []


@pytest.mark.thorough
def test_a_hundred_thousand_events_are_split_into_pages(opened: Opened) -> None:
    """Each page has fifty events, without overlap or gap."""
    store = opened()
    with store.change() as change:
        change.insert_many(
            "events",
            ("chain", "number", "at_utc", "actor", "kind", "detail", "previous_hash", "hash"),
            (
                ("study:trial", 1000 + i, f"2026-{i:09d}", "R1", "case read", "{}", "", "x")
                for i in range(100_000)
            ),
        )
    wanted = Search(kind="case read")
    first = trail.search(store, "trial", wanted, page=0, size=50)
    last = trail.search(store, "trial", wanted, page=1999, size=50)
    assert (first.n_found, len(first.rows), len(last.rows)) == (100_000, 50, 50)
    assert first.rows[0].number == 100_999
    assert last.rows[-1].number == 1000
    assert trail.search(store, "trial", wanted, page=2000, size=50).rows == ()
    assert len(_kinds_found(store, Search())) == 6


def test_the_csv_has_all_events_and_no_formula(amended_study: Store) -> None:
    """The file is sorted by time, and text that looks like a formula is quoted."""
    with amended_study.change() as change:
        detail = {"reason": "=HYPERLINK(1)"}
        events.record(
            change,
            "trial",
            Acting(by=BY, now=NOW),
            kind=events.EventKind.STUDY_COPIED,
            detail=detail,
        )
    text = b"".join(trail.trail_csv(amended_study, "trial", Search(with_readings=True))).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows[0]["kind"] == "study drawn"
    assert rows[-1]["reason"] == "'=HYPERLINK(1)"
    assert {row["chain"] for row in rows} == {"study:trial", "deployment"}


def test_the_trail_of_a_merged_study_includes_every_site(tmp_path: Path) -> None:
    """Each event from another deployment names that deployment."""
    home, other = (
        create_site(tmp_path / "a", 1),
        create_site(tmp_path / "b", 2, person_id="P2", simulated="S2"),
    )
    for store in (home, other):
        close_trial(store)
    result = merge(home, export_bundle(other), study="trial", acting=ACTING)
    acts = trail.search(home, "trial", Search(kind="study drawn"), page=0, size=9).rows
    assert {act.site for act in acts} == {"", result.deployment_id}
    assert "P2" in {
        act.actor
        for act in trail.search(home, "trial", Search(with_readings=True), page=0, size=200).rows
    }
