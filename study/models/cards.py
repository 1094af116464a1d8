"""What is said of a model beside its answers: who makes it, under which licence, how it was asked.

A card is an event of the study's trail; the last one stands.
"""

from collections.abc import Mapping
from datetime import datetime

from study.base.actor import COMMAND_LINE, By
from study.base.errors import BadInput, NotFound
from study.base.text import LONGEST_REASON
from study.base.translation import t
from study.models.withdrawals import model_in_force
from study.store import Store, events
from study.store.events import EventKind
from study.store.studies import study_row

FIELDS = (
    *("name", "institution", "url", "date", "licence", "training", "prompt", "hardware"),
    "cost",
)
"""What a card may say, all of it as text; `training` is the exposure to these data as stated."""

Card = Mapping[str, str]


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
            )
        if len(words) > LONGEST_REASON:
            raise BadInput(t("{field}: at most {n} characters.", field=field, n=LONGEST_REASON))
    with store.change() as change:
        row = study_row(change, study)
        if model_in_force(change, row, model_id) is None:
            raise NotFound(
                t("{study!r} has no model {model_id!r}.", study=study, model_id=model_id)
            )
        detail = {"model_id": model_id, "card": told}
        events.record(change, study, now, kind=EventKind.MODEL_DESCRIBED, detail=detail, by=by)


def cards(store: Store, study: str) -> dict[str, Card]:
    """Return the cards of a study's models by their names; not of those that have none."""
    with store.look() as look:
        told = events.of_kind(look, events.study_chain(study), EventKind.MODEL_DESCRIBED)
    last = {one["model_id"]: one["card"] for one in told}
    return {model: card for model, card in last.items() if card}
