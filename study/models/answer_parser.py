"""The reading of an answer out of a model's words.

Conservative: what is not plainly one option is no answer, and never a guess of ours. The rules are
written out in ``docs/predictions-format.md``.
"""

import ast
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence, Set

from study.tables.columns import plain_key

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
_BRACKETED = r"[(\[{<\"'\u201c]\s*([A-Za-z])\.?\s*[)\]}>\"'\u201d]"
_ENDS = r"(?![A-Za-z0-9_]|['-]\w)"
_B_TO_Z = rf"([B-Z]){_ENDS}"
_A_AT_END = rf"(A){_ENDS}(?=\s*$|\s*[^\s\w(]|\s*\n|\s+(?:because|since|as|due|based|given)\b)"
_SMALL = r"([a-z])(?=\s*$|\s*[.,;:!)\]\n])"
_OR_ELSEWHERE = r"oder|und|o|u|y|ou|et|e"
_AND_MORE = (
    rf"\s*\??\s*(?:,|;|/|&|\+|\||\u2013|\u3001|(?i:\b(?:or|and|to|{_OR_ELSEWHERE})\b)|[\u6216"
    rf"\u548c\u4e0e])"
    r"\s*(?i:or\s+|possibly\s+|perhaps\s+|maybe\s+)*"
    rf"(?:[(\[]\s*[A-Za-z]\s*[)\]]|[A-Z]{_ENDS}(?!\s+(?:is|was|can|shows|has|would)\b))"
)
_OR_MORE = (
    r"\s*\?(?=\s+\S)|\s*\(\s*[A-Z]\s*(?:\)|(?:is|could|may|might)\b)"
    r"|\s*[(,]?\s*(?:(?i:but\s+)?(?i:or|possibly|perhaps|maybe)\b|(?i:but|though|although)\s+"
    r"\(?[A-Z]\)?\s+(?:(?:is|seems)\s+(?:also|possible|plausible)|could|may|might|cannot)\b)"
)
_AT_START = re.compile(rf"(?:{_BRACKETED}|{_B_TO_Z}|{_A_AT_END}|{_SMALL})({_AND_MORE}|{_OR_MORE})?")

_NAMED = r"(?:(?i:option|choice|letter|answer|antwort|opci\u00f3n|respuesta)\s*:?\s*)?"
_SURE = (  # what may stand before a letter that is all that is said
    r"(?:(?i:most likely|probably|definitely|clearly|certainly|is|its|select|choose|yes|ok|okay"
    r"|i (?:think|believe)(?: that)?(?: it(?:'s| is))?|it(?:'s| is)"
    r"|i(?:'d| would) (?:say|guess)|opci\u00f3n)\s*[,:]?\s+)?"
)
_LETTER_ALONE = re.compile(
    rf"\.*(?:[Q(]?(\d{{1,3}})[.):]\s*)?{_SURE}{_NAMED}(?:{_BRACKETED}|([A-Za-z]))[.):,;!]*"
    r"(?:\s+\(?(?:guess|(?i:i) (?:think|believe))\)?\.?)?"
)
_LETTER_AND_TEXT = re.compile(
    rf"{_NAMED}(?:{_BRACKETED}[.:]?|([A-Za-z])(?:[.):](?=\s|\w\w\w)|\s+[-\u2013\u2014=]\s))"
    rf"\s*(\S.*)",
    re.DOTALL,
)
_LETTER_COMMA_TEXT = re.compile(r"(?:([A-Z])|([a-z])),\s+(\S.*)", re.DOTALL)
_LETTER_SPACE_TEXT = re.compile(r"(?:([A-Z])|([b-z]))\s+(\S.*)", re.DOTALL)
_TEXT_AND_LETTER = re.compile(
    rf"(\S.*?)\s*(?:{_BRACKETED}|\((?i:option|answer|choice)\s+([A-Z])\)|(?:[:,]|\s[-\u2013])"
    rf"\s*(?i:option\s+)?([A-Z]))\.?"
)
_LETTER_INLINE = re.compile(r"(?:^|\s)(?:[(\[]([A-Z])[)\]]|([A-Z])[.):](?=\s))")
_ALSO = re.compile(r"\(?[A-Z]\)?\s+(?:is|seems)\s+(?:also|possible)\b")
_AMID = re.compile(r"\w\Z")  # a letter in brackets behind a word points at an option
_LETTER_BECAUSE = re.compile(
    r"(?:([B-Z]),?\s+(?:because|since|as|due|weil|da)|(A),?\s+(?:because|since))\b"
    r"|([A-Z])(?:\s+with\s+(?:high|\d)"
    r"|,?\s+(?:not|rather than|instead of)\s+(?:option\s+)?[(\[]?[A-Z]\b"
    r"|(?:,\s*|\s*[(\[])(?:confidence\b|\d|thanks\b))"
)
_YES_OR_NO = re.compile(
    r"(yes|no)\s*(?:[,:;](?!\s*(?:but|or|and|though|although)\b)|\s(?=(?:there|it|this)\s))",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(
    r"\n\s*(?:explanation|reasoning|rationale|justification|reasons?|analysis)\s*:", re.IGNORECASE
)
_ARTICLE = re.compile(r"\A(?:a|an|the)\s+")

_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_NONE = frozenset({"no", "not", "without", "absent"})
_OPPOSITES = tuple(
    frozenset(words.split())
    for words in (
        "left right bilateral both",
        "upper middle lower",
        "anterior posterior",
        "increased decreased",
        "present absent",
        "normal abnormal",
        "acute chronic",
        "small moderate large",
        "mild moderate severe",
    )
)

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
    r"|<image>|<0x0A>|\u2581|\\n|<br\s*/?>|</?(?:p|strong|em)>|<(?=b>[^<]+</b>)b>|(?<=\w)</b>",
    re.IGNORECASE,
)
_ANOTHER_TURN = re.compile(
    r"\n\s*(?:(?:next )?question(?: \d+)?|user|human|q\d*)\s*(?::|\d+[.:)])", re.IGNORECASE
)
_ROLE = re.compile(r"\A\s*(?:assistant|model)\s*(?::|\n)", re.IGNORECASE)
_SIGNS = str.maketrans(
    {"\u2019": "'", "\u3002": ". ", "\u3001": ", ", "\u3010": " ", "\u3011": ":"}
    | dict.fromkeys("\ufeff\u200b\u200c\u200d\u2060\u00ad", "")
)
_LATEX = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|textsf)\s*\{([^{}]*)\}|\\[,;:! ]")
_DECORATION = re.compile(
    r"\*+|`+|__|\$|\\[()\[\]]"
    r"|[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f300-\U0001faff]"
)
_BULLET = re.compile(r"^[ \t]*(?:#+|>+(?![ \t]*\d)|=>|->|[-\u2022])[ \t]+", re.MULTILINE)
_EDGE = re.compile(r"^[ \t]*[-=_]{3,}[ \t]*$|^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$", re.MULTILINE)

_TAGGED = re.compile(
    r"<((?:final_?)?answer|conclusion)>(?:(.{0,2000}?)</\1>|(.{0,200})\Z)",
    re.IGNORECASE | re.DOTALL,
)
_BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}")
_JSON_VALUE = re.compile(r'"(\w+)"\s*:\s*(?:"([^"\n]*)"|([A-Za-z])\s*(?=[,}\n]))')
_JSON_KEYS = frozenset(
    f"{prefix}{noun}"
    for prefix in ("", "final", "selected", "correct", "chosen", "predicted", "best")
    for noun in ("answer", "option", "choice", "prediction", "letter", "answerletter")
)

_MAYBE_KEYS = frozenset({"response", "result", "output"})
"""Keys of the answer where no other key is one."""

_NOUN = (
    r"(?:answer(?:\s+(?:choice|option|letter))?|option|choice|response|diagnosis|letter|prediction"
    r"|decision|conclusion|selection|solution|verdict|statement|(?<=\w )(?:guess|one))"
)
_PRAISE = (
    r"(?:(?:the|my|our|first|top|most|single|correct|right|best|likely|probable|appropriate"
    r"|accurate|suitable"
    r"|plausible|selected|chosen|predicted|final|overall|educated)\s+)"
)
_ABOUT = r"(?:,?\s+(?:to|for|in|among|given|based\s+on)\b(?:\s+[\w'-]+){1,8}?,?)?"
_IS = (
    r"(?:\s*(?:\bis\b|\bwould be\b|\bshould be\b|\bmust be\b"
    r"|\b(?:seems|appears) to be\b|\bremains\b|[=-]>|=|:|-|\|))+\s*"
    r"(?:(?:most likely|likely|probably|therefore|thus|clearly|definitely|indeed)\s+)?"
)
_CALLED = (  # in other tongues
    r"(?:(?:(?:die|la|le|il|el|a|meine|ma|mi) )?(?:richtige |korrekte |beste |wahrscheinlichste "
    r"|endg\u00fcltige |bonne |mejor )?"
    r"(?:antwort|r\u00e9ponse|respuesta|risposta|resposta|opci\u00f3n|opzione|op\u00e7\u00e3o|l"
    r"\u00f6sung)"
    r"(?:\s+(?:finale?|correct[aeo]|correta|corretta|exacte|giusta|certa))?"
    r"\s*(?:ist\b|lautet\b|est\b|es\b|\u00e8\b|\u00e9\b|:)\s*:?\s*(?:(?:daher|also|somit|donc"
    r"|entonces)\s+)?"
    r"(?:(?:la|le|el|a|l')\s*(?=\W?[a-z]\b|opci|option|opz|op\u00e7))?(?:opci\u00f3n|opzione|op"
    r"\u00e7\u00e3o)?\s*"
    r"|\brichtig ist\s+|\bist die (?:richtige )?antwort\s+"
    r"|\bich w\u00fcrde\s+(?=[A-Z]\s+w\u00e4hlen\b)|\bich (?:w\u00e4hle|nehme)\s+|\b(?:elijo"
    r"|je choisis|scelgo|escolho)\s+"
    r"|(?:\u7b54\u6848|\u9009\u9879|\u6700\u53ef\u80fd\u7684\u8bca\u65ad)\s*(?:\u662f|\u4e3a|"
    r"\u9009|\u5e94\u4e3a|\u5e94\u8be5\u662f)?\s*:?\s*|\u9009(?:\u62e9)?\s*:?\s*"
    r"|(?:\u7b54\u3048|\u6b63\u89e3|\u6b63\u7b54)\s*[\u306f:]\s*|(?:\uc815?\ub2f5)\s*[\uc740:]\s*"
    r"|(?:\u043f\u0440\u0430\u0432\u0438\u043b\u044c\u043d\u044b\u0439 )?\u043e\u0442\u0432"
    r"\u0435\u0442\s*:\s*)"
)
_SAYS = r"(?:^|[.;:!?,]\s+|\b(?:so|but|and|therefore|thus|hence|however),?\s+)"
_FINAL = re.compile(
    rf"\bfinal\s+{_NOUN}(?:{_ABOUT}{_IS}|\s+(?=[(\[]?[a-z][)\]]?\s*(?:[.]|$)))",
    re.IGNORECASE | re.MULTILINE,
)
_STATED = re.compile(
    rf"(?:\b{_PRAISE}{{1,6}}|(?:^|[.;:!?]\s+)[^\w\n]*){_NOUN}{_ABOUT}{_IS}"
    r"|^[^\w\n]*(?:final|result|output|ans|ans\.)\s*[:=]\s*|^[^\w\n]*ans\.\s+"
    r"|\bi(?:'d|'ll|\s+would|\s+will)?\s+(?:choose|select|pick|say|answer|go\s+(?:with|for)|opt"
    r"\s+for)\s*:?\s+"
    r"|\bi(?:'m|\s+am|\s+have|'ve)\s+(?:choosing|selecting|chosen|selected|picked)\s+"
    r"|^[^\w\n]*(?:(?:your|model|short|direct|option|assistant's)\s+)?(?:answer|letter)"
    r"(?:\s+\d{1,2}|\s+\([^()\n]{0,40}\))?\s*:\s*"
    r"|\b(?:sure|certain|confident)\s+(?:that\s+)?it(?:'s|\s+is)\s+"
    r"|\banswer\s+(?=[(\[]?[a-z][)\]]?\s*(?:[.]|$))"
    r"|\b(?:i'm\s+going|let's\s+go|going)\s+with\s+"
    r"|\b(?:most\s+likely|most\s+probable|best|correct)\s+(?:finding|abnormality|explanation)"
    rf"{_ABOUT}{_IS}"
    rf"|{_SAYS}it(?:'s|\s+is|\s+must\s+be)\s+(?=(?:option\s+)?[(\[]?[a-z][)\]]?\s*(?:[.!,]|$))"
    r"|\b(?:so|therefore|thus|hence),?\s+(?=(?:option\s+)?[(\[]?[a-z][)\]]?\s*(?:[.!]|$))"
    rf"|{_CALLED}",
    re.IGNORECASE | re.MULTILINE,
)
_SOME_WORDS = r"(?:\s+(?!is\b|not\b|nor\b|or\b)[\w-]+){1,8}?"
_IS_CORRECT = re.compile(
    rf"(?:{_SAYS}|\b[iI]\s+(?:believe|think)(?:\s+that)?\s+)(?i:(?:option|choice|answer|statement)"
    rf"\s+)?"
    rf"(?:{_BRACKETED}(?:[.:]?{_SOME_WORDS})?|([A-Z])(?:[.):,](?!\s*[A-Z]\b){_SOME_WORDS},?)?)\s+(?:is|"
    rf"(?:would|must)\s+be(?=\s+(?:the|my)\b))\s+"
    r"(?:(?:the\s+)?(?:most\s+)?(?:correct|right|best|likely|appropriate)\b"
    r"|(?:the|my)\s+(?:final\s+)?answer\b)"
    rf"|(?:^|[.;:!?,]\s+)(?:[Ll]a\s+)?(?:L')?(?:(?i:option|antwort|opci\u00f3n)\s+)?([A-Z])"
    r"\s*(?:ist\s+(?:richtig|korrekt|die\s+(?:richtige|beste)\s+Antwort)\b"
    r"|es\s+(?:correcta|la\s+respuesta\s+correcta)\b|est\s+(?:correcte|la\s+bonne\s+r"
    r"\u00e9ponse)\b|\u662f?\u6b63\u786e)",
    re.MULTILINE,
)
_IS_BEST = re.compile(rf"\s+is\s+{_PRAISE}{{1,4}}(?:{_NOUN}|finding)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:so|therefore|thus|hence|but|and)\b", re.IGNORECASE)
_PARTED = re.compile(r"(?:[.,;:!?]\s+|(?:so|but|and|therefore|thus|hence|however)\b)+")
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
    r"(?:(?:i'm|i am|so)?\s*(?:(?:very|really|so)\s+)?sorry[\s,.;\u2013\u2014-]+(?:but\s+)?"
    r"|(?:i apologi[sz]e|my apologies)[\s,.;]+(?:but\s+)?|unfortunately,?\s+|regrettably,?\s+"
    r"|please consult[^.;]{0,60}[.;]\s+"
    r"|(?:no image (?:was|is|has been) (?:provided|attached)|i (?:don't"
    r"|do not) have access to [^.,]{0,20}),?\s*so\s+"
    r"|(?:i(?:'m| am) (?:designed|programmed)|this is an?|the image is an?"
    r"|while i)\b[^.]{0,60}?(?:[,.]\s*|\band\s+|\bbut\s+)+)*"
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
    r"|it (?:is|would be) (?:not appropriate|inappropriate) for me to\b)"
    r"|(?:(?:es tut mir leid|entschuldigung|leider|lo siento|lamentablemente|d\u00e9sol\u00e9e?"
    r"|je suis d\u00e9sol\u00e9e?|desculpe|mi dispiace)[\s,.]*(?:aber|pero|mais|mas|ma)?\s*)?"
    r"(?:(?:ich kann|kann ich)\b[^.]{0,60}?\b(?:keine|nicht)\b[^.]{0,40}?"
    r"(?:diagnosen?|beantworten|beurteilen|interpretieren|helfen|auswerten|befunden)\b"
    r"|ich bin\s+(?:\w+\s+)?nicht in der lage\b"
    r"|(?:n\u00e3o posso|non posso)\s+(?:fornecer|responder|dar|fornire|rispondere|dare)\b"
    r"|no puedo\s+(?:proporcionar|responder|dar|ofrecer|interpretar|diagnosticar|ayudar|analizar"
    r"|ver)\b"
    r"|je ne peux pas\s+(?:fournir|r\u00e9pondre|donner|interpr\u00e9ter|poser|aider|analyser"
    r"|voir)\b)"
    r"|(?:(?:\u975e\u5e38|\u5f88)?(?:\u62b1\u6b49|\u5bf9\u4e0d\u8d77|\u9057\u61be)[\s,.!]*)?(?:"
    r"\u4f5c\u4e3a[^,.]{1,20}[\s,]*)?"
    r"(?:\u4f46\u662f?)?\u6211?(?:\u65e0\u6cd5|\u4e0d\u80fd|\u4e0d\u53ef\u4ee5)[^,.]{0,6}?"
    r"(?:\u63d0\u4f9b|\u56de\u7b54|\u7ed9\u51fa|\u8fdb\u884c|\u8bca\u65ad|\u89e3\u8bfb|\u5206"
    r"\u6790|\u67e5\u770b)",
    re.IGNORECASE,
)


_ANSWER_LINE = re.compile(
    r"((?:.*\n)?)[ \t>*_#]*(?:final\s+)?answer[ \t*_]*:[\s*_]*(\S.*)\Z", re.IGNORECASE | re.DOTALL
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
    for words in dict.fromkeys((_ANOTHER_TURN.split(text, maxsplit=1)[0], text)):
        for name in RULES[rules]:
            named = _RULES[name](words, options)
            if named:
                allowed = len(named) == 1 and named <= set(LETTERS[: len(options)])
                letter = named.pop() if allowed else None
                return (None if letter and _misquoted(letter, words, options) else letter), name
    return None, ""


def _misquoted(letter: str, text: str, options: Sequence[str]) -> bool:
    """Whether a letter stands before its option's words with one turned into its opposite."""
    own = set(_WORD.findall(options[LETTERS.index(letter)].casefold()))
    numbers = {word for word in own if word[0].isdigit()}
    for match in re.finditer(rf"(?<!\w){letter}[)\]]?[.:)]?\s*[-\u2013]?\s*([^\n;]+)", text):
        said = _WORD.findall(re.split(r"[.:](?:\s|\Z)", match[1])[0].casefold())
        there = set(said)
        if said and said[0] in _NONE and own and own <= there and not own & _NONE:
            return True
        figures = {word for word in there if word[0].isdigit()}
        for group in (numbers | figures, *_OPPOSITES):
            turned = own & group and there & group and not own & there & group
            if turned and (own - group <= there or there - group <= own):
                return True
        others = (_WORD.findall(other.casefold()) for other in options)
        if not own <= there and any(set(other) != own and _ends(said, other) for other in others):
            return True
    return False


def _ends(said: Sequence[str], option: Sequence[str]) -> bool:
    """Whether a few words end with an option's, and do not deny it."""
    before = said[: -len(option)] if option and list(option) == list(said[-len(option) :]) else None
    return before is not None and len(before) <= 4 and not _NONE.intersection(before)


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
    if re.search(rf"\boption\s+{_B_TO_Z}", text):
        return False
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
    text = unicodedata.normalize("NFKC", _without_thoughts(raw)).translate(_SIGNS)
    text = _BULLET.sub("", _DECORATION.sub("", _LATEX.sub(r"\1", text)))
    return _EDGE.sub("", text).strip()


def _whole(text: str, options: Sequence[str]) -> set[str]:
    """Letters named by a text that is nothing but an answer."""
    named = _by_text(text, options)
    if alone := _LETTER_ALONE.fullmatch(text):
        return named | _by_text(alone[1] or "", options) | {(alone[2] or alone[3]).upper()}
    if named:
        return named
    for found, letters, words in (
        (_LETTER_AND_TEXT.fullmatch(text), (1, 2), 3),
        (_LETTER_COMMA_TEXT.fullmatch(text), (1, 2), 3),
        (_LETTER_SPACE_TEXT.fullmatch(text), (1, 2), 3),
        (_TEXT_AND_LETTER.fullmatch(text), (2, 3, 4), 1),
    ):
        if found and (named := _by_text(found[words], options)):
            return named | {next(found[n] for n in letters if found[n]).upper()}
    return set()


def _by_text(text: str, options: Sequence[str]) -> set[str]:
    wanted = _key(text)
    return {letter for letter, own in zip(LETTERS, options, strict=False) if _key(own) == wanted}


def _key(text: str) -> str:
    """Return what is left of an option's text where spaces, case and brackets do not count."""
    return _plain(text).replace(" ", "").strip("()[]!")


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text)
    return " ".join(plain.split()).casefold().strip(" .\"'\u201c\u201d")


def _final(text: str, options: Sequence[str]) -> set[str]:
    given = [match[2] or match[3] or "" for match in _TAGGED.finditer(text)]
    given += [match[1] for match in _BOXED.finditer(text)]
    named = _after(_FINAL, text, options)
    for said in (*given, *_in_json(text)):
        said = _BOXED.sub(r"\1", said).strip()
        named |= _whole(said, options) or _stated(said, options) or {_UNCLEAR}
    if named or not (maybe := list(_in_json(text, _MAYBE_KEYS))):
        return named
    return set().union(*(_whole(said.strip(), options) for said in maybe))


def _in_json(text: str, keys: Set[str] = _JSON_KEYS) -> Iterator[str]:
    """Yield what JSON says under a key for the answer; of JSON that was cut off too."""
    at, any_object = text.find("{"), False
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            break
        found, end = _object(text, at)
        if isinstance(found, dict):
            any_object = True
            yield from _answers(found, keys)
        at = text.find("{", end)
    if not any_object and text.startswith("{"):
        yield from (
            match[2] or match[3] for match in _JSON_VALUE.finditer(text) if _is_key(match[1], keys)
        )
    if text.startswith("["):
        found, end = _object(text, 0)
        if isinstance(found, list) and found and end == len(text):
            yield from _values(found, keys)


def _object(text: str, at: int) -> tuple[object, int]:
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        end = text.find("]" if text[at] == "[" else "}", at) + 1
    try:
        return ast.literal_eval(text[at : end or len(text)][:_REACH]), end or at + 1
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None, at + 1


def _is_key(key: object, keys: Set[str]) -> bool:
    return isinstance(key, str) and plain_key(key) in keys


def _answers(found: dict[object, object], keys: Set[str]) -> Iterator[str]:
    for key, said in found.items():
        if _is_key(key, keys):
            yield from _values(said, keys)


def _values(said: object, keys: Set[str]) -> Iterator[str]:
    if isinstance(said, list):
        for one in said or [None]:
            yield from _values(one, keys)
    elif isinstance(said, dict) and any(_is_key(key, keys) for key in said):
        yield from _answers(said, keys)
    else:
        yield said if isinstance(said, str) else json.dumps(said, default=str)


def _stated(text: str, options: Sequence[str]) -> set[str]:
    named = set()
    for best in _IS_BEST.finditer(text):
        before = re.split(r"[.;:!?\n]", text[max(0, best.start() - _REACH) : best.start()])[-1]
        named |= _by_text(before, options)
    correct = {match[1] or match[2] or match[3] for match in _IS_CORRECT.finditer(text)}
    named |= _after(_STATED, text, options) | {letter.upper() for letter in correct}
    yes_or_no = _YES_OR_NO.match(text) if named else None
    return named | (_by_text(yes_or_no[1], options) if yes_or_no else set())


def _after(mark: re.Pattern[str], text: str, options: Sequence[str]) -> set[str]:
    """Letters or option texts right behind a mark such as "the answer is"."""
    named: set[str] = set()
    for match in mark.finditer(text):
        before = text[max(0, match.start() - _REACH) : match.start()]
        parted = _PARTED.match(match[0])
        before += parted[0] if parted else ""
        said = match[0].removeprefix(parted[0] if parted else "")
        if _DOUBT.search(_CLAUSE.split(before)[-1] + said) or _NEXT_BEST.search(before):
            continue
        rest = text[match.end() : match.end() + _REACH].lstrip()
        named |= _at_start(re.sub(r"^(?:option|choice|letter)\s+", "", rest, flags=re.I), options)
    return named


def _at_start(text: str, options: Sequence[str]) -> set[str]:
    line = text.partition("\n")[0].strip()
    first = re.split(r"(?<=[.;])\s", line, maxsplit=1)[0]
    if named := _whole(line, options) or _by_text(_ARTICLE.sub("", line), options):
        return named
    if yes_or_no := _YES_OR_NO.match(line):
        return _by_text(yes_or_no[1], options)
    if named := _whole(first, options) or _by_text(_ARTICLE.sub("", first), options):
        behind = line[len(first) :].strip()
        if _ALSO.match(behind):
            return named | {_UNCLEAR}
        return named | (_whole(behind, options) if _LETTER_ALONE.fullmatch(behind) else set())
    found = _AT_START.match(text)
    if found is None:
        return set()
    letter = next(letter for letter in found.groups()[:4] if letter).upper()
    return {letter, _UNCLEAR} if found[5] else {letter}


def _by_itself(text: str, options: Sequence[str]) -> set[str]:
    """Letters of all sentences and lines that are answers, when the first or last is one."""
    head = _EXPLAINED.split(text, maxsplit=1)
    if len(head) > 1 and (before := _whole(head[0].strip(), options)):
        return before
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip()]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not sentences:
        return set()
    named = [_whole(part, options) for part in (*sentences, lines[0], lines[-1])]
    opening = _opening(text, options)
    if not (opening or named[0] or any(named[-3:])):
        return set()
    inlines = _LETTER_INLINE.finditer(text)
    headed = (re.sub(r"\A\W*\w\W+", "", " ".join(sentences[:n])) for n in (1, 2))
    if opening and any(opening == _by_text(words, options) for words in headed):
        inlines = (match for match in inlines if not _AMID.search(text[: match.start()]))
    inline = {match[1] or match[2] for match in inlines}
    return opening.union(inline, *named)


def _opening(text: str, options: Sequence[str]) -> set[str]:
    """Letters of an opening such as "B) Because ..." or "No, ..."."""
    if (both := _LETTER_AND_TEXT.fullmatch(text)) and (both[1] or both[2]).isupper():
        also = _LETTER_ALONE.fullmatch(both[3])
        return {both[1] or both[2]} | ({_UNCLEAR} if also else set())
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
