"""Deposits: a study's head sent by e-mail to somebody named for it, or why it did not go.

It goes out when the study opens, once a day while it is read, and when it closes. The address is
kept apart from the trail, which has its mark; a letter that does not go out holds nothing up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from study.base.actor import SCHEDULE, By
from study.base.canonical import moment, stamp
from study.base.errors import Undelivered
from study.base.mail import MailServer, check_address, send
from study.base.translation import t
from study.lifecycle import studies as studies_of
from study.store import Store, Transaction, deployment, events, studies
from study.store.deployment import keyed_mark
from study.store.events import EventKind
from study.store.studies import StudyRow, study_row
from study.trail.heads import line_of

EVERY = timedelta(hours=24)
AGAIN = timedelta(hours=1)
"""After a letter that did not go out."""

_TO, _SENT, _TRIED, _WHY = "head_to", "head_sent_at_utc", "head_tried_at_utc", "head_why_not"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposit:
    """To whom a study's head goes, when it last went, and why it did not since (or empty)."""

    to: str
    sent_at_utc: str
    why_not: str


def open_study(store: Store, *, study: str, witness: str, by: By, now: datetime) -> str:
    """Open a study, its head to be sent to `witness` if that is given.

    Raises
    ------
    Undelivered
        That is no e-mail address; nothing is opened.
    """

    def named(change: Transaction) -> None:
        if witness:
            name_witness(change, study, witness, by=by, now=now)

    return studies_of.open_study(store, study=study, by=by, now=now, named=named)


def name_witness(change: Transaction, study: str, email: str, *, by: By, now: datetime) -> None:
    """Name whoever the head of a study's chain is sent to.

    Raises
    ------
    Undelivered
        That is no e-mail address.
    """
    check_address(email)
    number = study_row(change, study).id
    deployment.set_value(change, f"{_TO}/{number}", email)
    detail = {"witness": _mark(change, number, email)}
    events.record(change, study, now, kind=EventKind.HEAD_WITNESS_NAMED, detail=detail, by=by)


def deposit_of(look: Transaction, study: StudyRow) -> Deposit:
    """Return how the deposits of a study stand; nobody was named where `to` is empty."""
    to, sent, why = (_value(look, key, study.id) for key in (_TO, _SENT, _WHY))
    return Deposit(to=to, sent_at_utc=sent, why_not=why)


def send_now(
    store: Store, environment: Mapping[str, str], study: str, *, now: datetime, by: By = SCHEDULE
) -> str:
    """Send the head of a study's chain, if somebody was named for it; return why it did not go.

    Parameters
    ----------
    environment
        Names the mail server, see `study.base.mail`.
    """
    with store.change() as change:
        row = study_row(change, study)
        to, line = _value(change, _TO, row.id), line_of(change, study, now=now)
        head = events.head(change, events.study_chain(study))
        _set(change, _TRIED, row.id, stamp(now))
    if not to:
        return ""
    try:
        server = MailServer.named(environment)
        if server is None:
            raise Undelivered(t("This server cannot send email."))
        subject = t("Chain head of {study}", study=study)
        send(server, to=to, subject=subject, text=_text(line))
    except Undelivered as error:
        with store.change() as change:
            _set(change, _WHY, row.id, str(error))
        return t("The chain head was not sent: {why}", why=str(error))
    with store.change() as change:
        _set(change, _SENT, row.id, stamp(now))
        _set(change, _WHY, row.id, "")
        detail = {"study": study, "head": head.number, "hash": head.hash}
        events.record(change, "", now, kind=EventKind.HEAD_DEPOSITED, detail=detail, by=by)
    return ""


def send_due(store: Store, environment: Mapping[str, str], *, now: datetime) -> list[str]:
    """Send the heads whose time it is; return why any did not go."""
    with store.look() as look:
        due = [row.name for row in studies.listed(look) if _is_due(look, row, now)]
    return [why for name in due if (why := send_now(store, environment, name, now=now))]


def breaches(look: Transaction) -> Iterator[str]:
    """Yield every study whose head goes to somebody else than its trail tells of."""
    for row in studies.listed(look):
        to = _value(look, _TO, row.id)
        told = events.of_kind(look, events.study_chain(row.name), EventKind.HEAD_WITNESS_NAMED)
        if to and (not told or told[-1]["witness"] != _mark(look, row.id, to)):
            yield f"study {row.name}: whom the head of its chain is sent to was altered."


def _is_due(look: Transaction, study: StudyRow, now: datetime) -> bool:
    if not _value(look, _TO, study.id) or study.state == "drawn":
        return False
    tried, sent = (_value(look, key, study.id) for key in (_TRIED, _SENT))
    if tried and now - AGAIN < moment(tried) <= now:
        return False
    closed = study.closed_at_utc
    if closed:
        return sent < str(closed)
    return not sent or not now - EVERY < moment(sent) <= now


def _text(line: str) -> str:
    return "\n".join(
        [
            t("Please keep this message: you were named as the person who keeps the chain head."),
            "",
            line,
            "",
            t(
                "Each event in a study is chained to the previous one, and this line contains the "
                "latest hash. If anything before it is ever changed, the line will no longer "
                "match. To check, give this line, or all the lines you have received, to whoever "
                "runs the server: the command “verify” compares them with the database and says "
                "of each whether it still matches."
            ),
        ]
    )


def _mark(look: Transaction, study: int, email: str) -> str:
    return keyed_mark(look, f"head/{study}/{email}")


def _value(look: Transaction, key: str, study: int) -> str:
    return deployment.value(look, f"{key}/{study}")


def _set(change: Transaction, key: str, study: int, value: str) -> None:
    deployment.set_value(change, f"{key}/{study}", value)
