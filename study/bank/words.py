"""Finds the words, dates and UIDs in a text, in a normalised form for comparing identifiers.

Letter case, diacritics, umlauts (ü, ue, u), invisible characters and separators between words are
ignored. Scripts without spaces between words yield every short sequence of characters.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from babel import Locale

from study.bank.word_forms import year_from_era
from study.base.text import id_key, text_key

MAX_WORDS = 6
"""The maximum number of words in an identifier."""

_MAX_SURNAME_WORDS, _MAX_INITIALS = 3, 3
"""The maximum number of words in a surname, and of letters in the initials next to it."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_UID = re.compile(r"\d+(?:\.\d+){3,}")
_SEPARATORS = re.compile(r"[\s/\\:=,;()\[\]{}|\"'_]+")
_DAY_AND_MONTH = re.compile(
    r"(?<![\w./-])(\d{1,2})(?:/(\d{1,2})(?!\w|[./-]\w)|\.\s?(\d{1,2})\.(?!\s?\d))"
)
"""A day and a month in digits, without a year: `24/5` or `24.5.`, but not `24.5`."""

_FIRST_YEAR = re.compile("(?<=[和成正])元年")
_SPACED_LETTERS = re.compile(r"(?<!\w)\w(?:\s\w){2,}(?!\w)")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_NO_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"})
_UMLAUTS = re.compile("([aou])e|aa")
_LOCALES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb"),
    *("fi", "pl", "cs", "tr", "ru", "uk", "el", "hu", "ro"),
)
_DATE_FILLERS = frozenset(
    (
        *("st", "nd", "rd", "th", "of", "the", "de", "den", "der", "le", "a", "o", "er"),
        *"年月日년월일г",
        *("ngay", "thang", "nam"),
    )
)
"""Words that may be between day, month and year."""

_YEARS = range(1880, 2101)
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_HIRAGANA = {code: chr(code - 0x60) for code in range(0x30A1, 0x30F7)}
"""Maps Katakana to Hiragana."""


class PossibleKey(NamedTuple):
    """A part of a text that may be the key of a spelling.

    A key is a sequence of joined words, a surname and initials joined by a plus, or a date or UID
    after its kind and a colon. `place` is the index of its first word, and `n` the number of words.
    `capitals` states whether each word (of a surname: any word) starts with a capital letter.
    """

    key: str
    place: int
    n: int
    capitals: bool


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """Return a word in lower case, without diacritics and umlauts, with Katakana as Hiragana.

    >>> fold("Müller"), fold("MUELLER"), fold("Łukasz"), fold("Weiß")
    ('muller', 'muller', 'lukasz', 'weiss')
    """
    text = unicodedata.normalize("NFKD", text_key(word).casefold().translate(_LETTERS | _HIRAGANA))
    text = "".join(char for char in text if unicodedata.category(char) != "Mn").replace("ı", "i")
    text = "".join(str(unicodedata.decimal(char, char)) for char in text)
    return unicodedata.normalize("NFC", _UMLAUTS.sub(lambda match: match[1] or "a", text))


def split_words(text: str) -> list[str]:
    """Return the folded words of a text; letters and digits are separate words.

    >>> split_words("D’Angelo-Müller 007")
    ['d', 'angelo', 'muller', '007']
    """
    return [fold(word) for word in _WORD.findall(id_key(html.unescape(text)))]


def has_no_spaces(text: str) -> bool:
    """Return whether a text is in a script without spaces between words."""
    return bool(_NO_SPACES.search(text))


def possible_keys(text: str) -> Iterator[PossibleKey]:
    """Yield all parts of a text that may be the spelling of an identifier."""
    text = _FIRST_YEAR.sub("1年", id_key(html.unescape(text)))
    yield from _word_sequences(text)
    if (split := _split_camel_case(text)) != text:
        yield from _word_sequences(split)
    if (joined := _SPACED_LETTERS.sub(lambda match: "".join(match[0].split()), text)) != text:
        yield from _word_sequences(joined)
    yield from _days_and_months(text)
    for place, chunk in enumerate(_SEPARATORS.split(text)):
        if key := _NOT_ALPHANUMERIC.sub(
            "", chunk
        ):  # long IDs that consist of many words, not names
            yield PossibleKey(fold(key), -10 * (place + 1), 1, capitals=chunk[:1].isupper())
    for uid in _UID.findall(text):
        yield PossibleKey(f"uid:{uid}", 0, 1, capitals=True)


def _split_camel_case(text: str) -> str:
    return text[:1] + "".join(
        f" {after}" if before.islower() and after.isupper() else after
        for before, after in pairwise(text)
    )


def _word_sequences(text: str) -> Iterator[PossibleKey]:
    """Yield each sequence of words, joined, and the dates that words form."""
    text_words = _WORD.findall(text)
    words = [fold(word) for word in text_words]
    capitals = [word[:1].isupper() for word in text_words]
    for place, word in enumerate(words):
        key, all_capitals = "", True
        for n, next_word in enumerate(words[place : place + MAX_WORDS], 1):
            key += next_word
            all_capitals = all_capitals and capitals[place + n - 1]
            yield PossibleKey(key, place, n, all_capitals)
            for neighbour in (place - 1, place + n):
                if (
                    n <= _MAX_SURNAME_WORDS
                    and 0 <= neighbour < len(words)
                    and len(words[neighbour]) <= _MAX_INITIALS
                ):
                    capital = any(capitals[place : place + n]) and capitals[neighbour]
                    yield PossibleKey(f"{key}+{words[neighbour]}", place, n, capital)
        if has_no_spaces(word):
            for start in range(len(word)):
                for end in range(start + 2, min(start + 10, len(word)) + 1):
                    yield PossibleKey(word[start:end], place, 1, capitals=True)
    yield from _dates([word for word in words if word not in _DATE_FILLERS])


@cache
def _months() -> dict[str, int]:
    """Map the names and abbreviations of months in many languages to their numbers."""
    numbers: dict[str, int] = {}
    for code in _LOCALES:
        months = Locale.parse(code).months
        for names in (*months["format"].values(), *months["stand-alone"].values()):
            for number, name in names.items():
                words = split_words(name)
                if len(words) == 1 and len(words[0]) >= 3:
                    numbers.setdefault(words[0], number)
    numbers["sept"] = 9
    return numbers


def _dates(words: Sequence[str]) -> Iterator[PossibleKey]:
    """Yield each interpretation of neighbouring words as a complete or incomplete date.

    Keys are `date:`, `short date:` with a year of two digits, `month:` and `day:`.
    """
    for word in words:
        if word.isdecimal() and len(word) in (6, 8, 12, 14):  # the last two include a time
            year = len(word[:8]) - 4
            yield from _read_dates(word[:2], word[2:4], word[4:8])
            yield from _read_dates(word[year + 2 : 8], word[year : year + 2], word[:year])
    for place, (first, second, third) in enumerate(zip(words, words[1:], words[2:], strict=False)):
        yield from _read_dates(first, second, third)
        yield from _read_dates(third, second, first)
        if year := year_from_era(words[place : place + 2]):
            rest = [*words, ""][place + 1 + (not first.isdecimal()) :]
            yield from _read_dates(rest[1], rest[0], str(year))
        elif year := year_from_era([third]):
            yield from _read_dates(first, second, str(year))
    for first, second in pairwise(words):
        for named, number in ((first, second), (second, first)):
            if not (month := _month(named)) or not number.isdecimal():
                continue
            if len(number) == 4 and int(number) in _YEARS:
                yield PossibleKey(f"month:{number}-{month:02d}", 0, 2, capitals=True)
            elif named in _months() and len(number) <= 2:
                yield PossibleKey(f"day:{month:02d}-{int(number):02d}", 0, 2, capitals=True)


def _days_and_months(text: str) -> Iterator[PossibleKey]:
    """Yield days and months written in digits.

    One number must exceed 12 or begin with 0, since `3/4` is more likely a fraction and `3.4.` a
    size.
    """
    for match in _DAY_AND_MONTH.finditer(text):
        first, second = match[1], match[2] or match[3]
        if max(int(first), int(second)) > 12 or "0" in (first[0], second[0]):
            for day, month in ((first, second), (second, first)):
                yield PossibleKey(f"day:{int(month):02d}-{int(day):02d}", 0, 2, capitals=True)


def _month(word: str) -> int:
    if word.isdecimal():
        return int(word) if len(word) <= 2 and 1 <= int(word) <= 12 else 0
    return _ROMAN.index(word) if word in _ROMAN else _months().get(word, 0)


def _read_dates(day: str, month: str, year: str) -> Iterator[PossibleKey]:
    """Yield the date with day and month in this order, and with both swapped."""
    if not (year.isdecimal() and len(year) in (2, 4)):
        return
    kind, centuries = ("date", (0,)) if len(year) == 4 else ("short date", (1900, 2000))
    for day_text, month_name in ((day, month), (month, day)):
        if not (day_text.isdecimal() and len(day_text) <= 2 and (number := _month(month_name))):
            continue
        for century in centuries:
            try:
                day_read = date(century + int(year), number, int(day_text))
            except ValueError:
                continue
            yield PossibleKey(f"{kind}:{day_read}", 0, 3, capitals=True)
