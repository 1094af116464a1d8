"""What a study has and what it lacks: readers by status, cases, readings; never right or wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from study.store import Transaction, completeness, models, people, studies
from study.store import sessions as stored_sessions

Row = Mapping[str, Any]

NUMBERS = ("n_assigned", "n_read", "n_answered", "n_skipped", "n_timed_out", "n_excluded")
STATUSES = ("finished", "reading", "not begun", "withdrawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """What was assigned in a study, and what came of it.

    Parameters
    ----------
    readers
        ``reader_id``, ``simulated``, ``status`` (of `STATUSES`) and the `NUMBERS` of each reader.
    sessions
        ``reader_id``, ``session``, ``condition`` and the `NUMBERS`, per reader, session, condition.
    n_cases, n_models
        Cases drawn, models added.
    """

    readers: Sequence[Row]
    sessions: Sequence[Row]
    n_cases: int
    n_models: int

    @property
    def totals(self) -> dict[str, int]:
        """Return the sums of the `NUMBERS`, and ``n_missing``: assigned and not read."""
        sums = {key: sum(row[key] for row in self.readers) for key in NUMBERS}
        return {**sums, "n_missing": sums["n_assigned"] - sums["n_read"]}

    @property
    def by_status(self) -> dict[str, int]:
        """Return how many readers have each status."""
        return {one: sum(row["status"] == one for row in self.readers) for one in STATUSES}


def completeness_in(look: Transaction, study: Row) -> Completeness:
    """Return what a study has and lacks, within a transaction."""
    number = study["id"]
    sessions = completeness.counts(look, number)
    own: dict[str, list[Row]] = {}
    for row in sessions:
        own.setdefault(row["reader_id"], []).append(row)
    withdrawn = {
        row["reader_id"]
        for row in stored_sessions.interventions(look, number)
        if row["kind"] == "withdraw"
    }
    return Completeness(
        readers=[
            _reader(row, own.get(row["reader_id"], []), withdrawn)
            for row in people.readers(look, number)
        ],
        sessions=sessions,
        n_cases=len(studies.cases(look, number)),
        n_models=len(models.of_study(look, number)),
    )


def _reader(reader: Row, rows: Sequence[Row], withdrawn: set[str]) -> dict[str, Any]:
    sums = {key: sum(row[key] for row in rows) for key in NUMBERS}
    if reader["reader_id"] in withdrawn:
        status = "withdrawn"
    elif sums["n_assigned"] and sums["n_read"] == sums["n_assigned"]:
        status = "finished"
    else:
        status = "reading" if sums["n_read"] else "not begun"
    return {
        "reader_id": reader["reader_id"],
        "simulated": bool(reader["simulated"]),
        "status": status,
        **sums,
    }
