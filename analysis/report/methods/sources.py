"""Where numbers and methods come from: inputs, choices, versions, and the sources to cite."""

from __future__ import annotations

import csv
import hashlib
import platform
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import (
    PackageNotFoundError,
    distribution,
    packages_distributions,
    version,
)
from pathlib import Path
from typing import Any

from analysis.bundle.protocol import margin_of, margin_origin
from analysis.readings.confidence import confidence_of
from analysis.registry import STATISTICS
from analysis.report.formats.latex import latex_text
from analysis.results import Results
from analysis.statistics.statistic import Source


def _sources() -> dict[str, tuple[Source, ...]]:
    """Return the sources of ``sources.csv`` by what they are of: a method or a checklist."""
    found: dict[str, list[Source]] = {}
    with Path(__file__).with_name("sources.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row.pop("of"), []).append(Source(**row))
    return {of: tuple(sources) for of, sources in found.items()}


_FOUND = _sources()
SOURCES = (
    *_FOUND["method"],
    *(source for statistic in STATISTICS for source in statistic.sources),
)
# Their items are listed in the report in our own words, with what this run knows about each.
CHECKLIST_SOURCES = _FOUND["checklist"]


CITED = re.compile(r"\[(@[a-z0-9]+(?:; @[a-z0-9]+)*)\]")
WHERE = re.compile(
    r"^(?P<journal>.+?),? (?P<year>(?:18|19|20)\d\d)"
    r"(?:;(?P<volume>[^:()]*)(?:\((?P<number>[^)]*)\))?(?::(?P<pages>.+))?)?$"
)
PARTICLES = {"van", "von", "de", "der", "den", "la", "le", "da", "di"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A source with its key.

    Parameters
    ----------
    key : str
        First author and year, as in `wilson1927`; a letter more where two would share it.
    source : Source
        The publication.
    """

    key: str
    source: Source


def references(sources: Iterable[Source]) -> list[Reference]:
    """Give every source its key.

    A publication that several methods are taken from stands once, under its first mention.

    Examples
    --------
    >>> text = "Wilson EB. Probable inference. J Am Stat Assoc 1927;22:209-212."
    >>> [one.key for one in references([Source(method="Wilson", text=text, doi="10.1/x")])]
    ['wilson1927']
    """
    once = {source.doi.lower() or source.text: source for source in reversed(list(sources))}
    kept = list(reversed(once.values()))
    plain = [_key(source.text) for source in kept]
    many, seen = Counter(plain), Counter[str]()
    found = []
    for key, source in zip(plain, kept, strict=True):
        letter = "abcdefghijklmnopqrstuvwxyz"[seen[key] % 26] if many[key] > 1 else ""
        seen[key] += 1
        found.append(Reference(key=key + letter, source=source))
    return found


def cited_keys(texts: Iterable[str]) -> list[str]:
    """Return the keys that texts cite as `[@key; @key]`, in order of first mention."""
    keys = (
        key.removeprefix("@")
        for text in texts
        for group in CITED.findall(text)
        for key in group.split("; ")
    )
    return list(dict.fromkeys(keys))


def numbered(text: str, order: Sequence[str]) -> str:
    """Replace keys by their numbers in `order`.

    Examples
    --------
    >>> numbered("Wilson's interval [@wilson1927].", ["cohen1960", "wilson1927"])
    "Wilson's interval [2]."
    """

    def numbers(match: re.Match[str]) -> str:
        found = [order.index(key.removeprefix("@")) + 1 for key in match[1].split("; ")]
        return f"[{', '.join(map(str, sorted(found)))}]"

    return CITED.sub(numbers, text)


def bibtex(entries: Iterable[Reference]) -> str:
    """Write the references as BibTeX.

    Examples
    --------
    >>> text = "Wilson EB. Probable inference. J Am Stat Assoc 1927;22:209-212."
    >>> print(bibtex(references([Source(method="Wilson", text=text, doi="10.1/x")])))
    @article{wilson1927,
      author = {Wilson, E. B.},
      title = {{Probable inference}},
      journal = {J Am Stat Assoc},
      year = {1927},
      volume = {22},
      pages = {209--212},
      doi = {10.1/x},
    }
    <BLANKLINE>
    """
    return "\n".join(_entry(entry) for entry in entries)


def _entry(entry: Reference) -> str:
    authors, title, where = _split(entry.source.text)
    found = WHERE.match(where)
    fields = {"author": _authors(authors), "title": "{" + latex_text(title) + "}"}
    if found:
        fields |= {
            name: latex_text(value)
            for name, value in found.groupdict().items()
            if value and name != "pages"
        }
        if found["pages"]:
            fields["pages"] = latex_text(found["pages"]).replace("-", "--")
    else:
        fields |= {"year": _year(entry.source.text), "note": latex_text(where)}
    if entry.source.doi:
        fields["doi"] = entry.source.doi
    kind = "article" if found else "misc"
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{entry.key},\n{lines}}}\n"


def _split(text: str) -> tuple[str, str, str]:
    """Return authors, title, and where it appeared: the last sentence that holds a year."""
    authors, _, rest = text.strip().rstrip(".").partition(". ")
    ends = [match.end() for match in re.finditer(r"[.?!] (?=[A-Z])", rest)]
    cut = next((end for end in reversed(ends) if _year(rest[end:])), 0)
    title = rest[:cut].rstrip()
    return authors, title.removesuffix("."), rest[cut:]


def _authors(names: str) -> str:
    return " and ".join(_author(name.strip()) for name in names.split(","))


def _author(name: str) -> str:
    if name in ("et al", "others"):
        return "others"
    words = name.split()
    suffix = words.pop() if len(words) > 2 and words[-1] in ("Jr", "Sr", "II", "III") else ""
    if len(words) < 2 or not words[-1].isupper():
        return "{" + latex_text(name) + "}"
    initials = " ".join(f"{letter}." for letter in words[-1])
    parts = [latex_text(" ".join(words[:-1])), *([suffix] if suffix else []), initials]
    return ", ".join(parts)


def _key(text: str) -> str:
    words = text.partition(". ")[0].split(",")[0].split()
    names = [word for word in words if word.lower() not in PARTICLES]
    plain = unicodedata.normalize("NFKD", names[0] if names else "source").lower()
    return re.sub(r"[^a-z]", "", plain) + _year(text)


def _year(text: str) -> str:
    years = re.findall(r"\b(?:18|19|20)\d\d(?=[;.:,)]|$)", text.strip())
    return years[-1] if years else ""


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


# Sources that no sentence of the methods cites: they apply to every run.
FURTHER = ("hesterberg2015", "hillis2011", "brier1950", "guo2017")


def method_references() -> list[Reference]:
    """Return every source of the program with its key."""
    return references((*SOURCES, *CHECKLIST_SOURCES))


def cited(paragraphs: Iterable[Paragraph]) -> list[Reference]:
    """Return the references in order of first mention in the methods."""
    known = {reference.key: reference for reference in method_references()}
    return [known[key] for key in cited_keys(part.text for part in paragraphs)]


def further_sources() -> str:
    """Name the sources that no sentence cites."""
    known = {reference.key: reference for reference in method_references()}
    named = [f"{known[key].source.method} [@{key}]" for key in FURTHER]
    return f"Also taken from the literature: {'; '.join(named)}."


PROGRAM = Path(__file__).parents[2]
COMPUTING = ("bundle", "readings", "statistics", "figures")
REPORTING = (*COMPUTING, "presentation", "report")
"""The folders that numbers and figures come from, and those that a report does."""
_IMPORT = re.compile(r"^\s*(?:import (\w+)|from (\w+)[\w.]* import )", re.MULTILINE)
# A protocol names its own hash in one of these ways; the first that is there counts.
HASH_KEYS = ("protocol_hash", "hash", "sha256", "protocol_sha256")


@cache
def packages(folders: tuple[str, ...] = REPORTING) -> tuple[str, ...]:
    """Return the installed packages that some folders of this program import.

    Examples
    --------
    >>> "numpy" in packages(), "typst" in packages(), "typst" in packages(COMPUTING)
    (True, True, False)
    """
    paths = [path for folder in folders for path in (PROGRAM / folder).rglob("*.py")]
    lines = [line for path in paths for line in _IMPORT.findall(path.read_text("utf-8"))]
    imported = {name for line in lines for name in line}
    others = imported - sys.stdlib_module_names - {PROGRAM.name, ""}
    return tuple(sorted(filter(None, map(_distribution, others)), key=str.lower))


_distributions = cache(packages_distributions)


def _distribution(module: str) -> str:
    """Return the installed package a module belongs to, or nothing; most have the same name."""
    try:
        return str(distribution(module).metadata["Name"])
    except PackageNotFoundError:
        return _distributions().get(module, [""])[0]


def provenance(results: Results) -> dict[str, Any]:
    """Tell what the results were made from, the same every time.

    `input` (SHA-256 of the files, sizes), `options`, `protocol_hash` (None without a protocol) and
    `versions`.
    """
    bundle, options = results.bundle, results.options
    return {
        "input": {
            "sha256": dict(bundle.sha256),
            "bundle_sha256": bundle_hash(bundle.sha256),
            "n_items": len(bundle.items),
            "n_items_with_reference": int((bundle.items["truth"] != "").sum()),
            "n_readings": len(bundle.readings),
            "n_raters": len(bundle.raters),
            "n_clusters": results.n_clusters,
            "clusters_have_several_items": results.clustered,
            "simulated_raters": sorted(bundle.simulated),
        },
        "options": {
            "seed": options.seed,
            "bootstrap": options.bootstrap,
            "alpha": options.alpha,
            "margin": margin(results),
            "margin_is": margin_origin(options, bundle.protocol),
            "confidence_is": confidence_of(options, bundle).meaning.value,
            "faulty": list(options.faulty),
            "positive": list(options.positive),
        },
        "protocol_hash": protocol_hash(bundle.protocol),
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in packages()},
        },
    }


def bundle_hash(files: Mapping[str, str]) -> str:
    """Return one hash for the whole input: SHA-256 of its lines `HASH  NAME`, as sha256sum's.

    Examples
    --------
    >>> bundle_hash({"b.csv": "01", "a.csv": "02"})[:12]
    'f262978e1c63'
    """
    lines = "".join(f"{files[name]}  {name}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def protocol_hash(protocol: Mapping[str, Any]) -> str | None:
    """Return the hash that the protocol states for itself, None where it states none.

    Examples
    --------
    >>> protocol_hash({"sha256": "ab12", "locked": {}}), protocol_hash({})
    ('ab12', None)
    """
    stated = (protocol.get(key) for key in HASH_KEYS)
    return next((str(value) for value in stated if value), None)


def margin(results: Results) -> float | None:
    """Return the margin asked for, else the protocol's, else None."""
    return margin_of(results.options, results.bundle.protocol)
