"""Findings never claim more than their intervals support, for random numbers."""

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.report.findings.accuracy import single_reader_findings
from analysis.report.findings.endpoint import endpoint_findings
from analysis.report.findings.panel import panel_findings
from analysis.results import Results
from tests.unit.analysis.report.full_run import CLAIMS, full_run, panel_row, study

NUMBERS = st.one_of(
    st.floats(-1, 1, allow_nan=False),
    st.sampled_from([0.0, -0.0, math.nan, 1e-9, -1e-9, 0.05, -0.05, -0.04999]),
)
MARGINS = st.sampled_from([0.05, 0.0, 0.1, math.nan])


@pytest.fixture(scope="module")
def run() -> Results:
    """Return a run with most tables."""
    return full_run(study(n_items=52))


def _limits(pair: tuple[float, float]) -> tuple[float, float]:
    return pair if any(map(math.isnan, pair)) else (min(pair), max(pair))


def _text(results: Results, part: Any) -> str:
    return " ".join(finding.text for finding in part(results))


@pytest.mark.thorough
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fixed=st.tuples(NUMBERS, NUMBERS),
    random=st.tuples(NUMBERS, NUMBERS),
    difference=st.floats(-1, 1),
    margin=MARGINS,
    n_readers=st.integers(1, 200),
)
def test_claims_about_a_model_follow_from_its_limits(
    run: Results,
    fixed: tuple[float, float],
    random: tuple[float, float],
    difference: float,
    margin: float,
    n_readers: int,
) -> None:
    """Both claims are tried with random limits."""
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
    text = _text(
        replace(run, tables={**run.tables, "reader_panel": pd.DataFrame(rows)}), panel_findings
    )
    proper = [(low, high) for low, high in intervals if low < high]
    assert ("points higher than" in text) == (intervals[0][0] > 0 and intervals[0] in proper)
    assert ("points lower than" in text) == (intervals[0][1] < 0 and intervals[0] in proper)
    if "it is higher as well" in text:
        assert intervals[1][0] > 0
        assert intervals[0][0] > 0
    if "it is lower as well" in text:
        assert intervals[1][1] < 0
    if ": cleared for" in text:
        assert any(low > -margin for low, _ in proper)
    if ": cleared for these readers and readers like these" in text:
        assert all(low > -margin for low, _ in intervals)
    for word in ("equivalent", "beats", "better", "worse", "significant", "outperform", "nan"):
        assert word not in text
    assert "inferior" not in text.lower()
    if "wholly below it for" in text:
        assert any(high < -margin for _, high in proper)


DECLARED = st.fixed_dictionaries(
    {
        "endpoint": st.sampled_from(["", "accuracy", "AUC"]),
        "hypothesis": st.sampled_from(["", "non-inferiority", "superiority"]),
        "claim_about": st.sampled_from(["", *CLAIMS]),
        "primary_model": st.sampled_from(["", "M1", "Model-2_x", "nobody"]),
        "margin": st.sampled_from([0.05, 0.0, 0.1]),
    }
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    protocol=DECLARED,
    asked=st.sampled_from([None, 0.05, 0.2]),
    limits=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=4, max_size=4),
    p=st.lists(st.sampled_from([0.001, 0.03, 0.2, math.nan]), min_size=4, max_size=4),
)
def test_a_verdict_needs_a_declared_endpoint_and_its_limits(
    run: Results,
    protocol: dict[str, Any],
    asked: float | None,
    limits: list[tuple[float, float]],
    p: list[float],
) -> None:
    """Both claims are tried for two models, with and without a declared endpoint."""
    margin = protocol["margin"] if asked is None else asked
    keys = [(model, claim) for model in ("M1", "M2") for claim in CLAIMS]
    panel, adjusted = [], []
    for (model, claim), pair, value in zip(keys, limits, p, strict=True):
        low, high = _limits(pair)
        row = panel_row(model_id=model, claim=claim, ci_low=low, ci_high=high, margin=margin)
        panel.append(row)
        adjusted.append({**row, "p_adjusted": value, "p_noninferior_adjusted": value})
    tables = {"reader_panel": pd.DataFrame(panel), "panel_adjusted": pd.DataFrame(adjusted)}
    results = replace(
        run,
        bundle=replace(run.bundle, protocol=protocol),
        options=replace(run.options, margin=asked),
        tables={**run.tables, **tables},
    )
    texts = [finding.text for finding in endpoint_findings(results)]
    winners = [text for text in texts if text.startswith(("Non-inferior:", "Superior:"))]
    bound = 0 if protocol["hypothesis"] == "superiority" else -margin
    for text in texts:
        if text.startswith("Inferior:"):
            assert any(high < bound for _, high in map(_limits, limits))
    if (protocol["endpoint"], bool(protocol["hypothesis"])) != ("accuracy", True):
        assert len(texts) == 1
    if "" in (protocol["endpoint"], protocol["hypothesis"]):
        assert "exploratory" in texts[0]
    if protocol["hypothesis"] == "non-inferiority" and asked not in (None, protocol["margin"]):
        assert not winners
    if protocol["primary_model"] == "nobody":
        assert not winners
    single = {"M1": "M1", "Model-2_x": "M2"}.get(protocol["primary_model"])
    level = run.options.alpha
    if protocol["hypothesis"] == "non-inferiority":
        level /= 2
    allowed = [
        (model, claim)
        for (model, claim), pair, value in zip(keys, limits, p, strict=True)
        for low, high in [_limits(pair)]
        if low < high
        and low > (0 if protocol["hypothesis"] == "superiority" else -margin)
        and protocol["claim_about"] in ("", claim)
        and (model == single if single else value < level)
    ]
    for text in winners:
        for model, label in (("M1", "Model-1_x"), ("M2", "Model-2_x")):
            if label in text:
                assert model in {entry for entry, _ in allowed}
    if winners:
        assert len(allowed) == sum(text.count("83.8 %:") for text in winners)


@pytest.mark.thorough
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(score=st.tuples(NUMBERS, NUMBERS), cluster=st.tuples(NUMBERS, NUMBERS), p=NUMBERS)
def test_a_claim_about_a_reader_needs_an_interval_and_an_adjusted_p(
    run: Results, score: tuple[float, float], cluster: tuple[float, float], p: float
) -> None:
    """The interval over patients is used if it exists."""
    row = run.tables["comparisons"].query("pair_kind == 'reader-model'").iloc[0].to_dict()
    low, high = _limits(score)
    row |= {"ci_low": low, "ci_high": high, "p_adjusted": abs(p)}
    low, high = _limits(cluster)
    row |= {"cluster_ci_low": low, "cluster_ci_high": high}
    text = _text(
        replace(run, tables={**run.tables, "comparisons": pd.DataFrame([row])}),
        single_reader_findings,
    )
    used = (low, high)
    if any(map(math.isnan, used)):
        used = (row["ci_low"], row["ci_high"])
    if "more" in text:
        assert used[1] < 0
        assert abs(p) < run.options.alpha
    if "fewer" in text:
        assert used[0] > 0
        assert abs(p) < run.options.alpha
