"""Status of every assigned item: the table `missing.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle, RaterKind, Status
from analysis.figures.drawing.axes import RaterName, rater_names
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import join_sentences
from analysis.readings.circumstances import n_cut_off
from analysis.readings.matrix import (
    STATUS_CODES,
    RaterColumn,
    ReadingMatrix,
    column_order,
)
from analysis.results import Results
from analysis.statistics.statistic import Column, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated


def missing(study: Study | Bundle) -> pd.DataFrame:
    """Count assigned items by status, for each rater and condition.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        The columns of `MISSING`; one row per rater and condition with any reading, readers first. A
        rater without readings has one row with an empty condition.

    Notes
    -----
    Every item with a reference standard is assigned; the six counts add up to `n_assigned`. Of
    repeated readings, only the first is counted. An excluded reading is counted by its status.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = missing(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2", "q3"], "truth": ["A", "B", "A"]}),
    ...     pd.DataFrame({"rater_id": ["R1", "R1"], "item_id": ["q1", "q2"], "answer": ["A", ""]}),
    ... ))
    >>> table[["n_assigned", "n_answered", "n_skipped", "n_absent"]].values.tolist()
    [[3, 1, 1, 1]]
    """
    study = study_of(study, None)
    bundle, matrix = study.bundle, study.matrix
    statuses = matrix.statuses[matrix.has_truth]
    without_readings = _raters_without_readings(bundle, matrix)
    columns = [*matrix.columns, *without_readings]
    table = pd.DataFrame(
        {
            "rater_id": [column.rater_id for column in columns],
            "condition": [column.condition for column in columns],
            "n_assigned": np.full(len(columns), len(statuses), dtype=np.int64),
        }
    )
    for status in Status:
        counts = (statuses == STATUS_CODES[status]).sum(axis=0, dtype=np.int64)
        n_assigned = len(statuses) if status is Status.ABSENT else 0
        table[f"n_{status}"] = np.append(counts, np.full(len(without_readings), n_assigned))
    order = sorted(range(len(columns)), key=lambda i: column_order(columns[i]))
    return table.iloc[order].reset_index(drop=True)


def _raters_without_readings(bundle: Bundle, matrix: ReadingMatrix) -> list[RaterColumn]:
    raters_seen = {column.rater_id for column in matrix.columns}
    raters = zip(bundle.raters["rater_id"], bundle.raters["rater_kind"], strict=True)
    return [
        RaterColumn(rater_id=rater, kind=RaterKind(kind), condition="")
        for rater, kind in raters
        if rater not in raters_seen
    ]


def missing_table(results: Results) -> Iterator[ReportTable]:
    """Show the assigned cases by status."""
    names = rater_names(results.bundle)
    table = results.tables["missing"]
    counts = [column for column in table.columns if column.startswith("n_")]
    yield report_table(
        name="missing",
        title=t("Missing answers"),
        note=join_sentences(
            [
                t(
                    "Outcome of every assigned case. Absent: never presented to a reader (not"
                    " counted), or without a model's prediction (incorrect). Every other"
                    " unanswered case counts as incorrect."
                ),
                *_cut_off_sentences(results, names),
            ]
        ),
        header=(
            t("Rater"),
            t("Condition"),
            *(_outcome_words(column.removeprefix("n_")) for column in counts),
        ),
        rows=[
            (
                (rater_name(names, row["rater_id"]),),
                (
                    condition_cell(str(row["condition"])),
                    *(whole_number(row[column]) for column in counts),
                ),
            )
            for row in table.to_dict("records")
        ],
    )


def _cut_off_sentences(results: Results, names: Mapping[str, RaterName]) -> list[str]:
    """Return a sentence on the models' unparsed outputs that were cut off at the token limit."""
    counts = n_cut_off(results.bundle)
    if not counts:
        return []
    raters = ", ".join(f"{rater_name(names, rater)}: {n}" for rater, n in counts.items())
    return [t("Unparsed because cut off at the token limit: {raters}.", raters=raters)]


OUTCOME_WORDS = {
    "assigned": later("Assigned"),
    "answered": later("Answered"),
    "skipped": later("Skipped"),
    "timed_out": later("Timed out"),
    "unparsed": later("Unparsed"),
    "refused": later("Refused"),
    "absent": later("Absent"),
}


def _outcome_words(name: str) -> str:
    return translated(OUTCOME_WORDS.get(name, name.replace("_", " ").capitalize()))


MISSING = Statistic(
    name="missing",
    meaning="Status of the items assigned to a rater under a condition.",
    columns=(
        *shared_columns("rater_id condition"),
        Column("n_assigned", "Items with a reference standard.", "count"),
        Column("n_answered", "Answered items.", "count"),
        Column("n_skipped", "Skipped items.", "count"),
        Column("n_timed_out", "Items whose time ran out.", "count"),
        Column(
            "n_unparsed", "Items whose answer could not be read from the model's output.", "count"
        ),
        Column("n_refused", "Items that the model refused to answer.", "count"),
        Column(
            "n_absent",
            "Items never presented to a reader, or without a model's prediction.",
            "count",
        ),
    ),
    compute=missing,
    tables={240: missing_table},
)
