"""Reads the options of an item and the letter of the correct one."""

import json
import re
from collections.abc import Sequence
from itertools import chain, islice, takewhile

from study.bank.fields import OPTION_FIELDS, Fields, Trouble
from study.base.bank_model import LETTERS, Rule
from study.base.text import difference, id_key, text_key
from study.tables.source import Repeated
from study.tables.values import as_list, as_text, as_texts, quoted_value

MIN_OPTIONS = 2
MAX_OPTIONS = len(LETTERS)

_LETTER_AND_TEXT = re.compile(
    r"\s*[(\[]?\s*([A-Za-z])\s*(?:[)\]][.:\u3001]?|[.:\u3001]|\s?-\s)\s*(.*)", re.DOTALL
)
_PLAIN_LETTERS = tuple(f"{letter}. " for letter in LETTERS)
_LETTERS = tuple(LETTERS)
_POSSIBLE_STARTS = tuple((letter, *"([\u200b\ufeff") for letter in LETTERS)
_MAX_LETTER_LENGTH = 8
"""Number of characters at the start of an option that may contain its letter."""

_NUMBER_FIRST = re.compile(r"\W*(\w)(?:[.):\]*/]+\s|[\u3001\uff0e\uff09\uff1a])")
_LOOKALIKE_POSITIONS = {"В": 3, "в": 3, "Е": 6, "е": 6, "Η": 7}
"""Cyrillic and Greek letters that look like B, E and H, by their positions in their alphabets."""

_SERIES = ("ABCDEFGH", "12345678", "AБBГДEЖЗ")
_LETTER_ALONE = re.compile(r"[(\[]?\s*([A-Za-z])\s*[)\].:]*")
_OPTIONS_REMEDY = "give a list of 2 to 8 texts"


def read_options(fields: Fields, trouble: Trouble) -> tuple[str, ...]:
    """Read an item's options, and note their faults.

    Parameters
    ----------
    fields : Fields
        The item's fields: `options`, or `option_a`, `option_b`, ...
    trouble : Trouble
        Collects the faults.

    Returns
    -------
    tuple of str
        The texts in canonical order without letters; empty if they cannot be read.
    """
    options = _options_of(fields, trouble)
    if options is None:
        return ()
    texts = [as_text(option) for option in options]
    if None in texts:
        wrong = [
            quoted_value(option)
            for option, text in zip(options, texts, strict=True)
            if text is None
        ]
        trouble.add(
            f"options that are not texts: {', '.join(wrong)}", "write each as text", Rule.OPTIONS
        )
        return ()
    plain_texts = without_letters([text or "" for text in texts], trouble)
    return _check_options(plain_texts, _text_keys(plain_texts), trouble)


def options_of_items(lists: Sequence[Sequence[object]]) -> list[tuple[str, ...]]:
    """Read the options of many items like `read_options`, in less time.

    Parameters
    ----------
    lists : sequence of sequences
        The options of each item, with or without letters.

    Returns
    -------
    list of tuple of str
        The options of each item; empty if they cause a fault or a note.
    """
    texts = iter(as_texts([*chain.from_iterable(lists)]))
    troubles = [Trouble("") for _ in lists]
    plain_texts = [
        _all_without_letters([*islice(texts, len(entries))], trouble)
        for entries, trouble in zip(lists, troubles, strict=True)
    ]
    keys = iter(_text_keys([*chain.from_iterable(plain_texts)]))
    checked = [
        _check_options(entries, [*islice(keys, len(entries))], trouble)
        for entries, trouble in zip(plain_texts, troubles, strict=True)
    ]
    return [
        () if trouble.faults or note_on_letters(options) else options
        for options, trouble in zip(checked, troubles, strict=True)
    ]


def _all_without_letters(texts: Sequence[str | None], trouble: Trouble) -> list[str]:
    known = [text for text in texts if text is not None]
    return without_letters(known, trouble) if len(known) == len(texts) else []


def correct_letters_of_items(
    answers: Sequence[str], options: Sequence[Sequence[str]]
) -> list[str | None]:
    """Read the letters of the correct options of many items like `read_truth`.

    Returns
    -------
    list of str or None
        The letter of each item; empty without an answer, None after a fault.
    """
    trouble = Trouble("")
    return [
        _correct_letter(text, texts, trouble) if text and texts else ""
        for text, texts in zip(answers, options, strict=True)
    ]


def read_truth(fields: Fields, options: Sequence[str], trouble: Trouble) -> str | None:
    """Read the letter of the correct option, and note its faults.

    Parameters
    ----------
    fields : Fields
        The item's fields; all filled spellings of `truth` must name the same option.
    options : sequence of str
        From `read_options`.
    trouble : Trouble
        Collects the faults.

    Returns
    -------
    str or None
        The letter; None after a fault, without options, or without an answer, which is permitted.
    """
    spellings = fields.given("truth")
    if not spellings or not options:
        return None
    letters = {key: _correct_letter(value, options, trouble) for key, value in spellings}
    if len(set(letters.values())) > 1 and None not in letters.values():
        differing = ", ".join(f"{key} {letter}" for key, letter in letters.items())
        trouble.add(
            f"correct answers that differ: {differing}", "keep the right one", Rule.TRUTHS_DIFFER
        )
        return None
    return next(iter(letters.values()))


def without_letters(texts: Sequence[str], trouble: Trouble) -> list[str]:
    """Remove the letters of options that are all lettered A, B, C in order.

    A text may itself begin with a letter ("A. fumigatus infection", "A large effusion"). If all
    options have letters in another order, that is a fault, because the letter of the correct answer
    could mean the printed letter or the position.
    """
    if tuple(text[:3] for text in texts) == _PLAIN_LETTERS[: len(texts)] and all(
        map(str.isascii, texts)
    ):
        return [text[3:].strip() for text in texts]
    matches = [match for match in map(_split_letter, texts) if match]
    letters = [letter for letter, _ in matches]
    if len(texts) < MIN_OPTIONS or len(letters) < len(texts):
        return list(texts)
    if letters == list(LETTERS[: len(texts)]):
        return [text for _, text in matches]
    if len(set(letters)) == len(letters) and set(letters) <= set(LETTERS):
        trouble.add(
            f"options lettered {', '.join(letters)}",
            "letter them A, B, C in order, or leave the letters out",
            Rule.OPTION_LETTERS,
        )
    return list(texts)


def _split_letter(text: str) -> tuple[str, str] | None:
    """Return the letter in front of a text as a capital letter, and the text after it.

    >>> _split_letter("(a) Nodule"), _split_letter("\uff22\uff1aMass"), _split_letter("A-lines")
    (('A', 'Nodule'), ('B', 'Mass'), None)
    """
    start = text[:_MAX_LETTER_LENGTH]
    if not start.isascii():
        start = "".join(map(_comparable_character, start))
    match = _LETTER_AND_TEXT.match(start + text[_MAX_LETTER_LENGTH:])
    return (match[1].upper(), text[match.start(2) :].strip()) if match else None


def _comparable_character(char: str) -> str:
    """Return a character's comparison form, a space if it is empty, or else the character."""
    form = id_key(char) or " "
    return form if len(form) == 1 else char


def _options_of(fields: Fields, trouble: Trouble) -> list[object] | None:
    value = fields.first("options")
    if value is None:
        return _options_from_columns(fields, trouble)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value, object_pairs_hook=Repeated)
        except (ValueError, RecursionError):
            value = None
    if isinstance(value, dict):
        return _options_from_keys(value, trouble)
    entries = as_list(value)
    if entries is None:
        trouble.add(
            f"options not understood: {quoted_value(fields.first('options'))}",
            _OPTIONS_REMEDY,
            Rule.OPTIONS,
        )
    return entries


def _options_from_columns(fields: Fields, trouble: Trouble) -> list[object] | None:
    options = [fields.first(name) for name in OPTION_FIELDS]
    while options and options[-1] is None:
        options.pop()
    if not options:
        trouble.add("no options", _OPTIONS_REMEDY, Rule.OPTIONS)
        return None
    return options


def _options_from_keys(options_by_key: dict[str, object], trouble: Trouble) -> list[object] | None:
    keys = (
        [key for key, _ in options_by_key.pairs]
        if isinstance(options_by_key, Repeated)
        else list(options_by_key)
    )
    letters = sorted(map(_key_letter, keys))
    if letters != list(LETTERS[: len(keys)]):
        trouble.add(
            f"options under the keys {quoted_value(', '.join(keys))}",
            "use each of A, B, C, ... once",
            Rule.OPTIONS,
        )
        return None
    by_letter = {_key_letter(key): value for key, value in options_by_key.items()}
    return [by_letter[letter] for letter in letters]


def _key_letter(key: str) -> str:
    return id_key(key).strip("().:").upper()


def _check_options(texts: list[str], keys: list[str], trouble: Trouble) -> tuple[str, ...]:
    if MIN_OPTIONS <= len(texts) <= MAX_OPTIONS and len({*keys}) == len(keys) and all(keys):
        return tuple(texts)
    if not MIN_OPTIONS <= len(texts) <= MAX_OPTIONS:
        trouble.add(
            f"{len(texts)} option{'s' * (len(texts) != 1)}", _OPTIONS_REMEDY, Rule.N_OPTIONS
        )
    empty = [letter for letter, key in zip(LETTERS, keys, strict=False) if not key]
    if empty:
        trouble.add(
            f"empty option {', '.join(empty)}", "write its text, or leave it out", Rule.EMPTY_OPTION
        )
    if len(set(keys) - {""}) < len(keys) - len(empty):
        trouble.add(
            _repeated_options_fault(texts, keys), "make each option different", Rule.SAME_OPTION
        )
    return ()


def _text_keys(texts: Sequence[str]) -> list[str]:
    """Return the comparison form of each option, with a single call for all of them if possible."""
    joined_texts = "|".join(texts)
    if (
        joined_texts.isprintable()
        and joined_texts.isascii()
        and joined_texts.count("|") == len(texts) - 1
    ):
        return text_key(joined_texts).split("|")
    return [text_key(text) for text in texts]


def _repeated_options_fault(texts: Sequence[str], keys: Sequence[str]) -> str:
    """Return the fault that names repeated options, and how their spellings differ."""
    first: dict[str, str] = {}
    repeated: dict[str, None] = {}
    for text, key in zip(texts, keys, strict=True):
        if key in first:
            differs = difference(first[key], text)
            quoted = quoted_value(first[key])
            repeated[f"{quoted} ({differs})" if differs else quoted] = None
        elif key:
            first[key] = text
    return f"options given twice: {', '.join(repeated)}"


def _correct_letter(value: object, options: Sequence[str], trouble: Trouble) -> str | None:
    text = as_text(value)
    if not text:
        trouble.add(
            f"correct answer not text: {quoted_value(value)}",
            "give the option's letter",
            Rule.TRUTH,
        )
        return None
    if len(options) >= _LOOKALIKE_POSITIONS.get(text.strip("([]).: \t"), MAX_OPTIONS + 1):
        trouble.add(
            f"correct answer {quoted_value(text)} is a letter of another alphabet, "
            "with another position",
            "give a Latin letter, or the option's full text",
            Rule.TRUTH,
        )
        return None
    is_not_option = all(len(option) > 1 and option[-1] != "." for option in options)
    if is_not_option and text in _LETTERS[: len(options)]:
        return text
    letters = _options_by_letter(text, options)
    if len(id_key(text)) > 1 or not is_not_option:
        letters |= _options_by_text(text, options)  # a single character names no option by its text
    if len(letters) == 1:
        return letters.pop()
    choices = f"A to {LETTERS[len(options) - 1]}"
    if letters:
        fault = (
            f"correct answer {quoted_value(text)} fits the options {' and '.join(sorted(letters))}"
        )
    else:
        fault = f"correct answer {quoted_value(text)} is not among the options"
    trouble.add(fault, f"give one letter of {choices}, or an option's full text", Rule.TRUTH)
    return None


def _options_by_letter(text: str, options: Sequence[str]) -> set[str]:
    """Return the options named by a letter, alone or followed by the option's text."""
    letters, text = LETTERS[: len(options)], id_key(text)
    if letter_match := _LETTER_ALONE.fullmatch(text):
        return {letter_match[1].upper()} & set(letters)
    if letter_and_text := _split_letter(text):
        return {letter_and_text[0]} & _options_by_text(letter_and_text[1], options)
    return set()


def _options_by_text(text: str, options: Sequence[str]) -> set[str]:
    plain = [text_key(option) for option in options]
    for target, candidates in (
        (text_key(text), plain),
        (text_key(text).rstrip("."), [option.rstrip(".") for option in plain]),
    ):
        letters = {
            letter
            for letter, candidate in zip(LETTERS, candidates, strict=False)
            if candidate == target
        }
        if letters:
            return letters
    return set()


def note_on_letters(options: Sequence[str]) -> str:
    """Return a note on letters or numbers left in front of options, or an empty string.

    Readers see the options in another order, with the program's own letters.
    """
    for letter, starts, option in zip(LETTERS, _POSSIBLE_STARTS, options, strict=False):
        if option.startswith(starts):  # this is rare
            match = _split_letter(option)
            if match is not None and match[0] == letter:
                return "letters of options kept, because not all have one"
    if not options or not _NUMBER_FIRST.match(options[0]):
        return ""
    matches = list(takewhile(bool, map(_NUMBER_FIRST.match, options)))
    marks = [id_key(match[1]).upper() for match in matches if match]
    if len(marks) == len(options) >= MIN_OPTIONS and any(
        marks == list(row[: len(marks)]) for row in _SERIES
    ):
        return (
            "letters or numbers in front of options kept, because they are not A, B, C as in `A. `"
        )
    return ""
