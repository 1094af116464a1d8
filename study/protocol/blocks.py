"""Distributes cases among lists in incomplete designs: an anchor, and other cases in rotation.

Every order results from sorting by hash, so that the lists can be recomputed from the protocol.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, count

from study.base.canonical import random_key, shuffled
from study.protocol.protocol import Protocol

Strata = Mapping[str, str]
"""The stratum of each case, in order of case number."""


def divide_by_weight(
    weights: Mapping[str, int], total: int, *, seed: int, purpose: str
) -> dict[str, int]:
    """Divide a number in proportion to weights (Hamilton's method); no share exceeds its weight.

    >>> divide_by_weight({"a": 3, "b": 1}, 2, seed=1, purpose="x")
    {'a': 1, 'b': 1}
    """
    total_weight = sum(weights.values())
    exact = {name: divmod(total * weight, total_weight) for name, weight in weights.items()}
    parts = {name: quotient for name, (quotient, _) in exact.items()}
    by_remainder = sorted(
        exact, key=lambda name: (-exact[name][1], random_key(name, seed=seed, purpose=purpose))
    )
    for name in by_remainder[: total - sum(parts.values())]:
        parts[name] += 1
    return parts


def by_stratum(strata: Strata) -> dict[str, list[str]]:
    """Return the cases of each stratum."""
    groups: dict[str, list[str]] = defaultdict(list)
    for item_id, stratum in strata.items():
        groups[stratum].append(item_id)
    return dict(sorted(groups.items()))


def anchor_cases(strata: Strata, protocol: Protocol) -> set[str]:
    """Return the cases that every reader reads, drawn in proportion to the sizes of the strata."""
    groups = by_stratum(strata)
    sizes = {name: len(items) for name, items in groups.items()}
    parts = divide_by_weight(sizes, protocol.anchor, seed=protocol.seed, purpose="anchor share")
    return {
        item_id
        for name, items in groups.items()
        for item_id in shuffled(items, seed=protocol.seed, purpose="anchor")[: parts[name]]
    }


def n_lists(protocol: Protocol, n_readers: int) -> int:
    """Return the number of lists in an arm among which the readings of its cases are divided."""
    others = protocol.cases - protocol.anchor
    if protocol.reads_per_case and protocol.cases_per_reader:
        n_others = protocol.cases_per_reader - protocol.anchor
        return math.ceil(others * protocol.reads_per_case / n_others)
    return max(1, n_readers)


def list_size(protocol: Protocol, number: int, lists: int) -> int:
    """Return the number of cases outside the anchor in a list; `number` counts from 1."""
    if not protocol.reads_per_case:
        return protocol.cases_per_reader - protocol.anchor
    reads = (protocol.cases - protocol.anchor) * protocol.reads_per_case
    return number * reads // lists - (number - 1) * reads // lists


def deal_cases(strata: Strata, protocol: Protocol, *, arm: str, lists: int) -> Iterator[list[str]]:
    """Yield the cases outside the anchor for each list of an arm in turn, indefinitely.

    After each list, the number of cases dealt from a stratum differs by less than 1 from its share.
    All cases of a stratum are dealt once before any of them is dealt again.

    Parameters
    ----------
    strata
        The stratum of each case outside the anchor.
    lists
        The number of lists that `n_lists` returns.
    """
    groups = by_stratum(strata)
    decks = {
        name: _Deck(items, protocol, f"deal/{arm}/{name}" if arm else f"deal/{name}")
        for name, items in groups.items()
    }
    sizes = (list_size(protocol, number, lists) for number in count(1))
    before = dict.fromkeys(groups, 0)
    for n_wanted, total in _with_totals(sizes):
        exact = {name: Fraction(total * len(groups[name]), len(strata)) for name in groups}
        in_list = {name: Fraction(n_wanted * len(groups[name]), len(strata)) for name in groups}
        counts = _counts_by_stratum(n_wanted, exact, in_list, before, protocol.seed)
        before = {name: before[name] + counts[name] for name in groups}
        yield [item_id for name in groups for item_id in decks[name].draw(counts[name])]


def _with_totals(sizes: Iterator[int]) -> Iterator[tuple[int, int]]:
    previous = 0
    for total in accumulate(sizes):
        yield total - previous, total
        previous = total


def _counts_by_stratum(
    n_wanted: int,
    exact: Mapping[str, Fraction],
    in_list: Mapping[str, Fraction],
    before: Mapping[str, int],
    seed: int,
) -> dict[str, int]:
    """Return the number of cases from each stratum in the next list.

    The totals after this list are the values of `exact` rounded up or down. If possible, the
    numbers in this list are also the values of `in_list` rounded up or down.

    Parameters
    ----------
    n_wanted
        The number of cases in the list.
    exact
        The exact share of each stratum in the cases dealt so far and in this list together.
    in_list
        The exact share of each stratum in this list alone.
    before
        The number of cases dealt so far from each stratum.
    """
    low = {name: max(0, math.floor(exact[name]) - before[name]) for name in exact}
    high = {name: max(0, math.ceil(exact[name]) - before[name]) for name in exact}
    narrow = {
        name: (max(low[name], math.floor(in_list[name])), min(high[name], math.ceil(in_list[name])))
        for name in exact
    }
    if (
        all(least <= most for least, most in narrow.values())
        and sum(least for least, _ in narrow.values()) <= n_wanted
        and sum(most for _, most in narrow.values()) >= n_wanted
    ):
        low = {name: least for name, (least, _) in narrow.items()}
        high = {name: most for name, (_, most) in narrow.items()}
    counts = dict(low)
    by_deficit = sorted(
        exact,
        key=lambda name: (
            counts[name] + before[name] - exact[name],
            random_key(name, seed=seed, purpose="deal share"),
        ),
    )
    for name in by_deficit:
        if sum(counts.values()) < n_wanted and counts[name] < high[name]:
            counts[name] += 1
    return counts


class _Deck:
    """The cases of a stratum, dealt in rounds, each in a different order."""

    def __init__(self, items: Sequence[str], protocol: Protocol, purpose: str) -> None:
        self._items, self._seed, self._purpose = items, protocol.seed, purpose
        self._round, self._left = 0, list[str]()

    def draw(self, n: int) -> list[str]:
        """Return the next `n` different cases; cases left over from a round come first."""
        dealt_cases = self._left[:n]
        self._left = self._left[n:]
        if len(dealt_cases) < n:
            self._round += 1
            order = shuffled(self._items, seed=self._seed, purpose=f"{self._purpose}/{self._round}")
            fresh = [item_id for item_id in order if item_id not in dealt_cases]
            more = fresh[: n - len(dealt_cases)]
            self._left = [item_id for item_id in order if item_id not in more]
            dealt_cases += more
        return dealt_cases
