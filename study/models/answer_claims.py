"""Finds what a text claims about each option: stated, rejected, doubted, withdrawn or quoted.

A text is split into sentences, in which `answer_mentions` has marked the options. The phrases of
`answer_cues` around a mention decide what is claimed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from study.models import answer_cues as cues
from study.models.answer_cues import MENTION, compiled
from study.models.answer_mentions import FINAL, LABEL, LETTER, TEXT, UNCLEAR, meaning

_REACH = 200
"""Characters before and after a cue that are searched for what takes it back."""

_GAP = r"[^\w\ue000-\ue0ff]"
"""A character that is neither part of a word nor a mention."""


class Claim(StrEnum):
    """What a text claims about an option."""

    FINAL = "final"
    STATED = "stated"
    ALONE = "by itself"
    REJECTED = "rejected"
    YES = "yes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A claim about options, and where in the text it is made."""

    claim: Claim
    letters: frozenset[str]
    place: int
    begin: int = -1
    """Where the words that make the claim begin; where the mention stands if -1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a marked text, and where it begins."""

    text: str
    place: int


_BREAK = re.compile(r"(?<=[.!?\u2026])\s+|\s*\n\s*")
_JOINED_LINES = re.compile(rf"(:|\bis)[ \t]*\n\s*(?={MENTION})", re.IGNORECASE)
_HEADING = re.compile(
    r"(?m)^([ \t]*(?:(?:the|my|final|correct|best|your)\s+)*(?:answer|conclusion|decision"
    r"|choice|verdict|"
    rf"diagnosis))[ \t:]*\n\s*(?:[-=_]+\s*)?(?={MENTION})",
    re.IGNORECASE,
)
_SECOND_THOUGHT_INSIDE = re.compile(
    rf"(?<={MENTION})\s*(?:[.:,;\u2013\u2014-]|\u2026)*\s*(?=(?:oh,? )?(?:or rather"
    rf"|\((?:revised|corrected|changed)|no,? wait|no,\s|wait\b|"
    r"actually,|actually\s|correction|sorry,|i mean|make that|scratch that|on second thought))",
    re.IGNORECASE,
)

_ALSO = re.compile(
    rf"({MENTION})[.:]\s+(?={MENTION}\s+(?:is|seems)\s+(?:also|possible)\b"
    rf"|(?:or|and|maybe|perhaps|possibly)\s+(?:\w+\s+)?{MENTION})",
    re.IGNORECASE,
)
_GROUP_LINK = (
    r"\s*+(?:\?\s*+)?(?:,\s*+(?:and\b|or\b)?|;|/|&|\+|\||\u2013|-|\bto\b|\band\b|\bor\b|\boder\b|\bund\b"
    r"|\bou\b|\bet\b|\bo\b|\bu\b|\by\b|\be\b|\u6216\u8005|\u6216|\u548c|\u4e0e|\(|(?<=\s))\s*+"
    r"(?:(?:either|possibly|perhaps|maybe|even)\s+)*"
)
_VERB = (
    r"(?!\s*,?\s+(?:is|was|can|shows|has|would|could|might|may|does|isn't|cannot|can't|seems|should"
    r"|appears|leaves?|remains?|best|fits)\b)"
)
_GROUP = rf"(?>{MENTION}(?:{_GROUP_LINK}{MENTION}{_VERB}){{0,12}})"
_FILL = rf"(?:[\s:=>\"'(\[\u2013\u2014|.\u2026-]|{compiled(cues.HEDGED_SURE)}|\b(?:is|be)\b)*"

_IS = (
    r"(?:\s*(?:\bis\b|\bwould be\b|\bshould be\b|\bmust be\b|\bhas to be\b|\bbecomes\b"
    r"|\b(?:seems|appears) to be\b|\bremains\b|\bcan only be\b|[=-]>|=|:|-|\u2192|\|))+"
)
_ABOUT = r"(?:,?\s+(?:to|for|in|among|given|based\s+on|here)\b(?:\s+[\w'-]+){0,8}?,?)?"
_NOUN, _PRAISE = compiled(cues.NOUNS), rf"(?:{compiled(cues.PRAISE)}\s+)"
_START = r"(?:\A|(?<=[.;:!?,(]\s)|(?<=\bso\s)|(?<=\bthat\s))"


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_FINAL_BEFORE = _any_case(
    rf"\bfinal\s+{_NOUN}(?:\s*\([^()\n]{{0,40}}\))?(?:{_ABOUT}{_IS}{_FILL}|\s+(?={MENTION}\s*(?:[.]|\Z)))(?P<group>{_GROUP})"
)
_STATED_BEFORE = _any_case(
    rf"(?:(?:\b{_PRAISE}{{1,6}}|{_START}{_GAP}*){_NOUN}{_ABOUT}{_IS}"
    rf"|{compiled(cues.STATED_BEFORE)}"
    rf"|{_START}{_GAP}*(?:{compiled(cues.LINE_BEGINNINGS, after='')})"
    rf"|(?:\A|[.,;:!?\u2026]\s*|\b(?:so|therefore|thus|hence|the|my|our|final|correct|best|and|is)\s+)answer"
    rf"(?=\s*[(\[]?{MENTION}\s*(?:[.]|\Z))"
    rf"|{compiled(cues.IN_OTHER_LANGUAGES, after='')}|{'|'.join(cues.CHINESE_AND_OTHERS)})"
    rf"{_FILL}(?P<group>{_GROUP})"
)
_SO_BEFORE = _any_case(
    rf"(?:{compiled(cues.SO)},?|\bit(?:'?s| is| must be| has to be)){_FILL}"
    rf"(?P<group>(?!{TEXT}){_GROUP})(?=\s*(?:[.!,;)]|\Z))"
)
_SHOWS = _any_case(
    rf"\b(?:is|shows|demonstrates|reveals|depicts|indicates|represents|namely)\s+(?:an?\s+|the\s+)?"
    rf"(?P<group>{LABEL})(?=\s*(?:[.!]|\Z))"
)
_WILL_CHOOSE = _any_case(rf"\bich w\u00fcrde\s+(?P<group>{_GROUP})\s+w\u00e4hlen")
_STATED_AFTER = _any_case(
    rf"(?P<group>{_GROUP})(?:\s*\([^()\n]{{0,60}}\))?[,:]?\s*{compiled(cues.STATED_AFTER)}"
    rf"|(?P<group2>{_GROUP})\s*(?:{'|'.join(cues.CHINESE_CORRECT)})"
)
_BUT_INSTEAD = _any_case(
    rf"\b(?:not|nicht|no|pas|non)\s+{_FILL}{MENTION}(?:[^.;\n]{{0,40}}?)(?:,\s*|\s+)(?:but|sondern|sino|mais|ma)"
    rf"\s+{_FILL}(?P<group>{MENTION})(?=\s*(?:[.,;!]|\Z))"
)
_REJECTED_BEFORE = _any_case(
    rf"{compiled(cues.REJECTED_BEFORE)}(?:\s+(?:be|is|the|an?|answer|option|choose|say|correct|likely|"
    rf"out|by|with|for|pick|select|for|it(?:'s)?|that))*[\s(\[:]*(?P<group>{_GROUP})"
)
_REJECTED_AFTER = _any_case(
    rf"(?P<group>{_GROUP})(?:\s*\([^()\n]{{0,60}}\))?[,:]?\s*{compiled(cues.REJECTED_AFTER)}"
    rf"|(?P<group2>{_GROUP})\s*(?:{'|'.join(cues.CHINESE_WRONG)})"
)

_CLAUSE = _any_case(r"[.,;:!?\n]|\b(?:so|therefore|thus|hence|but|and|because|as|since)\b")
_CONTRAST = _any_case(r"[;\n]|\b(?:but|however|yet|whereas|nevertheless|disagree)\b"
                      r"|\bi\b(?=\s+(?:now\s+)?"
                      r"(?:choose|select|pick|would|will|think|believe|say|answer"
                      r"|go))")  # fmt: skip
_SPEAKER = _any_case(rf"{_GAP}*(?:{'|'.join(cues.PEOPLE)})(?:\s+\w+)?\s*:")
_CONCESSION = _any_case(r"\W*(?:while|although|though|whereas|even though|despite)\b")
_DOUBTED = _any_case(compiled((*cues.DOUBTED, *cues.NEGATED)))
_DOUBTED_CHINESE = re.compile("|".join(cues.CHINESE_DOUBT))
_PAST = _any_case(compiled(cues.IN_THE_PAST))
_CONDITION = _any_case(
    rf"\A{_GAP}*(?:if|unless|whether|suppose|supposing|assuming|provided|were|had|wenn|si"
    rf"|should|in case)\b"
)
_OTHER_CASE = _any_case(
    r"\A\W*(?:in|for|with|without)\s+(?:an?|another|other|any|most|patients)\b.*\bwould\b"
)
_CONDITION_AFTER = _any_case(
    r"(?<!even\s)(?<!as\s)\b(?:if|unless|provided|assuming|had there|were there|in case)\b"
)
_ELSEWHERE = _any_case(r"[^.,;]*\b(?:different|another|other|previous|next|first|second)\b")
_THEN_SURE = _any_case(r"\b(?:but|so|therefore|however)\b")
_ATTRIBUTED = _any_case(compiled(cues.ATTRIBUTED))
_OWNED = _any_case(r"(?:\b\w+(?:'s|s')|\b(?:his|her|their|its))\s+\Z")
_OWN = _any_case(r"(?:assistant|model|here|it|that|this)'s\s+\Z")
_NEXT_BEST = _any_case(
    r"\b(?:least|second|third|other|another|alternative|worst|next|least likely|most common"
    r"|wrong|incorrect)\s+(?:\w+\s+)?\Z"
)
_ATTRIBUTED_AFTER = _any_case(rf"[\"')\s]*,?\s*{compiled(cues.ATTRIBUTED_AFTER)}")
_OPEN_AFTER = _any_case(
    rf"\s*[,(]?\s*(?:{compiled(cues.OPEN_AFTER, before='').replace('MENTION', MENTION)})"
    rf"|\s*\(?\s*\?|\s*\(\?\)"
)
_VERB_AFTER = _any_case(
    r"\s*\(?\s*(?:is|was|are|would|could|may|might|can|cannot|can't|seems|looks|appears|does|isn't|"
    r"doesn't|unlikely|incorrect|wrong|ruled|excluded|less|ist|est|es)\b"
)
_AND_BEFORE = _any_case(rf"{MENTION}\s*(?:,?\s*(?:and|or)\b|&|/|\+)\s*\Z")
_TEXT_ENDS = _any_case(
    r"\s*(?:\Z|[.,;:!)\]\"'}<]|[\u2013\u2014-]\s|because|as\b|since|due|given|based|which|and\b|"
    r"not\b|rather|instead|over\b|with\b|on\s+the\s+basis|is\b|\u3002)"
)

_LEAD = _any_case(
    rf"\A(?:(?:{_GAP}|\d)*(?:sure|certainly|ok|okay|of course|yes|no(?=\s*[,.!;:\u2014\u2013-]"
    rf"|\s+wait)|well|hmm+|so|thus|therefore|hence|then|"
    r"wait|actually|correction|corrected|definitely|probably|most likely|clearly|certainly"
    r"|obviously|surely|simply|"
    r"just|only|its|it's|is|select|choose|pick|go with|i think|i believe|ok|i(?:'d| would) say"
    r"|opci\u00f3n|answer|"
    rf"the(?=\s+{LABEL})|revised|or rather|antwort|respuesta|on second thought|scratch that"
    rf"|no wait|sorry|i meant?|make that|rather|not so fast|"
    r"edit|oops|option|my bad|instead|nein|doch|finally|final|let me see|anyway|in fact"
    r"|eigentlich|correct)\b(?=\W|\Z))+"
)
_TAIL = _any_case(
    r"[\s.):,;!<\"'\]}>\u2013\u2014-]*(?:[(\[]?(?:i (?:think|believe)|guess|thanks"
    r"|confidence\b[^)\n]*|\d+\s*%[^)\n]{0,20}|"
    r"(?:with )?(?:high|moderate|low) confidence[^)\n]*|thank you|final answer|option|correct"
    r"|it is|then|instead)[)\]]?"
    r"[\s.):,;!]*)?\Z"
)
_COLON_BEFORE = _any_case(
    rf"\A(?:[^:.?!\n\ue000-\ue0ff]{{1,60}}:\s*(?={LABEL}{_GAP}*\Z)"
    rf"|(?:[^\s:?!\ue000-\ue0ff]+\s+){{3,60}}(?:[^\s:?!\ue000-\ue0ff]+\s*)?:\s*(?:so\s+)?(?={MENTION}{_GAP}*\Z))"
)
_BECAUSE = _any_case(
    r"\s*\((?=\w+ \w+ \w+)"
    r"|[,\s\u2013\u2014-]*(?:over(?=\s+\W*[\ue000-\ue0ff]\W+(?:because|since|as|due|given)\b)"
    r"|because|since|as|due|weil|da|\(?not\b|rather than|instead of"
    r"|with (?:high|\d)|[(,]\s*(?:confidence|"
    r"\d|thanks)|,\s*(?:not|with|and not))(?!\w)"
)
_SAY_WHY = _any_case(r"\A\s*(?:because|since|as\b|due to)")
_DISCUSSION = _any_case(
    rf"(?m)(?:^|(?<=[.!?]\s))(?:(?!\n){_GAP})*{compiled(cues.DISCUSSION)}[^\w\n]*(?::|\n|\Z|(?<=[?:.])\s)"
)
_STRONG = _any_case(
    rf"\A{_GAP}*(?:(?:but|hmm+|oh|no|ah|ok|okay|well|so|actually|sorry|then|yes){_GAP}+)*{compiled(cues.CORRECTIONS)}"
)
_WEAK = _any_case(
    rf"\A{_GAP}*(?:(?:but|hmm+|oh|ah|however|well){_GAP}+)*(?:{compiled(cues.SECOND_THOUGHTS)})(?=[\s,.:!?\u2014-])"
)
_CORRECT = _any_case(
    rf"\A{_GAP}*{compiled(cues.CORRECT)}(?!\s*(?:\?|side|lung|lower|upper|middle|heart|costophrenic|hemi|angle|apex|base|hil))"
)
_YES = _any_case(rf"\A{_GAP}*{compiled(cues.YES)}")
_NO_VERDICT = _any_case(
    rf"\A{_GAP}*(?:(?:is|are|was|clearly|also|this|that|it|option|can|be|could|it's|very|quite"
    rf"|definitely|highly|most|the|has been)\W+)*{compiled(cues.NO_VERDICT)}"
)
_UNSURE_VERDICT = _any_case(
    rf"\A{_GAP}*(?:(?:is|are|was|also|this|that|it|option|it's|the|very|less|more|most)\W+)*{compiled(cues.UNSURE_VERDICT)}"
)
_ANAPHORA = _any_case(
    rf"\A{_GAP}*(?:(?:so|therefore|thus|hence|and)\W+)?(?:this|that|it)(?:\s+(?:option|choice|answer|statement))?(?:'s|\s+is)\s+(?:(?:clearly|therefore|indeed|thus)\s+)?"
    rf"(?:the\s+|my\s+)?(?:most\s+|best\s+)?(?:correct|right|best|final|likely|appropriate)\s*(?:answer|option|choice|diagnosis|one|finding|match|statement)?\s*(?:\Z|[.!,]|because|since|as\b)"
)
_NEGATION = _any_case(compiled(cues.NEGATED))
_NEGATIVE_OPTION = _any_case(
    r"\b(?:no|not|without|normal|none|absent|absence|neither|negative|never|clear)\b|\w+n't"
)


def prepared(marked: str) -> str:
    """Return a marked text with headings and the mention below them on one line."""
    marked = _ALSO.sub(r"\1 or ", marked)
    text = _HEADING.sub(r"\1: ", _JOINED_LINES.sub(r"\1 ", marked))
    return _SECOND_THOUGHT_INSIDE.sub(".\n", text)


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a prepared text."""
    found, at = [], 0
    for part in _BREAK.split(text):
        place = text.find(part, at)
        at = place + len(part)
        if part.strip():
            found.append(Sentence(text=part.strip(), place=place))
    return found


def letters_of(group: str) -> frozenset[str]:
    """Return the letters that a group of mentions means."""
    letters = frozenset(meaning(one) for one in re.findall(MENTION, group))
    return letters | {UNCLEAR} if re.search(rf"{MENTION}\s+{MENTION}", group) else letters


def claims_in(sentence: Sentence) -> Iterator[Claimed]:
    """Yield what a sentence states or rejects by its words."""
    text = sentence.text
    if not re.search(MENTION, text):
        return
    for found in re.finditer(FINAL, text):
        before = _before(text, found.start()).rstrip(" :\"'(")
        if _doubted(before, "") or _attributed(before):
            continue
        yield Claimed(
            claim=Claim.FINAL, letters=letters_of(found[0]), place=sentence.place + found.start()
        )
    for pattern in (_REJECTED_BEFORE, _REJECTED_AFTER):
        for found in pattern.finditer(text):
            name = "group" if found["group"] else "group2"
            yield Claimed(
                claim=Claim.REJECTED,
                letters=letters_of(found[name]),
                place=sentence.place + found.start(name),
            )
    for pattern, claim in (
        (_FINAL_BEFORE, Claim.FINAL),
        (_STATED_BEFORE, Claim.STATED),
        (_SO_BEFORE, Claim.STATED),
        (_BUT_INSTEAD, Claim.STATED),
        (_WILL_CHOOSE, Claim.STATED),
        (_SHOWS, Claim.STATED),
    ):
        for found in pattern.finditer(text):
            letters = _stated_before(found, text, ignore_doubt=pattern is _BUT_INSTEAD)
            if letters:
                place = sentence.place + found.start("group")
                begin = sentence.place + found.start()
                yield Claimed(claim=claim, letters=letters, place=place, begin=begin)
    for found in _STATED_AFTER.finditer(text):
        name = "group" if found["group"] else "group2"
        group, start = found[name], found.start(name)
        before, after = _before(text, start), text[found.end() :][:_REACH]
        if (
            _conditional(text, start)
            or _doubted(before, "")
            or _attributed(before)
            or _asked(text, found.end())
        ):
            continue
        if (
            _ELSEWHERE.match(after)
            or _CONDITION_AFTER.search(after)
            or _ATTRIBUTED.search(re.split(r"[,.;]", after)[0])
        ):
            continue
        if _ATTRIBUTED_AFTER.match(text[found.end(name) :][:_REACH]):
            continue
        if _AND_BEFORE.search(before):
            continue
        yield Claimed(claim=Claim.STATED, letters=letters_of(group), place=sentence.place + start)


def _stated_before(
    found: re.Match[str], text: str, *, ignore_doubt: bool = False
) -> frozenset[str] | None:
    """Return the letters stated after a cue; None where the context takes them back."""
    before, cue = _before(text, found.start()), text[found.start() : found.start("group")]
    group, after = found["group"], text[found.end("group") :][:_REACH]
    if _conditional(text, found.start("group")):
        return None
    if not ignore_doubt and (_doubted(before, cue) or _NEXT_BEST.search(before)):
        return None
    if _attributed(before + cue) or (_OWNED.search(before) and not _OWN.search(before)):
        return None
    if _asked(text, found.end("group")) or _ATTRIBUTED_AFTER.match(after):
        return None
    letters = letters_of(group)
    if len(letters) > 1 and re.match(r"\s+(?:are|were|can be|do not|don't)\b", after):
        letters, after = letters_of(group[0]), ""  # "the answer is B, A and C are wrong"
    if _OPEN_AFTER.match(after):
        return letters | {UNCLEAR}
    if _CONDITION_AFTER.search(after):
        return None
    if re.fullmatch(TEXT, group) and not _TEXT_ENDS.match(after):
        return None
    if _VERB_AFTER.match(after):
        return None
    return letters


def _before(text: str, end: int) -> str:
    return text[max(0, end - _REACH) : end]


def _conditional(text: str, end: int) -> bool:
    """Return whether a sentence begins with "if" or the like, and no main clause starts anew."""
    if _OTHER_CASE.match(text[:end][:_REACH]):
        return True
    return bool(_CONDITION.match(text) and not _THEN_SURE.search(_before(text, end)))


def _doubted(before: str, cue: str) -> bool:
    """Return whether the clause of a cue doubts, denies or leaves it to the past."""
    clause = _CLAUSE.split(before)[-1]
    scope = re.sub(
        r"(?i)\bno doubt\b|\bnot only\b|\bbest guess\b|\bfirst (?:choice|option)", "", clause + cue
    )
    if _DOUBTED_CHINESE.search(scope):
        return True
    return bool(_DOUBTED.search(scope) or _PAST.search(scope))


def _attributed(before: str) -> bool:
    if _SPEAKER.match(before):
        return True
    scope = _CONTRAST.split(before)[-1]
    if _CONCESSION.match(scope):
        scope = scope.rpartition(",")[2]
    return _ATTRIBUTED.search(scope) is not None


def _asked(text: str, end: int) -> bool:
    """Return whether the clause that ends a text is a question."""
    rest = text[end:][:_REACH].rstrip("\"')]} ")
    return rest.endswith("?") and not re.search(r"[.;:!]", rest)


def alone(sentence: Sentence, first: bool) -> tuple[frozenset[str], bool] | None:
    """Return the letters of a sentence that is nothing but an answer, and if it corrects another.

    `first` says that the sentence begins the text, where an answer may go on with a reason.
    """
    text = sentence.text
    corrects = _STRONG.match(text) or _WEAK.match(text)
    if corrects and not re.search(r"(?i)\bi (?!mean)", corrects[0]):
        text = text[corrects.end() :].lstrip(" ,.:;-\u2013\u2014")
    lead = _LEAD.match(text)
    if first and re.match(r"\W*no\b", sentence.text, re.IGNORECASE):
        return None
    rest = text[lead.end() :] if lead else text
    if lead is None and (named := _COLON_BEFORE.match(text)):
        rest = (
            ""
            if _doubted(named[0].rstrip(" :"), "") or _attributed(named[0])
            else text[named.end() :]
        )
    found = re.match(rf"(?:{_GAP}|\d)*?({_GROUP})", rest)
    if (
        found is None
        or "?" in rest[: found.start(1)]
        or re.search(r"[A-Za-z]", rest[: found.start(1)])
    ):
        return None
    letters, tail = letters_of(found[1]), rest[found.end(1) :]
    if text.rstrip("\"')]} ").endswith("?"):
        return None
    if _TAIL.fullmatch(tail):
        return letters, bool(corrects)
    if _OPEN_AFTER.match(tail):
        return letters | {UNCLEAR}, bool(corrects)
    kind = found[1]
    if re.fullmatch(LETTER, kind) or re.fullmatch(LABEL, kind):
        if _BECAUSE.match(tail) and not _attributed(tail[:_REACH]):
            return letters, bool(corrects)
    if re.fullmatch(TEXT, kind) and _SAY_WHY.match(tail.lstrip(" ,")):
        return letters, bool(corrects)
    return None


def opening(sentence: Sentence, following: str, options: Sequence[str]) -> frozenset[str] | None:
    """Return the letter with which a sentence opens and which it goes on to support.

    As in "B. The angle is blunted." or "No, there is none."; None where what follows rejects it.
    """
    text = sentence.text
    found = re.match(
        rf"(?:{_GAP}|\d)*?(?:({LETTER})(:)|({LABEL})(:?)|({TEXT})(?=\s*[,:;\u2013-]|\s(?:there|it|this)\s))(.*)",
        text,
        re.DOTALL,
    )
    if found is None:
        return None
    mention = found[1] or found[3] or found[5]
    letter, rest = meaning(mention), found[6]
    if not found[5] and is_rejection(rest or following, letter, options, own_text=bool(found[3])):
        return None
    if re.fullmatch(rf"{_GAP}*{MENTION}{_GAP}*", rest) or re.search(LABEL, rest):
        return frozenset({UNCLEAR})
    if rest.strip() and not re.search(r"\w\w", rest):
        return None
    if letter == UNCLEAR:
        return frozenset({UNCLEAR})
    if found[5]:
        if not _is_answer_word(letter, options) or re.match(
            r"\W*(?:but|or|and|though|although|i can|i will|i'll|please|let|sure|of course)\b",
            rest,
            re.I,
        ):
            return None
    if text.rstrip("\"')]} ").endswith("?"):
        return None
    return frozenset({letter})


def _is_answer_word(letter: str, options: Sequence[str]) -> bool:
    place = ord(letter) - ord("A")
    return place < len(options) and options[place].strip().casefold() in (
        "yes",
        "no",
        "true",
        "false",
        "ja",
        "nein",
        "oui",
        "non",
        "s\u00ed",
        "sim",
        "n\u00e3o",
    )


def is_word_answer(sentence: Sentence, options: Sequence[str]) -> bool:
    """Return whether a sentence opens with an option such as Yes or No."""
    found = re.match(rf"(?:{_GAP}|\d)*?({TEXT})", sentence.text)
    return bool(found and _is_answer_word(meaning(found[1]), options))


def is_rejected_next(letters: frozenset[str], following: str, options: Sequence[str]) -> bool:
    """Return whether the sentence after an answer begins with a verdict such as "Incorrect"."""
    return bool(
        not re.match(rf"\W*{MENTION}", following)
        and (_NO_VERDICT.match(following) or _UNSURE_VERDICT.match(following))
        and re.match(
            r"\W*(?:is\b|"
            + "|".join(cues.NOT_THE_ONE)
            + r")\b|\W*(?:no|maybe|perhaps|possibly|probably not)\b\W*(?:\Z|[.,])",
            following,
            re.IGNORECASE,
        )
    )


def option_of_list(sentence: Sentence) -> str:
    """Return the letter where a sentence is no more than one option of a list, else nothing."""
    found = re.fullmatch(rf"(?:{_GAP}|\d)*?({MENTION})(?::\s*[^.:;]{{0,80}})?\W*", sentence.text)
    return meaning(found[1]) if found else ""


def is_rejection(rest: str, letter: str, options: Sequence[str], *, own_text: bool) -> bool:
    """Return whether what is said after an option's letter keeps it from being the answer."""
    if _CORRECT.match(rest):
        return False
    if _NO_VERDICT.match(rest) or _UNSURE_VERDICT.match(rest) or _attributed(rest[:80]):
        place = ord(letter) - ord("A")
        negative = place < len(options) and _NEGATIVE_OPTION.search(options[place])
        return not (negative and not own_text and re.match(r"\W*(?:no|none|neither)\b", rest, re.I))
    clause = re.split(
        r"[.,;:(\n\u2013\u2014]|\b(?:because|since|as|and|which|but)\b",
        rest.lstrip(" :.,-\u2013\u2014"),
        maxsplit=1,
    )[0]
    place = ord(letter) - ord("A")
    if place < len(options) and _NEGATIVE_OPTION.search(options[place]):
        return bool(own_text and _NEGATION.search(clause))
    denied = {meaning(mention) for mention in re.findall(MENTION, clause)}
    if denied and letter not in denied and UNCLEAR not in denied and not own_text:
        return False  # the reason denies another option
    return bool(_NEGATION.search(clause) or (_DOUBTED.search(clause) and own_text))


def correction(sentence: Sentence) -> str:
    """Return `strong`, `weak` or nothing: whether a sentence takes back what was stated before."""
    if _STRONG.match(sentence.text):
        return "strong"
    return "weak" if _WEAK.match(sentence.text) else ""


def verdicts(text: str) -> list[tuple[str, Claim | None, int]]:
    """Return the labelled options of a walk through them in order, each with what is said of it."""
    labels = list(
        re.finditer(
            rf"(?:(?<=\A)|(?<=[\s.;,|(])|(?<=\d[.):]\s))(?:({LETTER})\s*[:\u2013\u2014=-]|({LABEL})(?=\s*(?:[:\u2013\u2014,.-]|\s*\n|\s*\Z))|({LETTER})(?=\s+(?:correct|incorrect)\b)|({LETTER}|{LABEL}|{TEXT})\s*:)",
            text,
        )
    )
    found = []
    for n, label in enumerate(labels):
        end = labels[n + 1].start() if n + 1 < len(labels) else len(text)
        said = text[label.end() : end]
        mention = next(one for one in label.groups() if one)
        found.append((meaning(mention), _verdict(said), label.start()))
    return found


def _verdict(said: str) -> Claim | None:
    head = said.lstrip(" :.-\u2013\u2014\n(=")
    parts = [
        head,
        *(one.text for one in sentences(head)),
        *re.split(r",\s+", head.partition("\n")[0])[-1:],
    ]
    for part in parts:
        if not re.search(MENTION, part) and (_CORRECT.match(part) or _ANAPHORA.match(part)):
            return Claim.STATED
    if _YES.match(head):
        return Claim.YES
    if any(_NO_VERDICT.match(part) for part in parts):
        return Claim.REJECTED
    return None


def anaphora(sentence: Sentence) -> bool:
    """Return whether a sentence such as "This is the correct answer" states what was before it."""
    return _ANAPHORA.match(sentence.text) is not None and not re.search(MENTION, sentence.text)


def discussion_at(text: str) -> int:
    """Return where a part begins that explains the answer or discusses the other options."""
    found = _DISCUSSION.search(text)
    return found.start() if found else len(text)
