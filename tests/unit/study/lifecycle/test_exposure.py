"""Other studies on the same cases: what one keeps the other does not tell unsaid."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from study.bank.importing import import_bank
from study.base.actor import By
from study.base.errors import BadProtocol, NotFound, NotNow
from study.lifecycle import exposure, previews, studies
from study.lifecycle.amendments import amend
from study.lifecycle.exposure import being_read, told_in
from study.lifecycle.studies import accuracy_is_shown, close
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.people.persons import Newcomer, give_role
from study.people.roles import Role
from study.protocol.protocol import Protocol
from study.reading import desk
from study.store import Store, events
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, SECRETS, entropy_from, reading, write_bank
from tests.unit.study.lifecycle.test_previews import MAKER, coordinator

BY = By(name="ada", role="coordinator")
EVERY = {"cases": 24, "one_question_per": "item"}


def _draw(store: Store, name: str, bank: str = "bank", **values: Any) -> None:
    protocol = Protocol.from_json({**EVERY, **values})
    studies.draw(store, bank=bank, study=name, protocol=protocol, now=NOW)


def _invite(store: Store, study: str, reader: str = "R1", email: str = "") -> None:
    studies.invite(
        store,
        study=study,
        invitations=[Invitation(reader_id=reader, email=email)],
        codes=[new_code(entropy_from(crc32(f"{study} {reader}".encode())))],
        now=NOW,
    )


def _open(store: Store, name: str, **values: Any) -> None:
    _draw(store, name, **values)
    _invite(store, name)
    studies.open_study(store, study=name, now=NOW)


def _close(store: Store, name: str) -> None:
    close(store, study=name, reason="Done.", now=NOW)


def _again(store: Store, tmp_path: Path, *, films: bool, ids: bool) -> None:
    """Import the bank under another name: with other films, or with other ids and questions."""
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
    import_bank(store, path, name="again", images=folder, now=NOW)


def _told(store: Store, walk: previews.Preview) -> dict[str, tuple[str, str]]:
    """Walk a preview to its end; return letter and explanation told of every question."""
    found = {}
    while cases := desk.desk(walk.store, walk.reader, now=NOW).cases:
        case = cases[0]
        receipt = desk.take_records(walk.store, walk.reader, [reading(case.case)], now=NOW)
        told = receipt.feedback[f"read-{case.case}"]
        found[case.question] = (told.option, told.explanation)
    return found


def _truths(store: Store) -> dict[str, str]:
    with store.look() as look:
        rows = look.rows("SELECT question, truth FROM items JOIN reference_standard ON item = id")
    return {row["question"]: row["truth"] for row in rows}


def _draft(store: Store, bank: int = 1, **values: Any) -> int:
    with store.change() as change:
        change.execute("INSERT OR IGNORE INTO people (id, handle, made_at_utc) VALUES (1, 'c', '')")
        return change.insert(
            "drafts",
            name="idea",
            made_by=1,
            bank=bank,
            protocol=json.dumps({**EVERY, **values}),
            saved_at_utc="2025-06-04T12:00:00.000Z",
        )


def _preview(store: Store, draft: int | None = None) -> previews.Preview:
    who = MAKER if draft is not None else coordinator(store)
    return previews.preview(store, who, entropy=entropy_from(5), now=NOW, draft=draft)


def _made_up(store: Store, told: dict[str, tuple[str, str]], n: int = 24) -> None:
    """Assert that a preview told of every question, and hit the truth as a lot would."""
    truths = _truths(store)
    assert len(told) == n
    right = sum(truths.get(question) == letter for question, (letter, _) in told.items())
    assert right <= n / 2  # by lot a quarter
    assert {words for _, words in told.values()} == {
        "This is not the real answer: cases from this bank are being read in an open study."
    }


def _holds_no_secret(walk: previews.Preview) -> None:
    for path in walk.store.path.parent.glob(f"{walk.mark}.db*"):
        content = path.read_bytes()
        assert not [secret for secret in SECRETS if secret.encode() in content]


def test_the_preview_of_an_open_study_tells_no_truth(banked: Store) -> None:
    """Feedback after each case: letters are made up, and each says so; the copy holds no other."""
    _open(banked, "trial", feedback="after case")
    walk = _preview(banked)
    _made_up(banked, _told(banked, walk))
    _holds_no_secret(walk)
    with banked.look() as look:
        (opened,) = events.of_kind(look, "study:trial", "preview opened")
    assert opened["reference_standard"] == "made up"


@pytest.mark.slow
def test_before_and_without_an_open_study_a_preview_tells_what_readers_are_told(
    banked: Store,
) -> None:
    """Nothing is made up that nobody has to be kept from."""
    _draw(banked, "trial", feedback="after case")
    told = _told(banked, _preview(banked))
    assert {question: letter for question, (letter, _) in told.items()} == _truths(banked)
    _open(banked, "seen", interim_results=True)
    told = _told(banked, _preview(banked, _draft(banked, feedback="after case")))
    assert {words for _, words in told.values()} == {SECRETS[2]}


def test_the_draft_of_another_study_tells_no_truth_of_cases_being_read(banked: Store) -> None:
    """All cases with feedback, practice cases too."""
    _open(banked, "trial", cases=4)
    few: dict[str, Any] = {
        "cases": 8,
        "one_question_per": "patient",
        "stratify_by": [],
        "practice_cases": 4,
    }
    walk = _preview(banked, _draft(banked, feedback="after case", **few))
    _made_up(banked, _told(banked, walk), n=12)
    _holds_no_secret(walk)


def test_counts_of_a_few_cases_being_read_are_not_told(store: Store, tmp_path: Path) -> None:
    """That A is right in six of six is the truth of all six; of the whole bank it is told."""
    path = write_bank(tmp_path / "bank")
    records = json.loads(path.read_text())
    for record in records.values():
        record["correct_answer"] = "A"
    path.write_text(json.dumps(records))
    import_bank(store, path, name="bank", images=path.parent, now=NOW)
    _draw(store, "few", cases=6)
    assert "A in 6 of 6 questions" in exposure.cautions(store, "few")[0]
    _open(store, "trial")
    assert "A in 24 of 24 questions" in exposure.cautions(store, "few")[0]


@pytest.mark.parametrize(("films", "ids"), [(True, False), (False, True)])
def test_a_bank_imported_twice_under_two_names_is_no_way_round(
    banked: Store, tmp_path: Path, films: bool, ids: bool
) -> None:
    """The same films under other questions, or the same items with other files."""
    _again(banked, tmp_path, films=films, ids=ids)
    _open(banked, "trial")
    walk = _preview(banked, _draft(banked, bank=2, feedback="after case"))
    _made_up(banked, _told(banked, walk))
    _draw(banked, "early", bank="again", interim_results=True)
    _invite(banked, "early")
    with pytest.raises(NotNow, match="'trial'"):
        studies.open_study(banked, study="early", now=NOW)


ELSEWHERE: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "patient": lambda record: {"PatientID": f"Z{record['PatientID']}"},
    "examination": lambda record: {"study_id": f"Z{record['study_id']}"},
    "question": lambda record: {"question": f"Other: {record['question']}"},
}
"""What each part of a record is in a bank of other patients."""


def _elsewhere(store: Store, tmp_path: Path, *shared: str, odd: bool = False) -> None:
    """Import the bank again with other item ids and re-encoded films, and only some things shared.

    With `odd` these are spelt with characters that look alike.
    """
    folder = tmp_path / "again"
    path = write_bank(folder)
    for film in (folder / "films").glob("*.png"):
        film.write_bytes(film.read_bytes() + b"re-encoded")
    records = {}
    for key, record in json.loads(path.read_text()).items():
        other = dict(record)
        for name, change in ELSEWHERE.items():
            if name not in shared:
                other |= change(record)
            elif odd:
                other |= {field: f" {record[field]}\u200b" for field in change(record)}
        records[f"other-{key}"] = other
    path.write_text(json.dumps(records))
    import_bank(store, path, name="again", images=folder, now=NOW)


@pytest.mark.parametrize("odd", [False, True])
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
def test_the_same_cases_are_found_by_patient_examination_or_question(
    banked: Store, tmp_path: Path, shared: tuple[str, ...], odd: bool
) -> None:
    """Whatever else is other: no truth, no teaching, no review, no results of them meanwhile."""
    _elsewhere(banked, tmp_path, *shared, odd=odd)
    _draw(banked, "early", bank="again", interim_results=True)
    _invite(banked, "early")
    _open(banked, "trial")
    with banked.look() as look:
        assert being_read(look, 2) == ["trial"]
    with pytest.raises(NotNow):
        exposure.record_truth_shown(banked, "again", now=NOW, by=By(name="c"))
    with pytest.raises(NotNow, match="'trial'"):
        studies.open_study(banked, study="early", now=NOW)
    walk = _preview(banked, _draft(banked, bank=2, feedback="after case"))
    _made_up(banked, _told(banked, walk))


def _two_banks(store: Store, tmp_path: Path, change: Callable[[str, Any], Any]) -> None:
    """Import the banks ``one`` and ``two`` with other items and films, and open a study on one.

    Parameters
    ----------
    change
        Returns what differs in a record of the bank of a name.
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
        import_bank(store, path, name=name, images=path.parent, now=NOW)
    _open(store, "trial", bank="one")


@pytest.mark.parametrize("field", ["PatientID", "study_id"])
@pytest.mark.parametrize(("digits", "is_shared"), [(1, False), (8, True)])
def test_an_id_alone_is_evidence_if_no_other_bank_has_it_by_chance(
    store: Store, tmp_path: Path, field: str, digits: int, is_shared: bool
) -> None:
    """P1 is in many banks; p10000032 is one patient."""

    def change(name: str, record: Any) -> Any:
        number = record["PatientID"][1:]
        others = {"PatientID": f"{name}-P{number}", "study_id": f"{name}-S{number}"}
        return others | {field: f"x{int(number):0{digits}d}"}

    _two_banks(store, tmp_path, change)
    with store.look() as look:
        assert being_read(look, 1) == ["trial"]
        assert bool(being_read(look, 2)) is is_shared


def test_a_question_asked_of_several_examinations_is_no_evidence(
    store: Store, tmp_path: Path
) -> None:
    """The questions of a data set's templates are in every bank."""
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
        assert being_read(look, 2) == []


def test_examinations_that_are_named_after_their_films_are_no_evidence(
    store: Store, tmp_path: Path
) -> None:
    """A file without examinations is given the path of the first film: 0_pa.png is in many."""
    _two_banks(store, tmp_path, lambda name, record: {"study_id": "", "PatientID": ""})
    with store.look() as look:
        assert being_read(look, 2) == []


def test_another_bank_is_another_matter(banked: Store, tmp_path: Path) -> None:
    """Other patients, films and questions: nothing is shared, nothing is refused or named."""
    _elsewhere(banked, tmp_path)
    _open(banked, "trial")
    with banked.look() as look:
        assert being_read(look, 2) == []
        assert being_read(look, 1) == ["trial"]
    _open(banked, "early", bank="again", interim_results=True)


def test_a_preview_that_tells_the_truth_ends_when_its_cases_begin_to_be_read(
    banked: Store,
) -> None:
    """It is in another tab, perhaps; the next one is made up."""
    _draw(banked, "trial", feedback="after case")
    walk = _preview(banked)
    assert previews.find(banked, coordinator(banked), walk.mark).mark == walk.mark
    _invite(banked, "trial")
    studies.open_study(banked, study="trial", now=NOW)
    with pytest.raises(NotFound, match="has ended"):
        previews.find(banked, coordinator(banked), walk.mark)
    _made_up(banked, _told(banked, _preview(banked)))


def test_accuracy_of_cases_being_read_cannot_be_shown_early_by_another_study(
    banked: Store,
) -> None:
    """Refused at the opening and by amendment, by name; said beforehand; possible afterwards."""
    _open(banked, "trial")
    _draw(banked, "early", interim_results=True)
    _invite(banked, "early")
    assert not accuracy_is_shown(banked, "early")  # drawn, it is not read by anybody
    (sentence,) = exposure.cautions(banked, "early")
    assert "being read in the study 'trial'" in sentence
    with pytest.raises(NotNow, match="'trial', where no one can see accuracy yet"):
        studies.open_study(banked, study="early", now=NOW)
    _open(banked, "later")
    with pytest.raises(BadProtocol, match=r"interim_results: .*'trial'"):
        amend(
            banked,
            study="later",
            changes={"interim_results": True},
            reason="Curious.",
            by=BY,
            now=NOW,
        )
    for name in ("trial", "later"):
        _close(banked, name)
    studies.open_study(banked, study="early", now=NOW)
    assert accuracy_is_shown(banked, "early")
    assert verify(banked) == []


def _others(store: Store, study: str, kind: str) -> list[Any]:
    with store.look() as look:
        return [
            event.get("others", event.get("study"))
            for event in events.of_kind(look, f"study:{study}", kind)
        ]


def test_a_study_that_tells_is_named_in_both_trails(banked: Store) -> None:
    """One that was there first, one that was closed, and one that is closed meanwhile."""
    _open(banked, "early", interim_results=True)
    _draw(banked, "trial")
    _invite(banked, "trial")
    (sentence,) = exposure.cautions(banked, "trial")
    assert "Correct answers to cases from this bank are shown in 'early'" in sentence
    studies.open_study(banked, study="trial", now=NOW)
    assert _others(banked, "trial", "study opened") == [["early"]]
    assert _others(banked, "early", "other study opened") == ["trial"]
    _close(banked, "early")
    assert _others(banked, "early", "study closed") == [["trial"]]
    assert _others(banked, "trial", "other study closed") == ["early"]
    _open(banked, "teaching", feedback="after case")
    assert _others(banked, "teaching", "study opened") == [["trial", "early"]]
    assert "teaching" in _others(banked, "trial", "other study opened")
    assert verify(banked) == []


def test_two_studies_that_keep_their_truth_are_nothing_to_each_other(banked: Store) -> None:
    """Nothing can be learnt from one for the other: nothing is said."""
    _open(banked, "trial")
    _draw(banked, "beside")
    assert exposure.cautions(banked, "beside") == ()
    with banked.look() as look:
        assert told_in(look, 1) == []


def _role(store: Store, study: str, role: Role, email: str) -> None:
    give_role(
        store,
        Newcomer(handle=f"h-{role}", role=role, email=email),
        study=study,
        code=new_code(entropy_from(len(role) + 700)),
        expires=None,
        everywhere=True,
        by=BY,
        now=NOW,
    )


def _read_one(store: Store, study: str) -> None:
    with store.look() as look:
        row = study_row(look, study)
        reader = look.row("SELECT * FROM readers WHERE study = :study", study=row.id)
    assert reader is not None
    who = replace(
        coordinator(store),
        role=Role.READER,
        study=row.id,
        study_name=study,
        reader=reader["id"],
        name=reader["reader_id"],
    )
    case = desk.desk(store, who, now=NOW).cases[0].case
    assert desk.take_records(store, who, [reading(case)], now=NOW).refused == ()


def test_whoever_may_know_the_answers_is_named_when_invited(banked: Store) -> None:
    """Its coordinator and its statistician, in words and in the trail; not one who read only."""
    _draw(banked, "trial")
    _role(banked, "trial", Role.COORDINATOR, "cora@example.org")
    _role(banked, "trial", Role.STATISTICIAN, "stan@example.org")
    _invite(banked, "trial", "R9", email="rita@example.org")
    studies.open_study(banked, study="trial", now=NOW)
    _draw(banked, "next")
    for reader, email in (("R1", "cora"), ("R2", "stan"), ("R3", "rita"), ("R4", "nova")):
        _invite(banked, "next", reader, email=f"{email}@example.org")
    assert exposure.acquaintances(banked, "next") == (
        "R1 may have seen the reference standard of these cases, as a coordinator of 'trial'.",
        "R2 may have seen the reference standard of these cases, as a statistician of 'trial'.",
    )
    assert set(exposure.acquaintances(banked, "next")) <= set(exposure.cautions(banked, "next"))
    with banked.look() as look:
        told = events.of_kind(look, "study:next", "reader invited")
    assert [one.get("may_know") for one in told] == [
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
def test_a_reader_is_named_who_was_told(
    banked: Store, values: dict[str, Any], is_closed: bool, named: bool
) -> None:
    """By feedback after each case, or by a score card; not by having read alone."""
    _draw(banked, "trial", **values)
    _invite(banked, "trial", "R9", email="rita@example.org")
    studies.open_study(banked, study="trial", now=NOW)
    _draw(banked, "next")
    _invite(banked, "next", "R3", email="rita@example.org")
    assert exposure.acquaintances(banked, "next") == ()  # nothing was read yet
    _read_one(banked, "trial")
    if is_closed:
        _close(banked, "trial")
    found = exposure.acquaintances(banked, "next")
    assert [one.split(" may")[0] for one in found] == (["R3"] if named else [])
