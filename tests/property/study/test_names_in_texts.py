"""A patient's name is reported in each text that contains it, and in no other."""

import unicodedata
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from study.bank.identifiers import identifiers
from study.bank.identity_check import RowTexts, find_identifiers

SURNAMES = (
    *("Müller", "Featherstone", "van der Berg", "O'Brien", "García-Márquez", "Łuczak", "Sørensen"),
    *("Nguyễn", "Großmann", "Çelik", "Иванова", "Παπαδόπουλος", "D’Angelo", "Mac Gregor"),
)
GIVEN = ("Jörg", "Quentin", "Ana María", "Jean-Luc", "Żaneta", "Åse", "Пётр", "Νίκος", "Renée")
WORDS = (
    "is",
    "there",
    "an",
    "effusion",
    "on",
    "the",
    "left",
    "side",
    "of",
    "a",
    "chest",
    "or",
    "both",
)

UMLAUTS = str.maketrans({"ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "Å": "Aa"})


def without_diacritics(text: str) -> str:
    """Return a text without its accents."""
    parts = unicodedata.normalize("NFD", text)
    return "".join(char for char in parts if not unicodedata.combining(char))


WRITINGS: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    str.lower,
    str.title,
    without_diacritics,
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: text.translate(UMLAUTS),
    lambda text: "\u200b".join(text),
    lambda text: text.replace("-", " ").replace("'", "").replace("’", ""),
    lambda text: text.replace("'", "’"),
    lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
)
ORDERS = (
    "{given} {surname}",
    "{surname} {given}",
    "{surname}, {given}",
    "{surname}^{given}",
    "{surname}_{given}.dcm",
    "Dr. {given} {surname} jr.",
    "{surname}, Mrs {given}",
    "{initial}. {surname}",
    "{surname}, {initial}.",
)
VALUES = (
    "{surname}^{given}",
    "{surname}^{given}^^Dr.^MD",
    "{surname}, {given}",
    "X^Y={surname}^{given}",
)


def findings(value: str, text: str) -> list[bool]:
    """Return whether each match of a patient with this name in a text is certain."""
    own = identifiers([("PatientName", "PN", value)])
    row = RowTexts(patient="p", texts={"question": text}, identifiers=own)
    return [identifier.certain for identifier in find_identifiers([row])[0]]


@given(
    surname=st.sampled_from(SURNAMES),
    given_name=st.sampled_from(GIVEN),
    value=st.sampled_from(VALUES),
    order=st.sampled_from(ORDERS),
    write=st.sampled_from(WRITINGS),
    stored=st.sampled_from(WRITINGS[:7]),
    place=st.integers(0, len(WORDS)),
)
def test_a_full_name_is_certain_in_all_spellings(
    surname: str,
    given_name: str,
    value: str,
    order: str,
    write: Callable[[str], str],
    stored: Callable[[str], str],
    place: int,
) -> None:
    """The spellings of the file and of the text vary."""
    parts = {"surname": surname, "given": given_name, "initial": given_name[0]}
    text = write(order.format(**parts))
    sentence = " ".join([*WORDS[:place], text, *WORDS[place:]])
    certain = findings(stored(value.format(**parts)), sentence)
    assert certain
    if "{initial}" not in order or text != text.lower():
        assert any(certain)


@given(
    surname=st.sampled_from(SURNAMES),
    given_name=st.sampled_from(GIVEN),
    write=st.sampled_from(WRITINGS),
    stored=st.sampled_from(WRITINGS[:7]),
    part=st.booleans(),
)
def test_a_part_of_a_name_is_reported(
    surname: str,
    given_name: str,
    write: Callable[[str], str],
    stored: Callable[[str], str],
    part: bool,
) -> None:
    """A surname or a given name is enough."""
    text = write(surname if part else given_name)
    assert findings(stored(f"{surname}^{given_name}"), f"Has {text} an effusion?")


@given(
    surname=st.sampled_from(SURNAMES),
    given_name=st.sampled_from(GIVEN),
    words=st.lists(st.sampled_from(WORDS), max_size=20),
)
def test_a_text_without_the_name_is_not_reported(
    surname: str, given_name: str, words: list[str]
) -> None:
    """Only whole words match, in any letter case."""
    text = " ".join(words)
    assert not findings(f"{surname}^{given_name}", text)
    assert not findings(f"{surname}^{given_name}", text.upper())
