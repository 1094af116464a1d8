"""Exam papers: the content of items, films as readers see them, and prompts."""

import io
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from study.base.canonical import stamp
from study.base.errors import BadInput, NotFound, NotNow
from study.films import grey_levels, initial_window
from study.films.decoding import WINDOW_KEY, Grey
from study.lifecycle import drafts, studies
from study.models import running_exam
from study.models.model_protocol import (
    TEMPLATES,
    ModelProtocol,
    Order,
    Shown,
    resolution_of,
    template_of,
)
from study.models.paper import (
    PaperFilm,
    PaperItem,
    opening_window,
    paper_of_bank,
    paper_of_study,
    prompt_of,
    render_film,
    sixteen_bit_png,
)
from study.protocol.protocol import Protocol
from study.reading.desk import desk
from study.store import Store, people
from study.store.banks import FilmRow
from study.store.studies import images_shown_instead
from tests.conftest import ACTING, NOW, ROOT, SECRETS, person, tamper

Opened = Callable[..., Store]
MODEL_PROTOCOL = ModelProtocol()


@pytest.fixture
def trial(opened: Opened) -> Store:
    """Return a store with an open study of eight cases with shuffled options."""
    return opened(option_order="random")


def test_models_receive_the_same_content_as_readers(trial: Store) -> None:
    """Question, options, context and views are identical."""
    paper = paper_of_study(trial, "trial", MODEL_PROTOCOL)
    by_question = {item.question: item for item in paper.items}
    assert len(paper.items) == 8
    for case in desk(trial, person(trial), now=NOW).cases:
        item = by_question[case.question]
        assert sorted(item.options) == sorted(text for _, text in case.options)
        assert item.context == case.context
        assert [film.label for film in item.films] == [view.label for view in case.views]


def test_options_may_have_the_order_of_a_reader(trial: Store) -> None:
    """By default the order is canonical."""
    with trial.look() as look:
        rows = look.rows(
            "SELECT item_id, shown_order FROM assignments JOIN readers ON readers.id = reader "
            "JOIN cases ON cases.id = case_id JOIN items ON items.id = item WHERE reader_id = 'R1'"
        )
    model_protocol = replace(MODEL_PROTOCOL, order=Order.READERS)
    own_paper = paper_of_study(trial, "trial", model_protocol, rater="R1").items
    assert {item.item_id: item.shown_order for item in own_paper} == {
        row["item_id"]: row["shown_order"] for row in rows
    }
    first, repeated = (
        paper_of_study(trial, "trial", model_protocol, run=run).items for run in (1, 2)
    )
    assert [item.shown_order for item in first] != [item.shown_order for item in repeated]
    assert {item.shown_order for item in paper_of_study(trial, "trial", MODEL_PROTOCOL).items} == {
        "ABCD"
    }


def test_options_of_a_model_can_be_shuffled_independently_of_readers(opened: Opened) -> None:
    """The order is a value of the model protocol."""
    store = opened()
    orders = {
        order: [
            item.shown_order
            for item in paper_of_study(store, "trial", replace(MODEL_PROTOCOL, order=order)).items
        ]
        for order in Order
    }
    assert set(orders[Order.READERS]) == {"ABCD"}
    assert len(set(orders[Order.SHUFFLED])) > 2


def test_conditions_change_only_the_films(trial: Store) -> None:
    """The paper has no films, or those of another item."""
    shown = {
        condition: paper_of_study(
            trial, "trial", replace(MODEL_PROTOCOL, condition=condition)
        ).items
        for condition in (Shown.IMAGE, Shown.IMAGE_ABSENT, Shown.WRONG_IMAGE)
    }
    for usual, absent, wrong in zip(*shown.values(), strict=True):
        assert usual.question == absent.question == wrong.question
        assert absent.films == ()
        assert "No image is shown" in prompt_of(absent, MODEL_PROTOCOL).text
        assert not {film.sha256 for film in usual.films} & {film.sha256 for film in wrong.films}
        assert len(wrong.films) == 2


def test_a_model_is_shown_the_wrong_images_of_the_readers(banked: Store) -> None:
    """A study with the condition wrong-image pairs cases at the draw."""
    values = {"cases": 6, "one_question_per": "item", "conditions": ["unaided", "wrong-image"]}
    studies.draw(
        banked, bank="bank", study="trial", protocol=Protocol.from_json(values), acting=ACTING
    )
    usual, wrong = (
        {
            item.item_id: [film.sha256 for film in item.films]
            for item in paper_of_study(
                banked, "trial", replace(MODEL_PROTOCOL, condition=condition)
            ).items
        }
        for condition in (Shown.IMAGE, Shown.WRONG_IMAGE)
    )
    with banked.look() as look:
        pairs = images_shown_instead(look, "trial")
    assert pairs
    assert wrong == {item_id: usual[other] for item_id, other in pairs.items()}


def test_a_paper_may_cover_a_bank_or_a_split(banked: Store) -> None:
    """The paper has all items; an unknown split is refused."""
    paper = paper_of_bank(banked, "bank", MODEL_PROTOCOL)
    assert len(paper.items) == 24
    assert paper.protocol_sha256 == ""
    assert [item.item_id for item in paper.items] != sorted(item.item_id for item in paper.items)
    with pytest.raises(NotFound, match="no items of the split “test”"):
        paper_of_bank(banked, "bank", MODEL_PROTOCOL, split="test")


def test_the_paper_does_not_depend_on_the_correct_answers(trial: Store) -> None:
    """Reports, explanations and attributes have no effect either."""
    before = paper_of_study(trial, "trial", MODEL_PROTOCOL)
    words = json.dumps(before.as_json())
    assert not [secret for secret in SECRETS if secret in words]
    tamper(
        trial,
        "UPDATE reference_standard SET truth = 'D'",
        "UPDATE report_texts SET words = 'other'",
        "UPDATE explanations SET words = 'other'",
        "UPDATE items SET task = 'other', category = 'other', subcategory = 'other'",
    )
    after = paper_of_study(trial, "trial", MODEL_PROTOCOL)
    assert after.sha256 == before.sha256
    assert after == before


def test_a_draft_has_no_exam_paper(banked: Store) -> None:
    """The cases of a draft are not drawn yet; an unknown name is reported as such."""
    with banked.change() as change:
        maker = people.add(change, handle="ada", made_at_utc=stamp(NOW))
    drafts.begin(banked, name="plan", maker=maker, bank="bank", acting=ACTING)
    with pytest.raises(NotNow, match=r"“plan” is still a draft\. Draw its cases first"):
        paper_of_study(banked, "plan", MODEL_PROTOCOL)
    with pytest.raises(NotFound, match="no study named “nowhere”"):
        paper_of_study(banked, "nowhere", MODEL_PROTOCOL)


def test_films_are_rendered_once_and_the_cache_is_limited(
    trial: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the limit, the least recently used film is discarded."""
    paper = paper_of_study(trial, "trial", MODEL_PROTOCOL)
    n_films = len({film.sha256 for item in paper.items for film in item.films})
    films: list[str] = []
    png = PaperFilm.png

    def count_and_render(film: PaperFilm, resolution: str | int = "full") -> bytes:
        films.append(film.sha256)
        return png(film, resolution)

    monkeypatch.setattr(PaperFilm, "png", count_and_render)
    exam = running_exam.PaperExam(paper=paper)
    twice = [[exam.question(item_id) for item_id in exam.item_ids] for _ in range(2)]
    assert twice[0] == twice[1]
    assert len(films) == len(set(films)) == n_films
    monkeypatch.setattr(running_exam, "_CACHE_BYTES", 3 * max(map(len, exam._cache.values())))
    small = running_exam.PaperExam(paper=paper)
    assert [small.question(item_id) for item_id in small.item_ids] == twice[0]
    assert sum(map(len, small._cache.values())) == small._cached_bytes <= running_exam._CACHE_BYTES
    assert list(small._cache)[-1] == paper.items[-1].films[-1].sha256


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


def test_the_prompt_of_the_first_template_is_complete() -> None:
    """Views, patient, question, options and instruction are paragraphs; braces are kept."""
    assert prompt_of(ITEM, ModelProtocol()).text == (
        "Images, in order: 1: PA, 2: view not stated.\n\n"
        "Patient: Age 60 years, Sex female.\n\n"
        "Question: Which {finding} is seen?\nA. Effusion\nB. None {0}\n\n"
        "Reply with the letter of the best option and nothing else."
    )
    assert "q-secret-id" not in prompt_of(ITEM, ModelProtocol()).text


def test_the_prompt_has_only_lines_that_apply() -> None:
    """Patient, views, system prompt and explanation are optional."""
    bare = PaperItem(
        number=1,
        item_id="q",
        question="What?",
        options=("x", "y"),
        shown_order="AB",
        context=(),
        films=(),
    )
    model_protocol = ModelProtocol(condition=Shown.IMAGE_ABSENT, explanation=True, system="")
    prompt = prompt_of(bare, model_protocol)
    assert prompt.system == ""
    assert prompt.text.startswith("No image is shown.\n\nQuestion: What?\nA. x\nB. y\n\nExplain")
    assert "Patient" not in prompt.text


def test_the_template_can_be_printed_with_placeholders() -> None:
    """The report prints the template; an unknown version is refused."""
    printed = TEMPLATES["1"].printed(ModelProtocol())
    assert printed.startswith(TEMPLATES["1"].system)
    assert "{question}\n{options}" in printed
    with pytest.raises(BadInput, match="no prompt template “x”"):
        template_of(ModelProtocol(template="x"))


def test_equal_model_protocols_have_the_same_hash() -> None:
    """Protocols with other values have another hash."""
    asked, same = (
        ModelProtocol(order=Order.SHUFFLED, context=("age",), runs=2, seeds=(1, 2), resolution=512)
        for _ in range(2)
    )
    assert same.sha256 == asked.sha256 != ModelProtocol().sha256


@pytest.mark.parametrize(
    "values",
    [
        {"resolution": "half"},
        {"resolution": 0},
        {"views": "second"},
        {"context": ("age", "findings")},
        {"temperature": -1.0},
        {"runs": 0},
        {"runs": 2, "seeds": (1,)},
    ],
)
def test_invalid_values_of_the_model_protocol_are_refused(values: dict[str, object]) -> None:
    """The message names the key."""
    with pytest.raises(BadInput, match=list(values)[-1]):
        ModelProtocol(**values)  # type: ignore[arg-type]


def test_a_resolution_is_a_name_or_a_width_in_pixels() -> None:
    """A value of digits is a width."""
    assert (resolution_of("quarter"), resolution_of("512")) == ("quarter", 512)


NODE = shutil.which("node")
_PAGE_SCRIPT = """
import { quantileWindow } from "./ui/viewer/js/film/film-samples.js";
import { openingPreset, preset, PRESETS, shade } from "./ui/viewer/js/film/picture.js";
import { fullWindow } from "./ui/viewer/js/viewer/pane.js";
let text = ""; for await (const part of process.stdin) text += part;
const { bits, samples, own } = JSON.parse(text);
const film = bits > 8 ? Uint16Array.from(samples) : Uint8Array.from(samples);
const full = fullWindow({ low: Math.min(...film), high: Math.max(...film) });
const opened = preset(PRESETS[openingPreset(bits)], full, own ?? quantileWindow(film, 0.01, 0.99));
console.log(JSON.stringify([...film].map((grey) => shade(grey, opened, false))));
"""


def _film(pixels: Grey, window: str = "") -> bytes:
    info = PngInfo()
    info.add_text("Comment", "THE ANSWER IS B")
    if window:
        info.add_text(WINDOW_KEY, window)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format="PNG", pnginfo=info, dpi=(72, 72))
    return out.getvalue()


def _pixels(bits: int) -> Grey:
    drawn: Grey = (
        np.random.default_rng(bits).binomial(2**bits - 1, 0.3, (37, 23)).astype(f"u{bits // 8}")
    )
    return drawn


@pytest.mark.skipif(NODE is None, reason="Node is missing; install it with: apt-get install nodejs")
@pytest.mark.parametrize(("bits", "has_window"), [(8, ""), (16, ""), (16, "900.5 40000.25")])
def test_grey_levels_equal_those_of_the_reading_page(bits: int, has_window: str) -> None:
    """The page's modules give the same 256 levels in Node."""
    film = _film(_pixels(bits), has_window)
    values = {"bits": bits, "samples": grey_levels(film).ravel().tolist(), "own": None}
    if has_window:
        low, high = map(float, has_window.split())
        values["own"] = {"low": low, "high": high}
    result = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", _PAGE_SCRIPT],
        cwd=ROOT,
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=True,
    )
    shown = np.asarray(Image.open(io.BytesIO(render_film(film))))
    assert shown.ravel().tolist() == json.loads(result.stdout)


def test_rendered_films_contain_pixels_only() -> None:
    """The PNG has no other chunks than header, data and end."""
    film = _film(_pixels(16), "5 600")
    for png in (render_film(film), render_film(film, "quarter"), sixteen_bit_png(film)):
        assert png is not None
        assert b"ANSWER" not in png
        assert {png[at - 4 : at] for at in _chunks(png)} == {b"IHDR", b"IDAT", b"IEND"}
        assert Image.open(io.BytesIO(png)).info == {}


def _chunks(png: bytes) -> list[int]:
    positions, at = [], 8
    while at < len(png):
        positions.append(at + 8)
        at += 12 + int.from_bytes(png[at : at + 4], "big")
    return positions


def test_the_16_bit_file_has_the_original_samples() -> None:
    """A film of 8 bits has no such file."""
    pixels = _pixels(16)
    samples = sixteen_bit_png(_film(pixels))
    assert samples is not None
    assert np.array_equal(grey_levels(samples), pixels)
    assert sixteen_bit_png(_film(_pixels(8))) is None


def test_a_smaller_film_is_averaged_before_it_is_windowed() -> None:
    """The size "quarter" divides width and height by four, and no film is enlarged."""
    pixels = np.zeros((40, 80), dtype=np.uint16)
    pixels[:, 1::2] = 60_000
    film = _film(pixels, "0 60000")
    small = np.asarray(Image.open(io.BytesIO(render_film(film, "quarter"))))
    assert small.shape == (10, 20)
    assert set(small.ravel()) == {128}
    sizes = [Image.open(io.BytesIO(render_film(film, across))).size for across in (16, 800)]
    assert sizes == [(16, 8), (80, 40)]


def test_a_film_of_a_single_grey_level_is_drawn() -> None:
    """The window of such a film is one step wide, as on the page."""
    plain = np.full((4, 4), 7, dtype=np.uint16)
    assert opening_window(plain, initial_window(_film(plain))) == (7, 8)
