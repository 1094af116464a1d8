"""The reading of an answer out of a model's words.

Conservative: what is not plainly one option is no answer, and never a guess of ours. The rules are
written out in ``docs/predictions-format.md``.
"""

import json
import re
from collections.abc import Iterator, Sequence

from study.bank.source import plain_key

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UNCLEAR = "?"  # stands for words that answer, but not with one option
_REACH = 1000  # how far behind a mark the answer may go on, and how far before it a negation works

# A letter as an answer: no part of a word, and not the article of "A large effusion".
_BRACKETED = r"[(\[]\s*([A-Za-z])\s*[)\]]"
_B_TO_Z = r"([B-Z])\b(?!['-]\w)"
_A_AT_END = r"(A)\b(?!['-]\w)(?=\s*$|\s*[^\s\w(]|\s*\n|\s+(?:because|since|as|due|based|given)\b)"
_SMALL = r"([a-z])(?=\s*$|\s*[.,;:!)\]\n])"
_AND_MORE = r"\s*(?:,|/|&|\bor\b|\band\b)\s*(?:[(\[]\s*[A-Za-z]\s*[)\]]|[A-Z]\b)"
_AT_START = re.compile(rf"(?:{_BRACKETED}|{_B_TO_Z}|{_A_AT_END}|{_SMALL})({_AND_MORE})?")

_NAMED = r"(?:(?i:option|choice|letter|answer)\s*:?\s*)?"
_LETTER_ALONE = re.compile(rf"{_NAMED}(?:{_BRACKETED}|([A-Za-z]))[.):,]*")
_LETTER_AND_TEXT = re.compile(
    rf"{_NAMED}(?:{_BRACKETED}[.:]?|([A-Za-z])(?:[.):]|\s+[-\u2013]\s))\s*(\S.*)", re.DOTALL
)
_LETTER_INLINE = re.compile(r"(?:^|\s)(?:[(\[]([A-Z])[)\]]|([A-Z])[.):](?=\s))")
_YES_OR_NO = re.compile(r"(yes|no)\s*[,:;]", re.IGNORECASE)

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_DECORATION = re.compile(r"\*+|`+|__|\$|<\|[^|>]*\|>")
_TAGGED = re.compile(r"<((?:final_?)?answer)>(.{0,2000}?)</\1>", re.IGNORECASE | re.DOTALL)
_BOXED = re.compile(r"()\\boxed\s*\{\s*(?:\\(?:text|textbf|mathrm|mathbf)\s*\{)?([^{}]*)\}")
_JSON_OBJECT = re.compile(r"\{[^{}]*\}")
_JSON_KEYS = frozenset({"answer", "finalanswer", "prediction", "option", "choice"})

_NOUN = r"(?:answer|option|choice|response|diagnosis)"
_IS = r"(?:\s*(?:\bis\b|\bwould be\b|\bshould be\b|\bmust be\b|=|:|-))+\s*"
_FINAL = re.compile(rf"\bfinal\s+{_NOUN}{_IS}", re.IGNORECASE)
_STATED = re.compile(
    rf"(?:\b(?:correct|best|right|my|likely|the)\s+|^[^\w\n]*){_NOUN}{_IS}"
    r"|\bi\s+(?:would\s+)?(?:choose|select|pick)\s+",
    re.IGNORECASE | re.MULTILINE,
)
_IS_CORRECT = re.compile(
    rf"(?:^|[.;:!?\n]\s*|\b(?:so|therefore|thus|hence),?\s+)(?:[Oo]ption\s+|[Cc]hoice\s+)?"
    rf"(?:{_BRACKETED}|([A-Z]))\s+is\s+(?:the\s+)?(?:correct|right|best|most likely)\b"
)
_CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:so|therefore|thus|hence|but|and)\b", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|if|whether|unless|doubt|unlikely)\b|n't\b", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"(?:(?:i'm sorry|i am sorry|sorry|i apologi[sz]e)[\s,.;]+(?:but\s+)?)?"
    r"(?:as an ai[\w\s]*,\s*)?"
    r"i(?:\s*(?:cannot|can't|can not|won't|will not|refuse to|decline to|must decline to)"
    r"|(?:\s+am|'m)\s+(?:unable|not able)\s+to)\s+"
    r"(?:answer|assist|help|comply|diagnose|interpret|analy[sz]e"
    r"|provide (?:(?:a|an|any|you|with|medical|clinical) )*"
    r"(?:answer|advice|diagnosis|interpretation|assistance|help))\b",
    re.IGNORECASE,
)


def parse_answer(raw: str, options: Sequence[str]) -> str | None:
    """Read the one option that a model's words plainly name.

    Parameters
    ----------
    raw : str
        The model's words.
    options : sequence of str
        The item's options in canonical order, without letters.

    Returns
    -------
    str or None
        The option's letter; None where the words name none, several, or one outside the options.

    Notes
    -----
    The first of these that says anything decides: the whole text as letter, option text or both; an
    answer given as final (tagged, boxed, JSON, "final answer"); a stated one ("the answer is", "B
    is correct"); a first or last sentence or line that is an answer by itself. What decides must
    say one thing.

    Examples
    --------
    >>> options = ("Pneumothorax", "Pleural effusion")
    >>> parse_answer("The answer is (B).", options), parse_answer("pleural effusion", options)
    ('B', 'B')
    >>> parse_answer("A large effusion is seen.", options) is None
    True
    """
    text = _DECORATION.sub("", _THOUGHT.sub("\n", raw)).replace("\u2019", "'").strip()
    for step in (_whole, _final, _stated, _by_itself):
        named = step(text, options)
        if named:
            allowed = len(named) == 1 and named <= set(_LETTERS[: len(options)])
            return named.pop() if allowed else None
    return None


def is_refusal(raw: str) -> bool:
    """Whether words are unmistakably a refusal to answer: short, and beginning with it.

    Parameters
    ----------
    raw : str
        The model's words, after `parse_answer` found no answer in them.

    Returns
    -------
    bool
    """
    text = raw.replace("\u2019", "'").strip()
    return len(text) <= _REACH and _REFUSAL.match(text) is not None


def _whole(text: str, options: Sequence[str]) -> set[str]:
    """Letters named by a text that is nothing but an answer."""
    named = _by_text(text, options)
    if alone := _LETTER_ALONE.fullmatch(text):
        return named | {(alone[1] or alone[2]).upper()}
    if not named and (both := _LETTER_AND_TEXT.fullmatch(text)):
        named = _by_text(both[3], options)
        return named | {(both[1] or both[2]).upper()} if named else set()
    return named


def _by_text(text: str, options: Sequence[str]) -> set[str]:
    wanted = _plain(text)
    return {letter for letter, own in zip(_LETTERS, options, strict=False) if _plain(own) == wanted}


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .\"'\u201c\u201d")


def _final(text: str, options: Sequence[str]) -> set[str]:
    given = [match[2] for mark in (_TAGGED, _BOXED) for match in mark.finditer(text)]
    named = _after(_FINAL, text, options)
    for said in (*given, *_in_json(text)):
        named |= _whole(said.strip(), options) or _stated(said, options) or {_UNCLEAR}
    return named


def _in_json(text: str) -> Iterator[str]:
    for chunk in _JSON_OBJECT.findall(text):
        try:
            found = json.loads(chunk)
        except ValueError:
            continue
        for key, said in found.items():
            if plain_key(key) in _JSON_KEYS:
                yield said if isinstance(said, str) else json.dumps(said)


def _stated(text: str, options: Sequence[str]) -> set[str]:
    correct = {match[1] or match[2] for match in _IS_CORRECT.finditer(text)}
    return _after(_STATED, text, options) | correct


def _after(mark: re.Pattern[str], text: str, options: Sequence[str]) -> set[str]:
    """Letters or option texts right behind a mark such as "the answer is"."""
    named: set[str] = set()
    for match in mark.finditer(text):
        clause = _CLAUSE.split(text[max(0, match.start() - _REACH) : match.start()])[-1]
        if _DOUBT.search(clause):
            continue
        rest = text[match.end() : match.end() + _REACH].lstrip()
        named |= _at_start(re.sub(r"^(?:option|choice|letter)\s+", "", rest, flags=re.I), options)
    return named


def _at_start(text: str, options: Sequence[str]) -> set[str]:
    line = text.partition("\n")[0].strip()
    if named := _whole(line, options) or _whole(re.split(r"(?<=[.;])\s", line)[0], options):
        return named
    found = _AT_START.match(text)
    if found is None:
        return set()
    letter = next(letter for letter in found.groups()[:4] if letter).upper()
    return {letter, _UNCLEAR} if found[5] else {letter}


def _by_itself(text: str, options: Sequence[str]) -> set[str]:
    """Letters of all sentences and lines that are answers, when the first or last is one."""
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip()]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not sentences:
        return set()
    named = [_whole(part, options) for part in (*sentences, lines[0], lines[-1])]
    opening = _opening(text, options)
    if not (opening or named[0] or any(named[-3:])):
        return set()
    inline = {match[1] or match[2] for match in _LETTER_INLINE.finditer(text)}
    return opening.union(inline, *named)


def _opening(text: str, options: Sequence[str]) -> set[str]:
    """Letters of an opening such as "B) Because ..." or "No, ..."."""
    if (both := _LETTER_AND_TEXT.fullmatch(text)) and (both[1] or both[2]).isupper():
        return {both[1] or both[2]}
    if yes_or_no := _YES_OR_NO.match(text):
        return _by_text(yes_or_no[1], options)
    return set()
