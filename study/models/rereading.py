"""Reads the words a model said again, under stricter or looser rules, without asking the model."""

import json
from collections import Counter
from dataclasses import dataclass, replace

from study.base.errors import NotFound
from study.base.translation import t
from study.models.models import Found
from study.models.predictions import Prediction, PredictionFile, predict
from study.models.withdrawals import model_in_force
from study.store import Store, models, studies
from study.store.models import ModelRow, PredictionRow
from study.store.studies import study_row


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


def reread(store: Store, *, study: str, model_id: str, rules: str) -> Reread:
    """Read a model's words again; `rules` is a name in `study.models.answer_parser.RULES`.

    Raises
    ------
    NotFound
        The study has no such model.
    """
    with store.look() as look:
        row = study_row(look, study)
        model = model_in_force(look, row, model_id)
        if model is None:
            raise NotFound(
                t("{study!r} has no model {model_id!r}.", study=study, model_id=model_id)
            )
        cases = studies.cases(look, row.id)
        said = models.predictions(look, model.id)
    options = {case.item_id: tuple(json.loads(case.options)) for case in cases}
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


def _again(one: PredictionRow, options: tuple[str, ...], rules: str) -> Prediction:
    told = json.loads(one.detail)
    likely = told.get("probabilities", {})
    read = predict(
        one.item_id,
        None if told.get("failed") else one.raw_answer,
        options,
        order=told.get("order", ""),
        probabilities=likely,
        refused=one.status == "refused" and not one.raw_answer,
        rules=rules,
    )
    detail = {key: value for key, value in told.items() if key not in ("rule", "rules")}
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
