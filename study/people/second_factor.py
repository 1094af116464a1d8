"""The second factor of staff who sign in by access code: a one-time code of an authenticator app.

Codes follow RFC 6238 (six digits, 30 seconds, SHA-1), like those of all authenticator apps. A code
is accepted once, in its time step and in the steps before and after. Ten recovery codes replace a
lost device. The secret is stored in plain text, because the server must compute the code; it is
never part of a bundle, archive, trail or log.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import pyotp

from study.base.actor import Acting
from study.base.canonical import moment, stamp
from study.base.errors import BadInput, NotAllowed, NotNow
from study.base.text import checked_reason
from study.base.translation import t
from study.people.codes import Entropy, new_code, normalise_code
from study.people.persons import find_grant, record_in_trails
from study.people.roles import Role
from study.store import Store, Transaction, deployment, events, people, second_factors
from study.store.events import EventKind
from study.store.second_factors import FactorRow
from study.store.studies import study_row

STEP_S = 30
N_RECOVERY_CODES = 10
N_FREE_ATTEMPTS = 5
"""Number of wrong codes that may be entered without a waiting time."""

LONGEST_WAIT = timedelta(hours=1)
ENTRY_TIME = timedelta(minutes=5)
"""Time within which the second factor must be entered after the access code."""

_SETTING = "second_factor"


class Policy(StrEnum):
    """Whether staff who sign in by access code need a second factor."""

    NEVER = "never"
    OPTIONAL = "optional"
    ALWAYS = "always"


def policy(look: Transaction) -> Policy:
    """Return the deployment's policy, which is optional if it was never set."""
    return Policy(deployment.value(look, _SETTING) or Policy.OPTIONAL)


def set_policy(store: Store, new: Policy, *, acting: Acting) -> None:
    """Set the deployment's policy.

    Raises
    ------
    NotNow
        The policy is already in force.
    """
    with store.change() as change:
        old = policy(change)
        if old == new:
            raise NotNow(t("This is already the setting."))
        deployment.set_value(change, _SETTING, new)
        detail = {"old": old, "new": new}
        events.record(change, "", acting, kind=EventKind.SECOND_FACTOR_POLICY, detail=detail)


def is_required(look: Transaction, person: int) -> bool:
    """Return whether a person must enter a second factor after the access code."""
    return (
        policy(look) is not Policy.NEVER
        and second_factors.of(look, person) is not None
        and any(row.role != Role.READER for row in people.current_grants(look, person))
    )


def must_add(look: Transaction, person: int) -> bool:
    """Return whether a staff member must add a second factor before doing anything else."""
    return policy(look) is Policy.ALWAYS and second_factors.of(look, person) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFactor:
    """A secret that the person's app has not confirmed yet; `uri` is the content of the QR code."""

    secret: str
    uri: str


def new_factor(handle: str) -> NewFactor:
    """Return a new secret for a person's authenticator app."""
    secret = pyotp.random_base32()
    uri = pyotp.TOTP(secret).provisioning_uri(name=handle, issuer_name="Reading Room")
    return NewFactor(secret=secret, uri=uri)


def add(
    store: Store, person: int, new: NewFactor, code: str, *, entropy: Entropy, acting: Acting
) -> list[str]:
    """Add a second factor after checking the app's current `code`; return the recovery codes.

    An earlier second factor and its recovery codes stop working.

    Raises
    ------
    BadInput
        The code is wrong.
    """
    step = _time_step(new.secret, code, acting.now)
    if step is None:
        raise BadInput(
            t(
                "This code is not correct. Enter the six digits that the app shows now, and check "
                "the clock of the phone."
            )
        )
    codes = [new_code(entropy).text[:9] for _ in range(N_RECOVERY_CODES)]
    row = FactorRow(person, new.secret, stamp(acting.now), step, 0, "")
    with store.change() as change:
        second_factors.add(change, row, [_hash(person, text) for text in codes])
        people.mark_second_factor(change, person)
        _record(change, person, EventKind.SECOND_FACTOR_ADDED, acting)
    return codes


def use(change: Transaction, person: int, code: str, now: datetime) -> str:
    """Check a code from the app or a recovery code; return an empty string if it is accepted.

    Otherwise, return the keyword of the reason: ``factor`` for a wrong code, ``factor-wait`` while
    codes are refused because of too many wrong codes.
    """
    row = second_factors.of(change, person)
    if row is None:
        return "factor"
    if row.failures >= N_FREE_ATTEMPTS and now < moment(row.failed_at_utc) + wait_after(
        row.failures
    ):
        return "factor-wait"
    step = _time_step(row.secret, code, now)
    if step is not None and step > row.last_step:
        second_factors.accept(change, person, step)
        return ""
    if second_factors.use_recovery_code(change, person, _hash(person, code)):
        second_factors.accept(change, person, row.last_step)
        return ""
    second_factors.count_failure(change, person, stamp(now))
    return "factor"


def wait_after(failures: int) -> timedelta:
    """Return how long codes are refused after a number of consecutive wrong codes.

    >>> [wait_after(n).total_seconds() for n in (5, 6, 20)]
    [30.0, 60.0, 3600.0]
    """
    factor = 1 << min(failures - N_FREE_ATTEMPTS, 10)
    return min(timedelta(seconds=STEP_S * factor), LONGEST_WAIT)


def remove(store: Store, *, study: str, grant: int, reason: str, acting: Acting) -> None:
    """Remove the second factor of a person who has lost it, and end their sign-ins.

    Raises
    ------
    NotAllowed
        The user is not an administrator of the deployment (`By.everywhere`).
    NotNow
        The person has no second factor.
    BadInput
        The reason is empty.
    """
    why = checked_reason(reason)
    if not acting.by.everywhere:
        raise NotAllowed(t("Only an administrator of this server can remove a second factor."))
    with store.change() as change:
        row = find_grant(change, grant, study_row(change, study).id if study else None)
        if not second_factors.remove(change, row.person):
            raise NotNow(t("{who} has no second factor.", who=row.holder_name))
        people.end_sign_ins(change, row.person)
        _record(change, row.person, EventKind.SECOND_FACTOR_REMOVED, acting, reason=why)


def _record(
    change: Transaction, person: int, kind: EventKind, acting: Acting, **detail: str
) -> None:
    staff = [row for row in people.all_grants_of(change, person) if row.role != Role.READER]
    record_in_trails(change, staff, acting, kind=kind, **detail)


def _time_step(secret: str, code: str, now: datetime) -> int | None:
    """Return the time step of a code; None if it is not the current, previous or next one."""
    digits = "".join(code.split())
    current = int(now.timestamp()) // STEP_S
    totp = pyotp.TOTP(secret)
    matches: Sequence[int] = [
        step
        for step in (current - 1, current, current + 1)
        if hmac.compare_digest(totp.generate_otp(step).encode(), digits.encode())
    ]
    return matches[-1] if matches else None


def _hash(person: int, code: str) -> str:
    return hashlib.sha256(f"{person}/{normalise_code(code)}".encode()).hexdigest()
