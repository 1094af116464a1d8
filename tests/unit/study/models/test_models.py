"""Models as raters: reading a file, adding, withdrawing and replacing a model, model cards."""

import csv
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis import read_bundle
from analysis.readings.circumstances import n_cut_off
from analysis.report.leaderboard import CARD_COLUMNS
from study.base.actor import COMMAND_LINE, Acting, By
from study.base.errors import BadFile, BadInput, NotFound, NotNow
from study.cli import main
from study.exchange import closing_report
from study.exchange.bundle import bundle_files, export
from study.exchange.restoring import IDENTICAL_FILES, restore
from study.models.answer_parser import answer_in
from study.models.models import (
    FIELDS,
    StudyPredictions,
    add_model,
    cards,
    describe_model,
    keep_model,
    models_of,
    read_model,
    withdraw_model,
    withdrawn_models,
)
from study.models.rereading import correct_by_rules, keep_reread, outputs_of, reread
from study.monitoring.progress import status
from study.store import Store, banks, events, studies
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, invite
from tests.sites import close_trial, create_empty

Opened = Callable[..., Store]

CASES = tuple(f"q{i:04d}" for i in range(24))
BY = By(name="ada", role="coordinator")
LATER = NOW + timedelta(days=400)


@pytest.fixture
def trial(opened: Opened) -> Store:
    """Return a store with an open study of eight cases."""
    return opened(cases=8, one_question_per="item")


def _file(folder: Path, words: object = "A", ids: tuple[str, ...] = CASES) -> Path:
    path = folder / "model.json"
    path.write_text(json.dumps({item_id: {"model_prediction": words} for item_id in ids}))
    return path


def _drawn_item_ids(store: Store) -> list[str]:
    with store.look() as look:
        rows = look.rows("SELECT item_id FROM cases JOIN items ON items.id = item ORDER BY number")
    return [row["item_id"] for row in rows]


def _mixed_predictions(store: Store, folder: Path) -> StudyPredictions:
    """Return the content of a file with an answer, an unclear one, a refusal and five gaps."""
    first, second, third, *_ = _drawn_item_ids(store)
    outputs = {first: "B", second: "hard to tell", third: "I cannot answer.", "elsewhere": "A"}
    path = folder / "mixed.json"
    path.write_text(
        json.dumps({key: {"model_prediction": words} for key, words in outputs.items()})
    )
    return read_model(store, path, study="trial")


def test_reading_a_file_stores_nothing(trial: Store, tmp_path: Path) -> None:
    """Counts are returned, without a row or an event."""
    with trial.look() as look:
        before = events.length(look, "study:trial")
    answers = _mixed_predictions(trial, tmp_path)
    assert answers.by_status == {"answered": 1, "unparsed": 1, "refused": 1}
    assert (answers.n_cases, answers.n_absent, answers.n_not_drawn) == (8, 5, 1)
    assert answers.n_unanswered == 2
    with trial.look() as look:
        assert look.value("SELECT count(*) FROM models") == 0
        assert events.length(look, "study:trial") == before


def test_ids_that_do_not_match_are_reported_before_a_model_is_added(
    trial: Store, tmp_path: Path
) -> None:
    """The message has counts and examples of IDs in the file and in the study."""
    answers = _mixed_predictions(trial, tmp_path)
    assert answers.absent_ids == _drawn_item_ids(trial)[3:]
    other = tuple(f"case-{n}" for n in range(40))
    with pytest.raises(BadFile) as excinfo:
        read_model(trial, _file(tmp_path, ids=other), study="trial")
    assert "In the file, 40: “case-0”, “case-1”, “case-2”." in str(excinfo.value)
    assert f"In the study, 8: “{_drawn_item_ids(trial)[0]}”" in str(excinfo.value)


def test_examples_show_outputs_with_the_answers_read_from_them(
    trial: Store, tmp_path: Path
) -> None:
    """Unclear outputs are included; an option is shown by its letter and text."""
    examples = _mixed_predictions(trial, tmp_path).examples(10)
    assert [(example.words, example.status, example.answer) for example in examples] == [
        ("B", "answered", "B"),
        ("hard to tell", "unparsed", None),
        ("I cannot answer.", "refused", None),
    ]
    options = json.loads(_options(trial, examples[0].item_id))
    assert [example.option for example in examples] == [options[1], "", ""]


def _options(store: Store, item_id: str) -> str:
    with store.look() as look:
        return str(look.value("SELECT options FROM items WHERE item_id = :name", name=item_id))


def test_half_of_the_examples_are_unclear_outputs(trial: Store, tmp_path: Path) -> None:
    """Unclear outputs must be checked by the user."""
    drawn = _drawn_item_ids(trial)
    outputs = {item_id: "A" if i < 6 else "?" for i, item_id in enumerate(drawn)}
    path = tmp_path / "many.json"
    path.write_text(
        json.dumps({key: {"model_prediction": words} for key, words in outputs.items()})
    )
    answers = read_model(trial, path, study="trial")
    assert [example.words for example in answers.examples(4)] == ["A", "A", "?", "?"]
    assert len(answers.examples(10)) == 8


def test_the_answers_that_were_shown_are_stored(trial: Store, tmp_path: Path) -> None:
    """The file may change between the display and adding the model."""
    answers = read_model(trial, _file(tmp_path, "C"), study="trial")
    _file(tmp_path, "D")
    keep_model(trial, answers, model_id="M", acting=Acting(by=BY, now=NOW))
    with trial.look() as look:
        assert {row["answer"] for row in look.rows("SELECT answer FROM predictions")} == {"C"}
    assert verify(trial) == []


def test_a_withdrawn_model_is_not_counted_but_kept_in_the_store(
    trial: Store, tmp_path: Path
) -> None:
    """No table of the bundle has the model; the trail records person, time and reason."""
    add_model(trial, _file(tmp_path), study="trial", model_id="M", acting=ACTING)
    withdraw_model(
        trial, study="trial", model_id="M", reason="Wrong file", acting=Acting(by=BY, now=LATER)
    )
    files = bundle_files(trial, "trial")
    assert b"\nM," not in files["raters.csv"] + files["readings.csv"]
    assert status(trial, "trial")["models"] == []
    last = json.loads(files["audit.jsonl"].splitlines()[-1])
    assert (last["kind"], last["actor"]) == ("model withdrawn", "ada")
    assert last["detail"]["reason"] == "Wrong file"
    (withdrawn_model,) = withdrawn_models(trial, "trial")
    assert (withdrawn_model.model_id, withdrawn_model.n_predicted, withdrawn_model.event) == (
        "M",
        8,
        last["number"],
    )
    with trial.look() as look:
        assert look.value("SELECT count(*) FROM predictions") == 8
    assert verify(trial) == []


def test_a_replaced_model_keeps_its_name(trial: Store, tmp_path: Path) -> None:
    """The new answers count; the old ones are kept, and the trail records both steps."""
    add_model(trial, _file(tmp_path, "A"), study="trial", model_id="M", acting=ACTING)
    answers_b = read_model(trial, _file(tmp_path, "B"), study="trial")
    keep_model(
        trial,
        answers_b,
        model_id="M",
        replacing="Wrong file",
        acting=Acting(by=BY, now=LATER),
    )
    readings = bundle_files(trial, "trial")["readings.csv"].decode()
    answers = [line.split(",")[2] for line in readings.splitlines() if line.startswith("M,")]
    assert answers == ["B"] * 8
    with trial.look() as look:
        kinds = [event.kind for event in events.walk(look, "study:trial")]
    assert kinds[-3:] == ["model added", "model withdrawn", "model added"]
    assert verify(trial) == []


def test_a_replacement_needs_a_reason_and_a_model(trial: Store, tmp_path: Path) -> None:
    """Without a reason or model, the current model is unchanged."""
    add_model(trial, _file(tmp_path, "A"), study="trial", model_id="M", acting=ACTING)
    answers = read_model(trial, _file(tmp_path, "B"), study="trial")
    with pytest.raises(BadInput, match="Give a reason"):
        keep_model(trial, answers, model_id="M", replacing=" ", acting=ACTING)
    with pytest.raises(NotFound, match="no model “N”"):
        keep_model(trial, answers, model_id="N", replacing="Wrong file", acting=ACTING)
    with pytest.raises(NotNow, match="already a model"):
        keep_model(trial, answers, model_id="M", acting=ACTING)
    with pytest.raises(NotFound, match="no model “N”"):
        withdraw_model(trial, study="trial", model_id="N", reason="Wrong file", acting=ACTING)
    assert [row["model_id"] for row in status(trial, "trial")["models"]] == ["M"]
    assert withdrawn_models(trial, "trial") == []


def test_the_name_of_a_withdrawn_model_is_reserved_for_models(trial: Store, tmp_path: Path) -> None:
    """A model can use the name again any number of times."""
    for _ in range(3):
        add_model(trial, _file(tmp_path), study="trial", model_id="M", acting=ACTING)
        withdraw_model(trial, study="trial", model_id="M", reason="Wrong", acting=ACTING)
    assert len(withdrawn_models(trial, "trial")) == 3
    assert verify(trial) == []
    with pytest.raises(BadFile, match="a model already has this name"):
        invite(trial, "m")


def test_a_withdrawal_after_closing_is_marked(trial: Store, tmp_path: Path) -> None:
    """The person may have seen the results; the bundle and report state this."""
    add_model(trial, _file(tmp_path), study="trial", model_id="M", acting=ACTING)
    withdraw_model(trial, study="trial", model_id="M", reason="Before", acting=ACTING)
    add_model(trial, _file(tmp_path), study="trial", model_id="M", acting=ACTING)
    close_trial(trial)
    withdraw_model(
        trial,
        study="trial",
        model_id="M",
        reason="Afterwards",
        acting=Acting(by=COMMAND_LINE, now=LATER),
    )
    package = json.loads(bundle_files(trial, "trial")["datapackage.json"])
    withdrawn = package["reading_room"]["withdrawn_models"]
    assert [(model["reason"], model["after_closing"]) for model in withdrawn] == [
        ("Before", False),
        ("Afterwards", True),
    ]
    page = closing_report.report_files(trial, "trial")["closing-report.html"].decode()
    assert "Afterwards (decided after closing)" in page


def test_a_study_with_withdrawn_models_is_restored_identically(
    trial: Store, tmp_path: Path
) -> None:
    """The restored models can be withdrawn, replaced and verified."""
    add_model(trial, _file(tmp_path, "A"), study="trial", model_id="M", acting=ACTING)
    withdraw_model(trial, study="trial", model_id="M", reason="Wrong file", acting=ACTING)
    add_model(trial, _file(tmp_path, "B"), study="trial", model_id="M", acting=ACTING)
    export(trial, study="trial", out=tmp_path / "bundle")
    target = create_empty(tmp_path / "target", 5)
    result = restore(target, tmp_path / "bundle", acting=Acting(by=BY, now=LATER))
    assert result.n_models == 1
    first, restored = bundle_files(trial, "trial"), bundle_files(target, "trial")
    assert {name: restored[name] for name in IDENTICAL_FILES} == {
        name: first[name] for name in IDENTICAL_FILES
    }
    withdraw_model(
        target,
        study="trial",
        model_id="M",
        reason="This one too",
        acting=Acting(by=COMMAND_LINE, now=LATER),
    )
    assert len(withdrawn_models(target, "trial")) == 2
    assert verify(target) == []


def _write_runs(folder: Path, cases: list[str]) -> Path:
    """Write two runs with confidence, and a run without films."""
    rows = [
        {
            "item_id": item_id,
            "run": run,
            "answer": answer,
            "confidence": confidence,
            "condition": shown,
        }
        for item_id in cases
        for run, answer, confidence, shown in (
            (1, "A", 0.9, ""),
            (2, "B", 0.6, ""),
            (1, "C", 0.3, "image-absent"),
        )
    ]
    path = folder / "runs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_runs_conditions_and_confidence_are_stored_and_exported(
    trial: Store, tmp_path: Path
) -> None:
    """The first run under the condition of the readers represents the model."""
    path = _write_runs(tmp_path, _drawn_item_ids(trial))
    answers = add_model(trial, path, study="trial", model_id="M", acting=ACTING)
    assert answers.by_status == {"answered": 8}
    (model,) = models_of(trial, "trial")[0]
    assert (model.n_predicted, model.n_runs, model.conditions) == (8, 2, '["","image-absent"]')
    export(trial, study="trial", out=tmp_path / "bundle")
    with (tmp_path / "bundle" / "readings.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["rater_id"] == "M"][:3]
    values = [
        [row[key] for key in ("answer", "condition", "repeat", "run", "confidence")] for row in rows
    ]
    assert values == [
        ["A", "", "1", "1", "0.9"],
        ["B", "", "2", "2", "0.6"],
        ["C", "image-absent", "1", "1", "0.3"],
    ]
    target = create_empty(tmp_path / "target", 5)
    restore(target, tmp_path / "bundle", acting=Acting(by=BY, now=LATER))
    first, restored = bundle_files(trial, "trial"), bundle_files(target, "trial")
    assert {name: restored[name] for name in IDENTICAL_FILES} == {
        name: first[name] for name in IDENTICAL_FILES
    }
    assert verify(trial) == verify(target) == []


def test_outputs_can_be_read_again_with_other_rules(trial: Store, tmp_path: Path) -> None:
    """Strict rules read fewer answers, loose rules more; the trail records a change."""
    first, second, third, *_ = _drawn_item_ids(trial)
    option = json.loads(_options(trial, second))[2]
    outputs = {first: "So the answer is B.", second: f"Look at {option} first", third: "C"}
    path = tmp_path / "words.json"
    path.write_text(
        json.dumps({key: {"model_prediction": words} for key, words in outputs.items()})
    )
    add_model(trial, path, study="trial", model_id="M", acting=ACTING)
    changed = {
        rules: dict(reread(trial, study="trial", model_id="M", rules=rules).changed)
        for rules in ("strict", "standard", "loose")
    }
    assert changed == {
        "strict": {("B", "unparsed"): 1},
        "standard": {},
        "loose": {("unparsed", "C"): 1},
    }
    read_again = outputs_of(trial, study="trial", model_id="M")
    assert sorted(tuple(output.by_rules.values()) for output in read_again) == [
        ("C", "C", "C"),
        ("unparsed", "B", "B"),
        ("unparsed", "unparsed", "C"),
    ]
    with trial.look() as look:
        study = study_row(look, "trial")
        truths = {item.item_id: item.truth for item in banks.items_of_study(look, study.id)}
    assert correct_by_rules(trial, study="trial", outputs=read_again) == {
        rules: sum(output.by_rules[rules] == truths[output.item_id] for output in read_again)
        for rules in ("strict", "standard", "loose")
    }
    strictly = reread(trial, study="trial", model_id="M", rules="strict")
    keep_reread(trial, strictly, reason="Strictly", acting=Acting(by=BY, now=LATER))
    (model,) = models_of(trial, "trial")[0]
    assert (model.n_answered, model.n_unparsed) == (1, 2)
    assert dict(reread(trial, study="trial", model_id="M", rules="standard").changed) == {
        ("unparsed", "B"): 1
    }
    assert verify(trial) == []


def test_outputs_are_read_together_with_the_question_of_their_case(
    trial: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question is used when files are added, read again, listed and exported."""
    add_model(trial, _file(tmp_path, "Hard to tell."), study="trial", model_id="M", acting=ACTING)
    with trial.look() as look:
        questions = studies.questions(look, study_row(look, "trial").id)
    texts: list[str | None] = []

    def recorded(*args: Any, question: str | None = None) -> tuple[str | None, str]:
        texts.append(question)
        return answer_in(*args, question=question)

    monkeypatch.setattr("study.models.predictions.answer_in", recorded)
    for act in (
        lambda: read_model(trial, _file(tmp_path, "Hard to tell."), study="trial"),
        lambda: reread(trial, study="trial", model_id="M", rules="standard"),
        lambda: outputs_of(trial, study="trial", model_id="M"),
        lambda: bundle_files(trial, "trial"),
    ):
        texts.clear()
        act()
        assert set(texts) == set(questions.values())


def test_a_bundle_without_withdrawn_models_has_no_new_columns(trial: Store, tmp_path: Path) -> None:
    """Bundles of earlier versions can be restored because no row has an edition."""
    add_model(trial, _file(tmp_path), study="trial", model_id="M", acting=ACTING)
    files = bundle_files(trial, "trial")
    assert b"edition" not in b"".join(files.values())
    assert files["readings.csv"].splitlines()[0].endswith(b",excluded")


def test_the_analysis_never_sees_a_withdrawn_model(trial: Store, tmp_path: Path) -> None:
    """The raters in the bundle do not include the model."""
    add_model(trial, _file(tmp_path, "A"), study="trial", model_id="M", acting=ACTING)
    add_model(trial, _file(tmp_path, "B"), study="trial", model_id="N", acting=ACTING)
    withdraw_model(trial, study="trial", model_id="M", reason="Wrong file", acting=ACTING)
    export(trial, study="trial", out=tmp_path / "bundle")
    assert set(read_bundle(tmp_path / "bundle").raters["rater_id"]) == {"R1", "R2", "N"}


@pytest.fixture
def store(opened: Opened, tmp_path: Path) -> Store:
    """Return an open study with a model."""
    store, file = opened(), tmp_path / "m.csv"
    file.write_text(
        "item_id,answer\nq0001,A\nq0002,A\n" + "".join(f"q{n:04d},B\n" for n in range(3, 24))
    )
    add_model(store, file, study="trial", model_id="M", model_version="1", acting=ACTING)
    return store


def test_a_model_card_has_the_fields_of_the_leaderboard() -> None:
    """The two lists of fields are equal."""
    assert FIELDS == CARD_COLUMNS


def test_the_last_model_card_is_shown_and_the_trail_has_all_of_them(store: Store) -> None:
    """Empty fields are omitted; an empty card removes the card."""
    for card in ({"licence": "MIT", "cost": " "}, {"licence": "Apache-2.0", "date": "2026"}):
        describe_model(store, study="trial", model_id="M", card=card, acting=ACTING)
    assert cards(store, "trial") == {"M": {"licence": "Apache-2.0", "date": "2026"}}
    assert verify(store) == []
    describe_model(store, study="trial", model_id="M", card={"licence": ""}, acting=ACTING)
    assert cards(store, "trial") == {}


def test_an_invalid_card_is_refused(store: Store) -> None:
    """The field or model is unknown, or the text is too long."""
    for card, model, error, words in (
        ({"price": "1"}, "M", BadInput, "no “price”"),
        ({"cost": "1"}, "N", NotFound, "no model “N”"),
        ({"cost": "1" * 5000}, "M", BadInput, "at most"),
    ):
        with pytest.raises(error, match=words):
            describe_model(store, study="trial", model_id=model, card=card, acting=ACTING)
    assert cards(store, "trial") == {}


def test_cut_off_outputs_are_counted_and_flagged_in_the_bundle(
    trial: Store, tmp_path: Path
) -> None:
    """Such outputs are unparsed in `readings.csv` and have the flag `cut_off`."""
    first, second, *_ = _drawn_item_ids(trial)
    path = tmp_path / "answers.jsonl"
    rows = [
        {"item_id": first, "output": "Answer: B", "finish_reason": "length"},
        {"item_id": second, "output": "Answer: A", "finish_reason": "stop"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = read_model(trial, path, study="trial")
    assert (answers.n_cut_off, answers.by_status) == (1, {"unparsed": 1, "answered": 1})
    keep_model(trial, answers, model_id="M", acting=ACTING)
    assert models_of(trial, "trial")[0][0].n_cut_off == 1
    folder = tmp_path / "bundle"
    export(trial, study="trial", out=folder)
    with (folder / "readings.csv").open(newline="") as file:
        flags = {(row["item_id"], row["status"]): row["flags"] for row in csv.DictReader(file)}
    assert flags == {(first, "unparsed"): "cut_off", (second, "answered"): ""}
    assert n_cut_off(read_bundle(folder)) == {"M": 1}
    reread_answers = reread(trial, study="trial", model_id="M", rules="loose")
    assert not reread_answers.changed  # no rule set reads an output that was cut off


def test_the_command_reports_a_missing_model_card(
    trial: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_model(trial, _file(tmp_path), study="trial", model_id="M", acting=ACTING)
    line = ["models", "card", "--db", str(trial.path), "--study", "trial", "--model"]
    assert main([*line, "M"]) == 0
    assert "M has no model card. Write one with --set FIELD=TEXT." in capsys.readouterr().out
