"""How far a study is: per reader and per model, with honest denominators."""

from typing import Any

from study.protocol.protocol import stored_protocol
from study.store import Store, models, people, preparations, readings, sessions, studies
from study.store.studies import study_row


def status(store: Store, study: str) -> dict[str, Any]:
    """Return a study's state as JSON values; it tells nothing of right or wrong.

    Returns
    -------
    dict
        ``study``, ``state``, ``protocol_sha256``, ``bank``, ``n_cases``, ``conditions``,
        ``opened_at_utc``, ``readers`` (each with ``reader_id``, ``simulated``, ``n_assigned``,
        ``n_read``, ``n_answered``, ``n_skipped``, ``n_timed_out``, ``last_reading_at_utc``,
        ``sessions``: each with ``session``, ``n_assigned``, ``n_read``) and
        ``models`` (each with ``model_id``, ``model_version``, ``simulated``, ``n_predicted``,
        ``n_answered``, ``n_skipped``, ``n_unparsed``, ``n_refused``, ``n_absent``).
    """
    with store.look() as look:
        found = study_row(look, study)
        n_cases = len(studies.cases(look, found["id"]))
        return {
            "study": study,
            "state": found["state"],
            "protocol_sha256": found["protocol_sha256"],
            "bank": found["bank_name"],
            "simulated_films": bool(found["simulated_films"]),
            "n_cases": n_cases,
            "conditions": [str(one) for one in stored_protocol(found).conditions],
            "opened_at_utc": found["opened_at_utc"],
            "readers": [
                {
                    "reader_id": row["reader_id"],
                    "simulated": bool(row["simulated"]),
                    **readings.counts(look, row["id"]),
                    "sessions": sessions.counts(look, row["id"]),
                }
                for row in people.readers(look, found["id"])
            ],
            "models": [
                {
                    **{key: row[key] for key in _MODEL_KEYS},
                    "simulated": bool(row["simulated"]),
                    "n_absent": n_cases - row["n_predicted"],
                }
                for row in models.of_study(look, found["id"])
            ],
        }


def preparation_rows(store: Store, study: str) -> list[dict[str, Any]]:
    """Return what a study's readers did before their first case, in the order it was done.

    Returns
    -------
    list of dict
        ``reader_id``, ``step``, ``done_at_utc`` (None where the browser's clock was absurd),
        ``received_at_utc`` and ``detail`` (JSON as text).
    """
    with store.look() as look:
        number = study_row(look, study)["id"]
        names = {row["id"]: row["reader_id"] for row in people.readers(look, number)}
        return [
            {"reader_id": names[row["reader"]], **{key: row[key] for key in _PREPARATION_KEYS}}
            for row in preparations.of_study(look, number)
        ]


_PREPARATION_KEYS = ("step", "done_at_utc", "received_at_utc", "detail")

_MODEL_KEYS = (
    "model_id",
    "model_version",
    "n_predicted",
    "n_answered",
    "n_skipped",
    "n_unparsed",
    "n_refused",
)
