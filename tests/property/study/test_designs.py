"""Lists of any design satisfy its constraints, and the allocation to arms is balanced."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from study.protocol import blocks
from study.protocol.arms import AllocatedReader, next_arm
from study.protocol.assignment import AssignedCase, assign_list
from study.protocol.designs import ListPlace, williams_square
from study.protocol.protocol import Condition, Protocol, faults_of
from tests.conftest import number_of_examples

N_LISTS = 7
CONDITIONS = st.permutations(list(Condition)).flatmap(
    lambda names: st.integers(1, 5).map(lambda n: [str(name) for name in names[:n]])
)


@st.composite
def _arms(draw: st.DrawFn) -> list[dict[str, Any]]:
    return [
        {
            "name": f"arm {number}",
            "share": draw(st.integers(1, 3)),
            **draw(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "conditions": CONDITIONS,
                        "aid": st.sampled_from(["first", "on demand", "after"]),
                    },
                )
            ),
        }
        for number in range(draw(st.sampled_from([0, 0, 2, 3])))
    ]


@st.composite
def _incomplete(draw: st.DrawFn, cases: int) -> dict[str, int]:
    anchor = draw(st.integers(0, cases - 1))
    keys = draw(
        st.sampled_from(
            [
                (),
                (),
                ("reads_per_case",),
                ("cases_per_reader",),
                ("reads_per_case", "cases_per_reader"),
            ]
        )
    )
    values = {
        "reads_per_case": st.integers(1, N_LISTS),
        "cases_per_reader": st.integers(anchor + 1, cases),
    }
    return {**({"anchor": anchor} if keys else {}), **{key: draw(values[key]) for key in keys}}


@st.composite
def designs(draw: st.DrawFn) -> Protocol:
    """Return any protocol of a new design that has no errors."""
    cases = draw(st.integers(6, 30))
    arms = draw(_arms())
    values: dict[str, Any] = {
        "cases": cases,
        "seed": draw(st.integers(-(2**63), 2**63 - 1)),
        "conditions": draw(CONDITIONS),
        "aid": draw(st.sampled_from(["first", "on demand", "after"])),
        "aid_model": "m",
        "arms": arms,
        "sessions": 1,
        "hidden_repeats": draw(st.integers(0, 3)),
        "option_order": "random",
        **draw(_incomplete(cases)),
    }
    if "aided" not in str([values["conditions"], values["arms"]]):
        values |= {"aid": "first", "aid_model": ""}
        for arm in arms:
            arm.pop("aid", None)
    if draw(st.booleans()) and not faults_of(values):
        presented = [
            len(arm.presented_conditions) for arm in Protocol.from_json(values).by_arm.values()
        ]
        values["sessions"] = math.lcm(*presented) * draw(st.integers(1, 2))
    assume(not faults_of(values))
    protocol = Protocol.from_json(values)
    assume(protocol.has_new_design)
    return protocol


def _cases(protocol: Protocol, strata: Sequence[int]) -> list[tuple[str, str, str]]:
    options = json.dumps(list("wxyz"))
    return [
        (f"q{number:03}", options, f"stratum {strata[number % len(strata)]}")
        for number in range(protocol.cases)
    ]


def _list_numbers(
    protocol: Protocol, cases: list[tuple[str, str, str]], arm: str
) -> tuple[int, dict[int, list[AssignedCase]]]:
    lists = blocks.n_lists(protocol, N_LISTS)
    numbers = range(1, max(lists, N_LISTS) + 1)
    places = [ListPlace(arm=arm, number=number, lists=lists) for number in numbers]
    return lists, {place.number: assign_list(cases, protocol, place) for place in places}


def _has_room(protocol: Protocol) -> bool:
    """Return whether every list has enough cases, which is checked when a study is opened."""
    if not protocol.is_incomplete:
        return True
    lists = blocks.n_lists(protocol, N_LISTS)
    smallest = min(blocks.list_size(protocol, number, lists) for number in range(1, lists + 1))
    needed = max(1, protocol.hidden_repeats, *(arm.case_blocks for arm in protocol.by_arm.values()))
    return smallest + protocol.anchor >= needed and (
        protocol.reads_per_case <= N_LISTS or bool(protocol.cases_per_reader)
    )


@settings(max_examples=number_of_examples(100))
@given(designs(), st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_the_lists_of_a_design_satisfy_its_constraints(
    protocol: Protocol, strata: list[int]
) -> None:
    """Each list and all lists together are checked in each arm; they are reproducible."""
    assume(_has_room(protocol))
    cases = _cases(protocol, strata)
    for name, of_arm in protocol.by_arm.items():
        lists, assigned = _list_numbers(protocol, cases, name)
        for entries in assigned.values():
            _assert_list(entries, of_arm)
        last = ListPlace(arm=name, number=max(assigned), lists=lists)
        assert assigned[last.number] == assign_list(cases, protocol, last)
        _assert_dealt(assigned, lists, protocol, cases)


def _assert_list(entries: list[AssignedCase], protocol: Protocol) -> None:
    """Check conditions, sessions, positions and stages of one list."""
    presented = [entry for entry in entries if entry.stage != 1]
    assert [entry.position for entry in presented] == list(range(1, len(presented) + 1))
    own = {entry.item_id for entry in entries}
    n_turns = max(1, protocol.sessions // len(protocol.presented_conditions))
    first = Counter((entry.item_id, entry.condition) for entry in presented)
    n_repeats = len(presented) - len(own) * len(protocol.presented_conditions) * n_turns
    assert all(
        first[item, name] >= n_turns for item in own for name in protocol.presented_conditions
    )
    blocks_read = protocol.sessions if protocol.sessions > 1 else len(protocol.presented_conditions)
    assert n_repeats == protocol.hidden_repeats * blocks_read
    assert {entry.session for entry in entries} == set(range(1, protocol.sessions + 1))
    assert [entry.session for entry in entries] == sorted(entry.session for entry in entries)
    words = [entry.condition == Condition.OPEN_ENDED for entry in presented]
    assert words == sorted(words, reverse=True), "open-ended cases come first"
    _assert_stages(entries, protocol)
    _assert_crossover(presented, own, protocol)


def _assert_stages(entries: list[AssignedCase], protocol: Protocol) -> None:
    sequential = [entry for entry in entries if entry.stage]
    assert bool(sequential) == protocol.is_sequential
    for first, second in zip(sequential[::2], sequential[1::2], strict=True):
        assert (first.stage, first.condition) == (1, Condition.UNAIDED)
        assert (second.stage, second.condition) == (2, Condition.AIDED)
        for shared in ("item_id", "position", "session", "repeat", "shown_order", "block"):
            assert getattr(first, shared) == getattr(second, shared)
    for entry in entries:
        aided = entry.condition == Condition.AIDED or entry.stage == 1
        assert entry.aid == (str(protocol.aid) if aided else "")


def _assert_crossover(presented: list[AssignedCase], own: set[str], protocol: Protocol) -> None:
    """Check that with case blocks each session has every case and each condition for one block."""
    if not protocol.case_blocks:
        return
    for session in range(1, protocol.sessions + 1):
        condition_of = {
            entry.item_id: entry.condition for entry in presented if entry.session == session
        }
        assert set(condition_of) == own
        if Condition.OPEN_ENDED not in condition_of.values():
            sizes = Counter(condition_of.values())
            assert len(sizes) == protocol.case_blocks
            assert max(sizes.values()) - min(sizes.values()) <= 1


def _assert_dealt(
    assigned: dict[int, list[AssignedCase]],
    lists: int,
    protocol: Protocol,
    cases: list[tuple[str, str, str]],
) -> None:
    """Check the cases of incomplete lists: loads, reads, the anchor and strata."""
    own = {number: {entry.item_id for entry in entries} for number, entries in assigned.items()}
    everything = {item_id for item_id, _, _ in cases}
    if not protocol.is_incomplete:
        assert all(items == everything for items in own.values())
        return
    anchor = set.intersection(*own.values()) if protocol.anchor else set()
    in_anchor = {
        entry.item_id for entries in assigned.values() for entry in entries if entry.block == 0
    }
    assert len(in_anchor) == protocol.anchor
    assert in_anchor <= anchor or not protocol.anchor
    loads = [len(items) for items in own.values()]
    assert max(loads) - min(loads) <= 1
    if protocol.cases_per_reader:
        assert max(loads) <= protocol.cases_per_reader
    reads = Counter(item for number in range(1, lists + 1) for item in own[number] - in_anchor)
    counts = {reads[item] for item in everything - in_anchor}
    assert max(counts) - min(counts) <= 1
    if protocol.reads_per_case:
        assert counts == {protocol.reads_per_case}
    stratum_of = {item_id: stratum for item_id, _, stratum in cases}
    sizes = Counter(stratum_of[item] for item in everything - in_anchor)
    n_others = sum(sizes.values())
    for items in own.values():
        others = Counter(stratum_of[item] for item in items - in_anchor)
        for name, n in sizes.items():
            assert abs(others[name] - others.total() * n / n_others) < 2


@settings(max_examples=number_of_examples(100))
@given(st.integers(2, 6), st.integers(0, 5), st.integers(0, 2**63 - 1))
def test_conditions_are_balanced_over_lists(n: int, start: int, seed: int) -> None:
    """The lists of a square are balanced in sessions, over case blocks and in sequence."""
    square = williams_square(n)
    places = Counter((place, number) for row in square for place, number in enumerate(row))
    assert set(places.values()) == {len(square) // n}
    after = Counter(pair for row in square for pair in pairwise(row))
    assert len(after) == n * (n - 1)
    assert len(set(after.values())) == 1
    conditions = [str(name) for name in Condition if name != Condition.OPEN_ENDED][:n]
    if len(conditions) < n:
        return
    protocol = Protocol.from_json(
        {
            "cases": 6 * n,
            "seed": seed,
            "conditions": conditions,
            "aid_model": "m",
            "sessions": n,
        }
    )
    cases = _cases(protocol, [0, 1, 1])
    met: dict[str, Counter[Any]] = defaultdict(Counter)
    for number in range(start * len(square) + 1, (start + 1) * len(square) + 1):
        entries = assign_list(cases, protocol, ListPlace(arm="", number=number, lists=1))
        by_item: dict[str, list[Condition]] = defaultdict(list)
        for entry in entries:
            met["session"][entry.session, entry.item_id, entry.condition] += 1
            by_item[entry.item_id].append(entry.condition)
        met["after"].update(pair for order in by_item.values() for pair in pairwise(order))
    expected = len(square) // n
    assert set(met["session"].values()) == {expected}
    assert len(met["session"]) == n * n * len(cases)
    assert len(set(met["after"].values())) == 1


_readers = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), max_size=40)


@pytest.mark.thorough
@settings(max_examples=number_of_examples(100))
@given(_arms(), _readers, st.integers(0, 2**63 - 1))
def test_readers_are_randomised_in_permuted_blocks_within_level_and_site(
    arms: list[dict[str, Any]], readers: list[tuple[str, str]], seed: int
) -> None:
    """Each block has each arm according to its share; the arms are balanced over strata."""
    arms = [{key: arm[key] for key in ("name", "share")} for arm in arms]
    assume(arms)
    protocol = Protocol.from_json({"arms": arms, "seed": seed})
    before: list[AllocatedReader] = []
    for number, (level, site) in enumerate(readers):
        reader = AllocatedReader(reader_id=f"R{number}", level=level, site=site)
        arm = next_arm(protocol.arms, before, reader, protocol.seed)
        assert arm == next_arm(protocol.arms, before, reader, protocol.seed)
        before.append(AllocatedReader(reader_id=f"R{number}", level=level, site=site, arm=arm))
    share = {arm.name: arm.share for arm in protocol.arms}
    for stratum in {reader.stratum for reader in before}:
        among = (reader.arm for reader in before if reader.stratum == stratum)
        while block := list(islice(among, sum(share.values()))):
            counts = Counter(block)
            if len(block) == sum(share.values()):
                assert counts == share
            assert all(counts[name] <= share[name] for name in counts)
