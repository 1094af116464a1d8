"""When a case that was missed comes back: pure, from the answers given so far.

A case answered wrongly comes back after three further cases, then, once right, after ten. Right
both times it is learnt; wrong again it begins anew. The least gap is as wide as what a reading page
holds, so an answer never changes a case that was handed out already.
"""

from collections.abc import Callable, Iterable, Sequence

from study.reading.outcomes import HANDED_OUT

GAPS = (HANDED_OUT, 10)
"""After how many further cases a missed one comes back: after the miss, after it was right."""

Answer = tuple[int, bool]
"""An item, and whether the answer to it matched."""


def coming_back(answers: Iterable[Answer]) -> dict[int, int]:
    """Return the items that come back, each with the number of the case it is then, at the least.

    >>> coming_back([(7, False), (8, True)]), coming_back([(7, False), (8, True), (7, True)])
    ({7: 4}, {7: 13})
    >>> coming_back([(7, False), (7, True), (7, True)])
    {}
    """
    due: dict[int, int] = {}
    turn: dict[int, int] = {}
    for number, (item, matches) in enumerate(answers, start=1):
        if not matches:
            turn[item] = 0
        elif item in turn:
            turn[item] += 1
        if turn.get(item, len(GAPS)) == len(GAPS):
            turn.pop(item, None)
            due.pop(item, None)
        else:
            due[item] = number + GAPS[turn[item]]
    return due


def upcoming(
    answers: Sequence[Answer], new: Callable[[int, tuple[int, ...]], int | None]
) -> list[int]:
    """Return the next items, in order; none once nothing is new and all that was missed is learnt.

    Missed ones come when they are due, else new ones; where there is no new one, whatever is due
    next comes early. What follows that depends on the answer to it, and is not told ahead.

    Parameters
    ----------
    new
        Returns an item for the case of a number, none of those it is given, or None.
    """
    due, known = coming_back(answers), tuple(dict.fromkeys(item for item, _ in answers))
    found: list[int] = []
    for number in range(len(answers) + 1, len(answers) + 1 + HANDED_OUT):
        ready = sorted((at, item) for item, at in due.items() if at <= number)
        item = ready[0][1] if ready else new(number, (*known, *found))
        if item is None:
            just = answers[-1][0] if answers else None
            early = sorted((one == just, at, one) for one, at in due.items())
            return found if found or not early else [early[0][-1]]
        due.pop(item, None)
        found.append(item)
    return found
