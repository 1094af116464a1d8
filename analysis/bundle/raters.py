"""Check `raters.csv`, or derive the raters from the readings if the file is missing."""

from __future__ import annotations

import re

import pandas as pd

from analysis.bundle.faults import (
    add_columns,
    duplicate_faults,
    faults_among,
    nul_faults,
    strip_cells,
    unify_spellings,
)
from analysis.bundle.look_alikes import id_key, text_key
from analysis.bundle.model import RATER_COLUMNS, RaterKind
from analysis.errors import Fault, quoted

FILE = "raters.csv"
SIMULATED = "simulated"
SIMULATED_MARK = re.compile(r"\s*\(simulated\)\s*", re.IGNORECASE)


def check_raters(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the raters and convert `rater_kind` to lower case."""
    raters = strip_cells(add_columns(table, RATER_COLUMNS), ["rater_id"])
    if not len(raters):
        fault, remedy = "contains no rater", "Add a row for each rater, or remove the file"
        return raters, [Fault(file=FILE, row=None, what=fault, remedy=remedy)]
    raters = unify_spellings(raters, ["level", "site"], text_key)
    raters["rater_kind"] = raters["rater_kind"].str.strip().str.lower()
    faults = [
        *faults_among(
            FILE,
            raters,
            "rater_id",
            lambda cell: not id_key(cell),
            lambda r: "rater_id is empty",
            "Name the rater",
        ),
        *duplicate_faults(FILE, raters, "rater_id", "Keep one row for each rater"),
        *nul_faults(FILE, raters, ["rater_id"]),
        *faults_among(
            FILE,
            raters,
            "rater_kind",
            lambda cell: cell not in {*RaterKind},
            lambda r: f"rater_kind {quoted(r['rater_kind'])} is neither reader nor model",
            "Write reader or model",
        ),
    ]
    return raters, faults


def raters_of(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the raters of the readings, all as readers, for a bundle without `raters.csv`."""
    raters = pd.DataFrame({"rater_id": sorted(readings["rater_id"].unique())}, dtype=object)
    raters = add_columns(raters, RATER_COLUMNS)
    raters["rater_kind"] = RaterKind.READER.value
    return raters


def mark_simulated(raters: pd.DataFrame, readings: pd.DataFrame) -> pd.DataFrame:
    """Replace empty labels by the id, and mark the simulated raters.

    A rater is simulated if the label, or the id if there is no label, contains `(simulated)`, or if
    the `timing_source` of a reading is `simulated`. The word is removed from the label; figures and
    tables show it separately.
    """
    raters = raters.copy()
    sources = set(zip(readings["rater_id"], readings["timing_source"], strict=True))
    simulated = {rater for rater, source in sources if source.strip().lower() == SIMULATED}
    names, column = raters["rater_id"], raters["label"]
    labels = [label if label.strip() else name for name, label in zip(names, column, strict=True)]
    raters["simulated"] = [
        name in simulated or bool(SIMULATED_MARK.search(label))
        for name, label in zip(names, labels, strict=True)
    ]
    shown = [
        _remove_mark(label) or _remove_mark(name) or name
        for name, label in zip(names, labels, strict=True)
    ]
    raters["label"] = pd.Series(shown, index=raters.index, dtype=column.dtype)
    return raters


def _remove_mark(name: str) -> str:
    return SIMULATED_MARK.sub(" ", name).strip()
