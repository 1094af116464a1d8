"""The questionnaire of a protocol: valid questions, and lists of errors."""

from pathlib import Path
from typing import Any

import pytest

from study.base.errors import BadProtocol
from study.protocol.protocol import Protocol, as_toml, read_protocol
from study.protocol.questionnaire import ReaderQuestion, ShownIf, UnfitAnswers, check_answers

QUESTION: dict[str, Any] = {
    "id": "a",
    "question": "How?",
    "kind": "choice",
    "options": ["x", "y"],
}


def test_questions_are_read_from_toml_with_their_defaults(tmp_path: Path) -> None:
    """Answers are required by default."""
    path = tmp_path / "p.toml"
    path.write_text(
        '[[questionnaire]]\nid = "years"\nquestion = "Years?"\nkind = "number"\n'
        'required = false\n[[questionnaire]]\nid = "level"\nquestion = "Level?"\n'
        'kind = "choice"\noptions = ["one", "two"]\n'
    )
    protocol = read_protocol(path)
    assert protocol.questionnaire == (
        ReaderQuestion(id="years", question="Years?", kind="number", required=False),
        ReaderQuestion(id="level", question="Level?", kind="choice", options=("one", "two")),
    )
    assert Protocol.from_json(protocol.as_json()) == protocol


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"id": "1st"}, "id: must start with a letter"),
        ({"id": 5}, "id: must start with a letter"),
        ({"question": " "}, "question: must be text"),
        ({"question": "x" * 501}, "question: must be text"),
        ({"kind": "date"}, "kind: must be one of choice, number, text"),
        ({"kind": ["choice"]}, "kind: must be one of"),
        ({"options": ["x"]}, "a choice question needs 2 to 20"),
        ({"options": ["x", "x"]}, "contains duplicates"),
        ({"options": ["x", ""]}, "options: must be a list of strings"),
        ({"options": "xy"}, "options: must be a list of strings"),
        ({"kind": "text"}, "only a choice question has options"),
        ({"required": "yes"}, "required: must be true or false"),
        ({"hint": "?"}, "hint: unknown key"),
    ],
)
def test_an_invalid_question_is_refused_with_its_number(
    changed: dict[str, Any], reason: str
) -> None:
    """The message has the number and the reason."""
    with pytest.raises(BadProtocol) as excinfo:
        Protocol.from_json({"questionnaire": [{**QUESTION, "id": "b"}, {**QUESTION, **changed}]})
    assert "Question 2 of the questionnaire: " in str(excinfo.value)
    assert reason in str(excinfo.value)


@pytest.mark.parametrize("value", ["x", {}, [QUESTION] * 51, [7]])
def test_a_questionnaire_is_a_list_of_tables(value: Any) -> None:
    """A questionnaire has at most fifty tables."""
    with pytest.raises(BadProtocol, match=r"questionnaire|must be"):
        Protocol.from_json({"questionnaire": value})


def test_errors_of_all_questions_are_listed_together() -> None:
    """Errors in other keys are listed too."""
    broken = [{**QUESTION, "kind": "x"}, {**QUESTION, "question": ""}, {"id": "c"}]
    with pytest.raises(BadProtocol) as excinfo:
        Protocol.from_json({"cases": 0, "questionnaire": broken})
    message = str(excinfo.value)
    for part in (
        "cases = 0",
        "Question 1 of the questionnaire: kind",
        "Question 2 of the questionnaire: question",
        "Question 3 of the questionnaire: question",
        "Question 3 of the questionnaire: kind",
        "Two questions of the questionnaire have the id “a”",
    ):
        assert part in message
    assert "6 errors" in message


def test_an_unanswered_question_is_omitted() -> None:
    """Null and empty text do not count as answers."""
    questions = (
        ReaderQuestion(id="a", question="?", kind="text", required=False),
        ReaderQuestion(id="b", question="?", kind="number"),
    )
    assert check_answers(questions, {"a": "", "b": 0}) == {"b": 0.0}
    assert check_answers(questions, {"a": None, "b": 2.5}) == {"b": 2.5}


DEPENDENT_QUESTION = {
    "id": "b",
    "question": "Why?",
    "kind": "text",
    "shown_if": {"question": "a", "is": "x"},
}


def test_a_question_may_depend_on_an_earlier_answer(tmp_path: Path) -> None:
    """The key is read from TOML; protocols without it do not contain it and keep their hash."""
    path = tmp_path / "p.toml"
    path.write_text(
        '[[questionnaire]]\nid = "a"\nquestion = "How?"\nkind = "choice"\noptions = ["x", "y"]\n'
        '[[questionnaire]]\nid = "b"\nquestion = "Why?"\nkind = "text"\n'
        'shown_if = { question = "a", is = "x" }\n'
    )
    protocol = read_protocol(path)
    assert protocol.questionnaire[1].shown_if == ShownIf(question="a", answer="x")
    first, second = protocol.as_json()["questionnaire"]
    assert "shown_if" not in first
    assert second == {**DEPENDENT_QUESTION, "options": [], "required": True}
    assert Protocol.from_json(protocol.as_json()) == protocol
    other_file = tmp_path / "again.toml"
    other_file.write_text(as_toml(protocol))
    assert read_protocol(other_file) == protocol


@pytest.mark.parametrize(
    "condition",
    [
        {"question": "b", "is": "x"},
        {"question": "later", "is": "x"},
        {"question": "a", "is": "z"},
        {"question": "a", "is": ["x"]},
        {"question": "a"},
        {"question": "a", "is": "x", "not": "y"},
        {},
        None,
        "a",
        ["a", "x"],
    ],
)
def test_a_condition_names_an_earlier_question_and_its_option(condition: Any) -> None:
    """Other conditions are refused with the number of the question."""
    later = {**QUESTION, "id": "later"}
    with pytest.raises(BadProtocol, match="Question 2 of the questionnaire: shown_if: must name"):
        Protocol.from_json(
            {"questionnaire": [QUESTION, {**DEPENDENT_QUESTION, "shown_if": condition}, later]}
        )


def test_malformed_questions_before_a_condition_are_reported() -> None:
    """Each malformed question has a separate error."""
    for broken in (
        7,
        {**QUESTION, "options": 5},
        {"question": "?"},
        {**QUESTION, "id": ["a"]},
    ):
        with pytest.raises(BadProtocol, match="Question 1 of the questionnaire"):
            Protocol.from_json({"questionnaire": [broken, DEPENDENT_QUESTION]})


def test_only_questions_that_were_shown_are_answered() -> None:
    """Hidden questions are not required, and their answers do not show other questions."""
    protocol = Protocol.from_json(
        {
            "questionnaire": [
                QUESTION,
                {**QUESTION, "id": "b", "shown_if": {"question": "a", "is": "x"}},
                {**QUESTION, "id": "c", "kind": "text", "options": []}
                | {"shown_if": {"question": "b", "is": "y"}},
            ]
        }
    ).questionnaire
    assert check_answers(protocol, {"a": "y", "b": "", "c": None}) == {"a": "y"}
    assert check_answers(protocol, {"a": "x", "b": "x"}) == {"a": "x", "b": "x"}
    assert check_answers(protocol, {"a": "x", "b": "y", "c": "z"}) == {"a": "x", "b": "y", "c": "z"}
    for answers in ({"a": "y", "b": "y"}, {"a": "x", "b": "x", "c": "z"}, {"a": "y", "c": "z"}):
        with pytest.raises(UnfitAnswers, match="is not asked after these answers"):
            check_answers(protocol, answers)
    for answers in ({"a": "x"}, {"a": "x", "b": "y"}):
        with pytest.raises(UnfitAnswers, match="must be answered"):
            check_answers(protocol, answers)
