"""Who has a part where: the roster at this moment, for the people's pages."""

from datetime import UTC, datetime

from study.lifecycle import opening
from study.people import roster
from study.people.roster import Member
from ui.people.acts import Scope
from ui.server.deployment import store


def members_of(scope: Scope) -> list[Member]:
    """Return everybody with a role in the scope, as things stand now."""
    now = datetime.now(UTC)
    if scope.study:
        return roster.of_study(store(), scope.study, now=now)
    return roster.of_deployment(store(), now=now)


def acquaintances_of(study: str) -> tuple[str, ...]:
    """Return a sentence for each reader of a study who may know its answers from another."""
    return opening.acquaintances(store(), study)
