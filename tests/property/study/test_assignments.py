"""Assignments of random protocols follow all rules, and no answer avoids the wash-out."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from study.base.canonical import moment, random_key, shuffled
from study.lifecycle import studies
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.protocol.assignment import AssignedCase, assign
from study.protocol.protocol import Protocol
from study.reading import desk
from study.store import Store, Transaction
from study.trail.verification import verify
from tests.conftest import (
    ACTING,
    NOW,
    bank_store,
    entropy_from,
    number_of_examples,
    open_trial,
    person,
    presentation,
    reading,
)


@st.composite
def _protocols(draw: st.DrawFn) -> Protocol:
    every = ["unaided", "image-absent", "open-ended"]
    conditions = draw(st.permutations(every).flatmap(_beginnings))
    turns = draw(st.integers(0, 3))
    cases = draw(st.integers(1, 16))
    return Protocol.from_json(
        {
            "cases": cases,
            "seed": draw(st.integers(-(2**63), 2**63 - 1)),
            "conditions": conditions,
            "sessions": len(conditions) * turns or 1,
            "hidden_repeats": draw(st.integers(0, cases)),
            "case_order": draw(st.sampled_from(["random", "fixed"])),
            "option_order": draw(st.sampled_from(["canonical", "random"])),
        }
    )


def _beginnings(conditions: list[str]) -> st.SearchStrategy[list[str]]:
    return st.integers(1, len(conditions)).map(lambda n: conditions[:n])


def _cases(n: int) -> list[tuple[str, str]]:
    return [(f"q{i}", json.dumps(list("stuvwxyz"[: 2 + i % 7]))) for i in range(n)]


@pytest.mark.thorough
@settings(max_examples=number_of_examples(400))
@given(_protocols(), st.integers(1, 3))
def test_an_assignment_follows_all_rules(protocol: Protocol, n_readers: int) -> None:
    """Assignments are complete, balanced, in whole sessions and reproducible."""
    cases = _cases(protocol.cases)
    blocks: list[list[str]] = []
    for index in range(n_readers):
        values: dict[str, Any] = {"reader_id": f"R{index}", "reader_index": index}
        assigned = assign(cases, protocol, **values)
        assert assigned == assign(cases, protocol, **values)
        _assert_placed(assigned, cases, protocol)
        complete = [_assert_block(block, protocol) for block in _blocks(assigned)]
        assert [session for session, _ in complete] == sorted(session for session, _ in complete)
        read = [condition for _, condition in complete]
        n_open = read.count("open-ended")
        assert set(read[:n_open]) <= {"open-ended"}, "words come before any option"
        blocks.append(read[n_open:])
        if protocol.sessions == 1 and not n_open:
            assert assigned == _of_the_release_before(cases, protocol, **values)
    for conditions in zip(*blocks, strict=True):
        met = Counter(conditions)
        counts = [met[condition] for condition in protocol.conditions if condition != "open-ended"]
        assert max(counts) - min(counts) <= 1


def _blocks(assigned: list[AssignedCase]) -> list[list[AssignedCase]]:
    return [
        list(block)
        for _, block in groupby(assigned, lambda entry: (entry.session, entry.condition))
    ]


def _assert_placed(
    assigned: list[AssignedCase], cases: list[tuple[str, str]], protocol: Protocol
) -> None:
    """Check the complete list of a reader."""
    blocks = max(protocol.sessions, len(protocol.conditions))
    assert len(assigned) == blocks * (protocol.cases + protocol.hidden_repeats)
    assert [entry.position for entry in assigned] == list(range(1, len(assigned) + 1))
    assert {entry.session for entry in assigned} == set(range(1, protocol.sessions + 1))
    n_options = {item_id: len(json.loads(options)) for item_id, options in cases}
    met: Counter[tuple[str, str]] = Counter()
    for entry in assigned:
        met[entry.item_id, entry.condition] += 1
        assert entry.repeat == met[entry.item_id, entry.condition], "repeats count in reading order"
        letters = "ABCDEFGH"[: n_options[entry.item_id]]
        assert sorted(entry.shown_order) == list(letters)
        assert protocol.option_order == "random" or entry.shown_order == letters


def _assert_block(block: list[AssignedCase], protocol: Protocol) -> tuple[int, str]:
    """Check that a block has each case once, and its hidden repeats late and after the first."""
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(block, start=1):
        places.setdefault(entry.item_id, []).append(place)
    assert len(places) == protocol.cases
    repeated = [place for place in places.values() if len(place) > 1]
    assert len(repeated) == protocol.hidden_repeats
    for result in repeated:
        assert len(result) == 2
        assert result[1] > protocol.cases // 2
    return block[0].session, block[0].condition


def _of_the_release_before(
    cases: list[tuple[str, str]], protocol: Protocol, *, reader_id: str, reader_index: int
) -> list[AssignedCase]:
    """Return a reader's list as computed by the last version with a single session."""
    seed, letters = protocol.seed, {item_id: len(json.loads(entry)) for item_id, entry in cases}
    turn = reader_index % len(protocol.conditions)
    places = []
    for condition in [*protocol.conditions[turn:], *protocol.conditions[:turn]]:
        whose = f"{reader_id}/{condition}"
        order = list(letters)
        if protocol.case_order == "random":
            order = shuffled(order, seed=seed, purpose=f"case order/{whose}")
        block = [(item_id, 1) for item_id in order]
        early = order[: max(len(order) // 2, protocol.hidden_repeats)]
        for item_id in shuffled(early, seed=seed, purpose=f"hidden repeats/{whose}")[
            : protocol.hidden_repeats
        ]:
            start = max(len(block) // 2, block.index((item_id, 1)) + 1)
            drawn = int(random_key(item_id, seed=seed, purpose=f"repeat place/{whose}"), 16)
            block.insert(start + drawn % (len(block) - start + 1), (item_id, 2))
        places += [(item_id, condition, repeat) for item_id, repeat in block]
    result = []
    for position, (item_id, condition, repeat) in enumerate(places, start=1):
        order_shown = "ABCDEFGH"[: letters[item_id]]
        if protocol.option_order == "random":
            purpose = f"option order/{reader_id}/{item_id}/{condition}/{repeat}"
            order_shown = "".join(shuffled(order_shown, seed=seed, purpose=purpose))
        result.append(
            AssignedCase(
                item_id=item_id,
                condition=condition,
                session=1,
                repeat=repeat,
                position=position,
                shown_order=order_shown,
            )
        )
    return result


WASH_OUT = timedelta(days=2)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return an open study of three sessions, which is verified at the end."""
    store = bank_store(tmp_path_factory.mktemp("sessions"))
    values = {"cases": 3, "sessions": 3, "washout_days": 2, "hidden_repeats": 1}
    open_trial(store, {**values, "back_navigation": True, "one_question_per": "item"}, "R0")
    with store.kept_open():
        yield store
    assert verify(store) == []


_steps = st.tuples(
    st.one_of(st.integers(0, 60), st.integers(0, 3 * 86_400)),
    st.sampled_from(["next", "next", "next", "any", "again"]),
    st.integers(0, 11),
)


@pytest.mark.thorough
@settings(max_examples=number_of_examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_steps, min_size=8, max_size=24))
def test_no_sequence_of_answers_shows_a_case_before_its_wash_out(
    opened: Store, schedule: list[tuple[int, str, int]]
) -> None:
    """Random answers to the next case, any case of the list, and changed answers are sent."""
    with opened.look() as look:
        number = look.value("SELECT count(*) FROM readers")
    name = f"R{number}"
    studies.invite(
        opened,
        study="trial",
        invitations=[Invitation(reader_id=name)],
        codes=[new_code(entropy_from(number))],
        acting=ACTING,
    )
    reader, now = person(opened, name), NOW
    with opened.look() as look:
        cases = [row["id"] for row in _rows(look, name)]
    for step, (seconds, what, place) in enumerate(schedule):
        now += timedelta(seconds=seconds)
        for entry in desk.desk(opened, reader, now=now).cases if what == "next" else ():
            desk.take_records(opened, reader, [presentation(entry.case, now)], now=now)
            now += timedelta(seconds=seconds % 7)
            desk.take_records(opened, reader, [_reading(entry.case, now)], now=now)
        with opened.look() as look:
            read = look.value("SELECT id FROM readings WHERE assignment = :c", c=cases[place])
        changed = {"id": f"{what}-{name}-{step}", "supersedes": read if what == "again" else None}
        sent = [presentation(cases[place], now), _reading(cases[place], now, **changed)]
        desk.take_records(opened, reader, sent, now=now)
    with opened.look() as look:
        _assert_rested(_rows(look, name))


def _reading(case: str, now: datetime, **changed: Any) -> dict[str, Any]:
    at_ms = now.timestamp() * 1000
    return reading(case, presented_epoch_ms=at_ms - 1000, committed_epoch_ms=at_ms, **changed)


def _rows(look: Transaction, name: str) -> list[dict[str, Any]]:
    return look.rows(
        "SELECT assignments.id, session, case_id, presentations.received_at_utc AS shown, "
        "max(readings.received_at_utc) AS read FROM assignments "
        "JOIN readers ON readers.id = reader "
        "LEFT JOIN presentations ON presentations.assignment = assignments.id "
        "LEFT JOIN readings ON readings.assignment = assignments.id WHERE reader_id = :name "
        "GROUP BY assignments.id ORDER BY assignments.position",
        name=name,
    )


def _assert_rested(rows: list[dict[str, Any]]) -> None:
    for early in rows:
        for late in rows:
            same = early["case_id"] == late["case_id"] and early["session"] < late["session"]
            if same and late["shown"]:
                assert early["read"], "the session before was not read to its end"
                assert moment(late["shown"]) - moment(early["read"]) >= WASH_OUT
