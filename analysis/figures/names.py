"""What raters are called on figures, and which of them stand on one."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.bundle.model import Bundle
from analysis.bundle.words import RaterKind

LONGEST = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterName:
    """How a rater is shown.

    Parameters
    ----------
    label : str
        Label or id, as text.
    simulated : bool
        Whether the answers came from a simulation, which is said wherever the rater appears.
    """

    label: str
    simulated: bool

    @property
    def full(self) -> str:
        """The label with its mark, as text."""
        return f"{self.label} (simulated)" if self.simulated else self.label

    @property
    def in_sentence(self) -> str:
        """The label with its mark, isolated, so that its script cannot turn the numbers around."""
        return f"\u2068{self.full}\u2069"

    @property
    def on_figure(self) -> str:
        """The label with its mark, cut to fit, escaped for plotly's own markup."""
        mark = " <i>(simulated)</i>" if self.simulated else ""
        return plotly_text(shorten(self.label, LONGEST)) + mark


def rater_names(bundle: Bundle) -> dict[str, RaterName]:
    """Return every rater's name by `rater_id`."""
    return {
        rater: RaterName(label=label, simulated=rater in bundle.simulated)
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

    Parameters
    ----------
    table : pandas.DataFrame
        With `rater_id`, `rater_kind` and `condition`.
    condition : str
        One of `conditions_of`.

    Returns
    -------
    pandas.DataFrame
        Readers and models of that condition, and models that have one condition only.
    """
    models = table.loc[table["rater_kind"] == RaterKind.MODEL]
    single = models.groupby("rater_id")["condition"].nunique().eq(1)
    everywhere = table["rater_id"].isin(single.index[single])
    return table.loc[(table["condition"] == condition) | everywhere]


def name_of(names: Mapping[str, RaterName] | None, rater: str) -> RaterName:
    """Return a rater's name, the id where none is given."""
    return (names or {}).get(rater, RaterName(label=rater, simulated=False))


def plotly_text(text: str) -> str:
    """Escape text for plotly, whose labels read a subset of HTML."""
    return html.escape(text, quote=False)


def shorten(text: str, longest: int) -> str:
    """Cut text on one line to `longest` characters, never amid a combined character."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    cut = longest - 1
    while cut > 1 and (unicodedata.combining(line[cut]) or line[cut] in "\u200d\ufe0f"):
        cut -= 1
    return line[:cut] + "…"


def wrapped(text: str, width: int) -> str:
    """Break a title into escaped lines of about `width` characters, three at most."""
    lines: Sequence[str] = _lines(text, width)
    kept = [*lines[:2], " ".join(lines[2:])] if len(lines) > 3 else lines
    return "<br>".join(plotly_text(shorten(line, width + 8)) for line in kept)


def _lines(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
