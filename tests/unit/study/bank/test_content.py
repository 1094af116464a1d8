"""The rules on content: the findings they report, and the questions they accept."""

from typing import Any

import pytest

from study.bank.content import RuleFinding, check_content
from study.bank.managing import content_findings
from study.base.bank_model import Item, Question, Rule
from study.store import Store, banks

_VALID_QUESTION = Question(
    item_id="q1",
    question="What is seen at the left base?",
    options=("Effusion", "Nothing", "Consolidation"),
    truth="A",
    examination_id="e1",
    patient_id="p1",
    labels=("PA",),
    split="",
)


def _item(item_id: str = "q1", **values: Any) -> Question:
    return _VALID_QUESTION._replace(item_id=item_id, **values)


def _findings_by_rule(*items: Question) -> dict[Rule, list[str]]:
    reported = check_content(sorted(items, key=lambda item: item.examination_id))
    return {finding.rule: [key for key, _ in finding.examples] for finding in reported}


@pytest.mark.parametrize(
    ("question", "options", "truth", "is_reported"),
    [
        (
            "Where is the pleural effusion, given left effusions?",
            ("Left effusion", "Right"),
            "A",
            True,
        ),
        ("Is the Pneumothorax large?", ("pneumothorax.", "Oedema"), "A", True),
        ("Is the pneumothorax large?", ("Pneumothorax", "Oedema"), "B", False),
        ("Left or right?", ("Left", "Right"), "A", False),
        ("Is there no effusion?", ("No", "Yes"), "A", False),
        ("Is there a hydropneumothorax?", ("Pneumothorax", "Oedema"), "A", False),
        ("Is there a pleural effusion?", ("Pleural effusion", "Effusion"), "A", False),
        ("A mass?", ("Mas", "Oedema"), "A", False),
    ],
)
def test_a_question_that_contains_its_answer_is_reported(
    question: str, options: tuple[str, ...], truth: str, *, is_reported: bool
) -> None:
    reported = _findings_by_rule(_item(question=question, options=options, truth=truth))
    assert reported == ({Rule.ANSWERED: ["q1"]} if is_reported else {})


@pytest.mark.parametrize(
    ("question", "labels", "is_reported"),
    [
        ("What does the lateral view show?", ("PA",), True),
        ("What does the lateral view show?", ("PA", "LEFT LATERAL"), False),
        ("What does the lateral view show?", ("PA", ""), False),
        ("What does the lateral view show?", ("ERECT",), False),
        ("Is the lateral costophrenic angle blunted?", ("PA",), False),
        ("Is the retrosternal clear space filled?", ("AP",), True),
        ("What does the AP radiograph show?", ("LATERAL",), True),
        ("What does the frontal chest radiograph show?", ("AP AXIAL",), False),
        ("Has it grown since the prior study?", ("PA", "LATERAL"), True),
        ("Is it seen on CT?", ("PA",), True),
        ("What does the oblique view show?", ("RAO",), False),
    ],
)
def test_a_question_about_a_view_that_is_missing_is_reported(
    question: str, labels: tuple[str, ...], *, is_reported: bool
) -> None:
    reported = _findings_by_rule(_item(question=question, labels=labels))
    assert reported == ({Rule.NOT_SHOWN: ["q1"]} if is_reported else {})


@pytest.mark.parametrize(
    ("question", "other", "is_reported"),
    [
        ("Is there a pleural effusion?", "is there a Pleural effusion", True),
        (
            "Is there an effusion in the left lung base here?",
            "Is there effusion in the left lung base here?",
            True,
        ),
        (
            "Is there a left pleural effusion in this film?",
            "Is there a right pleural effusion in this film?",
            False,
        ),
        (
            "How wide is the film at rib 2, in millimetres?",
            "How wide is the film at rib 3, in millimetres?",
            False,
        ),
        ("Is there a pleural effusion?", "Is there a pneumothorax?", False),
    ],
)
def test_similar_questions_about_an_examination_are_reported(
    question: str, other: str, *, is_reported: bool
) -> None:
    """Only similar questions with a common option are reported."""
    first, second = _item("q1", question=question), _item("q2", question=other)
    assert _findings_by_rule(first, second).get(Rule.ALIKE) == (["q2"] if is_reported else None)
    assert Rule.ALIKE not in _findings_by_rule(
        first, _item("q2", question=other, examination_id="e2")
    )
    assert Rule.ALIKE not in _findings_by_rule(
        first, _item("q2", question=other, options=("Gas", "Bone"))
    )


def test_an_examination_with_many_questions_is_checked_completely() -> None:
    items = [_item(f"q{n:05d}", question=f"Is finding {n % 4000} seen?") for n in range(5000)]
    (finding,) = check_content(items)
    assert (finding.rule, finding.n, len(finding.examples)) == (Rule.ALIKE, 1000, 20)


def test_options_that_differ_in_punctuation_only_are_reported() -> None:
    assert _findings_by_rule(_item(options=("Left-sided", "left sided.", "No"))) == {
        Rule.OPTIONS_ALIKE: ["q1"]
    }
    assert _findings_by_rule(_item(options=("+", "-", "±"))) == {}


def test_a_patient_or_an_examination_in_two_splits_is_reported() -> None:
    reported = _findings_by_rule(
        _item("q1", split="train"),
        _item("q2", question="Which?", split="test"),
        _item("q3", examination_id="e3", split="test"),
        _item("q4", examination_id="e4", patient_id="p4", split="test"),
        _item("q5", examination_id="e4", patient_id="p4", question="Why?"),
    )
    assert reported == {Rule.PATIENT_SPLIT: ["q2", "q3"], Rule.EXAMINATION_SPLIT: ["q2"]}


def test_clues_from_the_whole_bank_are_reported_once(store: Store) -> None:
    """All answers are A and the longest option; both clues have counts and p-values."""
    items = [
        _item(f"q{n:03d}", examination_id=f"e{n}", options=(f"The longest {n}", "One", "Two"))
        for n in range(60)
    ]
    reported = {finding.rule: finding.examples for finding in _findings(store, "all", items)}
    assert list(reported) == [Rule.LONGEST, Rule.LETTER]
    assert "60 of 60" in reported[Rule.LETTER][0][1]
    assert _findings(store, "none", [_item(truth=None)]) == []


def _findings(store: Store, name: str, items: list[Question]) -> list[RuleFinding]:
    plain = dict.fromkeys(("format", "source_name", "source_sha256", "content_sha256"), "x")
    with store.change() as change:
        bank = banks.add(
            change, name=name, images_root="", simulated=0, imported_at_utc="", **plain
        )
        banks.add_items(change, bank, map(_complete_item, items))
    with store.look() as look:
        return content_findings(look, bank)


def _complete_item(item: Question) -> Item:
    values = item._asdict()
    del values["labels"], values["split"], values["has_prior"]
    empty = dict.fromkeys(("task", "category", "subcategory", "age", "sex", "explanation"), "")
    return Item(**values | empty | {"views": (), "report": {}, "attributes": {}})
