"""Provenance of the results, and the sources that the methods section cites."""

from __future__ import annotations

import csv
import hashlib
import platform
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import (
    PackageNotFoundError,
    distribution,
    distributions,
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
from analysis.version import program_version


def _sources() -> dict[str, tuple[Source, ...]]:
    """Return the sources in ``sources.csv`` by kind: methods, checklists and planning."""
    sources: dict[str, list[Source]] = {}
    with Path(__file__).with_name("sources.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sources.setdefault(row.pop("of"), []).append(Source(**row))
    return {kind: tuple(group) for kind, group in sources.items()}


_BY_KIND = _sources()
SOURCES = (
    *_BY_KIND["method"],
    *(source for statistic in STATISTICS for source in statistic.sources),
)
# The report paraphrases the items of these guidelines and answers them as far as possible.
CHECKLIST_SOURCES = _BY_KIND["checklist"]
# Sources for `analysis.planning`, which reports do not cite.
PLANNING_SOURCES = _BY_KIND["planning"]


CITATION = re.compile(r"\[(@[a-z0-9]+(?:; @[a-z0-9]+)*)\]")
PUBLICATION_PATTERN = re.compile(
    r"^(?P<journal>.+?),? (?P<year>(?:18|19|20)\d\d)"
    r"(?:;(?P<volume>[^:()]*)(?:\((?P<number>[^)]*)\))?(?::(?P<pages>.+))?)?$"
)
NAME_PARTICLES = {"van", "von", "de", "der", "den", "la", "le", "da", "di"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A source with its key.

    Parameters
    ----------
    key : str
        First author and year, as in `wilson1927`, and a letter if two keys would be the same.
    source : Source
        The publication.
    """

    key: str
    source: Source


def references(sources: Iterable[Source]) -> list[Reference]:
    """Return every source with its key.

    A publication that is the source of several methods is included once, at its first mention.

    Examples
    --------
    >>> text = "Wilson EB. Probable inference. J Am Stat Assoc 1927;22:209-212."
    >>> [entry.key for entry in references([Source(method="Wilson", text=text, doi="10.1/x")])]
    ['wilson1927']
    """
    by_source = {source.doi.lower() or source.text: source for source in reversed(list(sources))}
    unique = list(reversed(by_source.values()))
    plain = [_key(source.text) for source in unique]
    many, numbers_seen = Counter(plain), Counter[str]()
    result = []
    for key, source in zip(plain, unique, strict=True):
        letter = "abcdefghijklmnopqrstuvwxyz"[numbers_seen[key] % 26] if many[key] > 1 else ""
        numbers_seen[key] += 1
        result.append(Reference(key=key + letter, source=source))
    return result


def cited_keys(texts: Iterable[str]) -> list[str]:
    """Return the keys that texts cite as `[@key; @key]`, in order of first mention."""
    keys = (
        key.removeprefix("@")
        for text in texts
        for group in CITATION.findall(text)
        for key in group.split("; ")
    )
    return list(dict.fromkeys(keys))


def number_citations(text: str, order: Sequence[str]) -> str:
    """Replace keys by their numbers in `order`.

    Examples
    --------
    >>> number_citations("Wilson's interval [@wilson1927].", ["cohen1960", "wilson1927"])
    "Wilson's interval [2]."
    """

    def numbers(match: re.Match[str]) -> str:
        positions = [order.index(key.removeprefix("@")) + 1 for key in match[1].split("; ")]
        return f"[{', '.join(map(str, sorted(positions)))}]"

    return CITATION.sub(numbers, text)


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
    return "\n".join(_bibtex_entry(entry) for entry in entries)


def _bibtex_entry(entry: Reference) -> str:
    authors, title, publication = _split_reference(entry.source.text)
    match = PUBLICATION_PATTERN.match(publication)
    fields = {"author": _authors(authors), "title": "{" + latex_text(title) + "}"}
    if match:
        fields |= {
            name: latex_text(value)
            for name, value in match.groupdict().items()
            if value and name != "pages"
        }
        if match["pages"]:
            fields["pages"] = latex_text(match["pages"]).replace("-", "--")
    else:
        fields |= {"year": _year(entry.source.text), "note": latex_text(publication)}
    if entry.source.doi:
        fields["doi"] = entry.source.doi
    kind = "article" if match else "misc"
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{entry.key},\n{lines}}}\n"


def _split_reference(text: str) -> tuple[str, str, str]:
    """Return the authors, the title, and the publication, which is the last part with a year."""
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
    names = [word for word in words if word.lower() not in NAME_PARTICLES]
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
        Title as plain text.
    text : str
        Plain text, with sources as `[@key; @key]`.
    """

    title: str
    text: str


# Sources that apply to every run and are not cited by another sentence of the methods.
ALWAYS_CITED = ("hesterberg2015", "hillis2011", "brier1950", "guo2017")


def method_references() -> list[Reference]:
    """Return every source of the analysis with its key."""
    return references((*SOURCES, *CHECKLIST_SOURCES))


def cited_references(paragraphs: Iterable[Paragraph]) -> list[Reference]:
    """Return the references in order of first mention in the methods."""
    known = {reference.key: reference for reference in method_references()}
    return [known[key] for key in cited_keys(part.text for part in paragraphs)]


def further_sources() -> str:
    """Return a sentence with the sources that no other sentence cites."""
    known = {reference.key: reference for reference in method_references()}
    source_texts = [f"{known[key].source.method} [@{key}]" for key in ALWAYS_CITED]
    return f"Also taken from the literature: {'; '.join(source_texts)}."


PROGRAM_FOLDER = Path(__file__).parents[2]
ANALYSIS_FOLDERS = ("bundle", "readings", "statistics", "figures", "presentation", "report")
"""The folders that compute the numbers and write the report."""
_IMPORT = re.compile(r"^\s*(?:import (\w+)|from (\w+)[\w.]* import )", re.MULTILINE)
# Keys under which a protocol may state its hash; the first present one is used.
HASH_KEYS = ("protocol_hash", "hash", "sha256", "protocol_sha256")


@cache
def imported_packages() -> tuple[str, ...]:
    """Return the installed packages that the analysis imports.

    Examples
    --------
    >>> "numpy" in imported_packages(), "Jinja2" in imported_packages()
    (True, True)
    """
    paths = [
        path for folder in ANALYSIS_FOLDERS for path in (PROGRAM_FOLDER / folder).rglob("*.py")
    ]
    lines = [line for path in paths for line in _IMPORT.findall(path.read_text("utf-8"))]
    imported = {name for line in lines for name in line}
    others = imported - sys.stdlib_module_names - {PROGRAM_FOLDER.name, ""}
    return tuple(sorted(filter(None, map(installed_package, others)), key=str.lower))


def installed_package(module: str) -> str:
    """Return the installed package of a module; empty if there is none.

    A package whose name differs from the module's is found by its list of files. The list is
    searched as text, because `importlib.metadata.packages_distributions` parses it slowly.
    """
    with suppress(PackageNotFoundError):
        return str(distribution(module).metadata["Name"])
    for package in distributions():
        files = f"\n{package.read_text('RECORD')}"
        if f"\n{module}/__init__.py," in files or f"\n{module}.py," in files:
            return str(package.metadata["Name"])
    return ""


@cache
def _versions() -> dict[str, str]:
    """Return the versions of the packages, cached because each is read from a file."""
    return {package: version(package) for package in imported_packages()}


def provenance(results: Results) -> dict[str, Any]:
    """Return the inputs and versions of a run, which are the same for the same input.

    The keys are `input` (SHA-256 of the files, sizes), `options`, `protocol_hash` (None without a
    protocol) and `versions`.
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
            "margin": margin_in_use(results),
            "margin_is": margin_origin(options, bundle.protocol),
            "confidence_is": confidence_of(options, bundle).meaning.value,
            "faulty": list(options.faulty),
            "positive": list(options.positive),
            "ordered": options.ordered,
            "years_limit": options.years_limit,
        },
        "protocol_hash": protocol_hash(bundle.protocol),
        "versions": {
            "Reading Room": program_version(),
            "python": platform.python_version(),
            **_versions(),
        },
    }


def bundle_hash(files: Mapping[str, str]) -> str:
    """Return the SHA-256 of the lines `HASH  NAME` that sha256sum prints for all input files.

    Examples
    --------
    >>> bundle_hash({"b.csv": "01", "a.csv": "02"})[:12]
    'f262978e1c63'
    """
    lines = "".join(f"{files[name]}  {name}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def protocol_hash(protocol: Mapping[str, Any]) -> str | None:
    """Return the hash that the protocol states; None if it states none.

    Examples
    --------
    >>> protocol_hash({"sha256": "ab12", "locked": {}}), protocol_hash({})
    ('ab12', None)
    """
    stated = (protocol.get(key) for key in HASH_KEYS)
    return next((str(value) for value in stated if value), None)


def margin_in_use(results: Results) -> float | None:
    """Return the margin of the options, or else that of the protocol, or else None."""
    return margin_of(results.options, results.bundle.protocol)
