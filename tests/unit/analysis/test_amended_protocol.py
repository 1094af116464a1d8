"""An amended protocol: what is in force counts, and the report says that it was amended."""

from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.bundle import bundle_from_tables
from analysis.protocol import margin_of
from analysis.report.content import report_content
from analysis.report.findings.studied import studied_findings
from analysis.results import Results, analyse

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


def test_the_margin_in_force_is_used() -> None:
    """The amended margin, not the locked one, is tested against."""
    results = _results(PROTOCOL)
    assert margin_of(results.options, results.bundle.protocol) == 0.1


def test_the_first_page_says_what_was_declared_and_amended() -> None:
    """Endpoint, hypothesis and margin in force, and how often the protocol changed."""
    (finding,) = studied_findings(_results(PROTOCOL))
    assert "accuracy; non-inferiority with a margin of 0.1" in finding.text
    assert "The protocol was amended 1 time after the study opened." in finding.text


def test_the_provenance_says_so_in_every_case() -> None:
    """Amended, never amended, and an input that does not tell are three things."""
    said = []
    for protocol in (PROTOCOL, {**PROTOCOL, "amendments": []}, {}):
        rows = dict(report_content(_results(protocol), []).provenance)
        said.append((rows["Amendments after opening"], rows["Declared beforehand"]))
    assert said == [
        ("1", "accuracy; non-inferiority with a margin of 0.1"),
        ("none", "accuracy; non-inferiority with a margin of 0.1"),
        ("not stated in the input", "no endpoint"),
    ]
