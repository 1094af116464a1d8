"""Keeps data in this server's memory as long as a sign-in lasts, including after a reload."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from study.base.canonical import sha256_of
from study.people.signing_in import MAX_DURATION


@dataclass(frozen=True, slots=True)
class _Memory:
    since: datetime
    data: dict[str, Any] = field(default_factory=dict)


_memories: dict[str, _Memory] = {}
"""The data of each sign-in, by the hash of its token, the oldest first."""


def memory_of(token: str) -> dict[str, Any]:
    """Return the data kept for a sign-in, to read and change."""
    now = datetime.now(UTC)
    for key in [key for key, memory in _memories.items() if now - memory.since > MAX_DURATION]:
        _memories.pop(key, None)
    return _memories.setdefault(sha256_of(token), _Memory(now)).data


def forget(token: str) -> None:
    """Delete the data of a sign-in that ends."""
    _memories.pop(sha256_of(token), None)
