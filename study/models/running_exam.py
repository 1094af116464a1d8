"""Asks a model a study's questions under a locked protocol, and stores the answers as a model."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from study.base.actor import COMMAND_LINE, Acting
from study.base.canonical import sha256_of
from study.base.text import check_name
from study.models.answer_parser import open_answer_in
from study.models.models import (
    StudyPredictions,
    check_free,
    find_model,
    keep_model,
    key_of,
    read_model,
)
from study.models.paper import Paper, PaperFilm, PaperItem, prompt_of
from study.models.predictions import Prediction
from study.models.running import (
    Journal,
    Limits,
    RunOutcome,
    RunProgress,
    all_asks,
    answers_in,
    ask_all,
    failures_in,
    folder_of,
    opened_journal,
)
from study.models.running_askers import Provider, Request, asker_for
from study.store import Store, events, models
from study.store.events import EventKind
from study.store.studies import study_row

JOURNAL_COLUMNS = {
    "id": "item_id",
    "output": "output",
    "run": "run",
    "condition": "condition",
    "order": "shown_order",
    "finish": "stop",
}
"""The roles of the columns when a journal is read as a file of predictions."""

_CACHE_BYTES = 64_000_000  # enough for the films of about 250 cases of ReXVQA

_CIRCUMSTANCE_KEYS = (
    *("model", "server", "at_utc", "input_tokens", "output_tokens", "latency_ms"),
    *("stop", "prompt_sha256", "thinking"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a session.

    `kept` is what was stored as a model; None if the run is not complete.
    """

    outcome: RunOutcome
    n_asks: int
    n_answered: int
    spent: float
    folder: Path
    kept: StudyPredictions | None


@dataclass(slots=True, kw_only=True)
class PaperExam:
    """The questions of a paper; films are rendered when their question is asked.

    The latest films, up to `_CACHE_BYTES`, are cached for the next run and for other questions.
    `most` limits the paper to its first items.
    """

    paper: Paper
    most: int | None = None
    _items: dict[str, PaperItem] = field(init=False)
    _cache: OrderedDict[str, bytes] = field(default_factory=OrderedDict)
    _cached_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._items = {item.item_id: item for item in self.paper.items[: self.most]}

    @property
    def item_ids(self) -> Sequence[str]:
        """Return the items in the paper's order."""
        return tuple(self._items)

    def question(self, item_id: str) -> Request:
        """Return the request for an item."""
        item, model_protocol = self._items[item_id], self.paper.asked
        prompt = prompt_of(item, model_protocol)
        return Request(
            item_id=item_id,
            system=prompt.system,
            text=prompt.text,
            films=tuple(map(self._film, item.films)),
            order=item.shown_order,
            condition=str(model_protocol.condition),
        )

    def _film(self, film: PaperFilm) -> bytes:
        with self._lock:
            if film.sha256 in self._cache:
                self._cache.move_to_end(film.sha256)
                return self._cache[film.sha256]
        png = film.png(self.paper.asked.resolution)
        with self._lock:
            if film.sha256 not in self._cache:
                self._cache[film.sha256] = png
                self._cached_bytes += len(png)
            while self._cached_bytes > _CACHE_BYTES:
                self._cached_bytes -= len(self._cache.popitem(last=False)[1])
        return png


def run_folder(store: Store, *, study: str, model_id: str) -> Path:
    """Return the folder for the answers of the next model of a name."""
    with store.look() as look:
        edition = models.next_edition(look, study_row(look, study).id, model_id)
    return folder_of(store.companion_path("runs"), study=study, model=model_id, edition=edition)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """A run of a model on a study's paper.

    Parameters
    ----------
    paper
        The questions, and how they are asked; a run can be resumed only with the same paper.
    limits
        Prices and the budget; the runs and seeds are those of the paper.
    most
        Ask only the first items of the paper, as a trial: nothing is stored in the study, and the
        run can be resumed later.
    keep_failed
        Store the run even if requests failed; those items count as not answered.
    """

    paper: Paper
    model_id: str
    model_version: str = ""
    provider: Provider
    limits: Limits
    most: int | None = None
    keep_failed: bool = False

    @property
    def protocol(self) -> dict[str, Any]:
        """Return the protocol under which the model is asked."""
        return {
            **self.provider.settings,
            **self.paper.asked.as_json(),
            "paper_sha256": self.paper.sha256,
            "provider": self.provider.name,
            "asked_as": self.provider.model,
            "model_version": self.model_version,
        }

    @property
    def detail(self) -> dict[str, Any]:
        """Return the protocol and its hash, as events record them."""
        return {"model_protocol": self.protocol, "model_protocol_sha256": sha256_of(self.protocol)}


def run_model(
    store: Store,
    run: ModelRun,
    *,
    on_progress: Callable[[RunProgress], None] = lambda _: None,
    wait: Callable[[], None] | None = None,
    parent_pipe: int | None = None,
    now: Callable[[], datetime],
) -> RunResult | None:
    """Ask a model the remaining questions of a run; store a complete run as a model.

    Return None if the run was already stored.

    Parameters
    ----------
    wait
        Called before waiting for another process with the same run; None to refuse instead.
    parent_pipe
        As in `ask_all`.

    Raises
    ------
    NotNow
        The name is taken, or the run was started under another protocol or by another process.
    StudyError
        As for `asker_for` and `ask_all`.
    """
    check_name(run.model_id, "model")
    if run.model_version:
        check_name(run.model_version, "model's version")
    study = run.paper.study
    if _is_kept(store, run):
        return None
    check_free(store, study=study, model_id=run.model_id)
    asker = asker_for(run.provider)
    exam = PaperExam(paper=run.paper, most=run.most)
    folder = run_folder(store, study=study, model_id=run.model_id)
    with opened_journal(folder, run.protocol, wait=wait) as journal:
        if _is_kept(store, run):  # the process that held the journal has stored the run
            return None
        _record_start(store, run, Acting(by=COMMAND_LINE, now=now()))
        outcome = ask_all(
            exam, asker, journal, run.limits, on_progress=on_progress, parent_pipe=parent_pipe
        )
        stored = (
            _store_answers(store, run, journal, Acting(by=COMMAND_LINE, now=now()))
            if _is_complete(run, journal, outcome)
            else None
        )
        return RunResult(
            outcome=outcome,
            n_asks=len(exam.item_ids) * run.limits.runs,
            n_answered=len(journal.done),
            spent=run.limits.spent(journal.totals),
            folder=folder,
            kept=stored,
        )


def _is_kept(store: Store, run: ModelRun) -> bool:
    """Return whether the model in force under this name was asked under the same protocol."""
    study = run.paper.study
    with store.look() as look:
        model = find_model(look, study_row(look, study), run.model_id)
        added = events.of_kind(look, events.study_chain(study), EventKind.MODEL_ADDED)
    return model is not None and any(
        key_of(detail) == model.key and detail.items() >= run.detail.items() for detail in added
    )


def _is_complete(run: ModelRun, journal: Journal, outcome: RunOutcome) -> bool:
    if run.most is not None or outcome.ended != "asked" or not journal.done:
        return False
    item_ids = [item.item_id for item in run.paper.items]
    missing = (ask for ask in all_asks(item_ids, run.limits.runs) if ask not in journal.done)
    return run.keep_failed or next(missing, None) is None


def _record_start(store: Store, run: ModelRun, acting: Acting) -> None:
    """Record once in the trail that a model is asked, and under which protocol."""
    study, detail = run.paper.study, {"model_id": run.model_id, **run.detail}
    with store.change() as change:
        chain = events.study_chain(study)
        earlier = events.of_kind(change, chain, EventKind.MODEL_ASKED)
        if not any(recorded.items() >= detail.items() for recorded in earlier):
            events.record(change, study, acting, kind=EventKind.MODEL_ASKED, detail=detail)


def _store_answers(
    store: Store, run: ModelRun, journal: Journal, acting: Acting
) -> StudyPredictions:
    """Store the answers as predictions, parsed like those in a file, with their circumstances."""
    paper = run.paper
    model = read_model(store, journal.answers, study=paper.study, column_roles=JOURNAL_COLUMNS)
    answers = {(row["item_id"], row["run"]): row for row in answers_in(journal.answers)}
    has_explanations = paper.asked.explanation
    predictions = [
        _with_circumstances(prediction, answers, has_explanations)
        for prediction in model.file.predictions
    ]
    failures = {(row["item_id"], row["run"]): row["failed"] for row in failures_in(journal.folder)}
    runs = paper.asked.runs
    predictions += [
        Prediction(
            item_id=item_id,
            answer=None,
            status="skipped",
            raw_answer="",
            condition=str(paper.asked.condition),
            run=str(number) if runs > 1 else "",
            repeat=number,
            detail={"failed": failures.get((item_id, number), "")},
        )
        for item_id, number in all_asks([item.item_id for item in paper.items], runs)
        if (item_id, number) not in journal.done
    ]
    model = replace(model, file=replace(model.file, predictions=tuple(predictions)))
    keep_model(
        store,
        model,
        model_id=run.model_id,
        model_version=run.model_version,
        facts=run.detail,
        acting=acting,
    )
    return model


def _with_circumstances(
    prediction: Prediction,
    answers: Mapping[tuple[str, int], Mapping[str, Any]],
    has_explanations: bool,
) -> Prediction:
    run = int(prediction.run or 1)
    answer = answers[prediction.item_id, run]
    circumstances = {
        key: answer[key] for key in _CIRCUMSTANCE_KEYS if answer[key] not in (None, "")
    }
    declined = answer["stop"] == "content_filter"
    explanation = open_answer_in(prediction.raw_answer)[1] if has_explanations else ""
    return replace(
        prediction,
        repeat=run,
        answer=None if declined else prediction.answer,
        status="refused" if declined else prediction.status,
        detail={
            **({"explanation": explanation} if explanation else {}),
            **prediction.detail,
            **circumstances,
        },
    )
