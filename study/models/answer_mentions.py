"""Replaces every mention of an option in a plain text by one character for pattern matching.

`A. Pneumothorax`, `option (A)` and `pneumothorax` all become a single private-use character that
encodes the option and how it was written.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from study.models.answer_option_texts import option_key, option_text_pattern
from study.models.answer_text import plain_option
from study.models.answer_words import pattern, word_set, words

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
UNCLEAR = "?"
"""An answer that is not exactly one option."""

_CONTEXT_LENGTH = 80
"""Number of characters before and after a letter that are examined."""

_KINDS = {"letter": 0xE000, "label": 0xE020, "text": 0xE040, "final": 0xE060}
_UNCLEAR_OFFSET = 31
LETTER, LABEL, TEXT, FINAL = (
    f"[{chr(first)}-{chr(first + _UNCLEAR_OFFSET)}]" for first in _KINDS.values()
)

_AMBIGUOUS_WORDS = word_set("option_words")
"""An option that consists only of these words is a mention only where an answer is expected."""

_ONE_IN_PHRASE = re.compile(
    r"\s+(?:moment|second|sec|minute|of|can|could|might|would|more|thing|other)\b", re.I
)
_OTHER_PHRASE = re.compile(
    r"right\s+(?:answer|option|choice|one|letter|diagnosis|away|now|then|so)\b"
    r"|left\s+(?:it|out|blank|open|unanswered|to|over)\b",
    re.IGNORECASE,
)
_OPINION_OF_PEOPLE = pattern(r"\A\s+of\s+(?:(?:the|these|those|my|our)\s+)?(?:\w+\s+)?{people}")
_AGREED = re.compile(r"(?:\ball|\bthat's|\bthat is|\byou're|\byou are)\s+\Z", re.IGNORECASE)
_LETTER_IS = re.compile(r"\b[A-Z]\)?\s+(?:is|must be|seems)\s+\Z")
_SIDES = frozenset(("left", "right", "both", "bilateral", "neither", "none"))
_ANSWER_WORDS = word_set("answer_words")
_BEFORE_AN_ANSWER = re.compile(
    r"(?:\A|'s|[.!?:;=\n()\]\"'>,-]|\u2013|\u2014|\b(?:is|are|be|this one|has|have|count|choose"
    r"|select|pick|say|said|says|answer|option"
    r"|choice|probably|likely|clearly|definitely|therefore|hence|with|for|either|or|and"
    r"|so|not|a|an|as|the"
    r"|wait|actually|just|only|total|so|ie|ist|lautet|est|es"
    r"|(?:makes?|making|call(?:ing)?) (?:it|this)))\s*\Z",
    re.IGNORECASE,
)
_AFTER_AN_ANSWER = re.compile(
    r"\s*(?:\Z|[.,;:!?)\n\"'(<-]|(?:one|side|zone|lobe)\b|\u2013|\u2014|\.\.\.|(?:because|since|as|due|degree"
    r"|grade|form|and|or|there|it|this"
    r"|is|wait|actually)\b|\s*(?:chest |plain )?(?:x-?ray|radiograph|film|study)\b"
    r"|\s*in (?:size|degree|severity|extent)\b"
    r"|\s*(?:in|on|from) (?:this|the) (?:\w+ )?(?:image|film|x-?ray|radiograph|study|view)\b)",
    re.IGNORECASE,
)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGIT_OR_WORD = {str(n): word for n, word in enumerate(("zero", *_NUMBERS))}
_DIGIT_OR_WORD |= {word: digit for digit, word in _DIGIT_OR_WORD.items()}
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
    rf"(?:\bthe\s+)?\b({'|'.join(_ORDINALS)})\s+(?:option|statement)\b"
    rf"|\bthe\s+({'|'.join(_ORDINALS)}|last)\s+(?:choice|answer|alternative|one|option"
    rf"|of\s+the\s+\w+(?:\s+(?:options|choices))?)\b"
    rf"|(?:\boption\s+(?:number\s+|no\.?\s*|#\s*)?|\b(?:choice|statement)\s+(?:number\s+"
    rf"|no\.\s*|#\s*)|\A\W*number\s+)(\d{{1,2}}|{'|'.join(_NUMBERS)})(?![\w.]*\w|\s*%)",
    re.IGNORECASE,
)
_YES_OR_NO_FIRST = re.compile(r"\A(?:yes|no),\s+(?=\w+\s+\w)", re.IGNORECASE)
_OTHER_BRACKET = re.compile(r"\s*\((?!\W*[A-Z]\W*\))")
_BRACKET = re.compile(r"(?<=\w)\s*\([^()]*\)\Z")
_NUMBERED = re.compile(r"(?m)^[ \t]*[Q(]?\d{1,3}[.):][ \t]+(?=\S)|(?<=[.!?] )\d{1,2}[.)] (?=[A-Z])")
_UNIT = re.compile(r"\s?(?:[cm]m|ml|%|years?|days?|hours?|h|kg|kV)\b", re.IGNORECASE)
_NUMBER_OF = re.compile(
    r"\b(?:step|fig(?:ure)?|image|view|question|grade|stage|day|phase|part|point|page|table)\.?\s*\Z",
    re.IGNORECASE,
)
_NOUN = (
    r"(?:\u0432\u0430\u0440\u0438\u0430\u043d\u0442|option|choice|letter|statement|alternativa?"
    r"|opci[o\u00f3]n|op[c\u00e7][a\u00e3]o|opzione"
    r"|buchstabe|lettre|lettera|letra|antwort|antwortoption|r[e\u00e9]ponse|respuesta"
    r"|risposta|resposta)"
)
_BRACKETED = re.compile(
    rf"(?:\b{_NOUN}[\s_#-]*)?[(\[{{<\"'\u201c]\s*(?:(?i:{_NOUN})\s+)?([A-Z])\s*\.?\s*"
    r"[)\]}>\"'\u201d](?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_AFTER_NOUN = re.compile(rf"\b{_NOUN}[\s_#-]+(?:number\s+)?([A-Za-z])(?![\w']|-\w)", re.IGNORECASE)
_LETTER_WITHOUT_SPACE = re.compile(r"\b[Oo](?:ption)([A-Z])\b")
_LABEL = re.compile(
    r"(?m)(?:^|(?<=[\s;,(|\ue000-\ue0ff]))([A-Z])(?:\s?[.):](?=\s+\S|\w\w\w|[\ue000-\ue0ff])"
    r"|\s+[=\u2013\u2014-](?=\s))"
)
_CAPITAL = re.compile(
    r"(?<![A-Za-z0-9_\u00c0-\u024f'&+-])(?<![A-Za-z]\.)(?<!\b[Nn]/)([A-Z])(?![A-Za-z0-9_\u00c0-"
    r"\u024f'&+]|[-.]\w|/[a-z])"
)
_ARTICLE_A = re.compile(
    r"\s*\Z|\s+[B-Z](?![\w'-])|\s+Answer\b|\s*[\u3040-\u9fff\uac00-\ud7af]|\s+(?:on|for"
    r"|here|imo|imho|tbh|then|now|please|all|at|by|from|in|of|it|stays|gets)\b|\s*[^\s\w(\ue000"
    r"-\ue0ff]|\s*[\n(]|\s*[\ue000-\ue0ff]|\s+(?:is|isn't|was|can|can't|cannot"
    r"|could|may|might|would|should|seems|looks|appears|because|since|as|due|based|given|or|and|not"
    r"|rather|instead|but|has|best|leaves|remains|over|plus|with|to|versus|vs|than|though"
    r"|fits|correct"
    r"|the (?:right|correct|best|most|only|answer)|incorrect|ist|oder|und|more|I)\b"
)
_IS_FOREIGN = re.compile(
    r"\b(?:ist|lautet|w\u00fcrde|w\u00e4hle|nehme|kreuze|es|est|sea|opci\u00f3n|\u00e9|\u00e8)\s\Z",
    re.IGNORECASE,
)
_LOWER_CASE_LETTER = re.compile(
    r"(?:(?<=\A)|(?<=[:\n=])\s*|\b(?i:is|it's|hence|answer|letter|choose|select|pick|think"
    r"|with|say)\s*:?\s+|\(|\[)"
    r"([a-z])(?=\s*(?:\Z|[.,;:!)\]\n]|\s(?:because|bc|cuz|since|for|imo|here|not|over|it is)\b))",
)
_TERM_AFTER_LETTER = (
    r"(?:lines?|cells?|waves?|mode|scans?|spine|dimer|type|ring|markers?|sign|shape|fibers?"
    r"|reactive)"
)
_YES_WORD_FIRST = re.compile(r"\A\W*(?:yep|yup|yeah|affirmative)\b", re.IGNORECASE)
_NO_WORD_FIRST = re.compile(r"\A\W*(?:nope|nah|negative)\b", re.IGNORECASE)
_NAMED_LIST = re.compile(
    words("named") + r"\s+[A-Z](?:(?:\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+|/)[A-Z]\b)+",
    re.IGNORECASE,
)
_GENUS_INITIAL = re.compile(rf"(?i:\b([A-Z]))\.\s?(?=(?i:{words('species')})\b)")
_NAME_BEFORE_LETTER = re.compile(words("named") + r"\s+\Z", re.IGNORECASE)


def mark(text: str, options: Sequence[str]) -> str:
    """Return a plain text with one private-use character for each mention of an option."""
    text = _NAMED_LIST.sub(lambda match: re.sub(r"\W+", "-", match[0]), text)
    text = _replace_yes_or_no(text, options)
    marked = _mark_texts(_mark_letters(_NUMBERED.sub("", text), options), options)
    marked = _GENUS_INITIAL.sub(r"\1-", marked)
    marked = _ORDINAL.sub(lambda match: _mark_ordinal(match, options), marked)
    for reference in (_BRACKETED, _AFTER_NOUN, _LETTER_WITHOUT_SPACE):
        marked = reference.sub(lambda match: _mark_letter_reference(match, options), marked)
    marked = _LABEL.sub(lambda match: _mark_label(match, options), marked)
    marked = _CAPITAL.sub(lambda match: _mark_capital(match, options), marked)
    marked = _LOWER_CASE_LETTER.sub(
        lambda match: match[0][: -len(match[1])] + _letter_mark(match[1], options), marked
    )
    return _join_letters_and_texts(marked)


def _replace_yes_or_no(text: str, options: Sequence[str]) -> str:
    """Replace a first word such as "yep" or "nope" by the option Yes or No."""
    keys = {option_key(plain_option(option)) for option in options}
    if not keys >= {"yes", "no"}:
        return text
    return _NO_WORD_FIRST.sub("No,", _YES_WORD_FIRST.sub("Yes,", text, count=1), count=1)


def meaning(mention: str) -> str:
    """Return the letter of the mentioned option, or `UNCLEAR`."""
    place = ord(mention) % 32
    return UNCLEAR if place == _UNCLEAR_OFFSET else LETTERS[place]


def marker(kind: str, letter: str) -> str:
    """Return the character for a mention of an option by its letter, or for an unclear mention."""
    place = _UNCLEAR_OFFSET if letter == UNCLEAR else LETTERS.index(letter)
    return chr(_KINDS[kind] + place)


class _OptionTexts(NamedTuple):
    """The options' own texts: letters by key, a pattern that matches any, and shortened keys."""

    by_key: dict[str, str]
    pattern: re.Pattern[str]
    short: set[str]


@lru_cache(maxsize=256)  # called for the same options by several models and items
def _option_texts(options: tuple[str, ...]) -> _OptionTexts:
    by_key = _letters_by_key(options)
    names = {*map(plain_option, options), *map(_short_text, options), *by_key}
    texts = sorted(names, key=lambda text: (-len(text), text))
    pattern = "|".join(option_text_pattern(text) for text in texts if option_key(text) in by_key)
    full = {option_key(plain_option(option)) for option in options}
    return _OptionTexts(
        by_key=by_key,
        pattern=re.compile(
            rf"(?<![A-Za-z0-9_\u00c0-\u024f])(?<!\d[.,])(?<!\d[\u2013-])(?:{pattern})(?![A-Za-z0-9_"
            rf"\u00c0-\u024f]|\.\d|\s?[\u2013-]\s?\d|-(?!sided)\w)",
            re.IGNORECASE,
        ),
        short={option_key(_short_text(option)) for option in options} - full,
    )


def _mark_texts(text: str, options: Sequence[str]) -> str:
    """Mark the options' own texts, the longest first."""
    by_key, pattern, short = _option_texts(tuple(options))
    if not by_key:
        return text
    unmistakable = _is_unmistakable(text, options)

    def replaced(match: re.Match[str]) -> str:
        key = option_key(match[0])
        key = key if key in by_key else key.removesuffix("s")
        before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() :][:40]
        word = match[0].casefold()
        if key in short and _OTHER_BRACKET.match(after):
            return match[0]  # "Small (3 cm)" for the option "Small (< 2 cm)"
        if key not in by_key or _means_something_else(word, before, after):
            return match[0]
        single = len(word) == 1 and not word.isascii()
        if single or (_has_only_plain_words(word) and not unmistakable):
            between = _BEFORE_AN_ANSWER.search(before) and _AFTER_AN_ANSWER.match(after)
            n_words = len(text.split())
            is_alone = n_words < 4 or (n_words < 15 and not match.start())
            if not between and (single or not is_alone or word in _ANSWER_WORDS):
                return match[0]
        comma = word in _ANSWER_WORDS and re.match(r"\s(?:there|it|this|that)\b", after)
        return marker("text", by_key[key]) + ("," if comma else "")

    return pattern.sub(replaced, text)


def _mark_letters(text: str, options: Sequence[str]) -> str:
    """Mark a letter followed by its option's text if the text is also a letter, as in "(A) C"."""
    for letter, option in zip(LETTERS, options, strict=False):
        option_text = plain_option(option).strip("()")
        if len(option_text) == 1 and option_text.isalpha():
            both = rf"(?<![\w(])(?:\({letter}\)|{letter}[).:])[ \t]*\(?{option_text}\)?(?![\w.:)])"
            text = re.sub(
                rf"{both}|(?<![\w(]){letter}\({option_text}\)", marker("label", letter), text
            )
    return text


def _letters_by_key(options: Sequence[str]) -> dict[str, str]:
    """Map the keys of the options' texts to letters; `UNCLEAR` if two texts are equal."""
    by_key: dict[str, str] = {}
    for letter, option in zip(LETTERS, options, strict=False):
        key = option_key(plain_option(option))
        if key and len(key) > (0 if key.isdigit() or not key.isascii() else 1):
            by_key[key] = UNCLEAR if key in by_key else letter
            if same := _DIGIT_OR_WORD.get(key):
                by_key.setdefault(same, letter)
    short = [option_key(_short_text(option)) for option in options]
    for letter, key in zip(LETTERS, short, strict=False):
        if len(key) > 1 and not key.isdigit():
            by_key.setdefault(key, letter if short.count(key) == 1 else UNCLEAR)
    return by_key


def _short_text(option: str) -> str:
    """Return an option's text without parentheses at its end, and without Yes or No before a comma.

    >>> _short_text("Small (< 2 cm)"), _short_text("No, deviated to the left")
    ('Small', 'deviated to the left')
    """
    return _YES_OR_NO_FIRST.sub("", _BRACKET.sub("", plain_option(option)))


def _is_unmistakable(text: str, options: Sequence[str]) -> bool:
    """Return whether a text names exactly one side or number, if these are the options."""
    words = re.findall(r"\w+", text.casefold())
    if all(option.strip(" .").casefold() in _SIDES for option in options) and len(words) < 13:
        return len(_SIDES.intersection(words)) == 1
    numeric = all(_NUMBER.search(option.casefold()) for option in options)
    return numeric and len(set(_NUMBER.findall(text.casefold()))) == 1


def _means_something_else(word: str, before: str, after: str) -> bool:
    """Return whether an option's word is part of a phrase, such as "one moment" or "step 2"."""
    if word == "no" and re.match(r"\.?\s?\d", after):
        return True
    if word == "one" and _ONE_IN_PHRASE.match(after):
        return True
    if word == "right" and (_AGREED.search(before) or _LETTER_IS.search(before)):
        return True
    if word in _SIDES and _OPINION_OF_PEOPLE.match(after):
        return True
    if word.isdigit() and (_UNIT.match(after) or _NUMBER_OF.search(before)):
        return True
    return _OTHER_PHRASE.match(word + after) is not None


_NUMBER = re.compile(
    r"(?<![\w.])(?:\d+(?:[.,]\d+)?\b|zero|one|two|three|four|five|six|seven|eight|nine"
    r"|ten)(?![a-z])"
)


def _has_only_plain_words(text: str) -> bool:
    words = re.findall(r"\w+", text.casefold())
    return all(word in _AMBIGUOUS_WORDS or word.isdigit() for word in words)


def _mark_ordinal(match: re.Match[str], options: Sequence[str]) -> str:
    name = (match[1] or match[2] or match[3]).lower()
    if name == "last":
        n = len(options)
    elif name in _NUMBERS:
        n = _NUMBERS.index(name) + 1
    else:
        n = _ORDINALS.get(name) or int(name)
    if (
        match[2]
        and re.search(r"(?:answer|one)\Z", match[0], re.I)
        and len(match.string.split()) > 12
    ):
        return match[0]
    if not 1 <= n <= len(options) or any(re.search(rf"\b{n}\b", option) for option in options):
        return match[0]
    return marker("letter", LETTERS[n - 1])


def _letter_mark(letter: str, options: Sequence[str]) -> str:
    """Return the mark for a letter; unclear if the letter is also the text of another option."""
    letter = letter.upper()
    same = [
        own_letter
        for own_letter, option in zip(LETTERS, options, strict=False)
        if option_key(option) == letter.lower() and own_letter != letter
    ]
    return marker("letter", UNCLEAR if same else letter)


_WORD_BEFORE_LETTER = pattern(
    r"(?:{negation}|{rejection}|{doubt}|{be}|{noun}|{choose}|{leads}"
    r"|\b(?:or|and|to|with|for|by|option))\s*\Z"
)


def _neighbours(match: re.Match[str]) -> tuple[str, str]:
    """Return a few characters before and after a match; with more, time would not be linear."""
    begin, end = match.span()
    return match.string[max(0, begin - _CONTEXT_LENGTH) : begin], match.string[
        end : end + _CONTEXT_LENGTH
    ]


def _mark_letter_reference(match: re.Match[str], options: Sequence[str]) -> str:
    mention, letter = match[0], match[1]
    if LETTERS.index(letter.upper()) >= len(options) and mention[0] in "\"'\u201c":
        return mention  # such as the marker "L"
    noun = re.match(rf"\W*{_NOUN}", mention, re.IGNORECASE)
    if letter in "Ii" and noun and len(options) < 9:
        return mention
    if letter.islower() and not noun:
        output = match.string.strip()
        if mention.strip() != output.strip(".:") and not _LOWER_CASE_LETTER.search(
            match.string[: match.end()]
        ):
            return mention
    bracketed = mention[-1] in ")]}"
    if (
        letter in "Aa"
        and noun
        and not bracketed
        and not _ARTICLE_A.match(match.string, match.end())
    ):
        return mention
    before, after = _neighbours(match)
    ends = mention[0] == "(" and re.match(r"\s*(?:[.!]?\s*\Z|[.!]\s)", after)
    if ends and re.search(r"\w\s*\Z", before) and not _WORD_BEFORE_LETTER.search(before[-80:]):
        return f"({_letter_mark(letter, options)})"  # "effusion is present (A)"
    return _letter_mark(letter, options)


def _mark_label(match: re.Match[str], options: Sequence[str]) -> str:
    before, after = _neighbours(match)
    at_start = not before.strip() or re.search(r"(?:[.!?;|\ue000-\ue0ff]|\n)\s*\Z", before)
    if not at_start and re.search(r"[:,]\s*\Z", before):  # within a list, not the end of a sentence
        at_start = not match[0].endswith(".") or re.match(r"\s+[a-z]", after)
    mark = _letter_mark(match[1], options)
    if not at_start or (match[1] == "I" and len(options) < 9):
        return mark if not _NAME_BEFORE_LETTER.search(before[-20:]) and at_start else match[0]
    return f"{mark}: "


def _mark_capital(match: re.Match[str], options: Sequence[str]) -> str:
    before, after = _neighbours(match)
    if _NAME_BEFORE_LETTER.search(before[-20:]) or re.match(rf"[\s-]{_TERM_AFTER_LETTER}\b", after):
        return match[0]
    if (
        match[1] == "A"
        and re.match(f" {TEXT}", after)
        and (meaning(after[1]) != "A" or re.match(r"\s+[a-z]", after[2:]))
        and re.search(r"(?:\A|[.!?]\s|\n)\s*\Z", before)
    ):
        return match[0]  # an article
    if match[1] == "A" and not _ARTICLE_A.match(after) and not _IS_FOREIGN.search(before[-20:]):
        return match[0]
    if match[1] == "I" and len(options) < 9:
        return match[0]
    if LETTERS.index(match[1]) >= len(options) and not re.match(r"\s*(?:\Z|[.,;:!?)\n])", after):
        return match[0]  # such as "L marker"
    return _letter_mark(match[1], options)


_LETTER_THEN_TEXT = re.compile(
    rf"({LETTER})(\s*[/.):=\u2013\u2014-]*\s*[(\[]?|,\s+|,\s+(?:an?|the)\s+)({TEXT})([)\]]?)"
    r"(,(?=\s+(?:is|was|would|must|seems|appears|remains|has|best|fits|matches)\b))?"
)
_TEXT_THEN_LETTER = re.compile(rf"({TEXT})(\s*|\s*[:,]\s*|\s+[\u2013-]\s+)({LETTER})(?=\W|\Z)")


_OWN_LETTER = re.compile(rf"\s*({LETTER})")
_NEW_SENTENCE = re.compile(
    r"\s+(?:and|is|are|can|would|was|were|usually|tends?|both|has|have|do|does)\b"
)


def _join_letters_and_texts(marked: str) -> str:
    """Join a letter and the option text next to it; unclear if they are different options."""

    def letter_first(match: re.Match[str]) -> str:
        letter, between, text = match[1], match[2], match[3]
        if meaning(letter) != meaning(text) and _NEW_SENTENCE.match(marked, match.end()):
            return match[0]  # a new sentence
        match_letter = _OWN_LETTER.match(marked, match.end())
        if match_letter and meaning(letter) != meaning(text) == meaning(match_letter[1]):
            return match[0]  # text that belongs to the next sentence, which has its own letter
        if "\n" in between or (match[4] and not set("([") & set(between)):
            return match[0]
        if "," in between and meaning(letter) != meaning(text):
            return match[0]
        ends = match[5] if match[5] and "," not in between else ""  # no aside: "D, effusion, is"
        return _joint_mark(letter, text) + ends

    def text_first(match: re.Match[str]) -> str:
        if "\n" in match[2]:
            return match[0]
        return _joint_mark(match[3], match[1])

    return _TEXT_THEN_LETTER.sub(text_first, _LETTER_THEN_TEXT.sub(letter_first, marked))


def _joint_mark(letter: str, text: str) -> str:
    agree = meaning(letter) == meaning(text)
    return marker("label", meaning(letter) if agree else UNCLEAR)
