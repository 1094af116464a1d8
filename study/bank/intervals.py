"""How long before the current films a prior one was made: days, and never a date."""

from collections.abc import Sequence
from datetime import date
from itertools import repeat

from study.bank.fields import Fields, Notes, Trouble, as_list, as_text, missing, shown
from study.bank.source import plain_key
from study.base.bank_model import Rule

MOST_DAYS = 36_525
_REMEDY = "name an examination made before, or leave the prior image out"
_EXAMINATION_DATE = plain_key("StudyDate")


def read_days(fields: Fields, n: int, notes: Notes, trouble: Trouble) -> list[int | None]:
    """Return how many days before the current films each prior one of an item was made.

    Parameters
    ----------
    fields : Fields
        Of the item. `prior_days` goes before `prior_date`, which needs `StudyDate`; each is one
        value for all, or one a prior image.
    n : int
        How many prior images the item names.
    notes : Notes
        Takes what was left unknown.
    trouble : Trouble
        Takes that a prior image is no earlier one.

    Returns
    -------
    list of int or None
        None where it is unknown.
    """
    by_date = fields.first("prior_days") is None
    given = _each(fields.first("prior_date" if by_date else "prior_days"), n)
    if given is None:
        notes.add("prior intervals dropped: not as many as prior images", trouble.key)
        return [None] * n
    today = _examination(fields) if by_date else None
    found = [_between(one, today) if by_date else _whole(one) for one in given]
    for value, days in zip(given, found, strict=True):
        if missing(value):
            continue
        if days is None or days > MOST_DAYS:
            said = "prior date, or StudyDate," if by_date else f"prior interval {shown(value)}"
            notes.add(f"{said} not understood, interval left unknown", trouble.key)
        elif days < 0:
            trouble.add("a prior image made after the current ones", _REMEDY, Rule.NO_PRIOR)
    return [days if days is not None and days <= MOST_DAYS else None for days in found]


def rounded(days: int) -> tuple[int, str]:
    """Return a time in the unit that people would say it in.

    >>> [rounded(days) for days in (0, 13, 45, 91, 700, 800)]
    [(0, 'day'), (13, 'day'), (6, 'week'), (3, 'month'), (23, 'month'), (2, 'year')]
    """
    if days < 14:
        return days, "day"
    if days < 60:
        return round(days / 7), "week"
    if days < 730:
        return round(days / 30.44), "month"
    return round(days / 365.25), "year"


def prior_name(days: int | None) -> str:
    """Return what a prior film is called in English, as models are told.

    >>> prior_name(91), prior_name(1), prior_name(0), prior_name(None)
    ('prior, 3 months earlier', 'prior, 1 day earlier', 'prior, same day', 'prior')
    """
    if days is None:
        return "prior"
    number, unit = rounded(days)
    return f"prior, {number} {unit}{'s' * (number != 1)} earlier" if number else "prior, same day"


def day_of(text: str) -> date | None:
    """Return a day written as `20200131`, `2020-01-31` or with a time behind it; or None.

    >>> day_of("20200131"), day_of("2020-01-31T08:00"), day_of("31 January")
    (datetime.date(2020, 1, 31), datetime.date(2020, 1, 31), None)
    """
    try:
        return date.fromisoformat(text[:10] if text[4:5] == "-" else text[:8])
    except ValueError:
        return None


def _each(value: object, n: int) -> Sequence[object] | None:
    """Return one value for each of `n`; None where there are too many or too few."""
    if missing(value):
        return [None] * n
    listed = as_list(value)
    if listed is None and isinstance(value, str) and any(sign in value for sign in "|;"):
        listed = [part.strip() for part in value.replace(";", "|").split("|")]
    if listed is None or len(listed) == 1:
        return [*repeat(value if listed is None else listed[0], n)]
    return listed if len(listed) == n else None


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        days = float(value if isinstance(value, int | float) else as_text(value) or "")
    except ValueError:
        return None
    return int(days) if days.is_integer() else None


def _examination(fields: Fields) -> date | None:
    found = {plain_key(key): value for key, _, value in fields.others()}
    return day_of(as_text(found.get(_EXAMINATION_DATE)) or "")


def _between(value: object, today: date | None) -> int | None:
    before = day_of(as_text(value) or "")
    return None if before is None or today is None else (today - before).days
