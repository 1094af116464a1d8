"""Checks the values of a protocol file; each check states what the value must be.

A check takes a value from TOML or JSON and returns the value for the protocol. It raises
`ValueError` with the end of a sentence, or `Faults` if a value has several errors. A list of items
may be in a file in the folder of the protocol file, or be pasted.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from study.bank.fields import SPELLINGS
from study.base.bank_model import Fault
from study.base.errors import BadFile, NotFound
from study.base.system import system_reason
from study.base.text import decode_utf8, did_you_mean
from study.base.translation import t
from study.tables.columns import column_list, plain_key
from study.tables.delimited import read_delimited
from study.tables.table import Row, begins_as_workbook, read_table
from study.tables.text_file import open_bytes

Check = Callable[[Any], Any]


class Faults(ValueError):
    """Several errors in one value, each as a complete line."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines


def text(value: Any) -> str:
    """Check text of any length."""
    if not isinstance(value, str):
        raise ValueError(t("must be text in quotes."))
    return value


def prose(longest: int) -> Check:
    """Return a check for Markdown with a maximum length; text of only spaces counts as empty."""

    def check(value: Any) -> str:
        words = text(value)
        if len(words) > longest:
            raise ValueError(
                t(
                    "has {n} characters; the maximum is {longest}.",
                    n=len(words),
                    longest=str(longest),
                )
            )
        return words if words.strip() else ""

    return check


def texts(max_length: int) -> Check:
    """Return a check for a list of different strings that are not empty."""

    def check(value: Any) -> tuple[str, ...]:
        entries = value if isinstance(value, list) else [value]
        if entries is not value or not all(isinstance(e, str) and e.strip() for e in entries):
            raise ValueError(t("must be a list of strings in quotes."))
        if len(value) > max_length:
            raise ValueError(t("must name at most {most}.", most=max_length))
        if len(set(value)) != len(value):
            raise ValueError(t("contains duplicates."))
        return tuple(value)

    return check


def whole(low: int, high: int = 10**9) -> Check:
    """Return a check for a whole number within bounds."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(t("must be a whole number from {low} to {high}.", low=low, high=high))
        return value

    return check


def number(low: float, high: float) -> Check:
    """Return a check for a number within bounds."""

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
    """Return a check for one of the known values."""

    def check(value: Any) -> str:
        if value not in known:
            suggestion = did_you_mean(value, known) if isinstance(value, str) else ""
            raise ValueError(t("must be one of {listed}.", listed=", ".join(known)) + suggestion)
        return str(value)

    return check


def some_of(known: tuple[str, ...], *, at_least: int) -> Check:
    """Return a check for a list of known values without duplicates."""

    def check(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or any(entry not in known for entry in value):
            entries = value if isinstance(value, list) else [value]
            unknown = [entry for entry in entries if isinstance(entry, str) and entry not in known]
            suggestion = did_you_mean(unknown[0], known) if unknown else ""
            names = ", ".join(known)
            raise ValueError(
                t("must be a list of values from {listed}.", listed=names) + suggestion
            )
        if len(set(value)) != len(value):
            raise ValueError(t("contains duplicates."))
        if len(value) < at_least:
            raise ValueError(t("must name at least {at_least}.", at_least=at_least))
        return tuple(value)

    return check


def confidence(value: Any) -> int:
    """Check the number of steps of the confidence scale; false becomes 0."""
    if value is False:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= 9:
        raise ValueError(t("must be false or a number of steps from 2 to 9."))
    return value


def window(value: Any) -> tuple[int, ...]:
    """Check a width and a height in CSS pixels; an empty list means no limit."""
    if value == []:
        return ()
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(t("must be [width, height] in pixels, or [] for none."))
    return tuple(map(whole(1, 10_000), value))


def years(value: Any) -> tuple[int, ...]:
    """Check a range of ages in years; an empty list means any age."""
    if value == []:
        return ()
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(t("must be [from, to] in years, or [] for any age."))
    low, high = map(whole(0, 150), value)
    if low > high:
        raise ValueError(t("must have the lower age first."))
    return low, high


def ids(value: Any) -> tuple[str, ...]:
    """Check a list of item IDs; their order does not matter."""
    if not isinstance(value, list) or not all(isinstance(entry, str) and entry for entry in value):
        raise ValueError(
            t("must be a list of item IDs, or the name of a file next to the protocol file.")
        )
    return tuple(sorted(set(value)))


def allocation(value: Any) -> str | dict[str, int]:
    """Check the allocation of cases to strata."""
    if isinstance(value, dict):
        if not value:
            raise ValueError(t("names no stratum."))
        return {text(key): whole(0)(count) for key, count in value.items()}
    return str(one_of(("proportional", "equal"))(value))


_ID_KEYS = {plain_key(spelling) for spelling in SPELLINGS["item_id"]}


def ids_in(text: str) -> list[str]:
    r"""Return the item IDs in pasted text, sorted and without duplicates.

    If the text is a table with a column `item_id`, in any spelling that banks may use, the IDs are
    the cells of that column. Otherwise they are separated by line ends, commas, semicolons or tabs.

    >>> ids_in("q2\nq1, q2"), ids_in("sep=;\nNo.;Item ID\n1;q7\n2;q5")
    (['q1', 'q2'], ['q5', 'q7'])
    """
    text = text.removeprefix("\ufeff")
    try:
        lines = StringIO(text, newline="")
        rows = [cells for _, cells in read_delimited("", lines, beginning=text).rows]
    except BadFile:  # because of a quotation mark, it can only be a list
        rows = [[text]]
    place = _id_column(rows[0] if rows else ())
    if place is not None:
        return _sort_ids(row[place] for row in rows[1:] if len(row) > place)
    return _sort_ids(part for row in rows for cell in row for part in re.split(r"[\n\t;,]", cell))


def ids_in_file(path: Path) -> list[str]:
    """Return the item IDs in a text file (see `ids_in`) or in the column `item_id` of a workbook.

    Raises
    ------
    BadFile
        The file cannot be read, or a workbook has no column `item_id`.
    """
    with open_bytes(path) as file:
        if not begins_as_workbook(path, file):
            return ids_in(decode_utf8(file.read(), source=path.name))
        table = read_table(path, file)
        place = _id_column(table.header)
        if place is None:
            raise BadFile(
                t(
                    "{name} has no column item_id. Its columns are: {columns}.",
                    name=table.name,
                    columns=column_list(table.header),
                )
            )
        rows = list(table.rows)
    faults = [str(row) for row in rows if isinstance(row, Fault)]
    if faults:
        raise BadFile("\n".join([f"{table.name}:", *(f"  {fault}" for fault in faults)]))
    name = table.header[place]
    return _sort_ids(row.cells[name] for row in rows if isinstance(row, Row))


def _id_column(header: Sequence[str]) -> int | None:
    return next((n for n, name in enumerate(header) if plain_key(name) in _ID_KEYS), None)


def _sort_ids(ids: Iterable[str]) -> list[str]:
    return sorted({text.strip().strip('"') for text in ids} - {""})


def ids_beside(protocol: Path, name: str) -> list[str]:
    """Return the item IDs in a file in the folder of a protocol file.

    Raises
    ------
    NotFound
        The file does not exist, or is in another folder.
    """
    path = protocol.parent / name
    if Path(name).name != name:
        raise _unreadable_list(name, t("it must be in the folder of the protocol file"))
    try:
        path.stat()  # raises where there is no such file
        return ids_in_file(path)
    except OSError as error:
        raise _unreadable_list(name, system_reason(error)) from error


def _unreadable_list(name: str, reason: str) -> NotFound:
    return NotFound(
        t(
            "The list {name} of the protocol file cannot be read: {strerror}.",
            name=name,
            strerror=reason,
        )
    )
