"""A reader's place among anonymous readers of a closed study, and beside its models.

Told only where the protocol's `score_card` is "peers", to readers who have read every case. Of
other readers there are sums over all of them, never one alone, and nothing where they are few.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from study.store import Transaction, scores

LEAST_PEERS = 3
"""So many others have to have read every case, so that none can be singled out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many answers match the reference standard, of how many."""

    n_correct: int
    n: int

    def __add__(self, other: "Count") -> "Count":
        """Return both counts together."""
        return Count(n_correct=self.n_correct + other.n_correct, n=self.n + other.n)


NONE = Count(n_correct=0, n=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """How many others got a case right: readers, of none where they are few, and models."""

    readers: Count
    models: Count

    @property
    def most_were_right(self) -> bool:
        """Whether more than half of the other readers were."""
        return 2 * self.readers.n_correct > self.readers.n


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A reader beside others, on the first reading of every case that has a reference standard.

    `place` counts from 1 and is shared with `n_sharing` others; it is None, and `peers` is empty,
    where fewer than `LEAST_PEERS` others have finished. `peers` adds all of them up, by task;
    `models` has the counts of each by name and task.
    """

    place: int | None
    n_sharing: int
    n_peers: int
    own: Mapping[str, Count]
    peers: Mapping[str, Count]
    models: Mapping[str, Mapping[str, Count]]
    peers_by_case: Mapping[tuple[int, str], Count]
    models_by_item: Mapping[int, Count]

    def others(self, item: int, condition: str) -> Others:
        """Return how many others got a case right."""
        return Others(
            readers=self.peers_by_case.get((item, condition), NONE),
            models=self.models_by_item.get(item, NONE),
        )


def total(by_task: Mapping[str, Count]) -> Count:
    """Return the counts of all tasks together."""
    return sum(by_task.values(), NONE)


def comparison(look: Transaction, study: int, reader: int) -> Comparison | None:
    """Return a reader beside the others, or None where they have not read every case."""
    readers = _by(scores.of_readers(look, study), "reader")
    own = readers.pop(reader, None)
    if own is None:
        return None
    told = len(readers) >= LEAST_PEERS
    reached = [total(one).n_correct for one in readers.values()] if told else []
    mine = total(own).n_correct
    return Comparison(
        place=1 + sum(one > mine for one in reached) if told else None,
        n_sharing=reached.count(mine),
        n_peers=len(readers),
        own=own,
        peers={task: sum((one[task] for one in readers.values()), NONE) for task in own}
        if told
        else {},
        models=_by(scores.of_models(look, study), "model_id"),
        peers_by_case={
            (row["item"], row["condition"]): _count(row)
            for row in (scores.of_cases(look, study, reader) if told else [])
        },
        models_by_item={row["item"]: _count(row) for row in scores.of_cases_by_models(look, study)},
    )


def _by(rows: Iterable[Mapping[str, Any]], key: str) -> dict[Any, dict[str, Count]]:
    """Return counts by somebody and by task."""
    found: dict[Any, dict[str, Count]] = {}
    for row in rows:
        found.setdefault(row[key], {})[row["task"]] = _count(row)
    return found


def _count(row: Mapping[str, Any]) -> Count:
    return Count(n_correct=row["n_correct"], n=row["n"])
