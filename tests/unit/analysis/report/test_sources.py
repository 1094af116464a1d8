"""The same sources are listed in the program, in docs/methods.md and next to the code."""

import ast
import re
import sys
from dataclasses import replace
from importlib.metadata import packages_distributions
from pathlib import Path

from analysis import Options, analyse
from analysis.registry import STATISTICS
from analysis.report.checklists.facts import facts
from analysis.report.methods import software_paragraph
from analysis.report.methods.software import modules_called, packages_used
from analysis.report.methods.sources import (
    ANALYSIS_FOLDERS,
    CHECKLIST_SOURCES,
    PLANNING_SOURCES,
    SOURCES,
    imported_packages,
)
from tests.unit.analysis.conftest import MakeBundle

ROOT = Path(__file__).resolve().parents[4]
COMPUTING_FOLDERS = ("readings", "statistics")
ALL_SOURCES = (*SOURCES, *PLANNING_SOURCES)
METHODS = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
TEXT, LISTED = METHODS.split("## Sources\n")
# A doi may contain brackets, and ends before the punctuation of a sentence.
DOI = re.compile(r"doi:(10\.\S+?)[.,;)]*(?=\s)")


def test_the_methods_list_the_sources_of_the_program() -> None:
    """The numbers are consecutive, and the entries are equal."""
    entries = [line.split(". ", 1) for line in LISTED.strip().splitlines()]
    assert [number for number, _ in entries] == [str(i + 1) for i in range(len(entries))]
    expected = sorted(f"{source.text} doi:{source.doi}" for source in ALL_SOURCES)
    assert sorted(entry for _, entry in entries) == expected


def test_the_methods_cite_sources_by_number() -> None:
    """A doi in the text would be a source outside the list."""
    groups = re.findall(r"\[(\d+(?:, \d+)*)\]", TEXT)
    cited = {int(number) for group in groups for number in group.split(", ")}
    assert cited == set(range(1, len(ALL_SOURCES) + 1))
    assert "doi:" not in TEXT


def test_every_source_is_cited_in_the_code() -> None:
    """The code cites no other source."""
    sources_file = ROOT / "analysis" / "report" / "methods" / "sources.py"
    code = [
        path.read_text("utf-8")
        for path in (ROOT / "analysis").rglob("*.py")
        if path != sources_file
    ]
    names = {doi for text in code for doi in DOI.findall(text)}
    assert {doi.lower() for doi in names} == {source.doi.lower() for source in ALL_SOURCES}


def test_only_imported_packages_are_named() -> None:
    """Imports are read from the syntax trees."""
    imported = {
        name
        for folder in ANALYSIS_FOLDERS
        for name in _imported_packages(ROOT / "analysis" / folder)
    }
    owners = packages_distributions()
    assert set(imported_packages()) == {
        owners[n][0] for n in imported if n in owners and n != "analysis"
    }


def test_tables_name_the_packages_that_computed_them() -> None:
    """Each table names only its own packages, and together they name all that are imported."""
    used = {statistic.name: modules_called(statistic.compute) for statistic in STATISTICS}
    imported = set().union(
        *(_imported_packages(ROOT / "analysis" / name) for name in COMPUTING_FOLDERS)
    )
    others = imported - sys.stdlib_module_names - {"analysis"}
    assert set().union(*used.values()) == others
    assert {name for name in used if "sklearn" in used[name]} == {"model_calibration", "roc_points"}
    assert "statsmodels" in used["heterogeneity"]
    assert "statsmodels" not in used["reader_panel"]
    assert used["times"] == {"numpy", "pandas"}


def test_the_report_names_only_software_that_was_used(make_bundle: MakeBundle) -> None:
    """A study without confidence or ordered options needs one package fewer."""
    bundle = make_bundle(
        "A" * 30, {"R": "A" * 20 + "B" * 10, "M": "A" * 25 + "C" * 5}, models=("M",)
    )
    results = analyse(bundle, Options(bootstrap=20))
    confident = bundle.readings.assign(confidence=["0.5", "0.9"] * 30)
    rated = replace(bundle, readings=confident, confidence_means="answer")
    for run, are_named in ((results, False), (analyse(rated, Options(bootstrap=20)), True)):
        assert run.has("model_calibration") is are_named
        assert ("scikit-learn" in packages_used(run)) is are_named
        texts = [software_paragraph(run).text, facts(run)["software"].text]
        assert [("scikit-learn" in text, "numpy" in text) for text in texts] == [
            (are_named, True)
        ] * 2


def _imported_packages(folder: Path) -> set[str]:
    result = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                result |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                result.add(node.module.split(".")[0])
    return result


def test_no_publication_is_listed_twice() -> None:
    """Two methods from one publication share an entry."""
    dois = [source.doi.lower() for source in (*ALL_SOURCES, *CHECKLIST_SOURCES)]
    assert len(dois) == len(set(dois))
