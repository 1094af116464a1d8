"""Strikes a bank's items off, with a reason, and takes them back: what is struck is not drawn."""

from datetime import datetime

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import stamp
from study.base.errors import NotFound, NotNow
from study.base.text import checked_reason
from study.base.translation import t
from study.store import Store, Transaction, bank_contents, banks, events
from study.store.bank_contents import ListedItem
from study.store.events import EventKind


def strike(
    store: Store,
    bank: str,
    item_id: str,
    *,
    reason: str,
    back: bool = False,
    now: datetime,
    by: By = COMMAND_LINE,
) -> None:
    """Strike an item off, or take it back; studies that drew it keep it.

    Raises
    ------
    NotFound
        There is no such bank, or no such item in it.
    NotNow
        It is so already.
    BadInput
        The reason is none or too long.
    """
    words = checked_reason(reason)
    with store.change() as change:
        item = item_of(change, bank, item_id)
        if (item.struck is None) == back:
            raise NotNow(
                t("The question {item} is not struck off.", item=repr(item_id))
                if back
                else t("The question {item} is struck off already.", item=repr(item_id))
            )
        strike_within(change, bank, item, reason=words, back=back, now=now, by=by)


def strike_within(
    change: Transaction,
    bank: str,
    item: ListedItem,
    *,
    reason: str,
    back: bool = False,
    now: datetime,
    by: By,
) -> None:
    """Strike an item off, or take it back, within a transaction that has checked all else."""
    bank_contents.mark_struck(change, item.id, struck=not back, reason=reason, at_utc=stamp(now))
    kind = EventKind.ITEM_TAKEN_BACK if back else EventKind.ITEM_STRUCK
    detail = {"bank": bank, "item": item.item_id, "reason": reason}
    events.record(change, "", now, kind=kind, detail=detail, by=by)


def item_of(look: Transaction, bank: str, item_id: str) -> ListedItem:
    """Return an item of a bank by its name.

    Raises
    ------
    NotFound
        There is no such bank, or no such item in it.
    """
    item = bank_contents.by_item_id(look, banks.bank_row(look, bank).id, item_id)
    if item is None:
        raise NotFound(
            t("The bank {bank} has no question {item}.", bank=repr(bank), item=repr(item_id))
        )
    return item
