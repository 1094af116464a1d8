"""Every fault of a protocol at once: unknown keys, values, and contradictions between keys."""

from typing import Any

import pytest

from study.protocol.contradictions import RULES
from study.protocol.protocol import Protocol, faults_of

BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"endpoint": "AUC"}, "endpoint is AUC, which needs confidence"),
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
    ({"conditions": ["aided"]}, "this release cannot run that yet"),
]


@pytest.mark.parametrize(("values", "words"), BROKEN, ids=[words for _, words in BROKEN])
def test_a_contradiction_is_listed_beside_faults_of_other_keys(
    values: dict[str, Any], words: str
) -> None:
    """Alone, beside a value that is wrong, and beside a key that does not exist."""
    for other in ({}, {"margin": 7}, {"colour": "red"}, {"margin": 7, "colour": "red"}):
        faults = faults_of({**values, **other})
        assert any(words in fault for fault in faults), faults
        assert len(faults) == 1 + len(other)


def test_every_rule_has_an_example() -> None:
    """And each example breaks one rule."""
    assert len(BROKEN) == len(RULES)
    assert all(rule.keys <= set(Protocol().in_full()) for rule in RULES)


@pytest.mark.parametrize("faulty", [{"cases": 0}, {"cases": "many"}])
def test_a_rule_about_a_faulty_key_is_not_applied(faulty: dict[str, Any]) -> None:
    """The default in its place would be contradicted by what nobody wrote."""
    assert len(faults_of({"hidden_repeats": 300, **faulty})) == 1


def test_an_unknown_key_names_the_nearest_and_stands_for_it() -> None:
    """Not all 45 keys; and `case = 10` contradicts nothing about `cases`."""
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
def test_an_unknown_value_names_the_nearest(values: dict[str, Any], nearest: str) -> None:
    """In lists and in the questionnaire too."""
    assert any(fault.endswith(f"Did you mean {nearest}?") for fault in faults_of(values))
