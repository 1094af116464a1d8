"""Rows of a run's tables; a table that is not there has none."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from analysis.figures.drawing.names import conditions_of, shorten
from analysis.results import Results
from analysis.translation import later, pieces, said, t

Row = dict[str, Any]

# Sixty sentences ask for rows of the same few tables. Pairs of raters can be half a million rows.
MOST_KEPT = 5_000
_KEPT: WeakKeyDictionary[Results, dict[str, list[Row]]] = WeakKeyDictionary()


def rows_of(results: Results, name: str, **where: str) -> list[Row]:
    """Return a table's rows that hold given words.

    Empty where the table, or one of the columns, is not there.
    """
    table = results.tables.get(name)
    if table is None or not set(where) <= set(table.columns):
        return []
    if len(table) <= MOST_KEPT:
        kept = _KEPT.setdefault(results, {})
        if name not in kept:
            kept[name] = _records(table)
        wanted = where.items()
        return [{**row} for row in kept[name] if all(row[key] == word for key, word in wanted)]
    keep = np.ones(len(table), dtype=bool)
    for column, word in where.items():
        keep &= (table[column] == word).to_numpy()
    return _records(table.loc[keep])


def _records(table: pd.DataFrame) -> list[Row]:
    found: list[Row] = table.to_dict("records")  # type: ignore[assignment]
    return found


def conditions_in(results: Results, name: str) -> list[str]:
    """Return a table's conditions in order of name, those that readers read under first."""
    table = results.tables.get(name, pd.DataFrame())
    if "condition" not in table.columns:
        return []
    first = set(conditions_of(results.tables["accuracy"]))
    return sorted(table["condition"].unique(), key=lambda one: (one not in first, one))


def headline_intervals(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies with the interval that knows the cluster, where there is one."""
    known = accuracy["cluster_ci_low"].notna() & accuracy["cluster_ci_high"].notna()
    return accuracy.assign(
        ci_low=accuracy["ci_low"].where(~known, accuracy["cluster_ci_low"]),
        ci_high=accuracy["ci_high"].where(~known, accuracy["cluster_ci_high"]),
    )


def number(row: Row, column: str) -> float:
    """Return a cell as a number; nan where it is empty or not there."""
    value = row.get(column)
    return float("nan") if value is None or value == "" or pd.isna(value) else float(value)


def reason(row: Row) -> str:
    """Return why something is undefined, as it stands in the row, without a full stop."""
    why = str(row.get("undefined_because") or "")
    return because(why) or t("no reason is given")


# What tables say with a number in it, as `pieces` looks for it.
WITH_NUMBERS = (
    later("fewer than {a} patients or examinations"),
    later("fewer than {a} items"),
    later("levels widened for fewer than {a}"),
    later("over the {a} of {b} items that all readers were given"),
    later("over the {a} of {b} items that all readers under both conditions were given"),
    later("{a} of {b} items were given to all readers, fewer than {c} %"),
    later("{a} of {b} items were given to all readers under both conditions, fewer than {c} %"),
    later("no item with a reference standard was given to all readers"),
    later("not everybody read everything"),
)


def because(why: str) -> str:
    """Return a table's reason for a sentence, in the language where the catalogue has it."""
    return pieces(why.rstrip(". "))


LONGEST = 40
THESE, LIKE_THESE = "these readers", "readers like these"
CLAIMS = {THESE: later("these readers"), LIKE_THESE: later("readers like these")}
AGAINST = {
    THESE: later("against these readers"),
    LIKE_THESE: later("against readers like these"),
}


def all_conditions(results: Results) -> list[str]:
    """Return the conditions of the run, in order of name.

    Those of the readers (of the models where there is no reader), and any that has a name. A model
    without one, beside readers who have one, stands under theirs and adds none.
    """
    table = results.tables["accuracy"]
    named = set(table.loc[table["condition"] != "", "condition"])
    return sorted(named.union(conditions_of(table)))


def has_several(results: Results) -> bool:
    """Tell whether a condition must be named."""
    return len(all_conditions(results)) > 1


def shown_condition(results: Results, condition: str) -> str:
    """Return the condition where there are several, else nothing."""
    return condition if has_several(results) else ""


def under(results: Results, condition: str) -> str:
    """Return the condition for a sentence; nothing where the run has one."""
    shown = shown_condition(results, condition)
    if not shown:
        return ""
    return t(" under {condition}", condition=f"\u2068{shorten(shown, LONGEST)}\u2069")


def claim_words(claim: str) -> str:
    """Return about which readers a claim is."""
    return said(CLAIMS.get(claim, claim))


def against(claim: str) -> str:
    """Return against which readers a claim is."""
    return said(AGAINST[claim]) if claim in AGAINST else t("against {claim}", claim=claim)
