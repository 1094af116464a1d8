"""Access codes: made, given, checked. Stored only as salted hashes.

A code such as ``K7QF-3M9X-TTRD-8W2P`` has an open part (the first six signs) by which its row is
found and a secret part (the last ten, 50 bits) that only exists as an scrypt hash. Signs that look
alike are read alike: O as 0, I and L as 1, case and dashes as you like.
"""

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from study.errors import NotAllowed
from study.moments import stamp
from study.store import Store, Transaction, deployment, events, people

_SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_OPEN, _LENGTH = 6, 16
_ALIKE = str.maketrans({"O": "0", "I": "1", "L": "1"})

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
    """Whoever is signed in: a reader or coordinator of one study."""

    role: Literal["reader", "coordinator"]
    study: int
    study_name: str
    reader: int | None
    name: str


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


def sign_in(store: Store, code: str, *, now: datetime) -> Person:
    """Return the person a code belongs to, and record that they came.

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
    with store.change() as change:
        person = find_person(
            change,
            role=row["role"],
            study=row["study"],
            reader=row["reader"],
            name=row["name"],
        )
        if person is None:
            raise NotAllowed("That access code belongs to nobody any more. Ask your coordinator.")
        events.append(
            change,
            chain=events.study_chain(person.study_name),
            at_utc=stamp(now),
            actor=person.name,
            kind="signed in",
            detail={"role": person.role},
        )
    return person


def find_person(
    look: Transaction, *, role: str, study: int, reader: int | None, name: str
) -> Person | None:
    """Return a person as the store knows them now, or None where they are gone."""
    if role == "reader" and reader is not None:
        row = people.reader_person(look, reader)
        if row is None or row["study"] != study:
            return None
        return Person(
            role="reader",
            study=study,
            study_name=row["study_name"],
            reader=reader,
            name=row["reader_id"],
        )
    row = people.coordinator(look, study, name)
    if role != "coordinator" or row is None:
        return None
    return Person(
        role="coordinator", study=study, study_name=row["study_name"], reader=None, name=name
    )


def normalised(code: str) -> str:
    """Return a code's sixteen signs as stored, however they were typed.

    >>> normalised(" k7qf-3m9x ttrd-8w2o ")
    'K7QF3M9XTTRD8W20'
    """
    return re.sub(r"[\s\-\u2010-\u2015]", "", code).upper().translate(_ALIKE)


def secret(look: Transaction) -> str:
    """Return the deployment's own secret (64 hexadecimal digits), which signs cookies and films."""
    return deployment.value(look, "secret")


def _hash(secret_part: str, salt: bytes) -> str:
    return hashlib.scrypt(secret_part.encode(), salt=salt, n=2**13, r=8, p=1, dklen=32).hex()
