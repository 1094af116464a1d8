"""The command that has a model answer a study's questions here, and its progress on the screen."""

import ctypes
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from study.base.errors import BadInput, StudyError
from study.cli.models import models, print_found
from study.cli.program import command, note, now
from study.models.model_protocol import ModelProtocol, Order, Shown, resolution_of
from study.models.paper import Paper, paper_of_study
from study.models.running import Limits, Progress
from study.models.running_askers import PYTHON, Provider
from study.models.running_exam import PaperExam, Ran, run_folder, run_model
from study.store import Store

_EVERY_S = 15.0
_EVERY_S_ON_SCREEN = 1.0
_REASONS = 3
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # of mallopt, as glibc's malloc.h has them
_WHY = {
    "interrupted": "It was interrupted.",
    "budget": "The budget allows no more.",
    "gone": "The last requests were all in vain.",
}


@command("run", group=models)
@click.option("--model", metavar="NAME", required=True, help="What it is called in the study.")
@click.option("--model-version", metavar="V", default="", help="Its revision.")
@click.option("--provider", metavar="P", required=True, help="openai-api, vllm, google, python ...")
@click.option("--called", metavar="TEXT", help="What the provider calls it, if not NAME.")
@click.option("--entry", metavar="MODULE:FUNCTION", help="The function, of --provider python.")
@click.option("--base-url", metavar="URL", default="", help="The server's address.")
@click.option("--runs", type=click.IntRange(1, 1000), default=1, help="How often it is asked.")
@click.option("--dry-run", is_flag=True, help="Show one prompt with its films, and ask nobody.")
@click.option("--condition", type=click.Choice([one.value for one in Shown]), default="image")
@click.option("--views", type=click.Choice(["all", "first"]), default="all")
@click.option("--resolution", metavar="full|quarter|WIDTH", default="full")
@click.option("--order", type=click.Choice([one.value for one in Order]), default="canonical")
@click.option("--template", metavar="V", default="1", help="The prompt template's version.")
@click.option("--system", metavar="TEXT", help="A system prompt, if not the template's.")
@click.option("--explanation", is_flag=True, help="Have it explain before it answers.")
@click.option("--temperature", type=float, default=0.0, show_default=True)
@click.option("--max-tokens", type=int, default=1024, show_default=True)
@click.option("--seed", type=int, help="Of the first run; each later one has the next.")
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Of Inspect's config.")
@click.option("--max-connections", type=click.IntRange(1, 1000), help="[default: 16; python: 1]")
@click.option("--retries", type=click.IntRange(0, 100), default=5, show_default=True)
@click.option("--timeout", type=click.IntRange(1), default=300, help="Seconds; default 300.")
@click.option("--stream", is_flag=True, help="Have answers come piece by piece.")
@click.option("--input-price", type=click.FloatRange(0), default=0.0, help="Of a million tokens.")
@click.option("--output-price", type=click.FloatRange(0), default=0.0, help="The same, of output.")
@click.option("--budget", type=click.FloatRange(0), help="What the run may cost in all.")
@click.option("--limit", type=click.IntRange(1), help="Ask the first so many, as a trial.")
@click.option("--keep-failed", is_flag=True, help="Count failed requests as not answered.")
def run(db: Path, study: str, dry_run: bool, **given: Any) -> int | None:
    """Have a model answer a study's questions; a finished run is kept as a model.

    The same line again goes on where a run was stopped: nothing answered is asked again. Keys are
    taken from the environment.
    """
    store = Store(db)
    if given["budget"] is not None and not (given["input_price"] or given["output_price"]):
        raise BadInput("A budget needs prices: --input-price and --output-price.")
    asked = _protocol(given)
    paper = paper_of_study(store, study, asked, rater=given["model"])
    if dry_run:
        _show(PaperExam(paper=paper), run_folder(store, study=study, model_id=given["model"]))
        return None
    provider, limits = _provider(given), _limits(given, asked)
    return _aside(lambda alone: _run(store, paper, provider, limits, given, alone))


def _protocol(given: dict[str, Any]) -> ModelProtocol:
    seed, runs = given["seed"], given["runs"]
    return ModelProtocol(
        **{key: given[key] for key in ("template", "system", "views", "explanation", "runs")},
        **{key: given[key] for key in ("temperature", "max_tokens")},
        condition=Shown(given["condition"]),
        order=Order(given["order"]),
        resolution=resolution_of(given["resolution"]),
        seeds=() if seed is None else tuple(range(seed, seed + runs)),
    )


def _provider(given: dict[str, Any]) -> Provider:
    python = given["provider"] == PYTHON
    if python != (given["entry"] is not None):
        raise BadInput("--entry MODULE:FUNCTION goes with --provider python, and only with it.")
    settings = {"temperature": given["temperature"], "max_tokens": given["max_tokens"]}
    for one in given["settings"]:
        name, mark, value = one.partition("=")
        if not mark or "key" in name:
            raise BadInput(f"--set {one!r} is not of the form NAME=VALUE, or names a key.")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return Provider(
        name=given["provider"],
        model=given["entry"] or given["called"] or given["model"],
        base_url=given["base_url"],
        settings={} if python else settings,
        connections=given["max_connections"] or (1 if python else 16),
        retries=given["retries"],
        timeout_s=given["timeout"],
        stream=given["stream"],
    )


def _limits(given: dict[str, Any], asked: ModelProtocol) -> Limits:
    return Limits(
        runs=asked.runs,
        seeds=asked.seeds,
        connections=given["max_connections"] or (1 if given["provider"] == PYTHON else 16),
        **{key: given[key] for key in ("input_price", "output_price", "budget")},
    )


def _show(exam: PaperExam, folder: Path) -> None:
    """Print one whole prompt, its films beside it in files."""
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
    print(f"{len(exam.item_ids):,} questions, {runs} run(s). Nobody was asked.")


def _run(
    store: Store,
    paper: Paper,
    provider: Provider,
    limits: Limits,
    given: dict[str, Any],
    alone: int,
) -> int:
    told = _Told()
    ran = run_model(
        store,
        paper,
        model_id=given["model"],
        model_version=given["model_version"],
        provider=provider,
        limits=limits,
        most=given["limit"],
        keep_failed=given["keep_failed"],
        tell=told,
        wait=lambda: note("another process is asking this model; waiting for it to end."),
        alone=alone,
        now=now,
    )
    told.end()
    if ran is None:
        print(f"{given['model']}: all was answered before, and is kept as a model.")
        return 0
    return _print(ran, given)


def _print(ran: Ran, given: dict[str, Any]) -> int:
    with suppress(OSError):  # of a terminal that is gone
        cost = f"; {ran.spent:.2f} spent" if ran.spent else ""
        print(f"{given['model']}: {ran.n_answered} of {ran.n_asks} questions answered{cost}.")
        for reason, n in ran.asked.reasons.most_common(_REASONS):
            note(f"{n} request(s) failed: {reason}")
        if ran.kept:
            print_found(ran.kept, given["model"])
        else:
            note(f"not kept as a model yet; the answers are in {ran.folder}.")
        sys.stdout.flush()
    if ran.kept or (given["limit"] and ran.n_answered >= ran.n_asks):
        return 0
    why = _WHY.get(ran.asked.ended, "Some requests failed.")
    raise StudyError(f"{why} The same command again asks what is missing.")


class _Told:
    """Tells how far a run is: on one line of a screen, or every so often in a log."""

    def __init__(self) -> None:
        self._on_screen = sys.stderr.isatty()
        self._every = _EVERY_S_ON_SCREEN if self._on_screen else _EVERY_S
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
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
        """Leave the line."""
        if self._on_screen:
            with suppress(OSError):
                print(file=sys.stderr)


def _aside(work: Callable[[int], int]) -> int:
    """Do work in a process of its own, which outlives this one, and return its exit status.

    Where this process is killed, answers that are under way were asked for and are paid for: the
    other is told by the end of a pipe, asks for no more, and writes down what still comes.
    """
    alone, watched = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    child = os.fork()
    if child:
        os.close(alone)
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, lambda *_: os.kill(child, signal.SIGTERM))
        _, status = os.waitpid(child, 0)
        os.close(watched)
        return os.waitstatus_to_exitcode(status)
    status = 1
    try:
        os.close(watched)
        os.setsid()  # a terminal that closes, or is interrupted, is the other's concern
        _give_large_blocks_back()
        status = work(alone)
    except StudyError as error:
        with suppress(OSError):
            print(error, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _give_large_blocks_back() -> None:
    """Have glibc return an image's memory at once: images come and go, and would leave holes."""
    with suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 1 << 17)
        mallopt(_ARENA_MAX, 2)
