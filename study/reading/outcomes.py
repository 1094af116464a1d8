"""What became of a record that the reading page sent: stored, or refused and why."""

from dataclasses import dataclass

from study.base.translation import later

HANDED_OUT = 3
"""How many unread cases a reader's page holds: the current one and the next two."""

NOT_YET = later("This case is not available yet.")
SIMULATED = "This reader is a simulated one; nobody else can read for them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a record: stored, unless `refused` says why not."""

    id: str
    case: str
    refused: str = ""
    practice: bool = False
