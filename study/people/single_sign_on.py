"""Single sign-on: whom an identity of an OpenID Connect provider stands for here.

The provider says who somebody is; what they may do is decided here alone. An identity (issuer and
subject) is bound to the person whose registered e-mail address it first comes with, if the provider
says that the address is verified. The page then hands the browser a ticket, good once and for a
minute, which the sign-in route takes in place of an access code.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from study.base.actor import By
from study.base.canonical import stamp
from study.people import signing_in
from study.people.codes import Entropy
from study.people.persons import by_email
from study.people.signing_in import Person, SignedIn, SignInRefused
from study.store import Store, Transaction, deployment, events, people
from study.store.events import EventKind

TICKET_STAYS = timedelta(seconds=60)
FRESH = timedelta(minutes=5)
"""How long ago the provider may have vouched; its own clock may be off by as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who somebody is, as a provider vouched for; `email` is a verified one, or empty."""

    issuer: str
    subject: str
    email: str
    vouched: datetime


def identity_of(claims: Mapping[str, Any]) -> Identity | None:
    """Return the identity in the claims of an ID token, or None where they name nobody.

    >>> found = identity_of({"iss": "https://id", "sub": "7", "iat": 0, "email": "a@b.org"})
    >>> found.subject, found.email
    ('7', '')
    """
    issuer, subject, vouched = (claims.get(name) for name in ("iss", "sub", "iat"))
    if not issuer or not subject or not isinstance(vouched, int | float):
        return None
    verified = claims.get("email_verified") in (True, "true")
    try:
        at = datetime.fromtimestamp(vouched, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return Identity(
        issuer=str(issuer),
        subject=str(subject),
        email=str(claims.get("email") or "") if verified else "",
        vouched=at,
    )


def is_fresh(identity: Identity, now: datetime) -> bool:
    """Return whether a provider vouched just now; Streamlit remembers for a month that it did."""
    return abs(now - identity.vouched) <= FRESH


def ticket(
    store: Store, identity: Identity, *, entropy: Entropy, now: datetime, place: str = ""
) -> str:
    """Return a ticket for whom an identity stands for, bound to them now if it was not before.

    Raises
    ------
    Refused
        It stands for nobody with a part here, or the provider vouched too long ago.
    """
    if not is_fresh(identity, now):
        raise SignInRefused(
            "stale", "The sign-in with your institution was too long ago. Sign in again."
        )
    text = entropy(32).hex()
    with store.change() as change:
        person = people.bound_to(change, identity.issuer, identity.subject)
        if person is None:
            person = by_email(change, identity.email)
            if person is not None and people.roles_held(change, person):
                _bind(change, person, identity, now, place)
        if person is None or not people.roles_held(change, person):
            raise SignInRefused(
                "no-account",
                "Nobody here goes by the account you signed in with. Ask your coordinator to "
                "register its e-mail address, or sign in with an access code.",
            )
        people.add_ticket(
            change, id=_hash(text), person=person, expires_at_utc=stamp(now + TICKET_STAYS)
        )
    return text


def redeem(
    store: Store,
    text: str,
    *,
    entropy: Entropy,
    now: datetime,
    place: str = "",
    beside: Person | None = None,
) -> SignedIn:
    """Sign in whom a ticket was made for; it is used up whatever comes of it.

    Raises
    ------
    Refused
        The ticket is unknown, used or older than a minute, or `signing_in.enter` refuses.
    """
    with store.change() as change:
        person = people.take_ticket(change, _hash(text), stamp(now))
    if person is None:
        raise SignInRefused("ticket", "That took too long. Sign in once more.")
    return signing_in.enter(store, person, entropy=entropy, now=now, place=place, beside=beside)


def _bind(change: Transaction, person: int, identity: Identity, now: datetime, place: str) -> None:
    people.bind(
        change,
        issuer=identity.issuer,
        subject=identity.subject,
        person=person,
        bound_at_utc=stamp(now),
    )
    for row in people.ever(change, person):
        if row.revoked_at_utc is None:
            events.record(
                change,
                row.study_name or "",
                now,
                kind=EventKind.IDENTITY_BOUND,
                detail={
                    "whose": row.whose,
                    "issuer": identity.issuer,
                    "account": account_mark(change, identity.issuer, identity.subject),
                },
                by=By(name=row.whose, place=place),
            )


def account_mark(look: Transaction, issuer: str, subject: str) -> str:
    """Return the mark of somebody's account elsewhere; the trail holds no account."""
    return deployment.keyed_mark(look, f"account/{issuer}/{subject}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
