"""How numbers and claims are put into words, and what the declared hypothesis came to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from analysis.bundle.protocol import Plan, margin_origin, plan_of
from analysis.figures.drawing.axes import conditions_of, shorten
from analysis.results import Results
from analysis.translation import later, pieces, said, t, tn, written

MOST_DECIMALS = 6


def rounded(value: float, decimals: int = 1) -> str:
    """Write a number as the language does, a true minus sign, and never a minus before zero.

    Examples
    --------
    >>> rounded(-3.04), rounded(-0.04), rounded(float("nan"))
    ('−3.0', '0.0', '–')
    """
    if math.isnan(value):
        return "–"
    text = f"{value:,.{decimals}f}"
    if not any(digit in text for digit in "123456789"):
        text = text.removeprefix("-")
    return written(text.replace("-", "\u2212"))


def percent(value: float, decimals: int = 1) -> str:
    """Write a proportion as percent, without the sign.

    Examples
    --------
    >>> percent(0.8384)
    '83.8'
    """
    return rounded(100 * value, decimals)


def decimals_for(values: Sequence[float], boundaries: Sequence[float], least: int = 1) -> int:
    """Find how many decimals leave every value on its own side of every boundary.

    A lower limit of 0.02 points lies above 0 and must not be printed as 0.0.

    Examples
    --------
    >>> decimals_for([0.02, 5.0], [0.0]), decimals_for([1.2, 5.0], [0.0])
    (2, 1)
    """
    for decimals in range(least, MOST_DECIMALS):
        if all(
            (round(v, decimals) > b, round(v, decimals) < b) == (v > b, v < b)
            for v in values
            if not math.isnan(v)
            for b in boundaries
        ):
            return decimals
    return MOST_DECIMALS


def decimals_that_subtract(a: float, b: float, least: int = 2, most: int = 4) -> int:
    """Find how many decimals let a reader check the difference by subtracting.

    Examples
    --------
    >>> decimals_that_subtract(0.25, 0.5), decimals_that_subtract(0.366, 0.4141)
    (2, 3)
    """
    for decimals in range(least, most):
        unit = 10**decimals
        if round(b * unit) - round(a * unit) == round((b - a) * unit):
            return decimals
    return most


def count(n: int, word: str, plural: str | None = None) -> str:
    """Write a count with its word, in what stays English.

    Examples
    --------
    >>> count(1, "item"), count(1234, "item"), count(2, "is", "are")
    ('1 item', '1,234 items', '2 are')
    """
    return f"{n:,} {word}" if n == 1 else f"{n:,} {plural or word + 's'}"


def readers(n: int) -> str:
    """Write a number of readers."""
    return tn("{n} reader", "{n} readers", n)


def models(n: int) -> str:
    """Write a number of models."""
    return tn("{n} model", "{n} models", n)


def cases(n: int) -> str:
    """Write a number of cases."""
    return tn("{n} case", "{n} cases", n)


def comparisons(n: int) -> str:
    """Write a number of comparisons."""
    return tn("{n} comparison", "{n} comparisons", n)


def span(low: str, high: str) -> str:
    """Write two limits as a range.

    Examples
    --------
    >>> span("198", "200")
    '198 to 200'
    """
    return t("{low} to {high}", low=low, high=high)


def in_a_row(words: Sequence[str]) -> str:
    """Put words in a row, with what stands between them in the language."""
    return t(", ").join(words)


def clauses(parts: Sequence[str]) -> str:
    """Put parts of a sentence in a row, with what stands between them in the language."""
    return t("; ").join(parts)


def sentences(parts: Sequence[str]) -> str:
    """Put whole sentences one after another; the empty ones are left out.

    Examples
    --------
    >>> sentences(["One.", "", "Two."]), sentences(["\u4e00\u3002", "\u4e8c\u3002"])
    ('One. Two.', '\u4e00\u3002\u4e8c\u3002')
    """
    return " ".join(filter(None, parts)).replace("\u3002 ", "\u3002")


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Join words as a sentence does; beyond `most` it says how many more there are.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    >>> listed(["a", "b", "c", "d"], most=2), listed(["a", "b", "c"], most=2)
    ('a, b and 2 more', 'a, b and c')
    """
    # Naming one more is no longer than saying that there is one more.
    if most is not None and len(words) > most + 1:
        words = [*words[:most], t("{n} more", n=len(words) - most)]
    if len(words) < 2:
        return "".join(words)
    return t("{words} and {last}", words=in_a_row(words[:-1]), last=words[-1])


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


def rows_by(
    results: Results, name: str, keys: Sequence[str], of: str, **where: str
) -> dict[tuple[str, ...], dict[str, Row]]:
    """Return a table's rows by the words in `keys`, and within those by the word in `of`."""
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows_of(results, name, **where):
        found.setdefault(tuple(str(row[key]) for key in keys), {})[str(row[of])] = row
    return found


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


class Conclusion(StrEnum):
    """What may be said of a difference."""

    MORE = later("higher")
    FEWER = later("lower")
    NOT_SHOWN = later("no difference shown")
    UNDEFINED = later("undefined")


def verdict(low: float, high: float, *, at: float = 0.0) -> Conclusion:
    """Tell on which side of a value an interval lies.

    Parameters
    ----------
    low, high : float
        Limits; nan where undefined. An interval without width is none: the formulas give it where
        nothing varies, and certainty would be claimed.
    at : float, default 0
        The value of no difference: 0 for differences, 1 for ratios.

    Returns
    -------
    Conclusion
        `MORE` and `FEWER` only where the whole interval lies beyond `at`; a limit that touches it
        does not.

    Examples
    --------
    >>> verdict(0.01, 0.1).value, verdict(0.0, 0.1).value, verdict(0.1, 0.1).value
    ('higher', 'no difference shown', 'undefined')
    """
    if math.isnan(low) or math.isnan(high) or low >= high:
        return Conclusion.UNDEFINED
    if low > at:
        return Conclusion.MORE
    return Conclusion.FEWER if high < at else Conclusion.NOT_SHOWN


def non_inferior(low: float, high: float, margin: float | None) -> bool:
    """Tell whether the lower limit clears the margin; never without a margin or an interval.

    Examples
    --------
    >>> non_inferior(-0.04, 0.1, 0.05), non_inferior(-0.05, 0.1, 0.05), non_inferior(0.1, 0.2, None)
    (True, False, False)
    """
    if margin is None or math.isnan(margin) or verdict(low, high) is Conclusion.UNDEFINED:
        return False
    return low > -margin


NON_INFERIORITY = "non-inferiority"


class Outcome(StrEnum):
    """What may be said of a declared hypothesis."""

    SHOWN = "shown"
    NOT_ADJUSTED = "not shown after adjustment"
    NOT_SHOWN = "not shown"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The declared hypothesis for one model.

    Parameters
    ----------
    row : dict
        Of `reader_panel`.
    outcome : Outcome
        What may be said.
    """

    row: Row
    outcome: Outcome


def declared_plan(results: Results) -> Plan:
    """Return what the run's protocol declares."""
    return plan_of(results.bundle.protocol)


def origin_of_margin(results: Results) -> str:
    """Say where the margin comes from if it is not the protocol's; empty where it is."""
    return margin_origin(results.options, results.bundle.protocol)


def has_margin(results: Results, metric: str) -> bool:
    """Tell whether a margin means anything for a metric: it was declared for it, or asked for."""
    plan = declared_plan(results)
    planned = plan.hypothesis == NON_INFERIORITY and plan.metric == metric
    return planned or (metric == "accuracy" and bool(origin_of_margin(results)))


def primary_models(results: Results) -> list[str]:
    """Return the ids of the model that was named primary, by id or by label; empty where none is.

    Where the bundle has no such model, nothing is primary.
    """
    wanted = declared_plan(results).primary_model
    labels = results.bundle.labels
    return [rater for rater in sorted(labels) if wanted and wanted in (rater, labels[rater])]


def is_decided(results: Results) -> bool:
    """Tell whether the run may decide the declared hypothesis.

    There is one, with its endpoint; the model named primary is there; the margin is the one that
    was planned.
    """
    plan = declared_plan(results)
    if not plan.is_confirmatory or (plan.primary_model and not primary_models(results)):
        return False
    if plan.hypothesis != NON_INFERIORITY or plan.metric != "accuracy":
        return True
    return plan.margin is not None and not origin_of_margin(results)


def decisions(results: Results) -> list[Decision]:
    """Decide the declared hypothesis for the primary model, or for each model.

    In the panel's order; of several models by p-values that Holm's method adjusts for their number,
    beside the interval.
    """
    return list(_decisions(results)) if is_decided(results) else []


def _decisions(results: Results) -> Iterator[Decision]:
    plan, primary = declared_plan(results), primary_models(results)
    adjusted = {_key(row): row for row in rows_of(results, "panel_adjusted")}
    rows = rows_of(results, "reader_panel", metric=plan.metric)
    several = not primary and len({row["model_id"] for row in rows}) > 1
    for row in rows:
        if plan.claim in ("", row["claim"]) and (not primary or row["model_id"] in primary):
            p = _adjusted_p(plan, adjusted.get(_key(row), {})) if several else 0.0
            level = results.options.alpha / (2 if plan.hypothesis == NON_INFERIORITY else 1)
            outcome = declared_outcome(plan, row, number(row, "margin"))
            if outcome is Outcome.SHOWN and math.isnan(p):
                outcome = Outcome.UNDECIDED
            elif outcome is Outcome.SHOWN and p >= level:
                outcome = Outcome.NOT_ADJUSTED
            yield Decision(row=row, outcome=outcome)


def declared_outcome(plan: Plan, row: Row, margin: float) -> Outcome:
    """Tell what a row's interval, by itself, makes of the declared hypothesis."""
    low, high = number(row, "ci_low"), number(row, "ci_high")
    if verdict(low, high) is Conclusion.UNDEFINED:
        return Outcome.UNDECIDED
    if plan.hypothesis == NON_INFERIORITY:
        return Outcome.SHOWN if non_inferior(low, high, margin) else Outcome.NOT_SHOWN
    return Outcome.SHOWN if verdict(low, high) is Conclusion.MORE else Outcome.NOT_SHOWN


def _adjusted_p(plan: Plan, row: Row) -> float:
    one_sided = plan.hypothesis == NON_INFERIORITY
    return number(row, "p_noninferior_adjusted" if one_sided else "p_adjusted")


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("model_id", "condition", "metric", "claim"))
