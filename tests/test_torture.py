"""A short run of the fault suite; `make torture` runs it at full length."""

import pytest

from tests.torture.suite import Outcome, Plan, run_batch


@pytest.mark.slow
@pytest.mark.parametrize("servers", [1, 2])
def test_no_acknowledged_answer_is_lost_by_faults(servers: int) -> None:
    """Messages of a reader go to any of the servers, one of which is killed."""
    plan = Plan(readers=6, cases=5, server_faults=2, servers=servers)
    outcome = run_batch(plan, seed="short")
    faults, outcome.faults = outcome.faults, Outcome().faults
    assert outcome == Outcome(acknowledged=outcome.acknowledged), "seed 'short'"
    assert outcome.acknowledged >= plan.readers * plan.cases
    assert faults.total() > plan.readers
