"""Translates messages and formats numbers and dates in the user's language.

A message is written in English where it is used, as in ``t("{n} cases", n=3)``, and its translation
is looked up in ``locale/LANGUAGE/reading_room.po``. To add a language, add its folder;
``make catalogue`` writes the template. ``READING_ROOM_LOCALE`` sets another folder. Text that is
stored, hashed or exported is never translated.
"""

import os
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from datetime import UTC, timedelta, tzinfo
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations, c2py
from io import BytesIO
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_time
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

from study.base.canonical import moment, stamp

ENGLISH = "en"
LOCALE_VARIABLE = "READING_ROOM_LOCALE"
CATALOGUE_FILE = "reading_room.po"

_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def t(message: str, /, **values: object) -> str:
    """Return a message in the current language, with values inserted and integers formatted.

    >>> t("{n} of {total}", n=3, total=5_000)
    '3 of 5,000'
    """
    words = _catalogue(folder(), _language.get()).gettext(message)
    return words.format(**_format_values(values)) if values else words


def tn(singular: str, plural: str, /, n: int, **values: object) -> str:
    """Return the singular or plural form of a message for a number, which is inserted as ``n``.

    >>> tn("{n} case", "{n} cases", 1), tn("{n} case", "{n} cases", 2)
    ('1 case', '2 cases')
    """
    words = _catalogue(folder(), _language.get()).ngettext(singular, plural, n)
    return words.format(**_format_values({"n": n, **values}))


def later(message: str) -> str:
    """Mark a message for the catalogue and return it unchanged; `translated` translates it later.

    Use it for messages in module-level tables, which are created before the language is known.
    """
    return message


def translated(message: str, /) -> str:
    """Return a message marked by `later` in the current language."""
    return _catalogue(folder(), _language.get()).gettext(message) if message else ""


def language() -> str:
    """Return the current language."""
    return _language.get()


def current_locale() -> Locale:
    """Return the current language's locale for numbers and dates; English uses the British one."""
    return _locale_of(_language.get())


def is_right_to_left() -> bool:
    """Return whether the current language is written from right to left."""
    return bool(current_locale().text_direction == "rtl")


def decimal(value: float, places: int = 0) -> str:
    """Return a number with `places` decimal places, formatted in the current language.

    >>> decimal(1234.5), decimal(83.75, 1)
    ('1,234', '83.8')
    """
    return str(
        format_decimal(round(value, places), f"#,##0.{'0' * places}", locale=current_locale())
    )


def languages() -> tuple[str, ...]:
    """Return the languages that have a catalogue, English first; cached."""
    return _language_names(folder())


def catalogue_messages(name: str, keys: Container[str]) -> tuple[dict[str, str | list[str]], str]:
    """Return messages with their translations, and the language's plural rule, a formula of ``n``.

    Use it for messages that JavaScript shows. The key of a message with plural forms is its
    singular; messages without a translation are left out.

    Raises
    ------
    ValueError
        The plural rule is not valid for gettext.
    """
    path = folder() / name / CATALOGUE_FILE
    if not path.is_file():
        return {}, "n != 1"
    catalogue = _read_catalogue(path)
    c2py(catalogue.plural_expr)
    messages: dict[str, str | list[str]] = {}
    for message in catalogue:
        key = message.id if isinstance(message.id, str) else message.id[0]
        words = (
            [message.string] if isinstance(message.string, str) else [*(message.string or ("",))]
        )
        if key and key in keys and not message.fuzzy and all(words):
            messages[key] = words[0] if isinstance(message.id, str) else words
    return messages, catalogue.plural_expr


def set_language(name: str) -> Token[str]:
    """Set the language of this thread or task; English if there is no catalogue."""
    return _language.set(name if name in languages() else ENGLISH)


@contextmanager
def in_language(name: str) -> Iterator[None]:
    """Set the language within the block; English if there is no catalogue."""
    token = set_language(name)
    try:
        yield
    finally:
        _language.reset(token)


@lru_cache(1)
def folder() -> Path:
    """Return the folder of the catalogues; the environment variable is read only once."""
    return Path(os.environ.get(LOCALE_VARIABLE) or Path(__file__).parents[2] / "locale")


def _format_values(values: Mapping[str, object]) -> dict[str, object]:
    """Format numbers, and in right-to-left languages isolate the direction of inserted strings."""
    rtl = is_right_to_left()
    texts = dict(values)
    for name, value in values.items():
        if isinstance(value, int) and not isinstance(value, bool):
            texts[name] = _format_integer(value, _language.get())
        elif rtl and isinstance(value, str):
            texts[name] = _Isolated(value)
    return texts


@lru_cache(4096)  # pages format the same few numbers again and again
def _format_integer(value: int, language: str) -> str:
    return str(format_decimal(value, "#,##0", locale=_locale_of(language)))


class _Isolated(str):
    """A string that is inserted into a message between characters that isolate its direction."""

    __slots__ = ()

    def __format__(self, format_spec: str) -> str:
        return f"\u2068{super().__format__(format_spec)}\u2069"


@lru_cache
def _locale_of(name: str) -> Locale:
    try:
        return Locale.parse("en-GB" if name == ENGLISH else name, sep="-")
    except (UnknownLocaleError, ValueError):
        return _locale_of(ENGLISH)


@lru_cache
def _language_names(folder: Path) -> tuple[str, ...]:
    names = sorted(path.parent.name for path in folder.glob(f"*/{CATALOGUE_FILE}"))
    return (ENGLISH, *(name for name in names if name != ENGLISH))


@lru_cache
def _catalogue(folder: Path, name: str) -> NullTranslations:
    path = folder / name / CATALOGUE_FILE
    if not path.is_file():
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, _read_catalogue(path))
    compiled.seek(0)
    return GNUTranslations(compiled)


@lru_cache  # reading takes 0.1 s, and both the staff pages and the reading page need the result
def _read_catalogue(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def day(at_utc: str, zone: tzinfo = UTC) -> str:
    """Return the date of a stored time in a time zone.

    >>> day("2025-06-04T12:00:59.999Z")
    '4 Jun 2025'
    """
    return str(format_date(moment(at_utc).astimezone(zone), locale=current_locale()))


def date_and_time(at_utc: str, zone: tzinfo = UTC) -> str:
    """Return a stored time to the minute, with its time zone.

    >>> from zoneinfo import ZoneInfo
    >>> date_and_time("2025-06-04T12:00:59.999Z")
    '4 Jun 2025, 12:00 UTC'
    >>> date_and_time("2025-06-04T12:00Z", ZoneInfo("Europe/Berlin"))
    '4 Jun 2025, 14:00 (Europe/Berlin)'
    """
    return _in_zone(_local_date_and_time(at_utc, zone), zone)


def period_end(at_utc: str, zone: tzinfo) -> str:
    """Return the end of a period with its time zone; midnight is the end of the previous day.

    >>> from zoneinfo import ZoneInfo
    >>> period_end("2025-06-04T22:00Z", ZoneInfo("Europe/Berlin"))
    'the end of 4 Jun 2025 (Europe/Berlin)'
    >>> period_end("2025-06-04T22:00Z", UTC)
    '4 Jun 2025, 22:00 UTC'
    """
    previous = stamp(moment(at_utc) - timedelta(milliseconds=1))
    if day(previous, zone) == day(at_utc, zone):
        return date_and_time(at_utc, zone)
    return _in_zone(t("the end of {day}", day=day(previous, zone)), zone)


def _in_zone(time: str, zone: tzinfo) -> str:
    if zone is UTC or str(zone) == "UTC":
        return t("{time} UTC", time=time)
    return t("{time} ({zone})", time=time, zone=str(zone))


def _local_date_and_time(at_utc: str, zone: tzinfo) -> str:
    locale = current_locale()
    clock = format_time(moment(at_utc).astimezone(zone), "short", locale=locale)
    return str(locale.datetime_formats["medium"]).format(clock, day(at_utc, zone))
