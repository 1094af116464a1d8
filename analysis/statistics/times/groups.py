"""The groups that response times are summed up in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.arrays import Bools, Ints
from analysis.bundle.words import WRITTEN_STATUSES, Status
from analysis.readings.circumstances import Circumstances
from analysis.readings.matrix import STATUS_CODES, ReadingMatrix

ANSWERED = STATUS_CODES[Status.ANSWERED]
QUARTERS = ("first quarter", "second quarter", "third quarter", "fourth quarter")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
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


def groups_of(matrix: ReadingMatrix, times: Circumstances) -> Iterator[Group]:
    """Yield the groups in the order of the table.

    Yields
    ------
    Group
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
    yield _group("flagged", "without flagged", ~times.flagged, always=True)
    yield _group("flagged", "flagged only", times.flagged, always=False)
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
) -> Iterator[Group]:
    known = answered & matrix.assigned[times.item]
    correct = matrix.correct[times.item, times.column]
    if matrix.assigned.any():
        yield _group("correct", "correct", known & correct, always=True)
        yield _group("correct", "wrong", known & ~correct, always=True)


def _group(by: str, group: str, members: Bools, *, always: bool) -> Group:
    return Group(by=by, group=group, members=np.flatnonzero(members), always=always)
