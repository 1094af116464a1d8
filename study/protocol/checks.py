"""Checks of the values of a protocol file, each of which says how the value must be.

A check takes what TOML or JSON gave and returns what the protocol holds, or raises `ValueError`
with the end of a sentence; `Faults` where a value has several. A list of items may lie in a file
beside the protocol's, or be pasted.
"""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from study.bank.fields import SPELLINGS
from study.base.errors import NotFound
from study.base.text import decoded
from study.base.translation import t
from study.tables.columns import plain_key

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


_ID = {plain_key(spelling) for spelling in SPELLINGS["item_id"]}


def ids_in(text: str) -> list[str]:
    r"""Return the ids in a text, each once, in order.

    Of a table whose first line names a column `item_id`, as a bank may spell it, that column; else
    whatever stands between ends of lines, commas, semicolons and tabs.

    >>> ids_in("q2\nq1, q2"), ids_in("No.;Item ID\n1;q7\n2;q5")
    (['q1', 'q2'], ['q5', 'q7'])
    """
    lines = text.removeprefix("\ufeff").splitlines()
    head = lines[0] if lines else ""
    for delimiter in "\t;,":
        names = [plain_key(name) for name in next(csv.reader([head], delimiter=delimiter), [])]
        place = next((n for n, name in enumerate(names) if name in _ID), None)
        if place is not None:
            rows = csv.reader(lines[1:], delimiter=delimiter)
            return _sorted([row[place] for row in rows if len(row) > place])
    return _sorted(re.split(r"[\n\t;,]", "\n".join(lines)))


def _sorted(found: list[str]) -> list[str]:
    return sorted({one.strip().strip('"') for one in found} - {""})


def ids_beside(protocol: Path, name: str) -> list[str]:
    """Return the ids in a file that lies beside a protocol file.

    Raises
    ------
    NotFound
        It is not there, or lies elsewhere.
    """
    path = protocol.parent / name
    try:
        if Path(name).name != name:
            raise FileNotFoundError(2, t("it has to lie beside the protocol file"))
        return ids_in(decoded(path.read_bytes(), source=name))
    except OSError as error:
        raise NotFound(
            t(
                "The list {name} of the protocol file cannot be read: {strerror}.",
                name=name,
                strerror=error.strerror,
            )
        ) from error
