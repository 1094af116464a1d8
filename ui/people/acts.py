"""What the pages of people do about somebody, each once: as whom, and the codes that come of it."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import streamlit as st

from study.base import translation
from study.base.actor import Acting
from study.base.canonical import stamp
from study.base.errors import NotAllowed
from study.base.translation import t, tn
from study.lifecycle import studies
from study.people import persons
from study.people.codes import Code, new_code
from study.people.invitations import Invitation
from study.people.persons import Member, Newcomer, act_for
from study.people.roles import Act, Role
from study.people.signing_in import Person
from ui.parts.look import error_line
from ui.people import handout
from ui.people.handout import Card, Handout
from ui.server.access import acting
from ui.server.deployment import store

EXPIRIES = (7, 30, 90, 365, 0)
"""Days a new code may be good for; 0 stands for no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose roles are looked after, and by whom: those of a study, or (empty) the deployment's."""

    person: Person
    study: str

    @property
    def everywhere(self) -> bool:
        """Return whether whoever acts is an administrator of the deployment."""
        return self.person.may(Act.DEPLOYMENT)

    def may(self, role: Role) -> bool:
        """Return whether whoever acts may give and revoke a role here."""
        return self.person.may(act_for(role, self.study))


def key(name: str) -> str:
    """Return a widget's key for this turn: after an act it is another widget.

    The second click of a double click then belongs to a widget that is not there any more.
    """
    return f"{name}-{handout.memory().turn}"


def expiry_choice(name: str) -> int:
    """Ask how long new codes are good for, and return the days (0: no end)."""
    return st.selectbox(
        t("New codes are valid for"),
        EXPIRIES,
        index=1,
        format_func=lambda days: tn("{n} day", "{n} days", days) if days else t("no expiry"),
        key=key(name),
    )


def members_of(scope: Scope) -> list[Member]:
    """Return everybody with a role in the scope, as things stand now."""
    now = datetime.now(UTC)
    if scope.study:
        return persons.members_of_study(store(), scope.study, now=now)
    return persons.members_of_deployment(store(), now=now)


def invite(scope: Scope, invitations: Sequence[Invitation], days: int) -> None:
    """Invite readers and keep their codes for the sheet."""
    codes = [new_code(secrets.token_bytes) for _ in invitations]

    def work(acting: Acting) -> Handout:
        expires = _end(acting, days)
        known = studies.invite(
            store(),
            study=scope.study,
            invitations=invitations,
            codes=codes,
            expires=expires,
            **acting,
        )
        named = [one.reader_id for one in invitations]
        return _handout(scope, named, codes, expires, known)

    act(scope, Role.READER, work)


def give_role(scope: Scope, newcomer: Newcomer, days: int) -> None:
    """Give somebody a role and keep their code for the sheet."""
    code = new_code(secrets.token_bytes)

    def work(acting: Acting) -> Handout:
        expires = _end(acting, days)
        handle = persons.give_role(
            store(),
            newcomer,
            study=scope.study,
            code=code,
            expires=expires,
            everywhere=scope.everywhere,
            **acting,
        )
        return _handout(scope, [handle], [code], expires)

    act(scope, newcomer.role, work)


def new_code_for(scope: Scope, member: Member, days: int) -> None:
    """Give a new code, and a revoked role back with it."""
    code = new_code(secrets.token_bytes)
    give = persons.give_back if member.revoked else persons.replace_code

    def work(acting: Acting) -> Handout:
        expires = _end(acting, days)
        give(
            store(),
            study=scope.study,
            grant=member.grant,
            code=code,
            expires=expires,
            everywhere=scope.everywhere,
            **acting,
        )
        return _handout(scope, [member.who], [code], expires)

    act(scope, member.role, work)


def act(scope: Scope, role: Role, work: Callable[[Acting], object]) -> None:
    """Do something about somebody of a role and begin the next turn, or say why not."""
    memory = handout.memory()
    with error_line():
        if not scope.may(role):
            raise NotAllowed(t("Your role here does not allow this."))
        made = work(acting(scope.person))
        memory.turn += 1
        if isinstance(made, Handout):
            memory.handout = made
        st.rerun()


def _end(acting: Acting, days: int) -> datetime | None:
    return acting["now"] + timedelta(days=days) if days else None


def _handout(
    scope: Scope,
    named: Sequence[str],
    codes: Sequence[Code],
    expires: datetime | None,
    known: Sequence[str] = (),
) -> Handout:
    pairs = zip(named, codes, strict=True)
    return Handout(
        study=scope.study,
        cards=tuple(Card(who=who, code=code.text) for who, code in pairs if who not in known),
        known=tuple(known),
        until=translation.day(stamp(expires)) if expires else "",
    )
