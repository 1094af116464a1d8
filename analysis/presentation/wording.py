"""Write numbers, counts and rows of tables in words, and select rows of tables."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from analysis.figures.drawing.axes import condition_name, conditions_of, shorten
from analysis.results import Results
from analysis.translation import later, localised, t, tn, translate_pieces

MAX_DECIMALS = 6


def format_number(value: float, decimals: int = 1) -> str:
    """Write a number in the language in use, with the minus sign U+2212 and zero without a sign.

    Examples
    --------
    >>> format_number(-3.04), format_number(-0.04), format_number(float("nan"))
    ('−3.0', '0.0', '–')
    """
    if math.isnan(value):
        return "–"
    text = f"{value:,.{decimals}f}"
    if not any(digit in text for digit in "123456789"):
        text = text.removeprefix("-")
    return localised(text.replace("-", "\u2212"))


def format_percent(value: float, decimals: int = 1) -> str:
    """Write a proportion in percent, without the percent sign.

    Examples
    --------
    >>> format_percent(0.8384)
    '83.8'
    """
    return format_number(100 * value, decimals)


def decimals_for(values: Sequence[float], boundaries: Sequence[float], least: int = 1) -> int:
    """Return the number of decimals that keep every value on its side of every boundary.

    A lower limit of 0.02 points is above 0 and must not be printed as 0.0.

    Examples
    --------
    >>> decimals_for([0.02, 5.0], [0.0]), decimals_for([1.2, 5.0], [0.0])
    (2, 1)
    """
    for decimals in range(least, MAX_DECIMALS):
        if all(
            (round(v, decimals) > b, round(v, decimals) < b) == (v > b, v < b)
            for v in values
            if not math.isnan(v)
            for b in boundaries
        ):
            return decimals
    return MAX_DECIMALS


def decimals_for_difference(a: float, b: float, least: int = 2, max_decimals: int = 4) -> int:
    """Return the number of decimals for which the rounded values differ by the rounded difference.

    Examples
    --------
    >>> decimals_for_difference(0.25, 0.5), decimals_for_difference(0.366, 0.4141)
    (2, 3)
    """
    for decimals in range(least, max_decimals):
        unit = 10**decimals
        if round(b * unit) - round(a * unit) == round((b - a) * unit):
            return decimals
    return max_decimals


def count_with_noun(n: int, word: str, plural: str | None = None) -> str:
    """Write a count with its noun, for text that is always in English.

    Examples
    --------
    >>> count_with_noun(1, "item"), count_with_noun(1234, "item"), count_with_noun(2, "is", "are")
    ('1 item', '1,234 items', '2 are')
    """
    return f"{n:,} {word}" if n == 1 else f"{n:,} {plural or word + 's'}"


def reader_count(n: int) -> str:
    """Write a number of readers."""
    return tn("{n} reader", "{n} readers", n)


def model_count(n: int) -> str:
    """Write a number of models."""
    return tn("{n} model", "{n} models", n)


def case_count(n: int) -> str:
    """Write a number of cases."""
    return tn("{n} case", "{n} cases", n)


def case_count_range(numbers: pd.Series[int]) -> str:
    """Write the range of numbers of cases."""
    least, highest = int(numbers.min()), int(numbers.max())
    return (
        case_count(highest)
        if least == highest
        else t("{low} to {high} cases", low=least, high=highest)
    )


def comparison_count(n: int) -> str:
    """Write a number of comparisons."""
    return tn("{n} comparison", "{n} comparisons", n)


def format_range(low: str, high: str) -> str:
    """Write two limits as a range.

    Examples
    --------
    >>> format_range("198", "200")
    '198 to 200'
    """
    return t("{low} to {high}", low=low, high=high)


def join_with_commas(words: Sequence[str]) -> str:
    """Join words with the comma of the language in use."""
    return t(", ").join(words)


def join_clauses(parts: Sequence[str]) -> str:
    """Join parts of a sentence with the semicolon of the language in use."""
    return t("; ").join(parts)


def join_sentences(parts: Sequence[str]) -> str:
    """Join sentences; empty ones are omitted.

    Examples
    --------
    >>> join_sentences(["One.", "", "Two."]), join_sentences(["\u4e00\u3002", "\u4e8c\u3002"])
    ('One. Two.', '\u4e00\u3002\u4e8c\u3002')
    """
    return " ".join(filter(None, parts)).replace("\u3002 ", "\u3002")


def join_words(words: Sequence[str], max_words: int | None = None) -> str:
    """Join words as in a sentence; those beyond `max_words` are only counted.

    Examples
    --------
    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    >>> join_words(["a", "b", "c", "d"], max_words=2), join_words(["a", "b", "c"], max_words=2)
    ('a, b and 2 more', 'a, b and c')
    """
    # A single remaining name is as short as "1 more".
    if max_words is not None and len(words) > max_words + 1:
        words = [*words[:max_words], t("{n} more", n=len(words) - max_words)]
    if len(words) < 2:
        return "".join(words)
    return t("{words} and {last}", words=join_with_commas(words[:-1]), last=words[-1])


Row = dict[str, Any]

# Rows of small tables are cached, because many sentences use them. Pairs of raters can have half a
# million rows, which are not.
MAX_CACHED_ROWS = 5_000
_ROWS_OF_RESULTS: WeakKeyDictionary[Results, dict[str, list[Row]]] = WeakKeyDictionary()


def rows_of(results: Results, name: str, **filters: str) -> list[Row]:
    """Return the rows of a table that have the values of `filters` in these columns.

    The list is empty if the table or one of the columns is missing.
    """
    table = results.tables.get(name)
    if table is None or not set(filters) <= set(table.columns):
        return []
    if len(table) <= MAX_CACHED_ROWS:
        cache = _ROWS_OF_RESULTS.setdefault(results, {})
        if name not in cache:
            cache[name] = records(table)
        conditions = filters.items()
        return [{**row} for row in cache[name] if all(row[key] == word for key, word in conditions)]
    keep = np.ones(len(table), dtype=bool)
    for column, word in filters.items():
        keep &= (table[column] == word).to_numpy()
    return records(table.loc[keep])


def rows_by(
    results: Results, name: str, keys: Sequence[str], of: str, **filters: str
) -> dict[tuple[str, ...], dict[str, Row]]:
    """Return the rows of a table, grouped by the columns `keys`, then by the column `of`."""
    rows: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows_of(results, name, **filters):
        rows.setdefault(tuple(str(row[key]) for key in keys), {})[str(row[of])] = row
    return rows


def records(table: pd.DataFrame) -> list[Row]:
    """Return the rows of a table as dictionaries."""
    names, columns = list(table.columns), [_python_values(column) for _, column in table.items()]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _python_values(column: pd.Series[Any]) -> list[Any]:
    """Return the cells of a column as Python values, three times as fast as `to_dict`."""
    if column.dtype != object:
        return column.to_numpy(object).tolist()
    return [cell.item() if isinstance(cell, np.generic) else cell for cell in column.to_numpy()]


def rows_by_measure(
    table: pd.DataFrame, key: Sequence[str]
) -> dict[tuple[str, ...], dict[str, Row]]:
    """Return the rows of a long table, grouped by the columns `key`, then by measure."""
    groups: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in records(table):
        values = tuple(str(row[column]) for column in key)
        groups.setdefault(values, {})[str(row["measure"])] = row
    return groups


def conditions_in(results: Results, name: str) -> list[str]:
    """Return the conditions of a table in order of name, with the readers' conditions first."""
    table = results.tables.get(name, pd.DataFrame())
    if "condition" not in table.columns:
        return []
    first = set(conditions_of(results.tables["accuracy"]))
    return sorted(table["condition"].unique(), key=lambda name: (name not in first, name))


def headline_intervals(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Replace Wilson's intervals by those over patients, unless the latter have no width."""
    known = accuracy["cluster_ci_low"] < accuracy["cluster_ci_high"]
    return accuracy.assign(
        ci_low=accuracy["ci_low"].where(~known, accuracy["cluster_ci_low"]),
        ci_high=accuracy["ci_high"].where(~known, accuracy["cluster_ci_high"]),
    )


def cell_number(row: Row, column: str) -> float:
    """Return a cell as a number; nan if it is empty or missing."""
    value = row.get(column)
    return float("nan") if value is None or value == "" or pd.isna(value) else float(value)


# Matches the beginning of a reason, which names the undefined cells.
_UNDEFINED_CELLS = re.compile(r"^(standard error(,| and) )?interval( and p)?: ")


def undefined_reason(row: Row) -> str:
    """Return why a value of a row is undefined, without the names of the cells and a full stop.

    Examples
    --------
    >>> undefined_reason({"undefined_because": "standard error, interval and p: a single reader"})
    'a single reader'
    >>> undefined_reason({"undefined_because": "interval: a single item"})
    'a single item'
    """
    why = str(row.get("undefined_because") or "")
    return translated_reason(_UNDEFINED_CELLS.sub("", why, count=1)) or t("no reason is given")


# Texts of tables that contain numbers, in the form that `pieces` looks up.
REASONS_WITH_NUMBERS = (
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


def translated_reason(reason: str) -> str:
    """Translate a reason from a table for use in a sentence, if the catalogue has it."""
    return translate_pieces(reason.rstrip(". "))


MAX_CONDITION_LENGTH = 40


_CONDITIONS_OF_RESULTS: WeakKeyDictionary[Results, tuple[str, ...]] = WeakKeyDictionary()


def all_conditions(results: Results) -> tuple[str, ...]:
    """Return the conditions of the run, in order of name.

    These are the readers' conditions (the models' if there are no readers) and all conditions with
    a name. A model without a condition is shown with the readers and does not add a condition.
    """
    if results not in _CONDITIONS_OF_RESULTS:
        table = results.tables["accuracy"]
        named_conditions = set(table.loc[table["condition"] != "", "condition"])
        _CONDITIONS_OF_RESULTS[results] = tuple(
            sorted(named_conditions.union(conditions_of(table)))
        )
    return _CONDITIONS_OF_RESULTS[results]


def has_several_conditions(results: Results) -> bool:
    """Return whether the run has several conditions, which must then be named."""
    return len(all_conditions(results)) > 1


def shown_condition(results: Results, condition: str) -> str:
    """Return the name of a condition if the run has several, else an empty string."""
    return condition_name(condition) if has_several_conditions(results) else ""


def condition_phrase(results: Results, condition: str) -> str:
    """Return the phrase that names a condition in a sentence; empty if the run has only one."""
    shown = shown_condition(results, condition)
    if not shown:
        return ""
    return t(" under {condition}", condition=f"\u2068{shorten(shown, MAX_CONDITION_LENGTH)}\u2069")


def file_name(name: str, number: int, condition: str) -> str:
    """Return the name of a figure's files, without suffix.

    The number distinguishes conditions (free text) that have the same letters and digits.

    Examples
    --------
    >>> file_name("same_wrong", 2, "With AI!"), file_name("times", 1, "")
    ('same-wrong-2-with-ai', 'times')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", condition.lower()).strip("-")[:30]
    tail = f"-{number}-{plain}".rstrip("-") if condition else ""
    return f"{name.replace('_', '-')}{tail}"
