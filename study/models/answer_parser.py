"""Reads the one option that a model's output answers with, and never guesses.

The output is reduced to plain text (`answer_text`), answers given in a structure and every
mention of an option are marked (`answer_structures`, `answer_mentions`), each clause says what it
says of the options that it mentions (`answer_clauses`, `answer_lists`), and `answer_in` decides.
``docs/predictions-format.md`` has the rules.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from study.models.answer_checks import is_unknown_comment
from study.models.answer_clauses import Sentence, is_question, prepared, sentences
from study.models.answer_contents import contradicts, names_only
from study.models.answer_lists import verdicts_on
from study.models.answer_mentions import LETTERS, UNCLEAR, mark
from study.models.answer_stances import POSITIVE, Said, Stance, said_in
from study.models.answer_structures import with_structures
from study.models.answer_text import own_turn, plain_text, without_thinking
from study.models.answer_words import MENTION, cue, pattern
from study.models.refusals import is_refusal

VERSION = 5
"""Version of the parsing rules, recorded with each answer; raised whenever they change."""

STANDARD = "standard"
RULES = {
    "strict": ("whole", "final"),
    STANDARD: ("whole", "final", "stated", "by itself"),
    "loose": ("whole", "final", "stated", "by itself", "mentioned"),
}
"""The rules of each set, in order; the first that finds an answer decides."""

_MENTIONS = re.compile(MENTION)
_NUMBERED_ANSWER = re.compile(
    r"(?m)^[ \t]*(?:(?:[Qq](?:uestion)? ?)?\d+[.):]|[Qq](?:uestion)? ?\d+\b[^:\n]{0,60}:)[ \t]*"
    r"\(?[A-Z]\)?[.]?[ \t]*$"
)
_TRANSCRIPT = re.compile(r"(?:human|user)\s*:", re.IGNORECASE)
_ANSWER_LINE = re.compile(
    r"((?:.*\n)?)[ \t>*_#]*(?:final\s+)?answer[ \t*_]*:[\s*_]*(\S.*)\Z", re.IGNORECASE | re.DOTALL
)
_RETRACTS = cue("retracts")
_MISSING = pattern(r"{missing}")
_BREAKS_OFF = re.compile(
    r"[^\n][ ](?:and|or|nor|but|because(?: of)?|if|unless|although|though|than|versus|vs)\W*\Z",
    re.IGNORECASE,
)
_REPLACES = cue("replaces")
_REGRETS = pattern(r"{regret}")
_DENIES = pattern(r"{negation}|{rejection}")
_OTHERS_WRONG = cue("others_wrong")
_OFFER = cue("offer")
_OFFERS_MORE = re.compile(
    r"\b(?:would you like|do you want|want me to|shall i|should i)\b", re.IGNORECASE
)
_REMAINS = cue("remains")
_DISCUSSION = cue("discussion")
_SEGMENT = re.compile(
    r"[,;:\u2013\u2014]|\b(?:but|whereas|while|although|without|with no)\b", re.IGNORECASE
)
_CONTRASTS = cue("contrasts")
_SO_TOO = pattern(r"\b(?:or|also|could|possible|equally|just as|likewise|both|same)\b")
_DENIED = pattern(r"{negation}|{doubt}|\babsent\b|\bexcluded?\b|\brule[ds]? out\b")


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
    if len(_NUMBERED_ANSWER.findall(text)) > 1 or _TRANSCRIPT.match(text):  # several questions
        return None, ""
    if _BREAKS_OFF.search(text):
        return None, ""
    missing = _MISSING.search(text) is not None
    for part in dict.fromkeys((own_turn(text), text)):
        reading = _read(part, options)
        letters, rule = reading.decide(RULES[rules])
        if not rule:
            continue
        allowed = len(letters) == 1 and letters <= set(LETTERS[: len(options)])
        letter = next(iter(letters)) if allowed and not (missing and rule != "final") else None
        if letter and contradicts(letter, part, options):
            letter = None
        return letter, rule
    return None, ""


def _read(text: str, options: Sequence[str]) -> "_Reading":
    """Return what a plain text says of the options."""
    structured = with_structures(text, lambda inside: _content(inside, options))
    marked = prepared(mark(structured, options))
    parts = sentences(marked)
    said = verdicts_on(marked, parts, list(said_in(parts)), options)
    return _Reading(marked=marked, parts=parts, said=said, options=options)


def _content(inside: str, options: Sequence[str]) -> Set[str]:
    """Return the letters that the content of a tag, a box or a JSON value answers with."""
    if not _MENTIONS.search(mark(inside, options)):
        return set()
    letters, rule = _read(inside.strip(), options).decide(RULES[STANDARD])
    return letters if rule else {UNCLEAR}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A marked text, and what it says of the options."""

    marked: str
    parts: Sequence[Sentence]
    said: Sequence[Said]
    options: Sequence[str]

    def decide(self, rules: Sequence[str]) -> tuple[Set[str], str]:
        """Return the letters answered with, and the rule; no rule without an answer."""
        if len(_letters(self.said)) > 1 and not re.search(
            r"[\w\n>]", _MENTIONS.sub(" ", self.marked)
        ):
            return {UNCLEAR}, "whole"
        answers = self._after_corrections([one for one in self.said if one.stance in POSITIVE])
        if answers is None:
            return {UNCLEAR}, "stated"
        alone = [one for one in answers if one.stance is Stance.ALONE]
        if len(self.parts) == 1 and len(self.said) == 1 and alone:
            return self._checked(alone[0].letters, alone), "whole"
        found = {
            "final": [one for one in answers if one.stance is Stance.FINAL],
            "stated": [one for one in answers if one.stance is Stance.STATED],
            "by itself": self._at_the_edge(alone),
        }
        if not any(found.values()):
            found["stated"] = self._findings(answers) or self._survivor()
        for rule in rules:
            if rule == "mentioned":
                letters = self._mentioned()
                return (letters, rule) if letters else (set(), "")
            if not (chosen := found.get(rule)):
                continue
            letters = _letters(chosen)
            if rule == "final":  # stated otherwise without saying so
                letters |= _letters(found["stated"])
            if rule == "stated":
                letters |= _letters(
                    [one for one in alone if one.sentence in (0, *(a.sentence for a in chosen))]
                )
            return self._checked(letters, chosen), rule
        return set(), ""

    def _after_corrections(self, answers: Sequence[Said]) -> list[Said] | None:
        """Return the answers that no correction replaces; None where one is only withdrawn."""
        left = [one for one in answers if not self._is_dropped(one)]
        for n, (previous, part) in enumerate(pairwise((Sentence(text="", place=-1), *self.parts))):
            retracts = bool(_RETRACTS.match(part.text))
            if not (retracts or _REPLACES.match(part.text)) or is_question(previous.text):
                continue
            before = [one for one in left if one.sentence < n]
            after = [one for one in left if one.sentence >= n]
            if not before:
                continue
            if after:
                left = [
                    replace(one, stance=Stance.STATED) if one.stance is Stance.ALONE else one
                    for one in after
                ]
            elif retracts or any(
                one.sentence == n
                and one.letters - _letters(before)
                and one.stance is not Stance.REJECTED
                for one in self.said
            ):
                return None
        return left

    def _is_dropped(self, answer: Said) -> bool:
        """Return whether an option is stated, then rejected, and then another is stated."""
        rejected = [
            one.place
            for one in self.said
            if one.stance is Stance.REJECTED
            and one.letters == answer.letters
            and one.place > answer.place
        ]
        return bool(rejected) and any(
            one.stance in (Stance.STATED, Stance.FINAL)
            and one.place > rejected[0]
            and one.letters != answer.letters
            for one in self.said
        )

    def _at_the_edge(self, alone: Sequence[Said]) -> list[Said]:
        """Return answers that stand by themselves, if one begins or ends the text."""
        end = self._discussion()
        chosen = [one for one in alone if one.place < end] or list(alone)
        last_line = self.marked.rstrip().rfind("\n") + 1
        edges = {0, *range(len(self.parts) - 3, len(self.parts))}
        edges |= (
            {n for n, part in enumerate(self.parts) if part.place < end}
            if end < len(self.marked)
            else set()
        )
        near = any(one.sentence in edges or one.place >= last_line for one in chosen)
        return chosen if near else []

    def _findings(self, answers: Sequence[Said]) -> list[Said]:
        """Return the findings stated, if they are all one option and no other is left open."""
        found = [one for one in answers if one.stance is Stance.FOUND]
        if (
            len(
                {
                    letter
                    for one in self.said
                    for letter in one.letters
                    if one.stance not in (Stance.REJECTED, Stance.OTHERS) and len(one.letters) < 3
                }
            )
            != 1
        ):
            return []
        return [one for one in found if names_only(self._segment(one), one, self.options)]

    def _segment(self, one: Said) -> str:
        """Return the words around a finding up to the next comma or the like."""
        part = self.parts[one.sentence]
        at = one.place - part.place
        return _SEGMENT.split(part.text[:at])[-1] + " " + _SEGMENT.split(part.text[at + 1 :])[0]

    def _survivor(self) -> list[Said]:
        """Return the one option left where the text rejects all others."""
        rejected = _letters([one for one in self.said if one.stance is Stance.REJECTED])
        left = set(LETTERS[: len(self.options)]) - rejected
        named = [one for one in self.said if one.letters == left]
        if (
            len(left) != 1
            or not rejected
            or any(one.stance in (Stance.DOUBTED, Stance.OTHERS) for one in named)
        ):
            return []
        last = [n for n, part in enumerate(self.parts) if _REMAINS.search(part.text)]
        if not named and not last:
            return []
        n = last[-1] if last else named[-1].sentence
        return [
            Said(
                stance=Stance.STATED, letters=frozenset(left), place=self.parts[n].place, sentence=n
            )
        ]

    def _checked(self, letters: Set[str], answers: Sequence[Said]) -> Set[str]:
        """Return the letters; unclear where the text speaks against the one stated."""
        if len(letters) != 1:
            return letters
        last = max(answers, key=lambda one: one.place)
        return {UNCLEAR} if self._speaks_against(letters, last) else letters

    def _speaks_against(self, letters: Set[str], last: Said) -> bool:
        """Return whether an answer is taken back, rejected or joined by another after it."""
        discussion = self._discussion()
        for one in self.said:
            text = self.parts[one.sentence].text
            if one.letters == letters:
                if one.place > last.place and one.stance is Stance.REJECTED:
                    return True
                if _OFFER.search(text):
                    continue
                if (
                    one.stance is Stance.DOUBTED
                    and one.sentence >= last.sentence
                    and one.place > last.place
                ):
                    return True
                continue
            if one.place < last.place or (is_question(text) and _OFFERS_MORE.search(text)):
                continue
            if one.stance in (Stance.NAMED, Stance.FOUND, Stance.ALONE):
                if one.place < discussion and not _DENIES.search(text):
                    return True
            elif one.stance is Stance.DOUBTED:
                if last.stance is not Stance.ALONE and len(one.letters) > 1:
                    continue
                near = one.sentence == last.sentence or not _CONTRASTS.match(text)
                near = near or re.search(r"\banswer\b", text, re.IGNORECASE) is not None
                if last.stance is Stance.ALONE or (near and _SO_TOO.search(text)):
                    return True
            elif one.stance in POSITIVE and one.letters - letters:
                return True
        after = self.parts[last.sentence].text[
            max(0, last.place - self.parts[last.sentence].place) :
        ]
        return bool(_REGRETS.search(after)) or any(
            self._takes_back(part.text) for part in self.parts[last.sentence + 1 :]
        )

    def _takes_back(self, text: str) -> bool:
        """Return whether a later sentence takes the answer back or asks about it."""
        if is_unknown_comment(text) and not re.search(MENTION, text):
            return True
        if _RETRACTS.match(text) or (_REGRETS.search(text) and not _OTHERS_WRONG.search(text)):
            return True
        return is_question(text) and not _OFFER.search(text)

    def _discussion(self) -> int:
        """Return where a part begins that explains the answer or discusses the other options."""
        found = _DISCUSSION.search(self.marked)
        return found.start() if found else len(self.marked)

    def _mentioned(self) -> Set[str]:
        """Return the options that are mentioned in a clause that neither doubts nor denies."""
        if is_refusal(self.marked):
            return set()
        rejected = _letters([one for one in self.said if one.stance is Stance.REJECTED])
        return (
            _letters([one for one in self.said if one.stance in (*POSITIVE, Stance.NAMED)])
            - rejected
        )


def _letters(said: Sequence[Said]) -> Set[str]:
    return frozenset().union(*(one.letters for one in said))


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
