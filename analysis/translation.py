"""The words of the report and its figures, through gettext catalogues: English in the code.

The same catalogues as those of the pages, `locale/LANGUAGE/reading_room.po`, and the same way of
writing messages: `t("{n} cases", n=3)`. What goes into tables as files, into `results.json` and
into a paper is never translated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from string import ascii_lowercase

from babel import Locale, UnknownLocaleError
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import get_decimal_symbol, get_group_symbol

from analysis.errors import OptionsError

ENGLISH = "en"
VARIABLE = "READING_ROOM_LOCALE"
FILE = "reading_room.po"

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def t(message: str, /, **values: object) -> str:
    """Return a message in the language in use, with its values put in; whole numbers as it does.

    >>> t("{n} of {total}", n=3, total=5_000)
    '3 of 5,000'
    """
    words = _catalogue(_language.get()).gettext(message)
    return words.format(**_written(values)) if values else words


def tn(one: str, many: str, /, n: int, **values: object) -> str:
    """Return the form of a message that fits a number, which is put in as `n`.

    >>> tn("{n} case", "{n} cases", 1), tn("{n} case", "{n} cases", 2)
    ('1 case', '2 cases')
    """
    words = _catalogue(_language.get()).ngettext(one, many, n)
    return words.format(**_written({"n": n, **values}))


def later(message: str) -> str:
    """Return a message as it is, marked for the catalogue: `said` looks it up when it is shown."""
    return message


def said(message: str, /) -> str:
    """Return a message marked by `later` in the language in use."""
    return _catalogue(_language.get()).gettext(message) if message else ""


def pieces(text: str) -> str:
    """Return a table's words in the language in use: as a whole, else piece by piece.

    Reasons and methods are put together of pieces, and some hold numbers: those stand in the
    catalogue as `{a}`, `{b}` in their order. What it lacks stays in English.
    """
    if _language.get() == ENGLISH:
        return text
    whole = _piece(text)
    if whole != text:
        return whole
    found = [_phrase(piece) if i % 2 == 0 else piece for i, piece in enumerate(_split(text))]
    return "".join(found)


def _split(text: str) -> list[str]:
    return re.split("(; |: )", text)


def _phrase(text: str) -> str:
    """Return a piece that may name what it is and how, with a comma between; both or neither."""
    whole, parts = _piece(text), text.split(", ")
    found = [_piece(part) for part in parts]
    known = all(one != part for one, part in zip(found, parts, strict=True))
    return t(", ").join(found) if whole == text and known else whole


def _piece(text: str) -> str:
    words = said(text)
    numbers = dict(zip(ascii_lowercase, _NUMBER.findall(text), strict=False))
    if words != text or not numbers:
        return words
    names = iter(f"{{{name}}}" for name in numbers)
    pattern = _NUMBER.sub(lambda found: next(names, found[0]), text)
    words = said(pattern)
    return text if words == pattern else words.format(**numbers)


def capital(words: str) -> str:
    """Return words with a capital letter at their head."""
    return words[:1].upper() + words[1:]


def written(number: str) -> str:
    """Return a number that is written as in English, with the separators of the language in use.

    >>> written("1,234.5")
    '1,234.5'
    """
    signs = separators()
    return number if signs == ".," else number.translate(str.maketrans(".,", signs))


def separators() -> str:
    """Return the decimal and the thousands separator of the language in use."""
    return _separators(_language.get())


def language() -> str:
    """Return the language in use."""
    return _language.get()


def right_to_left() -> bool:
    """Return whether the language in use is written from right to left."""
    found = _region(_language.get())
    return found is not None and found.text_direction == "rtl"


def languages() -> tuple[str, ...]:
    """Return the languages there is a catalogue for, English first."""
    return (ENGLISH, *sorted({path.parent.name for path in folder().glob(f"*/{FILE}")} - {ENGLISH}))


@contextmanager
def spoken(name: str) -> Iterator[None]:
    """Use a language within the block.

    Raises
    ------
    OptionsError
        There is no catalogue for it.
    """
    if name not in languages():
        raise OptionsError(
            f"language is {name!r}, for which there is no catalogue; give one of"
            f" {', '.join(languages())}"
        )
    before = _language.set(name)
    try:
        yield
    finally:
        _language.reset(before)


def folder() -> Path:
    """Return where the catalogues are."""
    return Path(os.environ.get(VARIABLE) or Path(__file__).parents[1] / "locale")


def _written(values: dict[str, object]) -> dict[str, object]:
    return {
        name: written(f"{value:,}")
        if isinstance(value, int) and not isinstance(value, bool)
        else value
        for name, value in values.items()
    }


@lru_cache
def _region(name: str) -> Locale | None:
    try:
        return Locale.parse(name, sep="-")
    except (UnknownLocaleError, ValueError):
        return None


@lru_cache
def _separators(name: str) -> str:
    region = _region(name)
    if region is None:
        return ".,"
    return f"{get_decimal_symbol(region)}{get_group_symbol(region)}"


@lru_cache
def _catalogue(name: str) -> NullTranslations:
    path = folder() / name / FILE
    if not path.is_file():
        return NullTranslations()
    compiled = BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return GNUTranslations(compiled)
