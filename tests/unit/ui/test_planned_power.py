"""Warnings about a planned power that does not fit the study."""

from dataclasses import replace

import pytest

from study.protocol.protocol import Protocol
from study.protocol.sample_size import SampleSize
from ui.wizard.frame import _outdated_plan
from ui.wizard.sample_size import metric_mismatch_warnings

PLAN = SampleSize(readers=5, cases=50, reads_per_case=5, power=0.8)


@pytest.mark.parametrize(
    ("endpoint", "metric", "has_warning"),
    [
        ("", "auc", False),
        ("accuracy", "accuracy", False),
        ("accuracy", "auc", True),
        ("pair-weighted accuracy", "auc", True),
        ("AUC", "auc", False),
        ("pair-weighted AUC", "auc", False),
        ("AUC", "accuracy", True),
    ],
)
def test_a_power_for_another_metric_than_the_endpoint_is_reported(
    endpoint: str, metric: str, has_warning: bool
) -> None:
    """Published components are those of the AUC; without an endpoint nothing contradicts."""
    assert bool(metric_mismatch_warnings(endpoint, metric)) == has_warning


@pytest.mark.parametrize(
    ("change", "n_warnings"),
    [
        ({}, 0),
        ({"sample_size": SampleSize()}, 0),
        ({"cases": 60}, 1),
        ({"reads_per_case": 3}, 1),
        ({"cases": 60, "reads_per_case": 3}, 2),
        ({"sample_size": replace(PLAN, design="arms", comparison="conditions")}, 1),
        ({"endpoint": "AUC"}, 1),
    ],
)
def test_a_power_for_another_study_than_the_protocol_is_reported(
    change: dict[str, object], n_warnings: int
) -> None:
    """Cases, readers of each case, arms and the endpoint can change after the power is computed."""
    protocol = replace(Protocol(name="Study"), cases=50, sample_size=PLAN)
    assert len(_outdated_plan(replace(protocol, **change))) == n_warnings  # type: ignore[arg-type]
