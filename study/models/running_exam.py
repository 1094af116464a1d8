"""Has a model sit a study's exam: asked under a locked protocol, then kept like any model."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of
from study.base.text import check_name
from study.models.answer_parser import words_in
from study.models.models import Found, check_free, keep_model, key_of, model_in_force, read_model
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

MEANT = {
    "id": "item_id",
    "output": "output",
    "run": "run",
    "condition": "condition",
    "order": "shown_order",
    "finish": "stop",
}
"""What the columns of a journal mean to whoever reads it as a file of predictions."""

_KEPT_BYTES = 64_000_000  # of films: those of about 250 cases of the release

_CIRCUMSTANCES = (
    *("model", "server", "at_utc", "input_tokens", "output_tokens", "latency_ms"),
    *("stop", "prompt_sha256", "thinking"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of a sitting; `kept` is None where the run is not complete."""

    asked: RunOutcome
    n_asks: int
    n_answered: int
    spent: float
    folder: Path
    kept: Found | None


@dataclass(slots=True, kw_only=True)
class PaperExam:
    """A paper's questions one by one; a film is made when its question is asked.

    The latest films stay in memory, up to `_KEPT_BYTES`, for the next run and for other questions.
    """

    paper: Paper
    most: int | None = None
    _items: dict[str, PaperItem] = field(init=False)
    _kept: OrderedDict[str, bytes] = field(default_factory=OrderedDict)
    _kept_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._items = {one.item_id: one for one in self.paper.items[: self.most]}

    @property
    def item_ids(self) -> Sequence[str]:
        """Return the items in the paper's order."""
        return tuple(self._items)

    def question(self, item_id: str) -> Request:
        """Return what a model is asked of an item."""
        item, asked = self._items[item_id], self.paper.asked
        prompt = prompt_of(item, asked)
        return Request(
            item_id=item_id,
            system=prompt.system,
            text=prompt.text,
            films=tuple(map(self._film, item.films)),
            order=item.shown_order,
            condition=str(asked.condition),
        )

    def _film(self, film: PaperFilm) -> bytes:
        with self._lock:
            if film.sha256 in self._kept:
                self._kept.move_to_end(film.sha256)
                return self._kept[film.sha256]
        made = film.png(self.paper.asked.resolution)
        with self._lock:
            if film.sha256 not in self._kept:
                self._kept[film.sha256] = made
                self._kept_bytes += len(made)
            while self._kept_bytes > _KEPT_BYTES:
                self._kept_bytes -= len(self._kept.popitem(last=False)[1])
        return made


def run_folder(store: Store, *, study: str, model_id: str) -> Path:
    """Return where the answers of the model that would be asked next under a name are kept."""
    with store.look() as look:
        edition = models.next_edition(look, study_row(look, study).id, model_id)
    return folder_of(store.path, study=study, model=model_id, edition=edition)


def run_model(
    store: Store,
    paper: Paper,
    *,
    model_id: str,
    model_version: str = "",
    provider: Provider,
    limits: Limits,
    most: int | None = None,
    keep_failed: bool = False,
    by: By = COMMAND_LINE,
    tell: Callable[[RunProgress], None] = lambda _: None,
    wait: Callable[[], None] | None = None,
    alone: int | None = None,
    now: Callable[[], datetime],
) -> Ran | None:
    """Ask a model what it was not asked yet of a study's paper; a complete run is kept as a model.

    Returns None where it was already.

    Parameters
    ----------
    paper
        What is asked, and how; from then on the run goes on under this very one.
    limits
        Prices and the budget; runs and seeds are the paper's.
    most
        Ask the first items of the paper only, for a trial: nothing is kept in the study then, and
        the same run goes on later.
    keep_failed
        Keep the run also where requests failed: they count as not answered.
    wait
        Called before another process that has the run is waited for; without it that is refused.
    alone
        As in `ask_all`.

    Raises
    ------
    NotNow
        The name is taken, the run was begun under another protocol or is going on elsewhere.
    StudyError
        As `asker_for` and `ask_all` do.
    """
    check_name(model_id, "model")
    if model_version:
        check_name(model_version, "model's version")
    protocol = {
        **provider.settings,
        **paper.asked.as_json(),
        "paper_sha256": paper.sha256,
        "provider": provider.name,
        "asked_as": provider.model,
        "model_version": model_version,
    }
    if _is_kept(store, paper.study, model_id, protocol):
        return None
    check_free(store, study=paper.study, model_id=model_id)
    asker = asker_for(provider)
    exam = PaperExam(paper=paper, most=most)
    folder = run_folder(store, study=paper.study, model_id=model_id)
    with opened_journal(folder, protocol, wait=wait) as journal:
        if _is_kept(store, paper.study, model_id, protocol):  # by the one that was waited for
            return None
        _record(store, paper.study, model_id, protocol, by, now())
        asked = ask_all(exam, asker, journal, limits, tell=tell, alone=alone)
        whole = most is None and _complete(exam, journal, limits, asked, keep_failed=keep_failed)
        kept = _keep(store, paper, journal, model_id, protocol, by, now()) if whole else None
        return Ran(
            asked=asked,
            n_asks=len(exam.item_ids) * limits.runs,
            n_answered=len(journal.done),
            spent=limits.spent(journal.totals),
            folder=folder,
            kept=kept,
        )


def _is_kept(store: Store, study: str, model_id: str, protocol: Mapping[str, Any]) -> bool:
    """Whether the model of a name that counts in a study was asked under this very protocol."""
    with store.look() as look:
        model = model_in_force(look, study_row(look, study), model_id)
        added = events.of_kind(look, events.study_chain(study), EventKind.MODEL_ADDED)
    told = _told(protocol)
    return model is not None and any(
        key_of(one) == model.key and one.items() >= told.items() for one in added
    )


def _complete(
    exam: PaperExam, journal: Journal, limits: Limits, asked: RunOutcome, *, keep_failed: bool
) -> bool:
    if asked.ended != "asked" or not journal.done:
        return False
    missing = (ask for ask in all_asks(exam.item_ids, limits.runs) if ask not in journal.done)
    return keep_failed or next(missing, None) is None


def _record(
    store: Store, study: str, model_id: str, protocol: Mapping[str, Any], by: By, now: datetime
) -> None:
    """Say in the trail, once, that a model is asked, and under what protocol."""
    detail = {"model_id": model_id, **_told(protocol)}
    with store.change() as change:
        chain = events.study_chain(study)
        begun = events.of_kind(change, chain, EventKind.MODEL_ASKED)
        if not any(one.items() >= detail.items() for one in begun):
            events.record(change, study, now, kind=EventKind.MODEL_ASKED, detail=detail, by=by)


def _told(protocol: Mapping[str, Any]) -> dict[str, Any]:
    return {"model_protocol": dict(protocol), "model_protocol_sha256": sha256_of(dict(protocol))}


def _keep(
    store: Store,
    paper: Paper,
    journal: Journal,
    model_id: str,
    protocol: Mapping[str, Any],
    by: By,
    now: datetime,
) -> Found:
    """Keep the answers as predictions, read as a file's are, with all that is known of them."""
    found = read_model(store, journal.answers, study=paper.study, meant=MEANT)
    told = {(one["item_id"], one["run"]): one for one in answers_in(journal.answers)}
    explains = paper.asked.explanation
    predictions = [_with_circumstances(one, told, explains) for one in found.file.predictions]
    why = {(one["item_id"], one["run"]): one["failed"] for one in failures_in(journal.folder)}
    runs = paper.asked.runs
    predictions += [
        Prediction(
            item_id=item_id,
            answer=None,
            status="skipped",
            raw_answer="",
            condition=str(paper.asked.condition),
            run=str(run) if runs > 1 else "",
            repeat=run,
            detail={"failed": why.get((item_id, run), "")},
        )
        for item_id, run in all_asks([one.item_id for one in paper.items], runs)
        if (item_id, run) not in journal.done
    ]
    found = replace(found, file=replace(found.file, predictions=tuple(predictions)))
    keep_model(
        store,
        found,
        model_id=model_id,
        model_version=protocol["model_version"],
        told=_told(protocol),
        by=by,
        now=now,
    )
    return found


def _with_circumstances(
    one: Prediction, told: Mapping[tuple[str, int], Mapping[str, Any]], explains: bool
) -> Prediction:
    run = int(one.run or 1)
    answer = told[one.item_id, run]
    about = {key: answer[key] for key in _CIRCUMSTANCES if answer[key] not in (None, "")}
    declined = answer["stop"] == "content_filter"
    explanation = words_in(one.raw_answer)[1] if explains else ""
    return replace(
        one,
        repeat=run,
        answer=None if declined else one.answer,
        status="refused" if declined else one.status,
        detail={**({"explanation": explanation} if explanation else {}), **one.detail, **about},
    )
