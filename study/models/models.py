"""A study's models, its raters that are no readers: added from predictions, described, withdrawn.

Predictions are looked at, then kept. A card says what is known of a model beside its answers: who
makes it, under which licence, how it was asked; it is an event of the study's trail, and the last
one stands. A model is withdrawn with a reason: it counts nowhere any more, and nothing is lost. Its
predictions stay in the store, and the trail tells who withdrew it, when and why. The closing is no
end to it, for that a file was the wrong one may only show with the results. Whoever withdraws a
model then may have seen them: the bundle and the reports say that it was done after closing.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import canonical_json, sha256_of, stamp
from study.base.errors import BadFile, BadInput, NotFound, NotNow
from study.base.text import LONGEST_REASON, check_name, checked_reason, did_you_mean, text_key
from study.base.translation import later, said, t
from study.models.files import Meant
from study.models.finish_reasons import CUT_OFF
from study.models.model_protocol import Shown
from study.models.paper import paper_ids
from study.models.predictions import Prediction, PredictionFile, read_predictions
from study.protocol.protocol import stored_protocol
from study.store import Store, Transaction, events, models, people, studies
from study.store.events import EventKind
from study.store.models import ModelRow
from study.store.studies import StudyRow, study_row

_REMEDY = later("Choose another name.")
_NEEDS_PAPER = later(
    "The file names its items by index only: give the exam paper's paper.json with it, which "
    "holds the ID of each index (python -m study models add FILE paper.json)."
)
_KEPT = attrgetter("answer", "status", "raw_answer", "condition", "run", "repeat", "confidence")

FIELDS = (
    *("name", "institution", "url", "date", "licence", "training", "prompt", "hardware"),
    "cost",
)
"""What a card may say, all of it as text; `training` is the exposure to these data as stated."""

Card = Mapping[str, str]
_FEW = 3


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
    def n_cut_off(self) -> int:
        """Return how many of the study's cases have an output that was cut off."""
        return sum(one.detail.get("reason") == CUT_OFF for one in self.file.standing)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSummary:
    """What a page shows of a prediction file; small, however large the file is.

    `absent_ids` and `unknown_ids` are the first few; the other fields are as of `Found` and
    `PredictionFile`.
    """

    study: str
    source_name: str
    shape: str
    n_rows: int
    n_runs: int
    conditions: tuple[str, ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    by_status: Mapping[str, int]
    n_cases: int
    n_cut_off: int
    n_absent: int
    n_unanswered: int
    n_not_drawn: int
    absent_ids: tuple[str, ...]
    unknown_ids: tuple[str, ...]
    examples: tuple[Example, ...]


def summary_of(found: Found, *, n_examples: int = 0) -> FileSummary:
    """Return what a page shows of a file that was read."""
    file = found.file
    return FileSummary(
        study=found.study,
        source_name=found.source_name,
        shape=file.shape,
        n_rows=file.n_rows,
        n_runs=file.n_runs,
        conditions=file.conditions,
        columns=file.columns,
        notes=file.notes,
        by_status=found.by_status,
        n_cases=found.n_cases,
        n_cut_off=found.n_cut_off,
        n_absent=found.n_absent,
        n_unanswered=found.n_unanswered,
        n_not_drawn=found.n_not_drawn,
        absent_ids=tuple(found.absent_ids[:_FEW]),
        unknown_ids=file.unknown_ids[:_FEW],
        examples=tuple(found.examples(n_examples)),
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
            + (f" {said(_NEEDS_PAPER)}" if read.needs_paper else "")
        )
    return Found(
        study=study, source_name=", ".join(path.name for path in paths), file=read, options=options
    )


def some_of(ids: Iterable[str]) -> str:
    """Return the first few ids in quotation marks, to be compared by eye."""
    return ", ".join(repr(one[:60]) for one in islice(ids, _FEW))


def keep_model(
    store: Store,
    found: Found,
    *,
    model_id: str,
    model_version: str = "",
    simulated: bool = False,
    synthetic: bool = False,
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
            synthetic=int(synthetic),
            source_name=found.source_name,
            source_sha256=found.file.sha256,
            added_at_utc=stamp(now),
            edition=models.next_edition(change, study.id, model_id),
        )
        rows = (
            (number, cases[one.item_id], *_KEPT(one), canonical_json(dict(one.detail)))
            for one in found.file.predictions
        )
        models.add_predictions(change, rows)
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
    """Read a prediction file, and keep it in one go as `keep_model` does; raises as both do."""
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
    wanted = text_key(model_id)
    for known in models.of_study(look, study.id):
        if text_key(known.model_id) == wanted:
            raise NotNow(
                t(
                    "{model_id!r} is already a model in {name!r}. {remedy}",
                    model_id=known.model_id,
                    name=study.name,
                    remedy=said(_REMEDY),
                )
            )
    for reader in people.readers(look, study.id):
        if text_key(reader.reader_id) == wanted:
            raise NotNow(
                t(
                    "{reader_id!r} is a reader in {name!r}. {remedy}",
                    reader_id=reader.reader_id,
                    name=study.name,
                    remedy=said(_REMEDY),
                )
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """A model that was withdrawn, and the event that tells of it."""

    model_id: str
    model_version: str
    n_predicted: int
    added_at_utc: str
    reason: str
    actor: str
    at_utc: str
    event: int
    after_closing: bool


def withdraw_model(
    store: Store, *, study: str, model_id: str, reason: str, by: By = COMMAND_LINE, now: datetime
) -> None:
    """Withdraw a model from a study: from then on it is in no table, figure or bundle.

    Raises
    ------
    NotFound
        The study has no such model.
    BadInput
        The reason is none or too long.
    """
    with store.change() as change:
        withdraw_in(change, study_row(change, study), model_id, reason, by, now)


def is_model(store: Store, *, study: str, model_id: str) -> bool:
    """Return whether a study has a model of that very name."""
    with store.look() as look:
        return bool(model_in_force(look, study_row(look, study), model_id))


def models_of(store: Store, study: str) -> tuple[list[ModelRow], int]:
    """Return the models that count in a study, and how many cases it has."""
    with store.look() as look:
        number = study_row(look, study).id
        return models.of_study(look, number), len(studies.cases(look, number))


def withdrawn(store: Store, study: str) -> list[Withdrawn]:
    """Return the models that were withdrawn from a study, in the order they were added."""
    with store.look() as look:
        return withdrawn_in(look, study_row(look, study))


def withdrawn_in(look: Transaction, study: StudyRow) -> list[Withdrawn]:
    """Return a study's withdrawn models within a transaction."""
    told = events.of_kinds(look, events.study_chain(study.name), (EventKind.MODEL_WITHDRAWN,))
    numbers = {key_of(one.detail): one.number for one in told}
    closed = study.closed_at_utc
    return [
        Withdrawn(
            model_id=row.model_id,
            model_version=row.model_version,
            n_predicted=row.n_predicted,
            reason=row.reason or "",
            added_at_utc=row.added_at_utc,
            actor=row.withdrawn_by or "",
            at_utc=row.withdrawn_at_utc,
            event=numbers.get(row.key, 0),
            after_closing=closed is not None and row.withdrawn_at_utc >= closed,
        )
        for row in models.ever_of_study(look, study.id)
        if row.withdrawn_at_utc is not None
    ]


def key_of(told: Mapping[str, Any]) -> tuple[str, int]:
    """Return what makes a model one of a study: its name, and which of that name it is."""
    return told["model_id"], told.get("edition", 1)


def withdraw_in(
    change: Transaction, study: StudyRow, model_id: str, reason: str, by: By, now: datetime
) -> None:
    """Withdraw a model within a transaction; raises as `withdraw_model` does."""
    words = checked_reason(reason)
    row = standing_model(change, study, model_id)
    protocol = stored_protocol(study)
    if study.state == "open" and protocol.is_aided and protocol.aid_model == model_id:
        raise NotNow(
            t(
                "The model {model} is the aid of the open study {study}: readers are shown its "
                "answers. Close the study first.",
                model=model_id,
                study=study.name,
            )
        )
    models.withdraw(change, model=row.id, reason=words, actor=by.name, at_utc=stamp(now))
    detail = {
        "model_id": model_id,
        **models.edition_of(row),
        "old": "counts",
        "new": "withdrawn",
        "reason": words,
    }
    events.record(change, study.name, now, kind=EventKind.MODEL_WITHDRAWN, detail=detail, by=by)


def model_in_force(look: Transaction, study: StudyRow, model_id: str) -> ModelRow | None:
    """Return the row of the model that stands under a name, or None."""
    found = (row for row in models.of_study(look, study.id) if row.model_id == model_id)
    return next(found, None)


def standing_model(look: Transaction, study: StudyRow, model_id: str) -> ModelRow:
    """Return the row of the model that stands under a name.

    Raises
    ------
    NotFound
        The study has none of that name.
    """
    row = model_in_force(look, study, model_id)
    if row is None:
        raise NotFound(
            t("{study!r} has no model {model_id!r}.", study=study.name, model_id=model_id)
            + did_you_mean(model_id, [one.model_id for one in models.of_study(look, study.id)])
        )
    return row


def describe_model(
    store: Store, *, study: str, model_id: str, card: Card, by: By = COMMAND_LINE, now: datetime
) -> None:
    """Keep a model's card in place of the one before; fields left empty are not said.

    Raises
    ------
    NotFound
        The study has no such model.
    BadInput
        A field is unknown or too long.
    """
    told = {field: card[field].strip() for field in card if card[field].strip()}
    for field, words in told.items():
        if field not in FIELDS:
            raise BadInput(
                t(
                    "A card has no {field!r}; it has {fields}.",
                    field=field,
                    fields=", ".join(FIELDS),
                )
                + did_you_mean(field, FIELDS)
            )
        if len(words) > LONGEST_REASON:
            raise BadInput(t("{field}: at most {n} characters.", field=field, n=LONGEST_REASON))
    with store.change() as change:
        row = study_row(change, study)
        standing_model(change, row, model_id)
        detail = {"model_id": model_id, "card": told}
        events.record(change, study, now, kind=EventKind.MODEL_DESCRIBED, detail=detail, by=by)


def cards(store: Store, study: str) -> dict[str, Card]:
    """Return the cards of a study's models by their names; not of those that have none."""
    with store.look() as look:
        told = events.of_kind(look, events.study_chain(study), EventKind.MODEL_DESCRIBED)
    last = {one["model_id"]: one["card"] for one in told}
    return {model: card for model, card in last.items() if card}
