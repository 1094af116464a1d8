"""Uses an item's question to read outputs that name no option.

To "Is the heart enlarged?", "The heart is not enlarged." answers No. The words of questions and
findings are tables of `answer_words.toml` that begin with ``asked_``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from study.models.answer_checks import is_unknown_comment
from study.models.answer_clauses import Sentence, clauses, is_question, sentences
from study.models.answer_mentions import LETTERS
from study.models.answer_text import plain_option
from study.models.answer_words import cue, pattern, word_set

_YES_WORDS, _NO_WORDS, _OPEN_WORDS = map(word_set, ("asked_yes", "asked_no", "asked_open"))
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_LAST_SENTENCE = re.compile(r"[^.?!\n\u3002\uff1f]*[\w)][^.?!\n\u3002\uff1f]*[?\uff1f]")
WHICH = pattern("{asked_which}")
_OR_NOT = pattern("{asked_or_not}")
_VERB_FIRST = pattern(r"\A.*[,:]\s*(?={asked_verb})")
HEDGES = pattern("{asked_hedge}")
DENIES = pattern("{asked_denial}")
_GENERAL, DOUBTS = pattern("{asked_general}"), pattern("{asked_doubt}")
_ALLOWED_DENIAL = pattern("{asked_free}")
NEUTRAL = pattern("{asked_neutral}")
_SYNONYMS = (
    (pattern("{asked_not_free}"), " "),
    (re.compile(r"[- ]sided\b"), " "),
    (pattern("{asked_enlarged_heart}"), " heart enlarged "),
    (pattern("{asked_heart}"), " heart "),
    (pattern("{asked_normal}"), " normal "),
    (pattern("{asked_abnormal}"), " abnormal "),
    (re.compile(r"\bbas(?:al|ilar)\b"), "base"),
    (re.compile(r"\b(?:under|be)neath\b"), "under"),
    (pattern(r"\bpleural (?=effusion)"), ""),
    (pattern(r"o(?=edema)|(?<=h)a(?=emo)"), ""),
)
_WORD = re.compile(r"\d+(?:\.\d+)?|[\u3400-\u9fff]|[^\W\d_]+")
_ENDING = re.compile(r"(?<=\w{4})(?:e?ments?|ing|ed|ly|ions?|ies|es|s|e|y)\Z")
_ADDITION_START = pattern(r"\b(?={asked_added})")
BOTH = frozenset({"bilateral", "both"})
_CONSEQUENCE = pattern(r"\A\W*(?:so|thus|therefore|hence|and|which means|daher|also|donc)\b")
_RETRACTS, _REGRETS = cue("retracts"), pattern("{regret}")
_QUOTED = re.compile(r"[\"\u201c][^\"\u201d\n]{1,300}[\"\u201d]")
MOST_SENTENCES = 5


def stem(word: str) -> str:
    """Return a word without its ending."""
    return _ENDING.sub("", word)


def _stems_in_table(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in word_set(name))


QUALIFIERS, FACING = _stems_in_table("asked_qualifier"), _stems_in_table("asked_facing")
ORDERED, PLACES = _stems_in_table("asked_ordered"), _stems_in_table("asked_place")
_SIDES, _ABNORMAL_WORDS = frozenset({"left", "right"}), frozenset({"abnormal", "enlarg"})
_OPPOSITES = frozenset(
    frozenset(map(stem, yes_no_pair.split())) for yes_no_pair in word_set("asked_opposites")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The words of a statement that carry its content, in order, and whether it is denied."""

    words: tuple[str, ...]
    n_denials: int
    general: bool = False
    """Whether a question is about all parts of something, such as "Are the lungs clear?"."""

    @classmethod
    def of(cls, text: str) -> "Claim":
        text = text.casefold()
        for synonym, word in _SYNONYMS:
            text = synonym.sub(word, text)
        n_denials = len(DENIES.findall(text))
        text = NEUTRAL.sub(" ", DENIES.sub(" ", text))
        return cls(words=tuple(map(stem, _WORD.findall(text))), n_denials=n_denials)


def places_on_other_side(question: str, text: str, option: str) -> bool:
    """Return whether a text places the subject of the question on another side than an option does.

    >>> places_on_other_side("On which side is the effusion?", "Right effusion.", "Left")
    True
    """
    sides = frozenset(Claim.of(option).words) & _SIDES
    text = text if "{" in text else _QUOTED.sub(" ", text)
    topic = set(Claim.of(last_question(question)).words) - QUALIFIERS
    if len(sides) != 1:
        return False
    for clause in chain.from_iterable(map(clauses, sentences(text))):
        claim = Claim.of(clause.text)
        words = set(claim.words)
        names_other = words & _SIDES == _SIDES - sides and not claim.n_denials
        is_about_topic = words & topic and words <= topic | QUALIFIERS
        is_plain = not (clause.denied or clause.foreign or HEDGES.search(clause.text))
        if names_other and is_about_topic and is_plain:
            return True
    return False


def yes_or_no(question: str, text: str, options: Sequence[str]) -> str | None:
    """Return the letter of Yes or No if a short text affirms or denies the question.

    Parameters
    ----------
    question : str
        The item's question.
    text : str
        The model's output as plain text.
    options : sequence of str
        The item's options.

    Examples
    --------
    >>> options = ("Yes", "No")
    >>> yes_or_no("Is the heart enlarged?", "The heart is not enlarged.", options)
    'B'
    >>> yes_or_no("Is the heart enlarged?", "The heart may be enlarged.", options) is None
    True
    """
    yes_no_pair, claim_asked = yes_no_letters(options), _claim_of(question)
    if not yes_no_pair or not claim_asked or HEDGES.search(DENIES.sub(" no ", text)):
        return None
    parts = sentences(text)
    if len(parts) > MOST_SENTENCES or any(is_question(part.text) for part in parts):
        return None
    verdicts: set[bool | None] = set()
    for part in parts:
        part_verdicts = set(_verdicts(part, claim_asked))
        verdicts |= (
            {None}
            if verdicts and not part_verdicts and retracts_or_comments(part.text)
            else part_verdicts
        )
    if len(verdicts) != 1 or None in verdicts:
        return None
    return (
        yes_no_pair[0] if (True in verdicts) != (claim_asked.n_denials > 0) else yes_no_pair[1]
    ) or None


def retracts_or_comments(text: str) -> bool:
    """Return whether a sentence withdraws the statement before it or comments on it."""
    if is_unknown_comment(text) or _REGRETS.search(text) or _RETRACTS.match(text):
        return True
    claim = Claim.of(text)
    return claim.n_denials > 0 and len(claim.words) < 2  # "It is not now."


def yes_no_letters(options: Sequence[str]) -> tuple[str, str] | None:
    """Return the letters of Yes and No if the other options decide nothing, such as "Unclear".

    A letter is empty if two options match, such as "No, to the left" and "No, to the right".
    """
    yes, no = [], []
    for letter, option in zip(LETTERS, options, strict=False):
        text = plain_option(option).casefold()
        first = _FIRST_WORD.match(text)
        word = first[0] if first else ""
        if word in _YES_WORDS:
            yes.append(letter)
        elif word in _NO_WORDS:
            no.append(letter)
        elif word not in _OPEN_WORDS:
            return None
    if not yes or not no or len(yes) + len(no) > 3:
        return None
    return yes[0] if len(yes) == 1 else "", no[0] if len(no) == 1 else ""


def last_question(question: str) -> str:
    """Return the sentence of an item's question that contains the question itself."""
    asking = _LAST_SENTENCE.findall(question)
    return (asking[-1] if asking else question).strip()


def _claim_of(question: str) -> Claim | None:
    """Return the claim that a yes/no question asks about; None if it is not a plain claim."""
    text = _OR_NOT.sub(" ", question).strip()
    text = _VERB_FIRST.sub("", last_question(text) if "?" in text or "\uff1f" in text else text)
    claim = Claim.of(text)
    n_allowed = len(_ALLOWED_DENIAL.findall(text))
    if WHICH.search(text) or HEDGES.search(text) or claim.n_denials != n_allowed or n_allowed > 1:
        return None
    if not set(claim.words) - QUALIFIERS and len(claim.words) < 2:
        return None
    return replace(claim, general=not n_allowed and _GENERAL.search(text) is not None)


def _verdicts(part: Sentence, claim_asked: Claim) -> Iterator[bool | None]:
    """Yield whether the clauses of a sentence affirm the claim; None for unclear ones."""
    parts = clauses(part)
    if not any(clause.foreign or clause.denied for clause in parts):
        verdict = _verdict(Claim.of(part.text), claim_asked)
        if verdict is not None:
            yield verdict
            return
    known = True
    for clause in parts:
        is_statement = (
            not clause.foreign and not clause.denied and (known or _CONSEQUENCE.match(clause.text))
        )
        for piece in _split_at_additions(clause.text):
            claim = Claim.of(piece)
            if _concerns(claim, claim_asked):
                yield _verdict(claim, claim_asked) if is_statement else None
        known = known and not _has_other_words(Claim.of(clause.text), claim_asked)


def _split_at_additions(text: str) -> list[str]:
    """Split a clause before each word or phrase such as "with" and "due to"."""
    places = [0, *(match.start() for match in _ADDITION_START.finditer(text)), len(text)]
    return [text[begin:end] for begin, end in pairwise(places)]


def _concerns(claim: Claim, claim_asked: Claim) -> bool:
    """Return whether a clause is about the subject of the question, or adds to such a clause."""
    topic = set(claim_asked.words) - QUALIFIERS or set(claim_asked.words)
    topic |= {word for yes_no_pair in _OPPOSITES if yes_no_pair & topic for word in yes_no_pair}
    return bool(topic & set(claim.words)) or (
        bool(claim.words) and set(claim.words) <= QUALIFIERS | set(claim_asked.words)
    )


def _has_other_words(claim: Claim, claim_asked: Claim) -> bool:
    return not set(claim.words) <= set(claim_asked.words) | QUALIFIERS


def _verdict(claim: Claim, claim_asked: Claim) -> bool | None:
    """Return whether a claim affirms the one asked about; None if their words differ."""
    own_words, other_words = set(claim.words), set(claim_asked.words)
    if claim_asked.n_denials:  # "Are the lungs free of effusion?"
        own_words, other_words = own_words - {"lung"}, other_words - {"lung"}
    if claim.n_denials > 1 or not other_words:
        return None
    if other_words & ORDERED or len(other_words & FACING) > 1:
        if claim.words != claim_asked.words:
            return None  # "The carina is above the tube."
    extra, left_out = own_words - other_words, other_words - own_words
    if extra | (left_out - QUALIFIERS) in _OPPOSITES:
        if not claim.n_denials:
            return False
        return True if extra <= _ABNORMAL_WORDS and not left_out & QUALIFIERS else None
    if not claim.n_denials:
        if extra & BOTH and left_out <= _SIDES:
            left_out, extra = set(), extra - BOTH
        specific = (
            not left_out and extra <= QUALIFIERS and not _names_other_side(extra, other_words)
        )
        if claim_asked.general and extra & (FACING | PLACES):
            return None  # "The right lung is clear."
        return True if specific else None
    return False if own_words and not extra and left_out <= QUALIFIERS - own_words else None


def _names_other_side(extra: set[str], other_words: set[str]) -> bool:
    """Return whether words name another side or view than the question."""
    return bool(extra & FACING and other_words & FACING)
