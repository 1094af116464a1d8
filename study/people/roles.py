"""Defines the roles and their permissions, for all pages, downloads and messages.

A role applies to one study. The roles of administrator and coordinator can also apply to the
deployment: an administrator then has the role in every study, and a coordinator may set up studies.
The role of reviewer always applies to the deployment.
"""

from collections.abc import Mapping
from enum import StrEnum

from study.base.translation import later, translated


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
    """See the protocol; preview, draw, open and amend the study."""
    WATCH = "watch"
    """See the progress of readers and the quality of their readings."""
    STEP_IN = "step in"
    """Remind, pause and withdraw readers, extend and release sessions, exclude readings."""
    PEOPLE = "people"
    """Invite readers and statisticians, issue and revoke codes, see and erase names."""
    ROLES = "roles"
    """Grant and revoke the roles of coordinator and administrator."""
    MODELS = "models"
    """Add models and their predictions."""
    CLOSE = "close"
    """Close the study, and restore and merge bundles."""
    RESULTS = "results"
    """See results after closing, or earlier if the protocol allows it."""
    EXPORT = "export"
    """Download the study."""
    TRAIL = "trail"
    """See the audit trail."""
    MAKE_STUDY = "make study"
    """Deployment: import banks and draft new studies."""
    DEPLOYMENT = "deployment"
    """Deployment: backups, administrators, settings."""
    REVIEW = "review"
    """Deployment: judge the questions in a bank in assigned reviews."""
    ACCOUNT = "account"
    """Add one's own second factor (all roles except reader)."""
    CHOOSE = "choose"
    """See the list of one's studies, and select one."""


_COORDINATOR_PERMISSIONS = frozenset(
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

STUDY_PERMISSIONS: Mapping[Role, frozenset[Act]] = {
    Role.READER: frozenset({Act.READ}),
    Role.STATISTICIAN: frozenset({Act.RESULTS, Act.EXPORT, Act.ACCOUNT}),
    Role.COORDINATOR: _COORDINATOR_PERMISSIONS,
    Role.ADMINISTRATOR: _COORDINATOR_PERMISSIONS | {Act.ROLES},
}
"""The permissions of each role in a study."""

DEPLOYMENT_PERMISSIONS: Mapping[Role, frozenset[Act]] = {
    Role.COORDINATOR: frozenset({Act.MAKE_STUDY, Act.REVIEW, Act.ACCOUNT}),
    Role.REVIEWER: frozenset({Act.REVIEW, Act.ACCOUNT}),
    Role.ADMINISTRATOR: frozenset({Act.MAKE_STUDY, Act.DEPLOYMENT, Act.REVIEW, Act.ACCOUNT}),
}
"""The additional permissions of roles for the deployment."""

COMMON_PERMISSIONS: frozenset[Act] = frozenset({Act.CHOOSE})
"""The permissions of every signed-in person."""

STUDY_ROLE_GRANTERS: Mapping[Role, Act] = {
    Role.READER: Act.PEOPLE,
    Role.STATISTICIAN: Act.PEOPLE,
    Role.COORDINATOR: Act.ROLES,
    Role.ADMINISTRATOR: Act.ROLES,
}
"""The permission needed to grant or revoke each role in a study."""

DEPLOYMENT_ROLE_GRANTERS: Mapping[Role, Act] = {
    Role.COORDINATOR: Act.DEPLOYMENT,
    Role.REVIEWER: Act.MAKE_STUDY,
    Role.ADMINISTRATOR: Act.DEPLOYMENT,
}
"""The permission needed to grant or revoke each role for the deployment."""

TITLES: Mapping[str, str] = {
    Role.READER: later("reader"),
    Role.STATISTICIAN: later("statistician"),
    Role.COORDINATOR: later("coordinator"),
    Role.REVIEWER: later("reviewer"),
    Role.ADMINISTRATOR: later("administrator"),
}


def staff_roles(study: str) -> tuple[Role, ...]:
    """Return the roles of a study's staff or, if `study` is empty, of the deployment's staff.

    >>> [str(role) for role in staff_roles("trial")]
    ['statistician', 'coordinator', 'administrator']
    """
    return tuple(role for role in _role_granters(study) if role is not Role.READER)


def granting_act(role: Role, study: str) -> Act:
    """Return the permission needed to grant or revoke a role from `staff_roles` or that of reader.

    >>> granting_act(Role.STATISTICIAN, "trial"), granting_act(Role.COORDINATOR, "trial")
    (<Act.PEOPLE: 'people'>, <Act.ROLES: 'roles'>)
    """
    return _role_granters(study)[role]


def _role_granters(study: str) -> Mapping[Role, Act]:
    return STUDY_ROLE_GRANTERS if study else DEPLOYMENT_ROLE_GRANTERS


def role_title(role: Role) -> str:
    """Return the title of a role in the user's language."""
    return translated(TITLES[role])
