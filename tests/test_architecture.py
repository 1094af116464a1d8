"""The rules for imports between folders and modules, and for the start of modules."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OUR_PACKAGES = ("app", "ui", "pages", "study", "analysis", "data", "benchmarks", "tests")
ALLOWED_IMPORTS = {
    "app": {"ui"},
    "ui": {"ui", "study", "analysis"},
    "pages": {"ui", "study", "analysis"},
    "study": {"study"},
    "analysis": {"analysis"},
    "data": {"data"},
    "benchmarks": {"benchmarks", "study", "analysis"},
}
FORBIDDEN_IMPORTS = {
    "study": {"streamlit", "pandas", "starlette", "plotly"},
    "analysis": {"streamlit", "sqlite3", "sqlite_utils", "starlette"},
    "pages": {"sqlite3", "sqlite_utils", "numpy", "scipy", "statsmodels", "time", "datetime"},
    "data": {"streamlit"},
}
LEVELS = {
    "study": "base tables films store bank people protocol reading monitoring lifecycle models "
    "trail exchange cli",
    "analysis": "bundle readings figures presentation statistics planning report",
    "ui": "parts viewer server overview results banks reading wizard archive app people",
}
"""The folders of each package in ascending order: each imports only from lower folders."""
EXAMPLE_CODES = {"K7QF-3M9X-TTRD-8W2P", "XXXX-XXXX-XXXX-XXXX"}
MAY_IMPORT_ANALYSIS = {
    "ui/results/report_parts.py",
    "ui/results/background.py",
    "ui/results/tables.py",
    "ui/archive/exports.py",
    "ui/reading/score_card.py",
    "ui/banks/verdicts.py",
    "ui/server/pilots.py",
    "ui/wizard/components.py",
    "ui/wizard/sample_size.py",
    "pages/results.py",
}


def _source_files() -> Iterator[Path]:
    for package in ALLOWED_IMPORTS:
        folder = ROOT / package
        yield from folder.rglob("*.py") if folder.is_dir() else [ROOT / f"{package}.py"]


def _relative_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _syntax_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _statement_nodes(path: Path) -> list[ast.AST]:
    """Return the nodes of a file's statements, without expressions, which would take most time."""
    nodes: list[ast.AST] = [_syntax_tree(path)]
    for node in nodes:
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            nodes += getattr(node, part, ())
    return nodes


@pytest.fixture(scope="module", autouse=True)
def _parse_all_files() -> None:
    """Parse every file once, before the first test."""
    for path in _source_files():
        _statement_nodes(path)


def _imported_names(path: Path) -> set[str]:
    names = set()
    for node in _statement_nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(str(node.module))
    return names


def test_imports_follow_the_architecture() -> None:
    """Only listed modules of `ui` and `pages` import `analysis`, which never imports `study`."""
    offenders = {
        _relative_name(path): sorted(bad)
        for path in _source_files()
        if (bad := _disallowed_imports(path))
    }
    assert not offenders


def test_folders_import_only_from_lower_folders() -> None:
    """Each folder has a level, and no module imports from a folder of a higher level."""
    offenders = []
    for package, names in LEVELS.items():
        levels = names.split()
        existing = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
        assert existing == set(levels), package
        for number, folder in enumerate(levels):
            above = {f"{package}.{name}" for name in levels[number + 1 :]}
            for path in (ROOT / package / folder).rglob("*.py"):
                used = {".".join(module.split(".")[:2]) for module in _imported_names(path)}
                offenders += [(_relative_name(path), module) for module in sorted(used & above)]
    assert not offenders


def test_imports_have_no_cycles() -> None:
    """Indirect imports and imports within functions count; imports for types do not."""
    modules = {_module_name(path): path for path in _source_files()}
    graph = {name: _imported_modules(path) & modules.keys() for name, path in modules.items()}
    TopologicalSorter(graph).prepare()


def _module_name(path: Path) -> str:
    return _relative_name(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _imported_modules(path: Path) -> set[str]:
    """Return the modules that a file imports, and the names it imports from them."""
    for_types = {
        line
        for node in _statement_nodes(path)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    names = set()
    for node in _statement_nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.lineno not in for_types:
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    packages = {_module_name(path).rpartition(".")[0]} if path.name != "__init__.py" else set()
    return names - {_module_name(path)} - packages


def _disallowed_imports(path: Path) -> set[str]:
    name = _relative_name(path)
    home = name.split("/")[0].removesuffix(".py")
    tops = {module.split(".")[0] for module in _imported_names(path)}
    bad = (tops & set(OUR_PACKAGES)) - ALLOWED_IMPORTS[home] | tops & FORBIDDEN_IMPORTS.get(
        home, set()
    )
    if home in ("ui", "pages") and name not in MAY_IMPORT_ANALYSIS:
        bad |= tops & {"analysis"}
    return bad


def test_every_page_starts_with_the_guard() -> None:
    """The guard is the first statement after the imports of every page except the sign-in page."""
    pages = [path for path in sorted((ROOT / "pages").glob("*.py")) if path.name != "sign_in.py"]
    assert pages
    assert not [path.name for path in pages if not _is_guard(_statements_after_imports(path)[0])]


def _statements_after_imports(path: Path) -> list[ast.stmt]:
    body = _syntax_tree(path).body[1:]
    return [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]


def _is_guard(statement: ast.stmt) -> bool:
    return ast.unparse(statement).removeprefix("person = ").startswith("guard(Act.")


def test_every_fragment_starts_with_the_guard() -> None:
    """A fragment reruns without its page, so it checks permissions itself."""
    assert not [
        f"{path.name}:{node.lineno}"
        for path in (ROOT / "pages").glob("*.py")
        for node in _statement_nodes(path)
        if isinstance(node, ast.FunctionDef)
        and any("fragment" in ast.unparse(decorator) for decorator in node.decorator_list)
        and not _is_guard(node.body[0])
    ]


def test_only_the_store_uses_sql() -> None:
    """No other module of the domain imports SQLite or sqlite-utils."""
    assert not [
        _relative_name(path)
        for path in (ROOT / "study").rglob("*.py")
        if "store" not in path.parts and {"sqlite3", "sqlite_utils"} & _imported_names(path)
    ]


def test_only_the_store_uses_the_path_of_its_file() -> None:
    """Other modules use the store's address, its folder, and the paths of files next to it."""
    uses = re.compile(r"\b(store|saved|store\(\))\.path\b")
    files_outside = [
        path
        for folder in ("study", "ui", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if "store" not in path.relative_to(ROOT).parts[:-1] and uses.search(path.read_text("utf-8"))
    ]
    assert files_outside == [ROOT / "ui/server/file_jobs.py"]  # its `saved` is an uploaded file


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Before 3.11.5, Python wrongly matches "aca" with `(?:ab?c)++`; `(?>...)` is correct."""
    possessive = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")
    assert possessive.search(r"(?:ab?c)" "++")
    files = [
        path
        for folder in ("study", "analysis", "ui")
        for ending in ("py", "toml")
        for path in (ROOT / folder).rglob(f"*.{ending}")
    ]
    assert not [path for path in files if possessive.search(path.read_text("utf-8"))]


def test_every_module_has_a_docstring() -> None:
    """The docstring is the first statement, and only comments may precede it."""
    tracked = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert tracked
    docstring = re.compile(r'(?:#.*\n)*(?:r?"""|\Z)')
    assert not [name for name in tracked if not docstring.match((ROOT / name).read_text("utf-8"))]


def test_no_constant_looks_like_an_access_code() -> None:
    """Access codes are generated for a deployment and are not part of the source code."""
    code = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){3}\b")
    assert not {
        _relative_name(path): names
        for path in _source_files()
        if (names := set(code.findall(path.read_text(encoding="utf-8"))) - EXAMPLE_CODES)
    }


def test_no_module_defines_the_same_name_twice() -> None:
    """A second constant of the same name would silently replace the first."""
    assert not {
        _relative_name(path): twice for path in _source_files() if (twice := _defined_twice(path))
    }


def _defined_twice(path: Path) -> list[str]:
    names: list[str] = []
    for node in _syntax_tree(path).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        names += [target.id for target in targets if isinstance(target, ast.Name)]
        if isinstance(node, ast.AnnAssign | ast.FunctionDef | ast.ClassDef):
            names.append(ast.unparse(node.target) if isinstance(node, ast.AnnAssign) else node.name)
    return [name for name, count in Counter(names).items() if count > 1]
