"""Heads: the last number and hash of a study's chain in one line, to be kept elsewhere.

Whoever holds the store's file can write its whole history anew, hashes and all. They cannot change
a line that somebody else has kept: the event of that number has another hash then.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from study.store import Store, Transaction, events, studies
from study.store.studies import study_row

_PREFIX = "reading-room head:"
_LINE = re.compile(
    r"(?:reading-room head:)?\s*(?P<study>.+?)\s+[·|]\s+(?P<at>\S+)\s+[·|]\s+(?P<number>\d{1,15})"
    r"\s+[·|]\s+(?P<hash>[0-9a-f]{64})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What came of one line of a file: whether it holds, and that in words."""

    holds: bool
    words: str


def head_line(store: Store, study: str, *, now: datetime) -> str:
    """Return the line that says where a study's chain ends now.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look() as look:
        return line_of(look, study_row(look, study).name, now=now)


def line_of(look: Transaction, study: str, *, now: datetime) -> str:
    """Return the same within the caller's look."""
    head = events.head(look, events.study_chain(study))
    at = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
    return f"{_PREFIX} {study} · {at} · {head.number} · {head.hash}"


def check(store: Store, text: str) -> list[Said]:
    """Return for every line of a file of heads whether it is in the chain as it was.

    Empty lines, lines that begin with # and the marks of a quoted letter are passed over.
    """
    with store.look() as look:
        return [_said(look, number, line) for number, line in said_lines(text)]


def said_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that say something, with their numbers."""
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        words = " ".join(line.lstrip("> \t").split())
        if words and not words.startswith("#"):
            yield number, words


def _said(look: Transaction, line: int, words: str) -> Said:
    match = _LINE.fullmatch(words)
    if match is None:
        form = f"{_PREFIX} STUDY · TIME · 12 · HASH"
        return Said(holds=False, words=f"line {line}: no head such as: {form}")
    study, number, digest = match["study"], int(match["number"]), match["hash"].lower()
    where = f"line {line}: {study}, event {number}"
    if studies.find(look, study) is None:
        return Said(holds=False, words=f"{where}: no study of that name is in this store.")
    found = events.hash_at(look, events.study_chain(study), number)
    if found == digest:
        return Said(holds=True, words=f"{where}: in the chain as it was at {match['at']}.")
    if found is None:
        why = "the chain ends before it"
    else:
        why = "the chain has another event there: it was written anew, or it went back"
    return Said(holds=False, words=f"{where}: NOT as it was at {match['at']}: {why}.")
