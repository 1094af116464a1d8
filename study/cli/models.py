"""Commands for models as raters: exam papers, predictions, and running a model."""

import ctypes
import json
import os
import shlex
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict, Unpack

import click

from study.base.errors import BadFile, BadInput, BeyondBudget, StudyError
from study.base.processes import run_forked
from study.base.text import quoted
from study.cli.program import PATH, acting, command, note, now, program
from study.exchange.exam_papers import FORMATS, MODEL, PaperForm, export_paper
from study.exchange.removing import remove_model
from study.models.answer_parser import RULES, STANDARD
from study.models.files import parse_columns, remember_columns, remembered_columns
from study.models.model_protocol import (
    MAX_TOKENS,
    TEMPERATURE,
    VIEWS,
    ModelProtocol,
    Order,
    Shown,
    resolution_of,
)
from study.models.models import (
    FIELDS,
    StudyPredictions,
    cards,
    current_model,
    describe_model,
    keep_model,
    read_model,
    withdraw_model,
)
from study.models.paper import paper_of_bank, paper_of_study
from study.models.predictions import columns_of
from study.models.rereading import keep_reread, reread
from study.models.running import Limits, RunProgress
from study.models.running_askers import PYTHON, Provider
from study.models.running_exam import ModelRun, PaperExam, RunResult, run_folder, run_model
from study.models.synthetic import add_synthetic
from study.store import Store
from study.store.studies import study_row

_MODEL = click.option("--model", metavar="NAME", required=True, help="The model's name.")
_ORDER = click.option(
    "--order",
    type=click.Choice([*map(str, Order)]),
    default="canonical",
    show_default=True,
    help="The order of the options.",
)
_CONDITION = click.option(
    "--condition",
    type=click.Choice([*map(str, Shown)]),
    default="image",
    show_default=True,
    help="What the model is shown.",
)
_VIEWS = click.option(
    "--views", type=click.Choice(VIEWS), default="all", show_default=True, help="Which views."
)
_TEMPERATURE = click.option(
    "--temperature",
    type=float,
    default=TEMPERATURE,
    show_default=True,
    help="Sampling temperature.",
)
_MAX_TOKENS = click.option(
    "--max-tokens",
    type=int,
    default=MAX_TOKENS,
    show_default=True,
    help="Maximum tokens per answer.",
)

_LOG_INTERVAL_S = 15.0
_SCREEN_INTERVAL_S = 1.0
_N_SHOWN_REASONS = 3
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # parameters of mallopt, from glibc's malloc.h
_END_REASONS = {
    "interrupted": "It was interrupted.",
    "budget": "The budget is exhausted.",
    "gone": "The last requests all failed.",
}


class _QuestionOptions(TypedDict):
    """The options that `models paper` and `models run` have in common."""

    order: str
    condition: str
    views: str
    resolution: str
    explanation: bool
    temperature: float
    max_tokens: int


class _PaperOptions(_QuestionOptions):
    """The other options of `models paper`."""

    formats: tuple[str, ...]
    model: str
    bank_ids: bool | None


class _RunOptions(_QuestionOptions):
    """The other options of `models run`."""

    model: str
    model_version: str
    provider: str
    called: str | None
    entry: str | None
    base_url: str
    runs: int
    template: str
    system: str | None
    seed: int | None
    settings: tuple[str, ...]
    max_connections: int | None
    retries: int
    timeout: int
    stream: bool
    input_price: float
    output_price: float
    budget: float | None
    limit: int | None
    keep_failed: bool


@program.group()
def models() -> None:
    """Models as raters."""


class _ModelOptions(TypedDict):
    """The options of `models add` that name the model."""

    model: str
    model_version: str
    replace: bool
    reason: str


@command(group=models, reads="files")
@click.argument("files", metavar="FILE ...", type=PATH, nargs=-1, required=True)
@_MODEL
@click.option("--model-version", metavar="V", default="", help="The model's revision.")
@click.option("--columns", metavar="id=COL,...", default="", help="The meaning of the columns.")
@click.option("--replace", is_flag=True, help="Withdraw the model of this name, with --reason.")
@click.option("--reason", metavar="TEXT", default="", help="Why the model is replaced.")
@click.option("--dry-run", is_flag=True, help="Print the contents of the file without storing it.")
def add(
    db: Path | str,
    study: str,
    files: tuple[Path, ...],
    columns: str,
    dry_run: bool,
    **entry: Unpack[_ModelOptions],
) -> None:
    """Add a model's predictions from the file of a known harness, or from any table with --columns.

    Predictions for items outside the study are ignored. The command prints the numbers of answered,
    unparsed, refused and absent items. --columns can assign the roles id, answer, output, run,
    condition, confidence, probability_A ..., order, prompt and explanation. Several files are
    several runs, or parts of a run. See docs/predictions-format.md.
    """
    store = Store(db)
    column_roles = parse_columns(columns) if columns else None
    try:
        findings = read_model(store, *files, study=study, column_roles=column_roles)
    except BeyondBudget:
        raise
    except BadFile as error:
        raise BadFile(f"{error}{_hint(store, files[0]) if column_roles is None else ''}") from error
    if not dry_run:
        keep_model(
            store,
            findings,
            model_id=entry["model"],
            model_version=entry["model_version"],
            replacing=entry["reason"] if entry["replace"] else None,
            acting=acting(),
        )
        if column_roles:
            remember_columns(store, findings.file.columns, column_roles, now())
    print_predictions(findings, entry["model"])
    if dry_run:
        print("Nothing was stored.")


def _hint(store: Store, file: Path) -> str:
    """Return advice on --columns, with the stored meaning of the columns if there is one."""
    try:
        columns = columns_of(file)
    except BadFile:
        return ""
    before = remembered_columns(store, columns)
    if not columns:
        return ""
    if before:
        words = ",".join(f"{role}={column}" for role, column in before.items())
        return f"\nThese columns were named before: --columns {shlex.quote(words)}"
    return "\nColumns can be named: --columns id=COLUMN,output=COLUMN"


def print_predictions(findings: StudyPredictions, model_id: str) -> None:
    """Print the counts of a model's predictions, and notes about them."""
    note(f"{findings.source_name}: {findings.file.shape}, {findings.file.n_rows:,} rows.")
    for words in findings.file.notes:
        note(words)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(findings.by_status.items()))
    print(
        f"{model_id}: {findings.n_cases} cases: {counts}, {findings.n_absent} absent; "
        f"predictions ignored for items outside the study: {findings.n_not_drawn}."
    )
    if findings.file.n_runs > 1:
        note(f"{findings.file.n_runs} runs; the first represents the model.")
    if len(findings.file.conditions) > 1:
        shown = findings.file.conditions
        condition_names = ", ".join(condition or "as the readers were shown" for condition in shown)
        note(f"conditions: {condition_names}; the first represents the model.")
    wrong = "" if findings.file.conditions == (Shown.OPEN_ENDED,) else " and count as wrong"
    if findings.n_absent:
        note(f"{findings.n_absent} of {findings.n_cases} cases are not in the file{wrong}.")
    if findings.n_unanswered:
        note(
            f"{findings.n_unanswered} of {findings.n_cases} cases are in the file without an "
            f"answer that was recognised{wrong}."
        )


@command("reread", group=models)
@_MODEL
@click.option(
    "--rules",
    type=click.Choice(sorted(RULES)),
    default=STANDARD,
    show_default=True,
    help="Rules for parsing the output.",
)
@click.option(
    "--reason", metavar="TEXT", default="", help="Replace the model's answers, for this reason."
)
def read_again(db: Path | str, study: str, model: str, rules: str, reason: str) -> None:
    """Parse a model's stored output again by stricter or looser rules.

    The command prints what would change. With --reason, it replaces the model's answers.
    """
    store = Store(db)
    read = reread(store, study=study, model_id=model, rules=rules)
    if reason:
        keep_reread(store, read, reason=reason, acting=acting())
    for (before, after), n in sorted(read.changed.items()):
        print(f"{n} {before} -> {after}")
    n_changed, n_rows = read.changed.total(), read.predictions.file.n_rows
    print(f"{model}: {n_changed} of {n_rows} change under the {rules} rules.")
    print("Stored." if reason else "Nothing was stored.")


@command(group=models)
@_MODEL
@click.option("--set", "values", metavar="FIELD=TEXT", multiple=True, help=", ".join(FIELDS))
def card(db: Path | str, study: str, model: str, values: tuple[str, ...]) -> None:
    """Print a model's card, for the leaderboard, or change its fields with --set.

    See docs/methods.md#leaderboard.
    """
    store = Store(db)
    before = dict(cards(store, study).get(model, {}))
    if values:
        if wrong := next((value for value in values if "=" not in value), ""):
            raise BadInput(f"--set {quoted(wrong)} is not of the form FIELD=TEXT")
        before |= dict(value.split("=", 1) for value in values)
        describe_model(store, study=study, model_id=model, card=before, acting=acting())
    for field, words in before.items():
        print(f"{field}: {words}")
    if not before:
        with store.look() as look:
            current_model(look, study_row(look, study), model)
        print(
            f"{model} has no model card. Write one with --set FIELD=TEXT. Fields: "
            f"{', '.join(FIELDS)}."
        )


@command(group=models)
@_MODEL
@click.option("--reason", metavar="TEXT", required=True, help="Kept in the audit trail.")
def withdraw(db: Path | str, study: str, model: str, reason: str) -> None:
    """Withdraw a model: later bundles, tables and figures do not contain it.

    Its predictions are kept in the store. The audit trail records who withdrew it, when and why.
    See docs/predictions-format.md#withdrawing-and-replacing.
    """
    withdraw_model(Store(db), study=study, model_id=model, reason=reason, acting=acting())
    print(f"Withdrawn: {model}. Its predictions are kept in the store but not used.")


@command(group=models)
@_MODEL
@click.option("--reason", metavar="TEXT", required=True, help="Kept in the audit trail.")
@click.option("--confirm", metavar="NAME", required=True, help="The model's name once more.")
def remove(db: Path | str, study: str, model: str, reason: str, confirm: str) -> None:
    """Remove the predictions of a withdrawn model, and print a certificate.

    The audit trail keeps the model's name, the number of predictions and their hash. See
    docs/removal.md.
    """
    certificate = remove_model(
        Store(db), study=study, model_id=model, typed=confirm, reason=reason, acting=acting()
    )
    print(certificate.text)


@command(group=models)
@_MODEL
@click.option(
    "--accuracy", metavar="P", type=float, required=True, help="Share of correct answers."
)
@click.option("--seed", metavar="N", type=int, required=True, help="Decides which are correct.")
def synthetic(db: Path | str, study: str, model: str, accuracy: float, seed: int) -> None:
    """Add a synthetic model with a given accuracy, for trial runs and planted advice.

    Every export labels it synthetic. See docs/designs.md.
    """
    n_correct = add_synthetic(
        Store(db), study=study, model_id=model, accuracy=accuracy, seed=seed, acting=acting()
    )
    print(f"Added {model} (synthetic): {n_correct} correct answers.")


@command(of_study=False, group=models)
@click.option("--study", metavar="NAME", help="The study whose drawn cases are asked.")
@click.option("--bank", metavar="NAME", help="A question bank, instead of a study.")
@click.option("--split", metavar="NAME", default="", help="Split of the bank (default: all).")
@click.option("--out", metavar="DIR", type=PATH, required=True, help="A new folder, or a .zip.")
@click.option(
    "--format", "formats", type=click.Choice(tuple(FORMATS)), multiple=True, help="Default: all."
)
@_ORDER
@_CONDITION
@_VIEWS
@click.option(
    "--resolution",
    metavar="full|quarter|PIXELS",
    default="full",
    show_default=True,
    help="Size of the images.",
)
@click.option("--explanation", is_flag=True, help="Ask for a reason before the answer.")
@_TEMPERATURE
@_MAX_TOKENS
@click.option("--model", metavar="NAME", default=MODEL, help="Named in batch files.")
@click.option(
    "--bank-ids/--own-ids", default=None, help="Default: the bank's, unless they reveal answers."
)
def paper(
    db: Path | str,
    study: str | None,
    bank: str | None,
    split: str,
    out: Path,
    **options: Unpack[_PaperOptions],
) -> None:
    """Write the drawn cases as exam papers for models, without the reference standard.

    The images are those that readers see. By default, the bank's IDs are used only if they do not
    reveal answers; --own-ids and --bank-ids select the IDs explicitly. With --bank instead of
    --study, a complete bank is written. The paper is recorded as a download. See
    docs/exam-paper.md.
    """
    if bool(study) == bool(bank) or (split and study):
        raise click.UsageError("Name --study, or --bank with or without --split.")
    model_protocol = _protocol(options)
    formats = options["formats"] or tuple(FORMATS)
    store = Store(db)
    written_paper = (
        paper_of_study(store, study, model_protocol)
        if study
        else paper_of_bank(store, bank or "", model_protocol, split=split)
    )
    bank_ids = export_paper(
        store,
        written_paper,
        out,
        form=PaperForm(formats=formats, model=options["model"], bank_ids=options["bank_ids"]),
        acting=acting(),
        progress=_print_rendered if sys.stderr.isatty() else lambda n_done, total: None,
    )
    if written_paper.provenance.warning:
        print(written_paper.provenance.warning, file=sys.stderr)
    plural = "s" * (len(written_paper.items) != 1)
    print(f"Wrote {len(written_paper.items)} item{plural} to {out} as {', '.join(formats)}.")
    if not bank_ids:
        print("Items have the paper's IDs, not the bank's. Predictions may use either.")
    print(f"paper {written_paper.sha256}")


def _print_rendered(n_done: int, total: int) -> None:
    end = "\n" if n_done == total else ""
    print(f"\rImages rendered: {n_done:,} of {total:,}", end=end, file=sys.stderr)


@command("run", group=models)
@click.option("--model", metavar="NAME", required=True, help="The model's name in the study.")
@click.option("--model-version", metavar="V", default="", help="The model's revision.")
@click.option("--provider", metavar="P", required=True, help="openai-api, vllm, google, python ...")
@click.option("--called", metavar="TEXT", help="The provider's name for the model, if not NAME.")
@click.option("--entry", metavar="MODULE:FUNCTION", help="The function for --provider python.")
@click.option("--base-url", metavar="URL", default="", help="The server's address.")
@click.option("--runs", type=click.IntRange(1, 1000), default=1, help="Number of runs.")
@click.option("--dry-run", is_flag=True, help="Show one prompt with its images; send no request.")
@_CONDITION
@_VIEWS
@click.option(
    "--resolution",
    metavar="full|quarter|WIDTH",
    default="full",
    show_default=True,
    help="Size of the images.",
)
@_ORDER
@click.option("--template", metavar="V", default="1", help="The prompt template's version.")
@click.option("--system", metavar="TEXT", help="A system prompt instead of the template's.")
@click.option("--explanation", is_flag=True, help="Ask for an explanation before the answer.")
@_TEMPERATURE
@_MAX_TOKENS
@click.option("--seed", type=int, help="Seed of the first run; later runs have the next seeds.")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="A setting in Inspect's configuration.",
)
@click.option("--max-connections", type=click.IntRange(1, 1000), help="[default: 16; python: 1]")
@click.option(
    "--retries", type=click.IntRange(0, 100), default=5, show_default=True, help="Per request."
)
@click.option("--timeout", type=click.IntRange(1), default=300, help="Seconds; default 300.")
@click.option("--stream", is_flag=True, help="Receive answers in pieces.")
@click.option(
    "--input-price", type=click.FloatRange(0), default=0.0, help="Price per million input tokens."
)
@click.option(
    "--output-price", type=click.FloatRange(0), default=0.0, help="Price per million output tokens."
)
@click.option("--budget", type=click.FloatRange(0), help="Maximum cost of the run.")
@click.option("--limit", type=click.IntRange(1), help="Ask only the first N questions, as a trial.")
@click.option("--keep-failed", is_flag=True, help="Count failed requests as not answered.")
def run(db: Path | str, study: str, dry_run: bool, **options: Unpack[_RunOptions]) -> int | None:
    """Run a model on a study's questions; the finished run is stored as a model.

    Run the same command again to resume an interrupted run: answered questions are not asked
    again. API keys are read from the environment.
    """
    store = Store(db)
    if options["budget"] is not None and not (options["input_price"] or options["output_price"]):
        raise BadInput("A budget needs prices: --input-price and --output-price.")
    seed, runs = options["seed"], options["runs"]
    seeds = () if seed is None else tuple(range(seed, seed + runs))
    model_protocol = _protocol(
        options,
        template=options["template"],
        system=options["system"],
        runs=runs,
        seeds=seeds,
    )
    paper = paper_of_study(store, study, model_protocol, rater=options["model"])
    if dry_run:
        _print_prompt(
            PaperExam(paper=paper), run_folder(store, study=study, model_id=options["model"])
        )
        return None
    provider = _provider(options)
    limits = Limits(
        runs=runs,
        seeds=seeds,
        connections=provider.connections,
        input_price=options["input_price"],
        output_price=options["output_price"],
        budget=options["budget"],
    )
    model_run = ModelRun(
        paper=paper,
        model_id=options["model"],
        model_version=options["model_version"],
        provider=provider,
        limits=limits,
        most=options["limit"],
        keep_failed=options["keep_failed"],
    )
    return _in_own_process(lambda parent_pipe: _run(store, model_run, parent_pipe))


def _protocol(options: _QuestionOptions, **further: Any) -> ModelProtocol:
    return ModelProtocol(
        order=Order(options["order"]),
        condition=Shown(options["condition"]),
        views=options["views"],
        resolution=resolution_of(options["resolution"]),
        explanation=options["explanation"],
        temperature=options["temperature"],
        max_tokens=options["max_tokens"],
        **further,
    )


def _provider(options: _RunOptions) -> Provider:
    python = options["provider"] == PYTHON
    if python != (options["entry"] is not None):
        raise BadInput("--provider python needs --entry MODULE:FUNCTION; no other provider has it.")
    settings: dict[str, Any] = {
        "temperature": options["temperature"],
        "max_tokens": options["max_tokens"],
    }
    for setting in options["settings"]:
        name, mark, value = setting.partition("=")
        if not mark or "key" in name:
            raise BadInput(
                f"--set {quoted(setting)} is not of the form NAME=VALUE, or names a key."
            )
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return Provider(
        name=options["provider"],
        model=options["entry"] or options["called"] or options["model"],
        base_url=options["base_url"],
        settings={} if python else settings,
        connections=options["max_connections"] or (1 if python else 16),
        retries=options["retries"],
        timeout_s=options["timeout"],
        stream=options["stream"],
    )


def _print_prompt(exam: PaperExam, folder: Path) -> None:
    """Print a complete prompt, and write its images to files."""
    question = exam.question(exam.item_ids[0])
    folder = folder / "dry-run"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    print(f"System: {question.system}\n")
    for number, film in enumerate(question.films, start=1):
        path = folder / f"film-{number}.png"
        path.write_bytes(film)
        print(f"[Image {number}: {path}]")
    print(f"\n{question.text}\n")
    runs = exam.paper.asked.runs
    plural = "s" * (len(exam.item_ids) != 1)
    print(f"{len(exam.item_ids):,} question{plural}, runs: {runs}. No model was contacted.")


def _run(store: Store, run: ModelRun, parent_pipe: int) -> int:
    display = _ProgressLine()
    result = run_model(
        store,
        run,
        on_progress=display,
        wait=lambda: note("another process is asking this model; waiting for it to end."),
        parent_pipe=parent_pipe,
        now=now,
    )
    display.end()
    if result is None:
        print(f"{run.model_id}: all questions have been answered and are stored as a model.")
        return 0
    return _print_result(result, run)


def _print_result(result: RunResult, run: ModelRun) -> int:
    with suppress(OSError):  # the terminal was closed
        cost = f"; {result.spent:.2f} spent" if result.spent else ""
        print(f"{run.model_id}: {result.n_answered} of {result.n_asks} questions answered{cost}.")
        for reason, n in result.outcome.reasons.most_common(_N_SHOWN_REASONS):
            note(f"Failed requests: {n} ({reason})")
        if result.kept:
            print_predictions(result.kept, run.model_id)
        else:
            note(f"not stored as a model yet; the answers are in {result.folder}.")
        sys.stdout.flush()
    if result.kept or (run.most and result.n_answered >= result.n_asks):
        return 0
    why = _END_REASONS.get(result.outcome.ended, "Some requests failed.")
    raise StudyError(f"{why} Run the same command again to ask the remaining questions.")


class _ProgressLine:
    """Prints the progress of a run on a line of the terminal, or at intervals in a log."""

    def __init__(self) -> None:
        self._on_screen = sys.stderr.isatty()
        self._every = _SCREEN_INTERVAL_S if self._on_screen else _LOG_INTERVAL_S
        self._last = time.monotonic()

    def __call__(self, progress: RunProgress) -> None:
        if time.monotonic() - self._last < self._every:
            return
        self._last = time.monotonic()
        left = progress.seconds_left
        parts = [
            f"{progress.n_answered:,} of {progress.n_asks:,} answered",
            f"{progress.n_failed:,} failed" if progress.n_failed else "",
            f"{progress.per_second:.1f} a second",
            "" if left is None else f"{left // 3600:.0f} h {left % 3600 // 60:.0f} min left",
            f"{progress.spent:.2f} spent" if progress.spent else "",
        ]
        words = ", ".join(part for part in parts if part)
        with suppress(OSError):
            print(
                f"\r{words}\033[K" if self._on_screen else words,
                file=sys.stderr,
                flush=True,
                end="" if self._on_screen else "\n",
            )

    def end(self) -> None:
        """End the line."""
        if self._on_screen:
            with suppress(OSError):
                print(file=sys.stderr)


def _in_own_process(work: Callable[[int], int]) -> int:
    """Do work in another process, which outlives this process, and return its exit status.

    If this process is killed, some answers have been requested and must be paid for. The other
    process notices that the pipe was closed, sends no more requests, and stores the answers that
    still arrive.
    """
    parent_pipe, watched = os.pipe()

    def run_detached() -> int:
        try:
            os.close(watched)
            os.setsid()  # the command handles a closed or interrupted terminal
            _release_large_blocks()
            return work(parent_pipe)
        except StudyError as error:
            with suppress(OSError):
                print(error, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        return 1

    child = run_forked(run_detached)
    os.close(parent_pipe)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os.kill(child, signal.SIGTERM))
    _, status = os.waitpid(child, 0)
    os.close(watched)
    return os.waitstatus_to_exitcode(status)


def _release_large_blocks() -> None:
    """Make glibc free the memory of images immediately, so that it is not fragmented."""
    with suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 1 << 17)
        mallopt(_ARENA_MAX, 2)
