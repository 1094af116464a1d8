"""Adds a model to a study as a rater: its predictions for the drawn cases."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from study.acts import COMMAND_LINE, By
from study.canonical import sha256_of
from study.errors import BadFile, NotNow
from study.moments import stamp
from study.names import check_name, name_key
from study.predictions import read_predictions
from study.store import Store, Transaction, events, models, people, studies
from study.studies import study_row
from study.words import later, said, t

_REMEDY = later("Choose another name.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What was kept of a prediction file: of the study's cases, by status, and what was not."""

    model_id: str
    n_cases: int
    by_status: dict[str, int]
    n_absent: int
    n_not_drawn: int
    notes: tuple[str, ...]


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
) -> Added:
    """Read a prediction file and keep what it says of the study's cases.

    Raises
    ------
    BadFile
        The file has faults, or says nothing of any case of the study.
    NotNow
        The name is taken by a model or a reader of the study.
    """
    check_name(model_id, "model")
    if model_version:
        check_name(model_version, "model's version")
    with store.look() as look:
        found = study_row(look, study)
        cases = {row["item_id"]: row for row in studies.cases(look, found["id"])}
    options = {item_id: tuple(json.loads(row["options"])) for item_id, row in cases.items()}
    read = read_predictions(path, options=options)
    if not read.predictions:
        raise BadFile(
            t(
                "{path} has no prediction for any case of the study {study!r}. Predictions are "
                "keyed by item_id; check the ids.",
                path=path,
                study=study,
            )
        )
    with store.change() as change:
        _refuse_known(change, found["id"], study, model_id)
        number = models.add(
            change,
            study=found["id"],
            model_id=model_id,
            model_version=model_version,
            simulated=int(simulated),
            source_name=path.name,
            source_sha256=read.sha256,
            added_at_utc=stamp(now),
        )
        models.add_predictions(
            change,
            (
                (number, cases[one.item_id]["id"], one.answer, one.status, one.raw_answer)
                for one in read.predictions
            ),
        )
        _record(change, found["id"], study, model_id, len(read.predictions), by, now)
    by_status = Counter(str(one.status) for one in read.predictions)
    return Added(
        model_id=model_id,
        n_cases=len(cases),
        by_status=dict(by_status),
        n_absent=len(cases) - len(read.predictions),
        n_not_drawn=len(read.unknown_ids),
        notes=read.notes,
    )


def predictions_hash(look: Transaction, model: int) -> str:
    """Return the hash that covers every stored prediction of a model."""
    return sha256_of(models.predictions(look, model))


def _refuse_known(look: Transaction, study: int, name: str, model_id: str) -> None:
    wanted = name_key(model_id)
    for known in models.of_study(look, study):
        if name_key(known["model_id"]) == wanted:
            raise NotNow(
                t(
                    "{model_id!r} is already a model of {name!r}. {remedy}",
                    model_id=known["model_id"],
                    name=name,
                    remedy=said(_REMEDY),
                )
            )
    for known in people.readers(look, study):
        if name_key(known["reader_id"]) == wanted:
            raise NotNow(
                t(
                    "{reader_id!r} is a reader of {name!r}. {remedy}",
                    reader_id=known["reader_id"],
                    name=name,
                    remedy=said(_REMEDY),
                )
            )


def _record(
    change: Transaction,
    study: int,
    name: str,
    model_id: str,
    n_predictions: int,
    by: By,
    now: datetime,
) -> None:
    row = models.find(change, study, model_id) or {}
    events.record(
        change,
        name,
        now,
        kind="model added",
        detail={
            **models.facts(row),
            "n_predictions": n_predictions,
            "predictions_sha256": predictions_hash(change, row["id"]),
        },
        by=by,
    )
