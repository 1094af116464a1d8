"""Models asked without options: what they are asked; their words are never read as a letter."""

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
from study.base.actor import By
from study.base.canonical import sha256_of
from study.base.text import unguarded
from study.exchange.bundle import bundle_files, zipped
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
from study.models.predictions import in_words
from study.models.rereading import keep_reread, outputs_of, reread
from study.models.running import Limits
from study.models.running_askers import PYTHON, Provider
from study.models.running_exam import ModelRun, run_model
from study.reading import desk, score_card
from study.store import Store, judgements
from study.store.studies import study_row
from study.trail.verification import verify, verify_study
from tests.conftest import NOW, person, presentation, reading
from tests.sites import empty
from tests.unit.study.reading.test_score_card import close

Opened = Callable[..., Store]
OPEN = "open-ended"
ASKED = ModelProtocol(condition=Shown.OPEN_ENDED, order=Order.SHUFFLED)
BY = By(name="c", role="administrator", place="abc")


@pytest.fixture
def trial(opened: Opened) -> Store:
    """Return a store with an open study of eight cases."""
    return opened(feedback="after study", score_card="peers")


def _ids(store: Store) -> list[str]:
    with store.look() as look:
        rows = look.rows("SELECT item_id FROM cases JOIN items ON items.id = item ORDER BY number")
    return [row["item_id"] for row in rows]


def _said(store: Store) -> list[judgements.OpenAnswer]:
    with store.look() as look:
        return judgements.open_answers_of_study(look, study_row(look, "trial").id)


def _file(folder: Path, *rows: Mapping[str, object]) -> Path:
    path = folder / "model.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _keep(store: Store, found: StudyPredictions, model: str = "M") -> None:
    keep_model(store, found, model_id=model, by=BY, now=NOW)


# What is asked


def test_the_first_template_without_options_reads_so(trial: Store) -> None:
    """No letter, no option and nothing of their order; the images as where there are options."""
    item = paper_of_study(trial, "trial", ASKED).items[0]
    prompt = prompt_of(item, ASKED)
    assert prompt.system == (
        "You are an experienced radiologist. You answer questions about radiographs."
    )
    assert prompt.text == (
        "Images, in order: 1: PA, 2: LATERAL.\n\n"
        f"Patient: {', '.join(' '.join(told) for told in item.context)}.\n\n"
        f"Question: {item.question}\n\n"
        "Answer in a few words, as you would in a report, and do not explain."
    )
    assert (item.options, item.shown_order, len(item.films)) == ((), "", 2)
    explained = prompt_of(item, replace(ASKED, explanation=True)).text
    assert explained.endswith('a line "Answer: " and your answer in a few words.')


@pytest.mark.parametrize(
    ("templates", "sha256"), [(TEMPLATES, "a204ac104acfaee9"), (OPEN_TEMPLATES, "e952deb33b97fcb9")]
)
def test_the_first_templates_stay_as_they_are(
    templates: Mapping[str, Template], sha256: str
) -> None:
    """Answers are stored under their version; lines that came later are not in it."""
    words = {name: getattr(templates["1"], name) for name in Template.__slots__}
    assert sha256_of({name: text for name, text in words.items() if text})[:16] == sha256


def test_no_option_is_in_any_shape_of_the_paper(trial: Store, tmp_path: Path) -> None:
    """Neither a text nor a letter of one; every item and its images are."""
    paper = paper_of_study(trial, "trial", ASKED)
    export_paper(trial, paper, tmp_path / "out", by=BY, now=NOW)
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"Finding " not in path.read_bytes(), path
    table = pd.read_csv(tmp_path / "out" / "vlmevalkit" / "ReadingRoom.tsv", sep="\t")
    assert list(table.columns) == ["index", "item_id", "shown_order", "hint", "question", "image"]
    told = json.loads((tmp_path / "out" / "jsonl" / "items.jsonl").read_text().splitlines()[0])
    assert (told["condition"], told["options"], len(told["images"])) == (OPEN, {}, 2)
    about = json.loads((tmp_path / "out" / "jsonl" / "paper.json").read_text())
    assert "{options}" not in about["prompt"]
    assert "no options" in (tmp_path / "out" / "jsonl" / "README.md").read_text()


# What comes back


def test_words_are_kept_and_never_read_as_a_letter(trial: Store, tmp_path: Path) -> None:
    """Not even where they are one, or name the option; a file says by a column how it was asked."""
    ids = _ids(trial)
    said = ["B", "The answer is (C).", '=1+1 "x"\nنعم 🫁', "<think>Hm, A.</think>Effusion.", " "]
    rows: list[dict[str, object]] = [
        {"item_id": item_id, "output": words, "condition": "Open_ended"}
        for item_id, words in zip(ids, said, strict=False)
    ]
    rows.append({"item_id": ids[5], "output": "I'm sorry, I cannot interpret medical images.",
                 "condition": OPEN})  # fmt: skip
    found = read_model(trial, _file(tmp_path, *rows), study="trial")
    assert found.by_status == {"answered": 4, "skipped": 1, "refused": 1}
    assert {one.option for one in found.examples(10)} == {""}
    _keep(trial, found)
    kept = _said(trial)
    assert [one.words for one in kept[:4]] == [*said[:3], "Effusion."]
    assert [one.status for one in kept] == ["answered"] * 4 + ["skipped", "refused"]
    assert {(one.kind, one.rater_id, one.condition) for one in kept} == {("answer", "M", OPEN)}
    assert len({one.answer_id for one in kept}) == 6
    with trial.look() as look:
        raw = look.rows("SELECT raw_answer FROM predictions ORDER BY rowid")
    assert raw[3]["raw_answer"] == said[3]
    assert verify(trial) == []


def test_an_exam_paper_beside_the_answers_says_how_it_was_asked(
    trial: Store, tmp_path: Path
) -> None:
    """Shapes without a column for it, as a table of VLMEvalKit, are taken with `paper.json`."""
    export_paper(trial, paper_of_study(trial, "trial", ASKED), tmp_path / "out", by=BY, now=NOW)
    table = pd.read_csv(tmp_path / "out" / "vlmevalkit" / "ReadingRoom.tsv", sep="\t")
    table["prediction"] = [f"A finding, number {n}" for n in table["index"]]
    table.drop(columns=["image"]).to_csv(tmp_path / "answers.csv", index=False)
    paper = tmp_path / "out" / "vlmevalkit" / "paper.json"
    found = read_model(trial, tmp_path / "answers.csv", paper, study="trial")
    assert {one.condition for one in found.file.predictions} == {OPEN}
    assert found.by_status == {"answered": 8}
    assert found.file.predictions[0].answer == "A finding, number 1"


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
def test_the_answer_is_told_from_its_explanation_by_a_line(
    raw: str | None, answer: str | None, explanation: str, status: str
) -> None:
    """The last line that begins with `Answer:`; without one all is the answer."""
    read = in_words("q", raw)
    assert (read.answer, read.status) == (answer, status)
    assert read.detail.get("explanation", "") == explanation
    assert read.raw_answer == (raw or "")


def test_explanations_of_every_condition_are_words_too(trial: Store, tmp_path: Path) -> None:
    """With ids of their own, and beside answers with options as well."""
    first, second, *_ = _ids(trial)
    path = _file(
        tmp_path,
        {"item_id": first, "answer": "A", "explanation": "A blunt angle.", "condition": "image"},
        {"item_id": second, "answer": "B", "condition": "image"},
        {"item_id": first, "answer": "Effusion", "explanation": "Fluid.", "condition": OPEN},
    )
    column_roles = {"id": "item_id", "answer": "answer", "explanation": "explanation",
             "condition": "condition"}  # fmt: skip
    _keep(trial, read_model(trial, path, study="trial", column_roles=column_roles))
    told = [(one.kind, one.condition, one.words) for one in _said(trial)]
    assert told == [
        ("explanation", "image", "A blunt angle."),
        ("answer", OPEN, "Effusion"),
        ("explanation", OPEN, "Fluid."),
    ]
    assert len({one.answer_id for one in _said(trial)}) == 3


def explaining(item: dict[str, str], images: list[object]) -> str:
    """Answer as a model does that was asked to explain first."""
    assert len(images) == 2
    open_ended = "a few words" in item["prompt"]
    assert ("\nA. " in item["prompt"]) != open_ended
    return f"The angle is blunt.\nAnswer: {'left effusion' if open_ended else 'B'}"


@pytest.mark.parametrize("condition", [Shown.OPEN_ENDED, Shown.IMAGE])
def test_a_model_that_is_asked_here_answers_and_explains_in_words(
    trial: Store, condition: Shown
) -> None:
    """What stands before the line of its answer is kept as its explanation, with options too."""
    asked = ModelProtocol(condition=condition, explanation=True)
    provider = Provider(
        name=PYTHON,
        model=f"{__name__}:explaining",
        settings={},
        connections=1,
        retries=0,
        timeout_s=60,
    )
    with ThreadPoolExecutor(1) as apart:  # what drives the browsers has a loop in this thread
        ran = apart.submit(
            run_model,
            trial,
            ModelRun(
                paper=paper_of_study(trial, "trial", asked),
                model_id="M",
                provider=provider,
                limits=Limits(runs=1, connections=1),
            ),
            by=BY,
            now=lambda: NOW,
        ).result()
    assert ran is not None
    assert ran.kept is not None
    said = _said(trial)
    explained = [one.words for one in said if one.kind == "explanation"]
    assert explained == ["The angle is blunt."] * 8
    answers = [one.words for one in said if one.kind == "answer"]
    assert answers == (["left effusion"] * 8 if condition == Shown.OPEN_ENDED else [])
    assert verify(trial) == []


def test_withdrawn_models_have_no_words(trial: Store, tmp_path: Path) -> None:
    """And the next of the name has other ids: other words were judged before."""
    path = _file(tmp_path, {"item_id": _ids(trial)[0], "output": "Effusion", "condition": OPEN})
    _keep(trial, read_model(trial, path, study="trial"))
    (before,) = _said(trial)
    withdraw_model(trial, study="trial", model_id="M", reason="wrong file", by=BY, now=NOW)
    assert _said(trial) == []
    _keep(trial, read_model(trial, path, study="trial"))
    (after,) = _said(trial)
    assert (after.words, after.answer_id != before.answer_id) == (before.words, True)


def test_rules_for_letters_leave_words_alone(trial: Store, tmp_path: Path) -> None:
    """They are in no list of what other rules would read, and a rereading keeps them."""
    first, second, *_ = _ids(trial)
    path = _file(
        tmp_path,
        {"item_id": first, "output": "Perhaps B, perhaps not", "condition": OPEN},
        {"item_id": second, "output": "I see option C there", "condition": "image"},
    )
    _keep(trial, read_model(trial, path, study="trial"))
    assert [one.item_id for one in outputs_of(trial, study="trial", model_id="M")] == [second]
    again = reread(trial, study="trial", model_id="M", rules="loose")
    keep_reread(trial, again, reason="see", now=NOW)
    assert [one.words for one in _said(trial)] == ["Perhaps B, perhaps not"]
    assert first not in bundle_files(trial, "trial")["answers_by_rules.csv"].decode()


# What becomes of it


def test_words_are_no_readings_and_no_score(trial: Store, tmp_path: Path) -> None:
    """A model asked both ways counts by its letters; one asked open-ended alone is not wrong."""
    ids = _ids(trial)
    both = [{"item_id": one, "output": "A", "condition": c} for one in ids for c in ("image", OPEN)]
    _keep(trial, read_model(trial, _file(tmp_path, *both), study="trial"), "Both")
    alone = [one for one in both if one["condition"] == OPEN]
    _keep(trial, read_model(trial, _file(tmp_path, *alone), study="trial"), "Alone")
    who = person(trial)
    while cases := desk.desk(trial, who, now=NOW).cases:
        sent = [presentation(cases[0].case), reading(cases[0].case)]
        assert desk.take_records(trial, who, sent, now=NOW).refused == ()
    files = bundle_files(trial, "trial")
    rows = list(csv.DictReader(io.StringIO(files["readings.csv"].decode())))
    models = {(row["rater_id"], row["condition"]) for row in rows if row["rater_id"] != "R1"}
    assert models == {("Both", "image")}
    words = list(csv.DictReader(io.StringIO(files["open_answers.csv"].decode())))
    assert len(words) == 16
    close(trial)
    found = score_card.score_card(trial, who).comparison
    assert found is not None
    assert set(found.models) == {"Both"}
    assert sum(count.n for count in found.models["Both"].values()) == 8


def test_a_restored_study_has_them_to_the_byte(trial: Store, tmp_path: Path) -> None:
    """The bundle is read by the analysis, and what restores it exports the same words."""
    ids = _ids(trial)
    rows: list[dict[str, object]] = [
        {"item_id": one, "output": f'=1+1 "{one}"\nline', "condition": OPEN} for one in ids
    ]
    add_model(trial, _file(tmp_path, *rows), study="trial", model_id="M", now=NOW)
    case = desk.desk(trial, person(trial), now=NOW).cases[0].case
    desk.take_records(trial, person(trial), [presentation(case), reading(case)], now=NOW)
    files = bundle_files(trial, "trial")
    (tmp_path / "bundle.zip").write_bytes(zipped(files))
    table = csv.DictReader(io.StringIO(files["open_answers.csv"].decode(), newline=""))
    assert [unguarded(row["words"]) for row in table] == [row["output"] for row in rows]
    bundle = read_bundle(tmp_path / "bundle.zip")
    assert "M" in set(bundle.raters["rater_id"])
    target = empty(tmp_path / "target", 2)
    restore(target, tmp_path / "bundle.zip", by=BY, now=NOW + timedelta(days=1))
    assert bundle_files(target, "trial")["open_answers.csv"] == files["open_answers.csv"]
    assert not verify_study(target, "trial").breaches
