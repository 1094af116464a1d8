"""The analyst's command line: exit 0 done, 1 refused with the reasons, 2 wrong usage."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from analysis.bundle import read_bundle
from analysis.errors import AnalysisError, OptionsError
from analysis.options import CONFIDENCE, DEFAULT_ALPHA, DEFAULT_BOOTSTRAP, DEFAULT_SEED, Options
from analysis.report.formats.output import write_report, write_tables

DESCRIPTION = """\
Analyse a reader study: accuracy of readers and models, agreement of every two raters.

FOLDER is an exported bundle (a folder or .zip), or any folder that holds items.csv (item_id;
optional truth, n_options, options, task, ...) and readings.csv (rater_id, item_id, answer; ...).
"""
EPILOG = "Exit: 0 done, 1 refused with the reasons on stderr, 2 wrong usage."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; default: those of the process.

    Returns
    -------
    int
        0 done, 1 refused. Wrong usage ends in `SystemExit` with 2, as argparse does.
    """
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        options = Options(
            seed=asked.seed,
            bootstrap=asked.bootstrap,
            alpha=asked.alpha,
            margin=asked.margin,
            confidence=asked.confidence,
        )
    except OptionsError as error:
        parser.error(str(error))
    try:
        print(_run(asked.command, asked.folder, asked.out, options))
    except AnalysisError as error:
        print(error, file=sys.stderr)
        return 1
    except MemoryError:
        print(f"{asked.folder}: too large for this machine's memory.", file=sys.stderr)
        return 1
    return 0


def _run(command: str, folder: Path, out: Path, options: Options) -> str:
    bundle = read_bundle(folder)
    if command == "tables":
        write_tables(bundle, out, options)
        return f"{out / 'tables'}"
    write_report(bundle, out, options)
    return f"{out / 'report.html'}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analysis",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, about in (
        (
            "report",
            "write report.html, report.pdf, results.json, figures/, tables/ and paper/ to OUT",
        ),
        ("tables", "write OUT/tables/*.csv alone; an older report in OUT is removed"),
    ):
        command = commands.add_parser(
            name, help=about, description=about[0].upper() + about[1:] + ".", epilog=EPILOG
        )
        _add_arguments(command)
    return parser


def _add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "folder", metavar="FOLDER", type=Path, help="the bundle: a folder or a .zip"
    )
    command.add_argument(
        "--out", metavar="OUT", type=Path, required=True, help="the folder to write to"
    )
    numbers: tuple[tuple[str, str, Callable[[str], float], float | None, str], ...] = (
        ("--seed", "N", int, DEFAULT_SEED, f"seed of the bootstrap (default {DEFAULT_SEED})"),
        (
            "--bootstrap",
            "N",
            int,
            DEFAULT_BOOTSTRAP,
            f"number of cluster resamples (default {DEFAULT_BOOTSTRAP})",
        ),
        (
            "--margin",
            "D",
            float,
            None,
            "non-inferiority margin, as a proportion (default: the protocol's)",
        ),
        (
            "--alpha",
            "A",
            float,
            DEFAULT_ALPHA,
            f"two-sided error of the intervals (default {DEFAULT_ALPHA})",
        ),
    )
    for name, metavar, kind, default, about in numbers:
        command.add_argument(name, metavar=metavar, type=kind, default=default, help=about)
    command.add_argument(
        "--confidence",
        choices=CONFIDENCE,
        default="",
        help="what confidence means: how sure the rater is of the answer, or a rating of the"
        " finding (default: what the bundle says, else finding)",
    )
