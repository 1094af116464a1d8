"""Converts the cells of a workbook to the text that Excel displays, if that is known."""

import re
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from math import isfinite, nan
from typing import NamedTuple

from study.base.translation import t
from study.tables.columns import Kind, with_decimal_points

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LOCAL_DATE_FORMATS = frozenset((*range(27, 37), *range(50, 59)))
"""Built-in formats of East Asian dates, which have no format code in the file."""

_UNKNOWN_FORMAT = "?"
_GENERAL_FORMATS = frozenset(("general", "standard", "@", ""))
_LITERAL_PATTERN = r'(?:"[^"]*"|[\\_].|[ ()+\-])*'
_PLAIN_FORMAT = re.compile(
    rf"(?P<before>{_LITERAL_PATTERN})(?P<integer>#,##0|[#0]*0|#)(?:\.(?P<places>[0#]+))?"
    rf"(?P<percent>\s?%)?(?P<after>{_LITERAL_PATTERN})"
)
_INVISIBLE_PARTS = re.compile(
    r"\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+|\$-[0-9a-f]+)\]", re.IGNORECASE
)
"""The parts of a format that set a colour or a language."""

_EXACT_LIMIT = 10**15
"""Excel keeps only 15 digits of a number, so longer IDs are stored rounded."""

_EXACT_CONTEXT = Context(prec=300)
"""Arithmetic with more digits than any format displays."""

_MIN_PLAIN, _MAX_PLAIN = 1e-4, 1e11
"""The range in which Excel displays numbers with decimals without an exponent."""


class Cell(NamedTuple):
    """A cell as it is stored in the file.

    Attributes
    ----------
    type : str
        The type in the file format: `n` (number), `s` (text), `b` (truth value), `e` (error) or `d`
        (date); or `f` for a formula without a result.
    value : str
        The text, or the number as written in the file.
    format : str
        The number format, such as `0%`.
    from_1904 : bool
        Whether dates count from 1904.
    """

    type: str = "s"
    value: str = ""
    format: str = ""
    from_1904: bool = False


class NotDisplayed(ValueError):
    """It is unknown what Excel displays in a cell; the message describes the cell's content."""


def unescape(text: str) -> str:
    r"""Replace the escapes that workbooks use for control characters.

    >>> unescape("B_x000D_"), unescape("_x005F_x000D_")
    ('B\r', '_x000D_')
    """
    if "_x" not in text:
        return text
    decoded = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return decoded.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def format_of(number: int, codes: dict[int, str]) -> str:
    """Return the code of a number format, which is defined in the workbook or built in."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS  # takes a tenth of a second to import

    if number in codes:
        return codes[number]
    return str(
        BUILTIN_FORMATS.get(number, "d" if number in _LOCAL_DATE_FORMATS else _UNKNOWN_FORMAT)
    )


def text_of(cell: Cell, kind: Kind) -> str:
    """Return a cell as text, according to the kind of its column.

    Raises
    ------
    NotDisplayed
        It is unknown what Excel displays, or a formula has no result; never raised for `Kind.ANY`.
    """
    if cell.type == "s":
        if kind is Kind.TEXT and not _displays_text(cell.format):
            raise NotDisplayed(t("text in the format {code}", code=cell.format))
        return with_decimal_points(cell.value) if kind is Kind.NUMBER else cell.value
    if cell.type == "b":
        return "TRUE" if cell.value.strip() in ("1", "true") else "FALSE"
    if cell.type in "ef":
        return _text_without_result(cell, kind)
    if kind in (Kind.NUMBER, Kind.DATE):
        return _full_text(cell)
    try:
        return _displayed_text(cell)
    except NotDisplayed:
        if kind is Kind.ANY:
            return _full_text(cell)
        raise


def _displays_text(code: str) -> bool:
    """Return whether a format displays text unchanged; its fourth section applies to text.

    >>> _displays_text("0.00"), _displays_text('"Option "@'), _displays_text(";;;")
    (True, False, False)
    """
    if code.lower() in _GENERAL_FORMATS or ("@" not in code and ";" not in code):
        return True
    sections = _INVISIBLE_PARTS.sub("", code).split(";")
    has_section = len(sections) > 3 or "@" in sections[-1]
    return not has_section or sections[-1].lower() in ("@", "general")


def _text_without_result(cell: Cell, kind: Kind) -> str:
    if kind is Kind.ANY:
        return cell.value
    if cell.type == "e":
        raise NotDisplayed(t("the error {error}", error=cell.value))
    raise NotDisplayed(t("a formula without a saved result"))


def _full_text(cell: Cell) -> str:
    """Return a number with all its digits, or a date in ISO format."""
    try:
        moment = _moment(cell)
        if moment is not None:
            return str(moment).removesuffix(" 00:00:00")
        number = _number(cell)
    except NotDisplayed:
        return cell.value
    is_exact = number.is_integer() and abs(number) < _EXACT_LIMIT
    return str(int(number)) if is_exact else repr(number)


def _displayed_text(cell: Cell) -> str:
    if (moment := _moment(cell)) is not None:
        if isinstance(moment, timedelta):
            raise NotDisplayed(t("a duration"))
        if isinstance(moment, time):
            raise NotDisplayed(t("a time of day"))
        raise NotDisplayed(t("a date ({date})", date=str(moment).removesuffix(" 00:00:00")))
    number = _number(cell)
    if abs(number) >= _EXACT_LIMIT:
        raise NotDisplayed(t("a number of more than 15 digits, which Excel rounds"))
    return _format_number(number, cell.format)


def _number(cell: Cell) -> float:
    try:
        number = float(cell.value)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise NotDisplayed(t("an unreadable number"))
    return number


def _moment(cell: Cell) -> datetime | time | timedelta | None:
    """Return the date, time or duration in a cell; None if the cell contains a number."""
    from openpyxl.styles.numbers import is_date_format, is_timedelta_format
    from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel, from_ISO8601

    try:
        if cell.type == "d":
            moment = from_ISO8601(cell.value)
        elif cell.format.lower() in _GENERAL_FORMATS or not is_date_format(cell.format):
            return None
        else:
            moment = from_excel(
                float(cell.value),
                MAC_EPOCH if cell.from_1904 else WINDOWS_EPOCH,
                timedelta=is_timedelta_format(cell.format),
            )
    except (ValueError, OverflowError, TypeError):
        raise NotDisplayed(t("an unreadable date")) from None
    if isinstance(moment, datetime | time | timedelta):
        return moment
    return datetime.combine(moment, time(0))


def _format_number(number: float, code: str) -> str:
    """Return a number as a format displays it.

    >>> _format_number(0.55, "0%"), _format_number(12, "0000"), _format_number(-1234.5, "#,##0.0")
    ('55%', '0012', '-1,234.5')
    """
    if code.lower() in _GENERAL_FORMATS:
        return _format_general(number)
    sections = _INVISIBLE_PARTS.sub("", code).split(";")
    section, shown = sections[0], number
    if number < 0 and len(sections) > 1:
        section, shown = sections[1], -number
    elif number == 0 and len(sections) > 2:
        section = sections[2]
    if section.lower() == "general":
        return _format_general(shown)
    match = _PLAIN_FORMAT.fullmatch(section)
    if match is None:
        raise NotDisplayed(t("a number in the format {code}", code=code or _UNKNOWN_FORMAT))
    figures = _format_digits(abs(shown), match)
    sign = "-" if shown < 0 and any(figure in figures for figure in "123456789") else ""
    return f"{sign}{_literal_text(match['before'])}{figures}{_literal_text(match['after'])}".strip()


def _format_digits(number: float, match: re.Match[str]) -> str:
    places, integer = match["places"] or "", match["integer"]
    exact = Decimal(repr(number)) * (100 if match["percent"] else 1)
    rounded = exact.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP, _EXACT_CONTEXT)
    digits, _, decimals = f"{rounded:f}".partition(".")
    optional = len(places) - len(places.rstrip("#"))
    least = len(decimals) - optional
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    digits = digits.lstrip("0").rjust(integer.replace(",", "").count("0"), "0")
    if "," in integer:
        digits = f"{int(digits):,}"
    point = "." if places else ""
    return f"{digits}{point}{decimals}{match['percent'] or ''}"


def _format_general(number: float) -> str:
    """Return a number as the format General displays it in a sufficiently wide column.

    >>> _format_general(0.1 + 0.2), _format_general(1 / 3), _format_general(12.0)
    ('0.3', '0.333333333', '12')
    """
    if number.is_integer():
        return str(int(number))
    if not _MIN_PLAIN <= abs(number) < _MAX_PLAIN:
        raise NotDisplayed(t("a number in scientific notation"))
    n_digits = len(str(int(abs(number))))
    exact = Decimal(repr(number)).quantize(Decimal(1).scaleb(n_digits - 10), ROUND_HALF_UP)
    return f"{exact:f}".rstrip("0").rstrip(".") if "." in f"{exact:f}" else f"{exact:f}"


def _literal_text(text: str) -> str:
    """Return the characters that a part of a format displays literally; `_x` is a space."""

    def character(match: re.Match[str]) -> str:
        return match[1] or match[2] or (" " if match[3] else "")

    return re.sub(r'"([^"]*)"|\\(.)|_(.)', character, text)
