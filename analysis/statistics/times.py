"""Response times of each rater: the table `times.csv`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import WRITTEN_STATUSES, Bundle, Status
from analysis.figures.drawing.axes import rater_names
from analysis.figures.times import drift_chart, speed_chart, times_chart
from analysis.presentation.captions import answer_range
from analysis.presentation.table import (
    EMPTY_CELL,
    ReportTable,
    TableRow,
    condition_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, format_number, join_sentences, rows_of
from analysis.readings.circumstances import ReadingTimes
from analysis.readings.matrix import STATUS_CODES, ReadingMatrix
from analysis.results import Results
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, localised, t

ANSWERED = STATUS_CODES[Status.ANSWERED]
QUARTERS = ("first quarter", "second quarter", "third quarter", "fourth quarter")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimeGroup:
    """A group of the measured times of all raters.

    Parameters
    ----------
    by, group : str
        The names of the grouping and of the group in the table.
    members : numpy.ndarray of int
        Positions in the circumstances, ascending.
    has_empty_rows : bool
        Whether raters without a time in the group also have a row.
    """

    by: str
    group: str
    members: Ints
    has_empty_rows: bool


def time_groups(matrix: ReadingMatrix, times: ReadingTimes) -> Iterator[TimeGroup]:
    """Yield the groups of times in the order of the table.

    Yields
    ------
    TimeGroup
        All times, then groups by properties of the item, then by properties of the reading.
    """
    all_readings = np.ones(len(times.item), dtype=np.bool_)
    answered = matrix.statuses[times.item, times.column] == ANSWERED
    yield _group("overall", "micro", all_readings, has_empty_rows=True)
    for by in ("task", "category", "subcategory"):
        codes, names = pd.factorize(matrix.groups[by], sort=True)
        of_time = codes[times.item]
        for code, name in enumerate(names):
            if name:
                yield _group(by, name, of_time == code, has_empty_rows=True)
    yield from _by_correctness(matrix, times, answered)
    yield _group("flagged", later("without flagged"), ~times.flagged, has_empty_rows=True)
    yield _group("flagged", later("flagged only"), times.flagged, has_empty_rows=False)
    for name in session_order(times.session):
        yield _group("session", name, times.session == name, has_empty_rows=False)
    quarter = np.floor(times.share * len(QUARTERS))
    for i, name in enumerate(QUARTERS):
        yield _group("position", name, quarter == i, has_empty_rows=False)
    for status in WRITTEN_STATUSES:
        of_status = matrix.statuses[times.item, times.column] == STATUS_CODES[status]
        yield _group("status", status.value, of_status, has_empty_rows=False)


def session_order(sessions: npt.NDArray[np.object_]) -> list[str]:
    """Return the distinct names of sessions: numbers in order of value, then other names.

    Parameters
    ----------
    sessions : numpy.ndarray of str, shape (n_times,)
        The session of each time; empty if unknown.

    Examples
    --------
    >>> session_order(np.array(["10", "", "2", "late"], dtype=object))
    ['2', '10', 'late']
    """
    names = {str(name) for name in sessions if name}
    return sorted(names, key=lambda name: (0, int(name), "") if name.isdecimal() else (1, 0, name))


def _by_correctness(
    matrix: ReadingMatrix, times: ReadingTimes, answered: Bools
) -> Iterator[TimeGroup]:
    known = answered & matrix.has_truth[times.item]
    correct = matrix.correct[times.item, times.column]
    if matrix.has_truth.any():
        yield _group("correct", "correct", known & correct, has_empty_rows=True)
        yield _group("correct", "wrong", known & ~correct, has_empty_rows=True)


def _group(by: str, group: str, members: Bools, *, has_empty_rows: bool) -> TimeGroup:
    return TimeGroup(
        by=by, group=group, members=np.flatnonzero(members), has_empty_rows=has_empty_rows
    )


NO_TIME = "no reading here has a measured time"
ZERO_TIME = "geometric mean: a time is 0"


def times(study: Study | Bundle) -> pd.DataFrame:
    r"""Summarise every rater's response times.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        The columns of `TIMES`. One row per condition and group of every rater with any measured
        time, readers first.

    Notes
    -----
    All first readings with a measured time are included, regardless of status; `n_flagged` is the
    number of flagged ones. Quartiles are interpolated linearly between order statistics: with
    :math:`h = (n - 1) q`, :math:`x_{(\lfloor h \rfloor + 1)} + (h - \lfloor h \rfloor)
    (x_{(\lfloor h \rfloor + 2)} - x_{(\lfloor h \rfloor + 1)})`, type 7 of [1]_. The geometric mean
    is :math:`\exp(\overline{\ln x})`, and undefined if a time is 0.

    Readings are grouped by `overall`, `task`, `category` and `subcategory`; by `correct`
    (`correct` or `wrong`: answered items with a reference standard); by `flagged` (`without
    flagged` or `flagged only`); by `session`; by `position` (quarters of the rater's session); and
    by `status`, because a time that was cut off by a limit is not the time of a decision.

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
    matrix, circumstances = study.matrix, study.circumstances
    timed_raters = {matrix.columns[i].rater_id for i in np.unique(circumstances.column)}
    is_timed_rater = np.array([c.rater_id in timed_raters for c in matrix.columns], dtype=bool)
    groups = list(time_groups(matrix, circumstances))
    parts = [_group_values(circumstances, group, is_timed_rater) for group in groups]
    values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    sizes = [len(part["n"]) for part in parts]
    table = pd.DataFrame(
        {
            "rater_id": [matrix.columns[i].rater_id for i in values["column"]],
            "condition": [matrix.columns[i].condition for i in values["column"]],
            "by": np.repeat(np.array([group.by for group in groups], dtype=object), sizes),
            "group": np.repeat(np.array([group.group for group in groups], dtype=object), sizes),
            **values,
        }
    )
    return table.sort_values("column", kind="stable", ignore_index=True)[TIMES.header]


def _group_values(
    circumstances: ReadingTimes, group: TimeGroup, is_timed_rater: Bools
) -> dict[str, np.ndarray]:
    """Return the columns of a group's rows, by name."""
    n_columns = len(is_timed_rater)
    column = circumstances.column[group.members]
    response_ms = circumstances.response_ms[group.members]
    order = np.lexsort((response_ms, column))
    n = np.bincount(column, minlength=n_columns)
    quantiles = _order_statistics(response_ms[order], n)
    means = _geometric_means(response_ms[order], n)
    zero = np.where(np.isnan(means), ZERO_TIME, "")
    flagged = circumstances.flagged[group.members]
    values = {
        "column": np.arange(n_columns),
        "n": n,
        "median_ms": quantiles(0.5),
        "q1_ms": quantiles(0.25),
        "q3_ms": quantiles(0.75),
        "geometric_mean_ms": means,
        "n_flagged": np.bincount(column, flagged, n_columns).astype(np.int64),
        "undefined_because": np.where(n == 0, NO_TIME, zero),
    }
    shown_rows = is_timed_rater & (group.has_empty_rows | (n > 0))
    return {name: each[shown_rows] for name, each in values.items()}


def _order_statistics(ordered: Floats, n: Ints) -> Callable[[float], Floats]:
    """Return the quantile function of times that are sorted within each rater."""
    start = np.cumsum(n) - n
    padded = np.append(ordered, np.nan)

    def quantiles(q: float) -> Floats:
        h = q * np.maximum(n - 1, 0)
        below = np.floor(h).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(n - 1, 0))
        low, high = padded[start + below], padded[start + above]
        quantile: Floats = np.where(n > 0, low + (h - below) * (high - low), np.nan)
        return quantile

    return quantiles


def _geometric_means(ordered: Floats, n: Ints) -> Floats:
    logs = np.full(len(ordered), np.nan)
    np.log(ordered, out=logs, where=ordered > 0)
    means = np.full(len(n), np.nan)
    indices = np.flatnonzero(n)
    if len(indices):
        start = (np.cumsum(n) - n)[indices]
        means[indices] = np.exp(np.add.reduceat(logs, start) / n[indices])
    return means


def times_table(results: Results) -> Iterator[ReportTable]:
    """Show each rater's times over all items, in seconds."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        (
            (rater_name(names, str(row["rater_id"])),),
            (
                condition_cell(str(row["condition"])),
                whole_number(cell_number(row, "n")),
                *(
                    format_number(cell_number(row, column) / 1000, 1)
                    for column in ("median_ms", "q1_ms", "q3_ms", "geometric_mean_ms")
                ),
                whole_number(cell_number(row, "n_flagged"))
                if not math.isnan(cell_number(row, "n_flagged"))
                else EMPTY_CELL,
            ),
        )
        for row in rows_of(results, "times", by="overall")
    ]
    yield report_table(
        name="times",
        title=t("Time per case, in seconds"),
        note=t("Visible, unpaused response time. Tasks are in the file."),
        header=(
            t("Rater"),
            t("Condition"),
            "n",
            t("Median"),
            t("Lower quartile"),
            t("Upper quartile"),
            t("Geometric mean"),
            t("Flagged"),
        ),
        rows=rows,
    )


def times_caption(rows: pd.DataFrame) -> str:
    """Describe the figure of response times."""
    return join_sentences(
        [
            t(
                "Seconds from display to answer, for what was answered: median and quartiles of"
                " every rater, {answers}.",
                answers=answer_range(rows["n"]),
            ),
            t(
                "The axis is logarithmic. The bars show the spread of the times, not the"
                " uncertainty of the median."
            ),
        ]
    )


def speed_caption(rows: pd.DataFrame, percent: str) -> str:
    """Describe the figure of speed against accuracy."""
    return join_sentences(
        [
            t(
                "Percent correct with its {percent} % Wilson interval against the median response"
                " time, {answers} per rater.",
                percent=localised(percent),
                answers=answer_range(rows["n"]),
            ),
            t("It describes these raters and tests nothing."),
        ]
    )


def drift_caption(rows: pd.DataFrame) -> str:
    """Describe the figure of times by quarter of the session."""
    return t(
        "Median response time in the quarters of each reader's session, {answers} per"
        " quarter; descriptive, without an interval.",
        answers=answer_range(rows["n"]),
    )


def times_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Draw the times of every rater: overall, against accuracy, and over the session."""
    times, accuracy = results.tables["times"], results.tables["accuracy"]
    names = rater_names(results.bundle)
    known = times.loc[(times["condition"] == condition) & times["median_ms"].notna()]
    if known.empty:
        return
    overall = known.loc[known["by"] == "overall"]
    percent = results.options.confidence_percent
    yield Figure(
        "time",
        "times",
        t("Response times"),
        times_caption(overall) if len(overall) else "",
        times_chart(times, condition=condition, names=names),
    )
    yield Figure(
        "time",
        "speed-and-accuracy",
        t("Speed and accuracy"),
        speed_caption(overall, percent) if len(overall) else "",
        speed_chart(times, accuracy, condition=condition, names=names),
    )
    quarters = known.loc[known["by"] == "position"]
    yield Figure(
        "time",
        "drift",
        t("Response times over the session"),
        drift_caption(quarters) if len(quarters) else "",
        drift_chart(times, condition=condition, names=names),
    )


TIMES = Statistic(
    name="times",
    meaning="Response times of a rater in a group of readings.",
    columns=(
        *shared_columns("rater_id condition"),
        Column(
            "by",
            "Grouping: `overall`, `task`, `category`, `subcategory`, `correct`, `flagged`,"
            " `session`, `position` (quarters of the session) or `status`.",
        ),
        *shared_columns("group"),
        Column("n", "Readings with a measured time.", "count"),
        Column("median_ms", "Median time.", "ms"),
        Column("q1_ms", "Lower quartile.", "ms"),
        Column("q3_ms", "Upper quartile.", "ms"),
        Column("geometric_mean_ms", "Geometric mean.", "ms"),
        Column("n_flagged", "Readings with a flag that casts doubt on the time.", "count"),
        *shared_columns("undefined_because"),
    ),
    compute=times,
    methods={
        610: Method(
            "Models of readings and times",
            "Times are visible, unpaused response times; medians, quartiles and geometric means"
            " are given [@hyndman1996].",
        )
    },
    tables={220: times_table},
    figures={140: times_figures},
)
