"""The findings of the report: sentences generated from the tables."""

from __future__ import annotations

from analysis.report.findings.accuracy import (
    accuracy_findings,
    bank_findings,
    ranking_findings,
    single_reader_findings,
)
from analysis.report.findings.agreement import agreement_findings, error_findings
from analysis.report.findings.endpoint import endpoint_findings
from analysis.report.findings.finding import Finding, Theme
from analysis.report.findings.groups import group_findings
from analysis.report.findings.inputs import input_findings
from analysis.report.findings.open_ended import open_ended_findings
from analysis.report.findings.panel import condition_findings, panel_findings
from analysis.report.findings.reliance import reliance_findings
from analysis.report.findings.sample_size import sample_size_findings
from analysis.report.findings.sensitivity import sensitivity_findings
from analysis.report.findings.studied import limit_findings, studied_findings, unread_findings
from analysis.report.findings.times import time_findings
from analysis.results import Results

__all__ = ["Finding", "Theme", "findings"]

FINDING_FUNCTIONS = (
    unread_findings,
    endpoint_findings,
    sample_size_findings,
    studied_findings,
    panel_findings,
    single_reader_findings,
    condition_findings,
    reliance_findings,
    group_findings,
    input_findings,
    accuracy_findings,
    bank_findings,
    open_ended_findings,
    agreement_findings,
    error_findings,
    sensitivity_findings,
    time_findings,
    ranking_findings,
    limit_findings,
)


def findings(results: Results) -> list[Finding]:
    """Return the findings, in the order of `Theme`."""
    return [finding for part in FINDING_FUNCTIONS for finding in part(results)]
