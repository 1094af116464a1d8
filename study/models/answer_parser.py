"""Reads the one option that a model's output answers with, and never guesses.

The output is reduced to plain text (`answer_text`), every mention of an option is marked
(`answer_mentions`), each sentence says what it claims about the options (`answer_claims`,
`answer_findings`), and `answer_in` decides. The answer counts only where nothing in the text
speaks against it (`answer_checks`). ``docs/predictions-format.md`` has the rules.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from study.models.answer_checks import speaks_against
from study.models.answer_claims import (
    Claim,
    Claimed,
    Sentence,
    alone,
    anaphora,
    claims_in,
    correction,
    discussion_at,
    is_rejected_next,
    is_word_answer,
    opening,
    option_of_list,
    prepared,
    sentences,
    verdicts,
)
from study.models.answer_cues import DOUBTED, MENTION, NEGATED, compiled
from study.models.answer_findings import finding
from study.models.answer_mentions import LETTERS, UNCLEAR, mark, marker, meaning
from study.models.answer_text import own_turn, plain_text, without_thinking
from study.models.refusals import is_refusal
from study.tables.columns import plain_key

VERSION = 3
"""Version of the parsing rules, recorded with each answer; raised whenever they change."""

STANDARD = "standard"
RULES = {
    "strict": ("whole", "final"),
    STANDARD: ("whole", "final", "stated", "by itself"),
    "loose": ("whole", "final", "stated", "by itself", "mentioned"),
}
"""The rules of each set, in order; the first that finds an answer decides."""

_REACH = 1000  # characters before a mention in which its clause may begin
_MOST_OBJECTS = 100
_TAGGED = re.compile(
    r"[<\[]((?:final_?)?ans(?:wer)?|conclusion|choice|option|final|respuesta|antwort|r[e\u00e9]ponse|risposta|resposta)[>\]]"
    r"(?:(.{0,2000}?)[<\[]/\1[>\]]|(.{0,200})\Z)",
    re.IGNORECASE | re.DOTALL,
)
_BOXED = re.compile(r"\\f?boxed\s*\{((?:[^{}]|\{[^{}]*\}){0,500})\}")
_JSON_VALUE = re.compile(r'"(\w+)"\s*:\s*(?:"([^"\n]*)"|([A-Za-z])\s*(?=[,}\n]))')
_ANSWER_KEY = re.compile(
    r"(?:final|selected|correct|chosen|predicted|best|my|model|your|the|mcq|overall|single)*"
    r"(?:answers?|respuesta|antwort|r[e\u00e9]ponse|risposta|resposta|option|choice|prediction|letter|selection|decision|pred)+"
    r"(?:letter|choice|option|id|value|is)?|selected|chosen|picked|pick|final"
)
_MAYBE_KEY = re.compile(r"response|result|output|(?:answer|option|choice)?(?:label|text)|diagnosis")
_WEAK_KEY = re.compile(r"(?:answer|option|choice)(?:text|label)")

_QUESTION = re.compile(r"\bquestion\b[^?]*\?\Z", re.IGNORECASE)
_CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:so|therefore|thus|hence|but|and)\b", re.IGNORECASE)
_DENIED = re.compile(
    compiled((*NEGATED, *DOUBTED, "absent", "excluded?", "rule[ds]? out")), re.IGNORECASE
)
_NUMBERED_ANSWER = re.compile(
    r"(?m)^[ \t]*(?:[Qq](?:uestion)? ?)?\d+[.):][ \t]*\(?[A-Z]\)?[.]?[ \t]*$"
)
_ANSWER_LINE = re.compile(
    r"((?:.*\n)?)[ \t>*_#]*(?:final\s+)?answer[ \t*_]*:[\s*_]*(\S.*)\Z", re.IGNORECASE | re.DOTALL
)
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_NONE = frozenset({"no", "not", "without", "absent"})
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


def parse_answer(raw: str, options: Sequence[str]) -> str | None:
    """Read the one option that a model's output plainly answers with.

    Parameters
    ----------
    raw : str
        The model's output.
    options : sequence of str
        The item's options in canonical order, without letters.

    Returns
    -------
    str or None
        The option's letter; None where the output names none, several, or one that is not offered.

    Notes
    -----
    A letter that the text rejects, doubts, asks about, quotes or attributes to someone else is not
    an answer. A second answer replaces the first only where the text says so.

    Examples
    --------
    >>> options = ("Pneumothorax", "Pleural effusion")
    >>> parse_answer("The answer is (B).", options), parse_answer("pleural effusion", options)
    ('B', 'B')
    >>> parse_answer("A. Incorrect.", options) is None
    True
    >>> parse_answer("Answer: A. Wait, the line is a skin fold. Answer: B", options)
    'B'
    """
    return answer_in(raw, options)[0]


def answer_in(raw: str, options: Sequence[str], rules: str = STANDARD) -> tuple[str | None, str]:
    """Return the letter that `parse_answer` returns, and the rule that decided; empty if none did.

    `rules` is a name in `RULES`.
    """
    text = plain_text(raw)
    if len(_NUMBERED_ANSWER.findall(text)) > 1:  # answers to several questions
        return None, ""
    for part in dict.fromkeys((own_turn(text), text)):
        decided = _decide(part, options, RULES[rules])
        if decided is None:
            continue
        letters, rule = decided
        allowed = len(letters) == 1 and letters <= set(LETTERS[: len(options)])
        letter = next(iter(letters)) if allowed else None
        if letter and _contradicts(letter, part, options):
            letter = None
        return letter, rule
    return None, ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What is stated as the answer, by which rule, and where."""

    letters: frozenset[str]
    rule: str
    place: int
    begin: int = -1
    corrects: bool = False


def _decide(text: str, options: Sequence[str], rules: Sequence[str]) -> tuple[Set[str], str] | None:
    """Return the letters that a plain text answers with, and the rule; None without an answer."""
    marked = prepared(mark(_with_finals(text, options), options))
    parts = sentences(marked)
    if not parts:
        return None
    if len(parts) == 1 and (letters := _whole(parts[0])):
        answer = _Answer(letters=letters, rule="whole", place=parts[0].place)
        return _checked(letters, parts, [answer]), "whole"
    claims = [claim for part in parts for claim in claims_in(part)]
    walked = _walk(marked, options)
    claims += walked.claims
    if found_in_words := finding(parts, claims, options):
        claims.append(found_in_words)
    found = [
        *_stated(claims),
        *_pointed_at(parts, walked),
        *_alone(marked, parts, claims, walked, options),
    ]
    answers = _after_corrections(found, parts)
    if answers is None:
        return {UNCLEAR}, "stated"
    for rule in rules:
        if rule == "mentioned":
            letters = _mentioned(marked, claims)
            return (letters, rule) if letters else None
        chosen = [answer for answer in answers if answer.rule == rule]
        if not chosen:
            continue
        letters = frozenset().union(*(answer.letters for answer in chosen))
        if rule == "final":  # stated otherwise without saying so
            letters |= _stated_letters(answers)
        if _rejected_later(letters, claims, max(answer.place for answer in chosen)):
            return {UNCLEAR}, rule
        return _checked(letters, parts, chosen, claims, marked), rule
    return None


def _checked(
    letters: Set[str],
    parts: Sequence[Sentence],
    answers: Sequence[_Answer],
    others: Sequence[Claimed] = (),
    marked: str = "",
) -> Set[str]:
    """Return the letters; unclear where the text speaks against the one stated."""
    if len(letters) != 1:
        return letters
    claims = [(a.begin if a.begin >= 0 else a.place, a.place) for a in answers]
    text = [(part.text, part.place) for part in parts]
    rejected = {claim.place for claim in others if claim.claim is Claim.REJECTED}
    letter = next(iter(letters))
    against = speaks_against(text, claims, letter, rejected, discussion_at(marked))
    return {UNCLEAR} if against else letters


def _with_finals(text: str, options: Sequence[str]) -> str:
    """Return a plain text with one character for each answer in a tag, a box or JSON."""
    text = _TAGGED.sub(lambda found: _final(found[2] or found[3] or "", options), text)
    text = _BOXED.sub(lambda found: _boxed(found[1], options), text)
    return _with_objects(text, options)


def _final(content: str, options: Sequence[str]) -> str:
    """Return the mark of what is given as the final answer."""
    letters = _content(content, options)
    return f" {marker('final', next(iter(letters)) if len(letters) == 1 else UNCLEAR)} "


def _boxed(content: str, options: Sequence[str]) -> str:
    """Return the mark of what is in a box; a formula is no answer."""
    names_an_option = re.search(MENTION, mark(content, options))
    return _final(content, options) if names_an_option else " "


def _content(content: str, options: Sequence[str]) -> Set[str]:
    """Return the letters that the content of a tag, a box or a JSON value answers with."""
    marked = prepared(mark(_BOXED.sub(r"\1", content).strip(), options))
    parts = sentences(marked)
    if len(parts) == 1 and (letters := _whole(parts[0])):
        return letters
    claims = [claim for part in parts for claim in claims_in(part)]
    answers = _after_corrections(list(_stated(claims)), parts)
    if answers:
        return frozenset().union(*(answer.letters for answer in answers))
    opened = (
        opening(parts[0], "".join(part.text for part in parts[1:2]), options) if parts else None
    )
    return opened or {UNCLEAR}


def _with_objects(text: str, options: Sequence[str]) -> str:
    """Return a text with one character for each answer that JSON in it gives."""
    if text.startswith("["):
        found, end = _object(text, 0)
        if isinstance(found, list) and found and end == len(text):
            return "".join(_final(said, options) for said in _values(found))
    if text.startswith("{") and not isinstance(_object(text, 0)[0], dict):
        cut_off = [
            match[2] or match[3]
            for match in _JSON_VALUE.finditer(text)
            if _ANSWER_KEY.fullmatch(plain_key(match[1]))
        ]
        if cut_off:
            return "".join(_final(said, options) for said in cut_off)
    made, at = "", 0
    for _ in range(_MOST_OBJECTS):
        begin = text.find("{", at)
        if begin < 0:
            break
        found, end = _object(text, begin)
        made += text[at:begin]
        if isinstance(found, dict):
            made += " " + "".join(_answers_marked(found, options))
        else:
            made += text[begin:end]
        at = end
    return made + text[at:]


def _answers_marked(found: dict[object, object], options: Sequence[str]) -> Iterator[str]:
    """Yield the marks of the answers in a JSON object, from the surest keys there are."""
    marks = [_final(said, options) for said in _answers(found, _ANSWER_KEY)]
    weak = _MAYBE_KEY if not marks else _WEAK_KEY
    for said in _answers(found, weak):
        if UNCLEAR not in _content(said, options):
            marks.append(_final(said, options))
    yield from marks


def _object(text: str, at: int) -> tuple[object, int]:
    """Return the JSON or Python value at a place of a text, and where it ends."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        end = text.find("]" if text[at] == "[" else "}", at) + 1
    try:
        return ast.literal_eval(text[at : end or len(text)][:_REACH]), end or at + 1
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None, at + 1


def _answers(found: dict[object, object], keys: re.Pattern[str]) -> Iterator[str]:
    for key, said in found.items():
        if isinstance(key, str) and keys.fullmatch(plain_key(key)):
            yield from _values(said, keys)
        elif isinstance(said, dict):
            yield from _answers(said, keys)


def _values(said: object, keys: re.Pattern[str] = _ANSWER_KEY) -> Iterator[str]:
    if isinstance(said, list):
        for item in said or [None]:
            yield from _values(item, keys)
    elif isinstance(said, dict):
        inner = list(_answers(said, keys)) or list(_answers(said, _MAYBE_KEY))
        yield from inner or [json.dumps(said, default=str)]
    else:
        yield said if isinstance(said, str) else json.dumps(said, default=str)


def _stated_letters(answers: Sequence[_Answer]) -> frozenset[str]:
    return frozenset().union(*(answer.letters for answer in answers if answer.rule == "stated"))


def _whole(sentence: Sentence) -> frozenset[str] | None:
    """Return the letters of a text that is one sentence and nothing but an answer."""
    if found := alone(sentence, first=True):
        letters, _ = found
        return letters
    return None


def _stated(claims: Sequence[Claimed]) -> Iterator[_Answer]:
    for claim in claims:
        if claim.claim in (Claim.FINAL, Claim.STATED):
            yield _Answer(
                letters=claim.letters, rule=str(claim.claim), place=claim.place, begin=claim.begin
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    """What a walk through the options says of each, and which mentions belong to it."""

    claims: tuple[Claimed, ...] = ()
    letters: tuple[str, ...] = ()
    places: frozenset[int] = frozenset()


def _walk(marked: str, options: Sequence[str]) -> _Walk:
    """Return what is said where several options are gone through, each after its letter."""
    found = verdicts(marked)
    if len({letter for letter, _, _ in found}) < 2:
        return _Walk()
    claims = [
        Claimed(claim=claim, letters=frozenset({letter}), place=place)
        for letter, claim, place in found
        if claim in (Claim.STATED, Claim.REJECTED)
    ]
    yes = {letter for letter, claim, _ in found if claim is Claim.YES}
    no = {letter for letter, claim, _ in found if claim is Claim.REJECTED}
    if len(yes) == 1 and yes | no == set(LETTERS[: len(options)]):
        place = next(place for letter, claim, place in found if claim is Claim.YES)
        claims.append(Claimed(claim=Claim.STATED, letters=frozenset(yes), place=place))
    return _Walk(
        claims=tuple(claims),
        letters=tuple(letter for letter, _, _ in found),
        places=frozenset(place for _, _, place in found),
    )


def _pointed_at(parts: Sequence[Sentence], walked: _Walk) -> Iterator[_Answer]:
    """Yield the options that a sentence such as "This is the correct answer" points back at."""
    if walked.letters:
        return  # a verdict of the walk
    last: str | None = None
    for part in parts:
        if last and anaphora(part):
            yield _Answer(letters=frozenset(last), rule="stated", place=part.place)
        mentions = {meaning(one) for one in re.findall(MENTION, part.text)}
        if mentions:
            last = mentions.pop() if len(mentions) == 1 else None


def _alone(
    marked: str,
    parts: Sequence[Sentence],
    claims: Sequence[Claimed],
    walked: _Walk,
    options: Sequence[str],
) -> Iterator[_Answer]:
    """Yield answers that are a sentence of their own, or that open the text with a reason after."""
    end = discussion_at(marked)
    head = verdicts(marked[:end])
    runs_on = len(head) > 1 and LETTERS.find(head[1][0]) == LETTERS.find(head[0][0]) + 1
    echoed = _echoed(parts, options)
    by_itself: list[_Answer] = []
    for n, part in enumerate(parts):
        after = parts[n + 1].text if n + 1 < len(parts) else ""
        previous = parts[n - 1].text if n else ""
        if part.place in echoed or _QUESTION.search(previous):
            continue
        if read := alone(part, first=n == 0):
            letters, corrects = read
            if after and is_rejected_next(letters, after, options):
                continue
            answer = _Answer(letters=letters, rule="by itself", place=part.place)
            if corrects:
                yield replace(answer, rule="stated", corrects=True)
            else:
                by_itself.append(answer)
        elif runs_on and part.place in {place for _, _, place in head}:
            continue
        elif n == 0 or n == len(parts) - 1 or _begins_last_line(marked, part):
            letters_opened = opening(part, after, options)
            if letters_opened and is_word_answer(part, options):
                yield _Answer(letters=letters_opened, rule="stated", place=part.place)
            elif letters_opened:
                by_itself.append(
                    _Answer(letters=letters_opened, rule="by itself", place=part.place)
                )
    before = [answer for answer in by_itself if answer.place < end]
    chosen = before or by_itself
    edges = {part.place for part in (parts[0], *parts[-3:])} | {_last_line_at(marked)}
    if end < len(marked):
        edges |= {part.place for part in parts if part.place < end}
    if not any(answer.place in edges for answer in chosen):
        return
    yield from chosen
    rejected = {
        letter for claim in claims if claim.claim is Claim.REJECTED for letter in claim.letters
    }
    own = frozenset().union(*(answer.letters for answer in chosen))
    until = end if before else len(marked)
    listed = {
        letter
        for letter, place in zip(walked.letters, walked.places, strict=True)
        if place < until and place not in echoed
    }
    if others := listed - rejected - own:
        yield _Answer(letters=frozenset(others), rule="by itself", place=chosen[-1].place)


def _last_line_at(marked: str) -> int:
    return marked.rstrip().rfind("\n") + 1


def _begins_last_line(marked: str, part: Sentence) -> bool:
    return (
        part.place >= _last_line_at(marked)
        and not marked[_last_line_at(marked) : part.place].strip()
    )


def _echoed(parts: Sequence[Sentence], options: Sequence[str]) -> set[int]:
    """Return the places of sentences that only repeat the list of options: A, B, C, ..."""
    found: set[int] = set()
    run: list[int] = []
    for part in (*parts, Sentence(text="", place=-1)):
        listed = option_of_list(part)
        if listed and listed == LETTERS[len(run)]:
            run.append(part.place)
            continue
        if len(run) >= min(3, len(options)):
            found.update(run)
        run = [part.place] if listed == "A" else []
    return found


def _after_corrections(
    answers: Sequence[_Answer], parts: Sequence[Sentence]
) -> list[_Answer] | None:
    """Return the answers that no later correction replaces; None where one is only taken back."""
    left = sorted(answers, key=lambda answer: answer.place)
    for previous, part in pairwise((Sentence(text="", place=-1), *parts)):
        kind = "" if previous.text.endswith("?") else correction(part)
        before = [a for a in left if a.place < part.place and a.rule != "by itself"]
        before += [a for a in left if a.place < part.place and a.rule == "by itself" and kind]
        if not kind or not before:
            continue
        after = [answer for answer in left if answer.place >= part.place]
        if any(answer.rule != "by itself" or answer.place > part.place for answer in after):
            left = after
        elif kind == "strong":
            return None
    return left


def _rejected_later(letters: Set[str], claims: Sequence[Claimed], place: int) -> bool:
    """Return whether the one option stated is rejected after that."""
    return any(
        claim.claim is Claim.REJECTED and claim.place > place and claim.letters == letters
        for claim in claims
    )


def _mentioned(marked: str, claims: Sequence[Claimed]) -> frozenset[str]:
    """Return the options that are mentioned in a clause that neither doubts nor denies."""
    if is_refusal(marked):
        return frozenset()
    rejected = {
        letter for claim in claims if claim.claim is Claim.REJECTED for letter in claim.letters
    }
    found = set()
    for mention in re.finditer(MENTION, marked):
        clause = _CLAUSE.split(marked[max(0, mention.start() - _REACH) : mention.start()])[-1]
        if not _DENIED.search(clause):
            found.add(meaning(mention[0]))
    return frozenset(found - rejected)


def _contradicts(letter: str, text: str, options: Sequence[str]) -> bool:
    """Return whether a letter is followed by its option's words with one turned round."""
    own = set(_WORD.findall(options[LETTERS.index(letter)].casefold()))
    numbers = {word for word in own if word[0].isdigit()}
    for match in re.finditer(rf"(?<!\w){letter}(?!\w)[)\]]?[.:)]?\s*[-\u2013]?\s*([^\n;]+)", text):
        said = _WORD.findall(re.split(r"[.:](?:\s|\Z)", match[1])[0].casefold())
        there = set(said)
        if said and said[0] in _NONE and own and own <= there and not own & _NONE:
            return True
        figures = {word for word in there if word[0].isdigit()}
        for group in (numbers | figures, *_OPPOSITES):
            turned = own & group and there & group and not own & there & group
            if turned and (own - group <= there or there - group <= own):
                return True
        others = (_WORD.findall(other.casefold()) for other in options)
        if not own <= there and any(set(other) != own and _ends(said, other) for other in others):
            return True
    return False


def _ends(said: Sequence[str], option: Sequence[str]) -> bool:
    """Return whether a few words end with an option's text, and do not deny it."""
    before = said[: -len(option)] if option and list(option) == list(said[-len(option) :]) else None
    return before is not None and len(before) <= 4 and not _NONE.intersection(before)


def words_in(raw: str) -> tuple[str, str]:
    r"""Return an open-ended answer, and the explanation before it.

    Without thinking and chat template, otherwise verbatim. Where a line begins with ``Answer:``,
    the last such line begins the answer; otherwise all of it is the answer.

    >>> words_in("<think>Hm.</think>The left angle is blunt.\n**Answer:** Left effusion.")
    ('Left effusion.', 'The left angle is blunt.')
    >>> words_in("Left effusion.")
    ('Left effusion.', '')
    """
    text = without_thinking(raw).strip()
    marked = _ANSWER_LINE.match(text)
    return (marked[2].strip(), marked[1].strip()) if marked else (text, "")
