"""What a model is asked: the words of the template, and how it is asked with a hash."""

from pathlib import Path

import pytest

from study.base.errors import BadInput
from study.models.model_protocol import ModelProtocol, Order, Shown, resolution_of
from study.models.paper import PaperFilm, PaperItem
from study.models.prompting import TEMPLATES, prompt_of, template_of
from study.store.banks import FilmRow

ROW = FilmRow(path="a.png", sha256="", low=0, high=1, images_root=str(Path()))
ITEM = PaperItem(
    number=1,
    item_id="q-secret-id",
    question="Which {finding} is seen?",
    options=("Effusion", "None {0}"),
    shown_order="BA",
    context=(("Age", "60 years"), ("Sex", "female")),
    films=tuple(PaperFilm(label=label, sha256="", row=ROW) for label in ("PA", "")),
)


def test_the_first_template_reads_so() -> None:
    """Views, patient, question, options and what to reply, a paragraph each; braces stay braces."""
    assert prompt_of(ITEM, ModelProtocol()).text == (
        "Images, in order: 1: PA, 2: view not stated.\n\n"
        "Patient: Age 60 years, Sex female.\n\n"
        "Question: Which {finding} is seen?\nA. Effusion\nB. None {0}\n\n"
        "Reply with the letter of the best option and nothing else."
    )
    assert "q-secret-id" not in prompt_of(ITEM, ModelProtocol()).text


def test_lines_stand_where_they_apply() -> None:
    """No patient, no views, no system prompt, an explanation: each changes its own line."""
    bare = PaperItem(
        number=1,
        item_id="q",
        question="What?",
        options=("x", "y"),
        shown_order="AB",
        context=(),
        films=(),
    )
    asked = ModelProtocol(condition=Shown.IMAGE_ABSENT, explanation=True, system="")
    prompt = prompt_of(bare, asked)
    assert prompt.system == ""
    assert prompt.text.startswith("No image is shown.\n\nQuestion: What?\nA. x\nB. y\n\nExplain")
    assert "Patient" not in prompt.text


def test_the_template_can_be_printed() -> None:
    """A report prints it with its blanks; an unknown version is refused."""
    printed = TEMPLATES["1"].printed(ModelProtocol())
    assert printed.startswith(TEMPLATES["1"].system)
    assert "{question}\n{options}" in printed
    with pytest.raises(BadInput, match="no prompt template 'x'"):
        template_of(ModelProtocol(template="x"))


def test_how_a_model_is_asked_has_a_hash_and_comes_back_from_json() -> None:
    """The same values have the same hash, and every value changes it."""
    asked = ModelProtocol(
        order=Order.SHUFFLED, context=("age",), runs=2, seeds=(1, 2), resolution=512
    )
    again = ModelProtocol.from_json(asked.as_json())
    assert again == asked
    assert again.sha256 == asked.sha256 != ModelProtocol().sha256


@pytest.mark.parametrize(
    "values",
    [
        {"resolution": "half"},
        {"resolution": 0},
        {"views": "some"},
        {"context": ("age", "findings")},
        {"temperature": -1.0},
        {"runs": 0},
        {"runs": 2, "seeds": (1,)},
    ],
)
def test_values_that_mean_nothing_are_refused(values: dict[str, object]) -> None:
    """With the name of what is wrong."""
    with pytest.raises(BadInput, match=list(values)[-1]):
        ModelProtocol(**values)  # type: ignore[arg-type]


def test_a_resolution_is_written_in_words_or_pixels() -> None:
    """Digits are pixels across."""
    assert (resolution_of("quarter"), resolution_of("512")) == ("quarter", 512)
