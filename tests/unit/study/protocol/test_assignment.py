"""Assignments: readers, cases, positions and orders of options, stored before reading."""

import json
from collections import Counter
from dataclasses import asdict

from study.base.bank_model import LETTERS
from study.base.canonical import sha256_of
from study.protocol.assignment import AssignedCase, assign
from study.protocol.protocol import Protocol
from study.reading.records import canonical_letter, shown_letter

CASES = [(f"q{i}", json.dumps(list("wxyz"))) for i in range(30)]


def _assign(reader: str = "R1", index: int = 0, **values: object) -> list[AssignedCase]:
    return list(
        assign(
            CASES,
            Protocol.from_json({"cases": 30, **values}),
            reader_id=reader,
            reader_index=index,
        )
    )


def test_the_random_order_differs_between_readers_and_has_each_case_once() -> None:
    """All readers have the same cases."""
    first, second = _assign("R1"), _assign("R2")
    assert [entry.item_id for entry in first] != [entry.item_id for entry in second]
    assert sorted(entry.item_id for entry in first) == sorted(item for item, _ in CASES)
    assert [entry.position for entry in first] == list(range(1, 31))


def test_the_fixed_order_is_the_order_of_the_draw() -> None:
    """All readers read in the order of case numbers."""
    assert [entry.item_id for entry in _assign(case_order="fixed")] == [item for item, _ in CASES]


def test_hidden_repeats_come_after_the_first_reading_in_the_second_half() -> None:
    """A repeat never precedes its first reading, and is spread over the second half."""
    for seed in range(30):
        assigned = _assign(hidden_repeats=6, seed=seed)
        place = {(entry.item_id, entry.repeat): entry.position for entry in assigned}
        repeats = [item for item, repeat in place if repeat == 2]
        assert len(repeats) == 6
        assert len(assigned) == 36
        for item in repeats:
            assert place[item, 2] > max(place[item, 1], 15)


def test_conditions_are_rotated_over_readers() -> None:
    """Every second reader starts with the other condition."""
    both = ["unaided", "image-absent"]
    firsts = [_assign(f"R{i}", i, conditions=both)[0].condition for i in range(4)]
    assert firsts == ["unaided", "image-absent", "unaided", "image-absent"]
    assert Counter(entry.condition for entry in _assign(conditions=both)) == dict.fromkeys(both, 30)


def test_open_ended_sessions_come_first_for_all_readers() -> None:
    """The conditions with options are rotated as for other studies."""
    three = ["unaided", "open-ended", "image-absent"]
    for index, others in enumerate((["unaided", "image-absent"], ["image-absent", "unaided"])):
        assigned = _assign(f"R{index}", index, conditions=three, sessions=6)
        by_session = {entry.session: entry.condition for entry in assigned}
        assert list(by_session.values()) == ["open-ended"] * 2 + others * 2
        in_one = [entry.condition for entry in _assign(f"R{index}", index, conditions=three)]
        assert list(dict.fromkeys(in_one)) == ["open-ended", *others]


def test_lists_without_open_ended_cases_are_those_of_the_previous_version() -> None:
    """The hash was computed with the version before open-ended cases."""
    values = {"conditions": ["unaided", "image-absent"], "sessions": 4, "hidden_repeats": 3}
    assigned = [entry for i in range(3) for entry in _assign(f"R{i}", i, **values)]
    assert {(entry.block, entry.stage, entry.aid) for entry in assigned} == {(None, 0, "")}
    lists = [
        {
            name: value
            for name, value in asdict(entry).items()
            if name not in ("block", "stage", "aid")
        }
        for entry in assigned
    ]
    assert sha256_of(lists) == "9fcdeb7a37efdc0a3063f93a6a53c80485fe675b123289afc4bc71e96be14d27"


def test_the_order_of_options_is_canonical_by_default() -> None:
    """Each shuffled letter is converted to the canonical letter."""
    assert {entry.shown_order for entry in _assign()} == {"ABCD"}
    orders = [entry.shown_order for entry in _assign(option_order="random")]
    assert len(set(orders)) > 10
    for order in orders:
        assert sorted(order) == list("ABCD")
        for letter in LETTERS[:4]:
            assert shown_letter(canonical_letter(letter, order), order) == letter
