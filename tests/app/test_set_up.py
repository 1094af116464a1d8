"""Setting up a study in Streamlit's test runner: drafts, opening, amendments, banks."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from study.bank.importing import import_bank
from study.bank.managing import strike
from study.base.actor import Acting, By
from study.lifecycle import deployments, drafts, studies
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.people.roles import Role
from study.people.signing_in import Person
from study.protocol.protocol import stored_protocol
from study.store import Store
from study.store import studies as stored_studies
from study.store.studies import study_row
from tests.conftest import (
    ACTING,
    NOW,
    bank_records,
    draw_trial,
    entropy_from,
    tamper,
    write_bank,
)
from tests.page_runs import open_page

BY = By(name="ada", role="coordinator")


def _invite(store: Store, study: str) -> None:
    studies.invite(
        store,
        study=study,
        invitations=[Invitation(reader_id="R1")],
        codes=[new_code(entropy_from(5))],
        acting=ACTING,
    )


@pytest.fixture
def maker(banked: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Person]:
    """Return a function to sign in a person who can create studies, in a study or in none."""
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    with banked.change() as change:
        number = deployments.holder(change, "ada", Role.COORDINATOR, None, NOW)

    def enter(study: str = "") -> Person:
        with banked.look() as look:
            row = study_row(look, study) if study else None
        person = Person(
            role=Role.COORDINATOR,
            study=row.id if row else None,
            study_name=study,
            name="ada",
            id=number,
            deployment=Role.COORDINATOR,
        )
        monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
        return person

    enter()
    return enter


def _begun(store: Store) -> int:
    return drafts.begin(store, name="trial", maker=1, bank="bank", acting=Acting(by=BY, now=NOW))


def _field(page: AppTest, kind: str, label: str) -> object:
    elements = (element for element in page.get(kind) if isinstance(element, Element))
    return next(element for element in elements if element.label == label)


def _button(page: AppTest, label: str) -> AppTest:
    next(element for element in page.button if element.label == label).click()
    page.run()
    assert not page.exception
    return page


def test_opening_all_steps_does_not_change_the_draft(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The page and the protocol file always agree."""
    number = _begun(banked)
    before = drafts.find(banked, number).protocol_values
    for step in ("sample", "design", "rules", "words", "endpoint", "review"):
        page = open_page("new_study.py", draft=str(number), step=step)
        assert not page.exception
        assert not page.error
    assert drafts.find(banked, number).protocol_values == before


def test_a_double_click_on_next_advances_one_step(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The second click presses no button of the next step."""
    page = open_page("new_study.py", draft=str(_begun(banked)), step="sample")
    pressed = next(button for button in page.button if button.label == "Next: Design")
    _button(page, pressed.label)
    shown = {button.label: button.id for button in page.button}
    assert "Next: Reading rules" in shown
    assert pressed.id not in shown.values()


def test_changes_are_saved_at_once(banked: Store, maker: Callable[[str], Person]) -> None:
    """They are shown after a reload, and contradictions are reported."""
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="design")
    _field(page, "number_input", "Hidden repeats").set_value(99)  # type: ignore[attr-defined]
    page.run()
    assert drafts.find(banked, number).values["hidden_repeats"] == 99
    assert any("“Hidden repeats” = 99" in element.value for element in page.warning)
    second_page = open_page("new_study.py", draft=str(number), step="design")
    assert _field(second_page, "number_input", "Hidden repeats").value == 99  # type: ignore[attr-defined]


def test_open_ended_cases_can_be_combined_with_others(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The meaning is shown below, and the file has both conditions."""
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="design")
    label = "Open-ended: answered in own words"
    _field(page, "checkbox", label).set_value(True)  # type: ignore[attr-defined]
    page.run()
    assert not page.exception
    assert drafts.find(banked, number).values["conditions"] == ["unaided", "open-ended"]
    assert any("come first for every reader" in element.value for element in page.caption)
    page = open_page("new_study.py", draft=str(number), step="review")
    assert any("unaided, open-ended" in str(element.proto.body) for element in page.get("html"))


def test_a_model_and_parallel_arms_are_set_up_with_a_table_of_what_readers_read(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="design")
    for kind, label, value in (
        ("checkbox", "Aided: with a model's answer", True),
        ("text_input", "Model whose answers are shown", "Janus"),
        ("number_input", "Number of arms", 2),
        ("text_input", "Name of the arm", "control"),
    ):
        _field(page, kind, label).set_value(value)  # type: ignore[attr-defined]
        page.run()
    page.multiselect[0].set_value(["unaided"]).run()
    assert not page.exception
    values = drafts.find(banked, number).protocol_values
    assert values["arms"] == [{"name": "control", "conditions": ["unaided"]}, {"name": "Arm 2"}]
    assert (values["conditions"], values["aid_model"]) == (["unaided", "aided"], "Janus")
    rows_shown = page.dataframe[0].value
    assert list(rows_shown["Arm"]) == ["control"] * 3 + ["Arm 2"] * 3
    assert "Aided" not in "".join(rows_shown["Session 1"][:3])
    assert any("each reader is in one arm" in each.value for each in page.markdown)


def test_a_crossover_with_feedback_between_sessions_is_set_up_and_drawn(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """In each session half of the cases are aided; feedback needs several sessions."""
    number = drafts.begin(
        banked,
        name="trial",
        maker=1,
        bank="bank",
        values={"cases": 20, "one_question_per": "item"},
        acting=Acting(by=BY, now=NOW),
    )
    page = open_page("new_study.py", draft=str(number), step="design")
    feedback = "Feedback after each session"
    assert feedback not in [element.label for element in page.toggle]
    for kind, label, value in (
        ("checkbox", "Aided: with a model's answer", True),
        ("text_input", "Model whose answers are shown", "Janus"),
        ("number_input", "Sessions", 2),
        ("toggle", feedback, True),
    ):
        _field(page, kind, label).set_value(value)  # type: ignore[attr-defined]
        page.run()
    assert not page.exception
    rows_shown = page.dataframe[0].value
    cells = {*rows_shown["Session 1"], *rows_shown["Session 2"]}
    assert cells == {"Unaided: 10, Aided: 10", "Aided: 10, Unaided: 10"}
    assert any("Feedback after a session" in element.value for element in page.markdown)
    _button(open_page("new_study.py", draft=str(number), step="review"), "Draw the sample")
    with banked.look() as look:
        protocol = stored_protocol(study_row(look, "trial"))
    assert (protocol.sessions, protocol.session_feedback, protocol.aid) == (2, True, "first")


def test_the_workload_of_shared_cases_is_a_maximum(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """It depends on the number of readers, unless the protocol states the cases per reader."""
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="design")
    captions = []
    for label in ("Readers per case", "Cases per reader"):
        _field(page, "number_input", label).set_value(5)  # type: ignore[attr-defined]
        page.run()
        captions.append(any("at most, because" in element.value for element in page.caption))
    assert captions == [True, False]


def test_conditions_of_the_draw_are_counted_and_saved(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The count follows every change, including questions excluded on other pages."""

    def left(page: AppTest) -> str:
        return next(element.value for element in page.markdown if "Left to draw" in element.value)

    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="sample")
    assert left(page).endswith("24 questions, 12 patients")
    _field(page, "text_area", "Leave out these IDs").set_value("q0003, q0002\nq0004")  # type: ignore[attr-defined]
    page.run()
    assert left(page).endswith("21 questions, 11 patients")
    assert drafts.find(banked, number).values["without_items"] == ["q0002", "q0003", "q0004"]
    strike(banked, "bank", "q0005", reason="Blurred", acting=ACTING)
    assert left(page.run()).endswith("20 questions, 10 patients")
    _field(page, "text_area", "Leave out these IDs").set_value("q0003, nope")  # type: ignore[attr-defined]
    page.run()
    assert any("does not have\\: nope" in element.value for element in page.error)


def test_a_draft_can_combine_several_banks(
    banked: Store, maker: Callable[[str], Person], tmp_path: Path
) -> None:
    """The bank is then a stratum; banks with the same ids are refused in one line."""
    path = write_bank(tmp_path / "ours")
    records = {f"z{key}": item for key, item in json.loads(path.read_text()).items()}
    path.write_text(json.dumps(records))
    import_bank(banked, path, name="ours", images=path.parent, acting=ACTING)
    path.write_text(json.dumps(bank_records(12)))
    import_bank(banked, path, name="same", images=path.parent, acting=ACTING)
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="sample")

    def join(*names: str) -> AppTest:
        _field(page, "multiselect", "Banks to join").set_value(list(names))  # type: ignore[attr-defined]
        page.run()
        return next(element for element in page.button if element.label == "Join").click().run()

    join("bank", "same")
    assert "24 item IDs are in more than one of these banks" in page.error[0].value
    _field(page, "checkbox", "Put the bank's name before every ID").check()  # type: ignore[attr-defined]
    join("bank", "same")
    assert not page.error
    assert any("48 questions" in element.value for element in page.success), page.success
    _field(page, "checkbox", "Put the bank's name before every ID").uncheck()  # type: ignore[attr-defined]
    join("bank", "ours")
    assert not page.error
    assert _field(page, "selectbox", "Question bank").value == "bank + ours"  # type: ignore[attr-defined]
    assert any("48 questions" in element.value for element in page.success), page.success
    assert any("12 patients are in more than one bank" in element.value for element in page.warning)
    draft = drafts.find(banked, number)
    assert draft.bank == "bank + ours"
    strata = next(
        element for element in page.button_group if str(element.key).endswith("stratify_by")
    )
    assert "Question bank" in [option.content for option in strata.proto.options]
    strata.set_value(["bank"])
    page.run()
    assert drafts.find(banked, number).values["stratify_by"] == ["bank"]


@pytest.mark.parametrize("rubbish", ["", " trial", "a\x07b", "a\u202eb"])
def test_an_invalid_name_is_refused_and_the_previous_name_stays(
    banked: Store, maker: Callable[[str], Person], rubbish: str
) -> None:
    """It is empty, has surrounding spaces, or contains invisible characters."""
    number = _begun(banked)
    before = drafts.find(banked, number)
    page = open_page("new_study.py", draft=str(number), step="sample")
    _field(page, "text_input", "Study name").set_value(rubbish)  # type: ignore[attr-defined]
    page.run()
    assert not page.exception
    assert len(page.error) == 1
    assert "name of a study" in page.error[0].value
    after = drafts.find(banked, number)
    assert (after.name, after.values) == (before.name, before.values)
    _field(page, "text_input", "Study name").set_value("Sound")  # type: ignore[attr-defined]
    page.run()
    assert not page.error
    assert drafts.find(banked, number).name == "Sound"


def test_the_drawn_cases_are_listed_before_opening(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """They are in order and can be searched; the reference standard is not shown."""
    draw_trial(banked, {"cases": 5, "one_question_per": "item"})
    maker("trial")
    page = open_page("set_up.py")
    assert not page.dataframe
    page.toggle(key="drawn-cases").set_value(True).run()
    rows_shown = page.dataframe[0].value
    with banked.look() as look:
        drawn = stored_studies.cases(look, study_row(look, "trial").id)
    assert list(rows_shown["Item"]) == [case.item_id for case in drawn]
    assert list(rows_shown.columns) == [
        "No.", "Item", "Stratum", "Task", "Category", "Views", "Patient", "Question"
    ]  # fmt: skip
    stratum = drawn[0].stratum
    page.multiselect(key="drawn-strata").select(stratum).run()
    of_it = [case.item_id for case in drawn if case.stratum == stratum]
    assert list(page.dataframe[0].value["Item"]) == of_it
    page.multiselect(key="drawn-strata").set_value([]).run()
    page.text_input(key="drawn-text").set_value(drawn[2].item_id.upper()).run()
    assert drawn[2].item_id in list(page.dataframe[0].value["Item"])
    assert len(page.dataframe[0].value) < 5
    assert not page.exception


@pytest.mark.parametrize(
    ("loaded", "shown"), [([1024, 700], "1024 × 700"), ([], "No limit"), ([900, 600], "900 × 600")]
)
def test_the_smallest_window_can_be_chosen(
    banked: Store, maker: Callable[[str], Person], loaded: list[int], shown: str
) -> None:
    """A size from a protocol file is offered besides the usual sizes; a change is saved at once."""
    number = _begun(banked)
    draft = drafts.find(banked, number)
    values = {**draft.protocol_values, "smallest_window": loaded}
    about = {"name": draft.name, "bank": draft.bank, "seen_saved_at_utc": draft.saved_at_utc}
    drafts.save(banked, number, values=values, now=NOW, **about)
    page = open_page("new_study.py", draft=str(number), step="rules")
    field = _field(page, "button_group", "Minimum window size")
    assert field.value == shown  # type: ignore[attr-defined]
    assert drafts.find(banked, number).values["smallest_window"] == loaded
    field.set_value("1280 × 720")  # type: ignore[attr-defined]
    page.run()
    assert drafts.find(banked, number).values["smallest_window"] == [1280, 720]


def test_prior_images_are_offered_if_the_bank_has_them(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The number of questions is shown; unknown values from a file can be removed."""
    number = _begun(banked)

    def offered() -> list[str]:
        page = open_page("new_study.py", draft=str(number), step="rules")
        field = _field(page, "button_group", "Shown beside the question")
        return [str(option) for option in field.options if "Prior" in str(option)]  # type: ignore[attr-defined]

    assert offered() == []
    draft = drafts.find(banked, number)
    values = {"name": draft.name, "bank": draft.bank, "seen_saved_at_utc": draft.saved_at_utc}
    questions = {**draft.protocol_values, "context": ["age", "prior"]}
    drafts.save(banked, number, values=questions, now=NOW, **values)
    assert offered() == ["Prior images (0 questions)"]
    tamper(banked, "INSERT INTO item_priors SELECT id, 1, 1, 'PA', '', 9 FROM items WHERE id < 4")
    assert offered() == ["Prior images (3 questions)"]
    assert drafts.find(banked, number).values["context"] == ["age", "prior"]


def test_a_second_window_warns_before_it_overwrites_changes(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The changes saved first stay until the second window decides."""
    number = _begun(banked)
    first, second = (open_page("new_study.py", draft=str(number), step="design") for _ in range(2))
    _field(first, "number_input", "Hidden repeats").set_value(2)  # type: ignore[attr-defined]
    first.run()
    _field(second, "number_input", "Hidden repeats").set_value(3)  # type: ignore[attr-defined]
    second.run()
    assert "another window" in second.error[0].value
    assert drafts.find(banked, number).values["hidden_repeats"] == 2
    _button(second, "Load the saved version")
    assert _field(second, "number_input", "Hidden repeats").value == 2  # type: ignore[attr-defined]
    assert not second.error


def test_an_existing_name_is_refused_and_other_values_are_saved(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The draft keeps its name."""
    number = _begun(banked)
    drafts.begin(banked, name="other", maker=1, bank="bank", acting=Acting(by=BY, now=NOW))
    page = open_page("new_study.py", draft=str(number))
    _field(page, "text_input", "Study name").set_value("other")  # type: ignore[attr-defined]
    _field(page, "number_input", "Cases").set_value(5)  # type: ignore[attr-defined]
    page.run()
    page.run()
    assert any("already exists" in element.value for element in page.error)
    saved = drafts.find(banked, number)
    assert (saved.name, saved.values["cases"]) == ("trial", 5)


def test_questions_can_be_added_moved_and_removed(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """Each question has its own id."""
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="words")
    _button(page, "Ask about training")
    _button(page, "Ask about images per week")
    questions = drafts.find(banked, number).values["questionnaire"]
    assert [study["id"] for study in questions] == ["q1", "q2"]
    assert drafts.faults(drafts.find(banked, number)) == []
    ups = [element for element in page.button if element.help == "Move up"]
    ups[1].click()
    page.run()
    questions = drafts.find(banked, number).values["questionnaire"]
    assert [study["id"] for study in questions] == ["q2", "q1"]
    next(element for element in page.button if element.help == "Remove").click()
    page.run()
    questions = drafts.find(banked, number).values["questionnaire"]
    assert [study["id"] for study in questions] == ["q1"]


def test_a_question_can_depend_on_the_answer_to_an_earlier_question(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """A condition that no longer refers to an earlier answer is kept and reported as an error."""
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="words")
    _button(page, "Ask about training")
    _button(page, "Ask about images per week")
    shown = page.selectbox(key=_field(page, "selectbox", "Shown").key)  # type: ignore[attr-defined]
    assert shown.options[:2] == ["To every reader", "Only after answer “Student” to question 1"]
    shown.set_value(("q1", "Student"))
    page.run()

    def condition() -> object:
        questions = drafts.find(banked, number).values["questionnaire"]
        return next(entry for entry in questions if entry["id"] == "q2").get("shown_if")

    def obstacles() -> str:
        return " ".join(drafts.faults(drafts.find(banked, number)))

    assert condition() == {"question": "q1", "is": "Student"}
    assert obstacles() == ""
    page = open_page("new_study.py", draft=str(number), step="words")
    assert _field(page, "selectbox", "Shown").value == ("q1", "Student")  # type: ignore[attr-defined]
    options = _field(page, "text_area", "Options, one per line")
    options.set_value("Resident\nRadiologist")  # type: ignore[attr-defined]
    page.run()
    assert condition() == {"question": "q1", "is": "Student"}
    assert "shown_if: must name an earlier choice question" in obstacles()
    _field(page, "selectbox", "Shown").set_value(("", ""))  # type: ignore[attr-defined]
    page.run()
    assert condition() is None
    assert obstacles() == ""


def test_a_study_is_set_up_opened_and_amended(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """It is drawn, invited and opened after a confirmation, and amended with a reason."""
    page = open_page("new_study.py")
    _button(page, "Start")
    (draft,) = drafts.list_drafts(banked)
    _button(open_page("new_study.py", draft=str(draft.id), step="review"), "Draw the sample")
    assert drafts.list_drafts(banked) == []
    maker("New study")
    assert "No readers have been invited yet" in " ".join(
        element.value for element in open_page("set_up.py").markdown
    )
    with banked.look() as look:
        study = study_row(look, "New study")
    _invite(banked, "New study")
    page = open_page("set_up.py")
    assert study.protocol_sha256 in [element.value for element in page.code]
    _button(page, "Open the study")
    assert "Tick “I have read the protocol" in page.error[0].value
    page.checkbox[0].check()
    page.run()
    _button(page, "Open the study")
    page.selectbox[0].set_value("margin")
    page.run()
    _field(page, "number_input", "New value").set_value(10.0)  # type: ignore[attr-defined]
    page.run()
    _button(page, "Amend the protocol")
    assert "reason" in page.error[0].value
    page.text_area[0].set_value("The committee asked.")
    page.run()
    _button(page, "Amend the protocol")
    assert any("5 points → 10 points" in element.value for element in page.markdown)


def test_warnings_are_shown_before_the_draw_and_the_opening(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The review and Set up warn of guessable answers; the consent is unfolded."""
    path = write_bank(tmp_path / "bank")
    records = bank_records(12)
    for record in records.values():
        record["correct_answer"] = "A"
    path.write_text(json.dumps(records))
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    with store.change() as change:
        number = deployments.holder(change, "ada", Role.COORDINATOR, None, NOW)
    person = Person(
        role=Role.COORDINATOR,
        study=1,
        study_name="trial",
        name="ada",
        id=number,
        deployment=Role.COORDINATOR,
    )
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
    draft = drafts.begin(
        store, name="trial", maker=number, bank="bank", acting=Acting(by=BY, now=NOW)
    )
    page = open_page("new_study.py", draft=str(draft), step="review")
    assert not [
        element for element in page.warning if "readers can guess" in element.value
    ]  # shuffled
    saved = drafts.find(store, draft)
    values = {**saved.values, "option_order": "canonical", "consent": "# May we?"}
    saved_at = drafts.save(
        store,
        draft,
        name="trial",
        bank="bank",
        values=values,
        seen_saved_at_utc=saved.saved_at_utc,
        now=NOW,
    )
    page = open_page("new_study.py", draft=str(draft), step="review")
    assert "A in 24 of 24 questions" in page.warning[0].value
    assert page.expander[0].label == "What readers agree to"
    assert page.expander[0].proto.expanded
    drafts.draw(
        store, draft, seen_saved_at_utc=saved_at, maker=number, acting=Acting(by=BY, now=NOW)
    )
    _invite(store, "trial")
    page = open_page("set_up.py")
    assert "A in 10 of 10 questions" in page.warning[0].value
    assert next(element for element in page.expander if "agree" in element.label).proto.expanded
    assert "the consent text" in page.checkbox[0].label


def test_a_coordinator_of_a_study_cannot_create_studies(
    opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They see the set-up of their study, but neither drafts nor banks."""
    store = opened()
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    who = Person(role=Role.COORDINATOR, study=1, study_name="trial", name="c")
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": who)
    assert not open_page("set_up.py").error
    for name in ("new_study.py", "banks.py"):
        page = open_page(name)
        assert "does not give you access" in page.error[0].value
        assert not page.title


def test_the_banks_are_listed(banked: Store, maker: Callable[[str], Person]) -> None:
    """Questions and films are counted; without a bank, a sentence is shown."""
    page = open_page("banks.py")
    assert not page.exception
    assert list(page.dataframe[0].value["Bank"]) == ["bank"]


def test_metadata_are_entered_in_the_wizard_and_shown_before_the_draw(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="endpoint")
    _field(page, "text_area", "Funding").set_value("A grant").run()  # type: ignore[attr-defined]
    assert drafts.find(banked, number).values["metadata"] == {"funding": "A grant"}
    review = open_page("new_study.py", draft=str(number), step="review")
    assert not page.exception
    assert not review.exception
    shown = " ".join(str(element.proto.body) for element in review.get("html"))
    assert "<dt>Funding</dt><dd>A grant</dd>" in shown


def test_the_protocol_page_offers_a_deposit_once_authors_are_named(
    maker: Callable[[str], Person], banked: Store
) -> None:
    """The link has every author."""
    draw_trial(banked, {"cases": 4, "one_question_per": "item"})
    maker("trial")
    page = open_page("set_up.py")
    assert any("Name at least one author" in caption.value for caption in page.caption)
    page.text_area(key="deposit-authors").set_value("Curie, Marie\n\nBohr, Niels").run()
    assert not page.exception
    assert not any("Name at least one author" in caption.value for caption in page.caption)


def test_the_sample_size_is_planned_in_the_wizard_and_locked_with_the_protocol(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The power follows the fields, is shown before the draw, and can be removed again."""
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="endpoint")
    toggle = _field(page, "toggle", "Compute the power of this study")
    toggle.set_value(True).run()  # type: ignore[attr-defined]
    assert not page.exception
    _field(page, "number_input", "Readers").set_value(3).run()  # type: ignore[attr-defined]
    plan = drafts.find(banked, number).values["sample_size"]
    assert (plan["readers"], plan["comparison"], plan["claim"]) == (
        3,
        "panel",
        "readers like these",
    )
    assert 0 < plan["power_low"] <= plan["power"] <= plan["power_high"] < 1
    assert any("do not reach 80 % power at any number" in text.value for text in page.warning)
    review = open_page("new_study.py", draft=str(number), step="review")
    shown = " ".join(str(element.proto.body) for element in review.get("html"))
    assert "<dt>Sample size</dt><dd>3 readers" in shown
    second_page = open_page("new_study.py", draft=str(number), step="endpoint")
    assert not second_page.exception
    assert drafts.find(banked, number).values["sample_size"] == plan
    toggle = _field(second_page, "toggle", "Compute the power of this study")
    toggle.set_value(False).run()  # type: ignore[attr-defined]
    assert (
        "sample_size" not in drafts.find(banked, number).protocol_values
        or not (drafts.find(banked, number).values["sample_size"])
    )


def test_components_are_entered_in_a_form_and_checked(
    banked: Store, maker: Callable[[str], Person]
) -> None:
    """The values are stored with the plan; an error leaves the plan as it was."""
    number = _begun(banked)
    page = open_page("new_study.py", draft=str(number), step="endpoint")
    variance = "Error variance of the difference, model minus one reader"
    covariance = "Error covariance of these differences, two readers"
    for kind, label, value in (
        ("toggle", "Compute the power of this study", True),
        ("selectbox", "How much readers and cases vary", "values"),
        ("number_input", "Cases of that study", 150),
        ("number_input", variance, 0.003),
    ):
        _field(page, kind, label).set_value(value)  # type: ignore[attr-defined]
        page.run()
        assert not page.exception
    plan = drafts.find(banked, number).values["sample_size"]
    assert plan["components"]["var_error"] == 0.003
    assert (plan["components"]["cases"], plan["metric"]) == (150, "accuracy")
    second_page = open_page("new_study.py", draft=str(number), step="endpoint")
    assert _field(second_page, "number_input", variance).value == 0.003  # type: ignore[attr-defined]
    assert drafts.find(banked, number).values["sample_size"] == plan
    _field(second_page, "number_input", covariance).set_value(0.5).run()  # type: ignore[attr-defined]
    assert any("smaller than a covariance" in element.value for element in second_page.error)
    assert drafts.find(banked, number).values["sample_size"] == plan
