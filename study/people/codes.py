"""Creates, issues and checks access codes, which are stored only as salted hashes.

A code such as ``K7QF-3M9X-TTRD-8W2P`` has a public part (the first six characters), by which its
row is found, and a secret part (the last ten characters, 50 bits), of which only an scrypt hash is
stored. O is read as 0, and I and L as 1; letter case and dashes are ignored.
"""

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from study.base.canonical import stamp
from study.store import Transaction, people
from study.store.people import CodeRow

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""The digits of Crockford's base 32."""

_PUBLIC_LENGTH, _LENGTH = 6, 16
_LOOKALIKES = str.maketrans({"O": "0", "I": "1", "L": "1"})

REPORTED_FAILURES = 20
"""Number of consecutive wrong attempts at a code after which they are reported to staff."""

Entropy = Callable[[int], bytes]
"""A function that returns random bytes; `secrets.token_bytes` except in tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A new access code with its stored values and the end of its validity (None: unlimited)."""

    text: str
    lookup: str
    salt: str
    code_hash: str
    expires: datetime | None = None


def new_code(entropy: Entropy, expires: datetime | None = None) -> Code:
    """Create an access code that is valid until `expires`."""
    characters = "".join(ALPHABET[byte % 32] for byte in entropy(_LENGTH))
    salt = entropy(16)
    return Code(
        text="-".join(characters[start : start + 4] for start in range(0, _LENGTH, 4)),
        lookup=characters[:_PUBLIC_LENGTH],
        salt=salt.hex(),
        code_hash=_hash(characters[_PUBLIC_LENGTH:], salt),
        expires=expires,
    )


def end_of_day(now: datetime, days: int, zone: tzinfo) -> datetime:
    """Return the end of the day that is `days` days from now in a time zone.

    >>> from zoneinfo import ZoneInfo
    >>> end_of_day(datetime(2026, 11, 2, 8, tzinfo=UTC), 7, ZoneInfo("Europe/Berlin")).isoformat()
    '2026-11-09T23:00:00+00:00'
    """
    following = now.astimezone(zone).date() + timedelta(days=days + 1)
    return datetime.combine(following, time(), zone).astimezone(UTC)


def issue_code(change: Transaction, code: Code, *, person: int, now: datetime) -> None:
    """Issue a code to a person; their previous code stops working, and its sign-ins end."""
    people.set_code(
        change,
        person,
        lookup=code.lookup,
        salt=code.salt,
        code_hash=code.code_hash,
        issued_at_utc=stamp(now),
        expires_at_utc=stamp(code.expires) if code.expires else None,
    )


def normalise_code(code: str) -> str:
    """Return a code that a user typed as sixteen characters.

    >>> normalise_code(" k7qf-3m9x ttrd-8w2o ")
    'K7QF3M9XTTRD8W20'
    """
    return re.sub(r"[\s\-\u2010-\u2015]", "", code).upper().translate(_LOOKALIKES)


def public_part(code: str) -> str:
    """Return the public part of a code, by which its row is found."""
    return normalise_code(code)[:_PUBLIC_LENGTH]


def is_code_of(code: str, row: CodeRow | None) -> bool:
    """Return whether a code matches a row; the check takes equally long if there is no row."""
    salt = bytes.fromhex(row.salt) if row else b"\0" * 16
    offered = _hash(normalise_code(code)[_PUBLIC_LENGTH:], salt)
    return row is not None and hmac.compare_digest(offered, row.code_hash)


def _hash(secret_part: str, salt: bytes) -> str:
    return hashlib.scrypt(secret_part.encode(), salt=salt, n=2**13, r=8, p=1, dklen=32).hex()
