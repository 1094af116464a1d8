"""Compares the words around an option with the texts of all options."""

import re
from collections.abc import Sequence

from study.models.answer_mentions import LETTERS, UNCLEAR
from study.models.answer_stances import Statement
from study.models.answer_words import MENTION

_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_PLAIN_WORD = re.compile(r"[^\W\d_\ue000-\ue0ff]+|\d+")
_PHRASE_ENDS = re.compile(r"[.:](?:\s|\Z)|\b(?:whereas|while|although|but)\b")
_NEGATIONS = frozenset({"no", "not", "without", "absent"})
_HEALTHY_WORDS = _NEGATIONS | {"normal", "clear", "unremarkable"}
_SMALL_WORDS = frozenset(
    {
        *("a", "an", "the", "of", "in", "on", "at", "with", "is", "are", "and", "there"),
        *("this", "no", "it", "to", "than", "or", "by", "for", "within", "from"),
        *("x", "ray", "image", "film", "radiograph", "view"),
    }
)
_ADDITION = re.compile(
    r"\b(?:one|two|three|four|\d)\b[^.;\n]{0,60}\b(?:and|plus)\s+"
    r"(?:another|one|two|three|\d|an? (?:second|third|additional|further))\b",
    re.IGNORECASE,
)
_SUM = re.compile(r"\b(?:total|sum|altogether|makes?|making|answer|overall)\b|=", re.IGNORECASE)
_OPPOSITES = tuple(
    frozenset(words.split())
    for words in (
        "left right bilateral both",
        "upper middle lower",
        "anterior posterior",
        "increased decreased",
        "present absent",
        "normal abnormal",
        "acute chronic",
        "small moderate large",
        "mild moderate severe",
    )
)


def contradicts(letter: str, text: str, options: Sequence[str]) -> bool:
    """Return whether a letter precedes its option's text with one word replaced by its opposite."""
    option_words = set(_WORD.findall(options[LETTERS.index(letter)].casefold()))
    numbers = {word for word in option_words if word[0].isdigit()}
    label = rf"(?<!\w){letter}(?:[)\].:]+|[ \t](?=[-\u2013(])|(?<=\bis {letter})(?=[ \t]))"
    lone_letter = rf"^\W*{letter}(?=[ \t]{'[A-Z0-9]' if letter == 'A' else ''})"
    for match in re.finditer(
        rf"(?m)(?:{label}|{lone_letter})[ \t]*[-\u2013]?[ \t]*([^\n;]+)", text
    ):
        if (
            text[: match.start()]
            .casefold()
            .endswith(f"{options[LETTERS.index(letter)]} (".casefold())
        ):
            continue
        words = _WORD.findall(_PHRASE_ENDS.split(match[1])[0].casefold())
        if words[:2] == ["is", "right"]:
            continue
        words_present = set(words)
        if (
            words
            and words[0] in _NEGATIONS
            and option_words
            and option_words <= words_present
            and not option_words & _NEGATIONS
        ):
            return True
        figures = {word for word in words_present if word[0].isdigit()}
        for group in (numbers | figures, *_OPPOSITES):
            is_reversed = (
                option_words & group
                and words_present & group
                and not option_words & words_present & group
            )
            if is_reversed and (
                option_words - group <= words_present or words_present - group <= option_words
            ):
                return True
        others = [_WORD.findall(other.casefold()) for other in options]
        named_options = [
            other
            for other in others
            if set(other) != option_words and _ends_with_option(words, other)
        ]
        if not option_words <= words_present and any(
            others.count(other) == 1 for other in named_options
        ):
            return True
    return False


def adds_to_number(option: str, text: str) -> bool:
    """Return whether a text adds something to the number of an option without stating a sum.

    >>> adds_to_number("2", "Two on the right and another on the left.")
    True
    """
    is_number = re.fullmatch(r"\d+|one|two|three|four|five", option, re.IGNORECASE)
    return bool(is_number and _ADDITION.search(text) and not _SUM.search(text))


def _ends_with_option(words: Sequence[str], option: Sequence[str]) -> bool:
    """Return whether a short phrase ends with an option's text and does not deny it."""
    before = (
        words[: -len(option)] if option and list(option) == list(words[-len(option) :]) else None
    )
    return before is not None and len(before) <= 4 and not _NEGATIONS.intersection(before)


def names_only(sentence: str, statement: Statement, options: Sequence[str]) -> bool:
    """Return whether no word of a sentence belongs only to another option."""
    letter = next(iter(statement.letters))
    if letter == UNCLEAR or letter not in LETTERS[: len(options)]:
        return False
    option_words = _words(options[LETTERS.index(letter)])
    others = set().union(*(_words(option) for option in options)) - option_words - _SMALL_WORDS
    sentence_words = _words(re.sub(MENTION, " ", sentence))
    if not option_words & _HEALTHY_WORDS:
        sentence_words -= {
            word for group in _OPPOSITES[:2] if not option_words & group for word in group
        }
    has_longer_option = any(option_words < _words(option) for option in options)
    is_similar_to_other = any(
        word[:5] == other[:5]
        for word in sentence_words - option_words
        for other in others
        if len(other) > 4
    )
    return (
        not is_similar_to_other
        and not sentence_words & others
        and not (has_longer_option and sentence_words - _SMALL_WORDS - option_words)
    )


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _PLAIN_WORD.findall(text)}
