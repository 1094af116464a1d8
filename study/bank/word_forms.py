"""Finds other forms of words in identifiers: case endings, abbreviated places, years of eras."""

from collections.abc import Iterator, Sequence
from itertools import islice, product

from study.base.text import text_key

_CYRILLIC_ENDINGS = (
    *("", "а", "я", "о", "у", "ю", "е", "ы", "и", "ь", "ом", "ем", "им", "ым", "ои", "еи", "ою"),
    *("ого", "его", "ому", "ему", "ых", "их", "ая", "ую", "ии", "ыи", "ами", "ыми", "ими"),
)
"""Case endings of names in Slavic languages; й is folded to и."""

_FOLDED_ENDINGS = tuple(map(text_key, _CYRILLIC_ENDINGS))

_LATIN_ENDINGS = ("a", "u", "owi", "ovi", "em", "iem", "ova", "owa")
_ADJECTIVE_ENDINGS = ("i", "y", "a", "iego", "iemu", "im", "iej", "eho", "emu", "ym", "ej", "ou")
_ADJECTIVES = ("ski", "ska", "cki", "cka", "sky", "cky", "dzki", "dzka")
_CYRILLIC_VOWELS = text_key("аеиоуыьюя")
_CYRILLIC_ADJECTIVES = (text_key("ии"), text_key("ая"))
_MIN_STEM, _MIN_LATIN_NAME = 3, 5

_ABBREVIATIONS = (
    frozenset(("st", "saint", "sankt", "sainte", "ste", "sint", "sta", "santa", "san")),
    frozenset(("mt", "mount")),
    frozenset(("ft", "fort")),
)
_MAX_FORMS = 64

_ERAS = {
    **dict.fromkeys(("令和", "令", "r"), 2018),
    **dict.fromkeys(("平成", "平", "h"), 1988),
    **dict.fromkeys(("昭和", "昭", "s"), 1925),
    **dict.fromkeys(("大正", "大", "t"), 1911),
    **dict.fromkeys(("民國", "民国"), 1911),
}
"""The year before the first of each Japanese era, and of the calendar of Taiwan."""

_MAX_ERA_YEAR = 200
_BUDDHIST_YEARS, _BUDDHIST_OFFSET = range(2400, 2700), 543


def inflected_forms(name: str, *, is_cyrillic: bool) -> Iterator[str]:
    """Yield the forms of a folded name with the case endings of Slavic languages.

    >>> "novakovi" in {*inflected_forms("novak", is_cyrillic=False)}
    True
    """
    if is_cyrillic:
        ending = next((each for each in _CYRILLIC_ADJECTIVES if name.endswith(each)), "")
        stem = name.removesuffix(ending).rstrip(_CYRILLIC_VOWELS)
        if len(stem) >= _MIN_STEM:
            yield from (stem + ending for ending in _FOLDED_ENDINGS)
    elif name.isascii() and len(name) >= _MIN_LATIN_NAME:
        if name.endswith(_ADJECTIVES):
            yield from (name[:-1] + ending for ending in _ADJECTIVE_ENDINGS)
        elif name[-1] not in "aeiouy":
            yield from (name + ending for ending in _LATIN_ENDINGS)


def place_variants(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a place with other abbreviations, and with and without a final s.

    >>> ("saint", "josefs") in set(place_variants(["st", "josef"]))
    True
    """
    if not any(word in group for word in words for group in _ABBREVIATIONS):
        return
    forms = []
    for word in words:
        if abbreviations := next((group for group in _ABBREVIATIONS if word in group), None):
            forms.append(sorted(abbreviations))
        elif len(word) >= 4 and word.isascii() and word.isalpha():
            forms.append([word, word.removesuffix("s") if word.endswith("s") else f"{word}s"])
        else:
            forms.append([word, ""] if word == "s" else [word])
    for chosen in islice(product(*forms), _MAX_FORMS):
        yield tuple(word for word in chosen if word)


def year_from_era(words: Sequence[str]) -> int:
    """Return the year at the start of folded words if it is counted in an era, otherwise 0.

    >>> year_from_era(["令和", "6"]), year_from_era(["113"]), year_from_era(["2567"])
    (2024, 2024, 2024)
    """
    first = words[0]
    if first in _ERAS and len(words) > 1:
        number = "1" if words[1] == "元" else words[1]
        if number.isdecimal() and 0 < int(number) < _MAX_ERA_YEAR:
            return _ERAS[first] + int(number)
    elif first.isdecimal() and len(first) == 3:
        return _ERAS["民國"] + int(first)
    elif first.isdecimal() and len(first) == 4 and int(first) in _BUDDHIST_YEARS:
        return int(first) - _BUDDHIST_OFFSET
    return 0
