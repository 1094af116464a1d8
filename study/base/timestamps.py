"""Moments in UTC as text, the one form they are stored and exported in."""

from datetime import UTC, datetime


def stamp(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC with milliseconds.

    >>> stamp(datetime(2025, 6, 4, 12, 0, 1, 234567, tzinfo=UTC))
    '2025-06-04T12:00:01.234Z'
    """
    if moment.tzinfo is None:
        raise ValueError("a moment without time zone cannot be stored")
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z"


def moment(text: str) -> datetime:
    """Return the moment that `stamp` wrote.

    >>> moment("2025-06-04T12:00:01.234Z").microsecond
    234000
    """
    return datetime.fromisoformat(text)


def from_epoch_ms(epoch_ms: float) -> datetime:
    """Return a browser's `Date.now()` value as a moment.

    Raises
    ------
    ValueError
        The value is no date a calendar has.
    """
    try:
        return datetime.fromtimestamp(epoch_ms / 1000, tz=UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(f"{epoch_ms} is not a moment") from error
