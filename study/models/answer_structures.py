"""Reads answers given in a structure: a tag, a box, JSON or a Python literal.

Each becomes one character in the text that says which option is meant.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Set

from study.models.answer_mentions import UNCLEAR, marker
from study.tables.columns import plain_key

Content = Callable[[str], Set[str]]
"""Returns the letters that the content of a tag, a box or a JSON value answers with."""

_REACH = 1000  # characters of a Python literal
_MOST_OBJECTS = 100
_NAME = (
    r"(?:final_?)?ans(?:wer)?|conclusion|choice|option|final|selection|selected|letter|response"
    r"|prediction|diagnosis|result|output|respuesta|antwort|r[e\u00e9]ponse|risposta|resposta"
)
_TAGGED = re.compile(
    rf"[<\[]((?:{_NAME}))(?:\s[^<>\]]*)?[>\]](?:(.{{0,2000}}?)[<\[]/\1[>\]]|(.{{0,200}})\Z)",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(
    rf"<(?:{_NAME})\b[^<>]*?\b(?:id|letter|value|key|choice|option|answer|label|name)\s*=\s*"
    r"[\"']?([^\"'<>]{1,80}?)[\"']?(?:\s[^<>]*)?/?>(?:[^<]{0,200}</\w+>)?",
    re.IGNORECASE,
)
_ROW = re.compile(r"(\w+(?:,\w+)+)\n([^\n]+)\s*")
_BOXED = re.compile(r"\\f?boxed\s*\{((?:[^{}]|\{[^{}]*\}){0,500})\}")
_JSON_VALUE = re.compile(r'"(\w+)"\s*:\s*(?:"([^"\n]*)"|([A-Za-z])\s*(?=[,}\n]))')
_ANSWER_KEY = re.compile(
    r"(?:final|revised|corrected|updated|selected|correct|chosen|predicted|best|my|model|your|the|mcq|overall|single)*"
    r"(?:answers?|respuesta|antwort|r[e\u00e9]ponse|risposta|resposta|option|choice|prediction"
    r"|letter|selection|decision|pred|verdict|ans|\u7b54\u6848|\u56de\u7b54|\u7b54\u3048"
    r"|\u6b63\u7b54|\ub2f5|\uc815\ub2f5|\u043e\u0442\u0432\u0435\u0442)+"
    r"(?:letter|choice|option|id|value|is|key|index)?\d?|selected|chosen|picked|pick|final|revised|corrected|correct"
)
_MAYBE_KEY = re.compile(
    r"response|result|output|(?:answer|option|choice)?(?:label|text)|(?:final)?diagnosis|finding"
    r"|conclusion|classification"
)
_ASKED = re.compile(r"question|prompt|option|choice|task|instruct|label|truth|gold|reason", re.I)
_NOT_OWN = re.compile(r"example|sample|template|schema|previous|prior|draft|user|human|truth", re.I)
_WEAK_KEY = re.compile(r"(?:answer|option|choice)(?:text|label)")
_NAMES = ("id", "letter", "option", "label", "key", "choice", "name", "answer")
_FLAGS = re.compile(
    r"(?:is)?(?:correct|selected|answer|chosen|true|present|verdict|status|checked|supported"
    r"|valid|match|assessment|evaluation|judg\w*)"
)


def with_structures(text: str, content: Content) -> str:
    """Return a plain text with one character for each answer in a tag, a box or JSON."""
    attributes = list(_ATTRIBUTE.finditer(text))
    if len(attributes) == 1 or len({found[1] for found in attributes}) == 1:
        text = _ATTRIBUTE.sub(lambda found: _final(content(found[1])), text)
    if (row := _ROW.fullmatch(text)) and len(row[1].split(",")) == len(row[2].split(",")):
        cells = dict(zip(row[1].split(","), row[2].split(","), strict=True))
        text = (
            "".join(
                _final(content(c)) for n, c in cells.items() if _ANSWER_KEY.fullmatch(plain_key(n))
            )
            or text
        )
    text = _TAGGED.sub(lambda found: _final(content(found[2] or found[3] or "")), text)
    text = _BOXED.sub(lambda found: _boxed(found[1], content), text)
    return _with_objects(text, content)


def _final(letters: Set[str]) -> str:
    """Return the mark of what is given as the final answer."""
    return f" {marker('final', next(iter(letters)) if len(letters) == 1 else UNCLEAR)} "


def _boxed(inside: str, content: Content) -> str:
    """Return the mark of what is in a box; a formula is no answer."""
    letters = content(_BOXED.sub(r"\1", inside))
    return _final(letters) if letters else " "


def _with_objects(text: str, content: Content) -> str:
    """Return a text with one character for each answer that JSON in it gives."""
    if text.startswith("["):
        found, end = _object(text, 0)
        if isinstance(found, list) and found and end == len(text):
            if lines := _verdicts(found):
                return lines
            return "".join(_final(content(said)) for said in _values(found))
    if text.startswith("{") and not isinstance(_object(text, 0)[0], dict):
        cut_off = [
            match[2] or match[3]
            for match in _JSON_VALUE.finditer(text)
            if _ANSWER_KEY.fullmatch(plain_key(match[1]))
        ]
        if cut_off:
            return "".join(_final(content(said)) for said in cut_off)
    made, at = "", 0
    for _ in range(_MOST_OBJECTS):
        begin = text.find("{", at)
        if begin < 0:
            break
        found, end = _object(text, begin)
        made += text[at:begin]
        if isinstance(found, dict):
            made += " " + "".join(_answers_marked(found, content))
        else:
            made += text[begin:end]
        at = end
    return made + text[at:]


def _answers_marked(found: dict[object, object], content: Content) -> Iterator[str]:
    """Yield the marks of the answers in a JSON object, from the surest keys there are."""
    marks = [_final(content(said)) for said in _answers(found, _ANSWER_KEY)]
    weak = _MAYBE_KEY if not marks else _WEAK_KEY
    for said in _answers(found, weak):
        letters = content(said)
        if letters and UNCLEAR not in letters:
            marks.append(_final(letters))
    if not marks:
        marks = [_verdicts(found)]
        texts = [
            said
            for key, said in found.items()
            if isinstance(said, str) and len(said) > 1 and not _ASKED.search(str(key))
        ]
        sure = [one for said in texts if len(one := content(said)) == 1 and UNCLEAR not in one]
        if not marks[0] and len(sure) == 1:
            marks = [_final(sure[0])]
    yield from marks


def _verdicts(found: object) -> str:
    """Return lines such as `A: false` for JSON that says something of each option."""
    lines: list[str] = []
    if isinstance(found, dict):
        keys = [key for key in found if re.fullmatch(r"(?:option[ _]?)?[A-Z]", str(key), re.I)]
        if len(keys) < 2 and all(isinstance(said, bool) for said in found.values()):
            keys = list(found)
        if len(keys) > 1:
            for key in keys:
                name = re.sub(r"(?i)\Aoption[ _]?(?=[A-Z]\Z)", "", str(key))
                lines.append(f"{name.upper() if len(name) == 1 else name}: {_word(found[key])}.")
        else:
            for key, said in found.items():
                if (
                    plain_key(str(key)) not in ("options", "choices")
                    and isinstance(said, dict | list)
                    and (inside := _verdicts(said))
                ):
                    return inside
    elif isinstance(found, list):
        for said in found:
            if not isinstance(said, dict):
                return ""
            name = next((said[key] for key in _NAMES if isinstance(said.get(key), str)), "")
            flag = [v for key, v in said.items() if _FLAGS.fullmatch(plain_key(str(key)))]
            flag = [v for v in flag if v != name]
            if not name or len(flag) != 1:
                return ""
            lines.append(f"{name}: {_word(flag[0])}.")
    said = any(re.search(r":\s*\w", line) for line in lines)
    return "\n" + "\n".join(lines) + "\n" if said and len(lines) > 1 else ""


def _word(value: object) -> str:
    if isinstance(value, dict):
        flag = [v for key, v in value.items() if _FLAGS.fullmatch(plain_key(str(key)))]
        value = flag[0] if len(flag) == 1 else None
    if isinstance(value, bool):
        return "correct" if value else "incorrect"
    return value if isinstance(value, str) else ""


def _object(text: str, at: int) -> tuple[object, int]:
    """Return the JSON or Python value at a place of a text, and where it ends."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        end = text.find("]" if text[at] == "[" else "}", at) + 1
    try:
        return ast.literal_eval(text[at : end or len(text)][:_REACH]), end or at + 1
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None, at + 1


def _answers(found: dict[object, object], keys: re.Pattern[str]) -> Iterator[str]:
    for key, said in found.items():
        if isinstance(said, bool) and key == "correct":
            continue
        if isinstance(key, str) and keys.fullmatch(plain_key(key)):
            yield from _values(said, keys)
        elif isinstance(said, dict) and not _NOT_OWN.search(str(key)):
            yield from _answers(said, keys)


def _values(said: object, keys: re.Pattern[str] = _ANSWER_KEY) -> Iterator[str]:
    if isinstance(said, list):
        for item in said or [None]:
            yield from _values(item, keys)
    elif isinstance(said, dict):
        inner = list(_answers(said, keys)) or list(_answers(said, _MAYBE_KEY))
        yield from inner or [json.dumps(said, default=str)]
    else:
        yield said if isinstance(said, str) else json.dumps(said, default=str)
