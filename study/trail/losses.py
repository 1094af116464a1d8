"""Detects losses: records that the witness lists as acknowledged but that the store lacks.

A store that was copied without its journal, or whose journal was damaged, opens without an error
but lacks the latest records. `study.store.witness` shows which records are missing. The loss is
recorded in the trail when the server starts, and readers' pages send the answers that they still
have. The person responsible for the study accepts the rest of the loss with a reason; until then,
`verify` reports it.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from study.base.actor import SCHEDULE, Acting
from study.base.errors import NotNow, StudyError
from study.base.text import checked_reason
from study.base.translation import t
from study.reading.records import SENT_AGAIN
from study.store import Store, Transaction, events, studies, witness
from study.store.connection import contains_head
from study.store.events import EventKind
from study.store.witness import Head

WENT_BACK_KIND, ACCEPTED_KIND = EventKind.STORE_WENT_BACK, EventKind.LOSS_ACCEPTED
_DAMAGE_KINDS = (EventKind.WITNESS_DAMAGED, EventKind.WITNESS_ACCEPTED)

_ADVICE = (
    "Find the cause before you continue: see docs/backups.md. The missing records may be in the "
    "file that ends in -wal or in a backup, and readers' pages send their answers again when "
    "opened. When no more answers are expected, an administrator accepts the loss with a reason."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A chain that lacks acknowledged events.

    Parameters
    ----------
    ends
        The number of the last event before the missing ones.
    lost
        The last acknowledged event that is missing.
    noted_at_utc
        When the server recorded the loss; empty if it has not.
    n_again
        Number of answers that readers' pages have sent again since then.
    accepted
        Who accepted the loss, when and why; empty if no one has.
    """

    ends: int
    lost: Head
    noted_at_utc: str
    n_again: int
    accepted: str

    @property
    def sentence(self) -> str:
        """Return a sentence that describes the loss."""
        lost = self.lost
        place = f"{lost.chain}: the store ends before what was acknowledged: "
        acknowledged = f"event {lost.number} was acknowledged at {lost.at_utc}"
        if not self.noted_at_utc:
            return f"{place}it ends, or differs, after event {self.ends}, and {acknowledged}."
        sentence_back = f"on {self.noted_at_utc} it had gone back to event {self.ends}"
        return f"{place}{sentence_back}; {acknowledged}; answers sent again since: {self.n_again}."


def open_losses(look: Transaction, record: witness.Witness | None) -> list[Loss]:
    """Return the losses that no one has accepted; read the witness before the transaction."""
    missing: dict[str, list[Head]] = {}
    removals = events.of_kinds(look, events.DEPLOYMENT, (EventKind.STUDY_REMOVED,))
    removed = {chain: event.at_utc for event in removals for chain in event.detail["chains"]}
    for head in record.heads if record else ():
        if not contains_head(look, head) and head.at_utc > removed.get(head.chain, ""):
            missing.setdefault(head.chain, []).append(head)
    losses = [_describe_loss(look, heads) for heads in missing.values()]
    return [loss for loss in losses if not loss.accepted]


def breaches(look: Transaction, record: witness.Witness | None, chain: str = "") -> Iterator[str]:
    """Yield a sentence for each loss of a store, or of one chain."""
    for loss in open_losses(look, record):
        if chain in ("", loss.lost.chain):
            yield f"{loss.sentence} {_ADVICE}"


def damage(look: Transaction, record: witness.Witness | None) -> Iterator[str]:
    """Yield a sentence if the witness file was damaged and no one has accepted this.

    `record` must be read after the transaction has begun, so that it includes everything in the
    store.
    """
    damage_words, finding = damage_noted(look), _find_damage(look, record)
    if damage_words or finding:
        damage_text = damage_words or f"the file {finding}"
        yield f"the witness: {damage_text}. It cannot show what the store lacks. {_ADVICE}"


def damage_noted(look: Transaction) -> str:
    """Return the recorded damage to the witness that no one has accepted, or an empty string."""
    last = events.last_of_kinds(look, events.DEPLOYMENT, _DAMAGE_KINDS)
    if last is None or last.kind != EventKind.WITNESS_DAMAGED:
        return ""
    return f"on {last.at_utc} the file {last.detail['finding']}"


def _find_damage(look: Transaction, record: witness.Witness | None) -> str:
    if record is None:
        return ""
    later_loss = next(_chains_behind(look, record), "")
    return record.damage or (later_loss and f"ends before the store: {later_loss}")


def _chains_behind(look: Transaction, record: witness.Witness) -> Iterator[str]:
    """Yield a clause for each chain of which the witness lacks more than one action.

    One action may be missing if the server was killed between storing and witnessing it.
    """
    ends: dict[str, int] = {}
    for head in record.heads:
        ends[head.chain] = max(head.number, ends.get(head.chain, 0))
    for chain in events.chains(look):
        if "#" in chain and not _study_of(look, chain):
            continue  # the merge of another site is an event in the study's own chain
        after = max(ends.get(chain, 0), _restored_at(look, chain) - 1)
        if events.length(look, chain) > after and events.n_moments(look, chain, after) > 1:
            yield f"it has no event of {chain} after number {after}"


def _restored_at(look: Transaction, chain: str) -> int:
    """Return the number of the event that records the restoring of a chain's study, or 0."""
    restored = events.last_of_kinds(look, chain, (EventKind.STUDY_RESTORED,))
    return restored.number if restored else 0


def remarks(look: Transaction, store: Store, record: witness.Witness | None) -> Iterator[str]:
    """Yield remarks that are not breaches, for the person who verifies a store."""
    name = store.witness_file.name
    if record is None:
        yield (
            f"There is no witness file ({name}) next to this store, so it is unknown whether "
            "acknowledged records are missing. The server creates one at its next start."
        )
    elif record.n_unread:
        yield f"Unreadable lines in {name}: {record.n_unread}."
    if record and record.is_former:
        yield (
            f"{name} is in the format of an earlier version, which does not show whether it was "
            "shortened; the server rewrites it at its next start."
        )
    for event in events.of_kinds(look, events.DEPLOYMENT, (EventKind.WITNESS_ACCEPTED,)):
        yield (
            f"the witness: {event.detail['finding']}. Accepted on {event.at_utc} by {event.actor}: "
            f"{event.detail['reason']}"
        )
    for chain in events.chains(look):
        for event in events.of_kinds(look, chain, (ACCEPTED_KIND,)):
            loss = _describe_loss(look, [_head_of(event.detail)])
            yield f"{loss.sentence} {loss.accepted}"


def record_losses(store: Store, *, now: datetime, starting: bool = False) -> list[Loss]:
    """Compare the store with its witness, record new losses and damage, and return the losses.

    A witness that is damaged or written by an earlier version is rewritten.

    Parameters
    ----------
    starting
        Whether the program is starting, so that nothing else writes to the store and the witness
        must be complete.
    """
    store.begin_witness()
    record = store.read_witness()
    with store.look() as look:
        losses, damage_words = open_losses(look, record), damage_noted(look)
        after = store.read_witness()
        finding = _find_damage(look, after) if starting else after.damage if after else ""
    if not store.witness_file.is_file():
        store.renew_witness()  # events cannot be recorded without a witness
    if (finding and not damage_words) or any(not loss.noted_at_utc for loss in losses):
        acting = Acting(by=SCHEDULE, now=now)
        with store.change() as change:
            if finding and not damage_words:
                detail = {"finding": finding}
                kind = EventKind.WITNESS_DAMAGED
                events.record(change, "", acting, kind=kind, detail=detail)
            for loss in open_losses(change, record):
                if not loss.noted_at_utc:
                    _record(change, WENT_BACK_KIND, loss, {}, acting)
    if finding or (record and record.is_former):
        store.renew_witness()
    return losses


def accept_losses(store: Store, *, reason: str, acting: Acting) -> list[Loss]:
    """Accept that a store lacks acknowledged records, or that its witness was damaged.

    The trail records who accepted it and why.

    Raises
    ------
    NotNow
        Nothing is missing, and the witness is undamaged.
    BadInput
        The reason is empty.
    """
    words = checked_reason(reason)
    record_losses(store, now=acting.now, starting=True)
    record = store.read_witness()
    with store.change() as change:
        losses, finding = open_losses(change, record), damage_noted(change)
        if not losses and not finding:
            raise NotNow(
                t(
                    "The database contains everything that was acknowledged: there is nothing to "
                    "accept."
                )
            )
        for loss in losses:
            _record(change, ACCEPTED_KIND, loss, {"reason": words}, acting)
        if finding:
            detail = {"finding": finding, "reason": words}
            kind = EventKind.WITNESS_ACCEPTED
            events.record(change, "", acting, kind=kind, detail=detail)
        lost = [head for head in record.heads if not contains_head(change, head)] if record else []
    with suppress(OSError, StudyError):  # it does not matter if accepted heads remain
        store.forget_heads(lost)
    return losses


def unaccepted_loss(look: Transaction, study: str) -> Loss | None:
    """Return the loss recorded in a study's or the deployment's trail and not accepted, or None."""
    for chain in (events.study_chain(study), events.DEPLOYMENT) if study else (events.DEPLOYMENT,):
        last = events.last_of_kinds(
            look, chain, (WENT_BACK_KIND, ACCEPTED_KIND, EventKind.STUDY_RESTORED)
        )
        if last is not None and last.kind == WENT_BACK_KIND:
            return _describe_loss(look, [_head_of(last.detail)])
    return None


def _describe_loss(look: Transaction, missing: list[Head]) -> Loss:
    last = max(missing, key=lambda head: head.number)
    chain = _trail_of(look, last.chain)
    recorded = events.of_kinds(look, chain, (WENT_BACK_KIND, ACCEPTED_KIND))
    noted = next(
        (e for e in recorded if e.kind == WENT_BACK_KIND and _head_of(e.detail) == last), None
    )
    event = next(
        (e for e in recorded if e.kind == ACCEPTED_KIND and _head_of(e.detail) == last), None
    )
    before = min(head.number for head in missing) - 1
    return Loss(
        ends=noted.detail["ends"] if noted else min(before, events.length(look, last.chain)),
        lost=last,
        noted_at_utc=noted.at_utc if noted else "",
        n_again=_n_sent_again(look, last.chain, noted.number) if noted else 0,
        accepted=f"Accepted on {event.at_utc} by {event.actor}: {event.detail['reason']}"
        if event
        else "",
    )


def _n_sent_again(look: Transaction, chain: str, after: int) -> int:
    return sum(
        SENT_AGAIN in event.detail.get("flags", ())
        for event in events.of_kinds(look, chain, (EventKind.CASE_READ,))
        if event.number > after
    )


def _trail_of(look: Transaction, chain: str) -> str:
    """Return the chain in which a chain's loss is recorded: itself, if its study exists."""
    return chain if _study_of(look, chain) else events.DEPLOYMENT


def _study_of(look: Transaction, chain: str) -> str:
    name = chain.removeprefix(events.study_chain(""))
    return name if name != chain and studies.find(look, name) else ""


def _record(
    change: Transaction, kind: EventKind, loss: Loss, details: dict[str, str], acting: Acting
) -> None:
    lost = loss.lost
    detail = {
        "chain": lost.chain,
        "ends": loss.ends,
        "number": lost.number,
        "hash": lost.hash,
        "at_utc": lost.at_utc,
        **details,
    }
    events.record(change, _study_of(change, lost.chain), acting, kind=kind, detail=detail)


def _head_of(detail: dict[str, object]) -> Head:
    return Head(
        chain=str(detail["chain"]),
        number=int(str(detail["number"])),
        hash=str(detail["hash"]),
        at_utc=str(detail["at_utc"]),
    )
