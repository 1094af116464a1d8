"""The tables of the report, in the order that the statistics describe."""

from __future__ import annotations

from dataclasses import replace

from analysis.presentation.table import ReportTable, TableRow
from analysis.presentation.wording import has_several_conditions
from analysis.registry import STATISTICS
from analysis.results import Results
from analysis.translation import t

__all__ = ["ReportTable", "TableRow", "report_tables"]


def report_tables(results: Results) -> list[ReportTable]:
    """Return the tables of the report that have rows.

    The metric is omitted if it is the same in every row, and the condition if there is only one.
    """
    by_place = {
        place: [replace(table, file=f"tables/{statistic.name}.csv") for table in part(results)]
        for statistic in STATISTICS
        if results.has(statistic.name)
        for place, part in statistic.tables.items()
    }
    tables = [
        table.without_constant_column(t("Metric"))
        for _, part in sorted(by_place.items())
        for table in part
        if table.rows
    ]
    if has_several_conditions(results):
        return tables
    return [table.without_column(t("Condition")) for table in tables]
