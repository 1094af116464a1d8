"""Roles that follow from a person's groups at a single sign-on provider."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from study.base.errors import BadInput
from study.people import codes, persons, single_sign_on
from study.people.group_roles import GroupRole, read_rules
from study.people.persons import Newcomer
from study.people.roles import Role
from study.people.signing_in import SignInRefused
from study.store import Store, people
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from

_SEEDS = count(3)
ISSUER = "https://id.example.org"
SECTION: dict[str, Any] = {
    "issuer": ISSUER,
    "claim": "access.roles",
    "groups": {
        "admins": "administrator",
        "research": "coordinator",
        "experts": "reviewer",
        "statistics": {"role": "statistician", "study": "trial"},
        "gone": {"role": "coordinator", "study": "no such study"},
    },
}
(RULES,) = read_rules({"hospital": SECTION})


def _sign_on(store: Store, *groups: str, **changed: Any) -> str:
    claims = {
        "iss": ISSUER,
        "sub": "7",
        "iat": NOW.timestamp(),
        "email": "carla@example.org",
        "email_verified": True,
        "name": "Carla Meier",
        "access": {"roles": list(groups)},
        **changed,
    }
    identity = single_sign_on.read_identity(claims)
    assert identity is not None
    granted = RULES.roles_for(claims)
    return single_sign_on.issue_ticket(
        store, identity, entropy=entropy_from(next(_SEEDS)), now=NOW, granted=granted
    )


def _active_roles(store: Store) -> set[tuple[str, str]]:
    """Return role and study of all active roles of staff."""
    with store.look() as look:
        rows = look.rows(
            "SELECT role, coalesce(studies.name, '') AS study FROM grants "
            "LEFT JOIN studies ON studies.id = grants.study "
            "WHERE revoked_at_utc IS NULL AND role <> 'reader'"
        )
    return {(row["role"], row["study"]) for row in rows}


def _carla(store: Store, role: Role = Role.COORDINATOR) -> None:
    persons.grant_role(
        store,
        Newcomer(handle="carla", role=role, email="carla@example.org"),
        study="",
        code=codes.new_code(entropy_from(2)),
        acting=ACTING,
    )


def test_groups_grant_roles_to_a_new_person_and_revoke_them(store: Store) -> None:
    """The person does not need an invitation.

    After the person has left all groups, the roles end and the sign-in is refused.
    """
    _sign_on(store, "research", "experts", "unknown", "gone")
    assert _active_roles(store) == {("coordinator", ""), ("reviewer", "")}
    with store.look() as look:
        assert {row.name for row in people.all_names(look).values()} >= {"Carla Meier"}
        trail = look.rows("SELECT actor, detail FROM events WHERE kind = 'role given'")
    assert "Carla" not in str(trail)
    assert '"group":"experts"' in str(trail)
    _sign_on(store, "experts")
    assert _active_roles(store) == {("reviewer", "")}
    with pytest.raises(SignInRefused, match="not registered"):
        _sign_on(store)
    assert _active_roles(store) == set()
    _sign_on(store, "research")
    assert _active_roles(store) == {("coordinator", "")}
    assert verify(store) == []


def test_a_manually_granted_role_is_kept(store: Store) -> None:
    """Only roles from groups are revoked."""
    _carla(store)
    _sign_on(store, "experts", "research")
    _sign_on(store)
    assert _active_roles(store) == {("coordinator", "")}


def test_a_person_who_changes_the_group_keeps_the_access_code(store: Store) -> None:
    """The new role is given before the old role ends."""
    _sign_on(store, "research")
    with store.look() as look:
        (grant,) = people.grants_of_deployment(look)
    persons.replace_code(
        store, study="", grant=grant.id, code=codes.new_code(entropy_from(2)), acting=ACTING
    )
    _sign_on(store, "experts")
    assert _active_roles(store) == {("reviewer", "")}
    with store.look() as look:
        assert people.code(look, grant.person) is not None


def test_the_last_administrator_keeps_the_role(store: Store) -> None:
    """Otherwise no one could correct the settings."""
    _sign_on(store, "admins")
    _sign_on(store, "experts")
    assert _active_roles(store) == {("administrator", ""), ("reviewer", "")}


def test_a_group_grants_a_role_in_a_study_but_not_to_its_readers(
    opened: Callable[..., Store],
) -> None:
    """A reader with the same address remains a reader, and can sign in."""
    trial = opened(readers=("R1",))
    _sign_on(trial, "statistics")
    assert _active_roles(trial) >= {("statistician", "trial")}
    with trial.change() as change:
        reader = change.value("SELECT person FROM grants WHERE role = 'reader'")
        persons.store_name(change, reader, name="", email="reader@example.org")
    before = _active_roles(trial)
    _sign_on(trial, "statistics", "research", sub="8", email="reader@example.org")
    assert _active_roles(trial) == before


@pytest.mark.parametrize(
    ("claims", "granted"),
    [
        ({}, {}),
        ({"access": None}, {}),
        ({"access": {"roles": 7}}, {}),
        ({"access": {"roles": {"research": True}}}, {}),
        ({"_claim_names": 7}, {}),
        ({"access": "admins"}, {}),
        ({"access": {"roles": "research"}}, {GroupRole(Role.COORDINATOR): "research"}),
        (
            {"access": {"roles": [7, None, "Research", "admins"]}},
            {GroupRole(Role.ADMINISTRATOR): "admins"},
        ),
    ],
)
def test_unusual_claims_grant_no_role_by_mistake(
    claims: dict[str, Any], granted: dict[GroupRole, str]
) -> None:
    """Groups are compared exactly."""
    assert RULES.roles_for(claims) == granted


def test_omitted_groups_refuse_the_sign_on() -> None:
    """Roles must not be revoked if the provider omits the groups."""
    with pytest.raises(SignInRefused) as refused:
        RULES.roles_for({"_claim_names": {"access": "src1"}})
    assert refused.value.why == "too-many-groups"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"issuer": ""}, "roles.hospital.issuer"),
        ({"claim": 7}, "roles.hospital.claim"),
        ({"groups": {}}, "roles.hospital.groups"),
        ({"groups": "admins"}, "roles.hospital.groups"),
        ({"group": {}}, "roles.hospital.group is not a setting"),
        ({"groups": {"x": "reader"}}, "“reader” cannot come from a group"),
        ({"groups": {"x": "admin"}}, "roles.hospital.groups.x: the role “admin”"),
        ({"groups": {"x": "statistician"}}, "“statistician” cannot"),
        ({"groups": {"x": {"role": "reviewer", "study": "t"}}}, "“reviewer” cannot"),
        ({"groups": {"x": {"role": "coordinator"}}}, "groups.x.study is missing"),
        ({"groups": {"x": 7}}, "groups.x must be a table"),
    ],
)
def test_an_invalid_setting_is_reported(changed: dict[str, Any], words: str) -> None:
    """The message names the key."""
    with pytest.raises(BadInput) as refused:
        read_rules({"hospital": {**SECTION, **changed}})
    assert words in str(refused.value)
