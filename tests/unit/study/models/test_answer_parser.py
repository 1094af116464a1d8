"""The answer parser reads clear outputs of known meaning, and never a wrong letter.

``model_output_corpus.jsonl`` contains the outputs by batch. The parser was tuned on the batch
"tuning"; the batches "version N" and all others except "variations" were written by authors who
did not know the rules, before the parser read them, and the results of these first readings are in
``docs/predictions-format.md``. "variations" are short statements and their opposites, written by a
developer. `MINIMUM_SHARE_READ` has the minimum share of clear outputs that must be read; unclear
outputs are unparsed.
"""

import json
import sys
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from study.models import answer_parser
from study.models.answer_parser import answer_in, parse_answer
from study.models.predictions import predict

MINIMUM_SHARE_READ = {"difficult": 0.47, "general": 0.75, "version": 0.85, "variations": 0.9}
"""Smallest share of clear outputs read, by the first word of the batch; 0.96 for the others."""

OPTIONS = ("Pneumothorax", "Pleural effusion", "Cardiomegaly", "No acute finding")


class Output(NamedTuple):
    """An output, the options it was asked about, and the letter or status it means."""

    options: list[str]
    text: str
    meant: str | None
    clear: bool = True
    question: str | None = None


def _corpus() -> dict[str, list[Output]]:
    path = Path(__file__).parent / "model_output_corpus.jsonl"
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    sets = json.loads(first)["option_sets"]
    batches = defaultdict(list)
    for line in lines:
        row = json.loads(line)
        output = Output(
            options=sets[row["options"]],
            text=row["output"],
            meant=row["answer"],
            clear=row.get("clear", True),
            question=row.get("question"),
        )
        batches[row["batch"]].append(output)
    return batches


CORPUS = _corpus()


@cache
def _letters_read(batch: str) -> list[str | None]:
    """Return what the parser reads in the outputs of a batch."""
    return [parse_answer(output.text, output.options, output.question) for output in CORPUS[batch]]


@pytest.mark.parametrize("batch", sorted(CORPUS))
def test_no_output_is_read_as_the_wrong_letter(batch: str) -> None:
    """No letter is read from an output that means another letter or none."""
    wrong = [
        (output.text, output.meant, read)
        for output, read in zip(CORPUS[batch], _letters_read(batch), strict=True)
        if read and read != output.meant
    ]
    assert wrong == []


@pytest.mark.parametrize("batch", sorted(CORPUS))
def test_clear_outputs_are_read(batch: str) -> None:
    """Nearly all clear answers are read."""
    clear = [
        (output, read)
        for output, read in zip(CORPUS[batch], _letters_read(batch), strict=True)
        if output.meant and len(output.meant) == 1 and output.clear
    ]
    unread = [output.text for output, read in clear if read != output.meant]
    assert len(unread) <= (1 - MINIMUM_SHARE_READ.get(batch.split()[0], 0.96)) * len(clear), unread


def _output_forms() -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "answer_forms.toml").read_text(encoding="utf-8")
    forms: list[dict[str, Any]] = tomllib.loads(text)["class"]
    return forms


@pytest.mark.parametrize(
    "form", _output_forms(), ids=lambda form: f"{form['name']}, {len(form['options'])} options"
)
def test_each_class_of_outputs_is_read_as_intended(form: dict[str, Any]) -> None:
    read = {
        text: parse_answer(text, form["options"], form.get("question")) or "none"
        for letter in (*"ABCDE", "none")
        for text in form.get(letter, ())
    }
    assert read == {text: letter for letter in (*"ABCDE", "none") for text in form.get(letter, ())}


@pytest.mark.thorough
def test_refusals_are_recognised() -> None:
    """The batches distinguish refusals from other outputs without an answer."""
    for outputs in CORPUS.values():
        if not any(output.meant == "refused" for output in outputs):
            continue
        for output in outputs:
            status = predict("q", output.text, output.options).status
            assert (status == "refused") == (output.meant == "refused"), output.text


REJECTION_TEMPLATES = [
    "{} is incorrect.",
    "{} is unlikely.",
    "{} can be ruled out.",
    "Not {}.",
    "Rule out {}.",
]
DOUBT_TEMPLATES = ["Maybe {}.", "It could be {}.", "Is it {}?", "I am not sure whether it is {}."]
QUOTE_TEMPLATES = [
    "The radiologist said {}.",
    "A student might answer {}.",
    "According to the report, {}.",
]


@pytest.mark.parametrize("frame", [*REJECTION_TEMPLATES, *DOUBT_TEMPLATES, *QUOTE_TEMPLATES])
@pytest.mark.parametrize(
    "mention", ["B", "(B)", "**B**", "option B", "B. Pleural effusion", "pleural effusion (B)"]
)
def test_a_mention_is_not_an_answer_and_does_not_hide_an_answer(frame: str, mention: str) -> None:
    """A rejected, doubted or quoted option is not an answer, but a later statement is."""
    text = frame.format(mention)
    assert parse_answer(text, OPTIONS) is None
    assert parse_answer(f"{text}\nThe answer is C.", OPTIONS) == "C"


@pytest.mark.parametrize(
    "correction",
    ["Wait, ", "Actually, ", "Correction: ", "No, ", "On second thought, ", "Hmm, wait. "],
)
@pytest.mark.parametrize(
    "first", ["Answer: B", "The answer is B.", "<answer>B</answer>", "\\boxed{B}"]
)
def test_a_second_answer_replaces_the_first_only_if_stated(correction: str, first: str) -> None:
    second = "The correct answer is C."
    assert parse_answer(f"{first}\n{correction}{second[0].lower()}{second[1:]}", OPTIONS) == "C"
    assert parse_answer(f"{first}\n{second}", OPTIONS) is None
    assert parse_answer(f"{first}\n{second}".replace("C.", "B."), OPTIONS) == "B"


def test_a_retracted_answer_without_another_is_not_an_answer() -> None:
    assert parse_answer("Answer: C. Wait, let me look again.", OPTIONS) is None


@pytest.mark.parametrize(
    ("number", "letter"),
    [
        ("Option 2", "B"),
        ("the second option", "B"),
        ("2", None),
        ("Option 0", None),
        ("Option 5", None),
    ],
)
def test_option_numbers_count_from_one_and_bare_numbers_are_not_answers(
    number: str, letter: str | None
) -> None:
    """A number by itself may count from 0 or from 1."""
    assert parse_answer(number, OPTIONS) == letter


def test_rule_sets_have_their_documented_names_and_order() -> None:
    """Strict rules read complete and final answers, loose rules also a single mentioned option."""
    assert answer_in("B", OPTIONS, "strict") == ("B", "whole")
    assert answer_in("Final answer: B\nThe angle is blunted.", OPTIONS, "strict") == ("B", "final")
    assert answer_in("I see it. The answer is B.", OPTIONS, "strict") == (None, "")
    assert answer_in("I see it. The answer is B.", OPTIONS) == ("B", "stated")
    assert answer_in("The angle is blunted.\n\nB", OPTIONS) == ("B", "by itself")
    assert answer_in("Look at the pleural effusion.", OPTIONS, "loose") == ("B", "mentioned")


STATEMENTS = [
    ("The answer is ", "B", "."),
    ("Final answer: ", "B", ""),
    ("The correct answer is ", "(B)", "."),
    ("I choose ", "option B", "."),
    ("Therefore, the most likely diagnosis is ", "B. Pleural effusion", "."),
    ("The angle is blunted, so it is ", "B", "."),
    ("The image shows ", "pleural effusion", "."),
    ("", "B", ""),
]


@pytest.mark.parametrize(("before", "mention", "after"), STATEMENTS)
@pytest.mark.parametrize("word", ["not ", "maybe ", "perhaps ", "never ", "either A or "])
def test_a_denial_or_doubt_before_the_mention_is_never_that_letter(
    before: str, mention: str, after: str, word: str
) -> None:
    """No answer is read if a word reverses the statement."""
    assert parse_answer(f"{before}{mention}{after}", OPTIONS) == "B"
    assert parse_answer(f"{before}{word}{mention}{after}", OPTIONS) is None


@pytest.mark.parametrize(("before", "mention", "after"), STATEMENTS)
@pytest.mark.parametrize(
    "frame",
    [
        "{}?",
        "The attending says: {}",
        'My colleague wrote "{}"',
        "According to the report, {}",
        "If there is fluid, {}",
        "Student 1: {}",
        "Example output: {}",
        "I doubt that {}",
        "{} No, that is wrong.",
        "{} Sorry, I have mixed this up.",
        "{} Then again, I am not sure.",
    ],
)
def test_a_question_attribution_condition_or_retraction_is_not_an_answer(
    before: str, mention: str, after: str, frame: str
) -> None:
    statement = f"{before}{mention}{after}"
    if frame.endswith("{}") or frame.endswith('"') or frame.endswith("?"):
        statement = statement.rstrip(".")
    elif not after:
        statement += "."
    assert parse_answer(frame.format(statement), OPTIONS) is None


DISCUSSIONS_OF_OTHERS = [
    "Pleural effusion (B) would blunt the angle.",
    "An effusion (B) also causes an opacity but has a meniscus.",
    "In B the angle would be blunted.",
    "B and C would not explain the pleural line.",
    "Cardiomegaly (C) is described by a ratio above one half.",
]
COMPETING_STATEMENTS = [
    "Or B.",
    "B.",
    "B is the more likely of the two.",
    "Pleural effusion (B) is equally possible.",
    "B fits this film as well, and I can't choose between the two.",
    "However, B is what I see on the left.",
    "Pleural effusion (B) is also present on the left.",
    "The image also demonstrates pleural effusion (B).",
    "Looking again, the blunted angle means B.",
    "Let me go with B for the base.",
    "Correction: B for the blunted angle.",
]


@pytest.mark.parametrize(
    "answer", ["Answer: A", "A. Pneumothorax.", "<answer>A</answer>", "The answer is A.", "**A**"]
)
def test_a_discussion_of_other_options_keeps_the_first_answer(answer: str) -> None:
    """No answer is read if a sentence may replace or add an option."""
    answers_kept = {
        words: parse_answer(f"{answer}\n\n{words}", OPTIONS) for words in DISCUSSIONS_OF_OTHERS
    }
    assert answers_kept == dict.fromkeys(DISCUSSIONS_OF_OTHERS, "A")
    lost = {words: parse_answer(f"{answer}\n\n{words}", OPTIONS) for words in COMPETING_STATEMENTS}
    assert "A" not in lost.values()


REWORDED_OPTIONS = ("Enlarged heart", "Pleural effusion", "Clear lungs", "Widened mediastinum")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The heart is enlarged.", "A"),
        ("The mediastinum is widened.", "D"),
        ("The heart is not enlarged.", None),
        ("The lungs are clear except for the left base.", None),
        ("The heart may be enlarged.", None),
        ("The heart is enlarged. There is a pleural effusion.", None),
        ("There is a pleural effusion. The heart is enlarged.", None),
        ("The heart is enlarged. There is a moderate effusion with fluid in the fissure.", None),
        ("The heart is enlarged and the mediastinum is widened.", None),
        ("The lungs are clear. The heart is borderline.", None),
    ],
)
def test_the_words_of_one_option_in_another_order_are_an_answer(
    text: str, letter: str | None
) -> None:
    """No answer is read after a denial, or if the text has words of another option."""
    assert parse_answer(text, REWORDED_OPTIONS, "What is the most likely finding?") == letter


@pytest.mark.parametrize(
    "text", ["There is a right effusion and a left pneumothorax.", "Effusion without edema."]
)
def test_sides_and_denials_must_be_in_the_order_of_the_option(text: str) -> None:
    options = ("Left effusion and right pneumothorax", "Edema without effusion", "Normal")
    assert parse_answer(text, options, "What is the most likely finding?") is None


def test_an_article_before_an_option_is_not_the_letter_a() -> None:
    """In these outputs option A is only compared with others."""
    options = ("Thymoma", "Teratoma", "Goiter")
    text = "So it is a goiter. A thymoma and a teratoma would stay below the inlet."
    assert parse_answer(text, options) == "C"


IN_WORDS_OF_QUESTION = [
    ("On which side is the effusion?", "The effusion is on the left", ("Left", "Right")),
    ("How severe is the edema?", "There is moderate edema", ("Mild", "Moderate", "Severe")),
    ("Where is the nodule?", "The nodule is in the left apex", ("Right apex", "Left apex")),
    ("How many tubes are visible?", "Two tubes are visible", ("1", "2", "3")),
]


@pytest.mark.parametrize(("question", "statement", "options"), IN_WORDS_OF_QUESTION)
@pytest.mark.parametrize(
    "frame",
    [
        "I doubt that {}.",
        "It is not true that {}.",
        "If {}, a CT is needed.",
        "Perhaps, {}.",
        "{}?",
        "{} or not.",
        "The report says that {}.",
        "{}. No, that is wrong.",
        "{}. Then again, I am not sure.",
        "{}. Wait, let me look again.",
    ],
)
def test_doubt_in_the_words_of_the_question_is_not_an_answer(
    question: str, statement: str, options: tuple[str, ...], frame: str
) -> None:
    """A plain statement is an answer.

    A denied, doubted, attributed or withdrawn statement is not.
    """
    assert parse_answer(f"{statement}.", options, question) is not None
    stated = statement if frame.startswith("{}") else statement[0].lower() + statement[1:]
    assert parse_answer(frame.format(stated), options, question) is None


@pytest.mark.parametrize("option", ["Pneumothorax", "Duodenum", "Sarcoidosis"])
def test_one_typo_in_a_long_word_is_accepted_and_two_are_not(option: str) -> None:
    """A letter is missing, doubled or swapped with the next one; the first letter is correct."""
    options = (option, "Other finding", "No finding")
    for n in range(1, len(option) - 1):
        swapped = option[:n] + option[n + 1] + option[n] + option[n + 2 :]
        for typo in (option[:n] + option[n + 1 :], option[: n + 1] + option[n:], swapped):
            assert parse_answer(typo, options) == "A", typo
    assert parse_answer(option[1:], options) is None
    assert parse_answer(option[:2] + option[4:], options) is None


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Atypical pattern", ("Typical pattern", "Normal")),
        ("Asymmetric hila", ("Symmetric hila", "Normal")),
        ("Ventral", ("Central", "Peripheral")),
        ("Medial", ("Median", "Lateral")),
        ("Interior", ("Anterior", "Posterior")),
    ],
)
def test_a_different_word_is_not_a_typo(text: str, options: tuple[str, ...]) -> None:
    assert parse_answer(text, options) is None


def _number_of_calls(
    text: str, question: str | None = None, options: tuple[str, ...] = ("Yes", "No")
) -> int:
    """Return the number of function calls that parsing a text takes."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    answer_parser._reading_of.cache_clear()
    sys.setprofile(count)
    try:
        parse_answer(text, options if question else OPTIONS, question)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "repeated", ["A ", "(B) ", "The answer is B. ", "pleural effusion ", "| A "]
)
def test_the_number_of_calls_grows_linearly_with_the_length(repeated: str) -> None:
    """Twice the text needs about twice the calls, so that repetitive outputs are read quickly."""
    parse_answer(repeated * 2000, OPTIONS)  # compiles the patterns
    assert _number_of_calls(repeated * 2000) <= 2.2 * _number_of_calls(repeated * 1000)


@pytest.mark.thorough
def test_the_number_of_calls_grows_linearly_with_sentences_and_statements() -> None:
    """No statement is compared with every sentence before it."""

    def text(n: int) -> str:
        return "The lungs are clear.\n" * 20 * n + "Pleural effusion.\n" * n

    _number_of_calls(text(100))  # compiles the patterns
    assert _number_of_calls(text(200)) <= 2.2 * _number_of_calls(text(100))


@pytest.mark.parametrize("repeated", ["the left is not, ", "the heart is enlarged, "])
def test_the_number_of_calls_with_a_question_grows_linearly(repeated: str) -> None:
    """The outputs include a sentence with many clauses."""
    question = "Is the heart enlarged?"
    _number_of_calls(repeated * 100, question)  # compiles the patterns
    assert _number_of_calls(repeated * 400, question) <= 2.2 * _number_of_calls(
        repeated * 200, question
    )


@pytest.mark.parametrize("repeated", ["the left is not, ", "the efusion is on the left, "])
def test_the_number_of_calls_grows_linearly_for_words_of_the_question(repeated: str) -> None:
    """The outputs include misspelt words."""
    question, options = "On which side is the effusion?", ("Left effusion", "Right effusion")
    _number_of_calls(repeated * 100, question, options)  # compiles the patterns
    longer = _number_of_calls(repeated * 400, question, options)
    assert longer <= 2.2 * _number_of_calls(repeated * 200, question, options)
