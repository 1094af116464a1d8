"""Turning a column of yes and no into faults."""

from __future__ import annotations

import math
from collections.abc import Callable
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
    if not wrong.any():
        return []
    records = table.loc[wrong].to_dict("records")
    return [
        Fault(file=file, row=int(record["row"]), what=what(record), remedy=remedy)
        for record in ({str(key): value for key, value in r.items()} for r in records)
    ]


def with_columns(table: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the table with every column of `columns`, empty where it had none."""
    table = table.copy()
    for column in columns:
        if column not in table:
            table[column] = ""
    return table


def each_distinct(cells: pd.Series[str], form: Callable[[str], Any]) -> pd.Series[Any]:
    """Apply `form` to every cell, once for each distinct one."""
    codes, distinct = pd.factorize(cells.to_numpy(dtype=object))
    formed = np.empty(len(distinct), dtype=object)
    formed[:] = [form(cell) for cell in distinct]
    return pd.Series(formed[codes], index=cells.index, name=cells.name, dtype=object)


def numbers_in(cells: pd.Series[str]) -> pd.Series[float]:
    """Return the finite numbers that the cells hold, nan where a cell holds none."""
    return each_distinct(cells, _number).astype(float)


def _number(cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def whole_numbers(cells: pd.Series[str]) -> pd.Series[float]:
    """Return the whole numbers that the cells hold, nan where a cell holds none.

    Spreadsheets and data frames write whole numbers as `4.0`, so that form counts.
    """
    numbers = numbers_in(cells)
    return numbers.where((numbers.mod(1) == 0) & (numbers.abs() < LARGEST))
