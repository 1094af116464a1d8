"""The simulated reader is as accurate as requested, marked, and separate from people."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from study.base.errors import BadInput, NotNow
from study.reading import desk
from study.reading.simulation import DIFFICULTY_SD, ability, simulate
from study.store import Store
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading

Opened = Callable[..., Store]


def _simulate(store: Store, reader_id: str = "R1", *, seed: int = 1, accuracy: float = 0.7) -> int:
    result = simulate(
        store, study="trial", reader_id=reader_id, seed=seed, accuracy=accuracy, now=NOW
    )
    return result.n_read


def _rows(store: Store) -> list[dict[str, Any]]:
    with store.look() as look:
        return look.rows(
            "SELECT reader_id, item_id, readings.*, truth, options, shown_order FROM readings "
            "JOIN assignments ON assignments.id = assignment JOIN readers ON readers.id = reader "
            "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
            "JOIN reference_standard ON reference_standard.item = items.id"
        )


@pytest.mark.parametrize("accuracy", [0.01, 0.25, 0.5, 0.68, 0.75, 0.84, 0.95, 0.995])
def test_the_expected_accuracy_equals_the_requested_accuracy(accuracy: float) -> None:
    """The expectation is computed by Gauss-Hermite quadrature over normal difficulties, to 1e-3."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    success = 1 / (1 + np.exp(DIFFICULTY_SD * nodes - ability(accuracy)))
    assert weights @ success / weights.sum() == pytest.approx(accuracy, abs=1e-3)


def test_the_observed_accuracy_is_close_to_the_requested_accuracy(opened: Opened) -> None:
    """For 10 readers of 24 shared cases, the difference is at most four standard errors."""
    names = tuple(f"S{i}" for i in range(10))
    store = opened(readers=names, cases=24)
    for i, name in enumerate(names):
        _simulate(store, name, seed=i, accuracy=0.8)
    rows = _rows(store)
    right = np.mean([row["answer"] == row["truth"] for row in rows])
    assert len(rows) == 10 * 24
    per_item: dict[str, list[bool]] = {row["item_id"]: [] for row in rows}
    for row in rows:
        per_item[row["item_id"]].append(row["answer"] == row["truth"])
    spread = np.std([np.mean(hits) for hits in per_item.values()]) / np.sqrt(len(per_item))
    assert abs(right - 0.8) < 4 * spread


@pytest.mark.thorough
def test_hard_items_and_tempting_distractors_are_the_same_for_all_seeds(opened: Opened) -> None:
    """Readers with different seeds err on the same items and with the same answer."""
    names = tuple(f"S{i}" for i in range(16))
    store = opened(readers=names, cases=24)
    for i, name in enumerate(names):
        _simulate(store, name, seed=1000 + i, accuracy=0.5)
    wrong: dict[str, list[str]] = {}
    for row in _rows(store):
        if row["answer"] != row["truth"]:
            wrong.setdefault(row["item_id"], []).append(row["answer"])
    counts = [len(wrong.get(f"q{i:04d}", [])) for i in range(24)]
    by_chance = 16 * 0.5 * 0.5
    assert np.var(counts) > 2 * by_chance
    shares = [
        max(answers.count(letter) for letter in "ABCD") / len(answers)
        for answers in wrong.values()
        if len(answers) >= 5
    ]
    assert np.mean(shares) > 0.6


def test_other_seeds_give_other_answers(opened: Opened) -> None:
    """The answers of two readers differ."""
    store = opened(readers=("S1", "S2"), cases=24)
    _simulate(store, "S1", seed=1)
    _simulate(store, "S2", seed=2)
    by_reader: dict[str, dict[str, str]] = {"S1": {}, "S2": {}}
    for row in _rows(store):
        by_reader[row["reader_id"]][row["item_id"]] = row["answer"]
    assert by_reader["S1"] != by_reader["S2"]


def test_a_time_limit_ends_a_case_without_an_answer(opened: Opened) -> None:
    """The case ends exactly at the limit, as on the page."""
    store = opened(cases=24, time_limit_s=14, confidence=5)
    assert _simulate(store) == 24
    rows = _rows(store)
    late = [row for row in rows if row["status"] == "timed_out"]
    assert 0 < len(late) < 24
    for row in late:
        assert (row["answer"], row["confidence"]) == (None, None)
        assert (row["response_ms"], row["elapsed_ms"]) == (14_000, 14_000)
        assert json.loads(row["selections"]) == []
    for row in rows:
        if row["status"] == "answered":
            assert row["response_ms"] <= 14_000
            assert 1 <= row["confidence"] <= 5
    assert verify(store) == []


@pytest.mark.parametrize("has_answered", [True, False])
def test_a_person_who_has_begun_is_not_simulated(opened: Opened, has_answered: bool) -> None:
    """An answer or a presentation shows that the reader is a person."""
    store = opened()
    case = desk.desk(store, person(store), now=NOW).cases[0].case
    records = [presentation(case), *([reading(case)] if has_answered else [])]
    desk.take_records(store, person(store), records, now=NOW + timedelta(seconds=2))
    with pytest.raises(NotNow, match="readings of a person"):
        _simulate(store)
    with store.look() as look:
        assert look.value("SELECT simulated FROM readers WHERE reader_id = 'R1'") == 0


@pytest.mark.parametrize("seeds", [(1, 1), (1, 2)])
def test_simultaneous_simulations_read_each_case_once(
    opened: Opened, seeds: tuple[int, int]
) -> None:
    """Each simulation counts its own readings, with the same or different seeds."""
    store = opened(cases=24)
    with ThreadPoolExecutor(2) as pool:
        counted = list(pool.map(lambda seed: _simulate(store, seed=seed), seeds))
    assert sum(counted) == 24 == len(_rows(store))
    assert verify(store) == []


def test_a_second_simulation_has_nothing_left_to_read(opened: Opened) -> None:
    """The second simulation returns a count of 0."""
    store = opened()
    assert (_simulate(store), _simulate(store, seed=9)) == (8, 0)


@pytest.mark.parametrize("accuracy", [0.0, 1.0, -1.0, float("nan")])
def test_an_accuracy_out_of_range_is_refused(opened: Opened, accuracy: float) -> None:
    """The accuracy must be greater than 0 and less than 1."""
    with pytest.raises(BadInput, match="between 0 and 1"):
        _simulate(opened(), accuracy=accuracy)
