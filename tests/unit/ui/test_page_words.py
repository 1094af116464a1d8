"""Pages use their own terms, and all times on them state their time zone."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from study.base.translation import in_language, languages
from study.protocol import contradictions
from study.protocol.contradictions import RULES, Rule
from study.protocol.protocol import Protocol, faults_of
from tests.conftest import ROOT
from ui.parts.protocol_words import in_page_words, setting_labels

AIDED = {"conditions": ["aided"], "aid_model": "m"}
WRONG = (
    {"cases": 0, "sessions": 99, "age": [5], "sex": ["X"], "practice_cases": -1},
    {"cases": 5, "hidden_repeats": 9, "back_navigation": True, "feedback": "after case"},
    {"cases": 5, "endpoint": "AUC", "bundle_extras": ["questionnaire texts"]},
    {"cases": 5, "score_card": "peers", "sessions": 3, "conditions": ["unaided", "image-absent"]},
    {"cases": 5, "allocation": {"a": 3}, "stratify_by": []},
    {"cases": 5, "only_items": ["a"], "without_items": ["a"]},
    {"cases": 9, "anchor": 9, "reads_per_case": 2},
    {"cases": 1, "conditions": ["wrong-image"]},
    {"cases": 9, "conditions": ["aided"]},
    {"cases": 9, "aid_model": "m", "aid_errors": 10},
    {"cases": 9, **AIDED, "aid": "after", "back_navigation": True},
    {"cases": 9, **AIDED, "aid_shows": ["confidence"], "aid_errors": 2},
    {"cases": 9, **AIDED, "aid_shows": ["answer", "explanation"], "aid_errors": 2},
    {"confidence": 5, "endpoint": "pair-weighted AUC", "claim_about": "these readers"},
    {"conditions": ["open-ended"], "endpoint": "accuracy"},
    {"conditions": ["unaided", "open-ended"], "back_navigation": True},
    {"conditions": ["unaided", "aided"], "aid_model": "m", "back_navigation": True},
    {"cases": 9, "anchor": 2},
    {"cases": 9, "cases_per_reader": 10},
    {"cases": 9, "cases_per_reader": 2, "anchor": 2},
    {"cases": 9, "cases_per_reader": 2, "hidden_repeats": 3},
    {"cases": 2, "sessions": 4, "conditions": ["unaided", "image-absent", "open-ended", "aided"]},
    {"session_feedback": True},
    {"cases": 9, "session_feedback": True, "sessions": 2},
    {"session_feedback": True, "sessions": 2, "back_navigation": True},
)


def _sources() -> list[Path]:
    folders = ("pages", "ui", "study")
    return sorted(path for name in folders for path in (ROOT / name).rglob("*.py"))


def test_every_setting_of_a_protocol_has_a_label() -> None:
    """Error messages use the label, so a new key needs one."""
    assert set(setting_labels()) == {*Protocol().in_full(), "bank"}


def test_every_rule_on_several_keys_is_broken_by_an_example(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The following test reads their messages."""
    unbroken = set(range(len(RULES)))

    def noted(number: int, rule: Rule) -> Rule:
        def fault(_: Protocol) -> str:
            unbroken.discard(number)
            return ""

        return replace(rule, fault=fault)

    rules = tuple(noted(number, rule) for number, rule in enumerate(RULES))
    monkeypatch.setattr(contradictions, "RULES", rules)
    for values in WRONG:
        faults_of(values)
    assert not [sorted(RULES[number].keys) for number in unbroken]


@pytest.mark.parametrize("name", languages())
@pytest.mark.parametrize("values", WRONG, ids=str)
def test_error_messages_of_pages_contain_no_keys_of_the_protocol_file(
    values: dict[str, object], name: str
) -> None:
    """In English, keys that are words are searched where a message asks to change them."""
    with in_language(name):
        faults = [in_page_words(fault) for fault in faults_of(values)]
        labels = setting_labels()
    assert faults
    keys = [key for key in labels if name != "en" or "_" in key or key == "anchor"]
    asked = rf"(?:[Ss]et|[Ii]ncrease|[Rr]educe|[\"”] to) (?:{'|'.join(labels)})\b"
    for fault in faults:
        assert not re.search(rf"(?<![\w“])(?:{'|'.join(keys)})(?!\w)", fault), fault
        assert not re.search(r'["„][a-z -]+["“]', fault), fault
        assert not re.search(asked, fault), fault


def test_no_message_writes_a_plural_in_brackets() -> None:
    """Messages such as “2 error(s)” use `tn` or a colon instead."""
    plurals = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in _sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"[a-z]{2}\(s\)", node.value)
    ]
    assert not plurals


def test_headings_of_time_columns_name_the_zone() -> None:
    """`minute` and `until` add the zone themselves; headings of tables have to contain it."""
    unnamed = []
    for path in [source for source in _sources() if ROOT / "study" not in source.parents]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Dict):
                continue
            for key, value in zip(node.keys, node.values, strict=True):
                called = {
                    call.func.id
                    for call in ast.walk(value)
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
                }
                head = ast.unparse(key) if key else ""
                if "instant" in called and not re.search(r"\(UTC\)|\{zone\}", head):
                    unnamed.append(f"{path.relative_to(ROOT)}: {head}")
    assert not unnamed
