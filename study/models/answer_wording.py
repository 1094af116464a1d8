"""Reads outputs that put the words of an option into the words of the question.

"The left hilum is higher." answers Left to "Which side has the higher hilum?".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from study.models.answer_clauses import Sentence, clauses, is_question, sentences
from study.models.answer_mentions import LETTERS
from study.models.answer_question import (
    BOTH,
    HEDGES,
    MOST_SENTENCES,
    PLACES,
    QUALIFIERS,
    WHICH,
    Claim,
    last_question,
    stem,
    takes_back,
)
from study.models.answer_text import plain_option
from study.models.answer_words import pattern, word_set

_THAN = re.compile(r"\bthan\b|\bals\b")
_FRAME, _COMPARED = pattern("{asked_frame}"), pattern("{asked_compared}")
_SEEN_IN = re.compile(r"\bseen in(?= the\b)")
_LABELLED = re.compile(r"\(\s*(?:[Oo]ption )?([A-Z])\s*\)|(?<=[a-z:] )([A-Z])[.):](?= \w)")
_NONE_WORDS = word_set("asked_none")
_NEITHER = re.compile(r"\A\W*neither\b(?: of\b)?(?![^.]*\bnor\b)", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b", re.IGNORECASE)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_NONE_FIRST = pattern(r"\A\W*(?:{asked_none}|no)\b")
_TOLERATED = (QUALIFIERS | PLACES) - BOTH


def restated(question: str, text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that a short text puts into the words of the question.

    >>> options = ("Left", "Right", "Equal")
    >>> restated("Which side has the higher hilum?", "The left hilum is higher.", options)
    'A'
    """
    text = _NEITHER.sub("none", text)
    if _HOW_MANY.search(question):
        text = _NUMBER_WORD.sub(lambda word: str(_NUMBERS.index(word[0].casefold())), text)
    letters = {match[1] or match[2] for match in _LABELLED.finditer(text)}
    text = _LABELLED.sub(" ", text)
    asking, text = (
        _FRAME.sub(" ", _COMPARED.sub(" ", each)) for each in (last_question(question), text)
    )
    asked, parts = Claim.of(asking), sentences(text)
    closed = len(parts) > MOST_SENTENCES or any(is_question(part.text) for part in parts)
    if asked.n_denials or closed or HEDGES.search(_SEEN_IN.sub(" ", text) + ". " + asking):
        return None
    wording = _Wording.of(asking, asked, options)
    chosen: set[str] = set()
    others: set[str] = set()
    for part in parts:
        named, open_ = wording.named(part)
        if chosen and not named and not open_ and takes_back(part.text):
            return None
        chosen |= named
        others |= open_
    clear = len(chosen) == 1 and not (others | letters) - chosen
    return next(iter(chosen)) if clear else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """The content words of a question, and those that the options add to them."""

    topic: set[str]
    own: dict[str, set[str]]
    denied: set[str]
    """The options that deny something, such as "Not enlarged"."""
    none: str
    """The option "None" or "Neither"."""

    @classmethod
    def of(cls, asking: str, asked: Claim, options: Sequence[str]) -> "_Wording":
        claims = dict(zip(LETTERS, map(Claim.of, options), strict=False))
        which = {stem(word) for word in WHICH.findall(asking.casefold())}
        topic = set(asked.words) - which
        repeated = [each for each in claims.values() if each.words and set(each.words) <= topic]
        offered = {word for each in repeated if not each.n_denials for word in each.words}
        if len(repeated) > 1 and topic - offered:
            topic -= offered
        return cls(
            topic=topic,
            own={letter: set(claim.words) - topic for letter, claim in claims.items()},
            denied={letter for letter, claim in claims.items() if claim.n_denials},
            none="".join(
                letter
                for letter, option in zip(LETTERS, options, strict=False)
                if plain_option(option).casefold() in _NONE_WORDS
            ),
        )

    def named(self, part: Sentence) -> tuple[set[str], set[str]]:
        """Return the options that a sentence names in answer to the question, and otherwise."""
        parts = clauses(part)
        plain = not any(clause.foreign or clause.denied for clause in parts)
        if plain and (letter := self._restates(part.text)):
            return {letter}, set()
        chosen, others = set(), set()
        for clause in parts:
            letter = self._restates(clause.text)
            if letter and not (clause.foreign or clause.denied):
                chosen.add(letter)
            else:
                others |= self._touches(clause.text)
        return chosen, others

    def _restates(self, text: str) -> str:
        """Return the option whose words, with those of the question, are all words of a text."""
        claim = Claim.of(_THAN.split(text)[0])
        if not self.topic or not self.topic <= set(claim.words):
            return ""
        extra = set(claim.words) - self.topic
        if not extra and claim.n_denials == 1 and _NONE_FIRST.match(text):
            return self.none if len(self.none) == 1 else ""
        if claim.n_denials:
            return ""
        known = set().union(*self.own.values())
        exact = extra - (_TOLERATED - known)
        named = [letter for letter, words in self.own.items() if words and words == exact]
        return named[0] if len(named) == 1 and named[0] not in self.denied else ""

    def _touches(self, text: str) -> set[str]:
        """Return the options that share a word with a clause that may be about the topic."""
        extra = set(Claim.of(_THAN.split(text)[0]).words)
        known = self.topic.union(*self.own.values()) | _TOLERATED
        if not extra & self.topic and extra - known:
            return set()  # about something else
        return {letter for letter, words in self.own.items() if words & extra}
