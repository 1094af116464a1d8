"""The cost of the analysis, relative to a short script on the same bundle in the same run.

Processor time is compared with processor time of the same process, so that neither the speed of the
machine nor its load decides. The script (`benchmarks/naive_report.py`) takes pandas and
scikit-learn's kappas, without intervals; the analysis makes every table.
"""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import Options
from analysis.bundle import read_bundle
from analysis.report.formats.output import write_tables
from benchmarks import naive_report
from benchmarks.bundles import Size, simulated

ITEMS = 2_000
MOST_TIMES = 15
"""Measured: 6 times; over 50 times when Python ran for each item and reader."""


def _cost(work: Callable[[], object]) -> float:
    """Return the least processor time of three runs."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken)


@pytest.mark.slow
def test_all_tables_cost_a_bounded_multiple_of_a_short_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three readers and eight models; work for each item in Python would show."""
    size = Size(readers=3, models=8, items=ITEMS, patients=ITEMS // 4)
    folder = simulated(size).write(tmp_path / "bundle")
    script = _cost(lambda: naive_report.main(folder))
    tables = _cost(
        lambda: write_tables(read_bundle(folder), tmp_path / "out", Options(bootstrap=200))
    )
    assert "M" in capsys.readouterr().out
    assert tables < MOST_TIMES * script, f"{tables / script:.1f} times"
