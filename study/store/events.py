"""The chain of events: every act, append-only, each line sealed by the hash of the one before.

An event's hash is the SHA-256 of the canonical JSON of its six fields and the previous hash, so
the exported `audit.jsonl` can be checked by anyone. Each study has its own chain; acts on the
deployment as a whole stand in the chain `deployment`. The last number and hash of each chain are
kept apart, so that a chain cut off at its end is noticed too.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from study.acts import COMMAND_LINE, By
from study.canonical import canonical_json, sha256_of
from study.errors import BrokenStore
from study.moments import stamp
from study.store.connection import Transaction

DEPLOYMENT = "deployment"
FIRST_HASH = "0" * 64


def study_chain(study_name: str) -> str:
    """Return the name of a study's chain."""
    return f"study:{study_name}"


def append(
    change: Transaction,
    *,
    chain: str,
    at_utc: str,
    actor: str,
    kind: str,
    detail: Mapping[str, Any],
) -> str:
    """Append one event and return its hash."""
    head = change.row("SELECT number, hash FROM chain_heads WHERE chain = :chain", chain=chain)
    number = head["number"] + 1 if head else 1
    event = {
        "chain": chain,
        "number": number,
        "at_utc": at_utc,
        "actor": actor,
        "kind": kind,
        "detail": dict(detail),
        "previous_hash": head["hash"] if head else FIRST_HASH,
    }
    digest = sha256_of(event)
    change.insert("events", **{**event, "detail": canonical_json(event["detail"])}, hash=digest)
    change.execute(
        "INSERT INTO chain_heads (chain, number, hash) VALUES (:chain, :number, :hash) "
        "ON CONFLICT (chain) DO UPDATE SET number = excluded.number, hash = excluded.hash",
        chain=chain,
        number=number,
        hash=digest,
    )
    return digest


def record(
    change: Transaction,
    study: str,
    now: datetime,
    *,
    kind: str,
    detail: Mapping[str, Any],
    by: By = COMMAND_LINE,
) -> None:
    """Append an act to a study's chain, or where `study` is empty to the deployment's.

    By whom, in which role and from where is said by `by`. What is changed stands in `detail` as
    ``old`` and ``new``, its reason as ``reason``.
    """
    append(
        change,
        chain=study_chain(study) if study else DEPLOYMENT,
        at_utc=stamp(now),
        actor=by.name,
        kind=kind,
        detail={
            **detail,
            **({"role": by.role} if by.role else {}),
            **({"place": by.place} if by.place else {}),
        },
    )


def walk(look: Transaction, chain: str) -> Iterator[dict[str, Any]]:
    """Yield a chain's events in order, as the JSON objects their hashes are of, plus `hash`.

    Raises
    ------
    BrokenStore
        An event's detail is no JSON.
    """
    for row in look.rows(
        "SELECT chain, number, at_utc, actor, kind, detail, previous_hash, hash "
        "FROM events WHERE chain = :chain ORDER BY number",
        chain=chain,
    ):
        try:
            detail = json.loads(row["detail"])
        except (ValueError, RecursionError) as error:
            raise BrokenStore(
                f"event {row['number']} of {chain} cannot be read: {error}"
            ) from error
        yield {**row, "detail": detail}


def chains(look: Transaction) -> list[str]:
    """Return the names of all chains, from events and heads alike."""
    rows = look.rows("SELECT chain FROM events UNION SELECT chain FROM chain_heads ORDER BY chain")
    return [row["chain"] for row in rows]


def head(look: Transaction, chain: str) -> dict[str, Any] | None:
    """Return a chain's last number and hash as kept apart, or None."""
    return look.row("SELECT number, hash FROM chain_heads WHERE chain = :chain", chain=chain)
