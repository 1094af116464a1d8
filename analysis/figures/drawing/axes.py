"""Axes that figures share, the numbers on them, and the names of raters."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from analysis.bundle.model import Bundle, RaterKind
from analysis.figures.drawing.chart import Axis, Label, Panel, Tick
from analysis.translation import later, localised, t, translated

MAX_LABEL_LENGTH = 28
BIDI_CONTROLS = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
MAX_GROUP_LENGTH = 38


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterName:
    """The displayed name of a rater.

    Parameters
    ----------
    label : str
        The rater's label, or the id.
    simulated : bool
        Whether the answers were simulated, which is shown wherever the rater appears.
    rater_id : str
        Text that replaces the label if the font has no glyphs for it; empty for no replacement.
    """

    label: str
    simulated: bool
    rater_id: str = ""

    @property
    def full(self) -> str:
        """The label with its suffix."""
        return self.label + self.mark

    @property
    def mark(self) -> str:
        """The suffix for a simulated rater, unless the label contains the word."""
        labelled = "simulated" in self.label.lower()
        return t(" (simulated)") if self.simulated and not labelled else ""

    @property
    def in_sentence(self) -> str:
        """The label with its suffix, isolated so that its script does not reverse numbers."""
        return f"\u2068{self.full}\u2069"

    @property
    def on_figure(self) -> Label:
        """The label with its suffix, shortened to fit a figure."""
        otherwise = shorten(self.rater_id, MAX_LABEL_LENGTH) + self.mark if self.rater_id else ""
        return Label(text=shorten(self.label, MAX_LABEL_LENGTH) + self.mark, fallback=otherwise)


def rater_names(bundle: Bundle) -> dict[str, RaterName]:
    """Return every rater's name by `rater_id`."""
    simulated = bundle.simulated
    return {
        rater: RaterName(label=label, simulated=rater in simulated, rater_id=rater)
        for rater, label in bundle.labels.items()
    }


CONDITIONS = {
    "unaided": later("unaided"),
    "aided": later("aided"),
    "image-absent": later("image-absent"),
    "open-ended": later("open-ended"),
}
"""Conditions whose names are translated; the names of other conditions are free text."""


def condition_name(condition: str) -> str:
    """Return the name of a condition, or both names of "A - B", in the language in use."""
    names = condition.split(" - ")
    return " - ".join(
        translated(CONDITIONS[name]) if name in CONDITIONS else name for name in names
    )


def conditions_of(table: pd.DataFrame) -> list[str]:
    """Return the conditions that have separate figures, in order of name.

    These are the readers' conditions, or the models' if there are no readers.
    """
    readers = table.loc[table["rater_kind"] == RaterKind.READER]
    return sorted((readers if len(readers) else table)["condition"].unique())


def rows_in_condition(table: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the rows of the raters that are shown in a condition.

    These are the readers and models of the condition, and models with a single condition.
    """
    models = table.loc[table["rater_kind"] == RaterKind.MODEL]
    single = models.groupby("rater_id")["condition"].nunique().eq(1)
    is_unconditioned = table["rater_id"].isin(single.index[single])
    return table.loc[(table["condition"] == condition) | is_unconditioned]


def name_of(names: Mapping[str, RaterName] | None, rater: str) -> RaterName:
    """Return a rater's name, or the id if there is no name."""
    return (names or {}).get(rater, RaterName(label=rater, simulated=False, rater_id=rater))


def shorten(text: str, longest: int) -> str:
    """Shorten text to one line of `longest` characters without splitting combined characters.

    Characters that change the direction of surrounding text are removed.

    Examples
    --------
    >>> shorten("a very  long name", 8), shorten("\u202eabc", 8)
    ('a very …', 'abc')
    """
    line = " ".join("".join(sign for sign in text if sign not in BIDI_CONTROLS).split())
    if len(line) <= longest:
        return line
    cut = longest - 1
    while cut > 1 and (unicodedata.combining(line[cut]) or line[cut] in "\u200d\ufe0f"):
        cut -= 1
    return line[:cut] + "…"


ROW_MM = 4.8
PAGE_HEIGHT_MM = 225.0
MIN_ROW_MM = 1.6
MINUS_SIGN = "\u2212"


def row_height_mm(n: int) -> float:
    """Return the height of a row, which is smaller if many rows must fit on a page.

    Examples
    --------
    >>> row_height_mm(11), row_height_mm(90)
    (4.8, 2.5)
    """
    return min(max(PAGE_HEIGHT_MM / max(n, 1), MIN_ROW_MM), ROW_MM)


def rows_axis(labels: Sequence[Label], *, shown: bool = True, grid: bool = True) -> Axis:
    """Return an axis of rows, with the first row at the top."""
    return Axis(
        low=len(labels) - 0.4,
        high=-0.6,
        ticks=tuple(Tick(at=i, label=label) for i, label in enumerate(labels)),
        labels=shown,
        grid=grid,
    )


def arrange_in_rows(panels: Sequence[Panel], columns: int) -> tuple[tuple[Panel, ...], ...]:
    """Arrange panels row by row."""
    return tuple(tuple(panels[i : i + columns]) for i in range(0, len(panels), columns))


def even_columns(n: int, choices: Sequence[int]) -> int:
    """Return the choice of columns with the fewest empty cells, or the first of several.

    Examples
    --------
    >>> even_columns(9, (4, 3)), even_columns(8, (4, 3)), even_columns(2, (4, 3))
    (3, 4, 2)
    """
    return n if n <= max(choices) else min(choices, key=lambda columns: -n % columns)


def rater_labels(raters: Sequence[str], names: Mapping[str, RaterName] | None) -> list[Label]:
    """Return the raters' labels."""
    return [name_of(names, rater).on_figure for rater in raters]


def percent_axis(title: str = "") -> Axis:
    """Return an axis from 0 to 100 percent, by default with the title "% correct"."""
    texts = {0: "0", 25: "", 50: "50", 75: "", 100: "100"}
    ticks = tuple(Tick(at=at, label=Label(text=text)) for at, text in texts.items())
    return Axis(low=-3, high=103, ticks=ticks, title=title or t("% correct"))


def fit_axis(
    values: Sequence[float],
    *,
    title: str = "",
    parts: int = 5,
    least: float = -math.inf,
    highest: float = math.inf,
) -> Axis:
    """Return an axis that includes all values, with round ticks.

    Parameters
    ----------
    values : sequence of float
        Values to include; nan is ignored.
    title : str
        The title of the axis.
    parts : int
        Approximate maximum number of ticks.
    least, highest : float
        Bounds of the possible values; the axis ends slightly beyond them at most.
    """
    known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    step = _tick_step(max(high - low, 1e-9), parts)
    pad = 0.06 * max(high - low, step)
    low, high = max(low - pad, least - pad), min(high + pad, highest + pad)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    ticks = tuple(
        Tick(at=i * step, label=Label(text=tick_number(i * step, step)))
        for i in range(first, last + 1)
    )
    return Axis(low=low, high=high, ticks=ticks, title=title)


def seconds_axis(values: Sequence[float], *, title: str) -> Axis:
    """Return a logarithmic axis of seconds, with ticks at 1, 2, 5, 10, ... if it is long enough."""
    known = [value for value in values if value > 0] or [1.0, 10.0]
    low, high = min(known) / 1.15, max(known) * 1.15
    if high / low < 10:
        return replace(fit_axis([low, high], title=title), low=low, high=high, log=True)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    places = [base * 10.0**power for power in powers for base in (1, 2, 5)]
    inside = [place for place in places if low <= place <= high]
    if len(inside) > 7:
        inside = [place for place in inside if f"{place:e}".startswith("1")]
    ticks = tuple(Tick(at=place, label=Label(text=localised(f"{place:g}"))) for place in inside)
    return Axis(low=low, high=high, ticks=ticks, title=title, log=True)


def tick_number(value: float, step: float) -> str:
    """Write a value with the decimals that the step needs, and with the minus sign U+2212.

    Examples
    --------
    >>> tick_number(-0.5, 0.25), tick_number(20.0, 10.0)
    ('−0.50', '20')
    """
    decimals = 0
    while decimals < 6 and abs(round(step, decimals) - step) > 1e-9 * step:
        decimals += 1
    return localise_signed(f"{value + 0.0:.{decimals}f}")


def localise_signed(text: str) -> str:
    """Localise a number; write minus as U+2212 and zero without a sign."""
    if not text.strip("-0."):
        text = text.removeprefix("-")
    return localised(text.replace("-", MINUS_SIGN))


def interval_text(value: float, low: float, high: float, *, decimals: int) -> str:
    """Write an estimate with its interval.

    Examples
    --------
    >>> interval_text(0.5, 0.25, 0.75, decimals=2)
    '0.50 (0.25 to 0.75)'
    >>> interval_text(0.5, float("nan"), float("nan"), decimals=1)
    '0.5 (no interval)'
    """
    if math.isnan(value):
        return t("undefined")
    ends = [localise_signed(f"{end:.{decimals}f}") for end in (value, low, high)]
    if math.isnan(low):
        return t("{value} (no interval)", value=ends[0])
    return t("{value} ({low} to {high})", value=ends[0], low=ends[1], high=ends[2])


def p_text(p: float) -> str:
    """Write a p-value with `<` or `=`.

    Examples
    --------
    >>> p_text(0.0001), p_text(0.25)
    ('< 0.001', '= 0.250')
    """
    return f"< {localised('0.001')}" if p < 0.001 else f"= {localised(f'{p:.3f}')}"


def _tick_step(span: float, parts: int) -> float:
    rough = span / parts
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * base for base in (1, 2, 5, 10) if power * base >= rough * (1 - 1e-9))
