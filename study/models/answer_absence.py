"""Parses outputs for questions about what is not seen, not true or least likely.

To "Which finding is NOT present?", "There is no pneumothorax." speaks for Pneumothorax, not
against it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from study.models.answer_clauses import Sentence
from study.models.answer_mentions import LETTERS
from study.models.answer_question import DENIES, DOUBTS, NEUTRAL, last_question, yes_no_letters
from study.models.answer_stances import POSITIVE, Stance, Statement
from study.models.answer_words import MENTION, pattern

_SeenByOption = dict[str, set[bool | None]]
"""For each option, whether statements describe it as seen; None for those that do not say."""
_ABSENT = pattern("{asked_absent}")


def asks_for_absent(question: str, options: Sequence[str]) -> bool:
    """Return whether a question asks what is not seen, not true or least likely.

    >>> asks_for_absent("Which of these is NOT seen?", ("Effusion", "Pneumothorax"))
    True
    """
    return yes_no_letters(options) is None and _ABSENT.search(last_question(question)) is not None


_EXCEPTION = pattern("{asked_exception}")
_GROUP = pattern(r"{M}(?:\W*(?:(?:and|or|nor|und|y|et)\b)?\W*{M})*")
_SEEN = pattern(r"\A\W*(?:{asked_neutral}|\W)*{asked_seen}")
_UNSEEN = pattern(r"\A\W*(?:{asked_neutral}|\W)*?{asked_denial}|\A\W*(?:{be}\W*)?{asked_untrue}")
_NONE_OF = pattern(r"{asked_denial}(?:\W|{asked_neutral})*\Z")
_SHOWS = pattern(r"(?:{shows}|\bthere (?:is|are)\b)(?:\W|{asked_neutral})*\Z")
_CALLED = pattern(
    r"\b(?:answer|choice|exception|(?:right|correct|best) response|{reply})\b"
    r"(?!\W+\w+\W+{asked_seen})[^.!?;]*\Z"
    r"|\b(?:conclusion|final|result|verdict)\W*:\W*\Z"
    r"|\b(?:leav(?:es|ing)|by (?:elimination|exclusion))"
    r"(?:\W+(?:us|me|with|only|just|option))*\W*\Z"
)
_NOT_CALLED = pattern(r"{asked_denial}|{asked_untrue}")
_CALLED_AFTER = pattern(
    r"\A\W*(?:{be}\W+(?:\w+\W+){0,3}|(?:as )?(?:the|my) (?:right |correct |final )?)"
    r"(?:answer|exception|choice)\b"
)
_CONCLUDED = re.compile(
    r"(?:\b(?:so|therefore|thus|hence)|->|=>|\u2192)[^\w\ue000-\ue0ff]*\Z", re.IGNORECASE
)
_CONCLUSIVE = (Stance.NAMED, Stance.ALONE, Stance.FOUND, Stance.STATED)
_BREAK = re.compile(
    r"[,;]|\b(?:but|and|while|whereas|so|therefore|thus|hence|because|since)\b", re.IGNORECASE
)
_NO_DOUBT = pattern(r"{asked_untrue}|\bthe others?\b")
_SEEN_WORDS = pattern("{asked_seen}|{asked_untrue}|{be}")
_CLAUSE_END = re.compile(_BREAK.pattern + r"|[.:]|\bthe others?\b", re.IGNORECASE)
_ALL_SEEN = pattern(r"{be}\W+(?:all\W+|both\W+)?{asked_seen}")
_FEW_SENTENCES = 2


def name_exceptions(text: str) -> str:
    """Replace "the finding that is not seen" and similar phrases by "the answer".

    >>> name_exceptions("The false statement is B.")
    'the answer is B.'
    """
    return _EXCEPTION.sub("the answer", text)


def statements_on_absence(
    parts: Sequence[Sentence], statements: Sequence[Statement], n_options: int
) -> list[Statement]:
    """Interpret statements as answers to a question about an absent finding.

    Only statements that call an option the answer remain answers. Other statements yield an answer
    if they describe all options except one as seen.
    """
    seen_by_option: _SeenByOption = {}
    statements_left = [_reinterpreted(parts, statement, seen_by_option) for statement in statements]
    chosen = {
        letter for each in statements_left if each.stance in POSITIVE for letter in each.letters
    }
    if any(True in seen_by_option.get(letter, ()) for letter in chosen):
        return [replace(each, stance=Stance.DOUBTED) for each in statements_left]
    if chosen:
        unseen = {letter for letter, stances in seen_by_option.items() if False in stances}
        return (
            [] if unseen - chosen else [each for each in statements_left if each.letters & chosen]
        )
    letters = _only_unseen(parts, statements, seen_by_option, n_options)
    last = len(parts) - 1
    return [
        Statement(stance=Stance.STATED, letters=letters, place=parts[last].place, sentence=last)
        for _ in letters
    ]


def _reinterpreted(
    parts: Sequence[Sentence], statement: Statement, seen_by_option: _SeenByOption
) -> Statement:
    """Interpret one statement, and record in `seen_by_option` whether its options are seen."""
    before, after = _words_around(parts, statement)
    if statement.structured or _CALLED.search(before) or _CALLED_AFTER.match(after):
        called = _CALLED_AFTER.match(after)
        if _SEEN.match(after) and not called:
            return replace(statement, stance=Stance.DOUBTED)
        unseen = _UNSEEN.match(after) and not called
        if statement.stance is Stance.REJECTED and unseen and not _NOT_CALLED.search(before):
            return replace(statement, stance=Stance.STATED)
        return statement
    if _is_concluded(parts, statement, after):
        return replace(statement, stance=Stance.STATED)
    stance = _is_seen(statement, before, after)
    for letter in statement.letters:
        seen_by_option.setdefault(letter, set()).add(stance)
    in_list = statement.own_text and _starts_list(parts[statement.sentence], statement)
    if statement.stance is Stance.ALONE and stance is not True and not in_list:
        return statement
    neutral = statement.stance in POSITIVE or stance is not None
    return replace(statement, stance=Stance.NAMED) if neutral else statement


def _is_concluded(parts: Sequence[Sentence], statement: Statement, after: str) -> bool:
    """Return whether the last mention in a text is a bare conclusion, such as "so B."."""
    part = parts[statement.sentence]
    before = part.text[: max(0, statement.place - part.place)]
    return (
        statement.stance in _CONCLUSIVE
        and _CONCLUDED.search(before) is not None
        and not re.search(r"\w", after)
        and not any(re.search(MENTION, later.text) for later in parts[statement.sentence + 1 :])
    )


def _only_unseen(
    parts: Sequence[Sentence],
    statements: Sequence[Statement],
    seen_by_option: _SeenByOption,
    n_options: int,
) -> frozenset[str]:
    """Return the only option that is not seen, if all others are; otherwise no letter."""
    unseen = {letter for letter, stances in seen_by_option.items() if False in stances}
    is_short = len(parts) <= _FEW_SENTENCES
    for statement in statements:  # such as "There is no mass. The effusion is small."
        if is_short and statement.stance in (Stance.NAMED, *POSITIVE):
            for letter in (statement.letters & seen_by_option.keys()) - unseen:
                seen_by_option[letter] = {
                    True if each is None else each for each in seen_by_option[letter]
                }
    others = set(LETTERS[:n_options]) - unseen
    all_seen = all(seen_by_option.get(letter) == {True} for letter in others)
    rest_seen = all(
        stances == {True} for letter, stances in seen_by_option.items() if letter not in unseen
    )
    has_doubt = any(DOUBTS.search(_NO_DOUBT.sub(" ", part.text)) for part in parts)
    is_clear = len(unseen) == 1 and not has_doubt and seen_by_option[next(iter(unseen))] == {False}
    return frozenset(unseen) if is_clear and (all_seen or (rest_seen and is_short)) else frozenset()


def _starts_list(part: Sentence, statement: Statement) -> bool:
    """Return whether a list of further options follows the mention, all of which are seen."""
    rest = part.text[max(0, statement.place - part.place) + 1 :]
    return (
        re.match(rf"\s*,[^.;:]*{MENTION}", rest) is not None and _ALL_SEEN.search(rest) is not None
    )


def _words_around(parts: Sequence[Sentence], statement: Statement) -> tuple[str, str]:
    """Return the words between the mentions before and after a group of mentions."""
    part = parts[statement.sentence]
    at = statement.place - part.place
    group = _GROUP.match(part.text, max(at, 0))
    before = _BREAK.split(re.split(MENTION, part.text[: max(at, 0)])[-1])[-1]
    after = re.split(MENTION, part.text[group.end() if group else at + 1 :])[0]
    return before, after


def _is_seen(statement: Statement, before: str, after: str) -> bool | None:
    """Return whether words describe an option as seen or true; None if they do not say."""
    if statement.stance is Stance.DOUBTED or statement.stance is Stance.OTHERS:
        return None
    rest = _CLAUSE_END.split(after)[0]
    left = _SEEN_WORDS.sub(" ", NEUTRAL.sub(" ", DENIES.sub(" ", rest)))
    if _UNSEEN.match(after) or _NONE_OF.search(before):
        single_denial = len(DENIES.findall(before + " ; " + rest)) <= 1
        return None if re.search(r"[^\W\d_]", left) or not single_denial else False
    if statement.stance is Stance.FOUND or _SEEN.match(after) or _SHOWS.search(before):
        return True
    return None
