"""All pages in Streamlit's test runner: refused without sign-in, correct with it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from study.lifecycle.studies import close
from study.models.models import add_model
from study.people.roles import Role
from study.people.signing_in import Person
from study.reading.simulation import simulate
from study.store import Store
from tests.conftest import ACTING, NOW, ROOT, person
from ui.parts.text import plain

PAGES = {
    "read.py": "reader",
    "score_card.py": "reader",
    "overview.py": "coordinator",
    "models.py": "coordinator",
    "results.py": "coordinator",
    "archive.py": "coordinator",
    "preview.py": "coordinator",
    "preview_draft.py": "coordinator",
}
Opened = Callable[..., Store]


@pytest.fixture
def deployed(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return the store of an open study, set in the environment."""
    store = opened(readers=("R1", "R2", "R3"), interim_results=True)
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    return store


def _sign_in(monkeypatch: pytest.MonkeyPatch, person: Person | None) -> None:
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)


def _coordinator(store: Store) -> Person:
    reader = person(store)
    return Person(role=Role.COORDINATOR, study=reader.study, study_name="trial", name="c")


def _run(path: Path) -> AppTest:
    return AppTest.from_file(str(path), default_timeout=60).run()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opened_without_the_router_only_asks_to_sign_in(deployed: Store, page: str) -> None:
    """Without router and sign-in it shows one sentence and nothing else."""
    app = _run(ROOT / "pages" / page)
    assert not app.exception
    assert [error.value for error in app.error] == ["Sign in to see this page."]
    assert not app.title
    assert not app.dataframe


@pytest.mark.parametrize("page", PAGES)
def test_pages_refuse_other_roles(
    deployed: Store, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers get no overview and no results, and coordinators cannot read."""
    other = _coordinator(deployed) if PAGES[page] == "reader" else person(deployed)
    _sign_in(monkeypatch, other)
    app = _run(ROOT / "pages" / page)
    assert len(app.error) == 1
    assert not app.title


def test_the_router_shows_signed_out_visitors_the_sign_in_page(deployed: Store) -> None:
    """Other pages do not exist for them."""
    app = _run(ROOT / "ui" / "app" / "router.py")
    assert not app.exception
    assert app.title[0].value == "Reading Room"


def test_a_missing_database_is_reported_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The page shows one sentence without a traceback."""
    monkeypatch.setenv("READING_ROOM_DB", str(tmp_path / "none.db"))
    app = _run(ROOT / "ui" / "app" / "router.py")
    assert not app.exception
    assert "study init" in app.error[0].value


def test_results_state_that_they_are_interim_and_simulated(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of three readers are done, both simulated; this is stated above the figures."""
    for reader_id in ("R1", "R2"):
        simulate(deployed, study="trial", reader_id=reader_id, seed=1, accuracy=0.7, now=NOW)
    _sign_in(monkeypatch, _coordinator(deployed))
    app = _run(ROOT / "pages" / "results.py")
    assert not app.exception
    status, opening, findings = (element.proto.body for element in app.get("html")[-3:])
    assert "16 of 24 readings" in status
    assert "Simulated, not real data: R1, R2." in status
    assert opening.index("No endpoint was declared") < opening.index("<table>")
    assert opening.index("</table>") < opening.index("Mean agreement over")
    assert "2 readers" in findings


def test_results_of_a_closed_study_are_final(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing readings do not matter, because nobody can add them."""
    simulate(deployed, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    close(deployed, study="trial", reason="for reading has passed", acting=ACTING)
    _sign_in(monkeypatch, _coordinator(deployed))
    status = _run(ROOT / "pages" / "results.py").get("html")[-3].proto.body
    assert "closed with 8 of 24 readings" in status
    assert "nterim" not in status


@pytest.mark.thorough
def test_all_sections_of_the_results_open(deployed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each section has its figures, cases and tables."""
    for reader_id in ("R1", "R2"):
        simulate(deployed, study="trial", reader_id=reader_id, seed=1, accuracy=0.7, now=NOW)
    _sign_in(monkeypatch, _coordinator(deployed))
    app = _run(ROOT / "pages" / "results.py")
    for part, figures in {
        "Accuracy": 1,
        "Agreement": 3,
        "Hard cases": 1,
        "Robustness": 1,
        "Time": 2,
    }.items():
        app.session_state["part"] = part
        app.run()
        assert not app.exception
        assert len(app.get("plotly_chart")) >= figures
        if part == "Agreement":
            assert _switched(app) == ["Cohen's kappa", "Raw agreement"]
            _beside_the_reference_standard(app)
    for part in ("Cases", "Tables"):
        app.session_state["part"] = part
        app.run()
        assert not app.exception
        assert len(app.dataframe) == 1
    assert len(app.selectbox[0].options) == 27


def test_cases_where_a_model_and_all_readers_differ_are_listed(
    deployed: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The filter by model lists the same cases as the table of the report."""
    for reader_id in ("R1", "R2"):
        simulate(deployed, study="trial", reader_id=reader_id, seed=1, accuracy=0.99, now=NOW)
    file = tmp_path / "model.json"
    file.write_text(json.dumps({f"q{n:04d}": {"model_prediction": "A"} for n in range(24)}))
    add_model(deployed, file, study="trial", model_id="M_1", acting=ACTING)
    _sign_in(monkeypatch, _coordinator(deployed))
    app = _run(ROOT / "pages" / "results.py")
    app.session_state["part"] = "Cases"
    app.run()
    all_rows = app.dataframe[0].value
    which = app.selectbox(key="parted")
    assert which.options == ["", "All readers correct, M_1 incorrect"]
    which.select_index(1).run()
    assert not app.exception
    rows_shown = app.dataframe[0].value
    assert 0 < len(rows_shown) < len(all_rows)
    assert set(rows_shown["n_models_correct"]) == {0}


@pytest.mark.thorough
def test_two_models_are_compared(
    deployed: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tasks and cases that one of them answered correctly are shown, but not for a single model."""
    for reader_id in ("R1", "R2"):
        simulate(deployed, study="trial", reader_id=reader_id, seed=1, accuracy=0.9, now=NOW)
    for letter in "AB":
        file = tmp_path / f"{letter}.json"
        predictions = {f"q{n:04d}": {"model_prediction": letter} for n in range(24)}
        file.write_text(json.dumps(predictions))
        add_model(deployed, file, study="trial", model_id=f"M_{letter}", acting=ACTING)
    _sign_in(monkeypatch, _coordinator(deployed))
    app = _run(ROOT / "pages" / "results.py")
    app.session_state["part"] = "Models side by side"
    app.run()
    assert not app.exception
    sides, cases = (frame.value for frame in app.dataframe)
    assert sides["group"].iloc[0] == "All cases"
    assert len(cases) == sides["only_a_correct"].iloc[0] > 0
    app.session_state["only-M_A-M_B"] = "M_B"
    app.run()
    assert len(app.dataframe[1].value) == sides["only_b_correct"].iloc[0] > 0
    app.selectbox[0].select("M_B").run()
    reversed_rows = app.dataframe[0].value
    assert reversed_rows["difference"].tolist() == (-sides["difference"]).tolist()
    assert reversed_rows["ci_low"].tolist() == (-sides["ci_high"]).tolist()


SWITCH = "matrix-measure-kappa_letters-brennan_prediger-error_consistency-raw"


def _switched(app: AppTest) -> list[str]:
    """Return the titles of the matrix before and after changing the switch."""
    first = next(text.value for text in app.markdown if "kappa" in text.value)
    app.session_state[SWITCH] = "raw"
    app.run()
    assert not app.exception
    second = next(text.value for text in app.markdown if "Raw" in text.value)
    return [text.strip("*").replace("\\", "") for text in (first, second)]


def _beside_the_reference_standard(app: AppTest) -> None:
    """Turn on the switch, which adds a row to the matrix of a category too."""
    of = "against the reference standard"
    assert not any(of in element.value for element in app.caption)
    category = next(
        option for option in app.selectbox[0].options if option.startswith("Category: ")
    )
    app.selectbox[0].select(category)
    app.session_state["matrix-reference"] = True
    app.run()
    assert not app.exception
    assert any(of in element.value for element in app.caption)


def test_results_without_readings_show_a_single_sentence(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study that nobody has read yet is a normal state."""
    _sign_in(monkeypatch, _coordinator(deployed))
    app = _run(ROOT / "pages" / "results.py")
    assert not app.exception
    assert not app.error
    assert "No case has been read and no model" in app.markdown[0].value


def test_names_are_not_rendered_as_markdown(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study's name is shown character by character."""
    person = _coordinator(deployed)
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
    assert plain("*b* [x](y)") == r"\*b\* \[x\]\(y\)"
    assert not _run(ROOT / "pages" / "overview.py").exception
