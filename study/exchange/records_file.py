"""``records.jsonl``: every row a bundle's tables do not hold and that `verify` vouches for.

One JSON object a row, the same bytes from the same store. It holds no reference standard, no
person's name, no access code, and nothing of what readers said of themselves before their first
case. The first row says what study this is and which deployment it was read in.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from study.base.canonical import canonical_json
from study.base.errors import BadFile
from study.store import Transaction, archive, deployment, events
from study.store.events import EventKind
from study.store.studies import StudyRow

FILE = "records.jsonl"
FORMAT = 1
STUDY = "study"
LEFT_BEHIND = ("preparation", "practice", "films", "reports", "explanations", "names", "codes")
"""What a bundle does not carry; a study restored from one is whole without it."""


class StudyFacts(NamedTuple):
    """The first row: what study this is, and where it was read."""

    format: int
    deployment_id: str
    study: str
    bank: str
    state: str
    drawn_at_utc: str
    opened_at_utc: str | None
    closed_at_utc: str | None
    simulated_films: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The rows of ``records.jsonl``: the study's own facts, and the others by kind, in order."""

    study: StudyFacts
    rows: Mapping[str, Sequence[Mapping[str, Any]]]


def records(look: Transaction, study: StudyRow) -> bytes:
    """Return a study's ``records.jsonl``."""
    lines = [{"row": STUDY, **_facts(look, study)._asdict()}]
    lines += [{"row": kind, **row} for kind, row in archive.rows(look, study.id)]
    return "".join(canonical_json(line) + "\n" for line in lines).encode()


def refuse(name: str, faults: Sequence[str]) -> None:
    """Raise `BadFile` with every fault, if there is any."""
    if faults:
        raise refusal(name, faults)


def refusal(name: str, faults: Sequence[str]) -> BadFile:
    """Return the refusal of a bundle, every fault listed."""
    listed = "\n".join(f"  {fault}" for fault in faults)
    return BadFile(f"{name}: {len(faults)} fault(s); nothing was changed.\n{listed}")


def parse(look: Transaction, name: str, content: bytes) -> Carried:
    """Return the rows of the ``records.jsonl`` of a bundle of a name.

    The store says which columns a row of each kind has.

    Raises
    ------
    BadFile
        Of some rows the form is not right; each is listed.
    """
    faults: list[str] = []
    rows: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in archive.KINDS}
    wanted = {kind: archive.columns(look, kind) for kind in archive.KINDS}
    study: StudyFacts | None = None
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        row = _row(line)
        kind = row.pop("row", None)
        if kind == STUDY and number == 1 and set(row) == set(StudyFacts._fields):
            study = StudyFacts(**row)
        elif isinstance(kind, str) and kind in rows and _within(set(row), *wanted[kind]):
            rows[kind].append(row)
        else:
            faults.append(f"{FILE}, line {number}: not a row that this version knows.")
    if study is None:
        raise refusal(name, [*faults, f"{FILE} does not begin with what study it is of."])
    if study.format != FORMAT:
        faults.append(f"{FILE} has format {study.format!r}; this version knows {FORMAT}.")
    refuse(name, faults)
    return Carried(study=study, rows=rows)


def origin(look: Transaction, study: StudyRow) -> str:
    """Return the id of the deployment a study was read in: another one where it was restored."""
    return study.restored_from.partition("/")[0] or deployment.value(look, "deployment_id")


def _facts(look: Transaction, study: StudyRow) -> StudyFacts:
    drawn = events.of_kind(look, events.study_chain(study.name), EventKind.STUDY_DRAWN)
    return StudyFacts(
        format=FORMAT,
        deployment_id=origin(look, study),
        study=study.name,
        bank=drawn[0]["bank"] if drawn else study.bank_name,
        state=study.state,
        drawn_at_utc=study.drawn_at_utc,
        opened_at_utc=study.opened_at_utc,
        closed_at_utc=study.closed_at_utc,
        simulated_films=bool(study.simulated_films),
    )


def _within(found: set[str], least: set[str], most: set[str]) -> bool:
    return least <= found <= most


def _row(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
