"""How long each rater took: the table `times.csv`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle
from analysis.readings.circumstances import Circumstances
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.study import COLUMNS, Study, study_of
from analysis.statistics.times.model import TimeGroup, groups_of

NO_TIME = "no reading here has a measured time"
ZERO_TIME = "geometric mean: a time is 0"


def times(study: Study | Bundle) -> pd.DataFrame:
    r"""Sum up every rater's response times.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_id, condition, by, group, n, median_ms, q1_ms, q3_ms, geometric_mean_ms,
        n_flagged, undefined_because`; milliseconds. One row a condition and group of every rater
        with any measured time, readers first.

    Notes
    -----
    First readings with a measured time count, whatever became of them, flagged ones included;
    `n_flagged` says how many. Quartiles are interpolated linearly between order statistics: with
    :math:`h = (n - 1) q`, :math:`x_{(\lfloor h \rfloor + 1)} + (h - \lfloor h \rfloor)
    (x_{(\lfloor h \rfloor + 2)} - x_{(\lfloor h \rfloor + 1)})`, type 7 of [1]_. The geometric mean
    is :math:`\exp(\overline{\ln x})`, and undefined where a time is 0.

    By `overall`, `task`, `category`, `subcategory`; by `correct` (`correct`, `wrong`: answered
    items with a reference standard); by `flagged` (`without flagged`, `flagged only`); by
    `session`; by `position` (quarters of the rater's session); by `status` (`answered` beside what
    was not: a time that a limit cut off is not the time of a decision).

    References
    ----------
    .. [1] Hyndman RJ, Fan Y. Sample quantiles in statistical packages. Am Stat 1996;50:361-365.
       doi:10.1080/00031305.1996.10473566

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = times(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abc"), "truth": list("AAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": list("abc"), "answer": list("AAB"),
    ...         "response_ms": [1000, 2000, 4000],
    ...     }),
    ... ))
    >>> for row in table[["by", "group", "n", "median_ms", "q1_ms"]].values.tolist()[:3]:
    ...     print(*row)
    overall micro 3 2000.0 1500.0
    correct correct 2 1500.0 1250.0
    correct wrong 1 4000.0 4000.0
    """
    study = study_of(study, None)
    matrix, found = study.matrix, study.circumstances
    timed = {matrix.columns[i].rater_id for i in np.unique(found.column)}
    shown = np.array([c.rater_id in timed for c in matrix.columns], dtype=bool)
    tables = [_rows(matrix, found, group, shown) for group in groups_of(matrix, found)]
    table = pd.concat(tables, ignore_index=True)
    return table.sort_values("column", kind="stable", ignore_index=True)[COLUMNS["times"]]


def _rows(
    matrix: ReadingMatrix, found: Circumstances, group: TimeGroup, shown: np.ndarray
) -> pd.DataFrame:
    n_columns = len(matrix.columns)
    column = found.column[group.members]
    response_ms = found.response_ms[group.members]
    order = np.lexsort((response_ms, column))
    n = np.bincount(column, minlength=n_columns)
    at = _order_statistics(response_ms[order], n)
    rows = pd.DataFrame(
        {
            "column": np.arange(n_columns),
            "rater_id": [c.rater_id for c in matrix.columns],
            "condition": [c.condition for c in matrix.columns],
            "by": group.by,
            "group": group.group,
            "n": n,
            "median_ms": at(0.5),
            "q1_ms": at(0.25),
            "q3_ms": at(0.75),
            "geometric_mean_ms": _geometric_means(response_ms[order], n),
            "n_flagged": np.bincount(
                column, weights=found.flagged[group.members], minlength=n_columns
            ).astype(np.int64),
        }
    )
    rows["undefined_because"] = np.where(rows["geometric_mean_ms"].isna(), ZERO_TIME, "")
    rows.loc[n == 0, "undefined_because"] = NO_TIME
    return rows.loc[shown & (group.always | (n > 0))]


def _order_statistics(ordered: Floats, n: Ints) -> Callable[[float], Floats]:
    """Return the quantile function of times that stand rater by rater, each in order of size."""
    start = np.cumsum(n) - n
    padded = np.append(ordered, np.nan)

    def at(q: float) -> Floats:
        h = q * np.maximum(n - 1, 0)
        below = np.floor(h).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(n - 1, 0))
        low, high = padded[start + below], padded[start + above]
        quantile: Floats = np.where(n > 0, low + (h - below) * (high - low), np.nan)
        return quantile

    return at


def _geometric_means(ordered: Floats, n: Ints) -> Floats:
    logs = np.full(len(ordered), np.nan)
    np.log(ordered, out=logs, where=ordered > 0)
    means = np.full(len(n), np.nan)
    some = np.flatnonzero(n)
    if len(some):
        start = (np.cumsum(n) - n)[some]
        means[some] = np.exp(np.add.reduceat(logs, start) / n[some])
    return means
