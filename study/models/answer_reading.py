"""Decides which option a text states, from its statements about the options."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from study.models.answer_checks import is_unknown_comment
from study.models.answer_clauses import Sentence, is_question
from study.models.answer_contents import names_only
from study.models.answer_mentions import LETTERS, TEXT, UNCLEAR
from study.models.answer_stances import POSITIVE, Stance, Statement
from study.models.answer_words import MENTION, cue, pattern
from study.models.refusals import is_refusal

MENTIONS = re.compile(MENTION)
_RETRACTS = cue("retracts")
_UNFINISHED = re.compile(
    r"\b(?:the|an|its|of|in|at|with|is|are|from|approximately|roughly|about)\s*\Z", re.IGNORECASE
)
_REPLACES = cue("replaces")
_NO_OF_OPTION = re.compile(rf"\A\W*{TEXT},?\s+(?=(?:that|this|it)\b)", re.IGNORECASE)
_NO = re.compile(r"\W*no\b", re.IGNORECASE)
_REGRET = pattern(r"{regret}")
_DENIES = pattern(r"{negation}|{rejection}")
_OTHERS_WRONG = cue("others_wrong")
_OFFER = cue("offer")
_OFFERS_MORE = re.compile(
    r"\b(?:would you like|do you want|want me to|shall i|should i)\b", re.IGNORECASE
)
_REMAINS = cue("remains")
_DISCUSSION = cue("discussion")
_SEGMENT = re.compile(
    r"[,;:\u2013\u2014]|\b(?:but|whereas|while|although|without|with no|and (?=its?\b))",
    re.IGNORECASE,
)
_CONTRASTS = cue("contrasts")
_EXPLICIT = pattern(r"(?<!each )\b(?:answer|choice|option|{reply})\b[^.!?;]*\Z")
_IS_PRESENT = cue("is_seen")
_CONCESSION = re.compile(r"\W*(?:although|though|even though|while|whereas)\b", re.IGNORECASE)
_OTHER_OPTIONS = re.compile(r"\b(?:other|remaining)\s+(?:[\w-]+,?\s+){1,8}\W*\Z", re.IGNORECASE)
_RIVAL_WORDS = pattern(
    r"\b(?:or|also|too|as well|could|possible|equally|just as|likewise|both|same)\b"
)
_CONCLUDES = cue("thus")
_EQUALITY_WORDS = pattern(r"\b(?:or|also|too|as well|equally|just as|likewise|both|same)\b")
_LIST_HEAD = pattern(r"\A\W*{M}\W*[:.=\u2013\u2014-]")
_ANSWERS_CASE = pattern(
    r"(?:\A|[;.])\W*(?:(?:and|but|while)\W+)?(?:in|for|with|without|at|on|when|under|otherwise)\b"
    r"[^,;.\ue000-\ue0ff]*,\W*(?:option\W+)?{M}\W*\Z"
)
"""A different answer for a hypothetical case, such as "In a patient with fever, C."."""
_AFTERTHOUGHT = re.compile(
    r"[,;]\s*(?:however|but)\W+(?:the|this|these|its?)\b(?:(?!\b(?:i|we|my|answer|also|same|both|too)\b)"
    r"[^;\ue000-\ue0ff])*\Z",
    re.IGNORECASE,
)
"""A final clause about the image, such as ", but the tube follows the trachea"."""
_WORDS = re.compile(r"[^\W\d_]{2,}")
_RIVAL = cue("rival")
_LOOKS_ALIKE = re.compile(
    r"\b(?:(?:could|can|may|might) (?:also |sometimes )?)?(?:looks?|appears?|presents?|seems?)"
    r" (?:very |quite |somewhat |superficially )?(?:similar|alike|the same)(?:ly)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A marked text and its statements about the options."""

    marked: str
    parts: Sequence[Sentence]
    statements: Sequence[Statement]
    options: Sequence[str]

    def decide(self, rules: Sequence[str]) -> tuple[Set[str], str]:
        """Return the letters of the answer and the rule, which is empty without an answer."""
        if _is_cut_off(self.parts):
            return {UNCLEAR}, "stated"
        letters, rest = _letters(self.statements), MENTIONS.sub(" ", self.marked)
        chosen_below = "\n" in rest and len(self.statements) > len(letters)  # below the options
        if len(letters) > 1 and not re.search(r"[\w>]", rest) and not chosen_below:
            return {UNCLEAR}, "whole"
        answers = self._after_corrections(
            [statement for statement in self.statements if statement.stance in POSITIVE]
        )
        if answers is None:
            return {UNCLEAR}, "stated"
        lone_statements = [statement for statement in answers if statement.stance is Stance.ALONE]
        if len(self.parts) == 1 and len(self.statements) == 1 and lone_statements:
            return self._checked_letters(lone_statements[0].letters, lone_statements), "whole"
        candidates = {
            "final": [statement for statement in answers if statement.stance is Stance.FINAL],
            "stated": [statement for statement in answers if statement.stance is Stance.STATED],
            "by itself": self._answers_at_edges(lone_statements),
        }
        if not any(candidates.values()):
            candidates["stated"] = (
                self._unrivalled_findings(answers)
                or self._concluding_findings(answers)
                or self._only_option_left()
            )
        for rule in rules:
            if rule == "mentioned":
                letters = self._mentioned_letters()
                return (letters, rule) if letters else (set(), "")
            if not (chosen := candidates.get(rule)):
                continue
            letters = _letters(chosen)
            if rule == "final":  # a different statement that does not announce a correction
                letters |= _letters(candidates["stated"])
            if rule == "stated":
                chosen = self._without_findings(chosen)
                letters = _letters(chosen) | _letters(
                    [
                        statement
                        for statement in lone_statements
                        if statement.sentence in (0, *(a.sentence for a in chosen))
                    ]
                )
            return self._checked_letters(letters, chosen), rule
        return set(), ""

    def stances_on_others(self, letter: str) -> Set[Stance]:
        """Return the stances on all options but one."""
        return {each.stance for each in self.statements if each.letters != {letter}}

    def is_left_open(self, letter: str) -> bool:
        """Return whether a statement about an option is conditional or another speaker's."""
        return any(
            each.stance is Stance.OTHERS for each in self.statements if each.letters == {letter}
        )

    def is_only_described(self, letter: str) -> bool:
        """Return whether no statement names an option by its letter, or calls it the answer."""
        return not any(
            letter in each.letters and (not each.own_text or self._is_explicit(each))
            for each in self.statements
        )

    def _without_findings(self, stated: list[Statement]) -> list[Statement]:
        """Return the stated answers without findings that precede an explicit answer.

        For example "A. Cardiomegaly is present. C. Rib fractures are absent. The answer is C."
        """
        explicit = [statement for statement in stated if self._is_explicit(statement)]
        if not explicit:
            return stated
        return [
            statement
            for statement in stated
            if statement.place >= explicit[-1].place or not self._states_presence(statement)
        ]

    def _words_around(self, statement: Statement) -> tuple[str, str]:
        """Return the words of the sentence before and after a mention."""
        part = self.parts[statement.sentence]
        at = statement.place - part.place
        return part.text[:at], part.text[at + 1 :]

    def _is_explicit(self, statement: Statement) -> bool:
        """Return whether a statement calls an option the answer."""
        before = self._words_around(statement)[0]
        return not statement.own_text and _EXPLICIT.search(before) is not None

    def _states_presence(self, statement: Statement) -> bool:
        """Return whether a statement says only that an option is seen."""
        before, after = self._words_around(statement)
        return (
            not statement.structured
            and not _EXPLICIT.search(before)
            and bool(re.search(r"\w", after) and _IS_PRESENT.match(after))
        )

    def _after_corrections(self, answers: Sequence[Statement]) -> list[Statement] | None:
        """Return the answers left after corrections; None if one is withdrawn but not replaced."""
        left = [statement for statement in answers if not self._is_dropped(statement)]
        for n, (previous, part) in enumerate(pairwise((Sentence(text="", place=-1), *self.parts))):
            retracts = bool(_RETRACTS.match(part.text))
            if not (retracts or _REPLACES.match(part.text)) or is_question(previous.text):
                continue
            before = [statement for statement in left if statement.sentence < n]
            after = [statement for statement in left if statement.sentence >= n]
            if not before:
                continue
            if after:
                weak = {Stance.ALONE} if _NO.match(part.text) else {Stance.ALONE, Stance.FOUND}
                left = [
                    replace(statement, stance=Stance.STATED)
                    if statement.stance in weak
                    else statement
                    for statement in after
                ]
            elif retracts or any(
                statement.sentence == n
                and statement.letters - _letters(before)
                and statement.stance is not Stance.REJECTED
                for statement in self.statements
            ):
                return None
        return left

    def _is_dropped(self, answer: Statement) -> bool:
        """Return whether an option is stated and rejected before another one is stated."""
        rejected = [
            statement.place
            for statement in self.statements
            if statement.stance is Stance.REJECTED
            and statement.letters == answer.letters
            and statement.place > answer.place
        ]
        return bool(rejected) and any(
            statement.stance in (Stance.STATED, Stance.FINAL)
            and statement.place > rejected[0]
            and statement.letters != answer.letters
            for statement in self.statements
        )

    def _answers_at_edges(self, lone_statements: Sequence[Statement]) -> list[Statement]:
        """Return answers in a separate clause at the start or end of the text."""
        if _UNFINISHED.search(self.marked):
            lone_statements = [statement for statement in lone_statements if not statement.sentence]
        end = self._discussion_start()
        chosen = [statement for statement in lone_statements if statement.place < end] or list(
            lone_statements
        )
        last_line = self.marked.rstrip().rfind("\n") + 1
        edges = {0, *range(len(self.parts) - 3, len(self.parts))}
        edges |= (
            {n for n, part in enumerate(self.parts) if part.place < end}
            if end < len(self.marked)
            else set()
        )
        is_near = any(
            statement.sentence in edges or statement.place >= last_line for statement in chosen
        )
        return chosen if is_near else []

    def _unrivalled_findings(self, answers: Sequence[Statement]) -> list[Statement]:
        """Return the stated findings if they belong to one option and all others are excluded."""
        findings = [statement for statement in answers if statement.stance is Stance.FOUND]
        if _UNFINISHED.search(self.marked) or any(
            statement.letters != findings[-1].letters
            and statement.sentence > findings[-1].sentence
            and _CONCLUDES.match(self.parts[statement.sentence].text)
            for statement in self.statements
            if findings
        ):
            return []
        if (
            len(
                {
                    letter
                    for statement in self.statements
                    for letter in statement.letters
                    if statement.stance not in (Stance.REJECTED, Stance.OTHERS, Stance.LANDMARK)
                    and len(statement.letters) < 3
                }
            )
            != 1
        ):
            return []
        return self._without_words_of_others(findings)

    def _concluding_findings(self, answers: Sequence[Statement]) -> list[Statement]:
        """Return the findings of the last sentences that begin with a word such as "overall"."""
        return self._without_words_of_others(
            [
                statement
                for statement in answers
                if statement.stance is Stance.FOUND
                and statement.sentence > len(self.parts) - 3
                and _CONCLUDES.match(self.parts[statement.sentence].text)
            ]
        )

    def _without_words_of_others(self, findings: Sequence[Statement]) -> list[Statement]:
        """Return the findings whose nearby words do not belong only to other options."""
        return [
            statement
            for statement in findings
            if names_only(self._words_near(statement), statement, self.options)
        ]

    def _words_near(self, statement: Statement) -> str:
        """Return the words around a finding up to the next comma, colon or conjunction."""
        part = self.parts[statement.sentence]
        at = statement.place - part.place
        return _SEGMENT.split(part.text[:at])[-1] + " " + _SEGMENT.split(part.text[at + 1 :])[0]

    def _only_option_left(self) -> list[Statement]:
        """Return the only option that the text does not reject."""
        rejected = _letters(
            [statement for statement in self.statements if statement.stance is Stance.REJECTED]
        )
        left = set(LETTERS[: len(self.options)]) - rejected
        matching = [statement for statement in self.statements if statement.letters == left]
        if (
            len(left) != 1
            or not rejected
            or any(statement.stance in (Stance.DOUBTED, Stance.OTHERS) for statement in matching)
        ):
            return []
        last = [n for n, part in enumerate(self.parts) if _REMAINS.search(part.text)]
        if not matching and not last:
            return []
        n = last[-1] if last else matching[-1].sentence
        return [
            Statement(
                stance=Stance.STATED, letters=frozenset(left), place=self.parts[n].place, sentence=n
            )
        ]

    def _checked_letters(self, letters: Set[str], answers: Sequence[Statement]) -> Set[str]:
        """Return the letters, or `UNCLEAR` if the text contradicts the only one."""
        if len(letters) != 1:
            return letters
        last = max(answers, key=lambda statement: statement.place)
        return {UNCLEAR} if self._speaks_against(letters, last) else letters

    def _speaks_against(self, letters: Set[str], last: Statement) -> bool:
        """Return whether the text after an answer withdraws it, rejects it or adds another one."""
        discussion = self._discussion_start()
        for statement in self.statements:
            text = self.parts[statement.sentence].text
            if statement.letters == letters:
                if statement.place > last.place and statement.stance is Stance.REJECTED:
                    return True
                if _OFFER.search(text):
                    continue
                if (
                    statement.stance is Stance.DOUBTED
                    and statement.sentence >= last.sentence
                    and statement.place > last.place
                ):
                    return True
                continue
            if statement.place < last.place or (is_question(text) and _OFFERS_MORE.search(text)):
                continue
            if self._is_aside(statement, last) or self._is_discussed(statement, last):
                continue
            if statement.stance in (Stance.NAMED, Stance.FOUND, Stance.ALONE):
                denied = statement.stance is not Stance.FOUND and _DENIES.search(text)
                if statement.place < discussion and not denied:
                    return True
            elif statement.stance is Stance.DOUBTED:
                if last.stance is not Stance.ALONE and (
                    len(statement.letters) > 1 or _is_listed(statement, self.parts)
                ):
                    continue
                is_near = statement.sentence == last.sentence or not _CONTRASTS.match(text)
                is_near = is_near or re.search(r"\banswer\b", text, re.IGNORECASE) is not None
                if last.stance is Stance.ALONE or (is_near and _RIVAL_WORDS.search(text)):
                    return True
            elif statement.stance in POSITIVE and statement.letters - letters:
                return True
        after = self.parts[last.sentence].text[
            max(0, last.place - self.parts[last.sentence].place) :
        ]
        return bool(_REGRET.search(after)) or any(
            self._is_withdrawn(part.text) for part in self.parts[last.sentence + 1 :]
        )

    def _is_aside(self, statement: Statement, answer: Statement) -> bool:
        """Return whether a later mention of another option does not change the answer."""
        if statement.stance is Stance.NAMED and not self._are_offered(statement.letters):
            return True
        part = self.parts[statement.sentence]
        begin = answer.place + 1 if statement.sentence == answer.sentence else part.place
        words = part.text[max(0, begin - part.place) : statement.place - part.place]
        if statement.stance is Stance.DOUBTED:
            text = _LOOKS_ALIKE.sub(" ", part.text)
            return bool(_CONCESSION.match(words)) and not _RIVAL_WORDS.search(text)
        return _OTHER_OPTIONS.search(words) is not None

    def _is_discussed(self, statement: Statement, answer: Statement) -> bool:
        """Return whether a sentence after an initial answer only describes another option."""
        if answer.sentence and answer.stance is not Stance.FINAL:
            return False
        text = _AFTERTHOUGHT.sub("", self.parts[statement.sentence].text)
        return (
            statement.sentence > answer.sentence
            and statement.stance in (Stance.NAMED, Stance.DOUBTED)
            and len(_WORDS.findall(text)) > 3
            and not _RIVAL.search(text)
            and not _ANSWERS_CASE.search(text)
        )

    def _are_offered(self, letters: Set[str]) -> bool:
        return letters <= set(LETTERS[: len(self.options)])

    def _is_withdrawn(self, text: str) -> bool:
        """Return whether a later sentence withdraws or questions the answer."""
        if is_unknown_comment(text) and not re.search(MENTION, text):
            return True
        text = _NO_OF_OPTION.sub("", text)
        if _RETRACTS.match(text):
            return True
        if _REGRET.search(text) and (
            not _OTHERS_WRONG.search(text) or _EQUALITY_WORDS.search(text)
        ):
            return True
        return is_question(text) and not _OFFER.search(text)

    def _discussion_start(self) -> int:
        """Return the position where the explanation or the discussion of other options begins."""
        heading = _DISCUSSION.search(self.marked)
        return heading.start() if heading else len(self.marked)

    def _mentioned_letters(self) -> Set[str]:
        """Return the options mentioned in clauses without doubt or denial."""
        if is_refusal(self.marked):
            return set()
        rejected = _letters(
            [statement for statement in self.statements if statement.stance is Stance.REJECTED]
        )
        return (
            _letters(
                [
                    statement
                    for statement in self.statements
                    if statement.stance in (*POSITIVE, Stance.NAMED)
                ]
            )
            - rejected
        )


def _is_cut_off(parts: Sequence[Sentence]) -> bool:
    """Return whether a text ends in a comma after words that mention no option."""
    last = parts[-1].text if len(parts) > 1 else ""
    return last.endswith(",") and MENTIONS.search(last) is None


def _is_listed(statement: Statement, parts: Sequence[Sentence]) -> bool:
    """Return whether an option begins a line of a list that does not call it an equal answer."""
    text = parts[statement.sentence].text
    return _LIST_HEAD.match(text) is not None and not _EQUALITY_WORDS.search(text)


def _letters(statements: Sequence[Statement]) -> Set[str]:
    return frozenset().union(*(statement.letters for statement in statements))
