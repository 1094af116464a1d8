"""Checks of single values of a protocol file, each of which says how the value must be.

A check takes what TOML or JSON gave and returns what the protocol holds, or raises `ValueError`
with the end of a sentence; `Faults` where a value has several.
"""

from collections.abc import Callable
from typing import Any

from study.base.translation import t

Check = Callable[[Any], Any]


class Faults(ValueError):
    """Several faults of one value, each as a whole line."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines


def text(value: Any) -> str:
    """Check text of any length."""
    if not isinstance(value, str):
        raise ValueError(t("must be text in quotes."))
    return value


def prose(longest: int) -> Check:
    """Return a check of Markdown of at most so many characters; only spaces are none."""

    def check(value: Any) -> str:
        found = text(value)
        if len(found) > longest:
            raise ValueError(
                t(
                    "has {n} characters; the maximum is {longest}.",
                    n=len(found),
                    longest=str(longest),
                )
            )
        return found if found.strip() else ""

    return check


def whole(low: int, high: int = 10**9) -> Check:
    """Return a check of a whole number within bounds."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(t("must be a whole number from {low} to {high}.", low=low, high=high))
        return value

    return check


def number(low: float, high: float) -> Check:
    """Return a check of a number within bounds."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(t("must be a number from {low} to {high}.", low=low, high=high))
        if not low <= value <= high:
            raise ValueError(t("must be from {low} to {high}.", low=low, high=high))
        return value

    return check


def yes_no(value: Any) -> bool:
    """Check a truth value."""
    if not isinstance(value, bool):
        raise ValueError(t("must be true or false."))
    return value


def one_of(known: tuple[str, ...]) -> Check:
    """Return a check of one out of a closed set."""

    def check(value: Any) -> str:
        if value not in known:
            raise ValueError(t("must be one of {listed}.", listed=", ".join(known)))
        return str(value)

    return check


def some_of(known: tuple[str, ...], *, at_least: int) -> Check:
    """Return a check of a list out of a closed set, each named once."""

    def check(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or any(entry not in known for entry in value):
            raise ValueError(t("must be a list of values from {listed}.", listed=", ".join(known)))
        if len(set(value)) != len(value):
            raise ValueError(t("contains duplicates."))
        if len(value) < at_least:
            raise ValueError(t("must name at least {at_least}.", at_least=at_least))
        return tuple(value)

    return check


def confidence(value: Any) -> int:
    """Check the steps of the confidence scale; false is 0."""
    if value is False:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= 9:
        raise ValueError(t("must be false or a number of steps from 2 to 9."))
    return value


def window(value: Any) -> tuple[int, ...]:
    """Check a width and a height in CSS pixels; an empty list is none."""
    if value == []:
        return ()
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(t("must be [width, height] in pixels, or [] for none."))
    return tuple(map(whole(1, 10_000), value))


def years(value: Any) -> tuple[int, ...]:
    """Check the years from and to; an empty list is any age."""
    if value == []:
        return ()
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(t("must be [from, to] in years, or [] for any age."))
    low, high = map(whole(0, 150), value)
    if low > high:
        raise ValueError(t("must have the lower age first."))
    return low, high


def ids(value: Any) -> tuple[str, ...]:
    """Check a list of item ids, whose order says nothing."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError(
            t("must be a list of item IDs, or the name of a file beside the protocol file.")
        )
    return tuple(sorted(set(value)))


def allocation(value: Any) -> str | dict[str, int]:
    """Check how cases are shared among strata."""
    if isinstance(value, dict):
        if not value:
            raise ValueError(t("names no stratum."))
        return {text(key): whole(0)(count) for key, count in value.items()}
    return str(one_of(("proportional", "equal"))(value))
