"""What became of a record, and the event that vouches for the row it was stored as."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from study.acts import By
from study.canonical import sha256_of
from study.store import Transaction, events
from study.words import later

HANDED_OUT = 3
"""How many unread cases a reader's page holds: the current one and the next two."""

NOT_YET = later("This case was not handed out yet.")
SIMULATED = "This reader is a simulated one; nobody else can read for them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a record: stored, unless `refused` says why not."""

    id: str
    case: str
    refused: str = ""
    practice: bool = False


def vouch(
    change: Transaction,
    study: str,
    by: By,
    now: datetime,
    kind: str,
    stored: Mapping[str, Any] | None,
    detail: Mapping[str, Any],
) -> None:
    """Append an event with the hash of a row as it was read back, which is what is verified."""
    events.record(
        change,
        study,
        now,
        by=by,
        kind=kind,
        detail={**detail, "sha256": sha256_of(stored)},
    )
