"""The titles of roles in the user's language."""

from study.base.translation import later, said
from study.people.roles import Role

TITLES: dict[str, str] = {
    Role.ADMINISTRATOR: later("administrator"),
    Role.COORDINATOR: later("coordinator"),
    Role.READER: later("reader"),
    Role.REVIEWER: later("reviewer"),
    Role.STATISTICIAN: later("statistician"),
}


def role_title(role: Role) -> str:
    """Return the title of a role."""
    return said(TITLES[role])
