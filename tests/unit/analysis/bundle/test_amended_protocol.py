"""An amended protocol: the values in force are used, and the report states the amendment."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from analysis.bundle import bundle_from_tables
from analysis.bundle.protocol import margin_of, margin_origin
from analysis.errors import OptionsError
from analysis.options import Options
from analysis.registry import analyse
from analysis.report.content import report_content
from analysis.report.findings.endpoint import endpoint_findings
from analysis.report.findings.studied import studied_findings
from analysis.results import Results

PROTOCOL: dict[str, Any] = {
    "sha256": "ab12",
    "locked": {"protocol": {"name": "Trial", "margin": 0.05, "endpoint": "accuracy"}},
    "amendments": [{"number": 1, "changes": {"margin": {"old": 0.05, "new": 0.1}}}],
    "in_force": {
        "name": "Trial",
        "margin": 0.1,
        "endpoint": "accuracy",
        "hypothesis": "non-inferiority",
        "claim_about": "",
    },
}


def _results(protocol: dict[str, Any]) -> Results:
    items = pd.DataFrame({"item_id": ["q1", "q2"], "truth": ["A", "B"]})
    readings = pd.DataFrame(
        {"rater_id": ["R1", "R1"], "item_id": ["q1", "q2"], "answer": ["A", "A"]}
    )
    return analyse(replace(bundle_from_tables(items, readings), protocol=protocol))


def test_the_margin_of_the_amended_protocol_is_used() -> None:
    """Tests use the amended margin instead of the locked one."""
    results = _results(PROTOCOL)
    assert margin_of(results.options, results.bundle.protocol) == 0.1


def test_a_margin_from_an_option_is_distinguished_from_that_of_the_protocol() -> None:
    """The option applies to accuracy only; one equal to the protocol's margin has no effect."""
    options = Options(margin=0.12)
    assert margin_of(options, PROTOCOL) == 0.12
    assert margin_of(options, PROTOCOL, "auc") is None
    assert margin_of(
        options, {**PROTOCOL, "in_force": {"endpoint": "AUC", "margin": 0.03}}, "auc"
    ) == (0.03)
    assert "the protocol's is 10.0 points" in margin_origin(options, PROTOCOL)
    assert margin_origin(Options(margin=0.1), PROTOCOL) == ""
    assert margin_origin(options, {}) == "given at analysis"


def test_an_invalid_margin_is_refused_if_it_is_used() -> None:
    """The margin is not used for areas, or if an option replaces it."""
    invalid_protocol = {"margin": 5}
    with pytest.raises(OptionsError, match="margin is 5"):
        margin_of(Options(), invalid_protocol)
    assert margin_of(Options(), invalid_protocol, "auc") is None
    assert margin_of(Options(margin=0.05), invalid_protocol) == 0.05


def test_the_first_page_states_the_declared_endpoint_and_amendments() -> None:
    """Endpoint, hypothesis and margin have their previous values; the amendments are counted."""
    (finding,) = endpoint_findings(_results(PROTOCOL))
    assert "non-inferiority of each model to these readers and to readers like" in finding.text
    assert "in accuracy, with a margin of 10.0 points." in finding.text
    assert (
        "Amended after the study opened: hypothesis (none before) and margin (5 points before)."
    ) in finding.text
    (studied,) = studied_findings(_results(PROTOCOL))
    assert "The protocol was amended 1 time after the study opened." in studied.text


@pytest.mark.thorough
def test_the_provenance_states_whether_the_protocol_was_amended() -> None:
    """The protocol was amended, was never amended, or it is unknown."""
    text = []
    for protocol in (PROTOCOL, {**PROTOCOL, "amendments": []}, {}):
        rows = dict(report_content(_results(protocol), []).provenance)
        text.append((rows["Amendments after opening"], rows["Declared beforehand"]))
    assert text == [
        ("1", "accuracy; non-inferiority with a margin of 0.1"),
        ("none", "accuracy; non-inferiority with a margin of 0.1"),
        ("not stated in the input", "no endpoint"),
    ]
