"""Run the viewer's JavaScript unit tests in Node, and enforce the order of its folders."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

NODE = shutil.which("node")
FILES = sorted((ROOT / "tests" / "unit" / "viewer").rglob("*.test.mjs"))
MODULES = ROOT / "ui" / "viewer" / "js"
FOLDER_ORDER = ("page", "film", "viewer", "delivery", "steps", "case", "room", "js")
"""The folders in order of import; ``start.js``, in the last one, assembles the modules."""


def test_javascript_tests_exist() -> None:
    """Otherwise no test would run."""
    assert FILES


@pytest.mark.skipif(NODE is None, reason="no Node here; install it with: apt-get install nodejs")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_node_tests_of_each_file_pass(file: Path) -> None:
    """Each file of Node tests is a separate test."""
    result = subprocess.run(
        [str(NODE), str(file)],
        cwd=ROOT,
        env={**os.environ, "RR_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_folders_of_the_viewer_import_only_from_lower_folders() -> None:
    """No module refers to a higher folder, not even for a type, and imports have no cycles."""
    imports = {
        path: set(_imported_modules(path, r'^(?:import|\}) .*from "'))
        for path in MODULES.rglob("*.js")
    }
    for path in imports:
        for other in _imported_modules(path, r'from "|new URL\("'):
            assert other.is_file(), f"{path} names {other}"
            assert FOLDER_ORDER.index(other.parent.name) <= FOLDER_ORDER.index(path.parent.name), (
                path,
                other,
            )
    while leaves := [path for path, wants in imports.items() if not wants]:
        for leaf in leaves:
            del imports[leaf]
        for wants in imports.values():
            wants.difference_update(leaves)
    assert not imports, f"a circle of imports: {sorted(map(str, imports))}"


def _imported_modules(path: Path, before: str) -> list[Path]:
    """Return the modules whose names follow the words `before` in a module."""
    text = path.read_text(encoding="utf-8")
    names = re.findall(rf'(?:{before})(\.\.?/[\w/-]+\.js)"', text, flags=re.MULTILINE)
    return [(path.parent / name).resolve() for name in names]
