"""The highest and the lowest accuracy of readers and of models."""

from __future__ import annotations

import math

from analysis.bundle.words import RaterKind
from analysis.report.findings.finding import (
    KIND_WORDS,
    MOST_CONDITIONS,
    Finding,
    Theme,
    named,
)
from analysis.report.wording.conditions import under
from analysis.report.wording.numbers import percent
from analysis.report.wording.rows import Row, conditions_in, number
from analysis.results import Results


def accuracy_findings(results: Results) -> list[Finding]:
    """Say the range of accuracies, by kind of rater and condition."""
    sentences = [
        sentence for condition in _shown(results) for sentence in _accuracy(results, condition)
    ]
    return [Finding(theme=Theme.ACCURACY, text=" ".join(sentences))] if sentences else []


def _shown(results: Results) -> list[str]:
    """Return the readers' first conditions, and that of models which have none of theirs."""
    return conditions_in(results, "accuracy")[: MOST_CONDITIONS + 1]


def _accuracy(results: Results, condition: str) -> list[str]:
    accuracy = results.tables["accuracy"]
    overall = (accuracy["by"] == "overall") & (accuracy["group"] == "micro")
    here = overall & (accuracy["condition"] == condition)
    rows = accuracy.loc[here & accuracy["accuracy"].notna()]
    sentences = []
    for kind in RaterKind:
        part = rows.loc[rows["rater_kind"] == kind].sort_values(
            ["accuracy", "rater_id"], ascending=[False, True]
        )
        if not len(part):
            continue
        best, worst = ({str(k): v for k, v in part.iloc[at].items()} for at in (0, -1))
        where = under(results, condition)
        if len(part) == 1:
            sentences.append(f"The one {KIND_WORDS[kind]}{where}: {_one(results, best)}.")
        elif best["n_correct"] == worst["n_correct"]:
            sentences.append(
                f"The {len(part)} {KIND_WORDS[kind]}s{where} have the same accuracy, as"
                f" {_one(results, best)}."
            )
        else:
            sentences.append(
                f"The {len(part)} {KIND_WORDS[kind]}s{where}: highest"
                f" {_one(results, best)}, lowest {_one(results, worst)}."
            )
    return sentences


def _one(results: Results, row: Row) -> str:
    low, high = number(row, "cluster_ci_low"), number(row, "cluster_ci_high")
    if math.isnan(low) or math.isnan(high):
        low, high = number(row, "ci_low"), number(row, "ci_high")
    interval = f"{percent(low)} to {percent(high)}" if low < high else "no informative interval"
    name = named(results, str(row["rater_id"]))
    of = f"{row['n_correct']:,} of {row['n']:,}"
    return f"{name}, {percent(row['accuracy'])} % [{interval}; {of}]"
