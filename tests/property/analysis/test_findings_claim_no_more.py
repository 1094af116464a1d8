"""Whatever the numbers, no sentence claims more than its interval allows."""

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.report.findings.panel import panel_findings
from analysis.report.findings.single_readers import single_reader_findings
from analysis.results import Results
from tests.unit.analysis.full_run import CLAIMS, full_run, panel_row, study

NUMBERS = st.one_of(
    st.floats(-1, 1, allow_nan=False),
    st.sampled_from([0.0, -0.0, math.nan, 1e-9, -1e-9, 0.05, -0.05, -0.04999]),
)
MARGINS = st.sampled_from([0.05, 0.0, 0.1, math.nan])


@pytest.fixture(scope="module")
def run() -> Results:
    """Give a run to put tables into."""
    return full_run(study(n_items=12))


def _limits(pair: tuple[float, float]) -> tuple[float, float]:
    return pair if any(map(math.isnan, pair)) else (min(pair), max(pair))


def _text(results: Results, part: Any) -> str:
    return " ".join(finding.text for finding in part(results))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    fixed=st.tuples(NUMBERS, NUMBERS),
    random=st.tuples(NUMBERS, NUMBERS),
    difference=st.floats(-1, 1),
    margin=MARGINS,
    n_readers=st.integers(1, 200),
)
def test_more_fewer_and_non_inferior_need_their_limits(
    run: Results,
    fixed: tuple[float, float],
    random: tuple[float, float],
    difference: float,
    margin: float,
    n_readers: int,
) -> None:
    """One model, both claims, any limits."""
    rows = []
    intervals = [_limits(fixed), _limits(random)]
    for claim, (low, high) in zip(CLAIMS, intervals, strict=True):
        rows.append(
            panel_row(
                claim=claim,
                ci_low=low,
                ci_high=high,
                difference=difference,
                margin=margin,
                n_readers=n_readers,
            )
        )
    said = _text(
        replace(run, tables={**run.tables, "reader_panel": pd.DataFrame(rows)}), panel_findings
    )
    proper = [(low, high) for low, high in intervals if low < high]
    assert ("points more than" in said) == (intervals[0][0] > 0 and intervals[0] in proper)
    assert ("points fewer than" in said) == (intervals[0][1] < 0 and intervals[0] in proper)
    if "it is more as well" in said:
        assert intervals[1][0] > 0
        assert intervals[0][0] > 0
    if "it is fewer as well" in said:
        assert intervals[1][1] < 0
    if "non-inferior" in said:
        assert any(low > -margin for low, _ in proper)
    if "non-inferior to these readers and readers like these" in said:
        assert all(low > -margin for low, _ in intervals)
    for word in ("equivalent", "beats", "better", "worse", "significant", "outperform", "nan"):
        assert word not in said


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(score=st.tuples(NUMBERS, NUMBERS), cluster=st.tuples(NUMBERS, NUMBERS), p=NUMBERS)
def test_a_single_reader_needs_interval_and_adjusted_p(
    run: Results, score: tuple[float, float], cluster: tuple[float, float], p: float
) -> None:
    """The interval over patients counts where there is one."""
    row = run.tables["comparisons"].iloc[0].to_dict()
    low, high = _limits(score)
    row |= {"ci_low": low, "ci_high": high, "p_adjusted": abs(p)}
    low, high = _limits(cluster)
    row |= {"cluster_ci_low": low, "cluster_ci_high": high}
    said = _text(
        replace(run, tables={**run.tables, "comparisons": pd.DataFrame([row])}),
        single_reader_findings,
    )
    used = (low, high)
    if any(map(math.isnan, used)):
        used = (row["ci_low"], row["ci_high"])
    if "more" in said:
        assert used[1] < 0
        assert abs(p) < run.options.alpha
    if "fewer" in said:
        assert used[0] > 0
        assert abs(p) < run.options.alpha
