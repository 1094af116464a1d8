"""Makes the lists of designs with an aid, wrong images, arms or blocks: the cases and their order.

A list depends on the protocol, the arm and its number, but not on its reader. Conditions are
ordered by Williams squares (Williams 1949, https://doi.org/10.1071/CH9490149). See
`docs/designs.md`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from study.base.canonical import shuffled
from study.protocol import blocks
from study.protocol.blocks import Strata
from study.protocol.protocol import Condition, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Cases that are read one after another; their order is drawn later.

    Parameters
    ----------
    name
        The name of the part, from which its random orders are derived.
    conditions
        The condition of each case.
    n_repeats
        Number of hidden repeats.
    blocks
        The block of each case; empty in designs without blocks.
    """

    session: int
    name: str
    conditions: Mapping[str, Condition]
    n_repeats: int
    blocks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlace:
    """The position of a list in its design.

    `arm` is the name of its arm, `number` its number in the arm, from 1, and `lists` the number of
    lists in the arm.
    """

    arm: str
    number: int
    lists: int

    @property
    def name(self) -> str:
        """Return the name of the list, which replaces the reader's name in all random orders."""
        return f"{self.arm}/list {self.number}" if self.arm else f"list {self.number}"


def williams_square(n: int) -> list[tuple[int, ...]]:
    """Return a Williams square: n rows for an even number n of conditions, 2n rows for an odd one.

    Over all rows, each condition occurs equally often in each position, and equally often directly
    after each other condition.

    >>> williams_square(2), williams_square(3)[:3]
    ([(0, 1), (1, 0)], [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
    """
    first = [0]
    for place in range(1, n):
        first.append((place + 1) // 2 if place % 2 else n - place // 2)
    rows = [tuple((number + shift) % n for number in first) for shift in range(n)]
    return rows + [row[::-1] for row in rows] if n % 2 and n > 1 else rows


def cases_of_list(
    strata: Strata, protocol: Protocol, place: ListPlace
) -> tuple[set[str], list[str]]:
    """Return the anchor, and all cases of a list including the anchor, in order of case number."""
    if not protocol.is_incomplete:
        return set(), list(strata)
    anchor = blocks.anchor_cases(strata, protocol)
    others = {item_id: name for item_id, name in strata.items() if item_id not in anchor}
    lists = blocks.deal_cases(others, protocol, arm=place.arm, lists=place.lists)
    own_case_ids = anchor.union(next(islice(lists, place.number - 1, None)))
    return anchor, [item_id for item_id in strata if item_id in own_case_ids]


def list_parts(strata: Strata, protocol: Protocol, place: ListPlace) -> Iterator[Part]:
    """Yield the parts of a list in the order of reading.

    Parameters
    ----------
    protocol
        The protocol of the arm.
    """
    anchor, own_ids = cases_of_list(strata, protocol, place)
    numbers = {item_id: 0 if item_id in anchor else place.number for item_id in own_ids}
    shown = numbers if protocol.is_incomplete else {}
    n_turns = max(1, protocol.sessions // len(protocol.presented_conditions))
    undivided = [Condition.OPEN_ENDED] * (
        n_turns * (Condition.OPEN_ENDED in protocol.presented_conditions)
    )
    options = [name for name in protocol.presented_conditions if name != Condition.OPEN_ENDED]
    if not protocol.case_blocks:
        square = williams_square(len(options)) if options else [()]
        row = square[(place.number - 1) % len(square)]
        undivided += [options[number] for _ in range(n_turns) for number in row]
    turns: dict[Condition, int] = {}
    for session, condition in enumerate(undivided, start=1):
        turns[condition] = turns.get(condition, 0) + 1
        yield Part(
            session=1 if protocol.sessions == 1 else session,
            name=_part_name(condition, turns[condition]),
            conditions=dict.fromkeys(own_ids, condition),
            n_repeats=protocol.hidden_repeats,
            blocks=shown,
        )
    if protocol.case_blocks:
        divided = _divide_cases(own_ids, anchor, strata, protocol)
        yield from _crossed_parts(divided, options, protocol, place, len(undivided), shown)


def _part_name(condition: Condition, turn: int) -> str:
    return str(condition) if turn == 1 else f"{condition}/{turn}"


def _divide_cases(
    own_ids: Sequence[str], anchor: set[str], strata: Strata, protocol: Protocol
) -> list[list[str]]:
    """Divide the cases of a list into case blocks, evenly within each stratum and the anchor."""
    by_lot = {
        item_id: place
        for place, item_id in enumerate(shuffled(own_ids, seed=protocol.seed, purpose="case block"))
    }
    order = sorted(own_ids, key=lambda item: (item in anchor, strata[item], by_lot[item]))
    divided = [set(order[block :: protocol.case_blocks]) for block in range(protocol.case_blocks)]
    return [[item_id for item_id in own_ids if item_id in block] for block in divided]


def _crossed_parts(
    divided: Sequence[Sequence[str]],
    options: Sequence[Condition],
    protocol: Protocol,
    place: ListPlace,
    n_before: int,
    shown: Mapping[str, int],
) -> Iterator[Part]:
    """Yield the parts of sessions in which each case block has a different condition."""
    n, number = len(divided), place.number - 1
    square = williams_square(n)
    first = (
        (number // n) * n % len(square)
    )  # for an odd number of conditions: the rows, or the rows reversed
    order = square[number // len(square) % len(square)]
    own_blocks = {item: block for block, items in enumerate(divided, start=1) for item in items}
    for after in range(protocol.sessions - n_before):
        turn, period = divmod(after, n)
        session = n_before + after + 1
        in_turn = {
            block: options[square[first + (number + block + turn) % n][period]] for block in order
        }
        repeats = _divide_repeats([len(divided[block]) for block in order], protocol, period)
        for group, n_repeats in _join_blocks(in_turn, repeats):
            conditions = {item: in_turn[block] for block in group for item in divided[block]}
            yield Part(
                session=session,
                name=f"session {session}/{in_turn[group[0]]}",
                conditions=conditions,
                n_repeats=n_repeats,
                blocks={item: (shown or own_blocks)[item] for item in conditions},
            )


def _divide_repeats(sizes: Sequence[int], protocol: Protocol, period: int) -> list[int]:
    """Divide the hidden repeats of a session among its parts."""
    counts = [0] * len(sizes)
    place = period
    for _ in range(min(protocol.hidden_repeats, sum(sizes))):
        while counts[place % len(sizes)] >= sizes[place % len(sizes)]:
            place += 1
        counts[place % len(sizes)] += 1
        place += 1
    return counts


def _join_blocks(
    conditions: Mapping[int, Condition], repeats: Sequence[int]
) -> Iterator[tuple[list[int], int]]:
    """Yield the blocks of each part and its hidden repeats.

    Unaided cases and cases with wrong images form a single part, so that they are mixed.
    """
    alike = {Condition.UNAIDED, Condition.WRONG_IMAGE}
    mixed = [block for block, condition in conditions.items() if condition in alike]
    n_repeats = dict(zip(conditions, repeats, strict=True))
    for block in conditions:
        if block not in mixed:
            yield [block], n_repeats[block]
        elif block == mixed[0]:
            yield mixed, sum(n_repeats[number] for number in mixed)
