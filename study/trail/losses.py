"""Losses: where the store ends before what its second witness says was acknowledged.

A store that was copied without its journal, or whose journal was damaged, opens whole and shorter.
What is missing is told by `study.store.witness`; it is noted in the trail when the server starts,
readers' pages offer again what they still have, and whoever answers for the study accepts what
remains, with a reason. Until then `verify` does not call the store whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from study.base.actor import COMMAND_LINE, SCHEDULE, By
from study.base.errors import NotNow
from study.base.text import checked_reason
from study.base.translation import t
from study.reading.records import SENT_AGAIN
from study.store import Store, Transaction, events, studies, witness
from study.store.connection import is_there
from study.store.events import EventKind
from study.store.witness import Head

WENT_BACK, ACCEPTED = EventKind.STORE_WENT_BACK, EventKind.LOSS_ACCEPTED
_DAMAGE = (EventKind.WITNESS_DAMAGED, EventKind.WITNESS_ACCEPTED)

_HINT = (
    "Do not go on before you know why: see docs/backups.md. What is missing may be in the file "
    "that ends in -wal or in a backup, and readers' pages offer their answers again when opened. "
    "Once nothing more is to come, whoever runs the server accepts the loss, with a reason."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A chain that lacks what was acknowledged.

    Parameters
    ----------
    ends
        The last event before what is missing.
    lost
        The last event that was acknowledged and is not there.
    noted_at_utc
        When the server noticed, empty where it did not yet.
    n_again
        How many answers readers' pages have sent again since.
    accepted
        Who accepted it, when and why; empty where nobody has.
    """

    ends: int
    lost: Head
    noted_at_utc: str
    n_again: int
    accepted: str

    @property
    def sentence(self) -> str:
        """Return it in words."""
        lost = self.lost
        where = f"{lost.chain}: the store ends before what was acknowledged: "
        told = f"event {lost.number} was acknowledged at {lost.at_utc}"
        if not self.noted_at_utc:
            return f"{where}it ends, or went on otherwise, after event {self.ends}, and {told}."
        back = f"on {self.noted_at_utc} it had gone back to event {self.ends}"
        return f"{where}{back}; {told}; answers sent again since: {self.n_again}."


def found(look: Transaction, told: witness.Witness | None) -> list[Loss]:
    """Return the losses that nobody has accepted, by what the witness said before the look."""
    missing: dict[str, list[Head]] = {}
    for head in told.heads if told else ():
        if not is_there(look, head):
            missing.setdefault(head.chain, []).append(head)
    losses = [_loss(look, heads) for heads in missing.values()]
    return [one for one in losses if not one.accepted]


def breaches(look: Transaction, told: witness.Witness | None, chain: str = "") -> Iterator[str]:
    """Yield what of a store, or of one chain, was acknowledged and is not there."""
    for one in found(look, told):
        if chain in ("", one.lost.chain):
            yield f"{one.sentence} {_HINT}"


def damage(look: Transaction, told: witness.Witness | None) -> Iterator[str]:
    """Yield what shows that the witness is not as it was written, until somebody accepts it.

    `told` is read after the look began: what was acknowledged meanwhile is then in both.
    """
    noted, finding = damage_noted(look), _damage(look, told)
    if noted or finding:
        what = noted or f"the file {finding}"
        yield f"the witness: {what}. What the store lacks cannot be told from it. {_HINT}"


def damage_noted(look: Transaction) -> str:
    """Return the damage of the witness that was recorded and that nobody has accepted, or none."""
    last = events.last_of_kinds(look, events.DEPLOYMENT, _DAMAGE)
    if last is None or last.kind != EventKind.WITNESS_DAMAGED:
        return ""
    return f"on {last.at_utc} the file {last.detail['finding']}"


def _damage(look: Transaction, told: witness.Witness | None) -> str:
    if told is None:
        return ""
    return told.damage or next((f"ends before the store: {one}" for one in _behind(look, told)), "")


def _behind(look: Transaction, told: witness.Witness) -> Iterator[str]:
    """Yield the chains of which the witness lacks more than one act.

    One may be missing: the server was killed after it had stored it and before it was witnessed.
    """
    ends: dict[str, int] = {}
    for head in told.heads:
        ends[head.chain] = max(head.number, ends.get(head.chain, 0))
    for chain in events.chains(look):
        if "#" in chain and not _study_of(look, chain):
            continue  # of another site, added with an event of the study's own chain
        after = max(ends.get(chain, 0), _restored_at(look, chain) - 1)
        if events.length(look, chain) > after and events.n_moments(look, chain, after) > 1:
            yield f"it has no event of {chain} after number {after}"


def _restored_at(look: Transaction, chain: str) -> int:
    """Return the number of the event that restored a chain's study in one act, or 0."""
    restored = events.last_of_kinds(look, chain, (EventKind.STUDY_RESTORED,))
    return restored.number if restored else 0


def remarks(look: Transaction, store: Store, told: witness.Witness | None) -> Iterator[str]:
    """Yield what somebody who verifies has to know beside what does not hold."""
    name = witness.file_of(store.path).name
    if told is None:
        yield (
            f"There is no second witness ({name}) beside this store: whether it ends before what "
            "was acknowledged cannot be told. The next start of the server begins one."
        )
    elif told.n_unread:
        yield f"Unreadable lines in {name}: {told.n_unread}."
    if told and told.is_former:
        yield (
            f"{name} is in the format of an earlier version, which does not show whether it was "
            "shortened; the server writes it anew at its next start."
        )
    for event in events.of_kinds(look, events.DEPLOYMENT, (EventKind.WITNESS_ACCEPTED,)):
        yield (
            f"the witness: {event.detail['finding']}. Accepted on {event.at_utc} by {event.actor}: "
            f"{event.detail['reason']}"
        )
    for chain in events.chains(look):
        for event in events.of_kinds(look, chain, (ACCEPTED,)):
            one = _loss(look, [_head(event.detail)])
            yield f"{one.sentence} {one.accepted}"


def note(store: Store, *, now: datetime, starting: bool = False) -> list[Loss]:
    """Compare the store with its witness; record once what is missing or damaged, return losses.

    A damaged witness, and one of an earlier version, is written anew.

    Parameters
    ----------
    starting
        Whether nobody writes yet, so that the witness must have what the store has.
    """
    store.begin_witness()
    told = witness.read(store.path)
    with store.look() as look:
        losses, standing = found(look, told), damage_noted(look)
        after = witness.read(store.path)
        finding = _damage(look, after) if starting else after.damage if after else ""
    if not witness.file_of(store.path).is_file():
        store.renew_witness()  # nothing can be recorded while the witness cannot be written
    if (finding and not standing) or any(not one.noted_at_utc for one in losses):
        with store.change() as change:
            if finding and not standing:
                detail = {"finding": finding}
                kind = EventKind.WITNESS_DAMAGED
                events.record(change, "", now, kind=kind, detail=detail, by=SCHEDULE)
            for one in found(change, told):
                if not one.noted_at_utc:
                    _record(change, WENT_BACK, one, {}, SCHEDULE, now)
    if finding or (told and told.is_former):
        store.renew_witness()
    return losses


def accept(store: Store, *, reason: str, by: By = COMMAND_LINE, now: datetime) -> list[Loss]:
    """Accept that a store is behind what was acknowledged, or that its witness was damaged.

    The trail keeps who did and why.

    Raises
    ------
    NotNow
        Nothing is missing and the witness is whole.
    BadInput
        No reason is given.
    """
    words = checked_reason(reason)
    note(store, now=now, starting=True)
    told = witness.read(store.path)
    with store.change() as change:
        losses, finding = found(change, told), damage_noted(change)
        if not losses and not finding:
            raise NotNow(
                t(
                    "The database contains everything that was acknowledged: there is nothing to "
                    "accept."
                )
            )
        for one in losses:
            _record(change, ACCEPTED, one, {"reason": words}, by, now)
        if finding:
            detail = {"finding": finding, "reason": words}
            kind = EventKind.WITNESS_ACCEPTED
            events.record(change, "", now, kind=kind, detail=detail, by=by)
        lost = [head for head in told.heads if not is_there(change, head)] if told else []
    witness.forget(store.path, lost)
    return losses


def gone_back(look: Transaction, study: str) -> Loss | None:
    """Return what the trail of a study, or of the deployment, says is missing and not accepted."""
    for chain in (events.study_chain(study), events.DEPLOYMENT) if study else (events.DEPLOYMENT,):
        last = events.last_of_kinds(look, chain, (WENT_BACK, ACCEPTED, EventKind.STUDY_RESTORED))
        if last is not None and last.kind == WENT_BACK:
            return _loss(look, [_head(last.detail)])
    return None


def _loss(look: Transaction, missing: list[Head]) -> Loss:
    last = max(missing, key=lambda one: one.number)
    chain = _trail_of(look, last.chain)
    told = events.of_kinds(look, chain, (WENT_BACK, ACCEPTED))
    noted = next((e for e in told if e.kind == WENT_BACK and _head(e.detail) == last), None)
    taken = next((e for e in told if e.kind == ACCEPTED and _head(e.detail) == last), None)
    before = min(one.number for one in missing) - 1
    return Loss(
        ends=noted.detail["ends"] if noted else min(before, events.length(look, last.chain)),
        lost=last,
        noted_at_utc=noted.at_utc if noted else "",
        n_again=_n_again(look, last.chain, noted.number) if noted else 0,
        accepted=f"Accepted on {taken.at_utc} by {taken.actor}: {taken.detail['reason']}"
        if taken
        else "",
    )


def _n_again(look: Transaction, chain: str, after: int) -> int:
    return sum(
        SENT_AGAIN in event.detail.get("flags", ())
        for event in events.of_kinds(look, chain, (EventKind.CASE_READ,))
        if event.number > after
    )


def _trail_of(look: Transaction, chain: str) -> str:
    """Return the chain that tells of a chain's loss: itself, where its study is there."""
    return chain if _study_of(look, chain) else events.DEPLOYMENT


def _study_of(look: Transaction, chain: str) -> str:
    name = chain.removeprefix(events.study_chain(""))
    return name if name != chain and studies.find(look, name) else ""


def _record(
    change: Transaction, kind: EventKind, loss: Loss, about: dict[str, str], by: By, now: datetime
) -> None:
    lost = loss.lost
    detail = {
        "chain": lost.chain,
        "ends": loss.ends,
        "number": lost.number,
        "hash": lost.hash,
        "at_utc": lost.at_utc,
        **about,
    }
    events.record(change, _study_of(change, lost.chain), now, kind=kind, detail=detail, by=by)


def _head(detail: dict[str, object]) -> Head:
    return Head(
        chain=str(detail["chain"]),
        number=int(str(detail["number"])),
        hash=str(detail["hash"]),
        at_utc=str(detail["at_utc"]),
    )
