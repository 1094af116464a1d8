"""Before the draw, a design is described: sessions of each reader, and confounded effects."""

import pytest

from study.protocol.outline import confounded_effects, outline_lists
from study.protocol.protocol import Condition, Protocol

UNAIDED, AIDED = Condition.UNAIDED, Condition.AIDED


def protocol(**keys: object) -> Protocol:
    """Return a protocol of 40 cases."""
    return Protocol.from_json({"cases": 40, "option_order": "random", "washout_days": 0, **keys})


def counts(**keys: object) -> list[list[dict[tuple[Condition, bool], int]]]:
    """Return the number of cases by list, session and condition."""
    lists = outline_lists(protocol(**keys), n_readers=4)
    return [[dict(session) for session in each.sessions.values()] for each in lists]


def test_without_an_aid_each_session_has_one_condition() -> None:
    first, second, *_ = counts(conditions=["unaided", "image-absent"], sessions=2)
    assert first == [{(UNAIDED, False): 40}, {(Condition.IMAGE_ABSENT, False): 40}]
    assert second == first[::-1]


def test_a_crossover_divides_the_cases_of_each_session_among_the_conditions() -> None:
    first, *_ = counts(conditions=["unaided", "aided"], aid_model="M", sessions=2)
    assert all(session == {(UNAIDED, False): 20, (AIDED, False): 20} for session in first)


def test_sequential_reading_has_both_stages_of_every_case() -> None:
    assert counts(conditions=["aided"], aid="after", aid_model="M")[0] == [
        {(UNAIDED, False): 40, (AIDED, True): 40}
    ]


def test_each_arm_has_separate_lists() -> None:
    arms = [{"name": "control", "conditions": ["unaided"]}, {"name": "AI", "share": 3}]
    lists = outline_lists(protocol(arms=arms, conditions=["aided"], aid_model="M"), n_readers=4)
    assert [each.arm for each in lists] == ["control", "AI", "AI", "AI"]
    assert dict(lists[0].sessions[1]) == {(UNAIDED, False): 40}


def test_an_incomplete_design_has_the_anchor_and_a_share_of_the_other_cases() -> None:
    assert counts(anchor=8, reads_per_case=2) == [[{(UNAIDED, False): 24}]] * 4


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ({"conditions": ["aided"], "aid": "after", "aid_model": "M"}, "Sequential"),
        ({"conditions": ["open-ended", "unaided"]}, "Open-ended"),
        ({"conditions": ["unaided", "image-absent"]}, "One session"),
        ({"conditions": ["unaided", "image-absent"], "sessions": 2}, "Sessions"),
        ({"conditions": ["unaided", "image-absent"], "sessions": 2}, "Order"),
        ({"arms": [{"name": "a"}, {"name": "b"}]}, "Arms"),
        ({"reads_per_case": 2}, "No anchor"),
        ({"case_order": "fixed"}, "Case order"),
        ({"option_order": "canonical"}, "Option order"),
    ],
)
def test_each_confounded_effect_is_reported(keys: dict[str, object], word: str) -> None:
    sentences = confounded_effects(protocol(**keys), n_readers=5)
    assert [sentence for sentence in sentences if sentence.startswith(word)], sentences


def test_a_simple_study_has_no_confounded_effects() -> None:
    assert confounded_effects(protocol(), n_readers=5) == []
