"""The command line of the analysis; exit codes: 0 success, 1 refused, 2 usage error."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from analysis.bundle import read_bundle
from analysis.bundle.model import Bundle
from analysis.bundle.protocol import protocol_value
from analysis.errors import AnalysisError, OptionsError
from analysis.options import (
    CONFIDENCE_MEANINGS,
    DEFAULT_ALPHA,
    DEFAULT_BOOTSTRAP,
    DEFAULT_SEED,
    Options,
)
from analysis.planning import (
    PUBLISHED,
    Comparison,
    Components,
    PlanDesign,
    PowerPlan,
    Sizes,
    cases_needed_lines,
    components_for,
    parse_range,
    pilot_components,
    power_table,
    published_components,
    read_components,
)
from analysis.report.formats.output import write_report, write_tables
from analysis.report.leaderboard import PAGE, read_cards, write_leaderboard
from analysis.report.power import write_power
from analysis.statistics.agreement.judges import read_faulty, write_review
from analysis.translation import ENGLISH, languages

EPILOG = "Exit: 0 done, 1 refused with the reasons on stderr, 2 wrong usage."
PATH_TYPE = click.Path(path_type=Path)


class Refusal(click.ClickException):
    """The refusal of a command, with the reasons."""

    def show(self, file: Any = None) -> None:
        click.echo(self.message, file, err=file is None)


class _HelpFormatter(click.HelpFormatter):
    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or "usage: ")


class _Context(click.Context):
    formatter_class = _HelpFormatter


class _Command(click.Command):
    context_class = _Context


class _Program(click.Group):
    context_class = _Context
    command_class = _Command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with `arguments` (default: the process's) and return its exit code."""
    # statsmodels collects garbage in every test, which takes 0.1 s with all imported modules.
    gc.freeze()
    try:
        return int(program.main(arguments, "python -m analysis", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Stopped.", err=True)
        return 130


@click.group(cls=_Program, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def program() -> None:
    """Analyse a reader study: accuracy of readers and models, agreement of each pair of raters.

    FOLDER is an exported bundle (a folder or .zip), or any folder with items.csv (item_id;
    optional truth, n_options, options, task, ...) and readings.csv (rater_id, item_id, answer;
    ...).
    """


def _command(
    function: Callable[..., str], more_options: tuple[Callable[..., Any], ...] = ()
) -> click.Command:
    """Make a command of a function that writes the results of a bundle and returns their path."""

    def run(
        folder: Path,
        out: Path,
        confidence: str | None,
        faulty: Path | None,
        language: str = ENGLISH,
        **chosen: Any,
    ) -> None:
        try:
            faulty_ids = read_faulty(faulty) if faulty else ()
            options = _options(**chosen, confidence=confidence or "", faulty=faulty_ids)
            click.echo(function(folder, out, options, language))
        except AnalysisError as error:
            raise Refusal(str(error)) from error
        except MemoryError as error:
            raise Refusal(f"{folder}: too large for this machine's memory.") from error

    run.__doc__ = function.__doc__
    for option in reversed(more_options + OPTIONS):
        run = option(run)
    short = (function.__doc__ or "").partition("\n")[0]
    return program.command(function.__name__, short_help=short, epilog=EPILOG)(run)


def _options(**chosen: Any) -> Options:
    try:
        return Options(**chosen)
    except OptionsError as error:
        raise click.UsageError(str(error)) from error


OPTIONS = (
    click.argument("folder", metavar="FOLDER", type=PATH_TYPE),
    click.option(
        "--out", metavar="OUT", type=PATH_TYPE, required=True, help="The folder to write to."
    ),
    click.option(
        "--seed",
        metavar="N",
        type=int,
        default=DEFAULT_SEED,
        help=f"Seed of the bootstrap (default {DEFAULT_SEED}).",
    ),
    click.option(
        "--bootstrap",
        metavar="N",
        type=int,
        default=DEFAULT_BOOTSTRAP,
        help=f"Number of cluster resamples (default {DEFAULT_BOOTSTRAP}).",
    ),
    click.option(
        "--margin",
        metavar="D",
        type=float,
        help="Non-inferiority margin, as a proportion (default: the protocol's).",
    ),
    click.option(
        "--alpha",
        metavar="A",
        type=float,
        default=DEFAULT_ALPHA,
        help=f"Two-sided error of the intervals (default {DEFAULT_ALPHA}).",
    ),
    click.option(
        "--confidence",
        type=click.Choice(CONFIDENCE_MEANINGS),
        help="What confidence means: how sure the rater is of the answer, or a rating of the"
        " finding (default: what the bundle says, else finding).",
    ),
    click.option(
        "--faulty",
        metavar="FILE",
        type=PATH_TYPE,
        help="Items that an expert review found faulty: CSV with a column item_id.",
    ),
    click.option(
        "--positive",
        metavar="OPTION",
        multiple=True,
        help="Option that counts as positive in sensitivity and specificity, as letter or text;"
        " may be repeated (default: the protocol's, else see docs/methods.md).",
    ),
    click.option(
        "--ordered",
        is_flag=True,
        help="Items that share an option set have ordered options, as for a grade: adds weighted"
        " kappa.",
    ),
    click.option(
        "--years-limit",
        metavar="YEARS",
        type=click.FloatRange(min=0),
        default=0,
        help="Compare readers with fewer years of experience with the others (default: the"
        " protocol's limit, else none).",
    ),
)


LANGUAGE = click.option(
    "--language",
    type=click.Choice(languages()),
    default=ENGLISH,
    help="Language of the page, the PDF and the figures (default en); all else is in English.",
)


@partial(_command, more_options=(LANGUAGE,))
def report(folder: Path, out: Path, options: Options, language: str) -> str:
    """Write the report of a bundle to OUT: page, PDF, tables, figures and files for a paper.

    report.html is one file that works without a network; each figure links to its SVG and PNG in
    figures/. The folder also has report.pdf, results.json, figures/ (SVG, PNG, plotly), tables/
    (CSV) and paper/ (Excel, LaTeX, BibTeX, methods text, checklists). See docs/methods.md and
    docs/languages.md.
    """
    write_report(read_bundle(folder), out, options, language=language)
    return f"{out / 'report.html'}"


@_command
def tables(folder: Path, out: Path, options: Options, _: str) -> str:
    """Write only OUT/tables/*.csv; an older report in OUT is removed.

    See docs/methods.md.
    """
    write_tables(read_bundle(folder), out, options)
    return f"{out / 'tables'}"


@program.command("leaderboard", epilog=EPILOG)
@click.argument("folders", metavar="FOLDER...", type=PATH_TYPE, nargs=-1, required=True)
@click.option("--out", metavar="OUT", type=PATH_TYPE, required=True, help="The folder to write to.")
@click.option(
    "--cards", metavar="FILE", type=PATH_TYPE, help="CSV of models: model, name, licence ..."
)
@click.option("--seed", metavar="N", type=int, default=DEFAULT_SEED, help="Seed of the bootstrap.")
def leaderboard(folders: tuple[Path, ...], out: Path, cards: Path | None, seed: int) -> None:
    """Write a leaderboard of one study or several as a static web page, with its numbers as CSV.

    FOLDER is a bundle (a folder or a .zip). OUT gets index.html, leaderboard.csv with every number
    and models.csv with the models in the public leaderboard's columns. See
    docs/methods.md#leaderboard.
    """
    try:
        bundles: dict[str, Bundle] = {}
        for folder in folders:
            bundle = read_bundle(folder)
            name = str(protocol_value(bundle.protocol, "name") or folder.stem)
            n_same_name = sum(known.partition(" (")[0] == name for known in bundles)
            bundles[f"{name} ({n_same_name + 1})" if n_same_name else name] = bundle
        write_leaderboard(bundles, out, Options(seed=seed), read_cards(cards) if cards else None)
    except AnalysisError as error:
        raise Refusal(str(error)) from error
    click.echo(f"{out / PAGE}")


@program.command("review", epilog=EPILOG)
@click.argument("verdicts", metavar="VERDICTS.csv", type=PATH_TYPE)
@click.option("--out", metavar="OUT", type=PATH_TYPE, required=True, help="The folder to write to.")
@click.option("--seed", metavar="N", type=int, default=DEFAULT_SEED, help="Seed of the bootstrap.")
def review(verdicts: Path, out: Path, seed: int) -> None:
    """Write the findings of an expert review, the agreement of its reviewers, and the faulty items.

    VERDICTS.csv comes from study review verdicts. OUT gets the share of faulty questions, the
    reviewers' agreement, and faulty.csv for --faulty. See docs/methods.md#expert-review.
    """
    try:
        click.echo(write_review(verdicts, out, Options(seed=seed)))
    except AnalysisError as error:
        raise Refusal(str(error)) from error


POWER_OPTIONS = (
    click.option(
        "--out", metavar="OUT", type=PATH_TYPE, required=True, help="The folder to write to."
    ),
    click.option(
        "--pilot", metavar="BUNDLE", type=PATH_TYPE, help="A pilot study: bundle or folder."
    ),
    click.option("--components", metavar="FILE.toml", type=PATH_TYPE, help="Variance components."),
    click.option("--published", type=click.Choice(list(PUBLISHED)), help="Published components."),
    click.option(
        "--comparison",
        type=click.Choice([item.value for item in Comparison]),
        default=Comparison.CONDITIONS.value,
        help="Two conditions, or a model against the panel of readers (default conditions).",
    ),
    click.option(
        "--effect", metavar="D", type=float, required=True, help="The true difference to detect."
    ),
    click.option("--margin", metavar="M", type=float, help="Margin of a non-inferiority test."),
    click.option(
        "--alpha",
        metavar="A",
        type=float,
        default=DEFAULT_ALPHA,
        help=f"Two-sided error; with a margin one-sided at half of it (default {DEFAULT_ALPHA}).",
    ),
    click.option("--readers", metavar="RANGE", required=True, help="FROM:TO[:STEP] or a number."),
    click.option("--cases", metavar="RANGE", required=True, help="FROM:TO[:STEP] or a number."),
    click.option(
        "--reads-per-case",
        "reads",
        metavar="K",
        type=int,
        help="Readers of each case, in each arm (default all; in blocks half of them).",
    ),
    click.option(
        "--design",
        type=click.Choice([item.value for item in PlanDesign]),
        default=PlanDesign.CROSSED.value,
        help="Who reads what (default crossed).",
    ),
    click.option(
        "--simulate",
        metavar="N",
        type=click.IntRange(min=0),
        default=0,
        help="Also simulate N studies of each size (default 0).",
    ),
    click.option("--seed", metavar="N", type=int, default=DEFAULT_SEED, help="Seed of all draws."),
)


def _power(
    out: Path,
    pilot: Path | None,
    components: Path | None,
    published: str | None,
    simulate: int,
    **chosen: Any,
) -> None:
    """Write the power of a planned study over readers and cases as a table and a figure.

    Give the variance components by --pilot, --components or --published. OUT gets tables/power.csv
    and figures/power.svg; the cases needed for 80 % power are printed. See docs/power.md.
    """
    try:
        sizes = Sizes(
            readers=parse_range(chosen.pop("readers"), "readers"),
            cases=parse_range(chosen.pop("cases"), "cases"),
        )
        comparison = Comparison(chosen["comparison"])
        chosen |= {"comparison": comparison, "design": PlanDesign(chosen["design"])}
        sources = _components(pilot, components, published, comparison)
        plans = [PowerPlan(components=source, **chosen) for source in sources]
        write_power(power_table(plans, sizes, simulate), out)
    except OptionsError as error:
        raise click.UsageError(str(error)) from error
    except AnalysisError as error:
        raise Refusal(str(error)) from error
    for plan in plans:
        click.echo(f"Components: {plan.components.source}")
        for line in cases_needed_lines(plan, sizes.readers):
            click.echo(line)
    click.echo(f"{out / 'tables' / 'power.csv'}")


def _components(
    pilot: Path | None, file: Path | None, name: str | None, comparison: Comparison
) -> tuple[Components, ...]:
    """Return the components from the source that the options name."""
    if sum(source is not None for source in (pilot, file, name)) != 1:
        raise OptionsError("give one of --pilot, --components and --published")
    if pilot is not None:
        return pilot_components(read_bundle(pilot), comparison)
    if file is not None:
        return (components_for(read_components(file), comparison),)
    return (published_components(str(name), comparison),)


for _option in reversed(POWER_OPTIONS):
    _power = _option(_power)
program.command("power", epilog=EPILOG)(_power)
