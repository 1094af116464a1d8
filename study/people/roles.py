"""Roles and what each may do: the one table every page, download and message asks.

A role is held in one study. Two may also be held for the deployment as a whole: an administrator's
then counts in every study, a coordinator's lets them set up studies of their own. A reviewer's is
held for the deployment alone.
"""

from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """What somebody is in a study."""

    ADMINISTRATOR = "administrator"
    COORDINATOR = "coordinator"
    READER = "reader"
    REVIEWER = "reviewer"
    STATISTICIAN = "statistician"


class Act(StrEnum):
    """What somebody may do in a study, or in the deployment."""

    READ = "read"
    """Read cases, and see one's own score card where the protocol allows."""
    SET_UP = "set up"
    """See the protocol, preview, draw, open, amend."""
    WATCH = "watch"
    """See how far readers are and the quality of their readings."""
    STEP_IN = "step in"
    """Remind, pause, extend, release, withdraw, exclude."""
    PEOPLE = "people"
    """Invite readers and statisticians, give and revoke codes, see and erase names."""
    ROLES = "roles"
    """Give and revoke the roles of coordinator and administrator."""
    MODELS = "models"
    """Add models and their predictions."""
    CLOSE = "close"
    """Close the study, restore and merge bundles."""
    RESULTS = "results"
    """See results, once the study is closed or where its protocol says so."""
    EXPORT = "export"
    """Download the study."""
    TRAIL = "trail"
    """See the trail of acts."""
    MAKE_STUDY = "make study"
    """Deployment: import banks, draft new studies."""
    DEPLOYMENT = "deployment"
    """Deployment: backups, administrators, settings."""
    REVIEW = "review"
    """Deployment: judge the questions of a bank in reviews one has been asked to."""
    CHOOSE = "choose"
    """See which studies one has a part in, and go on in one of them."""


_RUN = frozenset(
    {
        Act.SET_UP,
        Act.WATCH,
        Act.STEP_IN,
        Act.PEOPLE,
        Act.MODELS,
        Act.CLOSE,
        Act.RESULTS,
        Act.EXPORT,
        Act.TRAIL,
    }
)

IN_STUDY: Mapping[Role, frozenset[Act]] = {
    Role.ADMINISTRATOR: _RUN | {Act.ROLES},
    Role.COORDINATOR: _RUN,
    Role.READER: frozenset({Act.READ}),
    Role.STATISTICIAN: frozenset({Act.RESULTS, Act.EXPORT}),
}
"""What a role allows in its study."""

IN_DEPLOYMENT: Mapping[Role, frozenset[Act]] = {
    Role.ADMINISTRATOR: frozenset({Act.MAKE_STUDY, Act.DEPLOYMENT, Act.REVIEW}),
    Role.COORDINATOR: frozenset({Act.MAKE_STUDY, Act.REVIEW}),
    Role.REVIEWER: frozenset({Act.REVIEW}),
}
"""What a role held for the whole deployment allows beside."""

ANYWHERE: frozenset[Act] = frozenset({Act.CHOOSE})
"""What everybody signed in may do, in whatever role and study."""
