"""Generate docs/commands.md from the command definitions: ``make docs-commands``."""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from analysis.cli import program as analysis_program
from study.cli.program import program as study_program

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "commands.md"
BEGIN = "<!-- Below: make docs-commands. -->\n"
_PROGRAMS = (("python -m study", study_program), ("python -m analysis", analysis_program))
_LINK = re.compile(r"docs/([\w-]+\.md(?:#[\w-]+)?)")


def document() -> str:
    """Return docs/commands.md with the current commands."""
    before, _, _ = DOCUMENT.read_text("utf-8").partition(BEGIN)
    parts = [line for name, program in _PROGRAMS for line in _program_section(name, program)]
    return f"{before}{BEGIN}\n" + "\n".join(parts).rstrip() + "\n"


def commands_of(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command of a program with its words, including commands in groups."""
    group.list_commands(click.Context(group))  # imports them
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands_of(command, (*path, name))
        else:
            yield (*path, name), command


def _program_section(name: str, program: click.Group) -> Iterator[str]:
    yield f"## `{name}`\n"
    for path, command in sorted(commands_of(program)):
        yield from _command_section(f"{name} {' '.join(path)}", command)


def _command_section(name: str, command: click.Command) -> Iterator[str]:
    yield f"### {name.removeprefix('python -m ')}\n"
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *_usage_parts(command, context)])
    yield f"```\n{usage}\n```\n"
    yield _help_text(inspect.cleandoc(command.help or ""))
    options = [item for item in command.params if isinstance(item, click.Option) and item.help]
    if options:
        yield "\n| option | meaning |\n|---|---|"
        yield from (_option_row(option, context) for option in options)
    yield ""


def _usage_parts(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the parts of the usage: arguments, required options, and [OPTIONS] for the others."""
    options = [item for item in command.params if isinstance(item, click.Option)]
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            yield parameter.make_metavar(context)
    for option in options:
        if option.required:
            yield f"{option.opts[0]} {option.make_metavar(context)}"
    if any(not option.required for option in options):
        yield "[OPTIONS]"


def _option_row(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    assert record is not None
    names, meaning = (re.sub(r"\s+", " ", part) for part in record)
    return f"| `{names.replace('|', chr(92) + '|')}` | {meaning.replace('|', chr(92) + '|')} |"


def _help_text(text: str) -> str:
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    return "\n\n".join(_LINK.sub(_page_link, part) for part in paragraphs)


def _page_link(match: re.Match[str]) -> str:
    page, _, part = match[1].partition("#")
    words = part.replace("-", " ") or page.removesuffix(".md").replace("-", " ")
    return f"[{words}]({match[1]})"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"{DOCUMENT.relative_to(ROOT)}: written\n")
