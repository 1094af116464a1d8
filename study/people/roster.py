"""Who has a part in a study, or in the deployment, and how they stand with their codes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from study.base.canonical import stamp
from study.people.roles import Role
from study.people.signing_in import GUESSED
from study.store import Store, Transaction, names, people
from study.store.names import NameRow
from study.store.people import CodeRow, GrantRow
from study.store.studies import study_row


class CodeState(StrEnum):
    """How somebody stands with their access code."""

    NONE = "no code"
    NEVER_USED = "never used"
    USED = "used"
    EXPIRED = "expired"
    GUESSED = "guessed at"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Somebody with a role, as the people's page shows them.

    `who` is a reader's study code or a handle; `name` and `email` are empty where none are kept.
    Moments are in UTC, as stored; `expires_at_utc` and `seen_at_utc` are None where there is none.
    """

    grant: int
    person: int
    role: Role
    who: str
    about: str
    simulated: bool
    name: str
    email: str
    code: CodeState
    given_at_utc: str
    expires_at_utc: str | None
    seen_at_utc: str | None
    elsewhere: bool

    @property
    def revoked(self) -> bool:
        """Return whether the role was revoked."""
        return self.code is CodeState.REVOKED


def of_study(store: Store, study: str, *, now: datetime) -> list[Member]:
    """Return everybody who has or had a role in a study, each role once, in the order given."""
    with store.look() as look:
        number = study_row(look, study).id
        return _members(look, people.grants_of_study(look, number), number, now)


def of_deployment(store: Store, *, now: datetime) -> list[Member]:
    """Return everybody who has or had a role in the deployment as a whole."""
    with store.look() as look:
        return _members(look, people.grants_of_deployment(look), None, now)


def _members(
    look: Transaction, rows: Iterable[GrantRow], study: int | None, now: datetime
) -> list[Member]:
    kept = names.everyone(look)
    latest = {(row.person, row.role, row.reader): row for row in rows}
    return [_member(look, row, kept.get(row.person), study, now) for row in latest.values()]


def _member(
    look: Transaction,
    row: GrantRow,
    named: NameRow | None,
    study: int | None,
    now: datetime,
) -> Member:
    code = people.code(look, row.person)
    facts = (row.level, row.years, row.site)
    return Member(
        grant=row.id,
        person=row.person,
        role=Role(row.role),
        who=row.whose,
        about=", ".join(fact for fact in facts if fact),
        simulated=bool(row.simulated),
        name=named.name if named else "",
        email=named.email if named else "",
        code=_state(row, code, now),
        given_at_utc=row.given_at_utc,
        expires_at_utc=code.expires_at_utc if code else None,
        seen_at_utc=row.seen_at_utc,
        elsewhere=any(one.study != study for one in people.roles_held(look, row.person)),
    )


def _state(row: GrantRow, code: CodeRow | None, now: datetime) -> CodeState:
    if row.revoked_at_utc:
        return CodeState.REVOKED
    if code is None:
        return CodeState.NONE
    if code.expires_at_utc and code.expires_at_utc <= stamp(now):
        return CodeState.EXPIRED
    if code.failures >= GUESSED:
        return CodeState.GUESSED
    seen = row.seen_at_utc
    return CodeState.USED if seen and seen >= code.issued_at_utc else CodeState.NEVER_USED
