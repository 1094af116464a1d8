"""Reads a finding that is stated in an option's own words, as in "The image shows cardiomegaly."."""

import re
from collections.abc import Sequence

from study.models.answer_checks import is_affirmed
from study.models.answer_claims import Claim, Claimed, Sentence
from study.models.answer_cues import MENTION
from study.models.answer_mentions import LETTERS, TEXT, UNCLEAR, meaning

_STATES = re.compile(
    r"\b(?:shows?|demonstrates?|reveals?|depicts?|displays?|is|are|see|there's|it's|fits?"
    r"|match(?:es)?|consistent with|compatible with|indicates?|identify)\b[^,;.]*\Z|\b(?:this|it)\s+\Z|\A\W*(?:given|based on|considering)\b[^:;.]*,\s*\Z",
    re.IGNORECASE,
)
_GLOBAL = re.compile(
    r"\b(?:no|none|not|normal|abnormal|clear|negative|positive|unremarkable|yes|true|false)\b", re.IGNORECASE
)
"""Options about all of the image, which a sentence about one structure does not state."""
_NAMES_AN_ANSWER = re.compile(r"\b(?:answer|option|choice|letter)\b", re.IGNORECASE)
_INVERTED = re.compile(r"(?:\A|[,;:.]|\b(?:so|and|nor|neither|but|as))\s*(?:is|are)\b", re.IGNORECASE)
_ENDS = re.compile(
    r"\s*(?:[.!]|\Z|,?\s(?:in|on|at|of|with|within|from|involving|along|based|here)\b|\()",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_\ue000-\ue0ff]+|\d+")
_SMALL_WORDS = frozenset("a an the of in on at with is are and there this no it to than".split())


def finding(
    parts: Sequence[Sentence], claims: Sequence[Claimed], options: Sequence[str]
) -> Claimed | None:
    """Return the one option whose words the first or last sentence states as a finding.

    None where any other option is mentioned without being rejected, or where a word beside the
    finding belongs to another option.
    """
    rejected = {claim.place for claim in claims if claim.claim is Claim.REJECTED}
    mentions = [
        (part, match)
        for part in parts
        for match in re.finditer(MENTION, part.text)
        if part.place + match.start() not in rejected
    ]
    if len({meaning(match[0]) for _, match in mentions}) != 1:
        return None
    part, match = mentions[0]
    letter = meaning(match[0])
    before, after = part.text[: match.start()], part.text[match.end() :]
    if letter == UNCLEAR or not re.fullmatch(TEXT, match[0]) or part not in (parts[0], parts[-1]):
        return None
    if _NAMES_AN_ANSWER.search(part.text):  # which is then no finding, and more exact
        return None
    any_subject = (
        len(parts) == 1
        and re.match(r"the\b[^,]*\s(?:is|are)\s+\Z", before, re.IGNORECASE) is not None
        and not _GLOBAL.search(options[LETTERS.index(letter)])
    )
    if _INVERTED.search(before) or not (_STATES.search(before) and _ENDS.match(after) and is_affirmed(before, after, any_subject=any_subject)):
        return None
    clause = re.split(r"[,;:.]", before)[-1]
    if _names_another(f"{clause} {after}", letter, options):
        return None
    place = part.place + match.start()
    return Claimed(claim=Claim.STATED, letters=frozenset(letter), place=place, begin=part.place)


def _names_another(around: str, letter: str, options: Sequence[str]) -> bool:
    """Return whether words around an option's text belong to another option and not to it."""
    own = _words(options[LETTERS.index(letter)])
    others = set().union(*(_words(option) for option in options)) - own - _SMALL_WORDS
    longer = any(own < _words(option) for option in options)
    return bool(_words(around) & others) or (longer and bool(_words(around) - _SMALL_WORDS))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
