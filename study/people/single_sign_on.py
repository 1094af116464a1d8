"""Single sign-on: maps the identities of an OpenID Connect provider to people.

The provider authenticates people; their permissions depend only on their roles. The first account
(issuer and subject) that signs in with a person's registered e-mail address, verified by the
provider, is bound to that person. No other account can sign in as this person until an
administrator releases the bound account. The page gives the browser a ticket, which the sign-in
route accepts once, within a minute, instead of an access code.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from study.base.actor import Acting, By
from study.base.canonical import stamp
from study.base.errors import NotAllowed, NotNow
from study.base.text import checked_reason
from study.base.translation import t
from study.people import signing_in
from study.people.codes import Entropy
from study.people.group_roles import Account, GroupRole, apply_groups
from study.people.persons import find_grant, person_by_address, record_in_trails
from study.people.signing_in import UNKNOWN_BROWSER, Browser, SignedIn, SignInRefused
from study.store import Store, Transaction, deployment, events, people, studies
from study.store.events import EventKind
from study.store.studies import study_row

TICKET_LIFETIME = timedelta(seconds=60)
MAX_IDENTITY_AGE = timedelta(minutes=5)
"""Maximum time since the provider confirmed an identity, and maximum deviation of its clock."""

_LONGEST_CLAIM = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """An identity that a provider confirmed; `email` is a verified address, or empty."""

    issuer: str
    subject: str
    email: str
    vouched: datetime
    name: str = ""


def read_identity(claims: Mapping[str, Any]) -> Identity | None:
    """Return the identity in the claims of an ID token, or None if they do not identify a person.

    >>> identity = read_identity({"iss": "https://id", "sub": "7", "iat": 0, "email": "a@b.org"})
    >>> identity.subject, identity.email
    ('7', '')
    """
    issuer, subject, email, name = (
        _text_claim(claims, claim) for claim in ("iss", "sub", "email", "name")
    )
    vouched = claims.get("iat")
    if not issuer or not subject or not isinstance(vouched, int | float):
        return None
    verified = claims.get("email_verified") in (True, "true")
    try:
        at = datetime.fromtimestamp(vouched, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    email = email if verified else ""
    return Identity(issuer=issuer, subject=subject, email=email, vouched=at, name=name)


def _text_claim(claims: Mapping[str, Any], name: str) -> str:
    """Return a claim if it is a valid string by OpenID Connect, otherwise an empty string."""
    value = claims.get(name)
    if isinstance(value, str) and len(value) <= _LONGEST_CLAIM and value.isprintable():
        return value
    return ""


def is_fresh(identity: Identity, now: datetime) -> bool:
    """Return whether the provider confirmed an identity recently.

    Streamlit keeps identities for a month.
    """
    return abs(now - identity.vouched) <= MAX_IDENTITY_AGE


def issue_ticket(
    store: Store,
    identity: Identity,
    *,
    entropy: Entropy,
    now: datetime,
    place: str = "",
    granted: Mapping[GroupRole, str] | None = None,
) -> str:
    """Return a ticket for the person with this account; bind the account if they have none yet.

    With `granted`, the roles that follow from the account's groups are applied first, even if the
    sign-in is then refused (`study.people.group_roles`).

    Raises
    ------
    SignInRefused
        No person with a role here has this account, the person is bound to another account, or the
        provider confirmed the identity too long ago.
    """
    if not is_fresh(identity, now):
        raise SignInRefused(
            "stale", "You signed in with your institution too long ago. Sign in again."
        )
    text = entropy(32).hex()
    if granted is not None:
        _apply_groups(store, identity, granted, now, place)
    with store.change() as change:
        person = _person_of(change, identity)
        if person is None or not people.current_grants(change, person):
            raise SignInRefused(
                "no-account",
                "The account you signed in with is not registered here. Ask your coordinator to "
                "register its e-mail address, or sign in with an access code.",
            )
        _bind_first(change, person, identity, now, place)
        people.add_ticket(
            change, id=_hash(text), person=person, expires_at_utc=stamp(now + TICKET_LIFETIME)
        )
    return text


def _apply_groups(
    store: Store,
    identity: Identity,
    granted: Mapping[GroupRole, str],
    now: datetime,
    place: str,
) -> None:
    """Apply the roles of an account's groups, even if the sign-in is refused later."""
    with store.change() as change:
        account = Account(
            issuer=identity.issuer,
            person=_person_of(change, identity),
            name=identity.name,
            email=identity.email,
        )
        person = apply_groups(change, account, granted, now)
        if person is not None and people.current_grants(change, person):
            _bind_first(change, person, identity, now, place)


def _person_of(look: Transaction, identity: Identity) -> int | None:
    """Return the person with this account or e-mail address, or None.

    Raises
    ------
    SignInRefused
        The person with this address is bound to another account.
    """
    bound = people.person_of_identity(look, identity.issuer, identity.subject)
    person = person_by_address(look, identity.email) if bound is None else bound
    account = people.account_of(look, person) if person is not None else None
    if account and (account.issuer, account.subject) != (identity.issuer, identity.subject):
        raise SignInRefused(
            "other-account",
            "The person with this e-mail address signs in with another account. Use that "
            "account or an access code, or ask an administrator to release the account.",
        )
    return person


def redeem_ticket(
    store: Store,
    text: str,
    *,
    entropy: Entropy,
    now: datetime,
    browser: Browser = UNKNOWN_BROWSER,
) -> SignedIn:
    """Sign in the person of a ticket, which cannot be used again even if the sign-in is refused.

    Raises
    ------
    SignInRefused
        The ticket is unknown, used or older than a minute, or the sign-in is refused by
        `signing_in.complete_sign_in`.
    """
    with store.change() as change:
        person = people.take_ticket(change, _hash(text), stamp(now))
    if person is None:
        raise SignInRefused("ticket", "That took too long. Sign in once more.")
    return signing_in.complete_sign_in(
        store,
        person,
        entropy=entropy,
        now=now,
        browser=browser,
        method="single sign-on",
    )


def release_account(store: Store, *, study: str, grant: int, reason: str, acting: Acting) -> None:
    """Release the account bound to a person, so that another account can be bound.

    Tickets issued for the account become invalid, and its sign-ins end.

    Raises
    ------
    NotAllowed
        The user is not an administrator of the deployment (`By.everywhere`).
    NotNow
        No account is bound to this person.
    BadInput
        The reason is empty.
    """
    why = checked_reason(reason)
    if not acting.by.everywhere:
        raise NotAllowed(t("Only an administrator of this server can release an account."))
    with store.change() as change:
        row = find_grant(change, grant, study_row(change, study).id if study else None)
        accounts = people.accounts_of(change, row.person)
        if not accounts:
            raise NotNow(t("{who} has no sign-in account here.", who=row.holder_name))
        people.forget_identities(change, row.person)
        people.end_sign_ins(change, row.person)
        marks = [
            account_mark(change, account.issuer, account.subject)
            for account in accounts
            if account.issuer
        ]
        record_in_trails(
            change,
            people.all_grants_of(change, row.person),
            acting,
            kind=EventKind.IDENTITY_RELEASED,
            accounts=marks,
            reason=why,
        )


def account_breaches(look: Transaction) -> Iterator[str]:
    """Yield a line for each bound account without an event, or whose last event is its release."""
    recorded: set[str] = set()
    for chain in (events.DEPLOYMENT, *(events.study_chain(name) for name in studies.names(look))):
        in_chain: set[str] = set()
        kinds = (EventKind.IDENTITY_BOUND, EventKind.IDENTITY_RELEASED)
        for event in events.of_kinds(look, chain, kinds):
            if event.kind == EventKind.IDENTITY_BOUND:
                in_chain.add(event.detail.get("account", ""))
            else:
                in_chain.difference_update(event.detail.get("accounts", ()))
        recorded |= in_chain
    for detail in events.of_kind(look, events.DEPLOYMENT, EventKind.STUDY_REMOVED):
        recorded.update(detail["accounts"])
    for account in people.identities(look):
        if account.issuer and account_mark(look, account.issuer, account.subject) not in recorded:
            yield f"the deployment: an account of {account.handle} elsewhere was inserted."


def _bind_first(
    change: Transaction, person: int, identity: Identity, now: datetime, place: str
) -> None:
    if people.account_of(change, person) is not None:
        return
    people.bind_identity(
        change,
        issuer=identity.issuer,
        subject=identity.subject,
        person=person,
        bound_at_utc=stamp(now),
    )
    grants = [row for row in people.all_grants_of(change, person) if row.revoked_at_utc is None]
    record_in_trails(
        change,
        grants,
        Acting(by=By(name=grants[0].holder_name, place=place), now=now),
        kind=EventKind.IDENTITY_BOUND,
        issuer=identity.issuer,
        account=account_mark(change, identity.issuer, identity.subject),
    )


def account_mark(look: Transaction, issuer: str, subject: str) -> str:
    """Return the pseudonym of a provider's account, which the trail contains instead of it."""
    return deployment.keyed_mark(look, f"account/{issuer}/{subject}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
