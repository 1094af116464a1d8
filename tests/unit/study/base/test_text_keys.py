"""Strings that look alike are treated as equal, and their difference is named."""

import sys
import unicodedata
from collections.abc import Iterator

import pytest

from study.base.text import (
    FirstSpelling,
    difference,
    forms_for_comparison,
    guard_cell,
    id_key,
    text_key,
    unguard_cell,
)

LOOK_ALIKES = [
    ("M\u00fcller", "Mu\u0308ller", "composed and decomposed characters"),
    ("\u212b", "\u00c5", "composed and decomposed characters"),
    ("5 \u00b5m", "5 \u03bcm", "U+00B5 micro sign"),
    ("Yes", "Yes\u200b", "U+200B zero width space"),
    ("Yes", "\ufeffYes", "U+FEFF zero width no-break space"),
    ("Yes", "Y\u00ades", "U+00AD soft hyphen"),
    ("Yes", "Yes\ufe0f", "U+FE0F variation selector-16"),
    ("Yes", "Yes\U000e0100", "U+E0100 variation selector-17"),
    ("Yes", "Yes\u202e", "U+202E right-to-left override"),
    ("Yes", "Yes\u0007", "U+0007"),
    ("Yes", "Yes\u3164", "U+3164 hangul filler"),
    ("\u05d0\u05d1", "\u05d0\u200f\u05d1", "U+200F right-to-left mark"),
    ("\u0644\u0627", "\ufefb", "U+FEFB arabic ligature lam with alef isolated form"),
    ("\u05e9\u05c1\u05b8", "\u05e9\u05b8\u05c1", "composed and decomposed characters"),
    ("ABC", "\uff21BC", "U+FF21 fullwidth latin capital letter a"),
    ("finding", "\ufb01nding", "U+FB01 latin small ligature fi"),
    ("a b", "a\u00a0b", "U+00A0 no-break space"),
    ("a b", "a\u2007 b", "U+2007 figure space"),
    ("a b", " a \t b\n", "white space"),
    ("q-1", "q\u20111", "U+2011 non-breaking hyphen"),
    ("-5", "\u22125", "U+2212 minus sign"),
    ("5-10", "5\u201310", "U+2013 en dash"),
    ("don't", "don\u2019t", "U+2019 right single quotation mark"),
    ("Yes", "Y\u0435s", "U+0435 cyrillic small letter ie"),
    ("Q7q", "Q7\u051b", "U+051B cyrillic small letter qa"),
    ("5 cm\u00b2", "5 \u33a0", "U+33A0 square cm squared"),
    ("PATH", "P\u0391TH", "U+0391 greek capital letter alpha"),
    ("Kos", "\u039aos", "U+039A greek capital letter kappa"),
    ("data", "d\u0251ta", "U+0251 latin small letter alpha"),
    ("a-b", "a\u2014b", "U+2014 em dash"),
    ("5'", "5\u2032", "U+2032 prime"),
    ("don't", "don\u00b4t", "U+00B4 acute accent"),
    ('"a"', "\u201ea\u201c", "U+201C left double quotation mark"),
    ("1:2", "1\u22362", "U+2236 ratio"),
    ("38 \u00b0C", "38 \u00baC", "U+00BA masculine ordinal indicator"),
    ("\u2264 5", "\u2a7d 5", "U+2A7D less-than or slanted equal to"),
    ("\u0643\u064a\u0633", "\u06a9\u06cc\u0633", "U+06A9 arabic letter keheh"),
    ("\u0661", "\u06f1", "U+06F1 extended arabic-indic digit one"),
    ("Yes", "Yes\U00016fe4", "U+16FE4 khitan small script filler"),
]

DIFFERENT_MEANINGS = [
    ("5 cm2", "5 cm\u00b2"),
    ("102", "10\u00b2"),
    ("11/2", "1\u00bd"),
    ("CO2", "CO\u2082"),
    ("1", "\u2460"),
    ("5 mm", "5 \u00b5m"),
    ("Masse", "Ma\u00dfe"),
    ("sinir", "s\u0131n\u0131r"),
    ("resume", "r\u00e9sum\u00e9"),
    ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05b8\u05dc\u05d5\u05dd"),
    ("-5", "5"),
    ("a b", "ab"),
    ("\u03b3", "y"),
    ("\u06f4", "\u0664"),
]


def every_character() -> Iterator[int]:
    """Yield all code points except unassigned and private ones beyond U+FFFF."""
    for code in range(sys.maxunicode + 1):
        is_assigned = unicodedata.category(chr(code)) not in ("Cn", "Co")
        if code < 0x10000 or code >> 12 == 0xE0 or is_assigned:
            yield code


@pytest.mark.parametrize(("text", "other", "named"), LOOK_ALIKES)
def test_strings_that_look_alike_are_equal_and_their_difference_is_reported(
    text: str, other: str, named: str
) -> None:
    assert id_key(text) == id_key(other)
    assert text_key(text) == text_key(other)
    assert named in difference(text, other) == difference(other, text)


@pytest.mark.parametrize(("text", "other"), DIFFERENT_MEANINGS)
def test_strings_with_different_meanings_are_different(text: str, other: str) -> None:
    assert text_key(text) != text_key(other)


def test_upper_and_lower_case_differ_in_ids_only() -> None:
    assert id_key("q1") != id_key("Q1")
    for text in (
        "q1",
        "\u0432\u0438\u0434",
        "\u00e9tage",
        "\u03ba\u03ac\u03c4\u03c9",
        "\u03bc\u03ae",
    ):
        assert text_key(text) == text_key(text.upper())
    assert difference("q1", "Q1") == "letter case"


@pytest.mark.thorough
def test_for_every_character_the_key_of_a_key_is_the_key() -> None:
    """Otherwise two strings could be equal in some places and different in others."""
    for code in every_character():
        char = chr(code)
        for key in (id_key, text_key):
            form = key(f"a{char}b")
            assert key(form) == form, f"U+{code:04X}"
            assert unicodedata.normalize("NFC", form) == form, f"U+{code:04X}"


def test_every_character_whose_form_differs_is_listed_for_databases() -> None:
    """Unicode planes that are not listed have no characters, or are for private use."""
    entries = {char for char, _, _ in forms_for_comparison()}
    assert {"A", "\u00ad", "\ufb01", "\U0001d400", "\U0002f800", "\U000e0100"} <= entries
    for code in (*range(0x40000, 0xE0000), *range(0xF0000, sys.maxunicode + 1)):
        assert unicodedata.category(chr(code)) in ("Cn", "Co"), f"U+{code:04X}"


def test_the_first_spelling_represents_all_others() -> None:
    first = FirstSpelling(text_key)
    assert [first[text] for text in ("Chest", " CHEST", "chest\u200b", "Head")] == [
        *("Chest", "Chest", "Chest"),
        "Head",
    ]


def test_a_formula_after_characters_without_a_glyph_is_escaped() -> None:
    """A spreadsheet may remove such characters and then run the formula."""
    for code in every_character():
        char = chr(code)
        if unicodedata.category(char) != "Cs" and id_key(char) in ("", " "):
            for text in (f"{char}=1+1", f"'{char}=1+1", f"{char}{char}-x", char):
                cell = guard_cell(text)
                assert not cell.startswith(char) or text == char, f"U+{code:04X}"
                assert unguard_cell(cell) == text, f"U+{code:04X}"
