"""Append-only chains of events, in which each event contains the hash of the previous one.

An event's hash is the SHA-256 of the canonical JSON of its six fields and the previous hash, so
anyone can check the exported `audit.jsonl`. Each study has its own chain; acts on the deployment
are in the chain `deployment`. The last number and hash of each chain are stored separately, so
that a truncated chain is detected. The chain of a merged site is kept complete under its own
name. Searches read events in pages and never load all of them into memory.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from study.base.actor import SCHEDULE, Acting
from study.base.canonical import canonical_json, sha256_of, stamp
from study.base.errors import BrokenStore
from study.store.connection import Transaction
from study.store.witness import Head

DEPLOYMENT = "deployment"
CLOCK_TOLERANCE = timedelta(hours=1)
"""If an event is dated earlier than its predecessor by more than this, the clock went back."""

FIRST_HASH = "0" * 64


class EventKind(StrEnum):
    """The kinds of events."""

    ADMINISTRATOR_GIVEN_ACCESS = "administrator given access"
    AID_REQUESTED = "aid requested"
    BACKUP_FAILED = "backup failed"
    BACKUP_MADE = "backup made"
    BACKUP_REMOVED = "backup removed"
    BACKUP_RESTORED = "backup restored"
    BACKUPS_SCHEDULED = "backups scheduled"
    BANK_IMPORTED = "bank imported"
    BANK_REMOVED = "bank removed"
    ITEM_STRUCK = "item struck off"
    ITEM_TAKEN_BACK = "item taken back"
    TRUTH_SHOWN = "reference standard shown"
    TEACHING_OPENED = "teaching opened"
    TEACHING_ENDED = "teaching ended"
    REVIEW_OPENED = "review opened"
    REVIEW_CLOSED = "review closed"
    BANK_RESTORED = "bank restored"
    CASE_PRESENTED = "case presented"
    CASE_READ = "case read"
    CLOCK_WENT_BACK = "clock went back"
    CODE_GIVEN = "code given"
    CODE_GUESSED_AT = "code guessed at"
    CODES_GUESSED_AT = "codes guessed at"
    COORDINATOR_GIVEN_ACCESS = "coordinator given access"
    DEPLOYMENT_MADE = "deployment made"
    DOWNLOADED = "downloaded"
    DRAFT_BEGUN = "draft begun"
    DRAFT_THROWN_AWAY = "draft thrown away"
    HEAD_DEPOSITED = "head deposited"
    HEAD_WITNESS_NAMED = "head witness named"
    IDENTITY_BOUND = "identity bound"
    IDENTITY_RELEASED = "identity released"
    LOSS_ACCEPTED = "loss accepted"
    MODEL_ADDED = "model added"
    MODEL_ASKED = "model asked"
    MODEL_DATA_REMOVED = "model data removed"
    MODEL_DESCRIBED = "model described"
    MODEL_WITHDRAWN = "model withdrawn"
    NAME_ENTERED = "name entered"
    NAME_ERASED = "name erased"
    OTHER_STUDY_AMENDED = "other study amended"
    OTHER_STUDY_CLOSED = "other study closed"
    OTHER_STUDY_OPENED = "other study opened"
    PRACTICE_CASE_READ = "practice case read"
    PREPARATION_DONE = "preparation done"
    PREVIEW_OPENED = "preview opened"
    PROTOCOL_AMENDED = "protocol amended"
    READER_ASSIGNED = "reader assigned"
    READER_GIVEN_NEW_CODE = "reader given new code"
    READER_INVITED = "reader invited"
    READER_SIMULATED = "reader simulated"
    READER_WITHDRAWN = "reader withdrawn"
    READING_EXCLUDED = "reading excluded"
    READING_FINISHED = "reading finished"
    READING_PAUSED = "reading paused"
    READING_REINSTATED = "reading reinstated"
    READING_RESUMED = "reading resumed"
    REMINDER_SENT = "reminder sent"
    REMINDERS_SCHEDULED = "reminders scheduled"
    ROLE_GIVEN = "role given"
    ROLE_REVOKED = "role revoked"
    SCORING_OPENED = "scoring opened"
    SCORING_CLOSED = "scoring closed"
    SECOND_FACTOR_ADDED = "second factor added"
    SECOND_FACTOR_POLICY = "second factor policy"
    SECOND_FACTOR_REMOVED = "second factor removed"
    SESSION_EXTENDED = "session extended"
    SESSION_FEEDBACK_SHOWN = "session feedback shown"
    SESSION_RELEASED = "session released"
    SIGNED_IN = "signed in"
    SIGNED_OUT = "signed out"
    SITE_MERGED = "site merged"
    STORE_WENT_BACK = "store went back"
    STUDY_CLOSED = "study closed"
    STUDY_COPIED = "study copied"
    STUDY_DISCARDED = "study discarded"
    STUDY_DRAWN = "study drawn"
    STUDY_OPENED = "study opened"
    STUDY_REMOVED = "study removed"
    STUDY_RESTORED = "study restored"
    STUDY_RETURNED_TO_DRAFT = "study returned to draft"
    WITNESS_DAMAGED = "witness damaged"
    WITNESS_ACCEPTED = "witness damage accepted"


class EventRow(NamedTuple):
    """An event with its detail parsed."""

    chain: str
    number: int
    at_utc: str
    actor: str
    kind: str
    detail: dict[str, Any]
    previous_hash: str
    hash: str

    def sealed(self) -> dict[str, Any]:
        """Return the values that the event's hash covers."""
        return {key: value for key, value in self._asdict().items() if key != "hash"}


FIELDS = ", ".join(EventRow._fields)


class ChainEnd(NamedTuple):
    """The number and hash of a chain's last event."""

    number: int
    hash: str


def study_chain(study_name: str) -> str:
    """Return the name of a study's chain."""
    return f"study:{study_name}"


def merged_chain(study_name: str, deployment_id: str) -> str:
    """Return the name under which a study keeps the chain of another site."""
    return f"{study_chain(study_name)}#{deployment_id}"


def append(
    change: Transaction,
    *,
    chain: str,
    at_utc: str,
    actor: str,
    kind: EventKind,
    detail: Mapping[str, Any],
) -> str:
    """Append one event and return its hash."""
    before = head(change, chain)
    number = before.number + 1
    event = {
        "chain": chain,
        "number": number,
        "at_utc": at_utc,
        "actor": actor,
        "kind": kind,
        "detail": dict(detail),
        "previous_hash": before.hash,
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
    change.heads[chain] = Head(chain=chain, number=number, hash=digest, at_utc=at_utc)
    return digest


def record(
    change: Transaction,
    study: str,
    acting: Acting,
    *,
    kind: EventKind,
    detail: Mapping[str, Any],
) -> None:
    """Append an action to a study's chain, or to the deployment's chain if `study` is empty.

    `acting` states the person, the role, the address and the time. `detail` contains a change as
    ``old`` and ``new`` and its reason as ``reason``. If the clock was set back after the last
    event, an additional event before this one records that.
    """
    by, now = acting.by, acting.now
    chain = study_chain(study) if study else DEPLOYMENT
    last = _last_time(change, chain, stamp(now + CLOCK_TOLERANCE))
    if last > stamp(now + CLOCK_TOLERANCE):
        append(
            change,
            chain=chain,
            at_utc=stamp(now),
            actor=SCHEDULE.name,
            kind=EventKind.CLOCK_WENT_BACK,
            detail={"old": last, "new": stamp(now)},
        )
    append(
        change,
        chain=chain,
        at_utc=stamp(now),
        actor=by.name,
        kind=kind,
        detail={
            **detail,
            **({"role": by.role} if by.role else {}),
            **({"place": by.place} if by.place else {}),
        },
    )


def _last_time(look: Transaction, chain: str, latest: str) -> str:
    """Return the time of a chain's last event, ignoring simulated readers in the future."""
    last = look.value(
        "SELECT at_utc FROM events WHERE chain = :chain ORDER BY number DESC LIMIT 1", chain=chain
    )
    if not last or last <= latest:
        return last or ""
    return str(
        look.value(
            "SELECT at_utc FROM events WHERE chain = :chain AND actor NOT IN "
            "(SELECT json_extract(detail, '$.reader_id') FROM events "
            "WHERE chain = :chain AND kind = 'reader simulated') ORDER BY number DESC LIMIT 1",
            chain=chain,
        )
        or ""
    )


def walk(look: Transaction, chain: str, *, after: int = 0) -> Iterator[EventRow]:
    """Yield a chain's events after a number in order, with the chain's original name.

    Raises
    ------
    BrokenStore
        An event's detail is not JSON.
    """
    original_name = look.value("SELECT told_as FROM chain_heads WHERE chain = :chain", chain=chain)
    for row in look.rows(
        f"SELECT {FIELDS} FROM events WHERE chain = :chain AND number > :after ORDER BY number",
        chain=chain,
        after=after,
    ):
        yield event_of(row)._replace(chain=original_name or chain)


def event_of(row: Mapping[str, Any]) -> EventRow:
    """Convert a row of the table to an event.

    Raises
    ------
    BrokenStore
        The detail is not JSON.
    """
    try:
        return EventRow(*(row[key] for key in EventRow._fields))._replace(
            detail=json.loads(row["detail"])
        )
    except (ValueError, RecursionError) as error:
        raise BrokenStore(
            f"event {row['number']} of {row['chain']} cannot be read: {error}"
        ) from error


def insert_chain(change: Transaction, chain: str, lines: Sequence[EventRow]) -> None:
    """Insert a chain from another store with its hashes unchanged.

    If the chain is stored under another name, the hashes still cover the original name.
    """
    change.insert_many(
        "events",
        ("chain", "number", "at_utc", "actor", "kind", "detail", "previous_hash", "hash"),
        (
            (
                chain,
                line.number,
                line.at_utc,
                line.actor,
                line.kind,
                canonical_json(line.detail),
                line.previous_hash,
                line.hash,
            )
            for line in lines
        ),
    )
    last, name = lines[-1], lines[0].chain
    change.insert(
        "chain_heads",
        chain=chain,
        number=last.number,
        hash=last.hash,
        told_as="" if name == chain else name,
    )
    change.heads[chain] = Head(chain=chain, number=last.number, hash=last.hash, at_utc=last.at_utc)


def length(look: Transaction, chain: str) -> int:
    """Return the number of events in a chain."""
    return int(look.value("SELECT count(*) FROM events WHERE chain = :chain", chain=chain))


def of_kind(look: Transaction, chain: str, kind: str) -> list[dict[str, Any]]:
    """Return the details of a chain's events of a kind, in order."""
    return [event.detail for event in of_kinds(look, chain, (kind,))]


def of_kinds(look: Transaction, chain: str, kinds: Sequence[str]) -> list[EventRow]:
    """Return a chain's events of some kinds, in order of kind and number."""
    return [event for kind in kinds for event in _events_of_kind(look, chain, kind)]


def n_moments(look: Transaction, chain: str, after: int) -> int:
    """Return the number of different times of a chain's events after a number."""
    return int(
        look.value(
            "SELECT count(DISTINCT at_utc) FROM events WHERE chain = :chain AND number > :after",
            chain=chain,
            after=after,
        )
    )


def last_of_kinds(look: Transaction, chain: str, kinds: Sequence[str]) -> EventRow | None:
    """Return the last event of a chain that is of one of these kinds, or None."""
    last = [_events_of_kind(look, chain, kind, "DESC LIMIT 1") for kind in kinds]
    return max(
        (event for found_events in last for event in found_events),
        key=lambda e: e.number,
        default=None,
    )


def last_hash(look: Transaction, chain: str, kind: str, actor: str) -> str | None:
    """Return the hash of the last event of a kind by an actor, or None."""
    digest = look.value(
        "SELECT hash FROM events WHERE chain = :chain AND kind = :kind "
        "AND actor = :actor ORDER BY +number DESC LIMIT 1",
        chain=chain,
        kind=kind,
        actor=actor,
    )
    return None if digest is None else str(digest)


def _events_of_kind(look: Transaction, chain: str, kind: str, order: str = "") -> list[EventRow]:
    # The plus sign makes SQLite use the index of kinds and sort, instead of scanning the chain.
    rows = look.rows(
        f"SELECT {FIELDS} FROM events WHERE chain = :chain AND kind = :kind "
        f"ORDER BY +number {order}",
        chain=chain,
        kind=kind,
    )
    return [event_of(row) for row in rows]


def chains(look: Transaction) -> list[str]:
    """Return the names of all chains that have events or a stored head."""
    rows = look.rows("SELECT chain FROM events UNION SELECT chain FROM chain_heads ORDER BY chain")
    return [row["chain"] for row in rows]


def hash_at(look: Transaction, chain: str, number: int) -> str | None:
    """Return the hash of a chain's event by its number, or None."""
    digest = look.value(
        "SELECT hash FROM events WHERE chain = :chain AND number = :number",
        chain=chain,
        number=number,
    )
    return None if digest is None else str(digest)


def head(look: Transaction, chain: str) -> ChainEnd:
    """Return a chain's separately stored last number and hash; number 0 if it has no events."""
    row = look.row("SELECT number, hash FROM chain_heads WHERE chain = :chain", chain=chain)
    return ChainEnd(**row or {"number": 0, "hash": FIRST_HASH})


def record_with_hash(
    change: Transaction,
    study: str,
    acting: Acting,
    kind: EventKind,
    stored: Mapping[str, Any] | None,
    detail: Mapping[str, Any],
) -> None:
    """Append an event with the hash of a row read back from the store, for `verify`."""
    record(change, study, acting, kind=kind, detail={**detail, "sha256": sha256_of(stored)})


class EventFilter(NamedTuple):
    """A condition on events in SQL, and its values."""

    where: str
    values: dict[str, Any]


def page_of_events(
    look: Transaction, event_filter: EventFilter, *, limit: int, offset: int
) -> list[EventRow]:
    """Return one page of the events that meet a condition, the newest first."""
    rows = look.rows(
        f"SELECT {FIELDS} FROM events WHERE id IN "
        f"(SELECT id FROM events WHERE {event_filter.where} "
        "ORDER BY at_utc DESC, id DESC LIMIT :limit OFFSET :offset) "
        "ORDER BY at_utc DESC, id DESC",
        **event_filter.values,
        limit=limit,
        offset=offset,
    )
    return [event_of(row) for row in rows]


def n_matching(look: Transaction, event_filter: EventFilter) -> int:
    """Return the number of events that meet a condition."""
    return int(
        look.value(f"SELECT count(*) FROM events WHERE {event_filter.where}", **event_filter.values)
    )


def matching_events(
    look: Transaction, event_filter: EventFilter, *, batch: int
) -> Iterator[EventRow]:
    """Yield the events that meet a condition, oldest first, read in batches."""
    last = 0
    while rows := look.rows(
        f"SELECT id, {FIELDS} FROM events WHERE {event_filter.where} AND id > :last "
        "ORDER BY id LIMIT :batch",
        **event_filter.values,
        last=last,
        batch=batch,
    ):
        last = rows[-1]["id"]
        yield from map(event_of, rows)


def distinct_values(look: Transaction, field: str, event_filter: EventFilter) -> list[str]:
    """Return the distinct kinds, or actors, of the events that meet a condition."""
    column = {"kind": "kind", "actor": "actor"}[field]
    rows = look.rows(
        f"SELECT DISTINCT {column} AS name FROM events WHERE {event_filter.where} ORDER BY name",
        **event_filter.values,
    )
    return [row["name"] for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSearch:
    """The conditions of a search for events; an empty value means no condition.

    Parameters
    ----------
    chains
        The chains to search.
    deployment, study
        A further chain, of which only the events that name the study are searched.
    leave_out
        Kinds that are not searched.
    text
        Text in the detail, kind or actor, ignoring case, or the beginning of a hash.
    named
        Kinds whose label contains the text.
    hidden
        Banks whose reasons for striking items are not searched.
    """

    chains: Sequence[str]
    deployment: str = ""
    study: str = ""
    leave_out: Sequence[str] = ()
    kind: str = ""
    actor: str = ""
    text: str = ""
    named: Sequence[str] = ()
    hidden: Sequence[str] = ()
    from_utc: str = ""
    before_utc: str = ""


def events_where(search: EventSearch) -> EventFilter:
    """Return the SQL condition of a search."""
    values: dict[str, Any] = {f"chain{i}": chain for i, chain in enumerate(search.chains)}
    own_chains = f"chain IN ({', '.join(f':{name}' for name in values)})"
    if search.deployment:
        own_chains = (
            f"({own_chains} OR (chain = :deployment AND json_extract(detail, '$.study') = :study))"
        )
        values |= {"deployment": search.deployment, "study": search.study}
    parts = [own_chains]
    if search.leave_out:
        names = {f"left{i}": omitted for i, omitted in enumerate(search.leave_out)}
        parts.append(f"kind NOT IN ({', '.join(f':{name}' for name in names)})")
        values |= names
    for column, sign, value in (
        ("kind", "=", search.kind),
        ("actor", "=", search.actor),
        ("at_utc", ">=", search.from_utc),
        ("at_utc", "<", search.before_utc),
    ):
        if value:
            name = f"{column}_{'from' if sign == '>=' else 'to' if sign == '<' else 'is'}"
            parts.append(f"{column} {sign} :{name}")
            values[name] = value
    if search.text:
        parts.append(
            f"({_searched_text(values, search.hidden)} LIKE :words ESCAPE '\\' "
            "OR kind LIKE :words ESCAPE '\\' "
            "OR actor LIKE :words ESCAPE '\\' OR hash LIKE :begin ESCAPE '\\' "
            f"OR kind IN ({', '.join(f':named{i}' for i in range(len(search.named)))}))"
        )
        safe = search.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values |= {"words": f"%{safe}%", "begin": f"{safe}%"}
        values |= {f"named{i}": name for i, name in enumerate(search.named)}
    return EventFilter(" AND ".join(parts), values)


def _searched_text(values: dict[str, Any], hidden: Sequence[str]) -> str:
    """Return the SQL expression for the searched text of an event, and add its values."""
    if not hidden:
        return "detail"
    names = {f"hidden{i}": bank for i, bank in enumerate(hidden)}
    values |= {"struck": EventKind.ITEM_STRUCK, "taken_back": EventKind.ITEM_TAKEN_BACK, **names}
    banks = ", ".join(f":{name}" for name in names)
    return (
        "iif(kind IN (:struck, :taken_back) AND json_extract(detail, '$.bank') IN "
        f"({banks}), json_remove(detail, '$.reason'), detail)"
    )
