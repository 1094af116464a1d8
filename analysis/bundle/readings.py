"""Check `readings.csv` against the items and the raters."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd

from analysis.bundle.faults import (
    READING_NAME_COLUMNS,
    add_columns,
    faults_among,
    faults_where,
    map_distinct,
    match_known_ids,
    nul_faults,
    number_in,
    spelling_faults,
    strip_cells,
    unify_spellings,
    whole_numbers,
)
from analysis.bundle.look_alikes import text_key
from analysis.bundle.model import (
    LETTER_POSITIONS,
    READING_COLUMNS,
    READING_NUMBERS,
    WRITTEN_STATUSES,
    Status,
)
from analysis.bundle.primary import numbered_runs
from analysis.errors import Fault, quoted

FILE = "readings.csv"
FLAG_WORD = re.compile(r"[\w.:/-]+")
YES_NO_WORDS = {"true", "false", "yes", "no", "0", "1"}
KEY_COLUMNS = ["rater_id", "item_id", "condition", "repeat"]


def check_readings(
    table: pd.DataFrame, items: pd.DataFrame, raters: pd.DataFrame | None
) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the readings and normalise answers and statuses.

    `raters` is None if the bundle has no `raters.csv`. An empty status becomes `answered` if there
    is an answer, else `skipped`. An empty `repeat` becomes the rank of the reading's `run` among
    the runs of its rater, or 0 if there is no run.
    """
    if not len(table):
        fault = "contains no reading"
        remedy = "Export the study after a reader has answered a case with options"
        return table, [Fault(file=FILE, row=None, what=fault, remedy=remedy)]
    readings = strip_cells(add_columns(table, READING_COLUMNS), READING_NAME_COLUMNS)
    readings = unify_spellings(readings, ["condition"], text_key)
    readings["item_id"] = match_known_ids(readings["item_id"], items["item_id"])
    if raters is not None:
        readings["rater_id"] = match_known_ids(readings["rater_id"], raters["rater_id"])
    readings["run"] = map_distinct(readings["run"], str.strip)
    readings["answer"] = map_distinct(readings["answer"], lambda cell: cell.strip().upper())
    readings["status"] = _statuses(readings)
    for column in ("flags", "excluded"):
        readings[column] = map_distinct(readings[column], lambda cell: " ".join(cell.split()))
    repeats, repeat_faults = _repeats(readings)
    faults = [
        *(spelling_faults(FILE, table, "rater_id") if raters is None else []),
        *nul_faults(FILE, readings, READING_NAME_COLUMNS),
        *_reference_faults(readings, items, raters),
        *_status_faults(readings),
        *_answer_faults(readings, items),
        *repeat_faults,
        *_number_faults(readings),
        *_flag_faults(readings),
    ]
    readings["repeat"] = repeats
    return readings, faults + _duplicate_faults(readings)


def _statuses(readings: pd.DataFrame) -> pd.Series[str]:
    status_words = map_distinct(readings["status"], _status_word)
    default = np.where(readings["answer"] != "", Status.ANSWERED.value, Status.SKIPPED.value)
    return status_words.where(
        status_words != "", pd.Series(default, index=readings.index, dtype=object)
    )


def _status_word(cell: str) -> str:
    return cell.strip().lower().replace("-", "_").replace(" ", "_")


def _reference_faults(
    readings: pd.DataFrame, items: pd.DataFrame, raters: pd.DataFrame | None
) -> list[Fault]:
    known_items = set(items["item_id"])
    faults = [
        *faults_among(
            FILE,
            readings,
            "rater_id",
            lambda cell: not cell,
            lambda r: "rater_id is empty",
            "Name the rater",
        ),
        *faults_among(
            FILE,
            readings,
            "item_id",
            lambda cell: cell not in known_items,
            lambda r: f"item_id {quoted(r['item_id'])} is not in items.csv",
            "Add the item or remove the reading",
        ),
    ]
    if raters is not None:
        known_raters = {*raters["rater_id"], ""}
        faults += faults_among(
            FILE,
            readings,
            "rater_id",
            lambda cell: cell not in known_raters,
            lambda r: f"rater_id {quoted(r['rater_id'])} is not in raters.csv",
            "Add the rater or remove the reading",
        )
    return faults


def _status_faults(readings: pd.DataFrame) -> list[Fault]:
    status, answer = readings["status"], readings["answer"]
    return [
        *faults_among(
            FILE,
            readings,
            "status",
            lambda cell: cell not in WRITTEN_STATUSES,
            lambda r: f"status {quoted(r['status'])} is unknown",
            f"Write one of {', '.join(WRITTEN_STATUSES)}",
        ),
        *faults_where(
            FILE,
            readings,
            (status == Status.ANSWERED) & (answer == ""),
            lambda r: "status is answered but there is no answer",
            "Give the answer's letter, or the status that says why there is none",
        ),
    ]


def _answer_faults(readings: pd.DataFrame, items: pd.DataFrame) -> list[Fault]:
    """Return the faults in answers; only an `answered` reading must have a letter."""
    offered = dict(zip(items["item_id"][::-1], items["n_options"][::-1], strict=True))
    n_options = readings["item_id"].map(offered).fillna(0).replace(0, len(LETTER_POSITIONS))
    answered = (readings["status"] == Status.ANSWERED) & (readings["answer"] != "")
    place = map_distinct(readings["answer"], lambda cell: LETTER_POSITIONS.get(cell, -1)).astype(
        int
    )
    return [
        *faults_where(
            FILE,
            readings,
            answered & (place < 0),
            lambda r: f"answer {quoted(r['answer'][:40])} is not a letter",
            "Give the letter in the item's canonical order, or the status unparsed",
        ),
        *faults_where(
            FILE,
            readings,
            answered & (place >= n_options),
            lambda r: (
                f"answer {quoted(r['answer'])} is not among the item's {offered[r['item_id']]}"
                " options"
            ),
            "Correct the answer, or the item's number of options",
        ),
    ]


def _repeats(readings: pd.DataFrame) -> tuple[pd.Series[int], list[Fault]]:
    cells = numbered_runs(readings)
    numbers = whole_numbers(cells)
    is_valid = (numbers >= 0) | (cells == "")
    faults = faults_where(
        FILE,
        readings,
        ~is_valid,
        lambda r: f"repeat {quoted(r['repeat'])} is not a whole number, 0 or larger",
        "Number the repeats",
    )
    return numbers.where(numbers >= 0, 0).astype(int), faults


def _number_faults(readings: pd.DataFrame) -> list[Fault]:
    faults: list[Fault] = []
    for column in READING_NUMBERS:
        least = -math.inf if column == "confidence" else 0.0
        faults += faults_among(
            FILE,
            readings,
            column,
            lambda cell, least=least: cell.strip() != "" and not number_in(cell) >= least,  # type: ignore[misc]
            lambda r, column=column: f"{column} {quoted(r[column])} is not an allowed number",  # type: ignore[misc]
            "Give a plain number, or leave the cell empty where nothing was measured",
        )
    return faults


def _flag_faults(readings: pd.DataFrame) -> list[Fault]:
    """Return the faults in flags: lists in another notation, and a column of yes and no.

    A column of yes and no is refused, because every row would be flagged.
    """
    remedy = "Name the flag, such as too_fast, or leave the cell empty"
    if {cell.lower() for cell in set(readings["flags"])} <= YES_NO_WORDS:
        fault = f"flags is {quoted(readings['flags'].iloc[0])}, which names no flag"
        return [Fault(file=FILE, row=None, what=fault, remedy=remedy)]
    return faults_among(
        FILE,
        readings,
        "flags",
        lambda cell: not _is_word_list(cell),
        lambda r: f"flags {quoted(r['flags'][:40])} is not a list of words separated by spaces",
        remedy,
    )


def _is_word_list(cell: str) -> bool:
    return all(FLAG_WORD.fullmatch(word) for word in cell.split())


def _duplicate_faults(readings: pd.DataFrame) -> list[Fault]:
    return faults_where(
        FILE,
        readings,
        readings.duplicated(KEY_COLUMNS),
        lambda r: (
            f"rater {quoted(r['rater_id'])} has read item {quoted(r['item_id'])} before"
            f" (condition {quoted(r['condition'])}, repeat {r['repeat']})"
        ),
        "Keep one reading of a rater, item, condition and repeat",
    )
