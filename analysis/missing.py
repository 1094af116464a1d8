"""What became of every assigned item: the table `missing.csv`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle
from analysis.bundle.words import Status
from analysis.matrix import STATUS_CODES, ReadingMatrix, reading_matrix


def missing(bundle: Bundle) -> pd.DataFrame:
    """Count what became of every assigned item, by rater and condition.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_id, condition, n_assigned, n_answered, n_skipped, n_timed_out, n_unparsed,
        n_refused, n_absent`; one row a rater and condition with any reading, readers first.

    Notes
    -----
    Assigned is every item with a reference standard; the six counts add up to `n_assigned`. Of
    hidden repeats the first is counted.

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
    return missing_table(reading_matrix(bundle))


def missing_table(matrix: ReadingMatrix) -> pd.DataFrame:
    """Return the table of `missing` for readings that are arranged already."""
    statuses = matrix.statuses[matrix.assigned]
    columns: dict[str, object] = {
        "rater_id": [column.rater_id for column in matrix.columns],
        "condition": [column.condition for column in matrix.columns],
        "n_assigned": np.full(len(matrix.columns), len(statuses), dtype=np.int64),
    }
    for status in Status:
        columns[f"n_{status}"] = (statuses == STATUS_CODES[status]).sum(axis=0, dtype=np.int64)
    return pd.DataFrame(columns)
