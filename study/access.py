"""Access codes: made, given, checked. Stored only as salted hashes.

A code such as ``K7QF-3M9X-TTRD-8W2P`` has an open part (the first six signs) by which its row is
found and a secret part (the last ten, 50 bits) that only exists as an scrypt hash. Signs that look
alike are read alike: O as 0, I and L as 1, case and dashes as you like.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from study.errors import BrokenStore, NotAllowed
from study.moments import stamp
from study.store import Store, Transaction, deployment, events, people

_SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_OPEN, _LENGTH = 6, 16
_ALIKE = str.maketrans({"O": "0", "I": "1", "L": "1"})

STAYS = timedelta(hours=14)
"""How long a sign-in lasts."""

Entropy = Callable[[int], bytes]
"""Gives that many random bytes; `secrets.token_bytes` outside of tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A new access code, in clear and as it is stored."""

    text: str
    lookup: str
    salt: str
    code_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Whoever is signed in: a reader or coordinator of one study.

    `sign_in` is the same for every request of one sign-in, and another at the next.
    """

    role: Literal["reader", "coordinator"]
    study: int
    study_name: str
    reader: int | None
    name: str
    sign_in: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """Somebody who has just signed in, and the token their browser keeps."""

    person: Person
    token: str


def new_code(entropy: Entropy) -> Code:
    """Make an access code."""
    signs = "".join(_SIGNS[byte % 32] for byte in entropy(_LENGTH))
    salt = entropy(16)
    return Code(
        text="-".join(signs[start : start + 4] for start in range(0, _LENGTH, 4)),
        lookup=signs[:_OPEN],
        salt=salt.hex(),
        code_hash=_hash(signs[_OPEN:], salt),
    )


def give(
    change: Transaction,
    code: Code,
    *,
    role: str,
    study: int,
    reader: int | None,
    name: str,
    now: datetime,
) -> None:
    """Give a person a code; the one they had before stops working."""
    people.set_access(
        change,
        lookup=code.lookup,
        salt=code.salt,
        code_hash=code.code_hash,
        role=role,
        study=study,
        reader=reader,
        name=name,
        issued_at_utc=stamp(now),
    )


def sign_in(store: Store, code: str, *, entropy: Entropy, now: datetime) -> SignedIn:
    """Return the person a code belongs to with a token for their browser; record that they came.

    Raises
    ------
    NotAllowed
        No such code. The text does not tell which part was wrong.
    """
    signs = normalised(code)
    with store.look() as look:
        row = people.by_lookup(look, signs[:_OPEN])
    salt = bytes.fromhex(row["salt"]) if row else b"\0" * 16
    offered = _hash(signs[_OPEN:], salt)
    if row is None or not hmac.compare_digest(offered, row["code_hash"]):
        raise NotAllowed(
            "That access code is not known here. Check it sign by sign, or ask your coordinator."
        )
    token = entropy(32).hex()
    with store.change() as change:
        person = _person(change, row, token)
        people.end_old_sign_ins(change, stamp(now - STAYS))
        people.add_sign_in(change, token_id=_token_id(token), access=row["id"], at_utc=stamp(now))
        events.record(
            change,
            person.study_name,
            now,
            actor=person.name,
            kind="signed in",
            detail={"role": person.role},
        )
    return SignedIn(person=person, token=token)


def signed_in(store: Store, token: str, *, now: datetime) -> Person | None:
    """Return the person a browser's token stands for, as the store knows them now.

    None where the token is unknown, older than `STAYS`, signed out, or its code was replaced.
    """
    with store.look() as look:
        row = people.by_sign_in(look, _token_id(token), stamp(now - STAYS))
        return None if row is None else _person(look, row, token)


def sign_out(store: Store, token: str) -> None:
    """End a sign-in, in every tab and copy of its token."""
    with store.change() as change:
        people.end_sign_in(change, _token_id(token))


def _person(look: Transaction, row: Mapping[str, Any], token: str) -> Person:
    """Return whom an access row belongs to."""
    sign_in = hashlib.sha256(f"sign-in/{_token_id(token)}".encode()).hexdigest()[:32]
    if row["role"] == "reader":
        reader = people.reader_person(look, row["reader"])
        assert reader is not None  # a foreign key holds it
        return Person(
            role="reader",
            study=row["study"],
            study_name=reader["study_name"],
            reader=row["reader"],
            name=reader["reader_id"],
            sign_in=sign_in,
        )
    coordinator = people.coordinator(look, row["study"], row["name"])
    assert coordinator is not None  # the row itself, with its study's name
    return Person(
        role="coordinator",
        study=row["study"],
        study_name=coordinator["study_name"],
        reader=None,
        name=row["name"],
        sign_in=sign_in,
    )


def _token_id(token: str) -> str:
    """Return the hash a token is stored under; the token itself exists in the browser alone."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def normalised(code: str) -> str:
    """Return a code's sixteen signs as stored, however they were typed.

    >>> normalised(" k7qf-3m9x ttrd-8w2o ")
    'K7QF3M9XTTRD8W20'
    """
    return re.sub(r"[\s\-\u2010-\u2015]", "", code).upper().translate(_ALIKE)


def secret(look: Transaction) -> str:
    """Return the deployment's own secret (64 hexadecimal digits), which signs films' addresses.

    Raises
    ------
    BrokenStore
        The store has none; nothing may be signed with an empty one.
    """
    found = deployment.value(look, "secret")
    if len(found) != 64:
        raise BrokenStore("The store has no secret of its own. Make one with: study init --db DB")
    return found


def _hash(secret_part: str, salt: bytes) -> str:
    return hashlib.scrypt(secret_part.encode(), salt=salt, n=2**13, r=8, p=1, dklen=32).hex()
