"""Predictions: answers read from the outputs of models, and files that are refused."""

import json
import re
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.base.errors import BadFile
from study.models import answer_parser
from study.models.answer_parser import parse_answer
from study.models.answer_words import word_set
from study.models.predictions import PredictionFile, predict, read_predictions

OPTIONS = ("Pneumothorax", "Pleural effusion", "Rib fracture", "No acute finding")
YES_NO = ("Yes", "No")

CLEAR_OUTPUTS = [
    ("B", "B"),
    ("b", "B"),
    ("(B)", "B"),
    ("B.", "B"),
    ("**B**", "B"),
    ("Option B", "B"),
    ("B. Pleural effusion", "B"),
    ("B) pleural effusion.", "B"),
    ("(B): Pleural effusion", "B"),
    ("B - Pleural effusion", "B"),
    ("pleural  EFFUSION", "B"),
    ("'Rib fracture'", "C"),
    ("The answer is (B).", "B"),
    ("The correct answer is B: Pleural effusion.", "B"),
    ("The correct answer is: **C**", "C"),
    ("Based on the film, the answer is A.", "A"),
    ("The answer is A because a line is seen.", "A"),
    ("The correct option is option D.", "D"),
    ("**Answer: C**", "C"),
    ("Answer:\nC", "C"),
    ("answer: c", "C"),
    ("Answer: Rib fracture", "C"),
    ("The most likely diagnosis is pneumothorax.", "A"),
    ("<answer>B</answer>", "B"),
    ("<think>A or C? The answer is C.</think><answer>B. Pleural effusion</answer>", "B"),
    ("So we get \\boxed{D}", "D"),
    ("$\\boxed{\\text{D}}$", "D"),
    ('{"answer": "C", "why": "step-off"}', "C"),
    ('```json\n{"final_answer": "rib fracture"}\n```', "C"),
    ("A. Not seen.\nB. Not seen.\nC. Seen.\nFinal answer: C", "C"),
    ("At first the answer is B. On a closer look it is not.\nFinal answer: A", "A"),
    ("The costophrenic angle is blunted.\n\nB", "B"),
    ("The costophrenic angle is blunted.\nPleural effusion", "B"),
    ("B\n\nThe costophrenic angle is blunted.", "B"),
    ("B. The costophrenic angle is blunted.", "B"),
    ("B is the correct answer.", "B"),
    ("I would choose option C.", "C"),
    ("The answer is B, not A.", "B"),
    ("I don't think the answer is B. The answer is C.", "C"),
    ("I cannot see a pleural line, so the answer is B.", "B"),
]

UNCLEAR_OUTPUTS = [
    "A large effusion is seen",
    "A large effusion is seen on the left.",
    "Answer: A large effusion is seen",
    "The answer is a large effusion.",
    "I see a line.",
    "A or B",
    "A, B",
    "AB",
    "A and C",
    "The answer is B or C.",
    "The answer is either B or C.",
    "The answer is not B.",
    "I don't think the answer is B.",
    "I cannot tell whether the answer is B.",
    "Answer: B\nAnswer: C",
    "<answer>B</answer><answer>C</answer>",
    "<answer>B or C</answer>",
    "E",
    "(F)",
    "Answer: E",
    "The answer is (Z).",
    "B. Pneumothorax",
    "A. Pneumothorax\nB. Pleural effusion\nC. Rib fracture\nD. No acute finding",
    "A. Pneumothorax B. Pleural effusion C. Rib fracture",
    "Pneumothorax\nPleural effusion",
    "There is a pleural effusion or a pneumothorax.",
    "No pleural effusion",
    "effusion",
    "<think>The answer is B",
    "2",
    "?",
    "I",
    "\\boxed{}",
]


@pytest.mark.parametrize(("words", "letter"), CLEAR_OUTPUTS)
def test_a_clear_output_is_read_as_its_option(words: str, letter: str) -> None:
    """Every usual way to name an option is understood."""
    assert parse_answer(words, OPTIONS) == letter


@pytest.mark.parametrize("words", UNCLEAR_OUTPUTS)
def test_an_unclear_output_has_no_answer(words: str) -> None:
    """Such outputs have no or several options, contradictions, other letters, or an article."""
    assert parse_answer(words, OPTIONS) is None


def test_known_outputs_are_read_with_their_meaning() -> None:
    """The file has seven hundred outputs, a third of them unclear."""
    lines = (Path(__file__).parent / "model_outputs.jsonl").read_text(encoding="utf-8").splitlines()
    outputs = [json.loads(line) for line in lines]
    assert len(outputs) > 650
    wrong = {}
    for words, meaning in outputs:
        prediction = predict("q1", words, OPTIONS)
        got = prediction.answer or ("refused" if prediction.status == "refused" else None)
        if got != meaning:
            wrong[words] = (meaning, got)
    assert wrong == {}


@pytest.mark.thorough
def test_known_outputs_for_other_options_are_read_with_their_meaning() -> None:
    """Options contain letters, numbers or each other, are yes and no, or in other languages."""
    path = Path(__file__).parent / "model_outputs_by_options.jsonl"
    options: list[str] = []
    n_outputs, wrong = 0, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        match json.loads(line):
            case [str(words), None | "refused" | "skipped" | "A" | "B" | "C" | "D" | "E" as meant]:
                prediction = predict("q1", words, options)
                status = prediction.status if prediction.status in ("refused", "skipped") else None
                n_outputs += 1
                if (prediction.answer or status) != meant:
                    wrong[words] = (meant, prediction)
            case options:
                pass
    assert n_outputs > 1400
    assert wrong == {}


@pytest.mark.parametrize(
    "words",
    [
        *("the answer is ", "( ", "I am an AI, ", "A, ", "<think>", "{", "so, ", "A: ", "(A) "),
        *("which is A ", "which is ", "can A ", "should be A, ", "did ", "is it A? ", "not B "),
        *("because of C ", "although B ", "if A ", "wait, A ", "A or ", "A versus B "),
        *("the radiologist says A ", "as said, A, ", "rather than A ", "Answer: A\n", "- A\n"),
        *("A is wrong. ", '{"answer": "A"} ', "<answer>A</answer> ", "pleural effusion: "),
        *("? ", "[ *. ", '? \u2014 " . ', "\n", "\n "),
    ],
)
def test_a_long_repetitive_output_is_read_in_linear_time(words: str) -> None:
    """A model that repeats itself up to its token limit does not block the import.

    Four texts take as long as a text of four times the length; a quadratic pattern takes four
    times as long for the latter. Shorter texts, which are read more thoroughly, do not take longer.
    """

    def seconds(length: int, times: int) -> float:
        output = words * (length // len(words))
        start_s = time.process_time()
        for _ in range(times):
            answer_parser._reading_of.cache_clear()
            parse_answer(output, OPTIONS)
        return time.process_time() - start_s

    times, sufficient = 1, 20 * _clock_step_s()
    while (short := seconds(1_000, 4 * times)) < sufficient:
        times *= 2
    assert any(seconds(4_000, times) < 2 * short for _ in range(3))
    assert max(seconds(length, times) for length in (250, 500, 2_000)) < 4 * short


@cache
def _clock_step_s() -> float:
    """Return the step of the clock of processor time, which is 10 ms on some systems."""
    start_s = time.process_time()
    while (now := time.process_time()) == start_s:
        pass
    return now - start_s


@pytest.mark.parametrize(
    ("words", "letter"),
    [
        ("No, there is no effusion.", "B"),
        ("Yes.", "A"),
        ("Yes. The angle is blunted.", "A"),
        ("Yes. No.", None),
        ("Nothing to see", None),
    ],
)
def test_yes_and_no_at_the_start_are_answers(words: str, letter: str | None) -> None:
    """Models answer such questions with yes or no and a sentence."""
    assert parse_answer(words, YES_NO) == letter


def test_options_that_are_letters_must_not_contradict_their_position() -> None:
    """With the option texts C, B, A, the output "A" could mean two options."""
    assert parse_answer("A", ("C", "B", "A")) is None
    assert parse_answer("B", ("C", "B", "A")) == "B"


@given(st.text(max_size=300), st.lists(st.text(max_size=20), min_size=2, max_size=8))
def test_any_output_gives_a_letter_of_the_options_or_none(raw: str, options: list[str]) -> None:
    """No text raises an error."""
    assert parse_answer(raw, options) in {None, *"ABCDEFGH"[: len(options)]}


@pytest.mark.parametrize(
    "hostile",
    ["<answer>" * 5000, "\n" * 50_000, "the answer is " * 5000, "{" * 50_000, "(" * 50_000],
)
def test_hostile_outputs_are_read_in_linear_time(hostile: str) -> None:
    """Otherwise the test would exceed its time limit."""
    assert parse_answer(hostile, OPTIONS) is None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError when the block has used this much processor time."""

    def stop(_number: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _phrases_in(name: str) -> list[str]:
    """Return the entries of a table of words that are not patterns."""
    return [word for word in word_set(name) if re.fullmatch(r"[\w' ]+", word)]


REPEATED_PHRASES = ("A", "be", "for me", "got it", "it stays", "so", "not")


@pytest.mark.parametrize(
    "phrases",
    [
        REPEATED_PHRASES,
        *(
            pytest.param(_phrases_in(name), id=name)
            for name in ("filler", "conclude", "choose", "modifier", "negation", "leads")
        ),
    ],
)
@pytest.mark.parametrize("rest", [" ", " B", ", B is right"])
def test_a_phrase_that_a_model_repeats_is_read_quickly(phrases: Sequence[str], rest: str) -> None:
    """A phrase in two tables once doubled the time with each repetition: 30 took hours."""
    with _time_limit(60):
        for phrase in phrases:
            parse_answer(f"{phrase} " * 30 + rest, OPTIONS)


def read(tmp_path: Path, text: str, name: str = "p.json") -> PredictionFile:
    """Write a file and read it for three items."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_predictions(path, options={"q1": OPTIONS, "q2": OPTIONS, "q3": YES_NO})


def answers(file: PredictionFile) -> dict[str, tuple[str | None, str]]:
    """Return answer and status by item."""
    return {p.item_id: (p.answer, p.status) for p in file.predictions}


def test_a_leaderboard_submission_is_read_by_its_prediction(tmp_path: Path) -> None:
    """The column `correct_answer` is never used."""
    file = read(
        tmp_path,
        json.dumps(
            {
                "q1": {"correct_answer": "A", "answer": "A", "model_prediction": "B"},
                "q3": {"correct_answer": "A", "model_prediction": "No"},
                "q9": {"model_prediction": "A"},
            }
        ),
    )
    assert answers(file) == {"q1": ("B", "answered"), "q3": ("B", "answered")}
    assert file.unknown_ids == ("q9",)
    assert file.notes == ("columns not used: correct_answer, answer",)
    assert file.shape == "leaderboard submission"


@pytest.mark.parametrize("empty", [{"model_prediction": ""}, {"model_prediction": None}, {}])
def test_a_missing_model_prediction_is_not_replaced_by_the_answer(
    tmp_path: Path, empty: dict[str, str | None]
) -> None:
    """The column `answer` may contain the correct answer in this format."""
    content = {"q1": {"answer": "A", **empty}, "q2": {"answer": "A", "model_prediction": "B"}}
    assert answers(read(tmp_path, json.dumps(content))) == {
        "q1": (None, "skipped"),
        "q2": ("B", "answered"),
    }


def test_an_output_is_skipped_unparsed_or_refused(tmp_path: Path) -> None:
    """An empty output is skipped, an unclear one unparsed, and a clear refusal refused."""
    refusal = "I\u2019m sorry, but I can\u2019t provide a medical diagnosis."
    file = read(tmp_path, json.dumps({"q1": refusal, "q2": " ", "q3": "Hard to say"}))
    assert [(p.status, p.raw_answer) for p in file.predictions] == [
        ("refused", refusal),
        ("skipped", " "),
        ("unparsed", "Hard to say"),
    ]
    assert all(p.answer is None for p in file.predictions)


@pytest.mark.parametrize(
    "words", ["I cannot determine this from the film.", "The film cannot be interpreted."]
)
def test_doubt_is_not_a_refusal(tmp_path: Path, words: str) -> None:
    """An output that may express doubt about the film is unparsed."""
    assert answers(read(tmp_path, json.dumps({"q1": words})))["q1"][1] == "unparsed"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.json", '[{"item_id": "q1", "answer": "C"}, {"item_id": "q3", "output": "No."}]'),
        ("p.jsonl", '{"item_id": "q1", "answer": "C"}\n\n{"id": "q3", "output": "No."}\n'),
        ("p.json", '{"item_id": "q1", "answer": "C"}\n{"question_id": "q3", "answer": "No"}\n'),
        ("p.csv", "item_id,answer\r\nq1,C\r\nq3,No\r\n"),
        ("p.csv", '\ufeffitem_id;output\nq1;"Thinking.\nAnswer: C"\nq3;No\n'),
        ("p.txt", "Item ID,Answer,Output\nq1,,The answer is C\nq3,B,\n"),
    ],
)
def test_each_format_gives_the_same_predictions(tmp_path: Path, name: str, text: str) -> None:
    """JSON lists, JSON Lines and CSV files are equivalent."""
    assert answers(read(tmp_path, text, name)) == {
        "q1": ("C", "answered"),
        "q3": ("B", "answered"),
    }


def test_a_single_json_record_is_one_prediction(tmp_path: Path) -> None:
    """The record is not read as an object of several records."""
    assert answers(read(tmp_path, '{"item_id": "q1", "answer": "C"}')) == {"q1": ("C", "answered")}


def test_outputs_other_than_text_are_stored_as_json(tmp_path: Path) -> None:
    """Numbers, lists and objects are read as their text."""
    file = read(tmp_path, '{"q1": ["B"], "q2": {"output": {"answer": "D"}}, "q3": 1}')
    assert [p.raw_answer for p in file.predictions] == ['["B"]', '{"answer": "D"}', "1"]
    assert answers(file)["q2"] == ("D", "answered")
    assert answers(file)["q3"] == (None, "unparsed")


def test_an_entry_without_a_prediction_is_skipped_with_a_note(tmp_path: Path) -> None:
    """The note has the number of such entries."""
    file = read(tmp_path, '{"q1": {"answer": "B"}, "q2": {}}')
    assert answers(file)["q2"] == (None, "skipped")
    assert "1 entry without a prediction counts as skipped" in file.notes


def test_a_file_with_errors_is_refused_with_all_of_them(tmp_path: Path) -> None:
    """Duplicate IDs, entries without an ID and invalid lines are listed."""
    text = (
        '{"item_id":"q1","answer":"A"}\n{"item_id":"q1","answer":"B"}\n{"answer":"C"}\nnonsense\n7'
    )
    with pytest.raises(BadFile) as refused:
        read(tmp_path, text, "p.jsonl")
    message = str(refused.value)
    for part in ("q1: given again at line 2", "line 3: no item id", "line 4: not JSON", "line 5"):
        assert part in message


def test_a_duplicate_key_in_json_is_refused(tmp_path: Path) -> None:
    """JSON readers would keep the last of two equal keys."""
    with pytest.raises(BadFile, match="q1: given again at entry 2"):
        read(tmp_path, '{"q1": "A", "q1": "B"}')


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.json", '{"q1": {"correct_answer": "A"}}', "contains no predictions"),
        ("p.json", "{", "not JSON"),
        ("p.json", "3", "single JSON int"),
        ("p.json", "[]", "no entries"),
        (
            "p.csv",
            "item_id,truth\nq1,A\n",
            "no column for the model's answers .*Columns: item_id, truth.*--columns",
        ),
        ("p.csv", "answer\nA\n", "no column for the item's id .*Columns: answer"),
        ("p.csv", 'item_id,answer\nq1,"A\nq2,B\n', "quotes"),
    ],
)
def test_a_file_without_predictions_is_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    """The message states what is missing."""
    with pytest.raises(BadFile, match=message):
        read(tmp_path, text, name)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["q1", "item_id", "answer", "output", "id", ""]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(value=json_values)
def test_any_json_gives_predictions_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    """No other exception is raised."""
    path = tmp_path_factory.mktemp("any") / "p.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    try:
        file = read_predictions(path, options={"q1": OPTIONS})
    except BadFile:
        return
    for prediction in file.predictions:
        assert (prediction.status == "answered") == (prediction.answer is not None)
        prediction.raw_answer.encode("utf-8")
