"""What readers and models said in their own words, in the store: open answers, and explanations."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from study.base.canonical import sha256_of
from study.store import models, studies
from study.store.connection import Transaction

OPEN_ENDED = "open-ended"
"""The condition under which a case is answered in words: `answer` holds them, and no letter."""

ANSWER = "answer"
EXPLANATION = "explanation"


class OpenAnswer(NamedTuple):
    """Words of a rater about an item, to be judged by somebody who need not know whose they are.

    Attributes
    ----------
    answer_id
        The reading's id; of a model a hash of which model, item, condition and run it is. It is the
        same for as long as the study is, in a restored study too. It names nobody, but its form may
        tell a reader's from a model's: no scorer is shown it.
    kind
        ``answer``: to an open-ended case. ``explanation``: why a model answered as it did, under
        whichever condition.
    run
        What a model's run is called; of a reader the number of the repeat, from the second on.
    words
        As they were typed or put out; empty where there is no answer, see `status`.
    """

    answer_id: str
    kind: str
    rater_id: str
    rater_kind: str
    item: int
    item_id: str
    condition: str
    run: str
    status: str
    words: str
    response_ms: float | None


def of_study(look: Transaction, study: int) -> list[OpenAnswer]:
    """Return the open answers and explanations of a study, readers first, then models.

    Neither readings that another supersedes nor models that were withdrawn are among them.
    """
    return [*_of_readers(look, study), *_of_models(look, study)]


def _of_readers(look: Transaction, study: int) -> Iterator[OpenAnswer]:
    rows = look.rows(
        "SELECT readings.id, reader_id, cases.item, item_id, repeat, status, answer, response_ms "
        "FROM readings JOIN assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item "
        "WHERE readers.study = :study AND condition = :condition AND NOT EXISTS "
        "(SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) "
        "ORDER BY readers.id, assignments.position",
        study=study,
        condition=OPEN_ENDED,
    )
    for row in rows:
        yield OpenAnswer(
            answer_id=row["id"],
            kind=ANSWER,
            rater_id=row["reader_id"],
            rater_kind="reader",
            item=row["item"],
            item_id=row["item_id"],
            condition=OPEN_ENDED,
            run=str(row["repeat"]) if row["repeat"] > 1 else "",
            status=row["status"],
            words=row["answer"] or "",
            response_ms=row["response_ms"],
        )


def _of_models(look: Transaction, study: int) -> Iterator[OpenAnswer]:
    name = look.value("SELECT name FROM studies WHERE id = :study", study=study)
    items = {row.item_id: row.item for row in studies.cases(look, study)}
    for model in models.of_study(look, study):
        for one in models.predictions(look, model.id):
            about: dict[str, Any] = {
                "rater_id": model.model_id,
                "rater_kind": "model",
                "item": items[one.item_id],
                "item_id": one.item_id,
                "condition": one.condition,
                "run": one.run,
                "status": one.status,
                "response_ms": None,
            }
            which = [name, *model.key, one.item_id, one.condition, one.repeat]
            if one.condition == OPEN_ENDED:
                answer_id = _id(ANSWER, which)
                yield OpenAnswer(answer_id, ANSWER, words=one.answer or "", **about)
            explanation = json.loads(one.detail).get("explanation")
            if explanation:
                answer_id = _id(EXPLANATION, which)
                yield OpenAnswer(answer_id, EXPLANATION, words=explanation, **about)


def _id(kind: str, which: list[Any]) -> str:
    return sha256_of([kind, *which])[:32]
