"""The score card and the preview in Streamlit's test runner."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from study.people.roles import Role
from study.people.signing_in import Person
from study.reading import desk
from study.store import Store
from tests.conftest import NOW, ROOT, person, reading
from tests.unit.study.reading.test_open_ended import text_reading
from tests.unit.study.reading.test_score_card import (
    FIVE_READERS,
    PEER_PROTOCOL,
    close,
    read_with_score,
)

Opened = Callable[..., Store]
CARD = ROOT / "pages" / "score_card.py"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[Store, Person, Path], AppTest]:
    """Return a function that runs a page as a signed-in person."""

    def ran(store: Store, person: Person, page: Path) -> AppTest:
        monkeypatch.setenv("READING_ROOM_DB", str(store.path))
        monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
        return AppTest.from_file(str(page), default_timeout=60).run()

    return ran


def _read(store: Store, n: int) -> None:
    for _ in range(n):
        case = desk.desk(store, person(store), now=NOW).cases[0].case
        desk.take_records(store, person(store), [reading(case)], now=NOW)


Run = Callable[[Store, Person, Path], AppTest]


def _lead(app: AppTest) -> str:
    """Return the text below the title."""
    bodies = [str(part.proto.body) for part in app.get("html")]
    return next(body for body in bodies if "rr-lead" in body)


def test_the_score_card_has_counts_pages_and_a_filter(opened: Opened, run: Run) -> None:
    """Two clicks move by two cases; the switch leaves the cases that do not match."""
    store = opened(feedback="after study")
    _read(store, 6)
    close(store)
    app = run(store, person(store), CARD)
    assert not app.exception
    assert app.title[0].value == "Your score card"
    assert "You read 6 of 8 cases" in _lead(app)
    for _ in range(2):
        app.button(key="card1").click().run()
    assert app.selectbox(key="card-at").value == 2
    app.button(key="card-1").click().run()
    assert app.selectbox(key="card-at").value == 1
    n = len(app.selectbox(key="card-at").options)
    app.toggle(key="card-only-wrong").set_value(True).run()
    wrong = app.selectbox(key="card-at").options
    assert not app.exception
    assert 0 < len(wrong) < n == 6
    assert all("✗" in line for line in wrong)
    assert app.selectbox(key="card-at").value == 0
    assert app.button(key="card-1").disabled


def test_the_score_card_compares_a_reader_with_others(opened: Opened, run: Run) -> None:
    """Rank, table and cases that most others answered correctly are shown without codes."""
    store = opened(readers=FIVE_READERS, **PEER_PROTOCOL)
    for reader, n_right in zip(FIVE_READERS, (2, 7, 5, 2, 6), strict=True):
        read_with_score(store, reader, n_right)
    close(store)
    app = run(store, person(store), CARD)
    assert not app.exception
    shown = " ".join(str(element.proto.body) for element in app.get("html"))
    assert "Your place: 4 (shared) of 5 readers" in shown
    assert "Mean of the 4 other readers" in shown
    assert "<td>25\u00a0%</td>" in shown
    assert "<td>62\u00a0%</td>" in shown
    assert not [reader for reader in FIVE_READERS if reader in shown]
    app.toggle(key="card-only-others").set_value(True).run()
    assert len(app.selectbox(key="card-at").options) == 3
    shown = " ".join(str(element.proto.body) for element in app.get("html"))
    assert "Other readers who answered correctly: 3 of 4." in shown


def test_the_score_card_shows_open_answers_without_scores(opened: Opened, run: Run) -> None:
    """They are escaped, in no count, and not in the list of cases that do not match."""
    store = opened(feedback="after study", conditions=["open-ended", "unaided"], cases=2)
    for _ in range(2):
        case = desk.desk(store, person(store), now=NOW).cases[0].case
        desk.take_records(
            store, person(store), [text_reading(case, "<b>blunt</b>\nangle")], now=NOW
        )
    _read(store, 2)
    close(store)
    app = run(store, person(store), CARD)
    assert not app.exception
    assert "2 answers in your own words are not scored here." in _lead(app)
    assert "of 2 cases." in _lead(app)
    options = app.selectbox(key="card-at").options
    assert ["not scored" in option for option in options] == [True, True, False, False]
    shown = " ".join(str(element.proto.body) for element in app.get("html"))
    assert "&lt;b&gt;blunt&lt;/b&gt;\nangle" in shown
    assert "reference answer" in shown
    assert "✗" not in options[0]


@pytest.mark.parametrize("feedback", ["never", "after study"])
def test_an_unavailable_score_card_is_explained(opened: Opened, run: Run, feedback: str) -> None:
    """The study is open, or closed without feedback; no number is shown."""
    store = opened(feedback=feedback)
    _read(store, 2)
    app = run(store, person(store), CARD)
    assert not app.exception
    assert not app.error
    assert "once the study is closed" in app.info[0].value
    close(store)
    app = run(store, person(store), CARD)
    assert not app.exception
    assert app.title[0].value == ("Thank you" if feedback == "never" else "Your score card")
    assert bool(app.selectbox) == (feedback != "never")


def test_a_score_card_without_readings_shows_a_single_sentence(opened: Opened, run: Run) -> None:
    """It has no case."""
    store = opened(feedback="after case")
    close(store)
    app = run(store, person(store), CARD)
    assert not app.exception
    assert "You read 0 of 8 cases" in _lead(app)
    assert not app.selectbox


def test_a_preview_that_cannot_be_shown_is_explained(opened: Opened, run: Run) -> None:
    """The study is closed, or the draft does not exist."""
    store = opened()
    close(store)
    study = person(store).study
    who = Person(role=Role.COORDINATOR, study=study, study_name="trial", name="c")
    ran = run(store, who, ROOT / "pages" / "preview.py")
    assert not ran.exception
    assert "closed" in ran.error[0].value
    maker = replace(who, deployment=Role.COORDINATOR)
    ran = run(store, maker, ROOT / "pages" / "preview_draft.py")
    assert not ran.exception
    assert "no longer exists" in ran.error[0].value
