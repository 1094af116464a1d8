"""Translation of the report and its figures with gettext catalogues; messages are in English.

The catalogues are those of the pages, `locale/LANGUAGE/reading_room.po`, and messages are written
in the same way: `t("{n} cases", n=3)`. Tables as files, `results.json` and the files for a paper
are never translated.
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

from analysis.errors import OptionsError, quoted

ENGLISH = "en"
FOLDER_VARIABLE = "READING_ROOM_LOCALE"
CATALOGUE_FILE = "reading_room.po"

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def t(message: str, /, **values: object) -> str:
    """Return a message with its values in the language in use; whole numbers get separators.

    >>> t("{n} of {total}", n=3, total=5_000)
    '3 of 5,000'
    """
    words = _catalogue(_language.get()).gettext(message)
    return words.format(**_format_values(values)) if values else words


def tn(singular: str, plural: str, /, n: int, **values: object) -> str:
    """Return the singular or plural form of a message for a number, its value `n`.

    >>> tn("{n} case", "{n} cases", 1), tn("{n} case", "{n} cases", 2)
    ('1 case', '2 cases')
    """
    words = _catalogue(_language.get()).ngettext(singular, plural, n)
    return words.format(**_format_values({"n": n, **values}))


def later(message: str) -> str:
    """Return a message unchanged, marked for the catalogue and for `translated`."""
    return message


def translated(message: str, /) -> str:
    """Return a message that `later` marked, in the language in use."""
    return _catalogue(_language.get()).gettext(message) if message else ""


def translate_pieces(text: str) -> str:
    """Translate text of a table to the language in use, as a unit or else piece by piece.

    Reasons and methods are joined from pieces. Numbers in them are `{a}`, `{b}` and so on in the
    catalogue. Pieces that the catalogue lacks remain in English.
    """
    if _language.get() == ENGLISH:
        return text
    as_unit = _translate_piece(text)
    if as_unit != text:
        return as_unit
    parts = [
        _translate_phrase(piece) if i % 2 == 0 else piece
        for i, piece in enumerate(_split_pieces(text))
    ]
    return "".join(parts)


def _split_pieces(text: str) -> list[str]:
    return re.split("(; |: )", text)


def _translate_phrase(text: str) -> str:
    """Translate a piece, or its parts between commas if the catalogue has all of them."""
    as_unit, parts = _translate_piece(text), text.split(", ")
    known_parts = [_translate_piece(part) for part in parts]
    known = all(piece != part for piece, part in zip(known_parts, parts, strict=True))
    return t(", ").join(known_parts) if as_unit == text and known else as_unit


def _translate_piece(text: str) -> str:
    words = translated(text)
    numbers = dict(zip(ascii_lowercase, _NUMBER.findall(text), strict=False))
    if words != text or not numbers:
        return words
    names = iter(f"{{{name}}}" for name in numbers)
    pattern = _NUMBER.sub(lambda match: next(names, match[0]), text)
    words = translated(pattern)
    return text if words == pattern else words.format(**numbers)


def capitalise(words: str) -> str:
    """Return text with a capital first letter."""
    return words[:1].upper() + words[1:]


def localised(number: str) -> str:
    """Change a number from English notation to the separators of the language in use.

    >>> localised("1,234.5")
    '1,234.5'
    """
    marks = separators()
    return number if marks == ".," else number.translate(str.maketrans(".,", marks))


def separators() -> str:
    """Return the decimal and the thousands separator of the language in use."""
    return _separators(_language.get())


def current_language() -> str:
    """Return the language in use."""
    return _language.get()


def is_right_to_left() -> bool:
    """Return whether the language in use is written from right to left."""
    region = _locale(_language.get())
    return region is not None and region.text_direction == "rtl"


def languages() -> tuple[str, ...]:
    """Return the languages with a catalogue, English first."""
    return (
        ENGLISH,
        *sorted(
            {path.parent.name for path in catalogue_folder().glob(f"*/{CATALOGUE_FILE}")}
            - {ENGLISH}
        ),
    )


@contextmanager
def use_language(name: str) -> Iterator[None]:
    """Use a language within the `with` block.

    Raises
    ------
    OptionsError
        There is no catalogue for the language.
    """
    if name not in languages():
        raise OptionsError(
            f"language is {quoted(name)}, for which there is no catalogue; give one of"
            f" {', '.join(languages())}"
        )
    before = _language.set(name)
    try:
        yield
    finally:
        _language.reset(before)


def catalogue_folder() -> Path:
    """Return the folder of the catalogues."""
    return Path(os.environ.get(FOLDER_VARIABLE) or Path(__file__).parents[1] / "locale")


def _format_values(values: dict[str, object]) -> dict[str, object]:
    return {
        name: localised(f"{value:,}")
        if isinstance(value, int) and not isinstance(value, bool)
        else value
        for name, value in values.items()
    }


@lru_cache
def _locale(name: str) -> Locale | None:
    try:
        return Locale.parse(name, sep="-")
    except (UnknownLocaleError, ValueError):
        return None


@lru_cache
def _separators(name: str) -> str:
    region = _locale(name)
    if region is None:
        return ".,"
    return f"{get_decimal_symbol(region)}{get_group_symbol(region)}"


@lru_cache
def _catalogue(name: str) -> NullTranslations:
    path = catalogue_folder() / name / CATALOGUE_FILE
    if not path.is_file():
        return NullTranslations()
    compiled = BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return GNUTranslations(compiled)
