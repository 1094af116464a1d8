"""What raters are called on figures, and which of them stand on one."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from analysis.bundle.model import Bundle, RaterKind
from analysis.figures.drawing.chart import Label
from analysis.translation import t

LONGEST = 28
BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LONGEST_GROUP = 38


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterName:
    """How a rater is shown.

    Parameters
    ----------
    label : str
        Label or id, as text.
    simulated : bool
        Whether the answers came from a simulation, which is said wherever the rater appears.
    rater_id : str
        What stands for the label where a font has no glyphs for it; empty: nothing does.
    """

    label: str
    simulated: bool
    rater_id: str = ""

    @property
    def full(self) -> str:
        """The label with its mark, as text."""
        return self.label + self.mark

    @property
    def mark(self) -> str:
        """What marks a simulated rater whose label does not say so itself."""
        told = "simulated" in self.label.lower()
        return t(" (simulated)") if self.simulated and not told else ""

    @property
    def in_sentence(self) -> str:
        """The label with its mark, isolated, so that its script cannot turn the numbers around."""
        return f"\u2068{self.full}\u2069"

    @property
    def on_figure(self) -> Label:
        """The label with its mark, cut to fit."""
        otherwise = shorten(self.rater_id, LONGEST) + self.mark if self.rater_id else ""
        return Label(text=shorten(self.label, LONGEST) + self.mark, otherwise=otherwise)


def rater_names(bundle: Bundle) -> dict[str, RaterName]:
    """Return every rater's name by `rater_id`."""
    simulated = bundle.simulated
    return {
        rater: RaterName(label=label, simulated=rater in simulated, rater_id=rater)
        for rater, label in bundle.labels.items()
    }


def conditions_of(table: pd.DataFrame) -> list[str]:
    """Return the conditions that get a figure of their own, in order of name.

    Those of the readers; where there is no reader, those of the models.
    """
    readers = table.loc[table["rater_kind"] == RaterKind.READER]
    return sorted((readers if len(readers) else table)["condition"].unique())


def in_condition(table: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the rows of the raters shown under a condition.

    Readers and models of that condition, and models that have one condition only.
    """
    models = table.loc[table["rater_kind"] == RaterKind.MODEL]
    single = models.groupby("rater_id")["condition"].nunique().eq(1)
    everywhere = table["rater_id"].isin(single.index[single])
    return table.loc[(table["condition"] == condition) | everywhere]


def name_of(names: Mapping[str, RaterName] | None, rater: str) -> RaterName:
    """Return a rater's name, the id where none is given."""
    return (names or {}).get(rater, RaterName(label=rater, simulated=False, rater_id=rater))


def shorten(text: str, longest: int) -> str:
    """Cut text on one line to `longest` characters, never amid a combined character.

    What would turn the text around it is left out.

    Examples
    --------
    >>> shorten("a very  long name", 8), shorten("\u202eabc", 8)
    ('a very …', 'abc')
    """
    line = " ".join("".join(sign for sign in text if sign not in BIDI).split())
    if len(line) <= longest:
        return line
    cut = longest - 1
    while cut > 1 and (unicodedata.combining(line[cut]) or line[cut] in "\u200d\ufe0f"):
        cut -= 1
    return line[:cut] + "…"
