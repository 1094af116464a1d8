"""Compares text typed by users, checks names and reasons, and escapes the cells of CSV files.

Strings that look the same compare as equal: `id_key` and `text_key` return the forms to compare.
The original is stored and shown.

A spreadsheet interprets text that begins with certain characters as a formula, which would run on
the computer of the person who opens the file. Such text is prefixed with an apostrophe, unless it
is a plain number. Text in which apostrophes precede such a character gets another apostrophe.
Control characters and characters that change the text direction are written as escapes (`u202e`
after a backslash). Both changes can be reversed exactly.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from study.base.canonical import without_surrogates
from study.base.errors import BadFile, BadInput
from study.base.translation import t, translated

LONGEST_NAME = 100
LONGEST_REASON = 2000
"""Maximum number of characters of a name, and of a reason in the trail."""


def quoted(value: object) -> str:
    r"""Return a value as messages quote it: text in quotation marks, other values as JSON.

    >>> quoted("R1\u200b"), quoted(2.5), quoted(None)
    ('“R1\\u200b”', '2.5', 'null')
    """
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, default=str)
    return t("“{text}”", text=visible(value))


def visible(text: str) -> str:
    r"""Return text with control and invisible characters as escapes.

    >>> visible("a\tb\u200bé")
    'a\\tb\\u200bé'
    """
    return text if text.isprintable() else "".join(map(_escape_if_invisible, text))


def _escape_if_invisible(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def name_fault(name: str) -> str:
    """Return what is wrong with a name, as the end of a sentence; empty if the name is valid.

    >>> name_fault("R1"), name_fault(" R1")
    ('', 'begins or ends with a space')
    """
    if not name.strip():
        return t("is empty")
    if name != name.strip():
        return t("begins or ends with a space")
    if len(name) > LONGEST_NAME:
        return t("has more than {longest} characters", longest=LONGEST_NAME)
    if not name.isprintable():
        return t("contains characters that cannot be printed")
    return ""


def formula_fault(text: str) -> str:
    """Return, as the end of a sentence, why a spreadsheet would take text for a formula, or "".

    Use it for names in lists and tables, which can be refused; other text is escaped.

    >>> formula_fault("resident"), formula_fault("-1")
    ('', '')
    """
    if not _FORMULA.match(text) or _NUMBER.fullmatch(text) or text.startswith("'"):
        return ""
    return t("begins with {sign}, like a spreadsheet formula", sign=text.lstrip()[:1] or text[0])


def check_name(name: str, noun: str) -> None:
    """Refuse a name that could not be distinguished from others on a screen or in a file.

    Raises
    ------
    BadInput
        The name is empty or too long, contains unprintable characters (such as a lone surrogate),
        or begins or ends with a space.
    """
    _check_fault(name, noun, name_fault(name))


def check_code_name(name: str, noun: str) -> None:
    """Refuse an invalid name for a list of codes.

    Raises
    ------
    BadInput
        As for `check_name`, or a spreadsheet would interpret the name as a formula.
    """
    _check_fault(name, noun, name_fault(name) or formula_fault(name))


def _check_fault(name: str, noun: str, fault: str) -> None:
    if fault:
        labels = {
            "bank": t("bank"),
            "model": t("model"),
            "model's version": t("model's version"),
            "person": t("person"),
            "review": t("review"),
            "study": t("study"),
        }
        if not name.strip():
            raise BadInput(
                t("The name of a {what} is empty. Enter a name.", what=labels.get(noun, noun))
            )
        raise BadInput(
            t(
                "The name of a {what} {fault}: {name}. Choose another name.",
                what=labels.get(noun, translated(noun)),
                fault=fault,
                name=quoted(name[:LONGEST_NAME]),
            )
        )


_VISIBLY_DIFFERENT_TAGS = ("<super>", "<sub>", "<fraction>", "<circle>")
"""Decomposition tags of characters that differ visibly from their parts: 10² is not 102."""

_INVISIBLE_CHARACTERS = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2d7f\ufe00-\ufe0f\ufff0-\ufff8"
    r"\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)
"""Characters without a glyph that are neither control nor format characters (Unicode 15)."""

_VISIBLE_CONTROLS = re.compile(
    r"[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\s]"
)
"""Control and format characters that are visible: white space, and marks before Arabic numbers."""

_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u02d7\u05be\u2796", "-"),
        **dict.fromkeys("\u00b4\u2018\u2019\u201a\u201b\u02bc\u2032\u05f3", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u05f4", '"'),
        **dict.fromkeys("\u2044\u2215", "/"),
        **dict.fromkeys("\u2236\ua789", ":"),
        **dict.fromkeys("\u01c0\u2223", "|"),
        **dict.fromkeys("\u00ba\u02da", "\u00b0"),  # degrees
        **dict.fromkeys("\u2027\u2219\u22c5", "\u00b7"),
        **dict.fromkeys("\u2266\u2a7d", "\u2264"),
        **dict.fromkeys("\u2267\u2a7e", "\u2265"),
        **{"\u2217": "*", "\u223c": "~", "\u01c3": "!", "\u2a2f": "\u00d7"},
        **{"\u0251": "a", "\u0261": "g", "\u0555": "O", "\u0585": "o"},
        **{"\u06a9": "\u0643", "\u06cc": "\u064a"},  # Persian kaf and yeh
        **{digit: chr(ord(digit) - 0x90) for digit in "\u06f0\u06f1\u06f2\u06f3\u06f7\u06f8\u06f9"},
        "\u2800": " ",  # Braille without a dot
    }
) | str.maketrans(
    "АВЕКМНОРСТУХЅІЈҮҺѴԀԚԜӀаеорсухѕіјүһѵԁԛԝΑΒΕΖΗΙΚΝΟΡΤΥΧο",
    "ABEKMHOPCTYXSIJYHVDQWIaeopcyxsijyhvdqwABEZHIKNOPTYXo",
)
"""Characters that look like others, with the character that replaces them.

The Greek capital mu is not included, because its small letter is the micro sign.
"""

_GREEK_LOOKALIKES = dict(zip("αβεζηικνρτυχ", "abezhiknptyx", strict=True))
_LOWER_LOOKALIKES: dict[int, int | str] = {
    ord(char): unicodedata.normalize("NFC", _GREEK_LOOKALIKES[parts[0]] + parts[1:])
    for char in map(chr, (*range(0x370, 0x400), *range(0x1F00, 0x2000)))
    if (parts := unicodedata.normalize("NFD", char))[0] in _GREEK_LOOKALIKES
} | str.maketrans("вкмнтӏɑɡ", "bkmhtiag")
"""Small letters whose capitals look like Latin capitals, with the small Latin letters."""


class _Folding(dict[int, str]):
    """Maps each character to its form for comparison, which is computed on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _folded(chr(code))
        return folded


def _folded(char: str) -> str:
    if ord(char) in _LOOKALIKES:
        return char.translate(_LOOKALIKES)
    tag, *codes = unicodedata.decomposition(char).split() or [""]
    if tag and tag not in _VISIBLY_DIFFERENT_TAGS:
        parts = codes if tag.startswith("<") else (tag, *codes)
        return "".join(_folded(chr(int(code, 16))) for code in parts)
    unseen = unicodedata.category(char) in ("Cc", "Cf") and not _VISIBLE_CONTROLS.match(char)
    return "" if unseen or _INVISIBLE_CHARACTERS.match(char) else char


_FOLDING = _Folding()
_MAX_NAMED_CHARACTERS = 3
"""How many of the differing characters a message names."""


def id_key(text: str) -> str:
    """Return the form of an ID or path for comparison; letter case is significant.

    Strings that look alike have the same form. Composed and decomposed characters compare as equal,
    and so do full-width forms, ligatures, the various hyphens, quotation marks and spaces, and
    Cyrillic letters that look like Latin ones. Invisible characters are ignored. Superscripts,
    subscripts, fractions and circled digits remain different.

    >>> id_key("Mu\u0308ller") == id_key("M\u00fcller\u200b"), id_key("A") == id_key("a")
    (True, False)
    >>> id_key("5 cm\u00b2") == id_key("5 cm2")
    False
    """
    if text.isascii():
        if text.isprintable() and "  " not in text:  # the usual case
            return text.strip()
        if not text.isprintable():
            text = text.translate(_FOLDING)
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFC", text.translate(_FOLDING)).split())


def text_key(text: str) -> str:
    """Return the form of a name or option for comparison: like `id_key`, but ignoring letter case.

    The German sharp s differs from ss, and the Turkish dotless i from i, because they form
    different words.

    >>> text_key("Presence  Assessment") == text_key("PRESENCE ASSESSMENT")
    True
    >>> text_key("Ma\u00dfe") == text_key("Masse")
    False
    """
    key = id_key(text).lower()
    return key if key.isascii() else key.translate(_LOWER_LOOKALIKES)


@cache
def forms_for_comparison() -> tuple[tuple[str, str, str], ...]:
    """Return each character that differs from its form, its form in `id_key`, and its small letter.

    Databases that compare text need this list. The first call takes a few tenths of a second.
    """
    return tuple(_forms_that_differ())


def _forms_that_differ() -> Iterator[tuple[str, str, str]]:
    for code in (*range(1, 0x40000), *range(0xE0000, 0xF0000)):  # no other plane has characters
        char = chr(code)
        if unicodedata.category(char) in ("Cn", "Cs", "Co") and not _INVISIBLE_CHARACTERS.match(
            char
        ):
            continue
        lower = char.lower() if char.isascii() else char.lower().translate(_LOWER_LOOKALIKES)
        if (folded := _folded(char)) != char or lower != char:
            yield char, folded, lower


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that is most similar to a misspelt word; empty if none is similar.

    Letter case, hyphens and underscores are ignored.

    >>> nearest("case", ["cases", "seed"]), nearest("Time-Limit", ["time_limit_s"])
    ('cases', 'time_limit_s')
    >>> nearest("zzz", ["cases"])
    ''
    """
    plain = {_spelling_key(word_known): word_known for word_known in reversed(list(known))}
    return next((plain[key] for key in get_close_matches(_spelling_key(word), plain, n=1)), "")


def _spelling_key(word: str) -> str:
    return text_key(word).replace("-", "_").replace(" ", "_")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a space and a question with the most similar known word; empty if none is similar.

    >>> did_you_mean("chst", ["chest", "hands"]), did_you_mean("x", ["chest"])
    (' Did you mean chest?', '')
    """
    match = nearest(word, known)
    return " " + t("Did you mean {nearest}?", nearest=match) if match else ""


def difference(text: str, other: str) -> str:
    r"""Return how two strings with the same form for comparison differ; empty if they are equal.

    >>> difference("Yes", "Yes\u200b"), difference("a  b", "a b"), difference("A", "a")
    ('U+200B zero width space', 'white space', 'letter case')
    """
    first, second = (unicodedata.normalize("NFC", each) for each in (text, other))
    if first == second:
        return t("composed and decomposed characters") if text != other else ""
    if first.lower() == second.lower():
        return t("letter case")
    unusual = [c for c in sorted({*first} ^ {*second}) if c not in " \t\r\n" and id_key(c) != c]
    differences = [
        f"U+{ord(char):04X} {_character_name(char)}".strip()
        for char in unusual[:_MAX_NAMED_CHARACTERS]
    ]
    if id_key(first) != id_key(second):
        differences.append(t("letter case"))
    return ", ".join(differences) or t("white space")


def _character_name(char: str) -> str:
    return unicodedata.name(char, "").lower()


class FirstSpelling(dict[str, str]):
    """Maps every string to the first string with the same comparison key.

    >>> first = FirstSpelling(text_key)
    >>> first["Chest"], first["CHEST"], first["Head"]
    ('Chest', 'Chest', 'Head')
    """

    def __init__(self, key: Callable[[str], str]) -> None:
        super().__init__()
        self._key = key
        self._first: dict[str, str] = {}

    def __missing__(self, text: str) -> str:
        self[text] = first = self._first.setdefault(self._key(text), text)
        return first


_LONGEST_FILE_NAME = 200
"""Length in bytes; file systems allow 255."""


def refuse_empty(name: str, n_bytes: int) -> None:
    """Refuse an uploaded file without content, before its format is checked.

    Raises
    ------
    BadFile
        The file is empty.
    """
    if not n_bytes:
        raise BadFile(t("{name} is empty. Choose another file.", name=name))


def file_name(name: str) -> str:
    r"""Return a valid file name for an uploaded file.

    >>> file_name("C:\\data\\bank.zip"), file_name("../.."), file_name("a\0b")
    ('bank.zip', 'file', 'ab')
    """
    last = re.split(r"[/\\]", without_surrogates(name))[-1]
    printable = "".join(character for character in last if character.isprintable())
    short = printable.encode()[-_LONGEST_FILE_NAME:].decode(errors="ignore")
    return short if short.strip(". ") else "file"


def natural_key(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Return a key for sorting strings in natural order: run 2 before run 10.

    >>> sorted(["run 10", "run 2", "b", "10"], key=natural_key)
    ['10', 'b', 'run 2', 'run 10']
    """
    parts = re.findall(r"\d+|\D+", text)
    return tuple(
        (False, len(part.lstrip("0")), part.lstrip("0")) if part.isdecimal() else (True, 0, part)
        for part in parts
    )


def decode_utf8(data: bytes, *, source: str) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark.

    Raises
    ------
    BadFile
        The file has another encoding.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(
            t(
                "{source} is not encoded in UTF-8. Save it again as UTF-8 (in Excel: “CSV UTF-8”).",
                source=source,
            )
        ) from error


def checked_reason(words: str) -> str:
    r"""Return a reason on one line, in the form in which it is stored.

    Raises
    ------
    BadInput
        The reason is empty, or longer than `LONGEST_REASON`.

    Examples
    --------
    >>> checked_reason(" The film was\n another patient's. ")
    "The film was another patient's."
    """
    reason = " ".join(without_surrogates(words).split())
    if not reason:
        raise BadInput(t("Give a reason: it is recorded permanently in the audit trail."))
    if len(reason) > LONGEST_REASON:
        raise BadInput(t("The reason is longer than {n} characters. Shorten it.", n=LONGEST_REASON))
    return reason


_SIGNS = "=+\\-@|\t\r\n＝＋－＠﹢﹣﹦﹫"
_SPACES = (
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u2d7f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
"""White space and characters without a glyph."""

_FORMULA = re.compile(rf"'*{_SPACES}[{_SIGNS}]")
_GUARDED_CELL = re.compile(rf"'+{_SPACES}[{_SIGNS}]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CONTROLS = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
    r"|\\(?=u[0-9a-f]{4})"
)
"""Characters that control a terminal or the text direction, and a backslash before an escape."""

_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def guard_cell(text: str) -> str:
    r"""Return text as a cell that is not a formula, with control characters as escapes.

    >>> [guard_cell(text) for text in ("=1+1", "'=1+1", " ＝1", "-0.5", "don't")]
    ["'=1+1", "''=1+1", "' ＝1", '-0.5', "don't"]
    >>> guard_cell("a\x1bb\u202ec"), guard_cell(r"\u202e")
    ('a\\u001bb\\u202ec', '\\u005cu202e')
    """
    if _CONTROLS.search(text):
        text = _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguard_cell(cell: str) -> str:
    r"""Return the text from which `guard_cell` made a cell.

    >>> [unguard_cell(cell) for cell in ("'=1+1", "''=1+1", "-0.5", r"a\u001bb")]
    ['=1+1', "'=1+1", '-0.5', 'a\x1bb']
    """
    text = cell[1:] if _GUARDED_CELL.match(cell) else cell
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u" in text else text


_FORMULA_BEFORE = re.compile(r"'*[=+\-@\t\r]")
_FORMER_GUARDED_CELL = re.compile(r"'+[=+\-@\t\r]")


def _guard_cell_as_before(text: str) -> str:
    is_guarded = _FORMULA_BEFORE.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_guarded else text


def _unguard_cell_as_before(cell: str) -> str:
    return cell[1:] if _FORMER_GUARDED_CELL.match(cell) else cell


@dataclass(frozen=True, slots=True)
class CellRules:
    """The functions that convert strings to cells of CSV files and back."""

    write: Callable[[str], str]
    read: Callable[[str], str]


GUARDED_CELLS = CellRules(guard_cell, unguard_cell)
FORMER_GUARDED_CELLS = CellRules(_guard_cell_as_before, _unguard_cell_as_before)
"""The rules in bundles of earlier versions, which guarded fewer characters and had no escapes."""

PLAIN_CELLS = CellRules(str, str)


def csv_bytes(
    names: Sequence[str], rows: Iterable[Sequence[object]], *, rules: CellRules = GUARDED_CELLS
) -> bytes:
    """Return a header and rows as CSV in UTF-8 with line feeds; see `csv_line`."""
    lines = (csv_line(row, rules=rules) for row in (names, *rows))
    return "".join(lines).encode("utf-8", "replace")


def csv_line(cells: Iterable[object], *, rules: CellRules = GUARDED_CELLS) -> str:
    """Return a line of CSV, with None as an empty cell and strings written by `rules`.

    A cell with a comma, a quotation mark, a line feed or a carriage return is quoted. The module
    ``csv`` does not quote a lone carriage return if lines end with a line feed; other programs
    would then split the row.
    """
    return ",".join(_cell(value, rules=rules) for value in cells) + "\n"


def _cell(value: object, *, rules: CellRules) -> str:
    text = "" if value is None else str(value)
    if isinstance(value, str):
        text = rules.write(text)
    if any(sign in text for sign in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
