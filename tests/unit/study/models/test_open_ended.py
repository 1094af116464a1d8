"""Models in open-ended cases: the prompt, and text that is never read as a letter."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

from analysis import read_bundle
from study.base.actor import COMMAND_LINE, Acting, By
from study.base.canonical import sha256_of
from study.base.text import unguard_cell
from study.exchange.bundle import bundle_files, zip_files
from study.exchange.exam_papers import export_paper
from study.exchange.restoring import restore
from study.models.model_protocol import (
    OPEN_TEMPLATES,
    TEMPLATES,
    ModelProtocol,
    Order,
    Shown,
    Template,
)
from study.models.models import StudyPredictions, add_model, keep_model, read_model, withdraw_model
from study.models.paper import paper_of_study, prompt_of
from study.models.predictions import predict_open_answer
from study.models.rereading import keep_reread, outputs_of, reread
from study.models.running import Limits
from study.models.running_askers import PYTHON, Provider
from study.models.running_exam import ModelRun, run_model
from study.reading import desk, score_card
from study.store import Store, judgements
from study.store.studies import study_row
from study.trail.verification import verify, verify_study
from tests.conftest import NOW, person, presentation, reading
from tests.sites import create_empty
from tests.unit.study.reading.test_score_card import close

Opened = Callable[..., Store]
OPEN = "open-ended"
OPEN_PROTOCOL = ModelProtocol(condition=Shown.OPEN_ENDED, order=Order.SHUFFLED)
BY = By(name="c", role="administrator", place="abc")
ACTING = Acting(by=BY, now=NOW)


@pytest.fixture
def trial(opened: Opened) -> Store:
    """Return a store with an open study of eight cases."""
    return opened(feedback="after study", score_card="peers")


def _ids(store: Store) -> list[str]:
    with store.look() as look:
        rows = look.rows("SELECT item_id FROM cases JOIN items ON items.id = item ORDER BY number")
    return [row["item_id"] for row in rows]


def _open_answers(store: Store) -> list[judgements.OpenAnswer]:
    with store.look() as look:
        return judgements.open_answers_of_study(look, study_row(look, "trial").id)


def _file(folder: Path, *rows: Mapping[str, object]) -> Path:
    path = folder / "model.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _store_answers(store: Store, answers: StudyPredictions, model: str = "M") -> None:
    keep_model(store, answers, model_id=model, acting=ACTING)


# The prompt


def test_the_prompt_of_the_first_template_without_options_is_complete(trial: Store) -> None:
    """The prompt has no letter and no option; the images are the same as with options."""
    item = paper_of_study(trial, "trial", OPEN_PROTOCOL).items[0]
    prompt = prompt_of(item, OPEN_PROTOCOL)
    assert prompt.system == (
        "You are an experienced radiologist. You answer questions about radiographs."
    )
    assert prompt.text == (
        "Images, in order: 1: PA, 2: LATERAL.\n\n"
        f"Patient: {', '.join(' '.join(part) for part in item.context)}.\n\n"
        f"Question: {item.question}\n\n"
        "Answer in a few words, as you would in a report, and do not explain."
    )
    assert (item.options, item.shown_order, len(item.films)) == ((), "", 2)
    explained = prompt_of(item, replace(OPEN_PROTOCOL, explanation=True)).text
    assert explained.endswith('a line "Answer: " and your answer in a few words.')


@pytest.mark.parametrize(
    ("templates", "sha256"), [(TEMPLATES, "a204ac104acfaee9"), (OPEN_TEMPLATES, "e952deb33b97fcb9")]
)
def test_the_first_templates_are_unchanged(templates: Mapping[str, Template], sha256: str) -> None:
    """Answers are stored with the version of the template; lines added later are not compared."""
    texts = {name: getattr(templates["1"], name) for name in Template.__slots__}
    assert sha256_of({name: text for name, text in texts.items() if text})[:16] == sha256


def test_no_format_of_the_paper_contains_an_option(trial: Store, tmp_path: Path) -> None:
    """The paper has all items with their images."""
    paper = paper_of_study(trial, "trial", OPEN_PROTOCOL)
    export_paper(trial, paper, tmp_path / "out", acting=ACTING)
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"Finding " not in path.read_bytes(), path
    table = pd.read_csv(tmp_path / "out" / "vlmevalkit" / "ReadingRoom.tsv", sep="\t")
    assert list(table.columns) == ["index", "item_id", "shown_order", "hint", "question", "image"]
    item = json.loads((tmp_path / "out" / "jsonl" / "items.jsonl").read_text().splitlines()[0])
    assert (item["condition"], item["options"], len(item["images"])) == (OPEN, {}, 2)
    metadata = json.loads((tmp_path / "out" / "jsonl" / "paper.json").read_text())
    assert "{options}" not in metadata["prompt"]
    assert "no options" in (tmp_path / "out" / "jsonl" / "README.md").read_text()


# The answers


def test_text_is_stored_and_never_read_as_a_letter(trial: Store, tmp_path: Path) -> None:
    """A letter or the text of an option is text too; a column of the file has the condition."""
    ids = _ids(trial)
    outputs = ["B", "The answer is (C).", '=1+1 "x"\nنعم 🫁', "<think>Hm, A.</think>Effusion.", " "]
    rows: list[dict[str, object]] = [
        {"item_id": item_id, "output": words, "condition": "Open_ended"}
        for item_id, words in zip(ids, outputs, strict=False)
    ]
    rows.append({"item_id": ids[5], "output": "I'm sorry, I cannot interpret medical images.",
                 "condition": OPEN})  # fmt: skip
    answers = read_model(trial, _file(tmp_path, *rows), study="trial")
    assert answers.by_status == {"answered": 4, "skipped": 1, "refused": 1}
    assert {example.option for example in answers.examples(10)} == {""}
    _store_answers(trial, answers)
    open_answers = _open_answers(trial)
    assert [row.words for row in open_answers[:4]] == [*outputs[:3], "Effusion."]
    assert [row.status for row in open_answers] == ["answered"] * 4 + ["skipped", "refused"]
    assert {(row.kind, row.rater_id, row.condition) for row in open_answers} == {
        ("answer", "M", OPEN)
    }
    assert len({row.answer_id for row in open_answers}) == 6
    with trial.look() as look:
        raw = look.rows("SELECT raw_answer FROM predictions ORDER BY rowid")
    assert raw[3]["raw_answer"] == outputs[3]
    assert verify(trial) == []


def test_an_exam_paper_adds_the_condition_of_the_answers(trial: Store, tmp_path: Path) -> None:
    """Formats without a column for it, such as a table of VLMEvalKit, need `paper.json`."""
    export_paper(
        trial, paper_of_study(trial, "trial", OPEN_PROTOCOL), tmp_path / "out", acting=ACTING
    )
    table = pd.read_csv(tmp_path / "out" / "vlmevalkit" / "ReadingRoom.tsv", sep="\t")
    table["prediction"] = [f"A finding, number {n}" for n in table["index"]]
    table.drop(columns=["image"]).to_csv(tmp_path / "answers.csv", index=False)
    paper = tmp_path / "out" / "vlmevalkit" / "paper.json"
    answers = read_model(trial, tmp_path / "answers.csv", paper, study="trial")
    assert {prediction.condition for prediction in answers.file.predictions} == {OPEN}
    assert answers.by_status == {"answered": 8}
    assert answers.file.predictions[0].answer == "A finding, number 1"


@pytest.mark.parametrize(
    ("raw", "answer", "explanation", "status"),
    [
        ("Left effusion", "Left effusion", "", "answered"),
        ("The angle is blunt.\nAnswer: effusion", "effusion", "The angle is blunt.", "answered"),
        ("a\nAnswer: b\nFinal answer:\nc\nd", "c\nd", "a\nAnswer: b", "answered"),
        ("My answer: b is likely.", "My answer: b is likely.", "", "answered"),
        ("<think>only thoughts", None, "", "unparsed"),
        (None, None, "", "skipped"),
    ],
)
def test_a_line_separates_the_answer_from_its_explanation(
    raw: str | None, answer: str | None, explanation: str, status: str
) -> None:
    """The last line that begins with `Answer:` counts; without one, all text is the answer."""
    read = predict_open_answer("q", raw)
    assert (read.answer, read.status) == (answer, status)
    assert read.detail.get("explanation", "") == explanation
    assert read.raw_answer == (raw or "")


def test_explanations_of_every_condition_are_stored_as_text(trial: Store, tmp_path: Path) -> None:
    """Explanations have separate IDs, and can accompany answers with options."""
    first, second, *_ = _ids(trial)
    path = _file(
        tmp_path,
        {"item_id": first, "answer": "A", "explanation": "A blunt angle.", "condition": "image"},
        {"item_id": second, "answer": "B", "condition": "image"},
        {"item_id": first, "answer": "Effusion", "explanation": "Fluid.", "condition": OPEN},
    )
    column_roles = {"id": "item_id", "answer": "answer", "explanation": "explanation",
             "condition": "condition"}  # fmt: skip
    _store_answers(trial, read_model(trial, path, study="trial", column_roles=column_roles))
    answers = [(answer.kind, answer.condition, answer.words) for answer in _open_answers(trial)]
    assert answers == [
        ("explanation", "image", "A blunt angle."),
        ("answer", OPEN, "Effusion"),
        ("explanation", OPEN, "Fluid."),
    ]
    assert len({answer.answer_id for answer in _open_answers(trial)}) == 3


def answer_with_explanation(item: dict[str, str], images: list[object]) -> str:
    """Answer as a model that is asked to explain first."""
    assert len(images) == 2
    open_ended = "a few words" in item["prompt"]
    assert ("\nA. " in item["prompt"]) != open_ended
    return f"The angle is blunt.\nAnswer: {'left effusion' if open_ended else 'B'}"


@pytest.mark.parametrize("condition", [Shown.OPEN_ENDED, Shown.IMAGE])
def test_a_model_run_stores_explanations_as_text(trial: Store, condition: Shown) -> None:
    """The text before the line of the answer is the explanation, even if there are options."""
    model_protocol = ModelProtocol(condition=condition, explanation=True)
    provider = Provider(
        name=PYTHON,
        model=f"{__name__}:answer_with_explanation",
        settings={},
        connections=1,
        retries=0,
        timeout_s=60,
    )
    with ThreadPoolExecutor(1) as executor:  # Playwright runs an event loop in this thread
        result = executor.submit(
            run_model,
            trial,
            ModelRun(
                paper=paper_of_study(trial, "trial", model_protocol),
                model_id="M",
                provider=provider,
                limits=Limits(runs=1, connections=1),
            ),
            now=lambda: NOW,
        ).result()
    assert result is not None
    assert result.kept is not None
    open_answers = _open_answers(trial)
    explained = [answer.words for answer in open_answers if answer.kind == "explanation"]
    assert explained == ["The angle is blunt."] * 8
    answers = [answer.words for answer in open_answers if answer.kind == "answer"]
    assert answers == (["left effusion"] * 8 if condition == Shown.OPEN_ENDED else [])
    assert verify(trial) == []


def test_withdrawn_models_have_no_open_answers(trial: Store, tmp_path: Path) -> None:
    """A later model with the same name has other IDs, because other text was scored before."""
    path = _file(tmp_path, {"item_id": _ids(trial)[0], "output": "Effusion", "condition": OPEN})
    _store_answers(trial, read_model(trial, path, study="trial"))
    (before,) = _open_answers(trial)
    withdraw_model(trial, study="trial", model_id="M", reason="wrong file", acting=ACTING)
    assert _open_answers(trial) == []
    _store_answers(trial, read_model(trial, path, study="trial"))
    (after,) = _open_answers(trial)
    assert (after.words, after.answer_id != before.answer_id) == (before.words, True)


def test_rules_for_letters_do_not_apply_to_text(trial: Store, tmp_path: Path) -> None:
    """Text is not in the table of answers by rules; reading the outputs again keeps it."""
    first, second, *_ = _ids(trial)
    path = _file(
        tmp_path,
        {"item_id": first, "output": "Perhaps B, perhaps not", "condition": OPEN},
        {"item_id": second, "output": "I see option C there", "condition": "image"},
    )
    _store_answers(trial, read_model(trial, path, study="trial"))
    assert [row.item_id for row in outputs_of(trial, study="trial", model_id="M")] == [second]
    reread_answers = reread(trial, study="trial", model_id="M", rules="loose")
    keep_reread(trial, reread_answers, reason="see", acting=Acting(by=COMMAND_LINE, now=NOW))
    assert [row.words for row in _open_answers(trial)] == ["Perhaps B, perhaps not"]
    assert first not in bundle_files(trial, "trial")["answers_by_rules.csv"].decode()


# Use of the answers


def test_text_is_not_a_reading_and_has_no_score(trial: Store, tmp_path: Path) -> None:
    """A model with both conditions is scored by its letters.

    A model with text only has no score.
    """
    ids = _ids(trial)
    both = [
        {"item_id": item_id, "output": "A", "condition": condition}
        for item_id in ids
        for condition in ("image", OPEN)
    ]
    _store_answers(trial, read_model(trial, _file(tmp_path, *both), study="trial"), "Both")
    open_rows = [row for row in both if row["condition"] == OPEN]
    _store_answers(trial, read_model(trial, _file(tmp_path, *open_rows), study="trial"), "Alone")
    reader = person(trial)
    while cases := desk.desk(trial, reader, now=NOW).cases:
        sent = [presentation(cases[0].case), reading(cases[0].case)]
        assert desk.take_records(trial, reader, sent, now=NOW).refused == ()
    files = bundle_files(trial, "trial")
    rows = list(csv.DictReader(io.StringIO(files["readings.csv"].decode())))
    models = {(row["rater_id"], row["condition"]) for row in rows if row["rater_id"] != "R1"}
    assert models == {("Both", "image")}
    words = list(csv.DictReader(io.StringIO(files["open_answers.csv"].decode())))
    assert len(words) == 16
    close(trial)
    comparison = score_card.score_card(trial, reader).comparison
    assert comparison is not None
    assert set(comparison.models) == {"Both"}
    assert sum(count.n for count in comparison.models["Both"].values()) == 8


def test_a_restored_study_has_identical_text(trial: Store, tmp_path: Path) -> None:
    """The analysis reads the bundle, and the restored study exports the same text."""
    ids = _ids(trial)
    rows: list[dict[str, object]] = [
        {"item_id": item_id, "output": f'=1+1 "{item_id}"\nline', "condition": OPEN}
        for item_id in ids
    ]
    add_model(
        trial,
        _file(tmp_path, *rows),
        study="trial",
        model_id="M",
        acting=Acting(by=COMMAND_LINE, now=NOW),
    )
    case = desk.desk(trial, person(trial), now=NOW).cases[0].case
    desk.take_records(trial, person(trial), [presentation(case), reading(case)], now=NOW)
    files = bundle_files(trial, "trial")
    (tmp_path / "bundle.zip").write_bytes(zip_files(files))
    table = csv.DictReader(io.StringIO(files["open_answers.csv"].decode(), newline=""))
    assert [unguard_cell(row["words"]) for row in table] == [row["output"] for row in rows]
    bundle = read_bundle(tmp_path / "bundle.zip")
    assert "M" in set(bundle.raters["rater_id"])
    target = create_empty(tmp_path / "target", 2)
    restore(target, tmp_path / "bundle.zip", acting=Acting(by=BY, now=NOW + timedelta(days=1)))
    assert bundle_files(target, "trial")["open_answers.csv"] == files["open_answers.csv"]
    assert not verify_study(target, "trial").breaches
