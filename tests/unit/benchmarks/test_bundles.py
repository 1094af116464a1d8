"""Simulated bundles are reproducible, valid, and of the requested size."""

import pandas as pd
import pytest

from analysis import analyse, bundle_from_tables
from benchmarks.bundles import Size, Tables, simulate_bundle

SIZE = Size(readers=2, models=3, items=120, patients=11)


@pytest.fixture(scope="module")
def tables() -> Tables:
    """Return a small bundle's tables."""
    return simulate_bundle(SIZE)


def test_a_bundle_has_the_requested_size(tables: Tables) -> None:
    """Every rater has a reading of every item, and every patient an item."""
    assert len(tables.items) == 120
    assert tables.items["patient_id"].nunique() == 11
    assert len(tables.readings) == 5 * 120
    assert tables.raters["rater_kind"].tolist() == ["reader"] * 2 + ["model"] * 3


def test_bundles_are_reproducible(tables: Tables) -> None:
    """All runs measure the same work."""
    second = simulate_bundle(SIZE)
    pd.testing.assert_frame_equal(tables.readings, second.readings)
    assert not simulate_bundle(SIZE, seed=2).readings.equals(tables.readings)


@pytest.mark.thorough
def test_the_analysis_accepts_the_bundle(tables: Tables) -> None:
    """The bundle passes all checks, has clusters, and is marked as simulated."""
    results = analyse(bundle_from_tables(tables.items, tables.readings, tables.raters))
    assert results.clustered
    assert len(results.bundle.simulated) == 5
