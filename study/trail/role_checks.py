"""Checks roles against the chain: each one given stands in it, and so does each one revoked.

Names are in neither. Codes, sign-ins and identities may change at any time and are not vouched for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from study.people.roles import Role
from study.store import Transaction, events, people
from study.store.events import EventKind, EventRow
from study.store.people import GrantRow
from study.store.studies import StudyRow

_Told = tuple[str, str, str]

_BY_COMMAND: Mapping[str, tuple[str, Role]] = {
    EventKind.READER_INVITED: ("reader_id", Role.READER),
    EventKind.READER_GIVEN_NEW_CODE: ("reader_id", Role.READER),
    EventKind.COORDINATOR_GIVEN_ACCESS: ("name", Role.COORDINATOR),
    EventKind.ADMINISTRATOR_GIVEN_ACCESS: ("name", Role.ADMINISTRATOR),
}
"""Events that give a role unless its holder had it already: any of them may be the one."""


def roles_of_study(look: Transaction, row: StudyRow, trail: Sequence[EventRow]) -> Iterator[str]:
    """Yield every role of a study that its trail does not tell of, or tells otherwise."""
    where = f"study {row.name}"
    has_people = not row.restored_from  # a study of another deployment comes without its people
    yield from _roles(where, people.grants_of_study(look, row.id), trail, has_people=has_people)


def roles_of_deployment(look: Transaction) -> Iterator[str]:
    """Yield every role of the deployment that its trail does not tell of, or tells otherwise."""
    trail = list(events.walk(look, events.DEPLOYMENT))
    grants = people.grants_of_deployment(look)
    yield from _roles("the deployment", grants, trail, has_people=True)


def _roles(
    where: str, grants: Iterable[GrantRow], trail: Sequence[EventRow], *, has_people: bool
) -> Iterator[str]:
    exact, either, revoked = _told(trail)
    given = {(row.whose, row.role, row.given_at_utc) for row in grants}
    ended = {(row.whose, row.role, row.revoked_at_utc) for row in grants if row.revoked_at_utc}
    for who, role, _ in sorted(given - exact - either):
        yield f"{where}: the role {role} of {who} was slipped in."
    held = {(who, role) for who, role, _ in given}
    missing = {one[:2] for one in exact - given}
    if has_people:
        missing |= {one[:2] for one in either} - held
    for who, role in sorted(missing):
        yield f"{where}: the role {role} of {who} is missing."
    for who, role, _ in sorted(ended ^ revoked):
        yield f"{where}: what was revoked of the role {role} of {who} was altered."


def _told(trail: Sequence[EventRow]) -> tuple[set[_Told], set[_Told], set[_Told]]:
    exact, either, revoked = set(), set(), set()
    for event in trail:
        kind, detail, at = event.kind, event.detail, event.at_utc
        if kind == EventKind.ROLE_GIVEN:
            exact.add((detail["whose"], detail["new"], at))
        elif kind == EventKind.ROLE_REVOKED:
            revoked.add((detail["whose"], detail["old"], at))
        elif kind in _BY_COMMAND:
            key, role = _BY_COMMAND[kind]
            either.add((detail[key], str(role), at))
    return exact, either, revoked
