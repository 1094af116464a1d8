"""Simulated panels: arrays of thousands of studies have the values of the tables."""

import argparse
import json

import numpy as np
import pandas as pd
import pytest

from analysis.options import Options
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.mrmc.panel import reader_panel
from benchmarks import coverage
from benchmarks.simulated_studies import SIZES, Design, Drawn, claims, raters, simulated


@pytest.mark.parametrize("items_per_patient", [1, 4])
def test_arrays_of_studies_have_the_values_of_the_tables(items_per_patient: int) -> None:
    """Standard errors, degrees of freedom, and the wider of the two intervals are compared."""
    generator = np.random.default_rng(2)
    design = Design(n_readers=3, n_items=40, items_a_patient=items_per_patient)
    columns = raters(3, ["M"])
    matrices = [
        simulated(design, columns, np.array([1.0, 1.2, 0.9, 1.1]), generator) for _ in range(40)
    ]
    right = np.array([matrix.correct for matrix in matrices], dtype=np.float64)
    result = claims(right, items_per_patient)
    for i, matrix in enumerate(matrices):
        fixed, random = _matrix_rows(matrix)
        assert fixed["se"] == pytest.approx(result.fixed_se[i], rel=1e-9)
        assert fixed["df"] == result.fixed_df
        reach = max(result.fixed_reach[i], result.random_reach[i])
        if np.isfinite(random["se"]):
            assert (random["ci_high"] - random["ci_low"]) / 2 == pytest.approx(reach, rel=1e-9)
            df = result.fixed_df if result.narrower[i] else result.random_df[i]
            assert random["df"] == pytest.approx(df, rel=1e-9)
    assert 0 < result.narrower.sum() < len(matrices)


def test_the_simulation_is_reported_in_tables() -> None:
    """A count of zero, in which no study had more certain readers, is included."""
    arguments = argparse.ArgumentParser()
    coverage.add_arguments(arguments)
    words = "--parts panel few --panels 2 --few 1 --bootstrap 20 --readers 3"
    result = coverage.run(arguments.parse_args(words.split()))
    lines = coverage.text(result).splitlines()
    assert sum(line.split()[:2] == ["1", "3"] for line in lines) == len(SIZES)
    assert json.loads(json.dumps(result, allow_nan=False))["sizes"]["panels"] == 2


def _matrix_rows(matrix: ReadingMatrix) -> tuple[pd.Series, pd.Series]:
    table = reader_panel(Drawn(matrix, Options()))
    return table.iloc[0], table.iloc[1]
