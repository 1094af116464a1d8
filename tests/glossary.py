"""Write the list of modules in ARCHITECTURE.md from their first sentences: ``make glossary``."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "ARCHITECTURE.md"
BEGIN = "<!-- Below: make glossary. -->\n"
PACKAGES = ("study", "analysis", "ui", "pages", "benchmarks")
FOLDER_DESCRIPTIONS = {
    "pages": "The pages, one per file, each starting with its guard.",
    "page": "The page around the films: texts, keys, settings, dialogs and storage.",
    "film": "Loads, decodes, windows and draws films.",
    "viewer": "The films of a case on the screen, and their tools.",
    "delivery": "The connection to the server, and the outbox of unacknowledged records.",
    "steps": "The steps before the first case and after the last.",
    "case": "The current case: its timer, answer and flags.",
    "room": "The reading room: the current case, permitted actions, and the course of the study.",
}


def glossary() -> str:
    """Return the list of modules: a heading per folder, a line per module."""
    return "\n".join(line for package in PACKAGES for line in _package_lines(ROOT / package))


def document() -> str:
    """Return ARCHITECTURE.md with the current list of modules."""
    before, _, _ = DOCUMENT.read_text("utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{glossary()}\n"


def _package_lines(top: Path) -> Iterator[str]:
    paths = sorted(path for path in top.rglob("*") if path.suffix in (".py", ".js"))
    for folder in sorted({path.parent for path in paths}):
        start = folder / "__init__.py"
        description = (
            _first_sentence(start)
            if start.exists()
            else FOLDER_DESCRIPTIONS.get(folder.name, "Assembles and starts the modules.")
        )
        yield from (f"### {folder.relative_to(ROOT).as_posix()}/", "", description, "")
        for path in paths:
            if path.parent == folder and path != start:
                yield f"- `{path.name}`: {_first_sentence(path)}"
        yield ""


def _first_sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring or opening comment."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        description = ast.get_docstring(ast.parse(text)) or ""
    else:
        comment = re.match(r"/\*\*(.*?)\*/", text, flags=re.DOTALL)
        description = re.sub(r"^\s*\* ?", "", comment[1] if comment else "", flags=re.MULTILINE)
    return re.split(r"(?<=[.?])\s", " ".join(description.split()))[0]


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"{DOCUMENT.name}: {len(glossary().splitlines())} lines\n")
