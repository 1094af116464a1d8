"""All errors in a protocol are listed: unknown keys, invalid values, contradictions."""

from typing import Any

import pytest

from study.protocol.contradictions import RULES
from study.protocol.protocol import Protocol, faults_of

AIDED: dict[str, Any] = {"conditions": ["unaided", "aided"], "aid_model": "m"}

CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"endpoint": "AUC"}, "endpoint is AUC, which needs confidence"),
    (
        {"endpoint": "pair-weighted accuracy", "claim_about": "these readers"},
        "endpoint is pair-weighted accuracy, which is about readers like these",
    ),
    ({"bundle_extras": ["questionnaire texts"]}, 'bundle_extras has "questionnaire texts"'),
    ({"score_card": "peers"}, 'score_card is "peers"'),
    ({"allocation": {"a": 1}, "cases": 2}, "allocation adds up to 1, but cases = 2"),
    (
        {"allocation": {"a": 200}, "stratify_by": []},
        "allocation names strata, but stratify_by is empty",
    ),
    ({"only_items": ["q1"]}, "only_items names 1 questions, fewer than cases = 200"),
    (
        {"only_items": ["q1"], "without_items": ["q1"], "cases": 1},
        "only_items and without_items both name q1",
    ),
    ({"hidden_repeats": 201}, "hidden_repeats = 201 is more than cases = 200"),
    (
        {"back_navigation": True, "feedback": "after case"},
        "back_navigation with feedback after each case",
    ),
    ({"feedback": "after case", "hidden_repeats": 1}, "would show a case again"),
    (
        {"conditions": ["open-ended"], "endpoint": "accuracy"},
        "the only condition is open-ended",
    ),
    (
        {"conditions": ["unaided", "open-ended"], "back_navigation": True},
        "back_navigation with open-ended",
    ),
    (
        {"conditions": ["unaided", "image-absent"], "sessions": 3},
        "sessions = 3, but there are 2 conditions",
    ),
    (
        {**AIDED, "back_navigation": True},
        "change their unaided answers after seeing the model's. Set sessions to 2",
    ),
    (
        {**AIDED, "aid": "after", "back_navigation": True},
        'back_navigation with aid = "after" would let readers change first answers',
    ),
    ({"conditions": ["aided"]}, 'conditions has "aided", but aid_model is empty'),
    ({"aid_model": "m"}, "aid_model is set, but no condition is aided"),
    ({**AIDED, "cases": 5, "aid_errors": 6}, "aid_errors = 6 is more than cases = 5"),
    (
        {**AIDED, "aid_errors": 1, "aid_shows": ["map"]},
        "aid_shows does not include the answer",
    ),
    (
        {**AIDED, "aid_errors": 1, "aid_shows": ["answer", "explanation"]},
        "the model's explanation of a correct answer",
    ),
    ({"conditions": ["wrong-image"], "cases": 1}, "needs the images of another case"),
    ({"anchor": 3}, "anchor = 3, but every reader reads every case"),
    (
        {"anchor": 9, "cases": 9, "reads_per_case": 2},
        "anchor = 9 leaves none of cases = 9 to be shared among readers",
    ),
    ({"cases_per_reader": 201}, "cases_per_reader = 201 is more than cases = 200"),
    (
        {"cases_per_reader": 3, "anchor": 3},
        "cases_per_reader = 3 leaves no case in addition to anchor = 3",
    ),
    (
        {"cases_per_reader": 3, "hidden_repeats": 4},
        "hidden_repeats = 4 is more than cases_per_reader = 3",
    ),
    (
        {**AIDED, "sessions": 2, "cases": 1},
        "The 1 cases of a reader cannot be divided into 2 blocks",
    ),
    ({"session_feedback": True}, "session_feedback is given between sessions, but sessions = 1"),
    (
        {"session_feedback": True, "sessions": 2, "cases": 19},
        "session_feedback with 19 cases per reader",
    ),
    (
        {"session_feedback": True, "sessions": 2, "back_navigation": True},
        "session_feedback with back_navigation",
    ),
]


@pytest.mark.parametrize(
    ("values", "words"), CONTRADICTIONS, ids=[words for _, words in CONTRADICTIONS]
)
def test_a_contradiction_is_listed_with_errors_of_other_keys(
    values: dict[str, Any], words: str
) -> None:
    """The other error is an invalid value or an unknown key."""
    for other in ({}, {"margin": 7}, {"colour": "red"}, {"margin": 7, "colour": "red"}):
        faults = faults_of({**values, **other})
        assert any(words in fault for fault in faults), faults
        assert len(faults) == 1 + len(other)


def test_every_rule_has_an_example() -> None:
    """Each example breaks a single rule."""
    assert len(CONTRADICTIONS) == len(RULES)
    assert all(rule.keys <= set(Protocol().in_full()) for rule in RULES)


@pytest.mark.parametrize("invalid_values", [{"cases": 0}, {"cases": "many"}])
def test_a_rule_about_an_invalid_key_is_not_applied(invalid_values: dict[str, Any]) -> None:
    """The default value for an invalid key does not cause a contradiction."""
    assert len(faults_of({"hidden_repeats": 300, **invalid_values})) == 1


def test_an_unknown_key_is_reported_with_a_similar_key() -> None:
    """The message does not list all keys; `case = 10` causes no contradiction about `cases`."""
    (fault,) = faults_of({"case": 10, "hidden_repeats": 300})
    assert fault == "case: unknown key. Did you mean cases?"
    (fault,) = faults_of({"Time-Limit": 10})
    assert fault.endswith("Did you mean time_limit_s?")
    (fault,) = faults_of({"xyzzy": 1})
    assert fault == "xyzzy: unknown key. docs/protocol.md lists the keys."


@pytest.mark.parametrize(
    ("values", "nearest"),
    [
        ({"endpoint": "acuracy"}, "accuracy"),
        ({"case_order": "Random"}, "random"),
        ({"stratify_by": ["tasks"]}, "task"),
        ({"conditions": ["image absent"]}, "image-absent"),
        (
            {"questionnaire": [{"id": "q", "question": "?", "kind": "text", "optons": []}]},
            "options",
        ),
    ],
)
def test_an_unknown_value_is_reported_with_a_similar_value(
    values: dict[str, Any], nearest: str
) -> None:
    """Values in lists and in the questionnaire are included."""
    assert any(fault.endswith(f"Did you mean {nearest}?") for fault in faults_of(values))


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ([{"name": "a"}], "must be a list of 2 to 10 arms"),
        ([{"name": "a"}, {"name": "B "}], "Arm 2: name begins or ends with a space."),
        ([{"name": "a"}, {"name": "A"}], "Two arms are named A. Rename one."),
        ([{"name": "a"}, {}], "Arm 2: name is missing. Name the arm."),
        (
            [{"name": "a"}, {"name": "b", "share": 0}],
            "Arm 2: share is 0, so the arm has no readers",
        ),
        ([{"name": "a"}, {"name": "b", "shares": 2}], "Did you mean share?"),
        (
            [{"name": "a"}, {"name": "b", "conditions": ["seen"]}],
            "Arm 2: conditions must be a list",
        ),
        ([{"name": "a"}, {"name": "b", "conditions": ["aided"]}], "but aid_model is empty"),
        ([{"name": "a"}, {"name": "b", "aid": "after"}], "aid is set, but no condition is aided"),
    ],
)
def test_invalid_arms_are_reported(arms: list[dict[str, Any]], words: str) -> None:
    """Invalid values and contradictions with other keys are reported."""
    (fault,) = faults_of({"arms": arms})
    assert words in fault


def test_the_proposed_number_of_sessions_suits_all_arms() -> None:
    """The number is a multiple of the number of conditions in each arm."""
    arms = [
        {"name": "a", "conditions": ["unaided", "image-absent"]},
        {"name": "b", "conditions": ["unaided", "image-absent", "wrong-image"]},
    ]
    (fault,) = faults_of({"arms": arms, "sessions": 4})
    assert "sessions = 4, but there are 3 conditions" in fault
    assert "Set it to 6" in fault
    assert not faults_of({"arms": arms, "sessions": 6})
