"""What the methods are taken from, for the report and `results.json`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A publication that a method is taken from.

    Parameters
    ----------
    method : str
        What is taken from it.
    text : str
        `Authors. Title. Journal year;volume:pages.`, the authors as `Name AB, Name C`. The key for
        citing and the BibTeX entry are read from it (`analysis.report.methods.references`).
    doi : str
        Without `doi:`.
    """

    method: str
    text: str
    doi: str


def _sources() -> dict[str, tuple[Source, ...]]:
    """Return the sources of ``sources.csv`` by what they are of: a method or a checklist."""
    found: dict[str, list[Source]] = {}
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row.pop("of"), []).append(Source(**row))
    return {of: tuple(sources) for of, sources in found.items()}


_FOUND = _sources()
SOURCES = _FOUND["method"]
# Their items are listed in the report in our own words, with what this run knows about each.
CHECKLIST_SOURCES = _FOUND["checklist"]
