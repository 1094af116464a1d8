"""Who may import whom: the house's floor plan, held by a test."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("app", "ui", "pages", "study", "analysis", "data", "benchmarks", "tests", "docs")
ALLOWED = {
    "app": {"ui"},
    "ui": {"ui", "study", "analysis"},
    "pages": {"ui", "study", "analysis"},
    "study": {"study"},
    "analysis": {"analysis"},
    "data": {"data"},
    "benchmarks": {"benchmarks", "study", "analysis"},
}
FORBIDDEN = {
    "study": {"streamlit", "pandas", "starlette", "plotly"},
    "analysis": {"streamlit", "sqlite3", "sqlite_utils", "starlette"},
    "pages": {"sqlite3", "sqlite_utils", "numpy", "scipy", "statsmodels", "time", "datetime"},
    "data": {"streamlit"},
}
EXAMPLES = {"K7QF-3M9X-TTRD-8W2P", "XXXX-XXXX-XXXX-XXXX"}
MAY_IMPORT_ANALYSIS = {"ui/results.py", "ui/exports.py", "ui/case_card.py", "pages/results.py"}


def _files() -> Iterator[Path]:
    for package in ALLOWED:
        folder = ROOT / package
        yield from folder.rglob("*.py") if folder.is_dir() else [ROOT / f"{package}.py"]


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module))
    return found


@pytest.mark.parametrize("path", list(_files()), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_floor_plan(path: Path) -> None:
    """Study and analysis never meet; only the results page brings in the analysis."""
    name = str(path.relative_to(ROOT))
    home = name.split("/")[0].removesuffix(".py")
    tops = {module.split(".")[0] for module in _imports(path)}
    assert not (tops & set(OURS)) - ALLOWED[home]
    assert not tops & FORBIDDEN.get(home, set())
    if home in ("ui", "pages") and name not in MAY_IMPORT_ANALYSIS:
        assert "analysis" not in tops


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_every_page_starts_with_the_guard(path: Path) -> None:
    """After imports and docstring the first statement is the guard; signing in needs none."""
    statements = [
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body[1:]
        if not isinstance(node, ast.Import | ast.ImportFrom)
    ]
    if path.name == "sign_in.py":
        return
    assert ast.unparse(statements[0]).removeprefix("person = ").startswith("guard(Act.")


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_every_fragment_starts_with_the_guard(path: Path) -> None:
    """A fragment reruns without its page, so it asks for itself."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and "fragment" in ast.dump(
            ast.Module(body=[ast.Expr(value=one) for one in node.decorator_list], type_ignores=[])
        ):
            assert ast.unparse(node.body[0]).removeprefix("person = ").startswith("guard(Act.")


def test_sql_is_spoken_in_the_store_only() -> None:
    """No other module of the domain knows SQLite or sqlite-utils."""
    for path in (ROOT / "study").rglob("*.py"):
        if "store" not in path.parts:
            assert not {"sqlite3", "sqlite_utils"} & _imports(path), path


def test_every_file_says_what_it_is() -> None:
    """The first statement of every module is its docstring."""
    tracked = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    for name in tracked:
        text = (ROOT / name).read_text(encoding="utf-8")
        if text.strip():
            assert ast.get_docstring(ast.parse(text)), name


def test_no_constant_looks_like_an_access_code() -> None:
    """Codes are generated for a deployment and never stand in the code."""
    import re

    code = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){3}\b")
    for path in _files():
        for found in code.findall(path.read_text(encoding="utf-8")):
            assert found in EXAMPLES, (path, found)


@pytest.mark.parametrize("path", list(_files()), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_name_of_a_module_is_given_twice(path: Path) -> None:
    """A second constant of the same name silently takes the first one's place everywhere."""
    given: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        given += [one.id for one in targets if isinstance(one, ast.Name)]
        if isinstance(node, ast.AnnAssign | ast.FunctionDef | ast.ClassDef):
            given.append(ast.unparse(node.target) if isinstance(node, ast.AnnAssign) else node.name)
    assert len(given) == len(set(given)), [one for one in given if given.count(one) > 1]
