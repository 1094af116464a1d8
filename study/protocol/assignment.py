"""Fixes who reads what, in which order, with the options in which order: before anyone reads.

Pure: the same protocol, cases and reader always give the same assignment, so a reader can be added
later, and a statistician can recompute every order from the protocol's seed.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from study.base.bank_model import LETTERS
from study.base.canonical import lot, shuffled
from study.protocol.protocol import Condition, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """One place in a reader's list.

    `position` counts from 1 over all sessions. `repeat` counts a reader's readings of the item in
    the condition, in the order they are read: hidden repeats and those of later sessions alike.
    `shown_order` spells the canonical letters in the order shown: with ``"CAB"`` the reader sees
    C's text at letter A.
    """

    item_id: str
    condition: Condition
    session: int
    repeat: int
    position: int
    shown_order: str


def assign(
    cases: Sequence[tuple[str, str]], protocol: Protocol, *, reader_id: str, reader_index: int
) -> list[Assigned]:
    """Return a reader's whole list in order of position.

    Parameters
    ----------
    cases
        (item_id, options as a JSON list) in order of case number.
    reader_index
        Counts the readers from 0; it rotates the order of the conditions with options, so that they
        are balanced over readers.
    """
    n_options = {item_id: len(json.loads(options)) for item_id, options in cases}
    met: Counter[tuple[str, Condition]] = Counter()
    assigned: list[Assigned] = []
    for session, condition, turn in _blocks(protocol, reader_index):
        whose = f"{reader_id}/{condition}" if turn == 1 else f"{reader_id}/{condition}/{turn}"
        for item_id in _block(list(n_options), protocol, whose):
            met[item_id, condition] += 1
            repeat = met[item_id, condition]
            which = f"{reader_id}/{item_id}/{condition}/{repeat}"
            assigned.append(
                Assigned(
                    item_id=item_id,
                    condition=condition,
                    session=session,
                    repeat=repeat,
                    position=len(assigned) + 1,
                    shown_order=options_order(n_options[item_id], protocol, which),
                )
            )
    return assigned


def assign_practice(
    cases: Sequence[tuple[str, str]], protocol: Protocol, *, reader_id: str, reader_index: int
) -> list[Assigned]:
    """Return a reader's practice list in order of position; arguments as for `assign`.

    All are read in the condition of the reader's first block.
    """
    n_options = {item_id: len(json.loads(options)) for item_id, options in cases}
    order = (
        shuffled(n_options, seed=protocol.seed, purpose=f"practice order/{reader_id}")
        if protocol.case_order == "random"
        else list(n_options)
    )
    return [
        Assigned(
            item_id=item_id,
            condition=next(_blocks(protocol, reader_index))[1],
            session=1,
            repeat=1,
            position=position,
            shown_order=options_order(
                n_options[item_id], protocol, f"{reader_id}/{item_id}/practice"
            ),
        )
        for position, item_id in enumerate(order, start=1)
    ]


def canonical(shown: str, shown_order: str) -> str:
    """Return the canonical letter of the option shown at a letter.

    >>> canonical("A", "CAB")
    'C'
    """
    return shown_order[LETTERS.index(shown)]


def shown(canonical_letter: str, shown_order: str) -> str:
    """Return the letter at which a canonical option is shown.

    >>> shown("C", "CAB")
    'A'
    """
    return LETTERS[shown_order.index(canonical_letter)]


def _rotated(conditions: Sequence[Condition], by: int) -> list[Condition]:
    turn = by % len(conditions) if conditions else 0
    return [*conditions[turn:], *conditions[:turn]]


def _blocks(protocol: Protocol, reader_index: int) -> Iterator[tuple[int, Condition, int]]:
    """Yield (session, condition, which turn of the condition this is) in the order of reading.

    In one session the conditions follow one another; in several, each session has one. What is
    open-ended comes first, every turn of it: whoever has seen the options has been told the answer.
    """
    n_turns = max(1, protocol.sessions // len(protocol.conditions))
    options = [one for one in protocol.conditions if one != Condition.OPEN_ENDED]
    words = [one for one in protocol.conditions if one == Condition.OPEN_ENDED]
    blocks = [
        (condition, turn)
        for conditions in (words, _rotated(options, reader_index))
        for turn in range(1, n_turns + 1)
        for condition in conditions
    ]
    for before, (condition, turn) in enumerate(blocks):
        yield 1 if protocol.sessions == 1 else before + 1, condition, turn


def _block(item_ids: Sequence[str], protocol: Protocol, whose: str) -> list[str]:
    """Return one block's cases in order, its hidden repeats spread over the second half."""
    seed = protocol.seed
    order = (
        shuffled(item_ids, seed=seed, purpose=f"case order/{whose}")
        if protocol.case_order == "random"
        else list(item_ids)
    )
    block = [(item_id, 1) for item_id in order]
    early = order[: max(len(order) // 2, protocol.hidden_repeats)]
    repeated = shuffled(early, seed=seed, purpose=f"hidden repeats/{whose}")
    for item_id in repeated[: protocol.hidden_repeats]:
        block.insert(_repeat_place(item_id, block, seed, whose), (item_id, 2))
    return [item_id for item_id, _ in block]


def _repeat_place(item_id: str, block: Sequence[tuple[str, int]], seed: int, whose: str) -> int:
    """Return a place drawn by lot in the second half, and after the case's first reading."""
    first = block.index((item_id, 1)) + 1
    start = max(len(block) // 2, first)
    draw = int(lot(item_id, seed=seed, purpose=f"repeat place/{whose}"), 16)
    return start + draw % (len(block) - start + 1)


def options_order(n_options: int, protocol: Protocol, which: str) -> str:
    """Return the order in which options are shown; `which` is ``rater/item/condition/repeat``."""
    letters = LETTERS[:n_options]
    if protocol.option_order == "canonical":
        return letters
    return "".join(shuffled(letters, seed=protocol.seed, purpose=f"option order/{which}"))
