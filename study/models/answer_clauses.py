"""Splits a marked text into sentences and clauses and determines what governs each clause.

Earlier words of the sentence may attribute a clause to another speaker, or make it conditional or
denied.
"""

import re
from dataclasses import dataclass, replace

from study.models.answer_mentions import LETTER, LETTERS, UNCLEAR, meaning
from study.models.answer_words import MENTION, cue, pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a marked text and its position."""

    text: str
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause, its position, and how earlier words of the sentence govern it."""

    text: str
    place: int
    foreign: bool = False
    """Whether the clause is attributed to another speaker, or conditional."""
    denied: bool = False
    lead: str = ""
    """The words before the colon that precedes this clause."""


_BREAK = re.compile(r"(?<=[.!?\u2026])\s+|\s*\n\s*")
_JOINED_LINES = pattern(
    r"(?<!explanation)(?<!reasoning)(?<!rationale)(?<!analysis)(?<!options)(?<!choices)(?<!just"
    r"ification)(:|\bis)[ \t]*\n\s*(?={M})"
)
_HEADING = pattern(
    r"(?m)^([ \t]*(?:(?:the|my|final|correct|best|your)\s+)*(?:answer|conclusion|decision|choice"
    r"|verdict|diagnosis|impression|selection|antwort|respuesta|risposta))[ \t:]*\n\s*"
    r"(?:[-=_]+\s*)?(?={M})"
)
_APPOSITION = pattern(
    r"\b(options?|choice|answer|letter|one|diagnosis|statement)\s*,\s*({M})\s*,(?=\s+(?:{be}|{fits}|best)\b)"
)
_SECOND_THOUGHT = pattern(
    r"(?<={M})\s*(?:[.:,;\u2013\u2014-]|\u2026|\.{2,})*\s*(?:hence\s+)?(?=(?:oh,? )?(?:or rather"
    r"|\((?:revised|corrected|changed)|no,? wait|no,\s|wait\b|actually,|actually\s|correction"
    r"|sorry,|i mean|(?:corrected|changed|revised) to\b|make that"
    r"|scratch that|on second thought|nein|doch|besser gesagt|mejor dicho"
    r"|plut[o\u00f4]t))"
)
SINGULAR = (
    r"\s*,?\s+(?:is|was|can|shows|has|would|could|might|may|does|isn't|cannot|can't|seems|should"
    r"|appears|leaves?|remains?|best|fits|explains|describes|matches|wins|holds|stands"
    r"|makes|because|since|as|ist|est|es)\b"
)
ONLY_SINGULAR = (
    r"\s*,?\s+(?:is|was|shows|has|does|isn't|doesn't|seems|appears|leaves?|remains|best|fits"
    r"|explains|describes|matches|wins|holds|stands|makes|because|since|as|ist|est|es)\b"
)
_CLAUSE = pattern(
    rf"[;:=\n()\[\]|]|\s(?=-+\s)|(?<!{{M}})[\u2013\u2014]|[\u2013\u2014](?!\s*{{M}})|(?<!{{M}}),"
    rf"|,(?!\s*(?:(?:and|or|nor)\s+){{M}}(?!{ONLY_SINGULAR})|\s*{{M}}(?!{SINGULAR}))"
    r"|(?<=\s)(?<!if\s)(?<!even\s)(?<!as\s)(?<!thing\s)(?<!all\s)(?=(?:but"
    r"|so|therefore|thus|hence|because|since|while|although|though|whereas|(?<!not\s)yet(?!\sto\b)"
    r"|however|which|rather than|instead of|leaving"
    r"|(?<!options\s)(?<!choices\s)given|(?<!are\s)(?<!is\s)due to|then|if|unless"
    r"|provided\s+(?:that|the|there)|assuming|weil|sondern|porque"
    r"|car|perch\u00e9|sino)\b"
    r"|as\s+(?:the|there|it|this|these|a|an|no|seen|shown)\b(?!\s+(?:\w+\s+)?(?:answer"
    r"|correct|best|most|final|choice))"
    rf"|and\b(?!\s*{{M}})|and\s*{{M}}{ONLY_SINGULAR}|over\s*{{M}}|not\s+(?:option\s+|the\s+)?{{M}})"
    r"|(?<=[\u3400-\u9fff\ue000-\ue0ff])(?=\u800c\u662f|\u56e0\u4e3a|\u6240\u4ee5|\u4f46)"
)
_ASIDE = cue("aside")
_FORCED = pattern("{forced}")
_AFFIRMED = pattern("{affirmed}")
_CONDITION = pattern(r"\A\W*(?:(?:and|so|well|but|only|even|then)\W+)*{condition}")
_CONTRAST = pattern(r"\A\W*(?:but|however|here|yet|aber|pero|mais|ma|mas)\b")
_CONSEQUENCE = pattern(
    r"\A\W*(?:ie|that is|so|therefore|thus|hence|also|daher|(?:thereby )?(?:making|leaving))\b"
)
_DOUBT_ALONE = re.compile(r"\W*(?:perhaps|maybe|possibly|conceivably)\W*", re.IGNORECASE)
_WOULD_FOLLOW = re.compile(r"\W*(?:which|that|this) would\b", re.IGNORECASE)
_THOUGHT = re.compile(r"\b(?:doubt|wonder|think|believ|say|claim|convinced)", re.IGNORECASE)
_SPEAKER_OF_REST = pattern(
    r"\b(?:according to|as per|per|laut|seg\u00fan|selon|secondo|examples?|sample|template"
    r"|format)\b"
)
_ABSENT_SIGN = cue("absent_sign")
_NOT_SEEN = cue("not_seen")
"""The answer to a question such as "Which finding is not seen?"."""
_OWN_VIEW = pattern(r"\A\W*(?:{own})")
CONCEDES = cue("concedes")
_FOREIGN = cue("foreign")
_AS_SAID = cue("as_said")
_PURPOSE = re.compile(r"\W*so\b", re.IGNORECASE)
_INSTRUCTS = cue("instructs")
_INVERTED = pattern(
    r"\A\W*(?:w\u00e4ren?|h\u00e4tten?|g\u00e4be|sollte|hubiera|fosse)\b|\A\W*else\W*\Z"
)
_OTHER_CASE = cue("other_case")
PAST = pattern("{past}")
_GOVERNS = cue("governs")
_SPEAKER = pattern(r"\A\W*(?:[\w'-]+\s+){0,4}?{people}(?:'s)?(?:\s+[\w'#]+){0,3}\s*\Z")
_LABELLED_BY = cue("labelled_by")
NEGATION = pattern("{negation}")
REJECTION = pattern("{rejection}")
_DOUBT = pattern("{doubt}")
_SURE_DOUBT = cue("sure_doubt")
NOUN_ENDS = pattern(r"(?P<final>\bfinal\s+)?(?P<noun>{noun})\W*\Z")
CHOSEN = cue("chosen")
LEADS = pattern(r"{leads}\W+(?:[\w'-]+\W+){0,4}?\Z|{leads}\W*\Z")
_RETRACTED = pattern(r"\A\W*(?:{retraction}|{second_thought})")
_LEAD_IN = cue("led")
_NOUN = pattern(r"{noun}")
AGREES = re.compile(
    r"(?<!not )(?<!n't )\b(?:agree|concur|side) with\b|\bi (?:don't|do not|disagree|wouldn't)\W*\Z",
    re.IGNORECASE,
)


def prepare(marked: str) -> str:
    """Return a marked text in which a heading and the mention below it are on one line."""
    marked = _NOT_SEEN.sub(r"\1answer", marked)
    marked = _ABSENT_SIGN.sub(lambda match: "the" + " " * (len(match[0]) - 3), marked)
    marked = _AFFIRMED.sub(lambda match: " " * len(match[0]), marked)
    marked = _APPOSITION.sub(r"\1 \2", marked)
    text = _HEADING.sub(r"\1: ", _JOINED_LINES.sub(r"\1 ", marked))
    return _SECOND_THOUGHT.sub(".\n", text)


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a prepared text."""
    parts, at = [], 0
    for part in _BREAK.split(text):
        place = text.find(part, at)
        at = place + len(part)
        if part.strip():
            parts.append(Sentence(text=part.strip(), place=place))
    return parts


def is_question(text: str) -> bool:
    """Return whether a sentence is a question."""
    return text.rstrip("\"')]} ").endswith("?")


def letters_of(group: str) -> frozenset[str]:
    """Return the letters of a group of mentions."""
    letters = frozenset(meaning(mention) for mention in re.findall(MENTION, group))
    if (
        ends := re.match(rf"({LETTER})\s?[\u2013-]\s?({LETTER})\Z", group)
    ) and UNCLEAR not in letters:
        first, last = (LETTERS.index(meaning(mention)) for mention in ends.groups())
        letters |= frozenset(LETTERS[first : last + 1])
    return letters | {UNCLEAR} if re.search(rf"{LETTER}\s+{LETTER}", group) else letters


def clauses(part: Sentence) -> list[Clause]:
    """Return the clauses of a sentence and whether each is attributed, conditional or denied."""
    text = _ASIDE.sub(lambda match: " " * len(match[0]), part.text)
    text = _FORCED.sub(lambda forced: " " * len(forced[0]), text)
    breaks = [(m.start(), m.end()) for m in _CLAUSE.finditer(text)] + [(len(text), len(text))]
    governor, at, lead = _Governor(clauses=[]), 0, ""
    for begin, end in breaks:
        clause, separator = text[at:begin], text[begin:end]
        governor.enter(clause, text[max(0, at - 1) : at], separator)
        if clause.strip():
            governor.clauses.append(
                Clause(
                    text=clause,
                    place=at,
                    foreign=governor.foreign or governor.conditional,
                    denied=governor.denied,
                    lead=lead,
                )
            )
            lead = clause + separator if _introduces(clause, separator.strip()) else ""
        governor.leave(clause, separator)
        at = end
    return governor.clauses


@dataclass(slots=True, kw_only=True)
class _Governor:
    """State that governs the current clause and the clauses after it."""

    clauses: list[Clause]
    foreign: bool = False
    speaker: bool = False  # whether another speaker says the rest of the sentence
    conditional: bool = False
    denied: bool = False
    thought: bool = False  # whether a thought or belief is denied
    conceded: bool = False
    outside: bool = False  # whether the words around a parenthesis are another speaker's

    def enter(self, clause: str, before: str, after: str) -> None:
        """Update the state from a clause and the separators around it."""
        speaks_again = (_OWN_VIEW.match(clause) or before == ";") and not self.speaker
        if _CONTRAST.match(clause) or speaks_again:
            self.foreign = self.denied = False
        if _CONSEQUENCE.match(clause) and not self.thought:
            self.denied = False
        if self.conceded and before == ",":
            self.foreign = self.conceded = False
        self.conceded = self.conceded or CONCEDES.match(clause) is not None
        if before == "(":
            self.outside = self.foreign
            if self.clauses and re.fullmatch(rf"\W*{LETTER}\W*", clause):
                previous_text = self.clauses[-1].text
                self.foreign = self.foreign or bool(
                    NEGATION.search(previous_text) or doubts(previous_text)
                )
        if "," in after and _DOUBT_ALONE.fullmatch(clause):
            self.conditional = True
        if self.clauses and _WOULD_FOLLOW.match(clause) and doubts(self.clauses[-1].text):
            self.conditional = True
        if _CONDITION.match(clause) or _INVERTED.match(clause):
            if not self.conditional:
                self._attribute_last_clause()
            self.conditional = True
        elif _CONTRAST.match(clause) or before == ";":
            self.conditional = False
        if ":" in after and _attributes(clause):
            self.foreign = self.speaker = True
        elif _PURPOSE.match(clause) and any(_INSTRUCTS.search(each.text) for each in self.clauses):
            self.foreign = True
        elif _FOREIGN.search(clause) or _OTHER_CASE.match(clause):
            self.foreign = True
            self.speaker = self.speaker or _SPEAKER_OF_REST.search(clause) is not None
            if _AS_SAID.match(clause):
                self._attribute_last_clause()

    def leave(self, clause: str, after: str) -> None:
        """Update the state for the clauses after this one."""
        mentions = re.search(MENTION, clause) or _RETRACTED.match(clause) or AGREES.search(clause)
        if _GOVERNS.match(clause) and not mentions:
            self.denied = True
            self.thought = _THOUGHT.search(clause) is not None
        if ")" in after:
            self.foreign = self.outside

    def _attribute_last_clause(self) -> None:
        if self.clauses:
            self.clauses[-1] = replace(self.clauses[-1], foreign=True)


def _introduces(clause: str, separator: str) -> bool:
    """Return whether a clause introduces the words after the separator."""
    if _LEAD_IN.fullmatch(clause):
        return True
    if separator in ("-", "\u2013", "\u2014") and NOUN_ENDS.search(clause):
        return True
    ends = separator in (":", "=") or ("," in separator and CHOSEN.search(clause))
    return bool(ends) and not re.search(MENTION, clause)


def _attributes(clause: str) -> bool:
    """Return whether the words before a colon attribute the words after it to another speaker."""
    if LEADS.search(clause + " ") or _RETRACTED.match(clause):
        return False
    if AGREES.search(clause):
        return False
    if _SPEAKER.match(clause) or _LABELLED_BY.search(clause) or PAST.search(clause):
        return True
    is_short = len(clause.split()) < 5 and not re.search(MENTION, clause)
    denied = NEGATION.search(clause) or REJECTION.search(clause)
    is_heading = len(clause.split()) < 4 or _NOUN.search(clause)
    return is_short and bool((denied and is_heading) or doubts(clause))


def doubts(text: str) -> bool:
    """Return whether words leave the answer open."""
    return _DOUBT.search(_SURE_DOUBT.sub(" ", text)) is not None
