"""Other studies of the same cases: no study reveals answers that another keeps confidential."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from study.bank.importing import import_bank
from study.base.actor import Acting, By
from study.base.errors import BadProtocol, NotFound, NotNow
from study.lifecycle import exposure, previews, studies
from study.lifecycle.amendments import amend
from study.lifecycle.exposure import revealing_studies, studies_reading
from study.lifecycle.studies import accuracy_is_shown, close
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.people.persons import Newcomer, grant_role
from study.people.roles import Role
from study.protocol.protocol import Protocol
from study.reading import desk
from study.store import Store, events
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, SECRETS, entropy_from, reading, write_bank
from tests.unit.study.lifecycle.test_previews import CREATOR, coordinator

BY = By(name="ada", role="administrator", everywhere=True)
ALL_CASES = {"cases": 24, "one_question_per": "item"}


def _draw(store: Store, name: str, bank: str = "bank", **values: Any) -> None:
    protocol = Protocol.from_json({**ALL_CASES, **values})
    studies.draw(store, bank=bank, study=name, protocol=protocol, acting=ACTING)


def _invite(store: Store, study: str, reader: str = "R1", email: str = "") -> None:
    studies.invite(
        store,
        study=study,
        invitations=[Invitation(reader_id=reader, email=email)],
        codes=[new_code(entropy_from(crc32(f"{study} {reader}".encode())))],
        acting=ACTING,
    )


def _open(store: Store, name: str, **values: Any) -> None:
    _draw(store, name, **values)
    _invite(store, name)
    studies.open_study(store, study=name, acting=ACTING)


def _close(store: Store, name: str) -> None:
    close(store, study=name, reason="Done.", acting=ACTING)


def _import_again(store: Store, tmp_path: Path, *, films: bool, ids: bool) -> None:
    """Import the bank under another name, with other films or other IDs and questions."""
    folder = tmp_path / "again"
    path = write_bank(folder)
    if not films:
        for film in (folder / "films").glob("*.png"):
            film.write_bytes(film.read_bytes() + b"another file")
    records = json.loads(path.read_text())
    if not ids:
        records = {
            f"other-{key}": {**record, "question": f"Other: {record['question']}"}
            for key, record in records.items()
        }
    path.write_text(json.dumps(records))
    import_bank(store, path, name="again", images=folder, acting=ACTING)


def _feedback_of(store: Store, walk: previews.Preview) -> dict[str, tuple[str, str]]:
    """Answer all cases of a preview; return letter and explanation of the feedback by question."""
    answers = {}
    with walk.store.kept_open():
        while cases := desk.desk(walk.store, walk.reader, now=NOW).cases:
            case = cases[0]
            receipt = desk.take_records(walk.store, walk.reader, [reading(case.case)], now=NOW)
            feedback = receipt.feedback[f"read-{case.case}"]
            answers[case.question] = (feedback.option, feedback.explanation)
    return answers


def _correct_answers(store: Store) -> dict[str, str]:
    with store.look() as look:
        rows = look.rows("SELECT question, truth FROM items JOIN reference_standard ON item = id")
    return {row["question"]: row["truth"] for row in rows}


def _draft(store: Store, bank: int = 1, **values: Any) -> int:
    with store.change() as change:
        change.execute(
            "INSERT INTO people (id, handle, made_at_utc) VALUES (1, 'c', '') "
            "ON CONFLICT DO NOTHING"
        )
        return change.insert(
            "drafts",
            name="idea",
            made_by=1,
            bank=bank,
            protocol=json.dumps({**ALL_CASES, **values}),
            saved_at_utc="2025-06-04T12:00:00.000Z",
        )


def _preview(store: Store, draft: int | None = None) -> previews.Preview:
    person = CREATOR if draft is not None else coordinator(store)
    return previews.preview(store, person, entropy=entropy_from(5), now=NOW, draft=draft)


def _assert_placeholders(store: Store, feedback: dict[str, tuple[str, str]], n: int = 24) -> None:
    """Assert that a preview gave feedback on every question, with random letters."""
    truths = _correct_answers(store)
    assert len(feedback) == n
    right = sum(truths.get(question) == letter for question, (letter, _) in feedback.items())
    assert right <= n / 2  # random letters: a quarter
    assert {words for _, words in feedback.values()} == {
        "This is not the real answer: cases from this bank are being read in an open study."
    }


def _assert_no_secret(walk: previews.Preview) -> None:
    for path in walk.store.path.parent.glob(f"{walk.mark}.db*"):
        content = path.read_bytes()
        assert not [secret for secret in SECRETS if secret.encode() in content]


def test_the_preview_of_an_open_study_shows_placeholders(banked: Store) -> None:
    """Each letter of the feedback is random and marked as random; the copy contains no others."""
    _open(banked, "trial", feedback="after case")
    walk = _preview(banked)
    _assert_placeholders(banked, _feedback_of(banked, walk))
    _assert_no_secret(walk)
    with banked.look() as look:
        (opened,) = events.of_kind(look, "study:trial", "preview opened")
    assert opened["reference_standard"] == "made up"


def test_a_preview_shows_the_true_answers_unless_an_open_study_hides_them(
    banked: Store,
) -> None:
    """Placeholders are used only if the person must not see the answers."""
    _draw(banked, "trial", feedback="after case")
    feedback = _feedback_of(banked, _preview(banked))
    assert {question: letter for question, (letter, _) in feedback.items()} == _correct_answers(
        banked
    )
    _open(banked, "seen", interim_results=True)
    feedback = _feedback_of(banked, _preview(banked, _draft(banked, feedback="after case")))
    assert {words for _, words in feedback.values()} == {SECRETS[2]}


def test_the_preview_of_another_draft_shows_placeholders_too(banked: Store) -> None:
    """All cases with feedback are affected, including practice cases."""
    _open(banked, "trial", cases=4)
    few: dict[str, Any] = {
        "cases": 8,
        "one_question_per": "patient",
        "stratify_by": [],
        "practice_cases": 4,
    }
    walk = _preview(banked, _draft(banked, feedback="after case", **few))
    _assert_placeholders(banked, _feedback_of(banked, walk), n=12)
    _assert_no_secret(walk)


def test_warnings_count_options_in_the_complete_bank_only(store: Store, tmp_path: Path) -> None:
    """Counts such as "A is right in six of six" would reveal the answers."""
    path = write_bank(tmp_path / "bank")
    records = json.loads(path.read_text())
    for record in records.values():
        record["correct_answer"] = "A"
    path.write_text(json.dumps(records))
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    _draw(store, "few", cases=6)
    assert "A in 6 of 6 questions" in exposure.opening_warnings(store, "few")[0]
    _open(store, "trial")
    assert "A in 24 of 24 questions" in exposure.opening_warnings(store, "few")[0]


@pytest.mark.parametrize(("films", "ids"), [(True, False), (False, True)])
def test_a_bank_imported_again_is_recognised(
    banked: Store, tmp_path: Path, films: bool, ids: bool
) -> None:
    """The second bank has the same films with other questions, or the same items in new files."""
    _import_again(banked, tmp_path, films=films, ids=ids)
    _open(banked, "trial")
    walk = _preview(banked, _draft(banked, bank=2, feedback="after case"))
    _assert_placeholders(banked, _feedback_of(banked, walk))
    _draw(banked, "early", bank="again", interim_results=True)
    _invite(banked, "early")
    with pytest.raises(NotNow, match="“trial”"):
        studies.open_study(banked, study="early", acting=ACTING)


CHANGED_FIELDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "patient": lambda record: {"PatientID": f"Z{record['PatientID']}"},
    "examination": lambda record: {"study_id": f"Z{record['study_id']}"},
    "question": lambda record: {"question": f"Other: {record['question']}"},
}
"""The parts of a record as they are in a bank of other patients."""


def _import_variant(
    store: Store, tmp_path: Path, *shared: str, has_other_case: bool = False
) -> None:
    """Import the bank again with other item IDs and re-encoded films, sharing some fields.

    With `has_other_case` the shared fields are written with characters that look alike.
    """
    folder = tmp_path / "again"
    path = write_bank(folder)
    for film in (folder / "films").glob("*.png"):
        film.write_bytes(film.read_bytes() + b"re-encoded")
    records = {}
    for key, record in json.loads(path.read_text()).items():
        other = dict(record)
        for name, change in CHANGED_FIELDS.items():
            if name not in shared:
                other |= change(record)
            elif has_other_case:
                other |= {field: f" {record[field]}\u200b" for field in change(record)}
        records[f"other-{key}"] = other
    path.write_text(json.dumps(records))
    import_bank(store, path, name="again", images=folder, acting=ACTING)


@pytest.mark.parametrize("has_look_alikes", [False, True])
@pytest.mark.parametrize(
    "shared",
    [
        ("question",),
        ("patient", "question"),
        ("examination", "question"),
        ("patient", "examination"),
        ("patient", "examination", "question"),
    ],
)
def test_the_same_cases_are_recognised_by_patient_examination_or_question(
    banked: Store, tmp_path: Path, shared: tuple[str, ...], has_look_alikes: bool
) -> None:
    """Answers, teaching, reviews and results of these cases stay confidential."""
    _import_variant(banked, tmp_path, *shared, has_other_case=has_look_alikes)
    _draw(banked, "early", bank="again", interim_results=True)
    _invite(banked, "early")
    _open(banked, "trial")
    with banked.look() as look:
        assert studies_reading(look, 2) == ["trial"]
    with pytest.raises(NotNow):
        exposure.record_truth_shown(banked, "again", acting=Acting(by=By(name="c"), now=NOW))
    with pytest.raises(NotNow, match="“trial”"):
        studies.open_study(banked, study="early", acting=ACTING)
    walk = _preview(banked, _draft(banked, bank=2, feedback="after case"))
    _assert_placeholders(banked, _feedback_of(banked, walk))


def _two_banks(store: Store, tmp_path: Path, change: Callable[[str, Any], Any]) -> None:
    """Import two banks with different items and films, and open a study on bank ``one``.

    Parameters
    ----------
    change
        Returns the fields of a record that are specific to the bank of a name.
    """
    for name in ("one", "two"):
        path = write_bank(tmp_path / name)
        records = {
            f"{name}-{key}": {**record, "question": f"{name}: {record['question']}"}
            | change(name, record)
            for key, record in json.loads(path.read_text()).items()
        }
        for film in (tmp_path / name / "films").glob("*.png"):
            film.write_bytes(film.read_bytes() + name.encode())
        path.write_text(json.dumps(records))
        import_bank(store, path, name=name, images=path.parent, acting=ACTING)
    _open(store, "trial", bank="one")


@pytest.mark.parametrize("field", ["PatientID", "study_id"])
@pytest.mark.parametrize(("digits", "is_shared"), [(1, False), (8, True)])
def test_a_long_id_is_sufficient_evidence_of_the_same_case(
    store: Store, tmp_path: Path, field: str, digits: int, is_shared: bool
) -> None:
    """The ID P1 occurs in many banks; p10000032 is one patient."""

    def change(name: str, record: Any) -> Any:
        number = record["PatientID"][1:]
        others = {"PatientID": f"{name}-P{number}", "study_id": f"{name}-S{number}"}
        return others | {field: f"x{int(number):0{digits}d}"}

    _two_banks(store, tmp_path, change)
    with store.look() as look:
        assert studies_reading(look, 1) == ["trial"]
        assert bool(studies_reading(look, 2)) is is_shared


def test_a_question_about_several_examinations_is_not_evidence(
    store: Store, tmp_path: Path
) -> None:
    """Questions made from templates occur in every bank of the data set."""
    _two_banks(
        store,
        tmp_path,
        lambda name, record: {
            "question": "Is there an effusion?",
            "PatientID": f"{name}-{record['PatientID']}",
            "study_id": f"{name}-{record['study_id']}",
        },
    )
    with store.look() as look:
        assert studies_reading(look, 2) == []


def test_examinations_named_after_their_films_are_not_evidence(
    store: Store, tmp_path: Path
) -> None:
    """Without an ID, an examination has the path of its first film; many banks have 0_pa.png."""
    _two_banks(store, tmp_path, lambda name, record: {"study_id": "", "PatientID": ""})
    with store.look() as look:
        assert studies_reading(look, 2) == []


def test_a_bank_with_other_cases_is_not_restricted(banked: Store, tmp_path: Path) -> None:
    """Patients, films and questions differ, so no study is refused or named."""
    _import_variant(banked, tmp_path)
    _open(banked, "trial")
    with banked.look() as look:
        assert studies_reading(look, 2) == []
        assert studies_reading(look, 1) == ["trial"]
    _open(banked, "early", bank="again", interim_results=True)


def test_a_preview_with_true_answers_ends_when_the_study_opens(
    banked: Store,
) -> None:
    """The preview may be open in another tab; the next preview shows placeholders."""
    _draw(banked, "trial", feedback="after case")
    walk = _preview(banked)
    assert previews.find(banked, coordinator(banked), walk.mark).mark == walk.mark
    _invite(banked, "trial")
    studies.open_study(banked, study="trial", acting=ACTING)
    with pytest.raises(NotFound, match="has ended"):
        previews.find(banked, coordinator(banked), walk.mark)
    _assert_placeholders(banked, _feedback_of(banked, _preview(banked)))


def test_no_other_study_can_show_interim_accuracy_of_cases_being_read(
    banked: Store,
) -> None:
    """Interim accuracy is refused at opening and as an amendment, and possible after closing."""
    _open(banked, "trial")
    _draw(banked, "early", interim_results=True)
    _invite(banked, "early")
    assert not accuracy_is_shown(banked, "early")  # a drawn study has no readings
    (sentence,) = exposure.opening_warnings(banked, "early")
    assert "being read in the study “trial”" in sentence
    with pytest.raises(NotNow, match="“trial”, where no one can see accuracy yet"):
        studies.open_study(banked, study="early", acting=ACTING)
    _open(banked, "later")
    with pytest.raises(BadProtocol, match=r"interim_results: .*“trial”"):
        amend(
            banked,
            study="later",
            changes={"interim_results": True},
            reason="Curious.",
            acting=Acting(by=BY, now=NOW),
        )
    for name in ("trial", "later"):
        _close(banked, name)
    studies.open_study(banked, study="early", acting=ACTING)
    assert accuracy_is_shown(banked, "early")
    assert verify(banked) == []


def _event_details(store: Store, study: str, kind: str) -> list[Any]:
    with store.look() as look:
        return [
            event.get("others", event.get("study"))
            for event in events.of_kind(look, f"study:{study}", kind)
        ]


def test_both_trails_name_a_study_that_reveals_answers(banked: Store) -> None:
    """The other study was opened earlier, is closed in the meantime, or is opened later."""
    _open(banked, "early", interim_results=True)
    _draw(banked, "trial")
    _invite(banked, "trial")
    (sentence,) = exposure.opening_warnings(banked, "trial")
    assert "Correct answers to cases from this bank are shown in “early”" in sentence
    studies.open_study(banked, study="trial", acting=ACTING)
    assert _event_details(banked, "trial", "study opened") == [["early"]]
    assert _event_details(banked, "early", "other study opened") == ["trial"]
    _close(banked, "early")
    assert _event_details(banked, "early", "study closed") == [["trial"]]
    assert _event_details(banked, "trial", "other study closed") == ["early"]
    _open(banked, "teaching", feedback="after case")
    assert _event_details(banked, "teaching", "study opened") == [["trial", "early"]]
    assert "teaching" in _event_details(banked, "trial", "other study opened")
    assert verify(banked) == []


def test_two_studies_that_reveal_no_answers_cause_no_warning(banked: Store) -> None:
    """A reader of one study learns nothing that helps in the other."""
    _open(banked, "trial")
    _draw(banked, "second")
    assert exposure.opening_warnings(banked, "second") == ()
    with banked.look() as look:
        assert revealing_studies(look, 1) == []


def _grant_role(store: Store, study: str, role: Role, email: str) -> None:
    grant_role(
        store,
        Newcomer(handle=f"h-{role}", role=role, email=email),
        study=study,
        code=new_code(entropy_from(len(role) + 700)),
        acting=Acting(by=BY, now=NOW),
    )


def _read_one_case(store: Store, study: str) -> None:
    with store.look() as look:
        row = study_row(look, study)
        reader = look.row("SELECT * FROM readers WHERE study = :study", study=row.id)
    assert reader is not None
    person = replace(
        coordinator(store),
        role=Role.READER,
        study=row.id,
        study_name=study,
        reader=reader["id"],
        name=reader["reader_id"],
    )
    case = desk.desk(store, person, now=NOW).cases[0].case
    assert desk.take_records(store, person, [reading(case)], now=NOW).refused == ()


def test_staff_of_another_study_are_named_when_they_are_invited(banked: Store) -> None:
    """The coordinator and statistician are named; a reader without feedback is not."""
    _draw(banked, "trial")
    _grant_role(banked, "trial", Role.COORDINATOR, "cora@example.org")
    _grant_role(banked, "trial", Role.STATISTICIAN, "stan@example.org")
    _invite(banked, "trial", "R9", email="rita@example.org")
    studies.open_study(banked, study="trial", acting=ACTING)
    _draw(banked, "next")
    for reader, email in (("R1", "cora"), ("R2", "stan"), ("R3", "rita"), ("R4", "nova")):
        _invite(banked, "next", reader, email=f"{email}@example.org")
    assert exposure.exposed_reader_warnings(banked, "next") == (
        "R1 may have seen the reference standard of these cases, as coordinator of “trial”.",
        "R2 may have seen the reference standard of these cases, as statistician of “trial”.",
    )
    assert set(exposure.exposed_reader_warnings(banked, "next")) <= set(
        exposure.opening_warnings(banked, "next")
    )
    with banked.look() as look:
        invited = events.of_kind(look, "study:next", "reader invited")
    assert [event.get("may_know") for event in invited] == [
        [{"study": "trial", "role": "coordinator"}],
        [{"study": "trial", "role": "statistician"}],
        None,
        None,
    ]
    assert verify(banked) == []


@pytest.mark.parametrize(
    ("values", "is_closed", "named"),
    [
        ({"feedback": "after case"}, False, True),
        ({"feedback": "after study"}, False, False),
        ({"feedback": "after study"}, True, True),
        ({"feedback": "never"}, True, False),
    ],
)
def test_a_reader_who_saw_feedback_is_named_when_invited(
    banked: Store, values: dict[str, Any], is_closed: bool, named: bool
) -> None:
    """Feedback after each case or a score card count; reading alone does not."""
    _draw(banked, "trial", **values)
    _invite(banked, "trial", "R9", email="rita@example.org")
    studies.open_study(banked, study="trial", acting=ACTING)
    _draw(banked, "next")
    _invite(banked, "next", "R3", email="rita@example.org")
    assert exposure.exposed_reader_warnings(banked, "next") == ()  # no case has been read yet
    _read_one_case(banked, "trial")
    if is_closed:
        _close(banked, "trial")
    sentences = exposure.exposed_reader_warnings(banked, "next")
    assert [sentence.split(" may")[0] for sentence in sentences] == (["R3"] if named else [])
