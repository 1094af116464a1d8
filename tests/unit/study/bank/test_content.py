"""Rules of content: what each tells of, and what it lets pass."""

from typing import Any

import pytest

from study.bank.content import RuleFinding, look_over
from study.bank.managing import content_findings
from study.base.bank_model import Item, Question, Rule
from study.store import Store, banks

_SOUND = Question(
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
    return _SOUND._replace(item_id=item_id, **values)


def _told(*items: Question) -> dict[Rule, list[str]]:
    found = look_over(sorted(items, key=lambda one: one.examination_id))
    return {one.rule: [key for key, _ in one.examples] for one in found}


@pytest.mark.parametrize(
    ("question", "options", "truth", "tells"),
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
def test_a_question_that_holds_its_own_answer(
    question: str, options: tuple[str, ...], truth: str, *, tells: bool
) -> None:
    found = _told(_item(question=question, options=options, truth=truth))
    assert found == ({Rule.ANSWERED: ["q1"]} if tells else {})


@pytest.mark.parametrize(
    ("question", "labels", "tells"),
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
def test_a_question_about_what_no_view_shows(
    question: str, labels: tuple[str, ...], *, tells: bool
) -> None:
    found = _told(_item(question=question, labels=labels))
    assert found == ({Rule.NOT_SHOWN: ["q1"]} if tells else {})


@pytest.mark.parametrize(
    ("one", "two", "tells"),
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
def test_an_examination_asked_the_same_twice(one: str, two: str, *, tells: bool) -> None:
    """Of the same examination, and with an option that both have."""
    first, second = _item("q1", question=one), _item("q2", question=two)
    assert _told(first, second).get(Rule.ALIKE) == (["q2"] if tells else None)
    assert Rule.ALIKE not in _told(first, _item("q2", question=two, examination_id="e2"))
    assert Rule.ALIKE not in _told(first, _item("q2", question=two, options=("Gas", "Bone")))


def test_a_crowded_examination_is_looked_over_in_one_go() -> None:
    items = [_item(f"q{n:05d}", question=f"Is finding {n % 4000} seen?") for n in range(5000)]
    (found,) = look_over(items)
    assert (found.rule, found.n, len(found.examples)) == (Rule.ALIKE, 1000, 20)


def test_options_that_repeat_but_for_punctuation() -> None:
    assert _told(_item(options=("Left-sided", "left sided.", "No"))) == {Rule.OPTIONS_ALIKE: ["q1"]}
    assert _told(_item(options=("+", "-", "±"))) == {}


def test_a_patient_or_an_examination_in_two_splits() -> None:
    found = _told(
        _item("q1", split="train"),
        _item("q2", question="Which?", split="test"),
        _item("q3", examination_id="e3", split="test"),
        _item("q4", examination_id="e4", patient_id="p4", split="test"),
        _item("q5", examination_id="e4", patient_id="p4", question="Why?"),
    )
    assert found == {Rule.PATIENT_SPLIT: ["q2", "q3"], Rule.EXAMINATION_SPLIT: ["q2"]}


def test_clues_of_the_whole_bank_stand_among_the_findings(store: Store) -> None:
    """All answers are A and the longest option: both are told, once, with counts and p."""
    items = [
        _item(f"q{n:03d}", examination_id=f"e{n}", options=(f"The longest {n}", "One", "Two"))
        for n in range(60)
    ]
    found = {one.rule: one.examples for one in _findings(store, "all", items)}
    assert list(found) == [Rule.LONGEST, Rule.LETTER]
    assert "60 of 60" in found[Rule.LETTER][0][1]
    assert _findings(store, "none", [_item(truth=None)]) == []


def _findings(store: Store, name: str, items: list[Question]) -> list[RuleFinding]:
    plain = dict.fromkeys(("format", "source_name", "source_sha256", "content_sha256"), "x")
    with store.change() as change:
        bank = banks.add(
            change, name=name, images_root="", simulated=0, imported_at_utc="", **plain
        )
        banks.add_items(change, bank, map(_whole, items))
    with store.look() as look:
        return content_findings(look, bank)


def _whole(item: Question) -> Item:
    told = item._asdict()
    del told["labels"], told["split"], told["has_prior"]
    empty = dict.fromkeys(("task", "category", "subcategory", "age", "sex", "explanation"), "")
    return Item(**told | empty | {"views": (), "report": {}, "attributes": {}})
