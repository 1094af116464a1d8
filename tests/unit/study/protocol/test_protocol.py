"""The protocol file: defaults, refusals, and lists of errors."""

from pathlib import Path

import pytest

from study.base.canonical import sha256_of
from study.base.errors import BadProtocol, NotFound
from study.protocol.metadata import MAX_METADATA
from study.protocol.protocol import (
    Condition,
    Feedback,
    Protocol,
    as_toml,
    faults_of,
    protocol_from,
    read_protocol,
)


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "protocol.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_missing_keys_have_the_documented_defaults(tmp_path: Path) -> None:
    """An empty file is the default protocol."""
    protocol = read_protocol(_file(tmp_path, ""))
    assert protocol == Protocol()
    assert (protocol.cases, protocol.seed, protocol.stratify_by) == (200, 20250604, ("task",))
    assert (protocol.margin, protocol.washout_days, protocol.confidence) == (0.05, 28, 0)
    assert protocol.conditions == (Condition.UNAIDED,)
    assert protocol.feedback is Feedback.NEVER
    assert protocol.context == ("age", "sex")


def test_every_key_can_be_set(tmp_path: Path) -> None:
    """The protocol has the values of the file."""
    protocol = read_protocol(
        _file(
            tmp_path,
            """
name = "Trial"
cases = 10
seed = 3
stratify_by = ["task", "sex"]
allocation = { "a / male" = 4, "b / female" = 6 }
one_question_per = "examination"
case_order = "fixed"
option_order = "random"
conditions = ["image-absent", "unaided"]
washout_days = 14
confidence = 5
comments = true
back_navigation = true
time_limit_s = 90
feedback = "after study"
hidden_repeats = 2
context = []
margin = 0.1
""",
        )
    )
    assert protocol.allocation == {"a / male": 4, "b / female": 6}
    assert protocol.conditions == (Condition.IMAGE_ABSENT, Condition.UNAIDED)
    assert (protocol.confidence, protocol.time_limit_s, protocol.context) == (5, 90, ())
    assert Protocol.from_json(protocol.as_json()) == protocol


def test_all_errors_are_listed_together(tmp_path: Path) -> None:
    """Each error states what to do."""
    text = 'cases = 0\nseed = "x"\nconfidence = 1\nfeedbak = "never"\nmargin = true\n'
    with pytest.raises(BadProtocol) as excinfo:
        read_protocol(_file(tmp_path, text))
    message = str(excinfo.value)
    assert "5 errors" in message
    for key in ("cases = 0", "seed = “x”", "confidence = 1", "feedbak: unknown key", "margin"):
        assert key in message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('allocation = { "a" = 3 }\ncases = 4', "adds up to 3"),
        ('back_navigation = true\nfeedback = "after case"', "reference standard"),
        ("hidden_repeats = 9\ncases = 8", "more than cases"),
        ('hidden_repeats = 2\nfeedback = "after case"', "again after its reference standard"),
        ('conditions = ["unaided", "image-absent"]\nfeedback = "after case"', "again after"),
        ("cases = " + "9" * 5000, "not valid TOML"),
        ("x = " + "[" * 4000, "not valid TOML"),
        (".".join("a" * 50_000) + " = 1", "nested more than 100 levels"),
        ("x = {" + " . ".join(['"."'] * 50_000) + " = 1}", "nested more than 100 levels"),
        ("[" + ".".join(["'a\"'", "b"] * 25_000) + "]", "nested more than 100 levels"),
        ("\n".join(f"k{n} = 1" for n in range(50_000)), "and 49,900 more unknown keys"),
        ('conditions = ["unaided", "unaided"]', "duplicates"),
        ("conditions = []", "at least 1"),
        ('conditions = ["aided"]', "aid_model is empty"),
        ('sessions = 3\nconditions = ["unaided", "image-absent"]', "Set it to 2"),
        ('sessions = 2\nfeedback = "after case"', "several sessions"),
        ("practice_cases = -1", "whole number"),
        ("break_every = 2.5", "whole number"),
        ('positive = "Yes"', "list of strings in quotes"),
        ('positive = ["Yes", " "]', "list of strings in quotes"),
        ('positive = ["Yes", "Yes"]', "duplicates"),
        ('subgroups = ["age"]', "values from category"),
        ("years_limit = -1", "whole number from 0 to 80"),
        ('ordered_options = "grade"', "true or false"),
        ('display_check = "yes"', "true or false"),
        ("cannot_answer = 1", "true or false"),
        ("consent = true", "text in quotes"),
        (f'instructions = "{"x" * 20_001}"', "the maximum is 20000"),
        ("cases = [", "not valid TOML"),
    ],
)
def test_contradictory_values_are_refused_with_the_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    """Contradictions and unsupported values are never silently ignored."""
    with pytest.raises(BadProtocol, match=reason):
        read_protocol(_file(tmp_path, text))


def test_optional_steps_and_tools_are_off_by_default() -> None:
    """Each step or tool needs a key; text of spaces counts as empty."""
    protocol = Protocol.from_json({"consent": " \n"})
    assert (protocol.consent, protocol.instructions, protocol.questionnaire) == ("", "", ())
    assert (protocol.display_check, protocol.cannot_answer) == (False, False)
    assert (protocol.practice_cases, protocol.break_every) == (0, 0)


def test_a_protocol_without_new_keys_keeps_its_hash() -> None:
    """New keys are stored only if they are used."""
    stored = Protocol().as_json()
    assert sha256_of(stored).startswith("bf4ae2f1269202a4")
    used = Protocol.from_json({"break_every": 5, "consent": "?", "cannot_answer": True})
    assert set(used.as_json()) - set(stored) == {"break_every", "consent", "cannot_answer"}
    assert Protocol.from_json(used.as_json()) == used
    assert Protocol.from_json(stored) == Protocol()


def test_a_long_value_is_shortened_in_its_error() -> None:
    """A long consent would hide the other errors."""
    with pytest.raises(BadProtocol) as excinfo:
        Protocol.from_json({"consent": "x" * 30_000})
    assert len(str(excinfo.value)) < 400


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    """The message has the name of the file."""
    with pytest.raises(NotFound, match=r"none\.toml"):
        read_protocol(tmp_path / "none.toml")


def test_a_score_card_with_peers_needs_feedback() -> None:
    """Without feedback there is no score card; the default does not change the hash."""
    assert any("score_card" in fault for fault in faults_of({"score_card": "peers"}))
    protocol = Protocol.from_json({"score_card": "peers", "feedback": "after study"})
    assert protocol.as_json()["score_card"] == "peers"
    assert "score_card" not in Protocol().as_json()


def test_only_metadata_that_are_stated_are_stored() -> None:
    """A protocol without metadata, or with empty text, keeps its hash."""
    assert Protocol.from_json({"metadata": {"funding": " \n"}}).as_json() == Protocol().as_json()
    protocol = Protocol.from_json({"metadata": {"funding": "None.", "setting": ""}})
    assert protocol.as_json()["metadata"] == {"funding": "None."}
    assert protocol_from(as_toml(protocol), source="file") == protocol


def test_every_error_in_the_metadata_is_listed() -> None:
    texts = {"fundin": "None", "setting": 3, "registration": "x" * (MAX_METADATA + 1)}
    faults = faults_of({"metadata": texts})
    assert len(faults) == 3
    for fault, part in zip(faults, ("funding", "setting must be text", "2,001 char"), strict=True):
        assert fault.startswith("metadata: ")
        assert part in fault
    assert len(faults_of({"metadata": "None"})) == 1
