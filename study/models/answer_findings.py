"""Reads a finding stated in an option's own words, as in "The image shows cardiomegaly"."""

import re
from collections.abc import Sequence

from study.models.answer_checks import is_affirmed, is_denied
from study.models.answer_claims import Claim, Claimed, Sentence
from study.models.answer_cues import MENTION
from study.models.answer_mentions import LETTERS, TEXT, UNCLEAR, meaning

_STATES = re.compile(
    r"\b(?:shows?|demonstrates?|reveals?|depicts?|displays?|is|are|see|count|there's|it's|that's|fits?"
    r"|match(?:es)?|consistent with|compatible with|indicates?|identify|involves?)\b[^,;.]*\Z"
    r"|\b(?:this|it)\s+\Z|\bbut\s+(?:an? |the )?\Z"
    r"|\A\W*(?:given|based on|considering)\b[^:;.]*,\s*\Z"
    r"|\A\W*(?:impression|location|finding|diagnosis|conclusion)\s*:\s*\Z",
    re.IGNORECASE,
)
"""What stands before a finding that a sentence states."""

_IS_SEEN = re.compile(
    r"\s+(?:is|are)\s+(?:seen|present|identified|visible|noted|affected|involved|evident)\W*\Z",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s*(?:;|,(?=\s+\w+\W+\w+)|\s[\u2013\u2014-]\s|\((?=\w+ [\w.]+))")
_SUBJECT = re.compile(r"the\b[^,]*\s(?:is|are|involves?)\s+(?:in\s+)?(?:the\s+)?", re.IGNORECASE)
_SEGMENT = re.compile(r"[,;:.\u2013\u2014]|\b(?:but|whereas|while|although|with)\b", re.IGNORECASE)
_GLOBAL = re.compile(
    r"\b(?:no|none|not|normal|abnormal|clear|negative|positive|unremarkable|yes|true|false)\b",
    re.IGNORECASE,
)
"""Options about all of the image, which a sentence about one structure does not state."""
_NAMES_AN_ANSWER = re.compile(r"\b(?:answer|option|choice|letter)\b", re.IGNORECASE)
_INVERTED = re.compile(
    r"(?:\A|[,;:.]|\b(?:so|and|nor|neither|but|as))\s*(?:is|are)\b", re.IGNORECASE
)
_ENDS = re.compile(
    r"(?:\s+(?:film|view|projection|study))?\s*(?:[.!,;(]|\Z|\s(?:in|on|at|of|with|within|from|along|based)\b)",
    re.IGNORECASE,
)
_MOST_MENTIONS = 30
_REACH = 300  # characters around a mention that are looked at
_WORD = re.compile(r"[^\W\d_\ue000-\ue0ff]+|\d+")
_SMALL_WORDS = frozenset(
    {
        *("a", "an", "the", "of", "in", "on", "at", "with", "is", "are", "and"),
        *("there", "this", "no", "it", "to", "than"),
    }
)


def finding(
    parts: Sequence[Sentence], claims: Sequence[Claimed], options: Sequence[str]
) -> Claimed | None:
    """Return the one option whose words the first or last sentence states as a finding.

    None where any other option is mentioned without being rejected, or where a word beside the
    finding belongs to another option.
    """
    if sum(len(re.findall(MENTION, part.text)) for part in parts) > _MOST_MENTIONS:
        return None
    rejected = {claim.place for claim in claims if claim.claim is Claim.REJECTED}
    mentions = [
        (part, match)
        for part in parts
        for match in re.finditer(MENTION, part.text)
        if part.place + match.start() not in rejected and not _is_denied(part.text, match)
    ]
    if len({meaning(match[0]) for _, match in mentions}) != 1:
        return None
    letter = meaning(mentions[0][1][0])
    for part, match in mentions:
        if letter == UNCLEAR or not re.fullmatch(TEXT, match[0]):
            return None
        if part in (parts[0], parts[-1]) and _is_stated(part, match, parts, options):
            place = part.place + match.start()
            return Claimed(
                claim=Claim.STATED, letters=frozenset(letter), place=place, begin=part.place
            )
    return None


def _is_denied(text: str, match: re.Match[str]) -> bool:
    """Return whether the part of a sentence that mentions an option denies or doubts it."""
    before = text[max(0, match.start() - _REACH) : match.start()]
    after = text[match.end() :][:_REACH]
    return is_denied(_SEGMENT.split(before)[-1] + " " + _SEGMENT.split(after, maxsplit=1)[0])


def _is_stated(
    part: Sentence, match: re.Match[str], parts: Sequence[Sentence], options: Sequence[str]
) -> bool:
    """Return whether a sentence states the option that it mentions as a finding."""
    letter = meaning(match[0])
    before, after = part.text[: match.start()], part.text[match.end() :]
    if _NAMES_AN_ANSWER.search(part.text) or _INVERTED.search(before):
        return False
    any_subject = bool(
        len(parts) == 1
        and _SUBJECT.fullmatch(_SEGMENT.split(before)[-1].strip() + " ")
        and not _GLOBAL.search(options[LETTERS.index(letter)])
    )
    begins = (
        not before.strip()
        and not _is_word(options[LETTERS.index(letter)])
        and (_IS_SEEN.match(after) or (part is parts[0] and _REASON.match(after)))
    )
    stated = begins or (_STATES.search(before) and _ENDS.match(after))
    if not stated or not is_affirmed(before, after, any_subject=any_subject):
        return False
    clause = _SEGMENT.split(before)[-1]
    beside = "" if begins else _SEGMENT.split(after, maxsplit=1)[0]
    return not _names_another(f"{clause} {beside}", letter, options)


def _is_word(option: str) -> bool:
    """Return whether an option is a word such as Yes or None, which may open any sentence."""
    return len(option.split()) == 1 and _GLOBAL.search(option) is not None


def _names_another(around: str, letter: str, options: Sequence[str]) -> bool:
    """Return whether words around an option's text belong to another option and not to it."""
    own = _words(options[LETTERS.index(letter)])
    others = set().union(*(_words(option) for option in options)) - own - _SMALL_WORDS
    longer = any(own < _words(option) for option in options)
    return bool(_words(around) & others) or (longer and bool(_words(around) - _SMALL_WORDS))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
