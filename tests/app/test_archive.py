"""The archive page, and the display of accuracy before and after closing, in the test runner."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from study.lifecycle import studies
from study.people.roles import Role
from study.people.signing_in import Person
from study.reading.simulation import simulate
from study.store import Store
from study.store.studies import study_row
from tests.conftest import ACTING, NOW, ROOT, person
from tests.page_runs import button

ARCHIVE, RESULTS = ROOT / "pages" / "archive.py", ROOT / "pages" / "results.py"


@pytest.fixture
def trial(opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return an open study that two of three readers have completed."""
    store = opened(readers=("R1", "R2", "R3"))
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    for reader_id in ("R1", "R2"):
        simulate(store, study="trial", reader_id=reader_id, seed=1, accuracy=0.7, now=NOW)
    return store


def _as(store: Store, role: Role, monkeypatch: pytest.MonkeyPatch) -> None:
    study = person(store).study
    who = Person(role=role, study=study, study_name="trial", name="c")
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": who)


def _run(page: Path) -> AppTest:
    return AppTest.from_file(str(page), default_timeout=60).run()


def _state(store: Store) -> str:
    with store.look() as look:
        return str(study_row(look, "trial").state)


@pytest.mark.thorough
def test_closing_requires_a_reason_and_the_name_of_the_study(
    trial: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each refusal names what is missing.

    With both, the study is closed and the form disappears.
    """
    _as(trial, Role.COORDINATOR, monkeypatch)
    app = _run(ARCHIVE)
    for reason, name, refusal in (
        ("", "", "Give a reason"),
        ("", "trial", "Give a reason"),
        ("done", " ", "Type the study's name"),
        ("done", "Trial", "This is not the study's name"),
    ):
        app.text_area(key="close-reason").input(reason)
        app.text_input(key="close-name").input(name)
        button(app, "close-study-button").click().run()
        assert len(app.error) == 1
        assert refusal in app.error[0].value
        assert _state(trial) == "open"
    app.text_input(key="close-name").input("trial")
    app.text_area(key="close-reason").input("All *read*.")
    button(app, "close-study-button").click().run()
    assert not app.exception
    assert _state(trial) == "closed"
    assert r"by c: All \*read\*\." in app.info[0].value
    assert not app.text_area


def test_a_statistician_can_create_the_files_but_not_close_the_study(
    trial: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page has no form to close the study."""
    _as(trial, Role.STATISTICIAN, monkeypatch)
    app = _run(ARCHIVE)
    assert not app.exception
    assert not app.text_area
    button(app, "make-files").click().run()
    assert not app.exception
    assert any("study\\.db" in element.value for element in app.caption)


def test_results_of_an_open_study_show_agreement_without_accuracy(
    trial: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part of the page shows accuracy before closing; afterwards it does."""
    _as(trial, Role.COORDINATOR, monkeypatch)
    app = _run(RESULTS)
    assert not app.exception
    assert "Accuracy is shown once the study is closed" in app.info[0].value
    assert not any(
        "orrect" in element.value or "accura" in element.value for element in app.markdown
    )
    for part in ("Agreement", "Time"):
        app.session_state["part"] = part
        app.run()
        assert not app.exception
        assert app.get("plotly_chart")
    for part in ("Accuracy", "Cases", "Tables", "Hard cases"):
        app.session_state["part"] = part
        app.run()
        assert not app.exception
        assert not app.dataframe
        assert not any("accuracy" in str(element) for element in app.get("plotly_chart"))
    studies.close(trial, study="trial", reason="done", acting=ACTING)
    app = _run(RESULTS)
    assert any("Accuracy" in element.value for element in app.markdown)
