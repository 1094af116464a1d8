"""How many answers of a study match the reference standard, by reader, by model and by case.

Never through `Store.desk`, and only of a study that is closed. Answers to open-ended cases are
words and match nothing here.
"""

from typing import Any

from study.store.connection import Transaction
from study.store.open_answers import OPEN_ENDED

_JUDGED = (
    "FROM cases JOIN items ON items.id = cases.item "
    "JOIN reference_standard ON reference_standard.item = items.id "
)
_READ = (
    f"JOIN assignments ON case_id = cases.id AND repeat = 1 AND condition <> '{OPEN_ENDED}' "
    "JOIN readings ON readings.assignment = assignments.id AND NOT EXISTS "
    "(SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) "
    "WHERE reader IN (SELECT id FROM readers WHERE study = :study AND NOT simulated "
    "AND id NOT IN (SELECT reader FROM interventions "
    "WHERE kind = 'withdraw' AND study = :study) "
    "AND NOT EXISTS (SELECT 1 FROM assignments AS own WHERE own.reader = readers.id AND NOT EXISTS "
    "(SELECT 1 FROM readings AS done WHERE done.assignment = own.id))) "
)
_PREDICTED = (
    "JOIN models ON models.study = cases.study "
    "AND NOT EXISTS (SELECT 1 FROM withdrawn_models WHERE model = models.id) "
    f"AND models.id IN (SELECT model FROM predictions WHERE condition <> '{OPEN_ENDED}') "
    "LEFT JOIN predictions ON predictions.model = models.id AND case_id = cases.id "
    f"AND condition <> '{OPEN_ENDED}' WHERE cases.study = :study "
)
_COUNTS = "count(*) AS n, sum(answer IS truth) AS n_correct "


def of_readers(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return counts by reader and task, of readers who have read every case, without repeats.

    Simulated and withdrawn readers are left out; a case without an answer is not correct.
    """
    return look.rows(
        f"SELECT reader, task, {_COUNTS}{_JUDGED}{_READ}GROUP BY reader, task", study=study
    )


def of_cases(look: Transaction, study: int, but: int) -> list[dict[str, Any]]:
    """Return counts of the same readers by item and condition, without the reader `but`."""
    return look.rows(
        f"SELECT items.id AS item, condition, {_COUNTS}{_JUDGED}{_READ}AND reader <> :but "
        "GROUP BY items.id, condition",
        study=study,
        but=but,
    )


def of_models(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return counts by model and task; a case without a prediction is not correct."""
    return look.rows(
        f"SELECT model_id, task, {_COUNTS}{_JUDGED}{_PREDICTED}"
        "GROUP BY models.id, task ORDER BY models.id",
        study=study,
    )


def of_cases_by_models(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return counts of models by item."""
    return look.rows(
        f"SELECT items.id AS item, {_COUNTS}{_JUDGED}{_PREDICTED}GROUP BY items.id", study=study
    )
