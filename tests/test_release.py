"""The version, the locked requirements and the changelog agree."""

import ast
import re
import tomllib
from itertools import chain
from pathlib import Path

from analysis.version import program_version
from study.base.version import version
from tests import licences

ROOT = Path(__file__).parents[1]
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def _pinned_versions(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text("utf-8")
    return {re.sub(r"[-_.]+", "-", package).lower(): pin for package, pin in _PIN.findall(text)}


def test_the_version_is_defined_once() -> None:
    """Code, citation file and package metadata state the same version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert version() == program_version() == project == cited[1]


def test_the_changelog_has_no_release_after_the_version() -> None:
    """The newest release in the changelog is the version of the program."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    releases = [head for head in heads if head != "Unreleased"]
    assert heads
    assert releases[:1] in ([], [version()])


def test_every_required_package_is_locked_at_its_version() -> None:
    """After a requirement has changed, `make requirements` must be run."""
    for name in ("requirements", "requirements-test"):
        required, locked = _pinned_versions(f"{name}.txt"), _pinned_versions(f"{name}.lock")
        assert required.items() <= locked.items()
    assert (
        _pinned_versions("requirements.lock").items()
        <= _pinned_versions("requirements-test.lock").items()
    )


def test_every_locked_package_has_the_hashes_of_its_files() -> None:
    """Pip refuses files whose hash is not listed."""
    for name in ("requirements.lock", "requirements-test.lock"):
        text = (ROOT / name).read_text("utf-8")
        entries = re.split(r"\n(?=[A-Za-z0-9])", text)[1:]
        assert len(entries) > 50
        assert [entry.split()[0] for entry in entries if not _HASH.search(entry)] == []


def _tests_of_promises() -> dict[str, list[tuple[str, str]]]:
    """Return the file and name of each test, by the promise in the security document."""
    lines = (ROOT / "docs/security.md").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and "---" not in line]
    return {
        row: re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
        for row in rows
        if not row.startswith("| promise")
    }


def test_the_tests_named_in_the_security_document_exist() -> None:
    """Each promise names at least one test."""
    promises = _tests_of_promises()
    assert sum(map(len, promises.values())) > 20
    for file, name in chain.from_iterable(promises.values()):
        assert f"def {name}(" in (ROOT / file).read_text("utf-8")
    assert [row for row, tests in promises.items() if not tests] == []


def test_each_promise_of_the_security_document_is_tested_by_make_test() -> None:
    """At least one test of each promise does not have the mark `thorough`."""
    promises = _tests_of_promises()
    files = {file for file, _ in chain.from_iterable(promises.values())}
    left_out = {
        file: _thorough_test_names(ast.parse((ROOT / file).read_text("utf-8"))) for file in files
    }
    assert any(left_out.values())
    assert not [
        row
        for row, tests in promises.items()
        if all(name in left_out[file] for file, name in tests)
    ]


def _thorough_test_names(module: ast.Module) -> set[str]:
    """Return the names of the tests that only `make thorough` runs."""
    mark = "pytest.mark.thorough"
    marks = [ast.unparse(node) for node in module.body if isinstance(node, ast.Assign)]
    every = any(line.startswith("pytestmark =") and mark in line for line in marks)
    tests = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    return {
        test.name
        for test in tests
        if every or mark in [ast.unparse(decorator) for decorator in test.decorator_list]
    }


def test_every_package_has_a_licence_that_is_not_the_gpl() -> None:
    """The list equals the output of `make licences`."""
    text = licences.DOCUMENT.read_text("utf-8")
    for name, number, licence, _ in licences.rows():
        assert licence
        assert "GPL" not in licence
        assert f"| {name} | {number} | {licence} |" in text
