"""Accuracy under every other way of counting: the table `sensitivity.csv`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.arrays import Bools
from analysis.bundle.model import Bundle
from analysis.circumstances import marked
from analysis.clusters import ratio
from analysis.matrix import NO_LETTER, ReadingMatrix, reading_matrix
from analysis.options import Options
from analysis.proportions import wilson_interval

COLUMNS = ("analysis", "rater_id", "condition", "n", "accuracy", "ci_low", "ci_high")


def sensitivity(bundle: Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate every rater's accuracy under each way of counting what is missing or doubtful.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns `analysis, rater_id, condition, n, accuracy, ci_low, ci_high`; proportions 0 to 1.
        In order of analysis; within it one row a rater and condition, readers first. Empty where
        an analysis leaves no reading.

    Notes
    -----
    Assigned is every item with a reference standard. `missing as wrong`, the primary analysis:
    correct over assigned. `missing dropped`: correct over answered. `missing as right`: an assigned
    item without an answer is correct; the first and this one bound what the missing answers can
    have been. `flagged times dropped`: as the first, without the items whose reading has a flag.
    `excluded readings dropped`, where any is excluded: as the first, without the items whose
    reading was set aside. Intervals are Wilson's [1]_.

    References
    ----------
    .. [1] Wilson EB. Probable inference, the law of succession, and statistical inference. J Am
       Stat Assoc 1927;22:209-212. doi:10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = sensitivity(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": list("abc"), "answer": list("AAB"),
    ...         "flags": ["", "too_fast", ""],
    ...     }),
    ... ))
    >>> for row in table[["analysis", "n", "accuracy"]].round(3).values.tolist():
    ...     print(*row)
    missing as wrong 4 0.5
    missing dropped 3 0.667
    missing as right 4 0.75
    flagged times dropped 3 0.333
    """
    return sensitivity_table(bundle, reading_matrix(bundle), options or Options())


def sensitivity_table(bundle: Bundle, matrix: ReadingMatrix, options: Options) -> pd.DataFrame:
    """Return the table of `sensitivity` for readings that are arranged already.

    Parameters
    ----------
    bundle : Bundle
        The checked tables, for flags and exclusions.
    matrix : ReadingMatrix
        The bundle's readings as arrays.
    options : Options
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        As `sensitivity` says.
    """
    flagged, excluded = (marked(bundle, matrix, column) for column in ("flags", "excluded"))
    tables = [
        _rows(matrix, name, counted, correct, options.alpha)
        for name, (counted, correct) in _analyses(matrix, flagged, excluded).items()
    ]
    return pd.concat(tables, ignore_index=True)[list(COLUMNS)]


def _analyses(
    matrix: ReadingMatrix, flagged: Bools, excluded: Bools
) -> Mapping[str, tuple[Bools, Bools]]:
    """Return what counts, and what of it is correct; each of shape (n_items, n_columns)."""
    assigned = np.broadcast_to(matrix.assigned[:, None], matrix.answers.shape)
    answered = matrix.answers != NO_LETTER
    analyses = {
        "missing as wrong": (assigned, matrix.correct),
        "missing dropped": (assigned & answered, matrix.correct),
        "missing as right": (assigned, matrix.correct | ~answered),
        "flagged times dropped": (assigned & ~flagged, matrix.correct),
    }
    if excluded.any():
        analyses["excluded readings dropped"] = (assigned & ~excluded, matrix.correct)
    return analyses


def _rows(
    matrix: ReadingMatrix, name: str, counted: Bools, correct: Bools, alpha: float
) -> pd.DataFrame:
    n = counted.sum(axis=0, dtype=np.int64)
    n_correct = (counted & correct).sum(axis=0).astype(np.float64)
    low, high = wilson_interval(n_correct, n.astype(np.float64), alpha)
    return pd.DataFrame(
        {
            "analysis": name,
            "rater_id": [column.rater_id for column in matrix.columns],
            "condition": [column.condition for column in matrix.columns],
            "n": n,
            "accuracy": ratio(n_correct, n.astype(np.float64)),
            "ci_low": low,
            "ci_high": high,
        }
    )
