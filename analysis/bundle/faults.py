"""Find faults in the columns of a table, and normalise names and ids."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.bundle.look_alikes import FirstSpelling, difference, id_key
from analysis.errors import Fault, quoted

LARGEST_EXACT_NUMBER = 2.0**53


def faults_where(
    file: str,
    table: pd.DataFrame,
    wrong: pd.Series[bool],
    fault: Callable[[dict[str, Any]], str],
    remedy: str,
) -> list[Fault]:
    """Return one fault for each row where `wrong` is true.

    Parameters
    ----------
    file : str
        The table's file name.
    table : pandas.DataFrame
        The table, with its `row` numbers.
    wrong : pandas.Series of bool
        Whether each row of `table` has the fault.
    fault : callable
        Takes a row as a dictionary and describes its fault.
    remedy : str
        What the user can do.

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
        Fault(file=file, row=int(record["row"]), what=fault(record), remedy=remedy)
        for record in ({str(key): value for key, value in r.items()} for r in records)
    ]


def faults_among(
    file: str,
    table: pd.DataFrame,
    column: str,
    wrong: Callable[[str], bool],
    fault: Callable[[dict[str, Any]], str],
    remedy: str,
) -> list[Fault]:
    """Return one fault for each row in which the cell of a column is invalid.

    Other cells do not matter; `wrong` is called once for each distinct cell. Otherwise the function
    is like `faults_where`.
    """
    cells = table[column].to_numpy(dtype=object)
    wrong_cells = {cell for cell in set(cells) if wrong(cell)}
    if not wrong_cells:
        return []
    rows = pd.Series([cell in wrong_cells for cell in cells], index=table.index)
    return faults_where(file, table, rows, fault, remedy)


def add_columns(table: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Add the missing ones of `columns` to a table, with empty cells."""
    present = set(table.columns)
    missing = [column for column in columns if column not in present]
    if not missing:
        return table.copy()
    names = pd.Index([*table.columns, *missing], dtype=table.columns.dtype)
    empty = pd.Series("", index=table.index, dtype=str)
    cells = {name: table[name] for name in table.columns} | dict.fromkeys(missing, empty)
    return pd.DataFrame(cells, index=table.index, copy=False).set_axis(names, axis=1)


def map_distinct(cells: pd.Series[str], form: Callable[[str], Any]) -> pd.Series[Any]:
    """Apply `form` once to each distinct cell."""
    values = cells.to_numpy(dtype=object)
    form_of = {cell: form(cell) for cell in set(values)}
    if cells.dtype == object and all(formed == cell for cell, formed in form_of.items()):
        return cells
    formed = np.empty(len(values), dtype=object)
    formed[:] = [form_of[cell] for cell in values]
    return pd.Series(formed, index=cells.index, name=cells.name, dtype=object, copy=False)


def number_in(cell: str) -> float:
    """Return the number in a cell; nan if the cell has no finite number."""
    try:
        number = float(cell)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def whole_numbers(cells: pd.Series[str]) -> pd.Series[float]:
    """Return the whole numbers in the cells; nan for other cells.

    `4.0` counts as a whole number, because spreadsheets and data frames write whole numbers so.
    """
    return map_distinct(cells, whole_number_in).astype(float)


def whole_number_in(cell: str) -> float:
    """Return the whole number in a cell; nan if there is none."""
    number = number_in(cell)
    return number if number % 1 == 0 and abs(number) < LARGEST_EXACT_NUMBER else math.nan


ITEM_ID_COLUMNS = ("examination_id", "patient_id")
ITEM_GROUP_COLUMNS = ("task", "category", "subcategory", "option_set", "bank", "sex")
ITEM_NAME_COLUMNS = ("item_id", *ITEM_ID_COLUMNS, *ITEM_GROUP_COLUMNS)
READING_NAME_COLUMNS = ("rater_id", "item_id", "condition")
IN_EARLIER_ROW = "is also in an earlier row (white space around an id does not count)"


def duplicate_faults(file: str, table: pd.DataFrame, column: str, remedy: str) -> list[Fault]:
    """Return a fault for each id that equals, or looks like, the id of an earlier row."""
    forms = map_distinct(table[column], id_key)
    repeated = forms.duplicated() & (forms != "")
    if not repeated.any():
        return []
    first = table[column].groupby(forms).transform("first")
    return faults_where(
        file,
        table.assign(first=first),
        repeated,
        lambda r: f"{column} {quoted(r[column])} {_repetition(r[column], r['first'])}",
        remedy,
    )


def _repetition(text: str, first: str) -> str:
    differs = difference(text, first)
    return (
        f"looks like {quoted(first)} in an earlier row ({differs})" if differs else IN_EARLIER_ROW
    )


def unify_spellings(
    table: pd.DataFrame, columns: Sequence[str], key: Callable[[str], str]
) -> pd.DataFrame:
    """Replace cells of `columns` that look alike by their first spelling.

    Examples
    --------
    >>> table = pd.DataFrame({"task": ["Chest", "CHEST", "Head"]})
    >>> unify_spellings(table, ["task"], str.casefold)["task"].tolist()
    ['Chest', 'Chest', 'Head']
    """
    first_spelling = {}
    for column in columns:
        first = FirstSpelling(key)
        first_spelling[column] = [first[cell] for cell in table[column].to_numpy(dtype=object)]
    return table.assign(**first_spelling)


def match_known_ids(cells: pd.Series[str], known: pd.Series[str]) -> pd.Series[str]:
    """Replace each id by the known id that it looks like, if there is one."""
    by_form = {id_key(cell): cell for cell in reversed(known.unique().tolist())}
    ids = set(by_form.values())
    return map_distinct(
        cells, lambda cell: cell if cell in ids else by_form.get(id_key(cell), cell)
    )


def strip_cells(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Remove white space around the cells of `columns`.

    Examples
    --------
    >>> strip_cells(pd.DataFrame({"task": [" chest", "  "]}), ["task"])["task"].tolist()
    ['chest', '']
    """
    return table.assign(**{column: map_distinct(table[column], str.strip) for column in columns})


def nul_faults(file: str, table: pd.DataFrame, columns: Sequence[str]) -> list[Fault]:
    """Return a fault for each name with a NUL character, which truncates it in sorts and joins."""
    return [
        fault
        for column in columns
        for fault in faults_among(
            file,
            table,
            column,
            lambda cell: "\0" in cell,
            lambda r, column=column: f"{column} {quoted(r[column])} contains a NUL character",  # type: ignore[misc]
            "Remove it",
        )
    ]


def spelling_faults(file: str, table: pd.DataFrame, column: str) -> list[Fault]:
    """Return a fault for each row that spells an id differently from the first row that has it.

    Used for tables whose ids are not listed in another table.
    """
    spellings = set(table[column])
    if len({id_key(cell) for cell in spellings}) == len(spellings):
        return []
    plain = map_distinct(table[column], id_key)
    first = table[column].groupby(plain).transform("first")
    return faults_where(
        file,
        table.assign(first=first),
        (table[column] != first) & (plain != ""),
        lambda r: (
            f"{column} {quoted(r[column])} looks like {quoted(r['first'])}"
            f" ({difference(r[column], r['first'])})"
        ),
        "Spell it the same in every row, or give the two different names",
    )
