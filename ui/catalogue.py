"""Extract every user-visible message and update the catalogues: ``make catalogue``.

Messages are marked with ``t("...")``, ``tn("one", "many", n)`` and ``later("...")`` in Python, and
with the first two in the reading page's JavaScript. The template is generated and not kept in git.
Catalogues contain no source locations, so they change only when a message changes.
"""

import ast
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from study.base.translation import CATALOGUE_FILE

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "locale" / f"{Path(CATALOGUE_FILE).stem}.pot"
KEYWORDS: Mapping[str, tuple[int, ...] | None] = {"t": None, "tn": (1, 2), "later": None}
_FOLDERS = ("study", "analysis", "pages", "ui")
_EXTRACTORS = {".py": "python", ".js": "javascript"}
_TEMPLATE_HEADER = """# Every message of Reading Room. To add a language, copy this file to
# locale/LANGUAGE/reading_room.po and fill it in; docs/languages.md says how.
#"""
_CREATION_DATE = datetime(2000, 1, 1, tzinfo=UTC)


def template() -> Catalog:
    """Return a catalogue of every message, without translations."""
    catalogue = Catalog(
        project="Reading Room",
        header_comment=_TEMPLATE_HEADER,
        charset="utf-8",
        creation_date=_CREATION_DATE,
    )
    for path in sources():
        for message in messages(path):
            catalogue.add(message)
    return catalogue


def po_file_of(catalogue: Catalog) -> bytes:
    """Return a catalogue as the text of a PO file, sorted by message."""
    out = BytesIO()
    write_po(out, catalogue, no_location=True, sort_output=True, ignore_obsolete=True, width=100)
    # The version of Babel would change the file although no message has changed.
    lines = out.getvalue().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith((b'"Generated', b'"PO-Rev')))


def updated_po_file(path: Path, messages: Catalog) -> bytes:
    """Return a language's PO file with the current messages; new messages are empty."""
    with path.open("rb") as file:
        language = read_po(file)
    language.update(messages, no_fuzzy_matching=True, update_header_comment=False)
    language.creation_date = _CREATION_DATE
    return po_file_of(language)


def sources() -> list[Path]:
    """Return the files that may contain messages."""
    paths = [path for folder in _FOLDERS for path in (ROOT / folder).rglob("*")]
    return [ROOT / "app.py", *sorted(path for path in paths if path.suffix in _EXTRACTORS)]


def messages(path: Path) -> Iterator[str | tuple[str, ...]]:
    """Yield the messages of a file; those with a plural form as pairs."""
    if path.suffix == ".py":
        yield from _python_messages(path)
        return
    with path.open("rb") as file:
        for entry in extract(
            _EXTRACTORS[path.suffix], file, keywords=KEYWORDS, options={"encoding": "utf-8"}
        ):
            yield entry[1]


def _python_messages(path: Path) -> Iterator[str | tuple[str, ...]]:
    """Yield the messages of a Python file; Babel's own reader skips f-strings."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            positions = KEYWORDS.get(node.func.id, ()) or (1,)
            literals = [
                argument.value
                for argument in node.args[: len(positions)]
                if isinstance(argument, ast.Constant)
            ]
            if node.func.id in KEYWORDS and literals:
                yield tuple(map(str, literals)) if len(positions) > 1 else str(literals[0])


def main() -> None:
    """Write the template and update the catalogue of every language."""
    current = template()
    TEMPLATE.write_bytes(po_file_of(current))
    for path in sorted(TEMPLATE.parent.glob(f"*/{CATALOGUE_FILE}")):
        path.write_bytes(updated_po_file(path, current))


if __name__ == "__main__":
    main()
