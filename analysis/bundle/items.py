"""Check `items.csv`."""

from __future__ import annotations

import json

import pandas as pd

from analysis.bundle.faults import (
    ITEM_GROUP_COLUMNS,
    ITEM_ID_COLUMNS,
    ITEM_NAME_COLUMNS,
    add_columns,
    duplicate_faults,
    faults_among,
    faults_where,
    map_distinct,
    nul_faults,
    strip_cells,
    unify_spellings,
    whole_number_in,
    whole_numbers,
)
from analysis.bundle.look_alikes import id_key, text_key
from analysis.bundle.model import ITEM_COLUMNS, LETTER_POSITIONS, LETTERS
from analysis.errors import Fault, quoted

FILE = "items.csv"


def check_items(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the items and normalise letters, names and numbers of options.

    The items keep their order. Names that look alike are replaced by their first spelling.
    `n_options` is 0 if it and `options` are empty.
    """
    items = strip_cells(add_columns(table, ITEM_COLUMNS), ITEM_NAME_COLUMNS)
    items = unify_spellings(items, ITEM_ID_COLUMNS, id_key)
    items = unify_spellings(items, ITEM_GROUP_COLUMNS, text_key)
    if not len(items):
        fault, remedy = "contains no item", "Add a row for each item"
        return items, [Fault(file=FILE, row=None, what=fault, remedy=remedy)]
    items["truth"] = items["truth"].str.strip().str.upper()
    declared, number_faults = _declared_numbers(items)
    numbers, list_faults = _listed_numbers(items)
    disagree = (declared > 0) & (numbers > 0) & (declared != numbers)
    items["listed"] = numbers
    faults = [
        *_id_faults(items),
        *nul_faults(FILE, items, ITEM_NAME_COLUMNS),
        *number_faults,
        *list_faults,
        *faults_where(
            FILE,
            items,
            disagree,
            lambda r: f"n_options is {r['n_options']} but options lists {r['listed']}",
            "Make the two agree",
        ),
    ]
    items["n_options"] = declared.where(declared > 0, numbers)
    faults += _truth_faults(items)
    return items.drop(columns="listed"), faults


def _id_faults(items: pd.DataFrame) -> list[Fault]:
    return [
        *faults_among(
            FILE,
            items,
            "item_id",
            lambda cell: not id_key(cell),
            lambda r: "item_id is empty",
            "Give every item an id of its own",
        ),
        *duplicate_faults(FILE, items, "item_id", "Keep one row for each item"),
    ]


def _declared_numbers(items: pd.DataFrame) -> tuple[pd.Series[int], list[Fault]]:
    numbers = whole_numbers(items["n_options"])
    faults = faults_among(
        FILE,
        items,
        "n_options",
        lambda cell: cell.strip() != "" and not 1 <= whole_number_in(cell) <= len(LETTERS),
        lambda r: (
            f"n_options {quoted(r['n_options'])} is not a whole number from 1 to {len(LETTERS)}"
        ),
        "Give the number of options offered, or leave the cell empty",
    )
    return numbers.where(numbers.between(1, len(LETTERS)), 0).astype(int), faults


def _listed_numbers(items: pd.DataFrame) -> tuple[pd.Series[int], list[Fault]]:
    lengths = map_distinct(items["options"], _list_length).astype(int)
    faults = faults_where(
        FILE,
        items,
        lengths < 0,
        lambda r: f"options {_shorten(r['options'])} is not a JSON list of 1 to {len(LETTERS)}",
        'Write the options as a JSON list, such as ["Yes", "No"], or leave the cell empty',
    )
    return lengths.clip(lower=0), faults


def _list_length(cell: str) -> int:
    if not cell.strip():
        return 0
    try:
        options = json.loads(cell)
    except (ValueError, RecursionError):
        return -1
    is_valid = isinstance(options, list) and 1 <= len(options) <= len(LETTERS)
    return len(options) if is_valid else -1


def _truth_faults(items: pd.DataFrame) -> list[Fault]:
    out_of_range = [
        LETTER_POSITIONS.get(truth, -1) >= (offered or len(LETTERS))
        for truth, offered in zip(items["truth"], items["n_options"], strict=True)
    ]
    return [
        *faults_among(
            FILE,
            items,
            "truth",
            lambda cell: cell != "" and cell not in LETTER_POSITIONS,
            lambda r: f"truth {_shorten(r['truth'])} is not a letter",
            "Give the letter of the correct option, or leave the cell empty",
        ),
        *faults_where(
            FILE,
            items,
            pd.Series(out_of_range, index=items.index),
            lambda r: f"truth {quoted(r['truth'])} is not among the {r['n_options']} options",
            "Correct the letter or the number of options",
        ),
    ]


def _shorten(cell: str) -> str:
    return quoted(cell if len(cell) <= 40 else cell[:39] + "…")
