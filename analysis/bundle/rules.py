"""Check `answers_by_rules.csv`: models' answers as read by other rules than the study's."""

from __future__ import annotations

import pandas as pd

from analysis.bundle.faults import TWICE, as_known, faults_where, with_columns
from analysis.bundle.model import LETTERS, RULES, Status
from analysis.errors import Fault, quoted

FILE = "answers_by_rules.csv"
_KEY = ["rater_id", "item_id", "condition", "run"]
_STATUSES = (Status.SKIPPED, Status.UNPARSED, Status.REFUSED)


def join_rules(table: pd.DataFrame, readings: pd.DataFrame) -> tuple[pd.DataFrame, list[Fault]]:
    """Add a column to the readings for each of `RULES`, empty if no rule changes the answer.

    Parameters
    ----------
    table : pandas.DataFrame
        The rows of the file, as text.
    readings : pandas.DataFrame
        The checked readings.

    Returns
    -------
    pandas.DataFrame, list of Fault
    """
    rows = with_columns(table, (*_KEY, *RULES))
    for column in (*_KEY, *RULES):
        rows[column] = rows[column].str.strip()
    for column in ("rater_id", "item_id", "condition"):
        rows[column] = as_known(rows[column], readings[column])
    keys = pd.MultiIndex.from_frame(rows[_KEY])
    known = pd.MultiIndex.from_frame(readings[_KEY])
    faults = [
        *faults_where(
            FILE,
            rows,
            pd.Series(~keys.isin(known), index=rows.index),
            lambda r: (
                f"there is no such reading of {quoted(r['item_id'])} by {quoted(r['rater_id'])}"
            ),
            "Export the study again",
        ),
        *faults_where(
            FILE,
            rows,
            pd.Series(keys.duplicated(), index=rows.index),
            lambda r: f"{quoted(r['item_id'])} by {quoted(r['rater_id'])} {TWICE}",
            "Keep one of the rows",
        ),
    ]
    allowed = [*LETTERS, *(status.value for status in _STATUSES)]
    wrong = ~rows[list(RULES)].isin(allowed).all(axis=1)
    faults += faults_where(
        FILE,
        rows,
        wrong,
        lambda r: f"{', '.join(quoted(r[rules]) for rules in RULES)} are not all answers",
        f"Give a letter, or one of {', '.join(allowed[len(LETTERS) :])}",
    )
    if faults:
        return readings, faults
    by_key = rows.set_index(_KEY)[list(RULES)]
    joined = readings.join(by_key, on=_KEY)
    return joined.fillna(dict.fromkeys(RULES, "")), []
