"""The planned sample size in a protocol file."""

import pytest

from study.protocol.protocol import Protocol, as_toml, faults_of, protocol_from

PLAN = {
    "comparison": "panel",
    "design": "crossed",
    "claim": "these readers",
    "metric": "accuracy",
    "effect": 0.0,
    "margin": 0.05,
    "readers": 5,
    "cases": 200,
    "reads_per_case": 5,
    "power": 0.81,
    "power_low": 0.4,
    "power_high": 0.95,
    "half_width": 0.04,
    "method": "OR, normal",
    "source": "a pilot",
    "components": {"var_tr": 0.001, "readers": 3},
}


def test_a_plan_is_optional_and_can_be_written_and_read() -> None:
    """A protocol without a plan keeps its hash."""
    protocol = Protocol.from_json({"sample_size": PLAN})
    assert protocol.as_json()["sample_size"] == PLAN
    assert protocol_from(as_toml(protocol), source="file") == protocol
    assert Protocol.from_json({"sample_size": {}}).as_json() == Protocol().as_json()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"powr": 0.8}, "powr: unknown key"),
        ({"power": 1.2}, "power must be from 0 to 1"),
        ({"readers": 1}, "readers must be a whole number"),
        ({"claim": "all"}, "claim must be one of"),
        ({"components": {"var_tr": "x"}}, "components must contain numbers only"),
        ({"components": 3}, "components must be a table"),
    ],
)
def test_errors_in_a_plan_name_the_key(change: dict[str, object], words: str) -> None:
    """Each error starts with the table's name."""
    (fault,) = faults_of({"sample_size": {**PLAN, **change}})
    assert fault.startswith(f"sample_size: {words}")


def test_a_plan_without_a_sample_size_is_refused() -> None:
    """The missing keys are listed; a plan must be a table."""
    (fault,) = faults_of({"sample_size": {"effect": 0.1}})
    assert "readers, cases, power" in fault
    assert len(faults_of({"sample_size": "200"})) == 1
