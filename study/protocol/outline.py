"""Describes a design before it is drawn: the cases in each session, and what it cannot separate."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from study.base.translation import t, tn
from study.protocol import blocks
from study.protocol.assignment import AssignedCase, assign, assign_list
from study.protocol.designs import ListPlace, williams_square
from study.protocol.protocol import Condition, Protocol

MOST_LISTS = 12

Reading = tuple[Condition, bool]
"""A condition, and whether it is the second stage of sequential reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOutline:
    """The content of one list.

    Parameters
    ----------
    arm
        Name of the list's arm; empty if the design has no arms.
    number
        Number of the list in its arm, from 1. The first reader of an arm gets list 1.
    sessions
        For each session, the number of cases in each condition, in the order of reading.
    """

    arm: str
    number: int
    sessions: Mapping[int, Mapping[Reading, int]]


def outline_lists(protocol: Protocol, *, n_readers: int) -> list[ListOutline]:
    """Return the first lists of each arm, at most `MOST_LISTS` in each.

    Parameters
    ----------
    n_readers
        Number of readers in the study; they are divided among the arms in proportion to `share`.
    """
    return [
        _outline_list(protocol, ListPlace(arm=arm, number=number, lists=lists))
        for arm, n_in_arm in _readers_by_arm(protocol, n_readers).items()
        for lists in [blocks.n_lists(protocol.of_arm(arm), n_in_arm)]
        for number in range(1, min(n_in_arm, MOST_LISTS) + 1)
    ]


def _readers_by_arm(protocol: Protocol, n_readers: int) -> dict[str, int]:
    shares = {arm.name: arm.share for arm in protocol.arms} or {"": 1}
    total_share = sum(shares.values())
    return {name: max(1, round(n_readers * share / total_share)) for name, share in shares.items()}


def _outline_list(protocol: Protocol, place: ListPlace) -> ListOutline:
    sessions: dict[int, Counter[Reading]] = {}
    for entry in _entries(protocol, place):
        counts = sessions.setdefault(entry.session, Counter())
        counts[entry.condition, entry.stage == 2] += 1
    return ListOutline(arm=place.arm, number=place.number, sessions=sessions)


def _entries(protocol: Protocol, place: ListPlace) -> list[AssignedCase]:
    """Return the entries of the list, without strata, because only the numbers of cases matter."""
    options = json.dumps(["", ""])
    numbers = [str(number) for number in range(protocol.cases)]
    if protocol.has_new_design:
        return assign_list([(number, options, "") for number in numbers], protocol, place)
    cases = [(number, options) for number in numbers]
    return assign(cases, protocol, reader_id="", reader_index=place.number - 1)


def confounded_effects(protocol: Protocol, *, n_readers: int) -> list[str]:
    """Return sentences about the effects that the design cannot separate."""
    return list(_confounded_effects(protocol, n_readers))


def _confounded_effects(protocol: Protocol, n_readers: int) -> Iterator[str]:
    if protocol.arms:
        yield t(
            "Arms: each reader is in one arm. A difference between arms includes differences "
            "between their readers."
        )
    for name, of_arm in protocol.by_arm.items():
        n_in_arm = _readers_by_arm(protocol, n_readers)[name]
        for sentence in _effects_in_arm(of_arm, n_in_arm):
            yield t("Arm {arm}: {text}", arm=name, text=sentence) if name else sentence
    if protocol.session_feedback:
        yield t(
            "Feedback after a session: later sessions include its effect. Differences between "
            "sessions cannot be separated from it."
        )
    if protocol.case_order == "fixed":
        yield t(
            "Case order: all readers read the cases in the same order. Difficulty cannot be "
            "separated from practice and fatigue."
        )
    if protocol.option_order == "canonical":
        yield t(
            "Option order: all readers see the bank's order. A preference for a position cannot "
            "be separated from the preference for an option."
        )


def _effects_in_arm(protocol: Protocol, n_readers: int) -> Iterator[str]:
    with_options = [name for name in protocol.presented_conditions if name != Condition.OPEN_ENDED]
    if protocol.is_sequential:
        yield t(
            "Sequential reading: the answer with the model follows the reader's own answer to "
            "the same case. Their difference includes the effect of a second look."
        )
    if Condition.OPEN_ENDED in protocol.presented_conditions and with_options:
        yield t(
            "Open-ended cases come first for every reader. Their difference from other "
            "conditions includes the effect of order."
        )
    if len(protocol.presented_conditions) > 1 and protocol.sessions == 1:
        yield t(
            "One session: readers see the same case in several conditions without a wash-out "
            "and may remember it."
        )
    elif len(with_options) > 1 and not protocol.case_blocks:
        yield t(
            "Sessions: each session of a reader has one condition. Condition and session are "
            "balanced only over readers."
        )
    if len(with_options) > 1:
        yield from _unbalanced_orders(protocol, len(with_options), n_readers)
    if protocol.is_incomplete and not protocol.anchor:
        yield t(
            "No anchor: readers may share few cases or none. Agreement between readers may be "
            "undefined, and differences between readers include differences between cases."
        )


def _unbalanced_orders(protocol: Protocol, n_conditions: int, n_readers: int) -> Iterator[str]:
    n_orders = len(williams_square(n_conditions)) if protocol.has_new_design else n_conditions
    if n_readers % n_orders:
        yield tn(
            "Order: the orders of the conditions are balanced for a multiple of {n_orders} "
            "readers, not for {n}.",
            "Order: the orders of the conditions are balanced for a multiple of {n_orders} "
            "readers, not for {n}.",
            n_readers,
            n_orders=n_orders,
        )
