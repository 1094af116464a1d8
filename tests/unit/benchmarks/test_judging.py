"""Conclusions of the benchmarks about screens, connections, processes and trials."""

import argparse
import os

import numpy as np
import pytest

from benchmarks import reading, timer
from benchmarks.browser import summarise_verdicts, verdict
from benchmarks.machine import cpu_ms, descendants_of
from benchmarks.proxy import Exchange
from benchmarks.reading import last_film_byte_s
from benchmarks.timer import Played, errors_ms, short_delays

OLD, NEW = np.zeros((4, 4), np.float32), np.full((4, 4), 100, np.float32)
HALF_NEW = np.vstack([OLD[:2], NEW[2:]])


@pytest.mark.parametrize(
    ("reported_s", "right", "lead_ms"),
    [(10.05, True, 10.0), (10.03, False, -10.0), (9.0, False, -1040)],
)
def test_the_screen_is_correct_if_its_frame_shows_the_complete_new_case(
    reported_s: float, right: bool, lead_ms: float
) -> None:
    """A frame with films of both cases does not count."""
    frames = [(9.5, OLD), (10.02, HALF_NEW), (10.04, NEW), (10.9, NEW)]
    assert verdict(frames, reported_s) == {"right": right, "lead_ms": lead_ms}


def test_similar_cases_are_not_compared_on_the_screen() -> None:
    """The result for similar cases is neither correct nor incorrect."""
    unclear = verdict([(1.0, NEW), (2.0, NEW)], 1.5)
    assert unclear["right"] is None
    result = summarise_verdicts(
        [unclear, {"right": True, "lead_ms": 4.0}, {"right": False, "lead_ms": -20.0}]
    )
    assert (result["n"], result["n_right"], result["n_right_within_a_frame"]) == (2, 1, 1)


def test_the_first_case_is_complete_when_its_last_film_has_arrived() -> None:
    """Later films and other paths do not count."""
    films = [Exchange(path=f"/films/{n}", asked_s=n, last_s=last) for n, last in ((1, 9), (2, 7))]
    others = [Exchange(path="/desk", asked_s=3, last_s=20), Exchange(path="/films/3", asked_s=4)]
    assert last_film_byte_s([*films, *others]) == 9
    assert last_film_byte_s([films[0], others[0]]) is None


def test_a_process_family_includes_all_descendants() -> None:
    """Grandchildren count; siblings of the process do not."""
    assert descendants_of(2, {1: 0, 2: 1, 3: 2, 4: 3, 5: 1}) == {2, 3, 4}


def test_processor_time_grows_with_work() -> None:
    """The time of the test's own process is measured."""
    before = cpu_ms(os.getpid())
    while cpu_ms(os.getpid()) < before + 20:
        sum(range(100_000))
    assert cpu_ms(os.getpid()) >= before + 20


def test_hidden_time_has_a_separate_column() -> None:
    """The response time excludes hidden time."""
    played = Played(
        condition="hidden", position=1, delay_ms=1000, truth_ms=1000, span_ms=400,
        since_picture_ms=990,
    )  # fmt: skip
    recorded = {"response_ms": 603.0, "elapsed_ms": 1001.0, "hidden_ms": 398.0, "paused_ms": 0.0}
    assert errors_ms(played, recorded) == {
        "response": 3.0, "span": -2.0, "picture": 13.0, "hidden_or_paused_uncalled": 0.0,
    }  # fmt: skip


def test_delays_range_from_50_ms_to_6_s() -> None:
    """Short delays cover the range and are the same for the same seed."""
    delays = short_delays(25, "quiet", np.random.default_rng(1))
    assert (round(min(delays)), round(max(delays)), len(delays)) == (50, 6000, 25)
    assert delays == short_delays(25, "quiet", np.random.default_rng(1))
    assert round(min(short_delays(25, "paused", np.random.default_rng(1)))) == 300


def test_options_select_the_pages_and_connections_to_measure() -> None:
    """Without the naive page there is no baseline; its run on a slow connection is short."""
    parser = argparse.ArgumentParser()
    reading.add_arguments(parser)
    assert [plan.name for plan in reading.plans(parser.parse_args(["--only", "local,slow"]))] == [
        "app-8bit-local",
        "app-8bit-slow",
    ]
    everything = reading.plans(parser.parse_args([]))
    assert [plan.n for plan in everything] == [56, 56, 56, reading.FEW, 56, 56]
    assert {plan.n for plan in reading.plans(parser.parse_args(["--full"]))} == {56}
    with pytest.raises(SystemExit):
        parser.parse_args(["--only", "everything"])


def test_conditions_can_be_chosen() -> None:
    """The option --only accepts names of conditions."""
    parser = argparse.ArgumentParser()
    timer.add_arguments(parser)
    assert parser.parse_args(["--only", "quiet,paused"]).only == ("quiet", "paused")
