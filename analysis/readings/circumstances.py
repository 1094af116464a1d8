"""Times of readings, positions in the session, and flags that cast doubt on times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.faults import map_distinct
from analysis.bundle.model import Bundle
from analysis.readings.matrix import READING_KEY, ReadingMatrix, cells_of, first_readings
from analysis.translation import later

SESSION_COLUMNS = ["rater_id", "session"]
FAULTY_FLAG = "question_faulty"
"""The flag of a reading whose reader marked its question as faulty."""

CUT_OFF_FLAG = "cut_off"
"""The flag of a model's output that was cut off at the token limit and is counted as unparsed."""

FLAGS_NOT_ABOUT_TIME = frozenset(
    {
        "film_not_whole",
        "view_not_shown",
        "page_zoom",
        "pixel_ratio_changed",
        "low_pixel_ratio",
        "window_too_small",
        "software_rendering",
        "received_while_paused",
        "received_after_lapse",
        "comment_cut",
        CUT_OFF_FLAG,
        "reason_cut",
        "words_cut",
        FAULTY_FLAG,
    }
)
"""Flags about the image, the session or the text, which do not affect a reading's time. All other
flags, including those of other programs, cast doubt on the time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadingTimes:
    """The measured times of first readings, in the order of columns and items.

    Parameters
    ----------
    item, column : numpy.ndarray of int, shape (n_times,)
        Positions in the reading matrix.
    response_ms : numpy.ndarray of float, shape (n_times,)
        Response times in milliseconds, 0 or larger.
    flagged : numpy.ndarray of bool, shape (n_times,)
        Whether the reading has any flag.
    session : numpy.ndarray of str, shape (n_times,)
        Name of the session; empty if unknown. Whole numbers are written without decimals.
    place : numpy.ndarray of float, shape (n_times,)
        Position within the session, from 0; nan if unknown.
    share : numpy.ndarray of float, shape (n_times,)
        `place` divided by the length of the session, from 0 to below 1.
    """

    item: Ints
    column: Ints
    response_ms: Floats
    flagged: Bools
    session: npt.NDArray[np.object_]
    place: Floats
    share: Floats


def reading_times(bundle: Bundle, matrix: ReadingMatrix) -> ReadingTimes:
    """Collect the measured response times of a bundle's first readings.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    matrix : ReadingMatrix
        The bundle's readings as arrays.

    Returns
    -------
    ReadingTimes
        One entry for each first reading with a `response_ms`, regardless of its status, except for
        readings that the protocol drops from the primary analysis.

    Notes
    -----
    The length of a session is the number of cases that the rater read in it, including hidden
    repeats and unanswered cases.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> from analysis.readings.matrix import reading_matrix
    >>> bundle = bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2", "q3"]}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": ["q1", "q2", "q3"], "answer": "A",
    ...         "response_ms": [900, None, 1200], "position": [12, 11, 14], "session": 2,
    ...     }),
    ... )
    >>> times = reading_times(bundle, reading_matrix(bundle))
    >>> times.response_ms.tolist(), times.place.tolist(), times.session.tolist()
    ([900.0, 1200.0], [1.0, 3.0], ['2', '2'])
    """
    readings = bundle.readings[[*READING_KEY, "repeat", "session", "flags"]].assign(
        session=map_distinct(bundle.readings["session"], _session_name).astype(object),
        position=_numbers(bundle.readings["position"]),
        response_ms=_numbers(bundle.readings["response_ms"]),
    )
    timed = readings.loc[readings["response_ms"].notna(), "rater_id"].unique()
    readings = readings.loc[readings["rater_id"].isin(timed)]
    readings = first_readings(readings.assign(**_places(readings)))
    readings = readings.loc[readings["response_ms"].notna()]
    item, column = cells_of(readings, matrix.item_ids, matrix.columns)
    counts = ~matrix.left_out[item, column]
    readings, item, column = readings.loc[counts], item[counts], column[counts]
    order = np.lexsort((item, column))
    ordered = readings.iloc[order]
    return ReadingTimes(
        item=item[order],
        column=column[order],
        response_ms=ordered["response_ms"].to_numpy(dtype=np.float64),
        flagged=(ordered["flags"] != "").to_numpy(dtype=bool),
        session=ordered["session"].to_numpy(dtype=object),
        place=ordered["place"].to_numpy(dtype=np.float64),
        share=ordered["share"].to_numpy(dtype=np.float64),
    )


def marked_readings(bundle: Bundle, matrix: ReadingMatrix, column: str) -> Bools:
    """Return which first readings are excluded, or have a flag that casts doubt on their time.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    matrix : ReadingMatrix
        The bundle's readings as arrays.
    column : str
        `flags` or `excluded`.

    Returns
    -------
    numpy.ndarray of bool, shape (n_items, n_columns)
        One cell per reading of the matrix; false if there is no reading.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> from analysis.readings.matrix import reading_matrix
    >>> bundle = bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2"]}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": ["q1", "q2"], "answer": "A",
    ...                   "flags": ["software_rendering", "software_rendering too_fast"]}),
    ... )
    >>> marked_readings(bundle, reading_matrix(bundle), "flags").tolist()
    [[False], [True]]
    """
    is_marked = np.zeros(matrix.answers.shape, dtype=bool)
    cells = bundle.readings[column]
    marks = (map_distinct(cells, _time_flags) if column == "flags" else cells) != ""
    readings = bundle.readings[[*READING_KEY, "repeat"]].assign(marked=marks)
    raters = readings.loc[readings["marked"], "rater_id"].unique()
    readings = first_readings(readings.loc[readings["rater_id"].isin(raters)])
    readings = readings.loc[readings["marked"]]
    is_marked[cells_of(readings, matrix.item_ids, matrix.columns)] = True
    return is_marked


WITHOUT_REVIEWED, WITHOUT_MARKED = (
    later("faulty questions dropped"),
    later("marked questions dropped"),
)
"""The analyses without the items that an expert review, or a reader, found faulty."""


def faulty_items(bundle: Bundle, matrix: ReadingMatrix, faulty: Sequence[str]) -> dict[str, Bools]:
    """Return the faulty items of the analyses `WITHOUT_REVIEWED` and `WITHOUT_MARKED`.

    Parameters
    ----------
    faulty : sequence of str
        `item_id` of each item that a review found faulty; ids not in the bundle are ignored.

    Returns
    -------
    dict of str to numpy.ndarray of bool, shape (n_items,)
        Whether each item of the matrix is faulty; analyses without a faulty item are omitted.
    """
    flags = bundle.readings["flags"]
    marks = (
        map_distinct(flags, lambda cell: FAULTY_FLAG if FAULTY_FLAG in cell.split() else "") != ""
    )
    items = pd.Series(matrix.item_ids, dtype=object)
    by_readers = list(bundle.readings.loc[marks, "item_id"].unique())
    excluded = {WITHOUT_REVIEWED: list(faulty), WITHOUT_MARKED: by_readers}
    by_analysis = {name: items.isin(ids).to_numpy(dtype=bool) for name, ids in excluded.items()}
    return {name: is_faulty for name, is_faulty in by_analysis.items() if is_faulty.any()}


def n_cut_off(bundle: Bundle) -> dict[str, int]:
    """Return how many outputs of each model were cut off, counting first readings.

    Examples
    --------
    >>> import pandas as pd
    >>> from analysis.bundle import bundle_from_tables
    >>> n_cut_off(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2"]}),
    ...     pd.DataFrame({"rater_id": "M1", "item_id": ["q1", "q2"], "answer": ["A", None],
    ...                   "status": ["answered", "unparsed"], "flags": ["", "cut_off"]}),
    ... ))
    {'M1': 1}
    """
    cut_off = {cell for cell in bundle.readings["flags"].unique() if CUT_OFF_FLAG in cell.split()}
    if not cut_off:
        return {}
    readings = first_readings(bundle.readings[[*READING_KEY, "repeat", "flags"]])
    counts = readings.loc[readings["flags"].isin(cut_off), "rater_id"].value_counts(sort=False)
    return {str(rater): int(n) for rater, n in sorted(counts.items())}


def _time_flags(flags: str) -> str:
    return " ".join(flag for flag in flags.split() if flag not in FLAGS_NOT_ABOUT_TIME)


def _numbers(cells: pd.Series[str]) -> Floats:
    """Return the numbers of a checked column; nan if a cell is empty."""
    return np.array([float(cell) if cell.strip() else np.nan for cell in cells.to_numpy(object)])


def _session_name(cell: str) -> str:
    name = cell.strip()
    number = name.removesuffix(".0")  # how data frames write whole numbers
    return str(int(number)) if number.isdecimal() else name


def _places(readings: pd.DataFrame) -> dict[str, pd.Series[float]]:
    sessions = readings.groupby(SESSION_COLUMNS)["position"]
    first, last = sessions.transform("min"), sessions.transform("max")
    place = readings["position"] - first
    return {"place": place, "share": place / (last - first + 1)}
