"""Code, messages, documents and catalogues do not use the words listed in ``words.toml``.

``python -m tests.test_words [--count | PATH ...]`` prints the findings.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from symtable import SymbolTable, symtable

import pytest
from babel.messages.pofile import read_po

from tests.conftest import ROOT

WORDS_FILE = Path(__file__).with_name("words.toml")
WORDS = tomllib.loads(WORDS_FILE.read_text("utf-8"))
PHRASES = {re.compile(pattern): instead for pattern, instead in WORDS["phrases"].items()}
# One combined search for all patterns with the same beginning is several times faster.
_AT_A_WORD = [pattern for pattern in WORDS["phrases"] if pattern.startswith(r"\b")]
ANY_PHRASE = [
    re.compile(r"\b(?:" + "|".join(pattern.removeprefix(r"\b") for pattern in _AT_A_WORD) + ")"),
    *(re.compile(pattern) for pattern in WORDS["phrases"] if pattern not in _AT_A_WORD),
]
NAMES = WORDS["names"]
EXEMPT = {
    "tests/words.toml",
    "tests/test_words.py",
    "study/models/answer_cues.toml",  # words in models' outputs
    "study/models/answer_words.toml",
    "tests/unit/study/models/answer_forms.toml",
}
_PROSE = (".md", ".html", ".toml")
_TEST = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)


@cache
def text_files() -> tuple[Path, ...]:
    """Return the files under version control in which people read text."""
    names = subprocess.run(
        [
            "git",
            "ls-files",
            "*.py",
            "*.js",
            "*.mjs",
            "*.md",
            "*.html",
            "*.css",
            "*.po",
            "*.toml",
            "Makefile",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return tuple(ROOT / name for name in names if name not in EXEMPT)


def listed_words_in(path: Path) -> Iterator[str]:
    """Yield each use of a listed word in a file, with its line and its replacement."""
    place = path.relative_to(ROOT).as_posix()
    if path.suffix == ".py":
        for line, name in _listed_names(path):
            yield f"{place}:{line}: variable “{name}”: use {NAMES[name]}"
    for line, text in _readable_texts(path):
        if not _has_phrase(text):
            continue
        for pattern, instead in PHRASES.items():
            for match in pattern.finditer(text):
                number = line + text.count("\n", 0, match.start())
                yield f"{place}:{number}: “{match[0]}”: use {instead}"


def _has_phrase(text: str) -> bool:
    return any(pattern.search(text) for pattern in ANY_PHRASE)


def _listed_names(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the listed names that a Python file binds."""
    text = path.read_text("utf-8")
    if not NAMES.keys() & _bound_names(symtable(text, path.name, "exec")):
        return  # searching every node of a file takes ten times as long
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMES:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg) and node.arg in NAMES:
            yield node.lineno, node.arg


def _bound_names(scope: SymbolTable) -> set[str]:
    """Return the names that a scope and the scopes within it bind."""
    names = {
        name
        for name in NAMES.keys() & set(scope.get_identifiers())
        if scope.lookup(name).is_assigned() or scope.lookup(name).is_parameter()
    }
    return names.union(*map(_bound_names, scope.get_children()))


def _readable_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the parts of a file that people read, each with the number of its first line.

    Comments and strings of a Python file are skipped if the file contains no listed phrase.
    """
    if path.suffix == ".po":
        with path.open("rb") as file:
            for message in read_po(file):
                forms = message.id if isinstance(message.id, (tuple, list)) else (message.id,)
                for form in forms:
                    yield message.lineno or 1, str(form)
        return
    text = path.read_text("utf-8")
    if path.suffix in _PROSE or path.name == "Makefile":
        yield 1, text
    elif path.suffix == ".py":
        if _has_phrase(text):  # most files need not be tokenized
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type in (tokenize.COMMENT, tokenize.STRING):
                    yield token.start[0], token.string
        for test in _TEST.finditer(text):
            yield text.count("\n", 0, test.start()) + 1, test[1].replace("_", " ")
    else:
        for match in _COMMENT.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0]


@cache
def checked_files() -> list[Path]:
    """Return the files that are not listed as pending."""
    pending = tuple(str(ROOT / name) for name in WORDS["pending"])
    return [path for path in text_files() if not str(path).startswith(pending)]


FILES_WITH_MESSAGES = [
    path
    for path in text_files()
    if path.suffix == ".py"
    and path.relative_to(ROOT).parts[0] in ("study", "ui", "analysis", "pages", "app.py")
    and path.relative_to(ROOT).as_posix() not in WORDS["repr"]
]
"""The files whose strings may be messages."""


def _folder(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parts[:-1][:4])


@pytest.mark.parametrize("folder", sorted({_folder(path) for path in checked_files()}))
def test_files_use_no_listed_word(folder: str) -> None:
    """Each finding names the file, the line and what to write instead."""
    files = [path for path in checked_files() if _folder(path) == folder]
    assert not [finding for path in files for finding in listed_words_in(path)]


@pytest.mark.parametrize(
    "path", FILES_WITH_MESSAGES, ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_messages_quote_values_as_text(path: Path) -> None:
    """The function `quoted` writes quotation marks; `repr` would write those of Python."""
    text = path.read_text("utf-8")
    if "repr" not in text and "!r" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        is_repr = (
            (isinstance(node, ast.FormattedValue) and node.conversion == ord("r"))
            or (isinstance(node, ast.Name) and node.id == "repr")
            or (isinstance(node, ast.Constant) and "!r}" in str(node.value))
        )
        assert not is_repr, f"{path}:{getattr(node, 'lineno', 0)}: use quoted()"


def test_no_phrase_has_alternatives_outside_brackets() -> None:
    """The combined pattern would apply the alternatives to its other phrases."""
    for pattern in WORDS["phrases"]:
        text_outside = re.sub(r"\([^()]*(\([^()]*\)[^()]*)*\)", "", pattern)
        assert "|" not in text_outside, pattern


def main() -> None:
    """Print all findings or those in some paths, or with --count their number for each folder."""
    rows = [row for path in text_files() for row in listed_words_in(path)]
    if "--count" in sys.argv:
        for folder, number in Counter(
            "/".join(row.split(":")[0].split("/")[:2]) for row in rows
        ).most_common():
            print(number, folder)
    else:
        names = tuple(sys.argv[1:])
        print("\n".join(row for row in rows if not names or row.startswith(names)))


if __name__ == "__main__":
    main()
