"""Names and ids: blanks around them are no part of them, and NUL is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.bundle.faults import each_distinct, faults_where
from analysis.errors import Fault

ITEM_NAMES = (
    "item_id",
    "task",
    "category",
    "subcategory",
    "examination_id",
    "patient_id",
    "option_set",
)
READING_NAMES = ("rater_id", "item_id", "condition")
TWICE = "stands in an earlier row too (blanks around an id do not count)"


def stripped(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the table without blanks around the cells of `columns`.

    Examples
    --------
    >>> stripped(pd.DataFrame({"task": [" chest", "  "]}), ["task"])["task"].tolist()
    ['chest', '']
    """
    return table.assign(**{column: each_distinct(table[column], str.strip) for column in columns})


def nul_faults(file: str, table: pd.DataFrame, columns: Sequence[str]) -> list[Fault]:
    """Refuse names that hold a NUL: sorting and joining would take them for shorter ones."""
    return [
        fault
        for column in columns
        for fault in faults_where(
            file,
            table,
            each_distinct(table[column], lambda cell: "\0" in cell).astype(bool),
            lambda r, column=column: f"{column} {r[column]!r} holds a NUL character",  # type: ignore[misc]
            "Remove it",
        )
    ]


def spelling_faults(file: str, table: pd.DataFrame, column: str) -> list[Fault]:
    """Refuse ids that only blanks tell apart, where no other table says which ids there are.

    Parameters
    ----------
    file : str
        The table's file name.
    table : pandas.DataFrame
        The table as it was written, with `row`.
    column : str
        The ids' column.

    Returns
    -------
    list of Fault
        One for each row that spells an id otherwise than the first row that has it.
    """
    plain = each_distinct(table[column], str.strip)
    first = table[column].groupby(plain).transform("first")
    return faults_where(
        file,
        table.assign(first=first),
        (table[column] != first) & (plain != ""),
        lambda r: f"{column} {r[column]!r} differs from {r['first']!r} in blanks only",
        "Write it alike in every row, or give the two different names",
    )
