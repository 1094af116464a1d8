"""Text that people type: names and when two are one, reasons, and cells of the CSV it ends in.

Spreadsheets take text that begins with one of a few signs for a formula, and what a reader typed
would run on the computer of whoever opens the file. Such text gets an apostrophe before it, unless
it is a plain number; text that begins with apostrophes and then such a sign gets one more. Taking
one away where one was put gives the text as it was, whatever it was.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from study.base.canonical import without_surrogates
from study.base.errors import BadFile, BadInput
from study.base.translation import said, t

LONGEST = 100
LONGEST_REASON = 2000
"""Characters of a name, and of a reason, which the trail keeps for good."""


def name_fault(name: str) -> str:
    """Return what is wrong with a name, as the end of a sentence; empty where nothing is.

    >>> name_fault("R1"), name_fault(" R1")
    ('', 'begins or ends with a space')
    """
    if not name.strip():
        return t("is empty")
    if name != name.strip():
        return t("begins or ends with a space")
    if len(name) > LONGEST:
        return t("has more than {longest} characters", longest=LONGEST)
    if not name.isprintable():
        return t("contains characters that cannot be printed")
    return ""


def formula_fault(text: str) -> str:
    """Return that a spreadsheet would take text for a formula, as the end of a sentence.

    For what stands in lists and tables and is ours to refuse; other text is written so that it is
    none, see `study.base.text`.

    >>> formula_fault("resident"), formula_fault("-1")
    ('', '')
    """
    if guarded(text) == text or text.startswith("'"):
        return ""
    return t("begins with {sign}, like a spreadsheet formula", sign=text[0])


def check_name(name: str, what: str) -> None:
    """Refuse a name that could not be told from others on a screen or in a file.

    Raises
    ------
    BadInput
        The name is empty, too long, not printable (as a lone surrogate), or has space around it.
    """
    _refuse(name, what, name_fault(name))


def check_code_name(name: str, what: str) -> None:
    """Refuse what somebody is to be called in lists of codes where `check_name` does, or a formula.

    Raises
    ------
    BadInput
        As `check_name` does, or a spreadsheet would take the name for a formula.
    """
    _refuse(name, what, name_fault(name) or formula_fault(name))


def _refuse(name: str, what: str, fault: str) -> None:
    if fault:
        things = {
            "bank": t("bank"),
            "model": t("model"),
            "model's version": t("model's version"),
            "person": t("person"),
            "study": t("study"),
        }
        raise BadInput(
            t(
                "The name of a {what} {fault}: {name!r}. Choose another name.",
                what=things.get(what, said(what)),
                fault=fault,
                name=name[:LONGEST],
            )
        )


def name_key(name: str) -> str:
    """Return what two names have in common that people would take for one.

    >>> name_key("GPT-4V ") == name_key("gpt-4v")
    True
    """
    return unicodedata.normalize("NFKC", name).strip().casefold()


def decoded(data: bytes, *, source: str) -> str:
    """Return the text of a file in UTF-8, with or without its mark.

    Raises
    ------
    BadFile
        It is in another encoding: read as UTF-8 its names would be damaged.
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
    r"""Return a reason on one line, as it is kept.

    Raises
    ------
    BadInput
        It is empty, or longer than `LONGEST_REASON`.

    Examples
    --------
    >>> checked_reason(" The film was\n somebody else's. ")
    "The film was somebody else's."
    """
    reason = " ".join(without_surrogates(words).split())
    if not reason:
        raise BadInput(t("Give a reason: it is recorded permanently in the audit trail."))
    if len(reason) > LONGEST_REASON:
        raise BadInput(t("The reason is longer than {n} characters. Shorten it.", n=LONGEST_REASON))
    return reason


_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def guarded(text: str) -> str:
    """Return text as it stands in a cell.

    >>> guarded("=1+1"), guarded("'=1+1"), guarded("-0.5"), guarded("don't")
    ("'=1+1", "''=1+1", '-0.5', "don't")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Return the text that `guarded` made a cell of.

    >>> unguarded("'=1+1"), unguarded("''=1+1"), unguarded("-0.5"), unguarded("don't")
    ('=1+1', "'=1+1", '-0.5', "don't")
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def csv_bytes(
    names: Sequence[str], rows: Iterable[Sequence[object]], *, guard: bool = True
) -> bytes:
    """Return rows under a header as CSV in UTF-8, each ended by a line feed, see `csv_line`."""
    lines = (csv_line(row, guard=guard) for row in (names, *rows))
    return "".join(lines).encode("utf-8", "replace")


def csv_line(cells: Iterable[object], *, guard: bool = True) -> str:
    """Return one line of CSV, None as an empty cell, texts as `guarded` gives them.

    A cell with a comma, a quotation mark or either sign that ends lines is quoted. The module
    ``csv`` leaves a lone carriage return bare where lines end with a line feed, and so breaks the
    row in two for whoever reads it.
    """
    return ",".join(_cell(value, guard=guard) for value in cells) + "\n"


def _cell(value: object, *, guard: bool) -> str:
    text = "" if value is None else str(value)
    if guard and isinstance(value, str):
        text = guarded(text)
    if any(sign in text for sign in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
