"""Uses an item's question to read outputs that name no option, or name what is not the answer.

To "Is the heart enlarged?", "The heart is not enlarged." answers No. To "Which finding is NOT
present?", "There is no pneumothorax." speaks for Pneumothorax, not against it. The words of
questions and findings are tables of `answer_words.toml` that begin with ``asked_``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from study.models.answer_checks import is_unknown_comment
from study.models.answer_clauses import Sentence, clauses, is_question, sentences
from study.models.answer_mentions import LETTERS
from study.models.answer_stances import POSITIVE, Stance, Statement
from study.models.answer_text import plain_option
from study.models.answer_words import MENTION, cue, pattern, word_set

_YES_WORDS, _NO_WORDS, _OPEN_WORDS = map(word_set, ("asked_yes", "asked_no", "asked_open"))
_FIRST = re.compile(r"[^\W\d_]+")
_LAST_SENTENCE = re.compile(r"[^.?!\n\u3002\uff1f]*[\w)][^.?!\n\u3002\uff1f]*[?\uff1f]")
_WHICH = pattern("{asked_which}")
_ABSENT = pattern("{asked_absent}")
_OR_NOT = pattern("{asked_or_not}")
_VERB_FIRST = pattern(r"\A.*[,:]\s*(?={asked_verb})")
_HEDGES = pattern("{asked_hedge}")
_DENIES = pattern("{asked_denial}")
_GENERAL, _DOUBTS = pattern("{asked_general}"), pattern("{asked_doubt}")
_FREE = pattern("{asked_free}")
_NEUTRAL = pattern("{asked_neutral}")
_SYNONYMS = (
    (pattern("{asked_not_free}"), " "),
    (pattern("{asked_enlarged_heart}"), " heart enlarged "),
    (pattern("{asked_heart}"), " heart "),
    (pattern("{asked_normal}"), " normal "),
    (pattern("{asked_abnormal}"), " abnormal "),
    (pattern(r"\bpleural (?=effusion)"), ""),
    (pattern(r"o(?=edema)|(?<=h)a(?=emo)"), ""),
)
_WORD = re.compile(r"\d+(?:\.\d+)?|[\u3400-\u9fff]|[^\W\d_]+")
_ENDING = re.compile(r"(?<=\w{4})(?:e?ments?|ing|ed|ly|ions?|ies|es|s|e|y)\Z")
_ADDED = pattern(r"\b(?={asked_added})")
_BOTH = frozenset({"bilateral", "both"})
_SO = pattern(r"\A\W*(?:so|thus|therefore|hence|and|which means|daher|also|donc)\b")
_RETRACTS, _REGRETS = cue("retracts"), pattern("{regret}")
_THAN = re.compile(r"\bthan\b|\bals\b")
_MOST_SENTENCES = 5


def _stem(word: str) -> str:
    return _ENDING.sub("", word)


def _table(name: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in word_set(name))


_QUALIFIERS, _FACING = _table("asked_qualifier"), _table("asked_facing")
_ORDERED, _PLACES = _table("asked_ordered"), _table("asked_place")
_SIDES, _TURNED = frozenset({"left", "right"}), frozenset({"abnormal", "enlarg"})
_OPPOSITES = frozenset(frozenset(map(_stem, pair.split())) for pair in word_set("asked_opposites"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """The words of a statement that carry its content, in order, and whether it is denied."""

    words: tuple[str, ...]
    n_denials: int
    general: bool = False
    """Whether a question is about all parts of something, such as "Are the lungs clear?"."""

    @classmethod
    def of(cls, text: str) -> "_Claim":
        text = text.casefold()
        for synonym, word in _SYNONYMS:
            text = synonym.sub(word, text)
        n_denials = len(_DENIES.findall(text))
        text = _NEUTRAL.sub(" ", _DENIES.sub(" ", text))
        return cls(words=tuple(map(_stem, _WORD.findall(text))), n_denials=n_denials)


def names_other_side(question: str, text: str, option: str) -> bool:
    """Return whether a text places what is asked about on the other side than an option does.

    >>> names_other_side("On which side is the effusion?", "Right effusion.", "Left")
    True
    """
    own = frozenset(_Claim.of(option).words) & _SIDES
    topic = set(_Claim.of(_last(question)).words) - _QUALIFIERS
    if len(own) != 1:
        return False
    for clause in chain.from_iterable(map(clauses, sentences(text))):
        claim = _Claim.of(clause.text)
        words = set(claim.words)
        names_other = words & _SIDES == _SIDES - own and not claim.n_denials
        is_about_topic = words & topic and words <= topic | _QUALIFIERS
        is_plain = not (clause.denied or clause.foreign or _HEDGES.search(clause.text))
        if names_other and is_about_topic and is_plain:
            return True
    return False


def yes_or_no(question: str, text: str, options: Sequence[str]) -> str | None:
    """Return the letter of Yes or No where a short text affirms or denies what is asked.

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
    pair, asked = _pair(options), _asked(question)
    if not pair or not asked or _HEDGES.search(_DENIES.sub(" no ", text)):
        return None
    parts = sentences(text)
    if len(parts) > _MOST_SENTENCES or any(is_question(part.text) for part in parts):
        return None
    verdicts: set[bool | None] = set()
    for part in parts:
        here = set(_verdicts(part, asked))
        if verdicts and not here:
            comments = is_unknown_comment(part.text) or _REGRETS.search(part.text)
            here = {None} if comments or _RETRACTS.match(part.text) else here
        verdicts |= here
    if len(verdicts) != 1 or None in verdicts:
        return None
    return pair[0] if (True in verdicts) != (asked.n_denials > 0) else pair[1]


def _pair(options: Sequence[str]) -> tuple[str, str] | None:
    """Return the letters of Yes and No, if the other options are open ones such as "Unclear"."""
    yes, no = [], []
    for letter, option in zip(LETTERS, options, strict=False):
        text = plain_option(option).casefold()
        first = _FIRST.match(text)
        word = first[0] if first else ""
        if word in _YES_WORDS:
            yes.append(letter)
        elif word in _NO_WORDS:
            no.append(letter)
        elif word not in _OPEN_WORDS:
            return None
    return (yes[0], no[0]) if len(yes) == len(no) == 1 else None


def _last(question: str) -> str:
    """Return the sentence of a question that asks."""
    asking = _LAST_SENTENCE.findall(question)
    return (asking[-1] if asking else question).strip()


def _asked(question: str) -> _Claim | None:
    """Return the claim that a yes/no question asks about; None if there is no plain one."""
    text = _OR_NOT.sub(" ", question).strip()
    text = _VERB_FIRST.sub("", _last(text) if "?" in text or "\uff1f" in text else text)
    claim = _Claim.of(text)
    free = len(_FREE.findall(text))
    if _WHICH.search(text) or _HEDGES.search(text) or claim.n_denials != free or free > 1:
        return None
    if not set(claim.words) - _QUALIFIERS and len(claim.words) < 2:
        return None
    return replace(claim, general=not free and _GENERAL.search(text) is not None)


def _verdicts(part: Sentence, asked: _Claim) -> Iterator[bool | None]:
    """Yield whether the clauses of a sentence affirm the claim; None for unclear ones."""
    parts = clauses(part)
    if not any(clause.foreign or clause.denied for clause in parts):
        verdict = _verdict(_Claim.of(part.text), asked)
        if verdict is not None:
            yield verdict
            return
    known = True
    for clause in parts:
        own = not clause.foreign and not clause.denied and (known or _SO.match(clause.text))
        for piece in _pieces(clause.text):
            claim = _Claim.of(piece)
            if _concerns(claim, asked):
                yield _verdict(claim, asked) if own else None
        known = known and not _unknown(_Claim.of(clause.text), asked)


def _pieces(text: str) -> list[str]:
    """Return the parts of a clause before and after words such as "with" and "due to"."""
    places = [0, *(match.start() for match in _ADDED.finditer(text)), len(text)]
    return [text[begin:end] for begin, end in pairwise(places)]


def _concerns(claim: _Claim, asked: _Claim) -> bool:
    """Return whether a clause is about what is asked, or adds to a clause that is."""
    topic = set(asked.words) - _QUALIFIERS or set(asked.words)
    topic |= {word for pair in _OPPOSITES if pair & topic for word in pair}
    return bool(topic & set(claim.words)) or (
        bool(claim.words) and set(claim.words) <= _QUALIFIERS | set(asked.words)
    )


def _unknown(claim: _Claim, asked: _Claim) -> bool:
    return not set(claim.words) <= set(asked.words) | _QUALIFIERS


def _verdict(claim: _Claim, asked: _Claim) -> bool | None:
    """Return whether a claim affirms the one asked about; None unless its words are the same."""
    own, theirs = set(claim.words), set(asked.words)
    if asked.n_denials:  # "Are the lungs free of effusion?"
        own, theirs = own - {"lung"}, theirs - {"lung"}
    if claim.n_denials > 1 or not theirs:
        return None
    if theirs & _ORDERED or len(theirs & _FACING) > 1:
        if claim.words != asked.words:
            return None  # "The carina is above the tube."
    extra, left_out = own - theirs, theirs - own
    if extra | (left_out - _QUALIFIERS) in _OPPOSITES:
        if not claim.n_denials:
            return False
        return True if extra <= _TURNED and not left_out & _QUALIFIERS else None
    if not claim.n_denials:
        if extra & _BOTH and left_out <= _SIDES:
            left_out, extra = set(), extra - _BOTH
        specific = not left_out and extra <= _QUALIFIERS and not _opposed(extra, theirs)
        if asked.general and extra & (_FACING | _PLACES):
            return None  # "The right lung is clear."
        return True if specific else None
    return False if own and not extra and left_out <= _QUALIFIERS - own else None


def _opposed(extra: set[str], theirs: set[str]) -> bool:
    """Return whether words name another side or view than the question does."""
    return bool(extra & _FACING and theirs & _FACING)


def restated(question: str, text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that a short text puts into the words of the question.

    >>> options = ("Left", "Right", "Equal")
    >>> restated("Which side has the higher hilum?", "The left hilum is higher.", options)
    'A'
    """
    asked, parts = _Claim.of(_last(question)), sentences(text)
    closed = len(parts) > _MOST_SENTENCES or any(is_question(part.text) for part in parts)
    if asked.n_denials or closed or _HEDGES.search(text) or _HEDGES.search(_last(question)):
        return None
    topic = set(asked.words) - {_stem(word) for word in _WHICH.findall(question.casefold())}
    own = {
        letter: set(_Claim.of(option).words) - topic
        for letter, option in zip(LETTERS, options, strict=False)
    }
    chosen, others = set(), set()
    for part in parts:
        for clause in clauses(part):
            claim = _Claim.of(_THAN.split(clause.text)[0])
            extra = set(claim.words) - topic
            named = {letter for letter, words in own.items() if words and words == extra}
            restates = topic and topic <= set(claim.words) and len(named) == 1
            if restates and not (claim.n_denials or clause.foreign or clause.denied):
                chosen |= named
            else:
                others |= {letter for letter, words in own.items() if words & extra}
    return next(iter(chosen)) if len(chosen) == 1 and not others - chosen else None


# Questions for what is absent


def asks_for_absent(question: str, options: Sequence[str]) -> bool:
    """Return whether a question asks for what is not seen, not true or least likely.

    >>> asks_for_absent("Which of these is NOT seen?", ("Effusion", "Pneumothorax"))
    True
    """
    return _pair(options) is None and _ABSENT.search(_last(question)) is not None


_EXCEPTION = pattern("{asked_exception}")
_GROUP = pattern(r"{M}(?:\W*(?:(?:and|or|nor|und|y|et)\b)?\W*{M})*")
_SEEN = pattern(r"\A\W*(?:{asked_neutral}|\W)*{asked_seen}")
_UNSEEN = pattern(r"\A\W*(?:{asked_neutral}|\W)*?{asked_denial}|\A\W*(?:{be}\W*)?{asked_untrue}")
_NONE_OF = pattern(r"{asked_denial}(?:\W|{asked_neutral})*\Z")
_SHOWS = pattern(r"(?:{shows}|\bthere (?:is|are)\b)(?:\W|{asked_neutral})*\Z")
_CALLED = pattern(
    r"\b(?:answer|choice|exception|(?:right|correct|best) response|{reply})\b"
    r"(?!\W+\w+\W+{asked_seen})[^.!?;]*\Z"
)
_NOT_CALLED = pattern(r"{asked_denial}|{asked_untrue}")
_CALLED_AFTER = pattern(r"\A\W*{be}\W+(?:\w+\W+){0,3}(?:answer|exception|choice)\b")
_BREAK = re.compile(
    r"[,;]|\b(?:but|and|while|whereas|so|therefore|thus|hence|because|since)\b", re.IGNORECASE
)
_CALM = pattern(r"{asked_untrue}|\bthe others?\b")
_SEEN_WORDS = pattern("{asked_seen}|{asked_untrue}|{be}")
_CLAUSE_END = re.compile(_BREAK.pattern + r"|[.:]|\bthe others?\b", re.IGNORECASE)
_SHORT = 2


def exceptions_named(text: str) -> str:
    """Return a text in which "the finding that is not seen" and the like are "the answer".

    >>> exceptions_named("The false statement is B.")
    'the answer is B.'
    """
    return _EXCEPTION.sub("the answer", text)


def by_absence(
    parts: Sequence[Sentence], statements: Sequence[Statement], n_options: int
) -> list[Statement]:
    """Return the statements as they answer a question for what is absent.

    Only statements that call an option the answer remain answers. Of the others, those that all
    options but one are seen, and this one is not, yield an answer.
    """
    seen: dict[str, set[bool | None]] = {}
    kept = []
    for statement in statements:
        before, after = _words(parts, statement)
        called = statement.structured or _CALLED.search(before) or _CALLED_AFTER.match(after)
        if called and _SEEN.match(after):
            statement = replace(statement, stance=Stance.DOUBTED)
        elif called and statement.stance is Stance.REJECTED and not _NOT_CALLED.search(before):
            if _UNSEEN.match(after) and not _CALLED_AFTER.match(after):
                statement = replace(statement, stance=Stance.STATED)
        elif not called:
            stance = _is_seen(statement, before, after)
            for letter in statement.letters:
                seen.setdefault(letter, set()).add(stance)
            if statement.stance is Stance.ALONE and stance is not True:
                kept.append(statement)
                continue
            if statement.stance in POSITIVE or stance is not None:
                statement = replace(statement, stance=Stance.NAMED)
        kept.append(statement)
    chosen = {letter for each in kept if each.stance in POSITIVE for letter in each.letters}
    if any(True in seen.get(letter, ()) for letter in chosen):
        return [replace(each, stance=Stance.DOUBTED) for each in kept]
    unseen = {letter for letter, stances in seen.items() if False in stances}
    if chosen:
        return [] if unseen - chosen else [each for each in kept if each.letters & chosen]
    others = set(LETTERS[:n_options]) - unseen
    for statement in statements:  # "There is no mass. The effusion is small."
        if len(parts) <= _SHORT and statement.stance in (Stance.NAMED, *POSITIVE):
            for letter in (statement.letters & seen.keys()) - unseen:
                seen[letter] = {True if each is None else each for each in seen[letter]}
    all_seen = all(seen.get(letter) == {True} for letter in others)
    rest_seen = all(stances == {True} for letter, stances in seen.items() if letter not in unseen)
    open_ = any(_DOUBTS.search(_CALM.sub(" ", part.text)) for part in parts)
    clear = len(unseen) == 1 and not open_ and seen[next(iter(unseen))] == {False}
    if not clear or not (all_seen or (rest_seen and len(parts) <= _SHORT)):
        return []
    last = len(parts) - 1
    place = parts[last].place
    return [Statement(stance=Stance.STATED, letters=frozenset(unseen), place=place, sentence=last)]


def _words(parts: Sequence[Sentence], statement: Statement) -> tuple[str, str]:
    """Return the words between the mentions before and after a group of mentions."""
    part = parts[statement.sentence]
    at = statement.place - part.place
    group = _GROUP.match(part.text, max(at, 0))
    before = _BREAK.split(re.split(MENTION, part.text[: max(at, 0)])[-1])[-1]
    after = re.split(MENTION, part.text[group.end() if group else at + 1 :])[0]
    return before, after


def _is_seen(statement: Statement, before: str, after: str) -> bool | None:
    """Return whether words say that an option is seen or true; None if they do not say."""
    if statement.stance is Stance.DOUBTED or statement.stance is Stance.OTHERS:
        return None
    rest = _CLAUSE_END.split(after)[0]
    left = _SEEN_WORDS.sub(" ", _NEUTRAL.sub(" ", _DENIES.sub(" ", rest)))
    if _UNSEEN.match(after) or _NONE_OF.search(before):
        once = len(_DENIES.findall(before + " ; " + rest)) <= 1
        return None if re.search(r"[^\W\d_]", left) or not once else False
    if statement.stance is Stance.FOUND or _SEEN.match(after) or _SHOWS.search(before):
        return True
    return None
