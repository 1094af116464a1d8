"""Which sources the methods cite, and under which keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.report.methods.references import Reference, cited_keys, references
from analysis.report.methods.sources import CHECKLIST_SOURCES, SOURCES
from analysis.results import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph of the methods.

    Parameters
    ----------
    title : str
        As text.
    text : str
        As text, sources as `[@key; @key]`.
    """

    title: str
    text: str


class Citations:
    """Turns keys into `[@key]`, for sources that are known; a key that is not is left out.

    Parameters
    ----------
    known : iterable of Reference
        The sources.
    """

    def __init__(self, known: Iterable[Reference]) -> None:
        self._keys = {reference.key for reference in known}

    def __call__(self, *keys: str) -> str:
        found = [f"@{key}" for key in keys if key in self._keys]
        return f" [{'; '.join(found)}]" if found else ""


# Sources of tables that need not be there; any other source that no sentence names is named last.
OF_TABLE = {
    "agreement_pairs": ("brennan1981", "cohen1960", "fleiss1969", "gwet2008", "geirhos2020"),
    "agreement_groups": ("fleiss1971", "conger1980", "hayes2007", "gwet2021"),
    "agreement_between": ("vanbelle2009",),
    "agreement_indices": ("byrt1993",),
    "comparisons": ("tango1998", "mcnemar1947", "fagerland2013", "holm1979"),
    "reader_panel": ("obuchowski1995", "hillis2007", "hillis2014", "chakraborty2017"),
    "gee": ("liang1986", "cameron2015"),
    "times": ("hyndman1996",),
    "time_model": ("baayen2008", "bates2015"),
    "leaderboard": ("goldstein1996",),
}
# Named by a sentence where they apply: with clusters, with confidence ratings, or as a check alone.
WHERE_THEY_APPLY = (
    "field2007",
    "yang2010",
    "rao1992",
    "delong1988",
    "hillis2005",
    "obuchowski1997",
    "gallas2009",
)


def method_references() -> list[Reference]:
    """Return every source of the program with its key."""
    return references((*SOURCES, *CHECKLIST_SOURCES))


def cited(paragraphs: Iterable[Paragraph]) -> list[Reference]:
    """Return the references in order of first mention in the methods."""
    known = {reference.key: reference for reference in method_references()}
    return [known[key] for key in cited_keys(part.text for part in paragraphs)]


def has(results: Results, table: str) -> bool:
    """Tell whether a table has rows."""
    return len(results.tables.get(table, ())) > 0


def further_sources(
    results: Results, known: Iterable[Reference], cite: Citations, texts: Iterable[str]
) -> str:
    """Name sources that no sentence names, unless they belong to what this run did not do."""
    named = set(cited_keys(texts))
    absent = {key for table, keys in OF_TABLE.items() if not has(results, table) for key in keys}
    rest = [
        f"{one.source.method}{cite(one.key)}"
        for one in known
        if one.key not in named | absent | set(WHERE_THEY_APPLY) and one.source in SOURCES
    ]
    return f"Also taken from the literature: {'; '.join(rest)}." if rest else ""
