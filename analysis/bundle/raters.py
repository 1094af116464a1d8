"""Checking `raters.csv`, or making it up from the readings where there is none."""

from __future__ import annotations

import pandas as pd

from analysis.bundle.faults import TWICE, faults_where, nul_faults, stripped, with_columns
from analysis.bundle.model import RATER_COLUMNS, RaterKind
from analysis.errors import Fault

FILE = "raters.csv"
SIMULATED = "simulated"
LABEL_MARK = "(simulated)"


def check_raters(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the raters.

    The raters, `rater_kind` in lower case.
    """
    raters = stripped(with_columns(table, RATER_COLUMNS), ["rater_id"])
    if not len(raters):
        what, remedy = "holds no rater", "Add a row for each rater, or remove the file"
        return raters, [Fault(file=FILE, row=None, what=what, remedy=remedy)]
    raters["rater_kind"] = raters["rater_kind"].str.strip().str.lower()
    ids = raters["rater_id"]
    faults = [
        *faults_where(FILE, raters, ids == "", lambda r: "rater_id is empty", "Name the rater"),
        *faults_where(
            FILE,
            raters,
            ids.duplicated() & (ids != ""),
            lambda r: f"rater_id {r['rater_id']!r} {TWICE}",
            "Keep one row for each rater",
        ),
        *nul_faults(FILE, raters, ["rater_id"]),
        *faults_where(
            FILE,
            raters,
            ~raters["rater_kind"].isin(list(RaterKind)),
            lambda r: f"rater_kind {r['rater_kind']!r} is neither reader nor model",
            "Write reader or model",
        ),
    ]
    return raters, faults


def raters_of(readings: pd.DataFrame) -> pd.DataFrame:
    """Return a rater table made from the readings: without `raters.csv` every rater is a reader."""
    raters = pd.DataFrame({"rater_id": sorted(readings["rater_id"].unique())}, dtype=object)
    raters = with_columns(raters, RATER_COLUMNS)
    raters["rater_kind"] = RaterKind.READER.value
    return raters


def mark_simulated(raters: pd.DataFrame, readings: pd.DataFrame) -> pd.DataFrame:
    """Fill empty labels with the id and mark the simulated raters.

    A rater is simulated when the label, or the id that stands for it, says `(simulated)` or a
    reading's `timing_source` is `simulated`; the label is kept without those words, the mark
    being shown beside it.
    """
    raters = raters.copy()
    simulated = readings["timing_source"].isin(
        [cell for cell in readings["timing_source"].unique() if cell.strip().lower() == SIMULATED]
    )
    labels = raters["label"].where(raters["label"].str.strip() != "", raters["rater_id"])
    told = labels.str.contains(LABEL_MARK, case=False, regex=False)
    raters["simulated"] = told | raters["rater_id"].isin(readings.loc[simulated, "rater_id"])
    label, name = _unmarked(labels), _unmarked(raters["rater_id"])
    raters["label"] = label.where(label != "", name.where(name != "", raters["rater_id"]))
    return raters


def _unmarked(names: pd.Series[str]) -> pd.Series[str]:
    return names.str.replace(r"\s*\(simulated\)\s*", " ", case=False, regex=True).str.strip()
