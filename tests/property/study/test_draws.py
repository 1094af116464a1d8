"""Draws and assignments of random protocols follow their rules."""

import json
import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from study.base.canonical import canonical_json
from study.base.errors import BadInput
from study.protocol.assignment import assign
from study.protocol.protocol import Protocol
from study.protocol.sampling import draw_practice
from tests.drawable_items import Drawable, draw_from, for_practice

_candidates = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 12), st.sampled_from(["male", "female", ""])),
    min_size=1,
    max_size=60,
).map(
    lambda rows: [
        Drawable(
            item_id=f"q{i}",
            examination_id=f"e{patient}",
            patient_id=f"p{patient // 2}",
            strata={"task": task, "sex": sex},
        )
        for i, (task, patient, sex) in enumerate(rows)
    ]
)
_protocols = st.fixed_dictionaries(
    {
        "cases": st.integers(1, 20),
        "seed": st.integers(-(2**40), 2**40),
        "stratify_by": st.sampled_from([[], ["task"], ["task", "sex"]]),
        "allocation": st.sampled_from(["proportional", "equal"]),
        "one_question_per": st.sampled_from(["patient", "examination", "item"]),
        "case_order": st.sampled_from(["random", "fixed"]),
        "option_order": st.sampled_from(["random", "canonical"]),
        "conditions": st.sampled_from([["unaided"], ["image-absent", "unaided"]]),
        "hidden_repeats": st.integers(0, 1),
    }
).map(Protocol.from_json)


@given(_candidates, _protocols)
def test_a_draw_follows_its_rules_or_is_refused(
    candidates: list[Drawable], protocol: Protocol
) -> None:
    """It has the requested number, no repeated unit and the reported strata."""
    by_id = {candidate.item_id: candidate for candidate in candidates}
    try:
        drawn = draw_from(candidates, protocol)
    except BadInput:
        return
    assert len(drawn.cases) == protocol.cases
    units = Counter(by_id[item].unit(protocol) for item, _ in drawn.cases)
    assert max(units.values()) == 1
    n_by_stratum = Counter(stratum for _, stratum in drawn.cases)
    assert {
        strata.name: strata.n_drawn for strata in drawn.strata if strata.n_drawn
    } == n_by_stratum
    for entry in drawn.strata:
        assert math.isnan(entry.half_width) == (entry.n_drawn == 0)


@given(_candidates, _protocols)
def test_a_draw_without_strata_fails_only_if_units_are_too_few(
    candidates: list[Drawable], protocol: Protocol
) -> None:
    """A draw without strata is refused only if there are fewer units than cases."""
    protocol = Protocol.from_json({**protocol.as_json(), "stratify_by": []})
    n_units = len({candidate.unit(protocol) for candidate in candidates})
    try:
        draw_from(candidates, protocol)
    except BadInput:
        assert n_units < protocol.cases
    else:
        assert n_units >= protocol.cases


@given(_candidates, _protocols, st.integers(1, 4), st.sets(st.integers(0, 59)))
def test_practice_cases_are_from_other_patients(
    candidates: list[Drawable], protocol: Protocol, n_practice: int, unknown: set[int]
) -> None:
    """Each is of another patient and has a reference standard; too few are refused."""
    protocol = Protocol.from_json({**protocol.as_json(), "practice_cases": n_practice})
    try:
        sample = {item for item, _ in draw_from(candidates, protocol).cases}
    except BadInput:
        return
    with_truth = {entry.item_id for i, entry in enumerate(candidates) if i not in unknown}
    by_id = {candidate.item_id: candidate for candidate in candidates}
    taken = {by_id[item].patient_id for item in sample}
    free = {
        candidate.patient_id for candidate in candidates if candidate.item_id in with_truth
    } - taken
    try:
        drawn = draw_practice(for_practice(candidates), with_truth, sample, protocol)
    except BadInput:
        assert len(free) < n_practice
        return
    patients = [by_id[item].patient_id for item in drawn]
    assert len(set(patients)) == len(drawn) == n_practice
    assert set(patients) <= free
    assert set(drawn) <= with_truth


@given(st.lists(st.sampled_from(["e1", "e2", "e3"]), min_size=2, max_size=12))
def test_practice_cases_are_from_other_examinations_without_patients(
    examinations: list[str],
) -> None:
    """In a bank without patients, examinations distinguish items."""
    candidates = [
        Drawable(item_id=f"q{i}", examination_id=name, patient_id="", strata={"task": "a"})
        for i, name in enumerate(examinations)
    ]
    protocol = Protocol.from_json({"cases": 1, "practice_cases": 1})
    sample = {item for item, _ in draw_from(candidates, protocol).cases}
    by_id = {candidate.item_id: candidate.examination_id for candidate in candidates}
    try:
        (drawn,) = draw_practice(for_practice(candidates), set(by_id), sample, protocol)
    except BadInput:
        assert len(set(examinations)) == 1
        return
    assert by_id[drawn] not in {by_id[item] for item in sample}


@given(_protocols, st.integers(1, 25), st.text(min_size=1, max_size=5), st.integers(0, 9))
def test_an_assignment_has_each_case_once_per_condition_and_repeat(
    protocol: Protocol, n_cases: int, reader_id: str, index: int
) -> None:
    """Positions are consecutive; each case occurs once in each condition, except repeats."""
    cases = [(f"q{i}", json.dumps(list("wxyz")[: 2 + i % 3])) for i in range(n_cases)]
    assigned = assign(cases, protocol, reader_id=reader_id, reader_index=index)
    assert [entry.position for entry in assigned] == list(range(1, len(assigned) + 1))
    keys = [(entry.item_id, entry.condition, entry.repeat) for entry in assigned]
    assert len(set(keys)) == len(keys)
    for condition in protocol.conditions:
        firsts = {item for item, place, repeat in keys if place == condition and repeat == 1}
        assert firsts == {item for item, _ in cases}
        repeats = sum(place == condition and repeat == 2 for _, place, repeat in keys)
        assert repeats == min(protocol.hidden_repeats, n_cases)
    for entry in assigned:
        n_options = 2 + int(entry.item_id[1:]) % 3
        assert sorted(entry.shown_order) == list("ABCD"[:n_options])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_canonical_json_is_canonical(value: object) -> None:
    """Reading and writing it again gives the same text."""
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text
