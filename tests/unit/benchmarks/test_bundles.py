"""Simulated bundles: the same for the same seed, of the size asked for, and sound."""

import pandas as pd
import pytest

from analysis import agreement_groups, analyse, bundle_from_tables
from analysis.agreement.groups.registry import EVERYWHERE
from analysis.matrix import reading_matrix
from benchmarks.bundles import Size, Tables, simulated
from benchmarks.groups import as_codes, bars, compared, estimates, one_scope

SIZE = Size(readers=2, models=3, items=120, patients=11)


@pytest.fixture(scope="module")
def tables() -> Tables:
    """Return a small bundle's tables."""
    return simulated(SIZE)


def test_a_bundle_has_the_size_asked_for(tables: Tables) -> None:
    """Every rater has a reading of every item, and every patient an item."""
    assert len(tables.items) == 120
    assert tables.items["patient_id"].nunique() == 11
    assert len(tables.readings) == 5 * 120
    assert tables.raters["rater_kind"].tolist() == ["reader"] * 2 + ["model"] * 3


def test_the_same_seed_gives_the_same_bundle(tables: Tables) -> None:
    """Times of two runs are times of the same work."""
    again = simulated(SIZE)
    pd.testing.assert_frame_equal(tables.readings, again.readings)
    assert not simulated(SIZE, seed=2).readings.equals(tables.readings)


def test_the_analysis_takes_the_bundle_as_it_is(tables: Tables) -> None:
    """It passes all checks, has clusters, and says that it is simulated."""
    results = analyse(bundle_from_tables(tables.items, tables.readings, tables.raters))
    assert results.clustered
    assert len(results.bundle.simulated) == 5


def test_peers_get_the_same_answers_as_we_do(tables: Tables) -> None:
    """Codes stand items by raters, without gaps, as the readings have them."""
    plain = one_scope(tables)
    codes = as_codes(plain)
    wide = plain.readings.pivot(index="item_id", columns="rater_id", values="answer")
    assert codes.shape == (120, 5)
    for column, rater in enumerate(plain.raters["rater_id"]):
        assert ["ABCD"[code] for code in codes[:, column]] == wide[rater].tolist()


def test_a_bar_is_about_the_slowest_peer_that_was_measured() -> None:
    """A peer that was not measured neither meets nor misses a bar."""
    rows = [
        {"measure": "ac1", "ratio": {"wall": 4.0, "cpu": 4.0}},
        {"measure": "ac1", "ratio": {"wall": 12.0, "cpu": 9.0}},
        {"measure": "fleiss_kappa", "ratio": None},
    ]
    assert [each["met"] for each in bars(rows)] == [True, None]


def test_the_fastest_peer_stands_beside_the_slowest() -> None:
    """Where a measure has several peers, the bar's name says how the fastest compares."""
    rows = [{"measure": "ac1", "ratio": {"wall": wall, "cpu": wall}} for wall in (30.0, 11.5)]
    assert bars(rows)[0]["bar"] == "ac1, its slowest peer over ours (its fastest: 11.5)"


def test_an_undefined_value_of_ours_stays_undefined() -> None:
    """Nothing is made up for a measure that the table leaves empty."""
    times = {"wall_s": 1.0, "cpu_s": 1.0}
    ours = {"ac1": times, "all": times, "values": {"ac1": (float("nan"), float("nan"))}}
    row = {"not_measured": None, "measure": "ac1", "wall_s": 3.0, "cpu_s": 2.0}
    over = {"wall": 3.0, "cpu": 2.0}
    assert compared(row, ours) == {"ratio": over, "ratio_to_all": over, "value_of_ours": None}


def test_what_is_timed_is_what_the_table_says(tables: Tables) -> None:
    """Estimates and standard errors of the group of all raters, in the whole set of items."""
    bundle = bundle_from_tables(tables.items, tables.readings, tables.raters)
    table = agreement_groups(bundle)
    rows = table.query("raters == 'all' and scope == 'all' and condition == 'unaided'")
    timed = estimates(reading_matrix(bundle), EVERYWHERE)
    assert len(rows) == len(timed)
    for row in rows.itertuples():
        expected = (row.estimate, row.se)
        assert timed[row.measure.removesuffix("_letters")] == pytest.approx(expected, abs=1e-12)
