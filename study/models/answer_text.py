"""Reduces a model's raw output to plain text: no thinking, chat template, markup or emoji."""

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
_TEMPLATE_TOKEN = re.compile(
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
_ROLE_LABEL = re.compile(r"\A\s*(?:assistant|model)\s*(?::|\n)", re.IGNORECASE)
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
_PRIVATE_USE = re.compile(r"[\ue000-\uf8ff]")  # marks mentions of options in `answer_mentions`
_LATEX_COMMAND = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|textsf)\s*\{([^{}]*)\}|\\[,;:! ]"
)
_MARKUP = re.compile(
    r"\*+|`+|__|\$|\\[()\[\]]"
    r"|(?<=\s)[:;]-?[()DP](?=\s|\Z)|[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]"
)
_STRUCK_THROUGH = re.compile(r"~~[^~\n]{1,500}~~|<(s|del)>[^<\n]{1,500}</\1>")
_QUOTED = re.compile(r"(?m)^[ \t]*>[ \t]+\w+[ \t]+\w+[ \t]+\S.*$")
_LETTER_WITH_MARK = re.compile(
    r"(?<![^\s-])([A-Z][ \t]*[\u2705\u2713\u2714\u2611\u274c\u274e\u2717\u2718])[ \t]+(?=[A-Z]\b)"
)
_PLUS_OR_MINUS = re.compile(r"(?m)^[ \t]*([A-Z])[.):]?[ \t]*([+\u2212\u2013-])[ \t]*$")
_CODE_FENCE = re.compile(r"^[ \t]*```[\w+-]*[ \t]*$", re.MULTILINE)
_LINE_PREFIX = re.compile(r"^[ \t]*(?:#+|>+(?![ \t]*\d)|=>|->|[-\u2022])[ \t]+", re.MULTILINE)
_CHECKS = "\u2611\u2705\u2713\u2714\u25c9\u25cf\U0001f518\U0001f7e2"
_CROSSES = "\u2610\u25a1\u2b1c\u25ef\u25cb\u26aa\U0001f534\u274c\u2717\u2718"
_CHECKBOX = re.compile(
    rf"(?:(?P<yes>[{_CHECKS}]\ufe0f?|[(\[][ \t]*[xX\u2713\u2714\u2022\u25cf*][ \t]*[)\]])"
    rf"|(?P<no>[{_CROSSES}]\ufe0f?|\([ \t]*\)|\[[ \t]*\]))[ \t]*"
    rf"(?P<entry>[^\n{_CHECKS}{_CROSSES}(\[]*(?:\((?![ \t]*[xX\u2022\u25cf*]?[ \t]*\))[^\n(\["
    rf"{_CHECKS}{_CROSSES}]*)*)"
)
_CHECKBOX_FIRST = re.compile(
    rf"(?m)^[ \t]*(?:[-*+\u2022]|\d+[.)])?[ \t]*(?=[{_CHECKS}{_CROSSES}]|[(\[][ \t]*[xX\u2713"
    r"\u2714\u2022\u25cf*]?[ \t]*[)\]])"
)
_ONE_CHECK = re.compile(rf"(?m)^[ \t]*[{_CHECKS}]\ufe0f?[ \t]*(?=\w)")
_CHECKBOX_AFTER = re.compile(
    rf"([^\s{_CHECKS}{_CROSSES}][^\n{_CHECKS}{_CROSSES}]*?)[ \t]*([\u2611\u2610])"
)
_CODE_COMMENT = re.compile(r"(?m)(?<=[\"'\w;)])[ \t]+(?:#|//)[ \t].*$")
_TABLE_WITH_HEADER = re.compile(
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
_QUESTION_MARK_FIRST = re.compile(r"(?m)^[ \t]*\?[ \t]*(?=\w)")
_NEGATION_SIGN = re.compile(r"(?:(?<=\s)|(?<=\A))[\u00ac!][ \t]*(?=\(?[A-Z]\b)")
_SUMMARY = re.compile(r"\btl; ?dr\b", re.IGNORECASE)
_QUESTION_LABEL = re.compile(r"(?m)(?:^|\s)Q:\s")
_ANSWER_LABEL = re.compile(r"(?<=\s)A:\s*\Z")
_THERE_IS = re.compile(r"\b(there)'s\b", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|approx|fig|dr|al)\.(?=\s|,)", re.IGNORECASE)


def without_thinking(raw: str) -> str:
    """Return an output without thinking and chat template tokens."""
    text = _UNFINISHED_CHANNEL.sub("", _CHANNEL.sub("", _without_prompt(raw)))
    text = _THINKING.sub("\n", text)
    return _TEMPLATE_TOKEN.sub(
        "", _ROLE_LABEL.sub("", _TEMPLATE_TOKEN.sub("", _END_OF_TURN.sub("", text)))
    )


def _without_prompt(raw: str) -> str:
    """Remove the prompt from the start of an output if it contains exactly one user message."""
    prompt = _PROMPT.match(raw)
    return raw[prompt.end() :] if prompt and len(_USER_TURN.findall(raw)) == 1 else raw


def plain_text(raw: str) -> str:
    r"""Return an output as plain text that can be searched for `plain_option` texts.

    >>> plain_text("<think>A?</think>**Answer:** $\\text{Ｂ}$")
    'Answer: B'
    """
    text = _STRUCK_THROUGH.sub(" ", _QUOTED.sub("", _CODE_FENCE.sub("", without_thinking(raw))))
    if len(re.findall(f"[{_CHECKS}{_CROSSES}]", text)) == 1:
        text = _ONE_CHECK.sub("", text)
    text = _ARROW.sub(" \u2192 ", text)
    text = _TABLE_WITH_HEADER.sub(_table_rows, _spell_out_checkboxes(_CODE_COMMENT.sub("", text)))
    if len(_PLUS_OR_MINUS.findall(text)) > 1:
        text = _PLUS_OR_MINUS.sub(
            lambda match: match[1] + (": correct" if match[2] == "+" else ": incorrect"), text
        )
    text = _LETTER_WITH_MARK.sub(r"\1\n", text).translate(_CHARACTERS)
    text = unicodedata.normalize("NFKC", text).translate(_CHARACTERS)
    text = _MARKUP.sub("", _LATEX_COMMAND.sub(r"\1", _PRIVATE_USE.sub(" ", text)))
    text = _TABLE_ROW.sub(_row_cells, _TABLE_RULE.sub("", _LINE_PREFIX.sub("", text)))
    text = _SNAKE_KEY.sub(lambda key: key[0].replace("_", " "), text)
    text = _INITIALS.sub(
        lambda match: f"{match[1] or match[2]} ",
        _SIGNATURE.sub("", _WRAPPED_ARTICLE.sub("A ", text)),
    )
    text = _QUESTION_MARK_FIRST.sub(
        "query ", _NEGATION_SIGN.sub(" not ", _SUMMARY.sub("tldr", text))
    )
    if _QUESTION_LABEL.search(text):
        text = _ANSWER_LABEL.sub("Answer:", text)
    text = _THERE_IS.sub(r"\1 is", text)
    return _ABBREVIATION.sub(lambda word: word[1].replace(".", ""), text).strip()


def _spell_out_checkboxes(text: str) -> str:
    """Replace the checkboxes in a list by words after its entries."""
    if len(_CHECKBOX.findall(text)) < 2:
        return text
    if not _CHECKBOX_FIRST.search(text):
        return _CHECKBOX_AFTER.sub(
            lambda box: f"{box[1]} : {'correct' if box[2] in _CHECKS else 'incorrect'}.\n",
            text,
        )
    return _CHECKBOX.sub(
        lambda box: f"{box['entry'].strip()} : {'correct' if box['yes'] else 'incorrect'}.\n", text
    )


def _table_rows(table: re.Match[str]) -> str:
    """Return a table without its header; a table with one row becomes `header: cell` lines."""
    rows = table[2].strip().split("\n")
    if len(rows) > 1:
        names = table[1].strip().strip("|").replace("|", " ")
        return table[2] if re.search(r"(?i)option|choice|letter", names) else f"{names}\n{table[2]}"
    cells = [
        [cell.strip() for cell in row.strip().strip("|").split("|")] for row in (table[1], rows[0])
    ]
    return "\n".join(f"{name}: {cell}" for name, cell in zip(*cells, strict=False)) + "\n"


def _row_cells(row: re.Match[str]) -> str:
    """Return a table row as `first cell: second cell: ...`."""
    cells = [cell.strip() for cell in row[1].split("|")]
    return ": ".join(cell for cell in cells if cell)


def own_turn(text: str) -> str:
    """Return the part of a text before the model itself writes the next question."""
    if _FIRST_TURN.match(text):
        return text
    return _ANOTHER_TURN.split(text, maxsplit=1)[0]


@lru_cache(maxsize=1024)  # called for the same options with each output of an item
def plain_option(text: str) -> str:
    """Return an option's text in the form of `plain_text`, without full stop or outer quotes."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return " ".join(_PRIVATE_USE.sub(" ", plain).split()).strip(" .\"'\u201c\u201d")


_THINKING_START = re.compile(
    r"<think(?:ing)?>|\[THINK\]|\u25c1think\u25b7|<unused94>|<\|begin_of_thought\|>"
    r"|<\|channel\|>(?:analysis|commentary)<\|message\|>",
    re.IGNORECASE,
)
_THINKING_END = re.compile(
    r"</think(?:ing)?>|\[/THINK\]|\u25c1/think\u25b7|<unused95>|<\|end_of_thought\|>"
    r"|<\|channel\|>final",
    re.IGNORECASE,
)


def is_unfinished(raw: str) -> bool:
    """Return whether an output ends inside the model's thinking.

    >>> is_unfinished("<think>Perhaps B"), is_unfinished("<think>Perhaps B</think>C")
    (True, False)
    """
    thinking_starts = [match.end() for match in _THINKING_START.finditer(raw)]
    return bool(thinking_starts) and not _THINKING_END.search(raw, thinking_starts[-1])
