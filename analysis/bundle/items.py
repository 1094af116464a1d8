"""Checking `items.csv`."""

from __future__ import annotations

import json

import pandas as pd

from analysis.bundle.faults import (
    ITEM_NAMES,
    TWICE,
    faults_where,
    nul_faults,
    stripped,
    whole_numbers,
    with_columns,
)
from analysis.bundle.model import ITEM_COLUMNS, LETTERS
from analysis.errors import Fault

FILE = "items.csv"


def check_items(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the items and bring letters and numbers of options into one form.

    The items, sorted as they came, names without blanks around them, `n_options` 0 where neither it
    nor `options` is given.
    """
    items = stripped(with_columns(table, ITEM_COLUMNS), ITEM_NAMES)
    if not len(items):
        what, remedy = "holds no item", "Add a row for each item"
        return items, [Fault(file=FILE, row=None, what=what, remedy=remedy)]
    items["truth"] = items["truth"].str.strip().str.upper()
    given, number_faults = _given_numbers(items)
    listed, list_faults = _listed_numbers(items)
    disagree = (given > 0) & (listed > 0) & (given != listed)
    items["listed"] = listed
    faults = [
        *_id_faults(items),
        *nul_faults(FILE, items, ITEM_NAMES),
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
    items["n_options"] = given.where(given > 0, listed)
    faults += _truth_faults(items)
    return items.drop(columns="listed"), faults


def _id_faults(items: pd.DataFrame) -> list[Fault]:
    ids = items["item_id"]
    return [
        *faults_where(
            FILE, items, ids == "", lambda r: "item_id is empty", "Give every item an id of its own"
        ),
        *faults_where(
            FILE,
            items,
            ids.duplicated() & (ids != ""),
            lambda r: f"item_id {r['item_id']!r} {TWICE}",
            "Keep one row for each item",
        ),
    ]


def _given_numbers(items: pd.DataFrame) -> tuple[pd.Series[int], list[Fault]]:
    cells = items["n_options"].str.strip()
    numbers = whole_numbers(cells)
    sound = numbers.between(1, len(LETTERS))
    faults = faults_where(
        FILE,
        items,
        (cells != "") & ~sound,
        lambda r: f"n_options {r['n_options']!r} is not a whole number from 1 to {len(LETTERS)}",
        "Give the number of options offered, or leave the cell empty",
    )
    return numbers.where(sound, 0).astype(int), faults


def _listed_numbers(items: pd.DataFrame) -> tuple[pd.Series[int], list[Fault]]:
    cells = items["options"].str.strip()
    lengths = cells.map({cell: _list_length(cell) for cell in cells.unique()}).astype(int)
    faults = faults_where(
        FILE,
        items,
        lengths < 0,
        lambda r: f"options {_short(r['options'])} is not a JSON list of 1 to {len(LETTERS)}",
        'Write the options as a JSON list, such as ["Yes", "No"], or leave the cell empty',
    )
    return lengths.clip(lower=0), faults


def _list_length(cell: str) -> int:
    if not cell:
        return 0
    try:
        options = json.loads(cell)
    except (ValueError, RecursionError):
        return -1
    sound = isinstance(options, list) and 1 <= len(options) <= len(LETTERS)
    return len(options) if sound else -1


def _truth_faults(items: pd.DataFrame) -> list[Fault]:
    truth = items["truth"]
    letter = truth.isin(list(LETTERS))
    offered = items["n_options"].where(items["n_options"] > 0, len(LETTERS))
    position = truth.map({letter: i for i, letter in enumerate(LETTERS)}).fillna(0)
    return [
        *faults_where(
            FILE,
            items,
            (truth != "") & ~letter,
            lambda r: f"truth {_short(r['truth'])} is not a letter",
            "Give the letter of the correct option, or leave the cell empty",
        ),
        *faults_where(
            FILE,
            items,
            letter & (position >= offered),
            lambda r: f"truth {r['truth']!r} is not among the {r['n_options']} options",
            "Correct the letter or the number of options",
        ),
    ]


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:39] + "…")
