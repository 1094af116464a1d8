"""What the people's page does about somebody: the acts, each done once and their codes kept."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import streamlit as st

from study.base.errors import NotAllowed, StudyError
from study.base.timestamps import stamp
from study.base.translation import t, tn
from study.lifecycle import studies
from study.people import staff
from study.people.access import Code, Person, new_code
from study.people.invitations import Invitation, parse_invitations
from study.people.persons import act_for
from study.people.roles import Act, Role
from study.people.roster import Member
from study.people.staff import Newcomer
from ui.parts.text import plain
from ui.people import handout
from ui.people.handout import Card, Handout
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
        t("New codes are good for"),
        EXPIRIES,
        index=1,
        format_func=lambda days: tn("{n} day", "{n} days", days) if days else t("no end"),
        key=key(name),
    )


def invite(scope: Scope, invitations: Sequence[Invitation], days: int) -> None:
    """Invite readers and keep their codes for the sheet."""
    codes = [new_code(secrets.token_bytes) for _ in invitations]

    def work(now: datetime) -> Handout:
        known = studies.invite(
            store(),
            study=scope.study,
            invitations=invitations,
            codes=codes,
            expires=_end(now, days),
            by=scope.person.by,
            now=now,
        )
        named = [one.reader_id for one in invitations]
        return _handout(scope, named, codes, now, days, known=known)

    _act(scope, Role.READER, work)


def invite_list(scope: Scope, text: str, days: int) -> None:
    """Invite the readers of a list."""
    try:
        invitations = parse_invitations(text, source=t("The list"))
    except StudyError as error:
        st.error(plain(str(error)))
        return
    invite(scope, invitations, days)


def give_role(scope: Scope, newcomer: Newcomer, days: int) -> None:
    """Give somebody a role and keep their code for the sheet."""
    code = new_code(secrets.token_bytes)

    def work(now: datetime) -> Handout:
        handle = staff.give_role(
            store(),
            newcomer,
            study=scope.study,
            code=code,
            expires=_end(now, days),
            everywhere=scope.everywhere,
            by=scope.person.by,
            now=now,
        )
        return _handout(scope, [handle], [code], now, days)

    _act(scope, newcomer.role, work)


def new_code_for(scope: Scope, member: Member, days: int) -> None:
    """Give a new code, and a revoked role back with it."""
    code = new_code(secrets.token_bytes)
    do = staff.give_back if member.revoked else staff.replace_code

    def work(now: datetime) -> Handout:
        do(
            store(),
            study=scope.study,
            grant=member.grant,
            code=code,
            expires=_end(now, days),
            everywhere=scope.everywhere,
            by=scope.person.by,
            now=now,
        )
        return _handout(scope, [member.who], [code], now, days)

    _act(scope, member.role, work)


def revoke(scope: Scope, member: Member, reason: str) -> None:
    """End a role at once."""

    def work(now: datetime) -> None:
        staff.revoke(
            store(),
            study=scope.study,
            grant=member.grant,
            reason=reason,
            by=scope.person.by,
            now=now,
        )

    _act(scope, member.role, work)


def change_name(scope: Scope, member: Member, name: str, email: str) -> None:
    """Keep another name and address."""

    def work(now: datetime) -> None:
        staff.change_name(
            store(),
            study=scope.study,
            grant=member.grant,
            name=name,
            email=email,
            everywhere=scope.everywhere,
            by=scope.person.by,
            now=now,
        )

    _act(scope, member.role, work)


def erase_name(scope: Scope, member: Member) -> None:
    """Erase name, address and identities."""

    def work(now: datetime) -> None:
        staff.erase_name(
            store(),
            study=scope.study,
            grant=member.grant,
            everywhere=scope.everywhere,
            by=scope.person.by,
            now=now,
        )

    _act(scope, member.role, work)


def _act(scope: Scope, role: Role, work: Callable[[datetime], Handout | None]) -> None:
    """Do something and begin the next turn, or say why not."""
    memory = handout.memory()
    try:
        if not scope.may(role):
            raise NotAllowed(t("In the role you have here you cannot do that."))
        made = work(datetime.now(UTC))
    except StudyError as error:
        st.error(plain(str(error)))
        return
    memory.turn += 1
    if made is not None:
        memory.handout = made
    st.rerun()


def _end(now: datetime, days: int) -> datetime | None:
    return now + timedelta(days=days) if days else None


def _handout(
    scope: Scope,
    named: Sequence[str],
    codes: Sequence[Code],
    now: datetime,
    days: int,
    known: Sequence[str] = (),
) -> Handout:
    end = _end(now, days)
    pairs = zip(named, codes, strict=True)
    return Handout(
        study=scope.study,
        cards=tuple(Card(who=who, code=code.text) for who, code in pairs if who not in known),
        known=tuple(known),
        until=stamp(end)[:10] if end else "",
    )
