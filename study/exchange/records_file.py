"""``records.jsonl``: every row a bundle's tables do not hold and that `verify` vouches for.

One JSON object a row, the same bytes from the same store. It holds no reference standard, no
person's name, no access code, and nothing of what readers said of themselves before their first
case. The first row says what study this is and which deployment it was read in.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from study.base.canonical import canonical_json
from study.store import Transaction, archive, deployment, events
from study.store.events import EventKind
from study.store.studies import StudyRow

FILE = "records.jsonl"
FORMAT = 1
STUDY = "study"
STUDY_KEYS = (
    "format",
    "deployment_id",
    "study",
    "bank",
    "state",
    "drawn_at_utc",
    "opened_at_utc",
    "closed_at_utc",
    "simulated_films",
)

LEFT_BEHIND = ("preparation", "practice", "films", "reports", "explanations", "names", "codes")
"""What a bundle does not carry; a study restored from one is whole without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The rows of ``records.jsonl``: the study's own facts, and the others by kind, in order."""

    study: Mapping[str, Any]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]


def records(look: Transaction, study: StudyRow) -> bytes:
    """Return a study's ``records.jsonl``."""
    lines = [{"row": STUDY, **_facts(look, study)}]
    lines += [{"row": kind, **row} for kind, row in archive.rows(look, study.id)]
    return "".join(canonical_json(line) + "\n" for line in lines).encode()


def parse(look: Transaction, content: bytes) -> tuple[Carried, list[str]]:
    """Return the rows of a ``records.jsonl``, and every fault of their form.

    The store says which columns a row of each kind has.
    """
    faults: list[str] = []
    rows: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in archive.KINDS}
    wanted = {kind: archive.columns(look, kind) for kind in archive.KINDS}
    study: Mapping[str, Any] = {}
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        row = _row(line)
        kind = row.pop("row", None)
        if kind == STUDY and number == 1 and set(row) == set(STUDY_KEYS):
            study = row
        elif isinstance(kind, str) and kind in rows and _within(set(row), *wanted[kind]):
            rows[kind].append(row)
        else:
            faults.append(f"{FILE}, line {number}: not a row that this version knows.")
    if not study:
        faults.append(f"{FILE} does not begin with what study it is of.")
    elif study["format"] != FORMAT:
        faults.append(f"{FILE} has format {study['format']!r}; this version knows {FORMAT}.")
    return Carried(study=study, rows=rows), faults


def origin(look: Transaction, study: StudyRow) -> str:
    """Return the id of the deployment a study was read in: another one where it was restored."""
    return study.restored_from.partition("/")[0] or deployment.value(look, "deployment_id")


def _facts(look: Transaction, study: StudyRow) -> dict[str, Any]:
    drawn = events.of_kind(look, events.study_chain(study.name), EventKind.STUDY_DRAWN)
    return {
        "format": FORMAT,
        "deployment_id": origin(look, study),
        "study": study.name,
        "bank": drawn[0]["bank"] if drawn else study.bank_name,
        "state": study.state,
        "drawn_at_utc": study.drawn_at_utc,
        "opened_at_utc": study.opened_at_utc,
        "closed_at_utc": study.closed_at_utc,
        "simulated_films": bool(study.simulated_films),
    }


def _within(found: set[str], least: set[str], most: set[str]) -> bool:
    return least <= found <= most


def _row(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
