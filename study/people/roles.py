"""Defines the roles and their permissions, for all pages, downloads and messages.

A role applies to one study. The roles of administrator and coordinator can also apply to the
deployment: an administrator then has the role in every study, and a coordinator may set up studies.
The role of reviewer always applies to the deployment.
"""

from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """The role of a person in a study or the deployment."""

    ADMINISTRATOR = "administrator"
    COORDINATOR = "coordinator"
    READER = "reader"
    REVIEWER = "reviewer"
    STATISTICIAN = "statistician"


class Act(StrEnum):
    """A permission in a study or in the deployment."""

    READ = "read"
    """Read cases, and see one's own score card if the protocol allows it."""
    SET_UP = "set up"
    """See the protocol, preview, draw, open, amend."""
    WATCH = "watch"
    """See the progress of readers and the quality of their readings."""
    STEP_IN = "step in"
    """Remind, pause, extend, release, withdraw, exclude."""
    PEOPLE = "people"
    """Invite readers and statisticians, issue and revoke codes, see and erase names."""
    ROLES = "roles"
    """Grant and revoke the roles of coordinator and administrator."""
    MODELS = "models"
    """Add models and their predictions."""
    CLOSE = "close"
    """Close the study, restore and merge bundles."""
    RESULTS = "results"
    """See results after closing, or earlier if the protocol allows it."""
    EXPORT = "export"
    """Download the study."""
    TRAIL = "trail"
    """See the audit trail."""
    MAKE_STUDY = "make study"
    """Deployment: import banks, draft new studies."""
    DEPLOYMENT = "deployment"
    """Deployment: backups, administrators, settings."""
    REVIEW = "review"
    """Deployment: judge the questions of a bank in assigned reviews."""
    ACCOUNT = "account"
    """Add one's own second factor (all roles but reader)."""
    CHOOSE = "choose"
    """See the list of one's studies, and select one."""


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
        Act.ACCOUNT,
    }
)

IN_STUDY: Mapping[Role, frozenset[Act]] = {
    Role.ADMINISTRATOR: _RUN | {Act.ROLES},
    Role.COORDINATOR: _RUN,
    Role.READER: frozenset({Act.READ}),
    Role.STATISTICIAN: frozenset({Act.RESULTS, Act.EXPORT, Act.ACCOUNT}),
}
"""The permissions of each role in its study."""

IN_DEPLOYMENT: Mapping[Role, frozenset[Act]] = {
    Role.ADMINISTRATOR: frozenset({Act.MAKE_STUDY, Act.DEPLOYMENT, Act.REVIEW, Act.ACCOUNT}),
    Role.COORDINATOR: frozenset({Act.MAKE_STUDY, Act.REVIEW, Act.ACCOUNT}),
    Role.REVIEWER: frozenset({Act.REVIEW, Act.ACCOUNT}),
}
"""The additional permissions of roles for the deployment."""

ANYWHERE: frozenset[Act] = frozenset({Act.CHOOSE})
"""The permissions of every signed-in person."""
