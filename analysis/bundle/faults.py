"""Faults of a column, one a row; names and ids, to which the blanks around them do not belong."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import Fault

LARGEST = 2.0**53


def faults_where(
    file: str,
    table: pd.DataFrame,
    wrong: pd.Series[bool],
    what: Callable[[dict[str, Any]], str],
    remedy: str,
) -> list[Fault]:
    """Return one fault for each row where `wrong` holds.

    Parameters
    ----------
    file : str
        The table's file name.
    table : pandas.DataFrame
        The table, with its `row` numbers.
    wrong : pandas.Series of bool
        Aligned with `table`.
    what : callable
        Says of a row, given as a dictionary, what is wrong with it.
    remedy : str
        What to do about it.

    Examples
    --------
    >>> table = pd.DataFrame({"item_id": ["a", ""], "row": [2, 3]})
    >>> empty = table["item_id"] == ""
    >>> str(faults_where("items.csv", table, empty, lambda r: "no item_id", "Name the item")[0])
    'items.csv, row 3: no item_id. Name the item.'
    """
    if not wrong.to_numpy().any():
        return []
    records = table.loc[wrong].to_dict("records")
    return [
        Fault(file=file, row=int(record["row"]), what=what(record), remedy=remedy)
        for record in ({str(key): value for key, value in r.items()} for r in records)
    ]


def faults_among(
    file: str,
    table: pd.DataFrame,
    column: str,
    wrong: Callable[[str], bool],
    what: Callable[[dict[str, Any]], str],
    remedy: str,
) -> list[Fault]:
    """Return one fault for each row whose cell in a column is wrong by itself.

    As `faults_where`; `wrong` is asked of each distinct cell once.
    """
    cells = table[column].to_numpy(dtype=object)
    found = {cell for cell in set(cells) if wrong(cell)}
    if not found:
        return []
    rows = pd.Series([cell in found for cell in cells], index=table.index)
    return faults_where(file, table, rows, what, remedy)


def with_columns(table: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the table with every column of `columns`, empty where it had none."""
    there = set(table.columns)
    missing = [column for column in columns if column not in there]
    if not missing:
        return table.copy()
    names = pd.Index([*table.columns, *missing], dtype=table.columns.dtype)
    empty = pd.DataFrame("", index=table.index, columns=missing, dtype=str)
    return pd.concat([table, empty], axis=1).set_axis(names, axis=1)


def each_distinct(cells: pd.Series[str], form: Callable[[str], Any]) -> pd.Series[Any]:
    """Apply `form` to every cell, once for each distinct one."""
    given = cells.to_numpy(dtype=object)
    form_of = {cell: form(cell) for cell in set(given)}
    formed = np.empty(len(given), dtype=object)
    formed[:] = [form_of[cell] for cell in given]
    return pd.Series(formed, index=cells.index, name=cells.name, dtype=object, copy=False)


def number_in(cell: str) -> float:
    """Return the finite number that a cell holds, nan where it holds none."""
    try:
        number = float(cell)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def whole_numbers(cells: pd.Series[str]) -> pd.Series[float]:
    """Return the whole numbers that the cells hold, nan where a cell holds none.

    Spreadsheets and data frames write whole numbers as `4.0`, so that form counts.
    """
    return each_distinct(cells, whole_number_in).astype(float)


def whole_number_in(cell: str) -> float:
    """Return the whole number that a cell holds, nan where it holds none."""
    number = number_in(cell)
    return number if number % 1 == 0 and abs(number) < LARGEST else math.nan


ITEM_NAMES = (
    "item_id",
    "task",
    "category",
    "subcategory",
    "examination_id",
    "patient_id",
    "option_set",
    "bank",
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
        for fault in faults_among(
            file,
            table,
            column,
            lambda cell: "\0" in cell,
            lambda r, column=column: f"{column} {r[column]!r} holds a NUL character",  # type: ignore[misc]
            "Remove it",
        )
    ]


def spelling_faults(file: str, table: pd.DataFrame, column: str) -> list[Fault]:
    """Refuse ids that only blanks tell apart, where no other table says which ids there are.

    One for each row that spells an id otherwise than the first row that has it.
    """
    spelt = set(table[column])
    if len({cell.strip() for cell in spelt}) == len(spelt):
        return []
    plain = each_distinct(table[column], str.strip)
    first = table[column].groupby(plain).transform("first")
    return faults_where(
        file,
        table.assign(first=first),
        (table[column] != first) & (plain != ""),
        lambda r: f"{column} {r[column]!r} differs from {r['first']!r} in blanks only",
        "Write it alike in every row, or give the two different names",
    )
