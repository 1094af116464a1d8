"""A reader's place: among at least three who have finished, without names, and beside models."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study.base.errors import NotNow
from study.models import models
from study.reading import desk
from study.reading.score_card import Count, ScoreCard, score_card, total
from study.store import Store
from tests.conftest import NOW, person, reading
from tests.unit.study.reading.test_score_card import close

Opened = Callable[..., Store]
FIVE = ("R1", "R2", "R3", "R4", "R5")
PEERS: dict[str, Any] = {"feedback": "after study", "score_card": "peers"}


def truths(store: Store) -> dict[str, str]:
    """Return the reference standard by item."""
    with store.look() as look:
        rows = look.rows(
            "SELECT item_id, truth FROM cases JOIN items ON items.id = cases.item "
            "JOIN reference_standard ON reference_standard.item = items.id ORDER BY number"
        )
    return {row["item_id"]: row["truth"] for row in rows}


def read(store: Store, reader: str, n_right: int, n: int = 8) -> None:
    """Read `n` cases as a reader: those of the first `n_right` items right, all others wrong."""
    true = truths(store)
    right = list(true)[:n_right]
    with store.look() as look:
        items = {
            row["id"]: row["item_id"]
            for row in look.rows(
                "SELECT assignments.id, item_id FROM assignments JOIN cases ON cases.id = case_id "
                "JOIN items ON items.id = cases.item"
            )
        }
    who = person(store, reader)
    for _ in range(n):
        case = desk.desk(store, who, now=NOW).cases[0].case
        truth = true[items[case]]
        option = truth if items[case] in right else "ABCD"[(ord(truth) - 64) % 4]
        assert desk.take_records(store, who, [reading(case, option)], now=NOW).refused == ()


def card_of(store: Store, reader: str = "R1") -> ScoreCard:
    """Return a reader's card."""
    return score_card(store, person(store, reader))


def test_a_place_is_told_beside_the_mean_of_others_and_each_model(
    opened: Opened, tmp_path: Path
) -> None:
    """Ties share a place, tasks add up, and a case tells how many others got it right."""
    store = opened(readers=FIVE, **PEERS)
    for reader, n_right in zip(FIVE, (5, 7, 5, 2, 6), strict=True):
        read(store, reader, n_right)
    file = tmp_path / "predictions.json"
    file.write_text(json.dumps({item: {"model_prediction": "A"} for item in truths(store)}))
    models.add_model(store, file, study="trial", model_id="always-a", now=NOW)
    close(store)
    card = card_of(store)
    found = card.comparison
    assert found is not None
    assert (found.place, found.n_sharing, found.n_peers) == (3, 1, 4)
    assert total(found.own) == Count(n_correct=5, n=8)
    assert total(found.peers) == Count(n_correct=20, n=32)
    n_a = sum(truth == "A" for truth in truths(store).values())
    assert total(found.models["always-a"]) == Count(n_correct=n_a, n=8)
    assert set(found.own) == set(found.peers) == set(found.models["always-a"]) == set(card.by_task)
    assert found.own == card.by_task
    others = [case.others.readers for case in card.cases if case.others]
    assert all(one.n == 4 for one in others)
    assert sorted(one.n_correct for one in others) == [0, 1, 2, 3, 3, 3, 4, 4]
    assert sum(case.others.models.n_correct for case in card.cases if case.others) == n_a
    assert not any(case.worth_another_look for case in card.cases)
    again = [case for case in card_of(store, "R4").cases if case.worth_another_look]
    assert [case.others.readers.n_correct for case in again if case.others] == [4, 4, 4]


def test_two_others_are_too_few_to_stay_anonymous(opened: Opened) -> None:
    """Who has not finished, was simulated or withdrawn is not counted; models are still told."""
    store = opened(readers=FIVE, **PEERS)
    for reader in FIVE[:4]:
        read(store, reader, 4)
    read(store, "R5", 4, n=7)
    with store.change() as change:
        change.insert(
            "interventions",
            study=person(store).study,
            reader=person(store, "R4").reader,
            kind="withdraw",
            session=None,
            days=None,
            reason="moved away",
            actor="c",
            at_utc="2025-06-04T12:00:00.000Z",
        )
    close(store)
    card = card_of(store)
    found = card.comparison
    assert found is not None
    assert (found.place, found.n_sharing, found.n_peers) == (None, 0, 2)
    assert not found.peers
    assert all(case.others is not None and case.others.readers.n == 0 for case in card.cases)
    assert card_of(store, "R5").comparison is None


def test_a_protocol_that_does_not_ask_for_it_compares_nobody(opened: Opened) -> None:
    """As by default; and while the study is open there is no card, but a word of when."""
    store = opened(readers=FIVE, feedback="after study")
    for reader in FIVE:
        read(store, reader, 4)
    with pytest.raises(NotNow) as plainly:
        card_of(store)
    assert "place" not in str(plainly.value)
    close(store)
    card = card_of(store)
    assert (card.with_peers, card.comparison) == (False, None)
    assert all(case.others is None for case in card.cases)


def test_before_closing_it_is_said_when_the_place_appears(opened: Opened) -> None:
    """However many have finished."""
    store = opened(readers=FIVE, **PEERS)
    for reader in FIVE:
        read(store, reader, 4)
    with pytest.raises(NotNow, match="place among other readers appears when the study is closed"):
        card_of(store)
