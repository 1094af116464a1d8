"""Matches an option's text despite different spelling, spacing, punctuation or small typos."""

import re
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_uppercase

from study.models.answer_text import plain_option
from study.models.answer_words import word_set

_AND = r"(?:,\s*and\b|,|&|\band\b)"
_SPELLINGS = {
    "ae": "a?e",
    "oe": "o?e",
    "e": "[ao]?e",
    "our": "ou?r",
    "or": "ou?r",
    "tre": "t(?:re|er)",
    "ter": "t(?:re|er)",
}
_SPELLING = re.compile("ae|oe|our|or|tre|ter|e", re.IGNORECASE)
"""British and American spelling: oedema and edema, tumour and tumor."""

_CONJUNCTION = re.compile(r",?\s+and\s+|\s*[,&]\s*", re.IGNORECASE)
_SIDED_ENDING = re.compile(
    r"(?:(?<=left)|(?<=right))[ \u2010\u2011\u2013-]sided(?= \w)", re.IGNORECASE
)
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011\u2013](?=[^\W\d_])")


def option_text_pattern(text: str) -> str:
    """Return a pattern of an option's text that ignores hyphens and spaces next to punctuation."""
    parts = re.findall(r"[^\W\d_]+|\d+|[^\w\s]|_", _HYPHEN.sub(" ", text))
    pattern = ""
    for n, part in enumerate(parts):
        if n:
            words = part.isalpha() and parts[n - 1].isalpha()
            is_separable = words and "and" not in (part, parts[n - 1])
            pattern += r"[\s\u2010\u2011\u2013-]+" if is_separable else r"\s*"
        if part in (",", "&", "and"):
            pattern += _AND
            continue
        pattern += _SPELLING.sub(lambda match: _SPELLINGS[match[0].casefold()], re.escape(part))
        if part.casefold() in ("left", "right") and n + 1 < len(parts):
            pattern += r"(?:[ \u2010\u2011\u2013-]sided)?"
    return pattern + ("s?" if parts and parts[-1].isalpha() and len(parts[-1]) > 4 else "")


@lru_cache(maxsize=1024)  # called for the same options with each output of an item
def option_key(text: str) -> str:
    """Return an option's text without spaces, hyphens, letter case and final full stops."""
    key = (
        "".join(_HYPHEN.sub("", _CONJUNCTION.sub("&", _SIDED_ENDING.sub("", text))).split())
        .casefold()
        .strip(".()[]!\"'")
    )
    return key.replace("ae", "e").replace("oe", "e").replace("our", "or").replace("tre", "ter")


_ROLE_LABEL = re.compile(r"\s*\n\W*(?:assistant|response|answer|output|model)\s*:", re.IGNORECASE)
_WORKED_EXAMPLE = re.compile(
    r"\A\W*(?:\w+\W+){0,3}?examples?\b[^\n]{0,40}:\s*\n.*?\n[^\n]{0,40}\bquestion\b[^\n:]{0,40}:",
    re.IGNORECASE | re.DOTALL,
)


def without_prompt(text: str, options: Sequence[str]) -> str:
    r"""Remove an example, and the options repeated before the answer, from a text.

    >>> without_prompt("Seen?\nA. Mass\nB. Nodule\nResponse: B", ["Mass", "Nodule"])
    ' B'
    """
    text = _WORKED_EXAMPLE.sub("", text)
    if not _ROLE_LABEL.search(text):  # compiling the pattern of the options takes much longer
        return text
    option_pattern = r"[\s,;]*".join(
        rf"\(?{letter}[).:]\s*{option_text_pattern(plain_option(option))}\.?"
        for letter, option in zip(ascii_uppercase, options, strict=False)
    )
    echo = re.search(option_pattern + _ROLE_LABEL.pattern, text, re.IGNORECASE)
    return text[echo.end() :] if echo else text


_SMALL_WORDS = frozenset(
    ("a", "an", "the", "at", "in", "on", "of", "for", "after", "to", "with"),
)
_FIRST_ARTICLE = re.compile(r"\AA (?=\w)")
_LABELLED = re.compile(r"\W*[A-Z]\W?[.):]\s*")


def with_wording_of_option(text: str, options: Sequence[str]) -> str:
    """Replace a text by the option from which only articles and prepositions differ.

    A letter before it is kept.

    >>> options = ["CT", "Repeat radiograph in 6 weeks"]
    >>> with_wording_of_option("B. Repeat radiograph at 6 weeks.", options)
    'B. Repeat radiograph in 6 weeks'
    """
    if "?" in text or len(text) > 2 * max(map(len, options), default=0):
        return text
    label = _LABELLED.match(text)
    words = _main_words(text[label.end() :] if label else text)
    same = [option for option in options if _main_words(option) == words]
    return (label[0] if label else "") + same[0] if len(same) == 1 and len(words) > 1 else text


def _main_words(text: str) -> list[str]:
    """Return the words of a text without articles and prepositions; keep "A", perhaps a letter."""
    words = re.findall(r"\w+", _FIRST_ARTICLE.sub("", text))
    return [word.casefold() for word in words if word == "A" or word.lower() not in _SMALL_WORDS]


_LONG_WORD = re.compile(r"(?<![\w-])[^\W\d_]{5,}(?![\w-])")
_MIN_LETTERS = 6
_NEVER_CORRECTED = word_set("never_corrected")


def without_typos(text: str, options: Sequence[str]) -> str:
    """Correct words of a text that differ by one typo from exactly one word of the options.

    Only words with the same first letter are corrected, so that "atypical" is not read as
    "typical".

    >>> without_typos("A left pnuemothorax.", ["Pneumothorax", "Pleural effusion"])
    'A left pneumothorax.'
    """
    known = {word.casefold() for option in options for word in _LONG_WORD.findall(option)}
    long_words = [word for word in known - _NEVER_CORRECTED if len(word) >= _MIN_LETTERS]

    def corrected(match: re.Match[str]) -> str:
        written = match[0].casefold()
        if written in known or written in _NEVER_CORRECTED:
            return match[0]
        candidates = [word for word in long_words if _is_typo(written, word)]
        return candidates[0] if len(candidates) == 1 else match[0]

    return _LONG_WORD.sub(corrected, text) if long_words else text


def _is_typo(typed: str, word: str) -> bool:
    """Return whether one letter before the ending is missing, added, wrong or swapped."""
    if typed[0] != word[0] or abs(len(typed) - len(word)) > 1:
        return False
    n = next((i for i, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), None)
    if n is None:
        return False  # only the ending differs: "nodules", "moderated"
    swapped = typed[n : n + 2] == word[n : n + 2][::-1] and typed[n + 2 :] == word[n + 2 :]
    if len(typed) == len(word):
        return swapped or (typed[n + 1 :] == word[n + 1 :] and n + 1 < len(word))
    if len(typed) < len(word):
        return typed[n:] == word[n + 1 :]
    return typed[n + 1 :] == word[n:]
