"""Receipts that readers kept, held against the chain of what was read."""

import re
from collections.abc import Iterator

from study.people.codes import normalised
from study.reading.desk import signs
from study.store import Store, Transaction, events, studies
from study.store.events import EventKind
from study.trail.heads import Said, said_lines
from study.trail.study_trails import merged_chains

_LINE = re.compile(
    r"(?P<reader>.+?)\s*[·|,;:]?\s+(?P<n>[\dO]{1,6})\s*(?:of|/)\s*(?P<total>[\dO]{1,6})\s*[·|,;:]?\s+"
    r"(?P<signs>(?:[0-9A-Za-z]\s*[-\u2010-\u2015]?\s*){11}[0-9A-Za-z])",
    re.IGNORECASE,
)


def check(store: Store, text: str) -> list[Said]:
    """Return for every receipt of a file whether the readings it is for are in the chain.

    Spaces, dashes, small letters and O for 0 do not matter. Empty lines and lines that begin with #
    are passed over.
    """
    with store.look() as look:
        made = _all(look)
    return [_said(made, number, line) for number, line in said_lines(text)]


_Made = dict[str, dict[str, tuple[str, int]]]
"""By reader, then by signs: the study, and how many cases were read by then."""


def _all(look: Transaction) -> _Made:
    """Return every receipt that could have been given out."""
    found: _Made = {}
    for name in studies.names(look):
        row = studies.study_row(look, name)
        for chain in (events.study_chain(name), *merged_chains(look, name)):
            for reader, digest, n_read in _read(look, chain):
                twelve = signs(row.protocol_sha256, reader, digest)
                found.setdefault(reader.casefold(), {})[twelve] = (name, n_read)
    return found


def _read(look: Transaction, chain: str) -> Iterator[tuple[str, str, int]]:
    """Yield reader, hash and number of cases read by then of every reading event of a chain."""
    n_read: dict[str, int] = {}
    for event in events.walk(look, chain):
        if event.kind == EventKind.CASE_READ:
            first = "supersedes" not in event.detail
            n_read[event.actor] = n_read.get(event.actor, 0) + first
            yield event.actor, event.hash, n_read[event.actor]


def _said(made: _Made, line: int, words: str) -> Said:
    match = _LINE.fullmatch(words)
    if match is None:
        form = "r1 · 60 of 60 · 7QK2-M9XD-4T3N"
        return Said(holds=False, words=f"line {line}: no receipt such as: {form}")
    reader, n, total = match["reader"], _number(match["n"]), _number(match["total"])
    where = f"line {line}: {reader}, {n} of {total}"
    if reader.casefold() not in made:
        return Said(holds=False, words=f"{where}: NOT: no reader {reader} has read here.")
    study, n_read = made[reader.casefold()].get(normalised(match["signs"]), ("", 0))
    if study and n_read == n:
        return Said(holds=True, words=f"{where}: in the chain of {study} as it was.")
    if study:
        why = f"NOT: the receipt of these signs was for {n_read} cases"
        return Said(holds=False, words=f"{where}: {why}.")
    return Said(
        holds=False,
        words=f"{where}: NOT: the readings of {reader} up to case {n}, or what the chain has "
        "before them, are not those the reader was given a receipt for.",
    )


def _number(text: str) -> int:
    return int(text.upper().replace("O", "0"))
