"""Adds models to a study from their predictions, describes them in cards, and withdraws them.

Predictions are read first, then stored. A card describes a model: its maker, its licence, and how
it was asked. Cards are events in the study's trail; the latest one applies. A withdrawn model is in
no table or bundle, but its predictions remain in the store, and the trail records who withdrew it,
when and why. A model can be withdrawn even after closing, because a wrong file may be noticed only
in the results; the bundle and the reports then state this.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, NotRequired, TypedDict, Unpack

from study.base.actor import Acting
from study.base.canonical import canonical_json, sha256_of, stamp
from study.base.errors import BadFile, BadInput, NotFound, NotNow
from study.base.text import (
    LONGEST_REASON,
    check_name,
    checked_reason,
    did_you_mean,
    quoted,
    text_key,
)
from study.base.translation import later, t, translated
from study.models.files import ColumnRoles
from study.models.finish_reasons import CUT_OFF
from study.models.model_protocol import Shown
from study.models.paper import paper_ids
from study.models.predictions import Prediction, PredictionFile, read_predictions
from study.protocol.protocol import stored_protocol
from study.store import Store, Transaction, events, models, people, studies
from study.store.events import EventKind
from study.store.models import ModelRow
from study.store.studies import StudyRow, study_row

_CHOOSE_ANOTHER_NAME = later("Choose another name.")
_NEEDS_PAPER = later(
    "The file names its items by index only: add the exam paper's paper.json, which "
    "holds the ID of each index (python -m study models add FILE paper.json)."
)
_STORED_FIELDS = attrgetter(
    "answer", "status", "raw_answer", "condition", "run", "repeat", "confidence"
)

FIELDS = (
    *("name", "institution", "url", "date", "licence", "training", "prompt", "hardware"),
    "cost",
)
"""The fields of a card, all text; `training` states any exposure to the study's data."""

Card = Mapping[str, str]
_N_IDS_LISTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A prediction: the model's words, and the option as which they were read."""

    item_id: str
    words: str
    status: str
    answer: str | None
    option: str
    confidence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPredictions:
    """The predictions for a study's cases in a file, before they are stored."""

    study: str
    source_name: str
    file: PredictionFile
    options: Mapping[str, tuple[str, ...]]

    @property
    def n_cases(self) -> int:
        """Return the number of cases of the study."""
        return len(self.options)

    @property
    def by_status(self) -> dict[str, int]:
        """Return the number of cases by status."""
        return dict(Counter(str(prediction.status) for prediction in self.file.primary))

    @property
    def n_cut_off(self) -> int:
        """Return the number of cases whose output was cut off."""
        return sum(prediction.detail.get("reason") == CUT_OFF for prediction in self.file.primary)

    @property
    def n_absent(self) -> int:
        """Return the number of cases that are not in the file."""
        return self.n_cases - len(self.file.primary)

    @property
    def n_unanswered(self) -> int:
        """Return the number of cases that are in the file without a recognised answer."""
        return len(self.file.primary) - self.by_status.get("answered", 0)

    @property
    def n_not_drawn(self) -> int:
        """Return the number of predictions for items that are not in the study."""
        return len(self.file.unknown_ids)

    @property
    def absent_ids(self) -> list[str]:
        """Return the cases of the study that are not in the file."""
        predicted = {prediction.item_id for prediction in self.file.primary}
        return [item_id for item_id in self.options if item_id not in predicted]

    def examples(self, max_examples: int) -> list[Example]:
        """Return predictions for review in file order, if possible half of them unanswered."""
        unclear = [prediction for prediction in self.file.primary if prediction.answer is None]
        clear = [prediction for prediction in self.file.primary if prediction.answer is not None]
        chosen = {
            prediction.item_id
            for prediction in unclear[: max(max_examples // 2, max_examples - len(clear))]
        }
        chosen |= {prediction.item_id for prediction in islice(clear, max_examples - len(chosen))}
        return [
            self._example(prediction)
            for prediction in self.file.primary
            if prediction.item_id in chosen
        ]

    def _example(self, prediction: Prediction) -> Example:
        return Example(
            item_id=prediction.item_id,
            words=prediction.raw_answer,
            status=prediction.status,
            answer=prediction.answer,
            confidence=prediction.confidence,
            option=""
            if prediction.answer is None or prediction.condition == Shown.OPEN_ENDED
            else self.options[prediction.item_id][ord(prediction.answer) - ord("A")],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSummary:
    """The summary of a prediction file for a page; its size is limited.

    `absent_ids` and `unknown_ids` are the first few; the other fields are those of
    `StudyPredictions` and `PredictionFile`.
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


def summary_of(predictions: StudyPredictions, *, n_examples: int = 0) -> FileSummary:
    """Return the summary of a file for a page."""
    file = predictions.file
    return FileSummary(
        study=predictions.study,
        source_name=predictions.source_name,
        shape=file.shape,
        n_rows=file.n_rows,
        n_runs=file.n_runs,
        conditions=file.conditions,
        columns=file.columns,
        notes=file.notes,
        by_status=predictions.by_status,
        n_cases=predictions.n_cases,
        n_cut_off=predictions.n_cut_off,
        n_absent=predictions.n_absent,
        n_unanswered=predictions.n_unanswered,
        n_not_drawn=predictions.n_not_drawn,
        absent_ids=tuple(predictions.absent_ids[:_N_IDS_LISTED]),
        unknown_ids=file.unknown_ids[:_N_IDS_LISTED],
        examples=tuple(predictions.examples(n_examples)),
    )


def read_model(
    store: Store, *paths: Path, study: str, column_roles: ColumnRoles | None = None
) -> StudyPredictions:
    """Read one or more prediction files of a model for a study, without storing them.

    Parameters
    ----------
    column_roles
        The columns by role; by default they are recognised.

    Raises
    ------
    BadFile
        The file has faults, or no prediction for any case of the study.
    """
    with store.look() as look:
        row = study_row(look, study)
        cases, questions = studies.cases(look, row.id), studies.questions(look, row.id)
        ids_in_papers = {
            paper_id: item_id
            for item_id, paper_id in paper_ids(look, (case.item_id for case in cases)).items()
        }
    options = {row.item_id: tuple(json.loads(row.options)) for row in cases}
    read = read_predictions(
        *paths,
        options=options,
        questions=questions,
        known_as=ids_in_papers,
        column_roles=column_roles,
    )
    if not read.predictions:
        raise BadFile(
            t(
                "{path} has no prediction for any case in the study {study}. Predictions are "
                "matched by item_id; check the IDs. In the file, {n_file}: {theirs}. In the study, "
                "{n_study}: {ours}.",
                path=", ".join(str(path) for path in paths),
                study=quoted(study),
                n_file=len(read.unknown_ids),
                theirs=first_ids(read.unknown_ids),
                n_study=len(options),
                ours=first_ids(options),
            )
            + (f" {translated(_NEEDS_PAPER)}" if read.needs_paper else "")
        )
    return StudyPredictions(
        study=study, source_name=", ".join(path.name for path in paths), file=read, options=options
    )


def first_ids(ids: Iterable[str]) -> str:
    """Return the first few IDs in quotation marks, for a message."""
    return ", ".join(quoted(item_id[:60]) for item_id in islice(ids, _N_IDS_LISTED))


class NewModel(TypedDict):
    """Name and version of a model, and whether its answers are simulated or synthetic."""

    model_id: str
    model_version: NotRequired[str]
    simulated: NotRequired[bool]
    synthetic: NotRequired[bool]


def keep_model(
    store: Store,
    predictions: StudyPredictions,
    *,
    replacing: str | None = None,
    facts: Mapping[str, Any] = MappingProxyType({}),
    acting: Acting,
    **model: Unpack[NewModel],
) -> None:
    """Store the predictions of a file as a model of its study.

    Parameters
    ----------
    facts
        Further facts for the event, such as the protocol of a run.
    replacing
        The reason for withdrawing an existing model of that name; by default a taken name is
        refused.

    Raises
    ------
    NotFound
        There is no model to replace.
    NotNow
        The name is taken by a model or a reader of the study.
    BadInput
        The name is invalid, or the reason is missing.
    """
    model_id, model_version = model["model_id"], model.get("model_version", "")
    check_name(model_id, "model")
    if model_version:
        check_name(model_version, "model's version")
    with store.change() as change:
        study = study_row(change, predictions.study)
        if replacing is not None:
            withdraw_in(change, study, model_id, replacing, acting)
        _refuse_taken_name(change, study, model_id)
        cases = {row.item_id: row.id for row in studies.cases(change, study.id)}
        number = models.add(
            change,
            study=study.id,
            model_id=model_id,
            model_version=model_version,
            simulated=int(model.get("simulated", False)),
            synthetic=int(model.get("synthetic", False)),
            source_name=predictions.source_name,
            source_sha256=predictions.file.sha256,
            added_at_utc=stamp(acting.now),
            edition=models.next_edition(change, study.id, model_id),
        )
        rows = (
            (
                number,
                cases[prediction.item_id],
                *_STORED_FIELDS(prediction),
                canonical_json(dict(prediction.detail)),
            )
            for prediction in predictions.file.predictions
        )
        models.add_predictions(change, rows)
        detail = {
            **models.facts(models.of_study(change, study.id)[-1]),
            "n_predictions": len(predictions.file.predictions),
            "predictions_sha256": predictions_hash(change, number),
            **facts,
        }
        events.record(change, predictions.study, acting, kind=EventKind.MODEL_ADDED, detail=detail)


def add_model(
    store: Store,
    path: Path,
    *,
    study: str,
    acting: Acting,
    **model: Unpack[NewModel],
) -> StudyPredictions:
    """Read a prediction file and store it; errors as for `read_model` and `keep_model`."""
    predictions = read_model(store, path, study=study)
    keep_model(store, predictions, acting=acting, **model)
    return predictions


def check_free(store: Store, *, study: str, model_id: str) -> None:
    """Refuse an invalid or taken name of a model; errors as for `keep_model`."""
    check_name(model_id, "model")
    with store.look() as look:
        _refuse_taken_name(look, study_row(look, study), model_id)


def predictions_hash(look: Transaction, model: int) -> str:
    """Return the hash of all stored predictions of a model."""
    return sha256_of([row.hashed_values() for row in models.predictions(look, model)])


def _refuse_taken_name(look: Transaction, study: StudyRow, model_id: str) -> None:
    new_key = text_key(model_id)
    for known in models.of_study(look, study.id):
        if text_key(known.model_id) == new_key:
            raise NotNow(
                t(
                    "{model_id} is already a model in {name}. {remedy}",
                    model_id=quoted(known.model_id),
                    name=quoted(study.name),
                    remedy=translated(_CHOOSE_ANOTHER_NAME),
                )
            )
    for reader in people.readers(look, study.id):
        if text_key(reader.reader_id) == new_key:
            raise NotNow(
                t(
                    "{reader_id} is a reader in {name}. {remedy}",
                    reader_id=quoted(reader.reader_id),
                    name=quoted(study.name),
                    remedy=translated(_CHOOSE_ANOTHER_NAME),
                )
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """A withdrawn model, with the number of the event that records the withdrawal."""

    model_id: str
    model_version: str
    n_predicted: int
    added_at_utc: str
    reason: str
    actor: str
    at_utc: str
    event: int
    after_closing: bool


def withdraw_model(store: Store, *, study: str, model_id: str, reason: str, acting: Acting) -> None:
    """Withdraw a model from a study; no table, figure or bundle contains it afterwards.

    Raises
    ------
    NotFound
        The study has no such model.
    BadInput
        The reason is empty or too long.
    """
    with store.change() as change:
        withdraw_in(change, study_row(change, study), model_id, reason, acting)


def is_model(store: Store, *, study: str, model_id: str) -> bool:
    """Return whether a study has a model of exactly that name."""
    with store.look() as look:
        return bool(find_model(look, study_row(look, study), model_id))


def models_of(store: Store, study: str) -> tuple[list[ModelRow], int]:
    """Return the models of a study that are not withdrawn, and its number of cases."""
    with store.look() as look:
        number = study_row(look, study).id
        return models.of_study(look, number), len(studies.cases(look, number))


def withdrawn_models(store: Store, study: str) -> list[Withdrawn]:
    """Return a study's withdrawn models in the order they were added."""
    with store.look() as look:
        return withdrawn_models_in(look, study_row(look, study))


def withdrawn_models_in(look: Transaction, study: StudyRow) -> list[Withdrawn]:
    """Return a study's withdrawn models within a transaction."""
    withdrawals = events.of_kinds(
        look, events.study_chain(study.name), (EventKind.MODEL_WITHDRAWN,)
    )
    numbers = {key_of(event.detail): event.number for event in withdrawals}
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


def key_of(detail: Mapping[str, Any]) -> tuple[str, int]:
    """Return the name and edition of a model, which identify it in a study."""
    return detail["model_id"], detail.get("edition", 1)


def withdraw_in(
    change: Transaction, study: StudyRow, model_id: str, reason: str, acting: Acting
) -> None:
    """Withdraw a model within a transaction; errors as for `withdraw_model`."""
    words = checked_reason(reason)
    row = current_model(change, study, model_id)
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
    models.withdraw(
        change, model=row.id, reason=words, actor=acting.by.name, at_utc=stamp(acting.now)
    )
    detail = {
        "model_id": model_id,
        **models.edition_of(row),
        "old": "counts",
        "new": "withdrawn",
        "reason": words,
    }
    events.record(change, study.name, acting, kind=EventKind.MODEL_WITHDRAWN, detail=detail)


def find_model(look: Transaction, study: StudyRow, model_id: str) -> ModelRow | None:
    """Return the model of a name that is not withdrawn, or None."""
    matches = (row for row in models.of_study(look, study.id) if row.model_id == model_id)
    return next(matches, None)


def current_model(look: Transaction, study: StudyRow, model_id: str) -> ModelRow:
    """Return the model of a name that is not withdrawn.

    Raises
    ------
    NotFound
        The study has no model of that name.
    """
    row = find_model(look, study, model_id)
    if row is None:
        raise NotFound(
            t(
                "{study} has no model {model_id}.",
                study=quoted(study.name),
                model_id=quoted(model_id),
            )
            + did_you_mean(model_id, [model.model_id for model in models.of_study(look, study.id)])
        )
    return row


def describe_model(store: Store, *, study: str, model_id: str, card: Card, acting: Acting) -> None:
    """Store a model's card, which replaces the previous one; empty fields are left out.

    Raises
    ------
    NotFound
        The study has no such model.
    BadInput
        A field is unknown or too long.
    """
    texts = {field: card[field].strip() for field in card if card[field].strip()}
    for field, words in texts.items():
        if field not in FIELDS:
            raise BadInput(
                t(
                    "A card has no {field}; it has {fields}.",
                    field=quoted(field),
                    fields=", ".join(FIELDS),
                )
                + did_you_mean(field, FIELDS)
            )
        if len(words) > LONGEST_REASON:
            raise BadInput(t("{field}: at most {n} characters.", field=field, n=LONGEST_REASON))
    with store.change() as change:
        row = study_row(change, study)
        current_model(change, row, model_id)
        detail = {"model_id": model_id, "card": texts}
        events.record(change, study, acting, kind=EventKind.MODEL_DESCRIBED, detail=detail)


def cards(store: Store, study: str) -> dict[str, Card]:
    """Return the cards of a study's models by name; models without a card are left out."""
    with store.look() as look:
        descriptions = events.of_kind(look, events.study_chain(study), EventKind.MODEL_DESCRIBED)
    last = {description["model_id"]: description["card"] for description in descriptions}
    return {model: card for model, card in last.items() if card}
