"""Treat ids and names that look alike as equal, and describe how two of them differ.

The functions are the same as in `study.base.text`, which the analysis must not import; a test
compares them for every character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_DIFFERENT_TAGS = ("<super>", "<sub>", "<fraction>", "<circle>")
"""Tags of compatibility characters that look different from their plain form: 10² is not 102."""

_INVISIBLE = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2d7f\ufe00-\ufe0f\ufff0-\ufff8"
    r"\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)
"""Characters without a glyph that are neither control nor format characters (Unicode 15)."""

_VISIBLE = re.compile(r"[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\s]")
"""Visible control and format characters: white space, and marks in front of Arabic numbers."""

_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u02d7\u05be\u2796", "-"),
        **dict.fromkeys("\u00b4\u2018\u2019\u201a\u201b\u02bc\u2032\u05f3", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u05f4", '"'),
        **dict.fromkeys("\u2044\u2215", "/"),
        **dict.fromkeys("\u2236\ua789", ":"),
        **dict.fromkeys("\u01c0\u2223", "|"),
        **dict.fromkeys("\u00ba\u02da", "\u00b0"),  # degrees
        **dict.fromkeys("\u2027\u2219\u22c5", "\u00b7"),
        **dict.fromkeys("\u2266\u2a7d", "\u2264"),
        **dict.fromkeys("\u2267\u2a7e", "\u2265"),
        **{"\u2217": "*", "\u223c": "~", "\u01c3": "!", "\u2a2f": "\u00d7"},
        **{"\u0251": "a", "\u0261": "g", "\u0555": "O", "\u0585": "o"},
        **{"\u06a9": "\u0643", "\u06cc": "\u064a"},  # Persian kaf and yeh
        **{digit: chr(ord(digit) - 0x90) for digit in "\u06f0\u06f1\u06f2\u06f3\u06f7\u06f8\u06f9"},
        "\u2800": " ",  # Braille without a dot
    }
) | str.maketrans(
    "АВЕКМНОРСТУХЅІЈҮҺѴԀԚԜӀаеорсухѕіјүһѵԁԛԝΑΒΕΖΗΙΚΝΟΡΤΥΧο",
    "ABEKMHOPCTYXSIJYHVDQWIaeopcyxsijyhvdqwABEZHIKNOPTYXo",
)
"""Characters that look like others, with the character that replaces them in comparisons.

The Greek capital mu is omitted, because its small letter looks like the micro sign.
"""

_GREEK = dict(zip("αβεζηικνρτυχ", "abezhiknptyx", strict=True))
_LOWER_LOOK_ALIKES: dict[int, int | str] = {
    ord(char): unicodedata.normalize("NFC", _GREEK[parts[0]] + parts[1:])
    for char in map(chr, (*range(0x370, 0x400), *range(0x1F00, 0x2000)))
    if (parts := unicodedata.normalize("NFD", char))[0] in _GREEK
} | str.maketrans("вкмнтӏɑɡ", "bkmhtiag")
"""Small letters whose capitals look like Latin capitals, for comparisons that ignore case."""


class _Folding(dict[int, str]):
    """The replacement of each character in comparisons, by code point; computed at first use."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(char: str) -> str:
    if ord(char) in _LOOK_ALIKES:
        return char.translate(_LOOK_ALIKES)
    tag, *codes = unicodedata.decomposition(char).split() or [""]
    if tag and tag not in _DIFFERENT_TAGS:
        parts = codes if tag.startswith("<") else (tag, *codes)
        return "".join(_fold(chr(int(code, 16))) for code in parts)
    invisible = unicodedata.category(char) in ("Cc", "Cf") and not _VISIBLE.match(char)
    return "" if invisible or _INVISIBLE.match(char) else char


_FOLDING = _Folding()
_MAX_NAMED = 3
"""Maximum number of characters that `difference` names."""


def id_key(text: str) -> str:
    """Return the case-sensitive form in which ids and paths are compared.

    Strings that look alike have the same form. Composed and decomposed characters are equal, as are
    full-width forms, ligatures, the kinds of hyphens, quotation marks and white space, and Cyrillic
    and Latin letters of the same shape. Invisible characters are ignored. Superscripts, subscripts,
    fractions and circled digits remain different from plain digits.

    >>> id_key("Mu\u0308ller") == id_key("M\u00fcller\u200b"), id_key("A") == id_key("a")
    (True, False)
    >>> id_key("5 cm\u00b2") == id_key("5 cm2")
    False
    """
    if text.isascii():
        if not text.isprintable():
            text = text.translate(_FOLDING)
        return " ".join(text.split()) if " " in text or not text.isprintable() else text
    return " ".join(unicodedata.normalize("NFC", text.translate(_FOLDING)).split())


def text_key(text: str) -> str:
    """Return the form in which names and options are compared: `id_key` without letter case.

    The German sharp s differs from ss, and the Turkish dotless i from i, because they form
    different words.

    >>> text_key("Presence  Assessment") == text_key("PRESENCE ASSESSMENT")
    True
    >>> text_key("Ma\u00dfe") == text_key("Masse")
    False
    """
    key = id_key(text).lower()
    return key if key.isascii() else key.translate(_LOWER_LOOK_ALIKES)


def difference(text: str, other: str) -> str:
    r"""Describe how two strings with the same key differ; empty if they are equal.

    >>> difference("Yes", "Yes\u200b"), difference("a  b", "a b"), difference("A", "a")
    ('U+200B zero width space', 'white space', 'letter case')
    """
    first, second = (unicodedata.normalize("NFC", each) for each in (text, other))
    if first == second:
        return "composed and decomposed characters" if text != other else ""
    if first.lower() == second.lower():
        return "letter case"
    unusual = [c for c in sorted({*first} ^ {*second}) if c not in " \t\r\n" and id_key(c) != c]
    differences = [f"U+{ord(char):04X} {_name(char)}".strip() for char in unusual[:_MAX_NAMED]]
    if id_key(first) != id_key(second):
        differences.append("letter case")
    return ", ".join(differences) or "white space"


def _name(char: str) -> str:
    return unicodedata.name(char, "").lower()


class FirstSpelling(dict[str, str]):
    """Maps every string to the first string with the same comparison key.

    >>> first = FirstSpelling(text_key)
    >>> first["Chest"], first["CHEST"], first["Head"]
    ('Chest', 'Chest', 'Head')
    """

    def __init__(self, key: Callable[[str], str]) -> None:
        super().__init__()
        self._key = key
        self._first: dict[str, str] = {}

    def __missing__(self, text: str) -> str:
        self[text] = first = self._first.setdefault(self._key(text), text)
        return first
