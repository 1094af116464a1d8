"""Reports of actions, and confirmations."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.page_runs import button


def _page() -> None:
    import streamlit as st

    from study.base.errors import BadInput
    from ui.parts import actions
    from ui.parts.actions import Question

    done = st.session_state.setdefault("done", [])

    def pause() -> str:
        done.append("paused")
        return "It was paused"

    def refuse() -> str:
        raise BadInput("“Reason” is empty")

    about = st.text_input("About", key="about")
    ask = Question(text="Pause?", do=pause)
    actions.button("Pause", lambda: ask, key="pause", subject=about)
    actions.button("Refuse", refuse, key="refuse")
    with st.container():
        if not st.session_state.get("gone"):
            actions.button(
                "Leave", lambda: st.session_state.update(gone=True) or "Left", key="leave"
            )
        else:
            actions.show_last_report("leave")


def test_a_double_click_runs_the_action_once() -> None:
    """The additional run shows the report of the first click."""
    app = AppTest.from_function(_page).run()
    button(app, "pause").click().run()
    assert "Pause?" in app.markdown[0].value
    button(app, "pause-yes").click().run()
    assert [element.value for element in app.success] == ["It was paused"]
    app.run()
    assert [element.value for element in app.success] == ["It was paused"]
    assert app.session_state["done"] == ["paused"]
    button(app, "pause").click().run()
    assert not app.success


def test_a_declined_confirmation_reports_that_nothing_changed() -> None:
    """The action does not run."""
    app = AppTest.from_function(_page).run()
    button(app, "pause").click().run()
    button(app, "pause-no").click().run()
    assert [element.value for element in app.info] == ["Nothing was changed\\."]
    assert app.session_state["done"] == []


def test_a_confirmation_of_another_object_is_not_shown() -> None:
    """A question cannot be confirmed when the page shows another object."""
    app = AppTest.from_function(_page).run()
    button(app, "pause").click().run()
    app.text_input("about").set_value("another").run()
    assert "pause-yes" not in [element.key for element in app.button]


def test_an_error_is_shown_until_the_next_action() -> None:
    """It replaces the previous report, and stays while other fields are used."""
    app = AppTest.from_function(_page).run()
    button(app, "refuse").click().run()
    assert [element.value for element in app.error] == ["“Reason” is empty"]
    app.text_input("about").set_value("another").run()
    assert [element.value for element in app.error] == ["“Reason” is empty"]
    button(app, "pause").click().run()
    assert not app.error


def test_an_action_without_its_button_is_reported_in_its_place() -> None:
    """The place is named by `report`."""
    app = AppTest.from_function(_page).run()
    button(app, "leave").click().run()
    assert [element.value for element in app.success] == ["Left"]


def test_an_action_without_a_place_is_reported_at_the_top(tmp_path: Path) -> None:
    """The report stays until the next page; the router runs every page within `actions.page`."""
    script = tmp_path / "routed.py"
    script.write_text(
        "import streamlit as st\n"
        "from ui.parts import actions\n"
        "where = st.text_input('Page', key='page')\n"
        "with actions.page(where):\n"
        "    st.title('Page')\n"
        "    if not st.session_state.get('gone'):\n"
        "        do = lambda: st.session_state.update(gone=True) or 'Left'\n"
        "        actions.button('Leave', do, key='leave')\n"
    )
    app = AppTest.from_file(str(script)).run()
    button(app, "leave").click().run()
    assert [element.value for element in app.success] == ["Left"]
    app.run()
    assert [element.value for element in app.success] == ["Left"]
    app.text_input("page").set_value("other").run()
    assert not app.success


def _changed_page() -> None:
    import streamlit as st

    from ui.parts import actions
    from ui.parts.actions import Question, Report

    with actions.page(st.text_input("Page", key="page")):
        if not st.session_state.get("gone"):
            ask = Question(text="Close?", do=lambda: "Closed")
            actions.button("Ask", lambda: ask, key="ask")
            with st.form("start"):
                actions.button("Start", lambda: "Started", key="start", in_form=True)
        if st.session_state.get("noted"):
            actions.record_result("job", Report(text="Read"))


@pytest.mark.parametrize("pressed", [("ask",), ("start",), ("ask", "ask-yes")])
def test_a_button_that_the_page_no_longer_shows_is_reported(pressed: tuple[str, ...]) -> None:
    """Another window changed the subject of the page; nothing is done, and the page reports it."""
    app = AppTest.from_function(_changed_page).run()
    for key in pressed:
        app.session_state["gone"] = key == pressed[-1]
        button(app, key).click().run()
    assert [element.value[:16] for element in app.error] == ["Nothing was done"]
    assert not app.success
    app.text_input("page").set_value("other").run()
    assert not app.error


def test_the_second_half_of_a_double_click_is_not_reported() -> None:
    """The report of the first click stays, although the button with its key is gone."""
    app = AppTest.from_function(_changed_page).run()
    pressed = button(app, "start")
    memory = app.session_state["last-action"]
    pressed.click().run()
    memory.press(0)
    app.run()
    assert [element.value for element in app.success] == ["Started"]
    assert not app.error
