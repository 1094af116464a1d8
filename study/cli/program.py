"""Runs the commands of ``python -m study`` and prints their errors."""

import inspect
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from study.base.actor import COMMAND_LINE, Acting
from study.base.budget import BUDGET, limit_to
from study.base.errors import StudyError
from study.base.text import quoted
from study.store.address import ServerAddress, address_of

logging.getLogger("reading_room").addHandler(logging.NullHandler())  # commands print a sentence


class _Path(click.Path):
    """A file or folder; devices and pipes are refused because they may never end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(str(super().convert(value, param, ctx)))
        if path.exists() and not (path.is_file() or path.is_dir()):
            self.fail(
                f"{path} is neither a file nor a folder. Save it as a file first.", param, ctx
            )
        return path


PATH = _Path(path_type=Path)
_EPILOG = "Exit status: 0 done, 1 refused with a reason on stderr, 2 wrong usage."


class Address(click.ParamType[Path | ServerAddress]):
    """The path of a SQLite file, or the address of a PostgreSQL database."""

    name = "address"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | ServerAddress:
        known = address_of(value)
        return known if isinstance(known, ServerAddress) else Path(PATH.convert(known, param, ctx))


_STORE = click.option(
    "--db",
    metavar="DB",
    type=Address(),
    required=True,
    envvar="READING_ROOM_DB",
    help="The store's file, or postgresql://user@host/database (default: READING_ROOM_DB).",
)

_STUDY = click.option("--study", metavar="NAME", required=True, help="The study's name.")

_MODULES = ("bank", "studies", "archive", "models", "judging")
"""The modules with commands, imported until the command is found; importing all takes 0.4 s."""

_Function = Callable[..., Any]


class _Help(click.HelpFormatter):
    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or "usage: ")


class _Context(click.Context):
    formatter_class = _Help


class _Command(click.Command):
    context_class = _Context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; from now on, Ctrl-C raises an exception, so that it can clean up."""
        interrupts: list[int] = []

        def interrupted(number: int, _: object) -> None:
            interrupts.append(number)
            raise KeyboardInterrupt

        if callable(signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGINT, interrupted)
        try:
            return super().invoke(ctx)
        except Exception:
            if interrupts:  # SQLite replaces the exceptions of functions that it calls
                raise KeyboardInterrupt from None
            raise


class _Group(click.Group):
    context_class = _Context
    command_class = _Command


class _Program(_Group):
    group_class = _Group

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        for module in _MODULES:
            if name not in self.commands:
                import_module(f"study.cli.{module}")
        return super().get_command(ctx, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        for module in _MODULES:
            import_module(f"study.cli.{module}")
        return super().list_commands(ctx)

    def invoke(self, ctx: click.Context) -> int:
        try:
            status = int(super().invoke(ctx) or 0)
            sys.stdout.flush()
        except StudyError as error:
            notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
            return _print_refusal(f"{error}{notes}")
        except OSError as error:
            return _print_refusal(f"{error.filename or 'Output'}: {error.strerror}.")
        return status


@click.group(cls=_Program, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def program() -> None:
    """Set up, run and export reader studies."""


def command(
    name: str | None = None,
    *,
    of_study: bool = True,
    group: click.Group = program,
    reads: str = "",
) -> Callable[[_Function], _Function]:
    """Return a decorator that turns a function into a command.

    The function takes a store's address as `db` and, if `of_study`, the name of a study. It prints
    its results, and returns an exit status or None. Its docstring is the help text.

    Parameters
    ----------
    reads
        The argument that names a file to be read within the budget.
    """

    def add(function: _Function) -> _Function:
        summary = (inspect.getdoc(function) or "").split("\n\n")[0]
        run = _limit_resources(function, reads) if reads else function
        options = _STORE(_STUDY(run) if of_study else run)
        group.command(name, short_help=" ".join(summary.split()))(options)
        return function

    return add


def _limit_resources(function: _Function, argument: str) -> _Function:
    @wraps(function)
    def run(**options: Any) -> Any:
        file = options[argument]
        name = ", ".join(map(str, file)) if isinstance(file, tuple) else str(file)
        with limit_to(BUDGET, name):
            return function(**options)

    return run


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status."""
    try:
        for word in arguments:
            if not word.isprintable():
                raise click.UsageError(f"{quoted(word)} contains unprintable characters")
        return int(program.main(arguments, "python -m study", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return _print_refusal("Stopped. Incomplete changes were undone.", status=130)


def _print_refusal(reason: str, *, status: int = 1) -> int:
    print(reason, file=sys.stderr)
    with suppress(OSError):
        sys.stdout.flush()
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (else Python complains of it at exit)
    return status


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def acting() -> Acting:
    """Return the actor of commands and the current time."""
    return Acting(by=COMMAND_LINE, now=now())


def note(words: str) -> None:
    """Print a note on stderr."""
    print(f"Note: {words}", file=sys.stderr)


def warn(lines: Iterable[str]) -> None:
    """Print warnings on stderr, one per line."""
    for line in lines:
        print(f"Warning: {line}", file=sys.stderr)
