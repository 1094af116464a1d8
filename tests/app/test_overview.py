"""The coordinator's overview and the models page: contents, confirmations, actions and refusals."""

import io
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from study.base.actor import COMMAND_LINE as BY
from study.base.actor import Acting
from study.base.errors import BadFile
from study.models import models
from study.models.files import guess_roles, remembered_columns
from study.models.models import FileSummary, withdrawn_models
from study.monitoring import interventions
from study.monitoring.interventions import exclusion_history
from study.monitoring.progress import status
from study.monitoring.reminders import last_reminder_times
from study.monitoring.scheduled_reminders import reminder_schedule
from study.people.roles import Role
from study.people.signing_in import Person
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store
from study.trail.verification import verify
from tests.conftest import NOW, ROOT, person, presentation, reading
from tests.page_runs import button
from ui.overview.model_upload import _Unconfirmed, _UnknownColumns, _Upload
from ui.overview.models import model_table
from ui.parts.text import plain
from ui.server.file_jobs import begin_job, save_upload, store_model_file

Opened = Callable[..., Store]
FAST = {"response_ms": 250.0, "elapsed_ms": 250.0, "hidden_ms": 0.0, "paused_ms": 0.0}


@pytest.fixture
def watched(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a study where R1 read one case too fast, R2 is simulated, and R3 has not started."""
    store = opened(readers=("R1", "R2", "R3"), session_days=3650)
    reader = person(store)
    case = desk.desk(store, reader, now=NOW).cases[0].case
    record = reading(case, times=FAST, committed_epoch_ms=NOW.timestamp() * 1000 + 250)
    desk.take_records(store, reader, [presentation(case), record], now=NOW)
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    coordinator = Person(role=Role.COORDINATOR, study=reader.study, study_name="trial", name="c")
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": coordinator)
    return store


def _page(part: str = "", page: str = "overview.py") -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / page), default_timeout=60)
    if part:
        app.session_state["part"] = part
    app.run()
    assert not app.exception
    return app


def _press(app: AppTest, key: str) -> AppTest:
    buttons = [element for element in app.button if str(element.label) == key]
    (buttons[0] if buttons else button(app, key)).click().run()
    assert not app.exception
    return app


def _texts(app: AppTest) -> str:
    shown = [*app.markdown, *app.caption, *app.success, *app.error, *app.code]
    return "\n".join(str(row.value) for row in shown)


def test_progress_has_every_denominator(watched: Store) -> None:
    """Assigned, presented, read, answered, declined, timed out, stages and pace are shown."""
    app = _page()
    readers: Any = app.dataframe[0].value
    assert list(readers["Assigned"]) == [8, 8, 8]
    assert list(readers["Presented"]) == [1, 8, 0]
    assert list(readers["Read"]) == [1, 8, 0]
    assert list(readers["Stage"]) == ["reading", "finished", "not started"]
    assert list(readers["Reader"]) == ["R1", "R2 (simulated)", "R3"]
    pace: Any = app.dataframe[1].value
    assert list(pace["Timed readings"]) == [1, 8, 0]
    assert "R1 has read 1 of 8 and was last active 4 Jun 2025" in _texts(app)
    assert len(app.get("plotly_chart")) == 1


def test_the_overview_does_not_read_the_reference_standard(
    watched: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite denies access to it, except for counts of models."""
    unsealed = Store.look
    flags: list[bool] = []

    def look(self: Store, *, sealed: bool = False) -> Any:
        flags.append(sealed)
        return unsealed(self, sealed=True)

    monkeypatch.setattr(Store, "look", look)
    for part in ("progress", "quality", "readings", "step in"):
        assert not _page(part).error
    assert True in flags


def test_each_observation_links_to_its_readings(watched: Store) -> None:
    """A reading that was too fast and at first glance is listed after one click."""
    app = _page("quality")
    table: Any = app.dataframe[0].value
    assert list(table["Observation"]) == [
        "Faster than an image can be viewed",
        "Answered at a glance",
    ]
    assert list(table["Readings"]) == ["1 of 1", "1 of 1"]
    rows: Any = app.dataframe[1].value
    assert list(rows["Position"]) == [1]
    assert "Answer" not in rows.columns
    _press(app, "look-at")
    assert app.session_state["part"] == "readings"


def test_the_list_of_readings_can_be_filtered(watched: Store) -> None:
    """It contains all readings, the latest first."""
    app = _page("readings")
    all_rows: Any = app.dataframe[0].value
    assert len(all_rows) == 9
    assert all_rows["Received (UTC)"].is_monotonic_decreasing
    app.multiselect(key="list-readers").select("R1").run()
    left: Any = app.dataframe[0].value
    assert set(left["Reader"]) == {"R1"}
    assert len(left) == sum(all_rows["Reader"] == "R1") < len(all_rows)
    flag = next(iter(app.multiselect(key="list-flags").options))
    app.multiselect(key="list-flags").select(flag).run()
    flagged: Any = app.dataframe[0].value
    assert len(flagged) > 0
    app.multiselect(key="list-flags").set_value([]).run()
    app.multiselect(key="list-readers").set_value([]).run()
    case = all_rows["Case"].iloc[0]
    app.multiselect(key="list-cases").select(case).run()
    of_case: Any = app.dataframe[0].value
    assert set(of_case["Case"]) == {case}
    app.date_input(key="list-since").set_value(NOW.date() + timedelta(days=400)).run()
    later: Any = app.dataframe[0].value
    assert len(later) == 0
    assert not app.exception
    assert all(flag in flags for flags in flagged["Flags"])


def test_a_reading_is_excluded_and_reinstated_after_confirmation(watched: Store) -> None:
    """Each action needs a reason and a confirmation."""
    app = _page("readings")
    assert (
        "As specified in the protocol, excluded readings are included in the primary analysis"
        in str([entry.value for entry in app.caption])
    )
    app.text_area[0].input("fire alarm")
    _press(app, "Exclude this reading")
    assert exclusion_history(watched, "trial") == []
    assert plain("Exclude R1, position 1? Reason: fire alarm") in _texts(app)
    _press(app, "Yes")
    assert [(entry.reason, entry.actor) for entry in exclusion_history(watched, "trial")] == [
        ("fire alarm", "c")
    ]
    assert "1 of 9 readings is excluded." in _texts(app)
    app.text_area[0].input("no alarm")
    _press(app, "Reinstate this reading")
    _press(app, "No")
    assert len(exclusion_history(watched, "trial")) == 1
    assert verify(watched) == []


def test_without_a_reason_no_confirmation_is_shown(watched: Store) -> None:
    """The page shows one sentence instead."""
    app = _page("readings")
    _press(app, "Exclude this reading")
    assert "Give a reason" in app.error[0].value
    assert not [element for element in app.button if element.label == "Yes"]


def test_the_study_is_paused_and_resumed(watched: Store) -> None:
    """Each action needs a reason and a confirmation, and is in the trail."""
    app = _page("step in")
    app.text_area[0].input("scanner down")
    _press(app, "Pause")
    _press(app, "step-now-yes")
    assert [
        (entry.kind, entry.reason) for entry in interventions.list_interventions(watched, "trial")
    ] == [("pause", "scanner down")]
    log: Any = app.dataframe[0].value
    assert list(log["Who"]) == ["the whole study"]
    app.text_area[0].input("again")
    _press(app, "Pause")
    _press(app, "step-now-yes")
    assert "already paused" in app.error[0].value
    assert len(interventions.list_interventions(watched, "trial")) == 1


@pytest.mark.parametrize("step", ["extend", "release", "withdraw"])
def test_a_coordinator_can_intervene_for_a_reader(watched: Store, step: str) -> None:
    """Each intervention has its form and its required fields."""
    app = _page("step in")
    app.session_state["step"] = step
    app.run()
    app.text_area[0].input("on leave")
    labels = {
        "extend": "Extend a session",
        "release": "Remove a session's deadline",
        "withdraw": "Withdraw a reader",
    }
    _press(app, labels[step])
    _press(app, "step-now-yes")
    assert [
        (entry.kind, entry.reader_id)
        for entry in interventions.list_interventions(watched, "trial")
    ] == [(step, "R1")]
    assert verify(watched) == []


def test_a_reminder_can_be_copied_and_is_recorded(watched: Store) -> None:
    """Without a mail server the text is copied; sending is recorded after confirmation."""
    app = _page("remind")
    assert "You have read 1 of 8 cases" in app.code[0].value
    assert "cannot send email" in _texts(app)
    _press(app, "note-sent")
    _press(app, "note-sent-yes")
    assert list(last_reminder_times(watched, "trial")) == ["R1"]
    app.number_input[0].set_value(3)
    _press(app, "remind-save")
    assert reminder_schedule(watched, "trial").days == 3


def test_an_invalid_mail_server_is_reported_in_one_sentence(
    watched: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text can still be copied."""
    monkeypatch.setenv("READING_ROOM_SMTP", "nonsense")
    app = _page("remind")
    assert "READING" in app.error[0].value
    assert app.code


@pytest.mark.thorough
def test_the_models_page_counts_stored_predictions(
    watched: Store, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parsed, unparsed, refused and missing answers are counted, but not correct ones."""
    content = json.dumps(
        {f"q{i:04d}": {"model_prediction": "ABCDX"[i % 5]} for i in range(24)}
    ).encode()
    path = tmp_path / "model.json"
    path.write_bytes(content)
    models.add_model(
        watched,
        path,
        study="trial",
        model_id="M1",
        acting=Acting(by=BY, now=NOW + timedelta(days=1)),
    )
    app = _page(page="models.py")
    table: Any = app.dataframe[0].value
    assert list(table["Cases"]) == [8]
    assert table["Answered"][0] + table["Unparsed"][0] == 8
    assert not {"Accuracy", "Correct"} & set(table.columns)
    _press(app, "Read the file")
    assert "Choose a file" in app.error[0].value


def test_answers_of_open_ended_models_are_shown_as_text(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exam paper is offered for open-ended studies, and no letter is parsed."""
    store = opened(conditions=["open-ended"], readers=("R1",))
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    coordinator = Person(
        role=Role.COORDINATOR, study=person(store).study, study_name="trial", name="c"
    )
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": coordinator)
    app = _page(page="models.py")
    app.toggle(key="paper-open-ended").set_value(True).run()
    assert not app.exception
    rows = [
        {"item_id": f"q{i:04d}", "output": "B, probably", "condition": "open-ended"}
        for i in range(24)
    ]
    uploaded = _uploaded("M1", "\n".join(map(json.dumps, rows)).encode(), "model.jsonl")
    summary = _summary(store, uploaded)
    app = AppTest.from_file(str(ROOT / "pages" / "models.py"), default_timeout=60)
    app.session_state["model-read"] = _Unconfirmed(uploaded=uploaded, summary=summary)
    app.run()
    assert not app.exception
    shown = " ".join(str(element.proto.body) for element in app.get("html"))
    assert "<td>B, probably</td>" in shown
    assert "B: Finding" not in shown
    _press(app, "Save these predictions")
    table: Any = _page(page="models.py").dataframe[0].value
    assert list(table["Answered"]) == [8]


def test_outputs_of_models_can_be_browsed_and_parsed_again(watched: Store, tmp_path: Any) -> None:
    """Changes are shown before they are stored, without correctness."""
    outputs = ("A", "I would go for B", "Cannot tell, maybe option C")
    path = tmp_path / "model.json"
    path.write_text(
        json.dumps({f"q{i:04d}": {"model_prediction": outputs[i % 3]} for i in range(24)})
    )
    models.add_model(
        watched,
        path,
        study="trial",
        model_id="M1",
        acting=Acting(by=BY, now=NOW + timedelta(days=1)),
    )
    app = _page(page="models.py")
    assert not app.exception
    app.selectbox(key="words-name").set_value("M1").run()
    shown = " ".join(element.value for element in app.get("html") if isinstance(element, Element))
    assert "Would change" in shown
    assert "Correct" not in shown
    all_rows = len(app.dataframe[-1].value)
    app.selectbox(key="words-which").set_value("Output without an answer").run()
    shown_rows = app.dataframe[-1].value
    assert 0 < len(shown_rows) < all_rows == 8
    assert set(shown_rows["Read as"]) <= {"unparsed", "refused"}
    app.selectbox(key="read-again-rules").set_value("strict")
    _press(app, "Read the output again")
    assert "reason" in app.error[0].value
    app.selectbox(key="read-again-rules").set_value("strict")
    app.text_area(key="read-again-reason").set_value("As the protocol says")
    _press(app, "Read the output again")
    assert "under the rules “Strict”" in " ".join(element.value for element in app.markdown)
    before = withdrawn_models(watched, "trial")
    _press(app, "Yes")
    assert [withdrawal.reason for withdrawal in withdrawn_models(watched, "trial")] == [
        "As the protocol says"
    ]
    assert before == []


def _read(watched: Store, name: str, words: str, n: int = 24) -> AppTest:
    """Return the models page with a file read and not kept, as after the form's button."""
    content = json.dumps({f"q{i:04d}": {"model_prediction": words} for i in range(n)}).encode()
    uploaded = _uploaded(name, content)
    app = AppTest.from_file(str(ROOT / "pages" / "models.py"), default_timeout=60)
    summary = _summary(watched, uploaded)
    app.session_state["model-read"] = _Unconfirmed(uploaded=uploaded, summary=summary)
    app.run()
    assert not app.exception
    return app


def _uploaded(name: str, content: bytes, file_name: str = "model.json") -> _Upload:
    file = save_upload(file_name, io.BytesIO(content))
    return _Upload(study="trial", file_name=file_name, file=file, model_id=name, model_version="")


def _summary(store: Store, uploaded: _Upload) -> FileSummary:
    summary = models.read_model(store, uploaded.file.path, study="trial")
    return models.summary_of(summary, n_examples=10)


def test_columns_of_an_unknown_table_are_chosen_and_previewed(watched: Store) -> None:
    """The choice is stored with the model, not before."""
    columns = ("Case", "Reply", "Seed", "Sure")
    cases = [f"q{i:04d}" for i in range(24)]
    rows = [f"{case},Answer: {'AB'[seed]},{seed},80" for case in cases for seed in (0, 1)]
    content = "\n".join([",".join(columns), *rows]).encode()
    app = AppTest.from_file(str(ROOT / "pages" / "models.py"), default_timeout=60)
    app.session_state["model-naming"] = _UnknownColumns(
        uploaded=_uploaded("M1", content, "replies.csv"),
        columns=columns,
        column_roles=guess_roles(columns),
    )
    app.run()
    for key in ("model-column-id", "model-column-output"):
        app.selectbox(key=key).set_value("")
    _press(app, "model-columns-look")
    assert "Choose a column for\\: Case ID" in app.error[-1].value
    roles = ("id", "output", "run", "confidence")
    for role, column in zip(roles, columns, strict=True):
        app.selectbox(key=f"model-column-{role}").set_value(column)
    _press(app, "model-columns-look")
    assert not app.error
    shown = " ".join(element.value for element in app.get("html") if isinstance(element, Element))
    assert "Answer: A" in shown
    assert "0.80" in shown
    assert "The first is used" in " ".join(element.value for element in app.markdown)
    assert remembered_columns(watched, columns) == {}
    _press(app, "model-keep")
    assert _n_unparsed(watched) == {"M1": 0}
    assert remembered_columns(watched, columns[::-1])["run"] == "Seed"


def _n_unparsed(watched: Store) -> dict[str, int]:
    return {row["model_id"]: row["n_unparsed"] for row in status(watched, "trial")["models"]}


def test_a_file_of_predictions_is_previewed_before_it_is_stored(watched: Store) -> None:
    """Missing answers are highlighted, and examples are shown as parsed."""
    app = _read(watched, "M1", "no idea", n=8)
    shown = " ".join(element.value for element in app.get("html") if isinstance(element, Element))
    assert "no idea" in shown
    assert "unparsed" in shown
    absent, unanswered = (element.value for element in app.warning[-2:])
    assert absent.startswith("6 of 8 cases are not in this file and count as incorrect")
    assert unanswered.startswith("2 of 8 cases are in this file, but their outputs were unparsed")
    assert _n_unparsed(watched) == {}
    _press(app, "model-discard")
    assert _n_unparsed(watched) == {}
    assert not [element for element in app.button if element.key == "model-keep"]
    app = _press(_read(watched, "M1", "A"), "model-keep")
    assert not app.warning
    assert "M1 was added" in app.success[0].value
    assert app.text_input(key="model-name").value == ""
    assert _n_unparsed(watched) == {"M1": 0}


@pytest.mark.sqlite("another process writes to the witness of the file")
def test_replacing_a_model_requires_a_reason(watched: Store) -> None:
    """It is requested where the name exists; the previous predictions are listed as withdrawn."""
    _press(_read(watched, "M1", "?"), "model-keep")
    app = _press(_read(watched, "M1", "A"), "model-keep")
    assert "Give a reason" in app.error[0].value
    assert _n_unparsed(watched) == {"M1": 8}
    app.text_area(key="model-replace-reason").set_value("The wrong file")
    _press(app, "model-keep")
    assert _n_unparsed(watched) == {"M1": 0}
    assert [withdrawal.reason for withdrawal in withdrawn_models(watched, "trial")] == [
        "The wrong file"
    ]
    assert verify(watched) == []


def test_withdrawing_a_model_requires_a_reason_and_confirmation(watched: Store) -> None:
    """A withdrawn model stays in a list, with its event."""
    app = _press(_read(watched, "M1", "A"), "model-keep")
    _press(app, "withdraw-now")
    assert "Give a reason" in app.error[0].value
    app.text_area(key="withdraw-reason").set_value("The wrong file")
    _press(app, "withdraw-now")
    _press(app, "withdraw-now-no")
    assert _n_unparsed(watched) == {"M1": 0}
    app.text_area(key="withdraw-reason").set_value("The wrong file")
    _press(app, "withdraw-now")
    _press(app, "withdraw-now-yes")
    assert _n_unparsed(watched) == {}
    assert app.dataframe[0].value["Reason"].tolist() == ["The wrong file"]
    assert verify(watched) == []


def test_messages_show_an_uploaded_file_by_its_name_only(watched: Store) -> None:
    """No message names a folder of the server, and the file is deleted later."""
    file = save_upload("..\\..//x/bad.csv", io.BytesIO(b"x"))
    keep = {"acting": Acting(by=BY, now=NOW)}
    with pytest.raises(BadFile, match=r"^bad\.csv"):
        begin_job(store_model_file, file, watched.address, "trial", {}, keep).outcome()
    place = file.path
    del file
    assert not place.exists()
    assert model_table([], 8).empty
