"""Links and names in the documents refer to existing files and headings."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import click

from analysis.cli import program as analysis_program
from study.cli.program import program as study_program
from tests import command_reference, glossary
from tests.conftest import ROOT

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
GUIDE = "CONTRIBUTING.md"
EXAMPLE_REFERENCE = re.compile(r"\(follow [^)]*\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def test_every_link_of_a_document_has_a_target() -> None:
    """The target file exists, and so does the heading if the link has one."""
    tracked = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    links = [
        (name, link)
        for name in tracked
        for link in LINK.findall(CODE.sub("", (ROOT / name).read_text("utf-8")))
        if not link.startswith(("https:", "http:", "mailto:"))
    ]
    assert links
    assert not [(name, link) for name, link in links if not _has_target(ROOT / name, link)]


def test_make_help_lists_the_targets_of_the_readme() -> None:
    """The output has all targets of README.md, so the Makefile has no syntax error."""
    listed = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[0] for line in listed.splitlines()}
    assert names >= {"app", "check", "test", "thorough", "torture", "release"}


def test_the_glossary_in_the_architecture_document_is_up_to_date() -> None:
    """The list of modules equals the output of `make glossary`."""
    assert glossary.DOCUMENT.read_text("utf-8") == glossary.document(), "Run: make glossary"


def test_files_named_in_the_architecture_exist() -> None:
    """All paths and file names outside the glossary are checked."""
    before, _, _ = glossary.DOCUMENT.read_text("utf-8").partition(glossary.BEGIN)
    file_names = {
        path.name for tree in glossary.PACKAGES for path in (ROOT / tree).rglob("*.[pj]*")
    }
    names = re.findall(r"`([\w./-]+\.(?:py|js)|[\w./-]+/)`", before)
    assert len(names) > 60
    missing = [
        link
        for link in names
        if not (ROOT / link).exists()
        and not (ROOT / "ui" / "viewer" / "js" / link).exists()
        and ("/" in link or link not in file_names)
    ]
    assert not missing


BLOCK_OR_INLINE = re.compile(r"^```[^\n]*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(
    r"(?:python -m (study|analysis)|^reading-room) +([\w-]+(?: .*)?)$", re.MULTILINE
)
PROGRAMS = {"study": study_program, "analysis": analysis_program}


def _commands() -> Iterator[tuple[str, list[str], bool]]:
    """Yield the commands in the documents: file, words, and whether it is in a block of code."""
    for file in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if file == command_reference.DOCUMENT:
            continue
        for block, inline in BLOCK_OR_INLINE.findall(file.read_text("utf-8")):
            for program, text in COMMAND.findall((block or inline).replace("\\\n", " ")):
                command = re.split(r"\s[>|&]", text)[0]
                words = [program or "study", *shlex.split(command, comments=True)]
                yield file.name, words, bool(block)


def test_commands_in_documents_have_valid_arguments() -> None:
    """A command in a block of code has all required options too, except for the store."""
    known = {
        (name, *path): command
        for name, group in PROGRAMS.items()
        for path, command in command_reference.commands_of(group)
    }
    n_commands = 0
    for file, words, is_in_block in _commands():
        n_words = 3 if tuple(words[:3]) in known else 2
        command = known[tuple(words[:n_words])]
        arguments = [word.strip("[]") for word in words[n_words:]]
        options, rest, _ = command.make_parser(click.Context(command)).parse_args(arguments)
        required = {item.name for item in command.params if item.required} - {"db"}
        assert not rest, f"{file}: {words}"
        assert not is_in_block or required <= {k for k, v in options.items() if v}, (
            f"{file}: {words}"
        )
        n_commands += 1
    assert n_commands > 70


def _has_target(document: Path, link: str) -> bool:
    path, _, anchor = unquote(link).partition("#")
    target = document.parent / path if path else document
    return target.exists() and (not anchor or anchor in _anchors(target))


@cache
def _anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings as GitHub generates them."""
    text = re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {name.replace(" ", "-") for name in plain}


def test_the_examples_of_the_guide_exist() -> None:
    """Recipes of CONTRIBUTING.md name examples in the code."""
    names = re.findall(
        r"`(\w+)`", " ".join(EXAMPLE_REFERENCE.findall((ROOT / GUIDE).read_text("utf-8")))
    )
    assert len(names) > 5
    code = ["study", "analysis", "ui", "pages"]
    runs = [
        subprocess.run(["git", "grep", "-qw", name, "--", *code], cwd=ROOT, check=False)
        for name in names
    ]
    assert not [name for name, result in zip(names, runs, strict=True) if result.returncode]
