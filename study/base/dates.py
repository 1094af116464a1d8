"""Days and times as the language in use writes them, in UTC."""

from typing import Literal

from babel.dates import format_date, format_time

from study.base.timestamps import moment
from study.base.translation import region


def day(at_utc: str) -> str:
    """Return the day of a stored moment.

    >>> day("2025-06-04T12:00:59.999Z")
    '4 Jun 2025'
    """
    return str(format_date(moment(at_utc), locale=region()))


def minute(at_utc: str) -> str:
    """Return a stored moment to the minute.

    >>> minute("2025-06-04T12:00:59.999Z")
    '4 Jun 2025, 12:00'
    """
    return _with(at_utc, "short")


def second(at_utc: str) -> str:
    """Return a stored moment to the second.

    >>> second("2025-06-04T12:00:59.999Z")
    '4 Jun 2025, 12:00:59'
    """
    return _with(at_utc, "medium")


def _with(at_utc: str, precision: Literal["short", "medium"]) -> str:
    at, where = moment(at_utc), region()
    clock = format_time(at, precision, locale=where)
    return str(where.datetime_formats["medium"]).format(clock, day(at_utc))
