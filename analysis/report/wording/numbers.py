"""Numbers as text: percent, points, intervals; rounding never moves a limit over a boundary."""

from __future__ import annotations

import math
from collections.abc import Sequence

from analysis.translation import t, tn, written

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
