"""Roles that follow from an account's groups at an OpenID Connect provider.

The groups are read at each single sign-on. When an account leaves a group, only the role that the
group gave is revoked; roles granted on the page or by a command are kept.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from study.base.actor import Acting, By
from study.base.canonical import stamp
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow
from study.base.text import did_you_mean, name_fault, quoted, text_key
from study.base.translation import t
from study.people import persons
from study.people.roles import Role, staff_roles
from study.people.signing_in import SignInRefused
from study.store import Transaction, people
from study.store.studies import study_row

_log = logging.getLogger("reading_room.sign_on")

SIGN_ON = By(name="single sign-on")
"""The actor of role changes that follow from groups."""


@dataclass(frozen=True, slots=True, order=True)
class GroupRole:
    """A role in a study, or in the deployment if `study` is empty."""

    role: Role
    study: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRules:
    """The roles that the groups of a provider give.

    Parameters
    ----------
    issuer
        The provider's identifier, which is the claim ``iss`` of its tokens.
    claim
        The claim that contains the groups; dots separate nested names, as in
        ``realm_access.roles``.
    roles
        The role of each group.
    """

    issuer: str
    claim: str
    roles: Mapping[str, GroupRole]

    def roles_for(self, claims: Mapping[str, Any]) -> dict[GroupRole, str]:
        """Return the roles that follow from an ID token's claims, each with its group.

        Raises
        ------
        SignInRefused
            The provider omitted the groups because the account has too many.
        """
        top = self.claim.partition(".")[0]
        claim_names = claims.get("_claim_names")
        if top not in claims and isinstance(claim_names, Mapping) and top in claim_names:
            _log.error("%s left out %s: the account has too many groups.", self.issuer, self.claim)
            raise SignInRefused(
                "too-many-groups",
                "Your institution did not send your groups, because there are too many.",
            )
        value: Any = claims
        for name in self.claim.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is None:
            _log.warning("The token of %s has no claim %s.", self.issuer, self.claim)
        groups = value if isinstance(value, list) else [value]
        return {
            self.roles[group]: group
            for group in sorted(group for group in groups if isinstance(group, str))
            if group in self.roles
        }


def read_rules(section: Mapping[str, Any]) -> list[GroupRules]:
    """Return the rules of a section ``[roles]`` of ``secrets.toml``, one per provider.

    Raises
    ------
    BadInput
        A key is missing or unknown, or a role does not exist or cannot come from a group.

    >>> (rules,) = read_rules(
    ...     {"hospital": {"issuer": "https://id", "groups": {"staff": "coordinator"}}}
    ... )
    >>> rules.roles_for({"groups": ["staff", "other"]})
    {GroupRole(role=<Role.COORDINATOR: 'coordinator'>, study=''): 'staff'}
    """
    return [_parse_rules(f"roles.{name}", value) for name, value in section.items()]


def _parse_rules(place: str, section: Any) -> GroupRules:
    values = _check_table(place, section, ("issuer", "claim", "groups"))
    issuer, claim = values.get("issuer"), values.get("claim", "groups")
    for key, text in (("issuer", issuer), ("claim", claim)):
        if not isinstance(text, str) or not text:
            raise BadInput(f"{place}.{key} is missing or not text. Write it in quotation marks.")
    groups = values.get("groups")
    if not isinstance(groups, Mapping) or not groups:
        raise BadInput(f"{place}.groups names no group. Add lines such as: staff = 'coordinator'.")
    roles = {name: _parse_role(f"{place}.groups.{name}", value) for name, value in groups.items()}
    return GroupRules(issuer=str(issuer), claim=str(claim), roles=roles)


def _parse_role(place: str, value: Any) -> GroupRole:
    if isinstance(value, str):
        return GroupRole(_check_role(place, value, staff_roles("")))
    values = _check_table(place, value, ("role", "study"))
    study = values.get("study")
    if not isinstance(study, str) or not study:
        raise BadInput(f"{place}.study is missing. Name the study, or write only the role.")
    return GroupRole(_check_role(place, values.get("role"), staff_roles(study)), study)


def _check_table(place: str, section: Any, known: Iterable[str]) -> Mapping[str, Any]:
    if not isinstance(section, Mapping):
        raise BadInput(f"{place} must be a table. See docs/sign-on.md.")
    for key in section:
        if key not in known:
            raise BadInput(f"{place}.{key} is not a setting.{did_you_mean(key, list(known))}")
    return section


def _check_role(place: str, name: Any, permitted: tuple[Role, ...]) -> Role:
    if name not in permitted:
        names = ", ".join(permitted)
        raise BadInput(
            f"{place}: the role {quoted(name)} cannot come from a group. Choose from {names}."
        )
    return Role(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The account whose groups are applied, and what is known about its person.

    `person` is None for a person who is not registered here. `name` and `email` (verified) are
    stored for a new person, unless they are empty or invalid.
    """

    issuer: str
    person: int | None
    name: str = ""
    email: str = ""


def apply_groups(
    change: Transaction, account: Account, granted: Mapping[GroupRole, str], now: datetime
) -> int | None:
    """Grant and revoke roles so that they agree with the groups; return the person.

    A role is skipped, with an entry in the log, if its study does not exist, or if the person must
    not have it because they are a reader of the study. The last administrator keeps the role.
    """
    person = account.person
    roles_held = people.current_grants(change, person) if person is not None else []
    by_group = {row.id for row in roles_held} & people.grants_by_group(change, account.issuer)
    has = {GroupRole(Role(row.role), row.study_name or "") for row in roles_held}
    for wanted in sorted(granted.keys() - has):
        try:
            number = study_row(change, wanted.study).id if wanted.study else None
            if person is not None:
                persons.refuse_reader(change, person, number)
        except (NotAllowed, NotFound) as error:
            _log.warning("The group %s gives no role: %s", granted[wanted], error)
            continue
        if person is None:
            person = _add_person(change, account, wanted.role, now)
        elif not people.handle_of(change, person):
            people.set_handle(change, person, _free_handle(change, wanted.role))
        grant = persons.add_role(
            change,
            person,
            wanted.role,
            study=wanted.study,
            acting=Acting(by=SIGN_ON, now=now),
            group=granted[wanted],
        )
        people.mark_group_grant(change, grant, account.issuer)
    for row in roles_held:  # last, because a person without any role loses the access code
        if row.id in by_group and GroupRole(Role(row.role), row.study_name or "") not in granted:
            _end_role(change, row, now)
    return person


def _end_role(change: Transaction, row: people.GrantRow, now: datetime) -> None:
    if row.study is None and row.role == Role.ADMINISTRATOR:
        try:
            persons.refuse_last_administrator(change)
        except NotNow as error:
            _log.warning("A group no longer gives the role of administrator: %s", error)
            return
    reason = t("The account left the group.")
    persons.end_role(change, row.study_name or "", row, reason, Acting(by=SIGN_ON, now=now))


def _add_person(change: Transaction, account: Account, role: Role, now: datetime) -> int:
    person = people.add(change, handle=_free_handle(change, role), made_at_utc=stamp(now))
    name = "" if name_fault(account.name) else account.name
    try:
        persons.store_name(change, person, name=name, email=account.email)
    except (BadInput, NotNow) as error:
        _log.warning("The name of a new %s was not stored: %s", role, error)
    return person


def _free_handle(look: Transaction, role: Role) -> str:
    """Return a new short name such as ``coordinator-2``, which contains no part of a name."""
    used_handles = {text_key(handle) for handle in people.all_handles(look)}
    return next(handle for n in count(1) if text_key(handle := f"{role}-{n}") not in used_handles)
