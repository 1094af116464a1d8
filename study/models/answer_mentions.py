"""Replaces every mention of an option in a plain text by one character, so that cues can be found.

`A. Pneumothorax`, `option (A)` and `pneumothorax` all become a single private-use character that
says which option is meant and how it was written.
"""

import re
from collections.abc import Sequence

from study.models.answer_cues import LIVING, NAMED_BY_A_LETTER, compiled
from study.models.answer_text import plain_option

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
UNCLEAR = "?"
"""Stands for an answer that is not exactly one option."""

_KINDS = {"letter": 0xE000, "label": 0xE020, "text": 0xE040, "final": 0xE060}
_UNCLEAR_AT = 31
LETTER, LABEL, TEXT, FINAL = (
    f"[{chr(first)}-{chr(first + _UNCLEAR_AT)}]" for first in _KINDS.values()
)

_PLAIN_WORDS = frozenset(
    [
        "yes",
        "no",
        "left",
        "right",
        "both",
        "neither",
        "none",
        "normal",
        "abnormal",
        "present",
        "absent",
        "true",
        "false",
        "correct",
        "incorrect",
        "bilateral",
        "unilateral",
        "other",
        "unknown",
        "unclear",
        "uncertain",
        "positive",
        "negative",
        "increased",
        "decreased",
        "mild",
        "moderate",
        "severe",
        "small",
        "large",
        "acute",
        "chronic",
        "upper",
        "lower",
        "middle",
        "all",
        "one",
        "two",
        "three",
        "four",
        "five",
        "the",
        "a",
        "an",
        "and",
        "or",
        "not",
        "of",
        "above",
        "these",
        "them",
        "findings",
        "finding",
        "answer",
        "option",
        "choice",
        "most",
        "least",
        "likely",
        "unlikely",
        "possible",
        "probable",
        "it",
        "is",
        "side",
        "sure",
    ]
)
"""Options made only of these words or of numbers are mentions only where an answer can be."""

_BEFORE_AN_ANSWER = re.compile(
    r"(?:\A|[.!?:;=\n()\]\"'>,-]|\u2013|\u2014|\b(?:is|are|be|count|choose|select|pick|say|said|says|answer|option"
    r"|choice|probably|likely|clearly|definitely|therefore|with|for|either|or|and|so|not|a|an|the"
    r"|wait|actually|ist|lautet|est|es))\s*\Z",
    re.IGNORECASE,
)
_AFTER_AN_ANSWER = re.compile(
    r"\s*(?:\Z|[.,;:!?)\n\"'(<-]|\u2013|\u2014|\.\.\.|(?:because|since|as|due|and|or|there|it|this"
    r"|is|wait|actually)\b)",
    re.IGNORECASE,
)
_ORDINALS = {
    name: n
    for n, names in enumerate(
        (
            ("first", "1st"),
            ("second", "2nd"),
            ("third", "3rd"),
            ("fourth", "4th"),
            ("fifth", "5th"),
        ),
        1,
    )
    for name in names
}
_ORDINAL = re.compile(
    rf"(?:\bthe\s+)?\b({'|'.join(_ORDINALS)})\s+(?:option|statement)\b|\boption\s+(?:number\s+|no\.?"
    r"\s*|#\s*)?(\d{1,2})(?![\d.]*\d|\s*%)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?m)^[ \t]*[Q(]?\d{1,3}[.):][ \t]+(?=\S)")
_NOUN = r"(?:option|choice|letter|statement)"
_BRACKETED = re.compile(
    rf"(?:\b{_NOUN}[\s_#-]*)?[(\[{{<\"'\u201c]\s*(?:(?i:{_NOUN})\s+)?([A-Z])\s*\.?\s*"
    r"[)\]}>\"'\u201d](?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_AFTER_NOUN = re.compile(rf"\b{_NOUN}[\s_#-]+(?:number\s+)?([A-Za-z])(?![\w']|-\w)", re.IGNORECASE)
_GLUED = re.compile(r"\b[Oo](?:ption)([A-Z])\b")
_LABEL = re.compile(
    r"(?m)(?:^|(?<=[\s;,(|\ue000-\ue0ff]))([A-Z])(?:\s?[.):](?=\s+\S|\w\w\w|[\ue000-\ue0ff])"
    r"|\s+[=\u2013\u2014-](?=\s))"
)
_CAPITAL = re.compile(
    r"(?<![A-Za-z0-9_\u00c0-\u024f'&+-])(?<![A-Za-z]\.)([A-Z])(?![A-Za-z0-9_\u00c0-\u024f'&+]|[-.]\w|/[a-z])"
)
_ARTICLE_A = re.compile(
    r"\s*\Z|\s+[B-Z](?![\w'-])|\s*[^\s\w(\ue000-\ue0ff]|\s*[\n(]|\s*[\ue000-\ue0ff]|\s+(?:is|isn't|was|can|can't|cannot"
    r"|could|may|might|would|should|seems|looks|appears|because|since|as|due|based|given|or|and|not"
    r"|rather|instead|but|has|best|leaves|remains|over|with|to|versus|vs|than|though|fits|correct"
    r"|incorrect|ist|oder|und|more|I)\b"
)
_SMALL = re.compile(
    r"(?:(?<=\A)|(?<=[:\n=])\s*|\b(?i:is|it's|answer|letter|choose|select|pick|think|with|say)\s*:?\s+|\(|\[)"
    r"([a-z])(?=\s*(?:\Z|[.,;:!)\]\n]))",
)
_NAME = re.compile(compiled(NAMED_BY_A_LETTER, after=r"\s+\Z"), re.IGNORECASE)


def mark(text: str, options: Sequence[str]) -> str:
    """Return a plain text with one private-use character for each mention of an option."""
    marked = _mark_texts(_NUMBERED.sub("", text), options)
    marked = _ORDINAL.sub(lambda found: _ordinal(found, options), marked)
    for pattern in (_BRACKETED, _AFTER_NOUN, _GLUED):
        marked = pattern.sub(lambda found: _letter(found, options), marked)
    marked = _LABEL.sub(lambda found: _labelled(found, options), marked)
    marked = _CAPITAL.sub(lambda found: _capital(found, options), marked)
    marked = _SMALL.sub(
        lambda found: found[0][: -len(found[1])] + _letter_mark(found[1], options), marked
    )
    return _joined(marked)


def meaning(mention: str) -> str:
    """Return the letter of the option that a mention means, or `UNCLEAR`."""
    place = ord(mention) % 32
    return UNCLEAR if place == _UNCLEAR_AT else LETTERS[place]


def marker(kind: str, letter: str) -> str:
    """Return the character for a mention of an option by its letter; of none for `UNCLEAR`."""
    place = _UNCLEAR_AT if letter == UNCLEAR else LETTERS.index(letter)
    return chr(_KINDS[kind] + place)


def _mark_texts(text: str, options: Sequence[str]) -> str:
    """Mark the options' own texts, the longest first."""
    by_key: dict[str, str] = {}
    for letter, option in zip(LETTERS, options, strict=False):
        own = plain_option(option)
        key = option_key(own)
        if key and len(key) > (0 if key.isdigit() else 1):
            by_key[key] = UNCLEAR if key in by_key else letter
    if not by_key:
        return text
    texts = sorted({plain_option(option) for option in options}, key=len, reverse=True)
    either = "|".join(_flexible(own) for own in texts if option_key(own) in by_key)
    pattern = re.compile(
        rf"(?<![A-Za-z0-9_\u00c0-\u024f])(?<!\d[.,])(?:{either})(?![A-Za-z0-9_\u00c0-\u024f]|\.\d|-\w)",
        re.IGNORECASE,
    )

    def replaced(found: re.Match[str]) -> str:
        key = option_key(found[0])
        if key not in by_key:
            return found[0]
        before, after = text[max(0, found.start() - 40) : found.start()], text[found.end() :][:40]
        if _is_plain(found[0]) and not (
            _BEFORE_AN_ANSWER.search(before) and _AFTER_AN_ANSWER.match(after)
        ):
            return found[0]
        return marker("text", by_key[key])

    return pattern.sub(replaced, text)


def _flexible(own: str) -> str:
    """Return a pattern of an option's text in which blanks beside punctuation do not count."""
    parts = re.findall(r"[^\W\d_]+|\d+|[^\w\s]|_", own)
    pattern = ""
    for n, part in enumerate(parts):
        if n:
            words = part.isalpha() and parts[n - 1].isalpha()
            pattern += r"\s+" if words else r"\s*"
        pattern += _SPELLING.sub(lambda found: _SPELLINGS[found[0].casefold()], re.escape(part))
    return pattern


_SPELLINGS = {
    "ae": "a?e",
    "oe": "o?e",
    "e": "[ao]?e",
    "our": "ou?r",
    "or": "ou?r",
    "tre": "t(?:re|er)",
    "ter": "t(?:re|er)",
}
_SPELLING = re.compile("ae|oe|our|or|tre|ter|e", re.IGNORECASE)
"""British and American spelling: oedema and edema, tumour and tumor."""


def option_key(text: str) -> str:
    """Return what is left of an option's text where blanks, case and final stops do not count."""
    key = "".join(text.split()).casefold().strip(".()[]!\"'")
    return key.replace("ae", "e").replace("oe", "e").replace("our", "or").replace("tre", "ter")


def _is_plain(text: str) -> bool:
    words = re.findall(r"\w+", text.casefold())
    return all(word in _PLAIN_WORDS or word.isdigit() for word in words)


def _ordinal(found: re.Match[str], options: Sequence[str]) -> str:
    n = _ORDINALS[found[1].lower()] if found[1] else int(found[2])
    if not 1 <= n <= len(options) or any(re.search(rf"\b{n}\b", option) for option in options):
        return found[0]
    return marker("letter", LETTERS[n - 1])


def _letter_mark(letter: str, options: Sequence[str]) -> str:
    """Return the mark of a letter; of an option whose text is another letter it is unclear."""
    letter = letter.upper()
    same = [
        own
        for own, option in zip(LETTERS, options, strict=False)
        if option_key(option) == letter.lower() and own != letter
    ]
    return marker("letter", UNCLEAR if same else letter)


def _letter(found: re.Match[str], options: Sequence[str]) -> str:
    written, letter = found[0], found[1]
    named = re.match(rf"\W*{_NOUN}", written, re.IGNORECASE)
    if letter.islower() and not named:
        whole = found.string.strip()
        if written.strip() != whole.strip(".:") and not _SMALL.search(found.string[: found.end()]):
            return written
    bracketed = written[-1] in ")]}"
    if (
        letter in "Aa"
        and named
        and not bracketed
        and not re.match(_ARTICLE_A, found.string[found.end() :])
    ):
        return written
    return _letter_mark(letter, options)


def _labelled(found: re.Match[str], options: Sequence[str]) -> str:
    before = found.string[: found.start()]
    at_start = not before.strip() or re.search(r"(?:[.!?;|\ue000-\ue0ff]|\n)\s*\Z", before)
    if not at_start and re.search(r"[:,]\s*\Z", before):  # within a list, not the end of a sentence
        at_start = not found[0].endswith(".") or re.match(r"\s+[a-z]", found.string[found.end() :])
    mark = _letter_mark(found[1], options)
    if not at_start or (found[1] == "I" and len(options) < 9):
        return mark if not _NAME.search(before[-20:]) and at_start else found[0]
    return f"{mark}: "


def _capital(found: re.Match[str], options: Sequence[str]) -> str:
    before, after = found.string[: found.start()], found.string[found.end() :]
    if _NAME.search(before[-20:]) or re.match(rf"[\s-]{LIVING}\b", after):
        return found[0]
    if found[1] == "A" and not _ARTICLE_A.match(after):
        return found[0]
    if found[1] == "I" and len(options) < 9:
        return found[0]
    return _letter_mark(found[1], options)


_LETTER_THEN_TEXT = re.compile(
    rf"({LETTER})(\s*[/.):=\u2013\u2014-]*\s*[(\[]?|,\s+)({TEXT})([)\]]?)"
)
_TEXT_THEN_LETTER = re.compile(rf"({TEXT})(\s*|\s*[:,]\s*|\s+[\u2013-]\s+)({LETTER})(?=\W|\Z)")


def _joined(marked: str) -> str:
    """Join a letter with the option's own text beside it; with another's text it is unclear."""

    def letter_first(found: re.Match[str]) -> str:
        letter, between, text = found[1], found[2], found[3]
        if "\n" in between or (found[4] and not set("([") & set(between)):
            return found[0]
        if "," in between and meaning(letter) != meaning(text):
            return found[0]
        return _pair(letter, text)

    def text_first(found: re.Match[str]) -> str:
        if "\n" in found[2]:
            return found[0]
        return _pair(found[3], found[1])

    return _TEXT_THEN_LETTER.sub(text_first, _LETTER_THEN_TEXT.sub(letter_first, marked))


def _pair(letter: str, text: str) -> str:
    agree = meaning(letter) == meaning(text)
    return marker("label", meaning(letter) if agree else UNCLEAR)
