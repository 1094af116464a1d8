"""Withdraws a model from a study, with a reason: it counts nowhere any more, and nothing is lost.

Its predictions stay in the store, and the trail tells who withdrew it, when and why. The closing is
no end to it, for that a file was the wrong one may only show with the results. Whoever withdraws a
model then may have seen them: the bundle and the reports say that it was done after closing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import stamp
from study.base.errors import NotFound
from study.base.text import checked_reason
from study.base.translation import t
from study.store import Store, Transaction, events, models, studies
from study.store.events import EventKind
from study.store.models import ModelRow
from study.store.studies import StudyRow, study_row


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
    change: Transaction,
    study: StudyRow,
    model_id: str,
    reason: str,
    by: By,
    now: datetime,
) -> None:
    """Withdraw a model within a transaction; raises as `withdraw_model` does."""
    words = checked_reason(reason)
    row = model_in_force(change, study, model_id)
    if row is None:
        raise NotFound(
            t("{study!r} has no model {model_id!r}.", study=study.name, model_id=model_id)
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
