"""What became of every assigned item: the table `missing.csv`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle, RaterKind, Status
from analysis.readings.matrix import (
    STATUS_CODES,
    ReadingMatrix,
    Reads,
    column_order,
)
from analysis.statistics.statistic import Column, Statistic, shared
from analysis.statistics.study import Study, study_of


def missing(study: Study | Bundle) -> pd.DataFrame:
    """Count what became of every assigned item, by rater and condition.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        The columns of `MISSING`; one row a rater and condition with any reading, readers first. A
        rater without a reading has one row with an empty condition.

    Notes
    -----
    Assigned is every item with a reference standard; the six counts add up to `n_assigned`. Of
    hidden repeats the first is counted. An excluded reading is counted as what it was.

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
    statuses = matrix.statuses[matrix.assigned]
    silent = _without_reading(bundle, matrix)
    columns = [*matrix.columns, *silent]
    table = pd.DataFrame(
        {
            "rater_id": [column.rater_id for column in columns],
            "condition": [column.condition for column in columns],
            "n_assigned": np.full(len(columns), len(statuses), dtype=np.int64),
        }
    )
    for status in Status:
        counts = (statuses == STATUS_CODES[status]).sum(axis=0, dtype=np.int64)
        everything = len(statuses) if status is Status.ABSENT else 0
        table[f"n_{status}"] = np.append(counts, np.full(len(silent), everything))
    order = sorted(range(len(columns)), key=lambda i: column_order(columns[i]))
    return table.iloc[order].reset_index(drop=True)


def _without_reading(bundle: Bundle, matrix: ReadingMatrix) -> list[Reads]:
    seen = {column.rater_id for column in matrix.columns}
    raters = zip(bundle.raters["rater_id"], bundle.raters["rater_kind"], strict=True)
    return [
        Reads(rater_id=rater, kind=RaterKind(kind), condition="")
        for rater, kind in raters
        if rater not in seen
    ]


MISSING = Statistic(
    name="missing",
    meaning="What became of the items assigned to a rater under a condition.",
    columns=(
        *shared("rater_id condition"),
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
)
