"""Recognises answers that combine the words of an option with those of the question.

"The left hilum is higher." answers Left to "Which side has the higher hilum?".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from study.models.answer_clauses import Sentence, clauses, is_question, sentences
from study.models.answer_mentions import LETTERS
from study.models.answer_question import (
    BOTH,
    FACING,
    HEDGES,
    MOST_SENTENCES,
    ORDERED,
    PLACES,
    QUALIFIERS,
    WHICH,
    Claim,
    last_question,
    retracts_or_comments,
    stem,
)
from study.models.answer_text import plain_option
from study.models.answer_words import pattern, word_set

_THAN = re.compile(r"\bthan\b|\bals\b")
_FRAME_WORDS, _COMPARISON_WORDS = pattern("{asked_frame}"), pattern("{asked_compared}")
_SEEN_IN = re.compile(r"\bseen in(?= the\b)")
_LABELLED = re.compile(r"\(\s*(?:[Oo]ption )?([A-Z])\s*\)|(?<=[a-z:] )([A-Z])[.):](?= \w)")
_NONE_WORDS = word_set("asked_none")
_NEITHER = re.compile(r"\A\W*neither\b(?: of\b)?(?![^.]*\bnor\b)", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b", re.IGNORECASE)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_NONE_FIRST = pattern(r"\A\W*(?:{asked_none}|no)\b")
_UNFINISHED = re.compile(r"\b(?:shows?|is|are|has|have|reveals?|contains?)\W*\Z", re.IGNORECASE)
_OPTIONAL_WORDS = (QUALIFIERS | PLACES) - BOTH


def restated_option(question: str, text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that a short text combines with the words of the question.

    >>> options = ("Left", "Right", "Equal")
    >>> restated_option("Which side has the higher hilum?", "The left hilum is higher.", options)
    'A'
    """
    letters = {match[1] or match[2] for match in _LABELLED.finditer(text)}
    wording, asking, parts = _wording_and_sentences(question, _LABELLED.sub(" ", text), options)
    is_unsuitable = len(parts) > MOST_SENTENCES or any(is_question(part.text) for part in parts)
    words = _SEEN_IN.sub(" ", ". ".join([*(part.text for part in parts), asking]))
    if Claim.of(asking).n_denials or is_unsuitable or HEDGES.search(words):
        return None
    chosen: set[str] = set()
    others: set[str] = set()
    other_parts: list[Sentence] = []
    for part in parts:
        named_letters, other_letters = wording.letters_named_in(part)
        if chosen and not named_letters and not other_letters and retracts_or_comments(part.text):
            return None
        chosen |= named_letters
        others |= other_letters
        other_parts += [] if named_letters else [part]
    if len(chosen) != 1 or (others | letters) - chosen:
        return None
    letter = next(iter(chosen))
    return None if wording.has_words_of_others(other_parts, letter) else letter


def restates_other(question: str, text: str, options: Sequence[str], letter: str) -> bool:
    """Return whether a sentence expresses another option in other words.

    >>> options = ("Enlarged heart", "Effusion")
    >>> restates_other("What is seen?", "An effusion. The heart is enlarged.", options, "B")
    True
    """
    wording, _, parts = _wording_and_sentences(question, text, options)
    return any(
        wording.letters_named_in(part)[0] - {letter}
        for part in parts
        if not HEDGES.search(part.text)
    )


def _wording_and_sentences(
    question: str, text: str, options: Sequence[str]
) -> tuple["_Wording", str, list[Sentence]]:
    """Return the words of an item, its question, and the sentences of a text.

    Words without content and comparisons are removed from the question and the text.
    """
    text = _NEITHER.sub("none", text)
    if _HOW_MANY.search(question):
        text = _NUMBER_WORD.sub(lambda word: str(_NUMBERS.index(word[0].casefold())), text)
    asking, text = (
        _FRAME_WORDS.sub(" ", _COMPARISON_WORDS.sub(" ", each))
        for each in (last_question(question), text)
    )
    return _Wording.of(asking, Claim.of(asking), options), asking, sentences(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """The content words of a question, and the words that each option adds to them."""

    topic: set[str]
    own: dict[str, set[str]]
    denied: set[str]
    """The options that deny something, such as "Not enlarged"."""
    none: str
    """The letters of options such as "None" or "Neither"."""
    claims: dict[str, Claim]

    @classmethod
    def of(cls, asking: str, claim_asked: Claim, options: Sequence[str]) -> "_Wording":
        claims = dict(zip(LETTERS, map(Claim.of, options), strict=False))
        which = {stem(word) for word in WHICH.findall(asking.casefold())}
        topic = set(claim_asked.words) - which
        repeated = [each for each in claims.values() if each.words and set(each.words) <= topic]
        offered = {word for each in repeated if not each.n_denials for word in each.words}
        if len(repeated) > 1 and topic - offered:
            topic -= offered
        return cls(
            topic=topic,
            own={letter: set(claim.words) - topic for letter, claim in claims.items()},
            denied={letter for letter, claim in claims.items() if claim.n_denials},
            claims=claims,
            none="".join(
                letter
                for letter, option in zip(LETTERS, options, strict=False)
                if plain_option(option).casefold() in _NONE_WORDS
            ),
        )

    def letters_named_in(self, part: Sentence) -> tuple[set[str], set[str]]:
        """Return the options that a sentence names as its answer, and those it names otherwise."""
        parts = clauses(part)
        plain = not any(clause.foreign or clause.denied for clause in parts)
        if plain and (
            letter := self._option_restated_in(part.text) or self._option_repeated_in(part.text)
        ):
            return {letter}, set()
        chosen, others = set(), set()
        for clause in parts:
            letter = self._option_restated_in(clause.text)
            if letter and not (clause.foreign or clause.denied):
                chosen.add(letter)
            else:
                others |= self._options_touched_by(clause.text)
        return chosen, others

    def has_words_of_others(self, parts: Sequence[Sentence], letter: str) -> bool:
        """Return whether sentences contain words that belong only to other options."""
        own_words = set(self.claims[letter].words) | self.topic | _OPTIONAL_WORDS
        other_words = set().union(*(claim.words for claim in self.claims.values())) - own_words
        return any(other_words & set(Claim.of(part.text).words) for part in parts)

    def _option_restated_in(self, text: str) -> str:
        """Return the option whose words and those of the question make up a text."""
        claim = Claim.of(_THAN.split(text)[0])
        if not self.topic or not self.topic <= set(claim.words):
            return ""
        extra = set(claim.words) - self.topic
        if not extra and claim.n_denials == 1 and _NONE_FIRST.match(text):
            return self.none if len(self.none) == 1 else ""
        if claim.n_denials:
            return ""
        known = set().union(*self.own.values())
        exact = extra - (_OPTIONAL_WORDS - known)
        letters_named = [letter for letter, words in self.own.items() if words and words == exact]
        return (
            letters_named[0]
            if len(letters_named) == 1 and letters_named[0] not in self.denied
            else ""
        )

    def _option_repeated_in(self, text: str) -> str:
        """Return the option whose words a sentence repeats, perhaps with words of the question."""
        claim = Claim.of(text)
        words = set() if _UNFINISHED.search(text) else set(claim.words)
        letters = []
        for letter, option in self.claims.items():
            own_words = set(option.words)
            is_same = (
                own_words
                and own_words <= words <= own_words | self.topic
                and claim.n_denials == option.n_denials
            )
            is_ordered = claim.n_denials or len(own_words & FACING) > 1 or own_words & ORDERED
            if is_same and not (is_ordered and claim.words != option.words):
                letters.append(letter)
        return letters[0] if len(letters) == 1 else ""

    def _options_touched_by(self, text: str) -> set[str]:
        """Return the options that share a word with a clause that may be about the topic."""
        extra = set(Claim.of(_THAN.split(text)[0]).words)
        known = self.topic.union(*self.own.values()) | _OPTIONAL_WORDS
        if not extra & self.topic and extra - known:
            return set()  # about something else
        return {letter for letter, words in self.own.items() if words & extra}
