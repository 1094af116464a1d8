"""Scoring of open answers: assignment, blinding, closing, and export."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from frictionless import validate

import analysis
from study.base.actor import COMMAND_LINE, Acting, By
from study.base.errors import BadFile, BadInput, NotAllowed, NotFound, NotNow, StudyError
from study.exchange.bundle import bundle_files, export, zip_files
from study.exchange.restoring import merge, restore
from study.lifecycle import judging, scoring, studies
from study.lifecycle.judging import Judged, Score, settled_verdict
from study.lifecycle.judging_desk import scorers_desk
from study.models.models import add_model, withdraw_model
from study.people.signing_in import Person
from study.reading import desk
from study.reading.desk import Acknowledgement
from study.store import Store, Transaction, extract, judgements, people
from study.store.judgements import ANSWER, SCORING, JudgingRow
from study.store.studies import study_row
from study.trail.verification import verify, verify_study
from tests.conftest import ACTING, NOW, person, presentation, reading, tamper
from tests.sites import create_empty
from tests.unit.study.exchange.test_restoring import SCORING_KINDS
from tests.unit.study.lifecycle.test_reviewing import reviewers, run_command_in_process

Opened = Callable[..., Store]
OPEN = "open-ended"
READERS = ("R1", "R2")
_LETTER = dict(zip(Score, "ABC", strict=True))
BY = By(name="c", role="administrator", place="abc")
LATER = NOW + timedelta(days=1)


def answer_all(store: Store, reader_id: str, answer_text: Callable[[str], str]) -> None:
    """Answer open-ended questions with a text, and others with the first option."""
    reader = person(store, reader_id)
    while cases := desk.desk(store, reader, now=NOW).cases:
        case = cases[0]
        record = reading(case.case, "A")
        if case.condition == OPEN:
            words = answer_text(case.question)
            status = "answered" if words else "timed_out"
            record = {**reading(case.case, None), "status": status, "words": words or None}
        sent = [presentation(case.case), record]
        at = NOW + timedelta(seconds=2)
        assert desk.take_records(store, reader, sent, now=at).refused == ()


@pytest.fixture
def read_study(opened: Opened) -> Store:
    """Return a closed study of two readers; half of their open answers are alike."""
    store = opened(conditions=[OPEN, "unaided"])
    answer_all(store, "R1", lambda question: f"Effusion: {question}")
    answer_all(
        store,
        "R2",
        lambda q: f"  effusion:  {q.upper()}. " if len(q) % 2 == 0 or "1" in q else f"None: {q}",
    )
    studies.close(store, study="trial", reason="Done.", acting=ACTING)
    return store


def _open(store: Store, people: list[Person], **more: Any) -> int:
    return scoring.open_scoring(
        store,
        "trial",
        **{"kind": "answer", "scorers": [scorer.id for scorer in people], "acting": ACTING, **more},
    )


def _score(
    store: Store, person: Person, number: int, score_of: Callable[[str], Score]
) -> Acknowledgement:
    case = scorers_desk.desk(store, person, number).cases[0]
    record = reading(case.case, _LETTER[score_of(case.question)], comment="because")
    record["id"] = f"{person.id:016x}{case.case[:16]}"
    sent = [presentation(case.case), record]
    return scorers_desk.take_records(store, person, number, sent, now=NOW)


def _score_all(store: Store, person: Person, number: int, score_of: Callable[[str], Score]) -> int:
    n = 0
    while scorers_desk.desk(store, person, number).cases:
        assert not _score(store, person, number, score_of).refused
        n += 1
    return n


def _score_as_correct(_: str) -> Score:
    return Score.CORRECT


def _score_by_text(question: str) -> Score:
    return Score.INCORRECT if "None:" in question else Score.PARTLY


def _scoring_row(look: Transaction, number: int) -> JudgingRow:
    return judging.judging_row(look, SCORING, number)


def _answer_texts(look: Transaction, number: int) -> list[Judged]:
    return judging.everything_judged(look, _scoring_row(look, number))


def _complete_scoring(store: Store, n: int = 3, **more: Any) -> int:
    """Score all answers: the first scorer as correct, the others by the text."""
    judges = reviewers(store, n)
    number = _open(store, judges, **more)
    for _ in range(2):
        for place, judge in enumerate(judges):
            _score_all(store, judge, number, _score_as_correct if place == 0 else _score_by_text)
    return number


def _csv_rows(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name].decode(), newline="")))


def test_equal_answers_are_scored_once_for_all_readers(read_study: Store) -> None:
    """Upper case, spaces and a final full stop make no difference."""
    judges = reviewers(read_study)
    number = _open(read_study, judges)
    with read_study.look() as look:
        words = _answer_texts(look, number)
        answers_listed = judgements.open_answers_of_study(look, study_row(look, "trial").id)
    alike = Counter(len(text.answers) for text in words)
    assert alike[2] > 0
    assert alike[1] > 0
    assert alike[1] + 2 * alike[2] == len(answers_listed) == 16
    n = sum(_score_all(read_study, scorer, number, _score_as_correct) for scorer in judges)
    assert n == 2 * len(words)
    judging.close(read_study, SCORING, number, acting=ACTING)
    rows = _csv_rows(bundle_files(read_study, "trial"), "open_scores.csv")
    assert Counter(row["turn"] for row in rows) == {"1": 16, "2": 16}
    assert {row["scorer"] for row in rows} == {"S1", "S2", "S3"}
    assert not any(scorer.name in str(rows) for scorer in judges)


def test_a_scorer_sees_the_answer_but_not_the_rater(read_study: Store) -> None:
    """Other scores are hidden too, and each scorer has a different order."""
    first, second, _ = judges = reviewers(read_study)
    number = _open(read_study, judges)
    shown = scorers_desk.desk(read_study, first, number)
    case = shown.cases[0]
    assert [text for _, text in case.options] == ["Correct", "Partly correct", "Incorrect"]
    assert "Correct: Finding" in case.question
    assert "Answer to score:" in case.question
    assert case.views
    everything = json.dumps([str(item) for item in shown.cases])
    with read_study.look() as look:
        for open_answer in judgements.open_answers_of_study(look, study_row(look, "trial").id):
            assert open_answer.answer_id not in everything
        row, words = _scoring_row(look, number), _answer_texts(look, number)
        orders = [
            [answer.position for answer in judging.assignment(look, row, person.id).everything]
            for person in judges
        ]
    assert not any(person in everything for person in READERS)
    assert len({tuple(order) for order in orders}) == 3
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(len(words)))}
    _score_all(read_study, second, number, _score_as_correct)
    assert scorers_desk.desk(read_study, first, number).cases == shown.cases
    assert scorers_desk.film(read_study, first, number, case.case, 1) is not None
    assert scorers_desk.film(read_study, second, number, case.case, 1) is None


def test_two_people_score_each_answer_and_a_third_if_they_differ(read_study: Store) -> None:
    """The result is the median of the three; the last score before closing counts."""
    number = _complete_scoring(read_study)
    with read_study.look() as look:
        words = _answer_texts(look, number)
    for text in words:
        assert not text.waits_for
        scores = [text.verdicts[place].verdict for place in text.judges if place in text.verdicts]
        assert len(scores) == (2 if scores[0] == scores[1] else 3)
        assert text.result == settled_verdict(ANSWER, scores)
    assert {text.result for text in words} > {Score.INCORRECT}
    first = words[0]
    scorer = first.judges[0]
    with read_study.change() as change:
        row = _scoring_row(change, number)
        person = judgements.judges(change, row)[scorer].person
        assert person is not None
        for _ in range(2):
            judging.judge(
                change,
                row,
                judging.Judgement(
                    position=first.position,
                    person=person,
                    verdict=Score.PARTLY,
                    comment="on reflection",
                ),
                now=LATER,
            )
    with read_study.look() as look:
        n = len(judgements.every_verdict(look, row))
        (rescored,) = [
            text for text in _answer_texts(look, number) if text.position == first.position
        ]
    assert rescored.verdicts[scorer].verdict == Score.PARTLY
    assert n == sum(len(text.verdicts) for text in words) + (
        first.verdicts[scorer].verdict != Score.PARTLY
    )


def test_the_bundle_includes_a_closed_scoring_that_the_analysis_uses(
    read_study: Store, tmp_path: Path
) -> None:
    """Frictionless accepts the bundle; the tables have the gap to multiple choice."""
    number = _complete_scoring(read_study)
    assert "open_scores.csv" not in bundle_files(read_study, "trial")
    judging.close(read_study, SCORING, number, acting=ACTING)
    export(read_study, study="trial", out=tmp_path / "bundle")
    report = validate(str(tmp_path / "bundle" / "datapackage.json"))
    assert report.valid, report.flatten(["type", "message"])
    bundle = analysis.read_bundle(tmp_path / "bundle")
    tables = analysis.analyse(bundle, analysis.Options(bootstrap=20)).tables
    with read_study.look() as look:
        values = {"correct": 1.0, "partly correct": 0.5, "incorrect": 0.0}
        results = [
            (answer.rater_id, values[text.result or ""])
            for text in _answer_texts(look, number)
            for answer in text.answers
        ]
    for rater in READERS:
        own = [value for person, value in results if person == rater]
        row = tables["open_ended"].query(
            "rater_id == @rater and measure == 'score' and by == 'overall'"
        )
        assert row["estimate"].tolist() == [pytest.approx(sum(own) / len(own))]
    assert set(tables["open_gap"]["n"]) >= {8}
    assert tables["open_scoring"].query("measure == 'raw'")["n"].tolist() == [16]
    export(read_study, study="trial", out=tmp_path / "bare", texts=False)
    bare = analysis.read_bundle(tmp_path / "bare")
    bare_tables = analysis.analyse(bare, analysis.Options(bootstrap=20)).tables
    for name in ("open_ended", "open_gap", "open_scoring"):
        assert bare_tables[name].equals(tables[name]), name
    assert b"because" not in (tmp_path / "bare" / "open_scores.csv").read_bytes()


def test_only_answers_to_the_drawn_questions_are_scored(read_study: Store, tmp_path: Path) -> None:
    """The bundle lists the drawn questions; the same seed draws the same ones."""
    number = _complete_scoring(read_study, sample=scoring.Sample(n_items=3, seed=7))
    judging.close(read_study, SCORING, number, acting=ACTING)
    files = bundle_files(read_study, "trial")
    drawn = json.loads(files["datapackage.json"])["reading_room"]["scored_items"]["answer"]
    of_item = {row["answer_id"]: row["item_id"] for row in _csv_rows(files, "open_answers.csv")}
    assert {of_item[row["answer_id"]] for row in _csv_rows(files, "open_scores.csv")} == set(drawn)
    assert len(drawn) == 3
    (tmp_path / "bundle.zip").write_bytes(zip_files(files))
    table = analysis.analyse(analysis.read_bundle(tmp_path / "bundle.zip")).tables["open_ended"]
    assert set(table.loc[table["by"] == "overall", "n"]) == {3}
    assert set(table.loc[table["by"] == "overall", "n_unscored"]) == {5}


def test_verification_reports_an_altered_scoring(read_study: Store) -> None:
    """Scores, the answers to score, and the opening and closing are covered."""
    number = _complete_scoring(read_study)
    assert verify(read_study) == []
    judging.close(read_study, SCORING, number, acting=ACTING)
    assert verify(read_study) == []
    tamper(read_study, "UPDATE scores SET score = 'incorrect' WHERE id = 1")
    assert any("its scores were altered" in breach for breach in verify(read_study))
    tamper(read_study, "UPDATE scoring_answers SET position = position + 1")
    assert any("the answers under it were altered" in breach for breach in verify(read_study))
    tamper(read_study, "UPDATE scorings SET opened_at_utc = ''")
    assert any("inserted or altered" in breach for breach in verify(read_study))
    tamper(read_study, "DELETE FROM scoring_ends")
    assert any("its closing was altered" in breach for breach in verify(read_study))


def test_verification_reports_a_missing_scoring(read_study: Store) -> None:
    _open(read_study, reviewers(read_study))
    for table in ("scorers", "scoring_answers", "scorings"):
        tamper(read_study, f"DELETE FROM {table}")
    assert any("the scoring of each answer is missing" in breach for breach in verify(read_study))


def test_a_restored_study_has_identical_scores(read_study: Store, tmp_path: Path) -> None:
    """Scorers have codes instead of names; altered scores are refused."""
    judging.close(
        read_study,
        SCORING,
        _complete_scoring(read_study, sample=scoring.Sample(n_items=4)),
        acting=ACTING,
    )
    files = bundle_files(read_study, "trial")
    records = [json.loads(line) for line in files["records.jsonl"].splitlines()]
    assert {record["row"] for record in records} > SCORING_KINDS
    assert b"expert-" not in b"".join(files.values())
    (tmp_path / "bundle.zip").write_bytes(zip_files(files))
    target = create_empty(tmp_path / "target", 2)
    restore(target, tmp_path / "bundle.zip", acting=Acting(by=BY, now=LATER))
    restored = bundle_files(target, "trial")
    for name in ("open_scores.csv", "open_answers.csv", "records.jsonl"):
        assert restored[name] == files[name]
    metadata = [json.loads(part["datapackage.json"])["reading_room"] for part in (files, restored)]
    assert metadata[0]["scored_items"] == metadata[1]["scored_items"]
    assert not verify_study(target, "trial").breaches
    with target.look() as look:
        assert all(judge.person is None for judge in judgements.judges(look, _scoring_row(look, 1)))
    files["open_scores.csv"] = files["open_scores.csv"].replace(b"partly correct", b"correct")
    (tmp_path / "altered.zip").write_bytes(zip_files(files))
    with pytest.raises(BadFile):
        restore(
            create_empty(tmp_path / "other", 3),
            tmp_path / "altered.zip",
            acting=Acting(by=BY, now=LATER),
        )


def test_an_open_scoring_is_not_part_of_the_bundle(read_study: Store, tmp_path: Path) -> None:
    """The restored study is complete without it, and can be scored there."""
    _open(read_study, reviewers(read_study))
    (tmp_path / "bundle.zip").write_bytes(zip_files(bundle_files(read_study, "trial")))
    target = create_empty(tmp_path / "target", 2)
    restore(target, tmp_path / "bundle.zip", acting=Acting(by=BY, now=LATER))
    assert verify(target) == []
    judging.close(
        target, SCORING, _complete_scoring(target), acting=Acting(by=COMMAND_LINE, now=LATER)
    )
    assert verify(target) == []


def test_sites_are_merged_before_their_answers_are_scored(
    read_study: Store, tmp_path: Path
) -> None:
    """The orders and pairs of scorers belong to a single scoring."""
    judging.close(read_study, SCORING, _complete_scoring(read_study), acting=ACTING)
    (tmp_path / "bundle.zip").write_bytes(zip_files(bundle_files(read_study, "trial")))
    with pytest.raises(BadFile, match="Merge first, then score"):
        merge(read_study, tmp_path / "bundle.zip", study="trial", acting=Acting(by=BY, now=LATER))


def test_explanations_of_a_withdrawn_model_are_removed_from_the_scoring(
    read_study: Store, tmp_path: Path
) -> None:
    """Explanations are scored with the options visible."""
    predictions = [
        {"item_id": f"q{n:04d}", "condition": OPEN, "output": f"Because of {n}.\nAnswer: None"}
        for n in range(24)
    ]
    file = tmp_path / "model.jsonl"
    file.write_text("\n".join(map(json.dumps, predictions)))
    add_model(read_study, file, study="trial", model_id="M", model_version="1", acting=ACTING)
    judges = reviewers(read_study)
    number = _open(read_study, judges, kind="explanation")
    case = scorers_desk.desk(read_study, judges[0], number).cases[0]
    assert "Explanation to score: Because of" in case.question
    assert "(reference standard)" in case.question
    for scorer in judges:
        _score_all(read_study, scorer, number, _score_as_correct)
    judging.close(read_study, SCORING, number, acting=ACTING)
    files = bundle_files(read_study, "trial")
    assert len(_csv_rows(files, "open_scores.csv")) == 16
    withdraw_model(read_study, study="trial", model_id="M", reason="Wrong version.", acting=ACTING)
    assert "open_scores.csv" not in bundle_files(read_study, "trial")
    assert verify(read_study) == []


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"scorers": [1]}, BadInput, "at least two scorers"),
        ({"sample": scoring.Sample(n_items=99)}, BadInput, "between 1 and 8 questions"),
        ({"sample": scoring.Sample(n_items=0)}, BadInput, "between 1 and 8 questions"),
        ({"kind": "explanation"}, BadInput, "no answers in words to score"),
    ],
)
def test_an_invalid_scoring_is_refused_and_not_stored(
    read_study: Store, changed: dict[str, Any], error: type[StudyError], message: str
) -> None:
    judges = reviewers(read_study)
    with pytest.raises(error, match=message):
        _open(read_study, judges, **changed)
    with read_study.look() as look:
        assert judgements.scorings_of_study(look, study_row(look, "trial").id) == []
    _open(read_study, judges)
    with pytest.raises(NotNow, match="given to scorers already"):
        _open(read_study, judges)


def test_readers_of_a_study_cannot_score_it(read_study: Store) -> None:
    """They would see their own answers."""
    judges = reviewers(read_study)
    with read_study.look() as look:
        (reader,) = [row for row in people.readers(look, 1) if row.reader_id == "R1"]
        account = people.person_of_reader(look, reader.id)
    with pytest.raises(BadInput, match="read in this study and cannot score"):
        _open(read_study, judges, scorers=[judges[0].id, account])


def test_a_study_can_be_scored_only_after_closing(opened: Opened) -> None:
    """The correct answer is shown with the answer to score."""
    store = opened(conditions=[OPEN])
    answer_all(store, "R1", lambda _: "Effusion")
    with pytest.raises(NotNow, match="Close the study first"):
        _open(store, reviewers(store))


def test_only_the_assigned_scorers_can_score_and_only_until_closing(read_study: Store) -> None:
    first, second, third = reviewers(read_study)
    number = _open(read_study, [first, second])
    with pytest.raises(NotAllowed, match="not a scorer"):
        scorers_desk.desk(read_study, third, number)
    with pytest.raises(NotFound, match="no such scoring"):
        scorers_desk.desk(read_study, first, 99)
    case = scorers_desk.desk(read_study, first, number).cases[0].case
    sent = [reading("0" * 32, "A"), reading(case, "D"), reading(case, None, status="skipped")]
    assert len(scorers_desk.take_records(read_study, first, number, sent, now=NOW).refused) == 3
    judging.close(read_study, SCORING, number, acting=ACTING)
    with pytest.raises(NotNow, match="closed"):
        judging.close(read_study, SCORING, number, acting=ACTING)
    with pytest.raises(NotAllowed, match="closed"):
        scorers_desk.desk(read_study, first, number)


def test_a_scoring_can_be_run_by_commands(
    read_study: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands open, show, close and print a scoring as the page does."""
    judges = reviewers(read_study, 2)

    def run(*words: str) -> tuple[int, str, str]:
        return run_command_in_process(
            capsys, "scoring", *words, "--db", str(read_study.path), "--study", "trial"
        )

    status, _, reason = run("show")
    assert (status, "have not been given to scorers" in reason) == (1, True)
    names = [word for scorer in judges for word in ("--scorer", scorer.name)]
    assert run("open", "--scorer", "nobody", "--scorer", "expert-1")[0] == 1
    status, printed, _ = run("open", *names)
    assert (status, printed[:36]) == (0, "Opened: scoring of 16 answers of “tr")
    for judge in judges:
        _score_all(read_study, judge, 1, _score_as_correct)
    assert "S1 expert-1: " in run("show")[1]
    assert "0 waiting" in run("show")[1]
    assert run("scores")[1] == "answer_id,scorer,turn,score,comment,scored_at_utc\n"
    assert run("close")[1] == "Closed: scoring of the answers of “trial”.\n"
    assert len(run("scores")[1].splitlines()) == 33


def test_the_copy_of_a_study_has_the_scores_without_the_scorers(
    read_study: Store, tmp_path: Path
) -> None:
    """The SQLite copy for other researchers passes the verification."""
    judging.close(read_study, SCORING, _complete_scoring(read_study), acting=ACTING)
    with read_study.look() as look:
        row = study_row(look, "trial").id
        copy = Store.create(
            tmp_path / "copy.db", lambda change: extract.copy_study(look, change, row)
        )
    assert not any("scor" in breach for breach in verify(copy))
    with copy.look() as look:
        assert {judge.person for judge in judgements.judges(look, _scoring_row(look, 1))} == {None}
