"""The addresses acts come from: the trail has a mark of each, and what it stands for is kept apart.

The mark of an address is the same in every act, so that two acts from one computer can be told as
such, and it is nothing to anybody without this table.
"""

from datetime import datetime

from study.base.canonical import stamp, without_surrogates
from study.store import Store, Transaction, people
from study.store.deployment import keyed_mark

_LONGEST = 200


def place_mark(look: Transaction, address: str) -> str:
    """Return the mark under which the address of a place stands in the trail."""
    return keyed_mark(look, f"place/{address}")[:12]


def remember(store: Store, address: str, *, agent: str, now: datetime) -> str:
    """Keep what an address's mark stands for, the first time it is seen; return the mark."""
    if not address:
        return ""
    with store.look() as look:
        mark = place_mark(look, address)
        if people.knows_place(look, mark):
            return mark
    with store.change() as change:
        people.add_place(
            change,
            mark=mark,
            address=address[:_LONGEST],
            agent=without_surrogates(agent)[:_LONGEST],
            first_seen_at_utc=stamp(now),
        )
    return mark
