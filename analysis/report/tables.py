"""The report's tables, as rows of text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.agreement.pairing import PairKind
from analysis.figures import RaterName, rater_names
from analysis.results import Results

MOST_PAIRS = 300

Row = tuple[tuple[RaterName, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table for the page.

    Parameters
    ----------
    title, note : str
        As text.
    file : str
        Where all rows stand with full precision.
    header : tuple of str
        Column heads.
    rows : list
        Each row: the raters in it, then its cells as text.
    """

    title: str
    note: str
    file: str
    header: tuple[str, ...]
    rows: list[Row]


def accuracy_overview(results: Results) -> ReportTable:
    """Show micro and macro accuracy of every rater."""
    table = results.tables["accuracy"]
    overall = table.loc[table["by"] == "overall"]
    names = rater_names(results.bundle)
    rows: list[Row] = []
    for (rater, condition), part in overall.groupby(["rater_id", "condition"], sort=False):
        micro, macro = (part.loc[part["group"] == g].iloc[0].to_dict() for g in ("micro", "macro"))
        cells = [
            str(condition) or "–",
            f"{micro['n']}",
            f"{micro['n_correct']}",
            f"{micro['n_missing']}",
            *_percent_cells(micro, cluster=results.clustered),
            *_percent_cells(macro, cluster=results.clustered),
        ]
        rows.append(((names[str(rater)],), tuple(cells)))
    one = ("%", "interval", *(["over patients"] if results.clustered else []))
    return ReportTable(
        title="Accuracy",
        note="Micro: every assigned item weighs the same. Macro: the mean of the tasks'"
        " accuracies. Percent, with the interval.",
        file="tables/accuracy.csv",
        header=(
            "Rater",
            "Condition",
            "n",
            "correct",
            "no answer",
            *(f"micro {word}" for word in one),
            *(f"macro {word}" for word in one),
        ),
        rows=rows,
    )


def missing_overview(results: Results) -> ReportTable:
    """Show what became of every assigned item."""
    table, names = results.tables["missing"], rater_names(results.bundle)
    counts = [column for column in table.columns if column.startswith("n_")]
    return ReportTable(
        title="Missing answers",
        note="Assigned items by what became of them; all that are not answered count as wrong.",
        file="tables/missing.csv",
        header=("Rater", "Condition", *(column[2:].replace("_", " ") for column in counts)),
        rows=[
            (
                (names[row["rater_id"]],),
                (row["condition"] or "–", *(f"{row[column]}" for column in counts)),
            )
            for row in table.to_dict("records")
        ],
    )


def pairs_overview(results: Results) -> ReportTable:
    """Show the agreement of every two raters over all items."""
    pairs, names = results.tables["agreement_pairs"], rater_names(results.bundle)
    shown = pairs.loc[pairs["scope"] == "all"]
    ranks = {kind.value: rank for rank, kind in enumerate(PairKind)}
    shown = shown.sort_values("pair_kind", key=lambda kinds: kinds.map(ranks), kind="stable")
    measures = ("raw", "brennan_prediger", "error_consistency", "kappa_letters", "same_wrong")
    key = ["rater_a", "rater_b", "condition"]
    rows: list[Row] = []
    groups = list(shown.groupby(key, sort=False))
    for (a, b, condition), part in groups[:MOST_PAIRS]:
        by_measure = {row["measure"]: row for row in part.to_dict("records")}
        cells = [_agreement_cell(by_measure[measure]) for measure in measures]
        pair = (names[str(a)], names[str(b)])
        n = str(by_measure["raw"]["n"])
        rows.append((pair, (str(condition) or "–", n, *cells)))
    left = len(groups) - len(rows)
    more = f" {left} more pairs stand in the file." if left else ""
    return ReportTable(
        title="Agreement of every two raters",
        note="Over all items that both answered: estimate and interval. Tasks and option sets stand"
        f" in the file, with standard errors and the reasons for what is undefined.{more}",
        file="tables/agreement_pairs.csv",
        header=(
            "Pair",
            "Condition",
            "n",
            "raw",
            "Brennan-Prediger",
            "error consistency",
            "kappa on letters",
            "same wrong",
        ),
        rows=rows,
    )


def _percent_cells(row: Mapping[Any, Any], *, cluster: bool) -> list[str]:
    cells = [_percent(row["accuracy"]), _range(row["ci_low"], row["ci_high"])]
    return cells + ([_range(row["cluster_ci_low"], row["cluster_ci_high"])] if cluster else [])


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def _range(low: float, high: float) -> str:
    if math.isnan(low):
        return "–"
    return f"{_percent(low)} to {_percent(high)}"


def _agreement_cell(row: Mapping[Any, Any]) -> str:
    estimate, low, high = (row[c] for c in ("estimate", "ci_low", "ci_high"))
    if math.isnan(estimate):
        return "undefined"
    interval = "" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return f"{estimate:.2f}{interval}".replace("-", "\u2212")
