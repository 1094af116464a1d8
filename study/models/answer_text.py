"""Turns a model's raw output into plain text: no thinking, chat template, markup or emoji."""

import re
import unicodedata
from functools import lru_cache

_TAG = r"(think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad)"
_THINKING = re.compile(
    rf"<{_TAG}>.*?</\1>|<think(?:ing)?>.*\Z|\A(?:(?!<think).)*</think(?:ing)?>|\[THINK\].*?(?:\[/THINK\]|\Z)"
    r"|\u25c1think\u25b7.*?(?:\u25c1/think\u25b7|\Z)|<unused94>.*?(?:<unused95>|\Z)"
    r"|<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_CHANNEL = re.compile(r"\A.*<\|channel\|>final<\|message\|>", re.DOTALL)
_UNFINISHED_CHANNEL = re.compile(r"<\|channel\|>(?:analysis|commentary)<\|message\|>.*", re.DOTALL)
_END_OF_TURN = re.compile(
    r"(?<=[^\s>])\s*(?:</s>|<eos>|<end_of_turn>|<\|(?:eot_id|im_end|endoftext|end|return)\|>).*",
    re.DOTALL,
)
_TEMPLATE = re.compile(
    r"<\|[^|>]*\|>|</?s>|<[be]os>|<pad>|<start_of_turn>(?:model)?|<end_of_turn>|\[/?INST\]"
    r"|<image>|<0x0A>|\u2581|\\n|<br\s*/?>"
    r"|</?(?:p|strong|em|div|span|h[1-6]|ul|ol|li|code|pre)>|<(?=b>[^<]+</b>)b>|</b>",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"\A\s*(?:(?:<s>|<bos>|<\|begin_of_text\|>)\s*)?(?:(?:#+\s*)?(?i:user|human)\s*:|\[INST\]"
    r"|<start_of_turn>user|<\|(?:im_start\|>|start_header_id\|>|)(?:system|user)\b).*"
    r"(?:\n[ \t]*(?:#+\s*)?(?i:assistant)\s*:|\bASSISTANT:|\[/INST\]|<start_of_turn>model"
    r"|<\|(?:im_start\|>|start_header_id\|>|)assistant\b)(?:\|>|<\|end_header_id\|>)?",
    re.DOTALL,
)
"""The prompt that some programs repeat before the model's output."""
_USER_TURN = re.compile(
    r"(?:user|human)\s*:|\[INST\]|<start_of_turn>user|<\|(?:im_start\|>|start_header_id\|>|)user\b",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\A\s*(?:assistant|model)\s*(?::|\n)", re.IGNORECASE)
_ANOTHER_TURN = re.compile(
    r"\n[^\S\n]*(?:(?:next )?question(?: \d+)?|user|human|q\d*)\s*(?::(?!\s*answer\b)|\d+[.:)])",
    re.IGNORECASE,
)
_FIRST_TURN = re.compile(r"\s*q(?:uestion)? ?\d+\s*:", re.IGNORECASE)

# Letters drawn as emoji: regional indicators, circled and squared letters, and keycaps.
_EMOJI_LETTERS = {
    first + n: chr(ord("A") + n) for first in (0x1F150, 0x1F170, 0x1F1E6) for n in range(26)
}
_CHARACTERS = str.maketrans(
    _EMOJI_LETTERS
    | {
        "\u2019": "'",
        "\u3002": ". ",
        "\uff1f": "? ",
        "\uff01": "! ",
        "\uff1b": "; ",
        "\u3001": ", ",
        "\u3010": " ",
        "\u3011": ":",
    }
    | dict.fromkeys("\ufeff\u200b\u200c\u200d\u2060\u00ad\u20e3\ufe0f", "")
    | dict.fromkeys("\u2192\u21d2\u27a1", " : hence ")
    | {"\u2248": " = ", "\u2243": " = ", "\u2245": " = "}
    | dict.fromkeys("\u2705\u2713\u2714\u2611", " correct ")
    | dict.fromkeys("\u274c\u274e\u2717\u2718\u2716\u2715", " incorrect ")
)
_PRIVATE = re.compile(r"[\ue000-\uf8ff]")  # marks mentions of options in `answer_mentions`
_LATEX = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|textsf)\s*\{([^{}]*)\}|\\[,;:! ]")
_DECORATION = re.compile(
    r"\*+|`+|__|\$|\\[()\[\]]"
    r"|(?<=\s)[:;]-?[()DP](?=\s|\Z)|[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]"
)
_STRUCK = re.compile(r"~~[^~\n]{1,500}~~|<(s|del)>[^<\n]{1,500}</\1>")
_QUOTED = re.compile(r"(?m)^[ \t]*>[ \t]+\w+[ \t]+\w+[ \t]+\S.*$")
_VERDICT = re.compile(
    r"(?<![^\s-])([A-Z][ \t]*[\u2705\u2713\u2714\u2611\u274c\u274e\u2717\u2718])[ \t]+(?=[A-Z]\b)"
)
_SIGN = re.compile(r"(?m)^[ \t]*([A-Z])[.):]?[ \t]*([+\u2212\u2013-])[ \t]*$")
_CODE_FENCE = re.compile(r"^[ \t]*```[\w+-]*[ \t]*$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*(?:#+|>+(?![ \t]*\d)|=>|->|[-\u2022])[ \t]+", re.MULTILINE)
_CHECKED = "\u2611\u2705\u2713\u2714\u25c9\u25cf\U0001f518\U0001f7e2"
_UNCHECKED = "\u2610\u25a1\u2b1c\u25ef\u25cb\u26aa\U0001f534\u274c\u2717\u2718"
_BOX = re.compile(
    rf"(?:(?P<yes>[{_CHECKED}]\ufe0f?|[(\[][ \t]*[xX\u2713\u2714\u2022\u25cf*][ \t]*[)\]])"
    rf"|(?P<no>[{_UNCHECKED}]\ufe0f?|\([ \t]*\)|\[[ \t]*\]))[ \t]*"
    rf"(?P<said>[^\n{_CHECKED}{_UNCHECKED}(\[]*(?:\((?![ \t]*[xX\u2022\u25cf*]?[ \t]*\))[^\n(\["
    rf"{_CHECKED}{_UNCHECKED}]*)*)"
)
_FIRST_BOX = re.compile(
    rf"(?m)^[ \t]*(?:[-*+\u2022]|\d+[.)])?[ \t]*(?=[{_CHECKED}{_UNCHECKED}]|[(\[][ \t]*[xX\u2713"
    r"\u2714\u2022\u25cf*]?[ \t]*[)\]])"
)
_ONE_CHECK = re.compile(rf"(?m)^[ \t]*[{_CHECKED}]\ufe0f?[ \t]*(?=\w)")
_BOX_AFTER = re.compile(
    rf"([^\s{_CHECKED}{_UNCHECKED}][^\n{_CHECKED}{_UNCHECKED}]*?)[ \t]*([\u2611\u2610])"
)
_COMMENT = re.compile(r"(?m)(?<=[\"'\w;)])[ \t]+(?:#|//)[ \t].*$")
_HEADER = re.compile(
    r"(?m)^[ \t]*(\|.+)\n[ \t]*\|?[ \t:|-]*-{2,}[ \t:|-]*\n((?:[ \t]*\|.+(?:\n|\Z))+)"
)
_ARROW = re.compile(r"(?<=[\w.)])[ \t]*[-=]+>[ \t]*(?=\S)")
_TABLE_RULE = re.compile(r"^[ \t|:]*[-=_]{3,}[-=_ \t|:]*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|(.*?)\|?[ \t]*$", re.MULTILINE)
_SNAKE_KEY = re.compile(r"^[ \t]*[a-z]+(?:_[a-z]+)+(?=\s*[:=])", re.MULTILINE | re.IGNORECASE)
_WRAPPED_ARTICLE = re.compile(r"(?m)^A\n(?=[a-z])")
_SIGNATURE = re.compile(
    r"(?im)^[^\w\n]*(?:(?:best |kind |warm )?(?:regards|wishes)|sincerely|yours\b.*|cheers|signed)"
    r"[,:]?\s*\n\s*[A-Z]\.?\s*\Z"
)
_INITIALS = re.compile(
    r"(?i:\b(initials?)\W+)(?:[A-Z]\.?\s*)+(?![a-z])|\b(Dr|Prof|Mr|Mrs|Ms|by|from)\.?\s+(?:[A-Z]\.\s*)+(?=[A-Z][a-z])"
)
_QUERY = re.compile(r"(?m)^[ \t]*\?[ \t]*(?=\w)")
_NOT = re.compile(r"(?:(?<=\s)|(?<=\A))[\u00ac!][ \t]*(?=\(?[A-Z]\b)")
_SUMMARY = re.compile(r"\btl; ?dr\b", re.IGNORECASE)
_QUESTION_LABEL = re.compile(r"(?m)(?:^|\s)Q:\s")
_ANSWER_LABEL = re.compile(r"(?<=\s)A:\s*\Z")
_THERE_IS = re.compile(r"\b(there)'s\b", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|approx|fig|dr|al)\.(?=\s|,)", re.IGNORECASE)


def without_thinking(raw: str) -> str:
    """Return an output without thinking and without the tokens of a chat template."""
    text = _UNFINISHED_CHANNEL.sub("", _CHANNEL.sub("", _without_prompt(raw)))
    text = _THINKING.sub("\n", text)
    return _TEMPLATE.sub("", _ROLE.sub("", _TEMPLATE.sub("", _END_OF_TURN.sub("", text))))


def _without_prompt(raw: str) -> str:
    """Return an output without the prompt before it, if the output repeats one user message."""
    prompt = _PROMPT.match(raw)
    return raw[prompt.end() :] if prompt and len(_USER_TURN.findall(raw)) == 1 else raw


def plain_text(raw: str) -> str:
    r"""Return an output as plain text, in which `plain_option` texts can be found.

    >>> plain_text("<think>A?</think>**Answer:** $\\text{Ｂ}$")
    'Answer: B'
    """
    text = _STRUCK.sub(" ", _QUOTED.sub("", _CODE_FENCE.sub("", without_thinking(raw))))
    if len(re.findall(f"[{_CHECKED}{_UNCHECKED}]", text)) == 1:
        text = _ONE_CHECK.sub("", text)
    text = _ARROW.sub(" \u2192 ", text)
    text = _HEADER.sub(_rows, _boxes(_COMMENT.sub("", text)))
    if len(_SIGN.findall(text)) > 1:
        text = _SIGN.sub(
            lambda sign: sign[1] + (": correct" if sign[2] == "+" else ": incorrect"), text
        )
    text = _VERDICT.sub(r"\1\n", text).translate(_CHARACTERS)
    text = unicodedata.normalize("NFKC", text).translate(_CHARACTERS)
    text = _DECORATION.sub("", _LATEX.sub(r"\1", _PRIVATE.sub(" ", text)))
    text = _TABLE_ROW.sub(_cells, _TABLE_RULE.sub("", _BULLET.sub("", text)))
    text = _SNAKE_KEY.sub(lambda key: key[0].replace("_", " "), text)
    text = _INITIALS.sub(
        lambda match: f"{match[1] or match[2]} ",
        _SIGNATURE.sub("", _WRAPPED_ARTICLE.sub("A ", text)),
    )
    text = _QUERY.sub("query ", _NOT.sub(" not ", _SUMMARY.sub("tldr", text)))
    if _QUESTION_LABEL.search(text):
        text = _ANSWER_LABEL.sub("Answer:", text)
    text = _THERE_IS.sub(r"\1 is", text)
    return _ABBREVIATION.sub(lambda word: word[1].replace(".", ""), text).strip()


def _boxes(text: str) -> str:
    """Return a text with the check marks of a list written as words after the entries."""
    if len(_BOX.findall(text)) < 2:
        return text
    if not _FIRST_BOX.search(text):
        return _BOX_AFTER.sub(
            lambda box: f"{box[1]} : {'correct' if box[2] in _CHECKED else 'incorrect'}.\n", text
        )
    return _BOX.sub(
        lambda box: f"{box['said'].strip()} : {'correct' if box['yes'] else 'incorrect'}.\n", text
    )


def _rows(table: re.Match[str]) -> str:
    """Return a table without its header; one row as `header: cell` lines."""
    rows = table[2].strip().split("\n")
    if len(rows) > 1:
        names = table[1].strip().strip("|").replace("|", " ")
        return table[2] if re.search(r"(?i)option|choice|letter", names) else f"{names}\n{table[2]}"
    cells = [
        [cell.strip() for cell in row.strip().strip("|").split("|")] for row in (table[1], rows[0])
    ]
    return "\n".join(f"{name}: {cell}" for name, cell in zip(*cells, strict=False)) + "\n"


def _cells(row: re.Match[str]) -> str:
    """Return a table row as `first cell: second cell: ...`."""
    cells = [cell.strip() for cell in row[1].split("|")]
    return ": ".join(cell for cell in cells if cell)


def own_turn(text: str) -> str:
    """Return the text before the point where the model writes the next question itself."""
    if _FIRST_TURN.match(text):
        return text
    return _ANOTHER_TURN.split(text, maxsplit=1)[0]


@lru_cache(maxsize=1024)  # the options of an item are asked for with every output
def plain_option(text: str) -> str:
    """Return an option's text as it occurs in a plain text: no final full stop, no outer quotes."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return " ".join(_PRIVATE.sub(" ", plain).split()).strip(" .\"'\u201c\u201d")


_OPENED = re.compile(
    r"<think(?:ing)?>|\[THINK\]|\u25c1think\u25b7|<unused94>|<\|begin_of_thought\|>"
    r"|<\|channel\|>(?:analysis|commentary)<\|message\|>",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"</think(?:ing)?>|\[/THINK\]|\u25c1/think\u25b7|<unused95>|<\|end_of_thought\|>"
    r"|<\|channel\|>final",
    re.IGNORECASE,
)


def is_unfinished(raw: str) -> bool:
    """Return whether an output ends inside the model's thinking.

    >>> is_unfinished("<think>Perhaps B"), is_unfinished("<think>Perhaps B</think>C")
    (True, False)
    """
    opened = [match.end() for match in _OPENED.finditer(raw)]
    return bool(opened) and not _CLOSED.search(raw, opened[-1])
