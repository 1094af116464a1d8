"""Parses answers in tags, boxes, JSON and Python literals.

Each answer is replaced by one character that encodes the option.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Set

from study.models.answer_mentions import UNCLEAR, marker
from study.tables.columns import plain_key

Content = Callable[[str], Set[str]]
"""Returns the letters stated as the answer in a tag, a box or a JSON value."""

_MAX_LITERAL = 1000  # characters
_MOST_OBJECTS = 100
_TAG_NAME = (
    r"(?:(?:final|my|selected|chosen|best|model)[_-]?)?(?:ans(?:wer)?|choice|option|selection|letter)"
    r"|conclusion|final|selected|response|pick|decision|verdict"
    r"|prediction|diagnosis|result|output|respuesta|antwort|r[e\u00e9]ponse|risposta|resposta"
)
_TAGGED = re.compile(
    rf"[<\[]((?:{_TAG_NAME}))(?:\s[^<>\]]*)?[>\]](?:(.{{0,2000}}?)[<\[]/\1[>\]]|(.{{0,200}})\Z)",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(
    rf"<(?:{_TAG_NAME})\b[^<>]*?\b(?:id|letter|value|key|choice|option|answer|label|name)\s*=\s*"
    r"[\"']?([^\"'<>]{1,80}?)[\"']?(?:\s[^<>]*)?/?>(?:[^<]{0,200}</\w+>)?",
    re.IGNORECASE,
)
_CSV_ROW = re.compile(r"(\w+(?:,\w+)+)\n([^\n]+)\s*")
_BOXED = re.compile(r"\\f?boxed\s*\{((?:[^{}]|\{[^{}]*\}){0,500})\}")
_JSON_VALUE = re.compile(r'"(\w+)"\s*:\s*(?:"([^"\n]*)"|([A-Za-z])\s*(?=[,}\n]))')
_ANSWER_KEY = re.compile(
    r"(?:final|revised|corrected|updated|selected|correct|chosen|predicted|best|my|model|your|the|mcq|overall|single)*"
    r"(?:answers?|respuesta|antwort|r[e\u00e9]ponse|risposta|resposta|option|choice|prediction"
    r"|letter|selection|decision|pred|verdict|ans|\u7b54\u6848|\u56de\u7b54|\u7b54\u3048"
    r"|\u6b63\u7b54|\ub2f5|\uc815\ub2f5|\u043e\u0442\u0432\u0435\u0442)+"
    r"(?:letter|choice|option|id|value|is|key|index)?\d?"
    r"|(?:mcq|predicted|pred|final|selected|chosen|model)(?:answer|option|choice)?label|selected|chosen|picked|pick|final|revised|corrected|correct"
)
_POSSIBLE_KEY = re.compile(
    r"response|result|output|(?:answer|option|choice)?(?:label|text)|(?:final)?diagnosis|finding"
    r"|conclusion|classification"
)
_QUESTION_KEYS = re.compile(
    r"question|prompt|option|choice|task|instruct|label|truth|gold|reason", re.I
)
_OTHERS_KEYS = re.compile(
    r"example|sample|template|schema|previous|prior|draft|user|human|truth", re.I
)
_REASON_KEYS = re.compile(r"reason|rationale|explanation|justification|analysis|thought", re.I)
_CONCLUDED = re.compile(
    r"\b[A-Z]\W+(?:is|must be)\W+(?:\w+\W+)?(?:correct|right|answer)|answer", re.I
)
_WEAK_KEY = re.compile(r"(?:answer|option|choice)?(?:text|label)")
_OPTION_KEYS = ("id", "letter", "option", "label", "key", "choice", "name", "answer")
_VERDICT_KEYS = re.compile(
    r"(?:is)?(?:correct|selected|answer|chosen|true|present|verdict|status|checked|supported"
    r"|valid|match|assessment|evaluation|judg\w*)"
)


def with_structures(text: str, content: Content) -> str:
    """Return a plain text with one character for each answer in a tag, a box or JSON."""
    attributes = list(_ATTRIBUTE.finditer(text))
    if len(attributes) == 1 or len({record[1] for record in attributes}) == 1:
        text = _ATTRIBUTE.sub(lambda match: _final_mark(content(match[1])), text)
    if (row := _CSV_ROW.fullmatch(text)) and len(row[1].split(",")) == len(row[2].split(",")):
        cells = dict(zip(row[1].split(","), row[2].split(","), strict=True))
        text = (
            "".join(
                _final_mark(content(c))
                for n, c in cells.items()
                if _ANSWER_KEY.fullmatch(plain_key(n))
            )
            or text
        )
    text = _TAGGED.sub(lambda match: _final_mark(content(match[2] or match[3] or "")), text)
    text = _BOXED.sub(lambda match: _box_mark(match[1], content), text)
    return _with_objects(text, content)


def _final_mark(letters: Set[str]) -> str:
    """Return the mark for a final answer."""
    return f" {marker('final', next(iter(letters)) if len(letters) == 1 else UNCLEAR)} "


def _box_mark(inside: str, content: Content) -> str:
    """Return the mark for the content of a box; a formula is not an answer."""
    letters = content(_BOXED.sub(r"\1", inside))
    return _final_mark(letters) if letters else " "


def _with_objects(text: str, content: Content) -> str:
    """Return a text with one character for each answer in its JSON."""
    if text.startswith("["):
        value, end = _parse_value(text, 0)
        if isinstance(value, list) and value and end == len(text):
            if lines := _verdict_lines(value):
                return lines
            return "".join(_final_mark(content(answer)) for answer in _text_values(value))
    if text.startswith("{") and not isinstance(_parse_value(text, 0)[0], dict):
        cut_off = [
            match[2] or match[3]
            for match in _JSON_VALUE.finditer(text)
            if _ANSWER_KEY.fullmatch(plain_key(match[1]))
        ]
        if cut_off:
            return "".join(_final_mark(content(answer)) for answer in cut_off)
    result, at = "", 0
    for _ in range(_MOST_OBJECTS):
        begin = text.find("{", at)
        if begin < 0:
            break
        value, end = _parse_value(text, begin)
        result += text[at:begin]
        if isinstance(value, dict):
            result += " " + "".join(_marks_of_answers(value, content))
        else:
            result += text[begin:end]
        at = end
    return result + text[at:]


def _marks_of_answers(record: dict[object, object], content: Content) -> Iterator[str]:
    """Yield the marks for the answers in a JSON object, under its most specific keys."""
    marks = [_final_mark(content(value)) for value in _answer_values(record, _ANSWER_KEY)]
    if marks:
        marks += [_final_mark(letters) for letters in _letters_in_reasons(record, content)]
    weak = _POSSIBLE_KEY if not marks else _WEAK_KEY
    for value in _answer_values(record, weak):
        letters = content(value)
        if letters and UNCLEAR not in letters:
            marks.append(_final_mark(letters))
    if not marks:
        marks = [_verdict_lines(record)]
        texts = [
            value
            for key, value in record.items()
            if isinstance(value, str) and len(value) > 1 and not _QUESTION_KEYS.search(str(key))
        ]
        certain = [
            letters
            for value in texts
            if len(letters := content(value)) == 1 and UNCLEAR not in letters
        ]
        if not marks[0] and len(certain) == 1:
            marks = [_final_mark(certain[0])]
    yield from marks


def _letters_in_reasons(record: dict[object, object], content: Content) -> Iterator[Set[str]]:
    """Yield the letters that the reasons in a JSON object call the answer."""
    for key, value in record.items():
        if isinstance(value, str) and _REASON_KEYS.search(str(key)):
            letters = content(value)
            if len(letters) == 1 and UNCLEAR not in letters and _CONCLUDED.search(value):
                yield letters


def _verdict_lines(record: object) -> str:
    """Return lines such as `A: false` for JSON with a verdict on each option."""
    lines: list[str] = []
    if isinstance(record, dict):
        keys = [key for key in record if re.fullmatch(r"(?:option[ _]?)?[A-Z]", str(key), re.I)]
        if len(keys) < 2 and all(isinstance(value, bool) for value in record.values()):
            keys = list(record)
        if len(keys) > 1:
            for key in keys:
                name = re.sub(r"(?i)\Aoption[ _]?(?=[A-Z]\Z)", "", str(key))
                lines.append(
                    f"{name.upper() if len(name) == 1 else name}: {_verdict_word(record[key])}."
                )
        else:
            for key, value in record.items():
                if (
                    plain_key(str(key)) not in ("options", "choices")
                    and isinstance(value, dict | list)
                    and (inside := _verdict_lines(value))
                ):
                    return inside
    elif isinstance(record, list):
        for value in record:
            if not isinstance(value, dict):
                return ""
            name = next((value[key] for key in _OPTION_KEYS if isinstance(value.get(key), str)), "")
            flag = [v for key, v in value.items() if _VERDICT_KEYS.fullmatch(plain_key(str(key)))]
            flag = [v for v in flag if v != name]
            if not name or len(flag) != 1:
                return ""
            lines.append(f"{name}: {_verdict_word(flag[0])}.")
    value = any(re.search(r":\s*\w", line) for line in lines)
    return "\n" + "\n".join(lines) + "\n" if value and len(lines) > 1 else ""


def _verdict_word(value: object) -> str:
    if isinstance(value, dict):
        flag = [v for key, v in value.items() if _VERDICT_KEYS.fullmatch(plain_key(str(key)))]
        value = flag[0] if len(flag) == 1 else None
    if isinstance(value, bool):
        return "correct" if value else "incorrect"
    return value if isinstance(value, str) else ""


def _parse_value(text: str, at: int) -> tuple[object, int]:
    """Return the JSON or Python value at a position of a text and its end."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        end = text.find("]" if text[at] == "[" else "}", at) + 1
    try:
        return ast.literal_eval(text[at : end or len(text)][:_MAX_LITERAL]), end or at + 1
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None, at + 1


def _answer_values(record: dict[object, object], keys: re.Pattern[str]) -> Iterator[str]:
    for key, value in record.items():
        if isinstance(value, bool) and key == "correct":
            continue
        if isinstance(key, str) and keys.fullmatch(plain_key(key)):
            yield from _text_values(value, keys)
        elif isinstance(value, dict) and not _OTHERS_KEYS.search(str(key)):
            yield from _answer_values(value, keys)


def _text_values(value: object, keys: re.Pattern[str] = _ANSWER_KEY) -> Iterator[str]:
    if isinstance(value, list):
        for item in value or [None]:
            yield from _text_values(item, keys)
    elif isinstance(value, dict):
        inner = list(_answer_values(value, keys)) or list(_answer_values(value, _POSSIBLE_KEY))
        yield from inner or [json.dumps(value, default=str)]
    else:
        yield value if isinstance(value, str) else json.dumps(value, default=str)
