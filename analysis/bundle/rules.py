"""Check `answers_by_rules.csv`: models' answers as parsed by rules other than the study's."""

from __future__ import annotations

import pandas as pd

from analysis.bundle.faults import IN_EARLIER_ROW, add_columns, faults_where, match_known_ids
from analysis.bundle.model import LETTERS, RULE_SETS, Status
from analysis.errors import Fault, quoted

FILE = "answers_by_rules.csv"
_KEY_COLUMNS = ["rater_id", "item_id", "condition", "run"]
_STATUSES = (Status.SKIPPED, Status.UNPARSED, Status.REFUSED)


def join_rules(table: pd.DataFrame, readings: pd.DataFrame) -> tuple[pd.DataFrame, list[Fault]]:
    """Add a column to the readings for each of `RULE_SETS`; its cells are empty if no rule differs.

    Parameters
    ----------
    table : pandas.DataFrame
        The rows of the file, as text.
    readings : pandas.DataFrame
        The checked readings.

    Returns
    -------
    pandas.DataFrame, list of Fault
        The readings with the columns, or unchanged with the faults of the file.
    """
    rows = add_columns(table, (*_KEY_COLUMNS, *RULE_SETS))
    for column in (*_KEY_COLUMNS, *RULE_SETS):
        rows[column] = rows[column].str.strip()
    for column in ("rater_id", "item_id", "condition"):
        rows[column] = match_known_ids(rows[column], readings[column])
    keys = pd.MultiIndex.from_frame(rows[_KEY_COLUMNS])
    known = pd.MultiIndex.from_frame(readings[_KEY_COLUMNS])
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
            lambda r: f"{quoted(r['item_id'])} by {quoted(r['rater_id'])} {IN_EARLIER_ROW}",
            "Keep one of the rows",
        ),
    ]
    allowed = [*LETTERS, *(status.value for status in _STATUSES)]
    wrong = ~rows[list(RULE_SETS)].isin(allowed).all(axis=1)
    faults += faults_where(
        FILE,
        rows,
        wrong,
        lambda r: f"{', '.join(quoted(r[rules]) for rules in RULE_SETS)} are not all answers",
        f"Give a letter, or one of {', '.join(allowed[len(LETTERS) :])}",
    )
    if faults:
        return readings, faults
    by_key = rows.set_index(_KEY_COLUMNS)[list(RULE_SETS)]
    joined = readings.join(by_key, on=_KEY_COLUMNS)
    return joined.fillna(dict.fromkeys(RULE_SETS, "")), []
