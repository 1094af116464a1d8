"""Adds a model to a study as a rater: its predictions for the drawn cases, looked at, then kept."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of, stamp
from study.base.errors import BadFile, NotNow
from study.base.text import check_name, name_key
from study.base.translation import later, said, t
from study.models.columns import Meant
from study.models.model_protocol import Shown
from study.models.paper import paper_ids
from study.models.predictions import (
    Prediction,
    PredictionFile,
    read_predictions,
    stored_detail,
)
from study.models.withdrawals import withdraw_in
from study.store import Store, Transaction, events, models, people, studies
from study.store.events import EventKind
from study.store.studies import StudyRow, study_row

_REMEDY = later("Choose another name.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A prediction as it was read: the model's words, and the option they were taken for."""

    item_id: str
    words: str
    status: str
    answer: str | None
    option: str
    confidence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a prediction file says of a study's cases; nothing of it is kept yet."""

    study: str
    source_name: str
    file: PredictionFile
    options: Mapping[str, tuple[str, ...]]

    @property
    def n_cases(self) -> int:
        """Return how many cases the study has."""
        return len(self.options)

    @property
    def by_status(self) -> dict[str, int]:
        """Return how many of the study's cases have each status."""
        return dict(Counter(str(one.status) for one in self.file.standing))

    @property
    def n_absent(self) -> int:
        """Return of how many cases the file says nothing."""
        return self.n_cases - len(self.file.standing)

    @property
    def n_unanswered(self) -> int:
        """Return how many cases have no answer, for whatever reason: they count as wrong."""
        return self.n_cases - self.by_status.get("answered", 0)

    @property
    def n_not_drawn(self) -> int:
        """Return how many predictions are for items that are not in the study."""
        return len(self.file.unknown_ids)

    @property
    def absent_ids(self) -> list[str]:
        """Return the cases of the study that the file says nothing of."""
        there = {one.item_id for one in self.file.standing}
        return [item_id for item_id in self.options if item_id not in there]

    def examples(self, most: int) -> list[Example]:
        """Return predictions to look at, in the file's order: half of them without an answer."""
        unclear = [one for one in self.file.standing if one.answer is None]
        clear = [one for one in self.file.standing if one.answer is not None]
        chosen = {one.item_id for one in unclear[: max(most // 2, most - len(clear))]}
        chosen |= {one.item_id for one in islice(clear, most - len(chosen))}
        return [self._example(one) for one in self.file.standing if one.item_id in chosen]

    def _example(self, one: Prediction) -> Example:
        return Example(
            item_id=one.item_id,
            words=one.raw_answer,
            status=one.status,
            answer=one.answer,
            confidence=one.confidence,
            option=""
            if one.answer is None or one.condition == Shown.OPEN_ENDED
            else self.options[one.item_id][ord(one.answer) - ord("A")],
        )


def read_model(store: Store, *paths: Path, study: str, meant: Meant | None = None) -> Found:
    """Read a prediction file for a study, or several that make one, and keep nothing of it.

    Parameters
    ----------
    meant
        The columns by what they say; without it they are recognised.

    Raises
    ------
    BadFile
        The file has faults, or says nothing of any case of the study.
    """
    with store.look() as look:
        cases = studies.cases(look, study_row(look, study).id)
        known_as = {ours: one for one, ours in paper_ids(look, (c.item_id for c in cases)).items()}
    options = {row.item_id: tuple(json.loads(row.options)) for row in cases}
    read = read_predictions(*paths, options=options, known_as=known_as, meant=meant)
    if not read.predictions:
        raise BadFile(
            t(
                "{path} has no prediction for any case in the study {study!r}. Predictions are "
                "matched by item_id; check the IDs. In the file, {n_file}: {theirs}. In the study, "
                "{n_study}: {ours}.",
                path=", ".join(str(path) for path in paths),
                study=study,
                n_file=len(read.unknown_ids),
                theirs=some_of(read.unknown_ids),
                n_study=len(options),
                ours=some_of(options),
            )
        )
    return Found(
        study=study, source_name=", ".join(path.name for path in paths), file=read, options=options
    )


def some_of(ids: Iterable[str]) -> str:
    """Return the first few ids in quotation marks, to be compared by eye."""
    return ", ".join(repr(one[:60]) for one in islice(ids, 3))


def keep_model(
    store: Store,
    found: Found,
    *,
    model_id: str,
    model_version: str = "",
    simulated: bool = False,
    replace: bool = False,
    reason: str = "",
    told: Mapping[str, Any] = MappingProxyType({}),
    by: By = COMMAND_LINE,
    now: datetime,
) -> None:
    """Keep what was read of a prediction file as a model of its study.

    Parameters
    ----------
    told
        What else the event of its adding says, such as how it was asked.
    replace
        Withdraw the model of that name first, for `reason`; without it a taken name is refused.

    Raises
    ------
    NotFound
        There is no model to replace.
    NotNow
        The name is taken by a model or a reader of the study.
    BadInput
        The name is no name, or a reason is wanted.
    """
    check_name(model_id, "model")
    if model_version:
        check_name(model_version, "model's version")
    with store.change() as change:
        study = study_row(change, found.study)
        if replace:
            withdraw_in(change, study, model_id, reason, by, now)
        _refuse_known(change, study, model_id)
        cases = {row.item_id: row.id for row in studies.cases(change, study.id)}
        number = models.add(
            change,
            study=study.id,
            model_id=model_id,
            model_version=model_version,
            simulated=int(simulated),
            source_name=found.source_name,
            source_sha256=found.file.sha256,
            added_at_utc=stamp(now),
            edition=models.next_edition(change, study.id, model_id),
        )
        models.add_predictions(
            change,
            (
                (
                    number,
                    cases[one.item_id],
                    one.answer,
                    one.status,
                    one.raw_answer,
                    one.condition,
                    one.run,
                    one.repeat,
                    one.confidence,
                    stored_detail(one),
                )
                for one in found.file.predictions
            ),
        )
        detail = {
            **models.facts(models.of_study(change, study.id)[-1]),
            "n_predictions": len(found.file.predictions),
            "predictions_sha256": predictions_hash(change, number),
            **told,
        }
        events.record(change, found.study, now, kind=EventKind.MODEL_ADDED, detail=detail, by=by)


def add_model(
    store: Store,
    path: Path,
    *,
    study: str,
    model_id: str,
    model_version: str = "",
    simulated: bool = False,
    by: By = COMMAND_LINE,
    now: datetime,
) -> Found:
    """Read a prediction file and keep it in one go; raises as `read_model` and `keep_model` do."""
    found = read_model(store, path, study=study)
    keep_model(
        store,
        found,
        model_id=model_id,
        model_version=model_version,
        simulated=simulated,
        by=by,
        now=now,
    )
    return found


def check_free(store: Store, *, study: str, model_id: str) -> None:
    """Refuse a name that no model of a study can have; raises as `keep_model` does."""
    check_name(model_id, "model")
    with store.look() as look:
        _refuse_known(look, study_row(look, study), model_id)


def predictions_hash(look: Transaction, model: int) -> str:
    """Return the hash that covers every stored prediction of a model."""
    return sha256_of([row.told() for row in models.predictions(look, model)])


def _refuse_known(look: Transaction, study: StudyRow, model_id: str) -> None:
    wanted = name_key(model_id)
    for known in models.of_study(look, study.id):
        if name_key(known.model_id) == wanted:
            raise NotNow(
                t(
                    "{model_id!r} is already a model in {name!r}. {remedy}",
                    model_id=known.model_id,
                    name=study.name,
                    remedy=said(_REMEDY),
                )
            )
    for reader in people.readers(look, study.id):
        if name_key(reader.reader_id) == wanted:
            raise NotNow(
                t(
                    "{reader_id!r} is a reader in {name!r}. {remedy}",
                    reader_id=reader.reader_id,
                    name=study.name,
                    remedy=said(_REMEDY),
                )
            )
