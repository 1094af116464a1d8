"""The actor of an action and their address, which are recorded in the trail."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """The actor of an action.

    Parameters
    ----------
    name
        A reader's study code or a staff member's handle; never a reader's name.
    role
        The role of the actor; empty on the command line.
    place
        The pseudonym of the actor's network address (see `study.people.signing_in`); empty on the
        command line.
    everywhere
        Whether the actor is an administrator of the deployment. Their actions on a person apply to
        all studies.
    """

    name: str
    role: str = ""
    place: str = ""
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """The actor and the time of an action: the argument `acting` of all functions that change data.

    Parameters
    ----------
    by
        The actor.
    now
        The time of the action, with a time zone.
    """

    by: By
    now: datetime


COMMAND_LINE = By(name="coordinator", everywhere=True)
"""The actor of commands; what they may do depends on the permissions of the store's file."""

SCHEDULE = By(name="schedule")
"""The actor of the server's scheduled actions."""
