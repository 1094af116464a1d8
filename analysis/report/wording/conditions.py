"""The condition is named only where there are several: a word that is everywhere tells nothing."""

from __future__ import annotations

from analysis.figures import conditions_of
from analysis.figures.drawing.names import shorten
from analysis.results import Results

LONGEST = 40


def all_conditions(results: Results) -> list[str]:
    """Return the conditions of the run, in order of name.

    Parameters
    ----------
    results : Results
        The run.

    Returns
    -------
    list of str
        Those of the readers (of the models where there is no reader), and any that has a name. A
        model without one, beside readers who have one, stands under theirs and adds none.
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
    return f" under \u2068{shorten(shown, LONGEST)}\u2069" if shown else ""
