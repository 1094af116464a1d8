"""The reading of an answer out of a model's words.

Conservative: what is not plainly one option is no answer, and never a guess of ours. The rules are
written out in ``docs/predictions-format.md``.
"""

import ast
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence

from study.bank.source import plain_key

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UNCLEAR = "?"  # stands for words that answer, but not with one option
RULES = {
    "strict": ("whole", "final"),
    "standard": ("whole", "final", "stated", "by itself"),
    "loose": ("whole", "final", "stated", "by itself", "mentioned"),
}
"""The rules in the order in which they are asked; the first that says anything decides."""

STANDARD = "standard"
_MOST_OBJECTS = 100
_REACH = 1000  # how far behind a mark the answer may go on, and how far before it a negation works

# A letter as an answer: no part of a word, and not the article of "A large effusion".
_BRACKETED = r"[(\[{<\"'\u201c]\s*([A-Za-z])\s*[)\]}>\"'\u201d]"
_ENDS = r"(?![A-Za-z0-9_]|['-]\w)"
_B_TO_Z = rf"([B-Z]){_ENDS}"
_A_AT_END = rf"(A){_ENDS}(?=\s*$|\s*[^\s\w(]|\s*\n|\s+(?:because|since|as|due|based|given)\b)"
_SMALL = r"([a-z])(?=\s*$|\s*[.,;:!)\]\n])"
_AND_MORE = (
    r"\s*\??\s*(?:,|;|/|&|\+|\||\u2013|(?i:\bor\b|\band\b|\bto\b))\s*(?i:or\s+|possibly\s+|perhaps\s+|maybe\s+)*"
    rf"(?:[(\[]\s*[A-Za-z]\s*[)\]]|[A-Z]{_ENDS}(?!\s+(?:is|was|can|shows|has|would)\b))"
)
_OR_MORE = (
    r"\s*[(,]?\s*(?:(?i:but\s+)?(?i:or|possibly|perhaps|maybe)\b|(?i:but|though|although)\s+"
    r"\(?[A-Z]\)?\s+(?:(?:is|seems)\s+(?:also|possible|plausible)|could|may|might|cannot)\b)"
)
_AT_START = re.compile(rf"(?:{_BRACKETED}|{_B_TO_Z}|{_A_AT_END}|{_SMALL})({_AND_MORE}|{_OR_MORE})?")

_NAMED = r"(?:(?i:option|choice|letter|answer)\s*:?\s*)?"
_SURE = (  # what may stand before a letter that is all that is said
    r"(?:(?i:most likely|probably|definitely|clearly|certainly|select|choose|yes|ok|okay"
    r"|i (?:think|believe)(?: that)?(?: it(?:'s| is))?|it(?:'s| is))\s*[,:]?\s+)?"
)
_LETTER_ALONE = re.compile(rf"\.*{_SURE}{_NAMED}(?:{_BRACKETED}|([A-Za-z]))[.):,!]*")
_LETTER_AND_TEXT = re.compile(
    rf"{_NAMED}(?:{_BRACKETED}[.:]?|([A-Za-z])(?:[.):](?=\s|\w\w\w)|\s+[-\u2013]\s))\s*(\S.*)",
    re.DOTALL,
)
_LETTER_COMMA_TEXT = re.compile(r"(?:([A-Z])|([a-z])),\s+(\S.*)", re.DOTALL)
_TEXT_AND_LETTER = re.compile(
    rf"(\S.*?)\s*(?:{_BRACKETED}|(?:[:,]|\s[-\u2013])\s*(?i:option\s+)?([A-Z]))\.?"
)
_LETTER_INLINE = re.compile(r"(?:^|\s)(?:[(\[]([A-Z])[)\]]|([A-Z])[.):](?=\s))")
_LETTER_BECAUSE = re.compile(
    r"(?:([B-Z])\s+(?:because|since|as|due)|(A)\s+(?:because|since))\b"
    r"|([A-Z])(?:,?\s+(?:not|rather than|instead of)\s+(?:option\s+)?[(\[]?[A-Z]\b"
    r"|(?:,\s*|\s*[(\[])(?:confidence\b|\d|thanks\b))"
)
_YES_OR_NO = re.compile(r"(yes|no)\s*(?:[,:;]|\s(?=(?:there|it|this)\s))", re.IGNORECASE)

_TAG = r"(think|thinking|thought|thoughts|reasoning|analysis|scratchpad)"
_THOUGHT = re.compile(
    rf"<{_TAG}>.*?</\1>|<think(?:ing)?>.*\Z|\A.*</think(?:ing)?>|\[THINK\].*?(?:\[/THINK\]|\Z)"
    r"|\u25c1think\u25b7.*?(?:\u25c1/think\u25b7|\Z)|<unused94>.*?(?:<unused95>|\Z)"
    r"|<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_CHANNEL = re.compile(r"\A.*<\|channel\|>final<\|message\|>", re.DOTALL)
_END_OF_TURN = re.compile(
    r"(?<=[^\s>])\s*(?:</s>|<eos>|<end_of_turn>|<\|(?:eot_id|im_end|endoftext|end|return)\|>).*",
    re.DOTALL,
)
_TEMPLATE = re.compile(
    r"<\|[^|>]*\|>|</?s>|<[be]os>|<pad>|<start_of_turn>(?:model)?|<end_of_turn>|\[/?INST\]"
    r"|<br\s*/?>|</?(?:p|strong|em)>|<(?=b>[^<]+</b>)b>|(?<=\w)</b>",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\A\s*(?:assistant|model)\s*(?::|\n)", re.IGNORECASE)
_LATEX = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|textsf)\s*\{([^{}]*)\}")
_DECORATION = re.compile(
    r"\*+|`+|__|\$|\\[()\[\]]"
    r"|[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f300-\U0001faff]"
)
_BULLET = re.compile(r"^[ \t]*(?:#+|>+|=>|->|[-\u2022])[ \t]+", re.MULTILINE)

_TAGGED = re.compile(
    r"<((?:final_?)?answer)>(?:(.{0,2000}?)</\1>|(.{0,200})\Z)", re.IGNORECASE | re.DOTALL
)
_BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}")
_JSON_VALUE = re.compile(r'"(\w+)"\s*:\s*"([^"\n]*)"')
_JSON_KEYS = frozenset(
    f"{prefix}{noun}"
    for prefix in ("", "final", "selected", "correct", "chosen", "predicted", "best")
    for noun in ("answer", "option", "choice", "prediction", "letter", "answerletter")
)

_NOUN = (
    r"(?:answer(?:\s+(?:choice|option|letter))?|option|choice|response|diagnosis|letter|prediction"
    r"|decision|conclusion|selection)"
)
_PRAISE = (
    r"(?:(?:the|my|our|most|single|correct|right|best|likely|probable|appropriate|accurate|suitable"
    r"|plausible|selected|chosen|predicted|final|overall)\s+)"
)
_ABOUT = r"(?:\s+(?:to|for|in|among|given|based\s+on)\b(?:\s+[\w'-]+){1,8}?)?"
_IS = (
    r"(?:\s*(?:\bis\b|\bwould be\b|\bshould be\b|\bmust be\b|\bremains\b|=|:|-))+\s*"
    r"(?:(?:most likely|likely|probably|therefore|thus|clearly|definitely|indeed)\s+)?"
)
_CALLED = (  # in other tongues
    r"(?:(?:die |la |il |el )?(?:richtige |bonne )?"
    r"(?:antwort|r\u00e9ponse|respuesta|risposta|resposta)(?:\s+(?:correcta|correcte))?"
    r"\s*(?:ist\b|est\b|es\b|:)\s*:?\s*"
    r"|(?:\u7b54\u6848|\u9009\u9879)\s*(?:\u662f|\u4e3a|\u9009)?\s*:?\s*|\u9009(?:\u62e9)?\s*:?\s*)"
)
_SAYS = r"(?:^|[.;:!?,]\s+|\b(?:so|but|and|therefore|thus|hence|however),?\s+)"
_FINAL = re.compile(rf"\bfinal\s+{_NOUN}{_ABOUT}{_IS}", re.IGNORECASE)
_STATED = re.compile(
    rf"(?:\b{_PRAISE}{{1,6}}|(?:^|[.;:!?]\s+)[^\w\n]*){_NOUN}{_ABOUT}{_IS}"
    r"|^[^\w\n]*(?:final|result|output|ans|ans\.)\s*[:=]\s*|^[^\w\n]*ans\.\s+"
    r"|\bi(?:'d|'ll|\s+would|\s+will)?\s+(?:choose|select|pick|go\s+(?:with|for)|opt\s+for)\s+"
    rf"|{_SAYS}it(?:'s|\s+is|\s+must\s+be)\s+(?=(?:option\s+)?[(\[]?[a-z][)\]]?\s*(?:[.!,]|$))"
    r"|\b(?:so|therefore|thus|hence),?\s+(?=(?:option\s+)?[(\[]?[a-z][)\]]?\s*(?:[.!]|$))"
    rf"|{_CALLED}",
    re.IGNORECASE | re.MULTILINE,
)
_SOME_WORDS = r"(?:\s+(?!is\b|not\b|nor\b|or\b)[\w-]+){1,8}?"
_IS_CORRECT = re.compile(
    rf"(?:{_SAYS}|\bi\s+(?:believe|think)(?:\s+that)?\s+)(?i:(?:option|choice)\s+)?"
    rf"(?:{_BRACKETED}(?:[.:]?{_SOME_WORDS})?|([A-Z])(?:[.):]{_SOME_WORDS})?)\s+is\s+"
    r"(?:(?:the\s+)?(?:most\s+)?(?:correct|right|best|likely|appropriate)\b"
    r"|(?:the|my)\s+(?:final\s+)?answer\b)",
    re.MULTILINE,
)
_CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:so|therefore|thus|hence|but|and)\b", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|if|whether|unless|doubt|unlikely|wrong|incorrect|would have been)\b"
    r"|n't\b",
    re.IGNORECASE,
)

_MEDICAL = r"(?:(?:a|an|any|the|this|that|your|you|with|such|medical|clinical|definitive|or)\s+)*"
_FILM = r"(?:images?|x-?rays?|pictures?|photos?|films?|radiographs?|scans?|attachments?)"
_DENIED = re.compile(rf"{_DOUBT.pattern}|\b(?:no|without|absent|excluded?|rule[ds]? out)\b")
_NEXT_BEST = re.compile(
    r"\b(?:least|second|third|other|another|alternative|worst|next)\s+\Z"
    r"|(?:\A|[.;!?\n])\s*(?:if|unless|whether)\b[^.;!?\n]*\Z",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"(?:(?:i'm|i am|so)?\s*(?:(?:very|really|so)\s+)?sorry[\s,.;]+(?:but\s+)?"
    r"|i apologi[sz]e[\s,.;]+(?:but\s+)?|unfortunately,?\s+)*"
    r"(?:as an? [^,.]{0,30}?\b(?:ai|model|assistant)\b[^,.]{0,30}?,?\s*)?"
    r"(?:i(?:'m| am) [^.]{0,40}?\b(?:ai|model|assistant|doctor|professional|physician|radiologist)"
    r"\b[^.]{0,40}?(?:,|\band\b|\bso\b)\s*(?:so\s+|and\s+)?)?"
    r"(?:(?:i\s*)?(?:cannot|can't|can not|won't(?: be able to)?|will not|do not|don't|refuse to"
    r"|(?:do not|don't) have the ability to|(?:must )?(?:respectfully |politely )?decline to"
    r"|(?:am |'m )?(?:unable|not able|not qualified|not allowed|not permitted) to|must refuse to)"
    r"\s+(?:answer|assist|help|comply|fulfil+|diagnose|interpret|analy[sz]e"
    rf"|(?:provide|give|offer|make|render)\s+{_MEDICAL}(?:answers?|advice|diagnos[ei]s"
    r"|interpretations?|assistance|help|opinions?|assessments?)"
    rf"|(?:see|view|access|open|process|look at|evaluate|read)\s+(?:(?:or|and)\s+\w+\s+)?"
    rf"{_MEDICAL}{_FILM})\b"
    r"|it (?:is|would be) (?:not appropriate|inappropriate) for me to\b)",
    re.IGNORECASE,
)


_ANSWER_LINE = re.compile(
    r"((?:.*\n)?)[ \t>*_#]*(?:final\s+)?answer[ \t*_]*:[\s*_]*(\S.*)\Z",
    re.IGNORECASE | re.DOTALL,
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
    return answer_in(raw, options)[0]


def answer_in(raw: str, options: Sequence[str], rules: str = STANDARD) -> tuple[str | None, str]:
    """Return what `parse_answer` does, and the name of the rule that decided; empty if none did.

    `rules` is a name in `RULES`.
    """
    text = _bare(raw)
    for name in RULES[rules]:
        named = _RULES[name](text, options)
        if named:
            allowed = len(named) == 1 and named <= set(LETTERS[: len(options)])
            return (named.pop() if allowed else None), name
    return None, ""


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
    text = _bare(raw)
    return len(text) <= _REACH and _REFUSAL.match(text) is not None


def words_in(raw: str) -> tuple[str, str]:
    r"""Return what a model answers in words, and the explanation that it gives before.

    Without its thoughts and a chat template's marks, and otherwise as it was put out. Where a line
    begins with ``Answer:``, the last such line begins the answer; without one all is the answer.

    >>> words_in("<think>Hm.</think>The left angle is blunt.\n**Answer:** Left effusion.")
    ('Left effusion.', 'The left angle is blunt.')
    >>> words_in("Left effusion.")
    ('Left effusion.', '')
    """
    text = _without_thoughts(raw).strip()
    marked = _ANSWER_LINE.match(text)
    return (marked[2].strip(), marked[1].strip()) if marked else (text, "")


def _without_thoughts(raw: str) -> str:
    """Return words without thoughts and a chat template's marks."""
    text = _THOUGHT.sub("\n", _CHANNEL.sub("", raw))
    return _TEMPLATE.sub("", _ROLE.sub("", _TEMPLATE.sub("", _END_OF_TURN.sub("", text))))


def _bare(raw: str) -> str:
    """Return words without thoughts, a chat template's marks and decoration, in plain signs."""
    text = (
        unicodedata.normalize("NFKC", _without_thoughts(raw))
        .replace("\u2019", "'")
        .replace("\u3002", ". ")
    )
    return _BULLET.sub("", _DECORATION.sub("", _LATEX.sub(r"\1", text))).strip()


def _whole(text: str, options: Sequence[str]) -> set[str]:
    """Letters named by a text that is nothing but an answer."""
    named = _by_text(text, options)
    if alone := _LETTER_ALONE.fullmatch(text):
        return named | {(alone[1] or alone[2]).upper()}
    if named:
        return named
    for found, letters, words in (
        (_LETTER_AND_TEXT.fullmatch(text), (1, 2), 3),
        (_LETTER_COMMA_TEXT.fullmatch(text), (1, 2), 3),
        (_TEXT_AND_LETTER.fullmatch(text), (2, 3), 1),
    ):
        if found and (named := _by_text(found[words], options)):
            return named | {next(found[n] for n in letters if found[n]).upper()}
    return set()


def _by_text(text: str, options: Sequence[str]) -> set[str]:
    wanted = _plain(text)
    return {letter for letter, own in zip(LETTERS, options, strict=False) if _plain(own) == wanted}


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text)
    return " ".join(plain.split()).casefold().strip(" .\"'\u201c\u201d")


def _final(text: str, options: Sequence[str]) -> set[str]:
    given = [match[2] or match[3] or "" for match in _TAGGED.finditer(text)]
    given += [match[1] for match in _BOXED.finditer(text)]
    named = _after(_FINAL, text, options)
    for said in (*given, *_in_json(text)):
        named |= _whole(said.strip(), options) or _stated(said, options) or {_UNCLEAR}
    return named


def _in_json(text: str) -> Iterator[str]:
    """Yield what JSON says under a key for the answer; of JSON that was cut off too."""
    at, any_object = text.find("{"), False
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            break
        found, end = _object(text, at)
        if isinstance(found, dict):
            any_object = True
            yield from _answers(found)
        at = text.find("{", end)
    if not any_object and text.startswith("{"):
        yield from (match[2] for match in _JSON_VALUE.finditer(text) if _is_key(match[1]))
    if text.startswith("["):
        found, end = _object(text, 0)
        if isinstance(found, list) and found and end == len(text):
            yield from _values(found)


def _object(text: str, at: int) -> tuple[object, int]:
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        end = text.find("}", at) + 1
    try:
        return ast.literal_eval(text[at : end or len(text)][:_REACH]), end or at + 1
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None, at + 1


def _is_key(key: object) -> bool:
    return isinstance(key, str) and plain_key(key) in _JSON_KEYS


def _answers(found: dict[object, object]) -> Iterator[str]:
    for key, said in found.items():
        if _is_key(key):
            yield from _values(said)


def _values(said: object) -> Iterator[str]:
    if isinstance(said, list):
        for one in said or [None]:
            yield from _values(one)
    elif isinstance(said, dict) and any(map(_is_key, said)):
        yield from _answers(said)
    else:
        yield said if isinstance(said, str) else json.dumps(said, default=str)


def _stated(text: str, options: Sequence[str]) -> set[str]:
    correct = {match[1] or match[2] for match in _IS_CORRECT.finditer(text)}
    return _after(_STATED, text, options) | {letter.upper() for letter in correct}


def _after(mark: re.Pattern[str], text: str, options: Sequence[str]) -> set[str]:
    """Letters or option texts right behind a mark such as "the answer is"."""
    named: set[str] = set()
    for match in mark.finditer(text):
        before = text[max(0, match.start() - _REACH) : match.start()]
        if _DOUBT.search(_CLAUSE.split(before)[-1] + match[0]) or _NEXT_BEST.search(before):
            continue
        rest = text[match.end() : match.end() + _REACH].lstrip()
        named |= _at_start(re.sub(r"^(?:option|choice|letter)\s+", "", rest, flags=re.I), options)
    return named


def _at_start(text: str, options: Sequence[str]) -> set[str]:
    line = text.partition("\n")[0].strip()
    first = re.split(r"(?<=[.;])\s", line, maxsplit=1)[0]
    if named := _whole(line, options):
        return named
    if named := _whole(first, options):
        behind = line[len(first) :].strip()
        return named | (_whole(behind, options) if _LETTER_ALONE.fullmatch(behind) else set())
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
    if because := _LETTER_BECAUSE.match(text):
        return {because[1] or because[2] or because[3]}
    if yes_or_no := _YES_OR_NO.match(text):
        return _by_text(yes_or_no[1], options)
    return set()


def _mentioned(text: str, options: Sequence[str]) -> set[str]:
    """Letters of the options whose text, or whose letter behind "option", stands anywhere.

    Not in a clause that doubts or negates, and not in a refusal.
    """
    if is_refusal(text):
        return set()
    plain = unicodedata.normalize("NFKC", text).casefold()
    named: set[str] = set()
    for letter, own in zip(LETTERS, options, strict=False):
        words = re.escape(_plain(own))
        for match in re.finditer(rf"(?<!\w)(?:{words}|option\s+{letter.lower()})(?!\w)", plain):
            clause = _CLAUSE.split(plain[max(0, match.start() - _REACH) : match.start()])[-1]
            if not _DENIED.search(clause):
                named.add(letter)
    return named


_RULES = {
    "whole": _whole,
    "final": _final,
    "stated": _stated,
    "by itself": _by_itself,
    "mentioned": _mentioned,
}
