"""Who does something, and from where: said with every act, and written into the trail."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """Whoever acts.

    Parameters
    ----------
    name
        A reader's study code, or the handle of whoever runs the study; never a reader's name.
    role
        The role they act in; empty on the command line.
    place
        The mark of the address they act from, see `study.people.signing_in`; empty on the
        command line.
    """

    name: str
    role: str = ""
    place: str = ""


class Acting(TypedDict):
    """Who acts and when: the last arguments of whatever is done, handed on as ``**acting``."""

    by: By
    now: datetime


COMMAND_LINE = By(name="coordinator")
"""Whoever types commands beside the store's file; its rights are the file's own."""

SCHEDULE = By(name="schedule")
"""What the server does by itself at its time."""
