"""Stored models and their predictions."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from study.store.connection import Transaction


class ModelRow(NamedTuple):
    """A model with its counts by status, and its withdrawal, if any (time, person and reason).

    The counts are of its first run under the readers' condition. `conditions` is a
    JSON list.
    """

    id: int
    study: int
    model_id: str
    model_version: str
    simulated: int
    source_name: str
    source_sha256: str
    added_at_utc: str
    edition: int
    synthetic: int
    withdrawn_at_utc: str | None
    withdrawn_by: str | None
    reason: str | None
    n_runs: int
    conditions: str
    n_predicted: int
    n_answered: int
    n_skipped: int
    n_unparsed: int
    n_refused: int
    n_cut_off: int

    @property
    def key(self) -> tuple[str, int]:
        """Return the name and edition of the model, which identify it in its study."""
        return self.model_id, self.edition


class PredictionRow(NamedTuple):
    """A model's answer to an item in one run under one condition.

    `run` is the name of the run, empty if there is only one, and `repeat` its number from 1;
    `confidence` is from 0 to 1; `detail` is a JSON object of further facts.
    """

    item_id: str
    answer: str | None
    status: str
    raw_answer: str
    condition: str
    run: str
    repeat: int
    confidence: float | None
    detail: str

    def hashed_values(self) -> dict[str, Any]:
        """Return the values that a model's hash covers, without later columns at their default."""
        row = self._asdict()
        return {
            key: row[key]
            for key in row
            if key not in LATER_COLUMN_DEFAULTS or row[key] != LATER_COLUMN_DEFAULTS[key]
        }


LATER_COLUMN_DEFAULTS: Mapping[str, Any] = {
    "condition": "",
    "run": "",
    "repeat": 1,
    "confidence": None,
    "detail": "{}",
}
"""Defaults of the columns that were added to predictions later."""

_COLUMNS = ("model", "case_id", "answer", "status", "raw_answer", *LATER_COLUMN_DEFAULTS)


READERS_CONDITIONS = ("", "image", "unaided", "aided")
"""Conditions under which a model sees what readers see; the first one present is primary."""


def condition_rank(condition: str) -> tuple[int, str]:
    """Return the rank of a condition, by which a model's primary answers are chosen."""
    known = condition in READERS_CONDITIONS
    return READERS_CONDITIONS.index(condition) if known else len(READERS_CONDITIONS), condition


def primary_answers(look: Transaction, model: int) -> dict[str, PredictionRow]:
    """Return a model's primary answers by item: those of the first run in the first condition."""
    rows = predictions(look, model)
    condition = min((row.condition for row in rows), key=condition_rank, default="")
    return {
        row.item_id: row
        for row in rows
        if (row.repeat, row.condition) == (1, condition) and row.answer is not None
    }


def add(change: Transaction, **columns: Any) -> int:
    """Insert a model's row and return its id."""
    return change.insert("models", **columns)


def add_predictions(change: Transaction, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert predictions as (model, case, answer, status, raw answer, later columns)."""
    change.insert_many("predictions", _COLUMNS, rows)


def remember_columns(change: Transaction, columns: str, meaning: str, at_utc: str) -> None:
    """Store or replace the meaning of a set of columns, as JSON."""
    change.upsert("column_names", "columns", columns=columns, meant=meaning, at_utc=at_utc)


def remembered_columns(look: Transaction, columns: str) -> str | None:
    """Return the stored meaning of a set of columns, as JSON, or None."""
    meaning = look.value("SELECT meant FROM column_names WHERE columns = :columns", columns=columns)
    return None if meaning is None else str(meaning)


def withdraw(change: Transaction, **columns: Any) -> None:
    """Mark a model as withdrawn, permanently."""
    change.insert("withdrawn_models", **columns)


def next_edition(look: Transaction, study: int, model_id: str) -> int:
    """Return the number of the next model of a name, from 1."""
    return 1 + int(
        look.value(
            "SELECT coalesce(max(edition), 0) FROM models "
            "WHERE study = :study AND model_id = :model_id",
            study=study,
            model_id=model_id,
        )
    )


def facts(row: ModelRow) -> dict[str, Any]:
    """Return the facts about a model's row that the event of its addition records."""
    return {
        "model_id": row.model_id,
        "model_version": row.model_version,
        "simulated": bool(row.simulated),
        "source": row.source_name,
        "source_sha256": row.source_sha256,
        **edition_of(row),
        **({"synthetic": True} if row.synthetic else {}),
    }


def edition_of(row: ModelRow) -> dict[str, int]:
    """Return the number of a model among those of its name; empty for the first."""
    return {"edition": row.edition} if row.edition > 1 else {}


def of_study(look: Transaction, study: int) -> list[ModelRow]:
    """Return a study's models in the order they were added, with counts by status.

    Withdrawn models are left out.
    """
    return [row for row in ever_of_study(look, study) if row.withdrawn_at_utc is None]


def ever_of_study(look: Transaction, study: int) -> list[ModelRow]:
    """Return all models of a study in the form of `of_study`, including withdrawn ones."""
    rows = look.rows(
        "SELECT models.*, withdrawn_models.at_utc AS withdrawn_at_utc, "
        "withdrawn_models.actor AS withdrawn_by, reason, "
        "coalesce((SELECT max(repeat) FROM predictions AS any_of "
        " WHERE any_of.model = models.id), 1) AS n_runs, "
        "(SELECT json_group_array(DISTINCT condition) FROM predictions AS any_of "
        " WHERE any_of.model = models.id) AS conditions, "
        "count(case_id) AS n_predicted, "
        "count(*) FILTER (WHERE status = 'answered') AS n_answered, "
        "count(*) FILTER (WHERE status = 'skipped') AS n_skipped, "
        "count(*) FILTER (WHERE status = 'unparsed') AS n_unparsed, "
        "count(*) FILTER (WHERE status = 'refused') AS n_refused, "
        "count(*) FILTER (WHERE json_extract(predictions.detail, '$.reason') = 'cut off')"
        " AS n_cut_off "
        "FROM models LEFT JOIN predictions ON predictions.model = models.id AND repeat = 1 "
        "AND condition = (SELECT condition FROM predictions AS any_of "
        " WHERE any_of.model = models.id ORDER BY CASE condition WHEN '' THEN 1 "
        " WHEN 'image' THEN 2 WHEN 'unaided' THEN 3 WHEN 'aided' THEN 4 ELSE 5 END, condition "
        " LIMIT 1) "
        "LEFT JOIN withdrawn_models ON withdrawn_models.model = models.id "
        "WHERE study = :study GROUP BY models.id, withdrawn_models.model ORDER BY models.id",
        study=study,
    )
    return [ModelRow(**row) for row in rows]


def has_predictions(look: Transaction, model: int) -> bool:
    """Return whether predictions of a model are stored."""
    return bool(look.value("SELECT 1 FROM predictions WHERE model = :model LIMIT 1", model=model))


def predictions(look: Transaction, model: int) -> list[PredictionRow]:
    """Return a model's predictions in order of case, condition and run, as its hash covers them."""
    return look.tuples(
        PredictionRow,
        "SELECT item_id, answer, status, raw_answer, condition, run, repeat, confidence, detail "
        "FROM predictions JOIN cases ON cases.id = case_id JOIN items ON items.id = item "
        "WHERE model = :model ORDER BY number, condition, repeat",
        model=model,
    )
