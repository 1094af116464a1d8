"""Sources: one list, in the program, in the methods and beside the code, and no other."""

import ast
import re
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from analysis.report.methods.sources import (
    CHECKLIST_SOURCES,
    COMPUTING,
    REPORTING,
    SOURCES,
    packages,
)

ROOT = Path(__file__).resolve().parents[4]
METHODS = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
TEXT, LISTED = METHODS.split("## Sources\n")
# A doi may hold brackets, and ends before what only ends the sentence.
DOI = re.compile(r"doi:(10\.\S+?)[.,;)]*(?=\s)")


def test_the_methods_list_the_programs_sources_word_by_word() -> None:
    """Numbered without a gap, each once."""
    entries = [line.split(". ", 1) for line in LISTED.strip().splitlines()]
    assert [number for number, _ in entries] == [str(i + 1) for i in range(len(entries))]
    ours = sorted(f"{source.text} doi:{source.doi}" for source in SOURCES)
    assert sorted(entry for _, entry in entries) == ours


def test_the_methods_cite_every_source_and_by_number_alone() -> None:
    """A doi in the text would be a source outside the list."""
    groups = re.findall(r"\[(\d+(?:, \d+)*)\]", TEXT)
    cited = {int(number) for group in groups for number in group.split(", ")}
    assert cited == set(range(1, len(SOURCES) + 1))
    assert "doi:" not in TEXT


def test_the_code_names_every_source_and_no_other() -> None:
    """Where a formula stands, so does whom it is from."""
    own = ROOT / "analysis" / "report" / "methods" / "sources.py"
    code = [path.read_text("utf-8") for path in (ROOT / "analysis").rglob("*.py") if path != own]
    named = {doi for text in code for doi in DOI.findall(text)}
    assert {doi.lower() for doi in named} == {source.doi.lower() for source in SOURCES}


@pytest.mark.slow
def test_only_packages_that_the_program_imports_are_named() -> None:
    """Read from its syntax trees: a package that is only installed took no part."""
    for folders, named in ((REPORTING, packages()), (COMPUTING, packages(COMPUTING))):
        imported = {name for folder in folders for name in _imports(ROOT / "analysis" / folder)}
        owners = packages_distributions()
        assert set(named) == {owners[n][0] for n in imported if n in owners and n != "analysis"}
    assert {"numpy", "pandas", "scipy"} <= set(packages(COMPUTING)) < set(packages())


def _imports(folder: Path) -> set[str]:
    result = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                result |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                result.add(node.module.split(".")[0])
    return result


def test_no_publication_stands_twice() -> None:
    """Two methods of one publication share an entry."""
    dois = [source.doi.lower() for source in (*SOURCES, *CHECKLIST_SOURCES)]
    assert len(dois) == len(set(dois))
