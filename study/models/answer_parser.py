"""Parses the option that a model's output states as its answer.

`answer_text` reduces the output to plain text; `answer_structures` and `answer_mentions` mark the
answers in structures and every mention of an option; `answer_clauses`, `answer_stances` and
`answer_lists` determine the stance on each mention; `answer_checks` rejects unknown wordings;
`answer_reading` decides; and `answer_question`, `answer_wording` and `answer_absence` use the
item's question. ``docs/predictions-format.md`` documents the rules.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from study.models.answer_absence import asks_for_absent, name_exceptions, statements_on_absence
from study.models.answer_clauses import prepare, sentences
from study.models.answer_contents import adds_to_number, contradicts
from study.models.answer_lists import verdicts_on
from study.models.answer_mentions import LETTERS, UNCLEAR, mark
from study.models.answer_option_texts import with_wording_of_option, without_prompt, without_typos
from study.models.answer_question import places_on_other_side, yes_or_no
from study.models.answer_reading import MENTIONS, Reading
from study.models.answer_stances import Stance, statements_in
from study.models.answer_structures import with_structures
from study.models.answer_text import own_turn, plain_text, without_thinking
from study.models.answer_wording import restated_option, restates_other
from study.models.answer_words import pattern

VERSION = 14
"""Version of the parsing rules, recorded with each answer; increased whenever they change."""
STANDARD = "standard"
RULES = {
    "strict": ("whole", "final"),
    STANDARD: ("whole", "final", "stated", "by itself"),
    "loose": ("whole", "final", "stated", "by itself", "mentioned"),
}
"""The rules of each set, in order of precedence."""
_NUMBERED_ANSWER = re.compile(
    r"(?m)^[ \t]*(?:(?:[Qq](?:uestion)? ?)?\d+[.):]|[Qq](?:uestion)? ?\d+\b[^:\n]{0,60}:)[ \t]*"
    r"\(?[A-Z]\)?[.]?[ \t]*$"
)
_QUESTION_HEADING = re.compile(r"^\W*q(?:uestion)? ?\d+\b", re.IGNORECASE | re.MULTILINE)
_TRANSCRIPT = re.compile(r"(?:human|user)\s*:", re.IGNORECASE)
_ANSWER_LINE = re.compile(
    r"((?:.*\n)?)[ \t>*_#]*(?:final\s+)?answer[ \t*_]*:[\s*_]*(\S.*)\Z", re.IGNORECASE | re.DOTALL
)
_MISSING = pattern(r"{missing}")
_CUT_OFF_ENDING = re.compile(
    r"[^\n][ ](?:and|or|nor|but|because(?: of)?|if|unless|although|though|than|versus|vs)\W*\Z",
    re.IGNORECASE,
)
_YES_OR_NO = pattern(r"\A\W*(?:{asked_yes}|{asked_no})\W*[,.;:\u2013-]\s*(?=\w)")
_STANCES_WITH_CLAIM = frozenset({Stance.NAMED, Stance.REJECTED, Stance.FOUND})
_STANCES_WITH_WORDS = _STANCES_WITH_CLAIM | {Stance.OTHERS, Stance.LANDMARK}


def parse_answer(raw: str, options: Sequence[str], question: str | None = None) -> str | None:
    """Return the option that a model's output states as its answer.

    Parameters
    ----------
    raw : str
        The model's output.
    options : sequence of str
        The item's options in canonical order, without letters.
    question : str, optional
        The item's question. It makes "The heart is enlarged." an answer to "Is the heart
        enlarged?", but "There is no effusion." not an answer to "Which finding is NOT seen?".

    Returns
    -------
    str or None
        The option's letter; None if the output names no option, several, or an option that is not
        offered.

    Notes
    -----
    A letter that the text rejects, doubts, asks about, quotes or attributes to someone else is not
    an answer. A second answer replaces the first only if the text states this.

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
    return answer_in(raw, options, question=question)[0]


def answer_in(
    raw: str, options: Sequence[str], rules: str = STANDARD, *, question: str | None = None
) -> tuple[str | None, str]:
    """Return the letter of `parse_answer` and the rule that applied, or an empty string.

    `rules` is a name in `RULES`.
    """
    text = without_typos(without_prompt(plain_text(raw), options), options)
    text = with_wording_of_option(text, options)
    if _has_several_answers(text) or _CUT_OFF_ENDING.search(text):
        return None, ""
    task = _Task(
        question=question, options=options, is_image_missing=_MISSING.search(text) is not None
    )
    for part in dict.fromkeys((own_turn(text), text)):
        letter, rule = _answer_in_part(part, task, RULES[rules])
        if rule:
            return letter, rule
    return None, ""


def _has_several_answers(text: str) -> bool:
    """Return whether a text answers several questions, or is a transcript."""
    headings = _QUESTION_HEADING.findall(text) if _QUESTION_HEADING.match(text) else ()
    has_several = len(_NUMBERED_ANSWER.findall(text)) > 1 or len(headings) > 1
    return has_several or _TRANSCRIPT.match(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """An item's question and options, and whether the output says that the image is missing."""

    question: str | None
    options: Sequence[str]
    is_image_missing: bool

    @property
    def is_about_absence(self) -> bool:
        """Whether the question asks what is not seen, not true or least likely."""
        return self.question is not None and asks_for_absent(self.question, self.options)


def _answer_in_part(part: str, task: _Task, rules: Sequence[str]) -> tuple[str | None, str]:
    """Return the letter of a plain text and the rule that applied."""
    part = name_exceptions(part) if task.is_about_absence else part
    reading = _reading_of(part, tuple(task.options), task.is_about_absence)
    letters, rule = reading.decide(rules)
    verdict, is_plain = _verdict_in_words_of_question(part, task, reading)
    if not rule:
        if (
            not verdict
            and task.question
            and not task.is_about_absence
            and not task.is_image_missing
        ):
            verdict = restated_option(task.question, part, task.options)
            is_plain = (
                verdict is not None
                and reading.stances_on_others(verdict) <= _STANCES_WITH_WORDS
                and not reading.is_left_open(verdict)
            )
        return (verdict, "stated") if verdict and is_plain and "stated" in rules else (None, "")
    is_valid = len(letters) == 1 and letters <= set(LETTERS[: len(task.options)])
    if not is_valid or (task.is_image_missing and rule != "final"):
        return None, rule
    letter = next(iter(letters))
    is_refuted = (verdict and verdict != letter) or _is_refuted(letter, part, task, reading)
    return None if is_refuted else letter, rule


def _verdict_in_words_of_question(
    part: str, task: _Task, reading: Reading
) -> tuple[str | None, bool]:
    """Return the Yes or No that a text's claims imply, and whether nothing else in it differs."""
    if not task.question or task.is_image_missing:
        return None, False
    begins = _YES_OR_NO.match(part)
    verdict = yes_or_no(task.question, part[begins.end() :] if begins else part, task.options)
    first = parse_answer(begins[0], task.options) if begins else verdict
    stances = {each.stance for each in reading.statements if each.place or not begins}
    return verdict, verdict == first and stances <= _STANCES_WITH_CLAIM


def _is_refuted(letter: str, part: str, task: _Task, reading: Reading) -> bool:
    """Return whether a text contradicts the option it states, or also states another finding."""
    if task.is_about_absence:
        return False
    option = task.options[LETTERS.index(letter)]
    if contradicts(letter, part, task.options) or adds_to_number(option, part):
        return True
    if task.question is None:
        return False
    if places_on_other_side(task.question, part, option):
        return True
    is_described = reading.is_only_described(letter)
    return is_described and restates_other(task.question, part, task.options, letter)


@lru_cache(
    maxsize=256
)  # each output is parsed under several sets of rules, and again for every export
def _reading_of(text: str, options: tuple[str, ...], is_about_absence: bool = False) -> Reading:
    """Return the statements of a plain text about the options.

    `is_about_absence`: whether the question asks what is not seen, not true or least likely.
    """
    structured = with_structures(text, lambda inside: _letters_in_structure(inside, options))
    marked = prepare(mark(structured, options))
    parts = sentences(marked)
    statements = verdicts_on(marked, parts, list(statements_in(parts)), options)
    if is_about_absence:
        statements = statements_on_absence(parts, statements, len(options))
    return Reading(marked=marked, parts=parts, statements=statements, options=options)


def _letters_in_structure(inside: str, options: tuple[str, ...]) -> Set[str]:
    """Return the letters stated as the answer in a tag, a box or a JSON value."""
    if not MENTIONS.search(mark(inside, options)):
        return set()
    letters, rule = _reading_of(inside.strip(), options).decide(RULES[STANDARD])
    return letters if rule else {UNCLEAR}


def open_answer_in(raw: str) -> tuple[str, str]:
    r"""Return an open-ended answer, and the explanation before it.

    Thinking and the chat template are removed; the rest is kept verbatim. The answer begins at the
    last line that starts with ``Answer:``; without one, the complete text is the answer.

    >>> open_answer_in("<think>Hm.</think>The left angle is blunt.\n**Answer:** Left effusion.")
    ('Left effusion.', 'The left angle is blunt.')
    >>> open_answer_in("Left effusion.")
    ('Left effusion.', '')
    """
    text = without_thinking(raw).strip()
    marked = _ANSWER_LINE.match(text)
    return (marked[2].strip(), marked[1].strip()) if marked else (text, "")
