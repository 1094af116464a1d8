"""Reads the words a model said again, under stricter or looser rules, without asking the model."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from study.base.actor import COMMAND_LINE, By
from study.models.answer_parser import RULES, VERSION
from study.models.model_protocol import Shown
from study.models.models import Found, keep_model, standing_model
from study.models.predictions import Prediction, PredictionFile, predict
from study.store import Store, Transaction, banks, models, studies
from study.store.models import ModelRow, PredictionRow
from study.store.studies import StudyRow, study_row

_OF_A_READING = ("rule", "rules", "reason", "parser")
"""What the details of a prediction say of its reading, and not of the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """A model's words as they are read under other rules; nothing of it is kept yet.

    Attributes
    ----------
    found : Found
        What `study.models.models.keep_model` keeps in the model's place.
    model : ModelRow
        The model as it stands.
    changed : Counter of (str, str)
        What the answers that differ were and are: a letter, or a status.
    """

    found: Found
    model: ModelRow
    changed: Counter[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsRead:
    """What a model said to one item, and how it is read.

    Attributes
    ----------
    options : tuple of str
        The item's options in canonical order.
    kept : str
        The letter or status that stands.
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


def words_of(store: Store, *, study: str, model_id: str) -> list[WordsRead]:
    """Return all that a model said of options, as it is read by every set of rules.

    Raises
    ------
    NotFound
        The study has no such model.
    """
    _, said, options = _said(store, study, model_id)
    return [
        WordsRead(
            item_id=one.item_id,
            words=one.raw_answer,
            condition=one.condition,
            run=one.run,
            options=options[one.item_id],
            kept=one.answer or one.status,
            by_rules=_by_rules(one, options[one.item_id]),
        )
        for one in said
        if one.condition != Shown.OPEN_ENDED
    ]


def read_otherwise(
    look: Transaction, study: StudyRow
) -> Iterator[tuple[ModelRow, PredictionRow, dict[str, str]]]:
    """Yield what a study's models said that one set of rules or more reads otherwise than stands.

    Yields
    ------
    model, prediction, by_rules
        `by_rules`: the letter or status by each of `study.models.answer_parser.RULES`.
    """
    options = {row.item_id: tuple(json.loads(row.options)) for row in studies.cases(look, study.id)}
    for model in models.of_study(look, study.id):
        for one in models.predictions(look, model.id):
            told = json.loads(one.detail)
            if (
                one.condition == Shown.OPEN_ENDED
                or not one.raw_answer
                or told.get("failed")
                or (told.get("rule") in RULES["strict"] and told.get("parser") == VERSION)
            ):
                continue  # what the strict rules read all others read alike
            letters = _by_rules(one, options[one.item_id])
            if set(letters.values()) != {one.answer or one.status}:
                yield model, one, letters


def correct_by_rules(store: Store, *, study: str, said: Sequence[WordsRead]) -> dict[str, int]:
    """Return how many answers to a study's items are correct by each set of rules.

    For those who may see who is correct: it reads the reference standard.
    """
    with store.look() as look:
        items = banks.items_of_study(look, study_row(look, study).id)
    truths = {item.item_id: item.truth for item in items if item.truth is not None}
    return {
        rules: sum(one.by_rules[rules] == truths.get(one.item_id) for one in said)
        for rules in RULES
    }


def reread(store: Store, *, study: str, model_id: str, rules: str) -> Reread:
    """Read a model's words again; `rules` is a name in `study.models.answer_parser.RULES`.

    Raises
    ------
    NotFound
        The study has no such model.
    """
    model, said, options = _said(store, study, model_id)
    again = [_again(one, options[one.item_id], rules) for one in said]
    pairs = (
        (one.answer or one.status, new.answer or new.status)
        for one, new in zip(said, again, strict=True)
    )
    file = PredictionFile(
        shape=f"words read by the {rules} rules",
        n_rows=len(again),
        columns=(),
        sha256=model.source_sha256,
        predictions=tuple(again),
        unknown_ids=(),
        notes=(),
    )
    return Reread(
        found=Found(study=study, source_name=model.source_name, file=file, options=options),
        model=model,
        changed=Counter(pair for pair in pairs if pair[0] != pair[1]),
    )


def keep_reread(
    store: Store, read: Reread, *, reason: str, by: By = COMMAND_LINE, now: datetime
) -> None:
    """Keep a model's words as they were read again, in its own place; errors as of `keep_model`."""
    keep_model(
        store,
        read.found,
        model_id=read.model.model_id,
        model_version=read.model.model_version,
        simulated=bool(read.model.simulated),
        synthetic=bool(read.model.synthetic),
        replace=True,
        reason=reason,
        by=by,
        now=now,
    )


def _said(
    store: Store, study: str, model_id: str
) -> tuple[ModelRow, list[PredictionRow], dict[str, tuple[str, ...]]]:
    """Return a model, what it said, and the options by item."""
    with store.look() as look:
        row = study_row(look, study)
        model = standing_model(look, row, model_id)
        cases = studies.cases(look, row.id)
        said = models.predictions(look, model.id)
    options = {case.item_id: tuple(json.loads(case.options)) for case in cases}
    return model, said, options


def _by_rules(one: PredictionRow, options: tuple[str, ...]) -> dict[str, str]:
    """Return the letter or status by each set of rules."""
    again = {rules: _again(one, options, rules) for rules in RULES}
    return {rules: read.answer or read.status for rules, read in again.items()}


def _again(one: PredictionRow, options: tuple[str, ...], rules: str) -> Prediction:
    told = json.loads(one.detail)
    if one.condition == Shown.OPEN_ENDED:  # no rules are about words
        return Prediction(**{**one._asdict(), "detail": told})
    likely = told.get("probabilities", {})
    read = predict(
        one.item_id,
        None if told.get("failed") else one.raw_answer,
        options,
        order=told.get("order", ""),
        probabilities=likely,
        refused=one.status == "refused" and not one.raw_answer,
        finish=told.get("stop"),
        rules=rules,
    )
    detail = {key: value for key, value in told.items() if key not in _OF_A_READING}
    confidence = one.confidence
    if likely and confidence == likely.get(one.answer):
        confidence = likely.get(read.answer)
    return replace(
        read,
        condition=one.condition,
        run=one.run,
        repeat=one.repeat,
        confidence=confidence,
        detail={**detail, **read.detail},
    )
