"""Parses a model's stored outputs again by stricter or looser rules, without asking the model."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from study.base.actor import Acting
from study.models.answer_parser import RULES, VERSION
from study.models.model_protocol import Shown
from study.models.models import StudyPredictions, current_model, keep_model
from study.models.predictions import Prediction, PredictionFile, predict
from study.store import Store, Transaction, banks, models, studies
from study.store.models import ModelRow, PredictionRow
from study.store.studies import StudyRow, study_row

_READING_KEYS = ("rule", "rules", "reason", "parser")
"""Keys of a prediction's detail that describe how it was parsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """A model's outputs parsed by other rules, before they are stored.

    Attributes
    ----------
    predictions : StudyPredictions
        The replacement that `study.models.models.keep_model` can store.
    model : ModelRow
        The current model.
    changed : Counter of (str, str)
        The old and new letter or status of the answers that differ.
    """

    predictions: StudyPredictions
    model: ModelRow
    changed: Counter[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOutput:
    """A model's output for an item, and how each set of rules parses it.

    Attributes
    ----------
    options : tuple of str
        The item's options in canonical order.
    kept : str
        The stored letter or status.
    by_rules : dict of {str: str}
        The letter or status by each of `study.models.answer_parser.RULES`.
    """

    item_id: str
    words: str
    condition: str
    run: str
    options: tuple[str, ...]
    kept: str
    by_rules: dict[str, str]


def outputs_of(store: Store, *, study: str, model_id: str) -> list[ReadOutput]:
    """Return a model's outputs for items with options, as parsed by each set of rules.

    Raises
    ------
    NotFound
        The study has no such model.
    """
    _, predictions, options, questions = _predictions_of(store, study, model_id)
    return [
        ReadOutput(
            item_id=prediction.item_id,
            words=prediction.raw_answer,
            condition=prediction.condition,
            run=prediction.run,
            options=options[prediction.item_id],
            kept=prediction.answer or prediction.status,
            by_rules=_by_rules(
                prediction, options[prediction.item_id], questions[prediction.item_id]
            ),
        )
        for prediction in predictions
        if prediction.condition != Shown.OPEN_ENDED
    ]


def read_differently(
    look: Transaction, study: StudyRow
) -> Iterator[tuple[ModelRow, PredictionRow, dict[str, str]]]:
    """Yield the outputs of a study's models that some set of rules parses differently than stored.

    Yields
    ------
    model, prediction, by_rules
        `by_rules`: the letter or status by each of `study.models.answer_parser.RULES`.
    """
    options = {row.item_id: tuple(json.loads(row.options)) for row in studies.cases(look, study.id)}
    questions = studies.questions(look, study.id)
    for model in models.of_study(look, study.id):
        for prediction in models.predictions(look, model.id):
            detail = json.loads(prediction.detail)
            if (
                prediction.condition == Shown.OPEN_ENDED
                or not prediction.raw_answer
                or detail.get("failed")
                or (detail.get("rule") in RULES["strict"] and detail.get("parser") == VERSION)
            ):
                continue  # all rule sets agree where the strict rules give an answer
            item_id = prediction.item_id
            letters = _by_rules(prediction, options[item_id], questions[item_id])
            if set(letters.values()) != {prediction.answer or prediction.status}:
                yield model, prediction, letters


def correct_by_rules(store: Store, *, study: str, outputs: Sequence[ReadOutput]) -> dict[str, int]:
    """Return the number of correct answers by each set of rules.

    It reads the reference standard, so only users who may see that may call it.
    """
    with store.look() as look:
        items = banks.items_of_study(look, study_row(look, study).id)
    truths = {item.item_id: item.truth for item in items if item.truth is not None}
    return {
        rules: sum(output.by_rules[rules] == truths.get(output.item_id) for output in outputs)
        for rules in RULES
    }


def reread(store: Store, *, study: str, model_id: str, rules: str) -> Reread:
    """Parse a model's outputs again; `rules` is a name in `study.models.answer_parser.RULES`.

    Raises
    ------
    NotFound
        The study has no such model.
    """
    model, predictions, options, questions = _predictions_of(store, study, model_id)
    reread_predictions = [
        _reread_prediction(
            prediction, options[prediction.item_id], questions[prediction.item_id], rules
        )
        for prediction in predictions
    ]
    pairs = (
        (prediction.answer or prediction.status, new.answer or new.status)
        for prediction, new in zip(predictions, reread_predictions, strict=True)
    )
    file = PredictionFile(
        shape=f"words read by the {rules} rules",
        n_rows=len(reread_predictions),
        columns=(),
        sha256=model.source_sha256,
        predictions=tuple(reread_predictions),
        unknown_ids=(),
        notes=(),
    )
    return Reread(
        predictions=StudyPredictions(
            study=study, source_name=model.source_name, file=file, options=options
        ),
        model=model,
        changed=Counter(pair for pair in pairs if pair[0] != pair[1]),
    )


def keep_reread(store: Store, read: Reread, *, reason: str, acting: Acting) -> None:
    """Replace a model by its outputs as parsed again; errors as for `keep_model`."""
    keep_model(
        store,
        read.predictions,
        model_id=read.model.model_id,
        model_version=read.model.model_version,
        simulated=bool(read.model.simulated),
        synthetic=bool(read.model.synthetic),
        replacing=reason,
        acting=acting,
    )


def _predictions_of(
    store: Store, study: str, model_id: str
) -> tuple[ModelRow, list[PredictionRow], dict[str, tuple[str, ...]], dict[str, str]]:
    """Return a model, its predictions, and the options and questions by item."""
    with store.look() as look:
        row = study_row(look, study)
        model = current_model(look, row, model_id)
        cases, questions = studies.cases(look, row.id), studies.questions(look, row.id)
        predictions = models.predictions(look, model.id)
    options = {case.item_id: tuple(json.loads(case.options)) for case in cases}
    return model, predictions, options, questions


def _by_rules(prediction: PredictionRow, options: tuple[str, ...], question: str) -> dict[str, str]:
    """Return the letter or status by each set of rules."""
    reread_by_rules = {
        rules: _reread_prediction(prediction, options, question, rules) for rules in RULES
    }
    return {rules: read.answer or read.status for rules, read in reread_by_rules.items()}


def _reread_prediction(
    prediction: PredictionRow, options: tuple[str, ...], question: str, rules: str
) -> Prediction:
    detail = json.loads(prediction.detail)
    if prediction.condition == Shown.OPEN_ENDED:  # the rules apply to options only
        return Prediction(**{**prediction._asdict(), "detail": detail})
    probabilities = detail.get("probabilities", {})
    read = predict(
        prediction.item_id,
        None if detail.get("failed") else prediction.raw_answer,
        options,
        order=detail.get("order", ""),
        probabilities=probabilities,
        refused=prediction.status == "refused" and not prediction.raw_answer,
        finish=detail.get("stop"),
        rules=rules,
        question=question,
    )
    kept_detail = {key: value for key, value in detail.items() if key not in _READING_KEYS}
    confidence = prediction.confidence
    if probabilities and confidence == probabilities.get(prediction.answer):
        confidence = probabilities.get(read.answer)
    return replace(
        read,
        condition=prediction.condition,
        run=prediction.run,
        repeat=prediction.repeat,
        confidence=confidence,
        detail={**kept_detail, **read.detail},
    )
