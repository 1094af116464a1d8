"""The readings and the terms of the model of response times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import WRITTEN_STATUSES, RaterKind, Status
from analysis.readings.circumstances import Circumstances
from analysis.readings.matrix import STATUS_CODES, ReadingMatrix
from analysis.translation import later

BASELINE = "unaided"
KINDS = ("condition", "correct", "position", "session", "task")
NOT_GIVEN = {
    "correct": later("no item has a reference standard"),
    "position": later("no reading gives its position"),
    "session": later("no reading names its session"),
    "task": later("no item names its task"),
}
NO_CONTRAST = {
    "condition": later("all readings were made under one condition"),
    "correct": later("all answers are correct, or all are wrong"),
    "position": later("all readings stand at one place of their session"),
    "session": later("all readings belong to one session"),
    "task": later("all items belong to one task"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Term:
    """One fixed effect of the model.

    Parameters
    ----------
    name : str
        What is set against what.
    condition : str
        The condition that is set against the baseline; empty for other terms.
    values : numpy.ndarray of float, shape (n,), or None
        Its column of the design; None where it has none.
    because : str
        Why it has none.
    """

    name: str
    condition: str = ""
    values: Floats | None = None
    because: str = ""


def modelled_readings(matrix: ReadingMatrix, times: Circumstances) -> pd.DataFrame:
    """Return the readings of the model, one a row, in order of item and column.

    Returns
    -------
    pandas.DataFrame
        Columns `response_ms`, `reader` (its id), `item` (position), and one for each of `KINDS`;
        what is not given is None or nan. Answered readings of readers.
    """
    reader = np.array([c.kind is RaterKind.READER for c in matrix.columns], dtype=bool)
    answered = matrix.statuses[times.item, times.column] == ANSWERED
    which = np.flatnonzero(answered & reader[times.column])
    item, column = times.item[which], times.column[which]
    correct = np.where(
        matrix.assigned[item], matrix.correct[item, column].astype(np.float64), np.nan
    )
    table = pd.DataFrame(
        {
            "response_ms": times.response_ms[which],
            "reader": [matrix.columns[i].rater_id for i in column],
            "item": item,
            "column": column,
            "condition": [matrix.columns[i].condition for i in column],
            "correct": correct,
            "position": times.place[which] / 10,
            "session": [name or None for name in times.session[which]],
            "task": [name or None for name in matrix.groups["task"][item]],
        }
    )
    return table.sort_values(["item", "column"], ignore_index=True)


def complete(readings: pd.DataFrame) -> pd.DataFrame:
    """Leave out readings that lack what others have, and times of 0, which have no logarithm.

    Parameters
    ----------
    readings : pandas.DataFrame
        From `modelled_readings`.
    """
    kinds = [kind for kind in KINDS if readings[kind].notna().any()]
    whole = readings[kinds].notna().all(axis=1) & (readings["response_ms"] > 0)
    return readings.loc[whole].reset_index(drop=True)


def terms_of(readings: pd.DataFrame) -> list[Term]:
    """Return the terms in the order of the table.

    Parameters
    ----------
    readings : pandas.DataFrame
        From `complete`.

    Returns
    -------
    list of Term
        At least one for each of `KINDS`.
    """
    makers: Mapping[str, Callable[[pd.DataFrame], list[Term]]] = {
        "condition": _conditions,
        "correct": lambda r: [_term(later("correct against wrong"), r["correct"])],
        "position": lambda r: [_term(later("position, per 10 cases"), r["position"])],
        "session": lambda r: _levels(r, "session", session_order(r["session"].to_numpy(object))),
        "task": lambda r: _levels(r, "task", sorted(r["task"].unique())),
    }
    return [term for kind in KINDS for term in _kind(readings, kind, makers[kind])]


def _kind(
    readings: pd.DataFrame, kind: str, make: Callable[[pd.DataFrame], list[Term]]
) -> list[Term]:
    if readings[kind].isna().all():
        return [Term(name=kind, because=NOT_GIVEN[kind])]
    if readings[kind].nunique() < 2:
        return [Term(name=kind, because=NO_CONTRAST[kind])]
    return make(readings)


def _conditions(readings: pd.DataFrame) -> list[Term]:
    names = sorted(readings["condition"].unique(), key=lambda name: (name != BASELINE, name))
    return _levels(readings, "condition", names)


def _levels(readings: pd.DataFrame, kind: str, names: list[str]) -> list[Term]:
    return [
        Term(
            name=f"{kind} {name or '(none)'} against {names[0] or '(none)'}",
            condition=name if kind == "condition" else "",
            values=np.asarray(readings[kind] == name, dtype=np.float64),
        )
        for name in names[1:]
    ]


def _term(name: str, values: pd.Series[float]) -> Term:
    return Term(name=name, values=np.asarray(values, dtype=np.float64))


ANSWERED = STATUS_CODES[Status.ANSWERED]
QUARTERS = ("first quarter", "second quarter", "third quarter", "fourth quarter")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimeGroup:
    """Some of the measured times, of every rater.

    Parameters
    ----------
    by, group : str
        As the table names them.
    members : numpy.ndarray of int
        Positions in the circumstances, ascending.
    always : bool
        Whether a rater without a time in it has a row all the same.
    """

    by: str
    group: str
    members: Ints
    always: bool


def groups_of(matrix: ReadingMatrix, times: Circumstances) -> Iterator[TimeGroup]:
    """Yield the groups in the order of the table.

    Yields
    ------
    TimeGroup
        Overall, the items' groups, then what the reading itself was like.
    """
    every = np.ones(len(times.item), dtype=np.bool_)
    answered = matrix.statuses[times.item, times.column] == ANSWERED
    yield _group("overall", "micro", every, always=True)
    for by in ("task", "category", "subcategory"):
        of_item = matrix.groups[by]
        for name in sorted(set(of_item) - {""}):
            yield _group(by, name, of_item[times.item] == name, always=True)
    yield from _by_correctness(matrix, times, answered)
    yield _group("flagged", later("without flagged"), ~times.flagged, always=True)
    yield _group("flagged", later("flagged only"), times.flagged, always=False)
    for name in session_order(times.session):
        yield _group("session", name, times.session == name, always=False)
    quarter = np.floor(times.share * len(QUARTERS))
    for i, name in enumerate(QUARTERS):
        yield _group("position", name, quarter == i, always=False)
    for status in WRITTEN_STATUSES:
        of_status = matrix.statuses[times.item, times.column] == STATUS_CODES[status]
        yield _group("status", status.value, of_status, always=False)


def session_order(sessions: npt.NDArray[np.object_]) -> list[str]:
    """Return the names of sessions: numbers in their order, then words in theirs.

    Parameters
    ----------
    sessions : numpy.ndarray of str, shape (n_times,)
        The session of each time; empty where not given.

    Examples
    --------
    >>> session_order(np.array(["10", "", "2", "late"], dtype=object))
    ['2', '10', 'late']
    """
    names = {str(name) for name in sessions if name}
    return sorted(names, key=lambda name: (0, int(name), "") if name.isdecimal() else (1, 0, name))


def _by_correctness(
    matrix: ReadingMatrix, times: Circumstances, answered: Bools
) -> Iterator[TimeGroup]:
    known = answered & matrix.assigned[times.item]
    correct = matrix.correct[times.item, times.column]
    if matrix.assigned.any():
        yield _group("correct", "correct", known & correct, always=True)
        yield _group("correct", "wrong", known & ~correct, always=True)


def _group(by: str, group: str, members: Bools, *, always: bool) -> TimeGroup:
    return TimeGroup(by=by, group=group, members=np.flatnonzero(members), always=always)
