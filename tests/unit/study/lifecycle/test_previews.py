"""Previews show the reading page on a copy of the study, which is not changed."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from study.base.errors import BadInput, BadProtocol, NotAllowed, NotFound, NotNow
from study.lifecycle import previews, studies
from study.lifecycle.previews import Preview, preview
from study.models.models import add_model
from study.people.roles import Role
from study.people.signing_in import Person
from study.reading import desk
from study.store import Store, banks, dialect, people
from study.store import studies as stored_studies
from study.trail.verification import verify
from tests.conftest import (
    ACTING,
    NOW,
    draw_trial,
    entropy_from,
    invite,
    person,
    preparation,
    presentation,
    reading,
)

Opened = Callable[..., Store]
PROTOCOL: dict[str, Any] = {"cases": 4, "one_question_per": "item"}


def coordinator(store: Store, name: str = "c") -> Person:
    """Return a coordinator of ``trial`` as if signed in."""
    with store.look() as look:
        study = stored_studies.find(look, "trial")
    assert study is not None
    return Person(
        role=Role.COORDINATOR,
        study=study.id,
        study_name="trial",
        name=name,
        id=90,
        sign_in=f"sign-in-of-{name}",
        place="a-place",
    )


def rows_by_table(store: Store) -> dict[str, list[Any]]:
    """Return the rows of every table except the events."""
    with store.look() as look:
        names = dialect.tables().keys() - {"events", "chain_heads"}
        return {name: look.rows(f"SELECT * FROM {name}") for name in names}


def _kinds(store: Store) -> list[str]:
    with store.look() as look:
        return [row["kind"] for row in look.rows("SELECT kind FROM events ORDER BY id")]


def _open(store: Store, person: Person | None = None, **selection: Any) -> Preview:
    return preview(
        store, person or coordinator(store), entropy=entropy_from(5), now=NOW, **selection
    )


def _take_records(walk: Preview, *records: dict[str, Any]) -> desk.Acknowledgement:
    return desk.take_records(walk.store, walk.reader, records, now=NOW)


def _draw(store: Store, **values: Any) -> Store:
    draw_trial(store, {**PROTOCOL, **values})
    return store


DESIGNS: list[dict[str, Any]] = [
    {"conditions": ["aided"], "aid_model": "m", "aid_shows": ["answer", "explanation", "boxes"]},
    {"conditions": ["aided"], "aid_model": "m", "aid": "after"},
    {"conditions": ["unaided", "wrong-image"], "sessions": 2, "washout_days": 0},
    {"reads_per_case": 3, "anchor": 1},
    {"arms": [{"name": "a"}, {"name": "b", "conditions": ["image-absent"]}]},
]


@pytest.mark.parametrize("values", DESIGNS, ids=range(len(DESIGNS)))
def test_every_design_can_be_previewed_with_an_example_of_its_aid(
    banked: Store, values: dict[str, Any]
) -> None:
    """No model and no readers are needed; the example is the same for every case."""
    walk = _open(_draw(banked, **values))
    shown = set()
    for _ in range(20):
        page = desk.desk(walk.store, walk.reader, now=NOW)
        if not page.cases:
            break
        case = page.cases[0]
        if case.aid and case.aid.content:
            shown.add(dict(case.options).get(case.aid.content.option or "", "")[:9])
        assert not _take_records(walk, presentation(case.case), reading(case.case)).refused
    assert page.finished
    assert shown == ({"Finding A"} if "aid_model" in values else set())


def test_each_arm_can_be_previewed(banked: Store) -> None:
    """Each arm has a separate preview; the default is the first arm."""
    arms = [
        {"name": "control", "instructions": "Read alone."},
        {"name": "with AI", "conditions": ["aided"], "aid": "after"},
    ]
    values: dict[str, Any] = {"arms": arms, "aid_model": "m", "reads_per_case": 2}
    drawn = _draw(banked, **values)
    draft = _draft(banked, **values)
    for which in ({}, {"draft": draft}):  # the drawn study, the draft
        person = CREATOR if which else None
        shown = {}
        for arm in ("control", "with AI"):
            walk = _open(drawn, person, arm=arm, **which)
            page = desk.desk(walk.store, walk.reader, now=NOW)
            steps = [step.markdown for step in page.preparation]
            shown[walk.arm] = (steps, [case.stage for case in page.cases])
        assert shown == {"control": (["Read alone."], []), "with AI": ([], [1, 2] * 3)}
        assert _open(drawn, person, **which).arm == "control"
        with pytest.raises(NotFound, match="no arm AI"):
            _open(drawn, person, arm="AI", **which)


@pytest.mark.parametrize("aid", ["first", "on demand", "after"])
def test_no_answer_of_the_model_reaches_a_preview(banked: Store, tmp_path: Path, aid: str) -> None:
    """The answer is never sent to the page or stored in a file of the preview."""
    shows = {"aid": aid, "aid_model": "m", "aid_shows": ["answer", "explanation"]}
    store, mark = _draw(banked, conditions=["aided"], **shows), "WORDS-OF-THE-MODEL"
    with store.look() as look:
        items = [row.item_id for row in banks.items_of_study(look, 1)]
    path = tmp_path / "predictions.json"
    answer = {"model_prediction": "A", "explanation": mark}
    path.write_text(json.dumps(dict.fromkeys(items, answer)))
    add_model(store, path, study="trial", model_id="m", acting=ACTING)
    invite(store, "R1")
    for is_open in (False, True):
        if is_open:
            studies.open_study(store, study="trial", acting=ACTING)
        walk, shown = _open(store), ""
        while (page := desk.desk(walk.store, walk.reader, now=NOW)).cases:
            case = page.cases[0].case
            request = {"kind": "aid request", "id": f"ask-{case}", "case": case}
            _take_records(walk, presentation(case), {**request, "epoch_ms": NOW.timestamp() * 1000})
            shown += repr(desk.desk(walk.store, walk.reader, now=NOW))
            _take_records(walk, reading(case))
        assert "This is an example" in shown
        assert mark not in shown
        files = list(walk.store.path.parent.iterdir())
        assert walk.store.path in files
        assert all(mark.encode() not in file.read_bytes() for file in files)
        walk.discard()


def test_a_complete_preview_changes_no_table(banked: Store) -> None:
    """The preview has consent, practice and all cases, and adds a single event."""
    store = _draw(banked, consent="May we?", practice_cases=2, feedback="after study")
    invite(store, "R1")
    studies.open_study(store, study="trial", acting=ACTING)
    before, kinds = rows_by_table(store), _kinds(store)
    walk = _open(store)
    assert _take_records(walk, preparation("consent")).refused == ()
    n_feedback = 0
    while cases := desk.desk(walk.store, walk.reader, now=NOW).cases:
        receipt = _take_records(walk, presentation(cases[0].case), reading(cases[0].case))
        assert receipt.refused == ()
        assert bool(receipt.feedback) == cases[0].practice
        n_feedback += len(receipt.feedback)
    assert n_feedback == 2
    assert desk.desk(walk.store, walk.reader, now=NOW).finished
    assert rows_by_table(store) == before
    assert _kinds(store) == [*kinds, "preview opened"]
    assert verify(store) == []


def test_a_drawn_study_is_previewed_before_readers_are_invited(banked: Store) -> None:
    """The cases, films and rules are those of a reader."""
    store = _draw(banked, confidence=5, time_limit_s=90)
    shown = desk.desk(_open(store).store, _open(store).reader, now=NOW)
    assert shown.rules["confidence_steps"] == 5
    assert shown.rules["time_limit_s"] == 90
    assert (shown.study, shown.total, len(shown.cases)) == ("trial", 4, 3)
    with store.look() as look:
        questions = {
            row["question"]
            for row in look.rows("SELECT question FROM cases JOIN items ON items.id = item")
        }
    assert {case.question for case in shown.cases} <= questions


def test_a_preview_resumes_until_it_is_discarded(banked: Store) -> None:
    """A reload adds no event; after discarding, a new preview has another seal."""
    store = _draw(banked)
    walk = _open(store)
    case = desk.desk(walk.store, walk.reader, now=NOW).cases[0].case
    _take_records(walk, reading(case))
    resumed = _open(store)
    assert desk.desk(resumed.store, resumed.reader, now=NOW).read == 1
    assert _kinds(store).count("preview opened") == 1
    seal = _seal(resumed.store, resumed.reader)
    resumed.discard()
    restarted = preview(store, coordinator(store), entropy=entropy_from(6), now=NOW)
    assert desk.desk(restarted.store, restarted.reader, now=NOW).read == 0
    assert _seal(restarted.store, restarted.reader) != seal
    assert _kinds(store).count("preview opened") == 2


def test_the_event_of_a_preview_names_the_coordinator(banked: Store) -> None:
    """The event includes role and address."""
    store = _draw(banked)
    _open(store)
    with store.look() as look:
        (event,) = look.rows("SELECT * FROM events WHERE kind = 'preview opened'")
    assert (event["chain"], event["actor"]) == ("study:trial", "c")
    assert json.loads(event["detail"]) == {"role": "coordinator", "place": "a-place"}


def test_a_preview_has_a_different_seal_and_film_addresses(opened: Opened) -> None:
    """The browser cannot confuse its records with those of a reader."""
    store = opened()
    walk = _open(store)
    assert _seal(walk.store, walk.reader) != _seal(store, person(store))
    own = desk.desk(walk.store, walk.reader, now=NOW).cases[0].views[0].film
    case, view = own.split("/")
    assert desk.film(store, person(store), case, int(view)) is None
    row = desk.film(walk.store, walk.reader, case, int(view))
    assert row is not None
    assert Path(row.images_root, row.path).is_file()


def test_a_preview_copies_no_confidential_table(opened: Opened) -> None:
    """Report texts, predictions, readers and names are not copied."""
    store = opened(readers=("R1", "R2"))
    copied = rows_by_table(_open(store).store)
    for table in ("report_texts", "predictions", "models", "readings", "names", "presentations"):
        assert copied[table] == []
    assert [row["reader_id"] for row in copied["readers"]] == [previews.READER]


def test_a_preview_belongs_to_one_sign_in_and_one_study(banked: Store) -> None:
    """Neither other people, nor the same person in another study or role, can open it."""
    store = _draw(banked)
    mark = _open(store).mark
    me = coordinator(store)
    assert previews.find(store, me, mark).mark == mark
    for other in (
        coordinator(store, "d"),
        replace(me, sign_in="the next one"),
        replace(me, study=2, study_name="another"),
        replace(me, role=Role.STATISTICIAN),
        replace(me, role=Role.READER, reader=1),
    ):
        with pytest.raises(NotAllowed):
            previews.find(store, other, mark)
    for wrong in ("0" * 32, "../store", ""):
        with pytest.raises(NotFound):
            previews.find(store, me, wrong)


@pytest.mark.parametrize("role", [Role.READER, Role.STATISTICIAN])
def test_readers_and_statisticians_cannot_open_a_preview(banked: Store, role: Role) -> None:
    """Only roles that set up studies can open a preview."""
    store = _draw(banked)
    with pytest.raises(NotAllowed):
        _open(store, replace(coordinator(store), role=role))


def test_a_closed_study_has_no_preview(opened: Opened) -> None:
    """The message states that the study is closed."""
    store = opened()
    with store.change() as change:
        stored_studies.mark_closed(change, 1, "2025-06-05T12:00:00.000Z")
    with pytest.raises(NotNow, match="closed"):
        _open(store)


def _draft(store: Store, bank: int | None = 1, **values: Any) -> int:
    with store.change() as change:
        maker = people.add(change, handle="c", made_at_utc="2025-06-04T12:00:00.000Z")
        return change.insert(
            "drafts",
            name="idea",
            made_by=maker,
            bank=bank,
            protocol=json.dumps({**PROTOCOL, **values}),
            saved_at_utc="2025-06-04T12:00:00.000Z",
        )


CREATOR = Person(name="c", id=1, deployment=Role.COORDINATOR)


def test_a_draft_is_drawn_for_its_preview_only(banked: Store) -> None:
    """The cases are those a draw would give, and no study is created."""
    draft = _draft(banked, practice_cases=1)
    before = rows_by_table(banked)
    walk = _open(banked, CREATOR, draft=draft)
    shown = desk.desk(walk.store, walk.reader, now=NOW)
    assert (shown.study, shown.total, shown.practice_total) == ("idea", 4, 1)
    assert shown.cases[0].practice
    assert rows_by_table(banked) == before
    assert _kinds(banked)[-1] == "preview opened"


def test_a_changed_draft_gets_a_new_preview(banked: Store) -> None:
    """The new preview shows the values saved last."""
    draft = _draft(banked)
    _open(banked, CREATOR, draft=draft)
    with banked.change() as change:
        change.execute(
            "UPDATE drafts SET protocol = :new", new=json.dumps({**PROTOCOL, "cases": 5})
        )
    walk = _open(banked, CREATOR, draft=draft)
    assert desk.desk(walk.store, walk.reader, now=NOW).total == 5


def test_the_preview_of_an_invalid_draft_is_refused_with_its_reason(banked: Store) -> None:
    """Only the creator of the draft and administrators can open its preview."""
    draft = _draft(banked, bank=None)
    with pytest.raises(BadInput, match="question bank"):
        _open(banked, CREATOR, draft=draft)
    with pytest.raises(NotFound):
        _open(banked, CREATOR, draft=-1)
    stranger = replace(CREATOR, id=7)
    with pytest.raises(NotAllowed, match="someone else"):
        _open(banked, stranger, draft=draft)
    with pytest.raises(NotAllowed):
        _open(banked, replace(CREATOR, deployment=None), draft=draft)
    for fault, error in (({"cases": 500}, BadInput), ({"cases": -1}, BadProtocol)):
        with banked.change() as change:
            new = json.dumps({**PROTOCOL, **fault})
            change.execute("UPDATE drafts SET bank = 1, protocol = :new", new=new)
        with pytest.raises(error):
            _open(banked, replace(stranger, deployment=Role.ADMINISTRATOR), draft=draft)
    assert "preview opened" not in _kinds(banked)
    folder = banked.path.with_name(f"{banked.path.name}-previews")
    assert list(folder.iterdir()) == []


def test_the_number_of_stored_previews_is_limited(banked: Store) -> None:
    """The least recently used one is deleted first."""
    store = _draw(banked)
    folder = store.path.with_name(f"{store.path.name}-previews")
    marks = []
    for number in range(previews.MAX_PREVIEWS + 2):
        walk = _open(store, coordinator(store, f"c{number}"))
        marks.append(walk.mark)
        stamp = NOW.timestamp() + number
        os.utime(walk.store.path, (stamp, stamp))
    assert len(list(folder.glob("*.db"))) == previews.MAX_PREVIEWS
    with pytest.raises(NotFound):
        previews.find(store, coordinator(store, "c0"), marks[0])
    late = preview(
        store,
        coordinator(store, "late"),
        entropy=entropy_from(5),
        now=NOW.replace(year=NOW.year + 90),
    )
    assert [path.stem for path in folder.glob("*.db")] == [late.mark]
    assert [path.name for path in folder.iterdir() if path.suffix != ".db"] == []


def _seal(store: Store, reader: Person) -> str:
    with store.look(sealed=True) as look:
        return desk.seal(look, reader)
