"""Compares a study's chain with heads, deposits and receipts that other people have kept.

A head is a line with the last number and hash of a study's chain, which is kept outside the store.
A person with write access to the store's file can rewrite its whole history, including the hashes,
but then the event of that number has a different hash than the line that someone else has kept. A
receipt is a reader's proof of their readings. A deposit is a head that is sent by e-mail to a
person appointed to keep it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from study.base.actor import SCHEDULE, Acting
from study.base.canonical import moment, stamp
from study.base.errors import Undelivered
from study.base.mail import MailServer, check_address, send
from study.base.translation import t
from study.lifecycle import studies as lifecycle
from study.people.codes import normalise_code
from study.reading.desk import receipt_characters
from study.store import Store, Transaction, deployment, events, studies
from study.store.deployment import keyed_mark
from study.store.events import EventKind
from study.store.leases import lease
from study.store.studies import StudyRow, study_row
from study.trail.trails import merged_chains

_PREFIX = "reading-room head:"
_HEAD_LINE = re.compile(
    r"(?:reading-room head:)?\s*(?P<study>.+?)\s+[·|]\s+(?P<at>\S+)\s+[·|]\s+(?P<number>\d{1,15})"
    r"\s+[·|]\s+(?P<hash>[0-9a-f]{64})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFinding:
    """The result for a line of a file: whether it matches the chain, and a sentence."""

    matches: bool
    sentence: str


def head_line(store: Store, study: str, *, now: datetime) -> str:
    """Return the line with the current end of a study's chain.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store.look() as look:
        return current_head_line(look, study_row(look, study).name, now=now)


def current_head_line(look: Transaction, study: str, *, now: datetime) -> str:
    """Return the line with the current end of a study's chain within a transaction."""
    head = events.head(look, events.study_chain(study))
    at = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
    return f"{_PREFIX} {study} · {at} · {head.number} · {head.hash}"


def check_heads(store: Store, text: str) -> list[LineFinding]:
    """Return for every line of a file with heads whether it matches the chain.

    Empty lines, lines that begin with # and quotation marks at the beginning of lines, as in
    e-mails, are ignored.
    """
    with store.look() as look:
        return [_head_finding(look, number, line) for number, line in content_lines(text)]


def content_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        words = " ".join(line.lstrip("> \t").split())
        if words and not words.startswith("#"):
            yield number, words


def _head_finding(look: Transaction, line: int, words: str) -> LineFinding:
    match = _HEAD_LINE.fullmatch(words)
    if match is None:
        form = f"{_PREFIX} STUDY · TIME · 12 · HASH"
        return LineFinding(matches=False, sentence=f"line {line}: not a head such as: {form}")
    study, number, digest = match["study"], int(match["number"]), match["hash"].lower()
    place = f"line {line}: {study}, event {number}"
    if studies.find(look, study) is None:
        return LineFinding(
            matches=False, sentence=f"{place}: no study of that name is in this store."
        )
    stored = events.hash_at(look, events.study_chain(study), number)
    if stored == digest:
        return LineFinding(matches=True, sentence=f"{place}: matches the chain of {match['at']}.")
    if stored is None:
        reason = "the chain ends before it"
    else:
        reason = (
            "the chain has another event there: it was rewritten or restored from an older copy"
        )
    return LineFinding(matches=False, sentence=f"{place}: does NOT match: {reason}.")


_RECEIPT_LINE = re.compile(
    r"(?P<reader>.+?)\s*[·|,;:]?\s+(?P<n>[\dO]{1,6})\s*(?:of|/)\s*(?P<total>[\dO]{1,6})\s*[·|,;:]?\s+"
    r"(?P<code>(?:[0-9A-Za-z]\s*[-\u2010-\u2015]?\s*){11}[0-9A-Za-z])",
    re.IGNORECASE,
)


def check_receipts(store: Store, text: str) -> list[LineFinding]:
    """Return for every receipt in a file whether its readings are in the chain.

    Spaces, dashes, letter case and O instead of 0 do not matter. Empty lines and lines that begin
    with # are ignored.
    """
    with store.look() as look:
        issued = _issued_receipts(look)
    return [_receipt_finding(issued, number, line) for number, line in content_lines(text)]


_IssuedReceipts = dict[str, dict[str, tuple[str, int]]]
"""The receipts by reader and characters, each with its study and the number of cases read."""


def _issued_receipts(look: Transaction) -> _IssuedReceipts:
    """Return every receipt that may have been issued: one for each reading event."""
    receipts: _IssuedReceipts = {}
    for name in studies.names(look):
        row = studies.study_row(look, name)
        for chain in (events.study_chain(name), *merged_chains(look, name)):
            for reader, digest, n_read in _reading_events(look, chain):
                characters = receipt_characters(row.protocol_sha256, reader, digest)
                receipts.setdefault(reader.casefold(), {})[characters] = (name, n_read)
    return receipts


def _reading_events(look: Transaction, chain: str) -> Iterator[tuple[str, str, int]]:
    """Yield the reader, hash and number of cases read so far for each reading event in a chain."""
    n_read: dict[str, int] = {}
    for event in events.walk(look, chain):
        if event.kind == EventKind.CASE_READ:
            first = "supersedes" not in event.detail
            n_read[event.actor] = n_read.get(event.actor, 0) + first
            yield event.actor, event.hash, n_read[event.actor]


def _receipt_finding(issued: _IssuedReceipts, line: int, words: str) -> LineFinding:
    match = _RECEIPT_LINE.fullmatch(words)
    if match is None:
        form = "r1 · 60 of 60 · 7QK2-M9XD-4T3N"
        return LineFinding(matches=False, sentence=f"line {line}: not a receipt such as: {form}")
    reader, n, total = match["reader"], _number(match["n"]), _number(match["total"])
    place = f"line {line}: {reader}, {n} of {total}"
    if reader.casefold() not in issued:
        return LineFinding(
            matches=False, sentence=f"{place}: does NOT match: no reader {reader} here."
        )
    study, n_read = issued[reader.casefold()].get(normalise_code(match["code"]), ("", 0))
    if study and n_read == n:
        return LineFinding(matches=True, sentence=f"{place}: matches the chain of {study}.")
    if study:
        reason = f"this receipt was issued for {n_read} reading{'s' * (n_read != 1)}"
        return LineFinding(matches=False, sentence=f"{place}: does NOT match: {reason}.")
    return LineFinding(
        matches=False,
        sentence=f"{place}: does NOT match: the readings of {reader} up to case {n}, or events "
        "before them, are not those for which the receipt was issued.",
    )


def _number(text: str) -> int:
    return int(text.upper().replace("O", "0"))


DEPOSIT_INTERVAL = timedelta(hours=24)
RETRY_INTERVAL = timedelta(hours=1)
"""Time after which an e-mail that could not be sent is tried again."""

_RECIPIENT_KEY, _SENT_KEY, _TRIED_KEY, _FAILURE_KEY = (
    "head_to",
    "head_sent_at_utc",
    "head_tried_at_utc",
    "head_why_not",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposit:
    """The recipient of a study's head, when it was last sent, and why the latest attempt failed."""

    to: str
    sent_at_utc: str
    why_not: str


def open_study(store: Store, *, study: str, witness: str, acting: Acting) -> str:
    """Open a study; if `witness` is not empty, the study's head is regularly sent to this address.

    Raises
    ------
    Undelivered
        `witness` is not a valid e-mail address; the study is not opened.
    """

    def add_witness(change: Transaction) -> None:
        if witness:
            name_witness(change, study, witness, acting=acting)

    return lifecycle.open_study(store, study=study, acting=acting, name_readers=add_witness)


def name_witness(change: Transaction, study: str, email: str, *, acting: Acting) -> None:
    """Set the recipient of the head of a study's chain.

    Raises
    ------
    Undelivered
        `email` is not a valid e-mail address.
    """
    check_address(email)
    number = study_row(change, study).id
    deployment.set_value(change, f"{_RECIPIENT_KEY}/{number}", email)
    detail = {"witness": _recipient_mark(change, number, email)}
    events.record(change, study, acting, kind=EventKind.HEAD_WITNESS_NAMED, detail=detail)


def deposit_of(look: Transaction, study: StudyRow) -> Deposit:
    """Return the state of a study's deposits; `to` is empty if there is no recipient."""
    to, sent, reason = (
        _value(look, key, study.id) for key in (_RECIPIENT_KEY, _SENT_KEY, _FAILURE_KEY)
    )
    return Deposit(to=to, sent_at_utc=sent, why_not=reason)


def send_head(store: Store, environment: Mapping[str, str], study: str, *, acting: Acting) -> str:
    """Send the head of a study's chain to its recipient, if any; return the reason if this failed.

    Parameters
    ----------
    environment
        The environment variables, which name the mail server; see `study.base.mail`.
    """
    with store.change() as change:
        row = study_row(change, study)
        to, line = (
            _value(change, _RECIPIENT_KEY, row.id),
            current_head_line(change, study, now=acting.now),
        )
        head = events.head(change, events.study_chain(study))
        _set_value(change, _TRIED_KEY, row.id, stamp(acting.now))
    if not to:
        return ""
    try:
        server = MailServer.from_environment(environment)
        if server is None:
            raise Undelivered(t("This server cannot send email."))
        subject = t("Chain head of {study}", study=study)
        send(server, to=to, subject=subject, text=_message(line))
    except Undelivered as error:
        with store.change() as change:
            _set_value(change, _FAILURE_KEY, row.id, str(error))
        return t("The chain head was not sent: {why}", why=str(error))
    with store.change() as change:
        _set_value(change, _SENT_KEY, row.id, stamp(acting.now))
        _set_value(change, _FAILURE_KEY, row.id, "")
        detail = {"study": study, "head": head.number, "hash": head.hash}
        events.record(change, "", acting, kind=EventKind.HEAD_DEPOSITED, detail=detail)
    return ""


def send_due_heads(store: Store, environment: Mapping[str, str], *, now: datetime) -> list[str]:
    """Send the heads that are due; return the reasons for those that could not be sent.

    Only one of several servers sends heads at a time.
    """
    if not _studies_due(store, now):
        return []
    acting = Acting(by=SCHEDULE, now=now)
    with lease(store, "heads") as is_ours:
        return [
            why
            for name in _studies_due(store, now)
            if is_ours() and (why := send_head(store, environment, name, acting=acting))
        ]


def _studies_due(store: Store, now: datetime) -> list[str]:
    with store.look() as look:
        return [row.name for row in studies.listed(look) if _is_due(look, row, now)]


def deposit_breaches(look: Transaction) -> Iterator[str]:
    """Yield a line for every study whose head is sent to an address not recorded in its trail."""
    for row in studies.listed(look):
        to = _value(look, _RECIPIENT_KEY, row.id)
        deposits = events.of_kind(look, events.study_chain(row.name), EventKind.HEAD_WITNESS_NAMED)
        if to and (not deposits or deposits[-1]["witness"] != _recipient_mark(look, row.id, to)):
            yield f"study {row.name}: the recipient of its chain head was altered."


def forget_deposits(change: Transaction, study: int) -> None:
    """Delete the recipient of a study's head, and the record of the heads sent."""
    for key in (_RECIPIENT_KEY, _SENT_KEY, _TRIED_KEY, _FAILURE_KEY):
        deployment.remove_value(change, f"{key}/{study}")


def _is_due(look: Transaction, study: StudyRow, now: datetime) -> bool:
    if not _value(look, _RECIPIENT_KEY, study.id) or study.state == "drawn":
        return False
    tried, sent = (_value(look, key, study.id) for key in (_TRIED_KEY, _SENT_KEY))
    if tried and abs(now - moment(tried)) < RETRY_INTERVAL:
        return False
    closed = study.closed_at_utc
    if closed:
        return sent < str(closed)
    return not sent or not now - DEPOSIT_INTERVAL < moment(sent) <= now


def _message(line: str) -> str:
    return "\n".join(
        [
            t("Please keep this message: you were named as the person who keeps the chain head."),
            "",
            line,
            "",
            t(
                "Each event in a study is chained to the previous one, and this line contains the "
                "latest hash. If anything before it is ever changed, the line will no longer "
                "match. To check, give this line, or all the lines you have received, to the "
                "server administrator: the command “verify” compares them with the database and "
                "reports for each whether it still matches."
            ),
        ]
    )


def _recipient_mark(look: Transaction, study: int, email: str) -> str:
    return keyed_mark(look, f"head/{study}/{email}")


def _value(look: Transaction, key: str, study: int) -> str:
    return deployment.value(look, f"{key}/{study}")


def _set_value(change: Transaction, key: str, study: int, value: str) -> None:
    deployment.set_value(change, f"{key}/{study}", value)
